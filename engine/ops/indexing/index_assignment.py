"""Elements assigned at masks, along an axis, at index tensors of all axes or on the diagonal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...base.argument_checks import check_bool, check_int, check_type
from ...base.surfaces import declare, prim
from ...base.types import Ints, Number
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ..arguments import (
    along,
    check_axes,
    check_broadcast,
    check_integers,
    check_loses_nothing,
    check_same_dtype,
    check_tensor,
    ints_of,
    one_axis,
)
from ..elementwise import comparison
from ..shapes.broadcasting import as_dtype, cast_operator
from ..shapes.rearranging import ravel
from ..shapes.reshape import reshape
from ..shapes.subscripts import getitem_operator, setitem_operator
from .gathering import _integers, _masked, check_in_range
from .scattering import assign_to_parameter, check_names, check_positions, put

__all__ = [
    "index_add",
    "index_fill",
    "index_put",
    "inplace_add",
    "inplace_index_add",
    "inplace_sub",
    "inplace_update",
    "masked_fill",
    "masked_scatter",
]


# Writing
@declare(method=True, in_place=True, primitive=prim("MaskedFill"))
def masked_fill(input_x: Tensor, mask: Tensor, value: Tensor | Number) -> Tensor:
    """Return the tensor with ``value`` where ``mask`` is True.

    Args:
        input_x: a tensor of any shape.
        mask: bools that broadcast with it.
        value: a number, or a tensor without axes; cast to the dtype of ``input_x``.

    Returns:
        A tensor of the shape that both broadcast to and the dtype of ``input_x``.

    Raises:
        TypeError: ``mask`` does not hold bools, or ``value`` is neither a number nor a Tensor.
        ValueError: the shapes do not broadcast.
    """
    x, m = _masked(input_x, mask, "masked_fill")
    check_type(value, Tensor | bool | int | float, "masked_fill", "value", "a number or a Tensor")
    new = cast_operator(value, dtype=x._array.dtype) if isinstance(value, Tensor) else Tensor(value, x.dtype)
    return comparison.where(m, new, x)


@declare(method=True, in_place=True, primitive=prim("MaskedScatter"))
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return the tensor with the first elements of ``source``, in order, where ``mask`` is True.

    Args:
        input: a tensor of any shape.
        mask: bools that broadcast to its shape.
        source: a tensor with at least as many elements as ``mask`` has True.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``mask`` does not hold bools.
        ValueError: ``source`` has too few elements.
    """
    x, m = _masked(input, mask, "masked_scatter")
    check_tensor(source, "masked_scatter", "source")
    if check_broadcast("masked_scatter", input=x.shape, mask=m.shape) != x.shape:
        raise ValueError(f"For 'masked_scatter', 'mask' must broadcast to the shape {x.shape}, but got {m.shape}")
    selection = array_module(m._array).broadcast_to(m._array, x.shape)
    count = int(selection.sum())
    if source.size < count:
        raise ValueError(f"For 'masked_scatter', 'source' must have {count} elements, but got {source.size}")
    values = getitem_operator(ravel(source), index=(slice(0, count),))
    return setitem_operator(x, as_dtype(values, x._array.dtype), index=selection)


@declare(primitive=prim("IndexAdd", "axis", use_lock=True, check_index_bound=True))
def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Tensor:
    """Return ``x`` with ``y`` added to entries along an axis.

    Args:
        x: a tensor; a Parameter takes the new values.
        indices: the entries, a vector of integers; an entry that occurs twice gets both.
        y: a tensor like ``x``, along ``axis`` as long as ``indices``.
        axis: the axis, in [-ndim, ndim).
        use_lock: accepted for MindSpore; nothing is locked.
        check_index_bound: accepted for MindSpore; the range is always checked.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``indices`` does not hold integers.
        ValueError: ``indices`` and ``y`` do not fit, or ``axis`` is out of range.
        RuntimeError: an index is out of range.
    """
    at = one_axis(axis, check_tensor(x, "index_add", "x").ndim, "index_add")
    if not x.ndim:
        raise ValueError("For 'index_add', 'x' must have at least 1 axis, but got shape ()")
    i = _integers(indices, "index_add", "indices")
    check_axes(y, x.ndim, "index_add", "y")
    if i.ndim != 1 or i.size != y.shape[at]:
        raise ValueError(
            f"For 'index_add', 'indices' must be a vector of {y.shape[at]} for 'y' of shape {y.shape}, "
            f"but got shape {i.shape}"
        )
    check_in_range(i._array, x.shape[at], "index_add")
    check_loses_nothing("index_add", x=x, y=y)
    return assign_to_parameter(x, put(x, y, along(x, at, i._array), "add"))


@declare(method="index_add")
def _index_add_of_tensor(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Return the tensor with another one added to entries along an axis.

    It is called as ``index_add(dim, index, source, alpha=1)`` or ``index_add(indices, y, axis)``.

    Args:
        input: a tensor; a Parameter takes the new values.
        *args: ``dim``, the axis, ``index``, the entries as a vector of integers, and ``source``, a tensor like
            ``input``, along the axis as long as the vector; or in MindSpore's form ``indices``, ``y`` and ``axis``.
        **kwargs: these by name; ``alpha`` is the factor of ``source``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the entries are not integers, or an argument has an unknown name.
        ValueError: the shapes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range.
    """
    if {"dim", "source", "alpha"}.intersection(kwargs) or (args and isinstance(args[0], int)):
        check_names("index_add", kwargs, ("dim", "index", "source", "alpha"))
        values = {**dict(zip(("dim", "index", "source"), args, strict=False)), **kwargs}
        source, alpha = values["source"], values.get("alpha", 1)
        return index_add(input, values["index"], scaled_source("index_add", source, alpha), values["dim"])
    return index_add(input, *args, **kwargs)


@declare(in_place="index_add_")
def _index_add_in_place(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Number = 1) -> Tensor:
    """Return the tensor with another one added to entries along an axis.

    Args:
        input: a tensor.
        dim: the axis, in [-ndim, ndim).
        index: the entries, a vector of integers.
        source: a tensor like ``input``, along the axis as long as ``index``.
        alpha: the factor of ``source``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the entries are not integers.
        ValueError: the shapes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range.
    """
    return index_add(input, index, scaled_source("index_add_", source, alpha), dim)


def scaled_source(name: str, source: Tensor, alpha: Number) -> Tensor:
    """Return ``source`` multiplied by ``alpha``."""
    check_tensor(source, name, "source")
    return source if check_type(alpha, Number, name, "alpha", "a number") == 1 else source * alpha


@declare(method=True, in_place=True, primitive=prim("IndexFill"))
def index_fill(x: Tensor, axis: int, index: Any, value: Tensor | Number) -> Tensor:
    """Return the tensor with ``value`` in entries along an axis.

    Args:
        x: a tensor with at least one axis.
        axis: the axis, in [-ndim, ndim).
        index: the entries, integers.
        value: a number, or a tensor without axes.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or ``index`` does not hold integers.
        ValueError: ``axis`` is out of range, or ``x`` has none.
        RuntimeError: an index is out of range.
    """
    at = one_axis(axis, check_tensor(x, "index_fill", "x").ndim, "index_fill")
    if not x.ndim:
        raise ValueError("For 'index_fill', 'x' must have at least 1 axis, but got shape ()")
    i = ravel(_integers(index, "index_fill", "index"))
    check_in_range(i._array, x.shape[at], "index_fill")
    check_type(value, Tensor | Number, "index_fill", "value", "a number or a Tensor")
    return put(x, value, along(x, at, i._array))


@declare(method=True, in_place=True)
def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor, accumulate: bool = False) -> Tensor:
    """Return the tensor with ``values`` written, or added, at index tensors.

    Args:
        input: a tensor with at least one axis.
        indices: a tuple or list of tensors, one for each of the first axes, of integers that broadcast with each other,
            or bools.
        values: a tensor that broadcasts to the indexed elements.
        accumulate: whether to add instead of replacing.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``indices`` is not a tuple of Tensors.
        ValueError: ``values`` does not fit.
        RuntimeError: an index is out of range.
    """
    check_type(indices, list | tuple, "index_put", "indices", "a tuple of Tensors")
    tensors = [check_tensor(i, "index_put", f"indices[{position}]") for position, i in enumerate(indices)]
    index_tensors = [i if i._array.dtype.kind == "b" else check_integers(i, "index_put", "indices") for i in tensors]
    index = tuple([i._array for i in index_tensors])
    check_positions(index, check_tensor(input, "index_put"), "index_put")
    return put(input, values, index, "add" if accumulate else "update")


@declare(in_place=True)
def _index_copy(input: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    """Return the entries ``index`` along an axis replaced by those of another tensor.

    Args:
        input: a tensor with at least one axis.
        dim: the axis, in [-ndim, ndim).
        index: the entries, a vector of integers.
        tensor: a tensor like ``input``, along ``dim`` as long as ``index``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``index`` does not hold integers.
        ValueError: ``dim`` is out of range, or the shapes do not fit.
        RuntimeError: an index is out of range.
    """
    at = one_axis(dim, input.ndim, "index_copy_")
    positions = _integers(index, "index_copy_", "index")._array
    check_in_range(positions, input.shape[at], "index_copy_")
    return put(input, tensor, along(input, at, positions))


@declare(in_place="put_")
def _put_flat(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Return the tensor with ``source`` written at, or added to, positions of the flattened tensor.

    Args:
        input: a tensor of any shape.
        index: the positions, integers in [-size, size).
        source: a tensor with as many elements as ``index``.
        accumulate: whether to add instead of replacing.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``index`` does not hold integers.
        ValueError: the numbers of elements differ.
        RuntimeError: an index is out of range.
    """
    mode = "add" if accumulate else "update"
    check_in_range(_integers(index, "put_", "index")._array, input.size, "put_")
    return reshape(put(ravel(input), reshape(source, index.shape), (index._array,), mode), input.shape)


@declare(method=True, in_place=True)
def _fill_diagonal(input: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Return the tensor with a number on its diagonal, where all indices are equal.

    Args:
        input: a tensor with two axes, or more of one length.
        fill_value: the number.
        wrap: whether the diagonal of a tall matrix starts again below its end, after one row left out.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        ValueError: fewer than two axes, or more of different lengths.
    """
    check_type(fill_value, Number, "fill_diagonal", "fill_value", "a number")
    if input.ndim < 2 or (input.ndim > 2 and len(set(input.shape)) > 1):
        raise ValueError(
            f"For 'fill_diagonal', the tensor must have 2 axes, or more of one length, but got shape {input.shape}"
        )
    xp = array_module(input._array)
    if wrap and input.ndim == 2:
        positions = constant_array(xp.arange(0, input.size, input.shape[1] + 1))
        return reshape(put(ravel(input), fill_value, (positions,)), input.shape)
    return put(input, fill_value, (constant_array(xp.arange(min(input.shape))),) * input.ndim)


def _inplace(name: str, how: str) -> Callable[..., Tensor]:
    def changed(x: Tensor, v: Tensor, indices: Ints | Tensor) -> Tensor:
        rows = constant_array(
            array_module(check_axes(x, 1, name, "x")._array).asarray(ints_of(indices, name, "indices"))
        )
        check_in_range(rows, x.shape[0], name)
        if check_tensor(v, name, "v").shape[:1] != rows.shape:
            raise ValueError(f"For '{name}', 'v' must have {len(rows)} rows, but got shape {v.shape}")
        return put(x, v, (rows,), how)

    changed.__name__ = changed.__qualname__ = name
    verb = {"add": "added to", "sub": "subtracted from"}.get(how, "put into")
    changed.__doc__ = f"""``v`` {verb} rows of ``x``; a new tensor, in spite of the name.

    Args:
        x: a tensor with at least one axis.
        v: a tensor (number of indices, ...) like the rows of ``x``.
        indices: an int or ints, the rows.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``v`` is not a Tensor, or ``indices`` holds no ints.
        ValueError: ``v`` does not have a row for each index.
        RuntimeError: an index is out of range.
    """
    return changed


inplace_add = declare(primitive=prim("InplaceAdd", "indices"))(_inplace("inplace_add", "add"))

inplace_sub = declare(primitive=prim("InplaceSub", "indices"))(_inplace("inplace_sub", "sub"))

inplace_update = declare(method=True, primitive=prim("InplaceUpdate", "indices"))(_inplace("inplace_update", "update"))


@declare(primitive=prim("InplaceUpdateV2"))
def _inplace_update_class(x: Tensor, indices: Ints | Tensor, v: Tensor) -> Tensor:
    """Return ``x`` with ``v`` written into rows; a new tensor, in spite of the name.

    Args:
        x: a tensor with at least one axis.
        indices: an int or ints, the rows.
        v: a tensor (number of indices, ...) like the rows of ``x``.

    Returns:
        A tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` or ``v`` is not a Tensor, or ``indices`` does not hold ints.
        ValueError: ``v`` does not have a row for each index.
        RuntimeError: an index is out of range.
    """
    return inplace_update(x, v, indices)


@declare(primitive=prim("InplaceIndexAdd", "axis"))
def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """Return a parameter with ``updates`` added to entries along an axis.

    Args:
        var: a Parameter, which takes the new values, or a tensor.
        indices: the entries, a vector of integers.
        updates: a tensor like ``var``, along ``axis`` as long as ``indices``.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tensor of the shape and dtype of ``var``.

    Raises:
        TypeError: ``var`` is not a Tensor, or ``indices`` does not hold integers.
        ValueError: ``indices`` and ``updates`` do not fit, or ``axis`` is out of range.
        RuntimeError: an index is out of range.
    """
    return index_add(var, indices, updates, axis)


@declare(primitive=prim("IndexPut", accumulate=0))
def _index_put_class(x1: Tensor, x2: Tensor, indices: Sequence[Tensor], *, accumulate: int) -> Tensor:
    """Return ``x1`` with ``x2`` written, or added, at index tensors.

    Args:
        x1: a tensor with at least one axis.
        x2: the values, a vector that broadcasts to the indexed elements.
        indices: a tuple or list of vectors of integers that broadcast with each other, one for each of the first axes.
        accumulate: 1 adds, 0 replaces.

    Returns:
        A tensor of the shape and dtype of ``x1``.

    Raises:
        TypeError: ``indices`` is not a tuple of Tensors of integers, the dtypes differ, or ``accumulate`` is not an
            int.
        ValueError: ``x2`` or an index is not a vector, ``x2`` does not fit, an index is out of range, or an unknown
            ``accumulate``.
    """
    if check_int(accumulate, "IndexPut", "accumulate") not in (0, 1):
        raise ValueError(f"For 'IndexPut', 'accumulate' must be 0 or 1, but got {accumulate}")
    check_same_dtype("IndexPut", x1=check_tensor(x1, "IndexPut", "x1"), x2=check_tensor(x2, "IndexPut", "x2"))
    check_type(indices, list | tuple, "IndexPut", "indices", "a tuple of Tensors")
    for item in (x2, *(_integers(index, "IndexPut", "indices") for index in indices)):
        if item.ndim != 1:
            raise ValueError(f"For 'IndexPut', 'x2' and each of 'indices' must be vectors, but got shape {item.shape}")
    if len(indices) > x1.ndim:
        raise ValueError(f"For 'IndexPut', there must be at most {x1.ndim} 'indices', but got {len(indices)}")
    index = tuple([item._array for item in indices])
    for item, length in zip(index, x1.shape, strict=False):
        check_in_range(item, length, "IndexPut", ValueError)
    spot = x1._array[index].shape
    if x2.size not in (1, spot[-1]):
        raise ValueError(f"For 'IndexPut', 'x2' must have the size 1 or {spot[-1]}, but got {x2.size}")
    return put(x1, x2, index, "add" if accumulate else "update")


@declare(primitive=prim("FillDiagonal", "fill_value", wrap=False))
def _fill_diagonal_class(input_x: Tensor, *, fill_value: float, wrap: bool) -> Tensor:
    """Return the tensor with a number on its diagonal, where all indices are equal.

    Args:
        input_x: a tensor with two axes, or more of one length.
        fill_value: the number, a float.
        wrap: whether the diagonal of a tall matrix starts again below its end, after one row left out.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor of numbers, ``fill_value`` is not a float, or ``wrap`` is not a bool.
        ValueError: fewer than two axes, or more of different lengths.
    """
    check_type(fill_value, float, "FillDiagonal", "fill_value")
    if check_tensor(input_x, "FillDiagonal", "input_x")._array.dtype.kind == "b":
        raise TypeError(f"For 'FillDiagonal', 'input_x' must be numbers, but got {input_x.dtype}")
    return _fill_diagonal(input_x, fill_value, check_bool(wrap, "FillDiagonal", "wrap"))
