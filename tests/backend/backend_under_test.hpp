// The one place where the tests know which backend they are compiled for. Buffers always live on the host: the CUDA
// build uploads them whole, padding included, solves, and downloads them whole, so every check is the same.
#pragma once

#include "layouts.hpp"
#include "limits.hpp"

#include "bandmill/bandmill.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace bandmill::test {

#if defined(BANDMILL_TEST_CUDA)
using Space = Cuda;
template <class T> Factor<T, Cuda> make_factor(const BandMatrix& matrix) { return factor<T>(matrix, Device{}); }
#else
using Space = Host;
template <class T> Factor<T, Host> make_factor(const BandMatrix& matrix) { return factor<T>(matrix); }
#endif
constexpr bool on_cuda = std::is_same_v<Space, Cuda>;

template <class T>
void solve_in_place(const Factor<T, Host>& factor, std::vector<T>& x, const Layout& layout, Threads threads = {}) {
    solve(factor, FieldView<T, Host>(x.data() + layout.origin, layout.shape), threads);
}

template <class T>
void solve_out_of_place(const Factor<T, Host>& factor, const std::vector<T>& b, const Layout& b_layout,
                        std::vector<T>& x, const Layout& x_layout, Threads threads = {}) {
    solve(factor, FieldView<const T, Host>(b.data() + b_layout.origin, b_layout.shape),
          FieldView<T, Host>(x.data() + x_layout.origin, x_layout.shape), threads);
}

template <class T>
void solve_in_place(const Factor<T, Cuda>& factor, std::vector<T>& x, const Layout& layout, Threads = {}) {
    Array<T, Cuda> array{std::span<const T>(x)};
    solve(factor, FieldView<T, Cuda>(array.data() + layout.origin, layout.shape));
    synchronize(array.device());
    array.copy_to(x);
}

template <class T>
void solve_out_of_place(const Factor<T, Cuda>& factor, const std::vector<T>& b, const Layout& b_layout,
                        std::vector<T>& x, const Layout& x_layout, Threads = {}) {
    const Array<T, Cuda> b_array{std::span<const T>(b)};
    Array<T, Cuda> x_array{std::span<const T>(x)};
    solve(factor, FieldView<const T, Cuda>(b_array.data() + b_layout.origin, b_layout.shape),
          FieldView<T, Cuda>(x_array.data() + x_layout.origin, x_layout.shape));
    synchronize(x_array.device());
    x_array.copy_to(x);
}

// Memory where this backend solves, for the tests that make their own views.
template <class T> Array<T, Space> make_array(std::span<const T> values) { return Array<T, Space>(values); }
template <class T> std::vector<T> download(const Array<T, Host>& array) {
    std::vector<T> values(array.size());
    std::copy(array.begin(), array.end(), values.begin());
    return values;
}
template <class T> std::vector<T> download(const Array<T, Cuda>& array) {
    std::vector<T> values(array.size());
    synchronize(array.device());
    array.copy_to(values);
    return values;
}

// Runs check.template operator()<T>() for T = double and, unless f64 alone is wanted, T = float.
template <class Check> void for_both_precisions(Check check) {
    {
        SCOPED_TRACE("f64");
        check.template operator()<double>();
    }
    if (!limits().f64_only) {
        SCOPED_TRACE("f32");
        check.template operator()<float>();
    }
}

// Every test of a backend that has no device here is skipped, one by one, so that a count is seen.
class BackendTest : public testing::Test {
  protected:
    void SetUp() override {
        if (on_cuda && cuda_devices().empty()) GTEST_SKIP() << "no CUDA device";
    }
};

} // namespace bandmill::test
