"""Elements put where index tensors say: scatter, index_add, masked_fill, sums of segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.operator import Operator
from ..core.parameter import Parameter
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic, comparison, elementwise
from .arguments import along, check_tensor, ints_of, one_axis
from .elementwise import as_dtype, cast_operator
from .gathering import _grid, _integers, _masked, _rows, _same_axes, check_in_range
from .indexing import getitem_operator, scatter_add_operator, setitem_operator
from .rearranging import ravel
from .shape import broadcast_to, reshape

__all__ = [
    "index_add", "index_fill", "index_put", "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update",
    "masked_fill", "masked_scatter", "put", "scatter", "scatter_add", "scatter_div", "scatter_max", "scatter_min",
    "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update", "tensor_scatter_add",
    "tensor_scatter_div", "tensor_scatter_elements", "tensor_scatter_max", "tensor_scatter_min", "tensor_scatter_mul",
    "tensor_scatter_sub", "tensor_scatter_update", "unsorted_segment_max", "unsorted_segment_min",
    "unsorted_segment_prod", "unsorted_segment_sum",
]  # fmt: skip
_MEETINGS = {"mul": np.multiply, "div": np.true_divide, "max": np.maximum, "min": np.minimum}


def _scatter_reduce_kernel(x: Any, updates: Any, index: Any, how: str) -> Any:
    changed = x.copy()
    whole = how == "div" and x.dtype.kind in "iu"
    ufunc = np.floor_divide if whole else _MEETINGS[how]
    if array_module(x) is np:
        ufunc.at(changed, index, updates)
    else:
        getattr(array_module(x), ufunc.__name__).at(changed, index, updates)
    return changed


def _scatter_reduce_rule(F: Any, needs: Any, g: Any, out: Any, x: Any, updates: Any, index: Any, how: str) -> list[Any]:
    """By division for products, and in equal shares to those that are the extreme."""
    picked = F.getitem(g, index=index)
    if how in ("mul", "div"):
        share = F.getitem(out, index=index) * picked / updates
        return [g * out / x, share if how == "mul" else -share]
    dtype = elementwise.array_dtype(g)
    mine = F.cast(x == out, dtype=dtype)
    theirs = F.cast(updates == F.getitem(out, index=index), dtype=dtype)
    count = mine + F.scatter_add(theirs, index=index, shape=tuple(x.shape))
    return [g * mine / count, picked * theirs / F.getitem(count, index=index)]


_scatter_reduce = Operator("scatter_reduce", _scatter_reduce_kernel, joint_vjp=_scatter_reduce_rule)


def put(x: Tensor, updates: Any, index: Any, how: str = "update") -> Tensor:
    """``x`` with ``updates`` at ``index``: put there, or added to, subtracted from, ... what is there."""
    value = updates if isinstance(updates, Tensor) else Tensor(updates, x.dtype)
    value = as_dtype(value, x._array.dtype)
    spot = x._array[index].shape
    if value.shape != spot:
        value = broadcast_to(value, spot)
    if how == "update":
        return setitem_operator(x, value, index=index)
    if how in ("add", "sub"):
        spread = scatter_add_operator(value, index=index, shape=x.shape)
        return arithmetic.add(x, spread) if how == "add" else arithmetic.sub(x, spread)
    return _scatter_reduce(x, value, index=index, how=how)


# Putting
@declare(method=True, in_place=True, primitive=prim("MaskedFill"))
def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``value`` where ``mask`` holds.

    Raises:
        TypeError: ``mask`` holds no bools, or ``value`` is no number and no Tensor.
    """
    x, m = _masked(input_x, mask, "masked_fill")
    if not isinstance(value, Tensor | bool | int | float):
        raise TypeError(f"For 'masked_fill', 'value' must be a number or a Tensor, but got {type(value).__name__}")
    new = cast_operator(value, dtype=x._array.dtype) if isinstance(value, Tensor) else Tensor(value, x.dtype)
    return comparison.where(m, new, x)


@declare(method=True, in_place=True, primitive=prim("MaskedScatter"))
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Any:
    """The first elements of ``source`` in order where ``mask`` holds.

    Raises:
        ValueError: ``source`` has too few elements.
    """
    x, m = _masked(input, mask, "masked_scatter")
    chosen = array_module(m._array).broadcast_to(m._array, x.shape)
    count = int(chosen.sum())
    if source.size < count:
        raise ValueError(f"For 'masked_scatter', 'source' must have {count} elements, but got {source.size}")
    first = getitem_operator(ravel(source), index=(slice(0, count),))
    return setitem_operator(x, as_dtype(first, x._array.dtype), index=chosen)


@declare(primitive=prim("IndexAdd", "axis", use_lock=True, check_index_bound=True))
def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Any:
    """``y`` added to the entries ``indices`` along ``axis``; ``x`` takes the result where it is a Parameter."""
    at = one_axis(axis, check_tensor(x, "index_add", "x").ndim, "index_add")
    i = _integers(indices, "index_add", "indices")
    if i.ndim != 1 or i.size != y.shape[at]:
        raise ValueError(
            f"For 'index_add', 'indices' must be a vector of {y.shape[at]} for 'y' of shape {y.shape}, "
            f"but got shape {i.shape}"
        )
    check_in_range(i._array, x.shape[at], "index_add")
    return _kept(x, put(x, y, along(x, at, i._array), "add"))


@declare(method="index_add", in_place="index_add_")
def _index_add_of_tensor(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """``index_add(dim, index, source, alpha=)`` or ``index_add(indices, y, axis)``."""
    if {"dim", "source", "alpha"}.intersection(named) or (args and isinstance(args[0], int)):
        values = {**dict(zip(("dim", "index", "source"), args, strict=False)), **named}
        source, alpha = values["source"], values.get("alpha", 1)
        return index_add(input, values["index"], source if alpha == 1 else source * alpha, values["dim"])
    return index_add(input, *args, **named)


def _kept(x: Any, result: Any) -> Any:
    """A parameter takes the new values, as MindSpore's scatter operators change what they are given."""
    if isinstance(x, Parameter):
        x._rebind(result._array)
    return result


@declare(method=True, in_place=True, primitive=prim("IndexFill"))
def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """``value`` in the entries ``index`` along ``axis``."""
    at = one_axis(axis, check_tensor(x, "index_fill", "x").ndim, "index_fill")
    i = ravel(_integers(index, "index_fill", "index"))
    check_in_range(i._array, x.shape[at], "index_fill")
    return put(x, value, along(x, at, i._array))


@declare(method=True, in_place=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """``values`` put (or added) where the tensors ``indices`` point, one for each axis."""
    if not isinstance(indices, list | tuple):
        raise TypeError(f"For 'index_put', 'indices' must be a tuple of Tensors, but got {type(indices).__name__}")
    index = tuple([check_tensor(i, "index_put", "indices")._array for i in indices])
    return put(input, values, index, "add" if accumulate else "update")


@declare(in_place=True)
def _index_copy(input: Tensor, dim: int, index: Tensor, tensor: Tensor) -> Tensor:
    """The entries ``index`` along ``dim`` replaced by those of ``tensor``."""
    return put(input, tensor, along(input, dim % input.ndim, index._array))


@declare(in_place="put_")
def _put_flat(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """``source`` put at (or added to) the places ``index`` of the flattened tensor."""
    how = "add" if accumulate else "update"
    return reshape(put(ravel(input), reshape(source, index.shape), (index._array,), how), input.shape)


@declare(method=True, in_place=True)
def _fill_diagonal(input: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """The tensor with ``fill_value`` on its diagonal, which with ``wrap`` starts anew below a tall matrix's end."""
    xp = array_module(input._array)
    if wrap and input.ndim == 2:
        places = xp.arange(0, input.size, input.shape[1] + 1)
        return reshape(put(ravel(input), fill_value, (places,)), input.shape)
    return put(input, fill_value, (xp.arange(min(input.shape)),) * input.ndim)


def _elements(name: str) -> Any:
    """Scatter along an axis: ``x[i][index[i][j]]`` takes ``updates[i][j]``."""

    def scattered(x: Tensor, index: Any, updates: Any, axis: int, how: str) -> Tensor:
        i = _integers(index, name, "index")
        at = one_axis(axis, check_tensor(x, name).ndim, name)
        _same_axes(x, i, at, name)
        if isinstance(updates, Tensor) and updates.shape != i.shape:
            updates = getitem_operator(updates, index=tuple([slice(0, n) for n in i.shape]))
        return put(x, updates, _grid(i.shape, at, i._array) if x.ndim else (), how)

    return scattered


@declare(primitive=prim("TensorScatterElements", axis=0, reduction="none"))
def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """``updates`` put (or with ``reduction`` "add" added) at ``indices`` along ``axis``.

    Raises:
        ValueError: another ``reduction``.
    """
    if reduction not in ("none", "add"):
        raise ValueError(f"For 'tensor_scatter_elements', 'reduction' must be 'none' or 'add', but got {reduction!r}")
    how = "update" if reduction == "none" else "add"
    return _elements("tensor_scatter_elements")(input_x, indices, updates, axis, how)


@declare(mint=renamed(axis="dim", without=("reduce",)))
def scatter(input: Tensor, axis: int, index: Tensor, src: Any, reduce: str | None = None) -> Tensor:
    """``src`` put at ``index`` along ``axis``; ``reduce`` "add" or "multiply" combines it with what is there."""
    how = {None: "update", "none": "update", "add": "add", "multiply": "mul"}.get(reduce)
    if how is None:
        raise ValueError(f"For 'scatter', 'reduce' must be 'add' or 'multiply', but got {reduce!r}")
    return _elements("scatter")(input, index, src, axis, how)


@declare(method="scatter", in_place="scatter_")
def _scatter_of_tensor(
    input: Tensor, dim: int = 0, index: Any = None, src: Any = None, *, reduce: str | None = None, **named: Any
) -> Tensor:
    """``src`` (or the number ``value``) put at ``index`` along ``dim``."""
    return scatter(input, named.get("axis", dim), index, named.get("value", src), reduce)


@declare(method="scatter_add", in_place="scatter_add_")
def _scatter_add_of_tensor(input: Tensor, *args: Any, **named: Any) -> Tensor:
    """``scatter_add(dim, index, src)`` adds along an axis, ``scatter_add(indices, updates)`` to whole positions."""
    if len(args) == 3 or "dim" in named:
        values = {**dict(zip(("dim", "index", "src"), args, strict=False)), **named}
        return tensor_scatter_elements(input, values["index"], values["src"], values["dim"], "add")
    return tensor_scatter_add(input, *args, **named)


@declare(primitive=prim("ScatterNd"))
def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Zeros of ``shape``, with ``updates`` added where the rows of ``indices`` point."""
    i = _integers(indices, "scatter_nd", "indices")
    wanted = ints_of(shape, "scatter_nd", "shape")
    for column, length in zip(_rows(i), wanted, strict=False):
        check_in_range(column, length, "scatter_nd")
    return scatter_add_operator(check_tensor(updates, "scatter_nd", "updates"), index=_rows(i), shape=wanted)


def _family(name: str, how: str, rows: bool, keep: bool) -> Any:
    """One of MindSpore's scatter functions.

    ``rows``: indices name whole positions by their last axis, as in ``gather_nd``; otherwise entries of the first
    axis. ``keep``: the first argument, where it is a Parameter, takes the new values.
    """

    def scattered(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
        x, i = check_tensor(input_x, name, "input_x"), _integers(indices, name, "indices")
        index = _rows(i) if rows else (i._array,)
        for column, length in zip(index, x.shape, strict=False):
            check_in_range(column, length, name)
        spot = x._array[index].shape
        if isinstance(updates, Tensor) and updates.shape != spot and updates.ndim:
            raise ValueError(f"For '{name}', 'updates' must have the shape {spot}, but got {updates.shape}")
        result = put(x, updates, index, how)
        return _kept(x, result) if keep else result

    scattered.__name__ = scattered.__qualname__ = name
    verb = {"update": "put", "add": "added", "sub": "subtracted", "mul": "multiplied", "div": "divided"}.get(how)
    scattered.__doc__ = f"``updates`` {verb or 'kept if they are the ' + how} where ``indices`` point."
    return scattered


_HOWS = ("add", "sub", "mul", "div", "max", "min", "update")
scatter_add, scatter_sub, scatter_mul, scatter_div, scatter_max, scatter_min, scatter_update = (
    declare(primitive=prim(f"Scatter{how.capitalize()}", use_locking=False))(
        _family(f"scatter_{how}", how, False, True)
    )
    for how in _HOWS
)
(
    scatter_nd_add, scatter_nd_sub, scatter_nd_mul, scatter_nd_div, scatter_nd_max, scatter_nd_min, scatter_nd_update,
) = (
    declare(primitive=prim(f"ScatterNd{how.capitalize()}", use_locking=False))(
        _family(f"scatter_nd_{how}", how, True, True)
    )
    for how in _HOWS
)  # fmt: skip
declare(primitive=prim("ScatterNonAliasingAdd"))(scatter_nd_add)
(
    tensor_scatter_add, tensor_scatter_sub, tensor_scatter_mul, tensor_scatter_div, tensor_scatter_max,
    tensor_scatter_min, tensor_scatter_update,
) = (
    # The methods ``scatter_sub``, ... are these: they take places and change nothing.
    declare(
        method=f"scatter_{how}" if how not in ("add", "update") else False,
        primitive=prim(f"TensorScatter{how.capitalize()}"),
    )(_family(f"tensor_scatter_{how}", how, True, False))
    for how in _HOWS
)  # fmt: skip


def _inplace(name: str, how: str) -> Any:
    def changed(x: Tensor, v: Tensor, indices: Any) -> Any:
        return put(x, v, (array_module(x._array).asarray(ints_of(indices, name, "indices")),), how)

    changed.__name__ = changed.__qualname__ = name
    changed.__doc__ = "The tensor with ``v`` " + {"add": "added to", "sub": "subtracted from"}.get(how, "put into")
    changed.__doc__ += " its rows ``indices``; a new tensor."
    return changed


inplace_add = declare(primitive=prim("InplaceAdd", "indices"))(_inplace("inplace_add", "add"))
inplace_sub = declare(primitive=prim("InplaceSub", "indices"))(_inplace("inplace_sub", "sub"))
inplace_update = declare(method=True, primitive=prim("InplaceUpdate", "indices"))(_inplace("inplace_update", "update"))
declare(primitive=prim("InplaceUpdateV2"))(lambda x, indices, v: inplace_update(x, v, indices))


@declare(primitive=prim("InplaceIndexAdd", "axis"))
def inplace_index_add(var: Tensor, indices: Tensor, updates: Tensor, axis: int) -> Tensor:
    """``updates`` added to the entries ``indices`` of a parameter along ``axis``."""
    return index_add(var, indices, updates, axis)


# Segments
def _segments(name: str, how: str, start: Any) -> Any:
    def reduced(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
        ids, count = _integers(segment_ids, name, "segment_ids"), int(num_segments)
        if count <= 0:
            raise ValueError(f"For '{name}', 'num_segments' must be positive, but got {count}")
        rest = check_tensor(x, name, "x").shape[ids.ndim :]
        dtype = x._array.dtype
        empty = start(np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)) if callable(start) else start
        ground = Tensor._wrap(array_module(x._array).full((count, *rest), empty, dtype))
        kept = ids._array >= 0
        inside = x if kept.all() else getitem_operator(x, index=kept)
        index = ids._array if kept.all() else ids._array[kept]
        return put(ground, inside, (index,), how)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = "The elements of each segment together, one entry a segment; negative ids are left out."
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
def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """The sum of each segment's elements, one entry a segment; negative ids are left out."""
    return _segments("unsorted_segment_sum", "add", 0)(input_x, segment_ids, num_segments)


def _sorted_segments(how: str, function: Callable[..., Tensor], empty: int = 0) -> None:
    """The class whose segments lie one behind the other, one more than the last id; ``empty`` where one is missing."""

    @declare(primitive=prim(f"Segment{how}"))
    def reduced(input_x: Tensor, segment_ids: Tensor) -> Tensor:
        ids = _integers(segment_ids, f"Segment{how}", "segment_ids")._array
        count = int(ids.max()) + 1
        found = function(input_x, segment_ids, count)
        xp = array_module(ids)
        there = xp.isin(xp.arange(count), ids).reshape((-1,) + (1,) * (found.ndim - 1))
        return found if there.all() else comparison.where(Tensor._wrap(there), found, empty)

    reduced.__doc__ = function.__doc__


_sorted_segments("Max", unsorted_segment_max)
_sorted_segments("Min", unsorted_segment_min)
_sorted_segments("Prod", unsorted_segment_prod, empty=1)
_sorted_segments("Sum", unsorted_segment_sum)
