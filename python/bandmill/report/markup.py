"""Pieces of HTML. Whatever comes from a file goes through `escaped`."""

from __future__ import annotations

import dataclasses
import html
import math
from collections.abc import Iterable, Sequence
from typing import Any

from .readers import Results

# Okabe and Ito's colours, which readers with any kind of colour vision can tell apart; markers and dashes differ too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
MARKERS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "triangle-down")
DASHES = ("solid", "longdash", "dashdot")


@dataclasses.dataclass
class Section:
    """A part of the page: `body` is HTML; `data` goes to the function of page.js that `draw` names."""

    name: str
    title: str
    body: str
    draw: str
    data: dict[str, Any]


def style(index: int) -> dict[str, str]:
    return {
        "colour": COLOURS[index % len(COLOURS)],
        "marker": MARKERS[index % len(MARKERS)],
        "dash": DASHES[index // len(COLOURS) % len(DASHES)],
    }


def escaped(value: Any) -> str:
    return html.escape(str(value), quote=True)


def number(value: Any, digits: int = 4) -> str:
    """For people: significant digits, thousands apart, a true minus sign."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return escaped(value)
    size = abs(value)
    if size >= 1e15 or not math.isfinite(value):
        plain = f"{value:.{digits}g}"
    elif value == int(value):
        plain = f"{int(value):,}"
    elif size >= 1000:
        plain = f"{value:,.{max(0, digits - 1 - math.floor(math.log10(size)))}f}"
    else:
        plain = f"{value:.{digits}g}"
    return plain.replace("-", "−").replace(",", "\N{NARROW NO-BREAK SPACE}")


def with_error(value: float | None, error: float | None) -> str:
    """0.3880 ± 0.0061: as many places as the error has with two digits."""
    if value is None:
        return "–"
    if error is None or not math.isfinite(error):
        return number(value)
    if error == 0:
        return f"{number(value)} ± 0"
    places = max(0, 1 - math.floor(math.log10(error)))
    if places > 9:  # both are next to nothing, or the value is known to the last digit
        return f"{number(value)} ± {number(error, 2)}"
    return f"{value:.{places}f} ± {error:.{places}f}".replace("-", "−")


def pi_multiple(length: float | None) -> str:
    """2π and such for lengths that are."""
    if not length or not math.isfinite(length):
        return "–"
    ratio = length / math.pi
    if abs(ratio - round(ratio)) < 1e-9 and round(ratio) > 0:
        return ("" if round(ratio) == 1 else str(round(ratio))) + "π"
    return number(length)


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], caption: str, text_columns: int = 1, cards: bool = False
) -> str:
    """Cells are HTML; columns without a value are left out. The first `text_columns` are words, the others numbers, set
    to the right. On a narrow screen `cards` are rows one below the other instead of a table that is scrolled."""
    shown = [i for i in range(len(head)) if any(row[i] != "–" for row in rows)]

    def cell(tag: str, index: int, content: str, more: str) -> str:
        kind = ' class="n"' if index >= text_columns else ""
        return f"<{tag}{kind}{more}>{content}</{tag}>"

    top = "".join(cell("th", i, head[i], ' scope="col"') for i in shown)
    body = "".join(
        "<tr>" + "".join(cell("td", i, row[i], f' data-head="{head[i]}"' if cards else "") for i in shown) + "</tr>"
        for row in rows
    )
    kind = "scroll cards" if cards else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{escaped(caption)}"><table><caption>'
        f"{escaped(caption)}</caption><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def figure(name: str, label: str, caption: str, controls: str = "", height: int = 460) -> str:
    """A place for plotly; `label` is read out instead of the picture, `caption` (HTML) stands below it."""
    bar = f'<div class="controls">{controls}</div>' if controls else ""
    return (
        f'<figure>{bar}<div class="plot" id="{name}" role="img" aria-label="{escaped(label)}" '
        f'style="height:{height}px"></div><figcaption>{caption}</figcaption></figure>'
    )


def select(name: str, label: str, choices: Sequence[str]) -> str:
    """Nothing to choose from: no control."""
    hidden = " hidden" if len(choices) < 2 else ""
    options = "".join(f'<option value="{index}">{escaped(choice)}</option>' for index, choice in enumerate(choices))
    return f'<label{hidden}>{escaped(label)} <select id="{name}">{options}</select></label>'


def slider(name: str, label: str, count: int) -> str:
    hidden = " hidden" if count < 2 else ""
    return (
        f'<label class="wide"{hidden}>{escaped(label)} <input type="range" id="{name}" min="0" max="{max(count - 1, 0)}" '
        f'value="{max(count - 1, 0)}" step="1"> <output id="{name}-shown"></output></label>'
    )


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<div><dt>{escaped(a)}</dt><dd>{b}</dd></div>" for a, b in pairs) + "</dl>"


MACHINE = ("device", "backend", "isa", "threads", "ranks", "version", "commit", "compiler", "build_type", "started")
MACHINE += ("finished", "date", "seconds", "load_average")
HIDDEN = ("options", "title", "Conventions", "source", "fit_law", "study", "benchmark", "file")


def duration(seconds: float) -> str:
    if seconds < 120:
        return f"{number(seconds, 3)} s"
    return f"{int(seconds // 60)} min {seconds % 60:.0f} s" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def moment(value: Any) -> str:
    return escaped(value).replace("T", " ").replace("Z", " UTC")


def attribute(name: str, value: Any) -> str:
    if name == "seconds" and isinstance(value, (int, float)):
        return duration(value)
    if name in ("started", "finished", "date"):
        return moment(value)
    if isinstance(value, (int, float)) and name not in ("seed", "until"):
        return number(value, 6)
    return f"<code>{escaped(value)}</code>" if name == "commit" else escaped(value)


def provenance(results: Results) -> str:
    """Where a file comes from: the machine, what was asked for, what came out, each in a list of its own."""
    given = results.attributes
    machine = [
        (name.replace("_", " "), attribute(name, given[name])) for name in MACHINE if given.get(name) not in ("", None)
    ]
    rest = [
        (name.replace("_", " "), attribute(name, value))
        for name, value in given.items()
        if name not in MACHINE and name not in HIDDEN and not isinstance(value, (dict, list)) and value is not None
    ]
    options = [(name, f"<code>{escaped(value)}</code>") for name, value in results.options().items()]
    what = f"bandmill {results.kind}" if results.kind != "bench" else f"bandmill bench {given.get('benchmark')}"
    parts = [f"<p>Written by <code>{escaped(what)}</code>. Where and when:</p>", definitions(machine)]
    if options:
        parts += ["<p>Options:</p>", definitions(options)]
    if rest:
        parts += ["<p>Further attributes of the file:</p>", definitions(rest)]
    return (
        f'<details class="provenance"><summary>Settings and provenance of <b>{escaped(results.name)}</b></summary>'
        + "".join(parts)
        + "</details>"
    )
