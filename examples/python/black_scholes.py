"""A book of European options by Crank-Nicolson: one matrix, a right-hand side for each option. --gpu: with CuPy.

In the forward price F = S exp(r tau), undiscounted and with y = log F, the Black-Scholes equation is
    V_tau = sigma^2 / 2 (V_yy - V_y),     V = payoff at tau = 0,     price today = exp(-r T) V(log F, T)
"""

import math
import sys

import bandmill
import numpy as np


def values(payoffs, dy, sigma, expiry, steps):
    """V[point, option] at the time `expiry` before the payoffs [point, option]; their first and last rows stay."""
    dt = expiry / steps
    diffusion, drift = dt / 2 * sigma**2 / 2 / dy**2, dt / 2 * sigma**2 / 2 / (2 * dy)
    ab = bandmill.toeplitz([-diffusion - drift, 1 + 2 * diffusion, -diffusion + drift], len(payoffs))
    ab[1, [0, -1]] = 1  # rows of 1 at both ends: V is linear in F there
    ab[0, 1] = ab[2, -2] = 0
    plan = bandmill.factor(ab)
    v = payoffs
    for step in range(4 + steps - 2):
        middle = plan.solve(v)  # half a step of implicit Euler: four of them damp the kinks of the payoffs (Rannacher)
        v = middle if step < 4 else 2 * middle - v  # a whole step of Crank-Nicolson
    return v


def formula(forward, strike, sigma, expiry, sign):
    deviation = sigma * math.sqrt(expiry)
    d1 = math.log(forward / strike) / deviation + deviation / 2
    normal = [math.erfc(-sign * d / math.sqrt(2)) / 2 for d in (d1, d1 - deviation)]
    return sign * (forward * normal[0] - strike * normal[1])


def largest_error(xp, half, steps, spot=100, rate=0.03, sigma=0.25, expiry=1):
    strikes, forward, discount = np.linspace(50, 150, 500), spot * math.exp(rate * expiry), math.exp(-rate * expiry)
    dy = (math.log(3) + 5 * sigma * math.sqrt(expiry)) / half  # beyond all strikes, and 5 deviations more
    prices_at_expiry = forward * xp.exp(dy * xp.arange(-half, half + 1))
    over = prices_at_expiry[:, None] - xp.asarray(strikes)
    payoffs = xp.concatenate([xp.maximum(over, 0), xp.maximum(-over, 0)], axis=1)  # calls, then puts
    today = discount * values(payoffs, dy, sigma, expiry, steps)[half]
    exact = [discount * formula(forward, strike, sigma, expiry, sign) for sign in (1, -1) for strike in strikes]
    return float(abs(today - xp.asarray(exact)).max())


if __name__ == "__main__":
    if "--gpu" in sys.argv:
        import cupy as xp
    else:
        xp = np
    coarse, fine = largest_error(xp, 100, 25), largest_error(xp, 200, 50)
    order = math.log2(coarse / fine)
    print(f"1000 options: error {coarse:.2e} on 201 points in 25 steps, {fine:.2e} on 401 in 50: order {order:.2f}")
    sys.exit(0 if abs(order - 2) < 0.2 else 1)
