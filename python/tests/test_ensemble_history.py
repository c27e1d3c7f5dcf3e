"""What is measured and told while an ensemble advances: samples, progress, interruption, lost members."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import bandmill


def small(members=12, **options):
    options = {"points": 32, "time_step": 0.01, "seed": 3, **options}
    return bandmill.Ensemble(bandmill.CahnHilliard(), members, **options)


# Statistics.


def test_statistics_are_those_of_the_values():
    ensemble, other = small(50), small(50)
    history = ensemble.advance(
        until=2, samples=5, observables=["largest"], histograms={"domain_size": (1.05, 2.6, 9)}, keep_values=True
    )
    assert list(history) == ["largest", "domain_size"] and len(history) == 2 and "mean" not in history
    assert np.array_equal(history.step, [0, 50, 100, 150, 200]) and np.array_equal(history.time, history.step * 0.01)
    for k, step in enumerate(history.step):
        other.advance(steps=step - other.step)
        assert np.array_equal(history["domain_size"].values[k], other.observe("domain_size"))
    for statistic in history.values():
        values = statistic.values
        np.testing.assert_allclose(statistic.mean, values.mean(1), rtol=1e-14)
        np.testing.assert_allclose(statistic.variance, values.var(1, ddof=1), atol=1e-14)
        np.testing.assert_allclose(statistic.standard_error**2, statistic.variance / 50, rtol=1e-12)
        assert (statistic.members == 50).all() and not statistic.left_out.any()
    sizes = history["domain_size"]
    np.testing.assert_allclose(sizes.bin_edges, np.linspace(1.05, 2.6, 10))
    for k, values in enumerate(sizes.values):
        assert np.array_equal(sizes.histogram[k], np.histogram(values, sizes.bin_edges)[0])
        assert sizes.below[k] == (values < 1.05).sum() and sizes.above[k] == (values > 2.6).sum()
    assert sizes.below[0] == 50 and sizes.above.any() and sizes.histogram[-1].any()
    assert history["largest"].histogram is None and history["largest"].bin_edges is None
    assert "5 samples of largest, domain_size, time 0 to 2" in repr(history)
    assert ensemble.history is history and not history.interrupted and history.lost == []


def test_when_samples_are_taken():
    ensemble = small(2)
    assert len(ensemble.advance(until=0.1).time) == 0
    history = ensemble.advance(until=0.25, samples=[0.05, 0.1, 0.111, 0.2], observables="mean")
    assert np.array_equal(history.step, [10, 12, 20])  # 0.05 is past; where it stands counts
    assert history["mean"].values is None
    assert np.array_equal(ensemble.advance(until=0.3, samples=3, observables="mean").step, [25, 28, 30])
    assert np.array_equal(ensemble.advance(until=0.3, samples=3, observables="rate").step, [30])  # measured once more
    every = ensemble.advance(steps=7, samples="every step", observables="mean")
    assert np.array_equal(every.step, np.arange(31, 38))
    assert np.array_equal(ensemble.advance(steps=10, samples=1, observables="mean").step, [47])
    assert len(ensemble.advance(until=2.47, observables="mean").time) == 101
    assert len(ensemble.advance(until=2.465, observables="mean").time) == 1  # already reached


def test_to_xarray():
    xarray = pytest.importorskip("xarray")
    ensemble = small(4, first_member=10)
    history = ensemble.advance(
        until=1, samples=3, observables="mean", histograms={"domain_size": (1, 2, 4)}, keep_values=True
    )
    data = history.to_xarray()
    assert isinstance(data, xarray.Dataset) and dict(data.sizes) == {"time": 3, "member": 4, "domain_size_bin": 4}
    assert np.array_equal(data.member, [10, 11, 12, 13]) and np.array_equal(
        data.domain_size_bin, [1.125, 1.375, 1.625, 1.875]
    )
    assert np.array_equal(data["mean"], history["mean"].values)
    assert np.array_equal(data.domain_size_stderr, history["domain_size"].standard_error)
    assert data.domain_size_histogram.dims == ("time", "domain_size_bin")
    for part in ("members", "left_out", "below", "above"):
        assert np.array_equal(data[f"domain_size_{part}"], getattr(history["domain_size"], part))
    counted = data.domain_size_histogram.sum("domain_size_bin") + data.domain_size_below + data.domain_size_above
    assert np.array_equal(counted, data.domain_size_members)
    assert "mean_below" not in data  # it has no histogram


def test_to_xarray_tells_what_was_run(tmp_path):
    pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    ensemble = bandmill.Ensemble(bandmill.CahnHilliard(0.02), 3, points=16, time_step=0.01, seed=2**64 - 1)
    data = ensemble.advance(steps=2, observables="mean").to_xarray()
    expected = {"equation": "cahn-hilliard", "gamma": 0.02, "members": 3, "points": 16, "time_step": 0.01}
    expected |= {"seed": 2**64 - 1, "version": bandmill.__version__, "dtype": "float64", "device": "cpu"}
    assert expected.items() <= data.attrs.items()
    data.to_netcdf(tmp_path / "a.nc", engine="netcdf4")
    with bandmill.open(tmp_path / "a.nc") as again:
        assert expected.items() <= again.attrs.items()
    forced = bandmill.Ensemble(bandmill.ForcedCahnHilliard([1, 2, 3]), initial=np.zeros(16), time_step=0.01)
    given = forced.advance(steps=1).to_xarray()
    assert "seed" not in given.attrs and "amplitude" not in given.attrs and given.attrs["speed"] == 0.5
    options = {"points": 16, "time_step": 0.01, "ends": "dirichlet", "end_value": 0.25, "first_member": 3}
    named = bandmill.Ensemble(bandmill.Equation("cahn-hilliard", 0.02), 2, seed=1, **options)
    given = named.advance(steps=1).to_xarray().attrs
    assert given["equation_fields"] == [0.02] and given["end_value"] == 0.25 and given["first_member"] == 3


def test_without_xarray(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ModuleNotFoundError, match="xarray is not installed.*pip install"):
        small().advance(steps=1).to_xarray()


# Progress and interruption.


def test_progress_is_called_and_can_stop():
    ensemble, calls = small(), []
    ensemble.advance(steps=10)
    history = ensemble.advance(steps=20, chunk=5, progress=calls.append, observables="mean", samples=2)
    assert [(p.step, p.steps) for p in calls] == [(5, 20), (10, 20), (15, 20), (20, 20)]
    assert calls[-1].time == ensemble.time == 30 * 0.01 and isinstance(calls[0], bandmill.Progress)
    assert not history.interrupted
    history = ensemble.advance(
        steps=20, chunk=5, progress=lambda p: p.step < 10, observables="mean", samples="every step"
    )
    assert history.interrupted and ensemble.step == 40 and np.array_equal(history.step, np.arange(31, 41))
    assert "interrupted" in repr(history)
    ensemble.advance(steps=10)
    whole = small()
    whole.advance(steps=50)
    assert np.array_equal(ensemble.state, whole.state)


def test_an_exception_of_progress_ends_the_run():
    ensemble = small()

    def show(progress):
        if progress.step >= 12:
            raise ZeroDivisionError("of the caller")

    with pytest.raises(ZeroDivisionError, match="of the caller"):
        ensemble.advance(steps=40, chunk=4, progress=show, observables="mean", samples="every step")
    assert ensemble.step == 12 and ensemble.history.interrupted and len(ensemble.history["mean"].mean) == 12
    after = ensemble.advance(steps=3, observables=["rate", "largest"], samples="every step")
    assert list(after) == ["rate", "largest"] and np.array_equal(after.step, [13, 14, 15])
    whole = small()
    whole.advance(steps=15)
    assert np.array_equal(ensemble.state, whole.state)


def test_progress_may_look_but_not_step():
    ensemble, seen = small(), []

    def show(progress):
        seen.append((ensemble.step, ensemble.observe("mean_square").mean(), ensemble.state))
        with pytest.raises(bandmill.InvalidArgumentError, match="is being advanced"):
            ensemble.advance(steps=1)
        with pytest.raises(bandmill.InvalidArgumentError, match="is being advanced"):
            ensemble.state = np.zeros(32)

    history = ensemble.advance(steps=20, chunk=10, progress=show, observables="mean_square", samples="every step")
    assert [step for step, _, _ in seen] == [10, 20]
    np.testing.assert_allclose(history["mean_square"].mean[9::10], [square for _, square, _ in seen], rtol=1e-13)
    assert np.array_equal(seen[1][2], ensemble.state) and not np.array_equal(seen[0][2], seen[1][2])


def wait_until_it_has_begun(ensemble):
    while ensemble.step == 0:
        time.sleep(0.01)


def test_ctrl_c():
    ensemble = small(200)

    def press():
        wait_until_it_has_begun(ensemble)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        ensemble.advance(until=1e9, observables="mean", samples=[0.0, 1e9])
    thread.join()
    assert ensemble.step > 0 and np.array_equal(ensemble.history.step, [0]) and ensemble.history.interrupted
    steps = ensemble.step
    ensemble.advance(steps=10)
    whole = small(200)
    whole.advance(steps=steps + 10)
    assert np.array_equal(ensemble.state, whole.state)


def test_other_threads_run_and_look_meanwhile():
    ensemble, stop = small(200), threading.Event()
    runner = threading.Thread(
        target=lambda: ensemble.advance(until=1e9, chunk=100, progress=lambda p: not stop.is_set())
    )
    runner.start()
    wait_until_it_has_begun(ensemble)  # this thread runs although that one steps
    with pytest.raises(bandmill.InvalidArgumentError, match="is being advanced"):
        ensemble.advance(steps=1)
    assert np.isfinite(ensemble.state).all() and "step=" in repr(ensemble)
    stop.set()
    runner.join()
    steps = ensemble.step
    assert steps > 0 and steps % 100 == 0


def test_forked_processes_step_too():
    code = """
import os, numpy, bandmill
def make():
    return bandmill.Ensemble(bandmill.CahnHilliard(), 64, points=256, seed=1)
kept = make()
kept.advance(steps=100)
before = make()
if os.fork() == 0:
    before.advance(steps=100, progress=lambda p: True)
    after = make()
    after.advance(steps=100)
    os._exit(0 if numpy.array_equal(before.state, kept.state) and numpy.array_equal(after.state, kept.state) else 1)
assert os.wait()[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


# What goes wrong on the way.


def grows():
    """Member 1 starts so far out that the explicit cubic term throws it off at once."""
    return bandmill.Ensemble(
        bandmill.CahnHilliard(), points=16, time_step=0.05, initial=bandmill.UniformNoise(0.1, [0.0, 200.0, 0.0])
    )


@pytest.mark.filterwarnings("ignore::bandmill.AccuracyWarning")
def test_lost_members():
    ensemble = grows()
    history = ensemble.advance(until=1, observables="mean", samples=2, keep_values=True, chunk=4)
    assert [lost.member for lost in history.lost] == [1] and ensemble.lost == history.lost
    assert history.lost[0].parameters == {} and 0 < history.lost[0].time <= 1 and "lost=1" in repr(ensemble)
    assert np.array_equal(history["mean"].members, [3, 2]) and history["mean"].left_out[1] == 1
    assert np.isnan(history["mean"].values[1, 1]) and np.isnan(ensemble.state[1]).any()
    assert ensemble.advance(steps=5).lost == [] and len(ensemble.lost) == 1
    assert len(pickle_copy(ensemble).lost) == 1
    ensemble.state = np.zeros(16)
    assert ensemble.lost == []
    alone = bandmill.Ensemble(bandmill.CahnHilliard(), 3, points=16, time_step=0.05)
    other = grows()
    alone.advance(until=1)
    other.advance(until=1)
    assert np.array_equal(other.state[[0, 2]], alone.state[[0, 2]])


def pickle_copy(ensemble):
    import pickle

    return pickle.loads(pickle.dumps(ensemble))


@pytest.mark.filterwarnings("ignore::bandmill.AccuracyWarning")
def test_unstable():
    ensemble = grows()
    with pytest.raises(bandmill.UnstableError, match="member 1 is no longer finite") as caught:
        ensemble.advance(until=1, stop_when_lost=True, observables="mean", samples=[0.0, 1.0], chunk=4)
    error = caught.value
    assert error.member == 1 and error.time > 0 and isinstance(error, ArithmeticError)
    again = pickle_copy(error)
    assert (str(again), again.member, again.time) == (str(error), error.member, error.time)
    assert [lost.member for lost in ensemble.lost] == [1] and np.array_equal(ensemble.history.step, [0])
    assert np.isfinite(ensemble.state[0]).all()
    forced = bandmill.Ensemble(bandmill.ForcedCahnHilliard(1e30), 1, points=16)
    with pytest.raises(bandmill.UnstableError, match="no member is finite"):
        forced.advance(until=100)
    assert forced.lost[0].parameters == {"amplitude": 1e30}


def test_warnings():
    with pytest.warns(bandmill.AccuracyWarning, match="the time step 1 is above") as caught:
        small(time_step=1.0).advance(steps=1)
    assert caught[0].filename == __file__ and issubclass(bandmill.AccuracyWarning, RuntimeWarning)
    ensemble = small(time_step=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(bandmill.AccuracyWarning):
            ensemble.advance(steps=1)
    assert ensemble.step == 0 and np.isfinite(ensemble.state).all()
