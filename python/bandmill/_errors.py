"""The errors of the library (src/bandmill/base/error.hpp), each also one that Python programs already catch."""

import numpy as np


class Error(Exception):
    """Every error that bandmill itself raises, but for a TypeError where something is no array of numbers it solves."""


class InvalidArgumentError(Error, ValueError):
    """A shape, axis, device or option that cannot be used."""


class _AtRow(Error):
    def __init__(self, text: str, row: int) -> None:
        super().__init__(text, row)
        self.row = row

    def __str__(self) -> str:
        return str(self.args[0])


class InvalidMatrixError(_AtRow, ValueError):
    """An entry that is NaN or infinite, or out of the range of the precision; `row` says where."""


class SingularMatrixError(_AtRow, np.linalg.LinAlgError):
    """The matrix has no inverse, to the precision of its entries; `row` is where elimination stopped."""


class UnstableError(Error, ArithmeticError):
    """Members of an ensemble are no longer finite; `member` is the first that was noticed.

    `time` is when it was noticed: at the end of a chunk.
    """

    def __init__(self, text: str, member: int, time: float) -> None:
        super().__init__(text, member, time)
        self.member, self.time = member, time

    def __str__(self) -> str:
        return str(self.args[0])


class AccuracyWarning(RuntimeWarning):
    """A time step that is too long, or a precision that is too low, for what an ensemble computes."""


class BackendUnavailableError(Error, RuntimeError):
    """A GPU was asked for and there is none, or this build has no CUDA."""


class DeviceError(Error, RuntimeError):
    """A call of the CUDA runtime failed."""
