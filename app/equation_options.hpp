// Which equation, with which constants and ends, from the options of a command.
#pragma once

#include "options.hpp"

#include "bandmill/ensemble/ensemble.hpp"

namespace app {

void add_equation_options(Options& options);
// Constants of the equation that were left out are settled: the options that a file keeps have them all.
bandmill::Equation read_equation(Options& options);
// Those that differ from member to member, over all of them: "0.5" for all, "0:2" from the first to the last.
std::vector<std::vector<double>> read_member_parameters(Options& options, std::int64_t members);
std::vector<double> read_spread(const char* option, const std::string& text, std::int64_t members);

} // namespace app
