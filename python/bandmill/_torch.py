"""Gradients in torch. Imported when a tensor first asks for them.

With x = A^-1 b and g the gradient for x:  the one for b is  A^-T g = h,  and the one for A[i, j] is  -h[i] x[j].
"""

from __future__ import annotations

from typing import Any

import torch

from ._frameworks import find_framework


def solve(plan: Any, ab: Any, b: Any, axis: int) -> Any:
    return _Solve.apply(b, ab, plan, axis)


def transposed(ab: Any) -> Any:
    """ab of the transposed matrix. Corners that an open matrix does not have hold anything."""
    half = ab.shape[0] // 2
    return torch.stack([torch.roll(ab[half - d], -d) for d in range(-half, half + 1)])


def _gradient_of_ab(h: Any, x: Any, axis: int, half: int, periodic: bool) -> Any:
    n = x.shape[axis]
    h = h.movedim(axis, 0).reshape(n, -1)
    x = x.movedim(axis, 0).reshape(n, -1)
    rows = []
    for d in range(-half, half + 1):  # ab[half + d, j] is A[j + d, j]
        row = -(torch.roll(h, -d, 0) * x).sum(1)
        if not periodic:
            j = torch.arange(n, device=x.device)
            row = torch.where((j + d >= 0) & (j + d < n), row, torch.zeros_like(row))
        rows.append(row)
    return torch.stack(rows)


class _Solve(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, b: Any, ab: Any, plan: Any, axis: int) -> Any:
        ctx.plan, ctx.axis = plan, axis
        x = plan._solve(b.detach(), None, axis, find_framework(b))
        # Only what a gradient needs is kept: for b alone that is nothing.
        if ab is not None and ctx.needs_input_grad[1]:
            ctx.save_for_backward(x, ab)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        # Written with what can be differentiated itself, so that second derivatives work.
        plan, axis = ctx.plan, ctx.axis
        x, ab = ctx.saved_tensors if ctx.saved_tensors else (None, None)
        h = solve(plan.T, None if ab is None else transposed(ab), gradient, axis)
        of_ab = None
        if ab is not None:
            of_ab = _gradient_of_ab(h, x, axis, plan.half_bandwidth, plan.periodic).to(ab)
        return (h if ctx.needs_input_grad[0] else None), of_ab, None, None
