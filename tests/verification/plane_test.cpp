// Planes: the scheme of docs/planes.md, step by step, against formulas of its modes; its orders; what it keeps.
#include "verifying.hpp"

#include "../base/expect_error.hpp"

#include <cmath>
#include <utility>

namespace bandmill::test {
namespace {

using Planes = VerificationTest;
using PlanesAtLength = FullSizeTest;

struct Plane {
    std::int64_t nx, ny;
    double lx = 2 * pi, ly = 2 * pi;

    Grid x() const { return Grid(nx, lx); }
    Grid y() const { return Grid(ny, ly); }
    std::int64_t points() const { return nx * ny; }
    // Squares of the wavenumbers of a mode as the grid sees them.
    std::pair<double, double> squares(int wx, int wy) const {
        const auto square = [](const Grid& grid, int waves) {
            return std::pow(2 / grid.spacing() * std::sin(pi * waves / static_cast<double>(grid.points())), 2);
        };
        return {square(x(), wx), square(y(), wy)};
    }
    double shape(int wx, int wy, std::int64_t i, std::int64_t j) const { // has no symmetry that could hide a mistake
        return std::cos(2 * pi * (wx * i / static_cast<double>(nx) + wy * j / static_cast<double>(ny)) + 0.3);
    }
    std::vector<double> mode(int wx, int wy, double mean = 0, double amplitude = 1) const {
        std::vector<double> values;
        for (std::int64_t j = 0; j < ny; ++j)
            for (std::int64_t i = 0; i < nx; ++i) values.push_back(mean + amplitude * shape(wx, wy, i, j));
        return values;
    }
};

EnsembleSpec spec_of(const Equation& equation, const Plane& plane, double time_step, std::int64_t members = 1) {
    EnsembleSpec spec{.equation = equation, .grid = plane.x(), .members = members, .time_step = time_step};
    spec.grid_y = plane.y();
    return spec;
}
std::vector<Equation> plane_equations() { return {Diffusion{0.5}, Hyperdiffusion{0.05}, CahnHilliard{}}; }

// What a step multiplies a mode by.
double amplification(const Equation& equation, double p, double q, double dt, double mean = 0) {
    if (const auto* diffusion = std::get_if<Diffusion>(&equation)) {
        const double a = dt * diffusion->diffusivity * p / 2, b = dt * diffusion->diffusivity * q / 2;
        return (1 - a) * (1 - b) / ((1 + a) * (1 + b));
    }
    if (const auto* hyper = std::get_if<Hyperdiffusion>(&equation)) {
        const double t = dt * hyper->diffusivity, full = t * (p + q) * (p + q);
        const double factors = (1 + t * p * p / 2) * (1 + t * q * q / 2);
        return 1 - full / factors * (2 - (1 + full / 2) / factors);
    }
    const double gamma = std::get<CahnHilliard>(equation).gamma;
    const double rate = (3 * mean * mean - 1) * (p + q) + gamma * (p + q) * (p + q);
    return 1 - dt * rate / ((1 + dt * gamma * p * p) * (1 + dt * gamma * q * q));
}
double decay_rate(const Equation& equation, double k2) {
    if (const auto* hyper = std::get_if<Hyperdiffusion>(&equation)) return hyper->diffusivity * k2 * k2;
    return std::get<Diffusion>(equation).diffusivity * k2;
}

// The mode's amplitude in a state, and the largest of what is not the mode.
struct Found {
    double amplitude, elsewhere;
};
template <class T> Found find(const std::vector<T>& state, const Plane& plane, int wx, int wy, double mean = 0) {
    const std::vector<double> shape = plane.mode(wx, wy);
    double product = 0, square = 0, elsewhere = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) {
        product += (state[k] - mean) * shape[k];
        square += shape[k] * shape[k];
    }
    for (std::size_t k = 0; k < shape.size(); ++k)
        elsewhere = std::fmax(elsewhere, std::fabs(state[k] - mean - product / square * shape[k]));
    return {product / square, elsewhere};
}
template <class T = double>
Found after(const Equation& equation, const Plane& plane, int wx, int wy, double dt, std::int64_t steps) {
    Ensemble<T> ensemble = start<T>(spec_of(equation, plane, dt), GivenStates{plane.mode(wx, wy)});
    ensemble.advance(steps);
    return find(ensemble.states(), plane, wx, wy);
}

// To round-off; small and odd sizes, rectangles, and sizes that a GPU's quickest kernels take.
TEST_F(Planes, AStepOfALinearEquationIsTheSchemes) {
    const Plane planes[] = {{5, 5}, {6, 5}, {5, 64}, {37, 16}, {64, 37, 3, 5}, {48, 64, 4, 1}};
    for (const Equation& equation : {Equation(Diffusion{0.5}), Equation(Hyperdiffusion{0.05})})
        for (const Plane& plane : planes)
            for (const auto& [wx, wy] : {std::pair{1, 1}, {2, 1}, {0, 1}, {1, 0}})
                for (const double r_dt : {0.01, 0.5, 6.0}) {
                    const auto [p, q] = plane.squares(wx, wy);
                    const double dt = r_dt / decay_rate(equation, p + q);
                    const double expected = std::pow(amplification(equation, p, q, dt), 9);
                    const std::string what = std::string(name_of(equation)) + ", " + std::to_string(plane.nx) + " x " +
                                             std::to_string(plane.ny) + ", r dt = " + std::to_string(r_dt);
                    const Found f64 = after(equation, plane, wx, wy, dt, 9);
                    EXPECT_NEAR(f64.amplitude, expected, 1e-11) << what;
                    EXPECT_LT(f64.elsewhere, 1e-11) << what;
                    // Hyperdiffusion keeps the grid's own noise, and its right-hand side makes some: K dt / dx^4 eps.
                    const double dx = std::fmin(plane.x().spacing(), plane.y().spacing());
                    const double stiff = std::holds_alternative<Hyperdiffusion>(equation)
                                             ? 0.05 * dt / (dx * dx * dx * dx)
                                             : 0.5 * dt / (dx * dx);
                    const Found f32 = after<float>(equation, plane, wx, wy, dt, 9);
                    EXPECT_NEAR(f32.amplitude, expected, 1e-5 + 2e-6 * stiff) << what;
                    EXPECT_LT(f32.elsewhere, 1e-5 + 2e-6 * stiff) << what;
                }
}

// About a uniform state: a small ripple grows or decays as the scheme says, also next to the stability limit.
TEST_F(Planes, AStepOfCahnHilliardIsTheSchemes) {
    const CahnHilliard equation{0.02};
    const Plane planes[] = {{16, 16}, {24, 17, 4, 3}, {64, 40}};
    for (const Plane& plane : planes)
        for (const double mean : {0.0, 0.4, 1.0})
            for (const auto& [wx, wy] : {std::pair{1, 1}, {3, 3}, {4, 1}, {0, 2}}) {
                const double limit = equation.plane_stable_step(plane.x(), plane.y(), 1), dt = 0.9 * limit;
                Ensemble<> ensemble = start(spec_of(equation, plane, dt), GivenStates{plane.mode(wx, wy, mean, 1e-7)});
                ensemble.advance(6);
                const auto [p, q] = plane.squares(wx, wy);
                const double expected = 1e-7 * std::pow(amplification(equation, p, q, dt, mean), 6);
                EXPECT_NEAR(find(ensemble.states(), plane, wx, wy, mean).amplitude, expected, 1e-12);
            }
}

// The bound of plane_stable_step is where the worst mode turns: |amplification| <= 1 for all modes below it, not above.
TEST_F(Planes, TheStableStepIsTheLongest) {
    for (const double largest : {1.0, 1.05, 1.2}) {
        const CahnHilliard equation{0.01};
        const Plane plane{256, 256};
        const double limit = equation.plane_stable_step(plane.x(), plane.y(), largest);
        const auto worst = [&](double dt) {
            double least = 1;
            for (int wx = 0; wx <= 128; ++wx)
                for (int wy = 0; wy <= 128; ++wy) {
                    const auto [p, q] = plane.squares(wx, wy);
                    least = std::fmin(least, amplification(equation, p, q, dt, largest));
                }
            return least;
        };
        EXPECT_GE(worst(limit), -1 - 1e-9);
        EXPECT_LT(worst(1.02 * limit), -1);
    }
}

TEST_F(PlanesAtLength, SecondOrderInTime) {
    const Plane plane{32, 24, 3, 2};
    for (const Equation& equation : {Equation(Diffusion{0.5}), Equation(Hyperdiffusion{0.05})}) {
        const auto [p, q] = plane.squares(1, 1);
        const double end = 1 / decay_rate(equation, p + q);
        double error[3];
        for (int level = 0; level < 3; ++level) {
            const std::int64_t steps = 20 << level;
            error[level] =
                after(equation, plane, 1, 1, end / static_cast<double>(steps), steps).amplitude - std::exp(-1);
        }
        EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.05) << name_of(equation);
        EXPECT_NEAR(std::log2(error[1] / error[2]), 2, 0.02) << name_of(equation);
    }
}

TEST_F(PlanesAtLength, SecondOrderInSpace) {
    for (const Equation& equation : {Equation(Diffusion{0.5}), Equation(Hyperdiffusion{0.05})}) {
        const double end = 1 / decay_rate(equation, std::pow(2 * pi / 3, 2) + std::pow(2 * pi / 2, 2));
        double error[3];
        for (int level = 0; level < 3; ++level) {
            const std::int64_t steps = 60 << (2 * level); // so that the error in time is of fourth order
            error[level] =
                after(equation, {16 << level, 12 << level, 3, 2}, 1, 1, end / static_cast<double>(steps), steps)
                    .amplitude -
                std::exp(-1);
        }
        EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.1) << name_of(equation);
        EXPECT_NEAR(std::log2(error[1] / error[2]), 2, 0.03) << name_of(equation);
    }
}

// First order in time for Cahn-Hilliard: halving the step halves the change that halving it makes.
TEST_F(PlanesAtLength, CahnHilliardIsOfFirstOrderInTime) {
    const Plane plane{32, 32};
    std::vector<std::vector<double>> states;
    for (int level = 0; level < 3; ++level) {
        Ensemble<> ensemble =
            start(spec_of(CahnHilliard{0.05}, plane, 0.004 / (1 << level)), GivenStates{plane.mode(1, 1, 0.1, 0.5)});
        ensemble.advance(50 << level);
        states.push_back(ensemble.states());
    }
    const auto distance = [](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
        return std::sqrt(sum);
    };
    EXPECT_NEAR(std::log2(distance(states[0], states[1]) / distance(states[1], states[2])), 1, 0.1);
}

// A plane that does not depend on y is the one-dimensional run, whose scheme is another code.
TEST_F(Planes, WithoutYItIsOneDimensional) {
    for (const Equation& equation : plane_equations()) {
        const Plane plane{48, 7, 2 * pi, 1};
        const UniformNoise noise{.amplitude = 0.5, .seed = 3};
        EnsembleSpec line{.equation = equation, .grid = plane.x(), .time_step = 0.001};
        Ensemble<> one(line, noise);
        const std::vector<double> first = one.states();
        std::vector<double> rows, columns;
        for (std::int64_t j = 0; j < plane.ny; ++j) rows.insert(rows.end(), first.begin(), first.end());
        for (const double value : first) columns.insert(columns.end(), plane.ny, value);
        Ensemble<> along_x = start(spec_of(equation, plane, 0.001), GivenStates{rows});
        Ensemble<> along_y =
            start(spec_of(equation, {plane.ny, plane.nx, plane.ly, plane.lx}, 0.001), GivenStates{columns});
        for (auto* ensemble : {&one, &along_x, &along_y}) ensemble->advance(50);
        const std::vector<double> expected = one.states(), x = along_x.states(), y = along_y.states();
        double largest = 0;
        for (std::int64_t j = 0; j < plane.ny; ++j)
            for (std::int64_t i = 0; i < plane.nx; ++i) {
                largest = std::fmax(largest, std::fabs(x[j * plane.nx + i] - expected[i]));
                largest = std::fmax(largest, std::fabs(y[i * plane.ny + j] - expected[i]));
            }
        EXPECT_LT(largest, 1e-11) << name_of(equation);
    }
}

// Swapping the directions of the start swaps those of the end, although x is solved first.
TEST_F(Planes, NoDirectionIsPreferred) {
    for (const Equation& equation : plane_equations()) {
        const Plane plane{30, 44, 2, 3}, turned{44, 30, 3, 2};
        Ensemble<> ensemble = start(spec_of(equation, plane, 2e-4), UniformNoise{.amplitude = 0.5, .seed = 4});
        const std::vector<double> first = ensemble.states();
        const auto transposed = [&](const std::vector<double>& state) {
            std::vector<double> result(state.size());
            for (std::int64_t j = 0; j < plane.ny; ++j)
                for (std::int64_t i = 0; i < plane.nx; ++i) result[i * plane.ny + j] = state[j * plane.nx + i];
            return result;
        };
        Ensemble<> other = start(spec_of(equation, turned, 2e-4), GivenStates{transposed(first)});
        ensemble.advance(20);
        other.advance(20);
        const std::vector<double> expected = transposed(ensemble.states()), got = other.states();
        double largest = 0;
        for (std::size_t k = 0; k < got.size(); ++k) largest = std::fmax(largest, std::fabs(got[k] - expected[k]));
        EXPECT_LT(largest, 1e-11) << name_of(equation);
        EXPECT_GT(largest, 0) << "rounded the same: the solves cannot have been in another order";
    }
}

TEST_F(PlanesAtLength, TheMeanIsKept) {
    const std::int64_t steps = slow_build ? 100 : 3000;
    for (const Equation& equation : plane_equations()) {
        const auto drift = [&]<class T>(T) {
            Ensemble<T> ensemble =
                start<T>(spec_of(equation, {48, 40}, 0.004, 3), UniformNoise{.amplitude = 0.2, .mean = {0, 0.3, -0.4}});
            const ObservableRequest mean[] = {{Observable::mean}};
            const std::vector<double> first = ensemble.sample(mean, true).values[0];
            ensemble.advance(steps);
            const std::vector<double> last = ensemble.sample(mean, true).values[0];
            double largest = 0;
            for (std::size_t k = 0; k < first.size(); ++k) largest = std::fmax(largest, std::fabs(last[k] - first[k]));
            return largest;
        };
        EXPECT_LT(drift(double{}), 1e-13) << name_of(equation);
        EXPECT_LT(drift(float{}), 2e-5) << name_of(equation);
    }
}

TEST_F(PlanesAtLength, FreeEnergyNeverRises) {
    const std::int64_t steps = slow_build ? 100 : 1500;
    for (const Equation& equation : plane_equations()) {
        const Plane plane{64, 48};
        // For Cahn-Hilliard nearly the longest step there is.
        const double dt = std::holds_alternative<CahnHilliard>(equation)
                              ? 0.95 * CahnHilliard{}.plane_stable_step(plane.x(), plane.y(), 1.05)
                              : 0.01;
        Ensemble<> ensemble = start(spec_of(equation, plane, dt, 4), UniformNoise{.mean = {0.1}});
        RunPlan plan{.end_time = static_cast<double>(steps) * dt,
                     .every_step = true,
                     .observables = {{Observable::free_energy}},
                     .keep_values = true};
        std::vector<double> before = ensemble.sample(plan.observables, true).values[0];
        const std::vector<double> first = before;
        for (const Sample& sample : ensemble.run(plan).samples) {
            for (std::size_t k = 0; k < first.size(); ++k)
                ASSERT_LE(sample.values[0][k], before[k] + 1e-13 * first[k])
                    << name_of(equation) << ", step " << sample.step;
            before = sample.values[0];
        }
        for (std::size_t k = 0; k < first.size(); ++k) EXPECT_LT(before[k], 0.9 * first[k]) << name_of(equation);
    }
}

// Bit for bit: how many there are, slices, and whether anything is measured make no difference.
TEST_F(Planes, AMemberKnowsOfNoOther) {
    for (const Equation& equation : plane_equations())
        for (const Plane& plane : {Plane{33, 21}, Plane{64, 32}, Plane{256, 96}}) {
            const auto stepped = [&]<class T>(T, std::int64_t members, std::int64_t first, std::int64_t slice) {
                EnsembleSpec spec = spec_of(equation, plane, 1e-3, members);
                spec.first_member = first;
                spec.members_per_slice = slice;
                Ensemble<T> ensemble = start<T>(spec, UniformNoise{.seed = 8});
                if (slice > 0)
                    ensemble.run({.end_time = 5e-3, .every_step = true, .observables = {{Observable::domain_size}}});
                else
                    ensemble.advance(5);
                return ensemble.states();
            };
            const auto compare = [&]<class T>(T number) {
                const std::vector<T> all = stepped(number, 7, 0, 0), sliced = stepped(number, 7, 0, 3);
                const std::vector<T> last = stepped(number, 1, 6, 0);
                EXPECT_EQ(all == sliced, true) << name_of(equation);
                EXPECT_TRUE(std::equal(last.begin(), last.end(), all.end() - plane.points())) << name_of(equation);
            };
            compare(double{});
            compare(float{});
        }
}

TEST_F(Planes, ARunGoesOnWithTheSameBits) {
    const EnsembleSpec spec = spec_of(CahnHilliard{}, {40, 24}, 1e-3, 3);
    Ensemble<> whole = start(spec, UniformNoise{}), begun = start(spec, UniformNoise{});
    whole.advance(20);
    begun.advance(7);
    Ensemble<> resumed(spec, begun.save(), Place{});
    EXPECT_EQ(resumed.step(), 7);
    resumed.advance(13);
    EXPECT_EQ(resumed.states() == whole.states(), true);
}

// Worked out here from the states.
TEST_F(Planes, ObservablesAreThoseOfTheStates) {
    const Plane plane{36, 28, 3, 2};
    const CahnHilliard equation{0.02};
    const std::int64_t members = 3;
    Ensemble<> ensemble =
        start(spec_of(equation, plane, 1e-3, members), UniformNoise{.amplitude = 0.9, .mean = {0.05}});
    ensemble.advance(3);
    const std::vector<ObservableRequest> all = {
        {Observable::mean},    {Observable::mean_square}, {Observable::domain_size}, {Observable::free_energy},
        {Observable::largest}, {Observable::rate},        {Observable::interfaces}};
    const Sample sample = ensemble.sample(all, true);
    const std::vector<double> states = ensemble.states();
    const double dx = plane.x().spacing(), dy = plane.y().spacing();
    for (std::int64_t m = 0; m < members; ++m) {
        const auto at = [&](std::int64_t i, std::int64_t j) {
            return states[m * plane.points() + (j + plane.ny) % plane.ny * plane.nx + (i + plane.nx) % plane.nx];
        };
        const auto laplacian = [&](const auto& of, std::int64_t i, std::int64_t j) {
            return (of(i + 1, j) - 2 * of(i, j) + of(i - 1, j)) / (dx * dx) +
                   (of(i, j + 1) - 2 * of(i, j) + of(i, j - 1)) / (dy * dy);
        };
        const auto mu = [&](std::int64_t i, std::int64_t j) {
            return std::pow(at(i, j), 3) - at(i, j) - equation.gamma * laplacian(at, i, j);
        };
        double sum = 0, squares = 0, energy = 0, largest = 0, rates = 0, length = 0;
        for (std::int64_t j = 0; j < plane.ny; ++j)
            for (std::int64_t i = 0; i < plane.nx; ++i) {
                const double c = at(i, j), right = at(i + 1, j), above = at(i, j + 1);
                sum += c;
                squares += c * c;
                largest = std::fmax(largest, std::fabs(c));
                energy += std::pow(c * c - 1, 2) / 4 +
                          equation.gamma / 2 * (std::pow((right - c) / dx, 2) + std::pow((above - c) / dy, 2));
                rates += std::pow(laplacian(mu, i, j), 2);
                length += pi / 4 * (dy * ((c < 0) != (right < 0)) + dx * ((c < 0) != (above < 0)));
            }
        const double count = static_cast<double>(plane.points());
        const double expected[] = {sum / count,    squares / count, 1 / (1 - squares / count),
                                   energy / count, largest,         std::sqrt(rates / count),
                                   length};
        for (std::size_t which = 0; which < all.size(); ++which)
            EXPECT_NEAR(sample.values[which][m], expected[which], 1e-12 * std::fmax(1, std::fabs(expected[which])))
                << name(all[which].observable);
    }
}

TEST_F(Planes, WhatHasNoPlanesIsRefused) {
    const auto refused = [](EnsembleSpec spec, std::initializer_list<std::string> words) {
        expect_error<InvalidArgument>([&] { start(spec, UniformNoise{}); }, words);
    };
    EnsembleSpec forced = spec_of(ForcedCahnHilliard{}, {32, 32}, 0.01);
    forced.parameters = {{1}};
    refused(forced, {"forced-cahn-hilliard", "two dimensions"});
    EnsembleSpec ends = spec_of(Diffusion{}, {32, 32}, 0.01);
    ends.grid_y = Grid(32, 1, Ends::neumann);
    refused(ends, {"neumann", "periodic"});
    EnsembleSpec large = spec_of(Diffusion{}, {32, 32}, 0.01);
    large.grid = Grid(std::int64_t{1} << 32, 1);
    large.grid_y = Grid(std::int64_t{1} << 32, 1);
    refused(large, {"4294967296 x 4294967296", "fewer"});
}

TEST_F(Planes, AStepThatIsTooLongIsWarnedOf) {
    std::string warning;
    const double limit = CahnHilliard{}.plane_stable_step(Grid(64, 2 * pi), Grid(64, 2 * pi), 1.05);
    Ensemble<> ensemble = start(spec_of(CahnHilliard{}, {64, 64}, 1.1 * limit), UniformNoise{});
    ensemble.run({.end_time = 3 * limit, .warn = [&](const std::string& text) { warning += text; }});
    EXPECT_NE(warning.find("time step"), std::string::npos);
    warning.clear();
    Ensemble<> shorter = start(spec_of(CahnHilliard{}, {64, 64}, 0.99 * limit), UniformNoise{});
    shorter.run({.end_time = 3 * limit, .warn = [&](const std::string& text) { warning += text; }});
    EXPECT_EQ(warning, "");
}

} // namespace
} // namespace bandmill::test
