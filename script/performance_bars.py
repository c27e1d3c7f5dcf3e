"""The bars that bandmill is measured against, and how a record of bench/results is held against them."""
from collections import namedtuple

CUSPARSE = ["gtsvInterleavedBatch", "gtsvInterleavedBatch+reset", "gtsv2StridedBatch", "gpsvInterleavedBatch",
            "gpsvInterleavedBatch+reset"]
KINDS = [(1, "open"), (1, "periodic"), (2, "open"), (2, "periodic")]

# `quantity` is share, time (us), speed (10^9 point-steps per second), a key of the record, or whom the speedup is over;
# the bar is for all records that fit `where`.
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


def h200_step_bars():
    """10^9 point-steps per second, `bandmill bench step`."""
    plain = dict(equation="cahn-hilliard", dtype="f64", statistics="none", shape="throughput")

    def many(members):
        return members >= 16384

    bars = []
    for name, bar, where in (
            ("Cahn-Hilliard, n = 256, 262,144 members", 880, dict(n=256, members=262144)),
            ("the same, domain size of every member at every step", 800,
             dict(n=256, members=262144, statistics="domain-size")),
            ("n = 64", 830, dict(n=64, members=many)),
            ("n = 300", 700, dict(n=300, members=many)),
            ("n = 512", 840, dict(n=512, members=many)),
            ("n = 1024", 800, dict(n=1024, members=many)),
            ("n = 4096", 400, dict(n=4096, members=many)),
            ("forced, n = 512", 240, dict(equation="forced-cahn-hilliard", n=512, members=many)),
            ("forced, n = 512, f32", 500, dict(equation="forced-cahn-hilliard", n=512, members=many, dtype="f32")),
            ("n = 256, f32", 1700, dict(n=256, members=262144, dtype="f32")),
            ("n = 256, f32, domain size at every step", 1400,
             dict(n=256, members=262144, dtype="f32", statistics="domain-size")),
            ("diffusion, n = 1024, 65,536 members", 900, dict(equation="diffusion", n=1024, members=65536)),
            ("hyperdiffusion, n = 1024, 65,536 members", 900, dict(equation="hyperdiffusion", n=1024, members=65536)),
            ("n = 256, 4,096 members", 700, dict(n=256, members=4096)),
            ("n = 256, 64 members", 17, dict(n=256, members=64)),
            ("n = 256, 64 members, shape latency", 30, dict(n=256, members=64, shape="latency"))):
        bars.append(Bar("speed", name, "speed", bar, dict(plain, **where)))
    return bars


def cpu_step_bars():
    plain = dict(equation="cahn-hilliard", dtype="f64", statistics="none", n=256)
    forced = dict(plain, equation="forced-cahn-hilliard")
    return [Bar("speed", "Cahn-Hilliard, n = 256, one core", "speed", 1.3, dict(plain, threads=1)),
            Bar("speed", "forced, n = 256, one core", "speed", 0.25, dict(forced, threads=1)),
            Bar("over one thread", "Cahn-Hilliard, n = 256, two threads", "one_thread", 1.85, dict(plain, threads=2)),
            Bar("over one thread", "forced, n = 256, two threads", "one_thread", 1.85, dict(forced, threads=2)),
            # measured in one run by bench/array_frameworks.py
            Bar("over NumPy + SciPy FFT", "n = 256, one core, 4,096 members, increment form", "bandmill_is", 80,
                dict(plain, contestant="NumPy + SciPy", path="increment", members=4096, threads=1))]


def bars_of(run):
    if run.get("benchmark") == "step":
        if "H200" in run["device"]:
            return h200_step_bars()
        return cpu_step_bars() if run["backend"] == "cpu" and run.get("isa") == "v4" else []
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
    if quantity == "speed":
        return None if record["wrong"] else record["gpoint_steps_per_s"]
    if quantity in ("one_thread", "bandmill_is"):
        return record.get(quantity)
    lapack = ["gttrs" if record["half_bandwidth"] == 1 else "gbtrs"]
    names = {"paper": ["paper"], "cuSPARSE": CUSPARSE, "LAPACK": lapack}[quantity]
    return min((s for name, s in rivals(record).items() if name in names and s is not None), default=None)


def spoken(values, digits=1, unit=""):
    low, high = f"{min(values):,.{digits}f}", f"{max(values):,.{digits}f}"
    return (low if low == high else f"{low} to {high}") + unit


def differing(records, record):
    """The fields that tell this record from the others of its bar."""
    words = {"half_bandwidth": "W={}", "boundary": "{}", "n": "n = {:,}", "batch": "{:,} systems",
             "members": "{:,} members"}
    return ", ".join(word.format(record[key]) for key, word in words.items()
                     if key in record and len({r[key] for r in records}) > 1)


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
    forms = {"share": (3, ""), "time": (2, " us"), "speed": (2, ""), "one_thread": (2, "x")}
    digits, unit = forms.get(bar.quantity, (1, "x"))
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
