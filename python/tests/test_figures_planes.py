"""bandmill.figures: growth of domains in planes."""

import math

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

import figure_files as files  # noqa: E402
from figure_parts import lines, title, words  # noqa: E402

import bandmill  # noqa: E402
from bandmill import figures  # noqa: E402


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
    for source in (tmp_path / "planes.nc", {"study": "coarsen", "dimensions": 2}):
        with pytest.raises(bandmill.InvalidArgumentError, match="of planes, which have no histograms: .* without"):
            figures.distributions(source)


def test_planes_without_errors_a_fit_or_a_finished_study(tmp_path):
    data = files.coarsen_planes(tmp_path / "planes.nc", members=1)
    data["domain_size_stderr"] *= float("nan")
    data.attrs["fit_exponent_error95"] = float("nan")
    figure = figures.domain_growth(data)
    assert lines(figure.axes[0], "fit") and "no error (too few groups of runs have a fit)" in words(figure)
    assert "standard errors" not in words(figure) and "0.0456 (95 %)" in words(figure)
    data.attrs["fit_exponent"] = float("nan")
    axes, other = figures.domain_growth(data).axes
    assert lines(axes, "mean") and not lines(axes, "fit") and lines(other, "fit")
    data["domain_size_mean"] *= float("nan")
    with pytest.raises(bandmill.InvalidArgumentError, match="no finite means"):
        figures.domain_growth(data)


def test_planes_without_interfaces_or_late_samples(tmp_path):
    """As with a mean near 1, where R is infinite; and as of a run that ends before there are domains."""
    data = files.coarsen_planes(tmp_path / "planes.nc")
    blank = data.assign(domain_length=data.domain_length * float("inf"))
    left, right = figures.domain_growth(blank).axes
    assert lines(left, "fit") and not right.get_lines() and right.texts[0].get_text() == "$R$ is not finite"  # nobody knows
    counts = {"left_out": 1, "interface_left_out": 1}  # a lost run
    blank = blank.assign({name: ("time", np.full(data.time.size, count)) for name, count in counts.items()})
    assert "no run has interfaces" in words(figures.domain_growth(blank))
    blank["interface_left_out"][:] = 8
    columns = ("time", "domain_size_mean", "domain_size_stderr", "left_out", "interface_left_out")
    samples = [dict(zip(columns, map(float, row))) for row in zip(*(blank[name] for name in columns))]
    summary = {"study": "coarsen", "samples": samples, "mean": 0.25, "members": 8}
    summary |= {name: blank.attrs[name] for name in ("dimensions", "length_x", "length_y", "points_x", "points_y")}
    for source in (blank, summary):
        text = words(figures.domain_growth(source))
        assert "interfaces left out (too long)" in text and "no run has interfaces" not in text
    assert r"\langle C \rangle = 0.25" in text
    early = data.isel(time=slice(3)).assign_coords(time=[0, 0.01, 0.1])
    early.attrs |= dict.fromkeys(("fit_exponent", "fit_length_exponent"), float("nan")) | {"fit_from": 5.0}
    figure = figures.domain_growth(early)
    assert [list(lines(axes, "mean")[0].get_xdata()) for axes in figure.axes] == [[0.1]] * 2
    assert "fitted power law" not in words(figure) and "1/3" not in words(figure)
    assert list(lines(figures.domain_growth(early.isel(time=[0, 1])).axes[0], "mean")[0].get_xdata()) == [0.01]


def test_planes_have_both_bands_and_tell_files_and_losses(tmp_path):
    data = files.coarsen_planes(tmp_path / "a.nc")
    for part, factor in (("mean", 1), ("stderr", 0.1)):
        data[f"interface_length_{part}"] = 2 * math.pi**2 / data.domain_length * factor
    data.attrs |= {"lost_members": 3, "time_step": 0.002, "fit_length_correlation": 0.8}
    data.to_netcdf(tmp_path / "b$.nc")
    figure = figures.domain_growth(tmp_path / "a.nc", tmp_path / "b$.nc")
    edges = figure.axes[3].collections[0].get_paths()[0].vertices[:, 1]
    assert edges.max() == pytest.approx(float(data.domain_length[-1]) * (1 + 1.96 * 0.1))
    assert "8 runs (3 lost)" in title(figure.axes[2]) and "lost" not in title(figure.axes[0])
    assert "0.80000" in words(figure)
    assert r"a.nc, $\Delta t = 0.004$" in title(figure.axes[1]) and r"b\$.nc, $\Delta t = 0.002$" in title(figure.axes[3])
    figures.save(figure, tmp_path / "figure.svg")
