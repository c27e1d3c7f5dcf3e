#include "config.hpp"

#include "text.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace app {
namespace {

constexpr std::string_view blank = " \t\r";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Inside quotes a backslash makes the next character an ordinary one, and \n a new line. `rest`
// is what follows the closing quote.
bool read_quoted(std::string_view text, std::string& value, std::string_view& rest) {
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == '"') {
            rest = text.substr(i + 1);
            return true;
        }
        const bool escaped = text[i] == '\\';
        if (escaped && ++i == text.size()) return false;
        value += escaped && text[i] == 'n' ? '\n' : text[i];
    }
    return false;
}

bool is_name(std::string_view name) {
    return !name.empty() && name[0] != '-' && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
}

ConfigLine parse_line(std::string_view text, std::string_view source, int line) {
    const auto refuse = [&](const char* why) {
        throw UsageError(fmt::format("{}, line {}: {}: write lines like members = 2^20", source, line, why));
    };
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) refuse("there is no '='");
    const std::string_view name = trimmed(text.substr(0, equals));
    if (!is_name(name)) refuse("what stands before '=' is not an option's name (small letters, digits and dashes)");
    std::string_view given = trimmed(text.substr(equals + 1));
    std::string value;
    if (given.starts_with('"')) {
        std::string_view rest;
        if (!read_quoted(given, value, rest)) refuse("a quote is not closed");
        rest = trimmed(rest);
        if (!rest.empty() && rest[0] != '#') refuse("something stands after the closing quote");
    } else {
        value = trimmed(given.substr(0, given.find('#')));
    }
    return {std::string(name), value, line};
}

} // namespace

std::vector<ConfigLine> parse_config(std::string_view text, std::string_view source) {
    std::vector<ConfigLine> lines;
    int number = 0;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string_view line = trimmed(text.substr(start, end - start));
        start = end + 1;
        ++number;
        if (line.find('\0') != std::string_view::npos)
            throw UsageError(
                fmt::format("{}, line {}: there is a zero byte: this is not a config file", source, number));
        if (!line.empty() && line[0] != '#') lines.push_back(parse_line(line, source, number));
    }
    return lines;
}

std::string config_value(std::string_view value) {
    const bool plain = !value.empty() && value[0] != '"' && value.find_first_of("#\n\r") == std::string_view::npos &&
                       trimmed(value) == value;
    if (plain) return std::string(value);
    std::string quoted = "\"";
    for (const char c : value) {
        if (c == '"' || c == '\\' || c == '\n') quoted += '\\';
        quoted += c == '\n' ? 'n' : c;
    }
    return quoted + '"';
}

} // namespace app
