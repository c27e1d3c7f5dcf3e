"""Fields: one run over time, and the states that runs end in."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from .._arguments import count
from .._errors import InvalidArgumentError
from ..report.simulate import lost_from
from ._files import Result, read
from ._maps import Panel, edges, panels_of
from ._style import (
    BLUE,
    COLUMN,
    FIELD_COLOURS,
    MUTED,
    PAGE,
    SKY,
    around_the_circle,
    footer,
    legend_above,
    new_figure,
    plain_log_ticks,
    styled,
)
from ._words import SYMBOLS, assignment, assignments, mean_of, number, problem, provenance, seed_of

MOST_COLUMNS, MOST_ROWS = 2000, 1024  # of a picture: more cannot be seen


def evenly(count: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def colour_range(result: Result, values: np.ndarray) -> tuple[float, float]:
    """Both phases at the same distance from the middle; other equations have none."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise InvalidArgumentError(f"{result.name} has no finite values (the run blew up or has not begun)")
    low, high = float(finite.min()), float(finite.max())
    if result.equation.endswith("cahn-hilliard"):
        return -max(-low, high), max(-low, high)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def place_of(result: Result, member: int | None) -> int:
    """Of the member with this number, which in a part of a file is not its place."""
    numbers = [int(own) for own in result.data["member"].values]
    if member is None:
        return 0
    wanted = count(member, "member", least=-len(numbers))
    if wanted >= 0 and wanted not in numbers:
        several = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 8 else ", ".join(map(str, numbers))
        raise InvalidArgumentError(f"{result.name} has no member {wanted}: it has {several}")
    return numbers.index(wanted) if wanted >= 0 else len(numbers) + wanted


def end_of(result: Result, field: np.ndarray) -> int | None:
    """The record (time, x) from which on a run is lost. In an unfinished file what is not finite may be what has not
    been reached, by some runs later than by others: lost are those that were seen to leave all bounds."""
    end = lost_from(field)
    if end is None or str(result.attribute("finished") or "").strip():
        return end
    bounded = result.equation.endswith("cahn-hilliard")  # linear runs may have any size
    return end if bounded and np.isfinite(field[end]).all() else None


def without_what_blew_up(field: np.ndarray, end: int | None) -> np.ndarray:
    """Of one run (time, x): NaN from where it is lost on, for the others and what came before to be seen."""
    field = field.astype(float)
    if end is not None:
        field[end:] = np.nan
    return field


def start_of(result: Result, place: int) -> list[str]:
    """What the initial state is made from."""
    kind = result.options().get("initial", "noise")
    given = {"noise": ("amplitude",), "cosine": ("amplitude", "mode")}.get(kind, ())
    words = [f"{name} ${number(value)}$" for name in given if (value := result.number(name)) is not None]
    mean = mean_of_member(result, place) or ([assignment("mean", 0)] if kind == "constant" else [])
    return [f"start: {kind}", *words, *mean, *(seed_of(result) if kind == "noise" else [])]


def mean_of_member(result: Result, place: int) -> list[str]:
    """As it was asked for; where it is zero for all, no words."""
    if "initial_mean" not in result.data.variables:
        return mean_of(result)
    means = np.atleast_1d(result.data["initial_mean"].values)
    return [assignment("mean", float(means[place]))] if means.any() else []


def is_periodic(result: Result) -> bool:
    return result.options().get("ends", "periodic") == "periodic"


@styled
def space_time(source: Any, member: int | None = None, *, log_time: bool = False) -> Any:
    """C over position and time of one member of a `bandmill simulate` file: the first, or that of the number `member`
    (-1: the last)."""
    result = read(source, "simulate", needs="C")
    data = result.data
    place = place_of(result, member)
    times = data["time"].values
    keep = np.flatnonzero(np.isfinite(times) & (times > 0 if log_time else True))
    if keep.size < 2:
        raise InvalidArgumentError(
            f"{result.name} has fewer than two records to draw: run it with a smaller --save-every"
        )
    places = evenly(data.sizes["x"], MOST_ROWS)
    if log_time:
        wanted = np.geomspace(times[keep[0]], times[keep[-1]], MOST_COLUMNS)
        keep = keep[np.unique(np.searchsorted(times[keep], wanted).clip(0, keep.size - 1))]
    else:
        keep = keep[evenly(keep.size, MOST_COLUMNS)]
    run = data["C"].isel(member=place, time=keep, x=places).transpose("time", "x").values
    field = without_what_blew_up(run, end_of(result, run)).T
    whole = data["x"].values
    positions = whole[places]
    if is_periodic(result) and whole.size > 1:  # the first point stands at the other end, too
        end = whole[-1] + (whole[-1] - whole[0]) / (whole.size - 1)
        positions, field = np.append(positions, end), np.vstack([field, field[:1]])
    figure = new_figure(PAGE * 0.75, 2.9)
    axes = figure.add_subplot()
    axes.grid(False)
    axes.patch.set(hatch="xx", edgecolor=MUTED)  # shows where values are not finite
    low, high = colour_range(result, field)
    picture = axes.pcolormesh(
        times[keep],
        positions,
        np.ma.masked_invalid(field),
        shading="nearest",
        cmap=FIELD_COLOURS,
        vmin=low,
        vmax=high,
        rasterized=True,
    )
    if log_time:
        axes.set_xscale("log")
        plain_log_ticks(axes)
    forced = result.equation == "forced-cahn-hilliard"
    position = r"\eta = x - v t" if forced else "x"
    axes.set(xlabel="time $t$", ylabel=f"position ${position}$")
    if is_periodic(result):
        around_the_circle(axes.yaxis, data["x"].values)
    figure.colorbar(picture, ax=axes, label="concentration $C$", pad=0.02, ticks=MaxNLocator(5, steps=[1, 2, 5, 10]))
    own = [f"member {int(data['member'][place])}"]
    if forced and "forcing" in data.variables:
        own.append(assignment("forcing", float(data["forcing"][place])))
    words = [word for word in problem(result) if not (forced and word.startswith("$f_0"))]
    if "points" not in result.options():
        words.append(f"$N = {data.sizes['x']}$")
    footer(figure, own + words + start_of(result, place) + provenance(result))
    return figure


@styled
def patterns(source: Any, *, at: Any = None, panel: int = 0, times: int = 4) -> Any:
    """Solutions: of a `bandmill map` file the surest state of each class (or those nearest to the points (x, y) in
    `at`), of a `bandmill simulate` file each member at its last `times` records, the last one strongest."""
    result, times = read(source, "simulate", "map"), count(times, "times", 1)
    result = read(result, needs="C" if result.kind == "simulate" else "state")
    if result.kind == "simulate":
        return draw_runs(result, times)
    panels = panels_of(result)
    if not 0 <= count(panel, "panel") < len(panels):
        raise InvalidArgumentError(f"{result.name} has no map number {panel}: it has {len(panels)}, counted from 0")
    chosen = panels[panel]
    cells = surest_cells(chosen) if at is None else cells_at(chosen, at)
    if not cells:
        raise InvalidArgumentError(f"{result.name} has no finite state to draw (no kept cell has a class)")
    figure = new_figure(max(COLUMN, min(PAGE, 2.5 * len(cells))), 2.5)
    grid = figure.subplots(1, len(cells), sharey=True, squeeze=False)[0]
    state, position = chosen.data["state"], chosen.data["position"].values
    for (row, column), axes in zip(cells, grid, strict=True):
        x, y = float(state[f"kept_{chosen.x}"][column]), float(state[f"kept_{chosen.y}"][row])
        cell = chosen.data.sel({chosen.x: x, chosen.y: y}, method="nearest")
        kind = int(cell["class"])
        axes.plot(position, state[row, column].values, color=BLUE, label="state")
        mean_line(axes, float(state[row, column].mean()))
        motion = f", motion ${number(float(cell['motion']), 2)}$" if "motion" in cell.variables else ""
        axes.set_title(
            f"{f'A{kind}' if kind >= 0 else 'not finite'}{motion}\n"
            f"${SYMBOLS[chosen.x]} = {number(x, 3)}$, ${SYMBOLS[chosen.y]} = {number(y, 3)}$",
            fontsize=8,
        )
        around_the_circle(axes.xaxis, position)
        axes.set_xlabel(r"position $\eta = x - v t$")
    grid[0].set_ylabel("$C$ at the end")
    words = assignments(result, "length", "points", "until")
    fixed = [assignment(name, value) for name, value in chosen.fixed.items()]
    footer(figure, fixed + words + ["motion: pace of the pattern over $v$", "dashed: mean of $C$"] + provenance(result))
    return figure


def cells_at(panel: Panel, at: Any) -> list[tuple[int, int]]:
    """The kept cells nearest to the points; one point may come without a list."""
    try:
        points = np.atleast_2d(np.asarray(at, float))
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim != 2 or points.shape[1] != 2:
        raise InvalidArgumentError(f"at={at!r} are no points: pass a list of pairs ({panel.x}, {panel.y})")
    (left, right), (bottom, top) = (edges(panel.data[name].values) for name in (panel.x, panel.y))
    for x, y in points:
        if not (left <= x <= right and bottom <= y <= top):
            raise InvalidArgumentError(
                f"{panel.result.name} has no cell at ({x:g}, {y:g}): its map has {panel.x} from {left:g} to {right:g} "
                f"and {panel.y} from {bottom:g} to {top:g}"
            )
    kept_x, kept_y = (panel.data[f"kept_{name}"].values for name in (panel.x, panel.y))
    return [(int(np.abs(kept_y - y).argmin()), int(np.abs(kept_x - x).argmin())) for x, y in points]


def surest_cells(panel: Panel) -> list[tuple[int, int]]:
    """Of each class the kept cell with the highest confidence, the most varied state if several have it."""
    state = panel.data["state"]
    kept = {panel.y: state[f"kept_{panel.y}"].values, panel.x: state[f"kept_{panel.x}"].values}
    cells = panel.data[["class", "confidence"]].sel(kept, method="nearest")
    spread = state.std("position").values
    found = []
    for kind in (0, 1, 2):
        sure = np.where((cells["class"].values == kind) & np.isfinite(spread), cells["confidence"].fillna(0).values, -1)
        if sure.max() >= 0:
            best = np.where(sure >= sure.max() - 0.02, spread, -1)
            found.append(tuple(int(i) for i in np.unravel_index(best.argmax(), best.shape)))
    return found


def mean_line(axes: Any, mean: float) -> None:
    axes.axhline(mean, color=MUTED, linestyle="--", linewidth=0.8, zorder=0.9)


def record_handles(lines: list[Any]) -> list[Any]:
    """For a legend: each record, or where there are many one entry for all but the last."""
    if len(lines) <= 8:
        return lines
    first, previous = lines[0].get_label(), lines[-2].get_label()
    label = f"{first} to {previous.removeprefix('$t = ')[:-1]} ({len(lines) - 1} records)"
    return [Line2D([], [], color=SKY, linewidth=0.9, linestyle="--", label=label), lines[-1]]


def mark_end(axes: Any, known: np.ndarray, times: np.ndarray, lost: bool) -> None:
    """Where a run ends before the others, which have later records."""
    last = np.flatnonzero(known)
    if lost:
        words = f"lost after $t = {times[last[-1]]:.4g}$" if last.size else "lost"
        axes.patch.set(hatch="xx", edgecolor=MUTED)
    else:
        words = f"reached $t = {times[last[-1]]:.4g}$" if last.size else "not begun"
    box = dict(facecolor="white", edgecolor="none", pad=2)
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", bbox=box)


def draw_runs(result: Result, times: int) -> Any:
    data = result.data
    members = data.sizes["member"]
    if members > 12:
        raise InvalidArgumentError(
            f"{result.name} has {members} members, too many to draw: choose with .isel(member=[0, 1, 2])"
        )
    runs = [data["C"][:, i].values for i in range(members)]
    ends = [end_of(result, run) for run in runs]
    fields = [without_what_blew_up(run, end) for run, end in zip(runs, ends, strict=True)]
    known = np.array([np.isfinite(field).all(axis=1) for field in fields])
    records = np.flatnonzero(known.any(axis=0))[-times:]
    if not records.size:
        raise InvalidArgumentError(f"{result.name} has no finite values (the run blew up or has not begun)")
    across = min(members, 3)
    down = -(-members // across)
    figure = new_figure(max(COLUMN, min(PAGE, 2.5 * across)), 0.5 + 2.0 * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    forced = result.equation == "forced-cahn-hilliard"
    for axes in grid.flat[members:]:
        axes.set_axis_off()
    for i, axes in zip(range(members), grid.flat, strict=False):
        for place, record in enumerate(records):
            last = place == len(records) - 1
            look = (
                dict(color=BLUE, linewidth=1.5)
                if last
                else dict(color=SKY, linewidth=0.9, linestyle=("--", "-.", ":")[place % 3])
            )
            axes.plot(data["x"], fields[i][record], label=f"$t = {float(data['time'][record]):.4g}$", **look)
        title = (
            assignment("forcing", float(data["forcing"][i]))
            if "forcing" in data.variables
            else f"member {int(data['member'][i])}"
        )
        axes.set_title(", ".join([title, *mean_of_member(result, i)]))
        if ends[i] is not None or not known[i, records[-1]]:
            mark_end(axes, known[i], data["time"].values, ends[i] is not None)
        if is_periodic(result):
            around_the_circle(axes.xaxis, data["x"].values)
        lowest = i + across >= members  # in its column: the last row may be shorter
        axes.tick_params(labelbottom=lowest)
        axes.set_xlabel((r"position $\eta = x - v t$" if forced else "position $x$") if lowest else "")
    for row in grid:
        row[0].set_ylabel("$C$")
    legend_above(figure, record_handles(grid.flat[0].get_lines()), 4)
    words = [word for word in problem(result) if not word.startswith("$f_0")]
    footer(figure, words + provenance(result))
    return figure
