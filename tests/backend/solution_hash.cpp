// Prints a hash of solutions computed at one instruction-set level, for comparison between levels:
//     solution_hash v3            prints the hash; ends with 77 if this CPU lacks the level
//     solution_hash --refuses v9  ends with 0 if the library refuses that level by InvalidArgument
#include "backend_under_test.hpp"
#include "matrices.hpp"
#include "random.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bandmill::test {
namespace {

constexpr int lacks_level = 77; // what CTest is told to count as skipped

bool cpu_has(const std::string& level) {
#if defined(__x86_64__)
    const bool v2 = __builtin_cpu_supports("sse4.2");
    const bool v3 = v2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return level == "v2" ? v2 : level == "v3" ? v3 : level == "v4" && v4;
#else
    return false;
#endif
}

template <class T> std::uint64_t hash_solutions() {
    std::uint64_t hash = 0;
    for (std::int64_t n : {1, 2, 5, 16, 31, 64, 257, 1000})
        for (const MatrixKind& kind : matrix_kinds())
            for (int w = 1; w <= 2; ++w)
                for (Boundary boundary : {Boundary::open, Boundary::periodic}) {
                    if (!has_size(kind, n) || !has_half_bandwidth(kind, w)) continue;
                    const auto factor = make_factor<T>(as_matrix(make_bands(kind, n, w, boundary, 3)));
                    for (LayoutKind kind_of_layout : {LayoutKind::interleaved, LayoutKind::contiguous}) {
                        const Layout layout = make_layout(kind_of_layout, n, 37, 3);
                        std::vector<T> x(layout.size, T{0});
                        for_each_element(layout.shape, [&](auto row, auto m) {
                            x[layout.index(row, m)] = static_cast<T>(Random(row * 1000 + m).uniform(-1, 1));
                        });
                        solve_in_place(factor, x, layout);
                        for (T value : x) hash = mix(hash ^ std::bit_cast<std::uint64_t>(static_cast<double>(value)));
                    }
                }
    return hash;
}

bool is_refused() {
    try {
        hash_solutions<double>();
    } catch (const InvalidArgument& error) {
        std::printf("refused: %s\n", error.what());
        return std::strstr(error.what(), std::getenv("BANDMILL_ISA")) != nullptr;
    }
    return false;
}

int run(int argc, char** argv) {
    const bool refuses = argc == 3 && std::strcmp(argv[1], "--refuses") == 0;
    if (argc != 2 && !refuses) {
        std::fprintf(stderr, "usage: %s [--refuses] v2|v3|v4\n", argv[0]);
        return 2;
    }
    const char* level = argv[argc - 1];
    setenv("BANDMILL_ISA", level, 1); // the library reads it at its first solve
    if (refuses || !cpu_has(level)) {
        if (!is_refused()) {
            std::fprintf(stderr, "level %s was not refused with a text that names it\n", level);
            return 1;
        }
        return refuses ? 0 : lacks_level;
    }
    std::printf("%016llx %016llx\n", static_cast<unsigned long long>(hash_solutions<double>()),
                static_cast<unsigned long long>(hash_solutions<float>()));
    return 0;
}

} // namespace
} // namespace bandmill::test

int main(int argc, char** argv) { return bandmill::test::run(argc, argv); }
