// The arrays of one case; the solves of a measurement take turns in them. Every b holds the same data, so every x must
// become the same.
#pragma once

#include "place.hpp"
#include "residual.hpp"
#include "solve_runner.hpp"

#include <limits>

namespace app {

template <class T, class Space> class Fields {
  public:
    Fields(const Place<Space>& place, const SolveCase& what, Placement placement, int turn_count)
        : place_(place), what_(what), placement_(placement), block_(random_block<T>()) {
        for (int i = 0; i < turn_count; ++i) add_x();
        const int copies_of_b = placement == Placement::out_of_place ? turn_count : place.fields_in_place - 1;
        for (int i = 0; i < copies_of_b; ++i) {
            b_.push_back(place.template allocate<T>(*what.elements()));
            place.template fill<T>(b_.back(), block_);
        }
    }

    // How many solves, up to `count`, can run without a refresh in between. In place each needs an x of its own, for
    // which at most `room` bytes are taken.
    int reserve(int count, std::size_t room) {
        if (placement_ == Placement::out_of_place) return count;
        const std::size_t bytes = static_cast<std::size_t>(x_[0].size()) * sizeof(T);
        for (; static_cast<int>(x_.size()) < count && room >= bytes; room -= bytes) add_x();
        return std::min(count, static_cast<int>(x_.size()));
    }

    // Readies the solves from number `first` on.
    void refresh(int first, int count) {
        if (placement_ == Placement::out_of_place) return;
        for (int number = first; number < first + count; ++number)
            place_.template refresh<T>(x_[turn(number)], b_.empty() ? nullptr : &b_[0], block_);
    }
    // What a plain copy of the right-hand side costs; out of place only.
    void copy(int number) { place_.template refresh<T>(x_[turn(number)], &b_[turn(number)], block_); }
    bandmill::FieldView<T, Space> x(int number) { return make_view<Space>(what_, x_[turn(number)].data()); }
    bandmill::FieldView<const T, Space> b(int number) {
        if (placement_ == Placement::in_place) return x(number);
        return make_view<Space>(what_, std::as_const(b_[turn(number)]).data());
    }

    // Of the solution of solve number 0 and those that took its turn after it.
    double backward_error_of_sample(const bandmill::BandMatrix& matrix) {
        const auto view = x(0);
        const auto systems = sample_systems(what_);
        struct Element {
            std::int64_t offset;
            std::size_t system, row;
        };
        std::vector<Element> elements;
        for (std::size_t s = 0; s < systems.size(); ++s)
            for (std::int64_t i = 0; i < what_.n; ++i)
                elements.push_back({view.offset(i, systems[s]), s, static_cast<std::size_t>(i)});
        std::sort(elements.begin(), elements.end(), [](auto& a, auto& b) { return a.offset < b.offset; });
        std::vector<std::int64_t> where;
        for (const Element& element : elements) where.push_back(element.offset);
        const std::vector<T> values = place_.gather(x_[0], where);

        const auto rows = static_cast<std::size_t>(what_.n);
        std::vector<std::vector<T>> b(systems.size(), std::vector<T>(rows)), x(b);
        for (std::size_t k = 0; k < elements.size(); ++k) {
            const auto& [offset, system, row] = elements[k];
            b[system][row] = block_[static_cast<std::size_t>(offset) % block_.size()];
            x[system][row] = values[k];
        }
        double worst = 0;
        for (std::size_t s = 0; s < systems.size(); ++s) worst = std::max(worst, backward_error(matrix, b[s], x[s]));
        return worst;
    }

  private:
    std::size_t turn(int number) const { return static_cast<std::size_t>(number) % x_.size(); }
    void add_x() {
        x_.push_back(place_.template allocate<T>(*what_.elements()));
        // An element that is never written must not pass for a solution.
        place_.template fill<T>(x_.back(), std::vector<T>(4096, std::numeric_limits<T>::quiet_NaN()));
    }

    const Place<Space>& place_;
    const SolveCase what_;
    Placement placement_;
    std::vector<T> block_;
    std::vector<bandmill::Array<T, Space>> b_, x_;
};

} // namespace app
