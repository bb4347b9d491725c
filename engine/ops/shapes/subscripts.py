"""Reading and writing parts of a tensor, with every kind of index of NumPy.

Writing never changes an array that others may refer to: it makes a new one, or writes in place if the tensor is its
only owner. During a recording that follows the values, the write is an operator of its own and has a gradient.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ...base.float_warnings import restore, silence
from ...base.types import Array, Number
from ...cpu.array_module import array_module
from ...cpu.arrays.scattering import numbered_rows_added, rows_added, rows_picked
from ...cpu.arrays.segments import combined_at
from ...cpu.widening import in_single
from ...tape import taps
from ...tape.tape import state
from ...tensors import precision
from ...tensors.backend import is_array, runs_triton
from ...tensors.dtype import wrapped
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ...tensors.views import OWN_REFERENCES, ViewOperator, link, owns_memory
from ..arguments import check_tensor
from .broadcasting import cast_operator, fit
from .conversion import tensor_of
from .reshape import reshape

__all__ = ["assigned", "getitem"]


def _put_kernel(x: Array, value: Array | Number, index: Any) -> Array:
    result = x.copy(order="K")  # in the memory order of an in-place write
    result[index] = value
    return result


# On a GPU with Triton these two compute ``getitem`` and ``scatter_add`` of whole rows.
_rows_picked = Operator("rows_picked", rows_picked)
_rows_added = Operator("rows_added", numbered_rows_added)
_MOST_WITHOUT_ORDER = 1 << 14


def _getitem_kernel(x: Array, index: Any) -> Array:
    if type(x) is not np.ndarray:
        rows = index[0] if type(index) is tuple and len(index) == 1 else index
        if is_array(rows) and type(rows) is not np.ndarray and rows.dtype.kind == "i" and runs_triton():
            selection: Array = _rows_picked.on_arrays(x, rows)
            return selection
    result: Array = x[index]
    return result


def _scatter_add_kernel(g: Array, index: Any, shape: tuple[int, ...]) -> Array:
    if type(g) is not np.ndarray and g.dtype.kind in "fV" and runs_triton():
        parts = index if isinstance(index, tuple) else (index,)
        if all(is_array(part) and part.ndim and part.dtype.kind in "iu" for part in parts):
            return _rows_added_in_order(g, parts, shape)
    return _added_at(g, index, shape)


def _rows_added_in_order(g: Array, index: tuple[Array, ...], shape: tuple[int, ...]) -> Array:
    xp, axes = array_module(g), shape[: len(index)]
    rows = math.prod(axes)
    numbers = xp.asarray(index[0]) if len(index) == 1 else xp.arange(rows).reshape(axes)[index]
    numbers, order = numbers.reshape(-1), None
    if numbers.size > _MOST_WITHOUT_ORDER:
        numbers = (numbers % rows).astype(np.int64, copy=False)
        order = numbers.argsort(kind="stable")
    result: Array = _rows_added.on_arrays(g.reshape(numbers.size, -1), numbers, order, rows=rows).reshape(shape)
    return result


@in_single
def _added_at(g: Array, index: Any, shape: tuple[int, ...]) -> Array:
    result = rows_added(g, index, shape)
    if result is not None:
        return result
    xp = array_module(g)
    if _is_basic(index):
        output = xp.zeros(shape, g.dtype)
        output[index] = g
    elif xp is np:
        output = np.zeros(shape, g.dtype)
        np.add.at(output, index, g)
    else:
        output = combined_at(xp.add, g, index, shape, 0)
    return output


class _GetItem(ViewOperator):
    """Reads that keep the dtype of slices inside ``Cell.to_float``; gathered elements are in the requested dtype."""

    def _run(self, operands: tuple[Any, ...], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        if precision.scopes and not _is_basic(attrs["index"]):
            operands = precision.cast_operands(operands)
        return super()._run(operands, inputs, attrs)

    def _shares(self, source: Tensor, result: Tensor, attrs: dict[str, Any]) -> bool:
        return _is_basic(attrs["index"])


getitem_operator = _GetItem(
    "getitem",
    _getitem_kernel,
    (lambda F, g, out, x, index: F.scatter_add(g, index=index, shape=tuple(x.shape)),),
    keeps_dtype=True,
)
scatter_add_operator = Operator(
    "scatter_add", _scatter_add_kernel, (lambda F, g, out, x, index, shape: F.getitem(g, index=index),)
)
setitem_operator = Operator(
    "setitem",
    _put_kernel,
    (
        lambda F, g, out, x, value, index: F.setitem(g, 0, index=index),
        lambda F, g, out, x, value, index: fit(F, F.getitem(g, index=index), value),
    ),
    keeps_dtype=True,
)


def _plain(index: Any) -> Any:
    """Return an index without tensors."""
    if isinstance(index, tuple):
        return tuple([_plain(list(part) if isinstance(part, tuple) else part) for part in index])
    if isinstance(index, Tensor):
        return index._array
    if isinstance(index, list):
        array = np.asarray([_plain(part) for part in index]) if index else np.zeros(0, np.int64)
        return constant_array(array) if _is_of_numbers(index) else array
    if type(index) is np.ndarray:
        return constant_array(index)
    if isinstance(index, slice):
        return slice(*(int(n) if isinstance(n, Tensor) else n for n in (index.start, index.stop, index.step)))
    return index


def _is_of_numbers(index: list[Any]) -> bool:
    return all(_is_of_numbers(part) if isinstance(part, list) else isinstance(part, int | np.integer) for part in index)


def _is_basic(index: object) -> bool:
    """Return whether an index cannot select an element twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(p is None or p is Ellipsis or isinstance(p, int | np.integer | slice) for p in parts)


def _as_tuple(index: Any) -> Any:
    """Return a list of more than ints and bools as a tuple of indices, as in MindSpore and in older NumPy."""
    several = isinstance(index, list) and any(
        part is None or part is Ellipsis or isinstance(part, list | tuple | slice | Tensor) for part in index
    )
    return tuple(index) if several else index


def _checked(x: Tensor, index: Any) -> Any:
    plain = _plain(_as_tuple(index))
    for part in plain if isinstance(plain, tuple) else (plain,):
        if not (part is None or part is Ellipsis or isinstance(part, int | np.integer | slice) or is_array(part)):
            raise IndexError(
                "a tensor is indexed by ints, slices, None, ..., lists, arrays and tensors, "
                f"but got {type(part).__name__}"
            )
    return plain


def getitem(input: Tensor, index: Any) -> Tensor:
    """Return ``input[index]``, with every kind of index of NumPy.

    Args:
        input: the tensor.
        index: ints, slices, None, ..., lists, arrays and tensors, of integers or of bools, or a tuple of these; a list
            that holds lists, slices, None or tensors is such a tuple.

    Returns:
        A tensor of the dtype of ``input``: writing to one of the two never changes the other.

    Raises:
        IndexError: an index out of range, more of them than axes, False, an empty list, or an invalid index.
    """
    if index is False or (isinstance(index, list) and not index):
        raise IndexError(f"For 'Tensor.__getitem__', the index must name something, but got {index!r}")
    plain = _checked(input, index)
    result: Tensor = getitem_operator(input, index=plain)
    if result._view is None:  # NumPy made a copy, but writing to it writes to the input too
        link(input, result, getitem_operator, {"index": plain}, is_part=_is_basic(plain))
    return result


def assigned(target: Tensor, index: Any, value: Any) -> Array:
    """Return the array of ``target`` after ``target[index] = value``.

    Args:
        target: the tensor. Its array is written in place if nothing else refers to it.
        index: as of ``getitem``.
        value: a number, or a value convertible to a tensor that broadcasts to the indexed elements; it is cast.

    Returns:
        An array of the shape and dtype of ``target``.

    Raises:
        IndexError: an index out of range, or an invalid index or value.
        TypeError: the value is None.
        ValueError: the value does not fit into the index.
    """
    plain = _checked(check_tensor(target, "assigned", "target"), index)
    array = target._array
    if isinstance(value, list | tuple) or is_array(value):
        value = tensor_of(value)
    elif not isinstance(value, Tensor | bool | int | float | complex):
        raise (TypeError if value is None else IndexError)(
            f"For 'Tensor.__setitem__', the value must be a number, a list, a tuple, an array or a Tensor, "
            f"but got {type(value).__name__}"
        )
    if not isinstance(value, Tensor):
        value = wrapped(value, array.dtype)
    else:
        if value._array.dtype != array.dtype:
            value = cast_operator(value, dtype=array.dtype)
        if value.shape[:1] == (1,):
            # Leading axes of length 1 broadcast anyway, but NumPy refuses them if the index selects one element.
            first = next((i for i, n in enumerate(value.shape) if n != 1), value.ndim)
            value = reshape(value, value.shape[first:])
    if state.recordings or taps.operator_taps:
        return setitem_operator(target, value, index=plain)._array
    raw = value._array if isinstance(value, Tensor) else value
    # Referenced by the tensor, by `array` here and by the call: one more means that something else uses this array.
    output = array if owns_memory(array) and sys.getrefcount(array) <= OWN_REFERENCES else array.copy(order="K")
    previous = silence()
    try:
        output[plain] = raw
    except (IndexError, TypeError, ValueError):
        return setitem_operator(target, value, index=plain)._array  # raises the error of an operator
    finally:
        restore(previous)
    return output
