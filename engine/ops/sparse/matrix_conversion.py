"""Conversion between dense matrices, COO and CSR tensors."""

from __future__ import annotations

import numpy as np

from ...base.surfaces import declare, prim
from ...base.types import Shape
from ...cpu.array_module import array_module
from ...cpu.arrays.sparse import offsets
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of
from ..shapes.subscripts import getitem_operator, scatter_add_operator
from .construction import check_csr_tensor, check_dense_matrix, check_int_vector, flat_positions, sparse_tensor_of
from .tensors import COOTensor, CSRTensor, check_inside, csr_as_coo, csr_as_dense, rows_of

__all__ = [
    "coo2csr",
    "csr2coo",
    "csr_gather",
    "csr_to_coo",
    "csr_to_dense",
    "dense_to_sparse_coo",
    "dense_to_sparse_csr",
]


@declare(method="to_coo")
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """Return the elements of a matrix that are not 0, with their positions.

    Args:
        tensor: a tensor of two axes.

    Returns:
        A COOTensor with positions in Int32.

    Raises:
        TypeError: ``tensor`` is not a Tensor.
        ValueError: ``tensor`` has the wrong number of axes.
    """
    x = check_dense_matrix(tensor, "dense_to_sparse_coo")
    index = x._array.nonzero()
    positions = array_module(x._array).stack(index, 1).astype(np.int32)
    return COOTensor(Tensor._wrap(positions), getitem_operator(x, index=index), x.shape)


@declare(method="to_csr")
def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """Return the elements of a matrix that are not 0, row by row.

    Args:
        tensor: a tensor of two axes.

    Returns:
        A CSRTensor with rows and columns in Int32.

    Raises:
        TypeError: ``tensor`` is not a Tensor.
        ValueError: ``tensor`` has the wrong number of axes.
    """
    x = check_dense_matrix(tensor, "dense_to_sparse_csr")
    rows, columns = x._array.nonzero()
    return CSRTensor(
        Tensor._wrap(offsets(rows.astype(np.int32), x.shape[0])),
        Tensor._wrap(columns.astype(np.int32)),
        getitem_operator(x, index=(rows, columns)),
        x.shape,
    )


def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """Return a CSRTensor as a COOTensor: the same elements in the same order.

    Args:
        tensor: a CSRTensor of two axes.

    Returns:
        A COOTensor.

    Raises:
        TypeError: ``tensor`` is not a CSRTensor.
        ValueError: ``tensor`` has more than two axes.
        RuntimeError: its rows or columns do not fit its shape.
    """
    return csr_as_coo(check_csr_tensor(tensor, "csr_to_coo", "tensor"), "csr_to_coo")


def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """Return a CSRTensor as a dense tensor.

    Args:
        csr_tensor: a CSRTensor of two axes.

    Returns:
        A tensor of its shape and dtype.

    Raises:
        TypeError: ``csr_tensor`` is not a CSRTensor.
        ValueError: ``csr_tensor`` has more than two axes.
        RuntimeError: its rows or columns do not fit its shape.
    """
    return csr_as_dense(check_csr_tensor(csr_tensor, "csr_to_dense", "csr_tensor"), "csr_to_dense")


def coo2csr(row_indices: Tensor, height: int) -> Tensor:
    """Return the CSR row pointers of elements that are sorted by row.

    Args:
        row_indices: the row of each element, integers that do not decrease.
        height: the number of rows.

    Returns:
        A tensor (height + 1,) of the dtype of ``row_indices``: the ``indptr`` of a CSRTensor.

    Raises:
        TypeError: ``row_indices`` does not hold integers, or ``height`` is not an int.
        ValueError: ``row_indices`` does not have one axis.
        RuntimeError: a row is not in [0, height).
    """
    rows = check_int_vector(row_indices, "coo2csr", "row_indices")
    (count,) = ints_of(height, "coo2csr", "height")
    check_inside(rows, count, "coo2csr", "row_indices")
    return Tensor._wrap(offsets(rows, count))


def csr2coo(indptr: Tensor, nnz: int) -> Tensor:
    """Return the row of each element, for elements in row order.

    Args:
        indptr: where each row begins among them, and where the last one ends, integers.
        nnz: the number of elements.

    Returns:
        A tensor (nnz,) of the dtype of ``indptr``.

    Raises:
        TypeError: ``indptr`` does not hold integers, or ``nnz`` is not an int.
        ValueError: ``indptr`` does not have one axis.
        RuntimeError: ``indptr`` does not rise from 0 to ``nnz``.
    """
    starts = check_int_vector(indptr, "csr2coo", "indptr")
    (count,) = ints_of(nnz, "csr2coo", "nnz")
    return Tensor._wrap(rows_of(starts, count, "csr2coo"))


def csr_gather(indptr: Tensor, indices: Tensor, dense: Tensor, sparse_shape: tuple[int, ...]) -> Tensor:
    """Return the elements of a dense tensor at the positions of a CSRTensor.

    Args:
        indptr: where each row begins among the elements, and where the last one ends.
        indices: the column of each element.
        dense: the source tensor; it broadcasts to ``sparse_shape``.
        sparse_shape: the shape of the CSRTensor.

    Returns:
        A tensor (N, ...) of the dtype of ``dense``: an element for each of ``indices``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together.
        RuntimeError: the rows or columns do not fit ``sparse_shape``.
    """
    x = check_tensor(dense, "csr_gather", "dense")
    count = check_tensor(indices, "csr_gather", "indices").shape
    inner_shape = tuple(sparse_shape[2:]) if isinstance(sparse_shape, tuple) else ()
    values = constant(array_module(x._array).zeros(count + inner_shape, x._array.dtype))
    return CSRTensor(indptr, indices, values, sparse_shape)._picked(x, "csr_gather", "dense")


@declare(primitive=prim("SparseToDense"))
def _to_dense(indices: Tensor, values: Tensor, sparse_shape: Shape) -> Tensor:
    """Return a sparse tensor as a dense one; of several elements at one position the last one is kept.

    Args:
        indices: the positions of the elements, Int32 or Int64 (N, axes).
        values: the elements (N,).
        sparse_shape: the shape of the dense tensor, a tuple of ints or a tensor of them.

    Returns:
        A tensor of shape ``sparse_shape`` and of the dtype of ``values``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the shapes do not fit together, or a position is out of range ``sparse_shape``.
    """
    x = sparse_tensor_of(indices, values, sparse_shape, "SparseToDense")
    try:
        index = x._index("SparseToDense")
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    xp = array_module(index[0])
    flat = flat_positions(index, x.shape)[::-1]
    last = flat.size - 1 - xp.unique(flat, return_index=True)[1]
    selected = tuple([column[last] for column in index])
    return scatter_add_operator(getitem_operator(x.values, index=(last,)), index=selected, shape=x.shape)
