#include "text.hpp"

#include <charconv>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace app {
namespace {

// A whole decimal number; false if anything else stands in the text or it does not fit in 64 bits.
bool read_whole(std::string_view text, std::int64_t& value) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return !text.empty() && text[0] != '-' && error == std::errc() && stop == end;
}

bool read_size(std::string_view text, std::int64_t& value) {
    const auto caret = text.find('^');
    if (text.find('e') != std::string_view::npos) { // 1e6
        double number = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc() || stop != end || !(number >= 0 && number <= 0x1p53) || number != std::floor(number))
            return false;
        value = static_cast<std::int64_t>(number);
        return true;
    }
    if (caret == std::string_view::npos) return read_whole(text, value);
    std::int64_t base = 0, exponent = 0;
    if (!read_whole(text.substr(0, caret), base) || !read_whole(text.substr(caret + 1), exponent)) return false;
    if (base < 2 || exponent > 62) return false;
    value = 1;
    for (std::int64_t i = 0; i < exponent; ++i)
        if (__builtin_mul_overflow(value, base, &value)) return false;
    return true;
}

} // namespace

std::int64_t parse_size(std::string_view option, std::string_view text, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    if (!read_size(text, value))
        throw UsageError(
            fmt::format("{} '{}' is not a whole number: write 65536, 2^16 or 1e6 (below 2^63)", option, text));
    if (value < least || value > most)
        throw UsageError(most == INT64_MAX
                             ? fmt::format("{} {} is too small: it must be at least {}", option, text, least)
                             : fmt::format("{} {} is out of range: from {} to {}", option, text, least, most));
    return value;
}

double parse_number(std::string_view option, std::string_view text, double least) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || text.empty() || !std::isfinite(value))
        throw UsageError(fmt::format("{} '{}' is not a finite number: write 0.5 or 1e6", option, text));
    if (value < least) throw UsageError(fmt::format("{} {} is too small: it must be at least {}", option, text, least));
    return value;
}

double parse_real(std::string_view option, std::string_view text) {
    std::string_view rest = text;
    double factor = 1;
    if (rest.ends_with("pi")) {
        factor = std::numbers::pi;
        rest.remove_suffix(2);
        if (rest.ends_with('*') && rest.size() > 1) rest.remove_suffix(1);
        if (rest.empty()) rest = "1";
        if (rest == "-") rest = "-1";
    }
    double value = 0;
    const char* end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, value);
    value *= factor;
    if (error != std::errc() || stop != end || !std::isfinite(value))
        throw UsageError(fmt::format("{} '{}' is not a finite number: write 0.5, 1e-3 or 2pi", option, text));
    return value;
}

double parse_positive(std::string_view option, std::string_view text) {
    const double value = parse_real(option, text);
    if (!(value > 0)) throw UsageError(fmt::format("{} {} is too small: it must be above 0", option, text));
    return value;
}

double parse_time(std::string_view option, std::string_view text) {
    const double value = parse_real(option, text);
    if (!(value >= 0)) throw UsageError(fmt::format("{} {} is too small: it must be at least 0", option, text));
    return value;
}

double parse_duration(std::string_view option, std::string_view text) {
    double unit = 1;
    std::string_view number = text;
    for (const auto& [letter, seconds] : {std::pair('s', 1.0), std::pair('m', 60.0), std::pair('h', 3600.0)})
        if (number.size() > 1 && number.back() == letter) {
            unit = seconds;
            number.remove_suffix(1);
            break;
        }
    double value = 0;
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, value);
    if (error != std::errc() || stop != end || !std::isfinite(value * unit) || value < 0)
        throw UsageError(fmt::format("{} '{}' is not a duration: write 90s, 1.5m or 2h", option, text));
    return value * unit;
}

std::pair<std::string, std::string> split_range(std::string_view option, std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size() ||
        text.find(':', colon + 1) != std::string_view::npos)
        throw UsageError(
            fmt::format("{} '{}' is not a range: write its ends with one colon between them", option, text));
    return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

std::pair<std::string, std::string> split_sides(std::string_view option, std::string_view text) {
    const auto cross = text.find('x');
    if (cross == std::string_view::npos) return {std::string(text), std::string(text)};
    if (cross == 0 || cross + 1 == text.size() || text.find('x', cross + 1) != std::string_view::npos)
        throw UsageError(fmt::format("{} '{}' is not that of a plane: write one number for both sides, or two with one "
                                     "x between them",
                                     option, text));
    return {std::string(text.substr(0, cross)), std::string(text.substr(cross + 1))};
}

std::vector<std::string> split_list(std::string_view option, std::string_view text) {
    std::vector<std::string> items;
    for (std::size_t start = 0;;) {
        const std::size_t comma = std::min(text.find(',', start), text.size());
        if (comma == start)
            throw UsageError(fmt::format("{} '{}' has an empty item: write values with single commas between them, "
                                         "and no spaces",
                                         option, text));
        items.emplace_back(text.substr(start, comma - start));
        if (comma == text.size()) return items;
        start = comma + 1;
    }
}

std::vector<std::int64_t> parse_sizes(std::string_view option, std::string_view text) {
    std::vector<std::int64_t> sizes;
    for (const std::string& item : split_list(option, text)) sizes.push_back(parse_size(option, item));
    return sizes;
}

void refuse_word(std::string_view option, std::string_view text, const std::vector<std::string>& words) {
    throw UsageError(fmt::format("{} '{}' is not known: choose from {}", option, text, fmt::join(words, ", ")));
}

std::string shortened(std::string text, std::size_t most) {
    while (text.size() > most) {
        const std::size_t cut = text.ends_with(')') ? text.rfind(" (") : text.rfind(", ");
        if (cut == std::string::npos) return text.substr(0, most - 3) + "...";
        text.resize(cut);
    }
    return text;
}

std::string readable_duration(double seconds) {
    if (!(seconds < longest_told)) return "more than 300 years";
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<std::int64_t>(std::lround(seconds));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    return fmt::format("{} days {} h", whole / 86400, whole % 86400 / 3600);
}

std::string readable_rate(double rate) {
    const char* units[] = {"", " k", " M", " G", " T"};
    int unit = 0;
    for (; rate >= 1000 && unit < 4; ++unit) rate /= 1000;
    return fmt::format("{:.3g}{}", rate, units[unit]);
}

std::string readable_bytes(double bytes) {
    const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int unit = 0;
    for (; bytes >= 1024 && unit < 6; ++unit) bytes /= 1024;
    return fmt::format("{:.{}f} {}", bytes, bytes == std::floor(bytes) || bytes >= 100 ? 0 : 1, units[unit]);
}

} // namespace app
