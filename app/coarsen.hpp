// What coarsening in one and in two dimensions have in common, and where the command goes for the latter.
#pragma once

#include "study_command.hpp"

namespace app {

// --samples; empty: every step.
std::vector<double> read_sample_times(const std::string& text, double until, double time_step);
// The samples nearest to 1, 2, 5, 10, ... that there are.
std::vector<std::size_t> chosen_samples(const std::vector<double>& times);
// What cannot be known of one run, or one group, is a dash.
std::string or_dash(double value);

// --dimensions 2: what was left to us, and the study.
void settle_planes(Options& options);
int coarsen_planes(Options& options, bandmill::Communicator& ranks, const Resumed* resumed);

} // namespace app
