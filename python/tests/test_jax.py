"""JAX on the CPU, outside of jit."""

import numpy as np
import pytest

import bandmill
from problems import check, random_ab, reference

jax = pytest.importorskip("jax")


@pytest.fixture(autouse=True)
def on_cpu_with_doubles():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices("cpu")[0]):
        yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", [((30,), 0), ((30, 5), 0), ((5, 30), 1), ((3, 30, 4), 1), ((30, 0), 0)])
def test_solve(dtype, shape, axis):
    rng = np.random.default_rng(7)
    ab = random_ab(rng, 2, 30, True)
    values = rng.standard_normal(shape).astype(dtype)
    b = jax.numpy.asarray(values)
    x = bandmill.factor(jax.numpy.asarray(ab), periodic=True).solve(b, axis=axis)
    assert isinstance(x, jax.Array) and x.dtype == dtype and x.shape == shape and x.devices() == b.devices()
    check(np.asarray(x), reference(ab, True, values, axis), dtype)
    assert np.array_equal(b, values)
    doubled = 2 * x + 1  # JAX computes with it
    assert np.array_equal(np.asarray(doubled), 2 * np.asarray(x) + 1)


def test_precision_of_the_plan():
    ab = bandmill.toeplitz([-1, 4, -1], 20)
    b = jax.numpy.arange(20, dtype="float32")
    x = bandmill.factor(ab, dtype=jax.numpy.float64).solve(b)
    assert x.dtype == "float32"
    assert np.array_equal(x, bandmill.factor(ab).solve(np.arange(20.0)).astype(np.float32))


def test_without_doubles():
    jax.config.update("jax_enable_x64", False)
    ab = bandmill.toeplitz([-1, 4, -1], 20)
    b = jax.numpy.arange(20, dtype="float32")
    assert bandmill.factor(ab, dtype="float32").solve(b).dtype == "float32"
    with pytest.raises(bandmill.InvalidArgumentError, match="jax_enable_x64 is off"):
        bandmill.factor(ab, dtype="float64").solve(b)


def test_refused():
    plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 10))
    b = jax.numpy.ones(10)
    with pytest.raises(TypeError, match="b is a JAX tracer"):
        jax.jit(plan.solve)(b)
    with pytest.raises(TypeError, match="ab is a JAX tracer"):
        jax.jit(lambda ab: bandmill.factor(ab).solve(b))(jax.numpy.ones((3, 10)))
    with pytest.raises(TypeError, match="out= cannot be used with JAX"):
        plan.solve(b, out=b)
    with pytest.raises(TypeError, match="b holds int"):
        plan.solve(jax.numpy.ones(10, "int32"))
    with pytest.raises(TypeError, match="b is an array of NumPy and out is of type"):
        plan.solve(np.ones(10), out=b)
