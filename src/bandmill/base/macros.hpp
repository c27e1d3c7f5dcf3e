// Arithmetic that runs on the host and in kernels is marked BANDMILL_HD, so the same source serves both compilers.
#pragma once

#if defined(__CUDACC__)
#define BANDMILL_HD __host__ __device__ __forceinline__
#else
#define BANDMILL_HD inline __attribute__((always_inline))
#endif

// In kernels register arrays must be indexed by constants, so these loops have to unroll completely (else the array
// goes to memory). On the host the compiler's own choice is as fast and compiles ten times quicker.
#if defined(__CUDA_ARCH__)
#define BANDMILL_UNROLL _Pragma("unroll")
#else
#define BANDMILL_UNROLL
#endif
