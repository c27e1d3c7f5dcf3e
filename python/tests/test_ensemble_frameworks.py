"""Ensembles whose state is an array of torch, CuPy or JAX; on a GPU where there is one."""

import numpy as np
import pytest

import bandmill

GPU = pytest.mark.skipif(not bandmill.cuda_devices(), reason="no GPU, or a build without CUDA")


def small(**options):
    options = {"points": 64, "seed": 2, "time_step": 0.005, **options}
    return bandmill.Ensemble(bandmill.CahnHilliard(), 20, **options)


@pytest.fixture
def jax():
    module = pytest.importorskip("jax")
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield module
    module.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch(dtype):
    torch = pytest.importorskip("torch")
    ensemble, plain = small(framework="torch", dtype=dtype), small(dtype=dtype)
    assert type(ensemble.state) is torch.Tensor and ensemble.state.dtype is getattr(torch, dtype)
    assert ensemble.state.device.type == "cpu" and type(ensemble.observe("mean")) is torch.Tensor
    ensemble.advance(steps=10)
    plain.advance(steps=10)
    assert np.array_equal(ensemble.state.numpy(), plain.state)
    ensemble.state = 0.5 * ensemble.state
    assert np.array_equal(ensemble.state.numpy(), plain.state / 2)
    again = bandmill.Ensemble(bandmill.CahnHilliard(), initial=torch.from_numpy(plain.state).requires_grad_())
    assert again.framework == "torch" and again.dtype == dtype and np.array_equal(again.state.numpy(), plain.state)
    assert np.array_equal(again.copy(framework="numpy").state, plain.state)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_jax(jax, dtype):
    ensemble, plain = small(framework="jax", dtype=dtype), small(dtype=dtype)
    assert isinstance(ensemble.state, jax.Array) and ensemble.state.dtype == dtype
    assert isinstance(ensemble.observe("mean"), jax.Array)
    ensemble.advance(steps=10)
    plain.advance(steps=10)
    assert np.array_equal(ensemble.state, plain.state)
    ensemble.state = jax.numpy.sin(ensemble.state)
    np.testing.assert_allclose(ensemble.state, np.sin(plain.state), rtol=1e-6)
    cpu = jax.device_put(plain.state, jax.devices("cpu")[0])
    again = bandmill.Ensemble(bandmill.CahnHilliard(), initial=cpu)
    assert again.framework == "jax" and again.device == "cpu" and np.array_equal(again.state, plain.state)
    with pytest.raises(TypeError, match="initial is a JAX tracer"):
        jax.jit(lambda state: bandmill.Ensemble(bandmill.CahnHilliard(), initial=state).observe("mean"))(cpu)


def test_jax_that_holds_float32_only(jax):
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(ValueError, match="float32 only.*jax_enable_x64"):
        small(framework="jax")
    single = small(framework="jax", dtype="float32")
    assert single.state.dtype == np.float32 and single.observe("mean").dtype == np.float32


def test_cupy_has_no_arrays_on_the_cpu():
    pytest.importorskip("cupy")
    with pytest.raises(ValueError, match="arrays on GPUs only"):
        small(framework="cupy")


def test_a_framework_that_is_not_there(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ImportError, match="torch"):
        small(framework="torch")


# On a GPU. It rounds differently: docs/ensembles.md says how much of that may show after 200 steps.

EQUATIONS = [
    (bandmill.Diffusion(0.1), {}),
    (bandmill.Hyperdiffusion(0.01), {}),
    (bandmill.CahnHilliard(), {}),
    (bandmill.CahnHilliard(), {"ends": "neumann"}),
    (bandmill.Diffusion(0.1), {"ends": "dirichlet", "end_value": 0.25}),
    (bandmill.ForcedCahnHilliard(np.linspace(0, 0.5, 20)), {}),
    (bandmill.CahnHilliard(), {"latency": True}),
]


@GPU
@pytest.mark.parametrize("dtype, tolerance", [("float64", 2e-9), ("float32", 2e-3)])
@pytest.mark.parametrize("equation, options", EQUATIONS)
def test_gpu_agrees_with_cpu(equation, options, dtype, tolerance):
    runs = [
        bandmill.Ensemble(equation, 20, points=64, time_step=0.005, seed=4, dtype=dtype, device=device, **options)
        for device in ("cpu", "cuda")
    ]
    histories = [run.advance(until=1, samples=5, observables=bandmill.observables, keep_values=True) for run in runs]
    assert runs[1].device == "cuda:0" and runs[0].path != runs[1].path
    assert type(runs[1].state) is np.ndarray and runs[1].state.dtype == dtype
    np.testing.assert_allclose(runs[1].state, runs[0].state, rtol=0, atol=tolerance)
    for name in ("mean", "mean_square", "largest"):
        cpu, gpu = (history[name] for history in histories)
        np.testing.assert_allclose(gpu.values, cpu.values, rtol=0, atol=2 * tolerance, err_msg=name)
        np.testing.assert_allclose(gpu.mean, gpu.values.mean(1), rtol=1e-12, atol=1e-15)
    whole = runs[1].copy()
    runs[1].advance(steps=7)
    runs[1].advance(steps=13, observables="rate", samples="every step")
    whole.advance(steps=20)
    assert np.array_equal(runs[1].state, whole.state)


@GPU
@pytest.mark.parametrize("ends", ["periodic", "neumann"])  # resident, streaming
def test_the_state_on_a_gpu(ends):
    plain = small(device="cuda", ends=ends)
    plain.advance(steps=10)
    torch = pytest.importorskip("torch")
    cupy = pytest.importorskip("cupy")
    for name, kind in (("torch", torch.Tensor), ("cupy", cupy.ndarray)):
        ensemble = small(device="cuda:0", framework=name, ends=ends)
        ensemble.advance(steps=4)
        state = ensemble.state
        assert type(state) is kind and str(state.device) in ("cuda:0", "<CUDA Device 0>")
        ensemble.state = 0 * state
        assert not bool(ensemble.state.any())
        ensemble.state = state
        ensemble.advance(steps=6)
        back = ensemble.state.get() if name == "cupy" else ensemble.state.cpu().numpy()
        assert np.array_equal(back, plain.state)
        again = bandmill.Ensemble(bandmill.CahnHilliard(), initial=ensemble.state, ends=ends)
        assert (again.framework, again.device) == (name, "cuda:0") and bool((again.state == ensemble.state).all())
        assert again.copy(device="cpu", framework="numpy").device == "cpu"


@GPU
def test_jax_on_a_gpu(jax):
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("JAX has no GPU")
    ensemble = small(device="cuda", framework="jax")
    assert [device.platform for device in ensemble.state.devices()] == ["gpu"]
    plain = small(device="cuda")
    assert np.array_equal(ensemble.state, plain.state)
    again = bandmill.Ensemble(bandmill.CahnHilliard(), initial=ensemble.state)
    assert (again.framework, again.device) == ("jax", "cuda:0")


@GPU
def test_a_gpu_that_is_not_there():
    with pytest.raises(bandmill.BackendUnavailableError):
        small(device="cuda:99")
