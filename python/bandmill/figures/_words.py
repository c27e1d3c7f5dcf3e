"""Numbers, parameters and provenance as text on a figure."""

from __future__ import annotations

import math

from ._files import EQUATION_OPTIONS, Result

SYMBOLS = {
    "gamma": r"\gamma",
    "length": "L",
    "points": "N",
    "time_step": r"\Delta t",
    "wavenumber": "k",
    "speed": "v",
    "forcing": "f_0",
    "diffusivity": "D",
    "mean": r"\langle C \rangle",
    "until": "T",
}
AXES = {
    "mean": r"mean concentration $\langle C \rangle$",
    "forcing": "amplitude of the forcing $f_0$",
    "speed": "speed of the forcing $v$",
    "wavenumber": "wavenumber of the forcing $k$",
    "gamma": r"$\gamma$",
}
EQUATION_NAMES = {
    "cahn-hilliard": "Cahn-Hilliard",
    "forced-cahn-hilliard": "forced Cahn-Hilliard",
    "diffusion": "diffusion",
    "hyperdiffusion": "hyperdiffusion",
}

NO_ERROR = "no error (too few groups of runs have a fit)"


def number(value: float, digits: int = 4) -> str:
    """For math mode: 0.01, 1.2\\times 10^{-6}."""
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    if not e:
        return text
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"


def multiple_of_pi(value: float) -> str:
    """2\\pi for 6.283..., otherwise the number."""
    factor = value / math.pi
    for denominator in (1, 2, 3, 4):
        whole = round(factor * denominator)
        if whole and abs(factor * denominator - whole) < 1e-9 * whole:
            over = f"/{denominator}" if denominator > 1 else ""
            return rf"{'' if whole == 1 else whole}\pi{over}"
    return number(value)


def assignment(name: str, value: float) -> str:
    if name not in SYMBOLS:
        return f"{name} ${number(value)}$"
    return f"${SYMBOLS[name]} = {multiple_of_pi(value) if name == 'length' else number(value)}$"


def short(count: int) -> str:
    """65536 as 64k, 1048576 as 1M: powers of two by their binary thousands."""
    for unit, size in (("M", 1 << 20), ("k", 1 << 10)):
        if count >= size and count % size == 0:
            return f"{count // size}{unit}"
    return f"{count:,}"


def assignments(result: Result, *names: str) -> list[str]:
    values = [(name, result.number(name)) for name in names]
    return [assignment(name, value) for name, value in values if value is not None]


def problem(result: Result, *more: str) -> list[str]:
    """The equation's parameters, the grid, the step."""
    names = (*EQUATION_OPTIONS.get(result.equation, ()), "length", "points", "time_step", *more)
    return assignments(result, *names) + ends_of(result)


def ends_of(result: Result) -> list[str]:
    """Where they are not periodic."""
    ends, value = result.options().get("ends", "periodic"), result.number("end-value")
    if ends == "periodic":
        return []
    return [f"{ends} ends" + (f" with $C = {number(value or 0)}$" if ends == "dirichlet" else "")]


def mean_of(result: Result) -> list[str]:
    """Where it is one, and not zero."""
    return [] if result.number("mean") == 0 else assignments(result, "mean")


def provenance(*results: Result) -> list[str]:
    """Device, version and commit, each value once."""
    parts = []
    for name, words in (("device", "{}"), ("version", "bandmill {}"), ("commit", "commit {}")):
        values = dict.fromkeys(str(r.attribute(name)) for r in results if r.attribute(name))
        if values:
            parts.append(words.format(" / ".join(values)))
    return parts


def plain(name: str) -> str:
    """A file's name for a title, where dollars begin mathematics."""
    return name.replace("$", r"\$")


def shared_and_own(words: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Of the words of several files: those of all of them, and what else each has."""
    shared = [word for word in words[0] if all(word in others for others in words)]
    return shared, [[word for word in own if word not in shared] for own in words]


def by_file(results: list[Result], own: list[list[str]]) -> list[str]:
    """What only some files have, behind their names."""
    return [f"{plain(result.name)} ({', '.join(more)})" for result, more in zip(results, own, strict=True) if more]


def seed_of(result: Result) -> list[str]:
    seed = result.number("seed")
    return [] if seed is None else [f"seed {seed:.0f}"]


def runs(count: float, lost: float | None = None) -> str:
    return ("1 run" if count == 1 else f"{count:,.0f} runs") + (f" ({lost:,.0f} lost)" if lost else "")
