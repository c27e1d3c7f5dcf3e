"""What an ensemble was made with, as its properties."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._equations import Equation
from ._plan import _device_name


class Description:
    _options: dict[str, Any]  # of Ensemble(...), as they were understood; without the initial state

    @property
    def time_step(self) -> float:
        return float(self._options["time_step"])

    @property
    def equation(self) -> Equation:
        equation: Equation = self._options["equation"]
        return equation

    @property
    def members(self) -> int:
        return int(self._options["members"])

    @property
    def first_member(self) -> int:
        return int(self._options["first_member"])

    @property
    def points(self) -> int:
        return int(self._options["points"])

    @property
    def length(self) -> float:
        return float(self._options["length"])

    @property
    def ends(self) -> str:
        return str(self._options["ends"])

    @property
    def end_value(self) -> float:
        return float(self._options["end_value"])

    @property
    def seed(self) -> int | None:
        """Of the noise it started from; None if it did not."""
        seed: int | None = self._options["seed"]
        return seed

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = np.dtype(self._options["dtype"])
        return dtype

    @property
    def device(self) -> str:
        """ "cpu" or "cuda:0" """
        return _device_name(self._options["device"])

    @property
    def framework(self) -> str:
        return str(self._options["framework"])
