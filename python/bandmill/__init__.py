"""Batches of tridiagonal and pentadiagonal systems that share one matrix, on CPU and GPU.

    plan = bandmill.factor(ab, periodic=True)  # ab as in scipy.linalg.solve_banded
    x = plan.solve(b)                          # NumPy, torch, CuPy or JAX: what b is, x is too

docs/python.md is the guide.
"""

from ._bandmill import cuda_built, cuda_devices
from ._bandmill import version as __version__
from ._errors import (
    BackendUnavailableError,
    DeviceError,
    Error,
    InvalidArgumentError,
    InvalidMatrixError,
    SingularMatrixError,
)
from ._plan import Plan, Report, factor, toeplitz, torch_solve
from ._results import open_results as open

__all__ = [
    "BackendUnavailableError",
    "DeviceError",
    "Error",
    "InvalidArgumentError",
    "InvalidMatrixError",
    "Plan",
    "Report",
    "SingularMatrixError",
    "__version__",
    "cuda_built",
    "cuda_devices",
    "factor",
    "open",
    "toeplitz",
    "torch_solve",
]
