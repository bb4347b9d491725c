"""Order of the elements along an axis: sort, topk, positions in an order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.surfaces import declare, prim, renamed
from ...base.types import Array, Functions, Value
from ...cpu.array_module import array_module
from ...cpu.widening import is_half, widen
from ...tensors.dtype import int32, int64
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ..arguments import bool_of, check_axes, check_integers, check_tensor, int_of, ints_of, one_axis
from ..shapes.broadcasting import cast_operator
from ..shapes.rearranging import ravel
from ..shapes.reshape import reshape
from .gathering import gather_elements

__all__ = ["argsort", "cummax", "cummin", "intopk", "msort", "sort", "top_k", "topk"]


def _order_kernel(x: Array, axis: int, descending: bool) -> Array:
    """Return positions in order, with ties in their own order and NaN as the largest."""
    xp = array_module(x)
    if is_half(x) and xp is not np:  # CuPy does not sort bfloat16; in float32 the order is the same
        x = widen(x)
    if not descending:
        return xp.argsort(x, axis=axis, kind="stable").astype(np.int64)
    backwards = xp.argsort(xp.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - xp.flip(backwards, axis).astype(np.int64)


_order = Operator("order", _order_kernel)


def sorted_positions(x: Tensor, axis: int, descending: bool, name: str) -> tuple[Tensor, Tensor]:
    check_tensor(x, name, "input_x")
    return x, _order(x, axis=one_axis(axis, x.ndim, name), descending=descending) if x.ndim else Tensor(0, int64)


@declare(primitive=prim("Sort", axis=-1, descending=False))
def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is the largest.

    Args:
        input_x: a Tensor.
        axis: the axis to sort along, in [-ndim, ndim).
        descending: whether the largest comes first.

    Returns:
        The sorted Tensor, and an Int32 Tensor of the same shape with the position along ``axis`` that each element had.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x, positions = sorted_positions(input_x, axis, bool_of(descending, "sort", "descending"), "sort")
    return gather_elements(x, axis, positions), cast_operator(positions, dtype=int32.numpy)


def argsort(input: Tensor, axis: int | None = -1, descending: bool = False) -> Tensor:
    """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the largest.

    Args:
        input: a Tensor.
        axis: the axis to sort along, in [-ndim, ndim); None sorts all elements, flattened.
        descending: whether the largest comes first.

    Returns:
        An Int32 Tensor of the shape of ``input``, or a vector for ``axis`` None.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = ravel(input) if axis is None else check_tensor(input, "argsort")
    backwards = bool_of(descending, "argsort", "descending")
    _, positions = sorted_positions(x, -1 if axis is None else axis, backwards, "argsort")
    return cast_operator(positions, dtype=int32.numpy)


@declare(method="sort")
def _sort_of_tensor(
    input: Tensor, axis: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the sorted elements along one axis, and their positions; equal ones keep their order, NaN is the largest.

    Args:
        input: the Tensor.
        axis: the axis to sort along, in [-ndim, ndim).
        descending: whether the largest comes first.
        stable: accepted for MindSpore: equal elements keep their order either way.

    Returns:
        The sorted Tensor, and an Int32 Tensor of the same shape with the position along ``axis`` that each element had.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return sort(input, axis, descending)


@declare(method="argsort")
def _argsort_of_tensor(input: Tensor, axis: int | None = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the positions of the sorted elements along one axis. Equal ones keep their order; NaN is the largest.

    Args:
        input: the Tensor.
        axis: the axis to sort along, in [-ndim, ndim); None sorts all elements, flattened.
        descending: whether the largest comes first.
        stable: accepted for MindSpore: equal elements keep their order either way.

    Returns:
        An Int32 Tensor of the shape of ``input``, or a vector for ``axis`` None.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return argsort(input, axis, descending)


@declare(method=True)
def msort(input: Tensor) -> Tensor:
    """Return the elements in ascending order along the first axis.

    Args:
        input: a Tensor.

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return sort(input, 0)[0]


@declare(method=True)
def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) elements along one axis, and their positions. NaN counts as the largest.

    Args:
        input: a Tensor.
        k: how many, from 0 to the length of the axis.
        dim: the axis, in [-ndim, ndim); None is the last one.
        largest: whether to return the largest; otherwise the smallest.
        sorted: accepted for MindSpore: the elements come in order either way, the most extreme first.

    Returns:
        The elements, and an Int32 Tensor with their positions along the axis; both have length ``k`` along it.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``k`` or ``dim`` is not an int.
        ValueError: ``dim`` is out of range, or ``k`` is.
    """
    at = one_axis(-1 if dim is None else dim, check_tensor(input, "topk").ndim, "topk")
    length = input.shape[at] if input.ndim else 1
    if not isinstance(k, int | np.integer | Tensor) or (isinstance(k, Tensor) and k._array.dtype.kind not in "iu"):
        raise TypeError(f"For 'topk', 'k' must be an int, but got {k!r}")
    if not 0 <= int(k) <= length:
        raise ValueError(f"For 'topk', 'k' must be in [0, {length}], but got {k}")
    _, positions = sorted_positions(input, at, bool_of(largest, "topk", "largest"), "topk")
    leading = Tensor._wrap(
        positions._array[(slice(None),) * at + (slice(0, int(k)),)] if input.ndim else positions._array
    )
    return gather_elements(input, at, leading), cast_operator(leading, dtype=int32.numpy)


@declare(method=True, primitive=prim("TopK", sorted=True))
def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest elements along the last axis in descending order, and their positions.

    Args:
        input_x: a Tensor.
        k: how many, from 0 to the length of the last axis.
        sorted: accepted for MindSpore: the elements come in order either way.

    Returns:
        The elements, and an Int32 Tensor with their positions.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: ``k`` is out of range.
    """
    return topk(input_x, k, -1)


@declare(primitive=prim("InTopK", "k"))
def intopk(x1: Tensor, x2: Tensor, k: int) -> Tensor:
    """Return whether the target of each row is among its ``k`` largest: whether fewer than ``k`` scores are above it.

    Equal scores are in or out together. False where the target is not a column, or the row holds NaN or infinity.

    Args:
        x1: the scores, (N, C).
        x2: the target column of each row, N ints.
        k: how many count as the top.

    Returns:
        A Bool Tensor (N,).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
    """
    scores, targets = check_axes(x1, 2, "intopk", "x1")._array, check_integers(x2, "intopk", "x2")._array.reshape(-1)
    if scores.ndim != 2 or targets.size != len(scores):
        raise ValueError(f"For 'intopk', 'x2' must have a column for each row of 'x1' {x1.shape}, but got {x2.shape}")
    xp, count = array_module(scores), int_of(k, "intopk", "k")
    valid = (targets >= 0) & (targets < scores.shape[1])
    target_scores = xp.take_along_axis(scores, xp.where(valid, targets, 0)[:, None], 1)
    defined = valid & xp.isfinite(scores).all(axis=1)
    return Tensor._wrap(defined & ((scores > target_scores).sum(axis=1) < count))


@declare(primitive=prim("InvertPermutation"))
def _invert_permutation(input_x: Iterable[int]) -> tuple[int, ...]:
    """Return the inverse of a permutation: entry n is the position of the number n.

    Args:
        input_x: each of the ints from 0 below its length once.

    Returns:
        A tuple of ints of the same length.

    Raises:
        ValueError: a number is missing or repeated.
    """
    order = [int(n) for n in input_x]
    if sorted(order) != list(range(len(order))):
        last = len(order) - 1
        raise ValueError(
            f"For 'InvertPermutation', 'input_x' must hold each of 0 to {last} once, but got {tuple(order)}"
        )
    return tuple(order.index(n) for n in range(len(order)))


# Running extremes


def _running(x: Any, axis: int, largest: bool) -> Any:
    """Return the position of the extreme of the elements so far; the last one of several."""
    xp = array_module(x)
    if xp is not np:  # CuPy has no accumulate
        return xp.asarray(_running(x.get(), axis, largest))
    rows = xp.moveaxis(x, axis, -1)
    extreme = (np.maximum if largest else np.minimum).accumulate(rows, axis=-1)
    is_extreme = (rows == extreme) | ((rows != rows) & (extreme != extreme))
    positions = xp.where(is_extreme, xp.arange(rows.shape[-1]), 0)
    return xp.ascontiguousarray(xp.moveaxis(np.maximum.accumulate(positions, axis=-1), -1, axis)).astype(np.int64)


_running_positions = Operator("running_extreme", _running)


def _cumulative(x: Tensor, axis: int, largest: bool, name: str) -> tuple[Tensor, Tensor]:
    at = one_axis(axis, check_tensor(x, name).ndim, name)
    if x.ndim == 0:
        return reshape(x, ()), Tensor(0, int64)
    positions = _running_positions(x, axis=at, largest=largest)
    return gather_elements(x, at, positions), positions


@declare(method=True, primitive=prim("Cummax", "axis"), mint=renamed(axis="dim"))
def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the largest element so far along one axis, and its position, the last one of several. NaN stays.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).

    Returns:
        The running maxima, and an Int64 Tensor of the same shape with their positions along ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    return _cumulative(input, axis, True, "cummax")


@declare(method=True, primitive=prim("Cummin", "axis"))
def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Return the smallest element so far along one axis, and its position, the last one of several. NaN stays.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim).

    Returns:
        The running minima, and an Int32 Tensor (as in MindSpore, unlike ``cummax``) with their positions along
        ``axis``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    values, positions = _cumulative(input, axis, False, "cummin")
    return values, cast_operator(positions, dtype=int32.numpy)


def _nth_kernel(x: Array, n: int) -> Array:
    xp = array_module(x)
    if is_half(x) and xp is not np:
        return xp.partition(widen(x), n, axis=-1)[..., n].astype(x.dtype)
    return xp.partition(x, n, axis=-1)[..., n]


def _nth_rule(F: Functions, g: Value, out: Value, x: Value, n: int) -> Any:
    numbers, nth = (value._array if isinstance(value, Tensor) else value for value in (x, out))
    ties = numbers == nth[..., None]
    shares = (ties / ties.sum(-1, keepdims=True)).astype(numbers.dtype)
    return F.reshape(g, shape=(*g.shape, 1)) * shares


_nth_element_operator = Operator("nth_element", _nth_kernel, (_nth_rule,))


@declare(primitive=prim("NthElement", reverse=False))
def _nth_element(input: Tensor, n: int | Tensor, *, reverse: bool) -> Tensor:
    """Return the n-th smallest element along the last axis, from 0; several that are equal share the gradient.

    Args:
        input: a tensor of numbers with at least one axis.
        n: which, in [0, input.shape[-1]): an int, or an integer tensor without axes.
        reverse: whether to count from the largest.

    Returns:
        A tensor of the shape of ``input`` without the last axis, and of its dtype.

    Raises:
        TypeError: ``input`` is not a Tensor of numbers, ``n`` is not an int, or ``reverse`` is not a bool.
        ValueError: ``n`` is out of range or has axes, or ``input`` has none.
    """
    x = check_tensor(input, "NthElement")
    if x._array.dtype.kind in "bc":
        raise TypeError(f"For 'NthElement', 'input' must be real numbers, but got {x.dtype}")
    check_bool(reverse, "NthElement", "reverse")
    (at,) = ints_of(n, "NthElement", "n") if not isinstance(n, Tensor) or not n.ndim else (-1,)
    if not x.ndim or not 0 <= at < x.shape[-1]:
        raise ValueError(f"For 'NthElement', 'n' must be an int in [0, {x.shape[-1:]}), but got {n}")
    return _nth_element_operator(x, n=x.shape[-1] - 1 - at if reverse else at)
