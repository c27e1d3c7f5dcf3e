"""What differs between NumPy, torch, CuPy and JAX: how an array is exported, copied and made, and on which stream.

A framework is looked for when an array of it turns up, so it is imported already; the type of the array names it.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from . import _bandmill
from ._errors import InvalidArgumentError


class NumPy:
    name = "NumPy"

    def export(self, array: Any) -> Any:
        return array

    export_output = export

    def empty_like(self, array: Any) -> Any:
        return np.empty_like(array, subok=False)

    def packed(self, array: Any, dtype: str | None) -> Any:
        return np.array(array, dtype=dtype, order="C", copy=True)

    def cast(self, array: Any, like: Any) -> Any:
        return array.astype(like.dtype, copy=False)

    def to_host(self, array: Any, what: str) -> Any:
        return array

    def from_host(self, array: Any, device: int) -> Any:
        """A NumPy array as one of this framework: on the CPU (-1) or on a GPU. It may keep the memory."""
        return array

    def stream(self, array: Any) -> int:
        return 0

    def device(self, array: Any) -> int:
        return -1


class Torch:
    name = "torch"

    def __init__(self) -> None:
        self.torch: Any = sys.modules["torch"]
        self.to_dlpack: Any = self.torch.utils.dlpack.to_dlpack
        # From 2.10 on python/src/solve.cpp reads tensors themselves, and asks torch for the stream.
        self.is_direct: bool = hasattr(self.torch.Tensor, "__dlpack_c_exchange_api__")
        if self.is_direct:
            self.to_dlpack = lambda array: array
        self.increment_version: Any = self.torch.autograd.graph.increment_version
        # Plan.solve then takes most tensors without a step in Python. What increment_version calls is private to torch:
        # where it is missing, or is no function in C, all tensors come this way.
        increment = getattr(self.torch._C, "_increment_version", None)
        if self.is_direct and increment is not None:
            _bandmill.know_torch(self.torch.Tensor, increment)

    def export(self, array: Any) -> Any:
        if array.is_neg():  # a flag on the tensor, which DLPack does not carry
            array = array.resolve_neg()
        # Not array.__dlpack__(): it is written in Python, 4 us slower, and minds streams. No other stream has to wait
        # here, since the solve is put on the caller's. It takes tensors that want gradients as they are.
        return self.to_dlpack(array)

    def export_output(self, array: Any) -> Any:
        return self.to_dlpack(array)  # new, or seen by prepare_writing

    def prepare_writing(self, array: Any) -> None:
        if array.is_neg():
            raise InvalidArgumentError(
                "out is stored negated (torch marks what .conj().imag returns so): pass out.resolve_neg()"
            )
        try:  # so that autograd notices if it has kept the old values
            self.increment_version(array)
        except RuntimeError:
            if not array.is_inference():  # which have no versions; asking first would cost each call some us
                raise

    def empty_like(self, array: Any) -> Any:
        return self.torch.empty_like(array, requires_grad=False)

    def packed(self, array: Any, dtype: str | None) -> Any:
        array = array.detach().clone(memory_format=self.torch.contiguous_format)
        return array if dtype is None else array.to(getattr(self.torch, dtype))

    def cast(self, array: Any, like: Any) -> Any:
        return array.to(like.dtype)

    def to_host(self, array: Any, what: str) -> Any:
        return array.detach().cpu().numpy()

    def from_host(self, array: Any, device: int) -> Any:
        tensor = self.torch.from_numpy(array)
        return tensor if device < 0 else tensor.to(f"cuda:{device}")

    def stream(self, array: Any) -> int:
        if self.is_direct or not array.is_cuda:
            return 0
        return int(self.torch.cuda.current_stream(array.device).cuda_stream)

    def device(self, array: Any) -> int:
        return int(array.device.index) if array.is_cuda else -1


class CuPy:
    name = "CuPy"

    def __init__(self) -> None:
        self.cupy: Any = sys.modules["cupy"]

    def export(self, array: Any) -> Any:
        return array.__dlpack__(stream=-1)  # -1: no other stream has to wait, since the solve is put on the caller's

    export_output = export

    def empty_like(self, array: Any) -> Any:
        with array.device:
            return self.cupy.empty_like(array)

    def packed(self, array: Any, dtype: str | None) -> Any:
        with array.device:
            return self.cupy.array(array, dtype=dtype, order="C", copy=True)

    def cast(self, array: Any, like: Any) -> Any:
        with array.device:
            return array.astype(like.dtype, copy=False)

    def to_host(self, array: Any, what: str) -> Any:
        return self.cupy.asnumpy(array)

    def from_host(self, array: Any, device: int) -> Any:
        with self.cupy.cuda.Device(device):
            return self.cupy.asarray(array)

    def stream(self, array: Any) -> int:
        with array.device:
            return int(self.cupy.cuda.get_current_stream().ptr)

    def device(self, array: Any) -> int:
        return int(array.device.id)


class JAX:
    name = "JAX"

    def __init__(self) -> None:
        self.jax: Any = sys.modules["jax"]

    def refuse_tracer(self, array: Any, what: str) -> None:
        if isinstance(array, self.jax.core.Tracer):
            raise TypeError(
                f"{what} is a JAX tracer: its values are not known inside jit, grad or vmap, and bandmill works on "
                "values; call it outside of them"
            )

    def to_host(self, array: Any, what: str) -> Any:
        self.refuse_tracer(array, what)
        return np.asarray(array)

    def from_host(self, array: Any, device: int) -> Any:
        if device < 0:
            place = self.jax.devices("cpu")[0]
        else:
            place = next((d for d in self.jax.devices("gpu") if d.local_hardware_id == device), None)
            if place is None:
                raise InvalidArgumentError(f"JAX does not see cuda:{device}: pass another device, or framework='numpy'")
        if not self.jax.config.jax_enable_x64:  # JAX would do the same, and warn each time
            array = array.astype(np.float32, copy=False)
        return self.jax.device_put(array, place)

    def device(self, array: Any) -> int:
        devices = list(array.devices())
        return int(devices[0].local_hardware_id) if len(devices) == 1 and devices[0].platform != "cpu" else -1


_BY_NAME: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): NumPy,
    ("torch", "Tensor"): Torch,
    ("cupy", "ndarray"): CuPy,
}
_ONLY: dict[Any, Any] = {NumPy: NumPy()}
_BY_TYPE: dict[type, Any] = {np.ndarray: _ONLY[NumPy]}
_ALL = {"numpy": NumPy, "torch": Torch, "cupy": CuPy, "jax": JAX}


def framework_named(name: str) -> Any:
    """The framework, which is imported if need be."""
    if name not in _ALL:
        raise InvalidArgumentError(f"framework={name!r} is not known: pass {', '.join(map(repr, _ALL))}")
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:  # it is there, but something that it needs is not
            raise
        raise ModuleNotFoundError(
            f"{name} is not installed, which framework={name!r} needs: pip install {name} (or as its own pages say), "
            "or pass framework='numpy'",
            name=name,
        ) from None
    return _only(_ALL[name])


def _only(make: Any) -> Any:
    """One object for all types of a framework, so that `is` compares frameworks."""
    if make not in _ONLY:
        _ONLY[make] = make()
    return _ONLY[make]


def find_framework(array: Any) -> Any:
    """The framework of an array; None for what is no array."""
    known = _BY_TYPE.get(type(array))
    if known is not None or isinstance(array, np.ma.MaskedArray):  # a mask would be lost
        return known
    for cls in type(array).__mro__:
        root = cls.__module__.partition(".")[0]
        make = JAX if root in ("jax", "jaxlib") else _BY_NAME.get((root, cls.__name__))
        if make is not None:
            return _BY_TYPE.setdefault(type(array), _only(make))
    return None
