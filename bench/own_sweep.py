#!/usr/bin/env python3
"""The best launches of a sweep: bandmill bench own --rivals none --blocks 1,2,3,4,6,8 --chunks 2,4,8,16 --json FILE.

For every case the best (blocks, chunks) of a solve and of a combined factor and solve, with their shares of a copy, beside
what the library chose (0, 0) if that was among them. The numbers are in src/bandmill/cuda/tuning.hpp.
"""

import json
import sys


def main(path):
    cases = {}
    for r in json.load(open(path))["records"]:
        case = (r["dtype"], r["half_bandwidth"], r["boundary"], r["batch"], r["n"])
        cases.setdefault(case, []).append(r)
    for (dtype, w, boundary, batch, n), records in sorted(cases.items()):
        line = f"{dtype} W={w} {boundary:<8} {batch:>8} x {n:<6}"
        for way in ("solve", "factor_and_solve"):
            ranked = sorted(records, key=lambda r: r[way]["time_us"]["median"])
            shown = "  ".join(f"{r['blocks']}x{r['chunks']} {r[way]['share_of_copy']:.3f}" for r in ranked[:3])
            chosen = [r[way]["share_of_copy"] for r in records if r["blocks"] + r["chunks"] == 0]
            line += f" | {way}: {shown}" + (f" (chosen {chosen[0]:.3f})" if chosen else "")
        print(line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
