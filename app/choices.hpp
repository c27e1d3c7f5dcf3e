// What every benchmark lets its user choose.
#pragma once

#include "text.hpp"

namespace app {

enum class Backend { automatic, cpu, cuda };
enum class Precision { f64, f32 };

inline constexpr Word<Backend> backend_words[] = {
    {"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}};
inline constexpr Word<Precision> precision_words[] = {{"f64", Precision::f64}, {"f32", Precision::f32}};

} // namespace app
