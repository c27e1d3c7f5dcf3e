"""bandmill.figures: maps, and the states of their cells."""

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402
from figure_parts import lines, picture, title, words  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402


def test_maps_without_extent_are_refused(tmp_path):
    files.flow_map(tmp_path / "map.nc")
    data = bandmill.open(tmp_path / "map.nc")
    same = data.assign_coords(mean=np.full(data.sizes["mean"], 0.5))
    for draw in (figures.flow_maps, figures.patterns):
        with pytest.raises(bandmill.InvalidArgumentError, match="cells with mean = 0.5.*no map"):
            draw(same)


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


def test_maps_of_unlike_files_name_them(tmp_path):
    files.flow_map(tmp_path / "a.nc", speeds=(0.5, 1.0))
    data = files.flow_map(tmp_path / "b.nc", width=7, speeds=(2.0,))
    data.attrs["until"] = 80.0
    figure = figures.flow_maps(tmp_path / "a.nc", data, kmeans=False)
    assert [title(axes).split(",")[0] for axes in figure.axes] == ["a.nc", "a.nc", "the dataset"]
    text = words(figure)
    assert r"a.nc ($6 \times 5$ runs, $T = 50$), the dataset ($7 \times 5$ runs, $T = 80$)" in text
    assert text.count("N = 64") == 1 and "a.nc" not in words(figures.flow_maps(tmp_path / "a.nc"))


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
