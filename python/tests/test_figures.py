"""bandmill.figures: what is on the axes is what is in the files."""

import math
import pathlib

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402


def words(figure):
    """Every text on the figure, the footer too."""
    return "\n".join(text.get_text() for text in figure.findobj(match=lambda item: hasattr(item, "get_text")))


def lines(axes, label):
    return [line for line in axes.get_lines() if line.get_label() == label]


def title(axes):
    return axes.get_title(loc="left")


def picture(axes):
    (image,) = axes.get_images()
    return image.get_array()


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
    assert lines(below, "rest") and "no error (too few runs)" in words(figure) and "1.9000 -0.0009" in words(figure)
    assert "standard errors" not in words(figure) and "least-squares" in words(figure)


def test_growth_in_planes_is_a_power_law(tmp_path):
    data = files.coarsen_planes(tmp_path / "planes.nc")
    figure = figures.domain_growth(tmp_path / "planes.nc")
    late = data.time.values >= 0.25  # a quarter of the beginning of the fit
    laws = zip(figure.axes, (data.domain_size_mean, data.domain_length), (2, 0.6), (0.3, 0.25), strict=True)
    for axes, values, prefactor, exponent in laws:
        assert axes.get_xscale() == axes.get_yscale() == "log"
        (mean,), (fit,), (theory,) = lines(axes, "mean"), lines(axes, "fit"), lines(axes, "theory")
        assert np.array_equal(mean.get_xydata(), np.stack([data.time.values, values], 1)[late])
        assert np.allclose(fit.get_xydata(), [(1, prefactor), (10, prefactor * 10**exponent)], rtol=1e-14)
        assert np.diff(np.log10(theory.get_ydata())) == pytest.approx(1 / 3)
    edges = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx(data.domain_size_mean.values[-1] + 1.96 * 0.02)
    for part in (
        *("2.0000", "0.3000", "0.0123 (95 %)", "0.6000", "0.2500", "0.0456 (95 %)", r"1 \leq t \leq 10"),
        *(r"L = 2\pi \times \pi$", r"N = 64 \times 32$", "8 runs", "2D", r"\gamma = 0.01", "seed 9", "t = 0.004"),
    ):
        assert part in words(figure), part
    files.coarsen(tmp_path / "lines.nc")
    with pytest.raises(bandmill.InvalidArgumentError, match="planes.nc is of planes and lines.nc of lines"):
        figures.domain_growth(tmp_path / "lines.nc", tmp_path / "planes.nc")


def test_planes_without_errors_a_fit_or_a_finished_study(tmp_path):
    data = files.coarsen_planes(tmp_path / "planes.nc", members=1)
    data["domain_size_stderr"] *= float("nan")
    data.attrs["fit_exponent_error95"] = float("nan")
    figure = figures.domain_growth(data)
    assert lines(figure.axes[0], "fit") and "no error (too few runs)" in words(figure)
    assert "standard errors" not in words(figure) and "0.0456 (95 %)" in words(figure)
    data.attrs["fit_exponent"] = float("nan")
    axes, other = figures.domain_growth(data).axes
    assert lines(axes, "mean") and not lines(axes, "fit") and lines(other, "fit")
    data["domain_size_mean"] *= float("nan")
    with pytest.raises(bandmill.InvalidArgumentError, match="no finite means"):
        figures.domain_growth(data)


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
    with pytest.raises(bandmill.InvalidArgumentError, match="no variable interface_histogram.*--histogram-times"):
        figures.distributions(data.drop_vars("interface_histogram"))


def test_growth_before_the_usual_beginning_is_drawn(tmp_path):
    files.coarsen(tmp_path / "a.nc")
    data = bandmill.open(tmp_path / "a.nc")
    early = data.assign_coords(time=data.time * 1e-6)
    assert float(early.time.max()) < 0.1
    figures.domain_growth(early)


def test_maps_without_extent_are_refused(tmp_path):
    files.flow_map(tmp_path / "map.nc")
    data = bandmill.open(tmp_path / "map.nc")
    same = data.assign_coords(mean=np.full(data.sizes["mean"], 0.5))
    for draw in (figures.flow_maps, figures.patterns):
        with pytest.raises(bandmill.InvalidArgumentError, match="cells with mean = 0.5.*no map"):
            draw(same)


def around(values):
    """Position by time, with the first point again at the other end."""
    return np.vstack([values.T, values.T[:1]])


@pytest.mark.parametrize("log_time", [False, True])
def test_space_time_shows_one_member(tmp_path, log_time):
    data = files.simulate(tmp_path / "run.nc")
    figure = figures.space_time(tmp_path / "run.nc", member=1, log_time=log_time)
    axes = figure.axes[0]
    (mesh,) = axes.collections
    shown = data.C.isel(member=1, time=slice(1 if log_time else 0, None))
    assert np.array_equal(np.asarray(mesh.get_array()), around(shown.values))
    assert axes.get_xscale() == ("log" if log_time else "linear")
    assert mesh.get_clim() == (-np.abs(shown).max(), np.abs(shown).max())
    for part in ("member 1", "gamma = 0.01", r"L = 2\pi", "N = 16", "0.01", "seed 1"):
        assert part in words(figure)
    with pytest.raises(bandmill.InvalidArgumentError, match="no member 2: it has 0, 1"):
        figures.space_time(tmp_path / "run.nc", member=2)


def test_parts_of_files_are_drawn(tmp_path):
    written = files.simulate(tmp_path / "run.nc", 7, "forced-cahn-hilliard")
    data = bandmill.open(tmp_path / "run.nc")

    def shown(*source):
        figure = figures.space_time(*source)
        return np.asarray(figure.axes[0].collections[0].get_array()), words(figure)

    for part, number, member in [
        (data.isel(member=4), None, 4),
        (data.isel(member=4, drop=True), None, 4),
        (data.sel(member=[3, 5]), 5, 5),
        (data.sel(member=[3, 5]), None, 3),
        (data.sel(member=[3, 5]), -1, 5),
        (data.sel(member=[3, 5]).transpose("x", "member", "time"), 3, 3),
    ]:
        values, text = shown(part) if number is None else shown(part, number)
        assert np.array_equal(values, around(written.C.isel(member=member).values))
        assert f"f_0 = {float(written.forcing[member]):.4g}" in text
        assert f"member {member}" in text or "member" not in part.coords
    with pytest.raises(bandmill.InvalidArgumentError, match="no member 1: it has 3, 5"):
        figures.space_time(data.sel(member=[3, 5]), 1)
    with pytest.raises(TypeError, match="member='a' is no whole number"):
        figures.space_time(data, member="a")
    with pytest.raises(bandmill.InvalidArgumentError, match="part without the dimension x"):
        figures.space_time(data.isel(x=0))
    (axes,) = figures.patterns(data.isel(member=4, time=-1)).axes
    assert [list(line.get_ydata()) for line in axes.get_lines()] == [written.C[-1, 4].values.tolist()]
    files.coarsen(tmp_path / "a.nc")
    assert len(figures.distributions(bandmill.open(tmp_path / "a.nc").isel(histogram_time=0)).axes) == 2
    assert figures.domain_growth(bandmill.open(tmp_path / "a.nc").isel(time=30)).axes
    files.flow_map(tmp_path / "map.nc")
    with pytest.raises(bandmill.InvalidArgumentError, match="a part with 1 axes"):
        figures.flow_maps(bandmill.open(tmp_path / "map.nc").isel(mean=0))


def test_space_time_with_values_that_are_not_finite(tmp_path):
    data = files.simulate(tmp_path / "run.nc")
    data["C"][6:] = np.nan
    mesh = figures.space_time(data).axes[0].collections[0]
    assert np.array_equal(np.ma.getmaskarray(mesh.get_array()), np.isnan(around(data.C[:, 0].values)))
    data["C"][:] = np.nan
    for draw in (figures.space_time, figures.patterns):
        with pytest.raises(bandmill.InvalidArgumentError, match="no finite values"):
            draw(data)


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
    with pytest.raises(bandmill.InvalidArgumentError, match=r"n = 17 \(it has \[1024\]\)"):
        figures.rooflines(tmp_path / "a.json", n=17)


def test_rooflines_of_the_layout_that_suits_or_that_there_is(tmp_path):
    result = files.bench_solve(tmp_path / "a.json") | {"backend": "cpu"}
    assert np.array_equal(lines(figures.rooflines(result).axes[2], "bandmill")[0].get_xdata(), [1024, 65536])
    result["records"] = result["records"] + [dict(result["records"][0], layout="tiled", batch=4096)]
    assert np.array_equal(lines(figures.rooflines(result).axes[1], "bandmill")[0].get_xdata(), [4096])  # one panel


def test_maps_show_both_classifications_of_every_panel(tmp_path):
    data = files.flow_map(tmp_path / "map.nc", speeds=(0.5, 1.0))
    figure = figures.flow_maps(tmp_path / "map.nc", confidence=True)
    panels = [axes for axes in figure.axes if axes.get_images() and title(axes)]
    assert len(panels) == 6
    for i, speed in enumerate((0.5, 1.0)):
        mine, kmeans, sure = panels[3 * i : 3 * i + 3]
        assert np.array_equal(picture(mine), data["class"].values[i]) and (picture(kmeans) == 2).all()
        assert np.array_equal(picture(sure), data.confidence.values[i])
        assert f"v = {speed:g}" in title(mine) and "features" in title(mine)
        assert "means" in title(kmeans)
        left, right, bottom, top = mine.get_images()[0].get_extent()
        assert (left, right) == pytest.approx((-0.15, 1.65)) and (bottom, top) == pytest.approx((-0.25, 2.25))
    for part in (r"6 \times 5$ runs", r"\gamma = 0.01", "k = 1", "T = 50", "N = 64"):
        assert part in words(figure)


@pytest.mark.parametrize("width,height", [(1, 1), (1, 4), (7, 1), (3, 2)])
def test_maps_of_any_size_without_kmeans(tmp_path, width, height):
    data = files.flow_map(tmp_path / "map.nc", width, height, kmeans=False)
    (axes,) = figures.flow_maps(tmp_path / "map.nc").axes
    assert picture(axes).shape == (height, width) and np.array_equal(picture(axes), data["class"].values)
    low, high = axes.get_xlim()
    assert low < data["mean"].values[0] <= data["mean"].values[-1] < high


def test_cells_without_a_finite_run_are_left_white(tmp_path):
    data = files.flow_map(tmp_path / "map.nc", lost=True)
    figure = figures.flow_maps(tmp_path / "map.nc", confidence=True)
    for axes in (figure.axes[0], figure.axes[2]):
        assert np.array_equal(np.ma.getmaskarray(picture(axes)), data["class"].values == -1)
        assert axes.patch.get_hatch()
    assert "no finite run" in words(figure)
    assert "no finite run" not in words(figures.flow_maps(files.flow_map(tmp_path / "all.nc")))


def test_patterns_of_a_map_have_one_state_for_each_class(tmp_path):
    data = files.flow_map(tmp_path / "map.nc", lost=True)
    figure = figures.patterns(tmp_path / "map.nc")
    for kind, axes in enumerate(figure.axes):
        assert title(axes).startswith(f"A{kind}")
        (state,) = lines(axes, "state")
        assert np.allclose(state.get_ydata(), kind + np.sin(data.position))
    assert len(figure.axes) == 3 and "motion $1.2" in title(figure.axes[0])
    (chosen,) = figures.patterns(tmp_path / "map.nc", at=[(1.45, 0.1)]).axes
    assert title(chosen).startswith("A2") and "f_0 = 0$" in title(chosen)
    with pytest.raises(bandmill.InvalidArgumentError, match="no map number 1"):
        figures.patterns(tmp_path / "map.nc", panel=1)
    files.flow_map(tmp_path / "none.nc", states=False)
    with pytest.raises(bandmill.InvalidArgumentError, match="none.nc has no variable state.*--keep-states"):
        figures.patterns(tmp_path / "none.nc")


def test_points_of_patterns_must_lie_on_the_map(tmp_path):
    files.flow_map(tmp_path / "map.nc")
    for at in ((1.45, 0.1), np.array([[1.45, 0.1]])):
        (chosen,) = figures.patterns(tmp_path / "map.nc", at=at).axes
        assert title(chosen).startswith("A2")
    assert len(figures.patterns(tmp_path / "map.nc", at=[(1.6, 2.2), (-0.1, -0.2)]).axes) == 2  # rims of outer cells
    for at in ([(9, 9)], [(0.5, 1.0), (-0.2, 1.0)], [(0.5, math.nan)]):
        with pytest.raises(
            bandmill.InvalidArgumentError, match=r"no cell at .*mean from -0.15 to 1.65 and forcing from -0.25 to 2"
        ):
            figures.patterns(tmp_path / "map.nc", at=at)
    for at in (0.5, [], [(1, 2, 3)], "here", [(1, 2), (3,)]):
        with pytest.raises(bandmill.InvalidArgumentError, match=r"are no points: .* pairs \(mean, forcing\)"):
            figures.patterns(tmp_path / "map.nc", at=at)
    with pytest.raises(TypeError, match="panel='a' is no whole number"):
        figures.patterns(tmp_path / "map.nc", panel="a")


def test_how_many_records_of_runs(tmp_path):
    files.simulate(tmp_path / "run.nc")
    with pytest.raises(bandmill.InvalidArgumentError, match="times=0 .* pass a whole number of 1 or more"):
        figures.patterns(tmp_path / "run.nc", times=0)
    figure = figures.patterns(tmp_path / "run.nc", times=1000)
    assert len(figure.axes[0].get_lines()) == 11
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["$t = 0$ to 4.5 (10 records)", "$t = 5$"]
    assert len(figures.patterns(tmp_path / "run.nc", times=8).legends[0].get_texts()) == 8


def test_patterns_of_runs_are_their_last_records(tmp_path):
    data = files.simulate(tmp_path / "run.nc", members=3, equation="forced-cahn-hilliard")
    panels = figures.patterns(tmp_path / "run.nc", times=2).axes
    for member, axes in enumerate(panels):
        assert [list(line.get_ydata()) for line in axes.get_lines()] == data.C[-2:, member].values.tolist()
    assert "f_0 = 0.5" in title(panels[0])
    with pytest.raises(bandmill.InvalidArgumentError, match="13 members, too many"):
        figures.patterns(files.simulate(tmp_path / "many.nc", members=13))


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
