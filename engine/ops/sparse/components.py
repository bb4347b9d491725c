"""Primitive classes of sparse tensors in components: positions, values and shape; and of sets.

The positions are an integer matrix with a row for each value; in results they are Int64 where they are in MindSpore.
Values carry gradients, positions do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, DTypeLike
from ...cpu.array_module import array_module
from ...tensors.backend import to_host
from ...tensors.dtype import int32, int64
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import check_integers, check_same_dtype, check_tensor, ints_of, one_axis
from ..elementwise import arithmetic, exponentials
from ..indexing.scattering import put
from ..indexing.segments import unsorted_segment_max
from ..shapes.concatenation import concat
from ..shapes.copying import stop_gradient
from ..shapes.reshape import broadcast_to, reshape
from ..shapes.subscripts import getitem_operator, scatter_add_operator
from .construction import sparse_tensor_of
from .tensors import SparseTensor, times_dense

__all__: list[str] = []


def _checked(indices: Tensor, values: Tensor, shape: Tensor, name: str, axes: int | None = None) -> SparseTensor:
    """Return the components, which must fit together, with each position in range."""
    result = sparse_tensor_of(indices, values, shape, name, axes)
    result._index(name)
    return result


def _host(x: SparseTensor) -> Array:
    """Return the positions as Int64 in NumPy."""
    return to_host(x.indices._array).astype(np.int64)


def _like(numbers: Array, x: Tensor) -> Tensor:
    """Return integers computed on the host, on the device of ``x`` and in its dtype."""
    return Tensor._wrap(array_module(x._array).asarray(numbers.astype(x._array.dtype)))


def _ints_like(numbers: Sequence[int], x: Tensor) -> Tensor:
    return _like(np.array(numbers, np.int64), x)


def _selection(values: Tensor, order: Array) -> Tensor:
    return getitem_operator(values, index=(array_module(values._array).asarray(order),))


def _summed(values: Tensor, groups: Array, count: int) -> Tensor:
    index = (array_module(values._array).asarray(groups),)
    return scatter_add_operator(values, index=index, shape=(count, *values.shape[1:]))


def _merged(x1: SparseTensor, x2: SparseTensor, name: str) -> tuple[Array, Tensor, Tensor]:
    """Return the positions of both, each once and in order, and the values of each there, 0 for missing ones."""
    if x1.shape != x2.shape:
        raise ValueError(f"For '{name}', the shapes must be equal, but got {x1.shape} and {x2.shape}")
    check_same_dtype(name, x1_values=x1.values, x2_values=x2.values)
    boundary = x1.values.size
    positions, groups = np.unique(np.concatenate([_host(x1), _host(x2)]), axis=0, return_inverse=True)
    groups, count = groups.reshape(-1), len(positions)
    return positions, _summed(x1.values, groups[:boundary], count), _summed(x2.values, groups[boundary:], count)


@declare(primitive=prim("SparseAdd"))
def _sparse_add(
    x1_indices: Tensor,
    x1_values: Tensor,
    x1_shape: Tensor,
    x2_indices: Tensor,
    x2_values: Tensor,
    x2_shape: Tensor,
    thresh: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the sum of two sparse tensors, each position once and in order, without elements that are small.

    Args:
        x1_indices: the positions of the first, integers (N, axes).
        x1_values: its elements (N,).
        x1_shape: its shape, integers (axes,).
        x2_indices: the positions of the second.
        x2_values: its elements, of the same dtype.
        x2_shape: its shape, the same.
        thresh: a 0-d tensor: elements whose absolute value is below it are left out.

    Returns:
        ``(indices, values, shape)`` of the sum.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together, or ``thresh`` has axes.
        RuntimeError: a position is out of range.
    """
    name = "SparseAdd"
    if check_tensor(thresh, name, "thresh").ndim:
        raise ValueError(f"For '{name}', 'thresh' must have no axes, but got shape {thresh.shape}")
    x1, x2 = _checked(x1_indices, x1_values, x1_shape, name), _checked(x2_indices, x2_values, x2_shape, name)
    positions, first, second = _merged(x1, x2, name)
    total = arithmetic.add(first, second)
    selected = np.flatnonzero(~(abs(to_host(total._array)) < to_host(thresh._array)))  # a NaN stays
    return _like(positions[selected], x1_indices), _selection(total, selected), _ints_like(x1.shape, x1_shape)


def _larger_or_smaller(name: str, which: str, choose: Callable[[Tensor, Tensor], Tensor]) -> None:
    def function(
        x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2_indices: Tensor, x2_values: Tensor, x2_shape: Tensor
    ) -> tuple[Tensor, Tensor]:
        x1, x2 = _checked(x1_indices, x1_values, x1_shape, name), _checked(x2_indices, x2_values, x2_shape, name)
        positions, first, second = _merged(x1, x2, name)
        return _like(positions, x1_indices), choose(first, second)

    function.__doc__ = f"""The {which} of two sparse tensors at each place that one of them has; the other counts as 0.

    Args:
        x1_indices: the places of the first, integers (N, axes).
        x1_values: its elements (N,).
        x1_shape: its shape, integers (axes,).
        x2_indices: the places of the second.
        x2_values: its elements, of the same dtype.
        x2_shape: its shape, the same.

    Returns:
        ``(indices, values)``, each place once and in order.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together.
        RuntimeError: a place is outside.
    """
    declare(primitive=prim(name))(function)


_larger_or_smaller("SparseSparseMaximum", "larger", arithmetic.maximum)
_larger_or_smaller("SparseSparseMinimum", "smaller", arithmetic.minimum)


@declare(primitive=prim("SparseConcat", concat_dim=0))
def _sparse_concat(
    sp_input: Sequence[Tensor], values: Sequence[Tensor], shapes: Sequence[Tensor], *, concat_dim: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the concatenation of sparse tensors along an axis; its elements are in order.

    Args:
        sp_input: the positions of each, tensors of integers (N, axes).
        values: the elements of each, tensors (N,) of one dtype.
        shapes: the shape of each, tensors of integers (axes,).
        concat_dim: the axis.

    Returns:
        ``(indices, values, shape)`` of the result.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the components do not fit together, or the axis does not exist.
        RuntimeError: the shapes differ along a different axis, or a position is out of range.
    """
    name = "SparseConcat"
    for argument, tensors in (("sp_input", sp_input), ("values", values), ("shapes", shapes)):
        if len(check_type(tensors, list | tuple, name, argument, "a tuple of Tensors")) != len(sp_input) or not tensors:
            raise ValueError(f"For '{name}', there must be as many '{argument}' as 'sp_input', but got {len(tensors)}")
    parts = [_checked(*part, name) for part in zip(sp_input, values, shapes, strict=True)]
    check_same_dtype(name, **{f"values[{i}]": part.values for i, part in enumerate(parts)})
    first_shape = parts[0].shape
    axis = one_axis(concat_dim, len(first_shape), name)
    offset, blocks = 0, []
    for part in parts:
        if part.shape[:axis] + part.shape[axis + 1 :] != first_shape[:axis] + first_shape[axis + 1 :]:
            raise RuntimeError(
                f"For '{name}', the shapes must agree but along axis {axis}, but got {first_shape} and {part.shape}"
            )
        shifted = _host(part)
        shifted[:, axis] += offset
        blocks.append(shifted)
        offset += part.shape[axis]
    positions = np.concatenate(blocks)
    order = np.lexsort(positions.T[::-1])
    shape = (*first_shape[:axis], offset, *first_shape[axis + 1 :])
    elements = concat(tuple(part.values for part in parts))
    return _like(positions[order], sp_input[0]), _selection(elements, order), _ints_like(shape, shapes[0])


@declare(primitive=prim("SparseReorder"))
def _sparse_reorder(indices: Tensor, values: Tensor, shape: Tensor) -> tuple[Tensor, Tensor]:
    """Return the elements of a sparse tensor in the order of their positions.

    Args:
        indices: the positions, integers (N, axes).
        values: the elements (N,).
        shape: the shape of the dense tensor, integers (axes,).

    Returns:
        ``(indices, values)`` in order.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together.
        RuntimeError: a position is out of range.
    """
    x = _checked(indices, values, shape, "SparseReorder")
    positions = _host(x)
    order = np.lexsort(positions.T[::-1])
    return _like(positions[order], indices), _selection(x.values, order)


@declare(primitive=prim("SparseReshape"))
def _sparse_reshape(indices: Tensor, shape: Tensor, new_shape: Tensor) -> tuple[Tensor, Tensor]:
    """Return the positions of a sparse tensor in a different shape of as many elements.

    Args:
        indices: the positions, integers (N, axes).
        shape: the shape of the dense tensor, integers (axes,).
        new_shape: the new shape, integers (new axes,), one of them -1 for the remaining length.

    Returns:
        ``(indices, shape)`` in the new shape.

    Raises:
        TypeError: an argument does not hold integers.
        ValueError: the components do not fit together, or there are two -1.
        RuntimeError: the new shape has the wrong number of elements, or a position is out of range.
    """
    name = "SparseReshape"
    lengths, new_lengths = ints_of(shape, name, "shape"), list(ints_of(new_shape, name, "new_shape"))
    positions = to_host(check_integers(indices, name, "indices")._array)
    if positions.ndim != 2 or positions.shape[1] != len(lengths):
        raise ValueError(f"For '{name}', 'indices' must be (N, {len(lengths)}), but got shape {positions.shape}")
    if new_lengths.count(-1) > 1:
        raise ValueError(f"For '{name}', 'new_shape' must have one -1 at most, but got {new_lengths}")
    if len(positions) and ((positions < 0).any() or (positions >= lengths).any()):
        raise RuntimeError(f"For '{name}', 'indices' must be inside {lengths}, but got {positions.tolist()}")
    count = int(np.prod(lengths))
    product = int(np.prod([n for n in new_lengths if n != -1]))
    if -1 in new_lengths and product and not count % product:
        new_lengths[new_lengths.index(-1)] = count // product
    if int(np.prod(new_lengths)) != count or min(new_lengths, default=0) < 0:
        raise RuntimeError(f"For '{name}', 'new_shape' must have {count} elements, but got {new_lengths}")
    flat = np.ravel_multi_index(tuple(positions.T), lengths) if len(positions) else np.zeros(0, np.int64)
    result = np.stack(np.unravel_index(flat, new_lengths), 1)
    return _like(result, indices), _ints_like(new_lengths, shape)


@declare(primitive=prim("SparseFillEmptyRows"))
def _fill_empty_rows(
    indices: Tensor, values: Tensor, dense_shape: Tensor, default_value: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return a sparse matrix with an element at the beginning of each row that has none.

    Args:
        indices: the positions, integers (N, 2).
        values: the elements (N,).
        dense_shape: the shape of the dense tensor, integers (2,).
        default_value: the element to insert, a tensor without axes of the dtype of ``values``.

    Returns:
        ``(indices, values, empty_row_indicator, reverse_index_map)``: row by row, which rows were empty, and the new
        position of each given element.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the components do not fit together, or ``default_value`` has axes.
        RuntimeError: a position is out of range.
    """
    name = "SparseFillEmptyRows"
    x = _checked(indices, values, dense_shape, name, 2)
    check_same_dtype(name, values=x.values, default_value=check_tensor(default_value, name, "default_value"))
    if default_value.ndim:
        raise ValueError(f"For '{name}', 'default_value' must have no axes, but got shape {default_value.shape}")
    positions = _host(x)
    empty = np.bincount(positions[:, 0], minlength=x.shape[0]) == 0
    rows = np.flatnonzero(empty)
    all_positions = np.concatenate([positions, np.stack([rows, np.zeros_like(rows)], 1)])
    order = np.argsort(all_positions[:, 0], kind="stable")
    elements = concat((x.values, broadcast_to(reshape(default_value, (1,)), (len(rows),))))
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    xp = array_module(x.values._array)
    return (
        _like(all_positions[order], indices),
        _selection(elements, order),
        Tensor._wrap(xp.asarray(empty)),
        Tensor._wrap(xp.asarray(inverse[: len(positions)])),
    )


@declare(primitive=prim("SparseSoftmax"))
def _sparse_softmax(indices: Tensor, values: Tensor, shape: Tensor) -> Tensor:
    """Return the softmax along the last axis over the elements that a sparse tensor has.

    Args:
        indices: the positions, integers (N, axes), two axes or more.
        values: the elements (N,), of Float32 or Float64.
        shape: the shape of the dense tensor, integers (axes,).

    Returns:
        The new elements (N,).

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together.
        RuntimeError: a position is out of range.
    """
    name = "SparseSoftmax"
    x = _checked(indices, values, shape, name)
    if x.values._array.dtype not in (np.float32, np.float64):
        raise TypeError(f"For '{name}', 'values' must be Float32 or Float64, but got {x.values.dtype}")
    if len(x.shape) < 2:
        raise ValueError(f"For '{name}', 'shape' must have at least 2 axes, but got {x.shape}")
    groups = np.unique(_host(x)[:, :-1], axis=0, return_inverse=True)[1].reshape(-1)
    return softmax_of_groups(x.values, groups)


def softmax_of_groups(values: Tensor, groups: Array) -> Tensor:
    """Return the softmax over the elements of each group.

    Args:
        values: a vector of floating numbers.
        groups: the group of each, ints in NumPy.
    """
    if not values.size:
        return values
    count, index = int(groups.max()) + 1, array_module(values._array).asarray(groups)
    largest = unsorted_segment_max(stop_gradient(values), Tensor._wrap(index), count)
    parts = exponentials.exp(arithmetic.sub(values, getitem_operator(largest, index=(index,))))
    return arithmetic.div(parts, getitem_operator(_summed(parts, groups, count), index=(index,)))


def _with_dense(name: str, what: str, combine: Callable[[Tensor, Tensor], Tensor]) -> None:
    def function(x1_indices: Tensor, x1_values: Tensor, x1_shape: Tensor, x2: Tensor) -> Tensor:
        x = _checked(x1_indices, x1_values, x1_shape, name)
        check_same_dtype(name, x1_values=x.values, x2=check_tensor(x2, name, "x2"))
        try:
            dense = broadcast_to(x2, x.shape)
        except ValueError:
            raise ValueError(f"For '{name}', 'x2' must broadcast to {x.shape}, but got {x2.shape}") from None
        return combine(x.values, getitem_operator(dense, index=x._index(name)))

    function.__doc__ = f"""{what} the elements of a dense tensor at the places of a sparse one.

    Args:
        x1_indices: the places of the sparse tensor, integers (N, axes).
        x1_values: its elements (N,).
        x1_shape: its shape, integers (axes,).
        x2: a dense tensor that broadcasts to that shape, of the same dtype.

    Returns:
        The new elements (N,).

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the parts do not fit together, or ``x2`` does not broadcast.
        RuntimeError: a place is outside.
    """
    declare(primitive=prim(name))(function)


_with_dense("SparseDenseCwiseAdd", "Adds", arithmetic.add)
_with_dense("SparseDenseCwiseMul", "Multiplies by", arithmetic.mul)


@declare(primitive=prim("SparseToDenseV2", validate_indices=True))
def _sparse_to_dense(
    indices: Tensor, output_shape: Tensor, values: Tensor, default_value: Tensor, *, validate_indices: bool
) -> Tensor:
    """Return a sparse tensor as a dense one.

    Args:
        indices: the positions of the elements, Int32 or Int64: (N, axes), or (N,) for one axis.
        output_shape: the shape of the dense tensor, integers (axes,).
        values: the elements, a tensor (N,).
        default_value: the element at the other positions, a tensor without axes of the dtype of ``values``.
        validate_indices: whether the positions must be in order, each once; otherwise the last element of one is kept.

    Returns:
        A tensor of ``output_shape`` and of the dtype of ``values``.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the components do not fit together, the positions are out of order, or ``default_value`` has axes.
        RuntimeError: a position is out of range.
    """
    name = "SparseToDenseV2"
    check_bool(validate_indices, name, "validate_indices")
    index_tensor = check_integers(indices, name, "indices")
    x = _checked(reshape(index_tensor, (-1, 1)) if index_tensor.ndim < 2 else index_tensor, values, output_shape, name)
    check_same_dtype(name, values=x.values, default_value=check_tensor(default_value, name, "default_value"))
    if default_value.ndim:
        raise ValueError(f"For '{name}', 'default_value' must have no axes, but got shape {default_value.shape}")
    positions = _host(x)
    flat = np.ravel_multi_index(tuple(positions.T), x.shape) if len(positions) else np.zeros(0, np.int64)
    if validate_indices and (flat[1:] <= flat[:-1]).any():
        raise ValueError(f"For '{name}', 'indices' must be in order, each once, but got {positions.tolist()}")
    last = len(flat) - 1 - np.unique(flat[::-1], return_index=True)[1]
    index = tuple(array_module(x.values._array).asarray(column) for column in positions[last].T)
    return put(broadcast_to(default_value, x.shape), _selection(x.values, last), index)


@declare(primitive=prim("SparseCountSparseOutput", binary_output=False, minlength=-1, maxlength=-1))
def _count(
    indices: Tensor,
    values: Tensor,
    dense_shape: Tensor,
    weights: Tensor,
    *,
    binary_output: bool,
    minlength: int,
    maxlength: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return how often each number occurs among the elements of each row of a sparse matrix.

    Args:
        indices: the positions, Int64 (N, 2).
        values: the numbers (N,), integers from 0 on.
        dense_shape: the shape of the matrix, Int64 (2,).
        weights: the weight of each of them, a tensor (N,); an empty one for 1.
        binary_output: whether the count of a number that occurs is 1.
        minlength: the least number of columns of the result; -1 for none.
        maxlength: numbers from this one on are ignored; -1 for no limit.

    Returns:
        ``(indices, values, shape)`` of a sparse matrix (rows, numbers), the values in the dtype of ``weights``.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together, or ``values`` are negative.
        RuntimeError: a position is out of range.
    """
    name = "SparseCountSparseOutput"
    check_bool(binary_output, name, "binary_output")
    least, most = check_int(minlength, name, "minlength"), check_int(maxlength, name, "maxlength")
    x = _checked(indices, values, dense_shape, name, 2)
    numbers, factors = to_host(check_integers(values, name, "values")._array), check_tensor(weights, name, "weights")
    if factors.size and factors.shape != x.values.shape:
        raise ValueError(f"For '{name}', 'weights' must have the shape {x.values.shape}, but got {factors.shape}")
    if (numbers < 0).any():
        raise ValueError(f"For '{name}', 'values' must not be negative, but got {numbers.tolist()}")
    width = most if most >= 0 else max(int(numbers.max(initial=-1)) + 1, least)
    selected = np.flatnonzero(numbers < width)
    pairs = np.stack([_host(x)[selected, 0], numbers[selected].astype(np.int64)], 1)
    entries, groups = np.unique(pairs, axis=0, return_inverse=True)
    xp = array_module(factors._array)
    if binary_output or not factors.size:
        units = Tensor._wrap(xp.ones(len(selected), factors._array.dtype))
        total = _summed(units, groups.reshape(-1), len(entries))
        if binary_output:
            total = constant(xp.ones(len(entries), factors._array.dtype))
    else:
        total = _summed(_selection(factors, selected), groups.reshape(-1), len(entries))
    return _like(entries, indices), total, _ints_like((x.shape[0], width), dense_shape)


@declare(primitive=prim("SparseAddmm"))
def _sparse_addmm(
    indices: Tensor,
    values: Tensor,
    sparse_shape: Tensor,
    x2_dense: Tensor,
    x3_dense: Tensor,
    alpha: Tensor,
    beta: Tensor,
) -> Tensor:
    """Return alpha * (x1 @ x2) + beta * x3, where x1 is a sparse matrix.

    Args:
        indices: the positions of x1, integers (N, 2).
        values: its elements (N,).
        sparse_shape: its shape, integers (2,).
        x2_dense: x2, a matrix of the dtype of ``values``.
        x3_dense: x3, likewise, of the shape of the product.
        alpha: a tensor of one element of that dtype.
        beta: likewise.

    Returns:
        A matrix of that dtype.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together.
        RuntimeError: a position is out of range.
    """
    name = "SparseAddmm"
    x1 = _checked(indices, values, sparse_shape, name, 2)
    _check_factors(name, x1.values, x2_dense, x3_dense, alpha, beta)
    product = times_dense(x1.values, x1._positions(name), x2_dense, name, "x2_dense")
    if x3_dense.shape != product.shape:
        raise ValueError(f"For '{name}', 'x3_dense' must have the shape {product.shape}, but got {x3_dense.shape}")
    return arithmetic.add(arithmetic.mul(reshape(alpha, ()), product), arithmetic.mul(reshape(beta, ()), x3_dense))


def _check_factors(name: str, values: Tensor, x2: Tensor, x3: Tensor, alpha: Tensor, beta: Tensor) -> None:
    check_same_dtype(
        name,
        x1_values=values,
        x2=check_tensor(x2, name, "x2"),
        x3=check_tensor(x3, name, "x3_dense"),
        alpha=check_tensor(alpha, name, "alpha"),
        beta=check_tensor(beta, name, "beta"),
    )
    for argument, number in (("alpha", alpha), ("beta", beta)):
        if number.size != 1:
            raise ValueError(f"For '{name}', '{argument}' must have one element, but got shape {number.shape}")


@declare(primitive=prim("Sspaddmm"))
def _sspaddmm(
    x1_indices: Tensor,
    x1_values: Tensor,
    x1_shape: Tensor,
    x2_indices: Tensor,
    x2_values: Tensor,
    x2_shape: Tensor,
    x3_dense: Tensor,
    alpha: Tensor,
    beta: Tensor,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return beta * x1 + alpha * (x2 @ x3) as a sparse matrix, with x1 and x2 sparse; positions may repeat.

    Args:
        x1_indices: the positions of x1, integers (2, N): here the first row has the rows, the second the columns.
        x1_values: its elements (N,).
        x1_shape: its shape, integers (2,).
        x2_indices: the positions of x2, likewise.
        x2_values: its elements, of the same dtype.
        x2_shape: its shape.
        x3_dense: x3, a matrix of the same dtype.
        alpha: a tensor of one element of that dtype.
        beta: likewise.

    Returns:
        ``(indices, values, shape)``: the elements of beta * x1, then those of the rows in which x2 has any.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together.
        RuntimeError: a position is out of range.
    """
    name = "Sspaddmm"
    transposed = [
        Tensor._wrap(check_integers(indices, name, argument)._array.T)
        for argument, indices in (("x1_indices", x1_indices), ("x2_indices", x2_indices))
    ]
    x1, x2 = (
        _checked(transposed[0], x1_values, x1_shape, name, 2),
        _checked(transposed[1], x2_values, x2_shape, name, 2),
    )
    check_same_dtype(name, x1_values=x1.values, x2_values=x2.values)
    _check_factors(name, x1.values, x2.values, x3_dense, alpha, beta)
    if x3_dense.ndim != 2 or x2.shape[1] != x3_dense.shape[0] or x1.shape != (x2.shape[0], x3_dense.shape[1]):
        raise ValueError(
            f"For '{name}', the shapes must be (n, k), (n, m) and (m, k), but got {x1.shape}, {x2.shape} and "
            f"{x3_dense.shape}"
        )
    first, second, width = _host(x1), _host(x2), x1.shape[1]
    rows, begins, groups = np.unique(second[:, 0], return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(begins))  # rows are in the order of their first occurrence
    positions = np.stack([np.repeat(rows[np.argsort(begins)], width), np.tile(np.arange(width), len(rows))], 1)
    products = arithmetic.mul(reshape(x2.values, (-1, 1)), _selection(x3_dense, second[:, 1]))
    sums = _summed(products, rank[groups.reshape(-1)], len(rows))
    values = concat(
        (arithmetic.mul(x1.values, reshape(beta, ())), reshape(arithmetic.mul(sums, reshape(alpha, ())), (-1,)))
    )
    return _like(np.concatenate([first, positions]).T, x1_indices), values, _ints_like(x1.shape, x1_shape)


# Sets: distinct elements along the last axis


@declare(primitive=prim("SetSize", validate_indices=True))
def _set_size(set_indices: Tensor, set_values: Tensor, set_shape: Tensor, *, validate_indices: bool) -> Tensor:
    """Return the number of distinct elements in each row of a sparse tensor, along its last axis.

    Args:
        set_indices: the positions, Int64 (N, axes), two axes or more.
        set_values: the elements (N,), integers.
        set_shape: the shape of the dense tensor, Int64 (axes,).
        validate_indices: whether positions must be inside the shape, which they must in any case.

    Returns:
        Int32 of the shape without its last axis.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the components do not fit together.
        RuntimeError: a position is out of range.
    """
    name = "SetSize"
    check_bool(validate_indices, name, "validate_indices")
    x = _checked(set_indices, check_integers(set_values, name, "set_values"), set_shape, name)
    if len(x.shape) < 2:
        raise ValueError(f"For '{name}', 'set_shape' must have at least 2 axes, but got {x.shape}")
    sizes = np.zeros(x.shape[:-1], np.int32)
    pairs = np.concatenate([_host(x)[:, :-1], to_host(x.values._array).astype(np.int64)[:, None]], 1)
    np.add.at(sizes, tuple(np.unique(pairs, axis=0)[:, :-1].T), 1)
    return Tensor._wrap(array_module(set_values._array).asarray(sizes))


_SET_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "a-b": np.setdiff1d,
    "b-a": lambda a, b: np.setdiff1d(b, a),
    "intersection": np.intersect1d,
    "union": np.union1d,
}


@declare(primitive=prim("DenseToDenseSetOperation", set_operation="a-b", validate_indices=True))
def _set_operation(
    x1: Tensor, x2: Tensor, *, set_operation: str, validate_indices: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the elements that two tensors have in common, or not, row by row along the last axis.

    Args:
        x1: integers with at least two axes; repeated elements count once.
        x2: the other tensor, of the same dtype and of the same lengths except along the last axis.
        set_operation: "a-b", "b-a", "intersection" or "union"; upper case counts as lower case.
        validate_indices: accepted for MindSpore: dense tensors have no positions to check.

    Returns:
        ``(indices, values, shape)`` of a sparse tensor: the elements of each row in order, and the longest length.

    Raises:
        TypeError: an argument is of the wrong type, or the dtypes differ.
        ValueError: the shapes do not fit together, or an unknown ``set_operation``.
    """
    name = "DenseToDenseSetOperation"
    check_bool(validate_indices, name, "validate_indices")
    operation = check_type(set_operation, str, name, "set_operation").lower()
    if operation not in _SET_OPERATIONS:
        raise ValueError(
            f"For '{name}', 'set_operation' must be one of {list(_SET_OPERATIONS)}, but got {set_operation!r}"
        )
    check_same_dtype(name, x1=check_integers(x1, name, "x1"), x2=check_integers(x2, name, "x2"))
    if x1.ndim < 2 or x1.shape[:-1] != x2.shape[:-1]:
        raise ValueError(
            f"For '{name}', 'x1' and 'x2' must have at least 2 axes, and one shape but for the last, but got "
            f"{x1.shape} and {x2.shape}"
        )
    first, second = to_host(x1._array), to_host(x2._array)
    positions, values = [], []
    longest = 0
    for row in np.ndindex(x1.shape[:-1]):
        elements = _SET_OPERATIONS[operation](first[row], second[row])
        positions += [(*row, i) for i in range(len(elements))]
        values.append(elements)
        longest = max(longest, len(elements))
    xp = array_module(x1._array)
    indices = np.array(positions, np.int64).reshape(-1, x1.ndim)
    flat = np.concatenate([np.zeros(0, first.dtype), *values])
    return (
        Tensor._wrap(xp.asarray(indices)),
        Tensor._wrap(xp.asarray(flat)),
        Tensor._wrap(xp.asarray(np.array((*x1.shape[:-1], longest), np.int64))),
    )


@declare(primitive=prim("RaggedTensorToSparse", "Tsplits"))
def _ragged_to_sparse(
    rt_nested_splits: Sequence[Tensor], rt_dense_values: Tensor, *, Tsplits: DTypeLike
) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows of different lengths as a sparse tensor.

    Args:
        rt_nested_splits: for each axis whose rows differ, from the outermost on, where each row begins among those of
            the next, and where the last one ends: vectors of integers.
        rt_dense_values: the elements, or, with more axes, blocks of one shape.
        Tsplits: the dtype of ``rt_nested_splits``, int32 or int64.

    Returns:
        ``(indices, values, shape)`` of the sparse tensor, indices and shape in Int64.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: rows do not begin at 0, rise, and end where the next axis does.
    """
    name = "RaggedTensorToSparse"
    if Tsplits not in (int32, int64):
        raise TypeError(f"For '{name}', 'Tsplits' must be int32 or int64, but got {Tsplits}")
    values = check_tensor(rt_dense_values, name, "rt_dense_values")
    tensors = check_type(rt_nested_splits, list | tuple, name, "rt_nested_splits", "a tuple of Tensors")
    splits = [to_host(check_integers(split, name, "rt_nested_splits")._array).astype(np.int64) for split in tensors]
    lengths = [*(len(split) - 1 for split in splits[1:]), values.shape[0] if values.ndim else 0]
    for split, length in zip(splits, lengths, strict=True):
        if split.ndim != 1 or split[0] != 0 or split[-1] != length or (split[1:] < split[:-1]).any():
            raise ValueError(f"For '{name}', 'rt_nested_splits' must rise from 0 to {length}, but got {split.tolist()}")
    if not splits:
        raise ValueError(f"For '{name}', 'rt_nested_splits' must have at least one Tensor, but got none")
    columns = np.arange(len(splits[0]) - 1)[:, None]
    shape = [len(splits[0]) - 1]
    for split in splits:
        counts = np.diff(split)
        inner = np.arange(split[-1]) - np.repeat(split[:-1], counts)
        columns = np.concatenate([np.repeat(columns, counts, axis=0), inner[:, None]], 1)
        shape.append(int(counts.max(initial=0)))
    block = values.shape[1:]
    inside = np.stack([split.reshape(-1) for split in np.indices(block)], 1) if block else np.zeros((1, 0), np.int64)
    indices = np.concatenate([np.repeat(columns, len(inside), axis=0), np.tile(inside, (len(columns), 1))], 1)
    xp = array_module(values._array)
    return (
        Tensor._wrap(xp.asarray(indices.astype(np.int64))),
        reshape(values, (-1,)),
        Tensor._wrap(xp.asarray(np.array([*shape, *block], np.int64))),
    )
