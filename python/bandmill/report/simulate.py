"""Fields over time: a space-time picture of one member, and its profiles. One section per file."""

from __future__ import annotations

import numpy as np

from .coarsen import rounded
from .encode import bits_for, packed
from .markup import Section, escaped, figure, number, provenance, select, slider
from .readers import Results


DECAYS = {"diffusion": "exp(−D k² t)", "hyperdiffusion": "exp(−D k⁴ t)"}  # equations without phases


def member_labels(results: Results, shown: np.ndarray) -> list[str]:
    numbers = results.variables["member"][shown]
    labels = []
    for index, member in zip(shown, numbers, strict=True):
        parts = [f"{int(member)}"]
        for name, word in (("initial_mean", "mean"), ("forcing", "forcing")):
            values = results.variables.get(name)
            if values is not None and values.ndim == 1 and np.ptp(values) > 0:
                parts.append(f"{word} {number(float(values[index]))}")
        labels.append(", ".join(parts))
    return labels


def thinned(results: Results) -> str:
    parts = []
    for name, word in (("time", "records"), ("member", "members"), ("x", "points")):
        shown, count = results.variables[f"shown_{name}"].size, results.variables[name].size
        if shown < count:
            parts.append(f"{number(shown)} of {number(count)} {word}")
    return f'<p class="note">Drawn: {", ".join(parts)}.</p>' if parts else ""


def meaning(equation: str) -> str:
    """What colours and borders in the picture are."""
    if equation in DECAYS:
        return (
            "above zero orange, below zero blue, zero white. Differences even out, short waves first: a wave of "
            f"wavenumber k decays as {DECAYS[equation]}."
        )
    words = "one phase blue, the other orange, interfaces white. "
    if equation == "forced-cahn-hilliard":
        return words + (
            "Position is η = x − vt, in the frame that moves with the forcing at its speed v: borders that run level "
            "move along with the forcing, those that lean do not keep up with it, those that close are domains that vanish."
        )
    return words + (
        "Borders that run level are at rest, those that lean move, those that close are domains that vanish."
    )


def section(name: str, results: Results) -> Section:
    chosen = {key: results.variables[f"shown_{key}"] for key in ("time", "member", "x")}
    field = np.swapaxes(results.variables["C"], 0, 1)  # member, time, x
    times = results.variables["time"][chosen["time"]]
    equation = str(results.attributes.get("equation", ""))
    controls = select(f"{name}-member", "Member", member_labels(results, chosen["member"]))
    picture = figure(
        f"{name}-field",
        "Picture: concentration C, as colour, over time (across) and position (up).",
        f"C over time and space in one run of {escaped(equation or 'the equation')}: {meaning(equation)} "
        "Choose a time by a click, or below.",
        controls,
        height=380,
    )
    profile = figure(
        f"{name}-profile",
        "Line plot: concentration C against position at the chosen time.",
        f'<span id="{name}-said" aria-live="polite"></span> The profile at the line in the picture; in grey the start.',
        slider(f"{name}-time", "Time", times.size),
        height=320,
    )
    data = {
        "time": rounded(times),
        "x": rounded(results.variables["x"][chosen["x"]]),
        "field": packed(field, bits_for(field.size)),
        "position": "η" if equation == "forced-cahn-hilliard" else "x",
    }
    counts = f"{number(results.variables['member'].size)} runs, {number(results.variables['time'].size)} records"
    lead = f"<p>{counts}, {number(results.variables['x'].size)} points, to t = {number(float(times[-1]))}.</p>"
    body = lead + picture + profile + thinned(results) + provenance(results)
    return Section(name, f"Fields over time: {results.name}", body, "simulate", data)
