"""torch, CuPy and JAX on a GPU. Skipped where there is none."""

import numpy as np
import pytest

import bandmill
from problems import check, random_ab, reference

pytestmark = pytest.mark.skipif(not bandmill.cuda_devices(), reason="no GPU, or a build without CUDA")

CASES = [  # shape, axis
    ((300,), 0),
    ((300, 500), 0),
    ((500, 300), 1),
    ((3, 300, 64), 1),
    ((2, 3, 300, 5), -2),
    ((300, 0), 0),
]


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("torch has no GPU")
    return module


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.fixture
def jax():
    module = pytest.importorskip("jax")
    if not any(device.platform == "gpu" for device in module.devices()):
        pytest.skip("JAX has no GPU")
    before = module.config.jax_enable_x64
    module.config.update("jax_enable_x64", True)
    yield module
    module.config.update("jax_enable_x64", before)


def problem(shape, axis, dtype="float64", half=2, periodic=True):
    rng = np.random.default_rng(9)
    ab = random_ab(rng, half, shape[axis], periodic)
    b = rng.standard_normal(shape).astype(dtype)
    return ab, b, reference(ab, periodic, b, axis)


@pytest.mark.parametrize("half, periodic", [(1, False), (1, True), (2, False), (2, True)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", CASES)
def test_torch(torch, shape, axis, dtype, half, periodic):
    ab, values, expected = problem(shape, axis, dtype, half, periodic)
    b = torch.from_numpy(values).cuda()
    plan = bandmill.factor(ab, periodic=periodic)
    x = plan.solve(b, axis=axis)
    assert (x.device, x.dtype, x.shape) == (b.device, b.dtype, b.shape)
    check(x.cpu().numpy(), expected, dtype)
    address = b.data_ptr()
    assert plan.solve(b, out=b, axis=axis) is b and b.data_ptr() == address and torch.equal(b, x)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", CASES)
def test_cupy(cupy, shape, axis, dtype):
    ab, values, expected = problem(shape, axis, dtype)
    b = cupy.asarray(values)
    plan = bandmill.factor(cupy.asarray(ab), periodic=True)
    assert plan.report().device == "cuda:0"
    x = plan.solve(b, axis=axis)
    assert type(x) is cupy.ndarray and (x.dtype, x.shape) == (b.dtype, b.shape)
    check(cupy.asnumpy(x), expected, dtype)
    address = b.data.ptr
    assert plan.solve(b, out=b, axis=axis) is b and b.data.ptr == address and bool((b == x).all())


@pytest.mark.parametrize("view", [lambda a: a[::-1, ::2], lambda a: a[:, ::-3], lambda a: a[:, 5:]])
def test_strides(torch, cupy, view):
    ab, values, _ = problem((300, 60), 0)
    b = view(cupy.asarray(values))
    out = cupy.full((300, 2 * b.shape[1]), cupy.nan)
    plan = bandmill.factor(ab, periodic=True)
    assert plan.solve(b, out=out[:, ::2]).base is out
    check(cupy.asnumpy(out[:, ::2]), reference(ab, True, view(values), 0), "float64")
    assert bool(cupy.isnan(out[:, 1::2]).all())
    by_torch = plan.solve(torch.from_numpy(values).cuda()[:, 5:].T, axis=1)  # torch has no negative strides
    check(by_torch.cpu().numpy().T, reference(ab, True, values[:, 5:], 0), "float64")


def test_axes_that_need_a_copy(torch, cupy):
    ab, values, _ = problem((4, 4, 300, 6, 6), 2)
    plan = bandmill.factor(ab, periodic=True)
    expected = reference(ab, True, values[::2, ::2, :, ::2, ::2], 2)
    b = cupy.asarray(values)[::2, ::2, :, ::2, ::2]
    check(cupy.asnumpy(plan.solve(b, axis=2)), expected, "float64")
    check(cupy.asnumpy(plan.solve(b, out=b, axis=2)), expected, "float64")
    b = torch.from_numpy(values).cuda()[::2, ::2, :, ::2, ::2]
    check(plan.solve(b, axis=2).cpu().numpy(), expected, "float64")


# On a stream of its own: long work is put before the solve there, and the solve must come after it. One on the default
# stream would not, since such a stream does not wait for it, nor the other way round. Memory is taken beforehand:
# asking for it can wait for the device.

CYCLES = 1_000_000_000  # about half a second


def test_stream_of_torch(torch):
    ab, values, expected = problem((300, 5000), 0)
    plan = bandmill.factor(ab, periodic=True, device="cuda")
    source = torch.from_numpy(values).cuda()
    b, out = torch.zeros_like(source), torch.empty_like(source)
    plan.solve(b, out=out)
    b.copy_(torch.zeros_like(source))
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(CYCLES)
        b.copy_(source)
        plan.solve(b, out=out)
        assert not stream.query(), "the solve waited for the stream"
    stream.synchronize()
    check(out.cpu().numpy(), expected, "float64")


def test_stream_of_cupy(cupy):
    ab, values, expected = problem((300, 5000), 0)
    plan = bandmill.factor(ab, periodic=True, device="cuda")
    source = cupy.asarray(values)
    b, out = cupy.zeros_like(source), cupy.empty_like(source)
    code = """
extern "C" __global__ void pause(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}"""
    pause = cupy.RawKernel(code, "pause")
    pause((1,), (1,), (np.int64(1),))  # compiles it
    plan.solve(b, out=out)
    cupy.copyto(b, cupy.zeros_like(source))
    cupy.cuda.runtime.deviceSynchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        pause((1,), (1,), (np.int64(CYCLES),))
        cupy.copyto(b, source)
        plan.solve(b, out=out)
        assert not stream.done, "the solve waited for the stream"
    stream.synchronize()
    check(cupy.asnumpy(out), expected, "float64")


def test_graph_of_torch(torch):
    ab, values, expected = problem((300, 500), 0)
    plan = bandmill.factor(ab, periodic=True, device="cuda")
    source = torch.from_numpy(values).cuda()
    b, out = source.clone(), torch.empty_like(source)
    plan.solve(b, out=out)
    out.zero_()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        plan.solve(b, out=out)
    graph.replay()
    torch.cuda.synchronize()
    check(out.cpu().numpy(), expected, "float64")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape, axis", CASES)
def test_jax(jax, shape, axis, dtype):
    ab, values, expected = problem(shape, axis, dtype)
    gpu = next(device for device in jax.devices() if device.platform == "gpu")
    b = jax.device_put(values, gpu)
    x = bandmill.factor(ab, periodic=True).solve(b, axis=axis)
    assert isinstance(x, jax.Array) and x.devices() == b.devices() and (x.dtype, x.shape) == (b.dtype, b.shape)
    check(np.asarray(x), expected, dtype)
    assert np.array_equal(np.asarray(2 * x + 1), 2 * np.asarray(x) + 1)


def test_jax_computes_before_and_after(jax):
    ab, values, expected = problem((300, 2000), 0)
    plan = bandmill.factor(ab, periodic=True)
    halved = jax.numpy.asarray(values) / 2  # JAX does not wait for it; the solve must
    check(np.asarray(plan.solve(halved) * 2), expected, "float64")


@pytest.mark.parametrize("half, periodic", [(1, False), (2, True)])
def test_gradients(torch, half, periodic):
    rng = np.random.default_rng(10)
    ab = torch.tensor(random_ab(rng, half, 8, periodic, corners=0.0), requires_grad=True)  # on the CPU
    b = torch.tensor(rng.standard_normal((8, 3)), device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(lambda ab, b: bandmill.torch_solve(ab, b, periodic=periodic), (ab, b))
    on_gpu = ab.detach().cuda().requires_grad_()
    assert torch.autograd.gradcheck(lambda ab, b: bandmill.torch_solve(ab, b, periodic=periodic), (on_gpu, b))


def test_one_plan_for_both_devices(torch):
    ab, values, expected = problem((300, 20), 0)
    plan = bandmill.factor(ab, periodic=True)
    check(plan.solve(values), expected, "float64")
    check(plan.solve(torch.from_numpy(values).cuda()).cpu().numpy(), expected, "float64")
    check(plan.T.T.solve(torch.from_numpy(values)).numpy(), expected, "float64")
    assert plan.report(device="cuda").device == "cuda:0" and plan.report().device == "cpu"
    assert plan.report(device=torch.device("cuda", 0)).path == "partitioned"


def test_devices_are_checked(torch, cupy):
    ab, values, _ = problem((300, 20), 0)
    on_gpu = bandmill.factor(ab, periodic=True, device="cuda:0")
    assert on_gpu.device == "cuda:0"
    with pytest.raises(ValueError, match="b is on cpu, but this plan was made for cuda:0"):
        on_gpu.solve(values)
    with pytest.raises(ValueError, match="b is on cuda:0, but this plan was made for cpu"):
        bandmill.factor(ab, device="cpu").solve(cupy.asarray(values))
    b = torch.from_numpy(values)
    with pytest.raises(ValueError, match="out is on cpu and b on cuda:0"):
        on_gpu.solve(b.cuda(), out=b)
    with pytest.raises(TypeError, match="b is an array of CuPy and out is of type Tensor"):
        on_gpu.solve(cupy.asarray(values), out=b.cuda())
    with pytest.raises(bandmill.BackendUnavailableError):
        bandmill.factor(ab, device="cuda:99")
