// The Stepper of planes on the CPU.
#pragma once

#include "bandmill/ensemble/stepper.hpp"

namespace bandmill::cpu {

template <class T>
std::unique_ptr<detail::Stepper<T>> make_plane_stepper(const detail::StepperSetup& setup, Threads threads);

} // namespace bandmill::cpu
