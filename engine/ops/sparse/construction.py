"""Construction of sparse tensors, their parts, and checks of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...base.argument_checks import check_type
from ...base.types import Array, Shape
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..arguments import check_tensor, ints_of
from .tensors import COOTensor, CSRTensor, RowTensor, SparseTensor, check_coo

__all__ = [
    "coo_tensor_get_dense_shape",
    "coo_tensor_get_indices",
    "coo_tensor_get_values",
    "csr_tensor_get_dense_shape",
    "csr_tensor_get_indices",
    "csr_tensor_get_indptr",
    "csr_tensor_get_values",
    "make_coo_tensor",
    "make_csr_tensor",
    "make_row_tensor",
    "make_row_tensor_inner",
    "make_sparse_tensor",
    "row_tensor_get_dense_shape",
    "row_tensor_get_indices",
    "row_tensor_get_values",
]

# Creation and access


def make_coo_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> COOTensor:
    """Return a COOTensor.

    Args:
        indices: the position of each element, integers (N, 2).
        values: the elements (N,).
        dense_shape: the shape of the dense tensor, two ints.

    Returns:
        The COOTensor.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    return COOTensor(indices, values, dense_shape)


def make_sparse_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> COOTensor:
    """Return ``make_coo_tensor`` under its older name.

    Args:
        indices: the position of each element, integers (N, 2).
        values: the elements (N,).
        dense_shape: the shape of the dense tensor, two ints.

    Returns:
        A COOTensor.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    return COOTensor(indices, values, dense_shape)


def make_csr_tensor(indptr: Tensor, indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> CSRTensor:
    """Return a CSRTensor.

    Args:
        indptr: where each row begins among the elements, and where the last one ends, integers (rows + 1,).
        indices: the column of each element, integers (N,).
        values: the elements (N, ...).
        dense_shape: the shape of the dense tensor, ints.

    Returns:
        The CSRTensor.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    return CSRTensor(indptr, indices, values, dense_shape)


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> RowTensor:
    """Return a RowTensor.

    Args:
        indices: the position of each entry on the first axis, integers (N,).
        values: the entries (N, ...).
        dense_shape: the shape of the dense tensor, ints.

    Returns:
        The RowTensor.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    return RowTensor(indices, values, dense_shape)


def make_row_tensor_inner(indices: Tensor, values: Tensor, dense_shape: tuple[int, ...]) -> RowTensor:
    """Return ``make_row_tensor`` under its other name.

    Args:
        indices: the position of each entry on the first axis, integers (N,).
        values: the entries (N, ...).
        dense_shape: the shape of the dense tensor, ints.

    Returns:
        A RowTensor.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    return RowTensor(indices, values, dense_shape)


def coo_tensor_get_indices(x: COOTensor) -> Tensor:
    """Return the positions of the elements of a COOTensor.

    Args:
        x: the COOTensor.

    Returns:
        An integer tensor (N, 2).

    Raises:
        TypeError: ``x`` is not a COOTensor.
    """
    return check_coo_tensor(x, "coo_tensor_get_indices").indices


def coo_tensor_get_values(x: COOTensor) -> Tensor:
    """Return the elements of a COOTensor.

    Args:
        x: the COOTensor.

    Returns:
        A tensor (N,).

    Raises:
        TypeError: ``x`` is not a COOTensor.
    """
    return check_coo_tensor(x, "coo_tensor_get_values").values


def coo_tensor_get_dense_shape(x: COOTensor) -> tuple[int, ...]:
    """Return the shape of a COOTensor.

    Args:
        x: the COOTensor.

    Returns:
        A tuple of two ints.

    Raises:
        TypeError: ``x`` is not a COOTensor.
    """
    return check_coo_tensor(x, "coo_tensor_get_dense_shape").shape


def csr_tensor_get_indptr(x: CSRTensor) -> Tensor:
    """Return where each row of a CSRTensor begins among its elements, and where the last one ends.

    Args:
        x: the CSRTensor.

    Returns:
        An integer tensor (rows + 1,).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return check_csr_tensor(x, "csr_tensor_get_indptr").indptr


def csr_tensor_get_indices(x: CSRTensor) -> Tensor:
    """Return the columns of the elements of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        An integer tensor (N,).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return check_csr_tensor(x, "csr_tensor_get_indices").indices


def csr_tensor_get_values(x: CSRTensor) -> Tensor:
    """Return the elements of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        A tensor (N, ...).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return check_csr_tensor(x, "csr_tensor_get_values").values


def csr_tensor_get_dense_shape(x: CSRTensor) -> tuple[int, ...]:
    """Return the shape of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return check_csr_tensor(x, "csr_tensor_get_dense_shape").shape


def row_tensor_get_indices(x: RowTensor) -> Tensor:
    """Return the positions of the entries of a RowTensor on the first axis.

    Args:
        x: the RowTensor.

    Returns:
        An integer tensor (N,).

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return check_row_tensor(x, "row_tensor_get_indices").indices


def row_tensor_get_values(x: RowTensor) -> Tensor:
    """Return the entries of a RowTensor.

    Args:
        x: the RowTensor.

    Returns:
        A tensor (N, ...).

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return check_row_tensor(x, "row_tensor_get_values").values


def row_tensor_get_dense_shape(x: RowTensor) -> tuple[int, ...]:
    """Return the shape of the dense tensor of a RowTensor.

    Args:
        x: the RowTensor.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return check_row_tensor(x, "row_tensor_get_dense_shape").dense_shape


def check_coo_tensor(x: object, name: str, argument: str = "x") -> COOTensor:
    result: COOTensor = check_type(x, COOTensor, name, argument)
    return result


def check_csr_tensor(x: object, name: str, argument: str = "x") -> CSRTensor:
    result: CSRTensor = check_type(x, CSRTensor, name, argument)
    return result


def check_row_tensor(x: object, name: str) -> RowTensor:
    result: RowTensor = check_type(x, RowTensor, name, "x")
    return result


# Conversion


def check_dense_matrix(tensor: object, name: str) -> Tensor:
    x = check_tensor(tensor, name, "tensor")
    if x.ndim != 2:
        raise ValueError(f"For '{name}', 'tensor' must have 2 axes, but got shape {x.shape}")
    return x


def check_int_vector(x: object, name: str, argument: str) -> Array:
    tensor = check_tensor(x, name, argument)
    if tensor._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {tensor.dtype}")
    if tensor.ndim != 1:
        raise ValueError(f"For '{name}', '{argument}' must have 1 axis, but got shape {tensor.shape}")
    return tensor._array


def position_numbers(index: Array, lengths: Sequence[int]) -> tuple[Array, Array]:
    """Return the unique positions in order, for any number of axes, and the index of each element's position."""
    xp = array_module(index)
    flat, at = xp.unique(flat_positions(tuple(index), lengths), return_inverse=True)
    return xp.stack(xp.unravel_index(flat, tuple(lengths))).astype(index.dtype), at.reshape(-1)


def flat_positions(index: Sequence[Array], lengths: Sequence[int]) -> Array:
    result = index[0].astype(np.int64)
    for column, length in zip(index[1:], lengths[1:], strict=True):
        result = result * length + column
    return result


def sparse_tensor_of(indices: Tensor, values: Tensor, shape: Shape, name: str, axes: int | None = None) -> SparseTensor:
    return SparseTensor(*check_coo(indices, values, ints_of(shape, name, "shape"), name, axes))
