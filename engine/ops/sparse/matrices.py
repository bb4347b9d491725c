"""Primitive classes of sparse matrices in row order, one or a batch of them, in components.

The components: the shape of the dense tensor, (rows, columns) or (batch, rows, columns); where each matrix begins among
the values, and where the last one ends; for each matrix where each of its rows begins among its values, and where the
last one ends; the column of each value; the values. Integers are Int32 or Int64, also in results.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike
from ...cpu.array_module import array_module
from ...cpu.arrays.sparse import Positions
from ...tensors.backend import to_host
from ...tensors.dtype import float32, float64
from ...tensors.tensor import Tensor
from ..arguments import check_integers, check_same_dtype, check_tensor, ints_of
from ..elementwise import arithmetic
from ..elementwise.complex_numbers import conj
from ..shapes.concatenation import stack
from ..shapes.conversion import cast
from ..shapes.reshape import reshape, swapaxes
from ..shapes.subscripts import getitem_operator, scatter_add_operator
from .components import _like, _selection, _summed, softmax_of_groups
from .tensors import times_dense

__all__: list[str] = []

_ARGUMENTS = """
        {x}dense_shape: the shape of the whole, integers (2,) or (3,).
        {x}batch_pointers: where each matrix begins among the values, and where the last ends, integers (batch + 1,).
        {x}row_pointers: for each matrix where each row begins among its values, and where the last one ends, integers
            (batch * (rows + 1),).
        {x}col_indices: the column of each value, integers (N,).
        {x}values: the values (N,)."""
_RETURNS = """

    Returns:
        ``(dense_shape, batch_pointers, row_pointers, col_indices, values)`` of the result.
"""
_RAISES = """

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the parts do not fit together.
    """


@dataclass(frozen=True)
class _Matrices:
    """A batch of matrices.

    Attributes:
        shape: (batch, rows, columns), the batch 1 if there is none.
        axes: of the dense tensor, 2 or 3.
        indices: the matrix, the row and the column of each value, Int64 in NumPy.
        values: the values.
        like: a tensor of the dtype of integers in results.
    """

    shape: tuple[int, int, int]
    axes: int
    indices: Array
    values: Tensor
    like: Tensor

    def of(self, number: int) -> tuple[Tensor, Positions]:
        """Return the values and the positions of one of the matrices."""
        selected = np.flatnonzero(self.indices[:, 0] == number)
        xp = array_module(self.values._array)
        rows, columns = (xp.asarray(self.indices[selected, i]) for i in (1, 2))
        return _selection(self.values, selected), Positions(rows, columns, self.shape[1:])

    def outputs(self) -> tuple[Tensor, ...]:
        """Return the components, with the values in row order."""
        order = np.lexsort(self.indices.T[::-1])
        batch, rows, _ = self.shape
        counts = np.zeros((batch, rows + 1), np.int64)
        np.add.at(counts, (self.indices[:, 0], self.indices[:, 1] + 1), 1)
        ends = np.concatenate([[0], np.cumsum(counts.sum(1))])
        shape = np.array(self.shape[3 - self.axes :])
        return (
            _like(shape, self.like),
            _like(ends, self.like),
            _like(np.cumsum(counts, 1).reshape(-1), self.like),
            _like(self.indices[order, 2], self.like),
            _selection(self.values, order),
        )


def _shape_of(lengths: Tensor, name: str, argument: str) -> tuple[tuple[int, int, int], int]:
    shape = ints_of(check_integers(lengths, name, argument), name, argument)
    if len(shape) not in (2, 3) or min(shape) < 0:
        raise ValueError(f"For '{name}', '{argument}' must be the lengths of 2 or 3 axes, but got {shape}")
    batch, rows, columns = (1, *shape)[-3:]
    return (batch, rows, columns), len(shape)


def _matrices(parts: tuple[Tensor, ...], name: str, x: str, ends_count: bool = True) -> _Matrices:
    """Return the matrices from their components; ``ends_count``: whether the second component is checked."""
    arguments = [f"{x}{item}" for item in ("dense_shape", "batch_pointers", "row_pointers", "col_indices", "values")]
    shape, axes = _shape_of(parts[0], name, arguments[0])
    ends, pointers, columns = (
        to_host(check_integers(item, name, argument)._array).astype(np.int64)
        for item, argument in zip(parts[1:4], arguments[1:4], strict=True)
    )
    values = check_tensor(parts[4], name, arguments[4])
    batch, rows, width = shape
    if pointers.shape != (batch * (rows + 1),) or columns.ndim != 1 or values.shape != columns.shape:
        raise ValueError(
            f"For '{name}', '{arguments[2]}' must have {batch * (rows + 1)} elements, and '{arguments[4]}' one "
            f"for each of '{arguments[3]}', but got shapes {pointers.shape}, {values.shape} and {columns.shape}"
        )
    pointers = pointers.reshape(batch, rows + 1)
    counts = np.diff(pointers)
    if (pointers[:, :1] != 0).any() or (counts < 0).any() or counts.sum() != len(columns):
        raise ValueError(
            f"For '{name}', each row of '{arguments[2]}' must rise from 0, {len(columns)} in sum, but got "
            f"{pointers.tolist()}"
        )
    begins = np.concatenate([[0], np.cumsum(counts.sum(1))])
    if ends_count and ends.tolist() != begins.tolist():
        raise ValueError(f"For '{name}', '{arguments[1]}' must be {begins.tolist()}, but got {ends.tolist()}")
    if len(columns) and (columns.min() < 0 or columns.max() >= width):
        raise ValueError(f"For '{name}', '{arguments[3]}' must be in [0, {width}), but got {columns.tolist()}")
    row_index = np.indices((batch, rows)).reshape(2, -1).repeat(counts.reshape(-1), axis=1)
    return _Matrices(shape, axes, np.stack([*row_index, columns], 1), values, parts[3])


def _as_dense(
    x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor
) -> Tensor:
    name = "CSRSparseMatrixToDense"
    x = _matrices((x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values), name, "x_")
    xp = array_module(x.values._array)
    index = tuple(xp.asarray(column) for column in x.indices.T)
    return reshape(scatter_add_operator(x.values, index=index, shape=x.shape), x.shape[3 - x.axes :])


_as_dense.__doc__ = f"""Sparse matrices as dense ones.

    Args:{_ARGUMENTS.format(x="x_")}

    Returns:
        A tensor of ``x_dense_shape`` and of the dtype of the values.
{_RAISES}"""
declare(primitive=prim("CSRSparseMatrixToDense"))(_as_dense)


def _as_sparse_tensor(
    x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    name = "CSRSparseMatrixToSparseTensor"
    x = _matrices((x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values), name, "x_")
    return _like(x.indices[:, 3 - x.axes :], x.like), x.values, _like(np.array(x.shape[3 - x.axes :]), x.like)


_as_sparse_tensor.__doc__ = f"""Sparse matrices as a sparse tensor with the place of each value.

    Args:{_ARGUMENTS.format(x="x_")}

    Returns:
        ``(indices, values, dense_shape)`` of the sparse tensor.
{_RAISES}"""
declare(primitive=prim("CSRSparseMatrixToSparseTensor"))(_as_sparse_tensor)


def _at(indices: Array, values: Tensor, shape: tuple[int, ...], like: Tensor, name: str) -> tuple[Tensor, ...]:
    if len(indices) and ((indices < 0).any() or (indices >= shape).any()):
        raise ValueError(f"For '{name}', places must be inside {shape}, but got {indices.tolist()}")
    if len(shape) == 2:
        indices = np.concatenate([np.zeros((len(indices), 1), np.int64), indices], 1)
    batch, rows, columns = (1, *shape)[-3:]
    return _Matrices((batch, rows, columns), len(shape), indices, values, like).outputs()


@declare(primitive=prim("DenseToCSRSparseMatrix"))
def _of_dense(dense_input: Tensor, indices: Tensor) -> tuple[Tensor, ...]:
    """Return the elements of dense matrices at given positions, as sparse matrices.

    Args:
        dense_input: a tensor of two or three axes.
        indices: the positions, Int32 or Int64 (N, axes).

    Returns:
        ``(dense_shape, batch_pointers, row_pointers, col_indices, values)`` of the result, integers as ``indices``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together, or a position is out of range.
    """
    name = "DenseToCSRSparseMatrix"
    x = check_tensor(dense_input, name, "dense_input")
    positions = to_host(check_integers(indices, name, "indices")._array).astype(np.int64)
    if x.ndim not in (2, 3) or positions.shape[1:] != (x.ndim,):
        raise ValueError(
            f"For '{name}', 'dense_input' must have 2 or 3 axes and 'indices' a row of as many for each place, but got "
            f"shapes {x.shape} and {indices.shape}"
        )
    if len(positions) and ((positions < 0).any() or (positions >= x.shape).any()):
        raise ValueError(f"For '{name}', 'indices' must be inside {x.shape}, but got {positions.tolist()}")
    index = tuple(array_module(x._array).asarray(column) for column in positions.T)
    return _at(positions, getitem_operator(x, index=index), x.shape, indices, name)


@declare(primitive=prim("SparseTensorToCSRSparseMatrix"))
def _from_sparse_tensor(x_indices: Tensor, x_values: Tensor, x_dense_shape: Tensor) -> tuple[Tensor, ...]:
    """Return a sparse tensor with the position of each value, as sparse matrices.

    Args:
        x_indices: the positions, Int32 or Int64 (N, axes), two or three axes.
        x_values: the values (N,).
        x_dense_shape: the shape of the dense tensor, integers (axes,).

    Returns:
        ``(dense_shape, batch_pointers, row_pointers, col_indices, values)`` of the result, integers as ``x_indices``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together, or a position is out of range.
    """
    name = "SparseTensorToCSRSparseMatrix"
    positions = to_host(check_integers(x_indices, name, "x_indices")._array).astype(np.int64)
    values = check_tensor(x_values, name, "x_values")
    shape, axes = _shape_of(x_dense_shape, name, "x_dense_shape")
    if positions.shape != (values.size, axes) or values.ndim != 1:
        raise ValueError(
            f"For '{name}', 'x_indices' must have a row of {axes} for each of the vector 'x_values', but got shapes "
            f"{positions.shape} and {values.shape}"
        )
    return _at(positions, values, shape[3 - axes :], x_indices, name)


def _sum(
    x1_dense_shape: Tensor,
    x1_batch_pointers: Tensor,
    x1_row_pointers: Tensor,
    x1_col_indices: Tensor,
    x1_values: Tensor,
    x2_dense_shape: Tensor,
    x2_batch_pointers: Tensor,
    x2_row_pointers: Tensor,
    x2_col_indices: Tensor,
    x2_values: Tensor,
    alpha: Tensor,
    beta: Tensor,
) -> tuple[Tensor, ...]:
    name = "SparseMatrixAdd"
    x1 = _matrices((x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values), name, "x1_")
    x2 = _matrices((x2_dense_shape, x2_batch_pointers, x2_row_pointers, x2_col_indices, x2_values), name, "x2_")
    if x1.shape != x2.shape or x1.axes != x2.axes:
        shapes = [x.shape[3 - x.axes :] for x in (x1, x2)]
        raise ValueError(
            f"For '{name}', 'x1_dense_shape' and 'x2_dense_shape' must be equal, but got {shapes[0]} and {shapes[1]}"
        )
    check_same_dtype(
        name,
        x1_values=x1.values,
        x2_values=x2.values,
        alpha=check_tensor(alpha, name, "alpha"),
        beta=check_tensor(beta, name, "beta"),
    )
    for argument, number in (("alpha", alpha), ("beta", beta)):
        if number.size != 1:
            raise ValueError(f"For '{name}', '{argument}' must have one element, but got shape {number.shape}")
    positions, groups = np.unique(np.concatenate([x1.indices, x2.indices]), axis=0, return_inverse=True)
    groups, boundary = groups.reshape(-1), len(x1.indices)
    total = arithmetic.add(
        arithmetic.mul(_summed(x1.values, groups[:boundary], len(positions)), reshape(alpha, ())),
        arithmetic.mul(_summed(x2.values, groups[boundary:], len(positions)), reshape(beta, ())),
    )
    return _Matrices(x1.shape, x1.axes, positions, total, x1.like).outputs()


_sum.__doc__ = f"""alpha * x1 + beta * x2, where x1 and x2 are sparse matrices; an element wherever one of them has one.

    Args:{_ARGUMENTS.format(x="x1_")}{_ARGUMENTS.format(x="x2_")}
        alpha: a tensor of one element, of the dtype of the values.
        beta: likewise.{_RETURNS}{_RAISES}"""
declare(primitive=prim("SparseMatrixAdd"))(_sum)


def _product(
    x1_dense_shape: Tensor,
    x1_batch_pointers: Tensor,
    x1_row_pointers: Tensor,
    x1_col_indices: Tensor,
    x1_values: Tensor,
    x2_dense: Tensor,
    *,
    transpose_x1: bool,
    transpose_x2: bool,
    adjoint_x1: bool,
    adjoint_x2: bool,
    transpose_output: bool,
    conjugate_output: bool,
) -> Tensor:
    name = "SparseMatrixMatMul"
    flags = {
        "transpose_x1": transpose_x1,
        "transpose_x2": transpose_x2,
        "adjoint_x1": adjoint_x1,
        "adjoint_x2": adjoint_x2,
        "transpose_output": transpose_output,
        "conjugate_output": conjugate_output,
    }
    for argument, flag in flags.items():
        check_bool(flag, name, argument)
    for factor in ("x1", "x2"):
        if flags[f"transpose_{factor}"] and flags[f"adjoint_{factor}"]:
            raise ValueError(f"For '{name}', 'transpose_{factor}' and 'adjoint_{factor}' must not both be True")
    x1 = _matrices((x1_dense_shape, x1_batch_pointers, x1_row_pointers, x1_col_indices, x1_values), name, "x1_")
    check_same_dtype(name, x1_values=x1.values, x2_dense=check_tensor(x2_dense, name, "x2_dense"))
    batch = x1.shape[0]
    if x2_dense.ndim != x1.axes or (x1.axes == 3 and x2_dense.shape[0] != batch):
        raise ValueError(
            f"For '{name}', 'x2_dense' must have {x1.axes} axes and as many matrices, but got shape {x2_dense.shape}"
        )
    dense = swapaxes(x2_dense, -1, -2) if transpose_x2 or adjoint_x2 else x2_dense
    dense = conj(dense) if adjoint_x2 else dense
    products = []
    for i in range(batch):
        values, positions = x1.of(i)
        products.append(
            times_dense(
                conj(values) if adjoint_x1 else values,
                positions.transposed if transpose_x1 or adjoint_x1 else positions,
                getitem_operator(dense, index=i) if x1.axes == 3 else dense,
                name,
                "x2_dense",
            )
        )
    result = stack(tuple(products)) if x1.axes == 3 else products[0]
    result = swapaxes(result, -1, -2) if transpose_output else result
    return conj(result) if conjugate_output else result


_product.__doc__ = f"""Sparse matrices times dense ones.

    Args:{_ARGUMENTS.format(x="x1_")}
        x2_dense: a dense matrix, or as many of them, of the dtype of the values.
        transpose_x1: whether the first is transposed.
        transpose_x2: whether the second is.
        adjoint_x1: whether the first is transposed and conjugated.
        adjoint_x2: whether the second is.
        transpose_output: whether the product is transposed.
        conjugate_output: whether the product is conjugated.

    Returns:
        A dense tensor of the dtype of the values.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the parts or the shapes do not fit together, or a matrix is to be transposed in two ways.
    """
declare(
    primitive=prim(
        "SparseMatrixMatMul",
        transpose_x1=False,
        transpose_x2=False,
        adjoint_x1=False,
        adjoint_x2=False,
        transpose_output=False,
        conjugate_output=False,
    )
)(_product)


def _numbers(
    x_dense_shape: Tensor, x_batch_pointers: Tensor, x_row_pointers: Tensor, x_col_indices: Tensor, x_values: Tensor
) -> Tensor:
    name = "SparseMatrixNNZ"
    x = _matrices((x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values), name, "x_")
    counts = np.bincount(x.indices[:, 0], minlength=x.shape[0]).astype(np.int32)
    return Tensor._wrap(array_module(x.values._array).asarray(counts))


_numbers.__doc__ = f"""Return how many elements each of some sparse matrices has.

    Args:{_ARGUMENTS.format(x="x_")}

    Returns:
        Int32 (batch,).
{_RAISES}"""
declare(primitive=prim("SparseMatrixNNZ"))(_numbers)


def _softmax(
    x_dense_shape: Tensor,
    x_batch_pointers: Tensor,
    x_row_pointers: Tensor,
    x_col_indices: Tensor,
    x_values: Tensor,
    *,
    dtype: DTypeLike,
) -> tuple[Tensor, ...]:
    name = "SparseMatrixSoftmax"
    if dtype not in (float32, float64):
        raise TypeError(f"For '{name}', 'dtype' must be float32 or float64, but got {dtype}")
    parts = (x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values)
    x = _matrices(parts, name, "x_", ends_count=False)
    groups = np.unique(x.indices[:, :2], axis=0, return_inverse=True)[1].reshape(-1)
    return (*parts[:4], softmax_of_groups(cast(x.values, dtype), groups))


_softmax.__doc__ = f"""The softmax of each row of sparse matrices over the elements that it has.

    Args:{_ARGUMENTS.format(x="x_")}
        dtype: of the new values, float32 or float64.{_RETURNS}{_RAISES}"""
declare(primitive=prim("SparseMatrixSoftmax", "dtype"))(_softmax)


def _transposed(
    x_dense_shape: Tensor,
    x_batch_pointers: Tensor,
    x_row_pointers: Tensor,
    x_col_indices: Tensor,
    x_values: Tensor,
    *,
    conjugate: bool,
) -> tuple[Tensor, ...]:
    name = "SparseMatrixTranspose"
    check_bool(conjugate, name, "conjugate")
    x = _matrices((x_dense_shape, x_batch_pointers, x_row_pointers, x_col_indices, x_values), name, "x_")
    batch, rows, columns = x.shape
    values: Any = conj(x.values) if conjugate else x.values
    return _Matrices((batch, columns, rows), x.axes, x.indices[:, [0, 2, 1]], values, x.like).outputs()


_transposed.__doc__ = f"""Sparse matrices with rows and columns exchanged.

    Args:{_ARGUMENTS.format(x="x_")}
        conjugate: whether the values are conjugated.{_RETURNS}{_RAISES}"""
declare(primitive=prim("SparseMatrixTranspose", conjugate=False))(_transposed)
