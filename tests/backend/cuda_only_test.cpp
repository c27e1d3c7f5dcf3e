// What only a GPU can do wrong: streams, graphs, hidden synchronisation, pointers of the wrong space, 64-bit offsets.
#include "../base/expect_error.hpp"
#include "limits.hpp"
#include "solving.hpp"

#include "bandmill/stencil/apply.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

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

// One matrix for each path, on chip and beyond.
struct Subject {
    Bands bands;
    std::string text;
};

std::vector<Subject> subjects() {
    std::vector<std::int64_t> sizes{5, 64, 257, 1024};
    if (!limits().small) sizes.push_back(20000);
    std::vector<Subject> list;
    for (std::int64_t n : sizes)
        for (Boundary boundary : {Boundary::open, Boundary::periodic})
            for (Family family : {Family::dominant, Family::zero_diagonal})
                list.push_back({make_bands({family}, n, 2, boundary, 3),
                                name(MatrixKind{family}) + ", n " + std::to_string(n) +
                                    (boundary == Boundary::open ? ", open" : ", periodic")});
    return list;
}

constexpr std::int64_t batch = 40;

template <class T> std::vector<T> contiguous_input(const Bands& bands, std::uint64_t seed) {
    const RightHandSides<T> rhs(bands, seed);
    std::vector<T> b(bands.n * batch);
    for (std::int64_t m = 0; m < batch; ++m)
        for (std::int64_t i = 0; i < bands.n; ++i) b[m * bands.n + i] = rhs(i, m);
    return b;
}

template <class T> std::vector<T> solved(const Factor<T, Cuda>& factor, std::vector<T> b) {
    solve_in_place(factor, b, make_layout(LayoutKind::contiguous, factor.size(), batch, 0));
    return b;
}

template <class T> bool same(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

using CudaOnly = BackendTest;

TEST_F(CudaOnly, SeveralStreamsUseOneFactor) {
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(s.text);
        const auto factor = make_factor<double>(as_matrix(s.bands));
        constexpr int streams = 4;
        OwnStream stream[streams];
        std::vector<std::vector<double>> b;
        std::vector<Array<double, Cuda>> x;
        for (int k = 0; k < streams; ++k) {
            b.push_back(contiguous_input<double>(s.bands, k));
            x.emplace_back(std::span<const double>(b.back()));
        }
        for (int k = 0; k < streams; ++k)
            solve(factor, contiguous<Cuda>(x[k].data(), s.bands.n, batch), Stream(stream[k].get()));
        for (int k = 0; k < streams; ++k) {
            synchronize(Device{}, Stream(stream[k].get()));
            EXPECT_TRUE(same(download(x[k]), solved(factor, b[k]))) << "stream " << k;
        }
    }
}

TEST_F(CudaOnly, CapturedInAGraphAndReplayed) {
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(s.text);
        const auto factor = make_factor<double>(as_matrix(s.bands));
        Array<double, Cuda> b(s.bands.n * batch), x(s.bands.n * batch);
        const auto b_view = contiguous<Cuda>(b.data(), s.bands.n, batch);
        const auto x_view = contiguous<Cuda>(x.data(), s.bands.n, batch);
        OwnStream stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        // Global mode: an unordered allocation or a synchronisation during the capture would fail it.
        require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
        solve(factor, b_view, x_view, Stream(stream.get()));
        require(cudaStreamEndCapture(stream.get(), &graph));
        require(cudaGraphInstantiate(&executable, graph, 0));
        for (std::uint64_t replay = 0; replay < 3; ++replay) {
            const auto input = contiguous_input<double>(s.bands, replay);
            b.copy_from(input);
            require(cudaGraphLaunch(executable, stream.get()));
            synchronize(Device{}, Stream(stream.get()));
            EXPECT_TRUE(same(download(x), solved(factor, input))) << "replay " << replay;
        }
        require(cudaGraphExecDestroy(executable));
        require(cudaGraphDestroy(graph));
    }
}

TEST_F(CudaOnly, AStencilCapturedInAGraph) {
    const Stencil stencil = Stencil::patch(5, 5, std::vector<double>(25, 0.04));
    const PlaneShape shape = {.rows = 60, .columns = 256, .row_stride = 256};
    Array<double, Cuda> in(60 * 256), out(60 * 256), again(60 * 256);
    OwnStream stream;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    apply(stencil, PlaneView<const double, Cuda>(in.data(), shape), PlaneView<double, Cuda>(out.data(), shape),
          Edges::periodic(), Into::replace, Stream(stream.get()));
    require(cudaStreamEndCapture(stream.get(), &graph));
    require(cudaGraphInstantiate(&executable, graph, 0));
    for (int replay = 0; replay < 3; ++replay) {
        std::vector<double> input(60 * 256);
        for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<double>((i * 7 + replay) % 31);
        in.copy_from(input);
        require(cudaGraphLaunch(executable, stream.get()));
        apply(stencil, PlaneView<const double, Cuda>(in.data(), shape), PlaneView<double, Cuda>(again.data(), shape),
              Edges::periodic(), Into::replace, Stream(stream.get()));
        synchronize(Device{}, Stream(stream.get()));
        EXPECT_TRUE(same(download(out), download(again))) << "replay " << replay;
    }
    require(cudaGraphExecDestroy(executable));
    require(cudaGraphDestroy(graph));
}

// Solves follow each other on one stream, each starting from what the one before has written: none may begin too early
// (a kernel may start while its predecessor drains). All kinds of kernels, one after the other.
TEST_F(CudaOnly, SolvesInARowWaitForEachOther) {
    const int rounds = limits().small ? 2 : 4;
    std::vector<std::int64_t> sizes{64, 300, 1024};
    if (!limits().small) sizes.push_back(20000);
    for (std::int64_t n : sizes)
        for (const std::int64_t systems : {40, 4096}) {
            if (n * systems > (limits().small ? 300'000 : 5'000'000)) continue;
            SCOPED_TRACE("n " + std::to_string(n) + ", " + std::to_string(systems) + " systems");
            const auto first = make_factor<double>(as_matrix(make_bands({Family::dominant}, n, 1, Boundary::open, 3)));
            const auto second =
                make_factor<double>(as_matrix(make_bands({Family::dominant}, n, 2, Boundary::periodic, 4)));
            std::vector<double> start(n * systems);
            for (std::size_t k = 0; k < start.size(); ++k) start[k] = 1 + static_cast<double>(k * 7919 % 1000);
            Array<double, Cuda> a{std::span<const double>(start)}, b(n * systems);
            OwnStream stream;
            // What one solve leaves as interleaved systems the next takes for contiguous ones: numbers are numbers.
            auto run = [&](auto&& after_each) {
                a.copy_from(start);
                for (int round = 0; round < rounds; ++round) {
                    solve(first, interleaved(a, n, systems), interleaved(b, n, systems), Stream(stream.get()));
                    after_each();
                    solve(second, contiguous(b, n, systems), contiguous(a, n, systems), Stream(stream.get()));
                    after_each();
                    solve(first, interleaved(a, n, systems), Stream(stream.get())); // in place
                    after_each();
                    solve(second, strided<Cuda>(a.data(), n, systems, 1, n), // any layout takes the plain kernels
                          strided<Cuda>(b.data() + n * systems - 1, n, systems, -1, -n), Stream(stream.get()));
                    after_each();
                    require(cudaMemcpyAsync(a.data(), b.data(), n * systems * sizeof(double), cudaMemcpyDeviceToDevice,
                                            stream.get()));
                    after_each();
                }
                synchronize(Device{}, Stream(stream.get()));
                return download(a);
            };
            const auto expected = run([&] { synchronize(Device{}, Stream(stream.get())); });
            EXPECT_TRUE(same(run([] {}), expected)) << "without waiting";

            cudaGraph_t graph;
            cudaGraphExec_t executable;
            require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
            for (int round = 0; round < rounds; ++round) {
                solve(first, interleaved(a, n, systems), Stream(stream.get()));
                solve(second, interleaved(a, n, systems), Stream(stream.get()));
            }
            require(cudaStreamEndCapture(stream.get(), &graph));
            require(cudaGraphInstantiate(&executable, graph, 0));
            a.copy_from(start);
            require(cudaGraphLaunch(executable, stream.get()));
            synchronize(Device{}, Stream(stream.get()));
            const auto replayed = download(a);
            a.copy_from(start);
            for (int round = 0; round < rounds; ++round)
                for (const auto* factor : {&first, &second}) {
                    solve(*factor, interleaved(a, n, systems), Stream(stream.get()));
                    synchronize(Device{}, Stream(stream.get()));
                }
            EXPECT_TRUE(same(replayed, download(a))) << "in a graph";
            require(cudaGraphExecDestroy(executable));
            require(cudaGraphDestroy(graph));
        }
}

// A batch large enough for the staged kernel, launched by a thread that has not used CUDA before, while it captures.
TEST_F(CudaOnly, LargeBatchCapturedByAnotherThread) {
    constexpr std::int64_t n = 48, large = 8192;
    const Bands bands = make_bands({Family::dominant}, n, 2, Boundary::periodic, 3);
    const auto factor = make_factor<double>(as_matrix(bands));
    const auto distinct = contiguous_input<double>(bands, 1);
    const auto expected = solved(factor, distinct);
    std::vector<double> input(n * large);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t m = 0; m < large; ++m) input[i * large + m] = distinct[m % batch * n + i];
    Array<double, Cuda> x{std::span<const double>(input)};
    std::thread([&] {
        OwnStream stream;
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        require(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
        solve(factor, interleaved(x, n, large), Stream(stream.get()));
        require(cudaStreamEndCapture(stream.get(), &graph));
        require(cudaGraphInstantiate(&executable, graph, 0));
        require(cudaGraphLaunch(executable, stream.get()));
        synchronize(Device{}, Stream(stream.get()));
        require(cudaGraphExecDestroy(executable));
        require(cudaGraphDestroy(graph));
    }).join();
    const std::vector<double> solution = download(x);
    std::int64_t different = 0;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t m = 0; m < large; ++m)
            different += std::memcmp(&solution[i * large + m], &expected[m % batch * n + i], sizeof(double)) != 0;
    EXPECT_EQ(different, 0);
}

// The stream waits for a host function, and that one waits until solve has returned. A solve that synchronises would
// return only after the host function has given up.
TEST_F(CudaOnly, SolveDoesNotSynchronise) {
    struct Gate {
        std::atomic<bool> open{false}, gave_up{false};
    };
    const auto wait = [](void* user) {
        auto& gate = *static_cast<Gate*>(user);
        for (int ms = 0; ms < 3000 && !gate.open; ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        gate.gave_up = !gate.open;
    };
    for (const Subject& s : subjects()) {
        SCOPED_TRACE(s.text);
        const auto factor = make_factor<double>(as_matrix(s.bands));
        const auto input = contiguous_input<double>(s.bands, 1);
        Array<double, Cuda> x{std::span<const double>(input)};
        const auto view = contiguous<Cuda>(x.data(), s.bands.n, batch);
        OwnStream stream;
        solve(factor, view, Stream(stream.get())); // the first launch of a kernel may load its code
        synchronize(Device{}, Stream(stream.get()));
        x.copy_from(input);
        Gate gate;
        require(cudaLaunchHostFunc(stream.get(), wait, &gate));
        solve(factor, view, Stream(stream.get()));
        gate.open = true;
        synchronize(Device{}, Stream(stream.get()));
        ASSERT_FALSE(gate.gave_up);
        EXPECT_TRUE(same(download(x), solved(factor, input)));
    }
}

TEST_F(CudaOnly, DevicesAndPointersThatAreNotThere) {
    const BandMatrix matrix = as_matrix(make_bands({Family::dominant}, 20, 1, Boundary::open, 3));
    for (int index : {99, -1}) {
        const std::initializer_list<std::string> words{std::to_string(index)};
        expect_error<BackendUnavailable>([&] { factor(matrix, Device{index}); }, words);
        expect_error<BackendUnavailable>([&] { Array<float, Cuda>(10, Device{index}); }, words);
    }
    const auto factor = make_factor<double>(matrix);
    std::vector<double> host(60, 1.0);
    const Array<double, Cuda> array{std::span<const double>(host)};
    expect_error<InvalidArgument>([&] { solve(factor, interleaved<Cuda>(host.data(), 20, 3)); });
    expect_error<InvalidArgument>([&] {
        const double* b = array.data();
        solve<double>(factor, interleaved<Cuda>(b, 20, 3), interleaved<Cuda>(host.data(), 20, 3));
    });
    EXPECT_EQ(host, std::vector<double>(60, 1.0));
    // The device still works afterwards.
    EXPECT_EQ(download(array), host);
}

TEST_F(CudaOnly, CopiesOfOtherSizes) {
    Array<double, Cuda> array(10);
    std::vector<double> nine(9);
    expect_error<InvalidArgument>([&] { array.copy_from(nine); }, {"9", "10"});
    expect_error<InvalidArgument>([&] { array.copy_to(nine); }, {"9", "10"});
    expect_error<InvalidArgument>([] { Array<double, Cuda>(-5); }, {"-5"});
}

// 2.2e9 elements, 8.8 GB: the same 1000 systems over and over, so each copy has to equal the first to the bit.
class Large : public BackendTest, public testing::WithParamInterface<LayoutKind> {};

TEST_P(Large, MoreThanTwoToTheThirtyOneElements) {
    constexpr std::int64_t rows = 1000, systems = 1000, copies = 2200;
    if (limits().small) GTEST_SKIP() << "BANDMILL_TEST_SMALL is set";
    if (cuda_devices()[0].memory_bytes < 24'000'000'000u) GTEST_SKIP() << "needs a GPU with more than 24 GB";
    const Bands bands = make_bands({Family::hyperdiffusion, 100.0}, rows, 2, Boundary::periodic, 3);
    const auto factor = make_factor<float>(as_matrix(bands, Storage::toeplitz));
    const RightHandSides<float> rhs(bands, 3);
    Array<float, Cuda> x(rows * systems * copies);
    const bool by_rows = GetParam() == LayoutKind::interleaved;
    // A piece repeats: 1000 systems in the contiguous layout, one row of them in the interleaved one.
    const auto piece_of = [&](std::int64_t row) {
        std::vector<float> piece(by_rows ? systems : rows * systems);
        for (std::int64_t m = 0; m < systems; ++m) {
            if (by_rows)
                piece[m] = rhs(row, m);
            else
                for (std::int64_t i = 0; i < rows; ++i) piece[m * rows + i] = rhs(i, m);
        }
        return piece;
    };
    // The largest run of memory handled at a time: one row of all systems, or all rows of 1000 systems.
    const std::int64_t runs = by_rows ? rows : copies, length = x.size() / runs;
    std::vector<float> run(length), first(rows * systems);
    for (std::int64_t r = 0; r < runs; ++r) {
        if (by_rows || r == 0) {
            const std::vector<float> piece = piece_of(r);
            for (std::int64_t at = 0; at < length; at += piece.size())
                std::copy(piece.begin(), piece.end(), run.begin() + at);
        }
        copy_to_device(Device{}, x.data() + r * length, run.data(), length * sizeof(float));
    }
    solve(factor, by_rows ? interleaved<Cuda>(x.data(), rows, systems * copies)
                          : contiguous<Cuda>(x.data(), rows, systems * copies));
    synchronize(Device{});
    std::int64_t different = 0;
    for (std::int64_t r = 0; r < runs; ++r) {
        copy_to_host(Device{}, run.data(), x.data() + r * length, length * sizeof(float));
        if (by_rows)
            for (std::int64_t m = 0; m < systems; ++m) first[m * rows + r] = run[m];
        else if (r == 0)
            first = run;
        for (std::int64_t at = 0; at < length; at += systems) // either layout repeats in steps of 1000
            different += std::memcmp(&run[at], by_rows ? &run[0] : &first[at], systems * sizeof(float)) != 0;
    }
    EXPECT_EQ(different, 0);
    EXPECT_LE(backward_error(bands, first, rhs), allowed_error);
}

INSTANTIATE_TEST_SUITE_P(CudaOnly, Large, testing::Values(LayoutKind::interleaved, LayoutKind::contiguous),
                         [](const auto& info) { return name(info.param); });

} // namespace
} // namespace bandmill::test
