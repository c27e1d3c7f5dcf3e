"""torch on the CPU: the same memory, and gradients."""

import subprocess
import sys

import numpy as np
import pytest

import bandmill
from problems import random_ab

torch = pytest.importorskip("torch")


def test_memory_is_shared():
    memory = torch.ones(5, 20, dtype=torch.float64)
    view = memory[1:4].T
    address = view.data_ptr()
    plan = bandmill.factor(bandmill.toeplitz([0, 2, 0], 20))
    assert plan.solve(view, out=view) is view and view.data_ptr() == address
    assert torch.equal(memory[:, 0], torch.tensor([1, 0.5, 0.5, 0.5, 1], dtype=torch.float64))


def test_a_tensor_that_is_stored_negated():
    b = torch.view_as_real(torch.randn(20, dtype=torch.complex128)).clone()
    negated = torch.view_as_complex(b).conj().imag
    assert negated.is_neg()
    plan = bandmill.factor(bandmill.toeplitz([0, 2, 0], 20))
    assert torch.equal(plan.solve(negated), -b[:, 1] / 2)
    packed = torch.view_as_complex(b.repeat(2, 1)).conj().imag.as_strided((20,), (1,))
    assert packed.is_neg() and packed.is_contiguous()  # strides do not tell
    out = torch.empty(20, dtype=torch.float64)
    for each in (negated, packed):
        assert torch.equal(plan.solve(each, out=out), each.resolve_neg() / 2)
        before = each.clone()
        with pytest.raises(ValueError, match="stored negated"):
            plan.solve(out, out=each)
        with pytest.raises(ValueError, match="stored negated"):
            plan.solve(each, out=each)
        assert torch.equal(each, before)


def test_precision_of_the_plan():
    ab = bandmill.toeplitz([-1, 4, -1], 20)
    plan = bandmill.factor(ab, dtype=torch.float64, device=torch.device("cpu"))
    b = torch.rand(20, 3)
    x = plan.solve(b)
    assert x.dtype == torch.float32 and torch.equal(x, plan.solve(b.double()).float())
    out = torch.empty_like(b)
    assert plan.solve(b, out=out) is out and torch.equal(out, x)


@pytest.mark.parametrize("periodic", [False, True])
@pytest.mark.parametrize("half", [1, 2])
@pytest.mark.parametrize("n, shape, axis", [(7, (7,), 0), (6, (6, 3), 0), (8, (2, 8, 2), 1), (2, (2, 2), -1)])
def test_gradients(half, periodic, n, shape, axis):
    rng = np.random.default_rng(n)
    ab = torch.tensor(random_ab(rng, half, n, periodic, corners=0.0), requires_grad=True)
    b = torch.tensor(rng.standard_normal(shape), requires_grad=True)

    def by_ab(ab, b):
        return bandmill.torch_solve(ab, b, periodic=periodic, axis=axis)

    plan = bandmill.factor(ab.detach().numpy(), periodic=periodic)
    assert torch.autograd.gradcheck(by_ab, (ab, b))
    assert torch.autograd.gradcheck(lambda b: plan.solve(b, axis=axis), b)
    assert torch.autograd.gradcheck(lambda b: plan.T.solve(b, axis=axis), b)
    assert torch.autograd.gradcheck(lambda ab: bandmill.factor(ab, periodic=periodic).T.solve(b, axis=axis), ab)
    assert torch.autograd.gradgradcheck(by_ab, (ab, b))


def test_the_gradient_of_ab_by_dense_algebra():
    rng = np.random.default_rng(8)
    n = 9
    ab = torch.tensor(random_ab(rng, 2, n, False), requires_grad=True)  # NaN in its corners
    b = torch.tensor(rng.standard_normal((n, 4)))
    bandmill.torch_solve(ab, b).pow(3).sum().backward()
    where = [(r, j, j + r - 2) for r in range(5) for j in range(n) if 0 <= j + r - 2 < n]
    entries = torch.tensor([float(ab.detach()[r, j]) for r, j, _ in where], dtype=torch.float64, requires_grad=True)
    a = torch.zeros(n, n, dtype=torch.float64)
    a = a.index_put((torch.tensor([w[2] for w in where]), torch.tensor([w[1] for w in where])), entries)
    torch.linalg.solve(a, b).pow(3).sum().backward()
    expected = torch.zeros(5, n, dtype=torch.float64)
    for (r, j, _), value in zip(where, entries.grad):
        expected[r, j] = value
    assert torch.allclose(ab.grad, expected, rtol=1e-10, atol=1e-12)
    assert (ab.grad[expected == 0] == 0).all()


def test_a_plan_of_a_tensor_serves_twice():
    ab = torch.tensor(bandmill.toeplitz([-1, 4, -1.5], 12), requires_grad=True)
    plan = bandmill.factor(ab, periodic=True)
    b = torch.rand(12, dtype=torch.float64)
    gradients = []
    for _ in range(2):
        (gradient,) = torch.autograd.grad(plan.solve(b).sum(), ab)
        gradients.append(gradient)
    (of_transpose,) = torch.autograd.grad(plan.T.solve(b).sum(), ab)  # after T was used by a backward pass
    assert torch.equal(*gradients) and of_transpose.abs().max() > 0


def test_out_and_gradients():
    plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 10))
    b = torch.rand(10, requires_grad=True)
    with pytest.raises(ValueError, match="out= cannot be used where gradients are wanted"):
        plan.solve(b, out=torch.empty(10))
    with pytest.raises(ValueError, match="out= cannot be used where gradients are wanted"):
        plan.solve(torch.rand(10), out=b)
    with torch.no_grad():
        x = plan.solve(b)
        assert not x.requires_grad
        assert plan.solve(b, out=b) is b
    assert torch.equal(b.detach(), x)


def test_autograd_notices_what_out_overwrites():
    plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 10))
    weight, kept = torch.ones(10, requires_grad=True), torch.rand(10)
    y = (weight * kept).sum()
    plan.solve(kept, out=kept)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    b, parameter = torch.rand(10), torch.nn.Parameter(torch.rand(10), requires_grad=False)
    for out in (kept, parameter):  # one of torch's own type, one of a subclass
        version = out._version
        assert plan.solve(b, out=out) is out and out._version > version and b._version == 0
    with torch.inference_mode():
        b = torch.rand(10)
        assert plan.solve(b, out=b) is b and plan.solve(b, out=torch.empty(10)).is_inference()


@pytest.mark.parametrize("make", [lambda b: b.to_sparse(), lambda b: b.to("meta")], ids=["sparse", "meta"])
def test_tensors_without_memory_are_refused(make):
    plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 5))
    with pytest.raises((TypeError, RuntimeError)) as caught:
        plan.solve(make(torch.ones(5)))
    if hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        assert caught.type is TypeError and "pass a dense array" in str(caught.value)
        assert "\n" not in str(caught.value)
    b = torch.ones(5)
    assert torch.equal(plan.solve(b), plan.solve(b, out=b))  # and the next one is taken


def test_a_graph_that_lives_until_the_end_is_no_leak():
    code = """
import torch, bandmill
plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 5))
x = plan.solve(torch.ones(5, requires_grad=True))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stderr == ""


def test_refused():
    plan = bandmill.factor(bandmill.toeplitz([-1, 4, -1], 10))
    with pytest.raises(TypeError, match="b holds int64"):
        plan.solve(torch.ones(10, dtype=torch.int64))
    with pytest.raises(TypeError, match="b holds bfloat16"):
        plan.solve(torch.ones(10, dtype=torch.bfloat16))
    with pytest.raises(TypeError, match="b is an array of torch and out is of type ndarray"):
        plan.solve(torch.ones(10), out=np.ones(10, np.float32))
    with pytest.raises(TypeError, match="pass tensors of torch"):
        bandmill.torch_solve(np.ones((3, 10)), torch.ones(10))
    with pytest.raises(ValueError, match="the matrix has 10 rows"):
        plan.solve(torch.ones(9, requires_grad=True))
