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
    note,
    plain_log_ticks,
    settle_notes,
    thinned,
)
from ._words import (
    NO_ERROR,
    assignments,
    mean_of,
    multiple_of_pi,
    plain,
    provenance,
    runs,
    seed_of,
    shared_and_own,
)

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

    def shown(self) -> np.ndarray:
        """Samples that are drawn, as of lines: from a quarter of the fit's beginning on if there are any."""
        known = (self.time > 0) & np.isfinite(self.mean) & (self.mean > 0)
        late = known & (self.time >= self.fit.get("from", 0.4) / 4)  # before that there are no domains
        return thinned(self.time, np.flatnonzero(late if late.any() else known))

    def line(self, time: np.ndarray) -> np.ndarray:
        return self.fit["prefactor"] * time ** self.fit["exponent"]


def why_not_finite(result: Result) -> str:
    """Of R, where it is at no time; empty for files of earlier versions. Runs that are left out of l, too, are lost."""
    names = ("interface_left_out", "left_out")
    if result.is_summary:
        left_out = [[sample.get(name) for sample in result.data["samples"]] for name in names]
        known = None not in left_out[0]
    else:
        known = names[0] in result.data.variables
        left_out = [result.data[name].values for name in names] if known else []
    if not known:
        return ""
    too_long = np.any(np.subtract(*left_out) > 0)
    return ":\ninterfaces left out (too long)" if too_long else ":\nno run has interfaces"


def read_law(result: Result, name: str, prefix: str) -> PowerLaw:
    data = result.data
    if result.is_summary:
        keys = ("time", "domain_length") if name == "domain_length" else ("time", f"{name}_mean", f"{name}_stderr")
        time, mean, *error = (np.array([sample.get(key) for sample in data["samples"]], float) for key in keys)
        found = data.get("fit") or {}
        fit = {**(found.get(name) or {}), "from": found.get("from"), "to": found.get("to")}
    else:
        time, mean = data["time"].values, data[name if name == "domain_length" else f"{name}_mean"].values
        error = [data[f"{name}_stderr"].values] if f"{name}_stderr" in data.variables else length_error(data)
        keys = ("prefactor", "exponent", "exponent_error95", "correlation")
        fit = {key: result.attribute(prefix + key) for key in keys}
        fit |= {key: result.attribute(f"fit_{key}") for key in ("from", "to")}
    fit = {key: value for key, value in fit.items() if isinstance(value, float | int) and math.isfinite(value)}
    complete = {"from", "to", "prefactor", "exponent"} <= fit.keys()
    law = PowerLaw(time, mean, error[0] if error else np.full(time.size, np.nan), fit if complete else {})
    keep = law.shown()
    return PowerLaw(time[keep], mean[keep], law.error[keep], law.fit)


def length_error(data: Any) -> list[np.ndarray]:
    """The standard error of the area per length: relative to it, as large as that of the length."""
    if "interface_length_stderr" not in data.variables:
        return []
    length, error = (data[f"interface_length_{part}"].values for part in ("mean", "stderr"))
    with np.errstate(invalid="ignore"):  # a plane of one phase has no interfaces
        return [data["domain_length"].values * error / np.where(length > 0, length, np.nan)]


def plane_growth(results: list[Result]) -> Any:
    """A row for each file: both measures against time in logarithms, with their power laws and the slope of theory."""
    laws = [[read_law(result, name, prefix) for name, prefix, *_ in MEASURES] for result in results]
    for result, row in zip(results, laws, strict=True):
        if not row[0].time.size:
            raise InvalidArgumentError(
                f"{result.name} has no finite means to draw (the study has not finished, or is too short)"
            )
    figure = new_figure(PAGE, 0.6 + 2.7 * len(results))
    grid = figure.subplots(len(results), len(MEASURES), squeeze=False)
    words = [assignments(result, "gamma", "time_step") + mean_of(result) + seed_of(result) for result in results]
    shared, own = shared_and_own(words)
    for result, row, pair, more in zip(results, grid, laws, own, strict=True):
        for axes, law, (_, _, symbol, label) in zip(row, pair, MEASURES, strict=True):
            if law.time.size:
                draw_law(axes, law, symbol)
                axes.set(ylabel=label, xlabel="time $t$")
            else:
                say(axes, f"${symbol}$ is not finite{why_not_finite(result)}")
        row[0].set_title(size_of(result))
        if len(results) > 1:
            row[1].set_title(", ".join([plain(result.name), *more]))
    legend_above(figure, handles_of([law for row in laws for law in row]), 4)
    footer(figure, ["2D", *shared, *provenance(*results)])
    settle_notes(figure)
    return figure


def handles_of(laws: list[PowerLaw]) -> list[Any]:
    """For a legend: what is in some panel."""
    handles = [Line2D([], [], color=BLUE, label="mean of the runs")]
    if any(np.isfinite(law.error).any() for law in laws):
        handles.append(Patch(facecolor=SKY, alpha=0.6, label=r"$\pm 1.96$ standard errors"))
    if any(law.fit and law.time.size for law in laws):
        handles.append(Line2D([], [], color=VERMILION, dashes=(4, 2), label="fitted power law"))
        handles.append(Line2D([], [], color=MUTED, linestyle=":", label="$t^{1/3}$"))
    return handles


def size_of(result: Result) -> str:
    length = r" \times ".join(multiple_of_pi(result.number(name) or math.nan) for name in ("length_x", "length_y"))
    points = r" \times ".join(f"{result.number(name) or math.nan:.0f}" for name in ("points_x", "points_y"))
    members = result.number("members") or (math.nan if result.is_summary else float(result.data["member_count"].max()))
    return f"$L = {length}$, $N = {points}$, {runs(members, result.number('lost_members'))}"


def say(axes: Any, words: str) -> None:
    """In place of a panel."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center")


def draw_law(axes: Any, law: PowerLaw, symbol: str) -> None:
    axes.set(xscale="log", yscale="log")
    above = SIGMAS95 * law.error
    below = np.minimum(above, 0.9 * law.mean)  # a logarithmic axis has no place for zero
    few = law.time.size < 40
    axes.fill_between(law.time, law.mean - below, law.mean + above, color=SKY, alpha=0.6, linewidth=0)
    axes.plot(law.time, law.mean, color=BLUE, marker="o" if few else "", label="mean")
    if few:
        axes.errorbar(law.time, law.mean, [below, above], color=BLUE, linestyle="none", capsize=2, linewidth=0.8)
    if law.fit:
        fit, ends = law.fit, np.array([law.fit["from"], law.fit["to"]])
        axes.plot(ends, law.line(ends), color=VERMILION, dashes=(4, 2), linewidth=1.1, label="fit")
        middle = math.sqrt(ends[0] * ends[1])
        guide = 1.5 * law.line(np.array(middle)) * (ends / middle) ** (1 / 3)  # beside the fit, not on it
        axes.plot(ends, guide, color=MUTED, linestyle=":", linewidth=1.1, label="theory")
        lines = [rf"${symbol} = {fit['prefactor']:.4f}\,t^{{\,{fit['exponent']:.4f}}}$"]
        error = fit.get("exponent_error95")
        lines.append(NO_ERROR if error is None else rf"exponent $\pm$ {error:.4f} (95 %)")
        window = rf"for ${fit['from']:.3g} \leq t \leq {fit['to']:.3g}$"
        lines.append(rf"$r = {fit['correlation']:.5f}$ {window}" if "correlation" in fit else window)
    else:
        lines = ["no fit in this file"]
    note(axes, lines, "upper left")
    plain_log_ticks(axes, axes.xaxis)
    plain_log_ticks(axes, axes.yaxis)
