"""The part of docs/performance.md about matrices of their own, from files that `bandmill bench own` wrote."""

KINDS = [(1, "open"), (1, "periodic"), (2, "open"), (2, "periodic")]
SMALL = 2**22  # unknowns; below that a launch counts more than memory
LEAST_SHARE = 0.75  # of a solve, on a GPU

TEXT = """A matrix for every system. **Solve** with a factor made before, and **both**: factor and solve in one call that
leaves the matrices alone. Shares of a copy (on a CPU of an in-place scale) count what has to be moved: factor or diagonals,
right-hand side and solution, each once. Long open systems are [split over thread blocks or solved in pieces](solver.md#long-open-systems-on-a-gpu) where
that is possible, and nothing else is moved. With other long systems y goes to memory and back between the two sweeps as far
as it is not kept on chip. In brackets: the share that counts this for the rows that all of a multiprocessor's shared memory
could not keep (an H200's: 912 rows of 256 bytes; the kernels keep some 600, and the second-level cache catches a few more).
**Speedup** is that of both over the fastest rival that factors and solves, its matrices put back off the clock."""

# What a file of its own was measured for.
REASONS = {
    "own-stiff": "Systems that are too long to be split, with a stiff matrix (sigma = 1,000), which cannot be solved in "
                 "pieces: their y has to go through memory, so that 5/7 = 0.71 is the most that the first share can be.",
}


def fastest_rival(record):
    times = {name: rival["time_us"]["median"] for name, rival in record["rivals"].items()
             if "time_us" in rival and not rival["wrong"]}
    return min(times.items(), key=lambda item: item[1]) if times else None


def cells(record, cuda):
    both, solve = record["factor_and_solve"], record["solve"]
    small = cuda and record["n"] * record["batch"] < SMALL

    def shown(way):
        if small:
            return f"{way['time_us']['median']:.1f} us"
        spilled = way is solve and record.get("spilled_bytes", 0) > 0
        return f"{way['share_of_copy']:.2f}" + (f" ({record['solve_share_with_y']:.2f})" if spilled else "")

    rival = fastest_rival(record)
    return [shown(solve), shown(both), f"{rival[1] / both['time_us']['median']:.2f}x" if rival else ""]


def verdicts(records, cuda):
    """What the bars say of a run on a GPU."""
    if not cuda:
        return ""
    ratios = [fastest_rival(r)[1] / r["factor_and_solve"]["time_us"]["median"] for r in records if fastest_rival(r)]
    judged = [r for r in records if r["n"] * r["batch"] >= SMALL]
    large = [r["solve"]["share_of_copy"] for r in judged]
    with_y = [r["solve_share_with_y"] for r in judged if "solve_share_with_y" in r]
    lines = []
    if ratios:
        lines.append(f"- factor and solve ahead of cuSPARSE: {sum(x > 1 for x in ratios)} of {len(ratios)} cases, "
                     f"{min(ratios):.2f} to {max(ratios):.2f}x")
    if large:
        lines.append(f"- solve at {LEAST_SHARE} of a copy or more, from {SMALL:,} unknowns on: "
                     f"{sum(x >= LEAST_SHARE for x in large)} of {len(large)} cases, {min(large):.2f} to "
                     f"{max(large):.2f}")
    if with_y and len(with_y) == len(large):
        lines.append(f"- the same with y counted: {sum(x >= LEAST_SHARE for x in with_y)} of {len(with_y)} cases, "
                     f"{min(with_y):.2f} to {max(with_y):.2f}")
    return "\n".join(lines)


def own_section(table, every):
    parts = []
    for path, run in every:
        if run.get("benchmark") != "own":
            continue
        cuda, rows = run["backend"] == "cuda", {}
        layouts = {r["layout"] for r in run["records"]}
        for r in run["records"]:
            if r["blocks"] + r["chunks"] == 0:  # else it is a trial of other launches
                batch = f"{r['batch']:,}" + (" (in cache)" if r.get("cache_resident") else "")
                key = (*([r["layout"]] if len(layouts) > 1 else []), r["dtype"], batch, f"{r['n']:,}")
                rows.setdefault(key, {})[(r["half_bandwidth"], r["boundary"])] = cells(r, cuda)
        head = (["layout"] if len(layouts) > 1 else []) + ["precision", "systems", "n"]
        for w, boundary in KINDS:
            head += [f"W={w} {boundary}: solve", "both"] + (["speedup"] if boundary == "open" else [])
        lines = []
        for key, kinds in rows.items():
            line = list(key)
            for kind in KINDS:
                line += kinds.get(kind, ["", "", ""])[:3 if kind[1] == "open" else 2]
            lines.append(line)
        reason = REASONS.get(path.stem.partition("-")[2], "")
        isa = "" if cuda else f", {run['threads']} threads, instruction set {run['isa']}"
        parts += [f"`bench/results/{path.name}`: {run['device']}{isa}; {run['date']}, commit {run['commit']}. "
                  f"{reason}".rstrip(),
                  verdicts(run["records"], cuda), table(head, lines)]
    return "\n\n".join(["## Matrices of their own", TEXT] + [part for part in parts if part]) if parts else ""
