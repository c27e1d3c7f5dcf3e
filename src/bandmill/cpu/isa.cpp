#include "bandmill/cpu/isa.hpp"

#include "bandmill/base/error.hpp"
#include "bandmill/cpu/level.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

namespace bandmill {
namespace cpu {
namespace {

#if defined(__x86_64__)
Level highest_level() {
    __builtin_cpu_init();
#if !defined(__clang__) && __GNUC__ >= 12
    return __builtin_cpu_supports("x86-64-v4")   ? Level::v4
           : __builtin_cpu_supports("x86-64-v3") ? Level::v3
                                                 : Level::v2;
#else // compilers that know the single features only
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? Level::v4 : v3 ? Level::v3 : Level::v2;
#endif
}

Level choose_level() {
    const Level highest = highest_level();
    const char* wish = std::getenv("BANDMILL_ISA");
    if (wish == nullptr || *wish == '\0') return highest;
    for (Level level : {Level::v2, Level::v3, Level::v4}) {
        if (std::strcmp(wish, name(level)) != 0) continue;
        if (level > highest)
            throw InvalidArgument(std::string("BANDMILL_ISA asks for ") + wish + ", but this CPU offers only " +
                                  name(highest) + ": unset it, or ask for that level or a lower one");
        return level;
    }
    throw InvalidArgument(std::string("BANDMILL_ISA is '") + wish +
                          "', which is no level: use v2, v3 or v4, or unset it");
}
#else
Level choose_level() { return Level::generic; }
#endif

} // namespace

const char* name(Level level) {
    switch (level) {
    case Level::generic: return "generic";
    case Level::v2: return "v2";
    case Level::v3: return "v3";
    case Level::v4: return "v4";
    }
    return "unknown";
}

Level level() {
    static const Level chosen = choose_level();
    return chosen;
}

} // namespace cpu

const char* cpu_isa() { return cpu::name(cpu::level()); }

} // namespace bandmill
