"""How domains grow in planes: power laws, from files of `bandmill coarsen --dimensions 2`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from .._errors import InvalidArgumentError
from ._files import Result
from ._style import (
    BLUE,
    MUTED,
    PAGE,
    SIGMAS95,
    SKY,
    VERMILION,
    footer,
    legend_above,
    new_figure,
    plain_log_ticks,
    thinned,
)
from ._words import assignments, multiple_of_pi, provenance, runs, seed_of

# The two measures: variable, prefix of its attributes, symbol, label.
MEASURES = (
    ("domain_size", "fit_", r"\bar{\ell}", r"mean domain size $\bar{\ell}$"),
    ("domain_length", "fit_length_", "R", "$R$: area per length of interfaces"),
)


def is_plane(result: Result) -> bool:
    return result.kind == "coarsen" and result.number("dimensions") == 2


@dataclass(frozen=True)
class PowerLaw:
    """One measure of the size of domains against time, and its fit."""

    time: np.ndarray
    mean: np.ndarray
    error: np.ndarray  # NaN where there is none
    fit: dict[str, float]  # from, to, prefactor, exponent, and perhaps exponent_error95, correlation; or empty

    def line(self, time: np.ndarray) -> np.ndarray:
        return self.fit["prefactor"] * time ** self.fit["exponent"]


def read_law(result: Result, name: str, prefix: str) -> PowerLaw:
    data = result.data
    if result.is_summary:
        keys = ("time", "domain_length") if name == "domain_length" else ("time", f"{name}_mean", f"{name}_stderr")
        time, mean, *error = (np.array([sample.get(key) for sample in data["samples"]], float) for key in keys)
        found = data.get("fit") or {}
        fit = {**(found.get(name) or {}), "from": found.get("from"), "to": found.get("to")}
    else:
        time, mean = data["time"].values, data[name if name == "domain_length" else f"{name}_mean"].values
        error = [data[f"{name}_stderr"].values] if f"{name}_stderr" in data.variables else []
        keys = ("prefactor", "exponent", "exponent_error95", "correlation")
        fit = {key: result.attribute(prefix + key) for key in keys}
        fit |= {key: result.attribute(f"fit_{key}") for key in ("from", "to")}
    fit = {key: value for key, value in fit.items() if isinstance(value, float | int) and math.isfinite(value)}
    complete = {"from", "to", "prefactor", "exponent"} <= fit.keys()
    start = fit.get("from", 0.4) / 4  # before that there are no domains
    keep = thinned(time, np.flatnonzero((time >= start) & (time > 0) & np.isfinite(mean) & (mean > 0)))
    band = error[0][keep] if error else np.full(keep.size, np.nan)
    return PowerLaw(time[keep], mean[keep], band, fit if complete else {})


def plane_growth(results: list[Result]) -> Any:
    """A row for each file: both measures against time in logarithms, with their power laws and the slope of theory."""
    figure = new_figure(PAGE, 0.6 + 2.7 * len(results))
    grid = figure.subplots(len(results), len(MEASURES), squeeze=False)
    banded = False
    for result, row in zip(results, grid, strict=True):
        for axes, (name, prefix, symbol, label) in zip(row, MEASURES, strict=True):
            law = read_law(result, name, prefix)
            if not law.time.size:
                raise InvalidArgumentError(
                    f"{result.name} has no finite means to draw (the study has not finished, or is too short)"
                )
            banded |= bool(np.isfinite(law.error).any())
            draw_law(axes, law, symbol)
            axes.set(ylabel=label, xlabel="time $t$")
        row[0].set_title(size_of(result))
    handles = [Line2D([], [], color=BLUE, label="mean of the runs")]
    if banded:
        handles.append(Patch(facecolor=SKY, alpha=0.6, label=r"$\pm 1.96$ standard errors"))
    handles.append(Line2D([], [], color=VERMILION, dashes=(4, 2), label="fitted power law"))
    handles.append(Line2D([], [], color=MUTED, linestyle=":", label="$t^{1/3}$"))
    legend_above(figure, handles, 4)
    words = [word for result in results for word in assignments(result, "gamma", "time_step") + seed_of(result)]
    footer(figure, ["2D", *dict.fromkeys(words), *provenance(*results)])
    return figure


def size_of(result: Result) -> str:
    length = r" \times ".join(multiple_of_pi(result.number(name) or math.nan) for name in ("length_x", "length_y"))
    points = r" \times ".join(f"{result.number(name) or math.nan:.0f}" for name in ("points_x", "points_y"))
    members = result.number("members") or (math.nan if result.is_summary else float(result.data["member_count"].max()))
    return f"$L = {length}$, $N = {points}$, {runs(members)}"


def draw_law(axes: Any, law: PowerLaw, symbol: str) -> None:
    axes.set(xscale="log", yscale="log")
    band = SIGMAS95 * law.error
    axes.fill_between(law.time, law.mean - band, law.mean + band, color=SKY, alpha=0.6, linewidth=0)
    axes.plot(law.time, law.mean, color=BLUE, marker="o" if law.time.size < 40 else "", label="mean")
    if law.fit:
        fit, ends = law.fit, np.array([law.fit["from"], law.fit["to"]])
        axes.plot(ends, law.line(ends), color=VERMILION, dashes=(4, 2), linewidth=1.1, label="fit")
        middle = math.sqrt(ends[0] * ends[1])
        guide = 1.5 * law.line(np.array(middle)) * (ends / middle) ** (1 / 3)  # beside the fit, not on it
        axes.plot(ends, guide, color=MUTED, linestyle=":", linewidth=1.1, label="theory")
        lines = [rf"${symbol} = {fit['prefactor']:.4f}\,t^{{\,{fit['exponent']:.4f}}}$"]
        error = fit.get("exponent_error95")
        lines.append("no error (too few runs)" if error is None else rf"exponent $\pm$ {error:.4f} (95 %)")
        window = rf"for ${fit['from']:.3g} \leq t \leq {fit['to']:.3g}$"
        lines.append(rf"$r = {fit['correlation']:.5f}$ {window}" if "correlation" in fit else window)
    else:
        lines = ["no fit in this file"]
    axes.text(
        0.03, 0.96, "\n".join(lines), transform=axes.transAxes, ha="left", va="top", fontsize=7, linespacing=1.5
    )
    plain_log_ticks(axes, axes.xaxis)
    plain_log_ticks(axes, axes.yaxis)
