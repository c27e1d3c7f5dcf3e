// A small JSON writer: objects, arrays, strings, numbers. Numbers are written so that they read back to the same value;
// JSON has no NaN and no infinity, so those become null.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdio>
#include <string>
#include <string_view>

namespace app {

class JsonWriter {
  public:
    // The key is left out for the top value and inside arrays.
    JsonWriter& begin_object(std::string_view key = {}) { return open(key, '{'); }
    JsonWriter& begin_array(std::string_view key = {}) { return open(key, '['); }
    JsonWriter& end_object() { return close('}'); }
    JsonWriter& end_array() { return close(']'); }

    JsonWriter& value(std::string_view key, std::string_view text) {
        start(key);
        quote(text);
        return *this;
    }
    JsonWriter& value(std::string_view key, const char* text) { return value(key, std::string_view(text)); }
    JsonWriter& value(std::string_view key, bool truth) {
        start(key);
        text_ += truth ? "true" : "false";
        return *this;
    }
    template <std::integral Integer> JsonWriter& value(std::string_view key, Integer number) {
        start(key);
        append(number);
        return *this;
    }
    JsonWriter& value(std::string_view key, double number) {
        start(key);
        if (std::isfinite(number))
            append(number);
        else
            text_ += "null";
        return *this;
    }

    // The whole document, once every object and array is closed.
    std::string text() const { return text_ + "\n"; }

  private:
    JsonWriter& open(std::string_view key, char bracket) {
        start(key);
        text_ += bracket;
        ++depth_;
        empty_ = true;
        return *this;
    }

    JsonWriter& close(char bracket) {
        --depth_;
        if (!empty_) new_line();
        text_ += bracket;
        empty_ = false;
        return *this;
    }

    void start(std::string_view key) {
        if (!empty_) text_ += ',';
        if (depth_ > 0) new_line();
        if (!key.empty()) {
            quote(key);
            text_ += ": ";
        }
        empty_ = false;
    }

    void new_line() {
        text_ += '\n';
        text_.append(static_cast<std::size_t>(2 * depth_), ' ');
    }

    template <class Number> void append(Number number) {
        char digits[40];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        text_.append(digits, end);
    }

    void quote(std::string_view text) {
        text_ += '"';
        for (const char c : text) {
            if (c == '"' || c == '\\') {
                text_ += '\\';
                text_ += c;
            } else if (static_cast<unsigned char>(c) < 0x20) {
                char escaped[8];
                std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c));
                text_ += escaped;
            } else {
                text_ += c;
            }
        }
        text_ += '"';
    }

    std::string text_;
    int depth_ = 0;
    bool empty_ = true; // nothing written yet at this depth
};

} // namespace app
