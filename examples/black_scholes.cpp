// A book of European options on one asset by Crank-Nicolson. In the forward price F = S exp(r tau) and undiscounted,
// with y = log F, the Black-Scholes equation loses its rate:
//     V_tau = sigma^2 / 2 (V_yy - V_y),     V = payoff at tau = 0,     price today = exp(-r T) V(log F, T).
// Every option of the book has its own payoff, but all share the grid and sigma: one matrix, a right-hand side for
// each. Another sigma is another matrix, so sort a book by volatility and make a factor for each. (Other rates and
// expiries are not: a rate is in F and the discount alone, and an expiry says after which step a price is read.)
//     black_scholes
#include <bandmill/bandmill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr std::int64_t strikes = 1000; // from 50 to 150; each as a call and as a put
constexpr double spot = 100, sigma = 0.25, rate = 0.03, expiry = 1;

double strike(std::int64_t k) { return 50 + 100 * static_cast<double>(k) / static_cast<double>(strikes - 1); }
double normal(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

// Black and Scholes' formula, undiscounted; sign 1 for a call, -1 for a put
double formula(double forward, double k, int sign) {
    const double deviation = sigma * std::sqrt(expiry), d1 = std::log(forward / k) / deviation + deviation / 2;
    return sign * (forward * normal(sign * d1) - k * normal(sign * (d1 - deviation)));
}

// Prices of all calls, then of all puts, with 2 `half` + 1 points about log F.
std::vector<double> prices(std::int64_t half, int steps) {
    const std::int64_t n = 2 * half + 1, batch = 2 * strikes;
    const double forward = spot * std::exp(rate * expiry), dt = expiry / steps;
    const double reach = std::log(3.0) + 5 * sigma * std::sqrt(expiry); // beyond all strikes, and 5 deviations more
    const double dy = reach / static_cast<double>(half);

    // 1 - dt/2 L, with L = sigma^2 / 2 (D_yy - D_y). At the ends V is linear in F and stays as it is: rows of 1.
    const double diffusion = dt / 2 * sigma * sigma / 2 / (dy * dy), drift = dt / 2 * sigma * sigma / 2 / (2 * dy);
    std::vector<double> lower(n, -diffusion - drift), main(n, 1 + 2 * diffusion), upper(n, -diffusion + drift);
    lower.back() = upper.front() = 0, main.front() = main.back() = 1;
    const auto factor = bandmill::factor(bandmill::BandMatrix::tridiagonal(lower, main, upper));

    std::vector<double> v(n * batch), middle(n * batch);
    for (std::int64_t i = 0; i < n; ++i) {
        const double at_expiry = forward * std::exp(dy * static_cast<double>(i - half));
        for (std::int64_t k = 0; k < strikes; ++k) {
            v[i * batch + k] = std::max(at_expiry - strike(k), 0.0);
            v[i * batch + strikes + k] = std::max(strike(k) - at_expiry, 0.0);
        }
    }
    // (1 - dt/2 L) middle = v is half a step of implicit Euler; twice that less v is a whole step of Crank-Nicolson.
    // Four of the former instead of two of the latter begin: they damp the kinks of the payoffs (Rannacher).
    const int start = 4;
    for (int step = 0; step < start + steps - start / 2; ++step) {
        bandmill::solve(factor, bandmill::interleaved(v.data(), n, batch),
                        bandmill::interleaved(middle.data(), n, batch));
        if (step < start)
            std::swap(v, middle);
        else
            for (std::size_t at = 0; at < v.size(); ++at) v[at] = 2 * middle[at] - v[at];
    }
    std::vector<double> today(&v[half * batch], &v[half * batch] + batch);
    for (double& price : today) price *= std::exp(-rate * expiry);
    return today;
}

struct Errors {
    double price = 0, parity = 0; // parity: call - put = S - K exp(-r T)
};
Errors largest_errors(const std::vector<double>& today) {
    const double discount = std::exp(-rate * expiry), forward = spot / discount;
    Errors largest;
    for (std::int64_t k = 0; k < strikes; ++k) {
        const double call = today[k], put = today[strikes + k];
        largest.price = std::max({largest.price, std::abs(call - discount * formula(forward, strike(k), 1)),
                                  std::abs(put - discount * formula(forward, strike(k), -1))});
        largest.parity = std::max(largest.parity, std::abs(call - put - (spot - strike(k) * discount)));
    }
    return largest;
}

} // namespace

int main(int argc, char**) try {
    if (argc > 1) {
        std::fprintf(stderr, "usage: black_scholes (it takes no arguments)\n");
        return 2;
    }
    const Errors coarse = largest_errors(prices(100, 25)), fine = largest_errors(prices(200, 50));
    const double order = std::log2(coarse.price / fine.price);
    std::printf("%lld options on an asset at %.0f: largest error %.2e on 201 points in 25 steps, %.2e on 401 in 50: "
                "order %.2f\n",
                static_cast<long long>(2 * strikes), spot, coarse.price, fine.price, order);
    std::printf("call - put differs from S - K exp(-r T) by at most %.2e\n", fine.parity);
    return std::abs(order - 2) < 0.2 && fine.price < 0.02 && fine.parity < 1e-3 ? 0 : 1;
} catch (const bandmill::Error& error) {
    std::fprintf(stderr, "black_scholes: %s\n", error.what());
    return 1;
}
