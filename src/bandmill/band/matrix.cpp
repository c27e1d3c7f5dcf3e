#include "bandmill/band/matrix.hpp"

#include "bandmill/base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <new>
#include <string>

namespace bandmill {
namespace {

std::string show(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

// "upper diagonal 1", "main diagonal", "lower diagonal 2"
std::string diagonal_name(int offset) {
    if (offset == 0) return "main diagonal";
    return (offset < 0 ? "lower" : "upper") + std::string(" diagonal ") + std::to_string(std::abs(offset));
}

std::int64_t wrapped(std::int64_t index, std::int64_t size) { return (index % size + size) % size; }

// Puts diagonals of one length behind each other.
template <std::size_t Count>
std::vector<double> join(const std::array<std::span<const double>, Count>& diagonals, std::size_t size) {
    for (std::size_t d = 0; d < Count; ++d)
        if (diagonals[d].size() != size)
            throw InvalidArgument(diagonal_name(static_cast<int>(d) - static_cast<int>(Count / 2)) + " has " +
                                  std::to_string(diagonals[d].size()) + " entries and the main diagonal " +
                                  std::to_string(size) +
                                  " (diagonals are indexed by row): give every diagonal one entry per row");
    std::vector<double> values;
    try {
        if (size > values.max_size() / Count) throw std::bad_alloc();
        values.reserve(Count * size);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory("a matrix of " + std::to_string(size) +
                          " rows does not fit in host memory: check the number of rows");
    }
    for (const std::span<const double> diagonal : diagonals)
        values.insert(values.end(), diagonal.begin(), diagonal.end());
    return values;
}

} // namespace

BandMatrix::BandMatrix(int half_bandwidth, Boundary boundary, std::int64_t size, bool toeplitz,
                       std::vector<double> values)
    : half_bandwidth_(half_bandwidth), boundary_(boundary), size_(size), toeplitz_(toeplitz),
      values_(std::move(values)) {
    if (boundary != Boundary::open && boundary != Boundary::periodic)
        throw InvalidArgument("boundary " + std::to_string(static_cast<int>(boundary)) +
                              " is not known: use Boundary::open or Boundary::periodic");
    if (size < 1)
        throw InvalidArgument("a matrix cannot have " + std::to_string(size) +
                              " rows (there must be at least one): check the number of rows");
    const std::int64_t rows = toeplitz ? 1 : size; // the rows that hold different values
    for (std::int64_t row = 0; row < rows; ++row)
        for (int offset = -half_bandwidth; offset <= half_bandwidth; ++offset) {
            // A constant diagonal of an open matrix has a use if it is shorter than the matrix.
            const bool used = boundary == Boundary::periodic ||
                              (toeplitz ? std::abs(offset) < size : row + offset >= 0 && row + offset < size);
            double& value = values_[(offset + half_bandwidth) * rows + row];
            if (!used) value = 0.0;
            if (std::isfinite(value)) continue;
            const std::int64_t at = toeplitz && boundary == Boundary::open ? std::max(0, -offset) : row;
            throw InvalidMatrix("entry of row " + std::to_string(at) + " on the " + diagonal_name(offset) + " is " +
                                    show(value) + " (a matrix needs finite entries): check how it was made",
                                at);
        }
}

BandMatrix BandMatrix::tridiagonal(std::span<const double> lower, std::span<const double> main,
                                   std::span<const double> upper, Boundary boundary) {
    return {1, boundary, static_cast<std::int64_t>(main.size()), false,
            join(std::array{lower, main, upper}, main.size())};
}

BandMatrix BandMatrix::pentadiagonal(std::span<const double> lower2, std::span<const double> lower1,
                                     std::span<const double> main, std::span<const double> upper1,
                                     std::span<const double> upper2, Boundary boundary) {
    return {2, boundary, static_cast<std::int64_t>(main.size()), false,
            join(std::array{lower2, lower1, main, upper1, upper2}, main.size())};
}

BandMatrix BandMatrix::toeplitz(std::int64_t n, std::span<const double> weights, Boundary boundary) {
    if (weights.size() != 3 && weights.size() != 5)
        throw InvalidArgument("a constant-diagonal matrix cannot have " + std::to_string(weights.size()) +
                              " weights: give 3 (tridiagonal) or 5 (pentadiagonal), lowest diagonal first");
    return {static_cast<int>(weights.size() / 2), boundary, n, true, {weights.begin(), weights.end()}};
}

void BandMatrix::refuse_entry(int offset, std::int64_t row) const {
    throw InvalidArgument("a matrix of " + std::to_string(size_) + " rows with half-bandwidth " +
                          std::to_string(half_bandwidth_) + " has no entry at row " + std::to_string(row) +
                          ", diagonal " + std::to_string(offset) + ": rows run from 0, diagonals from -W to W");
}

BandMatrix BandMatrix::transposed() const {
    const int width = 2 * half_bandwidth_ + 1;
    std::vector<double> values(values_.size());
    if (toeplitz_) {
        for (int d = 0; d < width; ++d) values[d] = values_[width - 1 - d];
    } else {
        // A[i, i + k] becomes entry (-k) of row i + k.
        for (int offset = -half_bandwidth_; offset <= half_bandwidth_; ++offset)
            for (std::int64_t row = 0; row < size_; ++row) {
                if (boundary_ == Boundary::open && (row + offset < 0 || row + offset >= size_)) continue;
                values[(half_bandwidth_ - offset) * size_ + wrapped(row + offset, size_)] = entry(offset, row);
            }
    }
    return {half_bandwidth_, boundary_, size_, toeplitz_, std::move(values)};
}

} // namespace bandmill
