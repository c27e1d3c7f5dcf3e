"""How the error falls with the grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .._errors import InvalidArgumentError
from ._files import Result, read
from ._style import BLUE, COLUMN, INK, MUTED, PAGE, VERMILION, footer, legend_above, new_figure, styled
from ._words import EQUATION_NAMES, assignment, by_file, number, plain, problem, provenance, shared_and_own

# What the paper prints. Its last forced value, 2.88e-5, is a slip of the exponent: its own orders give 2.88e-6.
PAPER = {
    "cahn-hilliard": {
        128: 0.0310,
        256: 0.0022,
        512: 5.45e-4,
        1024: 1.35e-4,
        2048: 3.38e-5,
        4096: 8.45e-6,
        8192: 4.54e-6,
    },
    "forced-cahn-hilliard": {256: 0.0013, 512: 1.8e-4, 1024: 4.54e-5, 2048: 1.13e-5, 4096: 2.88e-6},
}
PAPER_PROBLEM = {
    "gamma": 0.01,
    "length": 2 * math.pi,
    "amplitude": 1e-6,
    "mode": 5,
    "mean": 0,
    "until": 20,
    "dt-over-dx": 0.1,
}
PAPER_FORCING = {"wavenumber": 1, "speed": 0.5, "forcing": 1}


def is_the_papers(result: Result) -> bool:
    if result.equation not in PAPER:
        return False
    wanted = PAPER_PROBLEM | (PAPER_FORCING if result.equation == "forced-cahn-hilliard" else {})
    found = {name: result.number(name) for name in wanted}
    return all(value is not None and math.isclose(value, wanted[name]) for name, value in found.items())


def errors_of(result: Result) -> tuple[np.ndarray, np.ndarray]:
    if result.is_summary:
        rows = result.data["rows"]
        points, errors = ([row[key] for row in rows] for key in ("points", "difference"))
    else:
        points, errors = (result.data[name].values for name in ("points", "difference"))
    points, errors = np.array(points, float), np.array(errors, float)
    usable = np.isfinite(errors) & (errors > 0)
    if not usable.any():
        raise InvalidArgumentError(f"{result.name} has no finite differences to draw: let the study end")
    return points[usable], errors[usable]


@styled
def convergence(*sources: Any) -> Any:
    """E_N against N with the orders and a guide of second order; a panel for each `bandmill converge` file."""
    if not sources:
        raise InvalidArgumentError("no files to draw: give one or more files of 'bandmill converge'")
    results = [read(source, "converge") for source in sources]
    columns, rows = min(2, len(results)), -(-len(results) // 2)
    figure = new_figure(PAGE if columns > 1 else COLUMN, 0.6 + 2.7 * rows)
    panels = figure.subplots(rows, columns, squeeze=False)
    handles = {}
    for axes in panels.flat[len(results) :]:
        axes.set_axis_off()
    shared, own = shared_and_own([words_of(result) for result in results])
    for result, axes, more in zip(results, panels.flat, own, strict=False):
        draw_convergence(axes, result, [plain(result.name)] if more else [])
        handles |= {handle.get_label(): handle for handle in axes.get_lines() if not handle.get_label().startswith("_")}
    for row in panels:
        row[0].set_ylabel(r"$E_N$ = mean of $|C_N - C_{N/2}|$")
    legend_above(figure, list(handles.values()), 3 if len(results) > 1 else 2)
    words = shared + by_file(results, own)
    if any(result.equation == "forced-cahn-hilliard" and is_the_papers(result) for result in results):
        words.append("the paper's advection is differenced downwind")
    footer(figure, words + provenance(*results))
    return figure


def words_of(result: Result) -> list[str]:
    words = [word for word in problem(result, "until") if not word.startswith("$N")]
    ratio = result.number("dt-over-dx")
    words += [] if ratio is None else [rf"$\Delta t = {number(ratio)}\,\Delta x$"]
    return words + start_of(result)


def start_of(result: Result) -> list[str]:
    amplitude, mode, mean = (result.number(name) for name in ("amplitude", "mode", "mean"))
    if amplitude is None or mode is None:
        return []
    mean_part = f" + {number(mean)}" if mean else ""
    factor, wave = ("" if value == 1 else number(value) for value in (amplitude, mode))
    return [rf"$C(x, 0) = {factor} \cos {wave} x{mean_part}$"]


def draw_convergence(axes: Any, result: Result, name: list[str]) -> None:
    points, errors = errors_of(result)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    paper = PAPER[result.equation] if is_the_papers(result) else {}
    every = sorted({*points, *paper})
    if len(every) > 1:
        ends = np.array([every[0], every[-1]])
        guide = 0.45 * errors[-1] * (ends / points[-1]) ** -2.0
        axes.plot(ends, guide, color=MUTED, linestyle="--", linewidth=1, label=r"second order, $\propto N^{-2}$")
    if paper:
        axes.plot(
            list(paper),
            list(paper.values()),
            linestyle="none",
            marker="s",
            markersize=8,
            markerfacecolor="none",
            markeredgecolor=VERMILION,
            markeredgewidth=1.1,
            label="the paper",
        )
    axes.plot(points, errors, color=BLUE, marker="o", label="bandmill")
    for i in range(1, points.size):
        order = math.log(errors[i - 1] / errors[i]) / math.log(points[i] / points[i - 1])
        middle = math.sqrt(points[i - 1] * points[i]), math.sqrt(errors[i - 1] * errors[i])
        axes.annotate(f"{order:.3f}", middle, (4, 4), textcoords="offset points", fontsize=7, color=INK)
    axes.set_xlim(every[0] / 1.4, every[-1] * 1.4)
    axes.xaxis.set_major_locator(FixedLocator(every))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f}"))
    axes.tick_params(axis="x", labelrotation=30 if len(every) > 5 else 0)
    axes.set_xlabel("points $N$")
    title = [EQUATION_NAMES.get(result.equation, result.equation)]
    if result.equation == "forced-cahn-hilliard":
        title += [assignment(key, result.number(key) or 0) for key in ("forcing", "speed")]
    axes.set_title(", ".join(title + name))
