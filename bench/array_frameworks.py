#!/usr/bin/env python3
"""Cahn-Hilliard ensembles stepped by array frameworks, as a user without bandmill would write them.

NumPy with SciPy's FFT on the CPU, by one thread and as they come (transforms by one, matrix products by all); CuPy,
PyTorch and JAX on a GPU. The equation, the grid and the step are those of `bandmill bench step` (n points on 2 pi,
gamma = 0.01, dt = 0.1 dx, f64), and so is the unit: 10^9 point-steps per second.
Ways to take a step:
  increment  C += irfft(rfft(mu) dt D2 / (1 + gamma dt D4)), mu by differences of neighbours
  spectral   the transform of C is kept: rfft of C^3 and one irfft per step
  dense      C += mu M, with the dense matrix M = (1 + gamma dt D4)^-1 dt D2
What is not installed is left out, with a note.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

THREADS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL")]  # read when NumPy is imported
try:
    import numpy
except ImportError:
    sys.exit("array_frameworks: NumPy was not found (every framework here needs it): "
             "python3 -m pip install numpy scipy")

GAMMA = 0.01
# The ensemble of `bandmill bench step`; on the CPU also one that stays in the level-2 cache, where NumPy is fastest.
MEMBERS = {"cpu": [4096, 64], "cuda": [1 << 18]}


class Problem:
    def __init__(self, n):
        self.n, self.dx = n, 2 * math.pi / n
        self.dt = 0.1 * self.dx
        angle = 2 * math.pi * numpy.arange(n // 2 + 1) / n
        self.d2 = (2 * numpy.cos(angle) - 2) / self.dx**2  # the symbol of the second difference
        self.implicit = 1 + GAMMA * self.dt * self.d2**2

    def noise(self, members):
        return numpy.random.default_rng(0).uniform(-0.1, 0.1, (members, self.n))

    def matrix(self, symbol):
        """The circulant matrix of a symbol; symmetric."""
        row = numpy.fft.irfft(symbol, self.n)
        return row[(numpy.arange(self.n)[:, None] - numpy.arange(self.n)) % self.n]

    def reference(self, c, steps):
        """The scheme itself, with a dense solve: what every way must agree with."""
        implicit, d2 = self.matrix(self.implicit), self.matrix(self.d2)
        for _ in range(steps):
            c = numpy.linalg.solve(implicit, (c + self.dt * (c**3 - c) @ d2).T).T
        return c


class Way:
    """One way to step with one framework: start(c) -> state, step(state) -> state, finish(state) -> c."""

    def __init__(self, problem, way, xp, fft, to_device):
        n, d2, dt = problem.n, problem.d2, problem.dt
        gradient = GAMMA / problem.dx**2

        def mu(c):
            return c * (c * c - (1 - 2 * gradient)) - gradient * (xp.roll(c, 1, 1) + xp.roll(c, -1, 1))

        self.start = self.finish = lambda c: c
        if way == "increment":
            update = to_device(dt * d2 / problem.implicit)
            self.step = lambda c: c + fft.irfft(fft.rfft(mu(c)) * update, n)
        elif way == "spectral":
            keep, cubic = to_device((1 - dt * d2) / problem.implicit), to_device(dt * d2 / problem.implicit)

            def step(transform):
                c = fft.irfft(transform, n)
                return keep * transform + cubic * fft.rfft(c * c * c)

            self.start, self.step, self.finish = fft.rfft, step, lambda transform: fft.irfft(transform, n)
        else:
            update = to_device(problem.matrix(dt * d2 / problem.implicit))
            self.step = lambda c: c + mu(c) @ update


# A framework yields (label, way, Way, many, wait, to_device): many(step) -> a function of (state, steps); wait(state)
# returns when the device is done.
def loop(step):
    def advance(state, steps):
        for _ in range(steps):
            state = step(state)
        return state

    return advance


def numpy_framework(problem):
    import scipy.fft

    for way in ("increment", "spectral", "dense"):
        yield ("NumPy + SciPy", way, Way(problem, way, numpy, scipy.fft, numpy.asarray), loop, lambda state: None,
               numpy.asarray)


def cupy_framework(problem):
    import cupy

    cupy.cuda.Device().synchronize()
    for way in ("increment", "spectral", "dense"):
        yield ("CuPy", way, Way(problem, way, cupy, cupy.fft, cupy.asarray), loop,
               lambda state: cupy.cuda.Device().synchronize(), cupy.asarray)


def torch_framework(problem):
    import torch

    if not torch.cuda.is_available():
        raise ImportError("PyTorch sees no GPU")

    def to_device(values):
        return torch.tensor(values, device="cuda")

    for label, many in (("PyTorch", loop), ("torch.compile", lambda step: loop(torch.compile(step)))):
        for way in ("increment", "spectral", "dense"):
            yield (label, way, Way(problem, way, torch, torch.fft, to_device), many,
                   lambda state: torch.cuda.synchronize(), to_device)


def jax_framework(problem):
    import jax

    jax.config.update("jax_enable_x64", True)
    if jax.default_backend() != "gpu":
        raise ImportError("JAX sees no GPU")

    def many(step):
        return jax.jit(lambda state, steps: jax.lax.fori_loop(0, steps, lambda _, one: step(one), state))

    for way in ("increment", "spectral", "dense"):
        yield ("JAX", way, Way(problem, way, jax.numpy, jax.numpy.fft, jax.numpy.asarray), many,
               lambda state: state.block_until_ready(), jax.numpy.asarray)


FRAMEWORKS = {"numpy": (numpy_framework, "cpu"), "cupy": (cupy_framework, "cuda"), "torch": (torch_framework, "cuda"),
              "jax": (jax_framework, "cuda")}


def to_numpy(array):
    if hasattr(array, "get"):  # CuPy
        return array.get()
    return array.cpu().numpy() if hasattr(array, "cpu") else numpy.asarray(array)


def measure(problem, members, way, many, wait, to_device, repetitions):
    """-> (steps, sorted times in us, largest difference from the reference)"""
    advance = many(way.step)
    few = problem.noise(4)
    end = to_numpy(way.finish(advance(way.start(to_device(few)), 10)))
    difference = float(numpy.abs(end - problem.reference(few, 10)).max())

    state = way.start(to_device(problem.noise(members)))

    def run(state, steps):
        start = time.perf_counter()
        state = advance(state, steps)
        wait(state)
        return state, (time.perf_counter() - start) * 1e6

    state, _ = run(state, 2)
    steps, spent = 1, 0
    while spent < 5e4:
        state, spent = run(state, steps)
        steps = max(1, int(steps * min(16, 2e5 / spent)))
    times = []
    for _ in range(repetitions):
        state, spent = run(state, steps)
        times.append(spent)
    return steps, sorted(times), difference


def record_of(problem, members, label, way, backend, measured, threads):
    steps, times, difference = measured
    median = statistics.median(times)
    return dict(contestant=label, equation="cahn-hilliard", n=problem.n, members=members, dtype="f64", backend=backend,
                threads=threads, statistics="none", shape="throughput", path=way, steps=steps,
                time_us=dict(median=median, min=times[0], max=times[-1], repetitions=len(times)),
                gpoint_steps_per_s=1e-3 * problem.n * members * steps / median, difference=difference,
                wrong=not difference <= 1e-9)


def run_framework(name, problem, members, threads, repetitions, skipped):
    make, backend = FRAMEWORKS[name]
    try:
        for label, way, stepper, many, wait, to_device in make(problem):
            try:
                measured = measure(problem, members, stepper, many, wait, to_device, repetitions)
            except Exception as error:  # whatever a framework raises; the others are still worth measuring
                skipped.append(dict(contestant=label, path=way, reason=f"failed: {str(error).splitlines()[0][:200]}"))
                continue
            yield record_of(problem, members, label, way, backend, measured, threads)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError)
        reason = dict(contestant=name, reason=f"{error.name} is not installed" if missing else str(error))
        if reason not in skipped:
            skipped.append(reason)


def run_bandmill(program, problem, backend, threads):
    """The same case by bandmill, in the same run."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "step.json"
        command = [program, "bench", "step", "--backend", backend, "--n", str(problem.n), "--rivals", "none", "--quiet",
                   "--json", str(path)] + (["--threads", str(threads)] if backend == "cpu" else [])
        done = subprocess.run(command)
        if done.returncode != 0:
            sys.exit(f"array_frameworks: {' '.join(command)} failed with status {done.returncode}")
        result = json.loads(path.read_text())
    return [dict(record, contestant="bandmill") for record in result["records"]], result


def device_name(backend):
    if backend == "cpu":
        try:
            lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            return next(line.split(": ", 1)[1] for line in lines if line.startswith("model name"))
        except (OSError, StopIteration):
            return "unknown CPU"
    try:
        query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown GPU"


def show(record):
    factor = f"{record['bandmill_is']:8.1f}x" if "bandmill_is" in record else ""
    spread = 100 * (record["time_us"]["max"] - record["time_us"]["min"]) / record["time_us"]["median"]
    speed = "WRONG" if record["wrong"] else f"{record['gpoint_steps_per_s']:.4g}"
    print(f"{record['contestant']:<16} {record['path'][:30]:<30} {record['members']:>8} {record['threads'] or '':>7} {speed:>10} "
          f"{spread:>7.1f}% {factor}", flush=True)


def run_parts():
    """On the CPU this script runs itself: by one thread, then as the libraries come (with all of bandmill's)."""
    records, skipped, about = [], [], {}
    cores = len(os.sched_getaffinity(0))
    for threads in [1, cores] if cores > 1 else [1]:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "part.json"
            # The last --json counts.
            command = [sys.executable, *sys.argv, "--threads", str(threads), "--json", str(path)]
            limits = {name: "1" for name in THREADS} if threads == 1 else {}
            done = subprocess.run(command, env={**os.environ, **limits})
            if done.returncode != 0:
                sys.exit(done.returncode)
            about = json.loads(path.read_text())
        records += about["records"]
        skipped += [one for one in about["skipped"] if one not in skipped]
    return records, skipped, about


def compare(arguments, names):
    problem, records, skipped, about = Problem(arguments.n), [], [], {}
    threads = arguments.threads or 0
    if arguments.bandmill:
        records, about = run_bandmill(arguments.bandmill, problem, arguments.backend, threads)
    for record in records:
        show(record)
    ours = max((r["gpoint_steps_per_s"] for r in records), default=None)
    for name in names:
        for members in [arguments.members] if arguments.members else MEMBERS[arguments.backend]:
            for record in run_framework(name, problem, members, threads, arguments.repetitions, skipped):
                if ours and not record["wrong"]:
                    record["bandmill_is"] = ours / record["gpoint_steps_per_s"]  # times as fast
                records.append(record)
                show(record)
    return records, skipped, about


def main():
    parser = argparse.ArgumentParser(prog="bench/array_frameworks.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frameworks", metavar="LIST", default="",
                        help=f"of {', '.join(FRAMEWORKS)} (default: those of the backend)")
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu", help="default cpu")
    parser.add_argument("--n", type=int, default=256, help="points of a member (default 256)")
    parser.add_argument("--members", type=int, help="default: cpu 4096 and 64, cuda 2^18")
    parser.add_argument("--repetitions", type=int, default=5, help="timings (default 5)")
    parser.add_argument("--bandmill", metavar="PATH",
                        help="the program: run it too, and say how many times as fast it is")
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)  # a part of a run on the CPU
    parser.add_argument("--json", metavar="FILE", type=pathlib.Path, help="also write the results")
    arguments = parser.parse_args()
    names = arguments.frameworks.split(",") if arguments.frameworks else [
        name for name, (_, backend) in FRAMEWORKS.items() if backend == arguments.backend]
    for name in names:
        if name not in FRAMEWORKS:
            parser.error(f"'{name}' is not known: choose from {', '.join(FRAMEWORKS)}")
        if FRAMEWORKS[name][1] != arguments.backend:
            parser.error(f"{name} runs with --backend {FRAMEWORKS[name][1]} here")
    if arguments.n < 6 or arguments.repetitions < 1 or (arguments.members or 1) < 1:
        parser.error("--n must be 6 or more, --members and --repetitions 1 or more")

    if arguments.threads is None:
        print(f"{'':<16} {'way':<30} {'members':>8} {'threads':>7} {'speed':>10} {'spread':>8}   bandmill is", flush=True)
    if arguments.backend == "cpu" and arguments.threads is None:
        records, skipped, about = run_parts()
    else:
        records, skipped, about = compare(arguments, names)
    for left_out in skipped if arguments.threads is None else []:
        print(f"{left_out['contestant']} {left_out.get('path', '')}: {left_out['reason']}")
    if arguments.json:
        now = datetime.datetime.now(datetime.timezone.utc)
        result = dict(benchmark="arrays", device=about.get("device") or device_name(arguments.backend),
                      backend=arguments.backend, date=now.strftime("%Y-%m-%dT%H:%M:%SZ"),
                      commit=about.get("commit", os.environ.get("BANDMILL_COMMIT", "unknown")), records=records,
                      skipped=skipped)
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
