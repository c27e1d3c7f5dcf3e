"""Small files such as the program writes, with known numbers, for test_figures*.py."""

import json
import math

import numpy as np
import xarray

COMMON = {"version": "0.1.0", "commit": "0123456789abcdef", "backend": "cpu", "device": "test device"}
FORCED = {"equation": "forced-cahn-hilliard", **COMMON}


def coarsen(path, length=2 * math.pi, members=100):
    """l = 1.9 + 0.4 log t + 0.01 at every time, the fit being without the 0.01."""
    time = np.concatenate([[0.0], np.geomspace(0.1, 100, 60)])
    mean = np.concatenate([[1.0], 1.91 + 0.4 * np.log(time[1:])])
    sizes, counts = np.arange(0.05, 8, 0.1), np.zeros((2, 80), int)
    counts[0, 22], counts[1, 37] = members, members
    interfaces = np.zeros((2, 20), int)
    interfaces[0, 10], interfaces[0, 8], interfaces[1, 6] = members - 30, 30, members
    data = xarray.Dataset(
        {
            "domain_size_mean": ("time", mean),
            "domain_size_stderr": ("time", np.full(time.size, 0.02)),
            "member_count": ("time", np.full(time.size, members)),
            "interface_histogram": (("histogram_time", "interfaces"), interfaces),
            "domain_size_histogram": (("histogram_time", "domain_size"), counts),
        },
        {"time": time, "histogram_time": [1.0, 100.0], "interfaces": np.arange(20), "domain_size": sizes},
        {
            **COMMON,
            "equation": "cahn-hilliard",
            "options": f"members = {members}\nseed = 7\n# gpu =\n",
            "gamma": 0.01,
            "length": length,
            "points": 256,
            "time_step": 0.0025,
            "fit_intercept": 1.9,
            "fit_slope": 0.4,
            "fit_slope_error95": 0.003,
            "fit_correlation": 0.9989,
            "fit_from": 0.4,
            "fit_to": 100.0,
        },
    )
    data.to_netcdf(path)
    return data


def coarsen_planes(path, members=8):
    """l = 2 t^0.3 and R = 0.6 t^0.25, exactly; 64 x 32 points on 2 pi x pi."""
    time = np.geomspace(0.01, 10, 80)
    columns = {
        "domain_size_mean": 2 * time**0.3,
        "domain_size_stderr": np.full(time.size, 0.02),
        "domain_length": 0.6 * time**0.25,
        "member_count": np.full(time.size, members),
    }
    attributes = {**COMMON, "equation": "cahn-hilliard", "options": f"dimensions = 2\nmembers = {members}\n"}
    attributes |= {"dimensions": 2, "length_x": 2 * math.pi, "length_y": math.pi, "points_x": 64, "points_y": 32}
    attributes |= {"gamma": 0.01, "time_step": 0.004, "seed": 9, "fit_from": 1.0, "fit_to": 10.0}
    attributes |= {"fit_prefactor": 2.0, "fit_exponent": 0.3, "fit_exponent_error95": 0.0123, "fit_correlation": 0.9}
    attributes |= {"fit_length_prefactor": 0.6, "fit_length_exponent": 0.25, "fit_length_exponent_error95": 0.0456}
    data = xarray.Dataset({name: ("time", column) for name, column in columns.items()}, {"time": time}, attributes)
    data.to_netcdf(path)
    return data


def simulate(path, members=2, equation="cahn-hilliard"):
    time, x = np.linspace(0, 5, 11), np.arange(16) * 2 * math.pi / 16
    values = np.tanh(time)[:, None, None] * np.sin(x + np.arange(members)[:, None])
    variables = {"C": (("time", "member", "x"), values), "initial_mean": ("member", np.zeros(members))}
    if equation.startswith("forced"):
        variables["forcing"] = ("member", np.linspace(0.5, 2, members))
    data = xarray.Dataset(
        variables,
        {"time": time, "member": np.arange(members), "x": x},
        {**COMMON, "equation": equation, "length": 2 * math.pi, "time_step": 0.01}
        | {"options": "gamma = 0.01\npoints = 16\ninitial = noise\namplitude = 0.1\nseed = 1\nends = periodic\n"},
    )
    data.to_netcdf(path)
    return data


def flow_map(path, width=6, height=5, speeds=(0.5,), kmeans=True, states=True, lost=False):
    """A0 below, A1 above on the left, A2 on the right; by k-means everything is A2."""
    mean, forcing = np.linspace(0, 1.5, width), np.linspace(0, 2, height)
    classes = np.where(mean > 0.9, 2, np.where(forcing[:, None] > 0.8, 1, 0)) * np.ones((len(speeds), 1, 1), int)
    if lost:
        classes[:, -1, -1] = -1
    dims = ("speed", "forcing", "mean")
    confidence = np.where(classes < 0, np.nan, np.linspace(0.5, 1, classes.size).reshape(classes.shape))
    position = np.arange(8) * 2 * math.pi / 8
    variables = {
        "class": (dims, classes, {"classifier": "physical"}),
        "confidence": (dims, confidence),
        "motion": (dims, np.where(classes == 0, 1.25, 0.0)),
        "wavenumber": 1.0,
        "gamma": 0.01,
    }
    if kmeans:
        variables["kmeans_class"] = (dims, np.full(classes.shape, 2), {"classifier": "raw-kmeans"})
    coordinates = {"speed": list(speeds), "forcing": forcing, "mean": mean}
    if states:
        state = classes[..., None] + np.sin(position)
        state[classes < 0] = np.nan
        variables["state"] = (("speed", "kept_forcing", "kept_mean", "position"), state)
        coordinates |= {"kept_forcing": forcing, "kept_mean": mean, "position": position}
    data = xarray.Dataset(variables, coordinates, {**FORCED, "classifier": "physical", "length": 2 * math.pi})
    data.attrs |= {"points": 64, "until": 50.0, "amplitude": 0.1, "seed": 1, "options": "classifier = physical\n"}
    if len(speeds) == 1:  # the program writes a single value without a dimension
        data = data.isel(speed=0)
    data.to_netcdf(path)
    return data


def converge(path, equation="cahn-hilliard", until="20"):
    """Second order, exactly."""
    rows = [{"points": n, "steps": n, "time": 20.0, "difference": 36 / n**2, "order": None} for n in (128, 256, 512)]
    constants = "gamma = 0.01\n" + ("wavenumber = 1\nspeed = 0.5\nforcing = 1\n" if "forced" in equation else "")
    options = f"equation = {equation}\n{constants}length = 2pi\namplitude = 1e-6\nmode = 5\nmean = 0\nuntil = {until}\n"
    summary = {**COMMON, "study": "converge", "options": options + "dt-over-dx = 0.1\n", "rows": rows}
    if path.suffix == ".nc":
        columns = {key: ("points", [row[key] for row in rows]) for key in ("steps", "time", "difference")}
        attributes = {key: value for key, value in summary.items() if isinstance(value, str) and key != "study"}
        xarray.Dataset(columns, {"points": [row["points"] for row in rows]}, attributes).to_netcdf(path)
    else:
        path.write_text(json.dumps(summary))
    return summary


def bench_steps(path, benchmark="diffusion"):
    """Resident is n times as fast as the paper's way, which is twice as fast as cuSPARSE's."""
    records = [
        {"n": n, "members": members, "speedup": {"resident": {"paper": float(n)}, "paper": {"cusparse": 2.0}}}
        for n in (64, 256)
        for members in (64, 1024, 65536)
    ]
    result = {**COMMON, "benchmark": benchmark, "steps": 1000, "records": records}
    path.write_text(json.dumps(result))
    return result


def bench_solve(path):
    """Intensity 0.25 W; bandmill at half of the ceiling, the paper's kernel at a quarter, at every size."""
    records = []
    for w in (1, 2):
        for batch in (1024, 65536):
            moved = 16 * 1024 * batch
            record = {"half_bandwidth": w, "boundary": "open", "matrix": "general", "n": 1024, "batch": batch}
            record |= {"layout": "interleaved", "dtype": "f64", "bytes": moved, "flops": moved * w // 4}
            record |= {"cache_resident": False, "ceiling_gbytes_per_s": 4000.0}
            ways = {share: {"time_us": {"median": moved / (4000e3 * share)}} for share in (0.5, 0.25)}
            record |= {"share_of_copy": 0.5, "gflops_per_s": 500.0 * w, "wrong": False, **ways[0.5]}
            wrong = {"share_of_copy": 0.9, "wrong": True, **ways[0.5]}
            record["rivals"] = {"paper": {"share_of_copy": 0.25, **ways[0.25]}, "gtsv2StridedBatch": wrong}
            record["rivals"]["gpsvInterleavedBatch"] = {"skipped": "not here"}
            records.append(record)
    ceilings = [{"operation": "device-to-device copy", "cache_resident": False, "gbytes_per_s": 4000.0}]
    result = {**COMMON, "benchmark": "solve", "backend": "cuda", "ceilings": ceilings, "records": records}
    path.write_text(json.dumps(result))
    return result
