"""Figures of what bandmill computes and measures: each function takes files (or open Datasets, or parsed JSON) and
returns a matplotlib Figure.

    from bandmill import figures

    figures.save(figures.domain_growth("coarsen.nc"), "growth")  # growth.pdf, growth.png

docs/figures.md shows them all; `python -m bandmill.figures FILE...` draws what the files have.
"""

from ._style import save  # isort: skip (first: it tells what to install where matplotlib is missing)
from ._coarsening import distributions, domain_growth
from ._convergence import convergence
from ._diagrams import layouts, memory_hierarchy
from ._fields import patterns, space_time
from ._maps import flow_maps
from ._performance import rooflines, speedups

__all__ = [
    "convergence",
    "distributions",
    "domain_growth",
    "flow_maps",
    "layouts",
    "memory_hierarchy",
    "patterns",
    "rooflines",
    "save",
    "space_time",
    "speedups",
]
