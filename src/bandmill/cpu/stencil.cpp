// Stencils and advection on the CPU: planes become three loops, whose runs are shared out over threads.
#include "bandmill/base/threads.hpp"
#include "bandmill/cpu/level.hpp"
#include "bandmill/cpu/stencil_lanes.hpp"
#include "bandmill/cpu/tuning.hpp"
#include "bandmill/stencil/advect.hpp"
#include "bandmill/stencil/apply.hpp"
#include "bandmill/stencil/apply_function.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace bandmill {
namespace {

using cpu::Neighbour;
using cpu::StencilJob;

template <class T> cpu::StencilRange<T> range_for(cpu::Level level) {
    const auto choose = [](auto f64, auto f32) {
        if constexpr (std::is_same_v<T, double>)
            return f64;
        else
            return f32;
    };
    switch (level) {
#if defined(__x86_64__)
    case cpu::Level::v4: return choose(cpu::v4::stencil_range_f64, cpu::v4::stencil_range_f32);
    case cpu::Level::v3: return choose(cpu::v3::stencil_range_f64, cpu::v3::stencil_range_f32);
    default: return choose(cpu::v2::stencil_range_f64, cpu::v2::stencil_range_f32);
#else
    default: return choose(cpu::generic::stencil_range_f64, cpu::generic::stencil_range_f32);
#endif
    }
}

// Strides in the order x, y, plane. Those of one element say nothing, and may be any number.
using Strides = std::array<std::int64_t, 3>;
Strides strides(const PlaneShape& shape) {
    return {shape.columns > 1 ? shape.column_stride : 0, shape.rows > 1 ? shape.row_stride : 0,
            shape.batch > 1 ? shape.batch_stride : 0};
}

// Which of x, y and plane becomes the inner, middle and outer loop: vectors need neighbours in memory.
struct Order {
    std::array<int, cpu::axes> from; // loop -> x, y or plane
    int loop_of(int axis) const { return static_cast<int>(std::find(from.begin(), from.end(), axis) - from.begin()); }
};
std::int64_t vector_bytes(cpu::Level level) { return level == cpu::Level::v4 ? 64 : level == cpu::Level::v3 ? 32 : 16; }

template <class T>
Order choose_order(const PlaneShape& in, const PlaneShape& out, const Reach& reach, const PlaneEdges& edges,
                   bool gathers_much) {
    const std::int64_t counts[] = {out.columns, out.rows, out.batch};
    const Order orders[] = {{{0, 1, 2}}, {{1, 0, 2}}, {{2, 0, 1}}};
    // Lines that do not fill a vector go point by point, and so do their ends, where there are any: lines across them
    // are then faster, although their points have to be gathered. With AVX-512 and a cross of five on planes with ends
    // f64 takes 6.2 and 4.8 ns a point on 15 columns, 4.1 and 4.7 on 24, f32 3.5 and 2.7 on 24, 2.6 and 2.6 on 32; with
    // ends left alone f64 takes 5.7 and 3.7 on 8, 1.2 and 3.9 on 10. To gather many costs more: 5 x 5 points with ends
    // take 22.9 and 22.2 in f64 on 12 columns, 19.7 and 22.6 on 15, in f32 13.0 and 12.4 on 20, 8.5 and 12.4 on 31.
    const std::int64_t lanes = vector_bytes(cpu::level()) / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t full = gathers_much ? 3 * lanes / 2 + 1 : 2 * lanes;
    const auto enough = [&](std::int64_t around, const Edges& rule) {
        return around == 0 || rule.kind() == Edges::Kind::leave ? lanes + around : full;
    };
    const std::int64_t wanted[] = {enough(reach.left + reach.right, edges.x), enough(reach.up + reach.down, edges.y),
                                   lanes};
    const Order* longest = &orders[0];
    for (const Order& order : orders) {
        const auto axis = static_cast<std::size_t>(order.from[0]);
        if (counts[axis] >= wanted[axis] && strides(in)[axis] == 1 && strides(out)[axis] == 1) return order;
        if (counts[axis] > counts[longest->from[0]]) longest = &order;
    }
    return counts[0] >= wanted[0] ? orders[0] : *longest;
}

template <class T>
StencilJob<T> make_job(const PlaneView<const T, Host>& in, const PlaneView<T, Host>& out, const PlaneEdges& edges,
                       const Order& order, const Reach& reach, Into into) {
    StencilJob<T> job{};
    job.in = in.data();
    job.out = out.data();
    job.add = into == Into::add;
    job.x_axis = order.loop_of(0);
    job.y_axis = order.loop_of(1);
    const Strides from = strides(in.shape()), to = strides(out.shape());
    const std::int64_t counts[] = {out.columns(), out.rows(), out.batch()};
    const std::int64_t before[] = {reach.left, reach.up, 0}, after[] = {reach.right, reach.down, 0};
    const detail::EdgeRule<T> rules[] = {detail::EdgeRule<T>(edges.x), detail::EdgeRule<T>(edges.y), {}};
    for (int loop = 0; loop < cpu::axes; ++loop) {
        const auto axis = static_cast<std::size_t>(order.from[static_cast<std::size_t>(loop)]);
        job.axis[loop] = {counts[axis], from[axis], to[axis], before[axis], after[axis], rules[axis]};
    }
    const auto element = static_cast<std::int64_t>(sizeof(T));
    const auto span = [&](int loop) { return 1 + job.axis[loop].before + job.axis[loop].after; };
    const std::int64_t lines = span(cpu::middle) * span(cpu::outer);
    // Points that are gathered take a line of the cache each.
    const std::int64_t stride = std::clamp<std::int64_t>(job.axis[cpu::inner].in_stride, -64, 64);
    const std::int64_t taken = std::clamp<std::int64_t>(std::abs(stride) * element, element, 64);
    job.panel = std::clamp<std::int64_t>(cpu::stencil_panel_bytes / taken / (lines + 1), 1024, 1 << 15);
    const std::int64_t row_bytes = job.axis[cpu::inner].count * element;
    job.stream =
        out.rows() * out.columns() * element >= cpu::stencil_stream_bytes / std::max<std::int64_t>(out.batch(), 1) &&
        row_bytes >= cpu::stencil_stream_row_bytes;
    return job;
}

// Neighbours in the order in which they are read, and the lines that they lie on.
template <class T> struct Neighbours {
    const Order& order;
    std::vector<cpu::Line> lines{};
    std::vector<Neighbour> all{};

    void add(StencilJob<T>& job, std::int64_t dy, std::int64_t dx) {
        cpu::Line line{};
        line.step[order.loop_of(0)] = dx;
        line.step[order.loop_of(1)] = dy;
        const std::int64_t along = std::exchange(line.step[cpu::inner], 0);
        for (int a = 0; a < cpu::axes; ++a) line.offset += line.step[a] * job.axis[a].in_stride;
        const auto same = [&](const cpu::Line& other) {
            return std::equal(line.step, line.step + cpu::axes, other.step);
        };
        const auto found = std::find_if(lines.begin(), lines.end(), same);
        all.push_back({static_cast<int>(found - lines.begin()), along});
        if (found == lines.end()) lines.push_back(line);
    }
    void hand_to(StencilJob<T>& job) const {
        job.lines = lines.data();
        job.line_count = static_cast<int>(lines.size());
        job.neighbours = all.data();
        job.neighbour_count = static_cast<int>(all.size());
    }
};

// Whether rows of results may be taken together (see stencil_blocks.hpp).
template <class T> bool may_take_blocks(const StencilJob<T>& job, const Stencil& stencil) {
    const std::int64_t rows = stencil.rows();
    if (rows != 3 && rows != 5 && rows != 7) return false;
    const cpu::StencilAxis<T>&along = job.axis[cpu::inner], &across = job.axis[cpu::middle];
    if (job.x_axis != cpu::inner || job.y_axis != cpu::middle || along.in_stride != 1 || along.out_stride != 1)
        return false;
    const bool alike = across.out_stride * static_cast<std::int64_t>(sizeof(T)) % 64 == 0; // at lines of the cache
    return !job.add && (alike || !job.stream);
}

template <class T> void run(const StencilJob<T>& job, Threads threads) {
    int count = detail::thread_count(threads);
    const cpu::StencilRange<T> range = range_for<T>(cpu::level());
    const std::int64_t runs = job.runs();
    // Waking threads costs more than so many points.
    if (job.axis[0].count * job.axis[1].count * job.axis[2].count < 16384) count = 1;
    const auto shares = static_cast<int>(std::min<std::int64_t>(count, runs));
    const std::int64_t lines = job.line_count, taps = job.neighbour_count + 2, room = (lines + 2) * job.edge_width();
    std::vector<cpu::LineState<T>> all_lines(static_cast<std::size_t>(lines * shares));
    std::vector<cpu::Tap<T>> all_taps(static_cast<std::size_t>(taps * shares));
    std::vector<T> edges(static_cast<std::size_t>(room * shares));
    detail::for_each_share(shares, shares, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t share = begin; share < end; ++share) {
            const std::int64_t size = runs / shares, rest = runs % shares;
            const std::int64_t first = share * size + std::min(share, rest);
            range(job, first, first + size + (share < rest ? 1 : 0),
                  {all_lines.data() + share * lines, all_taps.data() + share * taps, edges.data() + share * room});
        }
    });
}

} // namespace

template <class T>
void apply(const Stencil& stencil, std::type_identity_t<PlaneView<const T, Host>> in, PlaneView<T, Host> out,
           const PlaneEdges& edges, Into into, Threads threads) {
    detail::check_apply<T>(in, out, edges);
    (void)detail::thread_count(threads);
    const auto points = detail::weighted_points<T>(stencil);
    if (out.batch() == 0) return;
    const Reach reach{stencil.left(), stencil.right(), stencil.up(), stencil.down()};
    const Order order = choose_order<T>(in.shape(), out.shape(), reach, edges, points.size() > 5);
    StencilJob<T> job = make_job<T>(in, out, edges, order, reach, into);
    Neighbours<T> neighbours{order};
    std::vector<T> weights;
    for (const detail::Weighted<T>& point : points) {
        neighbours.add(job, point.dy, point.dx);
        weights.push_back(point.weight);
    }
    neighbours.hand_to(job);
    weights.push_back(0); // never null, even if all weights are zero
    job.weights = weights.data();
    std::vector<T> patch;
    if (may_take_blocks(job, stencil)) {
        for (std::int64_t dy = -stencil.up(); dy <= stencil.down(); ++dy)
            for (std::int64_t dx = -stencil.left(); dx <= stencil.right(); ++dx)
                patch.push_back(static_cast<T>(stencil.weight(dy, dx)));
        job.patch = patch.data();
        job.patch_rows = static_cast<int>(stencil.rows());
        job.patch_columns = static_cast<int>(stencil.columns());
        job.dense = std::find(patch.begin(), patch.end(), T(0)) == patch.end();
    }
    run(job, threads);
}

template <class T>
void advect(const std::type_identity_t<Velocity<T, Host>>& velocity, const Spacing& spacing,
            std::type_identity_t<PlaneView<const T, Host>> in, PlaneView<T, Host> out, const PlaneEdges& edges,
            Into into, Threads threads) {
    detail::check_advect<T>(velocity, spacing, in, out, edges);
    (void)detail::thread_count(threads);
    if (out.batch() == 0) return;
    const std::int64_t reach = detail::upwind_reach;
    const std::int64_t along_x = velocity.x ? reach : 0, along_y = velocity.y ? reach : 0;
    const Reach around{along_x, along_x, along_y, along_y};
    const Order order = choose_order<T>(in.shape(), out.shape(), around, edges, false);
    StencilJob<T> job = make_job<T>(in, out, edges, order, around, into);
    Neighbours<T> neighbours{order};
    const auto add = [&](int along, const std::optional<PlaneView<const T, Host>>& speed, double distance) {
        if (!speed) return;
        for (std::int64_t d = -reach; d <= reach; ++d) neighbours.add(job, along == 0 ? 0 : d, along == 0 ? d : 0);
        job.velocity[along].data = speed->data();
        for (std::size_t loop = 0; loop < cpu::axes; ++loop)
            job.velocity[along].stride[loop] = strides(speed->shape())[static_cast<std::size_t>(order.from[loop])];
        job.derivative[along] = typename StencilJob<T>::Derivative(distance);
        job.to_derivative[along] = job.derivative[along].to_derivative();
    };
    job.stream = false; // arithmetic takes longer than memory
    add(0, velocity.x, spacing.x);
    add(1, velocity.y, spacing.y);
    neighbours.hand_to(job);
    run(job, threads);
}

void detail::for_each_share_of(std::int64_t count, Threads threads,
                               const std::function<void(std::int64_t, std::int64_t)>& body) {
    std::exception_ptr thrown;
    std::mutex guard;
    for_each_share(count, thread_count(threads), [&](std::int64_t begin, std::int64_t end) {
        try {
            body(begin, end);
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!thrown) thrown = std::current_exception();
        }
    });
    if (thrown) std::rethrow_exception(thrown);
}

#define BANDMILL_INSTANTIATE(T)                                                                                        \
    template void apply<T>(const Stencil&, PlaneView<const T, Host>, PlaneView<T, Host>, const PlaneEdges&, Into,      \
                           Threads);                                                                                   \
    template void advect<T>(const Velocity<T, Host>&, const Spacing&, PlaneView<const T, Host>, PlaneView<T, Host>,    \
                            const PlaneEdges&, Into, Threads)
BANDMILL_INSTANTIATE(double);
BANDMILL_INSTANTIATE(float);
#undef BANDMILL_INSTANTIATE

} // namespace bandmill
