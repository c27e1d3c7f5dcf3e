// Coarsening: an ensemble of Cahn-Hilliard runs from small noise, on the GPU if there is one. Domains grow as they
// merge; l = 1 / (1 - <C^2>) measures their size.
//     coarsening [members] [end time]
#include <bandmill/bandmill.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <numbers>

int main(int argc, char** argv) {
    char *after_members = nullptr, *after_time = nullptr;
    const std::int64_t members = argc > 1 ? std::strtoll(argv[1], &after_members, 10) : 256;
    const double end_time = argc > 2 ? std::strtod(argv[2], &after_time) : 5;
    if ((argc > 1 && *after_members != '\0') || (argc > 2 && *after_time != '\0')) {
        std::fprintf(stderr, "usage: coarsening [members] [end time]\n");
        return 2;
    }
    try {
        const bandmill::EnsembleSpec spec{.equation = bandmill::CahnHilliard{.gamma = 0.01},
                                          .grid = bandmill::Grid(256, 2 * std::numbers::pi),
                                          .members = members};
        const bandmill::UniformNoise noise{.amplitude = 0.1, .seed = 1};
        auto ensemble = bandmill::cuda_devices().empty() ? bandmill::Ensemble<double>(spec, noise)
                                                         : bandmill::Ensemble<double>(spec, noise, bandmill::Device{0});

        const bandmill::RunResult result = ensemble.run({.end_time = end_time,
                                                         .times = bandmill::linear_times(0, end_time, 6),
                                                         .observables = {{bandmill::Observable::domain_size}}});
        std::printf("   time   domain size   standard error\n");
        for (const bandmill::Sample& sample : result.samples)
            std::printf("%7.3f       %7.3f          %7.3f\n", sample.time, sample.statistics[0].mean(),
                        sample.statistics[0].standard_error());
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "coarsening: no memory for %lld members\n", static_cast<long long>(members));
        return 1;
    } catch (const bandmill::Error& error) {
        std::fprintf(stderr, "coarsening: %s\n", error.what());
        return 1;
    }
}
