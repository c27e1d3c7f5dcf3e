// Systems with matrices of their own on a GPU: which kernel, and how it is launched.
#include "bandmill/band/batch.hpp"

#include "bandmill/cuda/batch_kernels.cuh"
#include "bandmill/cuda/batch_plan.hpp"
#include "bandmill/cuda/batch_split.hpp"
#include "bandmill/cuda/batch_stream.cuh"
#include "bandmill/cuda/tensor_map.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <memory>

namespace bandmill {
namespace cuda {

BatchTuning batch_tuning;

namespace {

template <class T> using SolveKernel = void (*)(BatchSolveArguments<T>);
template <class T> using FactorKernel = void (*)(BatchFactorArguments<T>);

// The instantiations of one half-bandwidth and boundary.
template <class T> struct BatchKernels {
    SolveKernel<T> solve, stream, stream_pieces;
    FactorKernel<T> factor, combine;
    void (*measure)(const T*, int, std::int64_t, int, int*); // open
    int diagonals, forward, backward, kept;
};
template <class T, int W, bool Periodic> BatchKernels<T> kernels() {
    using Layout = BatchLayout<W, Periodic>;
    return {solve_factored<T, W, Periodic>,
            solve_streamed<T, W, Periodic, false>,
            solve_streamed<T, W, Periodic, !Periodic>, // there are no pieces of periodic ones
            eliminate<T, W, Periodic, false>,
            eliminate<T, W, Periodic, true>,
            measure_reach<T, W>,
            Layout::diagonals,
            Layout::forward,
            Layout::backward,
            Layout::kept};
}
template <class T> BatchKernels<T> kernels_for(const BatchShape& shape) {
    if (shape.half_bandwidth == 1)
        return shape.boundary == Boundary::periodic ? kernels<T, 1, true>() : kernels<T, 1, false>();
    return shape.boundary == Boundary::periodic ? kernels<T, 2, true>() : kernels<T, 2, false>();
}

enum class Task { factor, solve, stream, combine };

// Which part of shared memory is for what.
template <class T> BatchShared shared_for(const BatchPlan& plan, const BatchShape& shape, Task task) {
    const BatchKernels<T> kernels = kernels_for<T>(shape);
    const DeviceLimits& limits = plan.limits;
    const std::int64_t blocks = (shape.batch + batch_width<T> - 1) / batch_width<T>;
    const std::int64_t each = (blocks + limits.multiprocessors - 1) / limits.multiprocessors;
    const int rows =
        static_cast<int>(detail::interior_rows(shape.rows, shape.half_bandwidth, shape.boundary == Boundary::periodic));
    // `values` are moved per row, those that do not stay on chip not counted.
    const auto choose = [&](int usual, const BatchUse& use, int values) {
        const int barriers = use.streams ? batch_stream_barrier_bytes : 0,
                  reserved = limits.reserved_shared_bytes_per_block;
        BatchShared shared = choose_shared(plan.tuning, usual, std::max<std::int64_t>(each, 1), use, rows,
                                           limits.shared_bytes_per_multiprocessor,
                                           limits.shared_bytes_per_block - barriers, reserved + barriers);
        shared.bytes += barriers;
        const std::int64_t beside = std::max(limits.shared_bytes_per_multiprocessor / (shared.bytes + reserved), 1);
        shared.first_once = choose_once(
            shared.first_kept, use.kept_values, static_cast<double>(shape.rows * shape.batch) * values * sizeof(T),
            limits.cache_bytes, std::min<std::int64_t>(blocks, beside * limits.multiprocessors));
        return shared;
    };
    const int factored = kernels.forward + kernels.backward;
    switch (task) {
    case Task::solve:
        return choose(batch_solve_blocks,
                      {batch_solve_chunk, std::max(kernels.forward, kernels.backward) + 1, 1, false}, factored + 2);
    case Task::stream:
        return choose(batch_stream_blocks, {batch_stream_chunk, kernels.forward + 1, 1, true}, factored + 2);
    case Task::factor:
        return choose(batch_factor_blocks, {batch_factor_chunk, kernels.diagonals, 0, false},
                      kernels.diagonals + factored);
    case Task::combine: break;
    }
    return choose(batch_factor_blocks,
                  {batch_factor_chunk, std::max(kernels.diagonals, kernels.backward) + 1, kernels.kept, false},
                  kernels.diagonals + 2);
}

// What of U has to go to the workspace: that of the rows that are not kept on chip.
template <class T> std::int64_t workspace_values(const BatchPlan& plan, const BatchShape& shape) {
    const std::int64_t tiles = (shape.batch + batch_tile - 1) / batch_tile;
    return tiles * batch_tile * shared_for<T>(plan, shape, Task::combine).first_kept * kernels_for<T>(shape).backward;
}

// Asks about the device and loads the kernels, so that a solve only launches.
template <class T> std::shared_ptr<BatchPlan> make_plan(Device device, const BatchShape& shape) {
    if (shape.rows > INT32_MAX / 2) // a tile of such systems would take more memory than any GPU has
        throw InvalidArgument("systems of " + std::to_string(shape.rows) +
                              " rows are too long for a GPU (it counts the rows of a system in 32 bits): use the CPU");
    const auto plan = std::make_shared<BatchPlan>(BatchPlan{device_limits(device), batch_tuning, false, {}, 0, 0});
    const BatchKernels<T> kernels = kernels_for<T>(shape);
    DeviceScope scope(device);
    for (const void* kernel :
         {reinterpret_cast<const void*>(kernels.solve), reinterpret_cast<const void*>(kernels.stream),
          reinterpret_cast<const void*>(kernels.stream_pieces), reinterpret_cast<const void*>(kernels.factor),
          reinterpret_cast<const void*>(kernels.combine)}) {
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        plan->limits.shared_bytes_per_block),
                   "raising a kernel's shared memory");
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                        cudaSharedmemCarveoutMaxShared),
                   "asking for shared memory");
        cudaFuncAttributes attributes;
        check_cuda(cudaFuncGetAttributes(&attributes, kernel), "loading a kernel");
        // Machine code that the driver made from older PTX runs on newer devices, but has no copy engine in it.
        if (kernel == reinterpret_cast<const void*>(kernels.stream))
            plan->streams = plan->limits.compute_major >= 9 && attributes.ptxVersion >= 90;
    }
    return plan;
}

template <class T, class Arguments>
void launch(void (*kernel)(Arguments), const BatchShape& shape, const BatchShared& shared, Arguments& arguments,
            Stream stream, int more_threads = 0) {
    arguments.room = {shared.chunks, shared.first_kept, shared.first_once};
    const std::int64_t blocks = (shape.batch + batch_width<T> - 1) / batch_width<T>;
    if (blocks > INT32_MAX)
        throw InvalidArgument(std::to_string(shape.batch) +
                              " systems are more than one launch can hold: solve them in several batches");
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(batch_width<T> + more_threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(shared.bytes);
    config.stream = stream.handle();
    check_cuda(cudaLaunchKernelEx(&config, kernel, arguments), "launching a kernel for matrices of their own");
}

// How far every system's rows are felt (batch_reach.cuh).
template <class T>
Array<int, Cuda> measure_reaches(const BatchPlan& plan, const BatchShape& shape, const T* values, Device device,
                                 Stream stream) {
    Array<int, Cuda> reach(shape.batch, device);
    check_cuda(cudaMemsetAsync(reach.data(), 0, static_cast<std::size_t>(shape.batch) * sizeof(int), stream.handle()),
               "clearing memory");
    constexpr int threads = 128;
    const std::int64_t pieces = (shape.rows - 1) / plan.piece; // but the first
    const dim3 grid(static_cast<unsigned>((shape.batch + threads - 1) / threads),
                    static_cast<unsigned>(std::clamp<std::int64_t>(pieces, 1, 65535)));
    kernels_for<T>(shape).measure<<<grid, threads, 0, stream.handle()>>>(values, static_cast<int>(shape.rows),
                                                                         shape.batch, plan.piece, reach.data());
    check_cuda(cudaGetLastError(), "launching a kernel for matrices of their own");
    return reach;
}

template <class T> BatchFactorArguments<T> matrix_arguments(const BandBatch<T, Cuda>& matrices, Device device) {
    BatchFactorArguments<T> arguments{};
    arguments.n = static_cast<int>(matrices.rows());
    arguments.batch = matrices.batch();
    for (int d = 0; d < matrices.diagonals(); ++d) {
        if (matrices.batch() > 0) require_device_pointer(device, matrices.data(d), "matrix");
        arguments.diagonals[d] = matrices.data(d);
        arguments.diagonal_shapes[d] = matrices.field_shape(d);
    }
    return arguments;
}

} // namespace
} // namespace cuda

template <class T> BatchFactor<T, Cuda> factor(const BandBatch<T, Cuda>& matrices, Device device, Stream stream) {
    const BatchShape& shape = matrices.shape();
    require_device(device);
    cuda::BatchFactorArguments<T> arguments = cuda::matrix_arguments(matrices, device);
    const auto plan = cuda::make_plan<T>(device, shape);
    cuda::plan_split<T>(*plan, device, shape);
    if (plan->streams && plan->split.width == 0 && shape.boundary == Boundary::open)
        plan->piece =
            cuda::choose_piece(static_cast<int>(shape.rows), cuda::shared_for<T>(*plan, shape, cuda::Task::stream));
    auto data = std::make_shared<detail::BatchFactorData<T, Cuda>>();
    const std::int64_t tiles = (shape.batch + detail::batch_tile - 1) / detail::batch_tile;
    data->device = device;
    data->knowledge = plan;
    data->values = Array<T, Cuda>(
        tiles * detail::tile_values(shape.rows, shape.half_bandwidth, shape.boundary == Boundary::periodic), device);
    data->status = Array<std::int64_t, Cuda>(shape.batch, device);
    if (shape.batch > 0) {
        DeviceScope scope(device);
        arguments.values = data->values.data();
        arguments.status = data->status.data();
        arguments.status_shape = {1, shape.batch, 0, 1, shape.batch, 0};
        cuda::launch<T>(cuda::kernels_for<T>(shape).factor, shape,
                        cuda::shared_for<T>(*plan, shape, cuda::Task::factor), arguments, stream);
        if (plan->piece > 0) data->reach = cuda::measure_reaches<T>(*plan, shape, data->values.data(), device, stream);
    }
    return {shape, std::move(data)};
}

template <class T>
void solve(const BatchFactor<T, Cuda>& factor, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, Stream stream) {
    const BatchShape& shape = factor.shape();
    detail::check_batch_solve(shape, b.shape(), b.data(), x.shape(), x.data(), sizeof(T));
    if (shape.batch == 0) return;
    const auto& data = factor.data();
    require_device_pointer(data.device, b.data(), "right-hand side");
    require_device_pointer(data.device, x.data(), "solution");
    DeviceScope scope(data.device);
    const auto& plan = *static_cast<const cuda::BatchPlan*>(data.knowledge.get());
    if (plan.split.width > 0)
        return cuda::solve_split_systems<T>(plan, shape, data.values.data(), b.data(), b.shape(), x.data(), x.shape(),
                                            stream);
    cuda::BatchSolveArguments<T> arguments{static_cast<int>(shape.rows),
                                           data.values.data(),
                                           b.data(),
                                           b.shape(),
                                           x.data(),
                                           x.shape(),
                                           {plan.piece, data.reach.data()},
                                           0,
                                           {}};
    const cuda::BatchKernels<T> kernels = cuda::kernels_for<T>(shape);
    const auto whole_rows = [](const auto& field) {
        return cuda::has_whole_rows(field.shape(), field.data(), sizeof(T), cuda::batch_width<T>);
    };
    if (!plan.streams || !whole_rows(b) || !whole_rows(x))
        return cuda::launch<T>(kernels.solve, shape, cuda::shared_for<T>(plan, shape, cuda::Task::solve), arguments,
                               stream);
    const cuda::BatchShared shared = cuda::shared_for<T>(plan, shape, cuda::Task::stream);
    cuda::launch<T>(plan.piece > 0 ? kernels.stream_pieces : kernels.stream, shape, shared, arguments, stream, 32);
}

template <class T> BatchWorkspace<T, Cuda>::BatchWorkspace(const BatchShape& shape, Device device) : shape_(shape) {
    detail::check_batch_shape(shape);
    require_device(device);
    const auto plan = cuda::make_plan<T>(device, shape);
    knowledge_ = plan;
    values_ = Array<T, Cuda>(cuda::workspace_values<T>(*plan, shape), device);
}

template <class T>
void solve(const BandBatch<T, Cuda>& matrices, std::type_identity_t<FieldView<const T, Cuda>> b,
           std::type_identity_t<FieldView<T, Cuda>> x, FieldView<std::int64_t, Cuda> status,
           BatchWorkspace<T, Cuda>& workspace, Stream stream) {
    const BatchShape& shape = matrices.shape();
    detail::check_combined(matrices, b, x, status, workspace.shape());
    const Device device = workspace.device();
    cuda::BatchFactorArguments<T> arguments = cuda::matrix_arguments(matrices, device);
    if (shape.batch == 0) return;
    require_device_pointer(device, b.data(), "right-hand side");
    require_device_pointer(device, x.data(), "solution");
    require_device_pointer(device, status.data(), "status");
    DeviceScope scope(device);
    arguments.values = workspace.data();
    arguments.status = status.data();
    arguments.status_shape = status.shape();
    arguments.b = b.data();
    arguments.b_shape = b.shape();
    arguments.x = x.data();
    arguments.x_shape = x.shape();
    const auto& plan = *static_cast<const cuda::BatchPlan*>(workspace.knowledge());
    cuda::launch<T>(cuda::kernels_for<T>(shape).combine, shape, cuda::shared_for<T>(plan, shape, cuda::Task::combine),
                    arguments, stream);
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template BatchFactor<T, Cuda> factor<T>(const BandBatch<T, Cuda>&, Device, Stream);                                \
    template void solve<T>(const BatchFactor<T, Cuda>&, FieldView<const T, Cuda>, FieldView<T, Cuda>, Stream);         \
    template class BatchWorkspace<T, Cuda>;                                                                            \
    template void solve<T>(const BandBatch<T, Cuda>&, FieldView<const T, Cuda>, FieldView<T, Cuda>,                    \
                           FieldView<std::int64_t, Cuda>, BatchWorkspace<T, Cuda>&, Stream);
BANDMILL_INSTANTIATE(double)
BANDMILL_INSTANTIATE(float)

} // namespace bandmill
