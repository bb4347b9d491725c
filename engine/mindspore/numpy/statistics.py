"""Statistics: covariances, histograms, bins; and interpolation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_one_of, check_positive_int, check_size, check_type
from ...base.types import AnyDType, TensorLike
from ...ops.arguments import int_of
from ...tensors.dtype import float32
from ...tensors.tensor import Tensor
from .arrays import as_singles, as_type, asarray, new_tensor, tensors_of

__all__ = [
    "bincount",
    "corrcoef",
    "cov",
    "digitize",
    "histogram",
    "histogram2d",
    "histogram_bin_edges",
    "histogramdd",
    "interp",
    "searchsorted",
]


def cov(
    m: TensorLike,
    y: TensorLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: TensorLike | None = None,
    aweights: TensorLike | None = None,
    dtype: AnyDType | None = None,
) -> Tensor:
    """Return the covariance matrix of variables; see ``ops.cov``.

    Args:
        m: a variable in each row and an observation in each column; a vector is one variable.
        y: more variables of the same observations, appended to those of ``m``.
        rowvar: whether the variables are the rows; False: the columns.
        bias: whether to divide by the number of observations n, instead of n - 1.
        ddof: if set, divides by n - ``ddof`` instead.
        fweights: the number of times that each observation counts.
        aweights: the weight of each observation.
        dtype: the dtype to convert to first; None is Float32, and Float64 and complex for those.

    Returns:
        a symmetric matrix with a row for each variable; without axes for one variable.

    Raises:
        ValueError: more than 2 axes, or shapes that do not match.
    """
    tensors = [ops.atleast_2d(as_type(as_singles(asarray(x)), dtype)) for x in (m, y) if x is not None]
    columns = [x.T if not rowvar and x.shape[0] != 1 else x for x in tensors]
    variables = columns[0] if len(columns) == 1 else ops.cat(columns, 0)
    correction = (0 if bias else 1) if ddof is None else ddof
    weights = [None if x is None else asarray(x) for x in (fweights, aweights)]
    covariance = ops.cov(variables, correction=correction, fweights=weights[0], aweights=weights[1])
    return ops.squeeze(covariance)


def corrcoef(x: TensorLike, y: TensorLike | None = None, rowvar: bool = True, dtype: AnyDType | None = None) -> Tensor:
    """Return the correlation matrix of variables: covariances over the product of standard deviations.

    Args:
        x: a variable in each row and an observation in each column; a vector is one variable.
        y: more variables of the same observations, appended to those of ``x``.
        rowvar: whether the variables are the rows; False: the columns.
        dtype: the dtype of the result; None is Float32, and Float64 and complex for those.

    Returns:
        a symmetric matrix with a row for each variable; without axes for one variable.

    Raises:
        ValueError: more than 2 axes, or shapes that do not match.
    """
    covariance = cov(x, y, rowvar)
    if not covariance.ndim:
        return as_type(covariance / covariance, dtype)
    lengths = ops.sqrt(ops.real(ops.diagonal(covariance)) if covariance.dtype.is_complex else ops.diagonal(covariance))
    return as_type(covariance / ops.reshape(lengths, (-1, 1)) / lengths, dtype)


# Counting


def _edges(name: str, a: Tensor, bins: Any, limits: Any) -> Tensor:
    """Return the edges of bins: those of the argument, or of that many equal bins."""
    if isinstance(bins, str):
        raise TypeError(f"For 'numpy.{name}', 'bins' must be an int or edges, but got {bins!r}")
    if not isinstance(bins, int):
        edges = asarray(bins)
        if edges.ndim:
            if edges.ndim > 1 or edges.size < 2:
                raise ValueError(f"For 'numpy.{name}', 'bins' must be an int or at least 2 edges, but got {bins}")
            if np.any(np.diff(edges.asnumpy()) < 0):
                raise ValueError(f"For 'numpy.{name}', 'bins' must rise, but got {bins}")
            return edges
        bins = edges.item()
    count = check_positive_int(bins, f"numpy.{name}", "bins", repr)
    check_size((count,), f"numpy.{name}", "bins")
    if limits is not None and np.shape(limits) != (2,):
        raise ValueError(f"For 'numpy.{name}', 'range' must be a pair of numbers, but got {limits!r}")
    points = a.asnumpy()
    if limits is None and not np.isfinite(points).all():
        raise ValueError(f"For 'numpy.{name}', 'a' must be finite where no 'range' is given")
    return new_tensor(np.histogram_bin_edges(points, count, limits), float32)


def histogram_bin_edges(
    a: TensorLike,
    bins: TensorLike | str = 10,
    range: tuple[float, float] | None = None,
    weights: TensorLike | None = None,
) -> Tensor:
    """Return the edges of the bins of a histogram.

    Args:
        a: the elements, of any shape.
        bins: the number of equal bins, or their edges.
        range: the lowest and the highest edge; those of the elements by default.
        weights: ignored: no supported rule for bins uses weights.

    Returns:
        a Float32 vector; edges that are passed stay unchanged.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: descending edges.
    """
    return _edges("histogram_bin_edges", asarray(a), bins, range)


def histogram(
    a: TensorLike,
    bins: TensorLike | str = 10,
    range: tuple[float, float] | None = None,
    weights: TensorLike | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return (the number of elements in each bin, the edges of the bins); the last bin includes its upper edge.

    Args:
        a: the elements, of any shape.
        bins: the number of equal bins, or their edges.
        range: the lowest and the highest edge; those of the elements by default.
        weights: the weight of each element; differentiable.
        density: whether the integral over the bins is 1.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: descending edges, or weights of the wrong shape.
    """
    x = asarray(a)
    if weights is not None and asarray(weights).shape != x.shape:
        raise ValueError(
            f"For 'numpy.histogram', 'weights' must have the shape {x.shape} of 'a', but got {asarray(weights).shape}"
        )
    edges = _edges("histogram", x, bins, range)
    return _counts([ops.reshape(x, (-1,))], [edges], weights, density), edges


def histogram2d(
    x: TensorLike,
    y: TensorLike,
    bins: Any = 10,
    range: Any = None,
    weights: TensorLike | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the number of points of the plane in each bin of a grid.

    Args:
        x: the first coordinates, a vector.
        y: the second ones, of the same length.
        bins: the number of equal bins, or their edges; for both, or a pair of one for each.
        range: for each axis the lowest and the highest edge; those of the points by default.
        weights: the weight of each point; differentiable.
        density: whether the integral over the bins is 1.

    Returns:
        the counts (bins of x, bins of y), and the edges along both, Float32.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: descending edges, or vectors of other lengths.
    """
    points = [asarray(x), asarray(y)]
    if points[0].ndim != 1 or points[0].shape != points[1].shape:
        raise ValueError(
            f"For 'numpy.histogram2d', 'x' and 'y' must be vectors of one length, but got {points[0].shape} and "
            f"{points[1].shape}"
        )
    is_pair = not isinstance(bins, int | str) and len(bins) == 2
    counts, edges = _histogram("histogram2d", points, bins if is_pair else [bins, bins], range, weights, density)
    return counts, edges[0], edges[1]


def histogramdd(
    sample: TensorLike | Sequence[TensorLike],
    bins: Any = 10,
    range: Any = None,
    weights: TensorLike | None = None,
    density: bool = False,
) -> tuple[Tensor, list[Tensor]]:
    """Return the number of points in each bin of a grid of any rank.

    Args:
        sample: a matrix with a point in each row; or a list of the coordinates along each axis.
        bins: the number of equal bins, or for each axis that number or the edges.
        range: for each axis the lowest and the highest edge; those of the points by default.
        weights: the weight of each point; differentiable.
        density: whether the integral over the bins is 1.

    Returns:
        the counts, with an axis for each coordinate, and a list of the edges along each, Float32.

    Raises:
        TypeError: ``bins`` is a string.
        ValueError: ``sample`` is not a matrix, descending edges, or not as many ``bins`` as coordinates.
    """
    points = [asarray(axis) for axis in sample] if isinstance(sample, list | tuple) else None
    if points is None:
        matrix = asarray(sample)
        if matrix.ndim != 2:
            raise ValueError(f"For 'numpy.histogramdd', 'sample' must be a matrix, but got shape {matrix.shape}")
        points = [matrix[:, i] for i in np.arange(matrix.shape[1]).tolist()]
    check_type(bins, int | str | list | tuple | Tensor, "numpy.histogramdd", "bins", "an int or a list or tuple")
    bins_of_axes = [bins] * len(points) if isinstance(bins, int | str) else list(bins)
    if len(bins_of_axes) != len(points):
        raise ValueError(
            f"For 'numpy.histogramdd', 'bins' must have an entry for each of {len(points)} coordinates, but got "
            f"{len(bins_of_axes)}"
        )
    return _histogram("histogramdd", points, bins_of_axes, range, weights, density)


def _histogram(
    name: str, points: list[Tensor], bins: Sequence[Any], limits: Any, weights: TensorLike | None, density: bool
) -> tuple[Tensor, list[Tensor]]:
    if limits is not None and len(limits) != len(points):
        raise ValueError(
            f"For 'numpy.{name}', 'range' must have an entry for each of {len(points)} coordinates, but got {limits}"
        )
    ranges = [None] * len(points) if limits is None else limits
    edges = [_edges(name, *row) for row in zip(points, bins, ranges, strict=True)]
    check_size([max(axis_edges.size - 1, 0) for axis_edges in edges], f"numpy.{name}", "bins")
    if weights is not None and asarray(weights).shape != points[0].shape:
        raise ValueError(
            f"For 'numpy.{name}', 'weights' must have the shape {points[0].shape}, but got {asarray(weights).shape}"
        )
    return _counts(points, edges, weights, density), edges


def _counts(points: list[Tensor], edges: list[Tensor], weights: TensorLike | None, density: bool) -> Tensor:
    """Return the number of points in each bin, by NumPy's rule: the last bin of each axis includes its upper edge."""
    shape = tuple(max(axis_edges.size - 1, 0) for axis_edges in edges)
    bins_of_points, within = np.zeros(points[0].size, np.int64), np.ones(points[0].size, bool)
    for point, edge, count in zip(points, edges, shape, strict=True):
        values, borders = point.asnumpy(), edge.asnumpy()
        at = np.searchsorted(borders, values, "right") - 1
        at[values == borders[-1]] = count - 1
        within &= (at >= 0) & (at < count)
        bins_of_points = bins_of_points * count + at
    inside = np.flatnonzero(within)
    factors = None if weights is None else ops.reshape(asarray(weights), (-1,))[new_tensor(inside)]
    counts = ops.reshape(bincount(bins_of_points[inside], factors, length=math.prod(shape)), shape)
    if not density:
        return counts
    sizes = [np.diff(axis_edges.asnumpy().astype(np.float64)) for axis_edges in edges]
    volumes = sizes[0]
    for size in sizes[1:]:
        volumes = np.multiply.outer(volumes, size)
    return counts / new_tensor(volumes, float32) / ops.sum(counts)


def bincount(x: TensorLike, weights: TensorLike | None = None, minlength: int = 0, length: int | None = None) -> Tensor:
    """Return the count of each of the numbers 0, 1, 2, ..., or the sum of its weights.

    Args:
        x: a vector of ints that are not negative.
        weights: the weight of each element; differentiable.
        minlength: the minimum length of the result.
        length: the length of the result, if set; larger numbers are ignored.

    Returns:
        a Float32 vector.

    Raises:
        TypeError: ``x`` holds no integers.
        ValueError: it is not a vector or holds a negative number, or ``weights`` has the wrong length.
    """
    numbers = asarray(x)
    factors = None if weights is None else asarray(weights)
    if factors is not None and factors.shape != numbers.shape:
        raise ValueError(
            f"For 'numpy.bincount', 'weights' must have the shape {numbers.shape} of 'x', but got {factors.shape}"
        )
    least, most = (
        int_of(n, "numpy.bincount", argument) for n, argument in ((minlength, "minlength"), (length or 0, "length"))
    )
    counts = ops.bincount(numbers, factors, max(least, most))
    if factors is not None:  # these sums are differentiable
        counts = ops.unsorted_segment_sum(factors.astype(float32), numbers, counts.size)
    return counts if length is None else counts[:length]


# Searching and interpolation


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Tensor:
    """Return the bin of each element: 0 is below the first edge, n above the last one of n.

    Args:
        x: the elements, of any shape.
        bins: the edges, ascending or descending.
        right: whether a bin includes its upper edge.

    Returns:
        an Int32 Tensor of the shape of ``x``.

    Raises:
        ValueError: ``bins`` is not a vector, or neither rises nor falls.
    """
    edges = asarray(bins)
    values = edges.asnumpy()
    if edges.ndim != 1 or not (np.all(np.diff(values) >= 0) or np.all(np.diff(values) <= 0)):
        raise ValueError(f"For 'numpy.digitize', 'bins' must be a vector that rises or falls, but got {bins}")
    return new_tensor(np.digitize(asarray(x).asnumpy(), values, right))


def searchsorted(a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> Tensor:
    """Return the indices at which values would be inserted into a sorted vector to keep it sorted.

    Args:
        a: the vector, ascending.
        v: the values, of any shape.
        side: "left": before equal values; "right": after them.
        sorter: the indices that sort ``a``, if it is not sorted.

    Returns:
        an Int32 Tensor of the shape of ``v``.

    Raises:
        ValueError: ``a`` is not a vector, or an unknown ``side``.
    """
    check_one_of(side, ("left", "right"), "numpy.searchsorted", "side")
    edges, values = tensors_of(a, v)
    if edges.ndim != 1:
        raise ValueError(f"For 'numpy.searchsorted', 'a' must be a vector, but got shape {edges.shape}")
    order = None if sorter is None else asarray(sorter).asnumpy()
    return new_tensor(np.searchsorted(edges.asnumpy(), values.asnumpy(), side, order))  # type: ignore[call-overload]


def interp(
    x: TensorLike, xp: TensorLike, fp: TensorLike, left: float | None = None, right: float | None = None
) -> Tensor:
    """Return the piecewise linear interpolation between points.

    Args:
        x: the points to evaluate, of any shape.
        xp: the known points, an ascending vector.
        fp: the values there, of the same length.
        left: the value below the first point; None is that of the first point.
        right: the value above the last point; None is that of the last point.

    Returns:
        a Tensor of the shape of ``x``, Float32, and Float64 of that.

    Raises:
        ValueError: ``xp`` and ``fp`` are not vectors of one length, or have no point.
    """
    at, knots, values = (as_singles(array) for array in tensors_of(x, xp, fp))
    if knots.ndim != 1 or knots.shape != values.shape or not knots.size:
        raise ValueError(
            f"For 'numpy.interp', 'xp' and 'fp' must be vectors of one length above 0, but got {knots.shape} and "
            f"{values.shape}"
        )
    below, above = at < knots[0], at > knots[-1]
    result = ops.broadcast_to(values[0], at.shape)
    if knots.size > 1:
        nearest = np.searchsorted(knots.asnumpy(), at.asnumpy(), "right") - 1
        low = new_tensor(np.clip(nearest, 0, knots.size - 2))
        slopes = (values[1:] - values[:-1]) / (knots[1:] - knots[:-1])
        result = values[low] + (at - knots[low]) * slopes[low]
    ends = [values[0] if left is None else left, values[-1] if right is None else right]
    return ops.where(below, ends[0], ops.where(above, ends[1], result))
