// The rivals on the CPU: the paper's algorithm, and LAPACK (rivals_lapack.cpp).
#include "own_rivals.hpp"
#include "paper.hpp"
#include "place_host.hpp"
#include "rivals_lapack.hpp"

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Boundary;
using bandmill::FieldView;
using bandmill::Host;

std::size_t scratch_values(const SolveCase& what) {
    return what.half_bandwidth == 1 && what.boundary == Boundary::periodic ? static_cast<std::size_t>(what.batch) : 0;
}

template <class T> class PaperLoop : public Contestant<T, Host> {
  public:
    PaperLoop(const Place<Host>& place, const SolveCase& what, const BandMatrix& matrix)
        : place_(place), factor_(paper_factor<T>(matrix)), scratch_(static_cast<std::int64_t>(scratch_values(what))) {
        factor_.tables.values = factor_.values.data();
    }
    std::string path() const override {
        const bool tridiagonal = factor_.tables.half_bandwidth == 1;
        return fmt::format("{} loop{}", tridiagonal ? "Thomas" : "pentadiagonal",
                           !factor_.tables.periodic ? ""
                           : tridiagonal            ? " + Sherman-Morrison"
                                                    : " + Navon's border");
    }
    std::size_t held_bytes() const override {
        return (factor_.values.size() + static_cast<std::size_t>(scratch_.size())) * sizeof(T);
    }
    void solve(FieldView<const T, Host>, FieldView<T, Host> x) override {
        parallel_ranges(
            place_.threads_for(x.rows() * x.batch()), x.batch(),
            [&](std::int64_t begin, std::int64_t end) {
                paper_solve(factor_.tables, x.data(), x.batch(), begin, end, scratch_.data());
            },
            64 / sizeof(T));
    }

  private:
    const Place<Host>& place_;
    PaperFactor<T> factor_;
    Array<T, Host> scratch_;
};

Rival<Host> paper(const Place<Host>& place) {
    Rival<Host> rival{"paper", Layout::interleaved, INT64_MAX, {}, {}, {}, {}};
    rival.obstacle = [](const SolveCase& what) -> std::optional<std::string> {
        if (what.n < paper_least_rows) return fmt::format("needs at least {} rows", paper_least_rows);
        return std::nullopt;
    };
    rival.holding = [](const SolveCase& what) {
        Holding holding{paper_values(what.half_bandwidth, what.boundary, what.n) * what.element_bytes(), {}};
        if (scratch_values(what) > 0) holding.per_batch.push_back(scratch_values(what) * what.element_bytes());
        return holding;
    };
    rival.make_f64 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<PaperLoop<double>>(place, what, matrix);
    };
    rival.make_f32 = [&place](const SolveCase& what, const BandMatrix& matrix) {
        return std::make_unique<PaperLoop<float>>(place, what, matrix);
    };
    return rival;
}

} // namespace

std::vector<Rival<Host>> make_rivals(const Place<Host>& place) {
    return {paper(place), lapack_gttrs(place), lapack_gbtrs(place)};
}

std::vector<Rival<Host>> make_own_rivals(const Place<Host>& place) { return {lapack_gtsv(place), lapack_gbsv(place)}; }

} // namespace app
