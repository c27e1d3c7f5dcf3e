// The right-hand side of the paper's way (step_paper.hpp), its loop (step_paper.cpp) and its kernel
// (step_paper_cuda.cu); T = double or float.
#pragma once

#include "equation_kind.hpp"

#include "bandmill/base/macros.hpp"
#include "bandmill/base/space.hpp"

#include <cstdint>

namespace app {

// One row, from C at its two neighbours on either side.
template <EquationKind kind, class T>
BANDMILL_HD T paper_right_side(T factor, T before2, T before, T here, T after, T after2) {
    if constexpr (kind == EquationKind::diffusion) {
        return here + factor * (before - 2 * here + after);
    } else if constexpr (kind == EquationKind::hyperdiffusion) {
        return here - factor * (before2 - 4 * before + 6 * here - 4 * after + after2);
    } else {
        const T left = before * before * before - before, middle = here * here * here - here,
                right = after * after * after - after;
        return here + factor * (left - 2 * middle + right);
    }
}

// f = all rows of the members begin to end from c, both interleaved on the host.
template <class T>
void paper_right_sides(EquationKind kind, const T* c, T* f, std::int64_t n, std::int64_t batch, std::int64_t begin,
                       std::int64_t end, T factor);

// f = all rows of all members from c, both interleaved on the device; on the default stream.
template <class T>
void paper_right_sides_cuda(bandmill::Device device, EquationKind kind, const T* c, T* f, std::int64_t n,
                            std::int64_t batch, T factor);

} // namespace app
