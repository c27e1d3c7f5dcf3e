#include "bandmill/stencil/plane.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace bandmill::detail {
namespace {

using Wide = __int128; // products of two 64-bit sizes

// Steps of `stride` from `low` times to `high` times.
struct Axis {
    Wide stride, low, high;
};

struct Extent {
    Wide low = 0, high = 0;
};

struct Direction {
    std::int64_t count, stride;
};
struct Directions {
    Direction all[3];
};
Directions directions(const PlaneShape& shape) {
    return {{{shape.rows, shape.row_stride}, {shape.columns, shape.column_stride}, {shape.batch, shape.batch_stride}}};
}

Extent extent(const PlaneShape& shape) {
    Extent reach;
    for (const auto& [count, stride] : directions(shape).all) {
        const Wide last = Wide(count - 1) * stride;
        (last < 0 ? reach.low : reach.high) += last;
    }
    return reach;
}

std::string describe(const PlaneShape& shape) {
    return std::to_string(shape.rows) + " rows (stride " + std::to_string(shape.row_stride) + ") by " +
           std::to_string(shape.columns) + " columns (stride " + std::to_string(shape.column_stride) + ") by " +
           std::to_string(shape.batch) + " planes (stride " + std::to_string(shape.batch_stride) + ")";
}

void add_axis(std::vector<Axis>& axes, Wide stride, Wide low, Wide high) {
    if (stride < 0) {
        stride = -stride;
        std::swap(low, high);
        low = -low, high = -high;
    }
    for (Axis& axis : axes)
        if (axis.stride == stride) {
            axis.low += low, axis.high += high;
            return;
        }
    axes.push_back({stride, low, high});
}

Wide greatest_divisor(Wide a, Wide b) {
    while (b != 0) a = std::exchange(b, a % b);
    return a;
}

Wide divide_down(Wide a, Wide b) { return a / b - (a % b != 0 && a < 0 ? 1 : 0); }

// Whether some steps along the axes add up to `target` (other than none at all, if `moved` has to become true).
// Longest strides first: strides that are nested, as they usually are, leave two or three choices each. Whoever needs
// more than `patience` choices is taken to meet.
class Meeting {
  public:
    explicit Meeting(std::vector<Axis> axes) : axes_(std::move(axes)), rest_(axes_.size() + 1) {
        std::sort(axes_.begin(), axes_.end(), [](const Axis& a, const Axis& b) { return a.stride > b.stride; });
        for (std::size_t k = axes_.size(); k-- > 0;)
            rest_[k] = {rest_[k + 1].low + axes_[k].low * axes_[k].stride,
                        rest_[k + 1].high + axes_[k].high * axes_[k].stride};
    }
    bool possible(Wide target, bool moved, std::size_t k = 0) {
        if (--patience_ < 0) return true;
        if (k == axes_.size()) return target == 0 && moved;
        const auto& [stride, low, high] = axes_[k];
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
    std::vector<Axis> axes_;
    std::vector<Extent> rest_; // what the axes from k on reach
    int patience_ = 1 << 16;
};

void check_writable(const PlaneShape& shape) {
    std::vector<Axis> axes;
    for (const auto& [count, stride] : directions(shape).all) {
        if (count == 1) continue;
        const bool twice = std::any_of(
            axes.begin(), axes.end(), [s = Wide(stride)](const Axis& axis) { return axis.stride == (s < 0 ? -s : s); });
        if (stride == 0 || twice) {
            axes.assign(1, {0, 0, 1});
            break;
        }
        add_axis(axes, stride, 1 - Wide(count), Wide(count) - 1);
    }
    if (Meeting(axes).possible(0, false))
        throw InvalidArgument("the output view of " + describe(shape) +
                              " puts several elements at one address (its strides overlap): results would overwrite "
                              "each other; check the strides");
}

bool meet(const PlaneShape& from, const void* from_data, const PlaneShape& to, const void* to_data, Wide size) {
    const Extent read = extent(from), write = extent(to);
    const Wide distance =
        Wide(reinterpret_cast<std::uintptr_t>(to_data)) - Wide(reinterpret_cast<std::uintptr_t>(from_data));
    if (distance + write.low * size >= read.high * size + size) return false;
    if (distance + write.high * size + size <= read.low * size) return false;
    if (distance % size != 0) return true; // elements may overlap by halves
    std::vector<Axis> axes;
    for (const auto& [count, stride] : directions(from).all)
        if (count > 1) add_axis(axes, stride, 0, count - 1);
    for (const auto& [count, stride] : directions(to).all)
        if (count > 1) add_axis(axes, -Wide(stride), 0, count - 1);
    Wide common = 0;
    for (const Axis& axis : axes) common = greatest_divisor(common, axis.stride);
    if (common > 1 && distance / size % common != 0) return false; // fields side by side, as in [point][field]
    return Meeting(axes).possible(distance / size, true);
}

void require_count(const char* what, const char* name, std::int64_t found, std::int64_t expected) {
    if (found != expected)
        throw InvalidArgument(std::string("the ") + name + " has " + std::to_string(found) + " " + what +
                              " and the output " + std::to_string(expected) + ": pass views of one size");
}

} // namespace

void check_plane(const PlaneShape& shape, const void* data, std::size_t alignment) {
    if (shape.rows < 1 || shape.columns < 1)
        throw InvalidArgument("a plane cannot have " + std::to_string(shape.rows) + " rows and " +
                              std::to_string(shape.columns) + " columns (each has at least one): check the sizes");
    if (shape.batch < 0)
        throw InvalidArgument("a view cannot have " + std::to_string(shape.batch) +
                              " planes (a batch holds zero or more): check the batch size");
    if (shape.batch == 0) return;
    if (data == nullptr)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) +
                              " is null: allocate the memory before making the view");
    if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
        throw InvalidArgument("the data pointer of a view of " + describe(shape) + " is not a multiple of " +
                              std::to_string(alignment) +
                              " bytes (elements must be aligned): check how it was computed");
    const Extent reach = extent(shape);
    constexpr Wide limit = Wide(INT64_MAX) / 16; // byte offsets of any element type must fit as well
    if (reach.low < -limit || reach.high > limit || Wide(shape.rows) * shape.columns > limit / shape.batch)
        throw InvalidArgument("a view of " + describe(shape) +
                              " reaches beyond 64-bit addressing: check sizes and strides");
}

void check_plane_room(std::int64_t elements, std::int64_t rows, std::int64_t columns, std::int64_t batch) {
    if (rows > 0 && columns > 0 && batch > 0 && Wide(rows) * columns > Wide(elements) / batch)
        throw InvalidArgument("an array of " + std::to_string(elements) + " elements has no room for " +
                              std::to_string(batch) + " planes of " + std::to_string(rows) + " rows by " +
                              std::to_string(columns) + " columns: allocate rows * columns * batch elements");
}

void check_planes(std::initializer_list<PlaneInput> inputs, const PlaneShape& out, const void* out_data,
                  std::size_t element_bytes) {
    for (const PlaneInput& input : inputs) {
        require_count("rows", input.name, input.shape.rows, out.rows);
        require_count("columns", input.name, input.shape.columns, out.columns);
        require_count("planes", input.name, input.shape.batch, out.batch);
    }
    if (out.batch == 0) return;
    check_writable(out);
    for (const PlaneInput& input : inputs)
        if (meet(input.shape, input.data, out, out_data, Wide(element_bytes)))
            throw InvalidArgument(std::string("the ") + input.name + " (" + describe(input.shape) +
                                  ") and the output (" + describe(out) +
                                  ") overlap in memory (neighbours would be read after they were overwritten): write "
                                  "to separate memory");
}

FieldPieces field_pieces(std::initializer_list<FieldShape> shapes) {
    const FieldShape& out = *(shapes.end() - 1);
    const std::int64_t batch = out.batch;
    std::int64_t tile = std::max<std::int64_t>(batch, 1);
    for (const FieldShape& shape : shapes) {
        if (shape.rows != out.rows || shape.batch != batch)
            throw InvalidArgument("an input has " + std::to_string(shape.rows) + " rows by " +
                                  std::to_string(shape.batch) + " systems and the output " + std::to_string(out.rows) +
                                  " by " + std::to_string(batch) + ": pass views of one size");
        if (shape.tile >= batch || shape.tile == tile) continue;
        if (tile < batch)
            throw InvalidArgument("one view has tiles of " + std::to_string(tile) + " systems and another of " +
                                  std::to_string(shape.tile) + ": pass views with tiles of one width");
        tile = shape.tile;
    }
    FieldPieces pieces;
    auto append = [&](std::int64_t first, std::int64_t rows, std::int64_t tiles) {
        FieldPieces::Piece& piece = pieces.piece[pieces.count++];
        int view = 0;
        for (const FieldShape& shape : shapes) {
            const bool tiled = shape.tile < batch;
            piece.shape[view] = {rows,
                                 shape.rows,
                                 tiles,
                                 shape.batch_stride,
                                 shape.row_stride,
                                 tiles > 1 ? (tiled ? shape.tile_stride : tile * shape.batch_stride) : 0};
            piece.offset[view++] = tiled ? first / tile * shape.tile_stride : first * shape.batch_stride;
        }
    };
    if (batch / tile > 0) append(0, tile, batch / tile);
    if (batch % tile > 0) append(batch - batch % tile, batch % tile, 1);
    return pieces;
}

} // namespace bandmill::detail
