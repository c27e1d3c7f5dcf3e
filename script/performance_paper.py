"""The part of docs/performance.md about the paper's two benchmarks: bench/results/*-diffusion.json and
*-hyperdiffusion.json (bandmill bench diffusion, bandmill bench hyperdiffusion)."""
import plot_svg as svg
from plot_svg import Style

EQUATIONS = ("diffusion", "hyperdiffusion")
INTRODUCTION = """`bandmill bench diffusion` and `bandmill bench hyperdiffusion` are the two benchmarks of the paper: a thousand
Crank-Nicolson steps of many members on a periodic length of 1, in f64. Side by side, on the same device and in the same
run: an ensemble whose members stay on chip from step to step (**resident**); a pass over memory for the right-hand sides
and one `bandmill::solve` per step (**one solve**); the same with **the paper's** solver; and with a **library's**.
cuSPARSE needs a matrix for every member and overwrites it, so it is written again in every step; LAPACK has one matrix,
factored once. Times are milliseconds of all steps; factoring is not timed. All states agree in the end, or the result
does not count. The paper does not say what time step it took; here it is 0.1 dx."""
NAMES = {"resident": "resident", "one-solve": "one solve", "paper": "the paper's way", "cusparse": "cuSPARSE's way",
         "lapack": "LAPACK"}
STYLES = {  # of the speed-up of one over the other
    ("resident", "one-solve"): Style(svg.BLUE),
    ("resident", "paper"): Style(svg.ORANGE, "square"),
    ("resident", "cusparse"): Style(svg.GREEN, "diamond"),
    ("resident", "lapack"): Style(svg.GREEN, "diamond"),
    ("one-solve", "paper"): Style(svg.ORANGE, "square", dashed=True),
    ("one-solve", "cusparse"): Style(svg.GREEN, "diamond", dashed=True),
    ("one-solve", "lapack"): Style(svg.GREEN, "diamond", dashed=True),
    ("paper", "cusparse"): Style(svg.GREY, "triangle"),
    ("paper", "lapack"): Style(svg.GREY, "triangle"),
}


def speedup(record, way, rival):
    return record["speedup"].get(way, {}).get(rival)


def pairs_in(run):
    return [pair for pair in STYLES if any(speedup(r, *pair) for r in run["records"])]


def number(time):
    return f"{time:,.{2 if time < 10 else 1 if time < 1000 else 0}f}"


def size(count):
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"


def plot(run):
    """Speed-up against the number of members, a panel for each n."""
    pairs = pairs_in(run)
    every = [(r["members"], speedup(r, *pair)) for r in run["records"] for pair in pairs if speedup(r, *pair)]
    if len({members for members, _ in every}) < 2:
        return None
    panels = []
    for n in sorted({r["n"] for r in run["records"]}):
        x = svg.powers_of_two("members (k = 1024)", [members for members, _ in every], svg.short, most=5)
        y = svg.decades("speed-up", min([s for _, s in every] + [1]), max(s for _, s in every) * 1.05)
        lines = [svg.Series([(x.low, 1), (x.high, 1)], Style(svg.GREY, "none"))]
        for pair in pairs:
            points = sorted((r["members"], speedup(r, *pair)) for r in run["records"]
                            if r["n"] == n and speedup(r, *pair))
            lines.append(svg.Series(points, STYLES[pair]))
        panels.append(svg.Panel(f"n = {n:,}", x, y, lines))
    legend = [(f"{NAMES[way]} over {NAMES[rival]}", STYLES[way, rival]) for way, rival in pairs]
    return svg.figure(f"{run['device']}: {run['benchmark']}, {run['steps']:,} steps, how many times as fast", panels,
                      legend)


def time_cell(record, way):
    result = record["ways"].get(way, {})
    if "time_ms" not in result:
        return ""
    return "wrong" if result["wrong"] else ("~" if result["scaled"] else "") + number(result["time_ms"]["median"])


def times_table(table, run):
    ways = list(dict.fromkeys(way for r in run["records"] for way in r["ways"]))
    pairs = pairs_in(run)
    head = ["n", "members"] + [NAMES[way] for way in ways] + [f"{NAMES[a]} over {NAMES[b]}" for a, b in pairs]
    rows = []
    for r in run["records"]:
        ratios = [f"{speedup(r, *pair):.1f}x" if speedup(r, *pair) else "" for pair in pairs]
        rows.append([f"{r['n']:,}", f"{r['members']:,}"] + [time_cell(r, way) for way in ways] + ratios)
    return table(head, rows)


def notes(run):
    parts = []
    scaled = [f"{NAMES[way]}, n = {r['n']:,}, {r['members']:,} members: {result['timed_steps']:,}"
              for r in run["records"] for way, result in r["ways"].items() if result.get("scaled")]
    if scaled:
        parts.append("~: fewer steps were timed, and the time scaled to all (" + "; ".join(scaled) + ").")
    missing = [f"{NAMES[way]}, n = {r['n']:,}, {r['members']:,} members: {result['skipped']}"
               for r in run["records"] for way, result in r["ways"].items() if "skipped" in result]
    missing += [f"n = {s['n']:,}, {s['members']:,} members: {s['reason']}" for s in run.get("skipped", [])]
    if missing:
        parts.append("Not measured: " + "; ".join(missing) + ".")
    most = max(run["records"], key=lambda r: r["n"] * r["members"], default=None)
    if most:
        held = [f"{NAMES[way]} {size(result['held_bytes'])}" for way, result in most["ways"].items()
                if "held_bytes" in result]
        parts.append(f"Memory held with n = {most['n']:,} and {most['members']:,} members: {', '.join(held)}.")
        differences = [result["difference"] for r in run["records"] for result in r["ways"].values()
                       if result.get("difference") is not None]
        parts.append(f"Largest difference from the ensemble's states in the end, relative to them: {max(differences):.1e}.")
    return " ".join(parts)


def plots(every):
    """File name -> SVG."""
    drawn = {f"{path.stem}.svg": plot(run) for path, run in every if run.get("benchmark") in EQUATIONS}
    return {name: text for name, text in drawn.items() if text}


def paper_section(table, every, drawn):
    """`every` are (path, result) of all kinds, `drawn` the names of plots; "" if none are of these two benchmarks."""
    runs = [(path, run) for path, run in every if run.get("benchmark") in EQUATIONS]
    if not runs:
        return ""
    parts = ["## The paper's benchmarks", INTRODUCTION]
    for path, run in runs:
        isa = f", {run['threads']} threads, instruction set {run['isa']}" if run["backend"] == "cpu" else ""
        parts += [f"### {run['device']}, {run['benchmark']}",
                  f"`bench/results/{path.name}`: {run['device']}{isa}; {run['date']}, commit {run['commit']}, bandmill "
                  f"{run['version']}, {run['compiler']}, load average {run.get('load_average') or 0:.1f}.",
                  times_table(table, run), notes(run)]
        if f"{path.stem}.svg" in drawn:
            parts.append(f"![Speed-ups against the number of members, for each n](plots/{path.stem}.svg)")
    return "\n\n".join(parts)
