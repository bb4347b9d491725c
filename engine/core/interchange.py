"""Tensors of other libraries' memory, and the other way round: NumPy's arrays, buffers, DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtype import numpy_dtype
from .tensor import Tensor

__all__ = ["from_dlpack", "from_numpy", "frombuffer", "to_dlpack"]


def from_numpy(array: Any) -> Tensor:
    """A tensor of a NumPy array's values."""
    return Tensor.from_numpy(array)


def frombuffer(
    buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A tensor of the bytes of a buffer, read as ``dtype``."""
    wanted = np.dtype(np.float32) if dtype is None else numpy_dtype(dtype)
    return Tensor(np.frombuffer(buffer, wanted, count, offset))


def to_dlpack(tensor: Tensor) -> Any:
    """The tensor's memory as a DLPack capsule; whoever takes it must not write into it."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'to_dlpack', 'tensor' must be a Tensor, but got {type(tensor).__name__}")
    return tensor._array.__dlpack__()


class _Capsule:
    """What NumPy and CuPy want to see around a bare capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU, DLPack's dlpack.h


def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor of what another library hands over: a copy, since tensors are never written into."""
    source = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    return Tensor(np.array(np.from_dlpack(source)))
