"""Norms of vectors, distances by them, and clipping to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_not_negative, check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import DTypeLike, Ints
from ...tensors.dtype import float32
from ...tensors.tensor import Tensor
from ..arguments import Axis, axes_of, check_axes, check_tensor, one_axis
from ..elementwise import arithmetic, comparison
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype, as_floats, cast_operator, in_dtype, through_single
from ..shapes.concatenation import concat
from ..shapes.reshape import reshape, transpose
from . import reduction
from .reduction import reduce_sum
from .statistics import addn

__all__ = ["cdist", "clip_by_global_norm", "clip_by_norm", "dist", "pdist", "renorm", "vector_norm"]


@declare(primitive=prim("SquareSumAll"))
def _square_sums(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sum of the squares of each of two Tensors.

    Args:
        x: a Tensor.
        y: a Tensor of any shape.

    Returns:
        two Tensors without axes: sum(x ** 2) and sum(y ** 2).
    """
    return reduce_sum(arithmetic.square(x)), reduce_sum(arithmetic.square(y))


@declare(mint=renamed("linalg.vector_norm", axis="dim", keepdims="keepdim"))
@through_single
def vector_norm(
    x: Tensor, ord: float = 2, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the ``ord``-norm of vectors: (sum of abs(x) ** ord) ** (1 / ord).

    Args:
        x: a Tensor; integers become Float32.
        ord: which norm, any number; inf is the largest and -inf the smallest absolute value, 0 the number of elements
            not 0.
        axis: the axis or axes of the vectors, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``x``.

    Returns:
        A real Tensor of the norms.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: ``ord`` is not a number, or an axis is out of range or repeated.
    """
    vectors = in_dtype(check_tensor(x, "vector_norm", "x"), dtype)
    if isinstance(ord, bool) or not isinstance(ord, int | float):
        raise ValueError(f"For 'vector_norm', 'ord' must be a number, but got {ord!r}")
    vectors = as_floats(vectors)
    if ord == 2 and vectors._array.dtype.kind != "c":
        return arithmetic.sqrt(reduce_sum(arithmetic.square(vectors), axis, keepdims))
    size = arithmetic.abs(vectors)
    if math.isinf(ord):
        return _extreme_of(size, axis, keepdims, reduction.max if ord > 0 else reduction.min)
    if ord == 0:
        return reduce_sum(cast_operator(comparison.ne(size, 0), dtype=size._array.dtype), axis, keepdims)
    if ord == 1:
        return reduce_sum(size, axis, keepdims)
    return arithmetic.pow(reduce_sum(arithmetic.pow(size, float(ord)), axis, keepdims), 1.0 / ord)


def _extreme_of(size: Tensor, axis: Axis, keepdims: bool, extreme: Callable[..., tuple[Tensor, Tensor]]) -> Tensor:
    """Return the extreme over axes. As in MindSpore's norms, the first of several that tie gets the gradient."""
    axes = axes_of(axis, size.ndim, "vector_norm") or tuple(range(size.ndim))
    if not axes:
        return size
    remaining = tuple(i for i in range(size.ndim) if i not in axes)
    rows = transpose(size, (*remaining, *sorted(axes)))
    result = extreme(reshape(rows, (*rows.shape[: len(remaining)], math.prod(rows.shape[len(remaining) :]))), -1)[0]
    return reshape(result, tuple(1 if i in axes else n for i, n in enumerate(size.shape))) if keepdims else result


@declare(primitive=prim("LpNorm", "axis", p=2, keep_dims=False, epsilon=1e-12))
@through_single
def _lp_norm(x: Tensor, axis: Axis, p: int, keep_dims: bool, epsilon: float) -> Tensor:
    """Return the ``p``-norm over axes, but at least ``epsilon``.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        p: which norm.
        keep_dims: whether the axes stay, with length 1.
        epsilon: the least value that is returned.

    Returns:
        A Tensor of the norms.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return arithmetic.maximum(vector_norm(x, p, axis, keep_dims), epsilon)


@declare(primitive=prim("EuclideanNorm", keep_dims=False))
@through_single
def _euclidean_norm(x: Tensor, axes: Tensor | Axis = (), *, keep_dims: bool) -> Tensor:
    """Return the square root of the sum of squares over axes.

    Args:
        x: a Tensor.
        axes: the axis or axes, in [-ndim, ndim), a Tensor of integers or ints; ``()`` is all of them.
        keep_dims: whether the axes stay, with length 1.

    Returns:
        A Tensor of the norms, of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    norm_axes = tuple(int(i) for i in axes.asnumpy().ravel()) if isinstance(axes, Tensor) else axes
    return cast_operator(vector_norm(x, 2, norm_axes, keep_dims), dtype=x._array.dtype)


@declare(primitive=prim("L2Normalize", axis=0, epsilon=1e-4))
@through_single
def _l2_normalize(x: Tensor, axis: Ints, epsilon: float) -> Tensor:
    """Return vectors divided by their length: x / sqrt(max(sum of x ** 2, epsilon)).

    Args:
        x: a Tensor.
        axis: the axis or axes of the vectors, in [-ndim, ndim).
        epsilon: the least value of a squared length.

    Returns:
        A Tensor of the shape of ``x``.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    return x / arithmetic.sqrt(arithmetic.maximum(reduce_sum(arithmetic.square(x), axes, True), epsilon))


@through_single
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the distance of two Tensors: the ``p``-norm of ``input - other``, all elements taken as one vector.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        p: which norm, any number; see ``vector_norm``.

    Returns:
        A Tensor without axes.

    Raises:
        TypeError: neither is a Tensor.
        ValueError: the shapes do not broadcast.
    """
    return vector_norm(arithmetic.sub(input, other), p)


@declare(primitive=prim("Cdist", p=2.0))
@through_single
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Return the ``p``-norm distance of each row of ``x1`` from each row of ``x2``.

    Args:
        x1: a Tensor (..., P, M).
        x2: a Tensor (..., R, M); the leading axes broadcast.
        p: which norm, from 0 on; inf is the largest difference.

    Returns:
        A Tensor (..., P, R).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
        ValueError: ``p`` is negative, or the shapes do not fit.
    """
    first, second = check_axes(x1, 2, "cdist", "x1"), check_axes(x2, 2, "cdist", "x2")
    check_not_negative(p, "cdist", "p")
    rows = reshape(first, (*first.shape[:-1], 1, first.shape[-1]))
    columns = reshape(second, (*second.shape[:-2], 1, *second.shape[-2:]))
    return _distance(rows - columns, p, -1)


def _distance(difference: Tensor, p: float, axis: int) -> Tensor:
    """Return a norm whose gradient is 0, not NaN, where the distance is 0."""
    if p != 2:
        return vector_norm(difference, p, axis)
    square_sum = reduce_sum(arithmetic.square(difference), axis)
    zero = comparison.eq(square_sum, 0)
    return where(zero, 0.0, arithmetic.sqrt(where(zero, 1.0, square_sum)))


@declare(primitive=prim("Pdist", p=2.0))
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the ``p``-norm distance of each two rows, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        input: a Tensor (..., N, M).
        p: which norm, any number; inf is the largest difference.

    Returns:
        A Tensor (..., N (N - 1) / 2).

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    rows, columns = np.triu_indices(check_axes(input, 2, "pdist").shape[-2], 1)
    first, second = (input[..., Tensor(i), :] for i in (rows, columns))
    return _distance(first - second, p, -1)


@declare(method=True)
@through_single
def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """Return each entry along one axis, scaled by maxnorm / (norm + 1e-7) if its ``p``-norm is above ``maxnorm``.

    Args:
        input: a Tensor.
        p: which norm.
        axis: the axis whose entries are scaled, in [-ndim, ndim); the norms are taken over the others.
        maxnorm: the largest norm that an entry may keep.

    Returns:
        A Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_tensor(input, "renorm")
    at = one_axis(axis, x.ndim, "renorm")
    axes = tuple(i for i in range(x.ndim) if i != at)
    size = vector_norm(x, p, axes, True)
    return x * where(comparison.gt(size, maxnorm), maxnorm / (size + 1e-7), 1.0)


@declare(primitive=prim("Renorm", "p", "dim", "maxnorm"))
@through_single
def _renorm_along(input_x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return ``renorm`` under the argument names of its class.

    Args:
        input_x: a Tensor.
        p: which norm.
        dim: the axis whose entries are scaled.
        maxnorm: the largest norm that an entry may keep.

    Returns:
        A Tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return renorm(input_x, p, dim, maxnorm)


@through_single
def clip_by_norm(
    x: Tensor | Sequence[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor | Sequence[Tensor]:
    """Return a Tensor, or several, scaled by min(max_norm / (norm + 1e-6), 1), with the norm of all of them together.

    Args:
        x: a Tensor, or a list or tuple of them.
        max_norm: the largest norm that they may keep.
        norm_type: which norm, any number; inf is the largest absolute value.
        error_if_nonfinite: whether a norm that is NaN or infinite is an error.

    Returns:
        new Tensors of the same dtypes, in the form of ``x``.

    Raises:
        TypeError: an entry is not a Tensor.
        RuntimeError: the norm is not finite, with ``error_if_nonfinite``.
    """
    parts: list[Any] = list(x) if isinstance(x, list | tuple) else [x]
    sizes = [vector_norm(check_tensor(part, "clip_by_norm", "x"), norm_type) for part in parts]
    total = vector_norm(concat([reshape(s, (1,)) for s in sizes]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"For 'clip_by_norm', the norm of 'x' must be finite, but it is {total.item()}")
    scale = arithmetic.minimum(max_norm / (total + 1e-6), 1.0)
    results = [cast_operator(part * scale, dtype=part._array.dtype) for part in parts]
    return type(x)(results) if isinstance(x, list | tuple) else results[0]


@through_single
def clip_by_global_norm(x: Sequence[Tensor], clip_norm: float = 1.0, use_norm: None = None) -> tuple[Tensor, ...]:
    """Return tensors scaled by clip_norm / max(norm, clip_norm), with the 2-norm of all of them together.

    Args:
        x: a tuple or list of Tensors.
        clip_norm: the largest norm that they may keep, above 0.
        use_norm: must be None, as in MindSpore.

    Returns:
        A tuple of new Tensors of the same dtypes.

    Raises:
        TypeError: ``x`` is not a tuple or list.
        ValueError: ``clip_norm`` is not positive.
        NotImplementedError: ``use_norm`` is given.
    """
    if use_norm is not None:
        raise NotImplementedError("For 'clip_by_global_norm', 'use_norm' must be None, as in MindSpore")
    check_type(x, list | tuple, "clip_by_global_norm", "x", "a tuple or list")
    if clip_norm <= 0:
        raise ValueError(f"For 'clip_by_global_norm', 'clip_norm' must be positive, but got {clip_norm}")
    squares = [reduce_sum(arithmetic.square(as_dtype(part, float32.numpy))) for part in x]
    total = arithmetic.sqrt(addn(squares))
    scale = clip_norm / arithmetic.maximum(total, float(clip_norm))
    return tuple([cast_operator(part * scale, dtype=part._array.dtype) for part in x])
