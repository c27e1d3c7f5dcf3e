// Edges: what a stencil finds beyond the ends of an axis.
//   leave            nothing: points whose neighbours do not all exist are not written
//   periodic         the other end
//   constant         a given value
//   even, odd        the field reflected half a spacing beyond its last point, as on the grids with Neumann and
//                    Dirichlet ends: v(-1-k) = v(k), or 2g - v(k) so that the value at the end is g
//   even_at_point,   the field reflected at its last point, for grids that have a point at each end:
//   odd_at_point     v(-k) = v(k), or 2g - v(k)
// Fields may be shorter than the stencil: they are wrapped and reflected as often as it takes.
#pragma once

#include "bandmill/base/error.hpp"
#include "bandmill/base/macros.hpp"

#include <cmath>
#include <cstdint>
#include <string>

namespace bandmill {

class Edges {
  public:
    enum class Kind { leave, periodic, constant, even, odd, even_at_point, odd_at_point };

    static Edges leave() { return Edges(Kind::leave, 0, 0); }
    static Edges periodic() { return Edges(Kind::periodic, 0, 0); }
    static Edges even() { return Edges(Kind::even, 0, 0); }
    static Edges even_at_point() { return Edges(Kind::even_at_point, 0, 0); }
    // One value for both ends, or one for the end at index 0 and one for the other.
    static Edges constant(double value) { return constant(value, value); }
    static Edges constant(double first, double last) { return Edges(Kind::constant, first, last); }
    static Edges odd(double value = 0) { return odd(value, value); }
    static Edges odd(double first, double last) { return Edges(Kind::odd, first, last); }
    static Edges odd_at_point(double value = 0) { return odd_at_point(value, value); }
    static Edges odd_at_point(double first, double last) { return Edges(Kind::odd_at_point, first, last); }

    Kind kind() const { return kind_; }
    double first() const { return first_; }
    double last() const { return last_; }

  private:
    Edges(Kind kind, double first, double last) : kind_(kind), first_(first), last_(last) {
        if (!std::isfinite(first) || !std::isfinite(last))
            throw InvalidArgument("the value at an edge is not finite: give a finite number");
    }
    Kind kind_;
    double first_, last_;
};

// The rules of both axes. Where both apply, in a corner, the field is first continued along x and then along y.
struct PlaneEdges {
    Edges x = Edges::leave(), y = Edges::leave();

    PlaneEdges() = default;
    PlaneEdges(const Edges& both) : x(both), y(both) {}
    PlaneEdges(const Edges& along_x, const Edges& along_y) : x(along_x), y(along_y) {}
};

namespace detail {

// The value at a point beyond an end: that of a point inside, perhaps turned over, plus a number; or the number alone.
template <class T> struct Ghost {
    std::int64_t index; // -1: the number alone
    bool negative;
    T shift;

    BANDMILL_HD bool plain() const { return index >= 0 && !negative && shift == T(0); }
    // Given what the point inside holds.
    BANDMILL_HD T value(T v) const { return index < 0 ? shift : negative ? shift - v : shift == T(0) ? v : v + shift; }
};

// The rule of one axis in the precision of the field, for the arithmetic on host and device.
template <class T> struct EdgeRule {
    Edges::Kind kind = Edges::Kind::leave;
    T first{}, last{}; // constant: the values; odd: twice the values

    EdgeRule() = default;
    explicit EdgeRule(const Edges& edges) : kind(edges.kind()) {
        const bool odd = kind == Edges::Kind::odd || kind == Edges::Kind::odd_at_point;
        first = static_cast<T>((odd ? 2 : 1) * edges.first());
        last = static_cast<T>((odd ? 2 : 1) * edges.last());
    }

    // Any index, of an axis of n points. (Nothing is found beyond edges that are left alone.)
    BANDMILL_HD Ghost<T> locate(std::int64_t i, std::int64_t n) const {
        if (i >= 0 && i < n) return {i, false, T(0)};
        switch (kind) {
        case Edges::Kind::leave: return {-1, false, T(0)};
        case Edges::Kind::constant: return {-1, false, i < 0 ? first : last};
        case Edges::Kind::periodic:
            if (i < -n || i >= 2 * n) i %= n; // once around needs no division
            return {i < 0 ? i + n : i < n ? i : i - n, false, T(0)};
        default: return reflect(i, n);
        }
    }

  private:
    BANDMILL_HD Ghost<T> reflect(std::int64_t i, std::int64_t n) const {
        const bool at_point = kind == Edges::Kind::even_at_point || kind == Edges::Kind::odd_at_point;
        const bool odd = kind == Edges::Kind::odd || kind == Edges::Kind::odd_at_point;
        if (at_point && n == 1) return {0, false, T(0)}; // odd is refused
        Ghost<T> ghost{i, false, T(0)};
        while (ghost.index < 0 || ghost.index >= n) {
            const bool before = ghost.index < 0;
            ghost.index = (before ? 0 : 2 * (n - 1)) - ghost.index + (at_point ? 0 : before ? -1 : 1);
            if (!odd) continue;
            const T value = before ? first : last;
            ghost.shift = ghost.negative ? ghost.shift - value : ghost.shift + value;
            ghost.negative = !ghost.negative;
        }
        return ghost;
    }
};

// Throws InvalidArgument for a rule that an axis of n points cannot have, or values beyond the precision.
template <class T> void check_edges(const Edges& edges, std::int64_t n, const char* axis) {
    if (edges.kind() == Edges::Kind::odd_at_point && n == 1)
        throw InvalidArgument(std::string("an axis of one point cannot be reflected oddly at that point (along ") +
                              axis + "): use Edges::odd, or two points and more");
    const EdgeRule<T> rule(edges);
    if (!std::isfinite(rule.first) || !std::isfinite(rule.last))
        throw InvalidArgument(std::string("a value at the edges along ") + axis +
                              " is too large for the field's precision: use f64, or smaller values");
}

} // namespace detail
} // namespace bandmill
