"""plan.solve with NumPy arrays. test_properties.py has the random cases."""

import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest

import bandmill
from problems import check, random_ab, reference


def test_toeplitz_is_a_stencil():
    x = np.random.default_rng(1).standard_normal(30)
    b = 0.5 * np.roll(x, 2) - np.roll(x, 1) + 6 * x - 2 * np.roll(x, -1) + 0.25 * np.roll(x, -2)
    ab = bandmill.toeplitz([0.5, -1, 6, -2, 0.25], 30)
    check(bandmill.factor(ab, periodic=True).solve(b), x, np.float64)
    # As an open matrix its corners do not count.
    zero_corners = bandmill.toeplitz([0.5, -1, 6, -2, 0.25], 30, periodic=False)
    assert zero_corners[0, 1] == 0 and ab[0, 1] == 0.25
    assert np.array_equal(bandmill.factor(ab).solve(b), bandmill.factor(zero_corners).solve(b))
    for n in (1, 2, 3):
        assert bandmill.toeplitz([1, 1, 9, 1, 1], n, periodic=False).shape == (5, n)


# Nothing is copied.


@pytest.mark.parametrize(
    "view, axis",
    [
        (lambda a: a, 0),
        (lambda a: a, 2),
        (lambda a: a, 1),
        (lambda a: a.transpose(2, 0, 1), 0),
        (lambda a: a[::-1, :, ::-1], 1),
        (lambda a: a[:, :, 3], 0),
        (lambda a: np.broadcast_to(a[0, 0], (64, 64)), 1),
    ],
)
def test_no_copy(view, axis):
    rng = np.random.default_rng(2)
    b = view(rng.standard_normal((64, 64, 64)))
    out = np.empty(b.shape)
    plan = bandmill.factor(random_ab(rng, 2, 64, True), periodic=True)
    plan.solve(b, out=out, axis=axis)
    tracemalloc.start()
    try:
        plan.solve(b, out=out, axis=axis)
        assert tracemalloc.get_traced_memory()[1] < 10_000  # NumPy tells tracemalloc of every array
        if b.flags.writeable:
            plan.solve(b, out=b, axis=axis)
            assert tracemalloc.get_traced_memory()[1] < 10_000
            assert np.array_equal(b, out)
    finally:
        tracemalloc.stop()


def test_out_is_written_through_a_view():
    rng = np.random.default_rng(3)
    ab = random_ab(rng, 1, 20, False)
    b = rng.standard_normal((20, 3))
    field = np.zeros((5, 20))
    view = field[1:4].T
    address = view.__array_interface__["data"][0]
    x = bandmill.factor(ab).solve(b, out=view)
    assert x is view and x.__array_interface__["data"][0] == address
    check(field[1:4], reference(ab, False, b, 0).T, np.float64)
    assert not field[0].any() and not field[4].any()


def test_a_read_only_b_is_read():
    b = np.ones(8)
    b.flags.writeable = False
    plan = bandmill.factor(bandmill.toeplitz([0, 2, 0], 8))
    assert np.array_equal(plan.solve(b), np.full(8, 0.5))
    with pytest.raises(TypeError, match="read-only"):
        plan.solve(b, out=b)
    with pytest.raises(TypeError, match="out is of type ndarray .* cannot be written"):
        plan.solve(np.ones(8), out=b)


# Options.


def test_dtype_of_the_plan_is_the_precision():
    rng = np.random.default_rng(4)
    ab = random_ab(rng, 2, 50, True)
    b = rng.standard_normal((50, 4)).astype(np.float32)
    expected = reference(ab, True, b, 0)
    in_double = bandmill.factor(ab, periodic=True, dtype="float64")
    assert in_double.dtype == np.float64 and bandmill.factor(ab, periodic=True).dtype is None
    x = in_double.solve(b)
    assert x.dtype == np.float32 and np.array_equal(x, in_double.solve(b.astype(float)).astype(np.float32))
    out = b.copy()
    assert in_double.solve(out, out=out) is out and np.array_equal(out, x)
    in_single = bandmill.factor(ab, periodic=True, dtype=np.float32)
    y = in_single.solve(b.astype(float))
    assert y.dtype == np.float64 and np.array_equal(y, in_single.solve(b))
    check(y, expected, np.float32)


def test_threads_change_no_bit():
    rng = np.random.default_rng(5)
    ab = random_ab(rng, 2, 128, True)
    b = rng.standard_normal((128, 3000))
    x = bandmill.factor(ab, periodic=True).solve(b)
    for threads in (1, 2, 5):
        assert np.array_equal(bandmill.factor(ab, periodic=True, threads=threads).solve(b), x)


def test_what_a_plan_says_of_itself():
    ab = bandmill.toeplitz([-1, 2.5, -1], 100)
    plan = bandmill.factor(ab)
    assert (plan.n, plan.half_bandwidth, plan.periodic, plan.device, plan.dtype) == (100, 1, False, None, None)
    assert repr(plan) == "bandmill.Plan(n=100, half_bandwidth=1, periodic=False)"
    report = plan.report()
    assert (report.path, report.dtype, report.device) == ("sequential", "float64", "cpu")
    assert 1 <= report.pivot_growth < 8 and report.backward_error < 8 and 2400 <= report.bytes < 3000
    assert plan.report("float32").bytes < report.bytes
    assert bandmill.factor(ab.astype(np.float32)).report().dtype == "float32"
    given_all = bandmill.factor(ab, periodic=True, dtype=np.float32, device="cpu", threads=1)
    assert repr(given_all) == "bandmill.Plan(n=100, half_bandwidth=1, periodic=True, dtype=float32, device=cpu)"
    needs_exchanges = bandmill.factor(np.array([[0, 1.0], [0, 0], [1, 0]]))
    assert needs_exchanges.report().path == "pivoted"


def test_lists_and_integers_make_a_matrix():
    plan = bandmill.factor([[0, 1, 1], [4, 4, 4], [1, 1, 0]])
    check(plan.solve(np.array([5.0, 6.0, 5.0])), np.ones(3), np.float64)


# Threads of Python.


def test_other_threads_run_meanwhile():
    plan = bandmill.factor(bandmill.toeplitz([1, -4, 20, -4, 1], 256), periodic=True, threads=1)
    b = np.ones((256, 40_000))
    out = np.empty_like(b)
    count, stop = 0, False

    def work():
        nonlocal count
        while not stop:
            count += 1
            time.sleep(1e-4)  # gives the lock back

    thread = threading.Thread(target=work)
    interval = sys.getswitchinterval()
    thread.start()
    try:
        sys.setswitchinterval(10)  # from here on the other thread runs only when this one gives the lock back by itself
        before = count
        for _ in range(5):
            plan.solve(b, out=out)
        during = count - before
    finally:
        stop = True
        sys.setswitchinterval(interval)
        thread.join()
    assert during > 5


def test_a_plan_from_many_threads():
    rng = np.random.default_rng(6)
    ab = random_ab(rng, 2, 60, False)
    b = rng.standard_normal((60, 500))
    expected = {dtype: bandmill.factor(ab).solve(b.astype(dtype)) for dtype in ("float32", "float64")}
    plan, results = bandmill.factor(ab), []

    def work(dtype):
        results.append(all(np.array_equal(plan.solve(b.astype(dtype)), expected[dtype]) for _ in range(20)))

    threads = [threading.Thread(target=work, args=(dtype,)) for dtype in ("float32", "float64") * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 6


def test_a_forked_process_solves():
    code = """
import os
import numpy as np
import bandmill

plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 256), threads=2)
b = np.ones((256, 1000))
x = plan.solve(b)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(plan.solve(b), x) else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
