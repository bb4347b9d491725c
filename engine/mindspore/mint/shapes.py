"""Shapes and selection of elements of ``mindspore.mint``, where signatures differ from those in ``ops``."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from ... import ops
from ...base.types import Ints, Operand
from ...ops.arguments import along, axes_of, check_tensor, int_of, ints_of, one_axis
from ...ops.indexing.index_assignment import scaled_source
from ...ops.shapes.reshape import flat_view
from ...tensors.tensor import Tensor

__all__ = [
    "diag",
    "flatten",
    "index_add",
    "meshgrid",
    "repeat_interleave",
    "scatter_add",
    "select",
    "squeeze",
    "take",
    "where",
]

# Shape


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Remove axes of length 1; an axis of a different length stays.

    Args:
        input: a Tensor.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        a Tensor of the same elements.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    if dim is None:
        return ops.squeeze(input)
    ndim = check_tensor(input, "squeeze").ndim
    numbers = ints_of(dim, "squeeze", "dim")
    axes = (axes_of(numbers, ndim, "squeeze") if ndim else None) or ()
    singletons = tuple(axis for axis in axes if input.shape[axis] == 1)
    return ops.squeeze(input, singletons) if singletons else ops.reshape(input, input.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flatten the axes from ``start_dim`` to ``end_dim`` into one.

    Args:
        input: a Tensor.
        start_dim: the first axis.
        end_dim: the last axis.

    Returns:
        a Tensor of the same elements; a vector of one for a number.

    Raises:
        ValueError: an axis is out of range, or the last comes before the first.
    """
    ndim = check_tensor(input, "flatten").ndim
    for axis in (start_dim, end_dim):
        axes_of(axis, ndim, "flatten")  # unlike ops.flatten, which accepts a missing axis 1
    return flat_view(input, "C", start_dim, end_dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of grid points: for each vector a Tensor of the grid's shape.

    Args:
        *tensors: the coordinates along each axis of the grid, vectors; or one tuple or list of them.
        indexing: "ij": the first vector runs along the first axis; "xy": the first one along the second axis, the
            second one along the first. None is "ij".

    Returns:
        a tuple of a Tensor for each vector.

    Raises:
        ValueError: an unknown ``indexing``.
    """
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with a vector on one diagonal, or one diagonal of a matrix.

    Args:
        input: a vector or a matrix.
        diagonal: the diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        a matrix for a vector, a vector for a matrix.

    Raises:
        ValueError: ``input`` has the wrong rank.
    """
    if check_tensor(input, "mint.diag").ndim == 2:
        return ops.diagonal(input, diagonal)
    offset = builtins.abs(int_of(diagonal, "mint.diag", "diagonal"))
    square = ops.diag(input)
    if not offset:
        return square
    before, behind = (offset, 0) if diagonal > 0 else (0, offset)
    return ops.pad(square, (before, behind, behind, before))


def repeat_interleave(
    input: Tensor, repeats: Ints | Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element several times in succession.

    Args:
        input: a Tensor.
        repeats: the number of repetitions: an int for all, or one for each entry along the axis.
        dim: the axis, in [-ndim, ndim); None repeats all elements, flattened.
        output_size: the length of the result along the axis; it is only checked.

    Returns:
        a Tensor; a vector without ``dim``.

    Raises:
        ValueError: ``dim`` is out of range, ``repeats`` does not fit, or ``output_size`` is the wrong length.
    """
    repeated = ops.repeat_interleave(input, repeats, dim)
    if output_size is not None and repeated.shape[dim or 0] != output_size:
        raise ValueError(
            f"For 'mint.repeat_interleave', 'output_size' must be the length {repeated.shape[dim or 0]} of the result, "
            f"but got {output_size}"
        )
    return repeated


# Selection


def where(condition: Tensor, input: Operand | None = None, other: Operand | None = None) -> Tensor | tuple[Tensor, ...]:
    """Return ``input`` if the condition holds, else ``other``; for the condition alone the indices at which it holds.

    Args:
        condition: a Bool Tensor.
        input: a Tensor or a number that broadcasts with it.
        other: the same.

    Returns:
        a Tensor of the broadcast shape; or a tuple of an Int64 vector for each axis.

    Raises:
        TypeError: only one of ``input`` and ``other`` is passed.
        ValueError: the shapes do not broadcast.
    """
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    if input is None or other is None:
        present, missing = ("other", "input") if input is None else ("input", "other")
        raise TypeError(f"For 'where', '{missing}' must be given too where '{present}' is")
    return ops.where(condition, input, other)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of ``input`` with ``src`` added at indices along one axis; repeated indices add up.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        index: the index along ``dim`` for each element of ``src``, ints.
        src: the values to add, of the shape of ``index``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes do not match, or ``dim`` is out of range.
        IndexError: an index is out of range.
    """
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a copy of ``input`` with alpha times the entries of ``source`` added at indices along one axis.

    Args:
        input: a Tensor; a Parameter stays unchanged.
        dim: the axis, in [-ndim, ndim).
        index: the indices along ``dim``, a vector of ints.
        source: the values to add: of the shape of ``input``, as long as ``index`` along ``dim``.
        alpha: the factor of ``source``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes do not match, or ``dim`` or an index is out of range.
    """
    base = ops.reshape(input, check_tensor(input, "index_add").shape)  # ops.index_add assigns the sum to a Parameter
    return ops.index_add(base, index, scaled_source("index_add", source, alpha), dim)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return one entry along one axis: ``input[..., index, ...]``.

    Args:
        input: a Tensor of at least one axis.
        dim: the axis, in [-ndim, ndim).
        index: the index along it; a negative one counts from the end.

    Returns:
        a Tensor without that axis.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
        IndexError: ``index`` is out of range.
    """
    at = one_axis(dim, check_tensor(input, "mint.select").ndim, "mint.select")
    return input[along(input, at, int_of(index, "mint.select", "index"))]


def take(input: Tensor, index: Tensor) -> Tensor:
    """Return elements by their indices in the flattened Tensor.

    Args:
        input: a Tensor.
        index: the indices, ints of any shape.

    Returns:
        a Tensor of the shape of ``index``.

    Raises:
        IndexError: an index is out of range.
    """
    return ops.reshape(input, (-1,))[index]
