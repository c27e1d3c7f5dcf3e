// Do elements of views share memory? A view is one or two lattices: elements that steps along a few directions reach.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace bandmill::detail {

using Wide = __int128; // products of two 64-bit sizes

struct Direction {
    std::int64_t count = 1, stride = 0; // strides of either sign
};

// Elements first + i * stride + j * stride + k * stride of an array, of which there is one at least.
struct Lattice {
    std::array<Direction, 3> directions;
    Wide first = 0;
};

struct Extent {
    Wide low = 0, high = 0; // offsets of elements, both included
};
Extent extent(const Lattice& lattice);

// Whether two elements of a lattice share an address. Yes in doubt: where strides are not nested, as they usually are,
// and there are too many possibilities to try them all.
bool repeats(const Lattice& lattice);

struct Elements {
    const Lattice& lattice;
    const void* data;
    std::size_t bytes; // of an element
};
// Whether some element of one has a byte in common with one of the other. Yes in doubt.
bool meet(const Elements& one, const Elements& other);

} // namespace bandmill::detail
