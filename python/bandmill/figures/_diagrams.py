"""Diagrams of where the data lives: in which memory, and in which order."""

from __future__ import annotations

from typing import Any

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from ._style import BLUE, GREEN, INK, MUTED, ORANGE, PAGE, SKY, VERMILION, YELLOW, new_figure, styled

# From the chip outwards: name, what there is of it, colour, what a solve keeps there, what fused steps keep there.
LEVELS = [
    (
        "Registers",
        "of a thread,\n64 K of 4 B per multiprocessor",
        YELLOW,
        "16 or 32 rows of its system(s);\nboth sweeps run here",
        "8 to 32 points of a member, $C$ itself:\nright-hand side, solve, update,\nall steps up to the next sample",
    ),
    (
        "Shared memory",
        "of a block or cluster,\n227 KiB per multiprocessor",
        ORANGE,
        "the next rows, by the copy engine;\ntables of the factor;\ncarries between segments",
        "carries between warps; within a warp\ncarries and neighbours go from\nregister to register (shuffles)",
    ),
    (
        "L2 and constants",
        "in front of the memory",
        SKY,
        "one copy of the factor's tables, $O(n)$,\nfor all systems; rows pass through\nin pieces of 256 B",
        "one copy of the tables\nfor all members",
    ),
    (
        "HBM",
        "of the whole GPU",
        GREEN,
        "right-hand sides and solutions,\ninterleaved: $n \\times$ systems $\\times$ 8 B",
        "states between samples:\n$n \\times$ members $\\times$ 8 B",
    ),
]
TRAFFIC = ("read and written once: 16 B per unknown", "once per sample, not once per step")
SYSTEM_COLOURS = (YELLOW, SKY, ORANGE, GREEN)


def blank(figure: Any, place: Any, x: tuple[float, float], y: tuple[float, float]) -> Any:
    axes = figure.add_subplot(place)
    axes.set(xlim=x, ylim=y)
    axes.set_axis_off()
    return axes


def arrow(axes: Any, start: tuple[float, float], end: tuple[float, float], look: str = "<|-|>", **options: Any) -> None:
    options = dict(color=INK, linewidth=1.0, mutation_scale=8, shrinkA=0, shrinkB=0) | options
    axes.add_patch(FancyArrowPatch(start, end, arrowstyle=look, **options))


@styled
def memory_hierarchy() -> Any:
    """What lives where on a GPU while a batch is solved, and while steps are taken together."""
    figure = new_figure(PAGE, 4.3)
    axes = blank(figure, 111, (0, 72), (0, 42))
    heads = (
        (29.5, "one solve", "bandmill.factor(ab).solve(b)"),
        (53.5, "steps taken together", "bandmill coarsen, map, bench step"),
    )
    for centre, head, command in heads:
        axes.text(centre, 40.6, head, ha="center", weight="bold", fontsize=9)
        axes.text(centre, 38.8, command, ha="center", fontsize=6.5, family="monospace", color=MUTED)
    for row, (name, size, colour, *uses) in enumerate(LEVELS):
        bottom = 30.4 - 9.9 * row
        axes.text(0.2, bottom + 5.1, name, weight="bold", fontsize=8.5, va="center")
        axes.text(0.2, bottom + 3.6, size, fontsize=6.8, va="top", color=MUTED, linespacing=1.3)
        for (centre, _, _), words in zip(heads, uses, strict=True):
            box = FancyBboxPatch(
                (centre - 10.3, bottom),
                20.6,
                7.2,
                boxstyle="round,pad=0,rounding_size=0.8",
                facecolor=colour,
                alpha=0.35,
                edgecolor="none",
            )
            axes.add_patch(box)
            axes.add_patch(
                FancyBboxPatch(
                    (centre - 10.3, bottom),
                    20.6,
                    7.2,
                    boxstyle="round,pad=0,rounding_size=0.8",
                    facecolor="none",
                    edgecolor=INK,
                )
            )
            axes.text(centre, bottom + 3.6, words, ha="center", va="center", fontsize=7.2, linespacing=1.35)
    for index, (centre, _, _) in enumerate(heads):
        for row in range(3):
            top = 30.4 - 9.9 * row
            look = (
                dict(linewidth=2.2) if index == 0 else dict(linewidth=0.9, linestyle="-" if row == 0 else (0, (3, 2)))
            )
            arrow(axes, (centre - 8.4, top - 2.6), (centre - 8.4, top - 0.1), **look)
        axes.text(centre - 6.9, 30.4 - 9.9 * 2 - 1.35, TRAFFIC[index], fontsize=6.4, va="center", color=VERMILION)
    on_chip(axes)
    return figure


def on_chip(axes: Any) -> None:
    """What is inside the GPU's multiprocessors is marked by a bracket on the right."""
    x = 65.2
    for low, high, words in (
        (20.5, 37.6, "on chip,\nper multi-\nprocessor"),
        (0.7, 17.8, "shared\nby all multi-\nprocessors"),
    ):
        axes.plot([x, x + 0.8, x + 0.8, x], [low, low, high, high], color=MUTED, linewidth=0.9)
        axes.text(x + 1.4, (low + high) / 2, words, fontsize=6.8, va="center", color=MUTED, linespacing=1.3)


@styled
def layouts() -> Any:
    """One matrix and many right-hand sides, and the three orders in which these can stand in memory."""
    figure = new_figure(PAGE, 4.0)
    axes = blank(figure, 111, (0, 72), (0, 40))
    draw_matrix(axes, 2.0, 24.5)
    draw_batch(axes, 34.5, 24.9)
    interleaved = [(row, system) for row in range(3) for system in range(4)]
    tiled = [(row, 2 * tile + lane) for tile in range(2) for row in range(3) for lane in range(2)]
    contiguous = [(row, system) for system in range(4) for row in range(3)]
    draw_memory(axes, 16.2, "interleaved", "for GPUs", interleaved, 4, ("row 0", "row 1", "row 2"))
    draw_memory(axes, 8.2, "tiled", "for CPUs; width 2 here,\n32 in practice", tiled, 6, ("tile 0", "tile 1"))
    draw_memory(
        axes, 0.8, "contiguous", "as most programs have it", contiguous, 3, tuple(f"system {m}" for m in range(4))
    )
    axes.text(64.4, 17.4, "4 threads, 4 neighbours:\none access to memory", fontsize=6.8, va="center", color=VERMILION)
    axes.text(64.4, 9.4, "a SIMD vector\nis a row of a tile", fontsize=6.8, va="center", color=VERMILION)
    axes.text(64.4, 2.0, "transposed\non the way", fontsize=6.8, va="center", color=MUTED)
    return figure


def cell(axes: Any, x: float, y: float, row: int, system: int, size: float) -> None:
    axes.add_patch(Rectangle((x, y), size, size, facecolor=SYSTEM_COLOURS[system], alpha=0.55, linewidth=0))
    axes.add_patch(Rectangle((x, y), size, size, facecolor="none", edgecolor=INK))
    axes.text(x + size / 2, y + size / 2, f"{row}{system}", ha="center", va="center", fontsize=7.5)


def draw_matrix(axes: Any, left: float, bottom: float) -> None:
    axes.text(left, bottom + 13.8, "one matrix $A$, factored once", weight="bold")
    size = 1.9
    for i in range(6):
        for j in range(6):
            inside = abs(i - j) <= 2
            axes.add_patch(
                Rectangle(
                    (left + j * size, bottom + (5 - i) * size),
                    size,
                    size,
                    edgecolor=MUTED,
                    linewidth=0.5,
                    facecolor=BLUE if inside else "white",
                    alpha=0.75 if inside else 1,
                )
            )
    axes.text(
        left + 12.4,
        bottom + 5.7,
        "$O(n)$ numbers,\nhowever many\nsystems there are;\nread by all threads",
        va="center",
        fontsize=7.2,
        linespacing=1.4,
    )


def draw_batch(axes: Any, left: float, bottom: float) -> None:
    axes.text(left, bottom + 13.4, "right-hand sides: $n = 3$ rows, 4 systems", weight="bold")
    size = 2.9
    for row in range(3):
        for system in range(4):
            cell(axes, left + 5.5 + size * system, bottom + size * (2 - row), row, system, size)
        axes.text(left + 4.9, bottom + size * (2.5 - row), f"row {row}", ha="right", va="center", fontsize=7)
    for system in range(4):
        axes.text(left + 5.5 + size * (system + 0.5), bottom + 3 * size + 0.5, f"{system}", ha="center", fontsize=7)
    axes.text(left + 4.9, bottom + 3 * size + 0.5, "system", ha="right", fontsize=7)
    axes.text(
        left + 18.4,
        bottom + 4.3,
        "$im$: row $i$ of system $m$;\ncolour: system",
        va="center",
        fontsize=7.2,
        linespacing=1.4,
    )


def draw_memory(
    axes: Any, bottom: float, name: str, words: str, order: list[tuple[int, int]], group: int, labels: tuple[str, ...]
) -> None:
    """One line of memory, addresses from left to right; a bracket below each group."""
    size, left = 3.4, 21.5
    axes.text(0.2, bottom + 2.4, name, weight="bold", va="center")
    axes.text(0.2, bottom + 1.2, words, fontsize=6.8, va="top", color=MUTED, linespacing=1.2)
    for place, (row, system) in enumerate(order):
        cell(axes, left + size * place, bottom, row, system, size)
    for index, label in enumerate(labels):
        start, end = left + size * group * index + 0.15, left + size * group * (index + 1) - 0.15
        axes.plot(
            [start, start, end, end],
            [bottom - 0.25, bottom - 0.7, bottom - 0.7, bottom - 0.25],
            color=MUTED,
            linewidth=0.8,
        )
        axes.text((start + end) / 2, bottom - 0.9, label, ha="center", va="top", fontsize=6.5, color=MUTED)
    if name != "contiguous":
        for place in range(4 if name == "interleaved" else 2):
            x = left + size * (place + 0.5)
            arrow(axes, (x, bottom + size + 1.7), (x, bottom + size + 0.15), "-|>", color=VERMILION, mutation_scale=6)
        axes.text(
            left + size * (2 if name == "interleaved" else 1),
            bottom + size + 2.1,
            "threads 0 to 3" if name == "interleaved" else "lanes",
            ha="center",
            fontsize=6.5,
            color=VERMILION,
        )
