"""The plots of docs/performance.md: each function takes a run and gives SVG text, or None where records are lacking."""
import plot_svg as svg
from performance_bars import bars_of, fits, rivals
from plot_svg import Style

STYLES = {
    "bandmill": Style(svg.BLUE),
    "paper": Style(svg.ORANGE, "square"),
    "gtsvInterleavedBatch": Style(svg.GREEN, "diamond"),
    "gpsvInterleavedBatch": Style(svg.GREEN, "diamond"),
    "gtsv2StridedBatch": Style(svg.PURPLE, "triangle"),
    "gttrs": Style(svg.GREEN, "diamond"),
    "gbtrs": Style(svg.GREEN, "diamond"),
}
LABELS = {
    "bandmill": "bandmill",
    "paper": "the paper",
    "gtsvInterleavedBatch": "cuSPARSE gtsv/gpsvInterleavedBatch",
    "gpsvInterleavedBatch": "cuSPARSE gtsv/gpsvInterleavedBatch",
    "gtsv2StridedBatch": "cuSPARSE gtsv2StridedBatch",
    "gttrs": "LAPACK gttrs/gbtrs",
    "gbtrs": "LAPACK gttrs/gbtrs",
}
BAR = Style(svg.GREY, "dash", line=False)
TITLES = {1: "W = 1, tridiagonal", 2: "W = 2, pentadiagonal"}


def variant(style, **changes):
    return Style(**{**vars(style), **changes})


def cases(run, w, boundary="open", **where):
    """The records in the layout that suits the device, f64, unless `where` says otherwise."""
    layout = "tiled" if run["backend"] == "cpu" else "interleaved"
    where = {"layout": layout, "dtype": "f64", "half_bandwidth": w, "boundary": boundary, **where}
    return [r for r in run["records"] if fits(r, where)]


def series(records, x, y, style, shift=0):
    points = {r[x]: y(r) for r in records if y(r)}
    return svg.Series(sorted(points.items()), style, shift)


def values(lines, axis):
    return [point[axis] for line in lines for point in line.points]


def legend_of(pairs, solid, dashed):
    """The colours, each once, then what full and dashed lines mean."""
    colours = {label: variant(style, dashed=False) for label, style in pairs}
    return [*colours.items(), (solid, Style(svg.GREY)), (dashed, Style(svg.GREY, dashed=True))]


def share(record):
    return record["share_of_copy"]


def share_plot(run):
    """Share against n: a colour for each batch (CPU: place), dashed where periodic."""
    groups = {"65,536 systems": dict(batch=65536), "1,048,576 systems": dict(batch=1048576)}
    if run["backend"] == "cpu":
        groups = {"tiled, in memory": dict(cache_resident=False), "tiled, in cache": dict(cache_resident=True),
                  "interleaved, in memory": dict(layout="interleaved", cache_resident=False)}
    styles = Style(svg.BLUE), Style(svg.ORANGE, "square"), Style(svg.GREEN, "diamond")
    lines, legend = {1: [], 2: []}, []
    for (name, where), style in zip(groups.items(), styles):
        for w in (1, 2):
            for boundary in ("open", "periodic"):
                line = series(cases(run, w, boundary, **where), "n", share,
                              variant(style, dashed=boundary == "periodic"))
                if line.points:
                    lines[w].append(line)
                    legend.append((name, style))
    every = lines[1] + lines[2]
    if len(set(values(every, 0))) < 2:
        return None
    first, where = next(iter(groups.items()))
    for w in (1, 2):
        wanted = {r["n"]: bar.bar for bar in bars_of(run) if bar.quantity == "share"
                  for r in cases(run, w, **where) if fits(r, bar.where)}
        if wanted:
            lines[w].insert(0, svg.Series(sorted(wanted.items()), BAR))
            legend.append((f"bar: open, {first}", BAR))
    panels = [svg.Panel(TITLES[w], svg.powers_of_two("n, rows of a system", values(every, 0)),
                        svg.from_zero("share of a copy", max(values(every, 1))), lines[w]) for w in (1, 2)]
    return svg.figure(f"{run['device']}: share of a copy against the size of a system, f64", panels,
                      legend_of(legend, "open", "periodic"))


def speedup_plot(run):
    """Speedup against n: a colour for each rival, dashed for the smaller batch."""
    groups = {"65,536 systems": dict(batch=65536), "64 systems": dict(batch=64)}
    if run["backend"] == "cpu":
        groups = {"in memory": dict(cache_resident=False), "in cache": dict(cache_resident=True)}
    lines, legend = {1: [], 2: []}, []
    for i, (group, where) in enumerate(groups.items()):
        for name, style in STYLES.items():
            for w in (1, 2):
                line = series(cases(run, w, **where), "n", lambda r: rivals(r).get(name), variant(style, dashed=i == 1))
                if line.points:
                    lines[w].append(line)
                    legend.append((LABELS[name], style))
    every = lines[1] + lines[2]
    if len(set(values(every, 0))) < 2:
        return None
    panels = []
    for w in (1, 2):
        x = svg.powers_of_two("n, rows of a system", values(every, 0))
        y = svg.decades("speedup", min(values(every, 1) + [1]), max(values(every, 1)) * 1.05)
        even = svg.Series([(x.low, 1), (x.high, 1)], Style(svg.GREY, "none"))
        panels.append(svg.Panel(TITLES[w], x, y, [even] + lines[w]))
    return svg.figure(f"{run['device']}: how many times as fast as its rivals, f64, open", panels,
                      legend_of(legend, *groups))


def batch_labels(panel, records, intensity):
    """Beside the points the number of systems; points that nearly coincide share a label."""
    spots = []
    for r in sorted(records, key=lambda r: r["batch"]):
        height = panel.y.fraction(gflops(r, r)) * svg.PLOT_HEIGHT
        if spots and abs(spots[-1][0] - height) < 13:
            spots[-1][1].append(r)
        else:
            spots.append((height, [r]))
    for _, group in spots:
        names = list(dict.fromkeys(svg.short(r["batch"]) for r in group))
        text = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        drop = 4 if len(names) == 1 else 7  # a long label would touch the ceiling
        panel.notes.append(svg.Note(intensity, gflops(group[0], group[0]), text, -8, drop, "end"))


def gflops(record, contestant):
    return record["flops"] / contestant["time_us"]["median"] / 1e3


def contestant_lines(run, w, names):
    """For n = 1024, by contestant: rate against intensity, and share against the number of systems."""
    records = [r for r in cases(run, w, n=1024) if r.get("flops")]
    rates, shares = {}, {}
    for i, name in enumerate(names):
        mine = [r for r in records if name == "bandmill" or rivals(r).get(name)]
        them = [(r, r if name == "bandmill" else r["rivals"][name]) for r in mine]
        if mine:
            style = STYLES[name]
            rates[name] = svg.Series([(r["flops"] / r["bytes"], gflops(r, c)) for r, c in them],
                                     variant(style, line=False), 15 * i)
            shares[name] = svg.Series(sorted((r["batch"], c["share_of_copy"]) for r, c in them),
                                      variant(style, dashed=w == 2))
    return records, rates, shares


def roofline_plot(run):
    """n = 1024: rate against intensity below the memory ceiling, and share against the number of systems."""
    rates, shares, legend, ours = [], [], [], {}
    for w in (1, 2):
        names = [n for n in STYLES if n == "bandmill" or any(n in rivals(r) for r in cases(run, w, n=1024))]
        ours[w], rate, part = contestant_lines(run, w, names)
        rates += rate.values()
        shares += part.values()
        legend += [(LABELS[name], STYLES[name]) for name in part]
    if len(set(values(shares, 0))) < 2:
        return None
    ceilings = {c.get("cache_resident", False): c["gbytes_per_s"]
                for c in sorted(run["ceilings"], key=lambda c: c["gbytes_per_s"])}
    low, high = min(values(rates, 0)) / 1.7, max(values(rates, 0)) * 1.6
    ticks = [(v, f"{v:g}") for v in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2) if low < v < high]
    x = svg.Axis("intensity, flop per byte", low, high, ticks, log=True)
    y = svg.decades("GFLOP/s", min(values(rates, 1)) / 2, high * max(ceilings.values()) * 1.6)
    roofs = [svg.Series([(low, g * low), (high, g * high)], Style(svg.INK, "none")) for g in ceilings.values()]
    roof = svg.Panel("Roofline; numbers: systems (k = 1024)", x, y, roofs + rates)
    for cached, g in ceilings.items():
        roof.notes.append(svg.Note(high, g * high, f"{'cache' if cached else 'memory'}: {g:,.0f} GB/s", -8, -7,
                                   "end", (low, g * low)))
    for w in (1, 2):
        if ours[w]:
            intensity = ours[w][0]["flops"] / ours[w][0]["bytes"]
            batch_labels(roof, ours[w], intensity)
            roof.notes.append(svg.Note(intensity, y.low, f"W = {w}", 0, -8, "middle"))
    across = svg.Panel("Share of a copy", svg.powers_of_two("systems (k = 1024)", values(shares, 0), svg.short),
                       svg.from_zero("share of a copy", max(values(shares, 1))), shares)
    return svg.figure(f"{run['device']}: n = 1024, f64, open, over the number of systems", [roof, across],
                      legend_of(legend, "W = 1", "W = 2"))


PLOTS = {"share": share_plot, "speedup": speedup_plot, "roofline": roofline_plot}
