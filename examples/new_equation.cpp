// An equation of your own in the ensemble engine: Swift-Hohenberg, whose file swift_hohenberg.hpp is given to CMake,
//     -DBANDMILL_MORE_EQUATIONS_FILE=examples/swift_hohenberg.hpp -DBANDMILL_MORE_EQUATIONS=SwiftHohenberg
// Below r = 0 nothing happens; above it stripes grow. Small ones of wave number k grow by exp(s t), s = r - (1 -
// k^2)^2. They end, for small r, as sqrt(4 r / 3) cos(x), whose mean square is 2 r / 3.
//     new_equation [--gpu]
#include <bandmill/bandmill.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string_view>
#include <vector>

namespace {

constexpr double pi = std::numbers::pi;
const bandmill::Grid grid(512, 16 * 2 * pi); // room for 16 stripes

bandmill::Ensemble<double> ensemble_of(const std::vector<double>& r, const bandmill::InitialState& initial, bool gpu) {
    const bandmill::EnsembleSpec spec{.equation = bandmill::SwiftHohenberg{},
                                      .grid = grid,
                                      .members = static_cast<std::int64_t>(r.size()),
                                      .time_step = 0.05,
                                      .parameters = {r}};
    if (gpu) return {spec, initial, bandmill::Device{0}};
    return {spec, initial};
}

// One member for each r, from a weak wave: how fast it grows, and where it ends.
bool check_onset(bool gpu) {
    const std::vector<double> r = {-0.05, 0.05, 0.1, 0.15, 0.2};
    auto ensemble = ensemble_of(r, bandmill::Cosine{.amplitude = 1e-4, .wavenumber = 1}, gpu);
    const auto result = ensemble.run({.end_time = 500,
                                      .times = {0, 20, 500},
                                      .observables = {{bandmill::Observable::mean_square}},
                                      .keep_values = true});
    bool right = true;
    std::printf("    r   growth rate   mean square at the end   2 r / 3\n");
    for (std::size_t m = 0; m < r.size(); ++m) {
        const auto at = [&](int sample) { return result.samples[sample].values[0][m]; };
        const double growth = std::log(at(1) / at(0)) / 2 / 20, expected = r[m] > 0 ? 2 * r[m] / 3 : 0;
        std::printf("%5.2f       %7.4f                  %7.4f   %7.4f\n", r[m], growth, at(2), expected);
        right = right && std::abs(growth - r[m]) < 0.002 && std::abs(at(2) - expected) < 0.002;
    }
    return right;
}

// Many members of one r, from noise: how wide their stripes are. Every stripe has two changes of sign.
bool check_width(bool gpu) {
    auto ensemble = ensemble_of(std::vector<double>(256, 0.2), bandmill::UniformNoise{.amplitude = 0.01}, gpu);
    const auto result =
        ensemble.run({.end_time = 200, .times = {200}, .observables = {{bandmill::Observable::interfaces}}});
    const bandmill::EnsembleStatistic& interfaces = result.samples[0].statistics[0];
    const double width = 2 * grid.length() / interfaces.mean();
    std::printf("stripes from noise are %.3f +- %.3f wide (2 pi = %.3f)\n", width,
                width * interfaces.standard_error() / interfaces.mean(), 2 * pi);
    return std::abs(width - 2 * pi) < 0.1;
}

} // namespace

int main(int argc, char** argv) try {
    const bool gpu = argc == 2 && std::string_view(argv[1]) == "--gpu";
    if (argc > 1 && !gpu) {
        std::fprintf(stderr, "usage: new_equation [--gpu]\n");
        return 2;
    }
    const bool onset = check_onset(gpu), width = check_width(gpu);
    return onset && width ? 0 : 1;
} catch (const bandmill::Error& error) {
    std::fprintf(stderr, "new_equation: %s\n", error.what());
    return 1;
}
