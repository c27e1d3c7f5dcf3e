"""Files that `bandmill coarsen`, `simulate` and `map` write."""

from __future__ import annotations

import os
from typing import Any


def open_results(path: str | os.PathLike[str]) -> Any:
    """The results of a study as an xarray.Dataset: named dimensions, units, and in `attrs` how they were made."""
    try:
        import netCDF4  # noqa: F401 (xarray reads these files by it)
        import xarray
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{error.name} is not installed, which reading results needs: pip install xarray netCDF4", name=error.name
        ) from None
    return xarray.open_dataset(path, engine="netcdf4")
