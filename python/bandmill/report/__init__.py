"""One self-contained HTML page about result files: `bandmill-report FILE... -o report.html` (docs/report.md).

`write_report(files, out)` does the same from Python. Nothing here needs the compiled module.
"""

from __future__ import annotations

from ._errors import ReportError
from .page import page, write_report

__all__ = ["ReportError", "page", "write_report"]
