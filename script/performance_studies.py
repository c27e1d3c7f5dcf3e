"""The part of docs/performance.md about whole studies: bench/results/*-coarsen*.json (bandmill coarsen --json)."""
import math

import plot_svg as svg
from plot_svg import Style

INTRODUCTION = """`bandmill coarsen`: Cahn-Hilliard runs from noise to t = 100, the domain size l of every run measured after every one
of 40,744 steps. The time is that of initial states, stepping and statistics together, without making the file; the bars are for
stepping alone. The paper has 2^20 such runs. For a length of 2 pi the mean of l is compared with that of 16,384 runs of another program."""
# 16,384 runs on a length of 2 pi: t, mean of l, standard error.
REFERENCE = [(1, 1.9553, 0.0015), (2, 2.1513, 0.0017), (5, 2.4717, 0.0023), (10, 2.7301, 0.0022), (20, 2.9996, 0.0032),
             (50, 3.3802, 0.0035), (100, 3.6231, 0.0028)]
BARS = {256: 15, 512: 30}  # seconds for 2^20 members of so many points


def studies(every):
    return [(path, run) for path, run in every if run.get("study") == "coarsen" and run.get("dimensions", 1) == 1]


def length_text(run):
    return f"{run['length'] / math.pi:.3g} pi"


def is_reference(run):
    return abs(run["length"] - 2 * math.pi) < 1e-9


def sample_at(run, time):
    return min(run["samples"], key=lambda sample: abs(sample["time"] - time))


def plots(every):
    """File name -> SVG: l against time, one line a study."""
    runs = studies(every)
    if not runs:
        return {}
    colours = [Style(svg.BLUE), Style(svg.GREEN, "diamond")]
    lines, legend, highest = [], [], 1
    for (_, run), style in zip(runs, colours):
        points = [(s["time"], s["domain_size_mean"]) for s in run["samples"] if s["time"] >= 0.09]
        highest = max([highest] + [value for _, value in points])
        lines.append(svg.Series(points, style))
        fit = run["fit"]
        law = [(t, fit["intercept"] + fit["slope"] * math.log(t)) for t in (fit["from"], fit["to"])]
        lines.append(svg.Series(law, Style(style.colour, "none", dashed=True)))
        legend += [(f"length {length_text(run)}, {run['members']:,} runs", style)]
    lines.append(svg.Series([(t, l) for t, l, _ in REFERENCE], Style(svg.ORANGE, "square", line=False)))
    legend.append(("reference, 2 pi, 16,384 runs", Style(svg.ORANGE, "square", line=False)))
    x = svg.Axis("time", 0.09, 110, [(t, f"{t:g}") for t in (0.1, 1, 10, 100)], log=True)
    top = math.ceil(highest)
    y = svg.Axis("mean of l", 1, top, [(v, str(v)) for v in range(1, top + 1)])
    panel = svg.Panel("Domains grow with log t (dashed: the fit)", x, y, lines)
    return {"coarsen.svg": svg.figure(f"{runs[0][1]['device']}: bandmill coarsen", [panel], legend)}


def studies_section(table, every, drawn):
    runs = studies(every)
    if not runs:
        return ""
    parts = ["## A million runs", INTRODUCTION]
    rows = []
    for path, run in runs:
        bar = BARS.get(run["points"]) if run["members"] == 1 << 20 else None
        stepping = run.get("stepping_seconds")
        verdict = "" if bar is None else "yes" if (stepping or run["seconds"]) <= bar else "no"
        rows.append([length_text(run), f"{run['members']:,}", run["points"], f"{run['seconds']:.2f} s",
                     f"{stepping:.2f} s" if stepping else "not timed",
                     "" if bar is None else f"{bar} s", verdict, f"{run['point_steps_per_second'] / 1e9:,.0f}",
                     f"{run['fit']['slope']:.4f} +- {run['fit']['slope_error95']:.4f}", f"{run['fit']['correlation']:.5f}"])
    parts.append(table(["length", "members", "points", "time", "of it stepping", "bar", "met?", "10^9 point-steps/s",
                        "slope of l against log t (95 %)", "r"], rows))
    for path, run in runs:
        parts.append(f"`bench/results/{path.name}`: {run['device']}; {run['date']}, commit {run['commit']}, bandmill "
                     f"{run['version']}.")
    rows = []
    for time, expected, error in REFERENCE:
        row = [f"{time:g}"]
        for _, run in runs:
            sample = sample_at(run, time)
            row.append(f"{sample['domain_size_mean']:.5f} +- {sample['domain_size_stderr']:.5f}")
        row.append(f"{expected:.4f} +- {error:.4f}")
        main = next((run for _, run in runs if is_reference(run)), None)
        if main:
            sample = sample_at(main, time)
            distance = (sample["domain_size_mean"] - expected) / math.hypot(sample["domain_size_stderr"], error)
            row.append(f"{distance:+.1f}")
        rows.append(row)
    head = ["t"] + [f"l, {length_text(run)}" for _, run in runs] + ["reference, 2 pi", "apart, in standard errors"]
    parts.append(table(head[:len(rows[0])], rows))
    if "coarsen.svg" in drawn:
        parts.append("![Mean domain size against time](plots/coarsen.svg)")
    return "\n\n".join(parts)
