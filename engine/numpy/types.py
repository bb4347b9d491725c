"""Element types of what is combined."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.types import AnyDType
from ..tensors.dtype import DType
from ..tensors.tensor import Tensor
from .arrays import asarray, combined, element_type

__all__ = ["promote_types", "result_type"]


def promote_types(type1: AnyDType, type2: AnyDType) -> DType:
    """Return the element type in which an operation on tensors of two types computes.

    Args:
        type1: the one.
        type2: the other.

    Returns:
        the element type: a floating one wins over any integer, of two of a kind that which holds both.

    Raises:
        TypeError: one names no element type.
    """
    return combined(element_type(type1), element_type(type2))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the element type in which an operation on all of these computes.

    Args:
        *arrays_and_dtypes: tensors, numbers, lists, arrays and element types.

    Returns:
        the element type.

    Raises:
        ValueError: none is given.
        TypeError: one is neither an element type nor can be a Tensor.
    """
    if not arrays_and_dtypes:
        raise ValueError("For 'numpy.result_type', at least one tensor or element type must be given")
    return combined(*(_type_of(one) for one in arrays_and_dtypes))


def _type_of(one: Any) -> DType:
    if isinstance(one, DType | np.dtype | type | str):
        return element_type(one)
    return one.dtype if isinstance(one, Tensor) else asarray(one).dtype
