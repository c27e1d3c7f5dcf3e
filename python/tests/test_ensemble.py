"""Ensembles: against dense steps, against analysis, and the laws they keep."""

import copy
import pickle

import numpy as np
import pytest

import bandmill
from stepping import ENDS, Stepper, second_difference

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402


def small(members=12, **options):
    options = {"points": 32, "time_step": 0.01, "seed": 3, **options}
    return bandmill.Ensemble(bandmill.CahnHilliard(), members, **options)


@st.composite
def cases(draw):
    points = draw(st.integers(5, 40))
    ends = draw(st.sampled_from(ENDS))
    value = draw(st.floats(-0.5, 0.5)) if ends == "dirichlet" else 0.0
    name = draw(st.sampled_from(["diffusion", "hyperdiffusion", "cahn-hilliard", "forced-cahn-hilliard"]))
    if name == "forced-cahn-hilliard":
        ends, value = "periodic", 0.0
    coefficient = draw(st.floats(0.01, 0.1))
    members, steps = draw(st.integers(1, 20)), draw(st.integers(0, 12))
    return name, coefficient, points, ends, value, members, steps, draw(st.integers(0, 2**32 - 1))


@hypothesis.given(cases())
def test_steps_are_those_of_dense_matrices(case):
    name, coefficient, points, ends, value, members, steps, seed = case
    rng = np.random.default_rng(seed)
    start = rng.uniform(-1, 1, (members, points))
    amplitude = rng.uniform(0, 1, members)
    equation, parameters = {
        "diffusion": (bandmill.Diffusion(coefficient), [coefficient]),
        "hyperdiffusion": (bandmill.Hyperdiffusion(coefficient), [coefficient]),
        "cahn-hilliard": (bandmill.CahnHilliard(coefficient), [coefficient]),
        "forced-cahn-hilliard": (
            bandmill.ForcedCahnHilliard(amplitude, gamma=coefficient, wavenumber=2, speed=0),
            [coefficient, 2, amplitude],
        ),
    }[name]
    grid = {"length": 5.0, "ends": ends, "end_value": value, "time_step": 0.003}
    ensemble = bandmill.Ensemble(equation, points=points, initial=start, **grid)
    assert (ensemble.members, ensemble.points) == (members, points)
    assert np.array_equal(ensemble.state, start)
    oracle = Stepper(name, parameters, points, 5.0, ends, value, 0.003)
    np.testing.assert_allclose(ensemble.x, oracle.x, rtol=1e-14)
    ensemble.advance(steps=steps)
    assert ensemble.step == steps and ensemble.time == steps * 0.003
    # (1 - dt L) has a condition of up to 0.003 * 0.1 * 16 / dx^4 = 20.
    np.testing.assert_allclose(ensemble.state, oracle.advance(start, steps), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        ensemble.observe("rate"), np.sqrt((oracle.rate(ensemble.state) ** 2).mean(1)), rtol=1e-9, atol=1e-12
    )


def test_float32_follows_float64():
    start = np.random.default_rng(0).uniform(-0.1, 0.1, (5, 64)).astype("float32")
    runs = [bandmill.Ensemble(bandmill.CahnHilliard(), initial=start, dtype=dtype) for dtype in (None, "float64")]
    for run in runs:
        run.advance(steps=100)
    single, double = (run.state for run in runs)
    assert single.dtype == np.float32 and double.dtype == np.float64
    assert 0 < np.abs(single - double).max() < 1e-4


@pytest.mark.parametrize("k", [1, 2, 5])
def test_diffusion_decays_as_it_should(k):
    ensemble = bandmill.Ensemble(
        bandmill.Diffusion(0.3), 2, points=48, time_step=0.01, initial=bandmill.Cosine(0.7, k, mean=0.2)
    )
    ensemble.advance(until=1)
    wave = 0.7 * np.cos(k * ensemble.x)
    s = 0.01 * 0.3 * (2 / ensemble.length * 48 * np.sin(k * np.pi / 48)) ** 2
    decay = ((1 - s / 2) / (1 + s / 2)) ** 100  # of Crank-Nicolson on this grid
    np.testing.assert_allclose(ensemble.state, np.tile(0.2 + decay * wave, (2, 1)), atol=1e-13)
    assert abs(decay - np.exp(-0.3 * k**2)) < 0.01  # and of the equation, but for the grid


@pytest.mark.parametrize("ends", ["periodic", "neumann"])
def test_mean_stays_and_energy_falls(ends):
    ensemble = small(30, ends=ends, initial=bandmill.UniformNoise(0.3, mean=np.linspace(-0.4, 0.4, 30)))
    history = ensemble.advance(until=4, samples=40, observables=["mean", "free_energy"], keep_values=True)
    mean, energy = history["mean"].values, history["free_energy"].values
    assert np.abs(mean - mean[0]).max() < 1e-13
    assert (np.diff(energy, axis=0) <= 1e-14).all() and energy[-1].mean() < 0.9 * energy[0].mean()


def test_observables():
    ensemble = small(7)
    ensemble.advance(until=2)
    c, dx = ensemble.state, ensemble.length / 32
    square = (c**2).mean(1)
    slope = (np.roll(c, -1, 1) - c) / dx
    expected = {
        "mean": c.mean(1),
        "mean_square": square,
        "domain_size": 1 / (1 - square),
        "free_energy": ((c**2 - 1) ** 2 / 4 + 0.01 / 2 * slope**2).mean(1),
        "largest": np.abs(c).max(1),
        "rate": np.sqrt(
            (second_difference(c**3 - c - 0.01 * second_difference(c, dx, "periodic"), dx, "periodic") ** 2).mean(1)
        ),
        "interfaces": ((c < 0) != (np.roll(c, 1, 1) < 0)).sum(1),
    }
    assert set(bandmill.observables) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(ensemble.observe(name), values, rtol=1e-9, atol=1e-12, err_msg=name)


# The same bits.


@hypothesis.given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.booleans())
def test_one_advance_or_many(pieces, measure):
    whole, parts = small(5), small(5)
    whole.advance(steps=sum(pieces))
    for steps in pieces:
        parts.advance(steps=steps, observables="mean" if measure else (), samples=2 if measure else None)
    assert parts.step == whole.step and np.array_equal(parts.state, whole.state)


def test_members_do_not_feel_each_other():
    amplitude = np.linspace(0, 2, 13)

    def run(first, last, **options):
        ensemble = bandmill.Ensemble(
            bandmill.ForcedCahnHilliard(amplitude[first:last]),
            points=40,
            time_step=0.002,
            seed=8,
            first_member=first,
            **options,
        )
        assert ensemble.members == last - first
        ensemble.advance(steps=50)
        return ensemble.state

    whole = run(0, 13)
    assert np.array_equal(np.concatenate([run(0, 4), run(4, 5), run(5, 13)]), whole)
    assert np.array_equal(run(0, 13, threads=1), whole)
    assert np.array_equal(run(0, 13, members_per_slice=5), whole)
    assert len(np.unique(whole, axis=0)) == 13


def test_noise():
    a, b, c = small(seed=1), small(seed=1), small(seed=2)
    assert np.array_equal(a.state, b.state) and not np.isclose(a.state, c.state).any(1).all()
    assert np.abs(a.state).max() <= 0.1 and a.seed == 1
    assert np.array_equal(small(seed=None).state, small(seed=0).state)
    means = np.linspace(-1, 1, 12)
    exact = small(initial=bandmill.UniformNoise(0.5, means, exact_mean=True))
    np.testing.assert_allclose(exact.state.mean(1), means, atol=1e-15)
    twins = small(initial=bandmill.UniformNoise(numbers=[7] * 12))
    assert (twins.state == twins.state[0]).all()
    assert np.array_equal(twins.state[0], small(1, first_member=7).state[0])


def test_initial_states():
    x = small().x
    assert np.array_equal(x, np.arange(32) * (2 * np.pi / 32))
    shift = np.arange(3)[:, np.newaxis]
    by_function = small(3, initial=lambda x: np.sin(x + shift), seed=None)
    assert np.array_equal(by_function.state, np.sin(x + shift)) and by_function.seed is None
    for initial in (np.sin(x), np.sin(x)[np.newaxis], list(np.sin(x)), np.sin):
        assert np.array_equal(small(3, initial=initial, seed=None).state, np.tile(np.sin(x), (3, 1)))
    strided = np.random.default_rng(0).random((32, 3))[::-1].T
    assert np.array_equal(bandmill.Ensemble(bandmill.Diffusion(), initial=strided).state, strided)
    constant = bandmill.Ensemble(bandmill.Diffusion(), initial=bandmill.Constant([0.5, 1.5]), points=6)
    assert np.array_equal(constant.state, [[0.5] * 6, [1.5] * 6])
    cosine = small(2, initial=bandmill.Cosine(0.5, 3, 0.1), seed=None)
    np.testing.assert_allclose(cosine.state, np.tile(0.1 + 0.5 * np.cos(3 * x), (2, 1)), atol=1e-15)


@pytest.mark.parametrize(
    "again", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy, lambda e: e.copy()]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_copy_goes_on_with_the_same_bits(again, dtype):
    ensemble = bandmill.Ensemble(
        bandmill.ForcedCahnHilliard([0.1, 0.2, 0.3]), points=33, seed=5, dtype=dtype, time_step=0.01
    )
    ensemble.advance(steps=20)
    other = again(ensemble)
    assert repr(other) == repr(ensemble) and other.equation.wavenumber == 1
    before = ensemble.state
    assert other.state.dtype == dtype and np.array_equal(other.state, before)
    other.advance(steps=15, observables="mean")
    assert np.array_equal(ensemble.state, before)
    ensemble.advance(steps=15)
    assert np.array_equal(other.state, ensemble.state) and not np.array_equal(before, ensemble.state)


def test_equations_by_name():
    runs = [small(3), bandmill.Ensemble(bandmill.Equation("cahn-hilliard", 0.01), 3, points=32, time_step=0.01, seed=3)]
    forced = bandmill.ForcedCahnHilliard([0.5, 1.0], gamma=0.02, wavenumber=2, speed=0.25)
    named = bandmill.Equation("forced-cahn-hilliard", 0.02, 2, 0.25, amplitude=np.array([0.5, 1.0]))
    pairs = [runs, [bandmill.Ensemble(equation, points=32, time_step=0.01) for equation in (forced, named)]]
    for a, b in pairs:
        a.advance(steps=30)
        b.advance(steps=30)
        assert np.array_equal(a.state, b.state)
    assert "forced-cahn-hilliard" in repr(named) and "amplitude=<2 values>" in repr(forced)
    assert bandmill.CahnHilliard() == bandmill.CahnHilliard(gamma=0.01) != bandmill.CahnHilliard(0.02)


def test_the_state_can_be_set():
    ensemble, other = small(4), small(4, seed=9)
    ensemble.advance(steps=10)
    ensemble.state = other.state
    assert ensemble.step == 10
    ensemble.advance(steps=25)
    other.advance(steps=25)
    assert np.array_equal(ensemble.state, other.state)
    ensemble.state = np.zeros(32, int)
    assert not ensemble.state.any()
    copied = ensemble.state
    copied[:] = 1
    assert not ensemble.state.any()


def test_what_an_ensemble_says_of_itself():
    ensemble = bandmill.Ensemble(
        bandmill.Diffusion(2), 3, points=20, length=5, ends="dirichlet", end_value=0.5, dtype=np.float32, threads=2
    )
    assert (ensemble.members, ensemble.points, ensemble.length, ensemble.ends, ensemble.end_value) == (
        3,
        20,
        5,
        "dirichlet",
        0.5,
    )
    assert (ensemble.device, ensemble.framework, ensemble.dtype) == ("cpu", "numpy", np.float32)
    assert ensemble.time_step == 0.1 * (5 / 20) and ensemble.step == 0 and ensemble.time == 0
    assert ensemble.equation == bandmill.Diffusion(2.0) and ensemble.seed == 0 and ensemble.first_member == 0
    assert (
        ensemble.members_per_slice == 3 and "SIMD" in ensemble.path and ensemble.lost == [] and ensemble.history is None
    )
    text = repr(ensemble)
    for part in ("Diffusion(diffusivity=2.0)", "members=3", "points=20", "dirichlet (0.5)", "float32 on cpu", "time=0"):
        assert part in text
    x = ensemble.x
    x[:] = 0
    assert ensemble.x.all()
