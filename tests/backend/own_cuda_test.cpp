// Matrices of their own, what only a GPU can do wrong: streams, graphs, pointers of the wrong space, systems of which
// only a part stays on chip.
#include "../base/expect_error.hpp"
#include "bandmill/cuda/batch_plan.hpp"
#include "limits.hpp"
#include "own_matrices.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

namespace bandmill::test {
namespace {

void require(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}

class OwnStream {
  public:
    OwnStream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~OwnStream() { cudaStreamDestroy(stream_); }
    OwnStream(const OwnStream&) = delete;
    OwnStream& operator=(const OwnStream&) = delete;
    cudaStream_t get() const { return stream_; }

  private:
    cudaStream_t stream_;
};

OwnBatch make_batch(std::int64_t n, int w, Boundary boundary, std::int64_t batch) {
    OwnBatch own{{}, batch};
    for (int k = 0; k < 5; ++k) own.matrices.push_back(make_bands({Family::dominant}, n, w, boundary, 40 + k));
    return own;
}

template <class Check> void for_each_batch(Check check) {
    std::vector<std::int64_t> sizes{5, 64, 300};
    sizes.push_back(limits().small ? 900 : 1024); // split over blocks, or more than stay on chip
    if (!limits().small) sizes.insert(sizes.end(), {3001, 20000});
    for (std::int64_t n : sizes)
        for (int w = 1; w <= 2; ++w)
            for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) +
                             (boundary == Boundary::open ? ", open" : ", periodic"));
                check(make_batch(n, w, boundary, 70));
            }
}

std::vector<double> right_hand_sides(const OwnBatch& own, int turn) {
    std::vector<double> b(own.n() * own.batch);
    for (std::size_t k = 0; k < b.size(); ++k) b[k] = own_rhs<double>(static_cast<std::int64_t>(k), turn, 1 << 30);
    return b;
}

using OwnOnCuda = BackendTest;

// Factor, solve and combined solve follow each other on one stream, each from what the one before has written.
TEST_F(OwnOnCuda, StreamsAndGraphs) {
    for_each_batch([](const OwnBatch& own) {
        const std::int64_t n = own.n(), batch = own.batch;
        const OwnDiagonals<double> diagonals(own, {LayoutKind::interleaved}, 16);
        OwnStream streams[2];
        BatchWorkspace<double, Cuda> workspaces[2] = {BatchWorkspace<double, Cuda>(own.shape()),
                                                      BatchWorkspace<double, Cuda>(own.shape())};
        Array<std::int64_t, Cuda> status[2] = {Array<std::int64_t, Cuda>(batch), Array<std::int64_t, Cuda>(batch)};
        std::vector<Array<double, Cuda>> x, y;
        const auto start = right_hand_sides(own, 0);
        for (int k = 0; k < 2; ++k) {
            x.emplace_back(std::span<const double>(start));
            y.emplace_back(std::span<const double>(start));
        }
        const auto factor = bandmill::factor(diagonals.view(), Device{}, Stream(streams[0].get()));
        require(cudaStreamSynchronize(streams[0].get()));
        const auto work = [&](int k, auto after_each) {
            const Stream stream(streams[k].get());
            solve(factor, interleaved(x[k], n, batch), interleaved(y[k], n, batch), stream);
            after_each();
            solve(diagonals.view(), interleaved(y[k], n, batch), interleaved(x[k], n, batch),
                  interleaved(status[k], 1, batch), workspaces[k], stream);
            after_each();
            solve(factor, interleaved(x[k], n, batch), stream);
            after_each();
        };
        work(0, [&] { synchronize(Device{}, Stream(streams[0].get())); });
        const auto expected = download(x[0]);
        x[0].copy_from(start);
        for (int k = 0; k < 2; ++k) work(k, [] {});
        for (int k = 0; k < 2; ++k) {
            synchronize(Device{}, Stream(streams[k].get()));
            EXPECT_EQ(differences(download(x[k]), expected), 0) << "stream " << k;
        }
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        require(cudaStreamBeginCapture(streams[1].get(), cudaStreamCaptureModeGlobal));
        work(1, [] {});
        require(cudaStreamEndCapture(streams[1].get(), &graph));
        require(cudaGraphInstantiate(&executable, graph, 0));
        for (int replay = 0; replay < 2; ++replay) {
            x[1].copy_from(start);
            require(cudaGraphLaunch(executable, streams[1].get()));
            synchronize(Device{}, Stream(streams[1].get()));
            EXPECT_EQ(differences(download(x[1]), expected), 0) << "replay " << replay;
        }
        require(cudaGraphExecDestroy(executable));
        require(cudaGraphDestroy(graph));
    });
}

// For factors that are made while it is there: this many teams at most, so that each has many tiles after one another.
class FewTeams {
  public:
    explicit FewTeams(int teams) { cuda::batch_tuning.teams = teams; }
    ~FewTeams() { cuda::batch_tuning = {}; }
    FewTeams(const FewTeams&) = delete;
    FewTeams& operator=(const FewTeams&) = delete;
};

bool splits_here() {
    int major = 0;
    require(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    return major == 9;
}

template <class T> cuda::BatchPlan plan_of(const BatchFactor<T, Cuda>& factor) {
    return *static_cast<const cuda::BatchPlan*>(factor.data().knowledge.get());
}

TEST_F(OwnOnCuda, LongOpenTridiagonalSystemsAreSplit) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    for_both_precisions([]<class T>() {
        for (std::int64_t n : {20, 447, 448, 1000, 4224, 4225, 8960, 8961})
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    if (limits().small && n > 1000) continue;
                    const OwnBatch own = make_batch(n, w, boundary, 2);
                    const OwnDiagonals<T> diagonals(own, {LayoutKind::interleaved}, 16);
                    const cuda::BatchPlan plan = plan_of<T>(factor_own<T>(diagonals.view()));
                    EXPECT_EQ(plan.split.width > 0, shall_be_split<T>(own)) << n << " rows, W " << w;
                    EXPECT_EQ(plan.piece > 0, may_be_in_pieces<T>(own)) << n << " rows, W " << w;
                }
    });
}

// What is split over threads and blocks, in an order of its own, is the solution of the other way but for rounding:
// around every number of rows where a team becomes larger or tiles narrower, in any layout, in place or not, with more
// tiles than teams, and with tiles that are not full.
TEST_F(OwnOnCuda, SplitSystemsAgreeWithTheOtherWay) {
    std::vector<std::int64_t> sizes{448, 700};
    if (!limits().small)
        sizes.insert(sizes.end(), {447,  449,  528,  529,  560,  561,  1055, 1056, 1057, 1119, 1120, 1121, 2000, 2111,
                                   2112, 2113, 2240, 2241, 4099, 4224, 4225, 4480, 4481, 6000, 8001, 8959, 8960, 8961});
    const LayoutKind layouts[] = {LayoutKind::interleaved, LayoutKind::contiguous, LayoutKind::tiled,
                                  LayoutKind::padded_rows, LayoutKind::reversed};
    constexpr int most_batches = 4;
    int turn = 0;
    for (std::int64_t n : sizes)
        for (LayoutKind layout : layouts)
            for (const std::int64_t batch : {1, 50, 64, 100}) {
                ++turn;
                if (!limits().small && (turn + turn / most_batches) % 2 == 0) continue; // half of the combinations
                if (limits().small && layout != LayoutKind::interleaved && turn % 3 != 0) continue;
                for_both_precisions([&]<class T>() {
                    if (limits().f64_only && sizeof(T) != 8) return;
                    const FewTeams few(batch == 100 ? 1 : batch == 64 ? 2 : 0);
                    const Placement placement = turn / 3 % 2 == 0 ? Placement::in_place : Placement::out_of_place;
                    SCOPED_TRACE("n " + std::to_string(n) + ", " + std::to_string(batch) + " systems, " + name(layout) +
                                 (sizeof(T) == 8 ? ", f64" : ", f32"));
                    OwnBatch own = make_batch(n, 1, Boundary::open, batch);
                    for (Bands& bands : own.matrices) bands = rounded<T>(bands);
                    const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<T>(row, m, n); };
                    const auto split = solve_own_batch<T>(own, Way::factored, {layout, placement}, rhs);
                    const auto other = solve_own_batch<T>(own, Way::combined, {layout, placement}, rhs);
                    double largest = 0;
                    for (T value : other.x) largest = std::max<double>(largest, std::fabs(value));
                    const double allowed = 32 * std::numeric_limits<T>::epsilon() * largest;
                    std::int64_t wrong = 0;
                    for (std::size_t at = 0; at < other.x.size(); ++at)
                        wrong += !(std::fabs(split.x[at] - other.x[at]) <= allowed); // NaN is wrong
                    EXPECT_EQ(wrong, 0);
                });
            }
}

// A view may have larger tiles than systems. What it does not reach, here nothing that was allocated, is not read.
TEST_F(OwnOnCuda, SplitSystemsInATileThatIsLargerThanTheBatch) {
    constexpr std::int64_t n = 500, batch = 18;
    const OwnBatch own = make_batch(n, 1, Boundary::open, batch);
    const OwnDiagonals<double> diagonals(own, {LayoutKind::interleaved}, 16);
    const auto factor = factor_own<double>(diagonals.view());
    const auto values = right_hand_sides(own, 3);
    Array<double, Cuda> b{std::span<const double>(values)};
    Array<double, Cuda> x{std::span<const double>(values)}, y{std::span<const double>(values)};
    solve(factor, interleaved(b, n, batch), interleaved(x, n, batch));
    const FieldShape shape{n, batch, batch, 1, 32, 0};
    solve(factor, FieldView<const double, Cuda>(b.data(), shape), FieldView<double, Cuda>(y.data(), shape));
    EXPECT_EQ(differences(download(x), download(y)), 0);
}

// Unknowns of very different scale, and a product of coefficients that leaves the range.
TEST_F(OwnOnCuda, SplitSystemsWithUnknownsOfVeryDifferentScale) {
    for (std::int64_t n : {448, 1000, 4000}) {
        if (limits().small && n > 500) continue;
        Bands scaled = empty_bands(n, 1, Boundary::open);
        const auto scale = [&](std::int64_t column) { return std::pow(10.0, 30 - 60.0 * column / n); };
        for (std::int64_t i = 0; i < n; ++i) {
            scaled.at(0, i) = 4 * scale(i);
            if (i > 0) scaled.at(-1, i) = -1.9 * scale(i - 1);
            if (i + 1 < n) scaled.at(1, i) = -1.9 * scale(i + 1);
        }
        const OwnBatch own{{rounded<float>(scaled)}, 40};
        const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<float>(row, m, n); };
        const auto split = solve_own_batch<float>(own, Way::factored, {}, rhs);
        const auto other = solve_own_batch<float>(own, Way::combined, {}, rhs);
        std::int64_t wrong = 0;
        for (std::size_t at = 0; at < other.x.size(); ++at)
            wrong += !(std::fabs(split.x[at] * scale(at % n) - other.x[at] * scale(at % n)) <= 1e-4);
        EXPECT_EQ(wrong, 0) << n << " rows";
        // Growth without measure, of nothing: zeros stay zeros.
        Bands growing = empty_bands(n, 1, Boundary::open);
        for (std::int64_t i = 0; i < n; ++i) {
            growing.at(0, i) = 1;
            if (i > 0) growing.at(-1, i) = 6;
            if (i + 1 < n) growing.at(1, i) = 0;
        }
        for_both_precisions([&]<class T>() {
            const auto zeros = solve_own_batch<T>({{growing}, 40}, Way::factored, {}, [](auto, auto) { return T(0); });
            EXPECT_EQ(std::count(zeros.x.begin(), zeros.x.end(), T(0)), n * 40) << n << " rows";
        });
    }
}

// Stiff and nearly singular ones too: what enters a piece is known but for rounding, which must not grow from one piece
// to the next.
TEST_F(OwnOnCuda, SplitSystemsOfStiffMatricesMeetTheErrorMeasure) {
    if (limits().small) GTEST_SKIP() << "long systems are left out";
    for (std::int64_t n : {1000, 4096, 8000})
        for (double sigma : {1e2, 1e6, 1e12}) {
            SCOPED_TRACE("n " + std::to_string(n) + ", sigma " + std::to_string(sigma));
            Bands stiff = empty_bands(n, 1, Boundary::open);
            for (std::int64_t i = 0; i < n; ++i) {
                stiff.at(0, i) = 1 + 2 * sigma;
                if (i > 0) stiff.at(-1, i) = -sigma;
                if (i + 1 < n) stiff.at(1, i) = -sigma;
            }
            const OwnBatch own{{stiff}, 64};
            const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<double>(row, m, n); };
            const auto found = solve_own_batch<double>(own, Way::factored, {}, rhs);
            const auto norms = row_norms(stiff, long_double_resolution<double>);
            double worst = 0;
            for (std::int64_t m = 0; m < own.batch; ++m)
                worst = std::max(worst, backward_error(stiff, norms, &found.x[m * n], rhs, m));
            EXPECT_LE(worst, 2 * allowed_error);
        }
}

// A row's coefficients, the diagonal between 2 and infinity: the smaller it is, the further a row is felt. W = 2: the
// same, squared.
Bands forgetful(std::int64_t n, int w, double diagonal) {
    Bands bands = empty_bands(n, w, Boundary::open);
    const double one[] = {-1, diagonal, -1}, two[] = {1, -2 * diagonal, diagonal * diagonal + 2, -2 * diagonal, 1};
    for (std::int64_t i = 0; i < n; ++i)
        for (int k = -w; k <= w; ++k)
            if (i + k >= 0 && i + k < n) bands.at(k, i) = w == 1 ? one[k + 1] : two[k + 2];
    return bands;
}

// Rows of a piece.
template <class T> int piece_of(std::int64_t n, int w) {
    const DeviceLimits limits = device_limits(Device{});
    constexpr int barriers = cuda::batch_stream_barrier_bytes;
    const cuda::BatchShared shared = cuda::choose_shared(
        {}, cuda::batch_stream_blocks, 1, {cuda::batch_stream_chunk, w + 2, 1, true}, static_cast<int>(n),
        limits.shared_bytes_per_multiprocessor, limits.shared_bytes_per_block - barriers,
        limits.reserved_shared_bytes_per_block + barriers);
    return cuda::choose_piece(static_cast<int>(n), shared);
}

template <class T> std::vector<int> reaches(const OwnBatch& own) {
    const OwnDiagonals<T> diagonals(own, {LayoutKind::interleaved}, 16);
    const auto factor = factor_own<T>(diagonals.view());
    EXPECT_EQ(plan_of(factor).piece, piece_of<T>(own.n(), own.half_bandwidth()));
    EXPECT_EQ(factor.data().reach.size(), own.batch);
    return download(factor.data().reach);
}

// Far from the first row a row is felt k rows further on as r^k (W = 1) or as about k r^k (W = 2), where r is the root
// of the recurrence.
TEST_F(OwnOnCuda, ReachIsMeasured) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    const std::int64_t n = limits().small ? 2100 : 9000;
    for_both_precisions([&]<class T>() {
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            OwnBatch own{{}, 40};
            std::vector<int> expected;
            for (double diagonal : {2.002, 2.2, 3.0, 5.0, 1e3}) {
                own.matrices.push_back(rounded<T>(forgetful(n, w, diagonal)));
                const double r = diagonal / 2 - std::sqrt(diagonal * diagonal / 4 - 1);
                int rows = 16;
                while ((w == 1 ? 1 + r : rows) * std::pow(r, w == 1 ? rows : rows - 1) >= cuda::unfelt<T>) rows += 16;
                expected.push_back(rows <= cuda::longest_reach ? rows : cuda::felt_throughout);
            }
            own.matrices.push_back(own.matrices[2]);
            own.matrices.back().at(0, n / 3) = std::numeric_limits<double>::quiet_NaN();
            expected.push_back(cuda::felt_throughout);
            const std::vector<int> reach = reaches<T>(own);
            for (std::int64_t m = 0; m < own.batch; ++m) {
                const int wanted = expected[m % expected.size()];
                const int allowed = w == 1 || wanted == cuda::felt_throughout ? 0 : 16;
                EXPECT_LE(std::abs(reach[m] - wanted), allowed) << "W " << w << ", matrix " << m % expected.size();
            }
        }
    });
}

// Systems that forget soon, late and never, and a bad one, beside each other in some blocks and warps and among their
// like in others, in any layout: the error measure is met, and a system's bits are the same everywhere. Only where a
// whole block of systems forgets, and rows stand one after the other, are they solved in pieces. On the right there are
// a few numbers far from each other, so that it shows where y begins anew.
TEST_F(OwnOnCuda, SystemsInPiecesAmongOthers) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    constexpr std::int64_t batch = 140, first_other = 40, last_other = 70, bad = 55;
    for_both_precisions([&]<class T>() {
        if (limits().f64_only && sizeof(T) != 8) return;
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            std::vector<std::int64_t> sizes{2048}; // even ones, so that rows are aligned
            if (!limits().small) {
                sizes.insert(sizes.end(), {3002, 9000});
                std::int64_t n = 20000; // whose last piece is a part of a chunk
                while (n % piece_of<T>(n, w) == 0 || n % piece_of<T>(n, w) >= cuda::batch_stream_chunk) n += 2;
                ASSERT_LT(n, 40000);
                sizes.push_back(n);
            }
            for (std::int64_t n : sizes) {
                SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w) + (sizeof(T) == 8 ? "" : ", f32"));
                const auto rhs = [&](std::int64_t row, std::int64_t m) {
                    return (row + 37 * m) % 150 == 0 ? own_rhs<T>(row, m, n) + T(0.5) : T(0);
                };
                const double diagonals[] = {3.0, 20.0, sizeof(T) == 8 ? 2.4 : 2.1};
                OwnBatch alone{{}, batch};
                for (std::int64_t m = 0; m < batch; ++m)
                    alone.matrices.push_back(rounded<T>(forgetful(n, w, diagonals[m % 3])));
                OwnBatch mixed = alone;
                for (std::int64_t m = first_other; m < last_other; m += 3)
                    mixed.matrices[m] = rounded<T>(forgetful(n, w, 2.0001));
                for (int k = -w; k <= w; ++k) mixed.matrices[bad].at(k, n / 3) = 0;
                const auto is_other = [&](std::int64_t m) {
                    return m == bad || (m >= first_other && m < last_other && (m - first_other) % 3 == 0);
                };
                if (may_be_in_pieces<T>(alone)) {
                    const std::vector<int> reach = reaches<T>(alone), among_others = reaches<T>(mixed);
                    EXPECT_LE(*std::max_element(reach.begin(), reach.end()), cuda::longest_reach);
                    for (std::int64_t m = 0; m < batch; ++m)
                        EXPECT_EQ(among_others[m], is_other(m) ? cuda::felt_throughout : reach[m]) << "system " << m;
                }
                const auto expected = solve_own_batch<T>(alone, Way::factored, {}, rhs);
                std::int64_t not_zero = 0;
                for (T value : expected.x) not_zero += value != 0;
                EXPECT_GT(not_zero, n * batch / 10);
                const auto expect_right = [&](const OwnBatch& own, LayoutKind layout, Placement placement) {
                    SCOPED_TRACE(name(layout) + (placement == Placement::in_place ? ", in place" : ""));
                    const auto found = solve_own_batch<T>(own, Way::factored, {layout, placement}, rhs);
                    std::int64_t different = 0;
                    for (std::int64_t m = 0; m < batch; ++m) {
                        if (&own == &alone || !is_other(m)) {
                            for (std::int64_t i = 0; i < n; ++i)
                                different += !same_bits(found.x[m * n + i], expected.x[m * n + i]);
                        } else if (m == bad) {
                            EXPECT_EQ(found.status[m], n / 3 + 1);
                            EXPECT_EQ(std::count_if(&found.x[m * n], &found.x[m * n] + n,
                                                    [](T value) { return std::isnan(value); }),
                                      n);
                            continue;
                        }
                        if (m % 9 != 4) continue; // some of all kinds
                        const auto norms = row_norms(own.matrices[m], long_double_resolution<T>);
                        EXPECT_LE(backward_error(own.matrices[m], norms, &found.x[m * n], rhs, m), allowed_own_error)
                            << "system " << m;
                    }
                    EXPECT_EQ(different, 0);
                };
                expect_right(alone, LayoutKind::interleaved, Placement::in_place);
                expect_right(alone, LayoutKind::contiguous, Placement::out_of_place);
                expect_right(mixed, LayoutKind::interleaved, Placement::out_of_place);
                expect_right(mixed, LayoutKind::tiled, Placement::in_place);
                if (!limits().small) expect_right(mixed, LayoutKind::padded_rows, Placement::in_place);
            }
        }
    });
}

// Unknowns whose scale jumps where a piece might be cut off from the rows above it: y is much larger than any of them
// there.
TEST_F(OwnOnCuda, PiecesAreNotCutWhereScalesJump) {
    if (!splits_here()) GTEST_SKIP() << "for compute capability 9.x";
    for_both_precisions([&]<class T>() {
        if (limits().f64_only && sizeof(T) != 8) return;
        for (int w = limits().small ? 2 : 1; w <= 2; ++w) {
            const std::int64_t n = limits().small ? 2048 : 9000, piece = piece_of<T>(n, w);
            ASSERT_GT(piece, 0);
            OwnBatch own{{}, 64};
            for (int above = 16; above <= cuda::longest_reach; above += 16)
                for (double scale : {0x1p20, 0x1p40}) {
                    if (sizeof(T) == 4) scale = std::sqrt(scale);
                    Bands bands = forgetful(n, w, 2.4);
                    for (std::int64_t i = 0; i < n; ++i)
                        for (int k = -w; k <= w; ++k) {
                            const std::int64_t column = i + k, place = (column + above) % piece;
                            if (column >= 0 && column < n && column + above >= piece && place < above + 100)
                                bands.at(k, i) *= scale;
                        }
                    own.matrices.push_back(rounded<T>(bands));
                }
            const auto rhs = [&](std::int64_t row, std::int64_t m) { // unknowns near one
                double sum = 0;
                for (int k = -w; k <= w; ++k)
                    if (row + k >= 0 && row + k < n) sum += own.of(m).at(k, row);
                return static_cast<T>(sum);
            };
            const auto found = solve_own_batch<T>(own, Way::factored, {}, rhs);
            for (std::int64_t m = 0; m < static_cast<std::int64_t>(own.matrices.size()); ++m) {
                const auto norms = row_norms(own.of(m), long_double_resolution<T>);
                EXPECT_LE(backward_error(own.of(m), norms, &found.x[m * n], rhs, m), allowed_own_error)
                    << "W " << w << ", " << 16 * (m / 2 + 1) << " rows above";
            }
        }
    });
}

// A batch that fills the GPU is launched in another shape, and gives the same bits.
TEST_F(OwnOnCuda, LargeBatchesHaveTheSameBits) {
    if (limits().small) GTEST_SKIP() << "large batches are left out";
    for (std::int64_t n : {64, 300, 448, 1024, 2100})
        for (int w = 1; w <= 2; ++w)
            for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                SCOPED_TRACE("n " + std::to_string(n) + ", W " + std::to_string(w));
                const auto rhs = [&](std::int64_t row, std::int64_t m) { return own_rhs<double>(row, m % 35, n); };
                const OwnBatch few = make_batch(n, w, boundary, 35);
                const OwnBatch many = make_batch(n, w, boundary, 35 * (n > 1024 ? 70 : 600));
                for (Way way : {Way::factored, Way::combined}) {
                    const auto expected = solve_own_batch<double>(few, way, {}, rhs);
                    const auto found = solve_own_batch<double>(many, way, {}, rhs);
                    std::int64_t different = 0;
                    for (std::int64_t at = 0; at < n * many.batch; ++at)
                        different += !same_bits(found.x[at], expected.x[at % (35 * n)]);
                    EXPECT_EQ(different, 0);
                }
            }
}

TEST_F(OwnOnCuda, DevicesAndPointersThatAreNotThere) {
    const OwnBatch own = make_batch(20, 1, Boundary::open, 3);
    const OwnDiagonals<double> diagonals(own, {LayoutKind::interleaved}, 16);
    std::vector<double> host(60, 1.0);
    const FieldView<double, Cuda> on_host = interleaved<Cuda>(host.data(), 20, 3);
    for (int index : {99, -1}) {
        expect_error<BackendUnavailable>([&] { factor(diagonals.view(), Device{index}); });
        expect_error<BackendUnavailable>([&] { BatchWorkspace<double, Cuda>(own.shape(), Device{index}); });
    }
    expect_error<InvalidArgument>([&] { factor(BandBatch<double, Cuda>({on_host, on_host, on_host}), Device{}); });
    const auto f = factor_own<double>(diagonals.view());
    expect_error<InvalidArgument>([&] { solve(f, on_host); });
}

} // namespace
} // namespace bandmill::test
