// Numbers, lengths, sizes, durations, ranges and lists as users type them: a value that makes sense, or a UsageError.
// sources: app/text.cpp
// libraries: fmt
#include "text.hpp"

#include <cmath>
#include <cstdlib>

namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

template <class Parse> void attempt(const Parse& parse) {
    try {
        parse();
    } catch (const app::UsageError&) {
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    attempt([&] { require(app::parse_size("--x", text, 3, 1000000) >= 3); });
    attempt([&] { require(app::parse_size("--x", text) >= 1); });
    attempt([&] { require(std::isfinite(app::parse_real("--x", text))); });
    attempt([&] { require(app::parse_positive("--x", text) > 0); });
    attempt([&] { require(app::parse_number("--x", text, 0) >= 0); });
    attempt([&] {
        const double seconds = app::parse_duration("--x", text);
        require(seconds >= 0 && std::isfinite(seconds));
        require(!app::readable_duration(seconds).empty());
    });
    attempt([&] {
        const auto [first, last] = app::split_range("--x", text);
        require(first + ":" + last == text);
    });
    attempt([&] {
        std::string joined;
        for (const std::string& item : app::split_list("--x", text)) joined += (joined.empty() ? "" : ",") + item;
        require(joined == text);
    });
    return 0;
}
