// Where work runs: on threads of the CPU, or on one GPU.
#pragma once

#include "bandmill/base/space.hpp"

#include <variant>

namespace bandmill {

using Where = std::variant<Threads, Device>;

} // namespace bandmill
