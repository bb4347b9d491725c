"""Exchange of memory with other libraries: NumPy arrays, buffers, DLPack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.types import Array, DTypeLike

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer as Buffer

from .dtype import numpy_dtype
from .tensor import Tensor

__all__ = ["from_dlpack", "from_numpy", "frombuffer", "to_dlpack"]


def from_numpy(array: Array) -> Tensor:
    """Return a Tensor of a NumPy array's values; later writes to the array do not affect it.

    Args:
        array: a ``numpy.ndarray`` of numbers or bools.

    Returns:
        a Tensor of its shape and dtype.

    Raises:
        TypeError: ``array`` is not a ``numpy.ndarray``, or holds something else.
    """
    return Tensor.from_numpy(array)


def frombuffer(
    buffer: Buffer, *, dtype: DTypeLike | None = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Return a vector of the bytes of a buffer, read as ``dtype``; later writes to the buffer do not affect it.

    Args:
        buffer: bytes, a bytearray, an array, or any object with Python's buffer protocol.
        dtype: the element type; None is Float32.
        count: how many elements are read; -1 is all.
        offset: how many bytes are skipped at the beginning.
        requires_grad: accepted for compatibility with MindSpore: gradients are requested by ``grad``.

    Returns:
        a Tensor with one axis.

    Raises:
        TypeError: ``dtype`` is not an element type.
        ValueError: the bytes are fewer than ``count`` elements, not a whole number of elements, or empty.
    """
    element_type = np.dtype(np.float32) if dtype is None else numpy_dtype(dtype)
    source: Any = buffer  # NumPy's annotation has fewer types than it accepts
    return Tensor(np.frombuffer(source, element_type, count, offset))


def to_dlpack(tensor: Tensor) -> object:
    """Return the Tensor's memory as a DLPack capsule, which other libraries can import without a copy.

    Args:
        tensor: the Tensor; importers must not write into the capsule.

    Returns:
        the capsule.

    Raises:
        TypeError: ``tensor`` is not a Tensor.
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"For 'to_dlpack', 'tensor' must be a Tensor, but got {type(tensor).__name__}")
    return tensor._array.__dlpack__()


class _Capsule:
    """The interface that NumPy requires around a bare capsule."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __dlpack__(self, **kwargs: Any) -> object:
        return self._capsule


def from_dlpack(dlpack: object) -> Tensor:
    """Return a Tensor of an object that another library exports by DLPack: a copy, since arrays are immutable.

    Args:
        dlpack: an object with ``__dlpack__`` in the memory of the CPU, such as an array of another library; or a bare
            capsule, which can be imported once.

    Returns:
        a Tensor of its shape and dtype.

    Raises:
        TypeError: ``dlpack`` is none of these.
        ValueError: the capsule is already used.
    """
    source: Any = dlpack
    if hasattr(dlpack, "__dlpack__"):
        return Tensor(np.array(np.from_dlpack(source)))
    if type(dlpack).__name__ != "PyCapsule":
        raise TypeError(
            "For 'from_dlpack', 'dlpack' must be an array with '__dlpack__' or a capsule, "
            f"but got {type(dlpack).__name__}"
        )
    source = _Capsule(dlpack)
    try:
        return Tensor(np.array(np.from_dlpack(source)))
    except ValueError as error:  # NumPy's message names the capsule's internal name
        raise ValueError("For 'from_dlpack', this capsule was taken before, or is of something else") from error
