"""Orders of convergence: the difference between grids against the number of points. All files in one section."""

from __future__ import annotations

from typing import Any

import numpy as np

from .coarsen import rounded
from .markup import Section, escaped, figure, number, provenance, style, table
from .readers import Results

COLUMNS = ("points", "steps", "time", "difference", "order", "seconds")


def columns_of(results: Results) -> dict[str, np.ndarray]:
    if results.summary:
        rows = results.summary["rows"]
        return {name: np.asarray([row.get(name) for row in rows], dtype=np.float64) for name in COLUMNS}
    count = results.variables["points"].size
    blank = np.full(count, np.nan)
    return {name: np.asarray(results.variables.get(name, blank), dtype=np.float64) for name in COLUMNS}


def equation_of(results: Results) -> str:
    return results.options().get("equation", "unknown equation")


def section(name: str, files: list[Results]) -> Section:
    lines: list[dict[str, Any]] = []
    tables, said = "", []
    for index, results in enumerate(files):
        columns = columns_of(results)
        label = f"{equation_of(results)} ({results.name})"
        lines.append(
            {
                "label": label,
                **style(index),
                "points": [int(n) for n in columns["points"]],
                "difference": rounded(columns["difference"]),
                "order": rounded(columns["order"], 5),
            }
        )
        orders = columns["order"][np.isfinite(columns["order"])]
        if orders.size:
            said.append(f"{escaped(equation_of(results))} {orders[-1]:.3f}")
        rows = [
            [number(points), number(steps), f"{difference:.3e}".replace("-", "−")]
            + [f"{order:.4f}" if np.isfinite(order) else "–", number(seconds, 3)]
            for points, steps, _, difference, order, seconds in zip(*(columns[key] for key in COLUMNS), strict=True)
        ]
        end = f", at t = {number(columns['time'][-1])}" if np.isfinite(columns["time"][-1]) else ""
        tables += table(["points", "steps", "E", "order", "seconds"], rows, f"{label}{end}", 0)
    caption = (
        "E, the mean difference between the solution on a grid and on the next coarser one, against the number of points. "
        "A scheme of second order follows the slope of the dotted lines: half the spacing, a quarter of the error."
    )
    if said:
        caption += f" The order of the last refinement: {'; '.join(said)}."
    label = "Line plot with logarithmic axes: difference between grids against the number of points."
    body = figure(f"{name}-orders", label, caption) + tables
    body += "".join(provenance(results) for results in files)
    return Section(name, "Convergence", body, "converge", {"lines": lines})
