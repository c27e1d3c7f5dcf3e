"""bandmill.open. (What the program writes is read in tests/cli.)"""

import sys
import warnings

import numpy as np
import pytest

import bandmill


def test_opens_what_a_study_writes(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    written = xarray.Dataset({"l": ("time", np.arange(5.0))}, {"time": np.linspace(0, 1, 5)}, {"seed": 3})
    written.to_netcdf(tmp_path / "study.nc", engine="netcdf4")
    with bandmill.open(tmp_path / "study.nc") as data:
        assert isinstance(data, xarray.Dataset)
        assert data.equals(written) and data.attrs["seed"] == 3
    with bandmill.open(str(tmp_path / "study.nc")) as data:
        assert data.l.dims == ("time",)


def test_a_file_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    with pytest.raises(FileNotFoundError, match="nothing.nc"):
        bandmill.open(tmp_path / "nothing.nc")


@pytest.mark.parametrize("reader", ["netCDF4", "h5py"])
def test_what_is_no_results_file_is_told(tmp_path, monkeypatch, reader):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip(reader)
    whole = tmp_path / "whole.nc"
    xarray.Dataset({"l": ("time", np.arange(5000.0))}).to_netcdf(whole, engine="netcdf4")
    if reader == "h5py":
        hide(monkeypatch, "netCDF4", "h5netcdf")
    for name, content, text in [
        ("words.nc", b"no data here", "words.nc is no results file .*--out"),
        ("summary.nc", b'\n{"study": "coarsen"}', "summary.nc is JSON.*--out"),
        ("none.nc", b"", "none.nc is empty"),
        ("run.nc.checkpoint", b"bandmill checkpoint\n\n\n\n\n" + bytes(99), "is a checkpoint.*bandmill resume"),
        ("cut.nc", whole.read_bytes()[:20000], "cut.nc begins like a results file but cannot be read .*cut off"),
        ("head.nc", whole.read_bytes()[:100], "head.nc begins like"),
    ]:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(bandmill.InvalidArgumentError, match=text):
            bandmill.open(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        bandmill.open(tmp_path)


def test_an_unfinished_file_is_warned_of(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    for name, finished in (("a.nc", "   "), ("b.nc.partial", "2026-01-01T00:00:00Z")):
        xarray.Dataset({"l": 1.0}, attrs={"finished": finished}).to_netcdf(tmp_path / name, engine="netcdf4")
        with pytest.warns(UserWarning, match=f"{name} is unfinished") as caught, bandmill.open(tmp_path / name) as data:
            assert data.l == 1
        assert caught[0].filename == __file__
    xarray.Dataset({"l": 1.0}, attrs={"finished": "now"}).to_netcdf(tmp_path / "c.nc", engine="netcdf4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bandmill.open(tmp_path / "c.nc").close()


def hide(monkeypatch, *modules):
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


def test_h5py_reads_the_same_where_netcdf4_is_missing(tmp_path, monkeypatch):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    pytest.importorskip("h5py")
    variables = {
        "C": (("time", "x"), np.arange(10.0).reshape(2, 5), {"long_name": "concentration", "units": "1"}),
        "count": ("time", np.array([3, 4])),
        "gap": ("time", np.array([1.0, np.nan])),
        "single": ((), 0.5),
        "bare": ("without_values", np.arange(3.0)),
    }
    coordinates = {"time": ("time", np.array([0.0, 0.5]), {"units": "1"}), "x": np.linspace(0, 1, 5)}
    attributes = {"title": "a study", "seed": 3, "fit": 0.25, "limits": np.array([1.0, 2.0])}
    written = xarray.Dataset(variables, coordinates, attributes)
    written.to_netcdf(tmp_path / "study.nc", engine="netcdf4", encoding={"gap": {"_FillValue": -1.0}})
    with bandmill.open(tmp_path / "study.nc") as expected:
        expected.load()
    hide(monkeypatch, "netCDF4", "h5netcdf")
    with bandmill.open(tmp_path / "study.nc") as data:
        assert data.identical(expected) and data.identical(written)
        assert list(data.coords) == list(expected.coords) and type(data.attrs["seed"]) is type(expected.attrs["seed"])
    with pytest.raises(FileNotFoundError, match="nothing.nc"):
        bandmill.open(tmp_path / "nothing.nc")


def test_what_is_missing_is_named(monkeypatch):
    pytest.importorskip("xarray")
    hide(monkeypatch, "netCDF4", "h5netcdf", "h5py")
    with pytest.raises(ModuleNotFoundError, match="netCDF4 is not installed.*pip install"):
        bandmill.open("any.nc")
    hide(monkeypatch, "xarray")
    with pytest.raises(ModuleNotFoundError, match="xarray is not installed.*pip install"):
        bandmill.open("any.nc")
