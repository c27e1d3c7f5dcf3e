// Random matrices, sizes, strides and threads against the error measure, for as long as one likes:
//     fuzz_solve --seconds 60 --seed 1
// A failure prints its own seed; `fuzz_solve --seconds 0 --seed N` repeats that one case.
#include "solving.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

namespace bandmill::test {
namespace {

// Beyond this condition a matrix may as well be called singular: an eps of f64 in its entries makes it so.
constexpr long double doubtful_condition = 1e14L;
constexpr double fuzz_allowed_error = 2 * allowed_error; // millions of cases reach further into the tails

struct Counts {
    long solved = 0, singular = 0;
    double worst[3] = {}; // by path
};

std::int64_t random_size(Random& random) {
    if (random.chance(0.5)) return random.integer(1, 9);
    return random.chance(0.7) ? random.integer(10, 70) : random.integer(71, 300);
}

Bands random_bands(Random& random, std::int64_t n, double largest_power) {
    const Boundary boundary = random.chance(0.5) ? Boundary::open : Boundary::periodic;
    const int w = random.chance(0.5) ? 1 : 2;
    if (random.chance(0.3)) {
        const auto& kinds = matrix_kinds();
        const MatrixKind kind = kinds[random.integer(0, static_cast<std::int64_t>(kinds.size()) - 1)];
        if (has_size(kind, n) && has_half_bandwidth(kind, w)) return make_bands(kind, n, w, boundary, random.bits());
    }
    Bands bands = empty_bands(n, w, boundary);
    const double zeros = random.chance(0.5) ? 0 : random.uniform(0, 0.4);
    const double power = random.chance(0.5) ? 0 : random.uniform(0, largest_power);
    const double spread = random.chance(0.7) ? 0 : random.uniform(0, 8); // of the entries within a row
    for (std::int64_t i = 0; i < n; ++i) {
        const double scale = std::pow(10.0, random.uniform(-power, power));
        for (int k = -w; k <= w; ++k) {
            if (bands.column(k, i) < 0) continue;
            const double entry = random.uniform(-1, 1) * std::pow(10.0, random.uniform(-spread, 0));
            bands.at(k, i) = random.chance(zeros) ? 0.0 : entry * scale;
        }
    }
    return bands;
}

// Any two strides without overlap: one direction inside the other, gaps and signs at random.
Layout random_layout(Random& random, std::int64_t n, std::int64_t batch) {
    if (random.chance(0.3)) return make_layout(all_layouts[random.integer(0, 6)], n, batch, random.integer(0, 9));
    const bool rows_inside = random.chance(0.5);
    const std::int64_t inner_count = rows_inside ? n : batch, outer_count = rows_inside ? batch : n;
    const std::int64_t inner = random.integer(1, 3), outer = inner * inner_count + random.integer(0, 20);
    const std::int64_t guard = random.integer(0, 9);
    Layout layout{
        {n, batch, rows_inside ? inner : outer, rows_inside ? outer : inner, std::max<std::int64_t>(batch, 1), 0},
        guard,
        outer * outer_count + 2 * guard};
    for (auto* stride : {&layout.shape.row_stride, &layout.shape.batch_stride}) {
        if (!random.chance(0.25)) continue;
        layout.origin += *stride * ((stride == &layout.shape.row_stride ? n : batch) - 1);
        *stride = -*stride;
    }
    return layout;
}

struct Outcome {
    bool good;
    std::string text;
};

template <class T> Outcome fuzz(Random& random, Counts& counts) {
    const Bands bands = random_bands(random, random_size(random), sizeof(T) == 8 ? 30 : 8);
    const std::int64_t batch = random.chance(0.5) ? random.integer(1, 4) : random.integer(5, 70);
    const RightHandSides<T> rhs(bands, random.bits());
    const Layout in = random_layout(random, bands.n, batch), other = random_layout(random, bands.n, batch);
    const bool in_place = random.chance(0.5);
    const Layout& out = in_place ? in : other;
    const Threads threads{static_cast<int>(random.integer(0, 3))};
    const long double condition = Oracle(bands).condition();
    std::ostringstream text;
    text << name_of<T>() << ", n " << bands.n << ", W " << bands.half_bandwidth
         << (bands.boundary == Boundary::open ? ", open" : ", periodic") << ", batch " << batch
         << (in_place ? ", in place" : ", out of place") << ", condition " << condition << ": ";
    try {
        const auto factor = make_factor<T>(as_matrix(bands));
        std::vector<T> b(in.size, poison<T>());
        for_each_element(in.shape, [&](auto row, auto m) { b[in.index(row, m)] = rhs(row, m); });
        std::vector<T> x = in_place ? b : std::vector<T>(out.size, poison<T>());
        in_place ? solve_in_place(factor, x, in, threads) : solve_out_of_place(factor, b, in, x, out, threads);
        std::vector<T> solution(bands.n * batch);
        for_each_element(out.shape, [&](auto row, auto m) {
            solution[m * bands.n + row] = std::exchange(x[out.index(row, m)], poison<T>());
        });
        const auto padding_changed = std::count_if(x.begin(), x.end(), [](T e) { return !same_bits(e, poison<T>()); });
        const double error = backward_error(bands, solution, rhs);
        text << name(factor.report().path) << ", error " << error << ", padding changed " << padding_changed;
        double& worst = counts.worst[static_cast<int>(factor.report().path)];
        worst = std::max(worst, error);
        ++counts.solved;
        return {error <= fuzz_allowed_error && padding_changed == 0, text.str()};
    } catch (const SingularMatrix& error) {
        text << error.what();
        ++counts.singular;
        return {condition > doubtful_condition, text.str()};
    } catch (const std::exception& error) {
        text << "threw: " << error.what();
        return {false, text.str()};
    }
}

int run(std::uint64_t seed, double seconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    Counts counts;
    do {
        Random random(seed);
        const Outcome outcome = random.chance(0.6) ? fuzz<double>(random, counts) : fuzz<float>(random, counts);
        if (!outcome.good || seconds == 0) std::printf("%s\n", outcome.text.c_str());
        if (!outcome.good) {
            std::printf("FAILED: repeat with --seconds 0 --seed %llu\n", static_cast<unsigned long long>(seed));
            return 1;
        }
        ++seed;
    } while (std::chrono::steady_clock::now() < end);
    std::printf("%ld solved, %ld singular; largest errors of %g eps allowed:", counts.solved, counts.singular,
                fuzz_allowed_error);
    for (SolvePath path : {SolvePath::partitioned, SolvePath::sequential, SolvePath::pivoted})
        std::printf(" %s %.2f", name(path), counts.worst[static_cast<int>(path)]);
    std::puts("");
    return 0;
}

} // namespace
} // namespace bandmill::test

int main(int argc, char** argv) {
    std::uint64_t seed = 1;
    double seconds = 10;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 < argc && std::strcmp(argv[i], "--seed") == 0)
            seed = std::strtoull(argv[i + 1], nullptr, 10);
        else if (i + 1 < argc && std::strcmp(argv[i], "--seconds") == 0)
            seconds = std::atof(argv[i + 1]);
        else {
            std::fprintf(stderr, "usage: %s [--seconds S] [--seed N]\n", argv[0]);
            return 2;
        }
    }
    if (bandmill::test::on_cuda && bandmill::cuda_devices().empty()) {
        std::puts("SKIPPED: no CUDA device");
        return 77;
    }
    return bandmill::test::run(seed, seconds);
}
