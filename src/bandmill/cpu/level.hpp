// Instruction-set levels of the CPU backend.
#pragma once

namespace bandmill::cpu {

enum class Level { generic, v2, v3, v4 };

const char* name(Level level);
Level level(); // the one in use: see cpu_isa()

} // namespace bandmill::cpu
