// What users type, turned into values; and values turned into what users read.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace app {

// The command line cannot be obeyed: one line on stderr, exit code 2, nothing written.
class UsageError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

// "65536", "2^16" or "1e6"; `option` names the culprit in the error.
std::int64_t parse_size(std::string_view option, std::string_view text, std::int64_t least = 1,
                        std::int64_t most = INT64_MAX);
double parse_number(std::string_view option, std::string_view text, double least);
// A number that may be a multiple of pi: "6.28", "2pi", "pi", "0.5*pi", "-pi".
double parse_real(std::string_view option, std::string_view text);
double parse_positive(std::string_view option, std::string_view text); // the same, above 0
double parse_time(std::string_view option, std::string_view text);     // the same, 0 or more
// "90", "90s", "1.5m", "2h": seconds, 0 or more.
double parse_duration(std::string_view option, std::string_view text);
// "128:8192" or "0.4:100"; the first part, and what stands after the colon.
std::pair<std::string, std::string> split_range(std::string_view option, std::string_view text);

// Of a plane: "1024" for both, or "1024x512".
std::pair<std::string, std::string> split_sides(std::string_view option, std::string_view text);

// "a,b,c"; empty items are errors.
std::vector<std::string> split_list(std::string_view option, std::string_view text);
std::vector<std::int64_t> parse_sizes(std::string_view option, std::string_view text);

// A value from a fixed set of words, given as {"word", value} pairs.
template <class Value> struct Word {
    const char* word;
    Value value;
};

[[noreturn]] void refuse_word(std::string_view option, std::string_view text, const std::vector<std::string>& words);

template <class Value, std::size_t count>
Value parse_word(std::string_view option, std::string_view text, const Word<Value> (&words)[count]) {
    for (const auto& [word, value] : words)
        if (text == word) return value;
    std::vector<std::string> known;
    for (const auto& entry : words) known.emplace_back(entry.word);
    refuse_word(option, text, known);
}

template <class Value, std::size_t count>
std::vector<Value> parse_words(std::string_view option, std::string_view text, const Word<Value> (&words)[count]) {
    std::vector<Value> values;
    for (const std::string& item : split_list(option, text)) values.push_back(parse_word(option, item, words));
    return values;
}

template <class Value, std::size_t count> const char* word_of(Value value, const Word<Value> (&words)[count]) {
    for (const auto& entry : words)
        if (entry.value == value) return entry.word;
    return "?";
}

// Without its last parts until it fits: "a, b (c)" -> "a, b" -> "a".
std::string shortened(std::string text, std::size_t most);
// 75 -> "1 min 15 s"; what is longer than 300 years is only called that.
inline constexpr double longest_told = 1e10;
std::string readable_duration(double seconds);
// 3.6e9 -> "3.6 G"
std::string readable_rate(double rate);
// 268435456 -> "256 MiB"
std::string readable_bytes(double bytes);

} // namespace app
