"""Arguments as the plain numbers that the module takes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ._errors import InvalidArgumentError
from ._frameworks import find_framework


def number(value: Any, name: str) -> float:
    """One real number, as a float."""
    if not isinstance(value, (str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError):
            pass
    raise TypeError(f"{name}={value!r} is no number: pass one, as in {name}=0.5")


def count(value: Any, name: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """A whole number from least to most."""
    try:
        whole = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}={value!r} is no whole number: pass one, as in {name}={max(least, 1)}") from None
    if not least <= whole <= most:
        raise InvalidArgumentError(f"{name}={whole} is out of range: pass a whole number from {least} to {most}")
    return whole


def host_array(value: Any, name: str) -> np.ndarray[Any, Any]:
    """Numbers of any framework, or of lists, as an array of NumPy."""
    framework = find_framework(value)
    try:
        array = np.asarray(value if framework is None else framework.to_host(value, name))
    except ValueError as error:
        raise InvalidArgumentError(f"{name} is no array of numbers ({error})") from None
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds {array.dtype} (an ensemble has real numbers): pass float64 or float32")
    return array


def per_member(value: Any, name: str) -> list[float]:
    """One number for all members, or one for each."""
    array = host_array(value, name)
    if array.ndim > 1:
        raise InvalidArgumentError(f"{name} has shape {array.shape}: pass one number for all members, or one for each")
    return [float(x) for x in array.reshape(-1)]
