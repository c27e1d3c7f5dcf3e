"""The bars that bandmill is measured against, and how a record of bench/results is held against them."""
from collections import namedtuple

CUSPARSE = ["gtsvInterleavedBatch", "gtsvInterleavedBatch+reset", "gtsv2StridedBatch", "gpsvInterleavedBatch",
            "gpsvInterleavedBatch+reset"]
KINDS = [(1, "open"), (1, "periodic"), (2, "open"), (2, "periodic")]

# `quantity` is share, time (us) or whom the speedup is over; the bar is for all records that fit `where`.
Bar = namedtuple("Bar", "target case quantity bar where")
SHORT = [64, 128, 256, 300, 512, 1000, 1024]


def h200_bars():
    main = dict(layout="interleaved", dtype="f64")
    bars = []
    for batch in (65536, 1048576):
        for (w, boundary), share in zip(KINDS, (0.85, 0.83, 0.82, 0.80)):
            bars.append(Bar("share", f"W={w} {boundary}, n = 64 to 1024, {batch:,} systems", "share", share, dict(
                main, half_bandwidth=w, boundary=boundary, n=SHORT, batch=batch, **({"sigma": 1e6} if w == 2 else {}))))
    for name, where, shares in (
            ("n = 2048, 4096", dict(main, n=[2048, 4096], batch=65536), (0.75, 0.65)),
            ("n = 16,384, 100,000, 4,096 systems", dict(main, n=[16384, 100000], batch=4096), (0.50, 0.50)),
            ("contiguous, n = 256, 1024", dict(main, layout="contiguous", n=[256, 1024], batch=65536), (0.80, 0.80)),
            ("f32, n = 256, 1024", dict(main, dtype="f32", n=[256, 1024], batch=65536), (0.80, 0.80))):
        for w in (1, 2):
            bars.append(Bar("share", f"W={w}, {name}", "share", shares[w - 1], dict(where, half_bandwidth=w)))
    for w, n, batch, time in ((1, 1024, 64, 10), (2, 1024, 64, 12), (1, 256, 4096, 8)):
        bars.append(Bar("time", f"W={w}, n = {n}, {batch:,} systems", "time", time,
                        dict(main, half_bandwidth=w, n=[n], batch=batch)))
    layouts = [(f"W={w}", dict(main, half_bandwidth=w)) for w in (1, 2)]
    layouts += [("contiguous", dict(main, layout="contiguous")), ("f32", dict(main, dtype="f32"))]
    for name, where in layouts:
        bars.append(Bar("over the paper", f"{name}, n from 256", "paper", 3,
                        dict(where, n=lambda n: n >= 256, batch=65536)))
    for name, where in layouts:
        bars.append(Bar("over cuSPARSE", f"{name} open", "cuSPARSE", 4, dict(where, boundary="open", batch=65536)))
    for name, where in layouts[:2]:
        bars.append(Bar("over cuSPARSE", f"{name} open, n up to 4096, 64 systems", "cuSPARSE", 2,
                        dict(where, boundary="open", n=lambda n: n <= 4096, batch=64)))
    return bars


def cpu_bars():
    tiled = dict(layout="tiled", cache_resident=False)
    places = [("tiled, in memory", tiled), ("tiled, in cache", dict(tiled, cache_resident=True)),
              ("interleaved, in memory", dict(tiled, layout="interleaved")),
              ("contiguous, in memory", dict(tiled, layout="contiguous"))]
    bars = [Bar("share", f"W=1, {name}", "share", share, dict(where, half_bandwidth=1, dtype="f64"))
            for (name, where), share in zip(places, (0.75, 0.45, 0.5))]
    for name, where in places:
        for w in (1, 2):
            bars.append(Bar("over LAPACK", f"W={w} open, {name}", "LAPACK", 5,
                            dict(where, half_bandwidth=w, boundary="open")))
    return bars


def bars_of(run):
    if "H200" in run["device"]:
        return h200_bars()
    return cpu_bars() if run["backend"] == "cpu" and run.get("threads") == 2 else []


def fits(record, where):
    for key, wanted in where.items():
        value = record.get(key)
        if callable(wanted):
            wanted = [value] if wanted(value) else []
        if value not in (wanted if isinstance(wanted, list) else [wanted]):
            return False
    return record.get("matrix", "general") == "general"


def rivals(record):
    """The speedup over each rival that was timed, by name; None where its result is wrong."""
    ran = {name: rival for name, rival in record.get("rivals", {}).items() if "time_us" in rival}
    ours = record["time_us"]["median"]
    return {name: None if rival.get("wrong") else rival["time_us"]["median"] / ours for name, rival in ran.items()}


def measured(record, quantity):
    if quantity == "share":
        return record["share_of_copy"]
    if quantity == "time":
        return record["time_us"]["median"]
    lapack = ["gttrs" if record["half_bandwidth"] == 1 else "gbtrs"]
    names = {"paper": ["paper"], "cuSPARSE": CUSPARSE, "LAPACK": lapack}[quantity]
    return min((s for name, s in rivals(record).items() if name in names and s is not None), default=None)


def spoken(values, digits=1, unit=""):
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return (low if low == high else f"{low} to {high}") + unit


def differing(records, record):
    """The fields that tell this record from the others of its bar."""
    words = {"half_bandwidth": "W={}", "boundary": "{}", "n": "n = {:,}", "batch": "{:,} systems"}
    return ", ".join(word.format(record[key]) for key, word in words.items() if len({r[key] for r in records}) > 1)


def judge(bar, records):
    """The row of a bar without its first three cells, and whether it is met (None: not measured)."""
    asked = [r for r in records if fits(r, bar.where)]
    values = {i: measured(r, bar.quantity) for i, r in enumerate(asked)}
    values = {i: v for i, v in values.items() if v is not None}
    if not values:
        return "not measured", "", None
    low_is_good = bar.quantity == "time"
    missed = [v for v in values.values() if (v > bar.bar if low_is_good else v < bar.bar)]
    worst = (max if low_is_good else min)(values, key=values.get)
    digits, unit = {"share": (3, ""), "time": (2, " us")}.get(bar.quantity, (1, "x"))
    text = spoken(values.values(), digits, unit)
    if differing(asked, asked[worst]) and " to " in text:
        text += f" (worst: {differing(asked, asked[worst])})"
    if len(values) < len(asked):
        text += f"; {len(values)} of {len(asked)} cases compared"
    sizes = {r["n"] for r in asked}
    if isinstance(bar.where.get("n"), list) and len(sizes) < len(bar.where["n"]):
        text += f"; n = {', '.join(map(str, sorted(sizes)))} only"
    if not missed:
        return text, "yes", True
    off = abs(values[worst] / bar.bar - 1) * 100
    off = f"{off:.0f} %" if off >= 1 else "under 1 %"
    count = f", {len(values) - len(missed)} of {len(values)} cases met" if len(values) > 1 else ""
    return text, f"**no**: at worst {off} {'over' if low_is_good else 'short'}{count}", False
