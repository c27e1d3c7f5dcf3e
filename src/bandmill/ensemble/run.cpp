// The loop of a run: time outside, slices inside, so that all members reach a time before any goes on.
#include "bandmill/ensemble/data.hpp"
#include "bandmill/ensemble/recording.hpp"
#include "bandmill/ensemble/schedule.hpp"
#include "bandmill/ensemble/watch.hpp"

#include <limits>
#include <utility>

namespace bandmill {

template <class T> RunResult Ensemble<T>::run(const RunPlan& plan) {
    Data& data = this->data();
    detail::Stepper<T>& stepper = *data.stepper;
    const detail::Schedule schedule(plan, data.time_step, data.slice);
    detail::Watch watch(data.spec, data.time_step, std::numeric_limits<T>::epsilon(), plan, data.lost);
    const ObservableRequest largest[] = {{Observable::largest, HistogramBins{0, detail::Watch::usual_largest, 1}}};
    std::vector<double> sizes;
    // What an exception (of the watch, of a callback) keeps from the caller is returned by the next run.
    RunResult result = std::exchange(data.unreturned, {});
    result.interrupted = false;

    // Counting is enough while all members are as they usually are; otherwise the watch wants to know of each.
    auto look_at = [&](std::int64_t first, std::int64_t count, double when) {
        EnsembleStatistic counts;
        counts.histogram.resize(1);
        stepper.observe({largest, {&counts, 1}, {}});
        if (counts.histogram[0] == count) return;
        sizes.resize(static_cast<std::size_t>(count));
        stepper.observe({largest, {&counts, 1}, sizes});
        watch.look_at(first, sizes, when);
    };

    // `steps` steps of every slice (0: only look), with the samples that are due on the way or at the end.
    auto advance_all = [&](std::int64_t steps, bool sample_end) {
        const bool sample_all = schedule.samples_every_step() && steps > 0;
        detail::Recording samples(plan.observables,
                                  sample_all   ? steps
                                  : sample_end ? 1
                                               : 0,
                                  data.spec.members, plan.keep_values);
        data.for_each_slice(
            steps > 0 ? Data::Use::write : Data::Use::read, [&](std::int64_t first, std::int64_t count) {
                auto observe = [&](const detail::SampleTarget& target) { stepper.observe(target); };
                if (sample_all)
                    samples.add_slice(first, count, [&](const auto& target) { stepper.advance(steps, &target); });
                else if (steps > 0)
                    stepper.advance(steps);
                if (sample_end) samples.add_slice(first, count, observe);
                look_at(first, count, static_cast<double>(data.step + steps) * data.time_step);
            });
        samples.move_to(result.samples, data.step + (sample_all ? 1 : steps), data.time_step);
        data.step += steps;
        if (sample_all || sample_end) data.sampled = data.step;
        watch.judge(time());
    };

    auto take_lost = [&] {
        for (LostMember& lost : watch.take_lost()) result.lost.push_back(std::move(lost));
    };
    try {
        advance_all(0, schedule.samples_at(data.step) && data.step > data.sampled);
        while (data.step < schedule.steps() && !result.interrupted) {
            const std::int64_t steps = schedule.chunk_after(data.step);
            advance_all(steps, schedule.samples_at(data.step + steps));
            if (plan.progress && !plan.progress({data.step, schedule.steps(), time()}))
                result.interrupted = data.step < schedule.steps();
        }
    } catch (...) {
        take_lost();
        data.unreturned = std::move(result);
        throw;
    }
    take_lost();
    return result;
}

template RunResult Ensemble<double>::run(const RunPlan&);
template RunResult Ensemble<float>::run(const RunPlan&);

} // namespace bandmill
