"""How the domains of many Cahn-Hilliard runs grow, and how they are distributed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .._errors import InvalidArgumentError
from ._files import Result, read
from ._planes import is_plane, plane_growth
from ._style import (
    BLUE,
    COLUMN,
    INK,
    ORANGE,
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
    styled,
    thinned,
)
from ._words import (
    NO_ERROR,
    assignments,
    by_file,
    mean_of,
    multiple_of_pi,
    plain,
    problem,
    provenance,
    runs,
    seed_of,
    shared_and_own,
)


@dataclass(frozen=True)
class Growth:
    """The mean of l over the members against time, from either kind of file."""

    result: Result
    time: np.ndarray
    mean: np.ndarray
    error: np.ndarray
    members: int
    fit: dict[str, float]  # empty if there is none

    def line(self, time: np.ndarray) -> np.ndarray:
        return self.fit["intercept"] + self.fit["slope"] * np.log(time)

    def shown(self) -> np.ndarray:
        """Samples that are drawn: from a quarter of the fit's beginning on if there are any, a thousand at most."""
        known = (self.time > 0) & np.isfinite(self.mean)
        late = known & (self.time >= self.fit.get("from", 0.4) / 4)
        return thinned(self.time, np.flatnonzero(late if late.any() else known))


def read_growth(source: Any) -> Growth:
    result = read(source, "coarsen")
    keys = ("from", "to", "slope", "slope_error95", "intercept", "correlation")
    if result.is_summary:
        samples = result.data["samples"]
        time, mean, error = (
            np.array([sample[key] for sample in samples], float)
            for key in ("time", "domain_size_mean", "domain_size_stderr")
        )
        members, fit = result.data["members"], dict(result.data.get("fit") or {})
    else:
        data = result.data
        time, mean, error = (data[name].values for name in ("time", "domain_size_mean", "domain_size_stderr"))
        members = result.number("members") or int(data["member_count"].max())
        fit = {key: result.attribute(f"fit_{key}") for key in keys}
    fit = {key: value for key, value in fit.items() if isinstance(value, float | int) and math.isfinite(value)}
    complete = {"from", "to", "slope", "intercept"} <= fit.keys()  # one run has no error, a flat line no correlation
    growth = Growth(result, time, mean, error, int(members), fit if complete else {})
    if not growth.shown().size:
        raise InvalidArgumentError(
            f"{result.name} has no finite means to draw (the study has not finished, or is too short)"
        )
    return growth


@styled
def domain_growth(*sources: Any) -> Any:
    """The mean of l against log t with its fit, and below it what the fit leaves, for each `bandmill coarsen` file.

    Of files of `coarsen --dimensions 2` both measures of size in logarithms, with their power laws."""
    if not sources:
        raise InvalidArgumentError("no files to draw: give one or more files of 'bandmill coarsen'")
    results = [read(source, "coarsen") for source in sources]
    planes = [result for result in results if is_plane(result)]
    if len(planes) == len(results):
        return plane_growth(results)
    if planes:
        line = next(result for result in results if not is_plane(result))
        raise InvalidArgumentError(
            f"{planes[0].name} is of planes and {line.name} of lines (a power law, and a logarithm): give 2D and 1D "
            "files to two figures"
        )
    growths = [read_growth(result) for result in results]
    columns, blocks = min(2, len(growths)), -(-len(growths) // 2)
    figure = new_figure(PAGE if columns > 1 else COLUMN, 0.6 + 3.3 * blocks)
    axes = figure.subplots(2 * blocks, columns, sharey="row", squeeze=False, height_ratios=[2.6, 1] * blocks)
    pairs = [
        (axes[2 * (i // columns), i % columns], axes[2 * (i // columns) + 1, i % columns])
        for i in range(columns * blocks)
    ]
    words = [assignments(result, "gamma", "time_step") + mean_of(result) + seed_of(result) for result in results]
    shared, own = shared_and_own(words)
    for growth, (above, below), more in zip(growths, pairs, own, strict=False):
        above.sharex(below)
        above.tick_params(labelbottom=False)
        draw_growth(growth, above, below, [plain(growth.result.name)] if more else [])
    for above, below in pairs[len(growths) :]:
        above.set_axis_off()
        below.set_axis_off()
    for above, below in pairs[::columns]:
        above.set_ylabel(r"mean domain size $\bar{\ell}$")
        below.set_ylabel(r"$\bar{\ell}$ $-$ fit")
    handles = [Line2D([], [], color=BLUE, label=r"mean of $\ell = 1 / (1 - \langle C^2 \rangle)$")]
    if any(np.isfinite(growth.error[growth.shown()]).any() for growth in growths):
        handles.append(Patch(facecolor=SKY, alpha=0.6, label=r"$\pm 1.96$ standard errors"))
    if any(growth.fit for growth in growths):
        handles.append(Line2D([], [], color=VERMILION, dashes=(4, 2), label="least-squares line"))
    legend_above(figure, handles, 3 if columns > 1 else 2)
    footer(figure, shared + by_file(results, own) + provenance(*results))
    settle_notes(figure)
    return figure


def draw_growth(growth: Growth, above: Any, below: Any, name: list[str]) -> None:
    keep = growth.shown()
    time, mean, band = growth.time[keep], growth.mean[keep], SIGMAS95 * growth.error[keep]
    few = keep.size < 40
    above.set_xscale("log")
    above.fill_between(time, mean - band, mean + band, color=SKY, alpha=0.6, linewidth=0)
    above.plot(time, mean, color=BLUE, marker="o" if few else "", label="mean")
    if few:
        above.errorbar(time, mean, band, color=BLUE, linestyle="none", capsize=2, linewidth=0.8)
    length, points, lost = (growth.result.number(name) for name in ("length", "points", "lost_members"))
    size = [f"$L = {multiple_of_pi(length)}$", f"$N = {points:.0f}$", runs(growth.members, lost)]
    above.set_title(", ".join(size + name))
    if growth.fit:
        below.axhline(0, color=VERMILION, dashes=(4, 2), linewidth=1.1)
        ends = np.array([growth.fit["from"], growth.fit["to"]])
        above.plot(ends, growth.line(ends), color=VERMILION, dashes=(4, 2), linewidth=1.1, label="fit")
        inside = (time >= ends[0]) & (time <= ends[1] * (1 + 1e-9))
        rest = mean[inside] - growth.line(time[inside])
        below.fill_between(time[inside], rest - band[inside], rest + band[inside], color=SKY, alpha=0.6, linewidth=0)
        below.plot(time[inside], rest, color=BLUE, marker="o" if few else "", label="rest")
        note(above, fit_words(growth.fit), "lower right")
    else:
        below.text(0.5, 0.5, "no fit in this file", transform=below.transAxes, ha="center", va="center")
    below.yaxis.set_major_locator(MaxNLocator(4))
    below.set_xlabel("time $t$")
    plain_log_ticks(below)


def fit_words(fit: dict[str, float]) -> list[str]:
    error, window = fit.get("slope_error95"), rf"for ${fit['from']:.3g} \leq t \leq {fit['to']:.3g}$"
    return [
        rf"$\bar{{\ell}} = {fit['intercept']:.4f} {fit['slope']:+.4f}\,\ln t$",
        NO_ERROR if error is None else rf"slope $\pm$ {error:.4f} (95 %)",
        rf"$r = {fit['correlation']:.5f}$ {window}" if "correlation" in fit else window,
    ]


@styled
def distributions(source: Any) -> Any:
    """How many interfaces the runs of a `bandmill coarsen` file have, and how l is distributed, at some times."""
    result = read(source, "coarsen")
    if is_plane(result):
        raise InvalidArgumentError(
            f"{result.name} is of planes, which have no histograms: give a file of 'bandmill coarsen' without "
            "--dimensions 2"
        )
    data = read(result, needs="interface_histogram").data
    rows = [i for i in range(data.sizes["histogram_time"]) if float(data["interface_histogram"][i].sum()) > 0]
    if not rows:
        raise InvalidArgumentError(f"{result.name} has empty histograms (the study has not finished): let it end")
    figure = new_figure(PAGE, 1.0 + 0.62 * len(rows))
    axes = figure.subplots(len(rows), 2, sharex="col", squeeze=False, width_ratios=[1, 1.5])
    figure.get_layout_engine().set(hspace=0.0, h_pad=0.02)
    unit = result.number("length") / (2 * math.sqrt(2 * result.number("gamma")))
    for row, (left, right) in zip(rows, axes, strict=True):
        draw_counts(left, data["interfaces"].values, data["interface_histogram"][row].values)
        draw_sizes(right, data["domain_size"].values, data["domain_size_histogram"][row].values)
        time = float(data["histogram_time"][row])
        left.set_ylabel(f"$t = {time:.3g}$", rotation=0, ha="right", va="center", labelpad=10)
        nearest = int(np.abs(data["time"].values - time).argmin())
        right.axvline(float(data["domain_size_mean"][nearest]), color=VERMILION, dashes=(3, 2), linewidth=1)
    counts = data["interface_histogram"].values[rows].sum(axis=0)
    used = data["interfaces"].values[counts > 0]
    axes[0, 0].set_xlim(used.min() - 1.5, used.max() + 1.5)
    axes[-1, 0].xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 4, 10]))
    mark_quantised(axes, data, rows, unit)
    axes[0, 0].set_title("share of runs with $n$ interfaces", pad=14)
    axes[-1, 0].set_xlabel("interfaces $n$" + (" (last: or more)" if counts[-1] > 0 else ""))
    axes[-1, 1].set_xlabel(r"domain size $\ell$ of a run")
    handles = [
        Line2D([], [], color=VERMILION, dashes=(3, 2), linewidth=1, label=r"mean of $\ell$"),
        Line2D(
            [], [], color=INK, linestyle=":", linewidth=0.9, label=rf"$L / (2 n \sqrt{{2\gamma}}) = {unit:.1f} / n$"
        ),
    ]
    legend_above(figure, handles, 2)
    members = int(data["interface_histogram"][rows[0]].sum())
    footer(figure, [runs(members)] + problem(result) + mean_of(result) + seed_of(result) + provenance(result))
    return figure


def draw_counts(axes: Any, counts: np.ndarray, members: np.ndarray) -> None:
    axes.bar(counts, members / members.sum(), width=1.3, color=BLUE, edgecolor=INK)
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.grid(axis="x", visible=False)


def draw_sizes(axes: Any, sizes: np.ndarray, members: np.ndarray) -> None:
    width = float(sizes[1] - sizes[0]) if sizes.size > 1 else 0.1
    edges = np.append(sizes - width / 2, sizes[-1] + width / 2)
    total = members.sum()
    axes.stairs(members / (total * width) if total else members, edges, fill=True, facecolor=ORANGE, edgecolor=INK)
    axes.yaxis.set_major_locator(MaxNLocator(2))
    axes.grid(axis="x", visible=False)


def mark_quantised(axes: Any, data: Any, rows: list[int], unit: float) -> None:
    """Limits of l, and lines where runs with far interfaces must lie, with n above them."""
    total = data["domain_size_histogram"].values[rows].sum(axis=0)
    sizes = data["domain_size"].values
    used = sizes[total > total.sum() * 1e-4] if total.sum() else sizes
    low, high = max(0.0, float(used.min()) - 0.4), float(used.max()) + 0.5
    axes[0, 1].set_xlim(low, high)
    spots = [(n, unit / n) for n in range(2, 41, 2) if low < unit / n < high]
    previous = math.inf
    for n, place in spots:
        for panel in axes[:, 1]:
            panel.axvline(place, color=INK, linestyle=":", linewidth=0.9, zorder=0.8)
        if previous - place > (high - low) * 0.05:  # room for a number
            axes[0, 1].text(place, 1.05, f"{n}", transform=axes[0, 1].get_xaxis_transform(), ha="center", fontsize=7)
            previous = place
    axes[0, 1].set_title(r"density of $\ell$ (numbers: $n$)", pad=14)
