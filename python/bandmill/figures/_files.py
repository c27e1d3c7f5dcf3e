"""What a file is, which command wrote it, and what it tells about how it was made."""

from __future__ import annotations

import json
import math
import os
import pathlib
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidArgumentError
from .._results import open_results, why_not_results

# The variable by which the files of a study are known.
MARKS = {"coarsen": "domain_size_mean", "map": "class", "simulate": "C", "converge": "difference"}
EQUATION_OPTIONS = {
    "cahn-hilliard": ("gamma",),
    "forced-cahn-hilliard": ("gamma", "wavenumber", "speed", "forcing"),
    "diffusion": ("diffusivity",),
    "hyperdiffusion": ("diffusivity",),
}
# Dimensions that figures walk along; a part of a file may have lost some, as by .isel(member=0).
DIMENSIONS = {
    "simulate": {"C": ("time", "member", "x"), "forcing": ("member",)},
    "coarsen": {
        "domain_size_mean": ("time",),
        "domain_size_stderr": ("time",),
        "domain_length": ("time",),
        "interface_histogram": ("histogram_time", "interfaces"),
        "domain_size_histogram": ("histogram_time", "domain_size"),
    },
}


@dataclass(frozen=True)
class Result:
    name: str  # of the file, for errors
    kind: str  # the command that wrote it: "coarsen", "bench solve"
    data: Any  # an xarray.Dataset, or what was in a JSON file

    @property
    def is_summary(self) -> bool:
        return isinstance(self.data, dict)

    def attribute(self, name: str) -> Any:
        """From the attributes of a file, or the top of a summary; None if it is not there."""
        value = (self.data if self.is_summary else self.data.attrs).get(name)
        return value.item() if hasattr(value, "item") else value

    def options(self) -> dict[str, str]:
        lines = (line.partition("=") for line in str(self.attribute("options") or "").splitlines())
        return {key.strip(): value.strip() for key, _, value in lines if not key.startswith("#") and value.strip()}

    def number(self, name: str) -> float | None:
        """A parameter, wherever the file has it; None if it has none, or a range or list of them."""
        value = self.attribute(name)
        if value is None and not self.is_summary and name in self.data.variables and self.data[name].ndim == 0:
            value = float(self.data[name])
        if value is None:
            value = self.options().get(name)
        return parse_number(value)

    @property
    def equation(self) -> str:
        usual = "forced-cahn-hilliard" if self.kind == "map" else "cahn-hilliard"
        return str(self.attribute("equation") or self.options().get("equation") or usual)


def parse_number(value: Any) -> float | None:
    """0.01, "2pi", "2^20"; None for what is no single number."""
    text = str(value).strip()
    base, power, exponent = text.partition("^")
    try:
        if power:
            return float(base) ** float(exponent)
        return float(text.removesuffix("pi") or 1) * math.pi if text.endswith("pi") else float(text)
    except ValueError:
        return None


def read(source: Any, *kinds: str, needs: str = "") -> Result:
    """The file (or open Dataset, or parsed JSON), if a command of `kinds` wrote it and it has the variable `needs`."""
    result = source if isinstance(source, Result) else identify(source)
    if kinds and result.kind not in kinds:
        wanted = " or ".join(f"'bandmill {kind}'" for kind in kinds)
        mark = needs or next((MARKS[kind] for kind in kinds if kind in MARKS), "")
        what = f"has no variable {mark}" if mark and not result.is_summary else "has other results"
        raise InvalidArgumentError(f"{result.name} {what} (it was written by '{result.kind}'): give a file of {wanted}")
    if needs and result.is_summary:
        raise InvalidArgumentError(
            f"{result.name} has no variable {needs} (it is a summary, from --json): give the file that --out names"
        )
    if needs and needs not in result.data.variables:
        raise InvalidArgumentError(f"{result.name} has no variable {needs} ({_why_missing(needs)})")
    return result


def _why_missing(variable: str) -> str:
    option = {
        "state": "no states were kept: run 'bandmill map' without --keep-states 0x0",
        "kmeans_class": "k-means was left out: run 'bandmill map' without --kmeans-restarts 0",
        "interface_histogram": "it was not counted: run 'bandmill coarsen' with --histogram-times",
    }
    return option.get(variable, "it is not complete: make it again")


def identify(source: Any) -> Result:
    if isinstance(source, dict):
        return _from_json(source, "the summary")
    if hasattr(source, "data_vars"):
        return _from_dataset(source, pathlib.PurePath(source.encoding.get("source", "the dataset")).name)
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            "a figure is drawn from a path, an xarray.Dataset or the dict of a JSON file, not from "
            f"{type(source).__name__}"
        )
    path = pathlib.Path(source)
    with path.open("rb") as file:
        start = file.read(64)
    if not start.lstrip().startswith(b"{"):
        wrong = why_not_results(start)
        if wrong:
            wrong = wrong if "checkpoint" in wrong else "is neither netCDF nor JSON: give a file that bandmill wrote"
            raise InvalidArgumentError(f"{path.name} {wrong}")
        return _from_dataset(open_results(path), path.name)
    try:
        return _from_json(json.loads(path.read_text(encoding="utf-8")), path.name)
    except json.JSONDecodeError as error:
        raise InvalidArgumentError(f"{path.name} is no valid JSON ({error}): make it again") from None


def _from_json(data: dict[str, Any], name: str) -> Result:
    if isinstance(data.get("study"), str):
        return Result(name, data["study"], data)
    if isinstance(data.get("benchmark"), str):
        return Result(name, f"bench {data['benchmark']}", data)
    raise InvalidArgumentError(f"{name} names neither a study nor a benchmark: give a file that bandmill wrote")


def _from_dataset(data: Any, name: str) -> Result:
    for kind, variable in MARKS.items():
        if variable in data.variables:
            return Result(name, kind, _with_all_dimensions(data, DIMENSIONS.get(kind, {}), name))
    raise InvalidArgumentError(
        f"{name} has none of the variables {', '.join(MARKS.values())}: give a file that a study of bandmill wrote"
    )


def _with_all_dimensions(data: Any, wanted: dict[str, tuple[str, ...]], name: str) -> Any:
    """Of a part of a file: a single member, time or histogram is a dimension of length 1 again."""
    for variable, dimensions in wanted.items():
        if variable not in data.variables or data[variable].dims == dimensions:
            continue
        missing = [dimension for dimension in dimensions if dimension not in data[variable].dims]
        if not {"time", "member", "histogram_time"}.issuperset(missing):
            raise InvalidArgumentError(
                f"{name} is a part without the dimension {missing[-1]} (a figure of {variable} is drawn along it): "
                "choose with slices or lists, as in .isel(x=slice(0, 10))"
            )
        values = data[variable].expand_dims(missing).transpose(*dimensions)
        data = data.drop_vars([variable, *(d for d in missing if d in data.variables and data[d].ndim == 0)])
        data = data.assign({variable: values})
    return data
