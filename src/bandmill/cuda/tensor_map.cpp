#include "bandmill/cuda/tensor_map.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace bandmill::cuda {

EncodeTiled encode_tiled() {
    static const EncodeTiled function = [] {
        void* found = nullptr;
        cudaDriverEntryPointQueryResult result{};
        const cudaError_t code =
            cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result);
        if (code != cudaSuccess || result != cudaDriverEntryPointSuccess) {
            (void)cudaGetLastError();
            found = nullptr;
        }
        return reinterpret_cast<EncodeTiled>(found);
    }();
    return function;
}

std::optional<CUtensorMap> describe_array(const void* data, int value_bytes, std::initializer_list<std::int64_t> sizes,
                                          std::initializer_list<std::int64_t> strides, int width, int rows) {
    cuuint64_t dimensions[3], stride_bytes[2];
    const cuuint32_t box[3] = {static_cast<cuuint32_t>(width), static_cast<cuuint32_t>(rows), 1}, steps[3] = {1, 1, 1};
    std::copy(sizes.begin(), sizes.end(), dimensions);
    std::transform(strides.begin(), strides.end(), stride_bytes,
                   [&](std::int64_t stride) { return static_cast<cuuint64_t>(stride * value_bytes); });
    CUtensorMap map;
    const CUresult result =
        encode_tiled()(&map, value_bytes == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                       static_cast<cuuint32_t>(sizes.size()), const_cast<void*>(data), dimensions, stride_bytes, box,
                       steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                       CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) return std::nullopt;
    return map;
}

bool has_whole_rows(const FieldShape& shape, const void* data, int value_bytes, int width) {
    const auto is_aligned = [&](std::int64_t elements) { return elements % (16 / value_bytes) == 0; };
    const bool has_tiles = shape.tile < shape.batch;
    return shape.batch_stride == 1 && is_aligned(shape.batch) && is_aligned(shape.row_stride) &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0 &&
           (!has_tiles || (shape.tile % width == 0 && is_aligned(shape.tile_stride)));
}

std::optional<CUtensorMap> describe_field(const FieldShape& shape, const void* data, int value_bytes, int width,
                                          int rows) {
    const std::int64_t tile = std::min(shape.tile, shape.batch);
    const bool has_tiles = tile < shape.batch;
    const auto is_stride = [](std::int64_t stride, std::int64_t least) {
        return stride >= least && stride < (std::int64_t{1} << 36);
    };
    // Of a last tile that is not full nobody knows whether the rest of it may be read.
    if (encode_tiled() == nullptr || !has_whole_rows(shape, data, value_bytes, width) || shape.batch > INT32_MAX ||
        shape.rows > INT32_MAX || !is_stride(shape.row_stride, tile) ||
        (has_tiles && (!is_stride(shape.tile_stride, tile) || shape.batch % tile != 0)))
        return std::nullopt;
    return describe_array(data, value_bytes, {tile, shape.rows, shape.batch / tile},
                          {shape.row_stride, has_tiles ? shape.tile_stride : shape.row_stride}, width, rows);
}

} // namespace bandmill::cuda
