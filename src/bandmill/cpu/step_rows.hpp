// The rows of a block of members: ghosts, right-hand side, and what the sweep of band/sweeps.hpp reads and writes.
#pragma once

#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/step_lanes.hpp"
#include "bandmill/pde/equation.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

template <class Value, class T> BANDMILL_INLINE Value row_of(const T* rows, std::int64_t i) {
    Value value;
    load(value, rows + i * Value::lanes);
    return value;
}
template <class Value, class T> BANDMILL_INLINE void set_row(T* rows, std::int64_t i, const Value& value) {
    store(rows + i * Value::lanes, value);
}

template <class Value, class T> void fill_ghosts(const StepJob<T>& job) {
    T* c = job.state;
    const std::int64_t n = job.tables.n;
    for (int k = 0; k < ghost_rows; ++k) {
        Value before, after;
        if (job.ends == Ends::periodic) {
            before = row_of<Value>(c, n - 1 - k);
            after = row_of<Value>(c, k);
        } else {
            before = row_of<Value>(c, k);
            after = row_of<Value>(c, n - 1 - k);
        }
        if (job.ends == Ends::dirichlet) {
            before = job.twice_value - before;
            after = job.twice_value - after;
        }
        set_row(c, -1 - k, before);
        set_row(c, n + k, after);
    }
}

// Second difference of the potential + source, row by row from 0 to n - 1: each potential is computed once. Ghosts are
// filled. Differences are taken twice (fluxes), so that what leaves a point enters the next to the last bit.
template <class E, bool Periodic, class Value, class T> class RightHandSide {
    using Rate = typename E::template Rate<T>;
    static constexpr int parameter_count = static_cast<int>(E::member_parameters.size());

  public:
    BANDMILL_INLINE explicit RightHandSide(const StepJob<T>& job)
        : rate_(*static_cast<const Rate*>(job.rate)), c_(job.state), profile_(job.profile), last_(job.tables.n - 1),
          mirror_(job.ends == Ends::dirichlet ? T(-1) : T(1)),
          twice_end_(job.ends == Ends::dirichlet ? 2 * detail::end_potential(rate_, job.twice_value / 2) : T(0)) {
        if constexpr (Rate::has_potential) {
            here_ = potential(0);
            flux_ = here_ - (Periodic ? potential(-1) : reflected());
        }
        for (int k = 0; k < parameter_count; ++k) parameters_[k] = row_of<Value>(job.parameters, k);
    }

    // Row i, after row i - 1.
    BANDMILL_INLINE Value next(std::int64_t i) {
        Value result;
        if constexpr (Rate::has_potential) {
            // Beyond an end the potential is reflected as such: with a nonlinear one the reflected C would not do.
            const Value after = Periodic || i < last_ ? potential(i + 1) : reflected();
            const Value flux = after - here_;
            result = flux - flux_;
            flux_ = flux;
            here_ = after;
        }
        if constexpr (Rate::has_source) {
            Value c[7];
            for (int k = 3 - Rate::left; k <= 3 + Rate::right; ++k) c[k] = row_of<Value>(c_, i + k - 3);
            result = result + rate_.source(c, profile_[i], parameters_);
        }
        return result;
    }

  private:
    BANDMILL_INLINE Value reflected() const { return mirror_ * here_ + twice_end_; }
    BANDMILL_INLINE Value potential(std::int64_t i) const {
        return rate_.potential(row_of<Value>(c_, i - 1), row_of<Value>(c_, i), row_of<Value>(c_, i + 1));
    }

    const Rate rate_; // a copy: stores to the state could change one elsewhere, for all that a compiler knows
    const T* c_;
    const T* profile_;
    std::int64_t last_;
    T mirror_, twice_end_;
    Value here_, flux_; // potential of the row to come; its difference to the row before
    Value parameters_[parameter_count > 0 ? parameter_count : 1];
};

// What a step's sweep reads and writes. The state is updated on the way up, when no right-hand side needs it any more.
template <class E, bool Periodic, class V, class T> struct StepRows {
    using Value = V;
    static constexpr int ahead = 1;
    // A source takes all the registers there are, so the right-hand side goes to the scratch before the sweep: forced
    // Cahn-Hilliard 0.38e9 point-steps per second instead of 0.25.
    static constexpr bool computed_before = E::template Rate<T>::has_source;
    RightHandSide<E, Periodic, Value, T> right_hand_side;
    T *state, *scratch;
    T update;

    BANDMILL_INLINE explicit StepRows(const StepJob<T>& job)
        : right_hand_side(job), state(job.state), scratch(job.scratch), update(job.update) {
        if constexpr (computed_before)
            for (std::int64_t i = 0; i < job.tables.n; ++i) set_row(scratch, i, right_hand_side.next(i));
    }

    BANDMILL_INLINE Value load(std::int64_t i) {
        return computed_before ? row_of<Value>(scratch, i) : right_hand_side.next(i);
    }
    BANDMILL_INLINE void keep(std::int64_t i, const Value& value) { set_row(scratch, i, value); }
    BANDMILL_INLINE Value kept(std::int64_t i) const { return row_of<Value>(scratch, i); }
    BANDMILL_INLINE void store(std::int64_t i, const Value& x) {
        set_row(state, i, multiply_add(update, x, row_of<Value>(state, i)));
    }
};

} // namespace bandmill::cpu::BANDMILL_LEVEL
