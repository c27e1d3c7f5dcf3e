// The equations that can be benchmarked, by the names the library gives them.
#pragma once

#include "text.hpp"

namespace app {

enum class EquationKind { diffusion, hyperdiffusion, cahn_hilliard, forced_cahn_hilliard };

inline constexpr Word<EquationKind> equation_words[] = {{"diffusion", EquationKind::diffusion},
                                                        {"hyperdiffusion", EquationKind::hyperdiffusion},
                                                        {"cahn-hilliard", EquationKind::cahn_hilliard},
                                                        {"forced-cahn-hilliard", EquationKind::forced_cahn_hilliard}};

} // namespace app
