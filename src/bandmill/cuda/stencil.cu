// Weighted stencils on a GPU: small patches on packed rows, other patches of some size tile by tile, large ones point
// by point.
#include "bandmill/base/arithmetic.hpp"
#include "bandmill/cuda/stencil_march.cuh"
#include "bandmill/stencil/apply.hpp"
#include "bandmill/stencil/tile.cuh"

#include <algorithm>
#include <atomic>
#include <utility>

namespace bandmill {
namespace {

using namespace detail;

constexpr int most_rows = 7, most_columns = 33; // of a patch that is taken by tiles

// Row by row, each from the left. What is read for one result serves the others above and below it.
template <class T, int R> struct WeightedTile {
    T weights[most_columns * R]; // of zero: not looked at
    int columns;

    __device__ __forceinline__ void operator()(const T* window, int pitch, const TilePoint&, T* values) const {
        if constexpr (R > 1) {
            if (columns > 1) {
#pragma unroll
                for (int row = 0; row < rows_per_thread + R - 1; ++row)
                    for (int column = 0; column < columns; ++column)
                        add(window[row * pitch + column], row, weights + column * R, values);
                return;
            }
        }
        // One row or one column: either order is the same, and this one has its weights in registers.
        for (int column = 0; column < columns; ++column) {
            T weight[R];
#pragma unroll
            for (int dy = 0; dy < R; ++dy) weight[dy] = weights[column * R + dy];
#pragma unroll
            for (int row = 0; row < rows_per_thread + R - 1; ++row)
                add(window[row * pitch + column], row, weight, values);
        }
    }

  private:
    // A value of a row to all results that look at it.
    __device__ __forceinline__ static void add(T value, int row, const T* weight, T* values) {
#pragma unroll
        for (int dy = 0; dy < R; ++dy) {
            const int k = row - dy;
            if (k >= 0 && k < rows_per_thread && weight[dy] != T(0))
                values[k] = multiply_add(weight[dy], value, values[k]);
        }
    }
};

// All results, or those whose neighbours all exist.
template <class T> cuda::PlaneRange range_of(const TileJob<T>& job) {
    const bool leave_x = job.x_rule.kind == Edges::Kind::leave, leave_y = job.y_rule.kind == Edges::Kind::leave;
    return {leave_x ? job.left : 0, job.out_shape.columns - (leave_x ? job.right : 0), leave_y ? job.up : 0,
            job.out_shape.rows - (leave_y ? job.down : 0)};
}

// Any patch, any layout: a thread per point. Large patches take several launches, each adding to what is there.
constexpr int points_per_launch = 64;
template <class T> struct PointJob {
    const T* in;
    T* out;
    PlaneShape in_shape, out_shape;
    EdgeRule<T> x_rule, y_rule;
    cuda::PlaneRange range;
    bool add;
    int fastest; // the axis of neighbouring threads: 0 x, 1 y, 2 plane
    int count;
    struct Point {
        int dy, dx;
        T weight;
    } points[points_per_launch];
};

template <class T> __device__ T value_at(const PointJob<T>& job, const T* plane, std::int64_t y, std::int64_t x) {
    const Ghost<T> along_x = job.x_rule.locate(x, job.in_shape.columns),
                   along_y = job.y_rule.locate(y, job.in_shape.rows);
    if (along_x.index < 0 || along_y.index < 0) return along_y.value(along_x.value(T(0)));
    const T value = plane[along_y.index * job.in_shape.row_stride + along_x.index * job.in_shape.column_stride];
    return along_y.value(along_x.value(value));
}

template <class T> __global__ void __launch_bounds__(256) point_kernel(const __grid_constant__ PointJob<T> job) {
    const std::int64_t columns = job.range.x_end - job.range.x_begin, rows = job.range.y_end - job.range.y_begin,
                       planes = job.out_shape.batch;
    const std::int64_t all = columns * rows * planes, step = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; k < all; k += step) {
        std::int64_t x, y, m;
        if (job.fastest == 0) {
            x = k % columns, y = k / columns % rows, m = k / columns / rows;
        } else if (job.fastest == 1) {
            y = k % rows, x = k / rows % columns, m = k / rows / columns;
        } else {
            m = k % planes, x = k / planes % columns, y = k / planes / columns;
        }
        x += job.range.x_begin, y += job.range.y_begin;
        const T* plane = job.in + m * job.in_shape.batch_stride;
        T* out =
            job.out + m * job.out_shape.batch_stride + y * job.out_shape.row_stride + x * job.out_shape.column_stride;
        T sum = job.add ? *out : T(0);
        for (int i = 0; i < job.count; ++i)
            sum = multiply_add(job.points[i].weight, value_at(job, plane, y + job.points[i].dy, x + job.points[i].dx),
                               sum);
        *out = sum;
    }
}

template <class T>
void apply_by_points(const TileJob<T>& tiles, const std::vector<Weighted<T>>& points, Stream stream) {
    PointJob<T> job{};
    job.in = tiles.in;
    job.out = tiles.out;
    job.in_shape = tiles.in_shape;
    job.out_shape = tiles.out_shape;
    job.x_rule = tiles.x_rule;
    job.y_rule = tiles.y_rule;
    const PlaneShape& shape = job.out_shape;
    job.range = range_of(tiles);
    if (job.range.is_empty()) return;
    job.fastest = shape.column_stride == 1 ? 0 : shape.batch_stride == 1 ? 2 : shape.row_stride == 1 ? 1 : 0;
    job.add = tiles.add;
    const std::int64_t all =
        (job.range.x_end - job.range.x_begin) * (job.range.y_end - job.range.y_begin) * shape.batch;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((all + 255) / 256, 1 << 30));
    for (std::size_t first = 0; first == 0 || first < points.size(); first += points_per_launch) {
        job.count = static_cast<int>(std::min<std::size_t>(points_per_launch, points.size() - first));
        for (int i = 0; i < job.count; ++i) {
            const Weighted<T>& point = points[first + static_cast<std::size_t>(i)];
            job.points[i] = {static_cast<int>(point.dy), static_cast<int>(point.dx), point.weight};
        }
        point_kernel<<<blocks, 256, 0, stream.handle()>>>(job);
        check_launch(cudaGetLastError(), "launching a stencil");
        job.add = true;
    }
}

// The axes of a stencil along one of them, put so that neighbours in memory are neighbouring threads: sums of one
// direction do not depend on what it is called.
struct Axis {
    std::int64_t count, in, out; // points, strides
    bool is_unit() const { return in == 1 && out == 1 && count > 1; }
};

template <class T> void set_axes(TileJob<T>& job, const Axis& x, const Axis& y, const Axis& plane) {
    job.in_shape = {y.count, x.count, plane.count, y.in, x.in, plane.in};
    job.out_shape = {y.count, x.count, plane.count, y.out, x.out, plane.out};
}

template <class T> void turn(TileJob<T>& job) { // x becomes y
    std::swap(job.left, job.up);
    std::swap(job.right, job.down);
    std::swap(job.x_rule, job.y_rule);
}

// A few lines that are long: each is cut into rows.
template <class T> void fold_lines(TileJob<T>& job) {
    const PlaneShape &in = job.in_shape, &out = job.out_shape;
    const Axis line{out.columns, in.column_stride, out.column_stride}, one{out.rows, in.row_stride, out.row_stride},
        other{out.batch, in.batch_stride, out.batch_stride};
    if (job.up + job.down > 0) return;
    if (line.count < 32 * tile_lanes || one.count * other.count >= line.count / tile_lanes) return;
    if (one.count > 1 && other.count > 1) return;
    const Axis& lines = one.count > 1 ? one : other;
    job.fold = tile_lanes;
    job.line = line.count;
    set_axes(job, {tile_lanes, line.in, line.out},
             {(line.count + tile_lanes - 1) / tile_lanes, tile_lanes * line.in, tile_lanes * line.out}, lines);
}

// Whether x became y.
template <class T> bool arrange(TileJob<T>& job) {
    const PlaneShape &in = job.in_shape, &out = job.out_shape;
    const bool along_x = job.up == 0 && job.down == 0, along_y = job.left == 0 && job.right == 0;
    const Axis x{out.columns, in.column_stride, out.column_stride}, y{out.rows, in.row_stride, out.row_stride},
        plane{out.batch, in.batch_stride, out.batch_stride};
    if (!along_x && !along_y) {
        job.by_columns = in.column_stride != 1 && in.row_stride == 1;
        return false;
    }
    const Axis &along = along_x ? x : y, &across = along_x ? y : x;
    if (!along.is_unit() && (across.is_unit() || plane.is_unit())) { // threads side by side across the stencil
        if (along_x) turn(job);
        set_axes(job, across.is_unit() ? across : plane, along, across.is_unit() ? plane : across);
        return along_x;
    }
    if (!along_x) turn(job);
    // Rows of all planes are alike.
    Axis one = across, other = plane;
    if (one.in == other.count * other.in && one.out == other.count * other.out) std::swap(one, other);
    if (other.in == one.count * one.in && other.out == one.count * one.out) {
        one.count *= other.count;
        other = {1, 0, 0};
    }
    if (one.count < other.count) std::swap(one, other);
    set_axes(job, along, one, other);
    return !along_x;
}

// The weights of job's own axes, which may have been turned.
template <class T, int R>
void launch_weighted(const TileJob<T>& job, const std::vector<Weighted<T>>& points, bool turned, Stream stream) {
    WeightedTile<T, R> formula{};
    formula.columns = job.left + job.right + 1;
    for (const Weighted<T>& point : points) {
        const std::int64_t dx = turned ? point.dy : point.dx, dy = turned ? point.dx : point.dy;
        formula.weights[(dx + job.left) * R + dy + job.up] = point.weight;
    }
    launch_tiles(job, formula, stream, "launching a stencil");
}

// Whether pieces of 16 bytes may be moved along the rows.
template <class T> bool has_whole_pieces(const void* data, const PlaneShape& shape) {
    constexpr int piece = 16 / sizeof(T);
    return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && shape.row_stride % piece == 0 &&
           (shape.batch == 1 || shape.batch_stride % piece == 0);
}

// Whether the copy engine is there, and machine code that uses it: what a driver makes from older PTX has none.
bool can_march(int device) {
    constexpr int most_devices = 64;
    static std::atomic<int> known[most_devices]; // 0: not asked yet
    if (device < most_devices && known[device] != 0) return known[device] == 1;
    cudaFuncAttributes attributes;
    check_launch(cudaFuncGetAttributes(&attributes, cuda::march_kernel<double, 1, 1, cuda::MarchPattern::all>),
                 "asking about a stencil");
    const bool can = device_attribute(cudaDevAttrComputeCapabilityMajor, device) >= 9 && attributes.ptxVersion >= 90;
    if (device < most_devices) known[device] = can ? 1 : -1;
    return can;
}

// A patch as its kernel wants it.
template <class T, int K, int R>
cuda::PatchWeights<T, K, R> patch_weights(const std::vector<Weighted<T>>& points, int up, bool turned) {
    cuda::PatchWeights<T, K, R> weights{};
    for (const Weighted<T>& point : points) {
        const std::int64_t dx = turned ? point.dy : point.dx, dy = turned ? point.dx : point.dy;
        const std::int64_t k = (dy + up) * weights.columns + dx + K;
        weights.weight[k] = point.weight;
        weights.used |= std::uint64_t{1} << k;
    }
    return weights;
}

template <class T, int K, int R>
bool launch_march(const cuda::PatchJob<T>& patch, const cuda::PatchWeights<T, K, R>& weights, int device,
                  Stream stream) {
    constexpr int V = cuda::patch_piece<T>;
    cuda::MarchJob<T> job{patch, 0, 0, 0, 0, 0};
    const PlaneShape& shape = job.out_shape;
    constexpr std::int64_t height = cuda::march_height<K, R>(), cuts = cuda::march_cuts<K, R>();
    // As wide as is good, or a little less, so that all strips are about as wide. Few rows are taken by wide strips.
    const int most = shape.rows < height / 2 ? cuda::march_most_threads : cuda::march_threads<K, R>();
    const std::int64_t pieces = shape.columns / V, fewest = (pieces + most - 1) / most;
    const int threads = static_cast<int>((pieces + fewest * 32 - 1) / (fewest * 32) * 32);
    job.strip = threads * V;
    const std::int64_t strips = (shape.columns + job.strip - 1) / job.strip,
                       marches = (shape.rows + height - 1) / height;
    if (strips > INT32_MAX / cuts / shape.batch / marches) return false;
    job.strips = static_cast<int>(strips);
    job.marches = static_cast<int>(marches);
    const std::int64_t all = strips * marches * shape.batch;
    std::int64_t blocks = all;
    if constexpr (cuda::march_is_cut<K, R>) { // where there is not enough for all multiprocessors, every one is cut
        const std::int64_t each = device_attribute(cudaDevAttrMultiProcessorCount, device) / 4 *
                                  cuda::march_most_threads / threads,
                           first = std::min(each, all);
        job.cut = static_cast<int>(first);
        job.uncut = static_cast<int>(std::max<std::int64_t>(all - first - each, 0));
        blocks = job.uncut + (all - job.uncut) * cuts;
    }
    cudaLaunchAttribute early{}; // begins while the kernel before drains; see wait_for_previous_kernel
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads + 32));
    constexpr std::size_t ring_rows = cuda::march_slots * cuda::march_rows, beside = cuda::patch_beside<T, K>;
    constexpr auto ring_bytes = [](int threads) {
        return cuda::march_barrier_bytes + ring_rows * (static_cast<std::size_t>(threads) * V + 2 * beside) * sizeof(T);
    };
    static_assert(cuda::march_is_cut<K, R> || ring_bytes(cuda::march_most_threads) <= 48 * 1024,
                  "more would have to be asked for");
    config.dynamicSmemBytes = ring_bytes(threads);
    config.stream = stream.handle();
    config.attrs = &early;
    config.numAttrs = 1;
    using cuda::MarchPattern;
    auto* kernel = weights.is_dense() ? cuda::march_kernel<T, K, R, MarchPattern::all>
                                      : cuda::march_kernel<T, K, R, MarchPattern::any>;
    if constexpr (K > 0 && K < 3 && R == 2 * K + 1)
        if (weights.is_cross()) kernel = cuda::march_kernel<T, K, R, MarchPattern::cross>;
    if constexpr (cuda::march_is_cut<K, R>) {
        // More than a ring needs, so that only so many blocks are on a multiprocessor. What is allowed is the same for
        // all widths: other threads may be launching this kernel too.
        const int whole = device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device), reserved = 1024;
        const auto room = [&](int threads) {
            const int blocks = cuda::march_blocks<T, K, R>() * cuda::march_most_threads / threads;
            return std::max(ring_bytes(threads), static_cast<std::size_t>(whole / blocks - reserved));
        };
        config.dynamicSmemBytes = room(threads);
        check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          static_cast<int>(room(cuda::march_most_threads))),
                     "raising a stencil's shared memory");
    }
    check_launch(cudaLaunchKernelEx(&config, kernel, job, weights), "launching a stencil");
    return true;
}

template <class T, int K, int R>
bool launch_patch(cuda::PatchJob<T> job, const cuda::PatchWeights<T, K, R>& weights, int device, Stream stream) {
    using Tile = cuda::PatchTile<T, K>;
    const PlaneShape& shape = job.out_shape;
    constexpr int height = cuda::patch_step<T>;
    const std::int64_t tiles_x = (shape.columns + cuda::patch_columns - 1) / cuda::patch_columns,
                       tiles_y = (shape.rows + height - 1) / height;
    if (tiles_x > INT32_MAX / shape.batch / tiles_y) return false;
    job.tiles_x = static_cast<int>(tiles_x);
    job.tiles_y = static_cast<int>(tiles_y);
    // More shared memory than a tile needs, so that only so many are on a multiprocessor.
    constexpr int tile_bytes = (height + R - 1) * Tile::pitch * static_cast<int>(sizeof(T)), reserved = 1024;
    const int room =
        device_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) / cuda::patch_tiles - reserved;
    const int bytes = std::max(tile_bytes, room);
    auto* kernel = weights.is_dense() ? cuda::patch_kernel<T, K, R, true> : cuda::patch_kernel<T, K, R, false>;
    check_launch(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "raising a stencil's shared memory");
    kernel<<<static_cast<unsigned>(tiles_x * tiles_y * shape.batch), cuda::patch_threads,
             static_cast<std::size_t>(bytes), stream.handle()>>>(job, weights);
    check_launch(cudaGetLastError(), "launching a stencil");
    return true;
}

// False where rows are not packed, or are short, or the patch is too large.
template <class T>
bool apply_by_patches(const TileJob<T>& tiles, const std::vector<Weighted<T>>& points, bool turned, int device,
                      Stream stream) {
    const PlaneShape& shape = tiles.out_shape;
    if (tiles.in_shape.column_stride != 1 || shape.column_stride != 1 || shape.columns < cuda::patch_columns / 2)
        return false;
    cuda::PatchJob<T> job{};
    job.in = tiles.in;
    job.out = tiles.out;
    job.in_shape = tiles.in_shape;
    job.out_shape = shape;
    job.x_rule = tiles.x_rule;
    job.y_rule = tiles.y_rule;
    job.range = range_of(tiles);
    if (job.range.is_empty()) return true;
    job.up = tiles.up;
    job.add = tiles.add;
    job.in_pieces = has_whole_pieces<T>(job.in, job.in_shape);
    job.out_pieces = has_whole_pieces<T>(job.out, job.out_shape);
    const int reach = std::max(tiles.left, tiles.right), rows = tiles.up + tiles.down + 1;
    const bool marches = job.in_pieces && !job.add && shape.columns % cuda::patch_piece<T> == 0 && can_march(device);
    if (reach == 0 && !marches && !(job.in_pieces && job.out_pieces))
        return false; // 3 rows, 1003 x 1000: 8.6 us, by tiles 6.7
    const auto launch = [&]<int K, int R>() {
        const auto weights = patch_weights<T, K, R>(points, job.up, turned);
        return (marches && launch_march(job, weights, device, stream)) || launch_patch(job, weights, device, stream);
    };
    if (reach == 0 && rows <= 3) return launch.template operator()<0, 3>();
    if (reach == 0 && rows <= 5) return launch.template operator()<0, 5>();
    if (reach == 0 && rows <= 7) return launch.template operator()<0, 7>();
    if (reach == 1 && rows == 1) return launch.template operator()<1, 1>();
    if (reach == 2 && rows == 1) return launch.template operator()<2, 1>();
    if (reach == 3 && rows == 1) return launch.template operator()<3, 1>();
    if (reach == 1 && rows <= 3) return launch.template operator()<1, 3>();
    if (reach <= 2 && rows <= 5) return launch.template operator()<2, 5>();
    if (reach <= 3 && rows <= 7) return launch.template operator()<3, 7>();
    return false;
}

template <class T>
bool apply_by_tiles(TileJob<T> job, const std::vector<Weighted<T>>& points, int device, Stream stream) {
    const PlaneShape& out = job.out_shape;
    if (out.batch_stride == 1 && out.batch > 1 && out.column_stride != 1 && job.up + job.down > 0 &&
        job.left + job.right > 0)
        return false; // planes are neighbours in memory: threads side by side take one plane each
    const bool turned = arrange(job);
    fold_lines(job);
    if (job.fold == 0 && apply_by_patches(job, points, turned, device, stream)) return true;
    const int rows = job.up + job.down + 1, columns = job.left + job.right + 1;
    if (rows > most_rows || columns > most_columns || !plan_tiles(job, device)) return false;
    switch (rows) {
    case 1: launch_weighted<T, 1>(job, points, turned, stream); break;
    case 2: launch_weighted<T, 2>(job, points, turned, stream); break;
    case 3: launch_weighted<T, 3>(job, points, turned, stream); break;
    case 4: launch_weighted<T, 4>(job, points, turned, stream); break;
    case 5: launch_weighted<T, 5>(job, points, turned, stream); break;
    case 6: launch_weighted<T, 6>(job, points, turned, stream); break;
    default: launch_weighted<T, 7>(job, points, turned, stream);
    }
    return true;
}

} // namespace

template <class T>
void apply(const Stencil& stencil, std::type_identity_t<PlaneView<const T, Cuda>> in, PlaneView<T, Cuda> out,
           const PlaneEdges& edges, Into into, Stream stream) {
    check_apply<T>(in, out, edges);
    const std::vector<Weighted<T>> points = weighted_points<T>(stencil);
    if (out.batch() == 0) return;
    const DeviceOf device(out.data(), "output");
    device.require(in.data(), "input");
    TileJob<T> job{};
    job.in = in.data();
    job.out = out.data();
    job.in_shape = in.shape();
    job.out_shape = out.shape();
    job.x_rule = EdgeRule<T>(edges.x);
    job.y_rule = EdgeRule<T>(edges.y);
    job.left = static_cast<int>(stencil.left()), job.right = static_cast<int>(stencil.right());
    job.up = static_cast<int>(stencil.up()), job.down = static_cast<int>(stencil.down());
    job.add = into == Into::add;
    if (!apply_by_tiles(job, points, device.index(), stream)) apply_by_points(job, points, stream);
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void apply<T>(const Stencil&, PlaneView<const T, Cuda>, PlaneView<T, Cuda>, const PlaneEdges&, Into,      \
                           Stream)
BANDMILL_INSTANTIATE(double);
BANDMILL_INSTANTIATE(float);
#undef BANDMILL_INSTANTIATE

} // namespace bandmill
