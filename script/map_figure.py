#!/usr/bin/env python3
"""Draws the maps of files that bandmill map wrote, as SVG: one row per panel, the classes beside those of raw k-means.

    script/map_figure.py map.nc [more.nc ...] map.svg

Needs numpy and h5py. The same file gives the same bytes.
"""
import base64
import struct
import sys
import zlib

import h5py
import numpy as np

from plot_svg import BLUE, FONT, INK, MUTED, ORANGE, RED

PALE = "#dce6ee"
COLOURS = [RED, ORANGE, BLUE, PALE]  # from class -1 on
NAMES = ["not finite", "A0: moves against the forcing", "A1: domains held by it", "A2: a wave about the mean"]
SIZE, LEFT, TOP, GAP, BELOW = 360, 76, 84, 70, 62


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png(classes):
    """A picture of one palette entry per cell, the first row at the bottom."""
    rows, columns = classes.shape
    palette = b"".join(bytes.fromhex(colour[1:]) for colour in COLOURS)
    lines = b"".join(b"\0" + row.tobytes() for row in (classes[::-1] + 1).astype(np.uint8))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", palette) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def text(x, y, words, size=13, anchor="middle", colour=INK, weight="normal", turn=""):
    return (f'<text x="{x:g}" y="{y:g}" {FONT} font-size="{size}" font-weight="{weight}" text-anchor="{anchor}" '
            f'fill="{colour}"{turn}>{words}</text>')


def ticks(low, high):
    step = next(s for s in (0.1, 0.25, 0.5, 1, 2, 5, 10, 1e9) if (high - low) / s <= 6)
    return [low + step * i for i in range(int((high - low) / step + 1e-9) + 1)]


def panel(left, top, title, classes, x_name, x, y_name, y):
    # Cells are drawn around their values, so that both ends of a range lie half a cell inside.
    dx = (x[-1] - x[0]) / max(1, len(x) - 1) or 1
    dy = (y[-1] - y[0]) / max(1, len(y) - 1) or 1
    low_x, high_x, low_y, high_y = x[0] - dx / 2, x[-1] + dx / 2, y[0] - dy / 2, y[-1] + dy / 2
    picture = base64.b64encode(png(classes)).decode()
    parts = [text(left, top - 12, title, 14, "start", weight="600"),
             f'<image x="{left}" y="{top}" width="{SIZE}" height="{SIZE}" preserveAspectRatio="none" '
             f'image-rendering="pixelated" href="data:image/png;base64,{picture}"/>',
             f'<rect x="{left}" y="{top}" width="{SIZE}" height="{SIZE}" fill="none" stroke="{INK}"/>']
    for value in ticks(x[0], x[-1]):
        at = left + SIZE * (value - low_x) / (high_x - low_x)
        parts += [f'<path d="M{at:.2f} {top + SIZE}v5" stroke="{INK}"/>', text(at, top + SIZE + 20, f"{value:g}", 12)]
    for value in ticks(y[0], y[-1]):
        at = top + SIZE * (1 - (value - low_y) / (high_y - low_y))
        parts += [f'<path d="M{left} {at:.2f}h-5" stroke="{INK}"/>', text(left - 9, at + 4, f"{value:g}", 12, "end")]
    middle = top + SIZE / 2
    parts += [text(left + SIZE / 2, top + SIZE + 40, x_name, colour=MUTED),
              text(left - 46, middle, y_name, colour=MUTED, turn=f' transform="rotate(-90 {left - 46} {middle:g})"')]
    return parts


def read(path):
    """The panels of a file: what they are called, their maps, their axes."""
    with h5py.File(path) as file:
        names = [dimension[0].name.strip("/") for dimension in file["class"].dims]
        maps = {name: file[name][...] for name in ("class", "kmeans_class") if name in file}
        values = {name: file[name][...] for name in names}
        speed = "" if "speed" in names else f"speed {float(file['speed'][()]):g}"
        device = file.attrs["device"]
        device = device.decode() if isinstance(device, bytes) else device
    axes = [(name, values[name]) for name in (names[-1], names[-2])]
    for index in np.ndindex(maps["class"].shape[:-2]):
        own = [speed] + [f"{name} {values[name][i]:g}" for name, i in zip(names, index)]
        yield ", ".join(filter(None, own)), {name: classes[index] for name, classes in maps.items()}, axes, device


def draw(paths):
    panels = [panel for path in paths for panel in read(path)]
    columns = max(len(maps) for _, maps, _, _ in panels)
    _, first, _, device = panels[0]
    width, height = LEFT + columns * (SIZE + GAP), TOP + len(panels) * (SIZE + BELOW + 24)
    rows, cells = first["class"].shape
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
             f'viewBox="0 0 {width} {height}">', f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
             text(LEFT, 26, f"Patterns of the forced Cahn-Hilliard equation, {cells} x {rows} runs ({device})", 16,
                  "start", weight="600")]
    at = LEFT
    for kind in sorted({int(kind) for _, maps, _, _ in panels for kind in np.unique(maps["class"])}):
        parts += [f'<rect x="{at}" y="38" width="14" height="14" fill="{COLOURS[kind + 1]}" stroke="{INK}"/>',
                  text(at + 20, 50, NAMES[kind + 1], 13, "start")]
        at += 42 + 7 * len(NAMES[kind + 1])
    for row, (words, maps, ((x_name, x), (y_name, y)), _) in enumerate(panels):
        for column, (name, classes) in enumerate(maps.items()):
            title = f"{words}: " + ("from features" if name == "class" else "raw k-means")
            parts += panel(LEFT + column * (SIZE + GAP), TOP + row * (SIZE + BELOW + 24), title, classes, x_name, x,
                           y_name, y)
    return "\n".join(parts + ["</svg>"]) + "\n"


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(0 if sys.argv[1:2] in (["-h"], ["--help"]) else 2)
    with open(sys.argv[-1], "w", encoding="utf-8") as out:
        out.write(draw(sys.argv[1:-1]))
