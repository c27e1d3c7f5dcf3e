"""bandmill.figures: what is on the axes is what is in the files."""

import math
import pathlib

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402
from figure_parts import lines, title, words  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402
from bandmill.figures._style import PlainLogLocator  # noqa: E402


def test_growth_shows_the_means_the_fit_and_what_it_leaves(tmp_path):
    data = files.coarsen(tmp_path / "two.nc")
    files.coarsen(tmp_path / "four.nc", length=4 * math.pi)
    figure = figures.domain_growth(tmp_path / "two.nc", str(tmp_path / "four.nc"))
    above, other, below, _ = figure.axes
    (mean,), (fit,), (rest,) = lines(above, "mean"), lines(above, "fit"), lines(below, "rest")
    shown = data.time.values >= 0.1  # a quarter of the beginning of the fit
    assert np.array_equal(mean.get_xdata(), data.time.values[shown])
    assert np.array_equal(mean.get_ydata(), data.domain_size_mean.values[shown])
    assert np.array_equal(fit.get_xdata(), [0.4, 100])
    assert np.allclose(fit.get_ydata(), 1.9 + 0.4 * np.log([0.4, 100]), rtol=1e-15)
    assert np.allclose(rest.get_ydata(), 0.01, atol=1e-14) and rest.get_xdata().min() >= 0.4
    edges = above.collections[0].get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx(data.domain_size_mean.values[-1] + 1.96 * 0.02)
    assert "L = 2\\pi" in title(above) and "4\\pi" in title(other) and "100 runs" in title(above)
    for part in (
        "1.9000",
        "0.4000",
        "0.0030",
        "0.99890",
        r"\gamma = 0.01",
        "seed 7",
        "test device",
        "commit 0123456789abcdef",
    ):
        assert part in words(figure)


def test_growth_from_a_summary_and_from_an_open_dataset_is_the_same(tmp_path):
    data = files.coarsen(tmp_path / "a.nc")
    late = data.isel(time=data.time >= 0.1)
    columns = (late.time, late.domain_size_mean, late.domain_size_stderr)
    keys = ("time", "domain_size_mean", "domain_size_stderr")
    fit = {
        key: data.attrs[f"fit_{key}"] for key in ("from", "to", "slope", "slope_error95", "intercept", "correlation")
    }
    summary = {"study": "coarsen", "members": 100, "points": 256, "length": 2 * math.pi, "fit": fit, "gamma": 0.01}
    summary["samples"] = [dict(zip(keys, map(float, row))) for row in zip(*columns)]
    drawn = [figures.domain_growth(source).axes[0] for source in (summary, data, bandmill.open(tmp_path / "a.nc"))]
    for axes in drawn[1:]:
        for label in ("mean", "fit"):
            assert np.array_equal(lines(axes, label)[0].get_xydata(), lines(drawn[0], label)[0].get_xydata())


def test_growth_without_a_fit_or_a_finished_study(tmp_path):
    data = files.coarsen(tmp_path / "a.nc")
    data.attrs["lost_members"] = 7
    assert "100 runs (7 lost)" in title(figures.domain_growth(data).axes[0])
    data.attrs["fit_slope"] = float("nan")
    above, below = figures.domain_growth(data).axes
    assert lines(above, "mean") and not lines(above, "fit") and not lines(below, "rest")
    data["domain_size_mean"] *= float("nan")
    with pytest.raises(bandmill.InvalidArgumentError, match="no finite means"):
        figures.domain_growth(data)


def test_one_run_has_a_fit_without_an_error(tmp_path):
    data = files.coarsen(tmp_path / "a.nc")
    data["domain_size_stderr"] *= float("nan")
    data.attrs |= {"fit_slope_error95": float("nan"), "fit_slope": -0.0009}
    figure = figures.domain_growth(data)
    above, below = figure.axes
    assert np.allclose(lines(above, "fit")[0].get_ydata(), 1.9 - 0.0009 * np.log([0.4, 100]), rtol=1e-15)
    assert lines(below, "rest") and "no error (too few groups" in words(figure) and "1.9000 -0.0009" in words(figure)
    assert "standard errors" not in words(figure) and "least-squares" in words(figure)


@pytest.mark.parametrize("ends", [(0.11, 5.8), (1.1, 1.9), (2.1, 2.9), (5.2, 5.2001), (0.01, 100), (1e-9, 1e9)])
def test_logarithmic_axes_have_two_labels_at_least(ends):
    ticks = PlainLogLocator().tick_values(*ends)
    assert 2 <= len(ticks) <= 9 and all(ends[0] <= tick <= ends[1] for tick in ticks)
    assert len({f"{tick:g}" for tick in ticks}) == len(ticks)


@pytest.mark.parametrize("slope", [0.4, -0.4, 0.0])
def test_notes_of_fits_are_on_no_curve(tmp_path, slope):
    data = files.coarsen(tmp_path / "a.nc", members=1).isel(time=slice(0, None, 3))
    data["domain_size_mean"] = 5 + slope * np.log(data.time + 1e-9)
    data["domain_size_stderr"] = ("time", np.where(np.arange(data.time.size) % 2, 0.9, 0.0))
    data.attrs |= {"fit_intercept": 5.0, "fit_slope": slope}
    planes = files.coarsen_planes(tmp_path / "planes.nc").isel(time=slice(0, None, 3))
    planes["domain_size_mean"] = 2 * planes.time ** (3 * slope)
    planes.attrs["fit_exponent"] = 3 * slope
    for figure in (figures.domain_growth(data), figures.domain_growth(planes)):
        figure.draw_without_rendering()
        notes = [text for axes in figure.axes for text in axes.texts if text.get_gid() == "note"]
        assert notes
        for text in notes:
            box = text.get_window_extent()
            for line in text.axes.get_lines():
                assert not box.count_contains(text.axes.transData.transform(line.get_xydata()))


def test_long_records_are_thinned_to_samples_of_the_file(tmp_path):
    data = files.coarsen(tmp_path / "a.nc").interp(time=np.linspace(0, 100, 30001))
    (mean,) = lines(figures.domain_growth(data).axes[0], "mean")
    assert mean.get_xdata().size <= 1000 and mean.get_xdata()[-1] == 100
    assert np.isin(mean.get_xdata(), data.time.values).all() and np.isin(mean.get_ydata(), data.domain_size_mean).all()


def test_distributions_are_shares_and_densities(tmp_path):
    data = files.coarsen(tmp_path / "a.nc")
    figure = figures.distributions(tmp_path / "a.nc")
    left, right, later_left, later_right = figure.axes
    shares = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in left.patches}
    assert shares[10] == 0.7 and shares[8] == 0.3 and sum(shares.values()) == pytest.approx(1)
    assert {bar.get_height() for bar in later_left.patches} == {0, 1}
    density = later_right.patches[0].get_data()
    assert (density.values * np.diff(density.edges)).sum() == pytest.approx(1)
    assert density.edges[density.values.argmax()] == pytest.approx(3.7)
    means = [line.get_xdata()[0] for line in right.get_lines() if line.get_linestyle() == "--"]
    assert means == [pytest.approx(float(data.domain_size_mean.sel(time=1, method="nearest")))]
    guides = {round(line.get_xdata()[0], 6) for line in right.get_lines() if line.get_linestyle() == ":"}
    assert round(22.214415 / 6, 6) in guides and all(22.214415 / x == pytest.approx(round(22.2144 / x)) for x in guides)
    figure.draw_without_rendering()
    numbers = [label.get_window_extent() for label in left.get_yticklabels()]
    assert left.yaxis.label.get_window_extent().x1 < min(box.x0 for box in numbers) - 9  # more than between two words
    with pytest.raises(bandmill.InvalidArgumentError, match="no variable interface_histogram.*--histogram-times"):
        figures.distributions(data.drop_vars("interface_histogram"))


def test_growth_before_the_usual_beginning_is_drawn(tmp_path):
    files.coarsen(tmp_path / "a.nc")
    data = bandmill.open(tmp_path / "a.nc")
    early = data.assign_coords(time=data.time * 1e-6)
    assert float(early.time.max()) < 0.1
    figures.domain_growth(early)


@pytest.mark.parametrize(
    ("start", "told", "not_told"),
    [
        ("initial = constant\nends = neumann\n", ["constant", "rangle = 0.3", "neumann ends"], ["amplitude", "seed"]),
        ("initial = cosine\nends = dirichlet\nend-value = 0.5\n", ["amplitude $0.1$", "mode $2$", "C = 0.5"], ["seed"]),
        ("initial = noise\n", ["amplitude $0.1$", "rangle = 0.3", "seed 1"], ["mode", "ends"]),
    ],
)
def test_footers_name_the_start_and_the_ends(tmp_path, start, told, not_told):
    data = files.simulate(tmp_path / "run.nc")
    data["initial_mean"][:] = 0.3
    data.attrs["options"] = f"points = 16\namplitude = 0.1\nmode = 2\nseed = 1\n{start}"
    text = words(figures.space_time(data))
    assert all(word in text for word in told) and not any(word in text for word in not_told)
    planes = files.coarsen_planes(tmp_path / "planes.nc")
    planes.attrs["options"] = "mean = 0.25\n"
    assert r"\langle C \rangle = 0.25" in words(figures.domain_growth(planes))


def test_convergence_shows_errors_orders_and_the_paper(tmp_path):
    files.converge(tmp_path / "a.nc")
    files.converge(tmp_path / "b.json", "forced-cahn-hilliard")
    files.converge(tmp_path / "c.json", until="10")
    figure = figures.convergence(tmp_path / "a.nc", tmp_path / "b.json", tmp_path / "c.json")
    plain, forced, other = figure.axes[:3]
    assert np.array_equal(lines(plain, "bandmill")[0].get_xydata(), [(n, 36 / n**2) for n in (128, 256, 512)])
    assert [text.get_text() for text in plain.texts] == ["2.000", "2.000"]
    (guide,) = (line for line in plain.get_lines() if "second order" in line.get_label())
    (x0, y0), (x1, y1) = guide.get_xydata()
    assert math.log(y0 / y1) / math.log(x1 / x0) == pytest.approx(2)
    paper = dict(lines(plain, "the paper")[0].get_xydata())
    assert paper[128] == 0.0310 and paper[8192] == 4.54e-6
    assert dict(lines(forced, "the paper")[0].get_xydata())[4096] == 2.88e-6
    assert not lines(other, "the paper")  # another final time is another problem
    assert r"\Delta t = 0.1" in words(figure) and "T = 20" in words(figure)


def test_footers_name_the_file_where_files_differ(tmp_path):
    files.converge(tmp_path / "a.nc")
    files.converge(tmp_path / "b$.json", until="10")
    figure = figures.convergence(tmp_path / "a.nc", tmp_path / "b$.json")
    assert [title(axes) for axes in figure.axes] == ["Cahn-Hilliard, a.nc", r"Cahn-Hilliard, b\$.json"]
    text = words(figure)
    assert r"x$, a.nc ($T = 20$), b\$.json ($T = 10$), " in text and text.count(r"\gamma = 0.01") == 1
    assert "a.nc" not in words(figures.convergence(tmp_path / "a.nc"))
    data = files.coarsen(tmp_path / "c.nc")
    data.attrs["gamma"] = 0.02
    data.to_netcdf(tmp_path / "d.nc")
    figure = figures.domain_growth(tmp_path / "c.nc", tmp_path / "d.nc")
    assert r"c.nc ($\gamma = 0.01$), d.nc ($\gamma = 0.02$)" in words(figure) and "runs, d.nc" in title(figure.axes[1])


def test_speedups_of_files_with_different_n_say_what_is_not_there(tmp_path):
    few = files.bench_steps(tmp_path / "a.json")
    few["records"] = [record | {"n": 16} for record in few["records"] if record["n"] == 64]
    figure = figures.speedups(few, files.bench_steps(tmp_path / "b.json", "hyperdiffusion"))
    told = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    absent = "$n = {}$ is not\nin this file"
    assert told == [[], [absent.format(64)], [absent.format(256)], [absent.format(16)], [], []]
    few["records"] = [record | {"speedup": {}} for record in few["records"]]
    assert "nothing was\ncompared" in words(figures.speedups(few))


def test_speedups_are_those_of_the_records(tmp_path):
    files.bench_steps(tmp_path / "a.json")
    files.bench_steps(tmp_path / "b.json", "hyperdiffusion")
    figure = figures.speedups(tmp_path / "a.json", tmp_path / "b.json")
    assert len(figure.axes) == 4
    assert "tridiagonal" in figure.axes[0].get_ylabel() and "pentadiagonal" in figure.axes[2].get_ylabel()
    for axes, n in zip(figure.axes, (64, 256, 64, 256)):
        assert np.array_equal(lines(axes, "resident/paper")[0].get_xydata(), [(64, n), (1024, n), (65536, n)])
        assert np.array_equal(lines(axes, "paper/cusparse")[0].get_ydata(), [2, 2, 2])
        assert str(n) in title(axes)
    assert "1,000 Crank-Nicolson steps" in words(figure) and "over the paper's way" in words(figure)


def test_rooflines_stay_below_the_roof(tmp_path):
    files.bench_solve(tmp_path / "a.json")
    figure = figures.rooflines(tmp_path / "a.json", peak_gflops=30000)
    first, second, share, _ = figure.axes
    for w, axes in ((1, first), (2, second)):
        (roof,) = lines(axes, "roof")
        assert np.allclose(roof.get_ydata() / roof.get_xdata(), 4000) and roof.get_ydata()[-1] == pytest.approx(30000)
        (ours,), (paper,) = lines(axes, "bandmill"), lines(axes, "paper")
        assert np.allclose(ours.get_xdata(), 0.25 * w) and np.allclose(ours.get_ydata(), 0.5 * 4000 * 0.25 * w)
        assert np.allclose(paper.get_ydata(), 0.25 * 4000 * 0.25 * w)
        assert not lines(axes, "gtsv2StridedBatch")  # its result is wrong, so its time does not count
    assert np.array_equal(lines(share, "bandmill")[0].get_xydata(), [(1024, 0.5), (65536, 0.5)])
    assert "4,000 GB/s" in words(figure) and "1k" in words(figure)
    with pytest.raises(bandmill.InvalidArgumentError, match="n = 17: it has open with n = 1024; pass n and boundary"):
        figures.rooflines(tmp_path / "a.json", n=17)


def test_roofs_are_what_was_measured_with_the_points(tmp_path):
    """On a CPU every size of the cache has a ceiling of its own, and those of other sizes are in the file, too."""
    result = files.bench_solve(tmp_path / "a.json") | {"backend": "cpu"}
    rates = {(1024, 1): 80.0, (1024, 2): 95.0, (65536, 1): 61.0, (65536, 2): 61.0}
    result["records"] = [
        record
        | {"cache_resident": record["batch"] == 1024, "share_of_copy": 1.4}
        | {"ceiling_gbytes_per_s": rates[record["batch"], record["half_bandwidth"]]}
        for record in result["records"]
    ]
    others = [{"operation": "in-place scale", "cache_resident": True, "gbytes_per_s": rate} for rate in (7.0, 500.0)]
    figure = figures.rooflines(result | {"ceilings": others})
    first, _, share, _ = figure.axes
    assert [line.get_ydata()[0] / line.get_xdata()[0] for line in lines(first, "roof")] == pytest.approx([61, 95])
    memory, cache = (text for text in first.texts if "GB/s" in text.get_text())
    assert memory.get_text() == "memory: 61 GB/s" and cache.get_text() == "cache: 95 GB/s"
    (x, below), (other, above) = memory.get_position(), cache.get_position()
    assert below < 61 * x and memory.get_va() == "top" and above > 95 * other and cache.get_va() == "bottom"
    assert "in-place scale, memory 61 GB/s, cache 95 GB/s" in words(figure) and "largest" in words(figure)
    assert share.get_ylim()[1] > 1.4 and share.get_ylabel() == "share of the ceiling"
    gpu = figures.rooflines(result | {"ceilings": [others[0] | {"cache_resident": False}]})
    assert len(lines(gpu.axes[0], "roof")) == 1 and "cache" not in words(gpu)
    assert "largest" not in words(figures.rooflines(tmp_path / "a.json"))


def test_rooflines_of_the_sizes_that_there_are(tmp_path):
    result = files.bench_solve(tmp_path / "a.json")
    small = [dict(record, n=n, boundary="periodic") for record in result["records"] for n in (64, 128)]
    for records, told in ((small, "periodic, $n = 128$"), (result["records"] + small, "open, $n = 1024$")):
        assert told in title(figures.rooflines(result | {"records": records}).axes[0])
    assert "n = 64" in title(figures.rooflines(result | {"records": small}, 64).axes[0])
    single = result | {"records": [dict(record, dtype="f32") for record in small]}
    with pytest.raises(bandmill.InvalidArgumentError, match="no f64 records.*bandmill bench solve --precision f64"):
        figures.rooflines(single)


def test_rooflines_of_the_layout_that_suits_or_that_there_is(tmp_path):
    result = files.bench_solve(tmp_path / "a.json") | {"backend": "cpu"}
    assert np.array_equal(lines(figures.rooflines(result).axes[2], "bandmill")[0].get_xdata(), [1024, 65536])
    result["records"] = result["records"] + [dict(result["records"][0], layout="tiled", batch=4096)]
    assert np.array_equal(lines(figures.rooflines(result).axes[1], "bandmill")[0].get_xdata(), [4096])  # one panel


def test_the_layouts_are_those_of_the_library():
    """The numbers in the cells, from left to right, are in the order of docs/solver.md."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "solver.md").read_text()
    texts = [(text.get_position(), text.get_text()) for text in figures.layouts().axes[0].texts]
    cells = [(y, x, label) for (x, y), label in texts if len(label) == 2 and label.isdigit()]
    rows = {}
    for y, x, label in sorted(cells):
        rows.setdefault(y, []).append(label)
    drawn = [" ".join(row) for row in rows.values() if len(row) == 12]
    for name, order in zip(("contiguous", "tiled, width 2", "interleaved"), drawn, strict=True):
        written = next(line for line in page.splitlines() if line.strip().startswith(name))
        assert " ".join(written.partition(name)[2].partition("row after")[0].replace("|", " ").split()[:12]) == order


def test_the_diagram_of_memory_names_the_levels():
    text = words(figures.memory_hierarchy())
    for part in ("Registers", "Shared memory", "L2", "HBM", "one solve", "steps taken together"):
        assert part in text
