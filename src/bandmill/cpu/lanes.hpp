// SIMD lanes for one instruction-set level: every lane holds one system. Only for files that are compiled once per
// level; everything lives in that level's namespace so that the linker can never mix two levels.
#pragma once

#include <cstdint>

#if defined(__AVX512F__) || defined(__FMA__)
#include <immintrin.h>
#endif

namespace bandmill::cpu::BANDMILL_LEVEL {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32;
#else
inline constexpr int vector_bytes = 16;
#endif

template <class T> struct NativeVector {
    typedef T type __attribute__((vector_size(vector_bytes)));
    typedef T unaligned __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
};
template <class T> using Native = typename NativeVector<T>::type;

#define BANDMILL_INLINE inline __attribute__((always_inline))

// a * b + c in every lane. With FMA hardware it rounds once, at every level alike; without, twice (a correctly rounded
// fma in software would be 50 times slower).
#if defined(__AVX512F__)
BANDMILL_INLINE Native<double> fused(Native<double> a, Native<double> b, Native<double> c) {
    return _mm512_fmadd_pd(a, b, c);
}
BANDMILL_INLINE Native<float> fused(Native<float> a, Native<float> b, Native<float> c) {
    return _mm512_fmadd_ps(a, b, c);
}
#elif defined(__FMA__)
BANDMILL_INLINE Native<double> fused(Native<double> a, Native<double> b, Native<double> c) {
    return _mm256_fmadd_pd(a, b, c);
}
BANDMILL_INLINE Native<float> fused(Native<float> a, Native<float> b, Native<float> c) {
    return _mm256_fmadd_ps(a, b, c);
}
#elif defined(__FP_FAST_FMA) && defined(__FP_FAST_FMAF) // other processors: the compiler turns the loop into one fma
BANDMILL_INLINE Native<double> fused(Native<double> a, Native<double> b, Native<double> c) {
    for (unsigned i = 0; i < sizeof(a) / sizeof(double); ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
}
BANDMILL_INLINE Native<float> fused(Native<float> a, Native<float> b, Native<float> c) {
    for (unsigned i = 0; i < sizeof(a) / sizeof(float); ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
    return c;
}
#else
BANDMILL_INLINE Native<double> fused(Native<double> a, Native<double> b, Native<double> c) { return a * b + c; }
BANDMILL_INLINE Native<float> fused(Native<float> a, Native<float> b, Native<float> c) { return a * b + c; }
#endif

template <class T> BANDMILL_INLINE Native<T> spread(T value) { return value - Native<T>{}; }

// `Count` vectors side by side: independent work that hides the latency of a recurrence.
template <class T, int Count> struct Pack {
    static constexpr int per_vector = vector_bytes / static_cast<int>(sizeof(T));
    static constexpr int lanes = Count * per_vector;
    Native<T> part[Count] = {};
};

template <class T, int Count> BANDMILL_INLINE void load(Pack<T, Count>& value, const T* from) {
    using Unaligned = typename NativeVector<T>::unaligned;
    for (int k = 0; k < Count; ++k)
        value.part[k] = *reinterpret_cast<const Unaligned*>(from + k * Pack<T, Count>::per_vector);
}
template <class T, int Count> BANDMILL_INLINE void store(T* to, const Pack<T, Count>& value) {
    using Unaligned = typename NativeVector<T>::unaligned;
    for (int k = 0; k < Count; ++k) *reinterpret_cast<Unaligned*>(to + k * Pack<T, Count>::per_vector) = value.part[k];
}

template <class T, int Count> BANDMILL_INLINE Pack<T, Count> multiply(T a, const Pack<T, Count>& b) {
    Pack<T, Count> result;
    for (int k = 0; k < Count; ++k) result.part[k] = spread(a) * b.part[k];
    return result;
}
template <class T, int Count>
BANDMILL_INLINE Pack<T, Count> multiply_add(T a, const Pack<T, Count>& b, const Pack<T, Count>& c) {
    Pack<T, Count> result;
    for (int k = 0; k < Count; ++k) result.part[k] = fused(spread(a), b.part[k], c.part[k]);
    return result;
}
template <class T, int Count>
BANDMILL_INLINE Pack<T, Count> multiply_add(const Pack<T, Count>& a, const Pack<T, Count>& b, const Pack<T, Count>& c) {
    Pack<T, Count> result;
    for (int k = 0; k < Count; ++k) result.part[k] = fused(a.part[k], b.part[k], c.part[k]);
    return result;
}

// The four operations between packs, and with one number for all lanes on either side.
#define BANDMILL_PACK_OPERATOR(op)                                                                                     \
    template <class T, int Count>                                                                                      \
    BANDMILL_INLINE Pack<T, Count> operator op(const Pack<T, Count>& a, const Pack<T, Count>& b) {                     \
        Pack<T, Count> result;                                                                                         \
        for (int k = 0; k < Count; ++k) result.part[k] = a.part[k] op b.part[k];                                       \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T, int Count> BANDMILL_INLINE Pack<T, Count> operator op(const Pack<T, Count>& a, T b) {           \
        Pack<T, Count> result;                                                                                         \
        for (int k = 0; k < Count; ++k) result.part[k] = a.part[k] op spread(b);                                       \
        return result;                                                                                                 \
    }                                                                                                                  \
    template <class T, int Count> BANDMILL_INLINE Pack<T, Count> operator op(T a, const Pack<T, Count>& b) {           \
        Pack<T, Count> result;                                                                                         \
        for (int k = 0; k < Count; ++k) result.part[k] = spread(a) op b.part[k];                                       \
        return result;                                                                                                 \
    }
BANDMILL_PACK_OPERATOR(+)
BANDMILL_PACK_OPERATOR(-)
BANDMILL_PACK_OPERATOR(*)
BANDMILL_PACK_OPERATOR(/)
#undef BANDMILL_PACK_OPERATOR

template <class T, int Count> BANDMILL_INLINE Pack<T, Count> divide(const Pack<T, Count>& a, const Pack<T, Count>& b) {
    return a / b;
}
template <class T, int Count> BANDMILL_INLINE Pack<T, Count> operator-(const Pack<T, Count>& a) {
    Pack<T, Count> result;
    for (int k = 0; k < Count; ++k) result.part[k] = -a.part[k];
    return result;
}

} // namespace bandmill::cpu::BANDMILL_LEVEL
