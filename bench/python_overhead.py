"""What Python adds to a solve, and what others take for the same data.

    python bench/python_overhead.py [--device cuda] [--n 256] [--batch 65536] [--json FILE]

The overhead is what a call of plan.solve(b, out=x) takes longer than the library's own call inside it, which the
module times. Both are taken from one and the same call, since the time of a large solve varies by more than the
overhead. On a GPU they are times until the call returns, not until the solve is done: nothing waits.
"""

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import time

import numpy as np

import bandmill
from bandmill._bandmill import last_seconds


def median_of_calls(call, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def frameworks(device):
    """Name; NumPy array -> array of the framework; wait until its work is done."""
    if device == "cpu":
        yield "numpy", lambda a: a.copy(), lambda: None
    if importlib.util.find_spec("torch"):
        import torch

        if device == "cpu":
            yield "torch", lambda a: torch.from_numpy(a.copy()), lambda: None
        elif torch.cuda.is_available():
            yield "torch", lambda a: torch.from_numpy(a).cuda(), torch.cuda.synchronize
    if device != "cpu" and importlib.util.find_spec("cupy"):
        import cupy

        yield "cupy", cupy.asarray, cupy.cuda.runtime.deviceSynchronize


def overhead(plan, make, wait, b, repeats):
    """Median seconds of the library's call, and of what plan.solve adds to it."""
    b, x = make(b), make(np.empty_like(b))
    plan.solve(b, out=x)
    inside, added = [], []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        plan.solve(b, out=x)
        total = time.perf_counter() - start
        inside.append(last_seconds())
        added.append(total - last_seconds())
    wait()
    return statistics.median(inside), statistics.median(added)


def rivals(ab, b, device, repeats):
    """The open tridiagonal system by others, in milliseconds until it is done."""
    rows = {}
    if device == "cpu":
        plan = bandmill.factor(ab)
        out = np.empty_like(b)
        rows["bandmill, out="] = median_of_calls(lambda: plan.solve(b, out=out), repeats)
        rows["bandmill, new array"] = median_of_calls(lambda: plan.solve(b), repeats)
        rows["bandmill, factor(ab).solve(b)"] = median_of_calls(lambda: bandmill.factor(ab).solve(b), repeats)
        if importlib.util.find_spec("scipy"):
            from scipy.linalg import solve_banded

            rows["scipy.linalg.solve_banded"] = median_of_calls(
                lambda: solve_banded((1, 1), ab, b), max(1, repeats // 5)
            )
    if importlib.util.find_spec("torch"):
        import torch

        if device == "cpu" or torch.cuda.is_available():
            a = np.diag(ab[1]) + np.diag(ab[0, 1:], 1) + np.diag(ab[2, :-1], -1)
            a, t = torch.from_numpy(a).to(device), torch.from_numpy(b).to(device)
            sync = (lambda: None) if device == "cpu" else torch.cuda.synchronize
            if device != "cpu":
                plan, out = bandmill.factor(ab, device=device), torch.empty_like(t)
                rows["bandmill, out="] = median_of_calls(lambda: (plan.solve(t, out=out), sync()), repeats)
            torch.linalg.solve(a, t), sync()
            rows["torch.linalg.solve (dense)"] = median_of_calls(
                lambda: (torch.linalg.solve(a, t), sync()), max(1, repeats // 5)
            )
    if importlib.util.find_spec("jax"):
        import jax

        jax.config.update("jax_enable_x64", True)
        if device == "cpu" or jax.devices()[0].platform == "gpu":
            place = jax.devices("cpu")[0] if device == "cpu" else jax.devices()[0]
            # One matrix per system is what it takes: [batch, n] diagonals, broadcast.
            diagonals = [
                jax.device_put(np.broadcast_to(d, (b.shape[1], b.shape[0])), place)
                for d in (np.r_[0, ab[2, :-1]], ab[1], np.r_[ab[0, 1:], 0])
            ]
            right = jax.device_put(np.ascontiguousarray(b.T)[..., None], place)
            solve = jax.jit(jax.lax.linalg.tridiagonal_solve)
            solve(*diagonals, right).block_until_ready()
            rows["jax.lax.linalg.tridiagonal_solve"] = median_of_calls(
                lambda: solve(*diagonals, right).block_until_ready(), max(1, repeats // 5)
            )
    return rows


def head(device):
    """Where and of what the numbers are."""
    if device == "cpu":
        with open("/proc/cpuinfo") as file:
            name = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), "CPU")
    else:
        name = bandmill.cuda_devices()[0]
    commit = os.environ.get("BANDMILL_COMMIT")
    if not commit:
        git = ["git", "-C", os.path.dirname(__file__), "describe", "--always", "--dirty", "--abbrev=12"]
        commit = subprocess.run(git, capture_output=True, text=True).stdout.strip() or "unknown"
    packages = [p for p in ("numpy", "scipy", "torch", "cupy", "jax") if importlib.util.find_spec(p)]
    return {
        "benchmark": "python",
        "device": name,
        "backend": "cpu" if device == "cpu" else "cuda",
        "cores": os.cpu_count(),
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": commit,
        "version": bandmill.__version__,
        "packages": {p: importlib.import_module(p).__version__ for p in packages},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--n", type=int, default=256)
    parser.add_argument("--batch", type=int, default=65536)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--no-rivals", action="store_true")
    parser.add_argument("--json", help="write the numbers to this file too")
    options = parser.parse_args()

    rng = np.random.default_rng(1)
    ab = bandmill.toeplitz([-1.0, 4.0, -1.5], options.n)
    plan = bandmill.factor(ab, periodic=True, device=options.device)
    large, small = rng.standard_normal((options.n, options.batch)), rng.standard_normal((options.n, 1))
    results = {**head(options.device), "n": options.n, "batch": options.batch, "overhead": {}, "rivals_ms": {}}
    print(f"{'framework':10} {'batch':>7} {'library':>12} {'added':>8}    [us, median]")
    for name, make, wait in frameworks(options.device):
        for b, repeats in ((large, options.repeats), (small, 2000)):
            inside, added = (1e6 * s for s in overhead(plan, make, wait, b, repeats))
            print(f"{name:10} {b.shape[1]:7} {inside:12.2f} {added:8.2f}")
            results["overhead"].setdefault(name, {})[b.shape[1]] = {"library_us": inside, "added_us": added}
    if not options.no_rivals:
        print(f"\nopen tridiagonal system, {options.n} x {options.batch}, float64 [ms, median]")
        for name, seconds in rivals(ab, large, options.device, options.repeats).items():
            print(f"{name:34} {1e3 * seconds:10.2f}")
            results["rivals_ms"][name] = 1e3 * seconds
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
