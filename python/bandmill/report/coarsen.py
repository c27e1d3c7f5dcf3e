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


def histograms_of(results: Results) -> dict[str, Any] | None:
    needed = ("histogram_time", "interface_histogram", "interfaces", "domain_size_histogram", "domain_size")
    found = [results.variables.get(name) for name in needed]
    if any(values is None or not values.size for values in found):
        return None
    times, counts, interfaces, sizes, middles = found

    def trimmed(values: np.ndarray, axis: np.ndarray) -> tuple[list[list[float]], list[float]]:
        last = int(np.flatnonzero(values.sum(axis=0)).max(initial=0)) + 2
        share = values / np.maximum(values.sum(axis=1, keepdims=True), 1) * 100
        return [rounded(row[:last], 5) for row in share], rounded(axis[:last])

    interface_share, interface_axis = trimmed(counts, interfaces)
    size_share, size_axis = trimmed(sizes, middles)
    gamma, length = results.number("gamma"), results.number("length")
    return {
        "times": rounded(times, 6),
        "interfaces": interface_axis,
        "interfaceShare": interface_share,
        "sizes": size_axis,
        "sizeShare": size_share,
        "width": float(np.round(middles[1] - middles[0], 9)) if middles.size > 1 else 1.0,
        # l = L / (2 sqrt(2 gamma)) / n of a run with n interfaces that are far apart
        "quantum": length / (2 * math.sqrt(2 * gamma)) if gamma and length else None,
    }


def curve(results: Results, index: int) -> dict[str, Any]:
    (time, mean, error), count = samples_of(results)
    fit = fit_of(results)
    given = {
        "name": results.name,
        "label": f"{results.name} (L = {pi_multiple(results.number('length'))})",
        **style(index),
        "time": rounded(time),
        "mean": rounded(mean),
        "band": rounded(Z95 * error, 4),
        "samples": count,
        "fit": None,
        "histograms": histograms_of(results),
    }
    if fit["slope"] is not None and fit["intercept"] is not None and fit["from"] and fit["to"]:
        given["fit"] = fit
        line = fit["intercept"] + fit["slope"] * np.log(time)
        inside = (time >= fit["from"] * (1 - 1e-9)) & (time <= fit["to"] * (1 + 1e-9))
        given["residual"] = rounded(np.where(inside, mean - line, np.nan), 5)
        away = np.abs(mean - line)[inside]
        given["largestResidual"] = float(away.max(initial=0))
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


def meaning(curves: list[dict[str, Any]]) -> str:
    fitted = [c for c in curves if c["fit"]]
    banded = any(half is not None for c in curves for half in c["band"])
    text = "The mean size l of domains against time on a logarithmic scale"
    text += ", with its 95 % band (±1.96 standard errors)" if banded else ""
    if not fitted:
        return text + ". These runs are too short for a fit."
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
    worst = max(c["largestResidual"] for c in fitted)
    text += f" The lower panel shows how far the means are from their lines: {number(worst, 2)} at most in the fit's window."
    outside = [c["outside"] for c in fitted if c["outside"] is not None]
    if not outside:
        return text + " There is no band: how much of that is chance cannot be told from one run."
    if max(outside) > 0.1:  # 0.05 is what chance would give
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
                number(results.number("points")),
                number(members_of(results)),
                number(results.number("lost_members")),
            ]
        )
    head = ["file", "slope", "intercept", "r", "window in t", "L", "γ", "points", "runs", "lost"]
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
