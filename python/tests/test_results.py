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


def test_what_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "netCDF4", None)
    with pytest.raises(ModuleNotFoundError, match="netCDF4 is not installed.*pip install"):
        bandmill.open("any.nc")
