"""Flow-pattern maps, and the patterns themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from .._errors import InvalidArgumentError
from ._files import Result, read
from ._style import (
    CLASS_COLOURS,
    COLUMN,
    INK,
    MUTED,
    PAGE,
    VERMILION,
    footer,
    legend_above,
    new_figure,
    styled,
)
from ._words import AXES, assignment, assignments, by_file, plain, provenance, shared_and_own

CLASS_NAMES = {
    0: "A0: domains left behind",
    1: "A1: domains held by the forcing",
    2: "A2: wave about the mean",
    -1: "no finite run",
}
HOW = {"physical": "from features", "raw-kmeans": "raw $k$-means"}


@dataclass(frozen=True)
class Panel:
    """One map of a file: two axes, the other parameters fixed."""

    result: Result
    data: Any  # a Dataset with two dimensions left
    y: str
    x: str
    fixed: dict[str, float]  # the other parameters


def panels_of(result: Result) -> list[Panel]:
    if result.data["class"].ndim < 2:
        raise InvalidArgumentError(
            f"{result.name} is a part with {result.data['class'].ndim} axes (a map has two): choose with slices or "
            "lists, as in .isel(mean=slice(0, 10))"
        )
    *others, y, x = result.data["class"].dims
    for name in (x, y):
        values = result.data[name].values
        if values.size > 1 and values.min() == values.max():
            raise InvalidArgumentError(
                f"{result.name} has {values.size} cells with {name} = {values[0]:g} (the ends of its axis are equal): "
                "there is no map to draw"
            )
    found = []
    for index in np.ndindex(*(result.data.sizes[name] for name in others)):
        data = result.data.isel(dict(zip(others, index, strict=True)))
        fixed = {
            name: float(data[name])
            for name in AXES
            if name not in (x, y) and name in data.variables and data[name].ndim == 0
        }
        found.append(Panel(result, data, y, x, fixed))
    return found


def differing(panels: list[Panel]) -> list[str]:
    """Parameters by which the panels are told apart; the speed if there is but one."""
    names = [name for name in AXES if len({panel.fixed.get(name) for panel in panels}) > 1]
    return names or ["speed"]


def edges(values: np.ndarray) -> tuple[float, float]:
    """Cells are drawn around their values, so both ends of a range lie half a cell inside."""
    width = (values[-1] - values[0]) / (values.size - 1) if values.size > 1 else 0
    half = width / 2 or 0.05 * (abs(values[0]) or 1)
    return float(values[0] - half), float(values[-1] + half)


@styled
def flow_maps(*sources: Any, kmeans: bool = True, confidence: bool = False) -> Any:
    """The class of every cell from features, beside that by raw k-means and, if wanted, the confidence; a row for each
    map in the `bandmill map` files (two to a row where there are many)."""
    if not sources:
        raise InvalidArgumentError("no files to draw: give one or more files of 'bandmill map'")
    results = [read(source, "map", needs="class") for source in sources]
    panels = [panel for result in results for panel in panels_of(result)]
    columns = ["class"]
    physical = all(result.attribute("classifier") != "raw-kmeans" for result in results)
    if kmeans and physical and any("kmeans_class" in result.data.variables for result in results):
        columns.append("kmeans_class")
    if confidence:
        columns.append("confidence")
    beside = min(3, len(panels)) if len(columns) == 1 else 1  # panels in a row
    across, down = beside * len(columns), -(-len(panels) // beside)
    size = min(3.2 if down < 3 else 2.5, PAGE / across)
    figure = new_figure(max(COLUMN, size * across), 0.85 + down * size * 0.97)
    grid = figure.subplots(down, across, squeeze=False)
    for axes in grid.flat[len(panels) * len(columns) :]:
        axes.set_axis_off()
    shown: set[int] = set()
    names = differing(panels)
    shared, own = shared_and_own([words_of(result) for result in results])
    named = {result.name for result, more in zip(results, own, strict=True) if more}
    for i, panel in enumerate(panels):
        title = [plain(panel.result.name)] * (panel.result.name in named)
        title += [assignment(name, panel.fixed[name]) for name in names if name in panel.fixed]
        for j, name in enumerate(columns):
            shown |= draw_map(figure, grid.flat[i * len(columns) + j], panel, name, title)
    handles = [class_patch(kind) for kind in (0, 1, 2, -1) if kind in shown]
    legend_above(figure, handles, 3 if figure.get_figwidth() > 6 else 2)
    fixed = [assignment(name, value) for name, value in panels[0].fixed.items() if name not in names]
    footer(figure, fixed + shared + by_file(results, own) + provenance(*results))
    return figure


def words_of(result: Result) -> list[str]:
    *_, height, width = result.data["class"].shape
    grid = rf"${width} \times {height}$ runs"
    return [grid, *assignments(result, "length", "points", "until", "amplitude", "seed")]


def class_patch(kind: int) -> Patch:
    if kind < 0:
        return Patch(facecolor="white", edgecolor=VERMILION, hatch="xxxx", label=CLASS_NAMES[kind])
    return Patch(facecolor=CLASS_COLOURS[kind], edgecolor=INK, label=CLASS_NAMES[kind])


def draw_map(figure: Any, axes: Any, panel: Panel, name: str, title: list[str]) -> set[int]:
    """Draws one picture; returns the classes in it."""
    x, y = panel.data[panel.x].values, panel.data[panel.y].values
    axes.grid(False)
    axes.set(xlabel=AXES[panel.x], ylabel=AXES[panel.y], xlim=edges(x), ylim=edges(y))
    if name not in panel.data.variables:
        axes.text(0.5, 0.5, "no $k$-means\nin this file", transform=axes.transAxes, ha="center", color=MUTED)
        return set()
    extent = (*edges(x), *edges(y))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    classes = panel.data["class" if name == "confidence" else name].values
    if (classes < 0).any():
        axes.patch.set(facecolor="white", edgecolor=VERMILION, hatch="xxxx")  # shows through where no run was finite
    if name == "confidence":
        axes.set_title(", ".join([*title, "confidence"]))
        values = np.ma.masked_where((classes < 0) | ~np.isfinite(panel.data[name].values), panel.data[name].values)
        picture = axes.imshow(values, extent=extent, origin="lower", aspect="auto", cmap="Greys_r", vmin=0.5, vmax=1)
        figure.colorbar(picture, ax=axes, pad=0.02)
        return set()
    own = panel.data[name].attrs.get("classifier") or ("raw-kmeans" if name == "kmeans_class" else "physical")
    axes.set_title(", ".join([*title, HOW.get(own, own)]))
    colours = ListedColormap([CLASS_COLOURS[kind] for kind in (0, 1, 2)])
    axes.imshow(
        np.ma.masked_outside(classes, 0, 2),
        extent=extent,
        origin="lower",
        aspect="auto",
        cmap=colours,
        vmin=-0.5,
        vmax=2.5,
    )
    for kind in (0, 1, 2):
        label_region(axes, classes == kind, kind, x, y)
    return {int(kind) for kind in np.unique(classes)}


def label_region(axes: Any, inside: np.ndarray, kind: int, x: np.ndarray, y: np.ndarray) -> None:
    """Writes A0, A1 or A2 where the region is widest, if it is wide enough for it."""
    step = max(1, max(inside.shape) // 96)
    left = inside[::step, ::step]
    depth, spot = 0, None
    while left.any():  # take the rim away until nothing is left
        cells = np.argwhere(left)
        depth, spot = depth + 1, cells[np.square(cells - cells.mean(axis=0)).sum(axis=1).argmin()]
        ring = np.pad(left, 1)
        left = left & ring[:-2, 1:-1] & ring[2:, 1:-1] & ring[1:-1, :-2] & ring[1:-1, 2:]
    if spot is not None and 2 * depth - 1 > 0.11 * min(max(inside.shape) // step, 96):
        axes.text(
            x[spot[1] * step],
            y[spot[0] * step],
            f"A{kind}",
            ha="center",
            va="center",
            fontsize=9,
            weight="bold",
            color="white" if kind == 2 else INK,
        )
