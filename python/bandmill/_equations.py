"""Equations, and states to start from. docs/ensembles.md has the formulas."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Sequence

import numpy as np

from . import _bandmill
from ._arguments import count, lengths_of, number, per_member
from ._errors import InvalidArgumentError


def _text(values: Sequence[float]) -> str:
    return repr(values[0]) if len(values) == 1 else f"<{len(values)} values>"


class Equation:
    """An equation of the library by its name: that is how those are used that a build has added by CMake.

    Equation("allen-cahn", 0.02)  # its fields, in the order of its file; what differs between members by name
    """

    _name: str
    _fields: list[float]  # in the order of their declaration in C++
    _parameters: dict[str, list[float]]  # one value for all members, or one for each
    _lengths: list[int]  # of those that were given as lists

    def __init__(self, name: str, *values: float, **member_parameters: Any) -> None:
        known = _bandmill.equations()
        if name not in known:
            raise InvalidArgumentError(f"there is no equation {name!r} in this build: pass one of {', '.join(known)}")
        missing, wrong = set(known[name]) - set(member_parameters), set(member_parameters) - set(known[name])
        if missing or wrong:
            raise TypeError(
                f"{name} takes {', '.join(known[name]) or 'no parameters'} by name, but got "
                f"{', '.join(sorted(member_parameters)) or 'none'}: pass each of them"
            )
        self._name = name
        self._fields = [number(value, f"field {k + 1}") for k, value in enumerate(values)]
        self._parameters = {key: per_member(member_parameters[key], key) for key in known[name]}
        self._lengths = lengths_of(*member_parameters.values())

    def __repr__(self) -> str:
        own = [repr(self._name), *map(repr, self._fields)]
        own += [f"{key}={_text(values)}" for key, values in self._parameters.items()]
        return f"Equation({', '.join(own)})"


class _Named(Equation):
    """One of the library's own, with names for its fields."""

    def _take(self, name: str, *member_parameters: str) -> None:
        own = {key: per_member(getattr(self, key), key) for key in member_parameters}
        names = [field.name for field in fields(self) if field.name not in own]  # type: ignore[arg-type]
        values = {key: number(getattr(self, key), key) for key in names}
        lengths = lengths_of(*(getattr(self, key) for key in own))
        kept = {key: np.array(of) if lengths else of[0] for key, of in own.items()}
        # A frozen dataclass is written once, here: with plain numbers, whatever was given.
        self.__dict__.update(values, **kept, _name=name, _fields=[*values.values()], _parameters=own, _lengths=lengths)


@dataclass(frozen=True)
class Diffusion(_Named):
    """C_t = D C_xx, with D the diffusivity; Crank-Nicolson steps."""

    diffusivity: float = 1.0

    def __post_init__(self) -> None:
        self._take("diffusion")


@dataclass(frozen=True)
class Hyperdiffusion(_Named):
    """C_t = -K C_xxxx, with K the diffusivity; Crank-Nicolson steps."""

    diffusivity: float = 1.0

    def __post_init__(self) -> None:
        self._take("hyperdiffusion")


@dataclass(frozen=True)
class CahnHilliard(_Named):
    """C_t = mu_xx, mu = C^3 - C - gamma C_xx; the fourth derivative is implicit."""

    gamma: float = 0.01

    def __post_init__(self) -> None:
        self._take("cahn-hilliard")


@dataclass(frozen=True, eq=False)
class ForcedCahnHilliard(_Named):
    """C_t = mu_xx + v C_x + f0 k cos(k x), mu as for Cahn-Hilliard: in the frame that moves with the forcing.

    amplitude   f0: one number for all members, or one for each
    gamma
    wavenumber  k
    speed       v, not negative
    """

    amplitude: Any
    gamma: float = 0.01
    wavenumber: float = 1.0
    speed: float = 0.5

    def __post_init__(self) -> None:
        self._take("forced-cahn-hilliard", "amplitude")

    def __repr__(self) -> str:
        return (
            f"ForcedCahnHilliard(amplitude={_text(self._parameters['amplitude'])}, gamma={self.gamma}, "
            f"wavenumber={self.wavenumber}, speed={self.speed})"
        )


@dataclass(frozen=True, eq=False)
class UniformNoise:
    """mean + uniform noise in [-amplitude, amplitude) at every point, from the ensemble's seed.

    mean        one number for all members, or one for each
    exact_mean  subtract the noise's own average from each member
    numbers     whose noise each member gets, one whole number for each; without it that of its own number
    """

    amplitude: float = 0.1
    mean: Any = 0.0
    exact_mean: bool = False
    numbers: Any = None

    def _start(self, seed: int) -> _bandmill.Start:
        numbers = [] if self.numbers is None else [count(k, "numbers") for k in self.numbers]
        amplitude, mean = number(self.amplitude, "amplitude"), per_member(self.mean, "mean")
        return _bandmill.uniform_noise(amplitude, mean, bool(self.exact_mean), seed, numbers)

    def _lengths(self) -> list[int]:
        return lengths_of(self.mean, self.numbers)


@dataclass(frozen=True)
class Cosine:
    """mean + amplitude cos(wavenumber x), for every member."""

    amplitude: float
    wavenumber: float
    mean: float = 0.0

    def _start(self, seed: int) -> _bandmill.Start:
        return _bandmill.cosine(
            number(self.amplitude, "amplitude"), number(self.wavenumber, "wavenumber"), number(self.mean, "mean")
        )

    def _lengths(self) -> list[int]:
        return []


@dataclass(frozen=True, eq=False)
class Constant:
    """The same at every point: one number for all members, or one for each."""

    value: Any

    def _start(self, seed: int) -> _bandmill.Start:
        return _bandmill.constant(per_member(self.value, "value"))

    def _lengths(self) -> list[int]:
        return lengths_of(self.value)
