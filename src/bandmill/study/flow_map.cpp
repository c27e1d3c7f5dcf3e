#include "bandmill/study/flow_map.hpp"

#include "bandmill/base/text.hpp"
#include "bandmill/base/threads.hpp"
#include "bandmill/ensemble/schedule.hpp"
#include "bandmill/study/flow_map_numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <tuple>
#include <utility>

namespace bandmill {

using namespace detail::flow_map;

namespace {

std::vector<std::int64_t> sorted(std::vector<std::int64_t> steps) {
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

// Where C^3 - C = potential, C >= 1.
double phase_at(double potential) {
    double c = 1 + std::cbrt(potential);
    for (int newton = 0; newton < 20; ++newton) c -= (c * c * c - c - potential) / (3 * c * c - 1);
    return c;
}

std::string short_text(double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", value);
    return digits;
}

} // namespace

template <class T>
FlowMap<T>::FlowMap(const FlowMapSpec& spec, Where where)
    : spec_(spec), panel_parameters_(spec.panel_parameters()), where_(where) {
    detail::check(spec);
    steps_ = detail::steps_to_reach(spec.until, spec.step_length());
    if (steps_ > (std::int64_t{1} << 50))
        throw InvalidArgument("the time step is too short for the time " + detail::text(spec.until) +
                              ": more than 2^50 steps");
    members_per_round_ = spec.cells() * std::max(1, spec.refine);
    kept_x_ = FlowMapSpec::kept_along(spec.width(), spec.keep_width);
    kept_y_ = FlowMapSpec::kept_along(spec.height(), spec.keep_height);
    for (std::int64_t k = 0; k < spec.cells(); ++k) expected_.push_back(expected_halvings(cell(k)));
    const std::int64_t kept = spec.panels() * static_cast<std::int64_t>(kept_x_.size() * kept_y_.size());
    numbers_.resize(static_cast<std::size_t>(1 + spec.cells() * (fields + spec.refine) + kept * spec.grid.points()));
    known_ = numbers_;
    begin(0);
}

template <class T> typename FlowMap<T>::Cell FlowMap<T>::cell(std::int64_t number) const {
    std::array<double, flow_parameters> own{};
    const auto set = [&](FlowParameter parameter, std::int64_t at) {
        own[static_cast<std::size_t>(parameter)] = spec_.of(parameter)[static_cast<std::size_t>(at)];
    };
    set(spec_.x, number % spec_.width());
    set(spec_.y, number / spec_.width() % spec_.height());
    std::int64_t panel = number / (spec_.width() * spec_.height());
    for (auto parameter = panel_parameters_.rbegin(); parameter != panel_parameters_.rend(); ++parameter) {
        const auto count = static_cast<std::int64_t>(spec_.of(*parameter).size());
        set(*parameter, panel % count);
        panel /= count;
    }
    return {own[0], own[1], {.gamma = own[4], .wavenumber = own[3], .speed = own[2]}};
}

// The forcing moves the chemical potential by up to f0 / k, from that of the mean, or from 0 between two phases. What
// lies beyond this shows in round 0.
template <class T> int FlowMap<T>::expected_halvings(const Cell& cell) const {
    const double mean = std::abs(cell.mean), wavenumber = std::abs(cell.equation.wavenumber);
    const double potential =
        std::max(0.0, mean * mean * mean - mean) + (wavenumber > 0 ? std::abs(cell.forcing) / wavenumber : 0);
    const double largest = 1.05 * std::max({1.0, phase_at(potential), mean + spec_.amplitude});
    const double limit = cell.equation.stable_step(spec_.grid, largest);
    int halvings = 0;
    while (halvings < most_halvings && std::ldexp(spec_.step_length(), -halvings) > limit) ++halvings;
    return halvings;
}

template <class T> std::int64_t& FlowMap<T>::number(std::int64_t cell, int field) {
    return numbers_[static_cast<std::size_t>(1 + cell * fields + field)];
}
template <class T> std::int64_t FlowMap<T>::known(std::int64_t cell, int field) const {
    return known_[static_cast<std::size_t>(1 + cell * fields + field)];
}
template <class T> int FlowMap<T>::halvings(std::int64_t cell, int round) const {
    const auto before =
        static_cast<std::uint64_t>(known(cell, rounds)) & ((std::uint64_t{2} << std::min(round, most_halvings)) - 1);
    return expected_[static_cast<std::size_t>(cell)] + std::popcount(before);
}

// Sorted so that those with the same matrix, equation and noise stand together.
template <class T> std::vector<typename FlowMap<T>::Run> FlowMap<T>::runs_of(int round) const {
    std::vector<Run> runs;
    for (std::int64_t k = 0; k < spec_.cells(); ++k) {
        if (round > 0 && (known(k, rounds) >> round & 1) == 0) continue;
        if (round < refine_round)
            runs.push_back({k, spec_.seed, halvings(k, round)});
        else
            for (int other = 1; other <= spec_.refine; ++other)
                runs.push_back({k, spec_.seed + static_cast<std::uint64_t>(other), halvings(k, round)});
    }
    const auto key = [&](const Run& run) {
        const ForcedCahnHilliard equation = cell(run.cell).equation;
        return std::tuple(equation.gamma, equation.speed, equation.wavenumber, run.halvings, run.seed, run.cell);
    };
    std::sort(runs.begin(), runs.end(), [&](const Run& a, const Run& b) { return key(a) < key(b); });
    return runs;
}

template <class T> std::string FlowMap<T>::round_words() const {
    if (round_ == 0) return {};
    return std::to_string(runs_.size()) + (round_ == refine_round ? " runs at borders" : " cells by shorter steps");
}

template <class T> void FlowMap<T>::begin(int round) {
    round_ = round;
    repeated = refined = 0;
    for (std::int64_t k = 0; k < spec_.cells(); ++k) {
        repeated += halvings(k, most_halvings) - expected_[static_cast<std::size_t>(k)];
        refined += (known(k, rounds) >> refine_round & 1) * spec_.refine;
    }
    runs_ = runs_of(round < all_done ? round : 0);
    borders_ = {0};
    const auto same = [&](const Run& a, const Run& b) {
        const ForcedCahnHilliard one = cell(a.cell).equation, other = cell(b.cell).equation;
        return one.gamma == other.gamma && one.speed == other.speed && one.wavenumber == other.wavenumber &&
               a.halvings == b.halvings && a.seed == b.seed;
    };
    for (std::size_t at = 1; at <= runs_.size(); ++at)
        if (at == runs_.size() || !same(runs_[at - 1], runs_[at])) borders_.push_back(static_cast<std::int64_t>(at));
    status_ = round_words();
    if (round < all_done) work_ += member_steps(groups());
}

template <class T> std::vector<MemberGroup> FlowMap<T>::groups() const {
    std::vector<MemberGroup> groups;
    for (std::size_t at = 1; at < borders_.size(); ++at)
        groups.push_back({first_member(round_) + borders_[at - 1], borders_[at] - borders_[at - 1],
                          steps_ << runs_[static_cast<std::size_t>(borders_[at - 1])].halvings});
    return groups;
}

template <class T> const typename FlowMap<T>::Run& FlowMap<T>::run_of(std::int64_t member) const {
    return runs_[static_cast<std::size_t>(member - first_member(round_))];
}

template <class T> EnsembleSpec FlowMap<T>::spec(std::int64_t first, std::int64_t count) const {
    const Run& run = run_of(first);
    EnsembleSpec spec{.equation = cell(run.cell).equation,
                      .grid = spec_.grid,
                      .members = count,
                      .time_step = std::ldexp(spec_.step_length(), -run.halvings),
                      .parameters = {{}},
                      .first_member = first};
    for (std::int64_t k = 0; k < count; ++k) spec.parameters[0].push_back(cell(run_of(first + k).cell).forcing);
    return spec;
}

// The same noise in every panel: they differ by their parameters alone.
template <class T> InitialState FlowMap<T>::initial(std::int64_t first, std::int64_t count) const {
    UniformNoise noise{.amplitude = spec_.amplitude, .mean = {}, .exact_mean = true, .seed = run_of(first).seed};
    for (std::int64_t k = 0; k < count; ++k) {
        const std::int64_t own = run_of(first + k).cell;
        noise.mean.push_back(cell(own).mean);
        noise.numbers.push_back(own % (spec_.width() * spec_.height()));
    }
    return noise;
}

template <class T> std::vector<std::int64_t> FlowMap<T>::watch_steps(std::int64_t steps) const {
    std::vector<std::int64_t> looks;
    for (std::int64_t i = 1; i <= watch_samples; ++i)
        looks.push_back(static_cast<std::int64_t>(static_cast<double>(steps) * static_cast<double>(i) / watch_samples));
    looks.back() = steps;
    return sorted(std::move(looks));
}

template <class T> std::vector<std::int64_t> FlowMap<T>::window_steps(std::int64_t steps) const {
    const double window = static_cast<double>(steps) * std::min(1.0, spec_.window_length() / time());
    std::vector<std::int64_t> samples;
    for (std::int64_t i = 0; i < window_samples; ++i)
        samples.push_back(steps - static_cast<std::int64_t>(window * static_cast<double>(i) / window_samples));
    return sorted(std::move(samples));
}

template <class T> void FlowMap<T>::add(const RunResult& result, Ensemble<T>& piece) {
    const std::int64_t steps = steps_ << run_of(piece.spec().first_member).halvings;
    const std::vector<std::int64_t> looks = watch_steps(steps), window = window_steps(steps);
    const auto& equation = std::get<ForcedCahnHilliard>(piece.spec().equation);
    const auto place = [](const std::vector<std::int64_t>& list, std::int64_t step) {
        const auto at = std::lower_bound(list.begin(), list.end(), step);
        return at != list.end() && *at == step ? at - list.begin() : -1;
    };
    for (const Sample& sample : result.samples) {
        const auto look = place(looks, sample.step), part = place(window, sample.step);
        const bool first_half = part < std::ssize(window) / 2;
        for (std::int64_t k = 0; k < piece.spec().members; ++k) {
            const Run& run = run_of(piece.spec().first_member + k);
            const double largest = sample.values[0][static_cast<std::size_t>(k)];
            const double rate = sample.values[1][static_cast<std::size_t>(k)] / rate_unit(equation);
            if (round_ == refine_round) { // its cell has been watched before
                if (part >= 0) refined_square(run) += fixed_square(rate);
                continue;
            }
            if (look >= 0 && !(piece.time_step() <= equation.stable_step(spec_.grid, largest)))
                number(run.cell, too_long) += std::int64_t{1} << look;
            if (part >= 0) number(run.cell, first_half ? early : late) += fixed_square(rate);
        }
    }
    if (!result.samples.empty())
        status_ = round_words() + (round_ == 0 ? "" : ", ") + "t = " + short_text(result.samples.back().time);
}

template <class T> std::int64_t& FlowMap<T>::refined_square(const Run& run) {
    const std::size_t all = static_cast<std::size_t>(spec_.cells() * spec_.refine);
    return numbers_[numbers_.size() - all + static_cast<std::size_t>(run.cell * spec_.refine) +
                    static_cast<std::size_t>(run.seed - spec_.seed - 1)];
}

// Where the final state of a cell is kept in numbers_; none: -1.
template <class T> std::int64_t FlowMap<T>::kept_place(std::int64_t cell) const {
    const auto along = [](const std::vector<std::int64_t>& kept, std::int64_t index) {
        const auto at = std::lower_bound(kept.begin(), kept.end(), index);
        return at != kept.end() && *at == index ? at - kept.begin() : -1;
    };
    const auto x = along(kept_x_, cell % spec_.width()), y = along(kept_y_, cell / spec_.width() % spec_.height());
    if (x < 0 || y < 0) return -1;
    const std::int64_t panel = cell / (spec_.width() * spec_.height());
    const std::int64_t kept = (panel * std::ssize(kept_y_) + y) * std::ssize(kept_x_) + x;
    return 1 + spec_.cells() * fields + kept * spec_.grid.points();
}

template <class T> void FlowMap<T>::finish(Ensemble<T>& piece) {
    const std::int64_t first = piece.spec().first_member, count = piece.spec().members, points = spec_.grid.points();
    const auto& equation = std::get<ForcedCahnHilliard>(piece.spec().equation);
    const ForcedWave wave(spec_.grid, equation.wavenumber);
    const ObservableRequest requests[] = {{Observable::interfaces}, {Observable::free_energy}, {Observable::mean}};
    const Sample sample = piece.sample(requests, true);
    std::vector<T> states = piece.states();
    const std::int64_t samples = std::ssize(window_steps(steps_ << run_of(first).halvings));
    detail::for_each_share(count, threads(), [&](std::int64_t from, std::int64_t to) {
        for (std::int64_t k = from; k < to; ++k) {
            const Run& run = run_of(first + k);
            const std::span<const T> state(states.data() + k * points, static_cast<std::size_t>(points));
            FlowFeatures seen;
            wave.measure(state, seen);
            if (round_ == refine_round) {
                // What an earlier process has added stands in rank 0's part; the others know of it.
                const std::int64_t before =
                    is_root_ ? 0 : known_[static_cast<std::size_t>(&refined_square(run) - numbers_.data())];
                seen.rate = rate_unit(equation) * root_mean(static_cast<double>(refined_square(run) + before), samples);
                seen.early_rate = seen.late_rate = seen.rate;
                set_motion(seen, equation);
                const FlowClass kind = judge(seen, rule_).kind;
                if (kind != FlowClass::none)
                    number(run.cell, outcomes) += std::int64_t{1} << 16 * static_cast<int>(kind);
                continue;
            }
            const auto value = [&](int which) {
                return sample.values[static_cast<std::size_t>(which)][static_cast<std::size_t>(k)];
            };
            number(run.cell, gradient) = as_number(seen.gradient);
            number(run.cell, forced_share) = as_number(seen.forced_share);
            number(run.cell, lowest) = as_number(seen.lowest);
            number(run.cell, highest) = as_number(seen.highest);
            number(run.cell, interfaces) = as_number(value(0));
            number(run.cell, free_energy) = as_number(value(1));
            number(run.cell, mean_drift) = as_number(value(2) - cell(run.cell).mean);
            if (const std::int64_t place = kept_place(run.cell); place >= 0)
                for (std::int64_t i = 0; i < points; ++i)
                    numbers_[static_cast<std::size_t>(place + i)] =
                        as_number(static_cast<double>(state[static_cast<std::size_t>(i)]));
        }
    });
    if (round_ < refine_round && spec_.kmeans_restarts > 0) finished_.push_back({first, count, std::move(states)});
}

template <class T> bool FlowMap<T>::run(Ensemble<T>& piece, const typename Study<T>::GoOn& go_on) {
    const std::int64_t steps = steps_ << run_of(piece.spec().first_member).halvings;
    std::vector<std::int64_t> samples = watch_steps(steps);
    const std::vector<std::int64_t> window = window_steps(steps);
    samples.insert(samples.end(), window.begin(), window.end());
    samples = sorted(std::move(samples));
    bool wanted = true;
    while (piece.step() < steps && wanted) {
        RunPlan plan{.end_time = static_cast<double>(steps) * piece.time_step(),
                     .observables = {{Observable::largest}, {Observable::rate}},
                     .keep_values = true,
                     .warn = [](const std::string&) {}}; // what is above the limit is run again
        for (const std::int64_t step : samples)
            if (step > piece.step()) plan.times.push_back(static_cast<double>(step) * piece.time_step());
        const RunResult result = this->run_for_a_while(piece, std::move(plan), go_on, wanted);
        add(result, piece);
    }
    if (piece.step() < steps) return false;
    finish(piece);
    return true;
}

template <class T> int FlowMap<T>::threads() const {
    return detail::thread_count(std::holds_alternative<Threads>(where_) ? std::get<Threads>(where_) : Threads{});
}

// Every rank gets to know all that was found; it is rank 0 alone that adds it to what comes.
template <class T> void FlowMap<T>::share_numbers(Communicator& ranks) {
    is_root_ = ranks.is_root();
    if (ranks.size() == 1) {
        known_ = numbers_;
        return;
    }
    const auto bytes = std::as_bytes(std::span(numbers_));
    const std::string all = ranks.broadcast(
        ranks.is_root() ? std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()) : std::string());
    std::memcpy(known_.data(), all.data(), all.size());
    if (!ranks.is_root()) std::fill(numbers_.begin(), numbers_.end(), 0);
}

template <class T> void FlowMap<T>::find_round(Communicator& ranks) {
    share_numbers(ranks);
    if (known_[0] >= refine_round) rule_ = find_rule(all_features());
    work_ = 0;
    begin(static_cast<int>(known_[0]));
}

// To be run again.
template <class T> void FlowMap<T>::forget(std::int64_t cell) {
    for (int field = rounds + 1; field < fields; ++field) number(cell, field) = 0;
    if (const std::int64_t place = kept_place(cell); place >= 0)
        std::fill_n(numbers_.begin() + place, spec_.grid.points(), 0);
}

template <class T> bool FlowMap<T>::next_round(Communicator& ranks) {
    share_numbers(ranks);
    const auto enter = [&](int round, const std::vector<std::int64_t>& cells) {
        for (const std::int64_t k : cells) {
            known_[static_cast<std::size_t>(1 + k * fields + rounds)] |= std::int64_t{1} << round;
            if (!ranks.is_root()) continue;
            if (round < refine_round) forget(k);
            number(k, rounds) = known(k, rounds);
        }
        if (ranks.is_root()) numbers_[0] = round;
        begin(round);
    };
    if (round_ < refine_round) {
        std::vector<std::int64_t> again;
        for (std::int64_t k = 0; k < spec_.cells() && round_ < most_halvings; ++k)
            if (known(k, too_long) != 0 && halvings(k, round_) < most_halvings) again.push_back(k);
        if (!again.empty()) {
            enter(round_ + 1, again);
            return true;
        }
        const std::vector<FlowFeatures> all = all_features();
        rule_ = find_rule(all);
        const std::vector<FlowClass> kinds = classes(all);
        for (std::int64_t k = 0; k < spec_.cells() && ranks.is_root(); ++k)
            if (kinds[static_cast<std::size_t>(k)] == FlowClass::none)
                this->lost.push_back({k, time(), {cell(k).forcing}});
        if (spec_.kmeans_restarts > 0) sort_states(kinds, ranks);
        finished_.clear();
        if (spec_.refine > 0) {
            const std::int64_t panel = spec_.width() * spec_.height();
            std::vector<std::int64_t> border;
            for (std::int64_t first = 0; first < spec_.cells(); first += panel) {
                const auto marks = border_cells(
                    std::span(kinds).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(panel)),
                    spec_.width());
                for (std::int64_t k = 0; k < panel; ++k)
                    if (marks[static_cast<std::size_t>(k)]) border.push_back(first + k);
            }
            if (!border.empty()) {
                enter(refine_round, border);
                return true;
            }
        }
    }
    round_ = all_done;
    if (ranks.is_root()) numbers_[0] = known_[0] = all_done;
    return false;
}

template <class T> bool FlowMap<T>::expects_round() const { return round_ < refine_round; }

template <class T> std::vector<const FinishedPiece<T>*> FlowMap<T>::finished() const {
    std::vector<const FinishedPiece<T>*> all;
    for (const FinishedPiece<T>& piece : finished_) all.push_back(&piece);
    return all;
}

// Without what flow_map_found.cpp defines.
template class FlowMap<double>;
template class FlowMap<float>;

} // namespace bandmill
