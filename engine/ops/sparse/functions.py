"""Functions of sparse tensors: creation, conversion, access, sums, products; and the primitives of their components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike, Operand, Shape
from ...cpu.array_module import array_module
from ...cpu.arrays.sparse import offsets
from ...tensors.dtype import DType, dtype_of, float16, float32, float64, numpy_dtype
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_tensor, ints_of, one_axis
from ..elementwise import arithmetic, exponentials
from ..indexing.scattering import put
from ..indexing.segments import unsorted_segment_max
from ..shapes.concatenation import concat
from ..shapes.conversion import cast
from ..shapes.copying import stop_gradient
from ..shapes.reshape import transpose
from ..shapes.subscripts import getitem_operator, scatter_add_operator
from .tensors import (
    COOTensor,
    CSRTensor,
    RowTensor,
    SparseTensor,
    check_coo,
    check_inside,
    coo_sum,
    csr_as_coo,
    csr_as_dense,
    csr_product,
    csr_row_sums,
    csr_sum,
    csr_times_vector,
    csr_with_dense,
    rows_of,
    times_dense,
)

__all__ = [
    "coalesce", "coo2csr", "coo_add", "coo_concat", "coo_tensor_get_dense_shape", "coo_tensor_get_indices",
    "coo_tensor_get_values", "csr2coo", "csr_add", "csr_div", "csr_gather", "csr_mm", "csr_mul", "csr_mv",
    "csr_reduce_sum", "csr_softmax", "csr_tensor_get_dense_shape", "csr_tensor_get_indices", "csr_tensor_get_indptr",
    "csr_tensor_get_values", "csr_to_coo", "csr_to_dense", "dense_to_sparse_coo", "dense_to_sparse_csr",
    "make_coo_tensor", "make_csr_tensor", "make_row_tensor", "make_row_tensor_inner", "make_sparse_tensor",
    "row_tensor_add", "row_tensor_get_dense_shape", "row_tensor_get_indices", "row_tensor_get_values"
]  # fmt: skip


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
        TypeError: an argument is of another type.
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
        TypeError: an argument is of another type.
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
        TypeError: an argument is of another type.
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
        TypeError: an argument is of another type.
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
        TypeError: an argument is of another type.
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
    return _coo(x, "coo_tensor_get_indices").indices


def coo_tensor_get_values(x: COOTensor) -> Tensor:
    """Return the elements of a COOTensor.

    Args:
        x: the COOTensor.

    Returns:
        A tensor (N,).

    Raises:
        TypeError: ``x`` is not a COOTensor.
    """
    return _coo(x, "coo_tensor_get_values").values


def coo_tensor_get_dense_shape(x: COOTensor) -> tuple[int, ...]:
    """Return the shape of a COOTensor.

    Args:
        x: the COOTensor.

    Returns:
        A tuple of two ints.

    Raises:
        TypeError: ``x`` is not a COOTensor.
    """
    return _coo(x, "coo_tensor_get_dense_shape").shape


def csr_tensor_get_indptr(x: CSRTensor) -> Tensor:
    """Return where each row of a CSRTensor begins among its elements, and where the last one ends.

    Args:
        x: the CSRTensor.

    Returns:
        An integer tensor (rows + 1,).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return _csr(x, "csr_tensor_get_indptr").indptr


def csr_tensor_get_indices(x: CSRTensor) -> Tensor:
    """Return the columns of the elements of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        An integer tensor (N,).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return _csr(x, "csr_tensor_get_indices").indices


def csr_tensor_get_values(x: CSRTensor) -> Tensor:
    """Return the elements of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        A tensor (N, ...).

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return _csr(x, "csr_tensor_get_values").values


def csr_tensor_get_dense_shape(x: CSRTensor) -> tuple[int, ...]:
    """Return the shape of a CSRTensor.

    Args:
        x: the CSRTensor.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: ``x`` is not a CSRTensor.
    """
    return _csr(x, "csr_tensor_get_dense_shape").shape


def row_tensor_get_indices(x: RowTensor) -> Tensor:
    """Return the positions of the entries of a RowTensor on the first axis.

    Args:
        x: the RowTensor.

    Returns:
        An integer tensor (N,).

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return _row(x, "row_tensor_get_indices").indices


def row_tensor_get_values(x: RowTensor) -> Tensor:
    """Return the entries of a RowTensor.

    Args:
        x: the RowTensor.

    Returns:
        A tensor (N, ...).

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return _row(x, "row_tensor_get_values").values


def row_tensor_get_dense_shape(x: RowTensor) -> tuple[int, ...]:
    """Return the shape of the dense tensor of a RowTensor.

    Args:
        x: the RowTensor.

    Returns:
        A tuple of ints.

    Raises:
        TypeError: ``x`` is not a RowTensor.
    """
    return _row(x, "row_tensor_get_dense_shape").dense_shape


def row_tensor_add(x: RowTensor, y: Tensor) -> RowTensor:
    """Return a RowTensor with a dense tensor added, which then has every entry.

    Args:
        x: the RowTensor; entries at one position are summed.
        y: a tensor of the shape of the dense tensor.

    Returns:
        A RowTensor of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a RowTensor, or ``y`` is not a Tensor.
        ValueError: the shapes differ.
        RuntimeError: ``x`` has entries outside its shape.
    """
    rows, dense = _row(x, "row_tensor_add"), check_tensor(y, "row_tensor_add", "y")
    if dense.shape != rows.dense_shape:
        raise ValueError(
            f"For 'row_tensor_add', 'y' must have the shape {rows.dense_shape} of 'x', but got {dense.shape}"
        )
    index = rows.indices._array
    check_inside(index, dense.shape[0], "row_tensor_add")
    all_rows = array_module(index).arange(dense.shape[0], dtype=index.dtype)
    return RowTensor(
        Tensor._wrap(all_rows), put(cast(dense, rows.values.dtype), rows.values, (index,), "add"), dense.shape
    )


def _coo(x: object, name: str, argument: str = "x") -> COOTensor:
    result: COOTensor = check_type(x, COOTensor, name, argument)
    return result


def _csr(x: object, name: str, argument: str = "x") -> CSRTensor:
    result: CSRTensor = check_type(x, CSRTensor, name, argument)
    return result


def _row(x: object, name: str) -> RowTensor:
    result: RowTensor = check_type(x, RowTensor, name, "x")
    return result


# Conversion


def _check_matrix(tensor: object, name: str) -> Tensor:
    x = check_tensor(tensor, name, "tensor")
    if x.ndim != 2:
        raise ValueError(f"For '{name}', 'tensor' must have 2 axes, but got shape {x.shape}")
    return x


@declare(method="to_coo")
def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """Return the elements of a matrix that are not 0, with their positions.

    Args:
        tensor: a tensor of two axes.

    Returns:
        A COOTensor with positions in Int32.

    Raises:
        TypeError: ``tensor`` is not a Tensor.
        ValueError: ``tensor`` has another number of axes.
    """
    x = _check_matrix(tensor, "dense_to_sparse_coo")
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
        ValueError: ``tensor`` has another number of axes.
    """
    x = _check_matrix(tensor, "dense_to_sparse_csr")
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
    return csr_as_coo(_csr(tensor, "csr_to_coo", "tensor"), "csr_to_coo")


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
    return csr_as_dense(_csr(csr_tensor, "csr_to_dense", "csr_tensor"), "csr_to_dense")


def _vector(x: object, name: str, argument: str) -> Array:
    tensor = check_tensor(x, name, argument)
    if tensor._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must hold integers, but got {tensor.dtype}")
    if tensor.ndim != 1:
        raise ValueError(f"For '{name}', '{argument}' must have 1 axis, but got shape {tensor.shape}")
    return tensor._array


def coo2csr(row_indices: Tensor, height: int) -> Tensor:
    """Return where each row begins among elements in row order, and where the last one ends.

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
    rows = _vector(row_indices, "coo2csr", "row_indices")
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
    starts = _vector(indptr, "csr2coo", "indptr")
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
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit together.
        RuntimeError: the rows or columns do not fit ``sparse_shape``.
    """
    x = check_tensor(dense, "csr_gather", "dense")
    count = check_tensor(indices, "csr_gather", "indices").shape
    inner_shape = tuple(sparse_shape[2:]) if isinstance(sparse_shape, tuple) else ()
    values = constant(array_module(x._array).zeros(count + inner_shape, x._array.dtype))
    return CSRTensor(indptr, indices, values, sparse_shape)._picked(x, "csr_gather", "dense")


# Sums and products


@declare(primitive=prim("Coalesce"))
def coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the elements of a sparse tensor in the order of their positions, with those at one position summed.

    Args:
        x_indices: the positions, integers (axes, N): a column for each element.
        x_values: the elements (N,).
        x_shape: the shape of the dense tensor, integers (axes,).

    Returns:
        ``(y_indices, y_values, y_shape)``, likewise.

    Raises:
        TypeError: an argument is not a Tensor, or ``x_indices`` or ``x_shape`` does not hold integers.
        ValueError: the shapes do not fit together, or a position is out of range ``x_shape``.
    """
    positions, values = check_tensor(x_indices, "coalesce", "x_indices"), check_tensor(x_values, "coalesce", "x_values")
    lengths = _vector(x_shape, "coalesce", "x_shape").tolist()
    index = positions._array
    if index.dtype.kind not in "iu":
        raise TypeError(f"For 'coalesce', 'x_indices' must hold integers, but got {positions.dtype}")
    if values.ndim != 1 or index.shape != (len(lengths), values.size):
        raise ValueError(
            f"For 'coalesce', 'x_indices' must have a row for each of 'x_shape' and a column for each of the vector "
            f"'x_values', but got shapes {index.shape}, {(len(lengths),)} and {values.shape}"
        )
    try:
        for row, length in zip(index, lengths, strict=True):
            check_inside(row, length, "coalesce", "x_indices")
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    unique, at = _numbered(index, lengths)
    sums = scatter_add_operator(values, index=(at,), shape=(unique.shape[1],))
    return Tensor._wrap(unique), sums, Tensor._wrap(x_shape._array)


def _numbered(index: Array, lengths: Sequence[int]) -> tuple[Array, Array]:
    """Return the unique positions in order, for any number of axes, and the index of each element's position."""
    xp = array_module(index)
    flat, at = xp.unique(_flat(tuple(index), lengths), return_inverse=True)
    return xp.stack(xp.unravel_index(flat, tuple(lengths))).astype(index.dtype), at.reshape(-1)


def _flat(index: Sequence[Array], lengths: Sequence[int]) -> Array:
    result = index[0].astype(np.int64)
    for column, length in zip(index[1:], lengths[1:], strict=True):
        result = result * length + column
    return result


def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor) -> COOTensor:
    """Return the sum of two COOTensors, each position once and in order, without elements that are small.

    Args:
        x1: the first.
        x2: the second, of the same shape.
        thresh: a 0-d tensor: elements whose absolute value is below it are left out.

    Returns:
        A COOTensor of the dtype that both are promoted to.

    Raises:
        TypeError: ``x1`` or ``x2`` is not a COOTensor, or ``thresh`` is not a Tensor.
        ValueError: the shapes differ, or ``thresh`` has axes.
        RuntimeError: positions are out of range.
    """
    return coo_sum(x1, x2, thresh, "coo_add", ("x1", "x2"))


def coo_concat(sp_input: Sequence[COOTensor], concat_dim: int = 0) -> COOTensor:
    """Return the concatenation of COOTensors, with the elements in the order of their positions.

    Args:
        sp_input: a list or tuple of two COOTensors or more, of one dtype, or of tuples ``(indices, values, shape)``;
            the lengths along the other axis are equal.
        concat_dim: the axis of the concatenation, in [-2, 2).

    Returns:
        A COOTensor.

    Raises:
        TypeError: ``sp_input`` is of another type, or the dtypes differ.
        ValueError: fewer than two, shapes that do not fit, or ``concat_dim`` out of range.
        RuntimeError: positions are out of range.
    """
    items = check_type(sp_input, list | tuple, "coo_concat", "sp_input", "a list or tuple of COOTensors")
    parts = [_coo(COOTensor(*x) if isinstance(x, tuple) else x, "coo_concat", "sp_input") for x in items]
    if len(parts) < 2:
        raise ValueError(f"For 'coo_concat', 'sp_input' must have at least 2 COOTensors, but got {len(parts)}")
    axis = one_axis(concat_dim, 2, "coo_concat")
    first, blocks, index_dtype, begin = parts[0], [], parts[0]._indices._array.dtype, 0
    for part in parts:
        if part.dtype != first.dtype:
            raise TypeError(f"For 'coo_concat', the dtypes must be equal, but got {first.dtype} and {part.dtype}")
        if part.shape[1 - axis] != first.shape[1 - axis]:
            raise ValueError(
                f"For 'coo_concat', the shapes must differ along axis {axis} only, "
                f"but got {first.shape} and {part.shape}"
            )
        index = part._places("coo_concat")
        block = array_module(index.rows).stack((index.rows, index.columns), 1).astype(np.int64)
        block[:, axis] += begin
        blocks.append(block)
        index_dtype = np.promote_types(index_dtype, part._indices._array.dtype)
        begin += part.shape[axis]
    xp = array_module(blocks[0])
    positions = xp.concatenate(blocks)
    shape = (begin, first.shape[1]) if axis == 0 else (first.shape[0], begin)
    order = xp.argsort(positions[:, 0] * shape[1] + positions[:, 1], kind="stable")
    values = getitem_operator(concat([part.values for part in parts]), index=(order,))
    return COOTensor(Tensor._wrap(positions[order].astype(index_dtype)), values, shape)


def csr_add(a: CSRTensor, b: CSRTensor, alpha: Tensor, beta: Tensor) -> CSRTensor:
    """Return ``alpha * a + beta * b``, with an element at each position where one of the two has one.

    Args:
        a: the first, of two axes.
        b: the second, of the same shape.
        alpha: a tensor that broadcasts to ``a``; it is cast to the dtype of the result.
        beta: likewise for ``b``.

    Returns:
        A CSRTensor of the dtype that both are promoted to, with the columns of each row in order.

    Raises:
        TypeError: ``a`` or ``b`` is not a CSRTensor, ``alpha`` or ``beta`` is not a Tensor.
        ValueError: the shapes do not fit, or there are more than two axes.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_sum(a, b, alpha, beta, "csr_add", ("a", "b"))


def csr_mul(x: CSRTensor, y: Operand) -> Any:
    """Return the product of a CSRTensor and a dense tensor, element by element.

    Args:
        x: the CSRTensor.
        y: a tensor that broadcasts to it, or a number.

    Returns:
        A CSRTensor; if ``y`` is a number or a tensor of one element, a tensor of the values alone.

    Raises:
        TypeError: ``x`` is not a CSRTensor, or ``y`` is of another type.
        ValueError: ``y`` does not broadcast to ``x``.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_with_dense(_csr(x, "csr_mul"), _operand(y, "csr_mul"), arithmetic.mul, "csr_mul", "y")


def csr_div(x: CSRTensor, y: Operand) -> Any:
    """Return a CSRTensor divided by a dense tensor, element by element; other elements stay 0.

    Args:
        x: the CSRTensor.
        y: a tensor that broadcasts to it, or a number.

    Returns:
        A CSRTensor; if ``y`` is a number or a tensor of one element, a tensor of the values alone.

    Raises:
        TypeError: ``x`` is not a CSRTensor, or ``y`` is of another type.
        ValueError: ``y`` does not broadcast to ``x``.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_with_dense(_csr(x, "csr_div"), _operand(y, "csr_div"), arithmetic.div, "csr_div", "y")


def _operand(y: object, name: str) -> Any:
    return check_type(y, Tensor | int | float | complex, name, "y", "a Tensor or a number")


def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """Return a CSRTensor times a vector.

    Args:
        csr_tensor: a CSRTensor (rows, columns).
        dense: a tensor (columns, 1).

    Returns:
        A tensor (rows, 1) of the dtype that both are promoted to.

    Raises:
        TypeError: ``csr_tensor`` is not a CSRTensor, or ``dense`` is not a Tensor.
        ValueError: the shapes do not fit.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_times_vector(_csr(csr_tensor, "csr_mv", "csr_tensor"), dense, "csr_mv", "dense")


def csr_mm(
    a: CSRTensor,
    b: CSRTensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> CSRTensor:
    """Return the matrix product of two CSRTensors.

    Args:
        a: the first, of two axes.
        b: the second.
        trans_a: whether the first is transposed.
        trans_b: whether the second is.
        adjoint_a: whether the first is transposed and conjugated.
        adjoint_b: whether the second is.

    Returns:
        A CSRTensor of the dtype that both are promoted to, with an element wherever one of the first meets one of the
        second.

    Raises:
        TypeError: ``a`` or ``b`` is not a CSRTensor, or another argument is not a bool.
        ValueError: the shapes do not fit, or there are more than two axes.
        RuntimeError: rows or columns do not fit the shape.
    """
    flags = {"trans_a": trans_a, "trans_b": trans_b, "adjoint_a": adjoint_a, "adjoint_b": adjoint_b}
    for argument, flag in flags.items():
        check_bool(flag, "csr_mm", argument)
    transposed = trans_a or adjoint_a, trans_b or adjoint_b
    return csr_product(a, b, "csr_mm", ("a", "b"), transposed, (adjoint_a, adjoint_b))


def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """Return the sum of each row of a CSRTensor.

    Args:
        csr_tensor: the CSRTensor.
        axis: 1, or the same axis counted from the end.

    Returns:
        A tensor of its shape, but of length 1 along ``axis``, and of its dtype.

    Raises:
        TypeError: ``csr_tensor`` is not a CSRTensor, or ``axis`` is not an int.
        ValueError: ``axis`` is another one.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_row_sums(_csr(csr_tensor, "csr_reduce_sum", "csr_tensor"), axis, "csr_reduce_sum")


def csr_softmax(logits: CSRTensor, dtype: DTypeLike) -> CSRTensor:
    """Return the softmax of each row over the elements that it has.

    Args:
        logits: a CSRTensor of two axes.
        dtype: the element type of the result: float16, float32 or float64.

    Returns:
        A CSRTensor with the same positions.

    Raises:
        TypeError: ``logits`` is not a CSRTensor, or another ``dtype``.
        ValueError: ``logits`` has more than two axes.
        RuntimeError: rows or columns do not fit the shape.
    """
    x = _csr(logits, "csr_softmax", "logits")
    result_dtype = _float_dtype(dtype, "csr_softmax")
    rows, count = x._places_of_matrix("csr_softmax").rows, x.shape[0]
    values = cast(x.values, float64 if result_dtype == float64 else float32)  # sums in half precision would be rough
    if not x.size:
        return x._with_values(cast(values, result_dtype))
    largest = unsorted_segment_max(stop_gradient(values), Tensor._wrap(rows), count)
    parts = exponentials.exp(arithmetic.sub(values, getitem_operator(largest, index=(rows,))))
    sums = scatter_add_operator(parts, index=(rows,), shape=(count,))
    return x._with_values(cast(arithmetic.div(parts, getitem_operator(sums, index=(rows,))), result_dtype))


def _float_dtype(dtype: DTypeLike, name: str) -> DType:
    try:
        result = dtype_of(numpy_dtype(dtype))
    except (TypeError, ValueError):
        result = None
    if result not in (float16, float32, float64):
        raise TypeError(f"For '{name}', 'dtype' must be float16, float32 or float64, but got {dtype}")
    return result


# Primitives of components


@declare(primitive=prim("SparseTensorDenseMatmul", adjoint_st=False, adjoint_dt=False))
def _times_dense(
    indices: Tensor,
    values: Tensor,
    sparse_shape: Shape,
    dense: Tensor,
    adjoint_st: bool = False,
    adjoint_dt: bool = False,
) -> Tensor:
    """Return a sparse matrix times a dense one.

    Args:
        indices: the positions of the elements of the first, Int32 or Int64 (N, 2).
        values: the elements (N,).
        sparse_shape: the shape of the first, a tuple of two ints or a tensor of them.
        dense: the second, a tensor of two axes and of the dtype of ``values``.
        adjoint_st: whether the first is transposed.
        adjoint_dt: whether the second is.

    Returns:
        A tensor of two axes and of the dtype of ``values``.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the shapes do not fit together, or a position is out of range ``sparse_shape``.
    """
    name = "SparseTensorDenseMatmul"
    check_bool(adjoint_st, name, "adjoint_st")
    check_bool(adjoint_dt, name, "adjoint_dt")
    x, y = _parts(indices, values, sparse_shape, name, 2), check_tensor(dense, name, "dense")
    if x.dtype != y.dtype:
        raise TypeError(f"For '{name}', 'values' and 'dense' must have one dtype, but got {x.dtype} and {y.dtype}")
    try:
        positions = x._places(name)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    if adjoint_dt and y.ndim == 2:
        y = transpose(y, (1, 0))
    return times_dense(x.values, positions.transposed if adjoint_st else positions, y, name, "dense")


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
        TypeError: an argument is of another type.
        ValueError: the shapes do not fit together, or a position is out of range ``sparse_shape``.
    """
    x = _parts(indices, values, sparse_shape, "SparseToDense")
    try:
        index = x._index("SparseToDense")
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    xp = array_module(index[0])
    flat = _flat(index, x.shape)[::-1]
    last = flat.size - 1 - xp.unique(flat, return_index=True)[1]
    selected = tuple([column[last] for column in index])
    return scatter_add_operator(getitem_operator(x.values, index=(last,)), index=selected, shape=x.shape)


@declare(primitive=prim("SparseTensorDenseAdd"))
def _added_to_dense(x1_indices: Tensor, x1_values: Tensor, x1_shape: Shape, x2: Tensor) -> Tensor:
    """Return a sparse tensor added to a dense one.

    Args:
        x1_indices: the positions of the elements, Int32 or Int64 (N, axes).
        x1_values: the elements (N,).
        x1_shape: the shape of the dense tensor, a tuple of ints or a tensor of them.
        x2: a tensor of that shape and of the dtype of ``x1_values``.

    Returns:
        A tensor of the shape and dtype of ``x2``.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the shapes do not fit together.
        RuntimeError: the shapes of the two differ, or a position is out of range.
    """
    name = "SparseTensorDenseAdd"
    x, y = _parts(x1_indices, x1_values, x1_shape, name), check_tensor(x2, name, "x2")
    if x.dtype != y.dtype:
        raise TypeError(f"For '{name}', 'x1_values' and 'x2' must have one dtype, but got {x.dtype} and {y.dtype}")
    if x.shape != y.shape:
        raise RuntimeError(f"For '{name}', the shapes must be equal, but got {x.shape} and {y.shape}")
    return put(y, x.values, x._index(name), "add")


@declare(primitive=prim("SparseSlice"))
def _part(indices: Tensor, values: Tensor, shape: Tensor, start: Tensor, size: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return a block of a sparse tensor: the elements in it, in their order, with their positions in the block.

    Args:
        indices: the positions of the elements, integers (N, axes).
        values: the elements (N,).
        shape: the shape of the dense tensor, integers (axes,).
        start: the beginning of the block on each axis, integers (axes,).
        size: its lengths, integers (axes,); a block that extends over the end is cropped there.

    Returns:
        ``(y_indices, y_values, y_shape)`` of the block.

    Raises:
        TypeError: an argument is not a Tensor, or one of another kind of elements.
        ValueError: the shapes do not fit together, or a position is out of range.
    """
    name, xp = "SparseSlice", array_module(check_tensor(values, "SparseSlice")._array)
    full, begin, lengths = (
        _vector(vector, name, argument) for vector, argument in ((shape, "shape"), (start, "start"), (size, "size"))
    )
    if not full.size == begin.size == lengths.size:
        raise ValueError(
            f"For '{name}', 'shape', 'start' and 'size' must have one length, "
            f"but got {full.size}, {begin.size} and {lengths.size}"
        )
    x = _parts(indices, values, shape, name)
    if bool((begin < 0).any()) or bool((lengths < 0).any()):
        raise ValueError(
            f"For '{name}', 'start' and 'size' must not be negative, but got {begin.tolist()} and {lengths.tolist()}"
        )
    shifted = x.indices._array - begin
    mask = ((shifted >= 0) & (shifted < lengths)).all(axis=1)
    block = xp.minimum(lengths, xp.maximum(full - begin, 0)).astype(full.dtype)
    positions = shifted[mask].astype(x.indices._array.dtype)
    return Tensor._wrap(positions), getitem_operator(x.values, index=(mask,)), Tensor._wrap(block)


def _parts(indices: Tensor, values: Tensor, shape: Shape, name: str, axes: int | None = None) -> SparseTensor:
    return SparseTensor(*check_coo(indices, values, ints_of(shape, name, "shape"), name, axes))
