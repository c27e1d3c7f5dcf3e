// Solves allocate nothing by operators new, as containers, texts and functions do; those of this program are counted.
#include "bandmill/band/batch.hpp"
#include "bandmill/band/factor.hpp"
#include "bandmill/band/solve.hpp"

#include <cstdlib>
#include <new>
#include <vector>

#include <gtest/gtest.h>

namespace {
std::int64_t allocations = 0; // by one thread
}

void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using namespace bandmill;

// What the second of two calls allocates: the first may set something up.
template <class Call> std::int64_t allocated_by(const Call& call) {
    call();
    const std::int64_t before = allocations;
    call();
    return allocations - before;
}

constexpr Threads one_thread{1}; // more are the threads' own affair

TEST(Allocation, OneMatrixForAll) {
    const std::int64_t n = 50, batch = 40;
    std::vector<double> x(n * batch, 1.0);
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
        for (const std::vector<double>& weights : {std::vector<double>{-1, 4, -1}, {1, -4, 9, -4, 1}}) {
            const auto of_all = factor(BandMatrix::toeplitz(n, weights, boundary));
            EXPECT_EQ(allocated_by([&] { solve(of_all, interleaved(x.data(), n, batch), one_thread); }), 0);
            EXPECT_EQ(allocated_by([&] { solve(of_all, contiguous(x.data(), n, batch), one_thread); }), 0);
        }
}

TEST(Allocation, MatricesOfTheirOwn) {
    const std::int64_t n = 50, batch = 40;
    const std::vector<double> side(n * batch, -1.0), main(n * batch, 9.0);
    std::vector<double> x(n * batch, 1.0);
    std::vector<std::int64_t> status(batch);
    const auto view = [&](const std::vector<double>& values) { return interleaved(values.data(), n, batch); };
    for (const Boundary boundary : {Boundary::open, Boundary::periodic})
        for (const BandBatch<double, Host>& matrices :
             {BandBatch<double, Host>({view(side), view(main), view(side)}, boundary),
              BandBatch<double, Host>({view(side), view(side), view(main), view(side), view(side)}, boundary)}) {
            const auto of_each = factor(matrices);
            BatchWorkspace<double, Host> workspace(matrices.shape());
            const auto u = interleaved(x.data(), n, batch);
            EXPECT_EQ(allocated_by([&] { solve(of_each, u, one_thread); }), 0);
            EXPECT_EQ(allocated_by([&] {
                          solve<double>(matrices, u, u, interleaved(status.data(), 1, batch), workspace, one_thread);
                      }),
                      0);
        }
}

} // namespace
