"""What a file is, and what is in it: HDF5 files of studies by h5py, JSON of studies and benchmarks."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np

from ._errors import ReportError

# What a study's file cannot do without: by these variables it is recognised, too.
NEEDED = {
    "coarsen": ("time", "domain_size_mean", "domain_size_stderr"),
    "simulate": ("time", "member", "x", "C"),
    "map": ("class", "confidence"),
    "converge": ("points", "difference", "order"),
}
TELLING = {"coarsen": "domain_size_mean", "simulate": "C", "map": "class", "converge": "difference"}
BENCHMARKS = ("solve", "step", "own", "stencil", "plane", "diffusion", "hyperdiffusion", "arrays")
CHECKPOINT = b"bandmill checkpoint\n"
HDF5 = b"\x89HDF\r\n\x1a\n"


@dataclasses.dataclass
class Results:
    """One file: `kind` is the study's name, or "bench"; JSON of a study is in `summary`, and has no variables."""

    name: str
    kind: str
    attributes: dict[str, Any]
    variables: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    dimensions: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    long_names: dict[str, str] = dataclasses.field(default_factory=dict)
    summary: dict[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def subject(self) -> str:
        """What a section can be about: the kind, but domains of planes grow by another law than those of lines."""
        return "planes" if self.kind == "coarsen" and self.number("dimensions") == 2 else self.kind

    def options(self) -> dict[str, str]:
        """The options that were set: lines of a config file without its comments."""
        lines = (line.partition("=") for line in str(self.attributes.get("options", "")).splitlines())
        return {key.strip(): value.strip() for key, equals, value in lines if equals and not key.startswith("#")}

    def number(self, name: str) -> float | None:
        """A finite attribute, or None."""
        try:
            value = float(self.attributes[name])
        except (KeyError, TypeError, ValueError):
            return None
        return value if np.isfinite(value) else None


def read(path: str | pathlib.Path) -> Results:
    path = pathlib.Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(64)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror or error}") from None
    if start.startswith(CHECKPOINT):
        raise ReportError(f"{path} is a checkpoint, not a result: bandmill resume {path} finishes the study")
    if path.name.endswith(".partial"):
        raise ReportError(f"{path} is the file of a study that has not finished: wait for it, or bandmill resume it")
    if start.startswith(HDF5):
        return read_study(path)
    if start.lstrip()[:1] in (b"{", b"["):
        return read_json(path)
    raise ReportError(f"{path} is neither HDF5 nor JSON: give a file that a study (--out, --json) or a bench wrote")


def text(value: Any) -> Any:
    """Attributes as plain Python values; strings of a fixed length end in spaces while they are empty."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip("\0 ")
    if isinstance(value, np.ndarray):
        return [text(item) for item in value.tolist()] if value.ndim else text(value.item())
    if isinstance(value, np.generic):
        return text(value.item())
    return value.strip("\0 ") if isinstance(value, str) else value


def read_study(path: pathlib.Path) -> Results:
    try:
        import h5py
    except ModuleNotFoundError:
        raise ReportError("h5py is not installed, which reads results: pip install 'bandmill[report]'") from None
    try:
        with h5py.File(path, "r") as file:
            attributes = {name: text(value) for name, value in file.attrs.items()}
            kind = kind_of(path, set(file), attributes)
            return load(path, kind, file, attributes)
    except OSError as error:
        raise ReportError(f"{path} cannot be read (damaged, or cut short?): {' '.join(str(error).split())}") from None


def kind_of(path: pathlib.Path, names: set[str], attributes: dict[str, Any]) -> str:
    kind = next((kind for kind, telling in TELLING.items() if telling in names), None)
    if kind is None or "version" not in attributes:
        raise ReportError(f"{path} is HDF5, but no result of bandmill coarsen, simulate, map or converge")
    missing = [name for name in NEEDED[kind] if name not in names]
    if missing:
        raise ReportError(f"{path}, of bandmill {kind}, has no variable {', '.join(missing)}: make it again")
    if not attributes.get("finished"):
        raise ReportError(f"{path}, of bandmill {kind}, is not finished: wait for it, or bandmill resume it")
    return kind


# Only a few of many records are shown: reading these by themselves keeps a file of many GB out of memory.
def load(path: pathlib.Path, kind: str, file: Any, attributes: dict[str, Any]) -> Results:
    results = Results(path.name, kind, attributes)
    for name, data in file.items():
        if not hasattr(data, "dims") or data.dtype.kind not in "iuf":
            continue
        scale = data.attrs.get("CLASS") in (b"DIMENSION_SCALE", "DIMENSION_SCALE")
        labels = [dimension[0].name.strip("/") if len(dimension) else "" for dimension in data.dims]
        results.dimensions[name] = (name,) if scale and data.ndim == 1 else tuple(labels)
        results.long_names[name] = str(text(data.attrs.get("long_name", name)))
        results.variables[name] = thin_field(data, results) if kind == "simulate" and name == "C" else data[...]
    for name in NEEDED[kind]:
        values = results.variables.get(name)
        if values is None or not values.size:
            raise ReportError(f"{path}, of bandmill {kind}: {name} has no values: make it again")
    for name in set(results.dimensions) - {"C"}:
        for axis, label in enumerate(results.dimensions[name]):
            scale = results.variables.get(label)
            if scale is not None and scale.shape != results.variables[name].shape[axis : axis + 1]:
                raise ReportError(f"{path}: {name} does not fit its dimension {label}: the file is damaged")
    return results


SHOWN_RECORDS, SHOWN_MEMBERS, SHOWN_POINTS = 400, 16, 512  # of `simulate`: what a screen can show, and 3 MB


def thin_field(data: Any, results: Results) -> np.ndarray:
    """At most so many records, members and points, evenly spaced, first and last among them; which: `shown_...`."""
    if data.ndim != 3:
        raise ReportError(f"{results.name}: C has {data.ndim} dimensions, not time, member and x: the file is damaged")
    for name, count, most in zip(
        ("time", "member", "x"), data.shape, (SHOWN_RECORDS, SHOWN_MEMBERS, SHOWN_POINTS), strict=True
    ):
        if name == "x" and count > most:  # every k-th: the grid stays uniform
            shown = np.arange(0, count, -(-count // most))
        else:
            shown = np.unique(np.rint(np.linspace(0, count - 1, min(count, most))).astype(np.int64))
        results.variables[f"shown_{name}"] = shown
    records, members, points = (results.variables[f"shown_{name}"] for name in ("time", "member", "x"))
    field = np.empty((records.size, members.size, points.size))
    for index, record in enumerate(records):
        for place, member in enumerate(members):
            field[index, place] = data[record, member, :][points]
    return field


def read_json(path: pathlib.Path) -> Results:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise ReportError(f"{path} is not valid JSON ({error}): make it again") from None
    if isinstance(document, dict):
        attributes = {key: value for key, value in document.items() if not isinstance(value, dict | list)}
        if document.get("benchmark") in BENCHMARKS and document.get("records"):
            return Results(path.name, "bench", attributes, summary=document)
        wanted = {"coarsen": "samples", "map": "panels", "converge": "rows"}.get(document.get("study", ""))
        if wanted and document.get(wanted):
            return Results(path.name, document["study"], attributes, summary=document)
        if isinstance(document.get("benchmark"), str) and document["benchmark"] not in BENCHMARKS:
            shown = ", ".join(BENCHMARKS)
            raise ReportError(f"{path} is of the benchmark {document['benchmark']!r}: only {shown} are shown")
    raise ReportError(f"{path} is JSON, but no summary of a study (coarsen, map, converge) and no bench result")
