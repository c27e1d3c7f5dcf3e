"""Natural cubic splines through many data sets at the same knots: one tridiagonal matrix for all of them.

With h_i = x_{i+1} - x_i the second derivatives m obey, between ends where they are 0,
    h_{i-1} / 6 m_{i-1} + (h_{i-1} + h_i) / 3 m_i + h_i / 6 m_{i+1} = (y_{i+1} - y_i) / h_i - (y_i - y_{i-1}) / h_{i-1}
"""

import sys

import bandmill
import numpy as np


def natural_splines(x, y):
    """Through y[knot, set] at the knots x: a function of points t that gives [point, set]."""
    h = np.diff(x)
    ab = np.zeros((3, x.size))  # A[i, j] stands at ab[1 + i - j, j]
    ab[1] = 1
    ab[1, 1:-1] = (h[:-1] + h[1:]) / 3
    ab[0, 2:] = h[1:] / 6
    ab[2, :-2] = h[:-1] / 6
    b = np.zeros_like(y)
    b[1:-1] = np.diff(np.diff(y, axis=0) / h[:, None], axis=0)
    m = bandmill.factor(ab).solve(b)

    def evaluate(t):
        i = np.clip(np.searchsorted(x, t, side="right") - 1, 0, h.size - 1)
        right = ((t - x[i]) / h[i])[:, None]
        left = 1 - right
        bend = (left**3 - left) * m[i] + (right**3 - right) * m[i + 1]
        return left * y[i] + right * y[i + 1] + bend * (h[i] ** 2 / 6)[:, None]

    return evaluate


def largest_error(intervals, sets=1000):
    waves = np.pi * (1 + np.arange(sets) % 3)  # sines: their second derivatives are 0 at the ends, too
    t = np.linspace(0, 1, intervals + 1)
    x = t + 0.08 * np.sin(2 * np.pi * t)  # knots closer in the middle
    between = np.linspace(0, 1, 777)
    spline = natural_splines(x, np.sin(waves * x[:, None]))
    return np.abs(spline(between) - np.sin(waves * between[:, None])).max()


if __name__ == "__main__":
    coarse, fine = largest_error(64), largest_error(128)
    order = np.log2(coarse / fine)
    print(f"1000 splines, error {coarse:.2e} with 64 intervals, {fine:.2e} with 128: order {order:.2f}")
    sys.exit(0 if abs(order - 4) < 0.2 else 1)
