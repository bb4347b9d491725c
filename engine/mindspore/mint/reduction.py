"""Reductions, distances and order of ``mindspore.mint`` whose signatures differ from those in ``ops``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import ops
from ...base.argument_checks import check_one_of
from ...base.types import DTypeLike
from ...ops.arguments import Axis
from ...tensors.dtype import int64
from ...tensors.tensor import Tensor
from .arithmetic import in_dtype
from .shapes import squeeze

__all__ = ["allclose", "argmin", "argsort", "cdist", "cummin", "max", "mean", "median", "min", "norm", "sort", "topk"]

_WAYS_TO_MEASURE = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")

# Reductions


def mean(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the mean over axes.

    Args:
        input: a Tensor.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdim: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return ops.mean(in_dtype(input, dtype), dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the smallest element along one axis, or of all; the first one of several.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim); None flattens the input.
        keepdim: whether the axis stays, with length 1.

    Returns:
        an Int64 Tensor.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.argmin(input, dim, keepdim).astype(int64)


def max(
    input: Tensor,
    *args: Tensor | int | bool,
    dim: int | None = None,
    keepdim: bool = False,
    other: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest element; with its index: ``max(input, dim, keepdim)``; of each pair: ``max(input, other)``.

    Args:
        input: a Tensor.
        *args: ``dim`` and ``keepdim``, or ``other``, by position.
        dim: the axis, in [-ndim, ndim); None is all of them.
        keepdim: whether that axis stays, with length 1.
        other: a Tensor that broadcasts with ``input``.

    Returns:
        a Tensor; with ``dim`` a pair of it and the indices, Int64. The first of several largest elements gets the index
        and the gradient; without ``dim`` they share it.

    Raises:
        TypeError: there are more arguments, or ``other`` with ``dim`` or ``keepdim``.
        ValueError: ``dim`` is out of range, or the shapes do not broadcast.
    """
    return _extreme("max", ops.maximum, input, args, dim, keepdim, other)


def min(
    input: Tensor,
    *args: Tensor | int | bool,
    dim: int | None = None,
    keepdim: bool = False,
    other: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the smallest element; with its index: ``min(input, dim, keepdim)``; of each pair: ``min(input, other)``.

    Args:
        input: a Tensor.
        *args: ``dim`` and ``keepdim``, or ``other``, by position.
        dim: the axis, in [-ndim, ndim); None is all of them.
        keepdim: whether that axis stays, with length 1.
        other: a Tensor that broadcasts with ``input``.

    Returns:
        a Tensor; with ``dim`` a pair of it and the indices, Int64. The first of several smallest elements gets the
        index and the gradient; without ``dim`` they share it.

    Raises:
        TypeError: there are more arguments, or ``other`` with ``dim`` or ``keepdim``.
        ValueError: ``dim`` is out of range, or the shapes do not broadcast.
    """
    return _extreme("min", ops.minimum, input, args, dim, keepdim, other)


def _extreme(
    name: str,
    pairwise: Callable[..., Tensor],
    input: Tensor,
    args: tuple[Any, ...],
    dim: int | None,
    keepdim: bool,
    other: Tensor | None,
) -> Tensor | tuple[Tensor, Tensor]:
    if len(args) > (1 if args and isinstance(args[0], Tensor) else 2):
        raise TypeError(
            f"For '{name}', the other arguments must be 'dim' and 'keepdim', or 'other', but got {len(args)} more"
        )
    if args and isinstance(args[0], Tensor):
        other, args = args[0], args[1:]
    if other is not None and (dim is not None or keepdim):
        raise TypeError(f"For '{name}', 'other' excludes 'dim' and 'keepdim'")
    if other is not None:
        return pairwise(input, other)
    if args:
        dim, keepdim = args[0], args[1] if len(args) > 1 else keepdim
    if dim is None:
        return (ops.amax if name == "max" else ops.amin)(input)
    # By its index: only one of several extreme elements gets the gradient.
    positions = (ops.argmax if name == "max" else ops.argmin)(input, dim, True).astype(int64)
    values = ops.gather_elements(input, dim, positions) if input.ndim else ops.reshape(input, ())
    return (values, positions) if keepdim else (squeeze(values, dim), squeeze(positions, dim))


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the median, the lower of two: of all, or along one axis with its index; NaN if any element is NaN.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim); None takes all elements.
        keepdim: whether that axis stays, with length 1.

    Returns:
        a Tensor without axes; with ``dim`` a pair of the elements and their indices, Int64.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.median(ops.reshape(input, (-1,)), 0)[0] if dim is None else ops.median(input, dim, keepdim)


def norm(
    input: Tensor, p: float | str = "fro", dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the ``p``-norm of all elements, or of vectors along axes: (sum of abs(x) ** p) ** (1 / p).

    Args:
        input: a Tensor.
        p: the order, any number; inf is the largest and -inf the smallest absolute value; "fro" is 2, and "nuc" the
            sum of a matrix's singular values.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdim: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor of the norms.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an unsupported ``p``, or an axis is out of range or repeated.
    """
    if p == "nuc":
        return ops.norm(input, p, dim, keepdim, dtype=dtype)
    order: Any = 2 if p == "fro" else p  # rejects other words
    return ops.vector_norm(input, order, dim, keepdim, dtype=dtype)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Return the ``p``-norm distance of each row of ``x1`` from each row of ``x2``.

    Args:
        x1: a Tensor (..., P, M).
        x2: a Tensor (..., R, M); the leading axes broadcast.
        p: the order, from 0 on; inf is the largest difference.
        compute_mode: must be one of PyTorch's three names of algorithms; all use differences of rows, with the same
            distances.

    Returns:
        a Tensor (..., P, R).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
        ValueError: ``p`` is negative, an unknown ``compute_mode``, or the shapes do not match.
    """
    check_one_of(compute_mode, _WAYS_TO_MEASURE, "mint.cdist", "compute_mode")
    return ops.cdist(x1, x2, p)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether abs(input - other) <= atol + rtol * abs(other) for each pair.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        rtol: the tolerance relative to ``other``.
        atol: the absolute tolerance.
        equal_nan: whether two NaN are close.

    Returns:
        a bool.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)))


# Order


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Sort along one axis and return the indices too; equal elements keep their order, NaN is the largest.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        descending: whether the order is descending.
        stable: accepted for MindSpore compatibility: equal elements keep their order either way.

    Returns:
        the sorted Tensor, and an Int64 Tensor with each element's original index along ``dim``.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    values, positions = ops.sort(input, dim, descending)
    return values, positions.astype(int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the indices that sort along one axis; equal elements keep their order, NaN is the largest.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        descending: whether the order is descending.
        stable: accepted for MindSpore compatibility: equal elements keep their order either way.

    Returns:
        an Int64 Tensor of the shape of ``input``.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.argsort(input, dim, descending).astype(int64)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) elements along one axis, and their indices.

    Args:
        input: a Tensor.
        k: the number of elements, from 0 to the length of the axis.
        dim: the axis, in [-ndim, ndim).
        largest: whether to select the largest; False selects the smallest.
        sorted: accepted for MindSpore compatibility: the elements are sorted either way, the most extreme first.

    Returns:
        the elements, and an Int64 Tensor with their indices.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` or ``k`` is out of range.
    """
    values, positions = ops.topk(input, k, dim, largest, sorted)
    return values, positions.astype(int64)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative minimum along one axis, and its index: the last one of several.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).

    Returns:
        the cumulative minima, and an Int64 Tensor with their indices.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    values, positions = ops.cummin(input, dim)
    return values, positions.astype(int64)
