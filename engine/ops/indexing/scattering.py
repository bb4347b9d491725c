"""Elements written at index tensors: scatter, index_add, masked_fill, sums of segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_one_of, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Ints, Number, Shape, TensorLike, Value
from ...cpu.array_module import array_module
from ...cpu.arrays.segments import combined_at
from ...cpu.widening import in_single
from ...tensors.backend import is_array, to_host
from ...tensors.operator import Operator
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant, fixed, usual
from ..arguments import (
    along,
    check_axes,
    check_broadcast,
    check_integers,
    check_loses_nothing,
    check_operand,
    check_same_dtype,
    check_tensor,
    int_of,
    ints_of,
    one_axis,
)
from ..elementwise import arithmetic, comparison
from ..shapes import broadcasting
from ..shapes.broadcasting import as_dtype, as_single, cast_operator
from ..shapes.rearranging import ravel
from ..shapes.reshape import broadcast_to, reshape
from ..shapes.subscripts import getitem_operator, scatter_add_operator, setitem_operator
from .gathering import _grid, _integers, _masked, _rows, _same_axes, check_in_range

__all__ = [
    "index_add", "index_fill", "index_put", "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update",
    "masked_fill", "masked_scatter", "put", "scatter", "scatter_add", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update", "sparse_segment_mean",
    "tensor_scatter_add", "tensor_scatter_div", "tensor_scatter_elements", "tensor_scatter_max", "tensor_scatter_min",
    "tensor_scatter_mul", "tensor_scatter_sub", "tensor_scatter_update", "unsorted_segment_max", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sum"
]  # fmt: skip
Index = tuple[Array, ...]
_MEETINGS = {"mul": np.multiply, "div": np.true_divide, "max": np.maximum, "min": np.minimum}


@in_single
def _scatter_reduce_kernel(x: Array, updates: Array, index: Any, how: str) -> Array:
    xp = array_module(x)
    integral = how == "div" and x.dtype.kind in "iu"
    if xp is not np and not integral:
        ufunc, combine = getattr(xp, _MEETINGS[how].__name__), xp.multiply if how in ("mul", "div") else None
        start = 1 if combine is not None else _least(x.dtype, how)
        combined = combined_at(combine or ufunc, updates.astype(x.dtype, copy=False), index, x.shape, start)
        return ufunc(x, combined).astype(x.dtype, copy=False)
    # floor(floor(x / a) / b) is floor(x / (a b)) unless b is negative: in order, on the host
    result = to_host(x).copy()
    ufunc = np.floor_divide if integral else _MEETINGS[how]
    ufunc.at(result, tuple([to_host(part) if is_array(part) else part for part in index]), to_host(updates))
    return xp.asarray(result)


def _least(dtype: np.dtype[Any], how: str) -> Any:
    """Return a number not above any of a dtype, or not below any if ``how`` is "min"."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if how == "max" else np.iinfo(dtype).max
    if dtype.kind == "b":
        return how == "min"
    return -np.inf if how == "max" else np.inf


def _add_at(x: Array, index: Index, updates: Array) -> None:
    """Add integers in place; their sum is the same in any order."""
    (np if array_module(x) is np else array_module(x)).add.at(x, index, updates)


def _product_shares(x: Array, updates: Array, index: Index) -> tuple[Array, Array]:
    """Return for each factor of a product the product of the others, also if factors are 0."""
    xp = array_module(x)
    zeros = (x == 0).astype(np.int64)
    _add_at(zeros, index, (updates == 0).astype(np.int64))
    total = _scatter_reduce_kernel(xp.where(x == 0, 1, x), xp.where(updates == 0, 1, updates), index, "mul")

    def others(factor: Array, product: Array, count: Array) -> Array:
        result: Array = xp.where(
            factor == 0, xp.where(count == 1, product, 0), xp.where(count == 0, product / factor, 0)
        )
        return result

    return others(x, total, zeros), others(updates, total[index], zeros[index])


def _scatter_reduce_rule(
    F: Any, needs: list[bool], g: Value, out: Value, x: Any, updates: Any, index: Index, how: str
) -> list[Any]:
    """Return both gradients; products divide for higher orders, undefined at 0, and ties share equally."""
    if how == "mul" and not F.wraps:
        of_x, of_updates = _product_shares(x, updates, index)
        return [g * of_x, g[index] * of_updates]
    g_at = F.getitem(g, index=index)
    if how in ("mul", "div"):
        share = F.getitem(out, index=index) * g_at / updates
        return [g * out / x, share if how == "mul" else -share]
    dtype = broadcasting.array_dtype(g)
    of_x = F.cast(x == out, dtype=dtype)
    of_updates = F.cast(updates == F.getitem(out, index=index), dtype=dtype)
    count = of_x + F.scatter_add(of_updates, index=index, shape=tuple(x.shape))
    return [g * of_x / count, g_at * of_updates / F.getitem(count, index=index)]


_scatter_reduce = Operator("scatter_reduce", _scatter_reduce_kernel, joint_vjp=_scatter_reduce_rule)


def put(x: Tensor, updates: TensorLike, index: Any, how: str = "update") -> Tensor:
    """Return ``x`` with ``updates`` written at ``index``, or added to, subtracted from, ... the elements there.

    Args:
        x: a tensor.
        updates: a tensor that broadcasts to the indexed elements, or a value convertible to one.
        index: an index as NumPy has it, of arrays and slices.
        how: "update", "add", "sub", "mul", "div", "max" or "min".

    Returns:
        A tensor of the shape and dtype of ``x``.
    """
    x = check_tensor(x, "put", "x")
    value = updates if isinstance(updates, Tensor) else Tensor(updates, x.dtype)
    value = as_dtype(value, x._array.dtype)
    spot = x._array[index].shape
    if value.shape != spot:
        value = broadcast_to(value, spot)
    if how == "update":
        return setitem_operator(x, value, index=index)
    if how in ("add", "sub"):
        sums = scatter_add_operator(as_single(value), index=index, shape=x.shape)
        combine = arithmetic.add if how == "add" else arithmetic.sub
        return as_dtype(combine(as_single(x), sums), x._array.dtype)
    return _scatter_reduce(x, value, index=index, how=how)


def _check_places(index: Index, x: Tensor, name: str) -> None:
    """Raise RuntimeError if an integer index tensor is out of range; bools are not checked."""
    for indices, length in zip(index, x.shape, strict=False):
        if indices.dtype.kind in "iu":
            check_in_range(indices, length, name)


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
    return _kept(x, put(x, y, along(x, at, i._array), "add"))


@declare(method="index_add")
def _index_add_of_tensor(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """Return the tensor with another one added to entries along an axis.

    It is called as ``index_add(dim, index, source, alpha=1)`` or ``index_add(indices, y, axis)``.

    Args:
        input: a tensor; a Parameter takes the new values.
        *args: ``dim``, the axis, ``index``, the entries as a vector of integers, and ``source``, a tensor like
            ``input``, along the axis as long as the vector; or in MindSpore's form ``indices``, ``y`` and ``axis``.
        **named: these by name; ``alpha`` is the factor of ``source``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the entries are not integers, or an argument has an unknown name.
        ValueError: the shapes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range.
    """
    if {"dim", "source", "alpha"}.intersection(named) or (args and isinstance(args[0], int)):
        _check_names("index_add", named, ("dim", "index", "source", "alpha"))
        values = {**dict(zip(("dim", "index", "source"), args, strict=False)), **named}
        source, alpha = values["source"], values.get("alpha", 1)
        return index_add(input, values["index"], scaled_source("index_add", source, alpha), values["dim"])
    return index_add(input, *args, **named)


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


def _check_names(name: str, named: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for key in named:
        if key not in allowed:
            raise TypeError(f"For 'Tensor.{name}', there is no argument '{key}' beside {list(allowed)}")


def _kept(x: Any, result: Any) -> Any:
    """Set a parameter, or its slice under ``vmap``, to the result: MindSpore's operators change their argument."""
    if isinstance(x, Parameter) or x._of_parameter:
        x._rebind(result._array)
    return result


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
    _check_places(index, check_tensor(input, "index_put"), "index_put")
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
        positions = fixed(xp.arange(0, input.size, input.shape[1] + 1))
        return reshape(put(ravel(input), fill_value, (positions,)), input.shape)
    return put(input, fill_value, (fixed(xp.arange(min(input.shape))),) * input.ndim)


def _elements(name: str) -> Callable[..., Tensor]:
    """Return a function that scatters along an axis: ``x[i][index[i][j]]`` takes ``updates[i][j]``."""
    x_name, updates_name = ("input_x", "updates") if name == "tensor_scatter_elements" else ("input", "src")

    def scattered(x: Tensor, index: Any, updates: Tensor | Number, axis: int, how: str) -> Tensor:
        i = _integers(index, name, "index")
        at = one_axis(axis, check_tensor(x, name).ndim, name)
        _same_axes(x, i, at, name)
        check_type(updates, Tensor | Number | list | tuple | np.ndarray, name, updates_name, "a Tensor or a number")
        check_loses_nothing(name, **{x_name: x, updates_name: updates})
        if isinstance(updates, Tensor) and updates.shape != i.shape:
            updates = getitem_operator(updates, index=tuple([slice(0, n) for n in i.shape]))
        return put(x, updates, _grid(i.shape, at, i._array) if x.ndim else (), how)

    return scattered


@declare(primitive=prim("TensorScatterElements", axis=0, reduction="none"))
def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Return ``input_x`` with ``updates`` written at, or added to, positions along an axis.

    For axis 1, x[i][indices[i][j]] takes updates[i][j].

    Args:
        input_x: a tensor.
        indices: integers, with as many axes and along the others at most as long.
        updates: a tensor at least as large as ``indices``.
        axis: the axis, in [-ndim, ndim).
        reduction: "none" replaces, "add" adds.

    Returns:
        A tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``indices`` does not hold integers.
        ValueError: another ``reduction``, shapes that do not fit, or ``axis`` out of range.
        RuntimeError: an index is out of range.
    """
    check_one_of(reduction, ("none", "add"), "tensor_scatter_elements", "reduction")
    mode = "update" if reduction == "none" else "add"
    return _elements("tensor_scatter_elements")(input_x, indices, updates, axis, mode)


@declare(mint=renamed(axis="dim", without=("reduce",)))
def scatter(input: Tensor, axis: int, index: Tensor, src: Tensor | Number, reduce: str | None = None) -> Tensor:
    """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements there.

    For axis 1, x[i][index[i][j]] takes src[i][j].

    Args:
        input: a tensor.
        axis: the axis, in [-ndim, ndim).
        index: integers, with as many axes and along the others at most as long.
        src: a tensor at least as large as ``index``, or a number.
        reduce: None or "none" replaces, "add" adds, "multiply" multiplies.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``index`` does not hold integers.
        ValueError: another ``reduce``, shapes that do not fit, or ``axis`` out of range.
        RuntimeError: an index is out of range.
    """
    mode = {None: "update", "none": "update", "add": "add", "multiply": "mul"}.get(reduce)
    if mode is None:
        raise ValueError(f"For 'scatter', 'reduce' must be 'add' or 'multiply', but got {reduce!r}")
    return _elements("scatter")(input, index, src, axis, mode)


@declare(method="scatter", in_place="scatter_")
def _scatter_of_tensor(
    input: Tensor,
    dim: int = 0,
    index: Tensor | None = None,
    src: Tensor | Number | None = None,
    *,
    reduce: str | None = None,
    **named: Any,
) -> Tensor:
    """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements there.

    For axis 1, x[i][index[i][j]] takes src[i][j].

    Args:
        input: a tensor.
        dim: the axis, in [-ndim, ndim).
        index: integers, with as many axes and along the others at most as long.
        src: a tensor at least as large as ``index``, or a number.
        reduce: None or "none" replaces, "add" adds, "multiply" multiplies.
        **named: ``axis`` for ``dim``, ``value`` for ``src``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``index`` does not hold integers, or an argument has an unknown name.
        ValueError: another ``reduce``, shapes that do not fit, or ``dim`` out of range.
        RuntimeError: an index is out of range.
    """
    _check_names("scatter", named, ("axis", "value"))
    if index is None:
        raise TypeError("For 'Tensor.scatter', 'index' must be given")
    value: Any = named.get("value", src)
    return scatter(input, named.get("axis", dim), index, value, reduce)


@declare(method="scatter_add")
def _scatter_add_of_tensor(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """Return the tensor with another one added at positions.

    It is called as ``scatter_add(dim, index, src)``, for positions along an axis, or ``scatter_add(indices, updates)``.

    Args:
        input: a tensor.
        *args: ``dim``, ``index`` and ``src`` as for ``scatter``, or ``indices`` and ``updates`` as for
            ``tensor_scatter_add``.
        **named: these by name.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the positions are not integers, or an argument has an unknown name.
        ValueError: shapes that do not fit.
        RuntimeError: an index is out of range.
    """
    if len(args) == 3 or "dim" in named:
        _check_names("scatter_add", named, ("dim", "index", "src"))
        values = {**dict(zip(("dim", "index", "src"), args, strict=False)), **named}
        return tensor_scatter_elements(input, values["index"], values["src"], values["dim"], "add")
    return tensor_scatter_add(input, *args, **named)


@declare(in_place="scatter_add_")
def _scatter_add_in_place(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return the tensor with ``src`` added at positions along an axis.

    Args:
        input: a tensor.
        dim: the axis, in [-ndim, ndim).
        index: the position along the axis of each element of ``src``; integers.
        src: the elements to add, a tensor of the shape of ``index``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the positions are not integers.
        ValueError: shapes that do not fit.
        RuntimeError: an index is out of range.
    """
    return tensor_scatter_elements(input, index, src, dim, "add")


@declare(primitive=prim("ScatterNd"))
def scatter_nd(indices: Tensor, updates: Tensor, shape: Shape) -> Tensor:
    """Return zeros with ``updates`` added at ``indices``.

    Args:
        indices: integers; their last axis is an index into the first axes.
        updates: a tensor of the shape indices.shape[:-1] + shape[indices.shape[-1]:].
        shape: of the result.

    Returns:
        A tensor of ``shape`` and the dtype of ``updates``.

    Raises:
        TypeError: ``updates`` is not a Tensor, or ``indices`` does not hold integers.
        RuntimeError: an index is out of range.
    """
    i = _integers(indices, "scatter_nd", "indices")
    lengths = ints_of(shape, "scatter_nd", "shape")
    index = _rows(i, len(lengths), "scatter_nd")
    for column, length in zip(index, lengths, strict=False):
        check_in_range(column, length, "scatter_nd")
    return scatter_add_operator(check_tensor(updates, "scatter_nd", "updates"), index=index, shape=lengths)


_FORMULAS = {
    "update": "``updates`` put",
    "add": "x + u",
    "sub": "x - u",
    "mul": "x * u",
    "div": "x / u",
    "max": "max(x, u)",
    "min": "min(x, u)",
}
_MEET = {
    "update": "one of them stays",
    **dict.fromkeys(("add", "sub", "mul", "div"), "all of them count"),
    **dict.fromkeys(("max", "min"), "all of them count; the gradient is shared by those that tie"),
}
_ROWS = "their last axis names a place by its first axes"
_ENTRIES = "entries of the first axis"
_ROWS_SHAPE = "indices.shape[:-1] + input_x.shape[indices.shape[-1]:]"


def _family(name: str, how: str, rows: bool, keep: bool) -> Callable[..., Tensor]:
    """Return one of MindSpore's scatter functions.

    ``rows``: the last axis of indices is a whole index, as in ``gather_nd``; otherwise indices are entries of the
    first axis. ``keep``: the first argument, if it is a Parameter, takes the new values.
    """

    def scattered(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
        x, i = (check_tensor if keep else check_operand)(input_x, name, "input_x"), _integers(indices, name, "indices")
        kind, size = x._array.dtype.kind, x._array.dtype.itemsize
        if how != "update" and (kind in "bc" or (how == "div" and not keep and size == 1)):
            wide = " of 16 bits or more" if how == "div" and not keep else ""
            raise TypeError(f"For '{name}', 'input_x' must hold real numbers{wide}, but got {x.dtype}; cast it")
        if not x.ndim:
            raise ValueError(f"For '{name}', 'input_x' must have at least 1 axis, but got shape ()")
        check_type(updates, Tensor | Number | list | tuple | np.ndarray, name, "updates", "a Tensor or a number")
        index = _rows(i, x.ndim, name) if rows else (i._array,)
        for column, length in zip(index, x.shape, strict=False):
            check_in_range(column, length, name)
        spot = x._array[index].shape
        if isinstance(updates, Tensor) and updates.shape != spot and updates.ndim:
            raise ValueError(f"For '{name}', 'updates' must have the shape {spot}, but got {updates.shape}")
        check_loses_nothing(name, input_x=x, updates=updates)
        result = put(x, updates, index, how)
        return _kept(x, result) if keep else result

    scattered.__name__ = scattered.__qualname__ = name
    scattered.__doc__ = f"""{_FORMULAS[how]} where ``indices`` point{"; a new tensor" * (not keep)}.

    Args:
        input_x: x, a tensor{"; a Parameter takes the new values" * keep}.
        indices: integers; {_ROWS if rows else _ENTRIES}.
        updates: u, a tensor of the shape {_ROWS_SHAPE if rows else "indices.shape + input_x.shape[1:]"}, or a number.
        use_locking: kept for MindSpore; there is nobody to lock out.

    Returns:
        A tensor of the shape and dtype of ``input_x``. Where several updates meet in a place, {_MEET[how]}.

    Raises:
        TypeError: ``input_x`` is no Tensor, ``indices`` holds no integers, or ``updates`` such as ``input_x`` cannot
            hold.
        ValueError: ``updates`` has another shape, or ``input_x`` no axis.
        RuntimeError: an index is out of range.
    """
    return scattered


_HOWS = ("add", "sub", "mul", "div", "max", "min", "update")
scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_max, scatter_min, scatter_update = (
    declare(primitive=prim(f"Scatter{how.capitalize()}", use_locking=how == "update"))(
        _family(f"scatter_{how}", how, False, True)
    )
    for how in _HOWS
)
(scatter_nd_add, scatter_nd_sub, scatter_nd_mul, scatter_nd_div, scatter_nd_max, scatter_nd_min, scatter_nd_update) = (
    declare(primitive=prim(f"ScatterNd{how.capitalize()}", use_locking=how == "update"))(
        _family(f"scatter_nd_{how}", how, True, True)
    )
    for how in _HOWS
)
declare(primitive=prim("ScatterNonAliasingAdd").without("use_locking"))(scatter_nd_add)
(
    tensor_scatter_add,
    tensor_scatter_sub,
    tensor_scatter_mul,
    tensor_scatter_div,
    tensor_scatter_max,
    tensor_scatter_min,
    tensor_scatter_update,
) = (
    # The methods ``scatter_sub``, ... are these: they take indices and change nothing.
    declare(
        method=f"scatter_{how}" if how not in ("add", "update") else False,
        primitive=prim(f"TensorScatter{how.capitalize()}").without("use_locking"),
    )(_family(f"tensor_scatter_{how}", how, True, False))
    for how in _HOWS
)


def _inplace(name: str, how: str) -> Callable[..., Tensor]:
    def changed(x: Tensor, v: Tensor, indices: Ints | Tensor) -> Tensor:
        rows = fixed(array_module(check_axes(x, 1, name, "x")._array).asarray(ints_of(indices, name, "indices")))
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
        TypeError: ``x`` or ``v`` is no Tensor, or ``indices`` holds no ints.
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


# Segments
_SEGMENTS = """The {what} {of} of each segment.

    Args:
        x: a tensor.
        segment_ids: the segment of each entry, integers whose shape is the beginning of that of ``x``; entries with a
            negative one are left out.
        num_segments: how many segments there are, a positive int.

    Returns:
        A tensor (num_segments, ...) of the dtype of ``x``; {empty} where a segment has no entry.

    Raises:
        TypeError: ``x`` is no Tensor, or ``segment_ids`` or ``num_segments`` are no integers.
        ValueError: ``num_segments`` is not positive, or the shapes do not fit.
        RuntimeError: a segment is not below ``num_segments``.
    """


def _limits(dtype: Any) -> Any:
    if dtype.kind == "V":
        import ml_dtypes  # NumPy does not know bfloat16

        return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]  # ml_dtypes has no types here
    return np.iinfo(dtype) if dtype.kind in "iu" else np.finfo(dtype)


def _are_places(ids: Array) -> bool:
    return bool((ids >= 0).all())


def _segments(name: str, how: str, start: Any) -> Callable[..., Tensor]:
    def reduced(x: Tensor, segment_ids: Tensor, num_segments: int | Tensor) -> Tensor:
        ids, count = _integers(segment_ids, name, "segment_ids"), int_of(num_segments, name, "num_segments")
        if count <= 0:
            raise ValueError(f"For '{name}', 'num_segments' must be positive, but got {count}")
        lengths = check_tensor(x, name, "x").shape[ids.ndim :]
        dtype = x._array.dtype
        if callable(start) and dtype.kind in "bc":
            raise TypeError(f"For '{name}', 'x' must hold numbers that have an order, but got {x.dtype}")
        empty = start(_limits(dtype)) if callable(start) else start
        ground = constant(array_module(x._array).full((count, *lengths), empty, dtype))
        if check_tensor(x, name, "x").shape[: ids.ndim] != ids.shape:
            raise ValueError(
                f"For '{name}', the shape {ids.shape} of 'segment_ids' must be the beginning of that of 'x', {x.shape}"
            )
        if usual(_are_places, ids._array):
            check_in_range(ids._array, count, name)
            return put(ground, x, (ids._array,), how)
        mask = ids._array >= 0
        check_in_range(ids._array[mask], count, name)
        return put(ground, getitem_operator(x, index=mask), (ids._array[mask],), how)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = _SEGMENTS.format(
        what={"max": "largest", "min": "smallest"}.get(how, {"mul": "product", "add": "sum"}.get(how)),
        of="of the elements" if how in ("mul", "add") else "element",
        empty={"max": "the dtype's least number", "min": "the dtype's greatest number", "mul": "1", "add": "0"}[how],
    )
    return reduced


unsorted_segment_max = declare(method=True, primitive=prim("UnsortedSegmentMax"))(
    _segments("unsorted_segment_max", "max", lambda limits: limits.min)
)
unsorted_segment_min = declare(method=True, primitive=prim("UnsortedSegmentMin"))(
    _segments("unsorted_segment_min", "min", lambda limits: limits.max)
)
unsorted_segment_prod = declare(method=True, primitive=prim("UnsortedSegmentProd"))(
    _segments("unsorted_segment_prod", "mul", 1)
)


@declare(primitive=prim("UnsortedSegmentSum"))
def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: int | Tensor) -> Tensor:
    """Return the sum of the elements of each segment.

    Args:
        input_x: a tensor.
        segment_ids: the segment of each entry, integers whose shape is the beginning of that of ``input_x``; entries
            with a negative one are left out.
        num_segments: the number of segments, a positive int.

    Returns:
        A tensor (num_segments, ...) of the dtype of ``input_x``; 0 where a segment has no entry.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``segment_ids`` or ``num_segments`` are not integers.
        ValueError: ``num_segments`` is not positive, or the shapes do not fit.
        RuntimeError: a segment is not below ``num_segments``.
    """
    return _segments("unsorted_segment_sum", "add", 0)(input_x, segment_ids, num_segments)


def _sorted_segments(how: str, function: Callable[..., Tensor], what: str, empty: int = 0) -> None:
    """Declare the class of consecutive segments, whose number is the last id + 1; a missing one gets ``empty``."""

    @declare(primitive=prim(f"Segment{how}"))
    def reduced(input_x: Tensor, segment_ids: Tensor) -> Tensor:
        name = f"Segment{how}"
        ids = check_axes(_integers(segment_ids, name, "segment_ids"), 1, name, "segment_ids")._array
        if (ids[1:] < ids[:-1]).any():
            raise ValueError(f"For 'Segment{how}', 'segment_ids' must not decrease, but got {ids.tolist()}")
        count = int(ids.max()) + 1
        result = function(input_x, segment_ids, count)
        xp = array_module(ids)
        present = xp.isin(xp.arange(count), ids).reshape((-1,) + (1,) * (result.ndim - 1))
        return result if present.all() else comparison.where(Tensor._wrap(present), result, empty)

    reduced.__doc__ = f"""The {what} of each segment, where segments lie one behind the other.

    Args:
        input_x: a tensor with at least one axis.
        segment_ids: the segment of each entry of the first axis, integers that do not decrease.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``input_x``; {empty} where a segment has no entry.

    Raises:
        TypeError: ``input_x`` is no Tensor, or ``segment_ids`` holds no integers.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease.
    """


_sorted_segments("Max", unsorted_segment_max, "largest element")
_sorted_segments("Min", unsorted_segment_min, "smallest element")
_sorted_segments("Prod", unsorted_segment_prod, "product", empty=1)
_sorted_segments("Sum", unsorted_segment_sum, "sum")


@declare(primitive=prim("SegmentMean"))
def _segment_mean(input_x: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the mean of the elements of each segment; segments are consecutive.

    Args:
        input_x: a tensor with at least one axis.
        segment_ids: the segment of each entry of the first axis, integers that do not decrease, 0 or above.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``input_x``, means of integers rounded toward 0; 0 where a segment
        has no entry.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``segment_ids`` does not hold integers.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease or are negative.
    """
    return _means(input_x, segment_ids, "SegmentMean", "input_x")


def _means(x: Tensor, segment_ids: Tensor, name: str, argument: str) -> Tensor:
    ids = _integers(segment_ids, name, "segment_ids")._array
    if check_tensor(x, name, argument).ndim < 1 or ids.shape != x.shape[:1]:
        raise ValueError(f"For '{name}', 'segment_ids' must have the shape {x.shape[:1]}, but got {ids.shape}")
    if (ids[1:] < ids[:-1]).any() or (ids < 0).any():
        raise ValueError(f"For '{name}', 'segment_ids' must neither decrease nor be negative, but got {ids.tolist()}")
    count = int(ids[-1]) + 1 if ids.size else 0
    xp, dtype = array_module(ids), x._array.dtype
    if not count:
        return getitem_operator(x, index=slice(0, 0))
    lengths = xp.maximum(xp.bincount(ids, minlength=count), 1).reshape((-1,) + (1,) * (x.ndim - 1))
    sums = unsorted_segment_sum(as_single(x), segment_ids, count)
    return as_dtype(
        arithmetic.div(
            sums, Tensor._wrap(lengths.astype(sums._array.dtype)), rounding_mode="trunc" if dtype.kind in "iu" else None
        ),
        dtype,
    )


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Return the mean of the entries of each segment, with entries selected by index.

    Args:
        x: a tensor of floating numbers with at least one axis.
        indices: the indices of the entries along the first axis, a vector of integers in [0, x.shape[0]).
        segment_ids: the segment of each of them, integers that do not decrease, 0 or above.

    Returns:
        A tensor (last id + 1, ...) of the dtype of ``x``; 0 where a segment has no entry.

    Raises:
        TypeError: ``x`` is not a Tensor of floating numbers, or the others do not hold integers or differ in dtype.
        ValueError: the shapes do not fit, or ``segment_ids`` decrease or are negative.
        RuntimeError: an index is out of range.
    """
    name = "sparse_segment_mean"
    if check_tensor(x, name, "x")._array.dtype.kind not in "fV" or x.ndim < 1:
        kind = ValueError if x.ndim < 1 else TypeError
        raise kind(f"For '{name}', 'x' must be floating numbers with at least 1 axis, but got {x.dtype}{list(x.shape)}")
    positions = _integers(indices, name, "indices")._array
    check_same_dtype(name, indices=indices, segment_ids=check_tensor(segment_ids, name, "segment_ids"))
    if positions.ndim != 1:
        raise ValueError(f"For '{name}', 'indices' must be a vector, but got shape {indices.shape}")
    if (positions < 0).any():
        raise RuntimeError(f"For '{name}', 'indices' must not be negative, but got {positions.tolist()}")
    check_in_range(positions, x.shape[0], name)
    return _means(getitem_operator(x, index=positions), segment_ids, name, "x")


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
        ValueError: ``x2`` or an index is not a vector, ``x2`` does not fit, an index is out of range, or another
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


@declare(primitive=prim("ScatterAddWithAxis", axis=0))
def _scatter_add_with_axis(input_x: Tensor, indices: Tensor, updates: Tensor, *, axis: int) -> Tensor:
    """Return ``input_x`` with ``updates`` added at positions along an axis.

    For axis 1, x[i][indices[i][j]] takes updates[i][j].

    Args:
        input_x: a tensor.
        indices: integers, with as many axes and along the others at most as long.
        updates: a tensor of the shape of ``indices``.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``indices`` does not hold integers.
        ValueError: the shapes do not fit, or ``axis`` or an index is out of range.
    """
    name = "ScatterAddWithAxis"
    if check_tensor(updates, name, "updates").shape != check_tensor(indices, name, "indices").shape:
        raise ValueError(f"For '{name}', 'updates' must have the shape {indices.shape}, but got {updates.shape}")
    at = one_axis(axis, check_tensor(input_x, name, "input_x").ndim, name)
    if input_x.ndim:
        check_in_range(_integers(indices, name, "indices")._array, input_x.shape[at], name, ValueError)
    return tensor_scatter_elements(input_x, indices, updates, axis, "add")
