"""The page: sections of all files, and the scripts, styles and data that it carries with it."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Iterable
from importlib import resources

from . import bench, coarsen, converge, flowmap, planes, simulate
from ._errors import ReportError
from .encode import deflated
from .markup import Section, escaped
from .readers import Results, read

TOGETHER: dict[str, Callable[[str, list[Results]], Section]] = {
    "coarsen": coarsen.section,
    "planes": planes.section,
    "converge": converge.section,
}
ONE_BY_ONE: dict[str, Callable[[str, Results], Section]] = {
    "simulate": simulate.section,
    "map": flowmap.section,
    "bench": bench.section,
}
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
SCRIPTS = ("page.js", "curves.js", "planes.js", "simulate.js", "flowmap.js")


def plotly_script() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ModuleNotFoundError:
        raise ReportError("plotly is not installed, which draws the figures: pip install 'bandmill[report]'") from None
    return get_plotlyjs()


def sections_of(files: list[Results]) -> list[Section]:
    """Files of a kind that can be compared share a section; the order is that of the first file of each."""
    sections: list[Section] = []
    firsts: list[str] = []  # the name of the first file of each
    done: set[str] = set()
    for results in files:
        subject = results.subject
        if subject in done:
            continue
        name = f"s{len(sections)}"
        firsts.append(results.name)
        together = [r for r in files if r.subject == subject] if subject in TOGETHER else [results]
        try:
            if subject in TOGETHER:
                done.add(subject)
                sections.append(TOGETHER[subject](name, together))
            else:
                sections.append(ONE_BY_ONE[subject](name, results))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            names = ", ".join(r.name for r in together)
            what = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise ReportError(
                f"{names}: not a complete file of bandmill {results.kind} ({what}): make it again"
            ) from error
    titles = [section.title for section in sections]
    return [
        dataclasses.replace(section, title=f"{section.title}: {name}") if titles.count(section.title) > 1 else section
        for section, name in zip(sections, firsts, strict=True)
    ]


def asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def paths_of(files: Paths) -> list[pathlib.Path]:
    given = [files] if isinstance(files, str | os.PathLike) else list(files)
    if not given:
        raise ReportError("no files to report on: give one or more")
    return [pathlib.Path(path) for path in given]


def names_of(paths: list[pathlib.Path]) -> list[str]:
    """What files are called in the page: their names, with as much of the folder as tells those of one name apart."""
    names = [path.name for path in paths]
    for index, path in enumerate(paths):
        alike = [other.parts for other in paths if other.name == path.name and other != path]
        for depth in range(2, len(path.parts) + 1):
            if all(parts[1 - depth :] != path.parts[1 - depth :] for parts in alike):
                break
            names[index] = str(pathlib.Path(*path.parts[-depth:]))
    return names


def page(paths: Paths, title: str | None = None) -> str:
    """The whole page as text. The same files give the same text."""
    given = paths_of(paths)
    files = [dataclasses.replace(read(path), name=name) for path, name in zip(given, names_of(given), strict=True)]
    sections = sections_of(files)
    data = {section.name: {"draw": section.draw, "data": section.data} for section in sections if section.draw}
    links = "".join(f'<li><a href="#{section.name}">{escaped(section.title)}</a></li>' for section in sections)
    bodies = "".join(
        f'<section id="{section.name}" aria-labelledby="{section.name}-title"><h2 id="{section.name}-title">'
        f"{escaped(section.title)}</h2>{section.body}</section>\n"
        for section in sections
    )
    versions = sorted({str(results.attributes.get("version", "")) for results in files} - {""})
    pieces = {
        "TITLE": escaped(title or (sections[0].title if len(sections) == 1 else "Results of bandmill")),
        "LEAD": escaped(f"{len(files)} file{'s' if len(files) > 1 else ''}: {', '.join(r.name for r in files)}"),
        "LINKS": f'<nav aria-label="Sections"><ul>{links}</ul></nav>' if len(sections) > 1 else "",
        "SECTIONS": bodies,
        "VERSIONS": escaped(f"bandmill {', '.join(versions)}" if versions else "bandmill"),
        "STYLE": asset("page.css"),
        # "</script>" in a string would end the element that holds it.
        "DATA": json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c"),
        "PLOTLY": deflated(plotly_script().encode()),
        "SCRIPTS": "".join(f"<script>\n{asset(script)}</script>\n" for script in SCRIPTS),
    }
    parts = asset("page.html").split("@@")  # text, NAME, text, NAME, ...: nothing that was put in is looked at again
    return "".join(pieces[part] if index % 2 else part for index, part in enumerate(parts))


def write_report(files: Paths, out: str | os.PathLike[str], title: str | None = None) -> int:
    """Writes the page, all at once or not at all; returns its size in bytes."""
    given = paths_of(files)
    target = pathlib.Path(out)
    refuse_to_destroy(target, given)
    text = page(given, title).encode("utf-8")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise ReportError(f"{target} cannot be written: {error.strerror or error}") from None
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o666 & ~current_umask())
        os.replace(temporary, target)
    except OSError as error:
        pathlib.Path(temporary).unlink(missing_ok=True)
        raise ReportError(f"{target} cannot be written: {error.strerror or error}") from None
    return len(text)


def refuse_to_destroy(target: pathlib.Path, files: list[pathlib.Path]) -> None:
    """Only a page, or nothing, is replaced: a slip in the order of the words must not cost results."""
    try:
        if not target.exists():
            return
        if any(path.exists() and target.samefile(path) for path in files):
            raise ReportError(f"{target} is one of the files to report on: name another file for the page")
        if not target.is_file():
            raise ReportError(f"{target} cannot be written: it is no plain file")
        with target.open("rb") as file:
            start = file.read(64)
    except OSError as error:
        raise ReportError(f"{target} cannot be written: {error.strerror or error}") from None
    if start and not start.lstrip().lower().startswith(b"<!doctype html"):
        raise ReportError(f"{target} exists and is no HTML page: name another file, or move it away")


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
