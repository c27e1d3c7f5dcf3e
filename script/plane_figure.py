#!/usr/bin/env python3
"""Draws how domains grow in a file that bandmill coarsen --dimensions 2 wrote, as SVG: both measures against time in
logarithms, their fits, and the slope of theory.

    script/plane_figure.py coarsen.nc figure.svg

Needs numpy and h5py. The same file gives the same bytes.
"""
import math
import pathlib
import sys

import h5py
import numpy as np

import plot_svg as svg
from plot_svg import Style


def axis(label, low, high):
    low, high = low / 1.1, high * 1.1
    ticks = [(d * 10.0**e, f"{d * 10.0**e:g}") for e in range(-3, 7) for d in (1, 2, 5) if low <= d * 10.0**e <= high]
    return svg.Axis(label, low, high, ticks, log=True)


def panel(title, label, time, values, prefactor, exponent, fit, style):
    chosen = range((len(time) - 1) % max(1, len(time) // 40), len(time), max(1, len(time) // 40))  # the last among them
    lines = [svg.Series([(float(time[i]), float(values[i])) for i in chosen], style)]
    lines.append(svg.Series([(t, prefactor * t**exponent) for t in fit], Style(svg.INK, "none", dashed=True)))
    # A third, beside the fit: through its middle, one and a half times as high.
    middle = math.sqrt(fit[0] * fit[1])
    guide = [(t, 1.5 * prefactor * middle**exponent * (t / middle) ** (1 / 3)) for t in fit]
    lines.append(svg.Series(guide, Style(svg.GREY, "none")))
    highest = max(float(values.max()), guide[1][1])
    return svg.Panel(title, axis("time", float(time[0]), float(time[-1])), axis(label, float(values.min()), highest), lines)


def main(source, target):
    with h5py.File(source) as file:
        attributes = dict(file.attrs)
        time, size, length = (file[name][...] for name in ("time", "domain_size_mean", "domain_length"))
        runs = int(file["member_count"][-1])
    number = lambda name: float(np.ravel(attributes[name])[0])  # noqa: E731
    device = attributes["device"]
    device = device.decode() if isinstance(device, bytes) else str(device)
    late = time >= 0.1  # before that there are no domains
    fit = (number("fit_from"), number("fit_to"))
    panels = []
    for title, values, prefix, style in (("l = 1 / (1 - <C^2>)", size, "fit_", Style(svg.BLUE)),
                                         ("area per length of interfaces", length, "fit_length_", Style(svg.GREEN, "diamond"))):
        exponent, error = number(prefix + "exponent"), number(prefix + "exponent_error95")
        panels.append(panel(f"{title}: t^({exponent:.3f} +- {error:.3f})", "mean",
                            time[late], values[late], number(prefix + "prefactor"), exponent, fit, style))
    what = f"{runs} planes of {int(number('points_x'))} x {int(number('points_y'))} points"
    legend = [(what, Style(svg.BLUE)), ("fit", Style(svg.INK, "none", dashed=True)), ("t^(1/3)", Style(svg.GREY, "none"))]
    pathlib.Path(target).write_text(svg.figure(f"{device}: bandmill coarsen --dimensions 2", panels, legend))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
