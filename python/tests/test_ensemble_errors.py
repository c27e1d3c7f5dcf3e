"""What ensembles refuse, as what, and in which words."""

import sys

import numpy as np
import pytest

import bandmill

CH = bandmill.CahnHilliard()


def small(**options):
    return bandmill.Ensemble(CH, 3, points=16, time_step=0.01, **options)


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda: bandmill.CahnHilliard("thin"), TypeError, "gamma='thin' is no number"),
        (lambda: bandmill.CahnHilliard(None), TypeError, "gamma=None is no number"),
        (lambda: bandmill.ForcedCahnHilliard(np.ones((2, 2))), ValueError, r"amplitude has shape \(2, 2\)"),
        (lambda: bandmill.ForcedCahnHilliard("x"), TypeError, "amplitude holds <U1"),
        (lambda: bandmill.Equation("heat"), ValueError, "no equation 'heat' in this build: pass one of diffusion, hyp"),
        (lambda: bandmill.Equation("cahn-hilliard", 1, beta=2), TypeError, "takes no parameters by name, but got beta"),
        (lambda: bandmill.Equation("forced-cahn-hilliard"), TypeError, "takes amplitude by name, but got none"),
        (lambda: bandmill.Ensemble(bandmill.Equation("diffusion", 1, 2), 3), ValueError, "2 numbers .* which has 1"),
        (lambda: bandmill.Ensemble("cahn-hilliard", 3), TypeError, "equation is of type str: pass one, as in"),
        (lambda: bandmill.Ensemble(bandmill.CahnHilliard, 3), TypeError, "equation is of type type"),
        (lambda: bandmill.Ensemble(bandmill.CahnHilliard(-1), 3), ValueError, "gamma is -1.*positive"),
        (lambda: bandmill.Ensemble(bandmill.Diffusion(np.nan), 3), ValueError, "diffusivity is nan"),
        (lambda: bandmill.Ensemble(bandmill.ForcedCahnHilliard(1, speed=-1), 3), ValueError, "speed .* is negative"),
        (lambda: bandmill.Ensemble(bandmill.ForcedCahnHilliard([1, 2]), 3), ValueError, "amplitude has 2 values for 3"),
        (
            lambda: bandmill.Ensemble(bandmill.ForcedCahnHilliard(1), 3, ends="neumann"),
            ValueError,
            "periodic grids only",
        ),
    ],
)
def test_equations(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({"members": 0}, ValueError, "members=0 is out of range: pass a whole number of 1 or more"),
        ({"members": -1}, ValueError, "members=-1 is out of range: pass a whole number of 1 or more"),
        ({"initial": np.ma.zeros(16)}, TypeError, "initial is of type MaskedArray"),
        ({"members": 2.5}, TypeError, "members=2.5 is no whole number"),
        ({"members": None}, ValueError, "how many members are there.*pass members="),
        ({"points": 4}, ValueError, "a grid of 4 points is too small"),
        ({"points": 0}, ValueError, "points=0 is out of range: pass a whole number of 1 or more"),
        ({"members": 2**64}, ValueError, "from 1 to 9223372036854775807"),
        ({"points": "many"}, TypeError, "points='many' is no whole number"),
        ({"length": 0}, ValueError, "cannot have the length 0"),
        ({"length": "long"}, TypeError, "length='long' is no number"),
        ({"ends": "open"}, ValueError, "no ends 'open': give periodic, neumann or dirichlet"),
        ({"end_value": 1.0}, ValueError, "the ends are periodic: only Dirichlet"),
        ({"time_step": 0}, ValueError, "time_step=0: pass a positive, finite number, or leave it out"),
        ({"time_step": np.nan}, ValueError, "time_step=nan"),
        ({"time_step": np.inf}, ValueError, "time_step=inf: pass a positive, finite number, or leave it out for a"),
        ({"seed": -1}, ValueError, "seed=-1 is out of range"),
        ({"seed": 2**64}, ValueError, "seed=18446744073709551616 is out of range"),
        ({"seed": "x"}, TypeError, "seed='x' is no whole number"),
        ({"seed": 1, "initial": np.zeros(16)}, ValueError, "seed= was given, but there is no noise"),
        ({"dtype": "int32"}, TypeError, "dtype='int32'"),
        ({"device": "tpu"}, ValueError, "device='tpu' is not known"),
        ({"framework": "numba"}, ValueError, "framework='numba' is not known: pass 'numpy', 'torch', 'cupy', 'jax'"),
        ({"threads": 0}, ValueError, "threads=0 is out of range"),
        ({"first_member": -1}, ValueError, "first_member=-1"),
        ({"members_per_slice": 0}, ValueError, "members_per_slice=0"),
        ({"initial": np.zeros((2, 16))}, ValueError, r"shape \(2, 16\), but the ensemble has 3 members of 16 points"),
        ({"initial": np.zeros(15), "points": 16}, ValueError, r"pass an array of shape \(3, 16\), or \(16,\) for all"),
        ({"initial": 0.5}, ValueError, r"initial has shape \(\)"),
        ({"initial": np.zeros(16, complex)}, TypeError, "initial holds complex128"),
        ({"initial": "noise"}, TypeError, "initial holds <U5"),
        ({"initial": [[1.0], [1.0, 2.0]]}, ValueError, "initial is no array of numbers"),
        ({"initial": lambda x: x[1:]}, ValueError, r"initial has shape \(15,\)"),
        ({"initial": np.full(16, np.nan)}, ValueError, "initial state of member 0 is not finite at point 0"),
        ({"initial": bandmill.UniformNoise(-1)}, ValueError, "amplitude of the noise is -1"),
        ({"initial": bandmill.UniformNoise(mean=[1, 2])}, ValueError, "2 values for the mean, but there are 3"),
        ({"initial": bandmill.UniformNoise(numbers=[1])}, ValueError, "1 numbers for 3 members"),
        ({"initial": bandmill.UniformNoise(numbers=[0, 1, -1])}, ValueError, "numbers=-1 is out of range"),
        ({"initial": bandmill.Cosine(1, np.inf)}, ValueError, "is not finite"),
        ({"initial": bandmill.Constant([1, 2])}, ValueError, "2 values for the value"),
    ],
)
def test_options(options, error, text):
    with pytest.raises(error, match=text):
        bandmill.Ensemble(CH, **{"members": 3, "points": 16, **options})


@pytest.mark.parametrize(
    "options, error, text",
    [
        ({}, ValueError, "pass one of until= .* and steps="),
        ({"until": 1, "steps": 1}, ValueError, "pass one of"),
        ({"until": -1}, ValueError, "until=-1: pass a finite time"),
        ({"until": np.nan}, ValueError, "until=nan"),
        ({"until": "late"}, TypeError, "until='late' is no number"),
        ({"until": 0.01}, ValueError, "to end at the time 0.01, but the ensemble has reached 0.05"),
        ({"until": 1e300}, ValueError, "more than can be counted"),
        ({"steps": -1}, ValueError, "steps=-1 is out of range"),
        ({"steps": 1, "observables": "size"}, ValueError, "no observable 'size': give one of mean, mean_square"),
        ({"steps": 1, "observables": ["mean", 3]}, TypeError, "3 is no name of an observable"),
        ({"steps": 1, "samples": 2}, ValueError, "no observables"),
        ({"steps": 1, "observables": "mean", "samples": 0}, ValueError, "samples=0"),
        ({"steps": 1, "observables": "mean", "samples": 2.5}, TypeError, "samples=2.5 is no whole number"),
        ({"steps": 1, "observables": "mean", "samples": "all"}, ValueError, "samples='all': pass a number, an array"),
        ({"until": 1, "observables": "mean", "samples": [2]}, ValueError, r"the time 2 \(the run ends at 1\)"),
        ({"until": 1, "observables": "mean", "samples": [-1]}, ValueError, "the time -1"),
        ({"until": 1, "observables": "mean", "samples": [np.nan]}, ValueError, "the time nan"),
        ({"until": 1, "observables": "mean", "samples": [[1]]}, ValueError, r"samples has shape \(1, 1\)"),
        (
            {"steps": 1, "histograms": {"mean": (0, 1)}},
            ValueError,
            r"histograms\['mean'\] is \(0, 1\): pass \(low, high",
        ),
        ({"steps": 1, "histograms": {"mean": (1, 0, 5)}}, ValueError, "histogram of mean goes from 1 to 0"),
        ({"steps": 1, "histograms": {"mean": (0, 1, 0)}}, ValueError, "bins=0"),
        ({"steps": 1, "histograms": {"nothing": (0, 1, 5)}}, ValueError, "no observable 'nothing'"),
        ({"steps": 1, "histograms": ["mean"]}, TypeError, r"histograms=\['mean'\] is no dict: pass one, as in"),
        ({"steps": 1, "observables": 3}, TypeError, "observables=3 is no list of names: pass some of mean"),
        ({"steps": 1, "progress": 3}, TypeError, "progress=3: pass True, False or a function"),
        ({"steps": 1, "chunk": 0}, ValueError, "chunk=0"),
    ],
)
def test_advance(options, error, text):
    ensemble = small()
    history = ensemble.advance(steps=5, observables="mean")
    with pytest.raises(error, match=text):
        ensemble.advance(**options)
    assert ensemble.step == 5 and ensemble.history is history
    ensemble.advance(steps=1)


def test_a_loss_is_noticed_at_the_end_of_a_chunk():
    for chunk in (5, 20):
        ensemble = small()
        state = ensemble.state
        state[1] *= 1e9  # not finite after very few steps
        ensemble.state = state
        with pytest.warns(bandmill.AccuracyWarning):
            (lost,) = ensemble.advance(steps=40, chunk=chunk).lost
        assert lost.member == 1 and lost.time == pytest.approx(chunk * 0.01)


def test_too_many_members_for_the_memory():
    with pytest.raises(MemoryError, match=r"1000000000000 members of 256 points .*2.05e\+06 GB.*fewer members"):
        bandmill.Ensemble(CH, 10**12)


def test_a_framework_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match="torch is not installed.*pip install torch.*framework='numpy'"):
        small(framework="torch")


def test_states():
    ensemble = small()
    before = ensemble.state
    for wrong, error, text in [
        (np.zeros((16, 3)), ValueError, r"state has shape \(16, 3\), but the ensemble has 3 members of 16 points"),
        (np.full(16, np.inf), ValueError, "state is not finite"),
        (np.zeros(16, bool), TypeError, "state holds bool"),
        (None, TypeError, "state holds object"),
    ]:
        with pytest.raises(error, match=text):
            ensemble.state = wrong
    assert np.array_equal(ensemble.state, before)


def test_names():
    ensemble = small()
    with pytest.raises(ValueError, match="no observable 'size'"):
        ensemble.observe("size")
    with pytest.raises(TypeError, match="no name of an observable"):
        ensemble.observe(["mean"])
    with pytest.raises(KeyError, match="'rate' was not measured: there is mean"):
        ensemble.advance(steps=1, observables="mean")["rate"]
    with pytest.raises(AttributeError):
        ensemble.members = 5


@pytest.mark.skipif(bool(bandmill.cuda_devices()), reason="there is a GPU")
def test_no_gpu():
    with pytest.raises(bandmill.BackendUnavailableError):
        small(device="cuda")
    with pytest.raises(bandmill.BackendUnavailableError):
        small().copy(device="cuda")
