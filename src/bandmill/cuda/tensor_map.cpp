#include "bandmill/cuda/tensor_map.hpp"

#include <cuda_runtime_api.h>

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

} // namespace bandmill::cuda
