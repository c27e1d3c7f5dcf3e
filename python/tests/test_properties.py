"""Random shapes, strides, axes and dtypes, by hypothesis; skipped without it."""

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import bandmill  # noqa: E402
from problems import check, lay_out, random_ab, reference  # noqa: E402
from strategies import layouts, problems  # noqa: E402


@settings(max_examples=150)
@given(data=st.data())
def test_any_shape_stride_axis_and_dtype(data):
    half, n, periodic, dtype, shape, axis, seed = data.draw(problems())
    rng = np.random.default_rng(seed)
    ab = random_ab(rng, half, n, periodic)
    values = rng.standard_normal(shape).astype(dtype)
    expected = reference(ab, periodic, values, axis)
    plan = bandmill.factor(ab, periodic=periodic)

    b, _ = lay_out(values, data.draw(layouts(shape)))
    x = plan.solve(b, axis=axis)
    assert type(x) is np.ndarray and x.dtype == dtype and x.shape == shape
    check(x, expected, dtype)
    assert np.array_equal(b, values)

    out, memory = lay_out(np.zeros(shape, dtype), data.draw(layouts(shape)))
    padding = np.isnan(memory).sum()
    assert plan.solve(b, out=out, axis=axis) is out
    assert np.array_equal(out, x)  # not a bit depends on the layout
    assert np.isnan(memory).sum() == padding

    assert plan.solve(b, out=b, axis=axis) is b
    assert np.array_equal(b, x)


@settings(max_examples=50)
@given(half=st.integers(1, 2), n=st.integers(1, 300), batch=st.integers(0, 9), seed=st.integers(0, 2**32 - 1))
def test_open_as_scipy(half, n, batch, seed):
    linalg = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(seed)
    ab = random_ab(rng, half, max(n, half + 1), False, corners=0.0)  # SciPy refuses NaN, and matrices below the band
    b = rng.standard_normal((ab.shape[1], batch) if batch else ab.shape[1])
    check(bandmill.factor(ab).solve(b), linalg.solve_banded((half, half), ab, b), np.float64)


@settings(max_examples=40)
@given(problem=problems(max_batch_axes=1))
def test_transposed(problem):
    half, n, periodic, dtype, shape, axis, seed = problem
    rng = np.random.default_rng(seed)
    ab = random_ab(rng, half, n, periodic)
    plan = bandmill.factor(ab, periodic=periodic)
    b = rng.standard_normal(shape).astype(dtype)
    a = np.linalg.inv(reference(ab, periodic, np.eye(n), 0))
    flat = np.moveaxis(b, axis, 0).reshape(n, -1)
    expected = np.linalg.solve(a.T, flat.astype(float)).reshape(np.moveaxis(b, axis, 0).shape)
    check(np.moveaxis(plan.T.solve(b, axis=axis), axis, 0), expected, dtype)
    assert plan.T.T is plan and plan.T is plan.T


@settings(max_examples=40)
@given(problem=problems(max_batch_axes=3), data=st.data())
def test_any_tensor(problem, data):
    torch = pytest.importorskip("torch")
    half, n, periodic, dtype, shape, axis, seed = problem
    rng = np.random.default_rng(seed)
    ab = random_ab(rng, half, n, periodic)
    order = data.draw(st.permutations(range(len(shape))))
    b = torch.from_numpy(rng.standard_normal(shape).astype(dtype))
    b = b.permute(*order).contiguous().permute(*np.argsort(order).tolist())
    plan = bandmill.factor(ab, periodic=periodic)
    x = plan.solve(b, axis=axis)
    assert type(x) is torch.Tensor and x.dtype == b.dtype and x.shape == b.shape and x.device == b.device
    check(x.numpy(), reference(ab, periodic, b.numpy(), axis), dtype)
    assert plan.solve(b, out=b, axis=axis) is b and torch.equal(b, x)
