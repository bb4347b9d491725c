"""Values as tensors, and tensors as ones of a different dtype."""

from __future__ import annotations

from typing import Any

from ...base.surfaces import declare, prim
from ...base.types import DTypeLike, TensorLike
from ...tape.tape import state
from ...tensors.dtype import DType, numpy_dtype
from ...tensors.nested import tensors_in
from ...tensors.tensor import Tensor
from .broadcasting import array_dtype, cast_operator
from .concatenation import stack

__all__ = ["cast"]


def tensor_of(value: TensorLike) -> Tensor:
    """Return a value as a tensor; unlike in ``Tensor(value)``, tensors in it keep their gradients.

    Args:
        value: a tensor, which is returned itself, an array, a number, or a list or tuple of numbers and tensors, nested
            as the axes are.

    Returns:
        A tensor with the elements of ``Tensor(value)``.

    Raises:
        TypeError: a list is not rectangular, or holds values of other types.
    """
    if isinstance(value, Tensor):
        return value
    result = Tensor(value)
    return _joined(value, result.dtype) if state.recordings and tensors_in(value) else result


def _joined(value: Any, dtype: DType) -> Tensor:
    if isinstance(value, list | tuple):
        return stack([_joined(part, dtype) for part in value])
    return cast(value, dtype) if isinstance(value, Tensor) else Tensor(value, dtype)


@declare(primitive=prim("Cast"))
def cast(input: TensorLike, dtype: DTypeLike) -> Tensor:
    """Return the elements in a different dtype.

    Args:
        input: a tensor of any shape, or a value convertible to one.
        dtype: the element type; of complex numbers a real type takes the real part.

    Returns:
        A tensor of the same shape; ``input`` itself if it has the dtype. Its gradient is cast back.

    Raises:
        TypeError: ``dtype`` is not a dtype.
    """
    x = tensor_of(input)
    target = numpy_dtype(dtype)
    return x if array_dtype(x) == target else cast_operator(x, dtype=target)
