"""python -m bandmill.figures FILE... -o DIR: draws what the files have."""

from __future__ import annotations

import argparse
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .._errors import Error
from . import (
    convergence,
    distributions,
    domain_growth,
    flow_maps,
    layouts,
    memory_hierarchy,
    patterns,
    rooflines,
    save,
    space_time,
    speedups,
)
from ._files import Result, identify
from ._planes import is_plane

# All files of these kinds are drawn into one figure, of the others each into its own.
TOGETHER: dict[str, tuple[str, Callable[..., Any]]] = {
    "coarsen": ("domain-growth", domain_growth),
    "converge": ("convergence", convergence),
    "map": ("flow-maps", flow_maps),
    "bench diffusion": ("speedups", speedups),
    "bench hyperdiffusion": ("speedups", speedups),
}
ALONE: dict[str, list[tuple[str, Callable[..., Any]]]] = {
    "coarsen": [("distributions", distributions)],
    "simulate": [("space-time", space_time), ("patterns", patterns)],
    "map": [("patterns", patterns)],
    "bench solve": [("rooflines", rooflines)],
}


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bandmill.figures",
        description="Draws the figures of files that bandmill wrote: results of studies (.nc) and benchmarks (.json).",
    )
    parser.add_argument("files", nargs="*", metavar="FILE", type=pathlib.Path)
    parser.add_argument("-o", "--out", default=".", metavar="DIR", type=pathlib.Path, help="folder of the figures [.]")
    parser.add_argument("--format", default="pdf,png", metavar="LIST", help="of pdf, png and svg [pdf,png]")
    parser.add_argument(
        "--dpi", default=300, metavar="N", type=float, help="of png, and of pictures in pdf and svg [300]"
    )
    parser.add_argument("--diagrams", action="store_true", help="also the diagrams of memory and layouts")
    options = parser.parse_args(arguments)
    if not options.files and not options.diagrams:
        parser.error("nothing to draw: name files, or give --diagrams")
    return options


def plan(results: list[Result]) -> list[tuple[str, Callable[..., Any], list[Result]]]:
    """Names of figures, what draws them, and from which files."""
    drawings: list[tuple[str, Callable[..., Any], list[Result]]] = []
    groups: dict[str, list[Result]] = {}
    for result in results:
        if result.kind in TOGETHER and not (result.kind == "map" and result.is_summary):
            name = TOGETHER[result.kind][0] + ("-2d" if is_plane(result) else "")
            groups.setdefault(name, []).append(result)
    for name, members in groups.items():
        drawings.append((name, TOGETHER[members[0].kind][1], members))
    for result in results:
        for name, draw in ALONE.get(result.kind, []):
            if drawable(result, name):
                stem = pathlib.PurePath(result.name).stem
                drawings.append((f"{stem}-{name}", draw, [result]))
    return drawings


def drawable(result: Result, name: str) -> bool:
    """Whether the file has what the figure needs; summaries and some options leave it out."""
    if result.kind == "bench solve":
        return True
    if result.is_summary:
        return False
    if result.kind == "simulate":
        return name == "space-time" or result.data.sizes["member"] <= 12
    return {"distributions": "interface_histogram", "patterns": "state"}[name] in result.data.variables


def drawn(draw: Callable[..., Any], files: list[Result], complain: Callable[[Exception], None]) -> Any:
    """The figure of the files that can be drawn; each of the others is complained of. None where no file is left."""
    try:
        return draw(*files)
    except Error as error:
        if len(files) < 2:
            complain(error)
            return None
    usable = [file for file in files if drawn(draw, [file], complain) is not None]
    if len(usable) < len(files):
        return draw(*usable) if usable else None
    return draw(*files)  # each alone can be drawn, but not all together: the error says why


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    failed, results = False, []

    def complain(error: Exception) -> None:
        nonlocal failed
        failed = True
        print(f"bandmill.figures: {error}", file=sys.stderr)

    for file in options.files:
        with warnings.catch_warnings(record=True) as notes:  # of files that are unfinished
            warnings.simplefilter("always")
            try:
                results.append(identify(file))
            except (Error, OSError) as error:
                complain(error)
        for note in notes:
            print(f"bandmill.figures: {note.message}", file=sys.stderr)
    drawings = plan(results)
    if options.diagrams:
        drawings += [("memory-hierarchy", memory_hierarchy, []), ("layouts", layouts, [])]
    drawn_from = {id(result) for result in results if plan([result])}
    for result in results:
        if id(result) not in drawn_from:
            remedy = "give the file of --out" if result.kind in TOGETHER or result.kind in ALONE else "it is left out"
            complain(ValueError(f"{result.name} has nothing to draw (it was written by '{result.kind}'): {remedy}"))
    for name, draw, files in drawings:
        try:
            figure = drawn(draw, files, complain)
            if figure is not None:
                for path in save(figure, options.out / name, options.format.split(","), dpi=options.dpi):
                    print(path)
        except (Error, OSError) as error:
            complain(error)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
