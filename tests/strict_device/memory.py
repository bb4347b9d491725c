"""The stand-in's memory: NumPy's, addressed as CuPy's is. Unwritten memory is not zero."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .counts import copied

__all__ = ["MemoryPointer", "PinnedMemoryPointer", "poisoned"]


LARGEST_POISONED = 1 << 24
"""Nobody touches larger arrays but to have kernels compiled for their size, and no system gives that much memory."""


def poisoned(shape: Any, dtype: Any, order: str = "C") -> np.ndarray[Any, Any]:
    """Return memory as from a pool: NaN, indices out of range, True and False in turn."""
    array = np.empty(shape, dtype, order="F" if order == "F" else "C")
    if array.nbytes > LARGEST_POISONED:
        return array
    raw = array.reshape(-1, order="A").view(np.uint8)
    if array.dtype.kind == "b":
        raw[::2], raw[1::2] = 1, 0
    else:
        raw[:] = 0xA5 if array.dtype.kind in "iu" else 0xFF  # all bits set are NaN in every format of numbers
    return array


class MemoryPointer:
    """An address in owned memory, as ``cupy.cuda.MemoryPointer``."""

    __module__ = "cupy.cuda"

    def __init__(self, owner: np.ndarray[Any, Any], offset: int = 0, address: int | None = None) -> None:
        self._owner, self._offset = owner, offset
        self.ptr = (owner.ctypes.data if address is None else address) + offset
        self.device_id = 0

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self._owner, offset, self.ptr)

    def copy_to_host_async(self, address: int, size: int, stream: Any = None) -> None:
        # Without a wait: a reader of the host's memory waits for the stream.
        ctypes.memmove(address, self.ptr, size)

    def copy_from_host_async(self, address: int, size: int, stream: Any = None) -> None:
        copied("copy_from_host_async", "device", size)
        ctypes.memmove(self.ptr, address, size)

    def view(self, shape: Any, dtype: Any, strides: Any) -> np.ndarray[Any, Any]:
        """Return the array that lies here."""
        memory = self._owner.reshape(-1).view(np.uint8)
        return np.ndarray(shape, dtype, memory, self.ptr - memory.ctypes.data, strides)


class PinnedMemoryPointer:
    """Memory of the host for copies in parallel with the computation."""

    __module__ = "cupy.cuda"

    def __init__(self, size: int) -> None:
        self._bytes = np.empty(max(size, 1), np.uint8)
        self.ptr: int = self._bytes.ctypes.data

    def size(self) -> int:
        return self._bytes.size
