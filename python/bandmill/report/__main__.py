"""The command line: bandmill-report, and python -m bandmill.report."""

from __future__ import annotations

import argparse
import pathlib
import sys

from ._errors import ReportError
from .page import write_report

EXAMPLES = """examples:
  bandmill-report coarsen.nc -o report.html
  bandmill-report 2pi.nc 4pi.nc map.nc run.nc bench/results/h200.json -o report.html

Files of bandmill coarsen, simulate, map and converge (.nc, or their --json) and of bandmill bench (--json), in any
mix. The page needs no network. Exit code 2: a file cannot be used; nothing is written then."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="bandmill-report",
        description="Makes one self-contained HTML page about result files.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="results of studies and benchmarks")
    parser.add_argument(
        "-o", "--out", required=True, metavar="PAGE", help="the page; an existing page is replaced, no other file"
    )
    parser.add_argument("--title", help="of the page (default: what is in it)")
    options = parser.parse_args(arguments)
    try:
        size = write_report(options.files, options.out, title=options.title)
    except ReportError as error:
        print(f"bandmill-report: {error}", file=sys.stderr)
        return 2
    print(f"{pathlib.Path(options.out)}: {size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
