"""bandmill.open. (What the program writes is read in tests/cli.)"""

import sys

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
