"""Elements selected by index tensors: gather, take, masked_select, nonzero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, TensorLike
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, constant, generate
from ..arguments import along, bool_of, check_axes, check_broadcast, check_tensor, int_of, one_axis
from ..elementwise import arithmetic
from ..shapes.concatenation import stack
from ..shapes.rearranging import ravel
from ..shapes.reshape import broadcast_to, expand_dims, reshape
from ..shapes.subscripts import getitem_operator

__all__ = [
    "argwhere",
    "gather",
    "gather_d",
    "gather_elements",
    "gather_nd",
    "index_select",
    "masked_select",
    "nonzero",
    "take",
]


def _integers(value: TensorLike, name: str, argument: str) -> Tensor:
    x = value if isinstance(value, Tensor) else Tensor(value)
    if x._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {x.dtype}")
    return x


def check_in_range(index: Array, length: int, name: str, error: type[Exception] = RuntimeError) -> None:
    """Check indices of an axis of this length.

    Args:
        index: an integer array.
        length: of the axis.
        name: of the operator, for the error.
        error: the class of the error: ``RuntimeError`` is MindSpore's of most operators, ``ValueError`` that of some.

    Raises:
        RuntimeError: one is not in [-length, length); or ``error`` instead.
    """
    if index.size:
        check_values(_check_in_range, index, length=length, name=name, error=error)


def _check_in_range(index: Array, length: int, name: str, error: type[Exception]) -> None:
    if int(index.max()) >= length or int(index.min()) < -length:
        raise error(f"For '{name}', indices must be in [{-length}, {length}), but got {index.min()}..{index.max()}")


# Selection
@declare(primitive=(prim("Gather", batch_dims=0), prim("GatherV2"), prim("SparseGatherV2").without("batch_dims")))
def gather(input_params: Tensor, input_indices: TensorLike, axis: int | Tensor, batch_dims: int = 0) -> Tensor:
    """Return the entries ``input_indices`` along ``axis``; the first ``batch_dims`` axes of both are paired up.

    Args:
        input_params: the source tensor.
        input_indices: integers in [-n, n) for the length n of ``axis``, of any shape.
        axis: the axis to select along, an int or a 0-d tensor.
        batch_dims: how many leading axes ``input_params`` and ``input_indices`` have in common: at most
            ``input_indices.ndim`` and at most ``axis``; a negative number counts from ``input_indices.ndim``.

    Returns:
        A tensor of the shape of ``input_params`` with ``axis`` replaced by the axes of ``input_indices`` from
        ``batch_dims`` on, and of its dtype.

    Raises:
        TypeError: ``input_params`` is not a Tensor, ``input_indices`` does not hold integers, or ``axis`` is not an
            int.
        ValueError: ``axis`` or ``batch_dims`` is out of range.
        RuntimeError: an index out of range, or the leading axes differ.
    """
    x, i = check_tensor(input_params, "gather", "input_params"), _integers(input_indices, "gather", "input_indices")
    at = one_axis(int(axis) if isinstance(axis, Tensor) else axis, x.ndim, "gather")
    if not x.ndim:
        raise ValueError("For 'gather', 'input_params' must have at least 1 axis, but got shape ()")
    dims = int_of(batch_dims, "gather", "batch_dims")
    if not dims:
        check_in_range(i._array, x.shape[at], "gather")
        return getitem_operator(x, index=along(x, at, i._array))
    xp, batch = array_module(x._array), dims + i.ndim if dims < 0 else dims
    if not 0 <= batch <= min(i.ndim, at):
        raise ValueError(
            f"For 'gather', 'batch_dims' must be in [{-i.ndim}, {i.ndim}] and at most 'axis' {at}, but got {batch_dims}"
        )
    if x.shape[:batch] != i.shape[:batch]:
        raise RuntimeError(
            f"For 'gather', the first {batch} lengths must be equal, but got shapes {x.shape} and {i.shape}"
        )
    check_in_range(i._array, x.shape[at], "gather")
    leading = [xp.arange(n).reshape((-1,) + (1,) * (at + i.ndim - batch - k - 1)) for k, n in enumerate(x.shape[:at])]
    indices = i._array.reshape(i.shape[:batch] + (1,) * (at - batch) + i.shape[batch:])
    return getitem_operator(x, index=(*leading, indices))


@declare(method="gather")
def _gather_of_tensor(
    input: Tensor,
    first: int | TensorLike | None = None,
    second: int | Tensor | None = None,
    batch_dims: int = 0,
    **kwargs: Any,
) -> Tensor:
    """Return the elements of ``gather(dim, index)``, or the entries of ``gather(input_indices, axis, batch_dims)``.

    Args:
        input: the tensor.
        first: ``dim``, an int, of the first form (``gather_elements``), or ``input_indices``, a tensor, of the second
            (``ops.gather``).
        second: ``index`` of the first form, or ``axis`` of the second.
        batch_dims: of the second form.
        **kwargs: these by name: ``dim`` and ``index``, or ``input_indices`` and ``axis``.

    Returns:
        A tensor of the dtype of ``input``.

    Raises:
        TypeError: an index does not hold integers, an axis is not an int, or the form does not have an argument.
        ValueError: shapes that do not fit, or an axis out of range.
        RuntimeError: an index out of range.
    """
    names = (
        ("dim", "index")
        if "dim" in kwargs or "index" in kwargs or isinstance(first, int)
        else ("input_indices", "axis")
    )
    unexpected = [*kwargs.keys() - {*names}, *["batch_dims"] * (names[0] == "dim" and batch_dims != 0)]
    if unexpected:
        raise TypeError(f"gather() got an unexpected keyword argument '{unexpected[0]}'")
    for name, value in zip(names, (first, second), strict=True):
        if name in kwargs and value is not None:
            raise TypeError(f"gather() got multiple values for argument '{name}'")
    leading: Any = kwargs.get(names[0], first)
    trailing: Any = kwargs.get(names[1], second)
    return (
        gather_elements(input, leading, trailing) if names[0] == "dim" else gather(input, leading, trailing, batch_dims)
    )


def _grid(shape: tuple[int, ...], axis: int, index: Array) -> tuple[Any, ...]:
    """Return the index of every element of ``index``, with ``index`` itself for ``axis``."""
    shapes = [(n, *(1,) * (len(shape) - k - 1)) for k, n in enumerate(shape)]
    xp = array_module(index)
    return tuple(
        [index if k == axis else generate(_numbered, shape=lengths, xp=xp)._array for k, lengths in enumerate(shapes)]
    )


def _numbered(shape: tuple[int, ...], xp: Any) -> Array:
    result: Array = xp.arange(shape[0]).reshape(shape)
    return result


@declare(method=True, mint="gather")
def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements of ``input`` at the positions of ``index``, but along ``dim`` at the numbers in ``index``.

    For two axes and ``dim`` 0: ``result[i][j] = input[index[i][j]][j]``.

    Args:
        input: the source tensor.
        dim: the axis that ``index`` counts along.
        index: an integer tensor of as many axes, on the others no longer than ``input``; numbers in [-n, n) for the
            length n of ``dim``.

    Returns:
        A tensor of the shape of ``index`` and of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, ``index`` does not hold integers, or ``dim`` is not an int.
        ValueError: the wrong number of axes, or more elements along another axis than the input has.
        RuntimeError: an index out of range.
    """
    x, i = check_tensor(input, "gather_elements"), _integers(index, "gather_elements", "index")
    at = one_axis(dim, x.ndim, "gather_elements")
    _same_axes(x, i, at, "gather_elements")
    if x.ndim == 0:
        return reshape(x, ())
    return getitem_operator(x, index=_grid(i.shape, at, i._array))


def _same_axes(x: Tensor, i: Tensor, at: int, name: str) -> None:
    if i.ndim != x.ndim or any(n > m for k, (n, m) in enumerate(zip(i.shape, x.shape, strict=True)) if k != at):
        raise ValueError(f"For '{name}', 'index' of shape {i.shape} does not fit 'input' of shape {x.shape}")
    if x.ndim:
        check_in_range(i._array, x.shape[at], name)


@declare(primitive=prim("GatherD"))
def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return ``gather_elements`` under its older name.

    Args:
        x: the source tensor.
        dim: the axis that ``index`` counts along.
        index: an integer tensor of as many axes, on the others no longer than ``x``.

    Returns:
        A tensor of the shape of ``index`` and of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, ``index`` does not hold integers, or ``dim`` is not an int.
        ValueError: the wrong number of axes, or more elements along another axis than ``x`` has.
        RuntimeError: an index out of range.
    """
    return gather_elements(x, dim, index)


def _rows(indices: Tensor, axes: int, name: str) -> tuple[Any, ...]:
    """Return the last axis of an index tensor as an index, with a column for each of at most ``axes`` axes."""
    count = check_axes(indices, 1, name, "indices").shape[-1]
    if count > axes:
        raise ValueError(f"For '{name}', the last axis of 'indices' must be at most {axes} long, but got {count}")
    return tuple([indices._array[..., k] for k in range(count)])


@declare(method=True, primitive=prim("GatherNd"))
def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Return ``input_x[i0, i1, ...]`` for each row of ``indices`` (its last axis).

    Args:
        input_x: the source tensor.
        indices: an integer tensor (..., K), K at most ``input_x.ndim``; column k counts along axis k, from 0 on.

    Returns:
        A tensor of shape ``indices.shape[:-1] + input_x.shape[K:]`` and of the dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``indices`` does not hold integers.
        ValueError: ``indices`` has no axis, or K is more than ``input_x.ndim``.
        RuntimeError: an index that is negative or out of range.
    """
    x, i = check_tensor(input_x, "gather_nd", "input_x"), _integers(indices, "gather_nd", "indices")
    index = _rows(i, x.ndim, "gather_nd")
    check_values(_check_rows, i._array, lengths=x.shape[: i.shape[-1]])
    return getitem_operator(x, index=index)


def _check_rows(rows: Array, lengths: tuple[int, ...]) -> None:
    outside = ((rows < 0) | (rows >= array_module(rows).asarray(lengths, np.int64))).any(axis=-1)
    if outside.any():
        raise RuntimeError(
            f"For 'gather_nd', 'indices' must be from 0 to below the lengths {lengths} of 'input_x', "
            f"but got {rows[outside][0].tolist()}"
        )


@declare(method=True, mint=renamed(axis="dim"))
def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Return the entries ``index`` along ``axis``.

    Args:
        input: the source tensor.
        axis: the axis to select along.
        index: a vector of integers in [-n, n) for the length n of ``axis``; a 0-d one counts as one of length 1.

    Returns:
        A tensor of the shape of ``input``, but along ``axis`` of the length of ``index``, and of its dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, ``index`` does not hold integers, or ``axis`` is not an int.
        ValueError: ``index`` is not a vector, or ``axis`` is out of range.
        RuntimeError: an index out of range.
    """
    i = _integers(index, "index_select", "index")
    if i.ndim > 1:
        raise ValueError(f"For 'index_select', 'index' must have 1 axis, but got shape {i.shape}")
    return gather(input, ravel(i), axis)


@declare(method=True)
def take(input: Tensor, index: TensorLike, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Return the elements ``index`` of the flattened tensor, or the entries along ``axis``.

    Args:
        input: the source tensor.
        index: integers of any shape; with "clip" and "raise" those in [-n, 0) count from the end.
        axis: the axis to select along; None flattens the tensor first.
        mode: the treatment of an index out of range: "clip" takes the nearest end, "wrap" goes around, "raise" is an
            error.

    Returns:
        A tensor of the shape of ``index``, or of ``input`` with ``axis`` replaced by it, of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``index`` does not hold integers.
        ValueError: a ``mode`` other than "clip", "wrap" and "raise", or ``axis`` is out of range.
        RuntimeError: an index out of range, with "raise".
    """
    check_one_of(mode, ("clip", "wrap", "raise"), "take", "mode")
    x, i = check_tensor(input, "take"), _integers(index, "take", "index")
    if axis is None:
        x, axis = ravel(x), 0
    at = one_axis(axis, x.ndim, "take")
    n, xp = check_axes(x, 1, "take").shape[at], array_module(x._array)
    if mode == "raise":
        check_in_range(i._array, n, "take")
    positions = xp.where(i._array < 0, i._array + n, i._array) if mode != "wrap" else i._array % n
    return getitem_operator(x, index=along(x, at, xp.clip(positions, 0, n - 1)))


@declare(method=True)
def _choose(input: Tensor, choices: Sequence[TensorLike] | Tensor, mode: str = "clip") -> Tensor:
    """Return for each element the corresponding element of the entry of ``choices`` with that number, as in NumPy.

    Args:
        input: integers.
        choices: tensors, or values convertible to tensors, that broadcast to the shape of ``input``.
        mode: the treatment of a number out of range: "clip" takes the nearest entry, "wrap" goes around, "raise" is an
            error.

    Returns:
        A tensor of the shape of ``input`` and of the dtype of ``choices``.

    Raises:
        ValueError: a ``mode`` other than "clip", "wrap" and "raise".
        RuntimeError: a number out of range, with "raise".
    """
    check_one_of(mode, ("clip", "wrap", "raise"), "Tensor.choose", "mode")
    rows = [broadcast_to(c if isinstance(c, Tensor) else Tensor(c), input.shape) for c in choices]
    count = len(rows)
    array = input._array
    if mode == "raise" and array.size and (int(array.min()) < 0 or int(array.max()) >= count):
        raise RuntimeError(
            f"For 'Tensor.choose', numbers must be in [0, {count}), but got {array.min()}..{array.max()}"
        )
    numbers = arithmetic.clamp(input, 0, count - 1) if mode == "clip" else arithmetic.remainder(input, count)
    return gather_elements(stack(rows), 0, expand_dims(numbers, 0))[0]


@declare(method=True, primitive=prim("MaskedSelect"), mint=True)
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where ``mask`` holds, in the order of the tensor.

    Args:
        input: a tensor of any shape.
        mask: a Bool tensor that broadcasts with ``input``.

    Returns:
        A vector of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``mask`` does not hold bools.
        ValueError: the shapes do not broadcast.
    """
    x, m = _masked(input, mask, "masked_select")
    shape = check_broadcast("masked_select", input=x.shape, mask=m.shape)
    selection = m._array if m.shape == shape else array_module(m._array).broadcast_to(m._array, shape)
    return getitem_operator(x if x.shape == shape else broadcast_to(x, shape), index=selection)


def _masked(input: Tensor, mask: Tensor, name: str) -> tuple[Tensor, Tensor]:
    m = check_tensor(mask, name, "mask")
    if m._array.dtype.kind != "b":
        raise TypeError(f"For '{name}', 'mask' must hold bools, but got {m.dtype}")
    return check_tensor(input, name), m


@declare(method=True, primitive=prim("NonZero"), mint=True)
def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Return the indices of the elements that are not 0, in the order of the tensor.

    Args:
        input: a tensor of any shape.
        as_tuple: whether each axis gets a tensor of its own, as in NumPy.

    Returns:
        An Int64 tensor (count, input.ndim), an index in each row; with ``as_tuple`` a tuple of vectors, one of each
        axis, for a 0-d tensor one as of a tensor of length 1.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    x = check_tensor(input, "nonzero")._array
    xp = array_module(x)
    indices = [v.astype(np.int64) for v in xp.nonzero(x.reshape(-1) if x.ndim == 0 else x)]
    if bool_of(as_tuple, "nonzero", "as_tuple"):
        return tuple([Tensor._wrap(v) for v in indices])
    if x.ndim == 0:
        return constant(xp.zeros((indices[0].size, 0), np.int64))
    return Tensor._wrap(xp.stack(indices, -1))


@declare(method=True, numpy=renamed(input="a"))
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, in the order of the tensor.

    Args:
        input: a tensor of any shape.

    Returns:
        An Int64 tensor (count, input.ndim), an index in each row.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return nonzero(input)


@declare(primitive=prim("UnravelIndex"))
def _unravel_index(indices: Tensor, dims: Tensor) -> Tensor:
    """Return the indices in each axis of positions in a flattened tensor of shape ``dims``, as in NumPy.

    Args:
        indices: positions, integers in [0, product of ``dims``), of any shape.
        dims: a vector of lengths.

    Returns:
        A tensor ``(len(dims),) + indices.shape`` of the dtype of ``indices``.

    Raises:
        ValueError: a position that is not in the tensor.
    """
    positions = indices.asnumpy()
    return Tensor(np.stack(np.unravel_index(positions, tuple(dims.tolist()))).astype(positions.dtype))
