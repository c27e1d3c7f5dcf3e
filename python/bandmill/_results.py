"""Files that `bandmill coarsen`, `simulate`, `map` and `converge` write."""

from __future__ import annotations

import importlib
import os
from typing import Any

# What HDF5 and netCDF-4 keep about dimensions; no attributes of the data.
_INTERNAL = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"


def open_results(path: str | os.PathLike[str]) -> Any:
    """The results of a study as an xarray.Dataset: named dimensions, units, and in `attrs` how they were made.

    netCDF4 (or h5netcdf) reads a variable when it is first used; where neither is installed h5py reads all at once.
    """
    xarray = _required("xarray")
    for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")):
        if _installed(module):
            return xarray.open_dataset(path, engine=engine)
    if not _installed("h5py"):
        _required("netCDF4")
    return _read_by_h5py(path)


def _installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:
        return False
    return True


def _required(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed, which reading results needs: pip install xarray netCDF4", name=error.name
        ) from None


def _attributes(item: Any) -> dict[str, Any]:
    values = {}
    for name in item.attrs:
        if name in _INTERNAL or name.startswith(("_Net", "_NC")):
            continue
        value = item.attrs[name]
        if getattr(value, "shape", None) == (1,):  # netCDF knows no difference between a number and a list of one
            value = value[0]
        values[name] = value.decode() if isinstance(value, bytes) else value
    return values


def _is_bare_dimension(variable: Any) -> bool:
    name = variable.attrs.get("NAME", "")
    return (name.decode() if isinstance(name, bytes) else str(name)).startswith(_NO_VARIABLE)


def _dimensions(name: str, variable: Any) -> list[str]:
    if variable.is_scale:
        return [name] * variable.ndim
    return [axis[0].name.rpartition("/")[2] if len(axis) else f"{name}_{i}" for i, axis in enumerate(variable.dims)]


def _read_by_h5py(path: str | os.PathLike[str]) -> Any:
    import h5py
    import xarray

    with h5py.File(path, "r") as file:
        found = {name: item for name, item in file.items() if isinstance(item, h5py.Dataset)}
        variables = {
            name: (_dimensions(name, item), item[()], _attributes(item))
            for name, item in found.items()
            if not _is_bare_dimension(item)
        }
        return xarray.decode_cf(xarray.Dataset(variables, attrs=_attributes(file)))
