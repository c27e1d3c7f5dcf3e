// The driver function that describes an array to the copy engine, found at run time so that no driver library is
// linked. Not installed.
#pragma once

#include <cuda.h>

namespace bandmill::cuda {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);
// Null where the driver has none.
EncodeTiled encode_tiled();

} // namespace bandmill::cuda
