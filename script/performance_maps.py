"""The part of docs/performance.md about flow-pattern maps: bench/results/*-map*.json (bandmill map --json)."""

INTRODUCTION = """`bandmill map`: the forced Cahn-Hilliard equation with WENO5 advection, a run for each cell, to t = 50, with the
features of every run and both classifications ([maps.md](maps.md)). The time is that of the whole command: initial states,
stepping, runs repeated with shorter steps, k-means of all final states from eight starts, and the file. max |C| is that of the cell with the
largest mean and forcing, where steps of 0.1 dx are too long: 1.81 is right. Speckle is the share of cells that differ from
most of their neighbours."""
BAR = 90  # seconds for 768 x 768 cells of 512 points


def maps(every):
    return [(path, run) for path, run in every if run.get("study") == "map"]


def maps_section(table, every):
    runs = maps(every)
    if not runs:
        return ""
    parts = ["## Flow-pattern maps", INTRODUCTION]
    rows = []
    for _, run in runs:
        full = (run["width"], run["height"], run["points"], len(run["panels"])) == (768, 768, 512, 1)
        total = run["total_seconds"]
        for panel in run["panels"]:
            rows.append([f"{panel['speed']:g}", f"{run['width']} x {run['height']}", run["points"], f"{total:.1f} s",
                         f"{run['stepping_seconds']:.1f} s", f"{run['kmeans_seconds']:.2f} s",
                         f"{BAR} s" if full else "", "" if not full else "yes" if total <= BAR else "no",
                         f"{run['point_steps_per_second'] / 1e9:,.0f}", f"{run['repeated_cells']:,}",
                         f"{run['corner_largest']:.3f}", f"{panel['speckle']:.3%}", f"{panel['kmeans_speckle']:.3%}",
                         f"{panel['unsettled_cells']:,}"])
    parts.append(table(["speed", "cells", "points", "time", "of it stepping", "of it k-means", "bar", "met?",
                        "10^9 point-steps/s", "cells repeated", "max abs C", "speckle", "speckle of raw k-means",
                        "cells not settled"], rows))
    parts += [f"`bench/results/{path.name}`: {run['device']}; {run['date']}, commit {run['commit']}, bandmill "
              f"{run['version']}." for path, run in runs]
    return "\n\n".join(parts)
