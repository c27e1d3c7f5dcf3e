"""Flow-pattern maps: what each cell ended in, and all that is known of a cell that is clicked. One section per file."""

from __future__ import annotations

from typing import Any

import numpy as np

from .encode import bits_for, packed
from .markup import Section, escaped, figure, number, provenance, select, table
from .readers import Results

CLASSES = {
    "A0": "moves: the forcing leaves the domains behind",
    "A1": "domains held by the forcing",
    "A2": "a wave about the mean",
}
COLOURS = {"A0": "#F0E442", "A1": "#56B4E9", "A2": "#0072B2"}  # as in flowmap.js and bandmill.figures
PARAMETERS = ("mean", "forcing", "speed", "wavenumber", "gamma")
FIRST = ("class", "kmeans_class", "confidence", "settled")
EXPLAINED = {
    "class": "class, by physical features",
    "kmeans_class": "class, by raw k-means",
    "confidence": "confidence of the class",
    "settled": "settled (1) or not (0)",
}


def panels_of(results: Results, names: tuple[str, ...], shape: tuple[int, ...]) -> list[dict[str, float]]:
    """The parameters of each panel, in the order of the file."""
    return [
        {name: float(results.variables[name][i]) for name, i in zip(names, index, strict=True)}
        for index in np.ndindex(*shape)
    ]


def fields_of(results: Results, dimensions: tuple[str, ...]) -> list[str]:
    """Variables with a value in each cell: the classes first, the others in the file's order."""
    found = [name for name, given in results.dimensions.items() if given == dimensions]
    return [name for name in FIRST if name in found] + [name for name in found if name not in FIRST]


def kept_states(results: Results, axes: tuple[str, str], panels: int) -> dict[str, Any] | None:
    """Final states of some cells, and the rows and columns of these in the map."""
    state = results.variables.get("state")
    kept = [results.variables.get(f"kept_{name}") for name in axes]
    if state is None or not state.size or any(values is None for values in kept):
        return None
    places = [
        [int(np.abs(results.variables[name] - value).argmin()) for value in values]
        for name, values in zip(axes, kept, strict=True)
    ]
    position = results.variables.get("position", np.arange(state.shape[-1], dtype=np.float64))
    shape = (panels, len(places[0]), len(places[1]), state.shape[-1])
    return {
        "rows": places[0],
        "columns": places[1],
        "position": [float(f"{x:.7g}") for x in position],
        "values": packed(state.reshape(shape), min(bits_for(state.size), 12)),
    }


def panel_label(panel: dict[str, float]) -> str:
    return ", ".join(f"{name} {number(value)}" for name, value in panel.items()) or "the map"


def counts_table(classes: np.ndarray, settled: np.ndarray | None, panels: list[dict[str, float]]) -> str:
    rows = []
    for index, panel in enumerate(panels):
        cells = classes[index].size
        counts = [(classes[index] == kind).sum() for kind in (0, 1, 2, -1)]
        row = [escaped(panel_label(panel))] + [f"{number(int(c))} ({c / cells:.1%})" for c in counts[:3]]
        moving = (settled[index] == 0) & (classes[index] >= 0) if settled is not None else None  # as the program counts
        rows.append(row + [number(int(counts[3])), "–" if moving is None else number(int(moving.sum()))])
    head = ["panel", "A0 moves", "A1 held", "A2 wave", "not finite", "not settled"]
    return table(head, rows, "Cells of each class", cards=True)


def rule(results: Results) -> str:
    """The limits that the classes were told by, in words."""
    motion, depth, harmonics = (
        results.number(f"limit_{name}") for name in ("motion_log10", "depth", "harmonics_log10")
    )
    if motion is None or depth is None or harmonics is None:
        return ""
    where = (
        "These limits lie where the runs of this study have gaps."
        if results.number("limits_in_gaps")
        else "Where the runs of this study have no gap, the limit is the usual one."
    )
    return (
        f"<p>The rule: a pattern that moves at {number(10**motion, 2)} of the forcing's speed or more, in the forcing's "
        f"frame, is A0. The others are held: A1 if the rarer sign of C goes beyond {number(depth, 2)} and at least "
        f"{number(100 * 10**harmonics, 2)} % of the variance is not in the forced wavenumber, else A2. {where}</p>"
    )


def summary_section(name: str, results: Results) -> Section:
    """Of a --json file, which has counts only."""
    panels = results.summary["panels"]
    shown = ("a0_cells", "a1_cells", "a2_cells", "unsettled_cells")
    rows = [
        [", ".join(f"{key} {number(panel[key])}" for key in PARAMETERS if key in panel)]
        + [number(panel.get(key)) for key in shown]
        + [f"{panel[key]:.3%}" if panel.get(key) is not None else "–" for key in ("speckle", "kmeans_speckle")]
        for panel in panels
    ]
    head = ["panel", "A0", "A1", "A2", "not settled", "speckle", "by raw k-means"]
    body = "<p>A summary: it has counts, and no map. Give the .nc file to see the map.</p>"
    body += table(head, rows, "Cells of each class", cards=True) + rule(results) + provenance(results)
    return Section(name, f"Flow patterns: {results.name}", body, "", {})


def section(name: str, results: Results) -> Section:
    if results.summary:
        return summary_section(name, results)
    dimensions = results.dimensions["class"]
    shape = results.variables["class"].shape
    if len(shape) < 2 or any(label not in results.variables for label in dimensions):
        raise ValueError("its axes are missing")
    y, x = dimensions[-2:]
    for label in (y, x):
        values = results.variables[label]
        if values.size > 1 and values.min() == values.max():
            raise ValueError(f"all cells along {label} have the same value: there is no map to draw")
    panels = panels_of(results, dimensions[:-2], shape[:-2])
    fields = fields_of(results, dimensions)
    flat = (len(panels), *shape[-2:])
    arrays = {field: results.variables[field].reshape(flat) for field in fields}
    bits = bits_for(sum(values.size for values in arrays.values()))
    fixed = {
        p: float(results.variables[p])
        for p in PARAMETERS
        if p in results.variables and p not in dimensions and results.variables[p].ndim == 0
    }
    names = [EXPLAINED.get(field, field.replace("_", " ")) for field in fields]
    data = {
        "x": {"name": x, "values": [float(v) for v in results.variables[x]]},
        "y": {"name": y, "values": [float(v) for v in results.variables[y]]},
        "panels": panels,
        "panelLabels": [panel_label(panel) for panel in panels],
        "fixed": fixed,
        "fields": [
            {"name": field, "label": label, "about": results.long_names[field], **packed(arrays[field], bits)}
            for field, label in zip(fields, names, strict=True)
        ],
        "states": kept_states(results, (y, x), len(panels)),
        "classes": [f"{key} {words}" for key, words in CLASSES.items()],
    }
    controls = select(f"{name}-panel", "Panel", data["panelLabels"]) + select(f"{name}-field", "Colour", names)
    caption = (
        '<span class="screen">Click or tap a cell to see what is known of it; with the keyboard, go there by Tab and move '
        "by the arrow keys (Shift: ten cells). The address of the page then leads back to that cell.</span> "
        f'<span id="{name}-said"></span>'
    )
    picture = figure(
        f"{name}-map",
        f"Map: each cell is a run, its {x} across and its {y} up; the colour shows the chosen quantity.",
        caption,
        controls,
        height=520,
    )
    state = figure(
        f"{name}-state", "Line plot: concentration C against position, of the cell named below.", "", height=260
    )
    cell = (
        f'<div class="cell"><h3 id="{name}-cell-title">The chosen cell</h3><div id="{name}-cell" aria-live="polite"></div>'
        f'{state}<p class="note" id="{name}-kept"></p></div>'
    )
    classes = "".join(
        f'<li><span class="swatch" style="background:{COLOURS[key]}"></span><b>{key}</b> {escaped(words)}</li>'
        for key, words in CLASSES.items()
    )
    body = (
        f"<p>One run of {number(results.number('points'))} points for each of {number(shape[-1])} × {number(shape[-2])} "
        f"cells, to t = {number(results.number('until'))}: which pattern does it end in?</p><ul class='classes'>{classes}</ul>"
        f'<div class="map">{picture}{cell}</div>'
        + counts_table(arrays["class"], arrays.get("settled"), panels)
        + rule(results)
        + provenance(results)
    )
    return Section(name, f"Flow patterns: {results.name}", body, "flowmap", data)
