"""What `bandmill bench` measured: speed-ups over the number of members, and rooflines."""

from __future__ import annotations

import math
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from .._errors import InvalidArgumentError
from ._files import Result, read
from ._style import (
    BLUE,
    COLUMN,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PAGE,
    PURPLE,
    footer,
    legend_above,
    new_figure,
    styled,
)
from ._words import provenance, short

SOLVERS = {"diffusion": "tridiagonal", "hyperdiffusion": "pentadiagonal"}
WAYS = {
    "resident": "resident",
    "one-solve": "one solve",
    "paper": "the paper's way",
    "cusparse": "cuSPARSE's way",
    "lapack": "LAPACK",
}
# Which speed-ups are drawn, and how: filled for steps that stay on chip, open for one solve per step.
PAIRS = {
    ("resident", "one-solve"): dict(color=BLUE, marker="o"),
    ("resident", "paper"): dict(color=ORANGE, marker="s"),
    ("resident", "cusparse"): dict(color=GREEN, marker="D"),
    ("resident", "lapack"): dict(color=GREEN, marker="D"),
    ("one-solve", "paper"): dict(color=ORANGE, marker="s", linestyle="--", markerfacecolor="white"),
    ("one-solve", "cusparse"): dict(color=GREEN, marker="D", linestyle="--", markerfacecolor="white"),
    ("one-solve", "lapack"): dict(color=GREEN, marker="D", linestyle="--", markerfacecolor="white"),
    ("paper", "cusparse"): dict(color=MUTED, marker="^", linestyle=":"),
    ("paper", "lapack"): dict(color=MUTED, marker="^", linestyle=":"),
}
CONTESTANTS = {  # of bench solve
    "bandmill": ("bandmill", dict(color=BLUE, marker="o", linestyle="-")),
    "paper": ("the paper's kernel", dict(color=ORANGE, marker="s", linestyle="--")),
    "gtsvInterleavedBatch": ("cuSPARSE, interleaved", dict(color=GREEN, marker="D", linestyle="-.")),
    "gpsvInterleavedBatch": ("cuSPARSE, interleaved", dict(color=GREEN, marker="D", linestyle="-.")),
    "gtsv2StridedBatch": ("cuSPARSE, strided", dict(color=PURPLE, marker="^", linestyle=":")),
    "gttrs": ("LAPACK", dict(color=GREEN, marker="D", linestyle="-.")),
    "gbtrs": ("LAPACK", dict(color=GREEN, marker="D", linestyle="-.")),
}


def counts_axis(axes: Any, values: list[int], label: str, most: int = 5) -> None:
    """A logarithmic axis of powers of two, with k for 1024."""
    low, high = min(values), max(values)
    axes.set_xscale("log", base=2)
    axes.set_xlim(low / 1.5, high * 1.5)
    exponents = range(low.bit_length() - 1, high.bit_length())
    step = -(-len(exponents) // most)
    axes.xaxis.set_major_locator(FixedLocator([2**e for e in exponents[::step]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(int(value))))
    axes.set_xlabel(label)


def speed_axis(axes: Any) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


@styled
def speedups(*sources: Any) -> Any:
    """How many times as fast one way of stepping is as another, over the number of members; a row for each result of
    `bandmill bench diffusion` (tridiagonal) or `hyperdiffusion` (pentadiagonal), a column for each n."""
    if not sources:
        raise InvalidArgumentError("no files to draw: give results of 'bandmill bench diffusion' or 'hyperdiffusion'")
    results = [read(source, "bench diffusion", "bench hyperdiffusion") for source in sources]
    sizes = sorted({record["n"] for result in results for record in result.data["records"]})
    if not sizes:
        raise InvalidArgumentError(f"{results[0].name} has no records (everything was skipped): measure again")
    members = [record["members"] for result in results for record in result.data["records"]]
    figure = new_figure(max(COLUMN, PAGE * min(1, len(sizes) / 3)), 0.9 + 2.1 * len(results))
    grid = figure.subplots(len(results), len(sizes), sharex=True, sharey=True, squeeze=False)
    drawn: dict[tuple[str, str], Any] = {}
    several = len({result.data["device"] for result in results}) > 1
    for result, row in zip(results, grid, strict=True):
        for n, axes in zip(sizes, row, strict=True):
            axes.axhline(1, color=INK, linewidth=0.8)
            drawn |= draw_speedups(axes, result, n)
            axes.set_title(f"$n = {n}$")
        kind = result.data["benchmark"]
        device = f"{result.data['device']}\n" if several else ""
        row[0].set_ylabel(f"{device}{kind} ({SOLVERS[kind]})\nspeed-up")
    speed_axis(grid[0, 0])
    for axes in grid[-1]:
        counts_axis(axes, members, "members (k = 1024)")
    handles = [
        Line2D([], [], label=f"{WAYS[way]} over {WAYS[rival]}", **PAIRS[way, rival])
        for way, rival in PAIRS
        if (way, rival) in drawn
    ]
    legend_above(figure, handles, 3)
    steps = list(dict.fromkeys(f"{result.data['steps']:,} Crank-Nicolson steps, periodic, f64" for result in results))
    footer(figure, steps + provenance(*results))
    return figure


def draw_speedups(axes: Any, result: Result, n: int) -> dict[tuple[str, str], Any]:
    drawn = {}
    for (way, rival), look in PAIRS.items():
        points = sorted(
            (record["members"], record["speedup"][way][rival])
            for record in result.data["records"]
            if record["n"] == n and record["speedup"].get(way, {}).get(rival)
        )
        if points:
            drawn[way, rival] = axes.plot(*zip(*points, strict=True), label=f"{way}/{rival}", markersize=4, **look)[0]
    return drawn


def timed(record: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By contestant: those that ran and were right."""
    ran = {name: rival for name, rival in record.get("rivals", {}).items() if "time_us" in rival}
    if "gttrs" in ran:
        ran.pop("gbtrs", None)  # LAPACK's for any band: the slower of the two
    return {
        name: found
        for name, found in {"bandmill": record, **ran}.items()
        if name in CONTESTANTS and not found.get("wrong")
    }


def solves(result: Result, half_bandwidth: int, n: int, boundary: str) -> list[dict[str, Any]]:
    """f64 records with general matrices, by batch; in the layout that suits the device, if the file has it."""
    where = dict(n=n, boundary=boundary, dtype="f64", matrix="general")
    found = [
        r for r in result.data["records"] if all(r.get(key) == value for key, value in where.items()) and r.get("flops")
    ]
    best = "tiled" if result.data["backend"] == "cpu" else "interleaved"
    layouts = {record["layout"] for record in found}
    layout = best if best in layouts else min(layouts, default=best)
    found = [r for r in found if r["layout"] == layout and r["half_bandwidth"] == half_bandwidth]
    return sorted(found, key=lambda record: record["batch"])


@styled
def rooflines(source: Any, n: int = 1024, *, boundary: str = "open", peak_gflops: float | None = None) -> Any:
    """Rate against intensity below the ceiling of memory, and share of a copy against the number of systems, from a
    result of `bandmill bench solve`. `peak_gflops` draws the ceiling of arithmetic, too."""
    result = read(source, "bench solve")
    found = {w: solves(result, w, n, boundary) for w in (1, 2)}
    if not any(found.values()):
        have = sorted({record["n"] for record in result.data["records"]})
        raise InvalidArgumentError(
            f"{result.name} has no {boundary} f64 records with n = {n} (it has {have}): choose another n"
        )
    found = {w: records for w, records in found.items() if records}
    figure = new_figure(PAGE if len(found) == 2 else COLUMN, 4.9)
    grid = figure.subplots(2, len(found), sharey="row", squeeze=False, height_ratios=[1.25, 1])
    batches = [record["batch"] for records in found.values() for record in records]
    names: dict[str, dict[str, Any]] = {}
    for (w, records), roof, share in zip(found.items(), *grid, strict=True):
        draw_roofline(roof, result, records, peak_gflops)
        names |= draw_shares(share, records)
        roof.set_title(f"{'tridiagonal' if w == 1 else 'pentadiagonal'}, {boundary}, $n = {n}$")
        counts_axis(share, batches, "systems (k = 1024)", most=8)
    speeds = [
        value
        for axes in grid[0]
        for line in axes.get_lines()
        if line.get_transform() == axes.transData
        for value in line.get_ydata()
    ]
    grid[0, 0].set_ylim(min(speeds) / 2, max(speeds) * 3)
    grid[0, 0].set_ylabel("GFLOP/s")
    grid[1, 0].set_ylabel("share of a copy")
    grid[1, 0].set_ylim(0, 1.05)
    legend_above(figure, [Line2D([], [], label=name, **look) for name, look in names.items()], 4)
    slowest = min(result.data["ceilings"], key=lambda ceiling: ceiling["gbytes_per_s"])
    footer(
        figure,
        [
            f"f64; copy: {slowest['operation']}, {slowest['gbytes_per_s']:,.0f} GB/s",
            "numbers: systems; all have the intensity of the dotted line",
            *provenance(result),
        ],
    )
    return figure


def draw_roofline(axes: Any, result: Result, records: list[dict[str, Any]], peak: float | None) -> None:
    """All contestants do the same problem, so they have one intensity; they are drawn beside each other."""
    intensity = records[0]["flops"] / records[0]["bytes"]
    low, high = intensity / 2.5, intensity * 7
    ceilings = {bool(c.get("cache_resident")): c["gbytes_per_s"] for c in result.data["ceilings"]}
    if peak:
        high = max(high, 4 * peak / min(ceilings.values()))
    axes.set(xscale="log", yscale="log", xlim=(low, high))
    names = [name for name in CONTESTANTS if any(name in timed(record) for record in records)]
    for place, name in enumerate(names):
        rates = [
            record["flops"] / timed(record)[name]["time_us"]["median"] / 1e3
            for record in records
            if name in timed(record)
        ]
        shifted = intensity * (high / low) ** ((0.12 + 0.085 * place) if place else 0)  # room for the numbers first
        axes.plot([shifted] * len(rates), rates, label=name, **CONTESTANTS[name][1] | dict(linewidth=0.7))
    label_batches(axes, records, intensity)
    axes.axvline(intensity, color=MUTED, linewidth=0.6, linestyle=":", zorder=0.9)
    draw_roofs(axes, ceilings, peak, low, high)
    ticks = [m * 10.0**e for e in range(-3, 4) for m in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low < tick < high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    speed_axis(axes)
    axes.set_xlabel("arithmetic intensity, flop per byte")


def draw_roofs(axes: Any, ceilings: dict[bool, float], peak: float | None, low: float, high: float) -> None:
    for cached, rate in sorted(ceilings.items()):
        bend = min(high, peak / rate) if peak else high
        axes.plot([low, bend], [rate * low, rate * bend], color=INK, linewidth=1.3, label="roof")
        place = bend / (high / low) ** 0.03
        axes.text(
            place,
            1.25 * rate * place,
            f"{'cache' if cached else 'memory'}: {rate:,.0f} GB/s",
            ha="right",
            va="bottom",
            rotation=math.degrees(math.atan(rate)),
            rotation_mode="anchor",
            transform_rotates_text=True,
            fontsize=7,
        )
    if peak:
        axes.plot([peak / max(ceilings.values()), high], [peak, peak], color=INK, linewidth=1.3, label="peak")
        axes.text(high / 1.1, 1.25 * peak, f"{peak:,.0f} GFLOP/s", ha="right", fontsize=7)


def label_batches(axes: Any, records: list[dict[str, Any]], intensity: float) -> None:
    """The number of systems beside the points; where points lie close together, that of the first and the last."""
    groups: list[list[dict[str, Any]]] = []
    for record in sorted(records, key=lambda record: record["gflops_per_s"]):
        if groups and record["gflops_per_s"] < 3 * groups[-1][0]["gflops_per_s"]:
            groups[-1].append(record)
        else:
            groups.append([record])
    for group in groups:
        words = short(group[0]["batch"]) + (f" to {short(group[-1]['batch'])}" if len(group) > 1 else "")
        axes.annotate(
            words,
            (intensity, group[0]["gflops_per_s"]),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            bbox=dict(facecolor="white", edgecolor="none", alpha=0.8, pad=0.4),
        )


def draw_shares(axes: Any, records: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    names = {}
    for name, (label, look) in CONTESTANTS.items():
        points = [
            (record["batch"], timed(record)[name]["share_of_copy"]) for record in records if name in timed(record)
        ]
        if points:
            axes.plot(*zip(*points, strict=True), label=name, markersize=4, **look)
            names[label] = look
    return names
