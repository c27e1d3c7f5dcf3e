#include "layouts.hpp"

namespace bandmill::test {

std::string name(LayoutKind kind) {
    static const char* const names[] = {"interleaved", "contiguous",  "tiled",   "narrow_tiles",
                                        "padded_rows", "padded_both", "reversed"};
    return names[static_cast<int>(kind)];
}

Layout make_layout(LayoutKind kind, std::int64_t rows, std::int64_t batch, std::int64_t guard) {
    const std::int64_t one_tile = std::max<std::int64_t>(batch, 1);
    const auto whole = [&](std::int64_t row_stride, std::int64_t batch_stride, std::int64_t size) {
        return Layout{{rows, batch, row_stride, batch_stride, one_tile, 0}, guard, size + 2 * guard};
    };
    const auto tiles = [&](std::int64_t width) {
        const std::int64_t count = (batch + width - 1) / width;
        return Layout{{rows, batch, width, 1, width, rows * width}, guard, count * rows * width + 2 * guard};
    };
    switch (kind) {
    case LayoutKind::interleaved: return whole(batch, 1, rows * batch);
    case LayoutKind::contiguous: return whole(1, rows, rows * batch);
    case LayoutKind::tiled: return tiles(32);
    case LayoutKind::narrow_tiles: return tiles(5);
    case LayoutKind::padded_rows: return whole(batch + 3, 1, rows * (batch + 3));
    case LayoutKind::padded_both: return whole(2, 2 * rows + 7, batch * (2 * rows + 7));
    case LayoutKind::reversed: break;
    }
    Layout layout = whole(-batch, -1, rows * batch);
    layout.origin += rows * batch - 1;
    return layout;
}

} // namespace bandmill::test
