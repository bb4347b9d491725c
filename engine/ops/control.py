"""What is asked about tensors, printing in the order of the program, and plain Python numbers as operators."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backend import to_device
from ..core.dtype import DType, float32, int32, int64, numpy_dtype
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from . import arithmetic, comparison, exponentials
from .arguments import check_tensor
from .creation import zeros
from .shape import cast

__all__ = [
    "deepcopy", "dtype", "dyn_shape", "is_tensor", "print_", "range", "rank", "scalar_add", "scalar_cast",
    "scalar_div", "scalar_eq", "scalar_floordiv", "scalar_ge", "scalar_gt", "scalar_le", "scalar_log", "scalar_lt",
    "scalar_max", "scalar_min", "scalar_mod", "scalar_mul", "scalar_ne", "scalar_pow", "scalar_sub",
    "scalar_to_array", "scalar_to_tensor", "scalar_uadd", "scalar_usub", "shape", "shape_", "size", "tensor_range",
    "tuple_to_array", "type_as"
]  # fmt: skip


@declare(primitive=prim("Shape"))
def shape(input_x: Tensor) -> tuple[int, ...]:
    """The shape."""
    return check_tensor(input_x, "shape", "input_x").shape


shape_ = shape


@declare(primitive=prim("TensorShape"))
def dyn_shape(input_x: Tensor) -> Any:
    """The shape as a tensor."""
    return Tensor(np.array(shape(input_x), np.int64))


@declare(primitive=prim("Rank"))
def rank(input_x: Tensor) -> int:
    """The number of axes."""
    return check_tensor(input_x, "rank", "input_x").ndim


@declare(primitive=prim("Size"))
def size(input_x: Tensor) -> int:
    """The number of elements."""
    return check_tensor(input_x, "size", "input_x").size


@declare(primitive=prim("DType"))
def dtype(x: Tensor) -> DType:
    """The element type."""
    return check_tensor(x, "dtype", "x").dtype


def is_tensor(obj: Any) -> bool:
    """Whether it is a Tensor."""
    return isinstance(obj, Tensor)


@declare(method=True)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the dtype of ``other``."""
    return cast(input, check_tensor(other, "type_as", "other").dtype)


def deepcopy(input_x: Tensor) -> Any:
    """A tensor of its own with the same values."""
    return copy.deepcopy(check_tensor(input_x, "deepcopy", "input_x"))


@declare(primitive=prim("Print"))
def print_(*input_x: Any) -> None:
    """Print tensors as MindSpore's ``Print`` does: each on a line, with shape, dtype and value."""
    for value in input_x:
        print(repr(value) if isinstance(value, Tensor) else value, flush=True)


declare(primitive=prim("Depend"))(lambda value, expr: value)


@declare(primitive=[prim(f"NPU{what}FloatStatus") for what in ("Alloc", "Clear", "Get")])
def _float_status(*_: Any) -> Tensor:
    """NumPy and CuPy raise no overflow flag: always clear. Use ops.isfinite."""
    return zeros((8,), float32)


@declare(primitive=prim("Range", maxlen=1000000))
def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Any:
    """start, start + step, ... before ``end``, in the dtype of the three."""
    given = [x if isinstance(x, Tensor) else Tensor(x) for x in (start, end, step)]
    first, last, by = (x.item() for x in given)
    if by == 0:
        raise ValueError("For 'range', 'step' must not be 0")
    return Tensor._wrap(to_device(np.arange(first, last, by).astype(given[0]._array.dtype)))


tensor_range = range


@declare(primitive=prim("TupleToArray"))
def tuple_to_array(input_x: tuple[Any, ...]) -> Tensor:
    """A tuple of numbers as a tensor.

    Raises:
        TypeError: no tuple.
    """
    if not isinstance(input_x, tuple):
        raise TypeError(f"For 'tuple_to_array', 'input_x' must be a tuple, but got {type(input_x).__name__}")
    made = Tensor(list(input_x))
    return cast(made, int32) if made.dtype is int64 else made


@declare(primitive=prim("TensorToTuple"))
def _tensor_to_tuple(x: Tensor) -> tuple[Any, ...]:
    """The elements of a vector as Python numbers."""
    return tuple(x.tolist())


@declare(primitive=prim("ScalarToTensor"))
def scalar_to_tensor(input_x: Any, dtype: Any = float32) -> Any:
    """A number as a 0-d tensor.

    Raises:
        TypeError: no number.
    """
    if not isinstance(input_x, bool | int | float):
        raise TypeError(f"For 'scalar_to_tensor', 'input_x' must be a number, but got {type(input_x).__name__}")
    return Tensor(input_x, dtype)


@declare(primitive=prim("ScalarToArray"))
def scalar_to_array(input_x: Any) -> Any:
    """A number as a 0-d tensor of its own dtype."""
    return Tensor(input_x)


@declare(primitive=prim("ScalarCast"))
def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A Python number as the kind of number that a dtype holds."""
    kind = numpy_dtype(input_y).kind
    return {"b": bool, "i": int, "u": int}.get(kind, float)(input_x)


def _number(name: str, function: Callable[..., Any], tensors: Callable[..., Any]) -> Any:
    def computed(*numbers: Any) -> Any:
        return (tensors if any(isinstance(n, Tensor) for n in numbers) else function)(*numbers)

    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = f"Python's ``{getattr(function, '__name__', name)}`` of numbers."
    return computed


scalar_add, scalar_sub = (
    _number("scalar_add", operator.add, arithmetic.add),
    _number("scalar_sub", operator.sub, arithmetic.sub),
)
scalar_mul, scalar_div = (
    _number("scalar_mul", operator.mul, arithmetic.mul),
    _number("scalar_div", operator.truediv, arithmetic.div),
)
scalar_floordiv = _number("scalar_floordiv", operator.floordiv, arithmetic.floor_divide)
scalar_mod, scalar_pow = (
    _number("scalar_mod", operator.mod, arithmetic.remainder),
    _number("scalar_pow", operator.pow, arithmetic.pow),
)
scalar_eq, scalar_ne = (
    _number("scalar_eq", operator.eq, comparison.eq),
    _number("scalar_ne", operator.ne, comparison.ne),
)
scalar_lt, scalar_le = (
    _number("scalar_lt", operator.lt, comparison.lt),
    _number("scalar_le", operator.le, comparison.le),
)
scalar_gt, scalar_ge = (
    _number("scalar_gt", operator.gt, comparison.gt),
    _number("scalar_ge", operator.ge, comparison.ge),
)
scalar_max, scalar_min = _number("scalar_max", max, arithmetic.maximum), _number("scalar_min", min, arithmetic.minimum)
scalar_uadd, scalar_usub = (
    _number("scalar_uadd", operator.pos, lambda x: x),
    _number("scalar_usub", operator.neg, arithmetic.neg),
)
scalar_log = _number("scalar_log", math.log, exponentials.log)
