// k-means on a GPU: all rows in its memory, a warp for a row. The arithmetic is that of cluster/nearest.hpp.
#include "bandmill/base/array.hpp"
#include "bandmill/base/device.hpp"
#include "bandmill/cluster/nearest.hpp"
#include "bandmill/cluster/rows.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

namespace bandmill {
namespace {

constexpr int threads = 256, warps = threads / 32;
// Two blocks fit on a multiprocessor; centroids beyond this are read through the caches.
constexpr int most_shared_bytes = 96 * 1024;
constexpr unsigned all_lanes = 0xffffffffu;
static_assert(detail::partial_sums == 32);

using Count = unsigned long long; // what atomics add; differences wrap around as they should

// One reading of all rows: of up to 8 clusters, because a lane has a partial sum for each.
template <class T> struct Pass {
    const T* rows; // [row][dimension]
    std::int64_t count, dimensions;
    const double* centroids; // [cluster][dimension], of the clusters of this pass
    int first_cluster;
    bool is_first, is_last; // of the passes over all clusters; the last one counts
    double scale;
    signed char* labels;
    signed char* candidates; // the nearest cluster so far
    double* distances;       // to it
    Count* sums;             // [copy][sums_width]: [cluster][dimension], then [cluster] of rows
    std::int64_t sums_width;
    int clusters, copies;
    Count* changed;
};

template <class T>
__device__ void change_label(const Pass<T>& pass, std::int64_t row, int before, int after, int lane) {
    Count* const sums = pass.sums + (blockIdx.x % pass.copies) * pass.sums_width;
    const T* const x = pass.rows + row * pass.dimensions;
    for (std::int64_t j = lane; j < pass.dimensions; j += 32) {
        const auto value = static_cast<Count>(detail::quantised(static_cast<double>(x[j]), pass.scale));
        atomicAdd(sums + after * pass.dimensions + j, value);
        if (before >= 0) atomicAdd(sums + before * pass.dimensions + j, Count{0} - value);
    }
    if (lane != 0) return;
    Count* const sizes = sums + pass.clusters * pass.dimensions;
    atomicAdd(sizes + after, Count{1});
    if (before >= 0) atomicAdd(sizes + before, Count{0} - Count{1});
}

template <class T, int clusters, bool in_shared>
__global__ void __launch_bounds__(threads, 4) nearest_kernel(const Pass<T> pass) {
    extern __shared__ double stage[];
    const double* centroids = pass.centroids;
    if constexpr (in_shared) {
        for (int i = threadIdx.x; i < clusters * static_cast<int>(pass.dimensions); i += threads)
            stage[i] = pass.centroids[i];
        __syncthreads();
        centroids = stage;
    }
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
    Count changed = 0;
    for (std::int64_t row = blockIdx.x * std::int64_t{warps} + threadIdx.x / 32; row < pass.count; row += step) {
        const int before = pass.labels[row];
        const T* const x = pass.rows + row * pass.dimensions;
        double sum[clusters] = {};
#pragma unroll 8
        for (std::int64_t j = lane; j < pass.dimensions; j += 32) {
            const double value = x[j];
#pragma unroll
            for (int c = 0; c < clusters; ++c) {
                const double difference = value - centroids[c * pass.dimensions + j];
                sum[c] += difference * difference;
            }
        }
        if (before == detail::not_finite) continue; // asked this late, the label does not hold the row up
        double least = pass.is_first ? std::numeric_limits<double>::infinity() : pass.distances[row];
        int nearest = pass.is_first ? detail::no_label : pass.candidates[row];
#pragma unroll
        for (int c = 0; c < clusters; ++c) {
            for (int distance = 16; distance >= 1; distance /= 2)
                sum[c] += __shfl_xor_sync(all_lanes, sum[c], distance);
            if (sum[c] < least) least = sum[c], nearest = pass.first_cluster + c;
        }
        const bool is_changed = pass.is_last && nearest != before;
        __syncwarp(); // all lanes have read what one of them writes now
        if (lane == 0) {
            pass.distances[row] = least;
            pass.candidates[row] = static_cast<signed char>(nearest);
            if (is_changed) pass.labels[row] = static_cast<signed char>(nearest);
        }
        // Sums of integers can be corrected without a trace: only rows that change cluster cost anything.
        if (is_changed) {
            ++changed;
            change_label(pass, row, before, nearest, lane);
        }
    }
    if (lane == 0 && changed > 0) atomicAdd(pass.changed, changed);
}

// sums[0][i] = the sum over all copies, the others 0
__global__ void __launch_bounds__(threads) join_copies_kernel(Count* sums, std::int64_t width, int copies) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t i = blockIdx.x * std::int64_t{threads} + threadIdx.x; i < width; i += step)
        for (int copy = 1; copy < copies; ++copy) {
            sums[i] += sums[copy * width + i];
            sums[copy * width + i] = 0;
        }
}

// found: rows that are finite, and the bits of the largest magnitude in them (which compare as integers)
template <class T>
__global__ void __launch_bounds__(threads)
    inspect_kernel(const T* rows, std::int64_t count, std::int64_t dimensions, signed char* labels, Count* found) {
    constexpr Count infinite = 0x7ff0'0000'0000'0000ull;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * warps;
    Count finite = 0, largest = 0;
    for (std::int64_t row = blockIdx.x * std::int64_t{warps} + threadIdx.x / 32; row < count; row += step) {
        Count most = 0;
        for (std::int64_t j = lane; j < dimensions; j += 32) {
            const double magnitude = fabs(static_cast<double>(rows[row * dimensions + j]));
            most = max(most, static_cast<Count>(__double_as_longlong(magnitude)));
        }
        for (int distance = 16; distance >= 1; distance /= 2)
            most = max(most, __shfl_xor_sync(all_lanes, most, distance));
        if (lane == 0) labels[row] = most < infinite ? detail::no_label : detail::not_finite;
        if (most >= infinite) continue;
        ++finite;
        largest = max(largest, most);
    }
    if (lane != 0 || finite == 0) return;
    atomicAdd(found, finite);
    atomicMax(found + 1, largest);
}

__global__ void __launch_bounds__(threads) forget_labels_kernel(signed char* labels, std::int64_t count) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * threads;
    for (std::int64_t row = blockIdx.x * std::int64_t{threads} + threadIdx.x; row < count; row += step)
        if (labels[row] != detail::not_finite) labels[row] = detail::no_label;
}

unsigned blocks_for(std::int64_t work, std::int64_t per_block, std::int64_t most) {
    return static_cast<unsigned>(std::clamp<std::int64_t>((work + per_block - 1) / per_block, 1, most));
}

template <class T, int clusters, bool in_shared> void launch_pass(const Pass<T>& pass, int multiprocessors) {
    const auto kernel = nearest_kernel<T, clusters, in_shared>;
    const std::size_t bytes = in_shared ? clusters * static_cast<std::size_t>(pass.dimensions) * sizeof(double) : 0;
    if (in_shared)
        check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes),
                   "preparing k-means");
    int resident = 0; // blocks that stay load the centroids once
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes), "preparing k-means");
    const std::int64_t most = std::max(resident, 1) * static_cast<std::int64_t>(multiprocessors);
    kernel<<<blocks_for(pass.count, warps, most), threads, bytes>>>(pass);
    check_cuda(cudaGetLastError(), "launching k-means");
}
template <class T, int clusters> void launch_pass(const Pass<T>& pass, int multiprocessors) {
    if (clusters * pass.dimensions * static_cast<std::int64_t>(sizeof(double)) <= most_shared_bytes)
        launch_pass<T, clusters, true>(pass, multiprocessors);
    else
        launch_pass<T, clusters, false>(pass, multiprocessors);
}
// How many of the clusters that are left one pass takes.
int clusters_at_once(int left) { return left >= 8 ? 8 : std::min(left, 4); }
template <class T> void launch_pass(const Pass<T>& pass, int clusters, int multiprocessors) {
    switch (clusters) {
    case 1: return launch_pass<T, 1>(pass, multiprocessors);
    case 2: return launch_pass<T, 2>(pass, multiprocessors);
    case 3: return launch_pass<T, 3>(pass, multiprocessors);
    case 4: return launch_pass<T, 4>(pass, multiprocessors);
    default: return launch_pass<T, 8>(pass, multiprocessors);
    }
}

template <class T> class DeviceRows final : public detail::Rows<T> {
  public:
    DeviceRows(std::span<const RowBlock<T>> blocks, std::int64_t rows, std::int64_t dimensions, int clusters,
               Device device)
        : device_(device), count_(rows), dimensions_(dimensions), clusters_(clusters), copies_(copies(width())),
          multiprocessors_(device_limits(device).multiprocessors), rows_(rows * dimensions, device),
          labels_(rows, device), candidates_(rows, device), distances_(rows, device),
          centroids_(clusters * dimensions, device), sums_(copies_ * width() + 1, device), host_labels_(size(rows)),
          host_distances_(size(rows)) {
        std::int64_t done = 0;
        for (const RowBlock<T>& block : blocks) {
            copy_to_device(device, rows_.data() + done, block.values.data(), block.values.size_bytes());
            done += std::ssize(block.values);
        }
        DeviceScope scope(device);
        Array<Count, Cuda> found(2, device);
        check_cuda(cudaMemsetAsync(found.data(), 0, 2 * sizeof(Count), nullptr), "looking at the rows");
        if (rows > 0) // those of rows that are not finite are copied, too
            check_cuda(cudaMemsetAsync(distances_.data(), 0, size(rows) * sizeof(double), nullptr),
                       "looking at the rows");
        if (rows > 0) {
            inspect_kernel<T><<<blocks_for(rows, warps, 32 * multiprocessors_), threads>>>(
                rows_.data(), rows, dimensions, labels_.data(), found.data());
            check_cuda(cudaGetLastError(), "looking at the rows");
        }
        Count result[2];
        found.copy_to(result);
        extent_ = {static_cast<std::int64_t>(result[0]), std::bit_cast<double>(result[1])};
    }

    // What the constructor takes.
    static std::int64_t bytes(std::int64_t rows, std::int64_t dimensions, int clusters) {
        const std::int64_t width = clusters * (dimensions + 1);
        return rows * (dimensions * std::int64_t{sizeof(T)} + 10) + 8 * (copies(width) + 1) * width;
    }

    detail::RowsExtent extent() const override { return extent_; }

    void measure(std::span<const double> point, bool is_first) override {
        if (count_ == 0) return;
        copy_to_device(device_, centroids_.data(), point.data(), point.size_bytes());
        DeviceScope scope(device_);
        Pass<T> pass = pass_of(0);
        pass.is_first = is_first;
        launch_pass(pass, 1, multiprocessors_);
    }

    void start_over(double scale) override {
        scale_ = scale;
        DeviceScope scope(device_);
        check_cuda(cudaMemsetAsync(sums_.data(), 0, size(sums_.size()) * sizeof(Count), nullptr), "starting k-means");
        if (count_ == 0) return;
        forget_labels_kernel<<<blocks_for(count_, threads, 1 << 20), threads>>>(labels_.data(), count_);
        check_cuda(cudaGetLastError(), "starting k-means");
    }

    std::int64_t label(std::span<const double> centroids, std::span<std::int64_t> sums) override {
        Count* const changed = sums_.data() + copies_ * width();
        if (count_ > 0) {
            centroids_.copy_from(centroids);
            DeviceScope scope(device_);
            check_cuda(cudaMemsetAsync(changed, 0, sizeof(Count), nullptr), "labelling rows");
            for (int cluster = 0, some; cluster < clusters_; cluster += some) {
                some = clusters_at_once(clusters_ - cluster);
                Pass<T> pass = pass_of(cluster);
                pass.is_first = cluster == 0;
                pass.is_last = cluster + some == clusters_;
                launch_pass(pass, some, multiprocessors_);
            }
            join_copies_kernel<<<blocks_for(width(), threads, 4096), threads>>>(sums_.data(), width(), copies_);
            check_cuda(cudaGetLastError(), "adding up clusters");
        }
        Count count = 0;
        copy_to_host(device_, sums.data(), sums_.data(), size(width()) * sizeof(Count));
        copy_to_host(device_, &count, changed, sizeof count);
        return static_cast<std::int64_t>(count);
    }

    std::span<const double> distances() override {
        distances_.copy_to(host_distances_);
        return host_distances_;
    }
    std::span<const signed char> labels() override {
        labels_.copy_to(host_labels_);
        return host_labels_;
    }

  private:
    static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
    std::int64_t width() const { return clusters_ * (dimensions_ + 1); }
    // The first labelling adds all rows to a few sums. Blocks on different copies of them do not wait for each other.
    static int copies(std::int64_t width) {
        return static_cast<int>(std::clamp<std::int64_t>((std::int64_t{1} << 20) / width, 1, 32));
    }
    Pass<T> pass_of(int cluster) {
        return {.rows = rows_.data(),
                .count = count_,
                .dimensions = dimensions_,
                .centroids = centroids_.data() + cluster * dimensions_,
                .first_cluster = cluster,
                .is_first = false,
                .is_last = false,
                .scale = scale_,
                .labels = labels_.data(),
                .candidates = candidates_.data(),
                .distances = distances_.data(),
                .sums = sums_.data(),
                .sums_width = width(),
                .clusters = clusters_,
                .copies = copies_,
                .changed = sums_.data() + copies_ * width()};
    }

    Device device_;
    std::int64_t count_, dimensions_;
    int clusters_, copies_, multiprocessors_;
    Array<T, Cuda> rows_;
    Array<signed char, Cuda> labels_, candidates_;
    Array<double, Cuda> distances_, centroids_;
    Array<Count, Cuda> sums_; // [copy][width], then labels changed
    std::vector<signed char> host_labels_;
    std::vector<double> host_distances_;
    double scale_ = 1;
    detail::RowsExtent extent_{};
};

} // namespace

template <class T>
std::unique_ptr<detail::Rows<T>> detail::make_rows(std::span<const RowBlock<T>> blocks, std::int64_t dimensions,
                                                   int clusters, Device device) {
    std::int64_t rows = 0;
    for (const RowBlock<T>& block : blocks) rows += std::ssize(block.numbers);
    constexpr std::int64_t reserve = std::int64_t{256} << 20; // for the kernels themselves, and for rounding up
    if (DeviceRows<T>::bytes(rows, dimensions, clusters) + reserve > static_cast<std::int64_t>(free_memory(device)))
        return nullptr;
    return std::make_unique<DeviceRows<T>>(blocks, rows, dimensions, clusters, device);
}
template std::unique_ptr<detail::Rows<double>> detail::make_rows<double>(std::span<const RowBlock<double>>,
                                                                         std::int64_t, int, Device);
template std::unique_ptr<detail::Rows<float>> detail::make_rows<float>(std::span<const RowBlock<float>>, std::int64_t,
                                                                       int, Device);

} // namespace bandmill
