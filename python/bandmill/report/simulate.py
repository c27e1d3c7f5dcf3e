"""Fields over time: a space-time picture of one member, and its profiles. One section per file."""

from __future__ import annotations

import numpy as np

from .coarsen import rounded
from .encode import bits_for, packed
from .markup import Section, escaped, figure, number, provenance, select, slider
from .readers import Results


BOUND = 100  # times the start, or 1: a run that gets there and ends without finite values is lost from there on
HUGE = 1e300  # beyond it differences may not be finite, and nothing can be drawn

DECAYS = {"diffusion": "exp(−D k² t)", "hyperdiffusion": "exp(−D k⁴ t)"}  # equations without phases


def lost_from(field: np.ndarray) -> int | None:
    """The first record (time, x) of a run's end: not finite, or on the way there beyond all bounds. None: it is well."""
    with np.errstate(invalid="ignore"):
        known = (np.abs(field) < HUGE).all(axis=1)
    if known.all():
        return None
    largest = np.where(known, np.abs(np.where(known[:, None], field, 0)).max(axis=1), np.inf)
    scale = max(1.0, float(largest[0])) if known[0] else 1.0
    return int((largest > BOUND * scale).argmax())


def member_labels(results: Results, shown: np.ndarray, ends: list[int | None]) -> list[str]:
    numbers = results.variables["member"][shown]
    labels = []
    for index, member, end in zip(shown, numbers, ends, strict=True):
        parts = [f"{int(member)}"]
        for name, word in (("initial_mean", "mean"), ("forcing", "forcing")):
            values = results.variables.get(name)
            if values is not None and values.ndim == 1 and np.ptp(values) > 0:
                parts.append(f"{word} {number(float(values[index]))}")
        labels.append(", ".join(parts + ["lost"] * (end is not None)))
    return labels


def mean_of(results: Results) -> str:
    """In words, where all runs have the same and it is not zero; others are told where a member is chosen."""
    means = np.atleast_1d(results.variables.get("initial_mean", np.zeros(1)))
    return f", mean of C {number(float(means[0]))}" if means[0] and not np.ptp(means) else ""


def ends_of(results: Results) -> str:
    """In words, where they are not periodic."""
    ends, value = results.options().get("ends", "periodic"), results.options().get("end-value", "0")
    if ends == "periodic":
        return ""
    return f", {escaped(ends)} ends" + (f" with C = {escaped(value)}" if ends == "dirichlet" else "")


def losses(results: Results, ends: list[int | None]) -> str:
    lost = results.number("lost_members")
    count = int(lost) if lost is not None else sum(end is not None for end in ends)
    if not count:
        return ""
    one = count == 1
    return (
        f"<p><b>{number(count)} of {number(results.variables['member'].size)} runs {'was' if one else 'were'} lost</b>: "
        f"C left all bounds (a smaller --dt may keep {'it' if one else 'them'}). What is beyond {BOUND} times the start, "
        "or 1, and all that comes after it is not drawn.</p>"
    )


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
    field = np.swapaxes(results.variables["C"], 0, 1).copy()  # member, time, x
    times = results.variables["time"][chosen["time"]]
    equation = str(results.attributes.get("equation", ""))
    ends = [lost_from(own) for own in field]
    for own, end in zip(field, ends, strict=True):
        if end is not None:
            own[end:] = np.nan
    controls = select(f"{name}-member", "Member", member_labels(results, chosen["member"], ends))
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
        "fields": [packed(own, bits_for(field.size)) for own in field],  # each in the steps of its own range
        "lostFrom": [None if end is None else float(f"{times[end]:.7g}") for end in ends],
        "position": "η" if equation == "forced-cahn-hilliard" else "x",
    }
    runs = results.variables["member"].size
    counts = f"{number(runs)} run{'s' if runs > 1 else ''}, {number(results.variables['time'].size)} records"
    lead = f"<p>{counts}, {number(results.variables['x'].size)} points, to t = {number(float(times[-1]))}"
    lead += f"{mean_of(results)}{ends_of(results)}.</p>"
    body = lead + losses(results, ends) + picture + profile + thinned(results) + provenance(results)
    return Section(name, f"Fields over time: {results.name}", body, "simulate", data)
