#include "bandmill/base/overlap.hpp"

#include <algorithm>
#include <utility>

namespace bandmill::detail {
namespace {

// Steps of `stride` from `low` times to `high` times.
struct Axis {
    Wide stride, low, high;
};

// Every solve asks, so nothing is allocated.
struct Axes {
    std::array<Axis, 7> all = {}; // three of either lattice, and bytes
    std::size_t count = 0;

    // Axes of one stride are one.
    void add(Wide stride, Wide low, Wide high) {
        if (stride < 0) {
            stride = -stride;
            std::swap(low, high);
            low = -low, high = -high;
        }
        for (std::size_t k = 0; k < count; ++k)
            if (all[k].stride == stride) {
                all[k].low += low, all[k].high += high;
                return;
            }
        all[count++] = {stride, low, high};
    }
};

Wide greatest_divisor(Wide a, Wide b) {
    if (b < 0) b = -b;
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

Wide divide_down(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

// Whether some steps along the axes add up to `target` (other than none at all, if `moved` has to become true).
// Longest strides first: strides that are nested, as they usually are, leave two or three choices each. Whoever needs
// more than `patience` choices is taken to meet.
class Meeting {
  public:
    explicit Meeting(const Axes& axes) : axes_(axes) {
        std::sort(axes_.all.begin(), axes_.all.begin() + static_cast<std::ptrdiff_t>(axes_.count),
                  [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
        for (std::size_t k = axes_.count; k-- > 0;)
            rest_[k] = {rest_[k + 1].low + axes_.all[k].low * axes_.all[k].stride,
                        rest_[k + 1].high + axes_.all[k].high * axes_.all[k].stride};
    }
    bool possible(Wide target, bool moved, std::size_t k = 0) {
        if (--patience_ < 0) return true;
        if (k == axes_.count) return target == 0 && moved;
        const auto& [stride, low, high] = axes_.all[k];
        const Extent& rest = rest_[k + 1];
        if (stride == 0)
            return target >= rest.low && target <= rest.high && possible(target, moved || low < high, k + 1);
        const Wide first = std::max(low, -divide_down(rest.high - target, stride)),
                   last = std::min(high, divide_down(target - rest.low, stride));
        for (Wide steps = first; steps <= last; ++steps)
            if (possible(target - steps * stride, moved || steps != 0, k + 1)) return true;
        return false;
    }

  private:
    Axes axes_;
    std::array<Extent, 8> rest_ = {}; // what the axes from k on reach
    int patience_ = 1 << 16;
};

} // namespace

Extent extent(const Lattice& lattice) {
    Extent reach{lattice.first, lattice.first};
    for (const auto& [count, stride] : lattice.directions) {
        const Wide last = Wide(count - 1) * stride;
        (last < 0 ? reach.low : reach.high) += last;
    }
    return reach;
}

bool repeats(const Lattice& lattice) {
    Axes axes;
    for (const auto& [count, stride] : lattice.directions) {
        if (count == 1) continue;
        const std::size_t before = axes.count;
        axes.add(stride, 1 - Wide(count), Wide(count) - 1);
        if (stride == 0 || axes.count == before) return true; // nothing moves, or two directions that move alike
    }
    if (axes.count == 2) { // the exact answer: i * a.stride == j * b.stride for some 0 < i <= a.high, 0 < j <= b.high?
        const Axis &a = axes.all[0], &b = axes.all[1];
        const Wide common = greatest_divisor(a.stride, b.stride);
        return b.stride / common <= a.high && a.stride / common <= b.high;
    }
    return Meeting(axes).possible(0, false);
}

bool meet(const Elements& one, const Elements& other) {
    const Extent a = extent(one.lattice), b = extent(other.lattice);
    const Wide size = Wide(one.bytes), other_size = Wide(other.bytes);
    const Wide distance =
        Wide(reinterpret_cast<std::uintptr_t>(other.data)) - Wide(reinterpret_cast<std::uintptr_t>(one.data));
    if (distance + b.low * other_size >= (a.high + 1) * size) return false;
    if (distance + (b.high + 1) * other_size <= a.low * size) return false;
    // In elements if they can only coincide; else in bytes, of which either element has a few.
    const bool in_elements = size == other_size && distance % size == 0;
    const Wide unit = in_elements ? size : 1, step = size / unit, other_step = other_size / unit;
    Axes axes;
    for (const auto& [count, stride] : one.lattice.directions)
        if (count > 1) axes.add(stride * step, 0, count - 1);
    for (const auto& [count, stride] : other.lattice.directions)
        if (count > 1) axes.add(-Wide(stride) * other_step, 0, count - 1);
    if (!in_elements) axes.add(1, 1 - other_size, size - 1);
    const Wide target = distance / unit + other.lattice.first * other_step - one.lattice.first * step;
    Wide common = 0;
    for (std::size_t k = 0; k < axes.count; ++k) common = greatest_divisor(common, axes.all[k].stride);
    if (common > 1 && target % common != 0) return false; // fields side by side, as in [point][field]
    return Meeting(axes).possible(target, true);
}

} // namespace bandmill::detail
