"""Growth of domains: l against log t with its fit, residuals, distributions. All files in one section."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .markup import Section, escaped, figure, number, pi_multiple, provenance, select, slider, style, table, with_error
from .readers import Results

SHOWN_TIMES = 400  # of a curve, evenly spaced in log t
Z95 = 1.96  # half the width of a 95 % interval, in standard errors


def fit_of(results: Results) -> dict[str, float | None]:
    names = ("intercept", "intercept_error95", "slope", "slope_error95", "correlation", "from", "to", "groups")
    if results.summary:
        fit = results.summary.get("fit") or {}
        return {name: fit.get(name) for name in names}
    return {name: results.number(f"fit_{name}") for name in names}


def column(results: Results, name: str) -> np.ndarray:
    """Of the samples; NaN where a summary has no value."""
    if results.summary:
        return np.asarray([row.get(name) for row in results.summary["samples"]], dtype=np.float64)
    return np.asarray(results.variables[name], dtype=np.float64)


def samples_of(results: Results, *names: str) -> tuple[list[np.ndarray], int]:
    """Times above 0, means of l, their standard errors, the columns of `names`; how many before thinning."""
    columns = [column(results, name) for name in ("time", "domain_size_mean", "domain_size_stderr", *names)]
    usable = (columns[0] > 0) & np.isfinite(columns[1])
    columns = [values[usable] for values in columns]
    time = columns[0]
    if not time.size:
        raise ValueError("no sample of the domain size is finite")
    count = time.size
    if count > SHOWN_TIMES:
        wanted = np.geomspace(time[0], time[-1], SHOWN_TIMES)
        kept = np.unique(np.clip(np.searchsorted(time, wanted * (1 - 1e-12)), 0, count - 1))
        columns = [values[kept] for values in columns]
    return columns, count


def rounded(values: np.ndarray, digits: int = 7) -> list[float | None]:
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in values]


def members_of(results: Results) -> int | None:
    if "member_count" in results.variables:
        return int(results.variables["member_count"].max())
    members = results.attributes.get("members")
    return int(members) if members is not None else None


def mean_of(results: Results) -> str:
    """Of C; summaries of earlier versions do not tell it."""
    mean = results.attributes.get("mean") if results.summary else results.options().get("mean")
    try:
        return number(None if mean is None else float(mean))
    except ValueError:
        return escaped(mean)


def histograms_of(results: Results) -> dict[str, Any] | None:
    needed = ("histogram_time", "interface_histogram", "interfaces", "domain_size_histogram", "domain_size")
    found = [results.variables.get(name) for name in needed]
    if any(values is None or not values.size for values in found):
        return None
    times, counts, interfaces, sizes, middles = found

    def trimmed(values: np.ndarray, axis: np.ndarray, ends: list[int]) -> tuple[Any, Any, list[int]]:
        """Shares, the bins, and which of the bins that hold what is beyond them, too, are not empty."""
        last = int(np.flatnonzero(values.sum(axis=0)).max(initial=0)) + 2
        share = values / np.maximum(values.sum(axis=1, keepdims=True), 1) * 100
        beyond = [end for end in ends if values[:, end].any()]
        return [rounded(row[:last], 5) for row in share], rounded(axis[:last]), beyond

    interface_share, interface_axis, interfaces_beyond = trimmed(counts, interfaces, [counts.shape[1] - 1])
    size_share, size_axis, sizes_beyond = trimmed(sizes, middles, [0, sizes.shape[1] - 1])
    gamma, length = results.number("gamma"), results.number("length")
    return {
        "times": rounded(times, 6),
        "interfaces": interface_axis,
        "interfaceShare": interface_share,
        "interfacesBeyond": interfaces_beyond,
        "sizes": size_axis,
        "sizeShare": size_share,
        "sizesBeyond": sizes_beyond,
        "width": float(np.round(middles[1] - middles[0], 9)) if middles.size > 1 else 1.0,
        # l = L / (2 sqrt(2 gamma)) / n of a run with n interfaces that are far apart
        "quantum": length / (2 * math.sqrt(2 * gamma)) if gamma and length else None,
    }


def has_column(results: Results, name: str) -> bool:
    return name in (results.summary["samples"][0] if results.summary else results.variables)


def losses_end(results: Results) -> float | None:
    """From when on no more runs are lost, if some are: before that the means are also of runs that leave all bounds."""
    if not has_column(results, "member_count"):
        return None
    counts, times = column(results, "member_count"), column(results, "time")
    return float(times[counts == counts[-1]][0]) if counts[0] > counts[-1] else None


def reach(mean: np.ndarray, error: np.ndarray, least: float) -> list[float]:
    """What a picture must show: these means with their bands, and `least`."""
    half = np.where(np.isfinite(error), Z95 * error, 0)
    return [float(np.min(mean - half, initial=least)), float(np.max(mean + half, initial=least))]


def curve(results: Results, index: int) -> dict[str, Any]:
    (time, mean, error), count = samples_of(results)
    fit, end = fit_of(results), losses_end(results)
    late = time >= (end if end is not None else 0)
    given = {
        "name": results.name,
        "label": f"{results.name} (L = {pi_multiple(results.number('length'))})",
        **style(index),
        "time": rounded(time),
        "mean": rounded(mean),
        "band": rounded(Z95 * error, 4),
        "samples": count,
        "lossesEnd": end,
        "reach": reach(mean[late], error[late], 1),  # l of a state within bounds is 1 or more
        "fit": None,
        "histograms": histograms_of(results),
    }
    if fit["slope"] is not None and fit["intercept"] is not None and fit["from"] and fit["to"]:
        given["fit"] = fit
        line = fit["intercept"] + fit["slope"] * np.log(time)
        inside = (time >= fit["from"] * (1 - 1e-9)) & (time <= fit["to"] * (1 + 1e-9))
        given["residual"] = rounded(np.where(inside, mean - line, np.nan), 5)
        away = np.abs(mean - line)[inside]
        shown = inside & late if (inside & late).any() else inside  # the window may end before the last loss
        given["residualReach"] = max(map(abs, reach((mean - line)[shown], error[shown], 0)))
        given["reach"] = reach(mean[late | shown], error[late | shown], 1)
        given["largestResidual"] = float(away.max()) if away.size else None  # a summary has few samples
        known = np.isfinite(error[inside])  # one run alone has no standard error
        given["outside"] = float(np.mean((away > Z95 * error[inside])[known])) if known.any() else None
    return given


def comparison(first: dict[str, float | None], other: dict[str, float | None], name: str) -> str:
    gap = other["slope"] - first["slope"]
    errors = [fit["slope_error95"] for fit in (first, other)]
    if not all(errors):
        return f" The slope of {escaped(name)} differs from it by {number(gap)}."
    error = math.hypot(*errors)
    verdict = "which is within the error" if abs(gap) <= error else "which is more than chance"
    return f" The slope of {escaped(name)} differs from it by {with_error(gap, error)}, {verdict}."


def left_out(cut: list[dict[str, Any]]) -> str:
    """What the axes do not show, of files with lost runs."""
    if not cut:
        return ""
    files = "; ".join(f"{escaped(c['name'])} until t = {number(c['lossesEnd'])}" for c in cut)
    return (
        f" Runs were lost ({files}): what they add to the means before that leaves all bounds, so the axes are made for "
        "the means after it and for fits that end before it, and other early ones may lie outside."
    )


def meaning(curves: list[dict[str, Any]]) -> str:
    fitted = [c for c in curves if c["fit"]]
    cut = [c for c in curves if c["lossesEnd"] is not None]
    banded = any(half is not None for c in curves for half in c["band"])
    text = "The mean size l of domains against time on a logarithmic scale"
    text += ", with its 95 % band (±1.96 standard errors)" if banded else ""
    if not fitted:
        return text + ". These runs are too short for a fit." + left_out(cut)
    text += f"{',' if banded else ''} and the line fitted to it (dashed)."
    first = fitted[0]["fit"]
    text += (
        f" In {escaped(fitted[0]['name'])} the domains grow by {with_error(first['slope'], first['slope_error95'])} "
        f"for every factor e of time, {number(first['slope'] * math.log(10), 3)} for every factor ten"
    )
    if first["slope"] > (first["slope_error95"] or 0):
        text += ": growth by log t, as interfaces that attract each other by exponentially small forces give."
    else:
        text += ": these runs show no growth."
    text += "".join(comparison(first, other["fit"], other["name"]) for other in fitted[1:2])
    text += left_out(cut)
    judged = [c for c in fitted if c["outside"] is not None]  # those with a band, if there are any
    worst = max((c["largestResidual"] for c in judged or fitted if c["largestResidual"] is not None), default=None)
    if worst is None:
        return text + " The lower panel is empty: there are no samples in the fit's window."
    text += " The lower panel shows how far the means are from their lines: "
    text += f"{number(worst, 2)} at most in the fit's window"
    text += f" of {', '.join(escaped(c['name']) for c in judged)}." if 0 < len(judged) < len(fitted) else "."
    if not judged:
        return text + " There is no band: how much of that is chance cannot be told from one run."
    if max(c["outside"] for c in judged) > 0.1:  # 0.05 is what chance would give
        return text + " Where zero is outside the band, that is not chance: the law is not exactly a straight line."
    return text + " Zero is inside the band nearly everywhere: the straight line is as good as these runs can tell."


def fit_table(files: list[Results], curves: list[dict[str, Any]]) -> str:
    rows = []
    for results, given in zip(files, curves, strict=True):
        fit = given["fit"] or {}
        window = f"{number(fit['from'])} to {number(fit['to'])}" if fit else "–"
        rows.append(
            [
                escaped(results.name),
                with_error(fit.get("slope"), fit.get("slope_error95")),
                with_error(fit.get("intercept"), fit.get("intercept_error95")),
                f"{fit['correlation']:.5f}" if fit.get("correlation") is not None else "–",
                window,
                pi_multiple(results.number("length")),
                number(results.number("gamma")),
                mean_of(results),
                number(results.number("points")),
                number(members_of(results)),
                number(results.number("lost_members")),
            ]
        )
    head = ["file", "slope", "intercept", "r", "window in t", "L", "γ", "mean of C", "points", "runs", "lost"]
    if not any(given["fit"] for given in curves):
        return table(head, rows, "The runs", cards=True)
    error = " (± at 95 %, from the scatter of groups of runs)" if any("±" in row[1] for row in rows) else ""
    return table(head, rows, f"The fits: l = intercept + slope log t{error}", cards=True)


def thinning(curves: list[dict[str, Any]]) -> str:
    thinned = [c for c in curves if c["samples"] > len(c["time"])]
    if not thinned:
        return ""
    return f'<p class="note">Drawn: {len(thinned[0]["time"])} of {number(thinned[0]["samples"])} samples.</p>'


def section(name: str, files: list[Results]) -> Section:
    curves = [curve(results, index) for index, results in enumerate(files)]
    label = "Line plot: mean domain size against the logarithm of time"
    label += ", with fitted lines; below it the residuals." if any(c["fit"] for c in curves) else "."
    body = figure(f"{name}-law", label, meaning(curves), height=560) + fit_table(files, curves)
    body += thinning(curves)
    having = [c for c in curves if c["histograms"]]
    if having:
        most = max(len(c["histograms"]["times"]) for c in having)
        controls = select(f"{name}-file", "File", [c["label"] for c in having]) + slider(f"{name}-time", "Time", most)
        body += "<h3>How runs differ</h3>" + figure(
            f"{name}-histograms",
            "Two bar charts: share of the runs by number of interfaces, and by domain size l, at the chosen time.",
            f'<span id="{name}-said" aria-live="polite"></span> Interfaces vanish in pairs, so their number stays even '
            "and goes down; l is nearly quantised, at L / (2√(2γ)) / n for n interfaces (dotted lines).",
            controls,
            height=360,
        )
    body += "".join(provenance(results) for results in files)
    return Section(name, "Growth of domains", body, "coarsen", {"curves": curves})
