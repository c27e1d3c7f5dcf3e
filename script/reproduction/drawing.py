"""The figures of the page, by bandmill.figures: a PNG for the page and a PDF for print."""

import json
import pathlib

from bandmill import figures

DPI = 150  # the page is a few MB with it


class Drawer:
    """drawer("name") draws, saves, and returns the file for the page."""

    def __init__(self, data, out):
        self.data, self.out = pathlib.Path(data), pathlib.Path(out)
        self.makers = {
            "memory": figures.memory_hierarchy,
            "layout": figures.layouts,
            "speedup-diffusion": lambda: figures.speedups(self.file("diffusion.json")),
            "speedup-hyperdiffusion": lambda: figures.speedups(self.file("hyperdiffusion.json")),
            "rooflines": self.rooflines,
            "spacetime": lambda: figures.space_time(self.file("spacetime.nc")),
            "convergence": lambda: figures.convergence(self.file("converge.nc")),
            "convergence-forced": lambda: figures.convergence(self.file("converge-forced.nc")),
            "coarsening": lambda: figures.domain_growth(self.file("coarsen-2pi.nc"), self.file("coarsen-4pi.nc")),
            "interfaces": lambda: figures.distributions(self.file("coarsen-2pi.nc")),
            "samples": lambda: figures.patterns(self.file("map-0.5.nc")),
            "map-0.5": lambda: figures.flow_maps(self.file("map-0.5.nc")),
            "map-1.0": lambda: figures.flow_maps(self.file("map-1.0.nc")),
        }

    def file(self, name):
        return self.data / name

    def rooflines(self):
        run = json.loads(self.file("solve.json").read_text())
        return figures.rooflines(run, n=max(record["n"] for record in run["records"]), boundary="periodic")

    def __call__(self, name):
        figure = self.makers[name]()
        figures.save(figure, self.out / "figures" / name, "pdf")
        (image,) = figures.save(figure, self.out / "images" / name, "png", dpi=DPI)
        return image
