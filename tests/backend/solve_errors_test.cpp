// Wrong input to solve: a typed error that names the values, and nothing written.
#include "../base/expect_error.hpp"
#include "solving.hpp"

namespace bandmill::test {
namespace {

constexpr std::int64_t n = 20, batch = 6, size = 4096;

template <class T> class Subject {
  public:
    Subject() : values_(size, poison<T>()), input_(make_array<T>(values_)), output_(make_array<T>(values_)) {}
    ~Subject() {
        EXPECT_EQ(changes(input_), 0) << "the input was written to";
        EXPECT_EQ(changes(output_), 0) << "something was written";
    }
    T* b() { return input_.data(); }
    T* x() { return output_.data(); }

    Factor<T, Space> factor = make_factor<T>(as_matrix(make_bands({Family::dominant}, n, 2, Boundary::periodic, 3)));

  private:
    std::int64_t changes(const Array<T, Space>& array) const {
        std::int64_t count = 0;
        for (T element : download(array)) count += !same_bits(element, poison<T>());
        return count;
    }
    std::vector<T> values_;
    Array<T, Space> input_, output_;
};

template <class T> FieldView<T, Space> view(T* data, const FieldShape& shape) { return {data, shape}; }

using SolveErrors = BackendTest;

TEST_F(SolveErrors, RowsThatAreNotTheMatrixs) {
    for_both_precisions([]<class T>() {
        Subject<T> s;
        for (std::int64_t rows : {std::int64_t{1}, n - 1, n + 1}) {
            const std::initializer_list<std::string> words{std::to_string(rows), std::to_string(n)};
            const auto right_b = interleaved<Space>(s.b(), n, batch), right_x = interleaved<Space>(s.x(), n, batch);
            const auto wrong_b = interleaved<Space>(s.b(), rows, batch),
                       wrong_x = contiguous<Space>(s.x(), rows, batch);
            expect_error<InvalidArgument>([&] { solve(s.factor, wrong_x); }, words);
            expect_error<InvalidArgument>([&] { solve<T>(s.factor, right_b, wrong_x); }, words);
            expect_error<InvalidArgument>([&] { solve<T>(s.factor, wrong_b, right_x); }, words);
        }
    });
}

TEST_F(SolveErrors, BatchesThatDiffer) {
    for_both_precisions([]<class T>() {
        Subject<T> s;
        for (std::int64_t other : {std::int64_t{0}, batch - 1, batch + 7})
            expect_error<InvalidArgument>(
                [&] { solve<T>(s.factor, interleaved<Space>(s.b(), n, batch), interleaved<Space>(s.x(), n, other)); },
                {std::to_string(batch), std::to_string(other)});
    });
}

TEST_F(SolveErrors, OutputElementsThatShareAnAddress) {
    for_both_precisions([]<class T>() {
        Subject<T> s;
        const FieldShape shapes[] = {
            {n, batch, 0, 1, batch, 0},  // all rows on one
            {n, batch, 1, 0, batch, 0},  // all systems on one
            {n, batch, 1, 1, batch, 0},  // diagonals
            {n, batch, 2, 6, batch, 0},  // row 3 of a system is row 0 of the next
            {n, batch, -2, 6, batch, 0}, // the same, walked downwards
            {n, batch, 2, 1, 2, 0},      // all tiles on one
            {n, batch, 2, 1, 2, n},      // tiles half on each other
        };
        for (const FieldShape& shape : shapes) {
            SCOPED_TRACE("strides " + std::to_string(shape.row_stride) + ", " + std::to_string(shape.batch_stride) +
                         ", " + std::to_string(shape.tile_stride));
            const std::int64_t middle = size / 2;
            const auto x = view(s.x() + middle, shape);
            expect_error<InvalidArgument>([&] { solve(s.factor, x); });
            expect_error<InvalidArgument>([&] { solve<T>(s.factor, interleaved<Space>(s.b(), n, batch), x); });
        }
    });
}

TEST_F(SolveErrors, InputThatTheOutputWouldOverwrite) {
    for_both_precisions([]<class T>() {
        Subject<T> s;
        const auto x = interleaved<Space>(s.x() + 500, n, batch);
        const FieldView<T, Space> inputs[] = {
            contiguous<Space>(s.x() + 500, n, batch),                          // the same memory, transposed
            interleaved<Space>(s.x() + 501, n, batch),                         // shifted by one
            interleaved<Space>(s.x() + 500 - n * batch + 1, n, batch),         // one element in common
            strided<Space>(s.x() + 500 + n * batch - 1, n, batch, -batch, -1), // backwards
            view(s.x() + 500, FieldShape{n, batch, batch, 0, batch, 0}),       // one system of it, for all
            strided<Space>(s.x() + 500, n, batch, batch + 1, 1),               // wider rows
        };
        for (const auto& b : inputs) {
            SCOPED_TRACE("strides " + std::to_string(b.shape().row_stride) + ", " +
                         std::to_string(b.shape().batch_stride) + ", offset " + std::to_string(b.data() - x.data()));
            expect_error<InvalidArgument>([&] { solve<T>(s.factor, b, x); });
        }
    });
}

TEST_F(SolveErrors, ViewsThatCannotBe) {
    for_both_precisions([]<class T>() {
        Subject<T> s;
        T* const nothing = nullptr;
        expect_error<InvalidArgument>([&] { solve(s.factor, interleaved<Space>(nothing, n, batch)); }, {"null"});
        expect_error<InvalidArgument>([&] { solve(s.factor, interleaved<Space>(s.x(), n, -3)); }, {"-3"});
        expect_error<InvalidArgument>([&] { solve(s.factor, contiguous<Space>(s.x(), -4, batch)); }, {"-4"});
        expect_error<InvalidArgument>([&] { solve(s.factor, tiled<Space>(s.x(), n, batch, 0)); }, {"0"});
        const std::int64_t far = INT64_MAX / 4;
        expect_error<InvalidArgument>([&] { solve(s.factor, strided<Space>(s.x(), n, batch, far, 1)); },
                                      {std::to_string(far)});
        expect_error<InvalidArgument>([&] { solve(s.factor, strided<Space>(s.x(), n, far, 1, n)); },
                                      {std::to_string(far)});
    });
}

#if !defined(BANDMILL_TEST_CUDA)
TEST_F(SolveErrors, NegativeNumberOfThreads) {
    Subject<double> s;
    expect_error<InvalidArgument>([&] { solve(s.factor, interleaved(s.x(), n, batch), Threads{-2}); }, {"-2"});
}
#endif

} // namespace
} // namespace bandmill::test
