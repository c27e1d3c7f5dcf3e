#include "own_runner.hpp"

#include "contestant.hpp"
#include "fields.hpp"
#include "own_rivals.hpp"
#include "place_cuda.hpp"
#include "place_host.hpp"

#include "bandmill/band/batch.hpp"
#include "bandmill/base/device.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandBatch;
using bandmill::BandMatrix;
using bandmill::Boundary;
using bandmill::Cuda;
using bandmill::FieldView;
using bandmill::Host;

// Every system gets a copy of the same matrix, so that the check stays simple. What it holds matters to the time only
// where long systems are solved in pieces, which takes a matrix that forgets rows far above (--sigma).
template <class T>
void spread(const Place<Host>& place, const SolveCase& what, const std::vector<T>& rows, Array<T, Host>& to) {
    const auto view = make_view<Host>(what, to.data());
    parallel_ranges(place.threads(), what.batch, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = 0; i < what.n; ++i)
            for (std::int64_t m = begin; m < end; ++m) view(i, m) = rows[static_cast<std::size_t>(i)];
    });
}
template <class T>
void spread(const Place<Cuda>& place, const SolveCase& what, const std::vector<T>& rows, Array<T, Cuda>& to) {
    const Array<T, Cuda> one(std::span<const T>(rows), place.device());
    spread_interleaved<T>(place.device(), one.data(), what.n, what.batch, Copies<T>{1, {to.data()}});
    bandmill::synchronize(place.device());
}

template <class T, class Space> class Matrices {
  public:
    Matrices(const Place<Space>& place, const SolveCase& what, const BandMatrix& matrix) : what_(what) {
        const int w = what.half_bandwidth;
        for (int k = -w; k <= w; ++k) {
            std::vector<T> rows;
            for (std::int64_t i = 0; i < what.n; ++i) rows.push_back(static_cast<T>(matrix.entry(k, i)));
            diagonals_.push_back(place.template allocate<T>(*what.elements()));
            spread(place, what, rows, diagonals_.back());
        }
    }
    BandBatch<T, Space> view() const {
        const auto one = [&](std::size_t d) { return make_view<Space>(what_, diagonals_[d].data()); };
        if (what_.half_bandwidth == 1) return {{one(0), one(1), one(2)}, what_.boundary};
        return {{one(0), one(1), one(2), one(3), one(4)}, what_.boundary};
    }
    std::size_t bytes() const { return diagonals_.size() * static_cast<std::size_t>(diagonals_[0].size()) * sizeof(T); }

  private:
    SolveCase what_;
    std::vector<Array<T, Space>> diagonals_;
};

bandmill::Threads where(const Place<Host>& place) { return {place.threads()}; }
bandmill::Device where(const Place<Cuda>& place) { return place.device(); }

template <class T, class Space> class Combined : public Contestant<T, Space> {
  public:
    Combined(const Place<Space>& place, const SolveCase& what, const BandMatrix& matrix)
        : place_(place), matrices_(place, what, matrix), workspace_(matrices_.view().shape(), where(place)),
          status_(place.template allocate<std::int64_t>(what.batch)) {}
    std::string path() const override { return "factor and solve"; }
    std::size_t held_bytes() const override {
        return matrices_.bytes() + workspace_.bytes() + static_cast<std::size_t>(status_.size()) * 8;
    }
    void solve(FieldView<const T, Space> b, FieldView<T, Space> x) override {
        const auto status = bandmill::interleaved<Space>(status_.data(), 1, status_.size());
        if constexpr (std::is_same_v<Space, Host>)
            bandmill::solve(matrices_.view(), b, x, status, workspace_, where(place_));
        else
            bandmill::solve(matrices_.view(), b, x, status, workspace_);
    }

  private:
    const Place<Space>& place_;
    Matrices<T, Space> matrices_;
    bandmill::BatchWorkspace<T, Space> workspace_;
    Array<std::int64_t, Space> status_;
};

template <class T, class Space> class Factored : public Contestant<T, Space> {
  public:
    Factored(const Place<Space>& place, const SolveCase& what, const BandMatrix& matrix)
        : place_(place), factor_(bandmill::factor(Matrices<T, Space>(place, what, matrix).view(), where(place))) {
        if constexpr (std::is_same_v<Space, Cuda>) {
            bandmill::synchronize(place.device());
            path_ = path_of(factor_);
        }
    }
    std::string path() const override {
        return path_ == OwnPath::split ? "solve, split" : path_ == OwnPath::in_pieces ? "solve, in pieces" : "solve";
    }
    std::size_t held_bytes() const override { return factor_.bytes(); }
    bool keeps_y_on_chip() const { return path_ != OwnPath::sweeps; }
    void solve(FieldView<const T, Space> b, FieldView<T, Space> x) override {
        if constexpr (std::is_same_v<Space, Host>)
            bandmill::solve(factor_, b, x, where(place_));
        else
            bandmill::solve(factor_, b, x);
    }

  private:
    const Place<Space>& place_;
    bandmill::BatchFactor<T, Space> factor_;
    OwnPath path_ = OwnPath::sweeps;
};

// Values per row of the factor: band/batch_sweeps.hpp.
int factor_values(const SolveCase& what) {
    return 1 + what.half_bandwidth * (what.boundary == Boundary::periodic ? 4 : 2);
}

// Rows of y that all of a multiprocessor's shared memory could keep, with 256 bytes of each, which is what moves well.
// Not counted on a CPU.
std::int64_t rows_on_chip(const Place<Host>&) { return INT64_MAX; }
std::int64_t rows_on_chip(const Place<Cuda>& place) {
    return bandmill::device_limits(place.device()).shared_bytes_per_multiprocessor / 256;
}

template <class Space> class Runner : public OwnRunner {
  public:
    Runner(const RunOptions& options, Place<Space> place) : options_(options), place_(std::move(place)) {
        for (Rival<Space>& rival : make_own_rivals(place_))
            if (std::find(options.rivals.begin(), options.rivals.end(), rival.name) != options.rivals.end())
                rivals_.push_back(std::move(rival));
    }
    std::string device_name() const override { return place_.name(); }
    int threads() const override { return place_.threads(); }

    std::variant<OwnRecord, OwnSkipped> run(const OwnCase& what) override {
        if (const auto reason = obstacle(what)) return OwnSkipped{what, *reason};
        if constexpr (std::is_same_v<Space, Cuda>) set_batch_tuning(what.blocks, what.chunks);
        return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
    }

  private:
    std::optional<std::string> obstacle(const SolveCase& what) const {
        const auto elements = what.elements();
        if (!elements) return "more elements than 64-bit addressing allows";
        if (std::is_same_v<Space, Cuda> && what.layout != Layout::interleaved) return "interleaved only, on a GPU";
        // While a factor is made, both it and the matrices are there.
        const double fields = 2 + 2 * what.half_bandwidth + 1 + factor_values(what);
        return beyond_memory(fields * static_cast<double>(*elements) * static_cast<double>(what.element_bytes()));
    }
    std::optional<std::string> beyond_memory(double needed) const {
        const double free =
            std::min(static_cast<double>(options_.max_bytes), 0.9 * static_cast<double>(place_.free_bytes()));
        if (needed <= free) return std::nullopt;
        return fmt::format("needs {}, and {} may be used", readable_bytes(needed), readable_bytes(free));
    }

    double ceiling_now(std::size_t field_bytes) {
        const std::size_t bytes = place_.ceiling_bytes(field_bytes);
        if (std::is_same_v<Space, Cuda> && ceiling_ > 0) return ceiling_;
        place_.prepare_ceiling(bytes);
        const Timing time = measure(
            place_, Patience{0, 2, 7}, [](int count) { return count; }, [](int, int) {},
            [this](int number) { place_.run_ceiling(number); });
        place_.end_ceiling();
        return ceiling_ = 2e-3 * static_cast<double>(bytes) / time.median;
    }

    template <class T> OwnRecord run_in(const OwnCase& what) {
        const double sigma = options_.sigma.value_or(default_sigma(what.half_bandwidth));
        const BandMatrix matrix = make_matrix(what, sigma);
        // Pivots that are not below a quarter of the range cannot be used (docs/solver.md).
        for (std::int64_t i = 0; i < what.n; ++i)
            if (!(std::abs(matrix.entry(0, i)) < std::numeric_limits<T>::max() / 4))
                throw bandmill::InvalidArgument(fmt::format("--sigma {} gives entries too large for {}: choose a "
                                                            "smaller one",
                                                            sigma, word_of(what.precision, precision_words)));
        const std::size_t unknowns = static_cast<std::size_t>(what.n * what.batch);
        const std::size_t combined_bytes = unknowns * sizeof(T) * static_cast<std::size_t>(2 * what.half_bandwidth + 3);
        const std::size_t solve_bytes = unknowns * sizeof(T) * static_cast<std::size_t>(factor_values(what) + 2);
        const double ceiling = ceiling_now(unknowns * sizeof(T));
        const auto ours = [&](auto&& contestant, std::size_t bytes) {
            return contest<T>(contestant, what, options_.placement, {options_.repetitions, 2, 7}, matrix, bytes,
                              ceiling);
        };
        const Result combined = ours(Combined<T, Space>(place_, what, matrix), combined_bytes);
        Result solve;
        std::size_t spilled_bytes = 0;
        {
            Factored<T, Space> factored(place_, what, matrix);
            solve = ours(factored, solve_bytes);
            const std::int64_t spilled_rows =
                factored.keeps_y_on_chip() ? 0 : std::max<std::int64_t>(what.n - rows_on_chip(place_), 0);
            spilled_bytes = static_cast<std::size_t>(2 * spilled_rows * what.batch) * sizeof(T);
        }
        std::vector<RivalResult> rivals;
        for (const Rival<Space>& rival : rivals_)
            rivals.push_back({rival.name, rival.layout, rival_result<T>(rival, what, matrix, combined_bytes, ceiling)});
        return {what,          sigma,          fits_cache(solve_bytes, place_.cache()),
                ceiling,       combined_bytes, solve_bytes,
                spilled_bytes, combined,       solve,
                rivals};
    }

    // As in `bench solve`: the first solve is checked, and the last one too where it must be as right.
    template <class T>
    Result contest(Contestant<T, Space>& contestant, const SolveCase& what, Placement placement,
                   const Patience& patience, const BandMatrix& matrix, std::size_t bytes, double ceiling) {
        const std::size_t footprint = 2 * static_cast<std::size_t>(*what.elements()) * sizeof(T);
        const auto room = [&] { return std::min(options_.max_bytes, place_.free_bytes() / 2); };
        Fields<T, Space> fields(place_, what, placement, turns(footprint, place_.cache(), room()));
        const auto ready = [&](int first, int count) {
            fields.refresh(first, count);
            contestant.restore();
        };
        const auto solve = [&](int number) { contestant.solve(fields.b(number), fields.x(number)); };
        ready(0, 1);
        solve(0);
        double error = fields.backward_error_of_sample(matrix);
        const Timing time = measure(
            place_, patience, [&](int count) { return fields.reserve(count, room()); }, ready, solve);
        if (!contestant.needs_restore()) error = std::max(error, fields.backward_error_of_sample(matrix));
        const double speed = 1e-3 * static_cast<double>(bytes) / time.median;
        return {contestant.path(), time, speed, speed / ceiling, error, contestant.held_bytes()};
    }

    template <class T>
    std::variant<Result, std::string> rival_result(const Rival<Space>& rival, SolveCase what, const BandMatrix& matrix,
                                                   std::size_t bytes, double ceiling) {
        if (const auto reason = rival.obstacle(what)) return *reason;
        if (what.n > rival.most_elements / what.batch)
            return fmt::format("more than {} elements, beyond which its indices may overflow", rival.most_elements);
        what.layout = rival.layout;
        try {
            const double needed = 2.0 * static_cast<double>(what.n) * static_cast<double>(what.batch) * sizeof(T) +
                                  static_cast<double>(rival.holding(what).total());
            if (const auto reason = beyond_memory(needed)) return *reason;
            const auto contestant = rival.template make<T>(what, matrix);
            return contest<T>(*contestant, what, Placement::in_place, {options_.repetitions, 1, 3}, matrix, bytes,
                              ceiling);
        } catch (const bandmill::Error& error) { // ours was measured, and is worth keeping
            return fmt::format("failed: {}", error.what());
        }
    }

    RunOptions options_;
    Place<Space> place_;
    std::vector<Rival<Space>> rivals_; // those asked for
    double ceiling_ = 0;
};

} // namespace

std::unique_ptr<OwnRunner> make_own_runner(const RunOptions& options) {
    if (options.backend == Backend::cuda) return std::make_unique<Runner<Cuda>>(options, Place<Cuda>(options.device));
    return std::make_unique<Runner<Host>>(options, Place<Host>(options.threads));
}

std::vector<OwnCase> make_own_cases(const CaseLists& lists, Backend backend) {
    std::vector<OwnCase> cases;
    for (SolveCase what : make_cases(lists, backend)) {
        if (what.matrix != MatrixKind::general) continue;
        if (lists.all_empty()) {
            if (backend == Backend::cuda && what.layout != Layout::interleaved) continue;
            what.rivals = RivalScope::all; // beside the largest batches too: there they come closest
            if (backend == Backend::cpu && what.batch >= 8192) what.batch /= 4; // several times as much data
        }
        cases.push_back({what});
    }
    return cases;
}

} // namespace app
