"""Benchmarks: how many times as fast, against the batch, and a table of everything. One section per file."""

from __future__ import annotations

import dataclasses
from typing import Any

from .markup import Section, escaped, figure, number, provenance, select, style, table
from .readers import Results

WAYS = {
    "resident": "resident",
    "one-solve": "one solve",
    "paper": "the paper's way",
    "cusparse": "cuSPARSE's way",
    "lapack": "LAPACK",
}
RIVALS = {"paper": "the paper's algorithm", "gttrs": "LAPACK gttrs", "gbtrs": "LAPACK gbtrs", "naive": "a plain kernel"}
RIVALS |= {
    name: f"cuSPARSE {name}".replace("+reset", ", rewritten")
    for kind in ("gtsv", "gpsv")
    for form in ("InterleavedBatch", "InterleavedBatch+reset", "InterleavedBatch-LU", "InterleavedBatch-QR", "2StridedBatch")
    for name in (kind + form,)
}
# Which speed-ups a page shows: of ours over the others, and of the paper's over the library's.
PAIRS = [
    (way, rival) for way in ("resident", "one-solve", "paper") for rival in ("one-solve", "paper", "cusparse", "lapack")
]
PAIRS = [(way, rival) for way, rival in PAIRS if list(WAYS).index(way) < list(WAYS).index(rival)]


@dataclasses.dataclass
class Case:
    """A record: `group` is chosen in a list, `batch` is where it stands, `times` what is faster than what by how much."""

    group: str
    batch: int
    times: dict[str, float]
    about: str
    row: list[str]


def median(timing: dict[str, Any] | None) -> str:
    return number(timing["median"], 4) if timing else "–"


def ratio(value: float | None) -> str:
    return f"{number(value, 3)}×" if value else "–"


def matrix_of(record: dict[str, Any]) -> str:
    kind = {1: "tridiagonal", 2: "pentadiagonal"}.get(record["half_bandwidth"], f"W = {record['half_bandwidth']}")
    where = f"{kind}, {record['boundary']}, {record['layout']}, {record['dtype']}"
    return where if record.get("matrix", "general") == "general" else f"{where}, {record['matrix']}"


def compared_with(record: dict[str, Any], given: dict[str, Any]) -> tuple[dict[str, float], str]:
    """How many times as fast as each rival whose results were right; in words for a table, too."""
    wrong = {name for name, rival in record.get("rivals", {}).items() if rival.get("wrong")}
    given = {name: value for name, value in given.items() if value and name not in wrong}
    others = ", ".join(f"{escaped(name)} {ratio(value)}" for name, value in given.items()) or "–"
    return {f"over {RIVALS.get(name, name)}": value for name, value in given.items()}, others


def solve_case(record: dict[str, Any]) -> Case:
    where = matrix_of(record)
    times, others = compared_with(record, record.get("speedup", {}))
    group = f"{where}, n = {number(record['n'])}"
    share = record.get("share_of_copy")
    row = [escaped(where), number(record["n"]), number(record["batch"]), median(record.get("time_us"))]
    row += [number(record.get("gbytes_per_s"), 4), number(share, 3), others]
    return Case(group, record["batch"], {} if record.get("wrong") else times, group, row)


def own_case(record: dict[str, Any]) -> Case:
    where = matrix_of(record)
    both, solve = record.get("factor_and_solve") or {}, record.get("solve") or {}
    times, others = compared_with(record, record.get("speedup", {}))
    group = f"{where}, n = {number(record['n'])}"
    row = [escaped(where), number(record["n"]), number(record["batch"]), median(both.get("time_us"))]
    row += [median(solve.get("time_us")), number(solve.get("share_of_copy"), 3), others]
    return Case(group, record["batch"], {} if both.get("wrong") else times, group, row)


def stencil_case(record: dict[str, Any]) -> Case:
    where = f"{record['stencil']}, {record['edges']}, {record['dtype']}"
    size = f"{number(record['rows'])} × {number(record['columns'])}"
    size += f", {number(record['batch'])} of them" if record["batch"] > 1 else ""
    ours = record["time_us"]["median"]
    given = {
        name: rival["time_us"]["median"] / ours for name, rival in record.get("rivals", {}).items() if "time_us" in rival
    }
    times, others = compared_with(record, given)
    row = [escaped(where), size, median(record["time_us"]), number(record.get("gbytes_per_s"), 4)]
    row += [number(record.get("share_of_copy"), 3), others]
    points = record["rows"] * record["columns"] * record["batch"]
    return Case(where, points, {} if record.get("wrong") else times, f"{where}, {size}", row)


def plane_case(record: dict[str, Any]) -> Case:
    where = f"{record['equation']}, {record['dtype']}"
    size = f"{number(record['nx'])} × {number(record['ny'])}"
    times, others = compared_with(record, record.get("speedup", {}))
    row = [escaped(where), size, number(record["members"])]
    row += ["wrong" if record.get("wrong") else number(record["gpoint_steps_per_s"])]
    row += [number(record.get("share_of_ceiling"), 3), others]
    points = record["nx"] * record["ny"] * record["members"]
    about = f"{where}, {number(record['members'])} of {size}"
    return Case(where, points, {} if record.get("wrong") else times, about, row)


def step_case(record: dict[str, Any]) -> Case:
    where = f"{record['equation']}, {record['dtype']}"
    for key, usual in (("statistics", "none"), ("shape", "throughput")):
        where += "" if record.get(key, usual) == usual else f", {key} {record[key]}"
    where += f", {record['threads']} threads" if record.get("threads", 0) > 1 else ""
    speedup = record.get("speedup", {}).get("paper")
    row = [escaped(where), number(record["n"]), number(record["members"]), escaped(record.get("path", ""))]
    row += ["wrong" if record.get("wrong") else number(record["gpoint_steps_per_s"]), ratio(speedup)]
    times = {where: speedup} if speedup and not record.get("wrong") else {}
    return Case("all", record["members"], times, f"n = {number(record['n'])}", row)


def ways_case(record: dict[str, Any]) -> Case:
    times = {}
    for way, rival in PAIRS:
        value = record.get("speedup", {}).get(way, {}).get(rival)
        if value:
            times[f"{WAYS[way]} over {WAYS[rival]}"] = value
    row = [number(record["n"]), number(record["members"])]
    for way in WAYS:
        result = record["ways"].get(way, {})
        mark = "~" if result.get("scaled") else ""
        row.append("wrong" if result.get("wrong") else mark + median(result["time_ms"]) if "time_ms" in result else "–")
    group = f"n = {number(record['n'])}"
    return Case(group, record["members"], times, group, row)


def arrays_case(record: dict[str, Any]) -> Case:
    where = record["contestant"] + ("" if record["contestant"] == "bandmill" else f", {record['path']}")
    faster = record.get("bandmill_is")
    row = [escaped(where), number(record["n"]), number(record["members"]), number(record.get("threads"))]
    row += ["wrong" if record.get("wrong") else number(record["gpoint_steps_per_s"]), ratio(faster)]
    times = {f"bandmill over {where}": faster} if faster and not record.get("wrong") else {}
    threads = record.get("threads") or 0
    group = f"{threads} thread{'s' if threads > 1 else ''}" if threads else "all"
    return Case(group, record["members"], times, f"n = {number(record['n'])}", row)


FORMS = {
    "solve": (
        solve_case,
        ["matrix, layout, precision", "n", "systems", "µs", "GB/s", "share of a copy", "times as fast as"],
        "One solve of a batch: how many times as fast bandmill is as the paper's algorithms and the usual libraries, "
        "against the number of systems. Above 1 bandmill is faster.",
        "systems",
    ),
    "step": (
        step_case,
        ["equation, precision", "n", "members", "path", "10⁹ point-steps/s", "over the paper's way"],
        "Time steps of an ensemble: how many times as fast they are as the paper's way (right-hand sides in one pass "
        "over memory, then its solver), against the number of members.",
        "members",
    ),
    "diffusion": (
        ways_case,
        ["n", "members"] + [f"{name}, ms" for name in WAYS.values()],
        "The paper's benchmark, all its time steps: how many times as fast one way is as another, against the number of "
        "members.",
        "members",
    ),
    "arrays": (
        arrays_case,
        ["way", "n", "members", "threads", "10⁹ point-steps/s", "bandmill is faster by"],
        "The same ensemble stepped with array frameworks: how many times as fast bandmill is.",
        "members",
    ),
    "own": (
        own_case,
        ["matrices, layout, precision", "n", "systems", "factor and solve, µs", "solve, µs", "of it, share of a copy"]
        + ["factor and solve, times as fast as"],
        "A matrix for every system, factored and solved in one call: how many times as fast bandmill is as the usual "
        "libraries, against the number of systems.",
        "systems",
    ),
    "stencil": (
        stencil_case,
        ["stencil, edges, precision", "size", "µs", "GB/s", "share of a copy", "times as fast as"],
        "One application of a stencil: how many times as fast bandmill is as a kernel that reads every neighbour from "
        "memory, against the number of points.",
        "points",
    ),
    "plane": (
        plane_case,
        ["equation, precision", "size", "members", "10⁹ point-steps/s", "share of a copy", "times as fast as"],
        "Time steps in two dimensions: how many times as fast bandmill is as the paper's kernels with transpositions, "
        "against the number of points.",
        "points",
    ),
}
FORMS["hyperdiffusion"] = FORMS["diffusion"]


def skipped(results: Results) -> str:
    reasons = {str(item.get("reason", "")) for item in results.summary.get("skipped") or [] if isinstance(item, dict)}
    reasons.discard("")
    if not reasons:
        return ""
    return f'<p class="note">Not measured, in part: {escaped("; ".join(sorted(reasons)))}.</p>'


def sentence(cases: list[Case], unit: str) -> str:
    every = [(value, name, case) for case in cases for name, value in case.times.items()]
    if not every:
        return " Nothing was compared in this file."
    told = [
        f"{ratio(value)} ({escaped(name)}; {escaped(case.about)}, {number(case.batch)} {unit})"
        for value, name, case in sorted(every, key=lambda e: e[0])
    ]
    if len(told) == 1:
        return f" The only comparison of the file: {told[0]}."
    return f" Over all cases of the file: from {told[0]} to {told[-1]}."


def ceiling_of(summary: dict[str, Any]) -> str:
    """What shares are shares of, in the file's own word."""
    listed = [ceiling["operation"] for ceiling in summary.get("ceilings", [])]
    word = str(summary.get("ceiling") or (listed[0] if listed else "copy"))
    if "copy" in word:
        return "a copy"
    return escaped(f"{'an' if word[0] in 'aeiou' else 'a'} {word}")


def section(name: str, results: Results) -> Section:
    case_of, head, meaning, unit = FORMS[results.summary["benchmark"]]
    cases = [case_of(record) for record in results.summary["records"]]
    compared = [case for case in cases if case.times]
    sizes: dict[str, set[int]] = {}
    for case in compared:
        sizes.setdefault(case.group, set()).add(case.batch)
    groups = sorted(sizes, key=lambda group: -len(sizes[group]))  # the longest curves first; a stable sort
    series = list(dict.fromkeys(label for case in compared for label in case.times))
    data = {
        "groups": groups,
        "styles": [style(index) for index in range(len(series))],
        "series": series,
        "records": [
            {
                "group": groups.index(case.group),
                "batch": case.batch,
                "about": case.about,
                "times": {str(series.index(label)): float(f"{value:.5g}") for label, value in case.times.items()},
            }
            for case in compared
        ],
        "batchName": unit,
    }
    title = f"Benchmark: {results.summary['benchmark']}, {results.attributes.get('device', 'unknown device')}"
    body = ""
    if compared:
        label = "Line plot with logarithmic axes: speed-up against the number of systems, members or points."
        body = figure(
            f"{name}-speed", label, escaped(meaning) + sentence(cases, unit), select(f"{name}-group", "Case", groups)
        )
    head = [cell.replace("a copy", ceiling_of(results.summary)) for cell in head]
    words = 1 if head[0] not in ("n",) else 0
    listing = table(head, [case.row for case in cases], f"All {len(cases)} records of {results.name}", words)
    # A long list would bury the next section.
    body += listing if len(cases) <= 24 else f'<details class="long"><summary>All records</summary>{listing}</details>'
    body += skipped(results) + provenance(results)
    return Section(name, title, body, "bench", data)
