// The contestants of `bandmill bench solve`: ours, and the rivals it is compared with. A rival is described by what it
// can do and what it holds, so that it is made only where it applies and fits.
#pragma once

#include "place.hpp"
#include "solve_case.hpp"

#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace app {

// Ready to solve when constructed: factoring is not part of what is timed.
template <class T, class Space> class Contestant {
  public:
    virtual ~Contestant() = default;
    virtual std::string path() const = 0;       // the algorithm it chose
    virtual std::size_t held_bytes() const = 0; // memory beside the right-hand sides: factor, matrices, workspace
    virtual void restore() {}                   // puts back what a solve overwrites beside x; called off the clock
    virtual bool needs_restore() const { return false; } // else a second solve is wrong
    // Rivals solve in place only: their b is x.
    virtual void solve(bandmill::FieldView<const T, Space> b, bandmill::FieldView<T, Space> x) = 0;
};

template <class T, class Space> class Bandmill : public Contestant<T, Space> {
  public:
    Bandmill(const Place<Space>& place, const bandmill::BandMatrix& matrix, std::int64_t batch)
        : place_(place), factor_(place.template factor<T>(matrix)), batch_(batch) {}
    std::string path() const override { return bandmill::name(factor_.report().path); }
    std::size_t held_bytes() const override {
        const bandmill::FactorReport& report = factor_.report();
        return report.bytes + report.workspace_bytes_per_system * static_cast<std::size_t>(batch_);
    }
    void solve(bandmill::FieldView<const T, Space> b, bandmill::FieldView<T, Space> x) override {
        place_.template solve<T>(factor_, b, x);
    }

  private:
    const Place<Space>& place_;
    bandmill::Factor<T, Space> factor_;
    std::int64_t batch_;
};

// The memory a contestant needs beside the right-hand sides.
struct Holding {
    std::size_t shared = 0;             // whatever the batch: a factor
    std::vector<std::size_t> per_batch; // arrays that grow with it: a matrix for each system, workspace

    std::size_t total() const { return std::accumulate(per_batch.begin(), per_batch.end(), shared); }
};

template <class Space> struct Rival {
    template <class T> using Made = std::unique_ptr<Contestant<T, Space>>;
    template <class T> using Make = std::function<Made<T>(const SolveCase&, const bandmill::BandMatrix&)>;

    std::string name;
    Layout layout;              // the one it is made for; it solves no other
    std::int64_t most_elements; // n * batch beyond this is not tried: its indices may overflow
    std::function<std::optional<std::string>(const SolveCase&)> obstacle; // why it cannot solve this case
    std::function<Holding(const SolveCase&)> holding;                     // throws bandmill::Error if it is not known
    Make<double> make_f64;
    Make<float> make_f32;

    template <class T> Made<T> make(const SolveCase& what, const bandmill::BandMatrix& matrix) const {
        if constexpr (std::is_same_v<T, double>)
            return make_f64(what, matrix);
        else
            return make_f32(what, matrix);
    }
};

// All rivals of a backend, in the order of the table; those that were not built say so as their obstacle. They keep a
// reference to the place.
std::vector<Rival<bandmill::Host>> make_rivals(const Place<bandmill::Host>& place);
std::vector<Rival<bandmill::Cuda>> make_rivals(const Place<bandmill::Cuda>& place);

} // namespace app
