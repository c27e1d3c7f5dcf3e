"""Line plots as SVG text, with the standard library alone. The same input gives the same bytes."""
import math
from dataclasses import dataclass, field
from typing import Optional

WIDTH, PLOT_HEIGHT, TOP, LEFT, GAP, RIGHT = 940, 330, 66, 62, 76, 16
INK, MUTED, GRID, FAINT = "#1f2328", "#59636e", "#e3e6ea", "#f1f3f5"
# Okabe and Ito's palette, distinguishable with any colour vision; its yellow is too pale for lines.
BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c959f")
FONT = "font-family=\"-apple-system, 'Segoe UI', Helvetica, Arial, sans-serif\""


@dataclass
class Style:
    colour: str
    marker: str = "circle"  # circle, square, diamond, triangle, dash or none
    dashed: bool = False  # also makes the markers hollow
    line: bool = True


@dataclass
class Series:
    points: list  # of (x, y)
    style: Style
    shift: float = 0  # pixels to the right, where several series share one x


@dataclass
class Axis:
    label: str
    low: float
    high: float
    ticks: list  # of (value, text)
    log: bool = False
    minor: list = field(default_factory=list)

    def fraction(self, value):
        scale = math.log10 if self.log else float
        return (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low))


@dataclass
class Panel:
    title: str
    x: Axis
    y: Axis
    series: list
    notes: list = field(default_factory=list)  # of Note
    left: float = 0
    width: float = 0

    def at(self, x, y):
        return self.left + self.width * self.x.fraction(x), TOP + PLOT_HEIGHT * (1 - self.y.fraction(y))


@dataclass
class Note:
    x: float
    y: float
    text: str
    dx: float = 0
    dy: float = 0
    anchor: str = "start"
    along: Optional[tuple] = None  # another point: the text runs along the line between the two


def short(value):
    """65536 as 64k, 1048576 as 1M: powers of two by their binary thousands."""
    for unit, size in (("M", 1 << 20), ("k", 1 << 10)):
        if value >= size and value % size == 0:
            return f"{value // size}{unit}"
    return f"{value:,}"


def powers_of_two(label, values, text="{:,}".format, most=8):
    low, high = min(values), max(values)
    for step in (1, 2, 4, 8):
        exponents = range(math.ceil(math.log2(low) / step) * step, math.floor(math.log2(high)) + 1, step)
        if len(exponents) <= most:
            break
    return Axis(label, low / 1.25, high * 1.25, [(2**e, text(2**e)) for e in exponents], True)


def decades(label, low, high):
    """A logarithmic axis between round numbers: 1, 2, 5, 10 and so on, or whole decades where those are too many."""
    rounds = [float(f"{m}e{e}") for e in range(-6, 10) for m in (1, 2, 5)]
    low, high = max(r for r in rounds if r <= low), min(r for r in rounds if r >= high)
    ticks = [r for r in rounds if low <= r <= high]
    minor = []
    if len(ticks) > 8:
        minor = [m * 10.0**e for e in range(-6, 10) for m in range(2, 10) if low <= m * 10.0**e <= high]
        ticks = [r for r in ticks if f"{r:e}".startswith("1.0")]
    return Axis(label, low, high, [(r, f"{r:,g}" if r < 1000 else f"{r:,.0f}") for r in ticks], True, minor)


def from_zero(label, highest):
    """A linear axis in fifths, to 1 or beyond."""
    fifths = max(5, math.ceil(highest * 5))
    return Axis(label, 0, fifths / 5, [(i / 5, f"{i / 5:.1f}") for i in range(fifths + 1)])


def text(x, y, content, size=12, colour=INK, anchor="middle", extra=""):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{colour}" text-anchor="{anchor}"{extra}>'
            f"{content}</text>")


def line(x1, y1, x2, y2, colour, width=1.0, dash=""):
    dash = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width:g}"{dash}/>')


def mark(x, y, style):
    if style.marker == "none":
        return ""
    if style.marker == "dash":
        return line(x - 8, y, x + 8, y, style.colour, 2.5)
    paint = f'fill="{"#ffffff" if style.dashed else style.colour}" stroke="{style.colour}" stroke-width="1.6"'
    if style.marker == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" {paint}/>'
    corners = {"square": [(-3.3, -3.3), (3.3, -3.3), (3.3, 3.3), (-3.3, 3.3)],
               "diamond": [(0, -4.6), (4.6, 0), (0, 4.6), (-4.6, 0)],
               "triangle": [(0, -4.4), (4.2, 3.2), (-4.2, 3.2)]}[style.marker]
    return f'<polygon points="{" ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in corners)}" {paint}/>'


def draw_axes(panel):
    left, right, bottom = panel.left, panel.left + panel.width, TOP + PLOT_HEIGHT
    parts = [text(left, TOP - 12, panel.title, 13, INK, "start", ' font-weight="600"')]
    for value in panel.y.minor:
        y = panel.at(panel.x.low, value)[1]
        parts.append(line(left, y, right, y, FAINT))
    for value, label in panel.y.ticks:
        y = panel.at(panel.x.low, value)[1]
        parts += [line(left, y, right, y, GRID), text(left - 8, y + 4, label, 12, MUTED, "end")]
    for value, label in panel.x.ticks:
        x = panel.at(value, panel.y.low)[0]
        parts += [line(x, TOP, x, bottom, GRID), text(x, bottom + 18, label, 12, MUTED)]
    parts += [line(left, bottom, right, bottom, MUTED), line(left, TOP, left, bottom, MUTED)]
    middle = TOP + PLOT_HEIGHT / 2
    parts.append(text((left + right) / 2, bottom + 38, panel.x.label, 12.5))
    parts.append(text(left - 44, middle, panel.y.label, 12.5,
                      extra=f' transform="rotate(-90 {left - 44:.1f} {middle:.1f})"'))
    return parts


def draw_series(panel, series):
    spots = [panel.at(x, y) for x, y in series.points]
    spots = [(x + series.shift, y) for x, y in spots]
    parts = []
    if series.style.line and len(spots) > 1:
        dash = ' stroke-dasharray="5 4"' if series.style.dashed else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{series.style.colour}" stroke-width="1.8"{dash}/>')
    return parts + [mark(x, y, series.style) for x, y in spots]


def draw_note(panel, note):
    x, y = panel.at(note.x, note.y)
    turn = ""
    if note.along:
        to_x, to_y = panel.at(*note.along)
        turn = f' transform="rotate({math.degrees(math.atan((to_y - y) / (to_x - x))):.1f} {x:.1f} {y:.1f})"'
    return text(x + note.dx, y + note.dy, note.text, 11.5, MUTED, note.anchor, turn)


def draw_legend(legend, y):
    parts, x = [], float(LEFT)
    for label, style in legend:
        width = 34 + 7.1 * len(label)
        if x + width > WIDTH - RIGHT + 14:
            x, y = float(LEFT), y + 22
        if style.line:
            parts.append(line(x, y - 4, x + 22, y - 4, style.colour, 1.8, "5 4" if style.dashed else ""))
        parts += [mark(x + 11, y - 4, style), text(x + 28, y, label, 12.5, INK, "start")]
        x += width + 8
    return parts, y


def figure(title, panels, legend):
    """The panels side by side, above the legend: a list of (label, Style)."""
    width = (WIDTH - LEFT - RIGHT - GAP * (len(panels) - 1)) / len(panels)
    parts = [text(LEFT, 26, title, 16, INK, "start", ' font-weight="600"')]
    for i, panel in enumerate(panels):
        panel.left, panel.width = LEFT + i * (width + GAP), width
        parts += draw_axes(panel)
        for series in panel.series:
            parts += draw_series(panel, series)
        parts += [draw_note(panel, note) for note in panel.notes]
    legend_parts, y = draw_legend(legend, TOP + PLOT_HEIGHT + 68)
    height = y + 18
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" '
            f'height="{height:.0f}" {FONT}>')
    # A background of its own: the page around it may be dark.
    ground = f'<rect width="{WIDTH}" height="{height:.0f}" rx="6" fill="#ffffff"/>'
    return "\n".join([head, ground] + [part for part in parts + legend_parts if part] + ["</svg>"]) + "\n"
