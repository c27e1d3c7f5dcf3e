#include "solve_runner.hpp"

#include "contestant.hpp"
#include "environment.hpp"
#include "place_cuda.hpp"
#include "place_host.hpp"
#include "residual.hpp"

#include <limits>

#include <fmt/format.h>

namespace app {
namespace {

using bandmill::Array;
using bandmill::BandMatrix;
using bandmill::Cuda;
using bandmill::FieldView;
using bandmill::Host;

// Two warm-up turns (pages, caches, clocks, lazily loaded kernels), then the repetitions.
template <class Space, class Before, class Work>
Timing measure(const Place<Space>& place, int repetitions, Before&& before, Work&& work) {
    const std::vector<double> warm_up = place.times_us(2, before, work);
    const double once = std::max(1.0, std::min(warm_up[0], warm_up[1]));
    if (repetitions == 0) repetitions = std::clamp(static_cast<int>(std::min(2e5 / once, 1e6)), 7, 200);
    return summarize(place.times_us(repetitions, before, work));
}

// The arrays of one case; repetitions take turns in them. Every b holds the same data, so every x must too.
template <class T, class Space> class Fields {
  public:
    Fields(const Place<Space>& place, const SolveCase& what, Placement placement, int turn_count)
        : place_(place), what_(what), placement_(placement), block_(random_block<T>()) {
        const std::int64_t size = *what.elements();
        const bool needs_b = placement == Placement::out_of_place || place.fields_in_place == 2;
        for (int i = 0; i < turn_count; ++i) {
            x_.push_back(place.template allocate<T>(size));
            if (!needs_b) continue;
            b_.push_back(place.template allocate<T>(size));
            place.template fill<T>(b_.back(), block_);
        }
    }

    // An element that is never written must not pass for a solution.
    void forget_solution() {
        const std::vector<T> nothing(4096, std::numeric_limits<T>::quiet_NaN());
        for (auto& x : x_) place_.template fill<T>(x, nothing);
    }

    void refresh(int repetition) {
        const std::size_t i = turn(repetition);
        if (placement_ == Placement::in_place) place_.template refresh<T>(x_[i], b_.empty() ? nullptr : &b_[i], block_);
    }
    FieldView<T, Space> x(int repetition) { return make_view<Space>(what_, x_[turn(repetition)].data()); }
    FieldView<const T, Space> b(int repetition) {
        if (placement_ == Placement::in_place) return x(repetition);
        return make_view<Space>(what_, std::as_const(b_[turn(repetition)]).data());
    }

    double backward_error_of_sample(const BandMatrix& matrix) {
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
    std::size_t turn(int repetition) const { return static_cast<std::size_t>(repetition) % x_.size(); }

    const Place<Space>& place_;
    const SolveCase& what_;
    Placement placement_;
    std::vector<T> block_;
    std::vector<Array<T, Space>> b_, x_;
};

template <class Space> class Runner : public SolveRunner {
  public:
    Runner(const RunOptions& options, Place<Space> place) : options_(options), place_(std::move(place)) {}

    std::string device_name() const override { return place_.name(); }
    int threads() const override { return place_.threads(); }
    const std::vector<Ceiling>& ceilings() const override { return ceilings_; }

    const Ceiling& ceiling(std::size_t field_bytes) override {
        const std::size_t bytes = place_.ceiling_bytes(field_bytes);
        for (const Ceiling& known : ceilings_)
            if (known.array_bytes == bytes) return known;
        place_.prepare_ceiling(bytes);
        const Timing time = measure(
            place_, 0, [](int) {}, [this](int repetition) { place_.run_ceiling(repetition); });
        place_.end_ceiling();
        ceilings_.push_back({place_.ceiling_operation(), bytes, fits_cache(bytes, place_.cache()), time,
                             2e-3 * static_cast<double>(bytes) / time.median});
        return ceilings_.back();
    }

    std::optional<std::string> obstacle(const SolveCase& what) const override {
        const auto elements = what.elements();
        if (!elements) return "more elements than 64-bit addressing allows";
        const double needed =
            static_cast<double>(arrays()) * static_cast<double>(*elements) * static_cast<double>(what.element_bytes());
        if (needed > static_cast<double>(options_.max_bytes))
            return fmt::format("needs {}, over --max-bytes", readable_bytes(needed));
        const double free = static_cast<double>(place_.free_bytes());
        // Some room is left for the factor, for other programs, and on the CPU for the system.
        if (needed > 0.9 * free)
            return fmt::format("needs {}, and {} are free", readable_bytes(needed), readable_bytes(free));
        // The host factors in long double with tables of its own: less than 1 KiB per row.
        const double tables = 1024.0 * static_cast<double>(what.n);
        if (tables > static_cast<double>(available_memory()) - (std::is_same_v<Space, Host> ? needed : 0))
            return fmt::format("factoring may need {} of host memory", readable_bytes(tables));
        return std::nullopt;
    }

    std::variant<Record, Skipped> run(const SolveCase& what) override {
        if (const auto reason = obstacle(what)) return Skipped{what, *reason};
        return what.precision == Precision::f64 ? run_in<double>(what) : run_in<float>(what);
    }

  private:
    int arrays() const { return options_.placement == Placement::in_place ? place_.fields_in_place : 2; }

    template <class T> Record run_in(const SolveCase& what) {
        const double sigma = options_.sigma.value_or(default_sigma(what.half_bandwidth));
        const BandMatrix matrix = make_matrix(what, sigma);
        const std::size_t field_bytes = static_cast<std::size_t>(*what.elements()) * sizeof(T);
        const std::size_t footprint = field_bytes * static_cast<std::size_t>(arrays());
        Record record{what,
                      options_.placement,
                      sigma,
                      2 * sizeof(T) * static_cast<std::size_t>(what.n) * static_cast<std::size_t>(what.batch),
                      field_bytes,
                      fits_cache(footprint, place_.cache()),
                      ceiling(field_bytes).gbytes_per_s,
                      {}};
        const std::size_t room = std::min(options_.max_bytes, place_.free_bytes() / 2);
        Fields<T, Space> fields(place_, what, options_.placement, turns(footprint, place_.cache(), room));
        for (const auto& contestant : contestants<T, Space>(place_, what, matrix)) {
            fields.forget_solution();
            const Timing time = measure(
                place_, options_.repetitions, [&](int repetition) { fields.refresh(repetition); },
                [&](int repetition) { contestant->solve(fields.b(repetition), fields.x(repetition)); });
            const double speed = 1e-3 * static_cast<double>(record.bytes) / time.median;
            record.results.push_back({contestant->name(), contestant->path(), time, speed,
                                      speed / record.ceiling_gbytes_per_s, fields.backward_error_of_sample(matrix),
                                      contestant->held_bytes()});
        }
        return record;
    }

    RunOptions options_;
    Place<Space> place_;
    std::vector<Ceiling> ceilings_;
};

} // namespace

std::unique_ptr<SolveRunner> make_runner(const RunOptions& options) {
    if (options.backend == Backend::cuda) return std::make_unique<Runner<Cuda>>(options, Place<Cuda>(options.device));
    return std::make_unique<Runner<Host>>(options, Place<Host>(options.threads));
}

} // namespace app
