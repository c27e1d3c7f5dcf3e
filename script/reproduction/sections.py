"""The page's sections in the order of the paper: its tables and figures, with ours beside them and why they differ."""

import json

import h5py
import numpy as np

import experiments
import paper

WAYS = {"resident": "resident", "one-solve": "one solve", "paper": "paper's way", "cusparse": "cuSPARSE", "lapack": "LAPACK"}


def milli(seconds):
    return f"{seconds * 1e3:,.{2 if seconds < 0.01 else 1 if seconds < 1 else 0}f}"


def layout(page, draw):
    page.heading("Figures 1 and 2: memory, and the interleaved layout")
    page.text(
        "The paper's two diagrams show how every thread asks for the same element of the one matrix, which then comes "
        "from a cache, and how right-hand sides are interleaved so that neighbouring threads read neighbouring numbers. "
        "bandmill keeps both ideas. What it changes is where the work lives: a system is held on chip by several threads "
        "between its two sweeps, and a time step does not touch memory at all as long as its members fit on chip."
    )
    page.figure(draw("memory"), "Figure 1, ours: what lives where during a solve, and during a step of an ensemble.")
    page.figure(draw("layout"), "Figure 2, ours: one matrix, interleaved right-hand sides; tiles on a CPU.")


def _times(page, data, equation, table, figure):
    run = json.loads((data / f"{equation}.json").read_text())
    records = {(r["members"], r["n"]): r for r in run["records"]}
    ways = [way for way in WAYS if any(way in r["ways"] for r in run["records"])]
    theirs = "cuThomas" if equation == "diffusion" else "cuPent"
    head = ["M", "N", "printed: shared", "printed: own", "printed ratio", *[WAYS[way] for way in ways], "speed-up"]
    rows = []
    for (members, n), (shared, own) in paper.TIMES[equation].items():
        record = records.get((members, n))
        cells = [f"2^{members.bit_length() - 1}", n, milli(shared), milli(own), f"{own / shared:.2f}"]
        for way in ways:
            result = record["ways"].get(way, {}) if record else {}
            if "time_ms" in result and not result["wrong"]:
                cells.append(("~" if result["scaled"] else "") + milli(result["time_ms"]["median"] / 1e3))
            else:
                cells.append("not run" if record is None else "no room")
        ratio = record["speedup"].get("resident", {}).get("paper") if record else None
        rows.append([*cells, f"{ratio:.1f}x" if ratio else ""])
    page.text(
        f"**{table}**: milliseconds of {run['steps']:,} Crank-Nicolson steps of M systems with N unknowns, f64, periodic. "
        f"Printed, on a V100: {theirs}ConstantBatch, one shared matrix, and {theirs}Batch, every system its own. Then, side by "
        f"side on {run['device']}: bandmill's ensemble (**resident** on chip, or one pass over memory and **one solve** per "
        "step), **the paper's way**, and a library. Speed-up: the paper's way over resident. ~: scaled from fewer steps."
    )
    page.table(head, rows)
    rival = "cusparse" if "cusparse" in ways else "lapack"
    best = [r["speedup"]["paper"].get(rival) for r in run["records"] if r["speedup"].get("paper", {}).get(rival)]
    fastest = [r["speedup"]["resident"].get(rival) for r in run["records"] if r["speedup"].get("resident", {}).get(rival)]
    if best and fastest:
        page.text(
            f"**{figure}.** In this run the paper's algorithm is {min(best):.1f} to {max(best):.1f} times as fast as "
            f"{'cuSPARSE' if rival == 'cusparse' else 'LAPACK'}; bandmill's ensemble {min(fastest):.1f} to "
            f"{max(fastest):,.0f} times."
        )


def tridiagonal(page, draw, data):
    page.heading("Table 1, Figures 3 and 4: batches of diffusion equations")
    _times(page, data, "diffusion", "Table 1", "Figure 3")
    page.text(
        "Why the numbers differ: another GPU, first of all, so printed times are for orientation only; what counts are "
        "ratios within one run. The paper does not say what time step it took (the cost does not depend on it) nor how "
        "it treats the periodic corners; its way is built here after its text (the errata below corrected), with "
        "Sherman-Morrison for the corners. Its rival cuThomasBatch is today's `gtsvInterleavedBatch` of cuSPARSE, whose "
        "overwritten matrix is written again in every step, as the paper did."
    )
    page.figure(draw("speedup-diffusion"), "Figure 3: speed-up against the number of systems, tridiagonal.")
    page.figure(draw("rooflines"), "Figures 4 (tridiagonal) and 6 (pentadiagonal): rooflines of the solve, and its share of a copy.")


def pentadiagonal(page, draw, data):
    page.heading("Table 2, Figures 5 and 6: batches of hyperdiffusion equations")
    _times(page, data, "hyperdiffusion", "Table 2", "Figure 5")
    page.text(
        "The paper's table says seconds; with them a solve would take 26 s for data that the GPU reads in 1 ms. They are "
        "milliseconds (erratum 6) and are read so here. Its rival cuPentBatch factors once and keeps a matrix for every "
        "system; here the rival is cuSPARSE's `gpsvInterleavedBatch`, which factors in every call. So our ratio of the "
        "paper's way to its rival is larger than the printed one."
    )
    page.figure(draw("speedup-hyperdiffusion"), "Figure 5: speed-up against the number of systems, pentadiagonal.")
    page.text("**Figure 6** is in the same picture as Figure 4, above.")


def spacetime(page, draw, data):
    page.heading("Figure 7: one run in space and time")
    with h5py.File(data / "spacetime.nc") as file:
        field, time = file["C"][:, 0], file["time"][...]
    signs = np.sign(field)
    count = [int(np.sum(row != np.roll(row, 1))) for row in signs]
    drift = float(abs(field[-1].mean() - field[0].mean()))
    page.text(
        f"Noise separates into domains within a few units of time; then domains merge, ever more slowly: {count[np.searchsorted(time, 5)]} "
        f"interfaces at t = 5, {count[-1]} at t = {time[-1]:,.0f}. The paper's run has other noise, so its domains stand "
        f"elsewhere. The mean moved by {drift:.1e} in all of it."
    )
    page.figure(draw("spacetime"), "Figure 7: C(x, t) of one run, gamma = 0.01, L = 2 pi, N = 256.")


def _convergence(page, data, name, printed, extra):
    with h5py.File(data / f"{name}.nc") as file:
        ours = dict(zip(file["points"][...].tolist(), file["difference"][...].tolist()))
    head = ["N", "E_N, printed", "order, printed", "E_N, ours", "order, ours", *[title for title, _ in extra]]
    rows = []
    for n, (error, order) in printed.items():
        own = f"{ours[n]:.4e}" if n in ours else "not run"
        own_order = f"{np.log2(ours[n] / ours[2 * n]):.4f}" if n in ours and 2 * n in ours else ""
        rows.append([n, error, order, own, own_order, *[f"{values[n]:.4e}" if n in values else "" for _, values in extra]])
    page.table(head, rows)
    return ours


def convergence(page, draw, data, results):
    page.heading("Table 3, Figure 8: convergence of the Cahn-Hilliard scheme")
    page.text(
        "**Table 3**: gamma = 0.01, L = 2 pi, dt = 0.1 dx, C = 1e-6 cos 5x at first, T = 20. E_N is the mean of "
        "|C_N - C_{N/2}| over the points that both grids have, order = log2(E_N / E_2N)."
    )
    plain = results["plain"]
    ours = _convergence(page, data, "converge", paper.CONVERGENCE, [("E_N, plain form (NumPy)", plain)])
    page.text(
        "All digits that the paper prints agree down to N = 4096. There it finds the order falling to 0.89 and takes it "
        "for the scheme's. It is round-off (erratum 7): the plain form multiplies C by sigma = gamma dt / dx^4, about 2e6 "
        "at N = 8192, so that digits of C itself are lost; how many depends on the solver. The last column is the plain form "
        "in NumPy with bandmill's band solver, which adds little of its own; the paper's solver, whose corners take a border, "
        "adds more. bandmill solves for the increment of a step instead, and the order stays 2."
        + (f" At N = 8192 the increment gives {ours[8192]:.4e}, the plain form {plain[8192]:.4e}." if 8192 in plain and 8192 in ours else "")
    )
    page.figure(draw("convergence"), "Figure 8: differences between grids, and the slope -2.")


def coarsening(page, draw, data):
    page.heading("Figure 9: growth of domains over an ensemble")
    rows, fits = [], []
    for length in ("2pi", "4pi"):
        with h5py.File(data / f"coarsen-{length}.nc") as file:
            fit = {k: float(v) for k, v in file.attrs.items() if k.startswith("fit_") and not isinstance(v, bytes)}
            members = int(file["member_count"][-1])
            if length == "2pi":
                time, mean, error = (file[k][...] for k in ("time", "domain_size_mean", "domain_size_stderr"))
        window = f"[{fit['fit_from']:.2g}, {fit['fit_to']:.4g}]"
        fits.append([f"L = {length.replace('pi', ' pi')}", f"{members:,}", paper.CORRELATION[length], f"{fit['fit_correlation']:.4f}",
                     f"{fit['fit_slope']:.4f} ± {fit['fit_slope_error95']:.4f}",
                     f"{fit['fit_intercept']:.4f} ± {fit['fit_intercept_error95']:.4f}", window])  # fmt: skip
    for t, (value, its_error) in paper.DOMAIN_SIZE.items():
        at = int(np.argmin(np.abs(time - t)))
        if abs(time[at] - t) > 0.05 * t:
            rows.append([t, f"{value:.4f} ± {its_error:.4f}", "not run", ""])
            continue
        sigma = (mean[at] - value) / np.hypot(error[at], its_error)
        rows.append([t, f"{value:.4f} ± {its_error:.4f}", f"{mean[at]:.4f} ± {error[at]:.4f}", f"{sigma:+.1f}"])
    page.text("l = 1 / (1 - <C^2>) of every run, and its mean over the runs against log t, with a line fitted by least squares:")
    page.table(["", "runs", "r, printed", "r, ours", "slope of l in log t", "l at t = 1 by the line", "window of t"], fits, (0, 6))
    page.text(
        "The paper names no window and no samples, on which r depends; ours are 0.4 to 100, equally spaced in t. r is a "
        "weak test anyway: any growing curve has one near 1. The mean of l itself is a strong one. The paper prints none, so "
        "here it is beside that of 16,384 runs of a separate program (± one standard error):"
    )
    page.table(["t", "l, separate program", "l, ours", "difference in standard errors"], rows)
    page.text(
        "The residuals below show more than r does: l bends about the line, because l of a single run is nearly "
        "quantised, 22.2 / n for n interfaces, and on a short domain few are left at late times. ± of the fit are 95 % "
        "intervals from the scatter of 16 groups of runs."
    )
    page.figure(draw("coarsening"), "Figure 9: mean of l against log t for L = 2 pi and 4 pi, with fit, 95 % band and residuals.")
    page.figure(draw("interfaces"), "Beyond the paper: how many interfaces the runs have.")


def samples(page, draw):
    page.heading("Figures 10 and 11: two solutions of the forced equation")
    page.text(
        "A1: domains near C = ±1 that travel with the forcing, at rest in its frame. A2: a wave about the mean. The "
        "paper does not say which parameters its two pictures have; those of ours are on the figure. A0, domains that the "
        "forcing leaves behind, is added."
    )
    page.figure(draw("samples"), "Figures 10 (A1) and 11 (A2): final states out of the flow-pattern map; and A0.")


def forced_convergence(page, draw, data, results):
    page.heading("Table 4, Figure 12: convergence of the forced scheme")
    page.text("**Table 4**: k = 1, v = 0.5, f0 = 1, the rest as in Table 3.")
    _convergence(page, data, "converge-forced", paper.FORCED_CONVERGENCE,
                 [("E_N, downwind (NumPy)", results["downwind"])])  # fmt: skip
    page.text(
        "In the frame of the wave C_t = +v C_x + ..., so information travels towards smaller x and the upwind stencil is "
        "the right-biased one. The paper's numbers are those of the left-biased, downwind one (erratum 8): the last column "
        "is that scheme in NumPy. bandmill uses the upwind stencil, whose errors are smaller on coarse grids and the same on "
        "fine ones. The printed 2.88e-5 at N = 4096 must be 2.88e-6 (erratum 6); the plain form's round-off is in it, too"
        + "".join(f": downwind and plain give {error:.2e} at N = {n} in NumPy" for n, error in results["plain-downwind"].items())
        + "."
    )
    page.figure(draw("convergence-forced"), "Figure 12: differences between grids of the forced scheme, and the slope -2.")


def maps(page, draw, data, results):
    page.heading("Figures 13 and 14: flow-pattern maps")
    rows = []
    for speed in ("0.5", "1.0"):
        with h5py.File(data / f"map-{speed}.nc") as file:
            classes, raw = file["class"][...], file["kmeans_class"][...]
            cells = classes.size
            share = [f"{100 * np.mean(classes == kind):.1f} %" for kind in (0, 1, 2)]
            rows.append([f"v = {speed}", f"{classes.shape[1]} x {classes.shape[0]}", *share, f"{100 * np.mean(classes == raw):.1f} %",
                         f"{100 * float(file.attrs['speckle']):.3f} %", f"{100 * float(file.attrs['kmeans_speckle']):.3f} %",
                         f"{100 * int(file.attrs['unsettled_cells']) / cells:.1f} %"])  # fmt: skip
    page.table(["", "cells", "A0", "A1", "A2", "k-means agrees", "speckle", "speckle of k-means", "not settled"], rows, (0,))
    page.text(
        "Mean 0 to 1.5 across, f0 0 to 2 upwards, k = 1, gamma = 0.01, T = 50. The paper's two figures are raw k-means "
        "maps: A0 bottom left, A1 top left, A2 on the right, with a sharp border between A1 and A2 from f0 about 0.9 to the "
        "top, and noise elsewhere, more of it at v = 1. The same is seen here under raw k-means. The physical rule "
        "(motion, depth of the rarer phase, harmonics; see the page on maps) finds the same three regions with clean borders, "
        "and puts that between A1 and A2 where the rarer phase disappears."
    )
    corner = results["corner"]
    page.text(
        f"The paper's own corner is not resolved (erratum 9): with dt = 0.1 dx at mean 1.5, f0 = 2 the largest |C| is "
        f"{corner['paper']:.2f}, with steps of 1e-4 it is {corner['resolved']:.2f}. The map takes shorter steps where they are "
        f"needed. A cell whose class may still change is marked as not settled in the file."
    )
    page.figure(draw("map-0.5"), "Figure 13: v = 0.5; from features, and raw k-means.")
    page.figure(draw("map-1.0"), "Figure 14: v = 1; from features, and raw k-means.")


def errata(page, results):
    page.heading("Errata")
    e = experiments
    rows = [
        [1, "Thomas, back sweep: x_i = d_i - a_i c_i", "x_i = d_i - c_i x_{i+1}",
         f"residual {e.thomas_residual(True):.1e} as printed, {e.thomas_residual(False):.0e} corrected"],
        [2, "L, last rows: alpha_{N-2}, epsilon_{N-1}, beta_{N-1}", "alpha_{N-1}, epsilon_N, beta_N", "indices of the rows they stand in"],
        [3, "Algorithm 3: c_i with c_{i-2}; d_i lacks a bracket; b_N with d_N. Algorithm 4: - d_i d_{row+M}",
         "e_{i-2}; (d_i - b_i e_{i-1}) / c_i; d_{N-2}. - d_i f_{row+M}",
         f"residual {e.pentadiagonal_residual(True):.1e} as printed, {e.pentadiagonal_residual(False):.0e} corrected"],
        [4, "fourth difference: centre weight 1", "6", f"of a constant: {e.fourth_difference_of_a_constant(1)} / dx^4 as printed, {e.fourth_difference_of_a_constant(6)} corrected"],
        [5, "right-hand side without C_i", "C_i + alpha (N_{i-1} - 2 N_i + N_{i+1})", "without it the solution at every step is a second difference, whose mean is 0"],
        [6, "Table 2 in seconds; Table 4, N = 4096: 2.88e-5", "milliseconds; 2.88e-6", f"ours: {results['forced_4096']}"],
        [7, "first order at high resolution", "second order; round-off of the plain form", "Table 3, last column"],
        [8, "(stencil not stated)", "upwind is right-biased for C_t = +v C_x", "Table 4, last column"],
        [9, "dt = 0.1 dx for stability", "dt <= 8 gamma / (3 C^2 - 1)^2 where the grid resolves it", f"largest |C| in the corner: {results['corner']['paper']:.2f} against {results['corner']['resolved']:.2f}"],
        [10, "standard ends conserve the mean", "periodic and no-flux ends do, Dirichlet ends do not; upwind advection does not either",
         f"largest drift in the map at v = 0.5: {results['drift']:.1e}"],
        [11, "(mean of the noise not mentioned)", "the noise's own mean is taken away where the mean is a parameter; forcing keeps the mean if k L / 2 pi is whole", "`--exact-mean`, `bandmill map`"],
    ]  # fmt: skip
    page.table(["", "printed", "correct", "seen here"], rows, (1, 2, 3))
