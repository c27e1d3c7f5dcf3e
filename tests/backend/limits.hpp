// How large the tests may get. Three environment variables decide it, and nothing else about the tests:
//     BANDMILL_TEST_MAX_ELEMENTS=N  leave out cases with more than N unknowns (and say how many were left out)
//     BANDMILL_TEST_SMALL=1         a short list of small cases, for tools that slow a program down a hundred times
//     BANDMILL_TEST_F64=1           no f32
#pragma once

#include <cstdint>

namespace bandmill::test {

struct Limits {
    bool small, f64_only;
    std::int64_t max_elements;
};

const Limits& limits();

} // namespace bandmill::test
