// Config files: one option a line, "name = value", without the dashes. '#' starts a comment; values may stand in
// "quotes". A flag has the value true or false.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace app {

struct ConfigLine {
    std::string name, value;
    int line; // counted from 1
};

// Throws UsageError, naming `source` and the line.
std::vector<ConfigLine> parse_config(std::string_view text, std::string_view source);
// The value as it can stand in a file.
std::string config_value(std::string_view value);

} // namespace app
