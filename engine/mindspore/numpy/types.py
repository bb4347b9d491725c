"""Element types of combined operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.types import AnyDType
from ...tensors.dtype import DType
from ...tensors.tensor import Tensor
from .arrays import asarray, combined, element_type

__all__ = ["promote_types", "result_type"]


def promote_types(type1: AnyDType, type2: AnyDType) -> DType:
    """Return the element type in which an operation on tensors of two types computes.

    Args:
        type1: the first type.
        type2: the second type.

    Returns:
        the element type: a floating one wins over any integer; two of a kind give the wider.

    Raises:
        TypeError: an argument is not an element type.
    """
    return combined(element_type(type1), element_type(type2))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the element type in which an operation on all of these computes.

    Args:
        *arrays_and_dtypes: tensors, numbers, lists, arrays and element types.

    Returns:
        the element type.

    Raises:
        ValueError: there are no arguments.
        TypeError: an argument is neither an element type nor convertible to a Tensor.
    """
    if not arrays_and_dtypes:
        raise ValueError("For 'numpy.result_type', at least one tensor or element type must be given")
    return combined(*(_type_of(argument) for argument in arrays_and_dtypes))


def _type_of(value: Any) -> DType:
    if isinstance(value, DType | np.dtype | type | str):
        return element_type(value)
    return value.dtype if isinstance(value, Tensor) else asarray(value).dtype
