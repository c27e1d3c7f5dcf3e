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
            drawn |= (found := draw_speedups(axes, result, n))
            if not found:
                say_why_empty(axes, result, n)
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


def say_why_empty(axes: Any, result: Result, n: int) -> None:
    measured = any(record["n"] == n for record in result.data["records"])
    words = "nothing was\ncompared" if measured else f"$n = {n}$ is not\nin this file"
    axes.text(0.5, 0.6, words, transform=axes.transAxes, ha="center", color=MUTED)


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


def cases(result: Result) -> list[dict[str, Any]]:
    """f64 records with general matrices."""
    return [
        r for r in result.data["records"] if r.get("dtype") == "f64" and r.get("matrix") == "general" and r.get("flops")
    ]


def chosen_case(result: Result, n: int | None, boundary: str | None) -> tuple[int, str]:
    """What is asked for; otherwise open and 1024 if the file has them, or what comes first, and its largest n."""
    have = sorted({(record["boundary"], record["n"]) for record in cases(result)})
    if not have:
        raise InvalidArgumentError(
            f"{result.name} has no f64 records with general matrices, which a roofline is drawn from: measure them with "
            "'bandmill bench solve --precision f64 --matrix general'"
        )
    usable = [(b, m) for b, m in have if n in (None, m) and boundary in (None, b)]
    if not usable:
        wanted = " and ".join([f"n = {n}"] * (n is not None) + [f"boundary = {boundary}"] * (boundary is not None))
        listed = ", ".join(f"{b} with n = {m}" for b, m in have)
        raise InvalidArgumentError(f"{result.name} has no f64 records with {wanted}: it has {listed}; pass n and boundary")
    where = "open" if any(b == "open" for b, _ in usable) else usable[0][0]
    sizes = [m for b, m in usable if b == where]
    return 1024 if 1024 in sizes else sizes[-1], where


def solves(result: Result, half_bandwidth: int, n: int, boundary: str) -> list[dict[str, Any]]:
    """Of one size, by batch; in the layout that suits the device, if the file has it."""
    found = [record for record in cases(result) if (record["n"], record["boundary"]) == (n, boundary)]
    best = "tiled" if result.data["backend"] == "cpu" else "interleaved"
    layouts = {record["layout"] for record in found}
    layout = best if best in layouts else min(layouts, default=best)
    found = [r for r in found if r["layout"] == layout and r["half_bandwidth"] == half_bandwidth]
    return sorted(found, key=lambda record: record["batch"])


@styled
def rooflines(
    source: Any, n: int | None = None, *, boundary: str | None = None, peak_gflops: float | None = None
) -> Any:
    """Rate against intensity below the ceiling of memory, and share of it against the number of systems, from a result
    of `bandmill bench solve`: open matrices with n = 1024, or what it has instead, unless `n` and `boundary` say
    otherwise. `peak_gflops` draws the ceiling of arithmetic, too."""
    result = read(source, "bench solve")
    n, boundary = chosen_case(result, n, boundary)
    found = {w: records for w in (1, 2) if (records := solves(result, w, n, boundary))}
    figure = new_figure(PAGE if len(found) == 2 else COLUMN, 4.9)
    grid = figure.subplots(2, len(found), sharey="row", squeeze=False, height_ratios=[1.25, 1])
    batches = [record["batch"] for records in found.values() for record in records]
    ceilings = ceilings_of(result, [record for records in found.values() for record in records])
    roofs = {place: max(rates) for place, rates in ceilings.items()}  # so none is too low
    names: dict[str, dict[str, Any]] = {}
    for (w, records), roof, share in zip(found.items(), *grid, strict=True):
        draw_roofline(roof, roofs, records, peak_gflops)
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
    operation = result.data["ceilings"][0]["operation"]
    grid[1, 0].set_ylabel("share of a copy" if "copy" in operation else "share of the ceiling")
    shares = [value for axes in grid[1] for line in axes.get_lines() for value in line.get_ydata()]
    grid[1, 0].set_ylim(0, 1.05 * max(1, *shares))  # in the cache it may pass 1
    legend_above(figure, [Line2D([], [], label=name, **look) for name, look in names.items()], 4)
    footer(
        figure,
        [
            f"f64; ceiling: {operation}",
            *ceiling_words(ceilings),
            "numbers: systems; all have the intensity of the dotted line",
            *provenance(result),
        ],
    )
    return figure


def ceilings_of(result: Result, records: list[dict[str, Any]]) -> dict[str, list[float]]:
    """GB/s that were measured with the records, by place: on a GPU all are compared with its memory."""
    cached = any(ceiling.get("cache_resident") for ceiling in result.data["ceilings"])
    found: dict[str, list[float]] = {"memory": [], "cache": []}
    for record in records:
        place = "cache" if cached and record.get("cache_resident") else "memory"
        found[place].append(record["ceiling_gbytes_per_s"])
    return {place: rates for place, rates in found.items() if rates}


def ceiling_words(ceilings: dict[str, list[float]]) -> list[str]:
    """The roofs as they are drawn."""
    told = [f"{place} {max(rates):,.0f} GB/s" for place, rates in ceilings.items()]
    several = any(min(rates) < 0.99 * max(rates) for rates in ceilings.values())
    return told + ["the largest measured beside the points"] * several


def draw_roofline(axes: Any, roofs: dict[str, float], records: list[dict[str, Any]], peak: float | None) -> None:
    """All contestants do the same problem, so they have one intensity; they are drawn beside each other."""
    intensity = records[0]["flops"] / records[0]["bytes"]
    low, high = intensity / 2.5, intensity * 7
    if peak:
        high = max(high, 4 * peak / min(roofs.values()))
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
    draw_roofs(axes, roofs, peak, low, high)
    ticks = [m * 10.0**e for e in range(-3, 4) for m in (1, 2, 5)]
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in ticks if low < tick < high]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    speed_axis(axes)
    axes.set_xlabel("arithmetic intensity, flop per byte")


def draw_roofs(axes: Any, roofs: dict[str, float], peak: float | None, low: float, high: float) -> None:
    lowest = min(roofs, key=lambda place: roofs[place])
    for name, rate in roofs.items():
        below = len(roofs) > 1 and name == lowest  # between two roofs there may be no room for words
        bend = min(high, peak / rate) if peak else high
        axes.plot([low, bend], [rate * low, rate * bend], color=INK, linewidth=1.3, label="roof")
        place = bend / (high / low) ** 0.03
        axes.text(
            place,
            (0.8 if below else 1.25) * rate * place,
            f"{name}: {rate:,.0f} GB/s",
            ha="right",
            va="top" if below else "bottom",
            rotation=math.degrees(math.atan(rate)),
            rotation_mode="anchor",
            transform_rotates_text=True,
            fontsize=7,
        )
    if peak:
        axes.plot([peak / max(roofs.values()), high], [peak, peak], color=INK, linewidth=1.3, label="peak")
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
