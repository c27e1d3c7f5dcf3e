"""Ensemble: many runs of one equation on one grid, advanced together."""

from __future__ import annotations

import math
import warnings
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _bandmill
from ._arguments import (
    check_framework,
    count,
    host_array,
    member_count,
    number,
    observable_name,
    observable_requests,
    point_count,
    sample_times,
)
from ._description import Description
from ._equations import Constant, Cosine, Equation, UniformNoise
from ._errors import AccuracyWarning, InvalidArgumentError
from ._frameworks import find_framework, framework_named
from ._history import History, LostMember, Request
from ._plan import _bits, _device_index, _dtype_name
from ._progress import Progress, make_bar

#: What can be measured of a member.
observables: tuple[str, ...] = tuple(_bandmill.observables())

_CPU = -1
_MOST_THREADS = 2**31 - 1
_SPEC = (  # what of the options EnsembleSpec takes as it is
    *("points", "length", "ends", "end_value", "members", "time_step"),
    *("first_member", "members_per_slice", "latency"),
)


class Ensemble(Description):
    """Many runs of one equation on one grid: all are advanced together, and measured on the way.

        ensemble = bandmill.Ensemble(bandmill.CahnHilliard(gamma=0.01), members=256, seed=1)
        history = ensemble.advance(until=5, observables=["domain_size"], progress=True)
        history.time, history["domain_size"].mean, ensemble.state

    equation    Diffusion, Hyperdiffusion, CahnHilliard, ForcedCahnHilliard, or Equation(name)
    members     how many runs; may be left out where the equation or `initial` has one value for each
    points      of the grid, 5 or more; 256 unless `initial` is an array
    length      of the grid
    ends        "periodic", "neumann" or "dirichlet"; C is `end_value` at Dirichlet ends
    time_step   without it a tenth of the grid spacing
    initial     UniformNoise() (the default), Cosine, Constant; an array of shape (members, points) or (points,); or a
                function of x that returns one
    seed        of the noise; 0 unless given
    dtype       float64 (the default) or float32
    device      "cpu" (the default), "cuda" or "cuda:1"
    framework   "numpy" (the default), "torch", "cupy" or "jax": of what `state` and `observe` return
    threads     how many to use on the CPU; without it all that OpenMP offers
    first_member, members_per_slice, latency   as first_member, members_per_slice and shape in docs/ensembles.md

    Where `initial` is an array, dtype, device and framework are its own unless they are given.
    """

    _native: _bandmill.Ensemble
    _x: np.ndarray[Any, np.dtype[np.float64]]
    _lost: dict[int, LostMember]
    _history: History | None

    def __init__(
        self,
        equation: Equation,
        members: int | None = None,
        *,
        points: int | None = None,
        length: float = 2 * math.pi,
        ends: str = "periodic",
        end_value: float = 0.0,
        time_step: float | None = None,
        initial: Any = None,
        seed: int | None = None,
        dtype: Any = None,
        device: Any = None,
        framework: str | None = None,
        threads: int | None = None,
        first_member: int = 0,
        members_per_slice: int | None = None,
        latency: bool = False,
    ) -> None:
        if not isinstance(equation, Equation):
            raise TypeError(f"equation is of type {type(equation).__name__}: pass one, as in bandmill.CahnHilliard()")
        if seed is not None and not isinstance(initial, UniformNoise) and initial is not None:
            raise InvalidArgumentError("seed= was given, but there is no noise in `initial`: leave one of the two out")
        if initial is None:
            initial = UniformNoise()
        start = initial if isinstance(initial, (UniformNoise, Cosine, Constant)) else None
        array = host_array(initial, "initial") if start is None and not callable(initial) else None
        source = None if array is None else find_framework(initial)
        step_length = 0.0 if time_step is None else number(time_step, "time_step")
        if time_step is not None and not 0 < step_length < math.inf:
            raise InvalidArgumentError(
                f"time_step={time_step!r}: pass a positive, finite number, or leave it out for a tenth of the grid "
                "spacing"
            )
        self._options = {
            "equation": equation,
            "members": member_count(members, equation, start, array),
            "points": point_count(points, array),
            "length": number(length, "length"),
            "ends": str(ends),
            "end_value": number(end_value, "end_value"),
            "time_step": step_length,
            "seed": count(seed or 0, "seed", most=2**64 - 1) if isinstance(initial, UniformNoise) else None,
            "dtype": _dtype_name(dtype)
            or ("float32" if array is not None and array.dtype == np.float32 else "float64"),
            "device": _device_index(device) if device is not None else source.device(initial) if source else _CPU,
            "framework": framework or (source.name.lower() if source else "numpy"),
            "threads": 0 if threads is None else count(threads, "threads", 1, _MOST_THREADS),
            "first_member": count(first_member, "first_member"),
            "members_per_slice": 0 if members_per_slice is None else count(members_per_slice, "members_per_slice", 1),
            "latency": bool(latency),
        }
        spec = self._spec()
        if start is not None:
            native_start = start._start(self._options["seed"] or 0)
        else:
            if array is None:
                array = host_array(initial(spec.x), "what the function `initial` returned")
            native_start = _bandmill.given_states(self._all_members(array, "initial", np.float64))
        self._build(spec, native_start)

    def _spec(self) -> _bandmill.EnsembleSpec:
        o = self._options
        equation: Equation = o["equation"]
        return _bandmill.EnsembleSpec(
            equation=equation._name,
            fields=equation._fields,
            parameters=list(equation._parameters.values()),
            **{key: o[key] for key in _SPEC},
        )

    def _build(self, spec: _bandmill.EnsembleSpec, start: _bandmill.Start) -> None:
        o = self._options
        self._framework = framework_named(o["framework"])
        check_framework(self._framework, o["dtype"], o["device"])
        try:
            self._native = _bandmill.Ensemble(spec, start, _bits(o["dtype"]), o["device"], o["threads"])
        except MemoryError:
            gigabytes = self.members * self.points * _bits(o["dtype"]) / 8e9
            raise MemoryError(
                f"{self.members} members of {self.points} points do not fit into memory (their states alone take "
                f"{gigabytes:,.3g} GB in {o['dtype']}): pass fewer members"
            ) from None
        if o["device"] != _CPU:  # a framework that does not see this GPU says so now
            self._framework.from_host(np.zeros(1, o["dtype"]), o["device"])
        self._x = spec.x
        self._lost, self._history = {}, None
        o["time_step"] = self._native.time_step

    def _all_members(self, array: np.ndarray[Any, Any], name: str, dtype: Any) -> np.ndarray[Any, Any]:
        shape = (self.members, self.points)
        if array.shape not in (shape, shape[1:], (1, shape[1])):
            raise InvalidArgumentError(
                f"{name} has shape {array.shape}, but the ensemble has {shape[0]} members of {shape[1]} points: pass "
                f"an array of shape {shape}, or {shape[1:]} for all members alike"
            )
        return np.ascontiguousarray(np.broadcast_to(array, shape), dtype=dtype)

    def advance(
        self,
        until: float | None = None,
        *,
        steps: int | None = None,
        observables: str | Sequence[str] = (),
        samples: int | str | Any = None,
        histograms: Mapping[str, tuple[float, float, int]] | None = None,
        keep_values: bool = False,
        progress: bool | Callable[[Progress], bool | None] = False,
        stop_when_lost: bool = False,
        chunk: int | None = None,
    ) -> History:
        """Steps all members up to the time `until` (counted from 0, not from now), or by so many `steps`.

        observables     what to measure: names out of bandmill.observables
        samples         when: a number of times equally spaced from now to `until`, both included (101 unless given); an
                        array of times, of which those before now are left out; or "every step"
        histograms      {"domain_size": (1, 4, 30)}: 30 equal bins from 1 to 4
        keep_values     keep the values of all members, not only their statistics
        progress        True for a bar; or a function that is called with a Progress; the run ends if it returns False
        stop_when_lost  raise UnstableError at the first member that is no longer finite; without it when none is left
        chunk           steps between two looks at the members, calls of `progress`, and chances for Ctrl-C

        A run that an exception has ended, as Ctrl-C does, has its samples in `history`, and can go on with the same bits.
        """
        if (until is None) == (steps is None):
            raise InvalidArgumentError("pass one of until= (a time) and steps= (how many)")
        if steps is not None:
            end = (self.step + count(steps, "steps")) * self.time_step
        else:
            end = number(until, "until")
            if not 0 <= end < math.inf:
                raise InvalidArgumentError(f"until={until!r}: pass a finite time of 0 or more")
        requests = observable_requests(observables, histograms)
        if samples is None and requests:
            samples = 101
        every_step, times = sample_times(samples, self.time, end)
        if isinstance(progress, np.bool_):
            progress = bool(progress)
        bar = make_bar() if progress is True else None
        measured = _bandmill.Measured()
        try:
            self._native.run(
                measured,
                end,
                times,
                every_step,
                requests,
                bool(keep_values),
                self._chunk() if chunk is None else count(chunk, "chunk", 1),
                bool(stop_when_lost),
                _reporter(self.step, bar.update if bar else progress or None),
                _warn,
                0.05 if bar or not progress else 0.0,
            )
        except BaseException:
            if measured.interrupted:  # not where it was refused
                self._take(measured, requests, keep_values)
            raise
        finally:
            if bar:
                bar.close()
        return self._take(measured, requests, keep_values)

    def _take(self, measured: _bandmill.Measured, requests: list[Request], keep_values: bool) -> History:
        names = list(self.equation._parameters)
        self._history = History(measured, requests, bool(keep_values), (self.first_member, names), self._attributes())
        for lost in self._history.lost:
            self._lost.setdefault(lost.member, lost)
        return self._history

    def _attributes(self) -> dict[str, Any]:
        """What is run, by the names that files of studies have for it."""
        equation, o = self.equation, self._options
        own = {key: value for key, value in vars(equation).items() if isinstance(value, float)}
        if not own and equation._fields:  # an equation by its name, whose fields have none here
            own["equation_fields"] = list(equation._fields)
        own |= {key: of[0] for key, of in equation._parameters.items() if len(of) == 1}
        names = ["length", "points", "ends", "time_step", "seed", "dtype"]
        names += ["end_value"] * (o["ends"] == "dirichlet") + ["first_member"] * (o["first_member"] != 0)
        attributes = {"equation": equation._name, **own, "members": self.members, **{key: o[key] for key in names}}
        attributes |= {"device": self.device, "version": _bandmill.version}
        return {key: value for key, value in attributes.items() if value is not None}

    def _chunk(self) -> int:
        """So many that Ctrl-C is heard within a second or so; 20 or more, to keep members in a core's cache."""
        if self._options["device"] != _CPU or self.members_per_slice < self.members:
            return 0
        return min(1000, max(20, 500_000_000 // (self.members * self.points)))

    @property
    def state(self) -> Any:
        """The states now: a new array of shape (members, points), of the framework and on the device of the ensemble.

        May be set, with an array of any framework; the time stays as it is.
        """
        return self._framework.from_host(self._native.saved()[2], self._options["device"])

    @state.setter
    def state(self, value: Any) -> None:
        array = self._all_members(host_array(value, "state"), "state", self.dtype)
        if not np.isfinite(array).all():
            raise InvalidArgumentError("state is not finite everywhere (no run can go on from it): pass finite numbers")
        self._native.set_states(array)
        self._lost = {}

    def observe(self, observable: str) -> Any:
        """One observable now: an array with the value of each member."""
        return self._framework.from_host(self._native.observe(observable_name(observable)), self._options["device"])

    def copy(self, *, device: Any = None, framework: str | None = None, threads: int | None = None) -> Ensemble:
        """An ensemble that goes on from here by itself, on the same device with the same bits. So does pickling."""
        options = dict(self._options)
        if device is not None:
            options["device"] = _device_index(device)
        if threads is not None:
            options["threads"] = count(threads, "threads", 1, _MOST_THREADS)
        options["framework"] = framework or options["framework"]
        return _restore(options, *self._native.saved(), dict(self._lost))

    def __copy__(self) -> Ensemble:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> Ensemble:
        return self.copy()

    def __reduce__(self) -> Any:
        return _restore, (self._options, *self._native.saved(), self._lost)

    @property
    def history(self) -> History | None:
        """Of the last advance(), also where an exception ended it."""
        return self._history

    @property
    def lost(self) -> list[LostMember]:
        """Members that are no longer finite, as far as advance() has noticed them."""
        return list(self._lost.values())

    @property
    def step(self) -> int:
        """How many steps were taken."""
        return self._native.step

    @property
    def time(self) -> float:
        """step * time_step"""
        return self.step * self.time_step

    @property
    def members_per_slice(self) -> int:
        """How many are stepped at a time; all of them where memory allows."""
        return self._native.members_per_slice

    @property
    def path(self) -> str:
        """How the members are stepped, in words."""
        return self._native.path

    @property
    def x(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Where the points are, as a NumPy array."""
        x: np.ndarray[Any, np.dtype[np.float64]] = self._x.copy()
        return x

    def __repr__(self) -> str:
        ends = self.ends + (f" ({self.end_value:g})" if self.end_value else "")
        text = (
            f"bandmill.Ensemble({self.equation!r}, members={self.members}, points={self.points}, "
            f"length={self.length:g}, ends={ends}, {self.dtype} on {self.device}, framework={self.framework}, "
            f"time={self.time:g}, step={self.step}, time_step={self.time_step:g}"
        )
        return text + (f", lost={len(self._lost)})" if self._lost else ")")


def _restore(options: dict[str, Any], step: int, sampled: int, states: Any, lost: dict[int, LostMember]) -> Ensemble:
    ensemble = object.__new__(Ensemble)
    ensemble._options = dict(options)
    ensemble._build(ensemble._spec(), _bandmill.saved_state(step, sampled, states))
    ensemble._lost = lost
    return ensemble


def _reporter(first: int, show: Any) -> Any:
    """From the module's progress to that of this call."""
    if show is None:
        return None
    if not callable(show):
        raise TypeError(f"progress={show!r}: pass True, False or a function of a bandmill.Progress")

    def report(step: int, steps: int, time: float) -> bool:
        answer = show(Progress(step - first, steps - first, time))
        return bool(answer) if isinstance(answer, (bool, np.bool_)) else True  # None and the like: go on

    return report


def _warn(text: str) -> None:
    warnings.warn(text, AccuracyWarning, stacklevel=3)  # 3: who called advance()
