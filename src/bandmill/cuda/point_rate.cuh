// The right-hand side of an equation at one point of a member in memory, for kernels that do not keep members in
// registers: streaming steps and observables. Any ends.
#pragma once

#include "bandmill/pde/equation.hpp"

#include <cstdint>

namespace bandmill::cuda {

// A member: its state, to which an increment may still have to be added.
template <class T> struct Member {
    const T* state;
    const T* increment; // or null
    T update;           // what the increment is multiplied by
    std::int64_t n;
    Ends ends;
    T value; // at Dirichlet ends

    __device__ __forceinline__ T inside(std::int64_t i) const {
        const T c = state[i];
        return increment == nullptr ? c : detail::multiply_add(update, increment[i], c);
    }
    // Up to three points beyond the ends.
    __device__ __forceinline__ T operator[](std::int64_t i) const {
        if (i >= 0 && i < n) return inside(i);
        if (ends == Ends::periodic) return inside(i < 0 ? i + n : i - n);
        const T c = inside(i < 0 ? -1 - i : 2 * n - 1 - i);
        return ends == Ends::neumann ? c : T(2) * value - c;
    }
};

// Second difference of the potential + source, in units of scale / dx^2.
template <class E, class T> struct PointRate {
    using Rate = typename E::template Rate<T>;
    Rate rate;
    const T* profile;

    __device__ __forceinline__ T potential(const Member<T>& c, std::int64_t i) const {
        if (c.ends != Ends::periodic && (i < 0 || i >= c.n)) {
            const T mirrored = potential_inside(c, i < 0 ? 0 : c.n - 1);
            return c.ends == Ends::neumann ? mirrored : T(2) * detail::end_potential(rate, c.value) - mirrored;
        }
        return potential_inside(c, i);
    }
    __device__ __forceinline__ T operator()(const Member<T>& c, std::int64_t i, const T* parameters) const {
        T result = T(0);
        if constexpr (Rate::has_potential)
            result = detail::multiply_add(T(-2), potential(c, i), potential(c, i - 1) + potential(c, i + 1));
        if constexpr (Rate::has_source) {
            T window[7];
            for (int k = 3 - Rate::left; k <= 3 + Rate::right; ++k) window[k] = c[i + k - 3];
            result = result + rate.source(window, profile[i], parameters);
        }
        return result;
    }

  private:
    __device__ __forceinline__ T potential_inside(const Member<T>& c, std::int64_t i) const {
        return rate.potential(c[i - 1], c[i], c[i + 1]);
    }
};

template <class E, class T> struct MemberParameters {
    static constexpr int count = static_cast<int>(E::member_parameters.size());
    T values[count > 0 ? count : 1];

    __device__ __forceinline__ MemberParameters(const T* parameters, std::int64_t stride, std::int64_t member) {
        for (int i = 0; i < count; ++i) values[i] = parameters[i * stride + member];
    }
};

} // namespace bandmill::cuda
