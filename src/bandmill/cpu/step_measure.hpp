// Observables of a block of members, from its rows while they are in the cache.
//
// Sums run over 16 points in T and over those sums in double: a float's digits survive any number of points, and the
// work per point is that of the pack alone. The order is fixed, so a member's values are the same in any block.
#pragma once

#include "bandmill/cpu/step_rows.hpp"
#include "bandmill/ensemble/observable.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

template <class E, bool Periodic, class Value, class T> class Measure {
    static constexpr int lanes = Value::lanes, group = 16;
    static constexpr int vectors = lanes / Value::per_vector;

  public:
    BANDMILL_INLINE explicit Measure(const StepJob<T>& job) : job_(job), c_(job.state), n_(job.tables.n) {}

    void mean(double* values) const {
        average(values, [&](std::int64_t i) { return row_of<Value>(c_, i); });
    }
    void mean_square(double* values) const {
        average(values, [&](std::int64_t i) {
            const Value here = row_of<Value>(c_, i);
            return here * here;
        });
    }
    void domain_size(const double* mean_squares, double* values) const {
        for (int lane = 0; lane < lanes; ++lane) values[lane] = detail::domain_size(mean_squares[lane]);
    }
    void free_energy(double* values) const {
        const auto& rate = *static_cast<const typename E::template Rate<T>*>(job_.rate);
        average(values, [&](std::int64_t i) {
            return rate.energy(row_of<Value>(c_, i - 1), row_of<Value>(c_, i), row_of<Value>(c_, i + 1));
        });
    }
    void rate(double* values) const {
        RightHandSide<E, Periodic, Value, T> right_hand_side(job_);
        average(values, [&](std::int64_t i) {
            const Value here = right_hand_side.next(i);
            return here * here;
        });
        for (int lane = 0; lane < lanes; ++lane)
            values[lane] = __builtin_fabs(job_.to_rate) * __builtin_sqrt(values[lane]);
    }

    // Compared as integers, magnitudes keep their order and NaN is above infinity: no maximum loses it.
    void largest(double* values) const {
        Integers most[vectors] = {};
        for (std::int64_t i = 0; i < n_; ++i) {
            const Value here = row_of<Value>(c_, i);
            for (int k = 0; k < vectors; ++k) {
                const Integers magnitude = (Integers)here.part[k] & all_but_the_sign;
                most[k] = magnitude > most[k] ? magnitude : most[k];
            }
        }
        for (int lane = 0; lane < lanes; ++lane)
            values[lane] = ((Native<T>)most[lane / Value::per_vector])[lane % Value::per_vector];
    }

    // NaN in a member that holds one: no sign changes would look like a fine number.
    void interfaces(double* values) const {
        Integers count[vectors] = {};
        Value zero;
        Value before = row_of<Value>(c_, Periodic ? n_ - 1 : 0);
        for (std::int64_t i = 0; i < n_; ++i) {
            const Value here = row_of<Value>(c_, i);
            for (int k = 0; k < vectors; ++k) count[k] -= (here.part[k] < T(0)) ^ (before.part[k] < T(0));
            zero = multiply_add(T(0), here, zero);
            before = here;
        }
        for (int lane = 0; lane < lanes; ++lane) {
            const int k = lane / Value::per_vector, at = lane % Value::per_vector;
            values[lane] = static_cast<double>(count[k][at]) + static_cast<double>(zero.part[k][at]);
        }
    }

  private:
    using Integers = decltype(Native<T>{} < Native<T>{}); // as wide as T
    using Integer = decltype(Integers{}[0] + 0);
    static constexpr Integer all_but_the_sign = static_cast<Integer>(sizeof(T) == 8 ? INT64_MAX : INT32_MAX);

    // Of term(i) over the points, in every lane.
    template <class Term> BANDMILL_INLINE void average(double* values, const Term& term) const {
        for (int lane = 0; lane < lanes; ++lane) values[lane] = 0;
        for (std::int64_t i = 0; i < n_;) {
            Value sum;
            for (const std::int64_t end = i + group < n_ ? i + group : n_; i < end; ++i) sum = sum + term(i);
            for (int lane = 0; lane < lanes; ++lane)
                values[lane] += static_cast<double>(sum.part[lane / Value::per_vector][lane % Value::per_vector]);
        }
        for (int lane = 0; lane < lanes; ++lane) values[lane] /= static_cast<double>(n_);
    }

    const StepJob<T>& job_;
    const T* c_;
    std::int64_t n_;
};

} // namespace bandmill::cpu::BANDMILL_LEVEL
