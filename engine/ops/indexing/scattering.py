"""Elements written or combined at index tensors: scatter, scatter_nd, tensor_scatter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Number, Shape, TensorLike, Value
from ...cpu.array_module import array_module
from ...cpu.arrays.segments import combined_at
from ...cpu.widening import in_single
from ...tensors.backend import is_array, to_host
from ...tensors.operator import Operator
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..arguments import check_loses_nothing, check_operand, check_tensor, ints_of, one_axis
from ..elementwise import arithmetic
from ..shapes import broadcasting
from ..shapes.broadcasting import as_dtype, as_single
from ..shapes.reshape import broadcast_to
from ..shapes.subscripts import getitem_operator, scatter_add_operator, setitem_operator
from .gathering import _grid, _integers, _rows, _same_axes, check_in_range

__all__ = [
    "put",
    "scatter",
    "scatter_add",
    "scatter_div",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_nd_div",
    "scatter_nd_max",
    "scatter_nd_min",
    "scatter_nd_mul",
    "scatter_nd_sub",
    "scatter_nd_update",
    "scatter_sub",
    "scatter_update",
    "tensor_scatter_add",
    "tensor_scatter_div",
    "tensor_scatter_elements",
    "tensor_scatter_max",
    "tensor_scatter_min",
    "tensor_scatter_mul",
    "tensor_scatter_sub",
    "tensor_scatter_update",
]

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


def check_positions(index: Index, x: Tensor, name: str) -> None:
    """Raise RuntimeError if an integer index tensor is out of range; bools are not checked."""
    for indices, length in zip(index, x.shape, strict=False):
        if indices.dtype.kind in "iu":
            check_in_range(indices, length, name)


def check_names(name: str, kwargs: dict[str, Any], allowed: tuple[str, ...]) -> None:
    for key in kwargs:
        if key not in allowed:
            raise TypeError(f"For 'Tensor.{name}', there is no argument '{key}' beside {list(allowed)}")


def assign_to_parameter(x: Any, result: Any) -> Any:
    """Set a parameter, or its slice under ``vmap``, to the result: MindSpore's operators change their argument."""
    if isinstance(x, Parameter) or x._of_parameter:
        x._rebind(result._array)
    return result


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
        ValueError: an unknown ``reduction``, shapes that do not fit, or ``axis`` out of range.
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
        ValueError: an unknown ``reduce``, shapes that do not fit, or ``axis`` out of range.
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
    **kwargs: Any,
) -> Tensor:
    """Return ``input`` with ``src`` written at positions along an axis, or combined with the elements there.

    For axis 1, x[i][index[i][j]] takes src[i][j].

    Args:
        input: a tensor.
        dim: the axis, in [-ndim, ndim).
        index: integers, with as many axes and along the others at most as long.
        src: a tensor at least as large as ``index``, or a number.
        reduce: None or "none" replaces, "add" adds, "multiply" multiplies.
        **kwargs: ``axis`` for ``dim``, ``value`` for ``src``.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``index`` does not hold integers, or an argument has an unknown name.
        ValueError: an unknown ``reduce``, shapes that do not fit, or ``dim`` out of range.
        RuntimeError: an index is out of range.
    """
    check_names("scatter", kwargs, ("axis", "value"))
    if index is None:
        raise TypeError("For 'Tensor.scatter', 'index' must be given")
    value: Any = kwargs.get("value", src)
    return scatter(input, kwargs.get("axis", dim), index, value, reduce)


@declare(method="scatter_add")
def _scatter_add_of_tensor(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Return the tensor with another one added at positions.

    It is called as ``scatter_add(dim, index, src)``, for positions along an axis, or ``scatter_add(indices, updates)``.

    Args:
        input: a tensor.
        *args: ``dim``, ``index`` and ``src`` as for ``scatter``, or ``indices`` and ``updates`` as for
            ``tensor_scatter_add``.
        **kwargs: these by name.

    Returns:
        A tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: the positions are not integers, or an argument has an unknown name.
        ValueError: shapes that do not fit.
        RuntimeError: an index is out of range.
    """
    if len(args) == 3 or "dim" in kwargs:
        check_names("scatter_add", kwargs, ("dim", "index", "src"))
        values = {**dict(zip(("dim", "index", "src"), args, strict=False)), **kwargs}
        return tensor_scatter_elements(input, values["index"], values["src"], values["dim"], "add")
    return tensor_scatter_add(input, *args, **kwargs)


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
        return assign_to_parameter(x, result) if keep else result

    scattered.__name__ = scattered.__qualname__ = name
    scattered.__doc__ = f"""{_FORMULAS[how]} where ``indices`` point{"; a new tensor" * (not keep)}.

    Args:
        input_x: x, a tensor{"; a Parameter takes the new values" * keep}.
        indices: integers; {_ROWS if rows else _ENTRIES}.
        updates: u, a tensor of the shape {_ROWS_SHAPE if rows else "indices.shape + input_x.shape[1:]"}, or a number.
        use_locking: kept for MindSpore; there are no concurrent writers.

    Returns:
        A tensor of the shape and dtype of ``input_x``. Where several updates meet in a place, {_MEET[how]}.

    Raises:
        TypeError: ``input_x`` is not a Tensor, ``indices`` holds no integers, or ``updates`` such as ``input_x`` cannot
            hold.
        ValueError: ``updates`` has the wrong shape, or ``input_x`` no axis.
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
