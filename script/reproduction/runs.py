"""What is run: one command of the program for each table and figure, at each scale."""

import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import time
from dataclasses import dataclass

# The paper's problems, at three sizes. `tiny` only shows that everything works; its numbers mean little.
SCALES = {
    "tiny": {
        "spacetime": ["--until", "50", "--save-every", "0.25"],
        "coarsen-2pi": ["--members", "64"],
        "coarsen-4pi": ["--members", "32"],
        "converge": ["--points", "128:256"],
        "converge-forced": ["--points", "256:256"],
        "map": ["--grid", "8x8", "--points", "64", "--until", "5"],
        "bench": ["--steps", "20", "--n", "64", "--members", "2^6,2^8", "--repetitions", "1"],
        "solve": ["--n", "64", "--batch", "2^6,2^8", "--repetitions", "1"],
        "corner": ["--points", "512", "--until", "2"],
    },
    "small": {
        "spacetime": ["--until", "1000", "--save-every", "1"],
        "coarsen-2pi": ["--members", "2^13"],
        "coarsen-4pi": ["--members", "2^11"],
        "converge": ["--points", "128:8192"],
        "converge-forced": ["--points", "256:4096"],
        "map": ["--grid", "48x48", "--points", "256", "--until", "50"],
        "bench": ["--n", "64,256,1024", "--members", "2^6,2^12,2^16", "--most-seconds", "0.5", "--repetitions", "1"],
        "solve": ["--n", "1024", "--batch", "2^6,2^8,2^10,2^12,2^14", "--layout", "interleaved"],
        "corner": ["--points", "512", "--until", "50"],
    },
    "paper": {
        "spacetime": ["--until", "1000", "--save-every", "1"],
        "coarsen-2pi": ["--members", "2^20"],
        "coarsen-4pi": ["--members", "2^20"],
        "converge": ["--points", "128:8192"],
        "converge-forced": ["--points", "256:4096"],
        "map": ["--grid", "768x768", "--points", "512", "--until", "50"],
        "bench": ["--most-seconds", "5"],
        "solve": ["--n", "1024", "--batch", "2^6,2^8,2^10,2^12,2^14,2^16,2^18,2^20"],
        "corner": ["--points", "512", "--until", "50"],
    },
}


@dataclass
class Run:
    name: str
    command: list
    backend: str = "any"  # "cpu": one run at a time, which a GPU steps no faster


def runs(scale):
    sizes = SCALES[scale]
    corner = ["simulate", "--equation", "forced-cahn-hilliard", "--mean", "1.5", "--forcing", "2", "--speed", "0.5",
              "--members", "1", "--initial", "noise", "--amplitude", "0.1", "--save-every", "1"]  # fmt: skip
    yield Run("spacetime", ["simulate", "--members", "1", "--points", "256", "--seed", "4", *sizes["spacetime"]], "cpu")
    yield Run("coarsen-2pi", ["coarsen", *sizes["coarsen-2pi"]])
    yield Run("coarsen-4pi", ["coarsen", "--length", "4pi", *sizes["coarsen-4pi"]])
    yield Run("converge", ["converge", *sizes["converge"]], "cpu")
    yield Run("converge-forced", ["converge", "--equation", "forced-cahn-hilliard", *sizes["converge-forced"]], "cpu")
    yield Run("map-0.5", ["map", "--speed", "0.5", *sizes["map"]])
    yield Run("map-1.0", ["map", "--speed", "1", *sizes["map"]])
    yield Run("corner-paper", [*corner, *sizes["corner"]], "cpu")  # dt = 0.1 dx
    yield Run("corner-resolved", [*corner, *sizes["corner"], "--dt", "1e-4"], "cpu")
    yield Run("diffusion", ["bench", "diffusion", *sizes["bench"]])
    yield Run("hyperdiffusion", ["bench", "hyperdiffusion", *sizes["bench"]])
    yield Run("solve", ["bench", "solve", "--half-bandwidth", "1,2", "--boundary", "periodic", "--no-memory", *sizes["solve"]])


def seconds_of(run, bandmill, folder, backend, again):
    """Runs it unless its results are there, made by the same command; how long that took, then or now."""
    bench = run.command[0] == "bench"
    result = folder / f"{run.name}.{'json' if bench else 'nc'}"
    record = folder / f"{run.name}.command.json"
    command = [*run.command, "--backend", "cpu" if run.backend == "cpu" else backend, "--force-overwrite"]
    if result.exists() and record.exists() and not again:
        kept = json.loads(record.read_text())
        if kept["command"] == command:
            return kept["seconds"]
    record.unlink(missing_ok=True)
    files = ["--json", str(result)] if bench else ["--out", str(result)]
    start = time.perf_counter()
    # LAPACK is called by our threads. Those that OpenBLAS starts spin for a tenth of a second, on the cores of the first
    # measurement, which a single repetition cannot tell from a slow solver.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    arguments = [str(bandmill), *command, *files]
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
    if done.returncode != 0:
        print(done.stdout[-4000:], file=sys.stderr)
        raise SystemExit(f"reproduce: bandmill {' '.join(command)} failed with exit code {done.returncode}")
    (folder / f"{run.name}.log").write_text(done.stdout)
    seconds = time.perf_counter() - start
    record.write_text(json.dumps({"command": command, "seconds": seconds}))
    return seconds


def run_all(scale, bandmill, folder, backend, again):
    """{name: seconds}. Beside a GPU the cores do what only they do; benchmarks come last, and have the machine alone."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    everything = list(runs(scale))
    started = itertools.count(1)
    times = {}

    def do(run):
        print(f"[{next(started)}/{len(everything)}] {run.name}: bandmill {' '.join(run.command)}", flush=True)
        times[run.name] = seconds_of(run, bandmill, folder, backend, again)
        print(f"      {run.name}: {times[run.name]:.1f} s", flush=True)

    studies = [run for run in everything if run.command[0] != "bench"]
    on_cores = [run for run in studies if run.backend == "cpu"]
    with concurrent.futures.ThreadPoolExecutor(len(on_cores) if backend == "cuda" else 1) as beside:
        waiting = [beside.submit(do, run) for run in on_cores]
        if backend != "cuda":
            concurrent.futures.wait(waiting)
        for run in studies:
            if run not in on_cores:
                do(run)
        for done in waiting:
            done.result()
    for run in everything:
        if run not in studies:
            do(run)
    return times
