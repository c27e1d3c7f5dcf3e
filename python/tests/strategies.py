"""Cases for hypothesis to draw."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def problems(draw, max_batch_axes=4):
    half = draw(st.integers(1, 2))
    n = draw(st.integers(1, 12) | st.integers(13, 90))
    periodic = draw(st.booleans())
    dtype = np.dtype(draw(st.sampled_from(["float32", "float64"])))
    batch = draw(st.lists(st.integers(0, 4) | st.integers(1, 3), max_size=max_batch_axes))
    axis = draw(st.integers(0, len(batch)))
    shape = (*batch[:axis], n, *batch[axis:])
    seed = draw(st.integers(0, 2**32 - 1))
    if draw(st.booleans()):
        axis -= len(shape)
    return half, n, periodic, dtype, shape, axis, seed


@st.composite
def layouts(draw, shape):
    """How an array of this shape lies in memory: the order of its axes, and the step along each."""
    order = draw(st.permutations(range(len(shape))))
    steps = draw(st.lists(st.sampled_from([1, 1, 2, -1, -2]), min_size=len(shape), max_size=len(shape)))
    return tuple(order), tuple(steps)
