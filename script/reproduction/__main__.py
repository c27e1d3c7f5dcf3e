"""Every table and figure of the paper, computed, on one page: script/reproduce calls this.

    python script/reproduction --bandmill build/release/bin/bandmill [--scale tiny|small|paper] [--out DIR]
"""

import argparse
import json
import os
import pathlib
import platform
import time

import drawing
import experiments
import h5py
import numpy as np
import page as pages
import paper
import runs
import sections

import bandmill

# Grids of the experiments in NumPy: those whose numbers the paper has. The finest take half a minute each.
PLAIN = {"tiny": [256], "small": [2048, 4096], "paper": [2048, 4096, 8192]}
DOWNWIND = {"tiny": [256], "small": [256, 512, 1024], "paper": [256, 512, 1024, 2048, 4096]}


def kept_errors(scale, folder, again):
    """They do not depend on the machine, so they are kept like the runs."""
    file = folder / "numpy.json"
    if file.exists() and not again:
        kept = json.loads(file.read_text())
        if kept["scale"] == scale:
            return {kind: {int(n): e for n, e in errors.items()} for kind, errors in kept["errors"].items()}
    print("[numpy] the paper's schemes in NumPy", flush=True)
    errors = experiments.errors_of_all(PLAIN[scale], DOWNWIND[scale])
    file.write_text(json.dumps({"scale": scale, "errors": errors}))
    return errors


def results_of(data, errors):
    results = dict(errors)
    results["corner"] = {}
    for kind in ("paper", "resolved"):
        with h5py.File(data / f"corner-{kind}.nc") as file:
            results["corner"][kind] = float(np.max(np.abs(file["C"][-1])))
    with h5py.File(data / "converge-forced.nc") as file:
        forced = dict(zip(file["points"][...].tolist(), file["difference"][...].tolist()))
    results["forced_4096"] = f"{forced[4096]:.2e} at N = 4096" if 4096 in forced else "see Table 4"
    with h5py.File(data / "map-0.5.nc") as file:
        results["drift"] = float(np.nanmax(np.abs(file["mean_drift"][...])))
    return results


def write_page(scale, data, out, errors, times, seconds):
    results = results_of(data, errors)
    draw = drawing.Drawer(data, out)
    with h5py.File(data / "coarsen-2pi.nc") as file:
        attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in file.attrs.items()}
    page = pages.Page("The paper, computed again")
    page.text(
        f"Every table and figure of {paper.AUTHORS}, *{paper.TITLE}*, with bandmill's numbers beside the printed ones, and why "
        "they differ where they do.".replace("*", ""),
        f"Made by `script/reproduce --scale {scale}` on {attributes['device']} and {platform.machine()} cores "
        f"({os.cpu_count()}), version {attributes['version']}, commit {attributes['commit']}, {attributes['finished'][:10]}. "
        f"The runs took {sum(times.values()) / 60:.1f} minutes in all.",
    )
    if scale != "paper":
        page.text(
            f"This is the scale **{scale}**: fewer runs, smaller maps and grids, so that it fits on a small machine. "
            "What was left out says `not run`. `script/reproduce --scale paper` on a machine with a GPU runs all of it."
        )
    sections.layout(page, draw)
    sections.tridiagonal(page, draw, data)
    sections.pentadiagonal(page, draw, data)
    sections.spacetime(page, draw, data)
    sections.convergence(page, draw, data, results)
    sections.coarsening(page, draw, data)
    sections.samples(page, draw)
    sections.forced_convergence(page, draw, data, results)
    sections.maps(page, draw, data, results)
    sections.errata(page, results)
    page.heading("How it was made")
    page.text("Each table and figure comes from a file that one command of the program wrote:")
    page.table(
        ["", "command", "seconds"],
        [[run.name, f"`bandmill {' '.join(run.command)}`", f"{times[run.name]:.1f}"] for run in runs.runs(scale)],
        (0, 1),
    )
    page.write(out)


def main():
    parser = argparse.ArgumentParser(description="Every table and figure of the paper, computed, on one page.")
    parser.add_argument("--scale", choices=list(runs.SCALES), default="small",
                        help="small: two cores, less than a quarter of an hour; paper: for a GPU; tiny: only to see that it works")
    parser.add_argument("--bandmill", required=True, type=pathlib.Path, help="the program")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the page (default build/reproduction/SCALE)")
    parser.add_argument("--backend", choices=["auto", "cpu", "cuda"], default="auto")
    parser.add_argument("--again", action="store_true", help="run what is there already, too")  # fmt: skip
    arguments = parser.parse_args()
    backend = arguments.backend
    if backend == "auto":
        backend = "cuda" if bandmill.cuda_devices() else "cpu"
    out = arguments.out or pathlib.Path("build") / "reproduction" / arguments.scale
    data = out / "data"
    start = time.perf_counter()
    times = runs.run_all(arguments.scale, arguments.bandmill, data, backend, arguments.again)
    errors = kept_errors(arguments.scale, data, arguments.again)
    print("[page] figures and tables", flush=True)
    write_page(arguments.scale, data, out, errors, times, time.perf_counter() - start)
    print(f"\n{out / 'reproduction.html'} has everything on one page ({time.perf_counter() - start:.0f} s); "
          f"index.md and images/ beside it are the same for a site, figures/ has them as PDF.")  # fmt: skip


if __name__ == "__main__":
    main()
