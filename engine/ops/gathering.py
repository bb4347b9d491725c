"""Picking elements by index tensors and putting them back: gather, scatter, index_*, masked_*, segments.

All are rows over the same few entries of the table: ``getitem``, ``setitem`` and ``scatter_add`` (whose gradients are
each other), and ``scatter_reduce`` where elements meet in another way than by a sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.operator import Operator
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic
from .arithmetic import _as, cast_operator
from .indexing import _getitem, _scatter_add, _setitem
from .layout import along, one_axis, ravel
from .shape import _check, broadcast_to, expand_dims, ints_of, reshape, stack

__all__ = [
    "argwhere", "gather", "gather_d", "gather_elements", "gather_nd", "index_add", "index_fill", "index_put",
    "index_select", "inplace_add", "inplace_index_add", "inplace_sub", "inplace_update", "masked_fill",
    "masked_scatter", "masked_select", "nonzero", "put", "scatter", "scatter_add", "scatter_div", "scatter_max",
    "scatter_min", "scatter_mul", "scatter_nd", "scatter_nd_add", "scatter_nd_div", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd_mul", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update", "take",
    "tensor_scatter_add", "tensor_scatter_div", "tensor_scatter_elements", "tensor_scatter_max", "tensor_scatter_min",
    "tensor_scatter_mul", "tensor_scatter_sub", "tensor_scatter_update", "unsorted_segment_max",
    "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sum",
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
    dtype = arithmetic._np_dtype(g)
    mine = F.cast(x == out, dtype=dtype)
    theirs = F.cast(updates == F.getitem(out, index=index), dtype=dtype)
    count = mine + F.scatter_add(theirs, index=index, shape=tuple(x.shape))
    return [g * mine / count, picked * theirs / F.getitem(count, index=index)]


_scatter_reduce = Operator("scatter_reduce", _scatter_reduce_kernel, joint_vjp=_scatter_reduce_rule)


def _integers(value: Tensor, name: str, argument: str) -> Tensor:
    x = value if isinstance(value, Tensor) else Tensor(value)
    if x._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {x.dtype}")
    return x


def _in_range(index: Any, length: int, name: str) -> None:
    if index.size and (int(index.max()) >= length or int(index.min()) < -length):
        raise RuntimeError(
            f"For '{name}', indices must be in [{-length}, {length}), but got {index.min()}..{index.max()}"
        )


def put(x: Tensor, updates: Any, index: Any, how: str = "update") -> Tensor:
    """``x`` with ``updates`` at ``index``: put there, or added to, subtracted from, ... what is there."""
    value = updates if isinstance(updates, Tensor) else Tensor(updates, x.dtype)
    value = _as(value, x._array.dtype)
    spot = x._array[index].shape
    if value.shape != spot:
        value = broadcast_to(value, spot)
    if how == "update":
        return _setitem(x, value, index=index)
    if how in ("add", "sub"):
        spread = _scatter_add(value, index=index, shape=x.shape)
        return arithmetic.add(x, spread) if how == "add" else arithmetic.sub(x, spread)
    return _scatter_reduce(x, value, index=index, how=how)


# Picking


@declare(primitive=(prim("Gather", batch_dims=0), prim("GatherV2"), prim("SparseGatherV2")))
def gather(input_params: Tensor, input_indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    """The entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes are paired up.

    Raises:
        RuntimeError: an index out of range.
    """
    x, i = _check(input_params, "gather", "input_params"), _integers(input_indices, "gather", "input_indices")
    at = one_axis(int(axis) if isinstance(axis, Tensor) else axis, x.ndim, "gather")
    _in_range(i._array, x.shape[at], "gather")
    if not batch_dims:
        return _getitem(x, index=along(x, at, i._array))
    xp, batch = array_module(x._array), batch_dims % i.ndim
    before = [xp.arange(n).reshape((-1,) + (1,) * (at + i.ndim - batch - k - 1)) for k, n in enumerate(x.shape[:at])]
    own = i._array.reshape(i.shape[:batch] + (1,) * (at - batch) + i.shape[batch:])
    return _getitem(x, index=(*before, own))


@declare(method="gather")
def _gather_of_tensor(
    input: Tensor, first: Any = None, second: Any = None, batch_dims: int = 0, **named: Any
) -> Tensor:
    """``gather(dim, index)`` picks element by element, ``gather(input_indices, axis)`` whole entries."""
    if "dim" in named or "index" in named or isinstance(first, int):
        return gather_elements(input, named.get("dim", first), named.get("index", second))
    return gather(input, named.get("input_indices", first), named.get("axis", second), batch_dims)


def _grid(shape: tuple[int, ...], axis: int, index: Any) -> tuple[Any, ...]:
    """The index of every element of ``index``, with ``index`` itself for ``axis``."""
    xp = array_module(index)
    ranges = [xp.arange(n).reshape((-1,) + (1,) * (len(shape) - k - 1)) for k, n in enumerate(shape)]
    ranges[axis] = index
    return tuple(ranges)


@declare(method=True, mint="gather")
def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """``input[i][index[i][j]]`` for each element of ``index``, along ``dim``.

    Raises:
        ValueError: another number of axes, or more elements along another axis than the input has.
    """
    x, i = _check(input, "gather_elements"), _integers(index, "gather_elements", "index")
    at = one_axis(dim, x.ndim, "gather_elements")
    _same_axes(x, i, at, "gather_elements")
    if x.ndim == 0:
        return reshape(x, ())
    return _getitem(x, index=_grid(i.shape, at, i._array))


def _same_axes(x: Tensor, i: Tensor, at: int, name: str) -> None:
    if i.ndim != x.ndim or any(n > m for k, (n, m) in enumerate(zip(i.shape, x.shape, strict=True)) if k != at):
        raise ValueError(f"For '{name}', 'index' of shape {i.shape} does not fit 'input' of shape {x.shape}")
    if x.ndim:
        _in_range(i._array, x.shape[at], name)


@declare(primitive=prim("GatherD"))
def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """``gather_elements`` under its older name."""
    return gather_elements(x, dim, index)


def _rows(indices: Tensor) -> tuple[Any, ...]:
    """The last axis of an index tensor as an index, a column for each axis that it names."""
    return tuple([indices._array[..., k] for k in range(indices.shape[-1])])


@declare(method=True, primitive=prim("GatherNd"))
def gather_nd(input_x: Tensor, indices: Tensor) -> Any:
    """The entries that the rows of ``indices`` (its last axis) name."""
    return _getitem(_check(input_x, "gather_nd", "input_x"), index=_rows(_integers(indices, "gather_nd", "indices")))


@declare(method=True, mint=renamed(axis="dim"))
def index_select(input: Tensor, axis: int, index: Tensor) -> Any:
    """The entries ``index``, a vector, along ``axis``.

    Raises:
        ValueError: ``index`` is no vector.
    """
    i = _integers(index, "index_select", "index")
    if i.ndim > 1:
        raise ValueError(f"For 'index_select', 'index' must have 1 axis, but got shape {i.shape}")
    return gather(input, ravel(i), axis)


@declare(method=True)
def take(input: Tensor, index: Any, axis: int | None = None, mode: str = "clip") -> Any:
    """The elements ``index`` of the flattened tensor, or the entries along ``axis``; out of range by ``mode``.

    Raises:
        ValueError: another ``mode`` than "clip", "wrap" and "raise".
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"For 'take', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}")
    x, i = _check(input, "take"), _integers(index, "take", "index")
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "take")
    n, xp = x.shape[at], array_module(x._array)
    if mode == "raise":
        _in_range(i._array, n, "take")
    places = xp.where(i._array < 0, i._array + n, i._array) if mode != "wrap" else i._array % n
    return _getitem(x, index=along(x, at, xp.clip(places, 0, n - 1)))


@declare(method=True)
def _choose(input: Tensor, choices: Any, mode: str = "clip") -> Tensor:
    """For each element, the entry of ``choices`` that it numbers; numbers out of range by ``mode``.

    Raises:
        ValueError: another ``mode`` than "clip", "wrap" and "raise".
        RuntimeError: a number out of range, with "raise".
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"For 'Tensor.choose', 'mode' must be 'clip', 'wrap' or 'raise', but got {mode!r}")
    rows = [broadcast_to(c if isinstance(c, Tensor) else Tensor(c), input.shape) for c in choices]
    count = len(rows)
    given = input._array
    if mode == "raise" and given.size and (int(given.min()) < 0 or int(given.max()) >= count):
        raise RuntimeError(
            f"For 'Tensor.choose', numbers must be in [0, {count}), but got {given.min()}..{given.max()}"
        )
    numbers = arithmetic.clamp(input, 0, count - 1) if mode == "clip" else arithmetic.remainder(input, count)
    return gather_elements(stack(rows), 0, expand_dims(numbers, 0))[0]


@declare(method=True, primitive=prim("MaskedSelect"), mint=True)
def masked_select(input: Tensor, mask: Tensor) -> Any:
    """The elements where ``mask`` holds, as a vector.

    Raises:
        TypeError: ``mask`` holds no bools.
    """
    x, m = _masked(input, mask, "masked_select")
    shape = np.broadcast_shapes(x.shape, m.shape)
    chosen = m._array if m.shape == shape else array_module(m._array).broadcast_to(m._array, shape)
    return _getitem(x if x.shape == shape else broadcast_to(x, shape), index=chosen)


def _masked(input: Tensor, mask: Tensor, name: str) -> tuple[Tensor, Tensor]:
    m = _check(mask, name, "mask")
    if m._array.dtype.kind != "b":
        raise TypeError(f"For '{name}', 'mask' must hold bools, but got {m.dtype}")
    return _check(input, name), m


@declare(method=True, primitive=prim("NonZero"), mint=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Where elements are not 0: a row for each, or with ``as_tuple`` a vector for each axis."""
    x = _check(input, "nonzero")._array
    xp = array_module(x)
    found = [v.astype(np.int64) for v in xp.nonzero(x.reshape(-1) if x.ndim == 0 else x)]
    if as_tuple:
        return tuple([Tensor._wrap(v) for v in found])
    if x.ndim == 0:
        return Tensor._wrap(xp.zeros((found[0].size, 0), np.int64))
    return Tensor._wrap(xp.stack(found, -1))


@declare(method=True)
def argwhere(input: Tensor) -> Any:
    """Where elements are not 0, a row for each."""
    return nonzero(input)


@declare(primitive=prim("UnravelIndex"))
def _unravel_index(indices: Tensor, dims: Tensor) -> Tensor:
    """The index in each axis of a tensor of shape ``dims``, a row for each, of places in the flattened tensor."""
    places = indices.asnumpy()
    return Tensor(np.stack(np.unravel_index(places, tuple(dims.tolist()))).astype(places.dtype))


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
    return arithmetic.where(m, new, x)


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
    first = _getitem(ravel(source), index=(slice(0, count),))
    return _setitem(x, _as(first, x._array.dtype), index=chosen)


@declare(primitive=prim("IndexAdd", "axis", use_lock=True, check_index_bound=True))
def index_add(
    x: Tensor, indices: Tensor, y: Tensor, axis: int, use_lock: bool = True, check_index_bound: bool = True
) -> Any:
    """``y`` added to the entries ``indices`` along ``axis``; ``x`` takes the result where it is a Parameter."""
    at = one_axis(axis, _check(x, "index_add", "x").ndim, "index_add")
    i = _integers(indices, "index_add", "indices")
    if i.ndim != 1 or i.size != y.shape[at]:
        raise ValueError(
            f"For 'index_add', 'indices' must be a vector of {y.shape[at]} for 'y' of shape {y.shape}, "
            f"but got shape {i.shape}"
        )
    _in_range(i._array, x.shape[at], "index_add")
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
    from ..core.parameter import Parameter

    if isinstance(x, Parameter):
        x._rebind(result._array)
    return result


@declare(method=True, in_place=True, primitive=prim("IndexFill"))
def index_fill(x: Tensor, axis: int, index: Any, value: Any) -> Tensor:
    """``value`` in the entries ``index`` along ``axis``."""
    at = one_axis(axis, _check(x, "index_fill", "x").ndim, "index_fill")
    i = ravel(_integers(index, "index_fill", "index"))
    _in_range(i._array, x.shape[at], "index_fill")
    return put(x, value, along(x, at, i._array))


@declare(method=True, in_place=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """``values`` put (or added) where the tensors ``indices`` point, one for each axis."""
    if not isinstance(indices, list | tuple):
        raise TypeError(f"For 'index_put', 'indices' must be a tuple of Tensors, but got {type(indices).__name__}")
    index = tuple([_check(i, "index_put", "indices")._array for i in indices])
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
        at = one_axis(axis, _check(x, name).ndim, name)
        _same_axes(x, i, at, name)
        if isinstance(updates, Tensor) and updates.shape != i.shape:
            updates = _getitem(updates, index=tuple([slice(0, n) for n in i.shape]))
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
        _in_range(column, length, "scatter_nd")
    return _scatter_add(_check(updates, "scatter_nd", "updates"), index=_rows(i), shape=wanted)


def _family(name: str, how: str, rows: bool, keep: bool) -> Any:
    """One of MindSpore's scatter functions.

    ``rows``: indices name whole positions by their last axis, as in ``gather_nd``; otherwise entries of the first
    axis. ``keep``: the first argument, where it is a Parameter, takes the new values.
    """

    def scattered(input_x: Tensor, indices: Tensor, updates: Tensor, use_locking: bool = False) -> Tensor:
        x, i = _check(input_x, name, "input_x"), _integers(indices, name, "indices")
        index = _rows(i) if rows else (i._array,)
        for column, length in zip(index, x.shape, strict=False):
            _in_range(column, length, name)
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
        rest = _check(x, name, "x").shape[ids.ndim :]
        dtype = x._array.dtype
        empty = start(np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)) if callable(start) else start
        ground = Tensor._wrap(array_module(x._array).full((count, *rest), empty, dtype))
        kept = ids._array >= 0
        inside = x if kept.all() else _getitem(x, index=kept)
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
        return found if there.all() else arithmetic.where(Tensor._wrap(there), found, empty)

    reduced.__doc__ = function.__doc__


_sorted_segments("Max", unsorted_segment_max)
_sorted_segments("Min", unsorted_segment_min)
_sorted_segments("Prod", unsorted_segment_prod, empty=1)
_sorted_segments("Sum", unsorted_segment_sum)
