"""Set operations on vectors."""

from __future__ import annotations

import numpy as np

from ... import ops
from ...base.types import TensorLike
from ...ops.indexing.unique import unique_sorted
from ...tensors.dtype import bool_, int32
from ...tensors.tensor import Tensor
from .arrays import asarray, new_tensor, tensors_of

__all__ = ["in1d", "intersect1d", "isin", "setdiff1d", "unique"]


def unique(x: TensorLike, return_inverse: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return each value once, in ascending order; on demand the index of each element's value.

    Args:
        x: the elements.
        return_inverse: whether to return the indices too.

    Returns:
        a vector of the values; with ``return_inverse`` a pair of it and the indices, Int32, of the shape of ``x``.

    Raises:
        TypeError: ``x`` cannot be a Tensor.
        NotImplementedError: a gradient reaches the values, which have none.
    """
    values, inverse = unique_sorted(asarray(x), return_inverse=True)
    return (values, inverse.astype(int32)) if return_inverse else values


def in1d(ar1: TensorLike, ar2: TensorLike, invert: bool = False) -> Tensor:
    """Return whether each element is among others, flattened.

    Args:
        ar1: the elements.
        ar2: the others.
        invert: whether to negate the result.

    Returns:
        a Bool vector with an element for each of ``ar1``.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    return ops.reshape(isin(ar1, ar2, invert), (-1,))


def isin(element: TensorLike, test_elements: TensorLike, invert: bool = False) -> Tensor:
    """Return whether each element is among others.

    Args:
        element: the elements.
        test_elements: the others.
        invert: whether to negate the result.

    Returns:
        a Bool Tensor of the shape of ``element``.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x, tests = tensors_of(element, test_elements)
    return new_tensor(np.isin(x.asnumpy(), tests.asnumpy(), invert=invert), bool_)


def intersect1d(
    ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor, Tensor]:
    """Return the values that are in both, each once, in ascending order.

    Args:
        ar1: the first, flattened.
        ar2: the other, flattened.
        assume_unique: whether each input has unique values, which saves time.
        return_indices: whether to return the indices of the values too.

    Returns:
        a vector of the values; with ``return_indices`` a triple of it and the first indices in ``ar1`` and in ``ar2``,
        Int32.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x, y = (ops.reshape(array, (-1,)) for array in tensors_of(ar1, ar2))
    _, first, second = np.intersect1d(x.asnumpy(), y.asnumpy(), assume_unique, return_indices=True)
    values = x[new_tensor(first)]
    return (values, new_tensor(first), new_tensor(second)) if return_indices else values


def setdiff1d(ar1: TensorLike, ar2: TensorLike, assume_unique: bool = False) -> Tensor:
    """Return the values that are in ``ar1`` and not in ``ar2``, each once, in ascending order.

    Args:
        ar1: the first, flattened.
        ar2: the other.
        assume_unique: whether each input has unique values; then they keep the order of ``ar1``.

    Returns:
        a vector of the dtype of ``ar1``.

    Raises:
        TypeError: an argument cannot be a Tensor.
    """
    x = ops.reshape(asarray(ar1), (-1,))
    values = x.asnumpy()
    positions = np.arange(x.size) if assume_unique else np.unique(values, return_index=True)[1]
    return ops.gather(x, new_tensor(positions[~np.isin(values[positions], asarray(ar2).asnumpy())]), 0)
