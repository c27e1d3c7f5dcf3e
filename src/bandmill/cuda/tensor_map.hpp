// Arrays as the copy engine sees them, to be fetched in boxes. Not installed.
#pragma once

#include "bandmill/base/field.hpp"

#include <cuda.h>

#include <initializer_list>
#include <optional>

namespace bandmill::cuda {

// The driver function that describes an array to the copy engine, found at run time so that no driver library is
// linked. Null where the driver has none.
using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
EncodeTiled encode_tiled();

// Two or three dimensions, the nearest first, strides in elements of the second and third; fetched in boxes of `width`
// x `rows`. Nothing if the driver refuses.
std::optional<CUtensorMap> describe_array(const void* data, int value_bytes, std::initializer_list<std::int64_t> sizes,
                                          std::initializer_list<std::int64_t> strides, int width, int rows);

// Whether the copy engine can fetch what rows hold of some neighbours in the batch, `width` of them or a part of that.
bool has_whole_rows(const FieldShape& shape, const void* data, int value_bytes, int width);
// Boxes of several such rows, where it can fetch those. System m is at m % tile, its row, m / tile, where a tile has no
// more systems than the batch.
std::optional<CUtensorMap> describe_field(const FieldShape& shape, const void* data, int value_bytes, int width,
                                          int rows);

} // namespace bandmill::cuda
