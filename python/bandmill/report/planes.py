"""Growth of domains in planes: two measures of size against t in logarithms, with power laws. All files together."""

from __future__ import annotations

from typing import Any

import numpy as np

from .coarsen import Z95, column, has_column, mean_of, members_of, rounded, samples_of, thinning
from .markup import Section, escaped, figure, number, pi_multiple, provenance, style, table, with_error
from .readers import Results

MEASURES = {"domain_size": "fit_", "domain_length": "fit_length_"}  # and how the attributes of their fits begin
THEORY = 1 / 3


def fit_of(results: Results, measure: str) -> dict[str, float | None] | None:
    """The law prefactor * t ^ exponent; None where the run is too short for one."""
    names = ("prefactor", "exponent", "exponent_error95", "correlation")
    if results.summary:
        given = results.summary.get("fit") or {}
        fit = {name: (given.get(measure) or {}).get(name) for name in names}
        fit |= {name: given.get(name) for name in ("from", "to")}
    else:
        fit = {name: results.number(MEASURES[measure] + name) for name in names}
        fit |= {name: results.number(f"fit_{name}") for name in ("from", "to")}
    known = all(fit[name] is not None for name in ("prefactor", "exponent", "from", "to"))
    return fit if known and 0 < fit["from"] < fit["to"] else None


def law(fit: dict[str, float | None]) -> str:
    exponent = with_error(fit["exponent"], fit["exponent_error95"])
    return f"t^({exponent})" if "±" in exponent else f"t^{exponent}"


def drawn(mean: np.ndarray, error: np.ndarray, fit: dict[str, float | None] | None) -> dict[str, Any]:
    band = np.minimum(Z95 * error, 0.9 * mean)  # a logarithmic axis has no place for zero
    label = f"fit: {number(fit['prefactor'])} {law(fit)}" if fit else ""
    return {"mean": rounded(mean), "band": rounded(band, 4), "fit": fit, "fitLabel": label}


def curve(results: Results, index: int) -> dict[str, Any]:
    if results.summary:
        (time, size, size_error, length), count = samples_of(results, "domain_length")
        length_error = np.full_like(length, np.nan)
    else:
        names = ("domain_length", "interface_length_mean", "interface_length_stderr")
        (time, size, size_error, length, interfaces, error), count = samples_of(results, *names)
        with np.errstate(invalid="ignore"):  # a plane of one phase has no interfaces
            length_error = length * (error / np.where(interfaces > 0, interfaces, np.nan))
    return {
        "name": results.name,
        "label": f"{results.name} ({extent(results)})",
        **style(index),
        "time": rounded(time),
        "samples": count,
        "measures": [
            drawn(size, size_error, fit_of(results, "domain_size")),
            drawn(length, length_error, fit_of(results, "domain_length")),
        ],
    }


def extent(results: Results) -> str:
    return " × ".join(pi_multiple(results.number(f"length_{axis}")) for axis in "xy")


def without_length(results: Results) -> str:
    """Why means of the area per length are missing, or are those of some runs only."""
    if not has_column(results, "interface_left_out"):  # written by an earlier version
        return ""
    beyond = column(results, "interface_left_out") - column(results, "left_out")  # what l leaves out, too, is lost
    if (beyond > 0).any():
        samples, most = int((beyond > 0).sum()), int(beyond.max())
        return (
            f" In {escaped(results.name)} interfaces are too long to be summed up in {number(samples)} of "
            f"{number(beyond.size)} samples: there up to {number(most)} runs are left out of the area per length."
        )
    if not np.isfinite(column(results, "domain_length")).any():
        return f" In {escaped(results.name)} no run has interfaces."
    return ""


def meaning(curves: list[dict[str, Any]]) -> str:
    text = (
        "The mean size of domains in planes against time, both axes logarithmic, by two measures: "
        "l = 1 / (1 − ⟨C²⟩), and the area per length of interfaces."
    )
    fitted = [c for c in curves if c["measures"][0]["fit"]]
    if not fitted:
        return text + " These runs are too short for a fit."
    first, second = (measure["fit"] for measure in fitted[0]["measures"])
    text += f" Dashed: the power laws fitted to them. In {escaped(fitted[0]['name'])} l grows as {law(first)}"
    text += f", the area per length as {law(second)}." if second else "."
    text += " Theory has t^(1/3) (Lifshitz and Slyozov; grey lines)"
    error = first["exponent_error95"]
    if error is None or not np.isfinite(error):
        return text + "; how far chance moves the exponent cannot be told: too few groups of runs have a fit."
    if abs(first["exponent"] - THEORY) <= error:
        return text + ", which is within the error of l's exponent."
    return text + (
        ". The difference of l's exponent is more than chance: the law holds while domains are much larger than "
        "interfaces and much smaller than the plane."
    )


def fit_table(files: list[Results], curves: list[dict[str, Any]]) -> str:
    rows = []
    for results, given in zip(files, curves, strict=True):
        size, length = (measure["fit"] or {} for measure in given["measures"])
        points = [results.number(f"points_{axis}") for axis in "xy"]
        rows.append(
            [
                escaped(results.name),
                with_error(size.get("exponent"), size.get("exponent_error95")),
                number(size.get("prefactor")),
                f"{size['correlation']:.5f}" if size.get("correlation") is not None else "–",
                with_error(length.get("exponent"), length.get("exponent_error95")),
                number(length.get("prefactor")),
                f"{number(size['from'])} to {number(size['to'])}" if size else "–",
                extent(results),
                number(results.number("gamma")),
                mean_of(results),
                " × ".join(map(number, points)),
                number(members_of(results)),
                number(results.number("lost_members")),
            ]
        )
    head = ["file", "exponent of l", "prefactor", "r", "exponent of area per length", "prefactor of it", "window in t"]
    head += ["plane", "γ", "mean of C", "points", "runs", "lost"]
    fitted = any(given["measures"][0]["fit"] for given in curves)
    error = " (± at 95 %, from the scatter of groups of runs)" if any("±" in row[1] for row in rows) else ""
    return table(head, rows, f"The fits: prefactor · t^exponent{error}" if fitted else "The runs", cards=True)


def section(name: str, files: list[Results]) -> Section:
    curves = [curve(results, index) for index, results in enumerate(files)]
    label = "Two line plots on logarithmic axes: domain size l, and area per length of interfaces, against time."
    caption = meaning(curves) + "".join(without_length(results) for results in files)
    body = figure(f"{name}-powers", label, caption, height=460) + fit_table(files, curves) + thinning(curves)
    body += "".join(provenance(results) for results in files)
    return Section(name, "Growth of domains in planes", body, "planes", {"curves": curves})
