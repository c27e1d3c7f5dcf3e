// Systems that stand anywhere, brought side by side: rows of them are copied to a strip and back.
#pragma once

#include "bandmill/base/field.hpp"
#include "bandmill/cpu/lanes.hpp"
#include "bandmill/cpu/strip_sweep.hpp"

namespace bandmill::cpu::BANDMILL_LEVEL {

BANDMILL_INLINE std::int64_t system_offset(const FieldShape& shape, std::int64_t m) {
    return m % shape.tile * shape.batch_stride + m / shape.tile * shape.tile_stride;
}

// Element j of the result is element index[j] of a and b, one after the other. The index is a constant.
template <class T> using Index = decltype(Native<T>{} < Native<T>{});
#if defined(__clang__)
template <class T> BANDMILL_INLINE Native<T> shuffle(Native<T> a, Native<T> b, Index<T> index) {
    constexpr int size = Pack<T, 1>::lanes;
    Native<T> result;
    for (int j = 0; j < size; ++j) result[j] = index[j] < size ? a[index[j]] : b[index[j] - size];
    return result;
}
#else
template <class T> BANDMILL_INLINE Native<T> shuffle(Native<T> a, Native<T> b, Index<T> index) {
    return __builtin_shuffle(a, b, index);
}
#endif

// Transposes a square of elements: in blocks of 2 x 2, then blocks of 2 x 2 such blocks, and so on.
template <class T, int Step = 1> BANDMILL_INLINE void transpose(Native<T>* square) {
    constexpr int size = Pack<T, 1>::lanes;
    if constexpr (Step < size) {
        Index<T> low = {}, high = {};
        for (int j = 0; j < size; ++j) {
            low[j] = j & Step ? size + j - Step : j;
            high[j] = j & Step ? size + j : j + Step;
        }
        for (int i = 0; i < size; ++i)
            if (!(i & Step)) {
                const Native<T> a = square[i], b = square[i + Step];
                square[i] = shuffle<T>(a, b, low);
                square[i + Step] = shuffle<T>(a, b, high);
            }
        transpose<T, 2 * Step>(square);
    }
}

// Up to `Lanes` systems of a view. Lanes beyond `count` read the last of them again, and write nothing.
template <class T, int Lanes> class Stage {
    using Unaligned = typename NativeVector<T>::unaligned;
    static constexpr int side = Pack<T, 1>::lanes;
    static constexpr int line = 64 / static_cast<int>(sizeof(T)) > side ? 64 / static_cast<int>(sizeof(T)) : side;
    static_assert(Lanes % side == 0);

  public:
    Stage(const FieldShape& shape, std::int64_t first, int count) : stride_(shape.row_stride), count_(count) {
        for (int lane = 0; lane < Lanes; ++lane)
            offset_[lane] = system_offset(shape, first + (lane < count ? lane : count - 1));
        // Systems after these, if there are as many and not in another tile.
        const bool more = first % shape.tile + 2 * Lanes <= shape.tile && first + 2 * Lanes <= shape.batch;
        const bool small = shape.rows <= staged_ahead_bytes / static_cast<int>(sizeof(T)) / Lanes;
        next_ = more && small ? Lanes * shape.batch_stride : 0;
    }

    // Rows first .. last - 1, to lines that are `Lanes` wide and aligned.
    void copy_in(const T* data, std::int64_t first, std::int64_t last, Lines<T> lines) const {
        std::int64_t i = first;
        if (stride_ == 1)
            for (; i + line <= last; i += line) {
                for (int lane = 0; next_ != 0 && lane < Lanes; ++lane)
                    __builtin_prefetch(data + offset_[lane] + next_ + i);
                for (int group = 0; group < Lanes; group += side)
                    for (std::int64_t k = i; k < i + line; k += side) {
                        Native<T> square[side];
                        for (int lane = 0; lane < side; ++lane)
                            square[lane] = *reinterpret_cast<const Unaligned*>(data + offset_[group + lane] + k);
                        transpose<T>(square);
                        for (int r = 0; r < side; ++r)
                            *reinterpret_cast<Unaligned*>(lines.row(k + r) + group) = square[r];
                    }
            }
        for (; i < last; ++i)
            for (int lane = 0; lane < Lanes; ++lane) lines.row(i)[lane] = data[offset_[lane] + i * stride_];
    }

    void copy_out(Lines<const T> lines, std::int64_t first, std::int64_t last, T* data) const {
        std::int64_t i = first;
        if (stride_ == 1)
            for (; i + line <= last; i += line)
                for (int group = 0; group < count_; group += side)
                    for (std::int64_t k = i; k < i + line; k += side) {
                        Native<T> square[side];
                        for (int r = 0; r < side; ++r)
                            square[r] = *reinterpret_cast<const Unaligned*>(lines.row(k + r) + group);
                        transpose<T>(square);
                        for (int lane = 0; lane < side && group + lane < count_; ++lane)
                            *reinterpret_cast<Unaligned*>(data + offset_[group + lane] + k) = square[lane];
                    }
        for (; i < last; ++i)
            for (int lane = 0; lane < count_; ++lane) data[offset_[lane] + i * stride_] = lines.row(i)[lane];
    }

  private:
    std::int64_t stride_;
    std::int64_t next_; // how far on the next systems stand; 0: not to be asked for
    int count_;
    std::int64_t offset_[Lanes];
};

} // namespace bandmill::cpu::BANDMILL_LEVEL
