"""The parts of docs/performance.md about stencils and about two dimensions: bench/results/*-stencil.json and
*-plane.json (bandmill bench stencil, bandmill bench plane)."""

STENCILS = """`bandmill bench stencil`: share of a copy, counting each element read once and written once (velocities are read
too). On a GPU the bar is 0.85 for up to 7 points in a row and for patches of up to 5 x 5, on fields that are large
enough for a copy to be fast. **naive**: how many times as fast as a thread for each point that reads its neighbours from
memory (on a CPU a plain loop over the points, by all threads)."""
PLANES = """`bandmill bench plane`: steps of planes by alternating directions. The share counts six numbers per point and
step (48 bytes in f64) over a copy of memory (on a CPU over scaling it in place). The bar is 0.6 for Cahn-Hilliard in f64
on 4096 x 4096 points. Speedup: over the usual way, a stencil kernel, the paper's solver and transpositions."""
BAR = {"stencil": 0.85, "plane": 0.6}
LARGE = 1 << 24  # points


def _source(path, run):
    isa = f", instruction set {run['isa']}" if run["backend"] == "cpu" else ""
    return f"`bench/results/{path.name}`: {run['device']}{isa}; {run['date']}, commit {run['commit']}."


def _bars_met(records):
    large = [r for r in records if r["rows"] * r["columns"] * r["batch"] >= LARGE
             and not r["stencil"].startswith("advect")]
    lines = []
    for words, wanted in [("periodic fields", lambda r: r["edges"] == "periodic"),
                          ("fields with edges, 4096 x 4096", lambda r: r["edges"] != "periodic" and r["rows"] <= 4096),
                          ("fields with edges, 256 x 65536, where every strip meets them",
                           lambda r: r["edges"] != "periodic" and r["rows"] > 4096)]:
        met = []
        for dtype in ("f64", "f32"):
            shares = [r["share_of_copy"] for r in large if wanted(r) and r["dtype"] == dtype]
            if shares:
                met.append(f"{dtype} {sum(share >= BAR['stencil'] for share in shares)} of {len(shares)} cases "
                           f"({min(shares):.2f} to {max(shares):.2f})")
        if met:
            lines.append(f"- {words}: {', '.join(met)}")
    return "\n".join([f"Bar of {BAR['stencil']} met, {LARGE:,} points and more:", "", *lines])


def stencils_section(table, every):
    parts = []
    for path, run in every:
        if run.get("benchmark") != "stencil":
            continue
        cases, fields = {}, []
        for r in run["records"]:
            field = f"{r['columns']} x {r['rows']}" + (f" x {r['batch']}" if r["batch"] > 1 else "") + f", {r['dtype']}"
            if field not in fields:
                fields.append(field)
            naive = r["rivals"].get("naive", {}).get("time_us")
            over = f" ({naive['median'] / r['time_us']['median']:.1f}x)" if naive else ""
            name = r["stencil"] + ("" if r["edges"] == "periodic" else f", {r['edges']}")
            cases.setdefault(name, {})[field] = f"{r['share_of_copy']:.2f}{over}"
        rows = [[name, *[found.get(field, "") for field in fields]] for name, found in cases.items()]
        parts += [_source(path, run), *([_bars_met(run["records"])] if run["backend"] == "cuda" else []),
                  table(["share (naive)", *fields], rows)]
    return "\n\n".join(["## Stencils", STENCILS, *parts]) if parts else ""


def planes_section(table, every):
    parts = []
    for path, run in every:
        if run.get("benchmark") != "plane":
            continue
        rows = []
        for r in run["records"]:
            barred = (r["equation"], r["nx"], r["ny"], r["dtype"], r["backend"]) == ("cahn-hilliard", 4096, 4096, "f64",
                                                                                    "cuda")
            share = r["share_of_ceiling"]
            rows.append([r["equation"], f"{r['nx']} x {r['ny']}", r["members"], r["dtype"],
                         f"{r['time_us']['median'] / r['steps']:,.1f} us", f"{r['gpoint_steps_per_s']:.1f}", f"{share:.2f}",
                         str(BAR["plane"]) if barred else "", ("yes" if share >= BAR["plane"] else "no") if barred else "",
                         ", ".join(f"{over:.1f}x" for over in r["speedup"].values())])
        parts += [_source(path, run), table(["equation", "points", "planes", "precision", "step", "10^9 point-steps/s",
                                             "share", "bar", "met?", "speedup"], rows)]
    return "\n\n".join(["## Two dimensions", PLANES, *parts]) if parts else ""
