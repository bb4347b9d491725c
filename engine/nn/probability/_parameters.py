"""Parameters of distributions and bijectors: dtypes, conversion to tensors, ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...base.types import Array
from ...tensors.dtype import (
    DType,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    to_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor

ParamLike: TypeAlias = "Tensor | Array | float | Sequence[Any] | None"
"""A parameter in the user's form; None: it is given at each call."""
AtCall: TypeAlias = "Tensor | None"
"""A parameter of one call; None for that of the object."""

FLOATING = (float16, float32, float64)
NUMBERS = (*FLOATING, int8, int16, int32, int64, uint8, uint16, uint32, uint64)


def parameter(name: str, doc: str) -> property:
    """Return the property of a distribution or a bijector for a parameter: its tensor, or None for one of each call."""
    return property(lambda instance: getattr(instance, f"_{name}"), doc=doc)


def check_dtype(dtype: object, allowed: tuple[DType, ...], owner: str) -> None:
    """Raise TypeError unless ``dtype`` is one of those allowed."""
    if not isinstance(dtype, DType) or dtype not in allowed:
        names = ", ".join(str(option) for option in allowed)
        raise TypeError(f"For '{owner}', 'dtype' must be one of {names}, but got {dtype!r}")


def as_tensor(value: ParamLike, dtype: DType, argument: str) -> Tensor:
    """Return a parameter as a tensor of ``dtype``; a Parameter is returned itself, so that it can be trained.

    Raises:
        TypeError: it is not a number, list, array or tensor.
    """
    if isinstance(value, Parameter):
        return value
    if isinstance(value, Tensor):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, bool) or not isinstance(value, int | float | list | np.ndarray):
        raise TypeError(f"'{argument}' must be a number, a list, an array or a Tensor, but got {type(value).__name__}")
    return Tensor(value, dtype)


def parameter_dtype(parameters: Mapping[str, Any], dtype: DType) -> DType:
    """Return the dtype of a distribution's computation: that of its parameters, else its own, else float32.

    Raises:
        TypeError: two parameters differ in dtype.
    """
    dtypes = {name: to_dtype(value.dtype) for name, value in parameters.items() if hasattr(value, "dtype")}
    if len(set(dtypes.values())) > 1:
        described = ", ".join(f"{name} {value_dtype}" for name, value_dtype in dtypes.items())
        raise TypeError(f"parameters must have one dtype, but got {described}")
    for shared in dtypes.values():
        # As in MindSpore: double precision only if the distribution, not a tensor, has it.
        return float16 if shared == float16 else float32
    return dtype if dtype in FLOATING else float32


def shared_shape(parameters: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the shape that parameters broadcast to; None if one is missing.

    Raises:
        ValueError: they do not broadcast.
    """
    shapes = []
    for name, value in parameters.items():
        if value is None:
            return None
        shapes.append(as_tensor(value, float32, name).shape)
    return tuple(np.broadcast_shapes(*shapes))


def all_scalars(parameters: Mapping[str, Any]) -> bool:
    """Return whether every given parameter is a plain number."""
    return all(value is None or isinstance(value, int | float) for value in parameters.values())


def above_zero(value: Tensor | None, name: str) -> None:
    """Raise ValueError unless every element is above 0."""
    if value is not None and not (value.asnumpy() > 0).all():
        raise ValueError(f"'{name}' must be greater than 0, but got {value}")


def inside_unit(value: Tensor | None, name: str) -> None:
    """Raise ValueError unless every element is between 0 and 1, exclusive."""
    if value is not None:
        array = value.asnumpy()
        if not ((array > 0) & (array < 1)).all():
            raise ValueError(f"'{name}' must be greater than 0 and less than 1, but got {value}")
