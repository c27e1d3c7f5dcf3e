// Expects an error of one type whose text names what is wrong.
#pragma once

#include "bandmill/base/error.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace bandmill::test {

// Runs `action`, which has to throw an Expected (and no other type) whose text contains every one of `words`.
// Returns a row where the error names one, else -1.
template <class Expected, class Action>
std::int64_t expect_error(Action action, std::initializer_list<std::string> words = {}) {
    try {
        action();
    } catch (const Expected& error) {
        const std::string text = error.what();
        for (const std::string& word : words)
            EXPECT_NE(text.find(word), std::string::npos) << "'" << word << "' is not named in: " << text;
        // What is wrong, why, what to do: a text of a few words cannot say that.
        EXPECT_GT(text.size(), 30u) << text;
        if constexpr (requires { error.row(); }) return error.row();
        return -1;
    } catch (const std::exception& error) {
        ADD_FAILURE() << "threw another type: " << error.what();
        return -1;
    }
    ADD_FAILURE() << "threw nothing";
    return -1;
}

} // namespace bandmill::test
