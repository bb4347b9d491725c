"""Sums of several tensors, counts, means and variances, covariance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_type
from ...base.surfaces import declare, prim, renamed
from ...base.types import DTypeLike
from ...tensors.dtype import int32, int64, numpy_dtype
from ...tensors.tensor import Tensor
from ..arguments import Axis, check_tensor
from ..elementwise import arithmetic, comparison
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype, as_floats, as_single, cast_operator, in_dtype
from ..shapes.reshape import reshape
from .reduction import mean, reduce_sum, std, sum, var

__all__ = ["accumulate_n", "addn", "count_nonzero", "cov", "nanmean", "nansum", "numel", "std_mean", "var_mean"]


@declare(primitive=(prim("AddN"), prim("AccumulateNV2")))
def addn(x: Sequence[Tensor]) -> Tensor:
    """Return the sum of several Tensors of one shape and dtype: ``x[0] + x[1] + ...``.

    Args:
        x: a tuple or list of Tensors, one at least.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        TypeError: ``x`` is not a tuple or list, an entry is not a Tensor, or their dtypes differ.
        ValueError: it is empty, or their shapes differ.
    """
    check_type(x, list | tuple, "addn", "x", "a tuple or list of Tensors")
    if not x:
        raise ValueError("For 'addn', 'x' must not be empty")
    parts = [check_tensor(part, "addn", "x") for part in x]
    for part in parts[1:]:
        if part.shape != parts[0].shape:
            raise ValueError(f"For 'addn', the shapes in 'x' must be equal, but got {parts[0].shape} and {part.shape}")
        if part.dtype != parts[0].dtype:
            raise TypeError(f"For 'addn', the dtypes in 'x' must be equal, but got {parts[0].dtype} and {part.dtype}")
    dtype = parts[0]._array.dtype
    total: Tensor = as_single(parts[0]) if len(parts) > 2 and dtype.itemsize == 2 else parts[0]
    for part in parts[1:]:
        total = arithmetic.add(total, part)
    result: Tensor = as_dtype(total, dtype)
    return result


accumulate_n = addn


def numel(input: Tensor) -> int:
    """Return the number of elements.

    Args:
        input: a Tensor.

    Returns:
        An int.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return check_tensor(input, "numel").size


@declare(
    mint=renamed(x="input", axis="dim", without=("keep_dims", "dtype"), defaults={"axis": None, "dtype": int64}),
    numpy=renamed(keep_dims="keepdims", without=("dtype",), defaults={"axis": None}),
)
def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype: DTypeLike = int32) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` and None are all of them.
        keep_dims: whether the axes stay, with length 1.
        dtype: the dtype of the counts.

    Returns:
        A Tensor of ``dtype``.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return cast_operator(
        sum(comparison.ne(check_tensor(x, "count_nonzero", "x"), 0), axis, keep_dims), dtype=numpy_dtype(dtype)
    )


@declare(primitive=prim("CountNonZero", dims=None))
def _count_nonzero_along(x: Tensor, dims: Axis) -> Tensor:
    """Return how many elements over axes are not 0.

    Args:
        x: a Tensor.
        dims: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        An Int32 Tensor.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return count_nonzero(x, () if dims is None else dims)


@declare(method="count_nonzero")
def _count_nonzero_of_tensor(
    x: Tensor, axis: Axis = (), keepdims: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0.

    Args:
        x: the Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` and None are all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype of the counts; None is Int32.

    Returns:
        A Tensor of ``dtype``.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return count_nonzero(x, axis, keepdims, dtype or int32)


@declare(method=True, mint=renamed(axis="dim", keepdims="keepdim"))
def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sum of the elements over axes, with NaN counted as 0.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to add and return in, for floats as integers only to return in; None is that of ``sum``.

    Returns:
        A Tensor, 0 where all elements are NaN.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = check_tensor(input, "nansum")
    values = where(comparison.isnan(x), 0.0, x) if x._array.dtype.kind in "fV" else x
    if dtype is not None and values is not x and numpy_dtype(dtype).kind in "iu":
        return as_dtype(sum(values, axis, keepdims), numpy_dtype(dtype))  # the fractions count
    return sum(values, axis, keepdims, dtype=dtype)


@declare(method=True)
def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the mean of those elements over axes that are not NaN.

    Args:
        input: a floating Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first, an integer one at the end; None leaves that of ``input``.

    Returns:
        A Tensor, NaN where all elements are.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = check_tensor(input, "nanmean")
    if dtype is not None and x._array.dtype.kind in "fV" and numpy_dtype(dtype).kind in "iu":
        return as_dtype(nanmean(x, axis, keepdims), numpy_dtype(dtype))
    x = in_dtype(x, dtype)
    is_number = cast_operator(comparison.logical_not(comparison.isnan(x)), dtype=x._array.dtype)
    return nansum(x, axis, keepdims) / reduce_sum(is_number, axis, keepdims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def std_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over axes.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        ddof: the sum of squares is divided by n - ``ddof``: 0 for the deviation of the elements, 1 (True) without bias.
        keepdims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the deviations and the means.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(primitive=prim("ReduceStd", axis=(), unbiased=True, keep_dims=False))
def _reduce_std(x: Tensor, axis: Axis, unbiased: bool, keep_dims: bool) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over axes.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` is all of them.
        unbiased: whether the sum of squares is divided by n - 1 instead of n.
        keep_dims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the deviations and the means.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return std_mean(x, tuple(axis) if isinstance(axis, list) else axis, int(unbiased), keep_dims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def var_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over axes.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        ddof: the sum of squares is divided by n - ``ddof``: 0 for the variance of the elements, 1 (True) without bias.
        keepdims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the variances and the means.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(method=True)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Return the covariance matrix of the rows: sum of w (x_i - mean_i) (x_j - mean_j) / (sum of w - c), as in NumPy.

    Args:
        input: a matrix with a variable in each row and an observation in each column; a vector is one variable.
            Integers and half precision become Float32.
        correction: c, subtracted from the number of observations: 1 gives no bias, 0 the covariance of these alone.
        fweights: how many times each observation counts: a vector of ints.
        aweights: the weight of each observation: a vector of numbers that are not negative.

    Returns:
        A symmetric matrix with a row for each variable; a Tensor without axes for one variable.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: it has more than 2 axes, or weights of the wrong length.
    """
    x = check_tensor(input, "cov")
    if x.ndim > 2:
        raise ValueError(f"For 'cov', 'input' must have at most 2 axes, but got shape {x.shape}")
    rows = reshape(x, (1, x.size)) if x.ndim < 2 else x
    rows = as_single(as_floats(rows))
    dtype = rows._array.dtype
    weights = Tensor(np.ones(rows.shape[1], dtype))
    for factor in (fweights, aweights):
        if factor is not None:
            weights = weights * as_dtype(factor, dtype)
    total = reduce_sum(weights)
    centered = rows - reduce_sum(rows * weights, 1, True) / total
    subtracted: Any = correction
    if aweights is not None:
        subtracted = correction * (reduce_sum(weights * as_dtype(aweights, dtype)) / total)
    covariance = (centered * weights) @ centered.T / arithmetic.maximum(total - subtracted, 0.0)
    return reshape(covariance, ()) if rows.shape[0] == 1 else covariance
