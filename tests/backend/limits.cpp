#include "limits.hpp"

#include <algorithm>
#include <cstdlib>

namespace bandmill::test {
namespace {

// Unoptimised and sanitizer builds check some 10^6 unknowns a second, release builds 10^7 to 10^8.
#if defined(BANDMILL_TEST_SLOW_BUILD)
constexpr std::int64_t default_max_elements = 1'000'000;
#else
constexpr std::int64_t default_max_elements = 100'000'000;
#endif
constexpr std::int64_t small_max_elements = 50'000;

bool is_set(const char* name) {
    const char* const value = std::getenv(name);
    return value && *value && *value != '0';
}

Limits read_limits() {
    Limits limits{is_set("BANDMILL_TEST_SMALL"), is_set("BANDMILL_TEST_F64"), default_max_elements};
    if (const char* cap = std::getenv("BANDMILL_TEST_MAX_ELEMENTS")) limits.max_elements = std::atoll(cap);
    if (limits.small) limits.max_elements = std::min(limits.max_elements, small_max_elements);
    return limits;
}

} // namespace

const Limits& limits() {
    static const Limits value = read_limits();
    return value;
}

} // namespace bandmill::test
