"""factor(ab) and the Plan it returns."""

from __future__ import annotations

from typing import Any, NamedTuple, Sequence, TypeVar

import numpy as np

from . import _bandmill
from ._arguments import count, host_array, refuse_mask, refuse_operands
from ._errors import InvalidArgumentError
from ._frameworks import JAX, Torch, find_framework

Array = TypeVar("Array")

_CPU, _ANY_DEVICE = -1, -2  # as in python/src/plan.hpp
_SOLVED = 0  # as Outcome in python/src/solve.hpp


class Report(NamedTuple):
    """How one factor of a plan solves, and how well."""

    path: str  #: "sequential", "partitioned" or "pivoted"
    pivot_growth: float  #: 1 is ideal
    backward_error: float  #: of probe systems, in units of the precision's epsilon
    bytes: int  #: memory that the factor holds
    workspace_bytes_per_system: int  #: taken beside that while a solve runs
    dtype: str
    device: str


class Plan:
    """A matrix made ready for solving. Made by :func:`factor`; may be used from several threads at once."""

    __slots__ = ("_native", "_dtype", "_device", "_first", "_ab", "_transpose", "_is_transpose", "__weakref__")

    _native: _bandmill.Plan
    _dtype: str | None
    _device: int
    _first: tuple[str, int]  # the factor that was made with the plan
    _ab: Any  # a torch tensor that wants gradients, or None; that of the plan whose transpose this is
    _transpose: Plan | None
    _is_transpose: bool

    def __init__(self) -> None:
        raise TypeError("a Plan is made by bandmill.factor(ab)")

    def solve(self, b: Array, out: Array | None = None, *, axis: int = 0) -> Array:
        """x with A x = b, for every system of a batch.

        b is an array of float32 or float64 with n elements along `axis`; its other axes are the batch. The result has
        b's framework, device, dtype and shape. `out` is an array to write it to, and may be b itself.
        """
        # What needs nothing of Python first, in few steps: after a large solve the caches are cold, and each step costs
        # some us.
        try:
            to = np.empty_like(b) if out is None and type(b) is np.ndarray else out
            wanted = self._ab is not None and type(b) is not np.ndarray  # gradients, perhaps
            if to is not None and not wanted and self._native.solve_plain(b, to, axis):
                return to  # type: ignore[return-value]
            x: Array = self._dispatch(b, out, axis)
            return x
        except TypeError:
            refuse_operands(b, out, axis)  # where it can say more than that
            raise

    def _dispatch(self, b: Any, out: Any, axis: int) -> Any:
        framework = find_framework(b)
        if framework is None:
            raise TypeError(
                f"b is of type {type(b).__name__}: pass an array of NumPy, torch, CuPy or JAX (numpy.asarray makes one)"
            )
        if type(framework) is JAX:
            return _solve_jax(self, b, out, axis, framework)
        if out is not None and find_framework(out) is not framework:
            raise TypeError(
                f"b is an array of {framework.name} and out is of type {type(out).__name__}: pass both of one framework"
            )
        if type(framework) is Torch:
            ab = self._ab
            wanted = b.requires_grad or ab is not None or (out is not None and out.requires_grad)
            if wanted and framework.torch.is_grad_enabled():
                if out is not None:
                    raise InvalidArgumentError(
                        "out= cannot be used where gradients are wanted (they need b and x as they were): leave it "
                        "out, or solve under torch.no_grad()"
                    )
                from . import _torch

                if ab is not None and self._is_transpose:
                    ab = _torch.transposed(ab)
                return _torch.solve(self, ab, b, axis)
            if out is not None:
                framework.prepare_writing(out)
        return self._solve(b, out, axis, framework)

    def _solve(self, b: Any, out: Any, axis: int, framework: Any) -> Any:
        x = framework.empty_like(b) if out is None else out
        exported = framework.export(b)
        to = exported if x is b else framework.export_output(x)
        if self._native.solve(exported, to, axis, framework.stream(b)) == _SOLVED:
            return x
        # One packed copy in the plan's precision, solved in place, serves where b or out cannot be used as they are.
        work = framework.packed(b, self._dtype)
        exported = framework.export(work)
        self._native.solve(exported, exported, axis, framework.stream(b))
        if out is None:
            return framework.cast(work, b)
        if type(framework) is Torch:
            out = out.detach()
        out[...] = work
        return x

    @property
    def n(self) -> int:
        """Rows of the matrix: unknowns of a system."""
        return self._native.n

    @property
    def half_bandwidth(self) -> int:
        """1 for a tridiagonal matrix, 2 for a pentadiagonal one."""
        return self._native.half_bandwidth

    @property
    def periodic(self) -> bool:
        return self._native.periodic

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The precision of every solve, if it was given to factor(); None: that of b."""
        return None if self._dtype is None else np.dtype(self._dtype)

    @property
    def device(self) -> str | None:
        """Where this plan solves, if it was given to factor(): "cpu" or "cuda:0"; None: where b is."""
        return None if self._device == _ANY_DEVICE else _device_name(self._device)

    @property
    def T(self) -> Plan:  # noqa: N802
        """The plan of the transposed matrix. It is factored when it first solves."""
        if self._transpose is None:
            transpose = _new_plan(self._native.transposed(), self._dtype, self._device, self._first)
            transpose._transpose, transpose._ab, transpose._is_transpose = self, self._ab, True
            self._transpose = transpose
        return self._transpose

    def report(self, dtype: Any = None, device: Any = None) -> Report:
        """Of the factor made with the plan, or of that for another dtype or device (which is made if need be)."""
        name = _dtype_name(dtype) or self._first[0]
        index = self._first[1] if device is None else _device_index(device)
        return Report(*self._native.report(_bits(name), index), name, _device_name(index))

    def __repr__(self) -> str:
        text = f"bandmill.Plan(n={self.n}, half_bandwidth={self.half_bandwidth}, periodic={self.periodic}"
        if self._dtype is not None:
            text += f", dtype={self._dtype}"
        if self._device != _ANY_DEVICE:
            text += f", device={self.device}"
        return text + ")"


def factor(
    ab: Any, *, periodic: bool = False, dtype: Any = None, device: Any = None, threads: int | None = None
) -> Plan:
    """A plan for solving with the band matrix ab.

    ab        3 or 5 rows of n numbers, as for scipy.linalg.solve_banded: ab[W + i - j, j] == A[i, j], with W = 1 or 2.
              What does not belong to the matrix (the corners of ab) is not looked at.
    periodic  Indices wrap around: the corners of ab hold the entries in the corners of A. Where n <= 2 W several
              entries meet in one place, and add up.
    dtype     float32 or float64: the precision of every solve. Without it that of b.
    device    "cpu", "cuda" or "cuda:1": where every b must be. Without it b may be anywhere.
    threads   how many a solve on the CPU may use. Without it all that OpenMP offers.

    Raises SingularMatrixError or InvalidMatrixError where ab cannot be solved with.
    """
    threads = 0 if threads is None else count(threads, "threads", 1, 2**31 - 1)
    refuse_mask(ab, "ab")
    framework = find_framework(ab)
    try:
        entries = np.asarray(ab if framework is None else framework.to_host(ab, "ab"))
    except ValueError as error:
        raise InvalidArgumentError(f"ab is no array of numbers ({error}): pass 3 or 5 rows of one length") from None
    if entries.dtype.kind not in "fiu":
        raise TypeError(f"ab holds {entries.dtype} (a matrix has real numbers): pass float64 or float32")
    if entries.ndim != 2:
        raise InvalidArgumentError(
            f"ab has shape {entries.shape}: pass an array of 3 or 5 rows (diagonals, the highest first) and n columns"
        )
    name = _dtype_name(dtype)
    where = _ANY_DEVICE if device is None else _device_index(device)
    native = _bandmill.Plan(
        np.ascontiguousarray(entries, dtype=np.float64),
        bool(periodic),
        0 if name is None else _bits(name),
        where,
        threads,
    )
    first = name or ("float32" if entries.dtype == np.float32 else "float64")
    first_device = where if where != _ANY_DEVICE else (_CPU if framework is None else framework.device(ab))
    native.report(_bits(first), first_device)  # factors, and raises if it cannot
    plan = _new_plan(native, name, where, (first, first_device))
    if type(framework) is Torch and ab.requires_grad and framework.torch.is_grad_enabled():
        plan._ab = ab
    return plan


def toeplitz(coefficients: Sequence[float], n: int, *, periodic: bool = True) -> np.ndarray[Any, np.dtype[np.float64]]:
    """ab for constant diagonals: row i of A x is the sum of coefficients[W + k] * x[i + k], the lowest first.

    The corners of ab are filled, which is right for an open matrix too (it does not look at them); with periodic=False
    they are 0.
    """
    weights = host_array(coefficients, "coefficients").astype(np.float64)
    if weights.shape not in ((3,), (5,)):
        raise InvalidArgumentError(
            f"coefficients have shape {weights.shape}: pass 3 (tridiagonal) or 5 (pentadiagonal), the lowest first"
        )
    n = count(n, "n", 1)
    half = len(weights) // 2
    ab = np.repeat(weights[::-1, np.newaxis], n, axis=1)
    if not periodic:
        for k in range(1, half + 1):  # the corners that the matrix does not have
            ab[half - k, :k] = 0.0
            ab[half + k, max(n - k, 0) :] = 0.0
    return ab


def torch_solve(ab: Any, b: Any, *, periodic: bool = False, axis: int = 0) -> Any:
    """factor(ab, periodic=periodic).solve(b, axis=axis) for torch tensors, with gradients for both."""
    if type(find_framework(ab)) is not Torch or type(find_framework(b)) is not Torch:
        raise TypeError(
            f"ab is of type {type(ab).__name__}, b of type {type(b).__name__}: pass tensors of torch, or use factor(ab)"
        )
    return factor(ab, periodic=periodic).solve(b, axis=axis)


def _solve_jax(plan: Plan, b: Any, out: Any, axis: int, framework: Any) -> Any:
    framework.refuse_tracer(b, "b")
    if out is not None:
        raise TypeError(
            "out= cannot be used with JAX (its arrays are never written): take the array that solve returns"
        )
    x = plan._native.solve_jax(b.block_until_ready(), axis)  # JAX computes in the background
    if x is not None:
        return x
    converted = b.astype(plan._dtype)
    if str(converted.dtype) != plan._dtype:
        raise InvalidArgumentError(
            "the plan computes in float64, which JAX has no arrays of now (jax_enable_x64 is off): enable it, or make "
            'the plan with dtype="float32"'
        )
    return plan._native.solve_jax(converted.block_until_ready(), axis).astype(b.dtype)


def _new_plan(native: _bandmill.Plan, dtype: str | None, device: int, first: tuple[str, int]) -> Plan:
    plan = object.__new__(Plan)
    plan._native, plan._dtype, plan._device, plan._first = native, dtype, device, first
    plan._ab = plan._transpose = None
    plan._is_transpose = False
    return plan


def _bits(dtype: str) -> int:
    return 32 if dtype == "float32" else 64


def _dtype_name(dtype: Any) -> str | None:
    if dtype is None:
        return None
    name = str(dtype).removeprefix("torch.")
    if name not in ("float32", "float64"):
        try:
            name = np.dtype(dtype).name
        except TypeError:
            pass
    if name not in ("float32", "float64"):
        raise TypeError(f"dtype={dtype!r}: bandmill solves in float32 or float64")
    return name


def _device_name(index: int) -> str:
    return "cpu" if index == _CPU else f"cuda:{index}"


def _device_index(device: Any) -> int:
    if isinstance(device, str) or type(device).__module__.partition(".")[0] == "torch":
        kind, _, number = str(device).partition(":")
        if kind == "cpu" and number in ("", "0"):
            return _CPU
        if kind == "cuda" and (number == "" or number.isdecimal()):
            return int(number or 0)
    elif type(device).__module__.partition(".")[0] == "cupy":
        return int(device.id)
    elif hasattr(device, "platform"):  # JAX
        return _CPU if device.platform == "cpu" else int(device.local_hardware_id)
    raise InvalidArgumentError(f"device={device!r} is not known: pass 'cpu', 'cuda' or 'cuda:1'")
