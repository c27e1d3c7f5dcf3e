"""What is refused, as what, and in which words."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import bandmill

AB = bandmill.toeplitz([-1, 4, -1], 10)
PLAN = bandmill.factor(AB)
B = np.ones((10, 3))


@pytest.mark.parametrize(
    "ab, error, text",
    [
        (np.ones((4, 9)), ValueError, r"shape \(4, 9\), so 4 diagonals: pass 3 rows"),
        (np.ones(9), ValueError, r"ab has shape \(9,\)"),
        (np.ones((3, 0)), ValueError, "cannot have 0 rows"),
        ([[1, 2], [3]], ValueError, "no array of numbers"),
        (np.ones((3, 4), complex), TypeError, "ab holds complex128"),
        (np.ones((3, 4), bool), TypeError, "ab holds bool"),
        (np.array([["a"] * 4] * 3), TypeError, "a matrix has real numbers"),
    ],
)
def test_matrices(ab, error, text):
    with pytest.raises(error, match=text):
        bandmill.factor(ab)


def test_entries():
    ab = AB.copy()
    ab[1, 4] = np.nan
    with pytest.raises(bandmill.InvalidMatrixError, match="row 4 on the main diagonal is nan") as caught:
        bandmill.factor(ab)
    assert caught.value.row == 4 and isinstance(caught.value, ValueError)
    ab = AB.copy()
    ab[0, 0] = np.inf  # a corner: used if the matrix is periodic
    bandmill.factor(ab)
    with pytest.raises(bandmill.InvalidMatrixError):
        bandmill.factor(ab, periodic=True)


def test_singular():
    with pytest.raises(bandmill.SingularMatrixError, match="the matrix is singular: at row") as caught:
        bandmill.factor(bandmill.toeplitz([-1, 2, -1], 10), periodic=True)
    error = caught.value
    assert isinstance(error.row, int) and isinstance(error, np.linalg.LinAlgError) and isinstance(error, bandmill.Error)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.row, str(again)) == (type(error), error.row, str(error))


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"dtype": "int32"}, TypeError, "dtype='int32': bandmill solves in float32 or float64"),
        ({"dtype": "nonsense"}, TypeError, "nonsense"),
        ({"device": "tpu"}, ValueError, "device='tpu' is not known"),
        ({"device": "cuda:x"}, ValueError, "is not known"),
        ({"device": 3.5}, ValueError, "is not known"),
        ({"threads": 0}, ValueError, "threads=0"),
        ({"threads": "two"}, TypeError, "threads='two'"),
    ],
)
def test_options(options, error, text):
    with pytest.raises(error, match=text):
        bandmill.factor(AB, **options)


@pytest.mark.skipif(bool(bandmill.cuda_devices()), reason="there is a GPU")
def test_no_gpu():
    with pytest.raises(bandmill.BackendUnavailableError):
        bandmill.factor(AB, device="cuda")


@pytest.mark.parametrize(
    "b, options, error, text",
    [
        (np.ones((10, 3), int), {}, TypeError, r"b holds int64 .* convert it"),
        (np.ones((10, 3), bool), {}, TypeError, "b holds bool"),
        (np.ones((10, 3), complex), {}, TypeError, r"b holds complex128 .*plan.solve\(b.real\) \+ 1j"),
        (np.ones((10, 3), np.float16), {}, TypeError, "b holds float16"),
        (np.ones((10, 3), ">f8"), {}, TypeError, r"b holds float64 in the byte order .*b.astype\('float64'\)"),
        (np.ones((10, 3), ">f4"), {}, TypeError, r"b.astype\('float32'\)"),
        (np.ones((10, 3), object), {}, TypeError, "b is of type ndarray with dtype object"),
        ([1.0] * 10, {}, TypeError, "b is of type list: pass an array"),
        (np.ma.ones(10), {}, TypeError, r"b is of type MaskedArray .*mask would be lost.*b.filled"),
        (np.float64(1), {}, TypeError, "b is of type float64"),
        (np.array(1.0), {}, ValueError, "b has no axes"),
        (np.ones((3, 10)), {}, ValueError, r"b has shape \(3, 10\), so 3 unknowns along axis 0, but the matrix has 10"),
        (B, {"axis": 2}, ValueError, "axis=2 does not exist"),
        (B, {"axis": -3}, ValueError, "from -2 to 1"),
        (B, {"axis": 0.5}, TypeError, "axis=0.5 is no whole number: pass the axis of b"),
        (B, {"axis": 1.0}, TypeError, "axis=1.0 is no whole number"),
        (B, {"axis": None}, TypeError, "axis=None is no whole number"),
        (B, {"axis": (0, 1)}, TypeError, r"axis=\(0, 1\) is no whole number"),
        (B, {"out": np.ones((10, 3), ">f8")}, TypeError, "out holds float64 in the byte order"),
        (B, {"out": np.ones((10, 4))}, ValueError, r"out has shape \(10, 4\) and b has shape \(10, 3\)"),
        (B, {"out": np.ones((10, 3), np.float32)}, TypeError, "out holds float32 and b float64"),
        (B, {"out": [0.0] * 10}, TypeError, "b is an array of NumPy and out is of type list"),
        (B, {"out": np.broadcast_to(0.0, (10, 3))}, TypeError, "cannot be written"),
    ],
)
def test_right_hand_sides(b, options, error, text):
    with pytest.raises(error, match=text):
        PLAN.solve(b, **options)


def test_overlap():
    memory = np.ones(12)
    with pytest.raises(bandmill.InvalidArgumentError, match="overlap in memory"):
        PLAN.solve(memory[:10], out=memory[1:11])
    same = np.lib.stride_tricks.as_strided(np.ones(10), (10, 3), (8, 0))
    with pytest.raises(bandmill.InvalidArgumentError, match="several elements at one address"):
        PLAN.solve(B, out=same)
    assert memory.all() and (same == 1).all()


def test_a_structured_array_is_refused():
    record = np.zeros(10, [("flag", "i1"), ("value", "f8")])
    with pytest.raises(TypeError, match="cannot be read through DLPack"):
        PLAN.solve(record["value"])


def test_plans_are_made_by_factor():
    with pytest.raises(TypeError, match="factor"):
        bandmill.Plan()


def test_toeplitz():
    with pytest.raises(ValueError, match=r"coefficients have shape \(4,\)"):
        bandmill.toeplitz([1, 2, 3, 4], 10)
    with pytest.raises(ValueError, match="n=0 is out of range: pass a whole number of 1 or more"):
        bandmill.toeplitz([1, 2, 3], 0)
    for n in ("5", 2.5, None):
        with pytest.raises(TypeError, match=f"n={n!r} is no whole number"):
            bandmill.toeplitz([1, 2, 3], n)
    for coefficients in ([1j, 2, 1], ["1", "2", "1"]):
        with pytest.raises(TypeError, match="coefficients holds .*real numbers"):
            bandmill.toeplitz(coefficients, 4)
    assert bandmill.toeplitz([1, 2, 3], np.int32(4)).shape == (3, 4)


def test_masks_are_not_dropped():
    with pytest.raises(TypeError, match="ab is of type MaskedArray.*ab.filled"):
        bandmill.factor(np.ma.array(AB))


def test_the_advice_for_complex_numbers_and_foreign_bytes_works():
    b = B + 1j * np.arange(30.0).reshape(10, 3)
    x = PLAN.solve(b.real) + 1j * PLAN.solve(b.imag)
    assert np.allclose(x.imag, PLAN.solve(np.arange(30.0).reshape(10, 3)), rtol=1e-14)
    assert np.array_equal(PLAN.solve(B.astype(">f8").astype("float64")), PLAN.solve(B))


def test_no_framework_is_imported():
    code = """
import sys, numpy, bandmill
bandmill.factor(bandmill.toeplitz([-1, 4, -1], 5)).solve(numpy.ones(5))
print(sorted({"torch", "jax", "cupy", "scipy"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]" and done.stderr == ""
