"""The part of docs/performance.md about time stepping: bench/results/*-step.json (bandmill bench step), and beside them
*-arrays.json (bench/array_frameworks.py)."""
from performance_bars import bars_of, judge

STEPS = """`bandmill bench step` advances whole ensembles. **Speed** is in 10^9 point-steps per second: points of a member
times members times steps, over the time (medians; each timing is as many steps as take about 0.2 s). Members start from
noise and are finite in the end, or the result does not count. The **paper's way** is a pass over memory for the
right-hand sides, then the paper's solver for periodic systems, by our own kernels or plain loops; its states agree with
ours after the first steps, or it does not count."""


def key_of(record, *left_out):
    keys = ("equation", "n", "members", "dtype", "statistics", "shape", "threads")
    return tuple(record[key] for key in keys if key not in left_out)


def compare_threads(run):
    """Adds to each record by several threads how many times as fast it is as by one."""
    alone = {key_of(r, "threads"): r for r in run["records"] if r["threads"] == 1 and not r["wrong"]}
    for r in run["records"]:
        one = alone.get(key_of(r, "threads"))
        if one and r["threads"] > 1 and not r["wrong"]:
            r["one_thread"] = r["gpoint_steps_per_s"] / one["gpoint_steps_per_s"]


def number(speed):
    return f"{speed:,.{3 if speed < 10 else 1}f}"


def bars_table(table, run, arrays, why):
    rows = []
    for bar in bars_of(run):
        text, verdict, met = judge(bar, arrays["records"] if bar.quantity == "bandmill_is" else run["records"])
        wanted = f"{bar.bar:,}" + ("" if bar.quantity == "speed" else "x")
        rows.append([bar.target, bar.case, wanted, text, verdict + (why if met is False else "")])
    if not rows:
        return "The bars are for an H200 and for CPUs with AVX-512: none apply here."
    return "Cahn-Hilliard and f64 unless said.\n\n" + table(["target", "case", "bar", "measured", "met?"], rows)


def speeds_table(table, run):
    cpu = run["backend"] == "cpu"
    head = ["equation", "n", "members", "precision", "statistics", "threads" if cpu else "shape", "path", "us per step",
            "spread", "speed", "over the paper's way"]
    rows = []
    for r in run["records"]:
        time, paper = r["time_us"], r["speedup"].get("paper")
        spread = (time["max"] - time["min"]) / time["median"] * 100
        rows.append([r["equation"], f"{r['n']:,}", f"{r['members']:,}", r["dtype"], r["statistics"],
                     r["threads"] if cpu else r["shape"], r["path"], f"{time['median'] / r['steps']:,.2f}",
                     f"{spread:.0f} %", "wrong" if r["wrong"] else number(r["gpoint_steps_per_s"]),
                     f"{paper:.1f}x" if paper else ""])
    text = table(head, rows)
    for s in run.get("skipped", []):
        text += (f"\n\nNot measured: {s['equation']}, n = {s['n']:,}, {s['members']:,} members, {s['dtype']}: "
                 f"{s['reason']}.")
    return text


def arrays_table(table, path, arrays):
    cpu = arrays.get("backend") == "cpu"
    rows = [[r["contestant"], r["path"], f"{r['members']:,}"] + ([r["threads"]] if cpu else []) + [
             "wrong" if r["wrong"] else number(r["gpoint_steps_per_s"]),
             f"{r['bandmill_is']:.1f}x" if r.get("bandmill_is") else ""] for r in arrays["records"]]
    if not rows:
        return ""
    text = (f"Array frameworks on the same problem, Cahn-Hilliard with n = {arrays['records'][0]['n']} in f64, and "
            f"bandmill in the same run (`bench/array_frameworks.py`, `bench/results/{path.name}`, {arrays['date']}, commit "
            f"{arrays['commit']}):\n\n")
    if cpu:
        text += ("NumPy and SciPy by one thread (bandmill too), and as they come: transforms by one thread, matrix "
                 "products by all.\n\n")
    text += table(["", "way", "members"] + (["threads"] if cpu else []) + ["speed", "bandmill is faster by"], rows)
    left_out = [f"{s['contestant']} {s.get('path', '')}".strip() + f": {s['reason']}"
                for s in arrays.get("skipped", [])]
    return text + ("\n\nNot measured: " + "; ".join(left_out) + "." if left_out else "")


def steps_section(table, runs, why):
    """`runs` are (path, result) of both kinds; "" if there are none of `bench step`. `why` follows a missed bar."""
    arrays = {run["backend"]: (path, run) for path, run in runs if run.get("benchmark") == "arrays"}
    steps = [(path, run) for path, run in runs if run.get("benchmark") == "step"]
    if not steps:
        return ""
    parts = ["## Time stepping", STEPS]
    for path, run in steps:
        compare_threads(run)
        beside = arrays.get(run["backend"], (None, {"records": []}))
        isa = f", instruction set {run['isa']}" if run["backend"] == "cpu" else ""
        parts += [f"### {run['device']}, time stepping",
                  f"`bench/results/{path.name}`: {run['device']}{isa}; {run['date']}, commit {run['commit']}, bandmill "
                  f"{run['version']}, {run['compiler']}, load average {run.get('load_average') or 0:.1f}.",
                  bars_table(table, run, beside[1], why), speeds_table(table, run), arrays_table(table, *beside)]
    return "\n\n".join(part for part in parts if part)
