"""How the figures look, and how they are written: the same data gives the same bytes."""

from __future__ import annotations

import functools
import io
import math
import os
import pathlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy

try:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, Locator, MaxNLocator, NullFormatter
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        f"{error.name} is not installed, which figures need: pip install 'bandmill[figures]'", name=error.name
    ) from None

from .._errors import InvalidArgumentError

# Okabe and Ito's palette, distinguishable with any colour vision; markers and dashes tell the series apart in grey.
INK, MUTED, GRID = "#1f2328", "#59636e", "#dfe3e8"
BLUE, SKY, GREEN = "#0072b2", "#56b4e9", "#009e73"
YELLOW, ORANGE, VERMILION, PURPLE = "#f0e442", "#e69f00", "#d55e00", "#cc79a7"
CLASS_COLOURS = {0: YELLOW, 1: SKY, 2: BLUE}  # A0, A1, A2: luminance 0.84, 0.62, 0.34
FIELD_COLOURS = "cividis"  # luminance grows with the value: C = -1 and C = 1 differ in grey, too

SIGMAS95 = 1.96  # of a normal distribution: 95 % lie within
COLUMN, PAGE = 3.5, 7.2  # inches: one and two columns of a journal
RC = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib, so that every machine draws the same
    "mathtext.fontset": "dejavusans",
    "font.size": 8,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.5,
    "axes.titlelocation": "left",
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 2.6,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "axes.linewidth": 0.7,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "patch.linewidth": 0.6,
    "hatch.linewidth": 0.5,
    "image.interpolation": "none",
    "figure.dpi": 100,
    "figure.facecolor": "white",
    "axes.unicode_minus": True,
    "text.usetex": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "bandmill",
    "svg.fonttype": "path",
    "path.simplify": True,
}
FORMATS = {
    "pdf": {"CreationDate": None, "Producer": None, "Creator": "bandmill"},
    "png": {"Software": "bandmill"},
    "svg": {"Date": None, "Creator": "bandmill"},
}


class Drawing(Figure):
    """A Figure that a notebook shows without pyplot."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        with style():
            self.savefig(out, format="png", dpi=150, metadata=FORMATS["png"])
        return out.getvalue()


def style() -> Any:
    """matplotlib's defaults with ours on top, whatever the user's own settings are."""
    return matplotlib.rc_context({**_defaults(), **RC})


@functools.cache
def _defaults() -> dict[str, Any]:
    kept = ("backend", "interactive", "toolbar", "webagg", "tk.", "macosx", "date.", "animation", "keymap", "docstring")
    return {key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith(kept)}


def styled(draw: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(draw)
    def wrapped(*args: Any, **options: Any) -> Any:
        with style():
            return draw(*args, **options)

    return wrapped


def new_figure(width: float, height: float) -> Drawing:
    figure = Drawing(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.05, h_pad=0.05, wspace=0.04, hspace=0.04)
    FigureCanvasAgg(figure)
    return figure


def footer(figure: Any, parts: Iterable[str]) -> None:
    """Parameters and provenance in small type below everything."""
    room = figure.get_figwidth() * 72 / 3.2  # letters of 5.8 points: a little more than half an em wide
    lines, length = [""], 0
    for part in parts:
        size = letters(part) + 2
        if length and length + size > room:
            lines.append("")
            length = 0
        lines[-1] += (", " if length else "") + part
        length += size
    figure.supxlabel("\n".join(lines), x=0.012, ha="left", fontsize=5.8, color=MUTED)


def around_the_circle(axis: Any, positions: Any) -> None:
    """Ticks in units of pi where the domain is a whole number of them long; limits at the ends of the domain."""
    positions = numpy.asarray(positions, float)
    length = (positions[-1] - positions[0]) * positions.size / max(1, positions.size - 1)
    half_turns = round(length / numpy.pi)
    axis.axes.set(**{f"{axis.axis_name}lim": (positions[0], positions[0] + (length or 1))})
    if half_turns and abs(length / numpy.pi - half_turns) < 1e-6:
        ticks = range(0, half_turns + 1, max(1, half_turns // 2))
        axis.set_ticks(
            [tick * numpy.pi for tick in ticks],
            ["0" if tick == 0 else r"$\pi$" if tick == 1 else rf"${tick}\pi$" for tick in ticks],
        )


class PlainLogLocator(Locator):
    """Ticks of a logarithmic axis: as few digits as give two labels at least; even steps where it is very short."""

    def __call__(self) -> list[float]:
        return self.tick_values(*self.axis.get_view_interval())

    def tick_values(self, low: float, high: float) -> list[float]:
        if not 0 < low < high < math.inf:
            return []
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        apart = -(-len(decades) // 8)
        for digits in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7)):
            ticks = [digit * 10.0**decade for decade in decades[::apart] for digit in digits]
            ticks = [tick for tick in ticks if low <= tick <= high]
            if len(ticks) > 1 and (len(digits) > 1 or high >= 50 * low):
                return ticks
        return [tick for tick in MaxNLocator(3).tick_values(low, high) if low <= tick <= high]


def plain_log_ticks(axes: Any, axis: Any = None) -> None:
    """0.1, 1, 10 on a logarithmic axis (x unless given), with 2 and 5 between them where it is short."""
    axis = axes.xaxis if axis is None else axis
    axis.set_major_locator(PlainLogLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def thinned(time: Any, usable: Any) -> Any:
    """Which of the usable samples are drawn: a thousand at most, evenly in log t."""
    if usable.size <= 1000:
        return usable
    wanted = numpy.geomspace(time[usable[0]], time[usable[-1]], 1000)
    return usable[numpy.unique(numpy.searchsorted(time[usable], wanted).clip(0, usable.size - 1))]


def legend_above(figure: Any, handles: list[Any], columns: int) -> None:
    """In as many columns as there is room for: letters are about half an em wide, a handle with its gaps five ems."""
    if handles:
        widths = [letters(handle.get_label()) * 3.9 + 38 for handle in handles]
        while columns > 1:
            rows = -(-len(widths) // columns)
            if sum(max(widths[i : i + rows]) for i in range(0, len(widths), rows)) < figure.get_figwidth() * 72:
                break
            columns -= 1
        figure.legend(handles=handles, loc="outside upper left", ncols=columns, borderaxespad=0.2)


CORNERS = {
    "upper left": dict(x=0.03, y=0.96, ha="left", va="top"),
    "lower right": dict(x=0.97, y=0.05, ha="right", va="bottom"),
    "upper right": dict(x=0.97, y=0.96, ha="right", va="top"),
    "lower left": dict(x=0.03, y=0.05, ha="left", va="bottom"),
}


def note(axes: Any, lines: list[str], corner: str) -> Any:
    look = dict(transform=axes.transAxes, fontsize=7, linespacing=1.5, gid="note")
    return axes.text(s="\n".join(lines), **CORNERS[corner], **look)


def settle_notes(figure: Any) -> None:
    """Moves notes that lie on curves to a corner that is free; where none is, the axis is made longer for them."""
    notes = [text for axes in figure.axes for text in axes.texts if text.get_gid() == "note"]
    if not notes:
        return
    figure.draw_without_rendering()  # before that nobody knows where things are
    for text in notes:
        if not any(is_free(text, corner) for corner in (corner_of(text), *CORNERS)):
            make_room_above(text)
            text.set(**CORNERS["upper left"])


def corner_of(text: Any) -> str:
    own = dict(ha=text.get_ha(), va=text.get_va())
    return next(name for name, where in CORNERS.items() if own.items() <= where.items())


def is_free(text: Any, corner: str) -> bool:
    """Puts the text there, and tells whether it is on no curve, marker or band."""
    text.set(**CORNERS[corner])
    box = text.get_window_extent().padded(4)
    return not any(box.count_contains(spots) for spots in drawn_spots(text.axes))


def drawn_spots(axes: Any) -> list[Any]:
    """In pixels: points along the lines and on the rims of bands, close to each other."""
    curves = [line.get_xydata() for line in axes.get_lines() if line.get_transform() == axes.transData]
    curves += [path.vertices for band in axes.collections for path in band.get_paths()]
    spots = []
    for curve in curves:
        ends = axes.transData.transform(numpy.asarray(curve, float))
        ends = ends[numpy.isfinite(ends).all(axis=1)]
        if len(ends):
            along = numpy.append(0, numpy.hypot(*numpy.diff(ends, axis=0).T).cumsum())
            places = numpy.union1d(along, numpy.arange(0, along[-1], 4))
            spots.append(numpy.stack([numpy.interp(places, along, column) for column in ends.T], axis=1))
    return spots


def make_room_above(text: Any) -> None:
    axes = text.axes
    share = min(0.6, text.get_window_extent().height / axes.get_window_extent().height + 0.08)
    bottom, top = (axes.transData.inverted().transform(axes.transAxes.transform((0, y)))[1] for y in (0, 1))
    scale = axes.yaxis.get_transform()
    low, high = scale.transform([bottom, top])
    axes.set_ylim(bottom, scale.inverted().transform([low + (high - low) / (1 - share)])[0])


def letters(text: str) -> int:
    """How long a text is on the figure: a command of mathematics is one sign."""
    return len(re.sub(r"[{}$^_ ]", "", re.sub(r"\\[a-z]+|\\,", "x", text))) + text.count(" ")


def save(
    figure: Any,
    name: str | os.PathLike[str],
    formats: Iterable[str] = ("pdf", "png"),
    *,
    dpi: float = 300,
) -> list[pathlib.Path]:
    """Writes NAME.pdf and NAME.png (or what `formats` says; a NAME that ends in .pdf, .png or .svg is only that).

    Folders are made. The same figure gives the same bytes: no dates, no random names.
    """
    path = pathlib.Path(name)
    if path.suffix[1:].lower() in FORMATS:
        path, formats = path.with_suffix(""), [path.suffix[1:].lower()]
    formats = [formats] if isinstance(formats, str) else list(formats)
    for kind in formats:
        if kind not in FORMATS:
            raise InvalidArgumentError(f"figures are not written as {kind!r}: take {', '.join(FORMATS)}")
    path.parent.mkdir(parents=True, exist_ok=True)
    written = []
    for kind in formats:
        written.append(path.with_name(f"{path.name}.{kind}"))
        with style():
            figure.savefig(written[-1], format=kind, dpi=dpi, metadata=FORMATS[kind])
    return written
