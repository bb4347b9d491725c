"""Counts of values: bincount, histograms, the confusion matrix."""

from __future__ import annotations

import math

import numpy as np

from ...base.argument_checks import check_real, check_size
from ...base.surfaces import declare, prim
from ...base.types import AnyDType, Array
from ...cpu.array_module import array_module
from ...tensors.dtype import any_dtype, float32, int64
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import check_values, compute
from ..arguments import check_tensor, int_of
from ..shapes.broadcasting import as_dtype
from .segments import unsorted_segment_sum

__all__ = ["bincount", "histc"]


@declare(primitive=prim("ConfusionMatrix", "num_classes", dtype="int32"))
def _confusion_matrix(
    labels: Tensor, predictions: Tensor, weights: Tensor | None = None, *, num_classes: int, dtype: AnyDType
) -> Tensor:
    """Return how often each class was predicted as each: rows are the true classes, columns the predicted ones.

    Args:
        labels: the true classes, a vector of ints from 0 below ``num_classes``.
        predictions: the predicted classes, likewise, as many.
        weights: the weight of each pair; 1 by default.
        num_classes: the number of classes.
        dtype: the dtype of the counts.

    Returns:
        A Tensor (num_classes, num_classes) of ``dtype``.

    Raises:
        IndexError: a class that is not below ``num_classes``.
    """
    matrix = np.zeros((num_classes, num_classes), any_dtype(dtype).numpy)
    np.add.at(matrix, (labels.asnumpy(), predictions.asnumpy()), 1 if weights is None else weights.asnumpy())
    return Tensor(matrix)


@declare(method=True, primitive=prim("BincountV2"))
def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``.

    Args:
        input: a vector of ints that are not negative.
        weights: the weight of each element, a Tensor of the same length; 1 by default.
        minlength: the least length of the result.

    Returns:
        A Float32 vector of max(largest + 1, ``minlength``) entries.

    Raises:
        TypeError: ``input`` is not a Tensor of integers.
        ValueError: it is not a vector or holds a negative number, ``weights`` has the wrong length, or ``minlength`` is
            negative.
    """
    return _counted(input, weights, minlength).astype(float32)


@declare(mint="bincount")
def _bincount_of_mint(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Return how often each of the numbers 0, 1, 2, ... occurs, or the sum of its ``weights``.

    Args:
        input: a vector of ints that are not negative.
        weights: the weight of each element, a Tensor of the same length; 1 by default.
        minlength: the least length of the result.

    Returns:
        A vector of max(largest + 1, ``minlength``) entries: Int64, or of the dtype of ``weights``.

    Raises:
        TypeError: ``input`` is not a Tensor of integers.
        ValueError: it is not a vector or holds a negative number, ``weights`` has the wrong length, or ``minlength`` is
            negative.
    """
    return _counted(input, weights, minlength)


def _counted(input: Tensor, weights: Tensor | None, minlength: int) -> Tensor:
    x = check_tensor(input, "bincount")._array
    least = int_of(minlength, "bincount", "minlength")
    if x.ndim != 1 or least < 0:
        raise ValueError(f"For 'bincount', 'input' must be a vector and 'minlength' not negative, but got {x.shape}")
    if x.dtype.kind not in "iub":
        raise TypeError(f"For 'bincount', 'input' must hold integers, but got {input.dtype}")
    check_values(_check_not_negative, x)
    xp = array_module(x)
    if weights is not None and check_tensor(weights, "bincount", "weights").shape != x.shape:
        raise ValueError(f"For 'bincount', 'weights' must have the shape {x.shape}, but got {weights.shape}")
    if weights is not None and weights._array.dtype.kind in "fV" and x.size:
        sums = unsorted_segment_sum(
            as_dtype(weights, np.dtype(np.float64)), input.astype(int64), max(int(x.max()) + 1, least)
        )
        return as_dtype(sums, weights._array.dtype)
    counts = xp.bincount(x, None if weights is None else weights._array, least)
    return Tensor._wrap(counts.astype(np.int64 if weights is None else weights._array.dtype))


def _check_not_negative(x: Array) -> None:
    if x.size and int(x.min()) < 0:
        raise ValueError(f"For 'bincount', 'input' must not be negative, but got {x.min()}")


@declare(primitive=prim("Bincount"))
def _bincount_below(array: Tensor, size: int | Tensor, weights: Tensor) -> Tensor:
    """Return how often each number below ``size`` occurs, or the sum of its ``weights``; larger ones are left out.

    Args:
        array: a vector of ints that are not negative.
        size: the number of numbers that are counted: an int or a Tensor of one.
        weights: the weight of each element; an empty Tensor means ones of its dtype.

    Returns:
        A vector of ``size`` entries of the dtype of ``weights``.

    Raises:
        TypeError: ``array`` does not hold integers.
        ValueError: it is not a vector or holds a negative number.
    """
    x = array._array
    mask = x < int(size)
    factors = weights._array if weights.size else array_module(x).ones(x.shape, weights._array.dtype)
    return _counted(Tensor._wrap(x[mask]), Tensor._wrap(factors[mask]), int(size))


@declare(method=True, primitive=prim("Histogram", bins=100, min=0.0, max=0.0), mint=True)
def histc(input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0) -> Tensor:
    """Return the count of elements in each of ``bins`` equal parts of [min, max]; the last part includes its end.

    Args:
        input: a Tensor of numbers; those outside the range are not counted.
        bins: the number of parts, from 1 on.
        min: the lower end of the range.
        max: its upper end; where both are equal, the range is that of the elements.

    Returns:
        A vector of ``bins`` counts: Int32 for an Int32 ``input``, else Float32.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: no bins, or ``min`` above ``max``.
    """
    for argument, end in (("min", min), ("max", max)):
        check_real(end, "histc", argument)
    if int_of(bins, "histc", "bins") < 1 or min > max:
        raise ValueError(f"For 'histc', 'bins' must be positive and min <= max, but got {bins}, {min}, {max}")
    check_size((bins,), "histc", "bins")
    return Tensor._wrap(compute(_histogram, check_tensor(input, "histc")._array, bins=bins, min=min, max=max))


def _histogram(x: Array, bins: int, min: float, max: float) -> Array:
    if x.dtype.kind == "f":  # in the dtype of the elements: -0.3 is a different number in Float32
        min, max = float(x.dtype.type(min)), float(x.dtype.type(max))
    low, high = (float(min), float(max)) if min != max else (float(x.min()), float(x.max())) if x.size else (0.0, 1.0)
    if low == high:
        low, high = low - 1.0, high + 1.0
    if not math.isfinite(low) or not math.isfinite(high):
        raise ValueError(f"For 'histc', the range of 'input' must be finite, but got {low} to {high}")
    counts, _ = array_module(x).histogram(x.astype(np.float64), bins=bins, range=(low, high))
    result: Array = counts.astype(x.dtype if x.dtype.kind in "i" and x.dtype == np.int32 else float32.numpy)
    return result
