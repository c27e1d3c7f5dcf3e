#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace bandmill::test {

Oracle::Oracle(const Bands& bands) : n_(bands.n), scale_(bands.n), lu_(dense(bands)), order_(bands.n) {
    for (std::int64_t i = 0; i < n_; ++i) {
        long double norm = 0;
        for (std::int64_t j = 0; j < n_; ++j) norm += std::fabs(lu_[i * n_ + j]);
        if (norm == 0) {
            singular_ = true;
            return;
        }
        scale_[i] = 1 / norm;
        for (std::int64_t j = 0; j < n_; ++j) lu_[i * n_ + j] *= scale_[i];
    }
    factor();
    if (singular_) return;
    collect();
    invert();
}

void Oracle::factor() {
    for (std::int64_t k = 0; k < n_; ++k) {
        std::int64_t pivot = k;
        for (std::int64_t i = k + 1; i < n_; ++i)
            if (std::fabs(lu_[i * n_ + k]) > std::fabs(lu_[pivot * n_ + k])) pivot = i;
        order_[k] = pivot;
        if (lu_[pivot * n_ + k] == 0) {
            singular_ = true;
            return;
        }
        if (pivot != k) std::swap_ranges(&lu_[k * n_], &lu_[k * n_] + n_, &lu_[pivot * n_]);
        for (std::int64_t i = k + 1; i < n_; ++i) {
            if (lu_[i * n_ + k] == 0) continue; // most of a band matrix
            const long double l = lu_[i * n_ + k] /= lu_[k * n_ + k];
            for (std::int64_t j = k + 1; j < n_; ++j) lu_[i * n_ + j] -= l * lu_[k * n_ + j];
        }
    }
}

// A band matrix leaves most of L and U zero; without those, inverting takes n^2 operations instead of n^3.
void Oracle::collect() {
    lower_.resize(n_);
    upper_.resize(n_);
    for (std::int64_t i = 0; i < n_; ++i)
        for (std::int64_t j = 0; j < n_; ++j)
            if (j != i && lu_[i * n_ + j] != 0) (j < i ? lower_ : upper_)[i].push_back({j, lu_[i * n_ + j]});
}

std::vector<long double> Oracle::solve_scaled(std::vector<long double> b) const {
    // Rows were exchanged whole, so all exchanges come before the first elimination.
    for (std::int64_t k = 0; k < n_; ++k) std::swap(b[k], b[order_[k]]);
    for (std::int64_t i = 0; i < n_; ++i)
        for (const Entry& l : lower_[i]) b[i] -= l.value * b[l.column];
    for (std::int64_t i = n_ - 1; i >= 0; --i) {
        for (const Entry& u : upper_[i]) b[i] -= u.value * b[u.column];
        b[i] /= lu_[i * n_ + i];
    }
    return b;
}

void Oracle::invert() {
    inverse_.resize(n_ * n_);
    for (std::int64_t j = 0; j < n_; ++j) {
        std::vector<long double> unit(n_, 0);
        unit[j] = 1;
        const std::vector<long double> column = solve_scaled(std::move(unit));
        for (std::int64_t i = 0; i < n_; ++i) inverse_[i * n_ + j] = std::fabs(column[i]);
    }
}

long double Oracle::condition() const {
    if (singular_) return std::numeric_limits<long double>::infinity();
    long double largest = 0;
    for (std::int64_t i = 0; i < n_; ++i) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n_; ++j) sum += inverse_[i * n_ + j];
        largest = std::max(largest, sum);
    }
    return largest;
}

std::vector<long double> Oracle::solve(const std::vector<long double>& b) const {
    std::vector<long double> scaled(b);
    for (std::int64_t i = 0; i < n_; ++i) scaled[i] *= scale_[i];
    return solve_scaled(std::move(scaled));
}

std::vector<long double> Oracle::inverse_magnitude_times(const std::vector<long double>& w) const {
    std::vector<long double> result(n_, 0);
    for (std::int64_t i = 0; i < n_; ++i)
        for (std::int64_t j = 0; j < n_; ++j) result[i] += inverse_[i * n_ + j] * scale_[j] * w[j];
    return result;
}

} // namespace bandmill::test
