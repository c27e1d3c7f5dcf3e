// Where the elements of a batch stand in a test's buffer. Everything the view does not reach is filled with a marked
// NaN, which must come back to the bit.
#pragma once

#include "bandmill/base/field.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace bandmill::test {

enum class LayoutKind {
    interleaved,
    contiguous,
    tiled,        // 32 systems wide
    narrow_tiles, // 5 systems wide: no multiple of any vector
    padded_rows,  // interleaved, three elements between rows
    padded_both,  // contiguous, a gap after every element and seven after every system
    reversed,     // both strides negative
};

constexpr LayoutKind all_layouts[] = {LayoutKind::interleaved,  LayoutKind::contiguous,  LayoutKind::tiled,
                                      LayoutKind::narrow_tiles, LayoutKind::padded_rows, LayoutKind::padded_both,
                                      LayoutKind::reversed};

std::string name(LayoutKind kind);

struct Layout {
    FieldShape shape;
    std::int64_t origin; // where row 0 of system 0 stands in the buffer
    std::int64_t size;   // of the buffer

    std::int64_t index(std::int64_t row, std::int64_t system) const {
        return origin + row * shape.row_stride + system % shape.tile * shape.batch_stride +
               system / shape.tile * shape.tile_stride;
    }
};

// `guard` elements stand before and after: 16 keeps vectors aligned, 3 does not.
Layout make_layout(LayoutKind kind, std::int64_t rows, std::int64_t batch, std::int64_t guard);

template <class T> T poison() {
    if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<double>(std::uint64_t{0x7ff8dead0000beef});
    else
        return std::bit_cast<float>(std::uint32_t{0x7fc0beef});
}

template <class T> bool same_bits(T a, T b) {
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

// Calls visit(row, system) for every element, a few systems abreast so that no layout is walked against its grain.
template <class Visit> void for_each_element(const FieldShape& shape, Visit visit) {
    constexpr std::int64_t abreast = 16;
    for (std::int64_t first = 0; first < shape.batch; first += abreast)
        for (std::int64_t row = 0; row < shape.rows; ++row)
            for (std::int64_t system = first; system < std::min(first + abreast, shape.batch); ++system)
                visit(row, system);
}

} // namespace bandmill::test
