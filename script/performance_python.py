"""The part of docs/performance.md about Python: bench/results/*-python.json (bench/python_overhead.py --json)."""

INTRODUCTION = """What `plan.solve(b, out=x)` adds to the library's own call inside it, both taken from the same calls, and what
others take for the same systems (`bench/python_overhead.py`). On a GPU the overhead is that of the call, until it
returns; the times of whole solves are until they are done. scipy and torch get the matrix as they want it, jax one
matrix for every system. Medians."""
BAR = 20  # us, for the large batch


def python_section(table, every):
    runs = [(path, run) for path, run in every if run.get("benchmark") == "python"]
    if not runs:
        return ""
    parts = ["## From Python", INTRODUCTION]
    for path, run in runs:
        place = f"{run['device']}, {run['cores']} cores" if run["backend"] == "cpu" else run["device"]
        rows = []
        for name, batches in run["overhead"].items():
            for batch, times in batches.items():
                bar = int(batch) == 65536 and run["n"] == 256
                rows.append([name, f"{int(batch):,} x {run['n']}", f"{times['library_us']:,.1f} us",
                             f"{times['added_us']:.1f} us", f"{BAR} us" if bar else "",
                             ("yes" if times["added_us"] < BAR else "no") if bar else ""])
        parts += [f"**{place}**", table(["arrays", "systems", "the library's call", "added by Python", "bar", "met?"], rows)]
        if run["rivals_ms"]:
            best = run["rivals_ms"].get("bandmill, out=")
            rows = [[name, f"{ms:,.2f} ms", f"{ms / best:,.1f}" if best else ""] for name, ms in run["rivals_ms"].items()]
            parts.append(table([f"{run['batch']:,} open tridiagonal systems of {run['n']}, f64", "time", "over ours"], rows))
        packages = ", ".join(f"{name} {version}" for name, version in run["packages"].items())
        parts.append(f"`bench/results/{path.name}`: {run['date']}, commit {run['commit']}; {packages}.")
    return "\n\n".join(parts)
