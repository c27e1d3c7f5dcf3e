"""Arguments: checked, and as the plain numbers that the module takes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _bandmill
from ._errors import InvalidArgumentError
from ._frameworks import JAX, CuPy, find_framework
from ._history import Request

_LARGEST = 2**63 - 1


def number(value: Any, name: str) -> float:
    """One real number, as a float."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name}={value!r} is no number: pass one, as in {name}=0.5")


def count(value: Any, name: str, least: int = 0, most: int = _LARGEST) -> int:
    """A whole number from least to most."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no whole number: pass one, as in {name}={max(least, 1)}") from None
    if not least <= whole <= most:
        wanted = f"of {least} or more" if most == _LARGEST and whole < least else f"from {least} to {most}"
        raise InvalidArgumentError(f"{name}={whole} is out of range: pass a whole number {wanted}")
    return whole


def host_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Numbers of any framework, or of lists, as an array of NumPy."""
    refuse_mask(value, name)
    framework = find_framework(value)
    try:
        array = np.asarray(value if framework is None else framework.to_host(value, name))
    except ValueError as error:
        raise InvalidArgumentError(f"{name} is no array of numbers ({error})") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds {array.dtype} (real numbers are wanted): pass float64 or float32")
    return array


def refuse_mask(value: Any, name: str) -> None:
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(
            f"{name} is of type MaskedArray (its mask would be lost): fill what is masked, as in {name}.filled(0.0), "
            f"or pass {name}.data"
        ) from None


def refuse_operands(b: Any, out: Any, axis: Any) -> None:
    """Of a solve that was refused: raises a TypeError that says why, where the reason is one of these."""
    try:
        operator.index(axis)
    except TypeError:
        raise TypeError(
            f"axis={axis!r} is no whole number: pass the axis of b that has the unknowns, as in axis=0"
        ) from None
    refuse_mask(b, "b")
    kind = str(getattr(b, "dtype", "")).removeprefix("torch.")
    if kind.startswith("complex"):
        raise TypeError(
            f"b holds {kind} (bandmill solves real systems): solve for the two parts, as in plan.solve(b.real) + 1j * "
            "plan.solve(b.imag)"
        ) from None
    for value, name in (b, "b"), (out, "out"):
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, np.dtype) and not dtype.isnative and dtype.kind == "f":
            remedy = f"b.astype('{dtype.name}')" if name == "b" else "an array of this machine's"
            raise TypeError(
                f"{name} holds {dtype.name} in the byte order of other machines (its dtype is {dtype.str}): pass "
                f"{remedy}"
            ) from None


def per_member(value: Any, name: str) -> list[float]:
    """One number for all members, or one for each."""
    array = host_array(value, name)
    if array.ndim > 1:
        raise InvalidArgumentError(f"{name} has shape {array.shape}: pass one number for all members, or one for each")
    return [float(x) for x in array.reshape(-1)]


def lengths_of(*values: Any) -> list[int]:
    """Of those that are lists, one entry per member."""
    return [len(value) for value in values if np.ndim(value) == 1]


def member_count(members: int | None, equation: Any, start: Any, array: Any) -> int:
    if members is not None:
        return count(members, "members", 1)
    lengths: list[int] = equation._lengths + ([] if start is None else start._lengths())
    if array is not None and array.ndim == 2:
        lengths = [*lengths, int(array.shape[0])]
    if not lengths:
        raise InvalidArgumentError(
            "how many members are there? (neither the equation nor `initial` has one value for each): pass members="
        )
    return max(lengths)


def point_count(points: int | None, array: Any) -> int:
    if points is None:
        return 256 if array is None or array.ndim == 0 else int(array.shape[-1])
    return count(points, "points", 1)


def check_framework(framework: Any, dtype: str, device: int) -> None:
    if type(framework) is CuPy and device == -1:
        raise InvalidArgumentError(
            "framework='cupy' has arrays on GPUs only, and this ensemble is on the CPU: pass device='cuda', or "
            "framework='numpy'"
        )
    if type(framework) is JAX and dtype == "float64" and not framework.jax.config.jax_enable_x64:
        raise InvalidArgumentError(
            "JAX is set to hold float32 only, and this ensemble computes in float64: call "
            "jax.config.update('jax_enable_x64', True) first, or pass dtype='float32'"
        )


def observable_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name of an observable: pass some of {', '.join(_bandmill.observables())}")
    return name


def observable_requests(
    names: str | Sequence[str], histograms: Mapping[str, tuple[float, float, int]] | None
) -> list[Request]:
    if not isinstance(names, Iterable):
        raise TypeError(f"observables={names!r} is no list of names: pass some of {', '.join(_bandmill.observables())}")
    wanted: dict[str, Any] = dict.fromkeys(observable_name(n) for n in ([names] if isinstance(names, str) else names))
    if histograms is not None and not isinstance(histograms, Mapping):
        raise TypeError(f"histograms={histograms!r} is no dict: pass one, as in {{'domain_size': (1, 4, 30)}}")
    for name, bins in (histograms or {}).items():
        try:
            low, high, number_of_bins = bins
        except (TypeError, ValueError):
            raise InvalidArgumentError(f"histograms[{name!r}] is {bins!r}: pass (low, high, bins)") from None
        most = 2**31 - 1
        wanted[observable_name(name)] = number(low, "low"), number(high, "high"), count(number_of_bins, "bins", 1, most)
    return [Request(name, bins) for name, bins in wanted.items()]


def sample_times(samples: Any, now: float, end: float) -> tuple[bool, list[float]]:
    """Every step? And otherwise at which times."""
    if samples is None:
        return False, []
    if isinstance(samples, str):
        if samples != "every step":
            raise InvalidArgumentError(f"samples={samples!r}: pass a number, an array of times, or 'every step'")
        return True, []
    array = host_array(samples, "samples")
    if array.ndim == 0:
        how_many = count(samples, "samples", 1)
        last = max(now, end)  # the step that reaches the end may lie behind it a little
        return False, [end] if how_many == 1 else [min(float(t), end) for t in np.linspace(now, last, how_many)]
    if array.ndim > 1:
        raise InvalidArgumentError(f"samples has shape {array.shape}: pass a list of times")
    wrong = array[~((array >= 0) & (array <= end * (1 + 1e-9)))]  # NaN too; the library has the same tolerance
    if wrong.size:
        raise InvalidArgumentError(
            f"samples has the time {float(wrong[0]):g} (the run ends at {end:g}): pass times from 0 to the end"
        )
    return False, [float(t) for t in array]
