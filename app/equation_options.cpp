#include "equation_options.hpp"

#include "equation_kind.hpp"

#include <fmt/format.h>

namespace app {
namespace {

EquationKind kind_of(const Options& options) { return parse_word("--equation", options["equation"], equation_words); }

double read_constant(Options& options, const char* name, double standard,
                     double (*parse)(std::string_view, std::string_view) = parse_positive) {
    if (!options.given(name)) options.set(name, fmt::format("{}", standard));
    return parse(fmt::format("--{}", name), options[name]);
}

// An option of another equation is a mistake, not something to pass over.
void refuse_others(const Options& options, std::initializer_list<const char*> own) {
    for (const char* name : {"gamma", "diffusivity", "wavenumber", "speed", "forcing"}) {
        if (!options.given(name) || std::find(own.begin(), own.end(), std::string_view(name)) != own.end()) continue;
        throw UsageError(fmt::format("--{} makes no sense for {}", name, options["equation"]));
    }
}

} // namespace

void add_equation_options(Options& options) {
    using enum Decides;
    options.add("equation", "NAME", "cahn-hilliard", "cahn-hilliard, forced-cahn-hilliard, diffusion or hyperdiffusion",
                data, "Problem");
    options.add("gamma", "G", "", "gamma of the equation; interfaces are about its root wide (0.01)", data, "Problem");
    options.add("diffusivity", "D", "", "Of diffusion and hyperdiffusion (1)", data, "Problem");
    options.add("wavenumber", "K", "", "Of the forcing (1)", data, "Problem");
    options.add("speed", "V", "", "Of the forcing, 0 or more (0.5)", data, "Problem");
    options.add("forcing", "F0", "", "Amplitude of the forcing (1); A:B from the first member to the last", data,
                "Problem");
}

bandmill::Equation read_equation(Options& options) {
    switch (kind_of(options)) {
    case EquationKind::diffusion:
        refuse_others(options, {"diffusivity"});
        return bandmill::Diffusion{read_constant(options, "diffusivity", 1)};
    case EquationKind::hyperdiffusion:
        refuse_others(options, {"diffusivity"});
        return bandmill::Hyperdiffusion{read_constant(options, "diffusivity", 1)};
    case EquationKind::cahn_hilliard:
        refuse_others(options, {"gamma"});
        return bandmill::CahnHilliard{read_constant(options, "gamma", 0.01)};
    case EquationKind::forced_cahn_hilliard: break;
    }
    refuse_others(options, {"gamma", "wavenumber", "speed", "forcing"});
    return bandmill::ForcedCahnHilliard{read_constant(options, "gamma", 0.01),
                                        read_constant(options, "wavenumber", 1, parse_real),
                                        read_constant(options, "speed", 0.5, parse_real)};
}

std::vector<double> read_spread(const char* option, const std::string& text, std::int64_t members) {
    if (text.find(':') == std::string::npos) return {parse_real(option, text)};
    if (members < 2) throw UsageError(fmt::format("{} {} is a range, but there is only one run", option, text));
    const auto [from_text, to_text] = split_range(option, text);
    const double from = parse_real(option, from_text), to = parse_real(option, to_text);
    std::vector<double> values(static_cast<std::size_t>(members), from);
    for (std::int64_t k = 1; k < members; ++k)
        values[static_cast<std::size_t>(k)] =
            from + (to - from) * static_cast<double>(k) / static_cast<double>(members - 1);
    return values;
}

std::vector<std::vector<double>> read_member_parameters(Options& options, std::int64_t members) {
    if (kind_of(options) != EquationKind::forced_cahn_hilliard) return {};
    if (!options.given("forcing")) options.set("forcing", "1");
    return {read_spread("--forcing", options["forcing"], members)};
}

} // namespace app
