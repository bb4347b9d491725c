"""Queries about tensors, printing in the order of the program, and plain Python numbers as operators."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_type
from ...base.surfaces import declare, prim
from ...base.types import DTypeLike, Number, Operand, TensorLike
from ...tape.tape import report_side_effect
from ...tensors.backend import to_device
from ...tensors.dtype import DType, float32, int32, int64, numpy_dtype, promote
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor
from ..elementwise import arithmetic, comparison, exponentials
from ..shapes.conversion import cast, tensor_of
from ..shapes.creation import zeros
from ..sparse.tensors import COOTensor, CSRTensor

__all__ = [
    "deepcopy",
    "depend",
    "dtype",
    "dyn_shape",
    "is_tensor",
    "print_",
    "range",
    "rank",
    "scalar_add",
    "scalar_cast",
    "scalar_div",
    "scalar_eq",
    "scalar_floordiv",
    "scalar_ge",
    "scalar_gt",
    "scalar_le",
    "scalar_log",
    "scalar_lt",
    "scalar_max",
    "scalar_min",
    "scalar_mod",
    "scalar_mul",
    "scalar_ne",
    "scalar_pow",
    "scalar_sub",
    "scalar_to_array",
    "scalar_to_tensor",
    "scalar_uadd",
    "scalar_usub",
    "shape",
    "shape_",
    "size",
    "tensor_range",
    "tuple_to_array",
    "type_as",
]


@declare(primitive=prim("Shape"))
def shape(input_x: Tensor | COOTensor | CSRTensor) -> tuple[int, ...]:
    """Return the shape of a tensor.

    Args:
        input_x: the tensor, which may be a sparse one.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return (input_x if isinstance(input_x, COOTensor | CSRTensor) else check_tensor(input_x, "shape", "input_x")).shape


shape_ = shape


@declare(primitive=prim("TensorShape"))
def dyn_shape(input_x: Tensor) -> Tensor:
    """Return the shape of a tensor, as a tensor.

    Args:
        input_x: the tensor.

    Returns:
        An Int64 tensor (ndim,).

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return Tensor(np.array(shape(input_x), np.int64))


@declare(primitive=prim("Rank"))
def rank(input_x: Tensor) -> int:
    """Return the number of axes of a tensor.

    Args:
        input_x: the tensor.

    Returns:
        An int.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return check_tensor(input_x, "rank", "input_x").ndim


@declare(primitive=prim("Size"))
def size(input_x: Tensor) -> int:
    """Return the number of elements of a tensor.

    Args:
        input_x: the tensor.

    Returns:
        An int.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return check_tensor(input_x, "size", "input_x").size


@declare(primitive=prim("DType"))
def dtype(x: Tensor | COOTensor | CSRTensor) -> DType:
    """Return the element type of a tensor.

    Args:
        x: the tensor, which may be a sparse one.

    Returns:
        A dtype, such as ``mindspore.float32``.

    Raises:
        TypeError: ``x`` is not a Tensor.
    """
    return (x if isinstance(x, COOTensor | CSRTensor) else check_tensor(x, "dtype", "x")).dtype


def is_tensor(obj: object) -> bool:
    """Return whether a value is a Tensor (a Parameter is one too).

    Args:
        obj: any value.

    Returns:
        A bool.
    """
    return isinstance(obj, Tensor)


@declare(method=True)
def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Return the elements cast to the dtype of ``other``.

    Args:
        input: a tensor of any shape.
        other: the tensor that gives the dtype.

    Returns:
        A tensor of the shape of ``input``; ``input`` itself if it has the dtype already.

    Raises:
        TypeError: ``other`` is not a Tensor.
    """
    return cast(input, check_tensor(other, "type_as", "other").dtype)


_deepcopy = Operator("deepcopy", lambda x: x.copy(), (lambda F, g, out, x: g,))


def deepcopy(input_x: Tensor) -> Tensor:
    """Return a copy of a tensor; the gradient passes as it is.

    Args:
        input_x: a tensor of any shape.

    Returns:
        A tensor of the same shape and dtype that shares no memory.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
    """
    return _deepcopy(check_tensor(input_x, "deepcopy", "input_x"))


@declare(primitive=prim("Print"))
def print_(*input_x: Any) -> None:
    """Print values in the order of the program, each on a line, tensors with shape, dtype and value.

    Args:
        input_x: tensors, or anything else that Python prints.
    """
    report_side_effect("print_() is called, and a plan would not print")
    for value in input_x:
        print(repr(value) if isinstance(value, Tensor) else value, flush=True)


@declare(primitive=prim("Depend"))
def depend(value: Any, expr: Any) -> Any:
    """Return ``value``; in eager execution ``expr`` has been computed already.

    Args:
        value: the result.
        expr: the value that a graph compiler would compute before.

    Returns:
        ``value``.
    """
    return value


@declare(primitive=[prim(f"NPU{action}FloatStatus") for action in ("Alloc", "Clear", "Get")])
def _float_status(*_: Any) -> Tensor:
    """Return eight zeros (Float32): NumPy and CuPy have no overflow flag to report; use ``ops.isfinite``."""
    return zeros((8,), float32)


@declare(primitive=prim("Range", maxlen=1000000))
def range(start: Operand, end: Operand, step: Operand, maxlen: int = 1000000) -> Tensor:
    """Return start, start + step, start + 2 * step, ... as long as it is before ``end``.

    Args:
        start: the first number, a number or a 0-d tensor.
        end: the end, not included.
        step: the difference of two numbers, negative to count down; not 0. If it leads away from ``end``, there are
            none.
        maxlen: for a compiler: the largest number of elements.

    Returns:
        A vector of the dtype of the three, or the widest of them.

    Raises:
        TypeError: some are integers and some are floats.
        ValueError: ``step`` is 0.
    """
    tensors = [x if isinstance(x, Tensor) else Tensor(x) for x in (start, end, step)]
    dtypes = [x._array.dtype for x in tensors]
    if len({dtype.kind in "biu" for dtype in dtypes}) > 1:
        dtype_names = ", ".join(str(x.dtype) for x in tensors)
        raise TypeError(
            f"For 'range', 'start', 'end' and 'step' must all be integers or all floats, but got {dtype_names}"
        )
    begin, last, by = (x.item() for x in tensors)
    if by == 0:
        raise ValueError("For 'range', 'step' must not be 0")
    return constant(to_device(np.arange(begin, last, by).astype(functools.reduce(promote, dtypes))))


tensor_range = range


@declare(primitive=prim("TupleToArray"))
def tuple_to_array(input_x: tuple[Number, ...]) -> Tensor:
    """Return a tuple of numbers as a tensor.

    Args:
        input_x: a tuple of numbers, or of tuples of one length.

    Returns:
        A tensor: Int32 of ints, Float32 if a float is among them, Bool of bools.

    Raises:
        TypeError: ``input_x`` is not a tuple.
    """
    check_type(input_x, tuple, "tuple_to_array", "input_x")
    result = tensor_of(list(input_x))
    return cast(result, int32) if result.dtype is int64 else result


@declare(primitive=prim("TensorToTuple"))
def _tensor_to_tuple(x: Tensor) -> tuple[Any, ...]:
    """Return the elements of a vector as Python numbers.

    Args:
        x: a tensor with one axis; with more axes, the rows are lists.

    Returns:
        A tuple.
    """
    return tuple(x.tolist())


@declare(primitive=prim("ScalarToTensor"))
def scalar_to_tensor(input_x: bool | int | float, dtype: DTypeLike = float32) -> Tensor:
    """Return a number as a 0-d tensor.

    Args:
        input_x: a bool, an int or a float.
        dtype: of the tensor.

    Returns:
        A tensor of shape ().

    Raises:
        TypeError: ``input_x`` is not such a number.
    """
    check_type(input_x, bool | int | float, "scalar_to_tensor", "input_x", "a number")
    return Tensor(input_x, dtype)


@declare(primitive=prim("ScalarToArray"))
def scalar_to_array(input_x: TensorLike) -> Tensor:
    """Return a number as a 0-d tensor: Int64 of an int, Float32 of a float, Bool of a bool.

    Args:
        input_x: the number.

    Returns:
        A tensor of shape ().
    """
    return Tensor(input_x)


@declare(primitive=prim("ScalarCast"))
def scalar_cast(input_x: Number, input_y: DTypeLike) -> Any:
    """Return a Python number as the kind of number of a dtype, truncated towards 0 for integers.

    Args:
        input_x: the number.
        input_y: the dtype.

    Returns:
        A bool, an int, a float or a complex number.

    Raises:
        TypeError: a complex number for a real dtype.
    """
    kind = numpy_dtype(input_y).kind
    return {"b": bool, "i": int, "u": int, "c": complex}.get(kind, float)(input_x)


def _of_two(
    name: str, formula: str, function: Callable[..., Any], tensors: Callable[..., Any]
) -> Callable[[Operand, Operand], Any]:
    def computed(x: Operand, y: Operand) -> Any:
        for value, argument in ((x, "x"), (y, "y")):
            check_type(value, Tensor | int | float | complex, name, argument, "a Tensor or a number")
        return (tensors if isinstance(x, Tensor) or isinstance(y, Tensor) else function)(x, y)

    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = f"""{formula} of Python numbers, as Python computes it.

    Args:
        x: a number; or a 0-d tensor, of which a tensor comes.
        y: likewise.

    Returns:
        A number, or a tensor where one came.
    """
    return computed


def _scalar_function(
    name: str, formula: str, function: Callable[..., Any], tensors: Callable[..., Any]
) -> Callable[[Operand], Any]:
    def computed(x: Operand) -> Any:
        check_type(x, Tensor | int | float | complex, name, "x", "a Tensor or a number")
        return (tensors if isinstance(x, Tensor) else function)(x)

    computed.__name__ = computed.__qualname__ = name
    computed.__doc__ = f"""{formula} of a Python number, as Python computes it.

    Args:
        x: a number; or a 0-d tensor, of which a tensor comes.

    Returns:
        A number, or a tensor where one came.
    """
    return computed


scalar_add = _of_two("scalar_add", "x + y", operator.add, arithmetic.add)
scalar_sub = _of_two("scalar_sub", "x - y", operator.sub, arithmetic.sub)
scalar_mul = _of_two("scalar_mul", "x * y", operator.mul, arithmetic.mul)
scalar_div = _of_two("scalar_div", "x / y", operator.truediv, arithmetic.div)
scalar_floordiv = _of_two("scalar_floordiv", "x // y, rounded down,", operator.floordiv, arithmetic.floor_divide)
scalar_mod = _of_two("scalar_mod", "x % y, with the sign of y,", operator.mod, arithmetic.remainder)
scalar_pow = _of_two("scalar_pow", "x ** y", operator.pow, arithmetic.pow)
scalar_eq = _of_two("scalar_eq", "x == y", operator.eq, comparison.eq)
scalar_ne = _of_two("scalar_ne", "x != y", operator.ne, comparison.ne)
scalar_lt = _of_two("scalar_lt", "x < y", operator.lt, comparison.lt)
scalar_le = _of_two("scalar_le", "x <= y", operator.le, comparison.le)
scalar_gt = _of_two("scalar_gt", "x > y", operator.gt, comparison.gt)
scalar_ge = _of_two("scalar_ge", "x >= y", operator.ge, comparison.ge)
scalar_max = _of_two("scalar_max", "The larger", max, arithmetic.maximum)
scalar_min = _of_two("scalar_min", "The smaller", min, arithmetic.minimum)
scalar_uadd = _scalar_function("scalar_uadd", "+x", operator.pos, lambda x: x)
scalar_usub = _scalar_function("scalar_usub", "-x", operator.neg, arithmetic.neg)
scalar_log = _scalar_function("scalar_log", "The natural logarithm", math.log, exponentials.log)
