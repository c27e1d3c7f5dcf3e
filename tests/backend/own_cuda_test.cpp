// Matrices of their own, what only a GPU can do wrong: streams, graphs, pointers of the wrong space, systems of which
// only a part stays on chip.
#include "../base/expect_error.hpp"
#include "own_cuda.hpp"

namespace bandmill::test {
namespace {

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
