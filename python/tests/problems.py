"""Random band matrices, and what they are as dense ones: the oracle, which shares no code with the package."""

import numpy as np


def dense(ab, periodic):
    ab = np.asarray(ab, dtype=np.float64)
    half, n = ab.shape[0] // 2, ab.shape[1]
    a = np.zeros((n, n))
    for j in range(n):
        for r in range(2 * half + 1):
            i = j + r - half
            if periodic:
                a[i % n, j] += ab[r, j]
            elif 0 <= i < n:
                a[i, j] = ab[r, j]
    return a


def random_ab(rng, half, n, periodic, corners=np.nan):
    """Row sums of the off-diagonals stay below the main one, so that the condition is small."""
    ab = rng.uniform(-1, 1, (2 * half + 1, n))
    ab[half] = rng.uniform(2 * half + 1, 2 * half + 3, n) * (1 if rng.integers(2) else -1)
    if not periodic:
        for k in range(1, half + 1):
            ab[half - k, :k] = corners
            ab[half + k, max(n - k, 0) :] = corners
    return ab


def reference(ab, periodic, b, axis):
    """float64, by dense elimination."""
    b = np.moveaxis(np.asarray(b, dtype=np.float64), axis, 0)
    x = np.linalg.solve(dense(ab, periodic), b.reshape(b.shape[0], -1))
    return np.moveaxis(x.reshape(b.shape), 0, axis)


def check(x, expected, dtype):
    scale = np.abs(expected).max(initial=1.0)
    assert np.abs(np.asarray(x, dtype=np.float64) - expected).max(initial=0.0) <= 60 * np.finfo(dtype).eps * scale


def lay_out(values, layout):
    """A view with these values and this layout, in memory that is otherwise full of NaN; and that memory."""
    order, steps = layout
    memory = np.full([abs(steps[k]) * values.shape[k] for k in order], np.nan, values.dtype)
    view = memory.transpose(np.argsort(order))[tuple(slice(None, None, step) for step in steps)]
    assert view.shape == values.shape
    view[...] = values
    return view, memory
