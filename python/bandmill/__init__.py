"""Batches of tridiagonal and pentadiagonal systems that share one matrix, and ensembles of runs, on CPU and GPU.

    plan = bandmill.factor(ab, periodic=True)  # ab as in scipy.linalg.solve_banded
    x = plan.solve(b)                          # NumPy, torch, CuPy or JAX: what b is, x is too

    ensemble = bandmill.Ensemble(bandmill.CahnHilliard(gamma=0.01), members=256, seed=1)
    history = ensemble.advance(until=5, observables=["domain_size"], progress=True)

docs/python.md is the guide.
"""

from ._bandmill import cuda_built, cuda_devices
from ._bandmill import version as __version__
from ._ensemble import Ensemble, observables
from ._equations import (
    CahnHilliard,
    Constant,
    Cosine,
    Diffusion,
    Equation,
    ForcedCahnHilliard,
    Hyperdiffusion,
    UniformNoise,
)
from ._errors import (
    AccuracyWarning,
    BackendUnavailableError,
    DeviceError,
    Error,
    InvalidArgumentError,
    InvalidMatrixError,
    SingularMatrixError,
    UnstableError,
)
from ._history import History, LostMember, Statistic
from ._plan import Plan, Report, factor, toeplitz, torch_solve
from ._progress import Progress
from ._results import open_results as open

__all__ = [
    "AccuracyWarning",
    "BackendUnavailableError",
    "CahnHilliard",
    "Constant",
    "Cosine",
    "DeviceError",
    "Diffusion",
    "Ensemble",
    "Equation",
    "Error",
    "ForcedCahnHilliard",
    "History",
    "Hyperdiffusion",
    "InvalidArgumentError",
    "InvalidMatrixError",
    "LostMember",
    "Plan",
    "Progress",
    "Report",
    "SingularMatrixError",
    "Statistic",
    "UniformNoise",
    "UnstableError",
    "__version__",
    "cuda_built",
    "cuda_devices",
    "factor",
    "observables",
    "open",
    "toeplitz",
    "torch_solve",
]
