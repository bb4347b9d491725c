"""Conversion to tensors and element types: Python's ints become Int32 and its floats Float32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.types import AnyDType, TensorLike
from ...ops.shapes.broadcasting import as_floats
from ...ops.shapes.conversion import tensor_of
from ...tensors.dtype import DType, any_dtype, bool_, dtype_of, float32, float64, int32, int64, numpy_dtype, promote
from ...tensors.nested import tensors_in
from ...tensors.tensor import Tensor

__all__ = ["array", "asarray", "asfarray", "copy"]


def element_type(dtype: AnyDType) -> DType:
    """Return the engine's element type for itself, NumPy's name or a Python type."""
    for kind, engine_type in ((int, int32), (float, float32), (bool, bool_)):
        if dtype is kind:
            return engine_type
    return any_dtype(dtype)


def several(values: Any, name: str, argument: str) -> Sequence[Any]:
    """Return the items of a list, a tuple or an array with a leading axis."""
    if not isinstance(values, list | tuple) and not (isinstance(values, np.ndarray | Tensor) and values.ndim):
        raise TypeError(f"For '{name}', '{argument}' must be a list or tuple, but got {type(values).__name__}")
    return values  # type: ignore[return-value]  # a Tensor has the methods that are used of one


def array(obj: TensorLike, dtype: AnyDType | None = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Return a differentiable Tensor of numbers, lists, arrays or tensors; Python's ints become Int32, floats Float32.

    Args:
        obj: the value; a Tensor and an array keep their dtype.
        dtype: the element type; None uses the rule above.
        copy: accepted for NumPy compatibility: the result is a separate Tensor either way.
        ndmin: the minimum number of axes; missing ones are prepended with length 1.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``obj`` cannot be a Tensor, or ``dtype`` is not an element type.
    """
    tensor = tensor_of(obj)
    if tensor is obj:
        tensor = tensor.clone()
    if dtype is None and not isinstance(obj, Tensor | np.ndarray):
        dtype = {int64: int32, float64: float32}.get(tensor.dtype)
    if dtype is not None:
        # A value without tensors is created in its dtype immediately, so that large integers are not rounded.
        tensor = tensor.astype(element_type(dtype)) if tensors_in(obj) else Tensor(obj, element_type(dtype))
    while tensor.ndim < ndmin:
        tensor = tensor.expand_dims(0)
    return tensor


def asarray(a: TensorLike, dtype: AnyDType | None = None) -> Tensor:
    """Return a Tensor of numbers, lists, arrays or tensors; Python's ints become Int32 and its floats Float32.

    Args:
        a: the value; a Tensor is returned itself if ``dtype`` is None.
        dtype: the element type; None keeps that of ``a``.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``dtype`` is not an element type.
    """
    return a if isinstance(a, Tensor) and dtype is None else array(a, dtype)


def asfarray(a: TensorLike, dtype: AnyDType = float32) -> Tensor:
    """Return a floating Tensor of numbers, lists, arrays or tensors.

    Args:
        a: the value.
        dtype: the element type; one that is not floating becomes Float32.

    Returns:
        a Tensor of the shape of ``a``.

    Raises:
        TypeError: ``a`` cannot be a Tensor, or ``dtype`` is not an element type.
    """
    kind = element_type(dtype)
    return asarray(a, kind if kind.is_floating_point else float32)


def copy(a: TensorLike) -> Tensor:
    """Return a differentiable copy.

    Args:
        a: a Tensor, or a value convertible to one.

    Returns:
        a Tensor of its shape and dtype.
    """
    return asarray(a).clone()


def as_type(tensor: Tensor, dtype: AnyDType | None) -> Tensor:
    """Cast a tensor to an element type; None leaves it."""
    return tensor if dtype is None else tensor.astype(element_type(dtype))


def new_tensor(values: object, dtype: AnyDType = int32) -> Tensor:
    """Return a tensor of NumPy's result in an element type."""
    return Tensor(np.asarray(values).astype(numpy_dtype(element_type(dtype))))


def as_singles(x: Tensor) -> Tensor:
    """Cast a tensor to Float32, except Float64 and complex."""
    return x if x.dtype.is_complex or x.dtype == float64 else x.astype(float32)


def floating(x: TensorLike) -> Tensor:
    """Cast a tensor of integers or bools to Float32; others stay."""
    return as_floats(asarray(x))


def vector(x: TensorLike, name: str, argument: str) -> Tensor:
    """Return a tensor with one axis; a number becomes one of length 1.

    Raises:
        ValueError: it has more axes.
    """
    tensor = asarray(x)
    if tensor.ndim > 1:
        raise ValueError(f"For 'numpy.{name}', '{argument}' must have one axis, but got shape {tensor.shape}")
    return tensor if tensor.ndim else tensor.expand_dims(0)


def tensors_of(*values: TensorLike) -> tuple[Tensor, ...]:
    """Cast tensors to their common element type."""
    tensors = [asarray(x) for x in values]
    kind = combined(*(x.dtype for x in tensors))
    return tuple(x.astype(kind) for x in tensors)


def combined(*dtypes: DType) -> DType:
    """Return the element type in which an operation on these tensors computes."""
    result = dtypes[0].numpy
    for kind in dtypes[1:]:
        result = promote(result, kind.numpy)
    return dtype_of(result)
