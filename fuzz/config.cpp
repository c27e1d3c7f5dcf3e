// Config files: any text is either refused with a UsageError, or read into options that can be written and read again.
// sources: app/config.cpp app/text.cpp
// libraries: fmt
#include "config.hpp"
#include "text.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    try {
        const std::string_view text(reinterpret_cast<const char*>(data), size);
        const auto lines = app::parse_config(text, "fuzz");
        std::string written;
        for (const app::ConfigLine& line : lines) written += line.name + " = " + app::config_value(line.value) + "\n";
        const auto again = app::parse_config(written, "again");
        if (again.size() != lines.size()) std::abort();
        for (std::size_t i = 0; i < lines.size(); ++i)
            if (again[i].name != lines[i].name || again[i].value != lines[i].value) std::abort();
    } catch (const app::UsageError&) {
    }
    return 0;
}
