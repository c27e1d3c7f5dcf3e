"""What was measured while an ensemble advanced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _bandmill

_Floats = np.ndarray[Any, np.dtype[np.float64]]
_Counts = np.ndarray[Any, np.dtype[np.int64]]


class LostMember(NamedTuple):
    """A member whose state is no longer finite; it is in no statistic from then on."""

    member: int  #: its number; they count from the ensemble's first_member
    time: float  #: when it was noticed: at the end of a chunk, so up to `chunk` steps after it was lost
    parameters: dict[str, float]  #: its own


class Request(NamedTuple):
    """An observable to measure, and the bins (low, high, bins) of its histogram if there is to be one."""

    name: str
    bins: tuple[float, float, int] | None


@dataclass(frozen=True, eq=False)
class Statistic:
    """One observable over the ensemble: arrays with one entry per sample."""

    mean: _Floats
    variance: _Floats  #: of one member: sum of squared deviations over members - 1
    standard_error: _Floats  #: of the mean
    members: _Counts  #: how many are in the sums
    left_out: _Counts  #: how many are not: not finite, or too large
    values: _Floats | None  #: (samples, members), if they were kept
    histogram: _Counts | None  #: (samples, bins), if it was asked for
    bin_edges: _Floats | None  #: bins + 1
    below: _Counts  #: how many values lie below the bins
    above: _Counts

    def __repr__(self) -> str:
        return f"bandmill.Statistic({len(self.mean)} samples, mean={np.array2string(self.mean, threshold=6)})"


class History(Mapping[str, Statistic]):
    """The samples of one advance(): history["domain_size"].mean belongs to history.time."""

    time: _Floats  #: of each sample
    step: _Counts
    lost: list[LostMember]  #: the members that were lost meanwhile
    interrupted: bool  #: it ended before its time

    def __init__(
        self,
        measured: _bandmill.Measured,
        requests: list[Request],
        keep_values: bool,
        member: tuple[int, list[str]],
        attributes: dict[str, Any],
    ) -> None:
        self._attributes = attributes  # what was run, for to_xarray()
        self.time, self.step, self.interrupted = measured.times, measured.steps, measured.interrupted
        self._first_member, names = member
        self.lost = [LostMember(m, when, dict(zip(names, own))) for m, when, own in measured.lost]
        self._statistics: dict[str, Statistic] = {}
        for which, (name, bins) in enumerate(requests):
            mean, variance, error, members, left_out, below, above = measured.statistic(which)
            self._statistics[name] = Statistic(
                mean,
                variance,
                error,
                members,
                left_out,
                measured.values(which) if keep_values else None,
                measured.histogram(which) if bins else None,
                np.linspace(*bins[:2], bins[2] + 1) if bins else None,
                below,
                above,
            )

    def __getitem__(self, name: str) -> Statistic:
        if name not in self._statistics:
            raise KeyError(f"{name!r} was not measured: there is {', '.join(self._statistics) or 'nothing'}")
        return self._statistics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._statistics)

    def __len__(self) -> int:
        return len(self._statistics)

    def __contains__(self, name: object) -> bool:
        return name in self._statistics

    def to_xarray(self) -> Any:
        """An xarray.Dataset: domain_size_mean and so on over `time`; values over `time` and `member`.

        Its `attrs` tell what was run.
        """
        try:
            import xarray
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "xarray is not installed, which to_xarray() needs: pip install xarray", name="xarray"
            ) from None
        variables: dict[str, Any] = {}
        coordinates: dict[str, Any] = {"time": self.time, "step": ("time", self.step)}
        for name, s in self._statistics.items():
            parts = {"mean": s.mean, "stderr": s.standard_error, "variance": s.variance}  # as in files of studies
            parts |= {"members": s.members, "left_out": s.left_out}
            if s.histogram is not None:
                parts |= {"below": s.below, "above": s.above}
            for part, array in parts.items():
                variables[f"{name}_{part}"] = ("time", array)
            if s.values is not None:
                variables[name] = (("time", "member"), s.values)
                coordinates["member"] = self._first_member + np.arange(s.values.shape[1])
            if s.histogram is not None and s.bin_edges is not None:
                variables[f"{name}_histogram"] = (("time", f"{name}_bin"), s.histogram)
                coordinates[f"{name}_bin"] = (s.bin_edges[1:] + s.bin_edges[:-1]) / 2
        return xarray.Dataset(variables, coordinates, self._attributes)

    def __repr__(self) -> str:
        text = f"bandmill.History({len(self.time)} samples of {', '.join(self) or 'nothing'}"
        if len(self.time):
            text += f", time {self.time[0]:g} to {self.time[-1]:g}"
        if self.lost:
            text += f", {len(self.lost)} members lost"
        return text + (", interrupted)" if self.interrupted else ")")
