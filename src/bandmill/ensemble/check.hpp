// What is asked of an ensemble, checked before anything is built.
#pragma once

#include "bandmill/ensemble/ensemble.hpp"

namespace bandmill::detail {

// Throws InvalidArgument for a specification that makes no sense, and says what to change.
StepperSetup checked_setup(const EnsembleSpec& spec);
void check_requests(std::span<const ObservableRequest> requests);
void check_saved(std::int64_t step, std::size_t numbers, const EnsembleSpec& spec);

} // namespace bandmill::detail
