"""Files that `bandmill coarsen`, `simulate`, `map` and `converge` write."""

from __future__ import annotations

import importlib
import os
import pathlib
import warnings
from typing import Any

from ._errors import InvalidArgumentError

# What HDF5 and netCDF-4 keep about dimensions; no attributes of the data.
_INTERNAL = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS"}
_NO_VARIABLE = "This is a netCDF dimension but not a netCDF variable"


def open_results(path: str | os.PathLike[str]) -> Any:
    """The results of a study as an xarray.Dataset: named dimensions, units, and in `attrs` how they were made.

    netCDF4 (or h5netcdf) reads a variable when it is first used; where neither is installed h5py reads all at once.
    What is no such file is an InvalidArgumentError; one that a study has not finished is warned of.
    """
    xarray = _required("xarray")
    engines = [engine for engine, module in (("netcdf4", "netCDF4"), ("h5netcdf", "h5netcdf")) if _installed(module)]
    if not engines and not _installed("h5py"):
        _required("netCDF4")
    name = pathlib.PurePath(path).name
    with pathlib.Path(path).open("rb") as file:  # what is not there, or may not be read, is told as by open()
        wrong = why_not_results(file.read(64))
    if wrong:
        raise InvalidArgumentError(f"{name} {wrong}")
    try:
        data = xarray.open_dataset(path, engine=engines[0]) if engines else _read_by_h5py(path)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise InvalidArgumentError(
            f"{name} begins like a results file but cannot be read ({error}): it is cut off or damaged, or a study is "
            "writing it; copy or make it again"
        ) from error
    if name.endswith(".partial") or not str(data.attrs.get("finished", "finished")).strip():
        warnings.warn(
            f"{name} is unfinished: what the study has not reached reads as NaN", UserWarning, stacklevel=2
        )
    return data


def why_not_results(start: bytes) -> str:
    """What a file with these first bytes is, and what to give instead; empty if they are those of netCDF."""
    if start.startswith((b"\x89HDF\r\n\x1a\n", b"CDF")):
        return ""
    if start.startswith(b"bandmill checkpoint"):
        return "is a checkpoint: go on with it by 'bandmill resume', and give the file that this writes"
    if not start:
        return "is empty: give a file that --out of a study named"
    if start.lstrip().startswith((b"{", b"[")):
        return "is JSON, as --json writes (no netCDF): read it with json.load, or give the file that --out named"
    return "is no results file (it is neither netCDF-4 nor HDF5): give one that --out of a study named"


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
