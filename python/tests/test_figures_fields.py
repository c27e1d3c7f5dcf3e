"""bandmill.figures: runs over space and time, also those that are lost or not at their end."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402
from figure_parts import title, words  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402


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


def test_lost_runs_are_marked_and_leave_the_others_as_they_are(tmp_path):
    data = files.simulate(tmp_path / "run.nc", 3)
    data["C"][7, 1], data["C"][8:, 1] = 1e199, np.nan
    data["initial_mean"][:] = [0, 1.5, 0]
    data.attrs["finished"] = "2026-01-01T00:00:00Z"
    well, lost, other = figures.patterns(data).axes
    assert "lost after $t = 3$" in [text.get_text() for text in lost.texts] and lost.patch.get_hatch()
    assert not well.texts and not well.patch.get_hatch() and well.get_ylim()[1] < 2
    assert title(lost) == r"member 1, $\langle C \rangle = 1.5$" and "= 0$" in title(other)
    mesh = figures.space_time(data, 1).axes[0].collections[0]
    assert np.array_equal(np.ma.getmaskarray(mesh.get_array())[0], np.arange(11) > 6)
    assert np.array_equal(np.asarray(mesh.get_array())[:, :7], around(data.C[:7, 1].values))
    data.attrs["finished"] = "   "  # not yet: what is not reached is not lost
    data["C"][5:] = np.nan
    assert not any(axes.texts for axes in figures.patterns(data).axes)


def test_runs_of_an_unfinished_file_are_where_they_are(tmp_path):
    """Members of other pieces are at other records; one was seen to blow up."""
    data = files.simulate(tmp_path / "run.nc", 4)
    for member, end in enumerate((9, 6, 0, 4)):
        data["C"][end:, member] = np.nan
    data["C"][3, 3] = 1e5
    ahead, behind, waiting, lost = figures.patterns(data).axes[:4]
    assert [[text.get_text() for text in axes.texts] for axes in (ahead, behind, waiting, lost)] == [
        [],
        ["reached $t = 2.5$"],
        ["not begun"],
        ["lost after $t = 1$"],
    ]
    assert lost.patch.get_hatch() and not behind.patch.get_hatch() and not waiting.patch.get_hatch()
    assert [line.get_label() for line in ahead.get_lines()] == [f"$t = {t:g}$" for t in (2.5, 3, 3.5, 4)]
    assert np.array_equal(behind.get_lines()[0].get_ydata(), data.C[5, 1])


def test_lost_runs_alone_have_their_last_records(tmp_path):
    data = files.simulate(tmp_path / "run.nc", 1)
    data["C"][5], data["C"][6:] = 1e199, np.nan
    data.attrs["finished"] = "2026-01-01T00:00:00Z"
    figure = figures.patterns(data)
    shown = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert np.array_equal(shown, data.C[1:5, 0]) and "lost after $t = 2$" in words(figure)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [f"$t = {t:g}$" for t in (0.5, 1, 1.5, 2)]


@pytest.mark.parametrize("start", [1e31, 0])
def test_large_linear_runs_are_not_lost(tmp_path, start):
    """From a large start, or towards a large value at the ends."""
    data = files.simulate(tmp_path / "run.nc", 2, "diffusion")
    data["C"][:] = 1e31 * data.C + start
    data.attrs["finished"] = "2026-01-01T00:00:00Z"
    figure = figures.patterns(data)
    assert "lost" not in words(figure) and np.array_equal(figure.axes[0].get_lines()[-1].get_ydata(), data.C[-1, 0])
    mesh = figures.space_time(data).axes[0].collections[0]
    assert np.array_equal(np.asarray(mesh.get_array()), around(data.C[:, 0].values))
    data["C"][7:] = np.nan
    data.attrs["finished"] = ""
    figure = figures.patterns(data)
    assert "lost" not in words(figure) and np.array_equal(figure.axes[0].get_lines()[-1].get_ydata(), data.C[6, 0])


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
    four = figures.patterns(files.simulate(tmp_path / "four.nc", members=4)).axes[:4]
    assert [axes.get_xlabel() for axes in four] == ["", *["position $x$"] * 3]  # the second row has one panel
    assert [axes.xaxis.get_tick_params()["labelbottom"] for axes in four] == [False, True, True, True]
    with pytest.raises(bandmill.InvalidArgumentError, match="13 members, too many"):
        figures.patterns(files.simulate(tmp_path / "many.nc", members=13))
