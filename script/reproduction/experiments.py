"""The paper's schemes as it has them, in a few lines of NumPy that share nothing with the library's steppers.

They show where a difference between the paper's numbers and ours comes from. Only the band solve is bandmill's.
"""

import concurrent.futures
import multiprocessing
import os

import numpy as np

import bandmill

GAMMA, LENGTH, END = 0.01, 2 * np.pi, 20.0  # of both convergence tables
WAVENUMBER, SPEED, FORCING = 1.0, 0.5, 1.0  # of the forced one


def second_difference(c, dx):
    return (np.roll(c, 1) - 2 * c + np.roll(c, -1)) / (dx * dx)


def weno5(c, dx, bias):
    """C_x by fifth-order Hamilton-Jacobi WENO from five one-sided differences, biased to the left or to the right."""
    step = (np.roll(c, -1) - c) / dx  # from i to i + 1
    places = (-3, -2, -1, 0, 1) if bias == "left" else (2, 1, 0, -1, -2)
    a, b, m, d, e = (np.roll(step, -k) for k in places)
    rough = (
        13 / 12 * (a - 2 * b + m) ** 2 + 1 / 4 * (a - 4 * b + 3 * m) ** 2,
        13 / 12 * (b - 2 * m + d) ** 2 + 1 / 4 * (b - d) ** 2,
        13 / 12 * (m - 2 * d + e) ** 2 + 1 / 4 * (3 * m - 4 * d + e) ** 2,
    )
    weights = [ideal / (1e-6 + s) ** 2 for ideal, s in zip((0.1, 0.6, 0.3), rough)]
    parts = (a / 3 - 7 * b / 6 + 11 * m / 6, -b / 6 + 5 * m / 6 + d / 3, m / 3 + 5 * d / 6 - e / 6)
    return sum(w * p for w, p in zip(weights, parts)) / sum(weights)


def final_state(points, form="increment", bias=None, end=END):
    """C at the end of a run of the convergence study. bias: of the forced equation's C_x; None: not forced."""
    dx = LENGTH / points
    dt = 0.1 * dx
    s = GAMMA * dt / dx**4
    plan = bandmill.factor(bandmill.toeplitz([s, -4 * s, 1 + 6 * s, -4 * s, s], points), periodic=True, threads=1)
    x = dx * np.arange(points)
    c = 1e-6 * np.cos(5 * x)
    source = FORCING * WAVENUMBER * np.cos(WAVENUMBER * x)
    for _ in range(int(np.ceil(end / dt - 1e-9))):
        cubic = c * c * c - c
        # plain: (1 + dt gamma D4) C' = C + dt D2 (C^3 - C); increment: the same equation for d = C' - C
        plain = form == "plain"
        rate = second_difference(cubic if plain else cubic - GAMMA * second_difference(c, dx), dx)
        if bias is not None:
            rate += SPEED * weno5(c, dx, bias) + source
        rate *= dt
        c = plan.solve(c + rate) if plain else c + plan.solve(rate, out=rate)
    return c


def _state_of(job):
    points, form, bias = job
    return final_state(points, form, bias)


def errors_of_all(plain, downwind):
    """E_N of the plain form, of the downwind stencil, and of both, {kind: {N: E_N}}: the mean of |C_N - C_{N/2}| over the points
    that both grids have. Every run is a process of its own."""
    kinds = {"plain": (plain, "plain", None), "downwind": (downwind, "increment", "left"),
             "plain-downwind": (downwind[-1:], "plain", "left")}  # fmt: skip
    jobs = [(n, form, bias) for sizes, form, bias in kinds.values() for n in sorted({m for n in sizes for m in (n // 2, n)})]
    jobs.sort(reverse=True, key=lambda job: job[0])  # the longest first
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), mp_context=context) as pool:
        states = dict(zip(jobs, pool.map(_state_of, jobs)))

    def error(n, form, bias):
        return float(np.mean(np.abs(states[n, form, bias][::2] - states[n // 2, form, bias])))

    return {kind: {n: error(n, form, bias) for n in sizes} for kind, (sizes, form, bias) in kinds.items()}


def _random_band(n, width):
    random = np.random.default_rng(1)
    diagonals = [random.uniform(-1, 1, n) for _ in range(2 * width + 1)]
    diagonals[width] += 2 * width + 1
    matrix = sum(np.diag(d[max(0, -k) : n - max(0, k)], k) for k, d in zip(range(-width, width + 1), diagonals))
    return diagonals, matrix, random.uniform(-1, 1, n)


def thomas_residual(printed):
    """max |A x - f|: the back sweep of the text subtracts a_i c_i, the right one c_i x_{i+1}."""
    n = 20
    (a, b, c), matrix, f = _random_band(n, 1)
    c, d = c.copy(), f.copy()
    c[0] /= b[0]
    d[0] /= b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * c[i - 1]
        c[i] /= pivot
        d[i] = (d[i] - a[i] * d[i - 1]) / pivot
    x = d.copy()
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - a[i] * c[i] if printed else d[i] - c[i] * x[i + 1]
    return float(np.max(np.abs(matrix @ x - f)))


def pentadiagonal_residual(printed):
    """max |A x - f|: Algorithm 3 as printed, or corrected (c_i, d_i and b_N)."""
    n = 20
    (a, b, c, d, e), matrix, f = _random_band(n, 2)
    d[0] /= c[0]
    e[0] /= c[0]
    c[1] -= b[1] * d[0]
    d[1] = (d[1] - b[1] * e[0]) / c[1]
    e[1] /= c[1]
    for i in range(2, n):
        last = i == n - 1
        b[i] -= a[i] * (d[i] if last and printed else d[i - 2])
        c[i] -= a[i] * (c[i - 2] if printed and i < n - 2 else e[i - 2]) + b[i] * d[i - 1]
        e[i] /= c[i]
        d[i] = d[i] - b[i] * e[i - 1] / c[i] if printed and i < n - 2 else (d[i] - b[i] * e[i - 1]) / c[i]
    g = np.zeros(n)
    for i in range(n):
        g[i] = (f[i] - (a[i] * g[i - 2] if i > 1 else 0) - (b[i] * g[i - 1] if i > 0 else 0)) / c[i]
    x = g.copy()
    for i in range(n - 2, -1, -1):
        x[i] -= d[i] * x[i + 1] + (e[i] * x[i + 2] if i < n - 2 else 0)
    return float(np.max(np.abs(matrix @ x - f)))


def fourth_difference_of_a_constant(centre):
    """What the stencil 1, -4, centre, -4, 1 makes of C = 1; a derivative makes 0."""
    return 1 - 4 + centre - 4 + 1
