"""Sums, products and further functions of COO, CSR and row tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_type
from ...base.surfaces import declare, prim
from ...base.types import DTypeLike, Operand, Shape
from ...cpu.array_module import array_module
from ...tensors.dtype import DType, dtype_of, float16, float32, float64, numpy_dtype
from ...tensors.tensor import Tensor
from ..arguments import check_tensor, one_axis
from ..elementwise import arithmetic, exponentials
from ..indexing.scattering import put
from ..indexing.segments import unsorted_segment_max
from ..shapes.concatenation import concat
from ..shapes.conversion import cast
from ..shapes.copying import stop_gradient
from ..shapes.reshape import transpose
from ..shapes.subscripts import getitem_operator, scatter_add_operator
from .construction import (
    check_coo_tensor,
    check_csr_tensor,
    check_int_vector,
    check_row_tensor,
    position_numbers,
    sparse_tensor_of,
)
from .tensors import (
    COOTensor,
    CSRTensor,
    RowTensor,
    check_inside,
    coo_sum,
    csr_product,
    csr_row_sums,
    csr_sum,
    csr_times_vector,
    csr_with_dense,
    times_dense,
)

__all__ = [
    "coalesce",
    "coo_add",
    "coo_concat",
    "csr_add",
    "csr_div",
    "csr_mm",
    "csr_mul",
    "csr_mv",
    "csr_reduce_sum",
    "csr_softmax",
    "row_tensor_add",
]


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
    rows, dense = check_row_tensor(x, "row_tensor_add"), check_tensor(y, "row_tensor_add", "y")
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
    lengths = check_int_vector(x_shape, "coalesce", "x_shape").tolist()
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
    unique, at = position_numbers(index, lengths)
    sums = scatter_add_operator(values, index=(at,), shape=(unique.shape[1],))
    return Tensor._wrap(unique), sums, Tensor._wrap(x_shape._array)


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
        TypeError: ``sp_input`` is of the wrong type, or the dtypes differ.
        ValueError: fewer than two, shapes that do not fit, or ``concat_dim`` out of range.
        RuntimeError: positions are out of range.
    """
    items = check_type(sp_input, list | tuple, "coo_concat", "sp_input", "a list or tuple of COOTensors")
    parts = [check_coo_tensor(COOTensor(*x) if isinstance(x, tuple) else x, "coo_concat", "sp_input") for x in items]
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
        index = part._positions("coo_concat")
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
        TypeError: ``x`` is not a CSRTensor, or ``y`` is of the wrong type.
        ValueError: ``y`` does not broadcast to ``x``.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_with_dense(check_csr_tensor(x, "csr_mul"), _operand(y, "csr_mul"), arithmetic.mul, "csr_mul", "y")


def csr_div(x: CSRTensor, y: Operand) -> Any:
    """Return a CSRTensor divided by a dense tensor, element by element; other elements stay 0.

    Args:
        x: the CSRTensor.
        y: a tensor that broadcasts to it, or a number.

    Returns:
        A CSRTensor; if ``y`` is a number or a tensor of one element, a tensor of the values alone.

    Raises:
        TypeError: ``x`` is not a CSRTensor, or ``y`` is of the wrong type.
        ValueError: ``y`` does not broadcast to ``x``.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_with_dense(check_csr_tensor(x, "csr_div"), _operand(y, "csr_div"), arithmetic.div, "csr_div", "y")


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
    return csr_times_vector(check_csr_tensor(csr_tensor, "csr_mv", "csr_tensor"), dense, "csr_mv", "dense")


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
        ValueError: ``axis`` is not allowed.
        RuntimeError: rows or columns do not fit the shape.
    """
    return csr_row_sums(check_csr_tensor(csr_tensor, "csr_reduce_sum", "csr_tensor"), axis, "csr_reduce_sum")


def csr_softmax(logits: CSRTensor, dtype: DTypeLike) -> CSRTensor:
    """Return the softmax of each row over the elements that it has.

    Args:
        logits: a CSRTensor of two axes.
        dtype: the element type of the result: float16, float32 or float64.

    Returns:
        A CSRTensor with the same positions.

    Raises:
        TypeError: ``logits`` is not a CSRTensor, or an unsupported ``dtype``.
        ValueError: ``logits`` has more than two axes.
        RuntimeError: rows or columns do not fit the shape.
    """
    x = check_csr_tensor(logits, "csr_softmax", "logits")
    result_dtype = _float_dtype(dtype, "csr_softmax")
    rows, count = x._matrix_positions("csr_softmax").rows, x.shape[0]
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
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together, or a position is out of range ``sparse_shape``.
    """
    name = "SparseTensorDenseMatmul"
    check_bool(adjoint_st, name, "adjoint_st")
    check_bool(adjoint_dt, name, "adjoint_dt")
    x, y = sparse_tensor_of(indices, values, sparse_shape, name, 2), check_tensor(dense, name, "dense")
    if x.dtype != y.dtype:
        raise TypeError(f"For '{name}', 'values' and 'dense' must have one dtype, but got {x.dtype} and {y.dtype}")
    try:
        positions = x._positions(name)
    except RuntimeError as error:
        raise ValueError(str(error)) from None
    if adjoint_dt and y.ndim == 2:
        y = transpose(y, (1, 0))
    return times_dense(x.values, positions.transposed if adjoint_st else positions, y, name, "dense")


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
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together.
        RuntimeError: the shapes of the two differ, or a position is out of range.
    """
    name = "SparseTensorDenseAdd"
    x, y = sparse_tensor_of(x1_indices, x1_values, x1_shape, name), check_tensor(x2, name, "x2")
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
        TypeError: an argument is not a Tensor, or one of the wrong kind of elements.
        ValueError: the shapes do not fit together, or a position is out of range.
    """
    name, xp = "SparseSlice", array_module(check_tensor(values, "SparseSlice")._array)
    full, begin, lengths = (
        check_int_vector(vector, name, argument)
        for vector, argument in ((shape, "shape"), (start, "start"), (size, "size"))
    )
    if not full.size == begin.size == lengths.size:
        raise ValueError(
            f"For '{name}', 'shape', 'start' and 'size' must have one length, "
            f"but got {full.size}, {begin.size} and {lengths.size}"
        )
    x = sparse_tensor_of(indices, values, shape, name)
    if bool((begin < 0).any()) or bool((lengths < 0).any()):
        raise ValueError(
            f"For '{name}', 'start' and 'size' must not be negative, but got {begin.tolist()} and {lengths.tolist()}"
        )
    shifted = x.indices._array - begin
    mask = ((shifted >= 0) & (shifted < lengths)).all(axis=1)
    block = xp.minimum(lengths, xp.maximum(full - begin, 0)).astype(full.dtype)
    positions = shifted[mask].astype(x.indices._array.dtype)
    return Tensor._wrap(positions), getitem_operator(x.values, index=(mask,)), Tensor._wrap(block)
