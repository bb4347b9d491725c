"""Sparse tensors: ``COOTensor``, ``CSRTensor``, ``RowTensor`` and the older name ``SparseTensor``.

Each has its values in a tensor with gradients, and integers that give their positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ...base.argument_checks import check_type
from ...base.module_names import name_methods
from ...base.types import AnyDType, Array, Functions, Number, Value
from ...cpu.array_module import array_module
from ...cpu.arrays.sparse import Positions, element_product, matrix_product, merged, offsets, product_positions
from ...tensors.dtype import DType, promote
from ...tensors.nested import Sparse
from ...tensors.operator import Operator
from ...tensors.printing import part_repr
from ...tensors.tensor import Tensor
from ..arguments import check_tensor
from ..elementwise import arithmetic, complex_numbers
from ..indexing.scattering import put
from ..shapes import broadcasting
from ..shapes.broadcasting import as_dtype, operands
from ..shapes.concatenation import concat
from ..shapes.reshape import reshape
from ..shapes.subscripts import getitem_operator, scatter_add_operator

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]

_INTEGERS = ("int16", "int32", "int64")


# Products


def _by_values(F: Functions, g: Value, out: Value, values: Value, dense: Value, positions: Positions) -> Any:
    products = F.getitem(g, index=(positions.rows,)) * F.getitem(dense, index=(positions.columns,))
    return F.sum(products, axis=(1,), keepdims=False)


_matrix_product = Operator(
    "sparse_matrix_product",
    matrix_product,
    (
        _by_values,
        lambda F, g, out, values, dense, positions: F.sparse_matrix_product(values, g, positions=positions.transposed),
    ),
)
# Closed under differentiation: the gradient of a factor is the product with the other, at the positions of the first.
_element_product = Operator(
    "sparse_element_product",
    element_product,
    (
        lambda F, g, out, x, y, x_positions, y_positions, positions: F.sparse_element_product(
            g, y, x_positions=positions, y_positions=y_positions.transposed, positions=x_positions
        ),
        lambda F, g, out, x, y, x_positions, y_positions, positions: F.sparse_element_product(
            x, g, x_positions=x_positions.transposed, y_positions=positions, positions=y_positions
        ),
    ),
)


def times_dense(values: Tensor, positions: Positions, dense: Tensor, name: str, argument: str) -> Tensor:
    """Return a sparse matrix times a dense one, in the dtype that both are promoted to.

    Args:
        values: the elements of the sparse matrix.
        positions: their positions.
        dense: the second factor.
        name: of the function, for errors.
        argument: the name of the second factor, for errors.

    Returns:
        A tensor (rows of the first, columns of the second).

    Raises:
        ValueError: ``dense`` does not have 2 axes, or its rows are not as many as the first matrix's columns.
    """
    if dense.ndim != 2 or dense.shape[0] != positions.shape[1]:
        raise ValueError(
            f"For '{name}', '{argument}' must have 2 axes, the first of length {positions.shape[1]}, "
            f"but got shape {dense.shape}"
        )
    x, y = operands(name, values, dense)
    return _matrix_product(x, y, positions=positions)


# Checks


def _check_shape(name: str, shape: object, axes: int | None) -> tuple[int, ...]:
    if not isinstance(shape, tuple) or not all(isinstance(n, int) and not isinstance(n, bool) for n in shape):
        raise TypeError(f"For '{name}', 'shape' must be a tuple of ints, but got {shape!r}")
    if any(n <= 0 for n in shape):
        raise ValueError(f"For '{name}', 'shape' must have lengths above 0, but got {shape}")
    if axes is not None and len(shape) != axes:
        raise ValueError(f"For '{name}', 'shape' must have {axes} axes, but got {shape}")
    return shape


def _check_integers(x: object, name: str, argument: str) -> Tensor:
    tensor = check_tensor(x, name, argument)
    if tensor._array.dtype.name not in _INTEGERS:
        raise TypeError(f"For '{name}', '{argument}' must hold Int16, Int32 or Int64, but got {tensor.dtype}")
    return Tensor._wrap(tensor._array)


def _check_alone(name: str, other: str, *parts: object) -> None:
    if any(part is not None for part in parts):
        raise TypeError(f"For '{name}', '{other}' must be given alone, but got other arguments beside it")


def check_coo(
    indices: object, values: object, shape: object, name: str, axes: int | None
) -> tuple[Tensor, Tensor, tuple[int, ...]]:
    """Return the components of a COOTensor, checked.

    Args:
        indices: a row of integers for each element.
        values: the elements.
        shape: of the dense tensor.
        name: of the function or class, for errors.
        axes: the number of axes; None for any number.

    Returns:
        Indices, values and shape.

    Raises:
        TypeError: a component is of the wrong type.
        ValueError: the shapes do not fit together.
    """
    positions, elements = check_tensor(indices, name, "indices"), check_tensor(values, name, "values")
    lengths = _check_shape(name, shape, axes)
    if elements.ndim != 1 or positions.shape != (elements.size, len(lengths)):
        raise ValueError(
            f"For '{name}', 'indices' must have a row of {len(lengths)} for each of the vector 'values', "
            f"but got shapes {positions.shape} and {elements.shape}"
        )
    if elements.size > math.prod(lengths):
        raise ValueError(f"For '{name}', 'shape' {lengths} is too small for {elements.size} values")
    return _check_integers(positions, name, "indices"), elements, lengths


def check_inside(index: Array, length: int, name: str, argument: str = "indices") -> None:
    """Check positions along an axis, which count from its beginning only.

    Args:
        index: an integer array.
        length: of the axis.
        name: of the function or class, for the error.
        argument: their name in the error.

    Raises:
        RuntimeError: a position is not in [0, length).
    """
    if index.size and (int(index.min()) < 0 or int(index.max()) >= length):
        raise RuntimeError(f"For '{name}', '{argument}' must be in [0, {length}), but got {index.min()}..{index.max()}")


def rows_of(indptr: Array, count: int, name: str) -> Array:
    """Return the row of each element, for elements in row order.

    Args:
        indptr: where each row begins, and where the last one ends.
        count: the number of elements.
        name: of the function or class, for the error.

    Returns:
        An array of ``count`` rows in the dtype of ``indptr``.

    Raises:
        RuntimeError: ``indptr`` does not rise from 0 to ``count``.
    """
    xp = array_module(indptr)
    if int(indptr[0]) != 0 or int(indptr[-1]) != count or bool((indptr[1:] < indptr[:-1]).any()):
        raise RuntimeError(f"For '{name}', 'indptr' must rise from 0 to {count}, but got {indptr.tolist()}")
    return xp.searchsorted(indptr[1:], xp.arange(count, dtype=indptr.dtype), side="right").astype(indptr.dtype)


# Shared base

M = TypeVar("M", bound="_Matrix")


class _Matrix(Sparse):
    """Base of COOTensor and CSRTensor."""

    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor that it represents."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The element type of the values."""
        return self._values.dtype

    @property
    def size(self) -> int:
        """The number of stored elements."""
        return self._values.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._values.itemsize

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    def _parts(self) -> dict[str, Tensor]:
        """Return its tensors, by name."""
        raise NotImplementedError

    def _positions(self, name: str) -> Positions:
        """Return the positions of its elements; ``name`` is that of the function, for errors."""
        raise NotImplementedError

    def __repr__(self) -> str:
        kind = "COOTensor" if isinstance(self, COOTensor) else type(self).__name__
        return _text(kind, self._shape, self._parts())

    def astype(self: M, dtype: AnyDType) -> M:
        """Return the same positions with values of another element type.

        Args:
            dtype: the element type.

        Returns:
            A sparse tensor of the same kind.

        Raises:
            TypeError: ``dtype`` is not a dtype.
        """
        return self._with_values(self.values.astype(dtype))

    def abs(self: M) -> M:
        """Return the absolute values, at the same positions.

        Returns:
            A sparse tensor of the same kind.
        """
        return self._with_values(arithmetic.abs(self.values))

    def __neg__(self: M) -> M:
        return self._with_values(arithmetic.neg(self.values))

    def _check_same_shape(self, other: Tensor | _Matrix, name: str) -> None:
        if self._shape != other.shape:
            raise ValueError(f"For '{name}', the shapes must be equal, but got {self._shape} and {other.shape}")

    def _picked(self, dense: Tensor, name: str, argument: str) -> Tensor:
        """Return the elements of a dense tensor, which broadcasts to this one's shape, at this one's positions."""
        lengths = (1,) * (self.ndim - dense.ndim) + dense.shape
        fits = dense.ndim <= self.ndim and all(n in (1, m) for n, m in zip(lengths, self._shape, strict=False))
        if not fits:
            raise ValueError(
                f"For '{name}', '{argument}' must broadcast to the shape {self._shape}, but got shape {dense.shape}"
            )
        positions = self._positions(name)
        index = tuple(
            [i if n > 1 else i * 0 for i, n in zip((positions.rows, positions.columns), lengths, strict=False)]
        )
        return getitem_operator(reshape(dense, lengths), index=index)


def _text(kind: str, shape: tuple[int, ...], parts: dict[str, Tensor]) -> str:
    components = ", ".join(f"{name}={part_repr(part._array, part.dtype)}" for name, part in parts.items())
    return f"{kind}(shape={list(shape)}, dtype={parts['values'].dtype}, {components})"


class COOTensor(_Matrix):
    """A matrix with a few stored elements: the position of each, a row and a column, and its value.

    Elements at one position are summed; all others are 0. With ``coo_tensor`` alone it is a copy of that.

    Args:
        indices: a tensor (N, 2) of Int16, Int32 or Int64: the position of each element. Positions outside ``shape`` are
            an error once they are used.
        values: a tensor (N,): the elements, which carry gradients.
        shape: the two lengths of the matrix, a tuple of ints.
        coo_tensor: the COOTensor to copy.

    Raises:
        TypeError: an argument is of the wrong type, or ``coo_tensor`` is not alone.
        ValueError: ``shape`` does not have two lengths above 0, or the shapes do not fit together.
    """

    _axes: int | None = 2

    def __init__(
        self,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        coo_tensor: COOTensor | None = None,
    ) -> None:
        name = type(self).__name__
        if coo_tensor is not None:
            check_type(coo_tensor, COOTensor, name, "coo_tensor")
            _check_alone(name, "coo_tensor", indices, values, shape)
            indices, values, shape = coo_tensor.to_tuple()
        self._indices, elements, self._shape = check_coo(indices, values, shape, name, self._axes)
        super().__init__(elements)

    @property
    def indices(self) -> Tensor:
        """The position of each element, a row of a tensor (N, 2)."""
        return Tensor._wrap(self._indices._array)

    def _parts(self) -> dict[str, Tensor]:
        return {"indices": self._indices, "values": self._values}

    def _index(self, name: str) -> tuple[Array, ...]:
        array = self._indices._array
        for axis, length in enumerate(self._shape):
            check_inside(array[:, axis], length, name)
        return tuple([array[:, axis] for axis in range(self.ndim)])

    def _positions(self, name: str) -> Positions:
        if self.ndim != 2:
            raise ValueError(f"For '{name}', a sparse tensor must have 2 axes, but got shape {self._shape}")
        rows, columns = self._index(name)
        return Positions(rows, columns, (self._shape[0], self._shape[1]))

    def to_tuple(self) -> tuple[Tensor, Tensor, tuple[int, ...]]:
        """Return its components.

        Returns:
            ``(indices, values, shape)``.
        """
        return self.indices, self.values, self._shape

    def to_dense(self) -> Tensor:
        """Return the dense matrix.

        Returns:
            A Tensor of the shape and dtype of this one.

        Raises:
            RuntimeError: ``indices`` are outside the shape.
        """
        return scatter_add_operator(self.values, index=self._index("COOTensor.to_dense"), shape=self._shape)

    def to_csr(self) -> CSRTensor:
        """Return the same elements row by row; those of one row stay in their order.

        Returns:
            A CSRTensor.

        Raises:
            RuntimeError: ``indices`` are outside the shape.
        """
        positions = self._positions("COOTensor.to_csr")
        order = array_module(positions.rows).argsort(positions.rows, kind="stable")
        return CSRTensor(
            Tensor._wrap(offsets(positions.rows, self._shape[0])),
            Tensor._wrap(positions.columns[order]),
            getitem_operator(self.values, index=(order,)),
            self._shape,
        )

    def coalesce(self) -> COOTensor:
        """Return the same matrix with each position once, in order, and with the sum of its values.

        Returns:
            A COOTensor.

        Raises:
            RuntimeError: ``indices`` are outside the shape.
        """
        return _summed(self.values, self._positions("COOTensor.coalesce"), self._indices._array.dtype)

    def add(self, other: COOTensor, thresh: Tensor) -> COOTensor:
        """Return the sum, each position once and in order, without elements that are small.

        Args:
            other: a COOTensor of the same shape.
            thresh: a 0-d Tensor: elements whose absolute value is below it are left out.

        Returns:
            A COOTensor of the dtype that both are promoted to.

        Raises:
            TypeError: ``other`` is not a COOTensor, or ``thresh`` is not a Tensor.
            ValueError: the shapes differ, or ``thresh`` has axes.
            RuntimeError: ``indices`` are outside the shape.
        """
        return coo_sum(self, other, thresh, "COOTensor.add", ("self", "other"))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, COOTensor):
            self._check_same_shape(other, "COOTensor.add")
            return coo_sum(self, other, Tensor(0, self.dtype), "COOTensor.add", ("self", "other"))
        return self._combined_with_dense(other, "add", "COOTensor.add") if isinstance(other, Tensor) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + (-other) if isinstance(other, COOTensor | Tensor) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return self._combined_with_dense(other, "sub", "COOTensor.sub") if isinstance(other, Tensor) else NotImplemented

    def _combined_with_dense(self, dense: Tensor, how: str, name: str) -> Tensor:
        self._check_same_shape(dense, name)
        x, values = operands(name, dense, self.values)
        return put(x, values, self._index(name), how)

    def __mul__(self, other: Any) -> Any:
        return self._with_dense(other, arithmetic.mul, "COOTensor.mul")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with_dense(other, arithmetic.div, "COOTensor.div")

    def _with_dense(self, other: Any, function: Callable[..., Tensor], name: str) -> Any:
        if not isinstance(other, Tensor):
            return NotImplemented
        self._check_same_shape(other, name)
        return self._with_values(function(self.values, self._picked(other, name, "other")))

    def __matmul__(self, other: Any) -> Any:
        if not isinstance(other, Tensor):
            return NotImplemented
        return times_dense(self.values, self._positions("COOTensor.matmul"), other, "COOTensor.matmul", "other")


def _summed(values: Tensor, positions: Positions, index_dtype: np.dtype[Any]) -> COOTensor:
    """Return a COOTensor of the elements, with those at one position summed."""
    rows, columns, at = merged(positions)
    indices = array_module(rows).stack((rows, columns), 1).astype(index_dtype, copy=False)
    return COOTensor(
        Tensor._wrap(indices), scatter_add_operator(values, index=(at,), shape=rows.shape), positions.shape
    )


def _side_by_side(first: Positions, other: Positions) -> Positions:
    xp = array_module(first.rows)
    rows = xp.concatenate((first.rows, other.rows))
    return Positions(rows, xp.concatenate((first.columns, other.columns)), first.shape)


def coo_sum(first: COOTensor, other: COOTensor, thresh: Tensor, name: str, arguments: tuple[str, str]) -> COOTensor:
    """Return the sum of two COOTensors, without elements below a threshold.

    Args:
        first: the first.
        other: the second.
        thresh: a 0-d tensor.
        name: of the function, for errors.
        arguments: the names of the two, for errors.

    Returns:
        A COOTensor with each position once and in order.

    Raises:
        TypeError: one of the two is not a COOTensor, or ``thresh`` is not a Tensor.
        ValueError: the shapes differ, or ``thresh`` has axes.
        RuntimeError: indices are outside the shape.
    """
    for tensor, argument in zip((first, other), arguments, strict=True):
        check_type(tensor, COOTensor, name, argument)
    if check_tensor(thresh, name, "thresh").ndim:
        raise ValueError(f"For '{name}', 'thresh' must have no axes, but got shape {thresh.shape}")
    first._check_same_shape(other, name)
    x, y = operands(name, first.values, other.values)
    index_dtype = promote(first._indices._array.dtype, other._indices._array.dtype)
    total = _summed(concat((x, y)), _side_by_side(first._positions(name), other._positions(name)), index_dtype)
    limit = float(thresh.asnumpy().astype(total._values._array.dtype).real)
    if not limit:
        return total
    array = total._values._array
    wide = array if array.dtype.kind in "fcV" else array.astype(np.float64)
    mask = ~(abs(wide) < limit)  # a NaN stays
    positions = Tensor._wrap(total._indices._array[mask])
    return COOTensor(positions, getitem_operator(total.values, index=(mask,)), first._shape)


class SparseTensor(COOTensor):
    """A COOTensor under its older name, with any number of axes.

    Args:
        indices: a tensor (N, axes) of Int16, Int32 or Int64: the position of each element.
        values: a tensor (N,): the elements.
        shape: the shape, a tuple of ints.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: ``shape`` has a length that is not above 0, or the shapes do not fit together.
    """

    _axes = None

    def __init__(self, indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> None:
        super().__init__(indices, values, shape)


class CSRTensor(_Matrix):
    """A matrix with a few stored elements, in row order: the column of each and its value.

    The elements of row i are those from ``indptr[i]`` to before ``indptr[i + 1]``. An element may have axes of its own,
    which follow the first two axes of the tensor. With ``csr_tensor`` alone it is a copy of that.

    Args:
        indptr: a tensor (rows + 1,) of Int16, Int32 or Int64: where each row begins, and where the last one ends. It is
            an error, once it is used, if it does not rise from 0 to the number of elements.
        indices: a tensor (N,) of Int16, Int32 or Int64: the column of each element. Columns outside ``shape`` are an
            error once they are used.
        values: a tensor (N, ...): the elements, which carry gradients.
        shape: the shape of the dense tensor, a tuple of ints: rows, columns, and the axes of an element.
        csr_tensor: the CSRTensor to copy.

    Raises:
        TypeError: an argument is of the wrong type, or ``csr_tensor`` is not alone.
        ValueError: ``shape`` has a length that is not above 0, or the shapes do not fit together.
    """

    def __init__(
        self,
        indptr: Tensor | None = None,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        csr_tensor: CSRTensor | None = None,
    ) -> None:
        if csr_tensor is not None:
            check_type(csr_tensor, CSRTensor, "CSRTensor", "csr_tensor")
            _check_alone("CSRTensor", "csr_tensor", indptr, indices, values, shape)
            indptr, indices, values, shape = csr_tensor.to_tuple()
        starts, columns = check_tensor(indptr, "CSRTensor", "indptr"), check_tensor(indices, "CSRTensor", "indices")
        elements = check_tensor(values, "CSRTensor", "values")
        self._shape = _check_shape("CSRTensor", shape, None)
        if len(self._shape) < 2 or starts.shape != (self._shape[0] + 1,):
            raise ValueError(
                f"For 'CSRTensor', 'shape' must have 2 axes or more and 'indptr' must be a vector that is longer by 1 "
                f"than the first of them, but got shapes {self._shape} and {starts.shape}"
            )
        if columns.ndim != 1 or elements.shape != columns.shape + self._shape[2:]:
            raise ValueError(
                f"For 'CSRTensor', 'values' must have an element of shape {self._shape[2:]} for each of the vector "
                f"'indices', but got shapes {elements.shape} and {columns.shape}"
            )
        self._indptr = _check_integers(starts, "CSRTensor", "indptr")
        self._indices = _check_integers(columns, "CSRTensor", "indices")
        super().__init__(elements)

    @property
    def indptr(self) -> Tensor:
        """The beginning of each row among the elements, and the end of the last one."""
        return Tensor._wrap(self._indptr._array)

    @property
    def indices(self) -> Tensor:
        """The column of each element."""
        return Tensor._wrap(self._indices._array)

    def _parts(self) -> dict[str, Tensor]:
        return {"indptr": self._indptr, "indices": self._indices, "values": self._values}

    def _positions(self, name: str) -> Positions:
        columns = self._indices._array
        check_inside(columns, self._shape[1], name)
        rows = rows_of(self._indptr._array, columns.size, name)
        return Positions(rows, columns, (self._shape[0], self._shape[1]))

    def _matrix_positions(self, name: str) -> Positions:
        if self.ndim != 2:
            raise ValueError(f"For '{name}', a sparse tensor must have 2 axes, but got shape {self._shape}")
        return self._positions(name)

    def to_tuple(self) -> tuple[Tensor, Tensor, Tensor, tuple[int, ...]]:
        """Return its components.

        Returns:
            ``(indptr, indices, values, shape)``.
        """
        return self.indptr, self.indices, self.values, self._shape

    def to_coo(self) -> COOTensor:
        """Return the same elements, in the same order, with their positions.

        Returns:
            A COOTensor.

        Raises:
            ValueError: it has more than two axes.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        return csr_as_coo(self, "CSRTensor.to_coo")

    def to_dense(self) -> Tensor:
        """Return the dense matrix.

        Returns:
            A Tensor of the shape and dtype of this one.

        Raises:
            ValueError: it has more than two axes.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        return csr_as_dense(self, "CSRTensor.to_dense")

    def mv(self, dense_vector: Tensor) -> Tensor:
        """Return the matrix times a vector.

        Args:
            dense_vector: a tensor (columns, 1).

        Returns:
            A Tensor (rows, 1) of the dtype that both are promoted to.

        Raises:
            TypeError: ``dense_vector`` is not a Tensor.
            ValueError: ``dense_vector`` has the wrong shape, or this one more than two axes.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        return csr_times_vector(self, dense_vector, "CSRTensor.mv", "dense_vector")

    def mm(self, matrix: Tensor | CSRTensor) -> Any:
        """Return the matrix times another one.

        Args:
            matrix: a Tensor (columns, K), or a CSRTensor of that shape.

        Returns:
            A Tensor (rows, K), or a CSRTensor if ``matrix`` is one, of the dtype that both are promoted to.

        Raises:
            TypeError: ``matrix`` is of the wrong type.
            ValueError: ``matrix`` has the wrong shape, or this one more than two axes.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        check_type(matrix, Tensor | CSRTensor, "CSRTensor.mm", "matrix", "a Tensor or a CSRTensor")
        if isinstance(matrix, CSRTensor):
            return csr_product(self, matrix, "CSRTensor.mm", ("self", "matrix"))
        return times_dense(self.values, self._matrix_positions("CSRTensor.mm"), matrix, "CSRTensor.mm", "matrix")

    def sum(self, axis: int) -> Tensor:
        """Return the sum of each row.

        Args:
            axis: 1, or the same axis counted from the end.

        Returns:
            A Tensor of the shape of this one, but of length 1 along ``axis``, and of its dtype.

        Raises:
            TypeError: ``axis`` is not an int.
            ValueError: ``axis`` is not allowed.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        return csr_row_sums(self, axis, "CSRTensor.sum")

    def add(self, b: CSRTensor, alpha: Tensor, beta: Tensor) -> CSRTensor:
        """Return ``alpha * self + beta * b``, with an element at each position where one of the two has one.

        Args:
            b: a CSRTensor of the same shape.
            alpha: a Tensor that broadcasts to this one's shape; it is cast to the dtype of the result.
            beta: likewise for ``b``.

        Returns:
            A CSRTensor of the dtype that both are promoted to, with the columns of each row in order.

        Raises:
            TypeError: ``b`` is not a CSRTensor, ``alpha`` or ``beta`` is not a Tensor.
            ValueError: the shapes do not fit, or there are more than two axes.
            RuntimeError: ``indptr`` or ``indices`` do not fit the shape.
        """
        return csr_sum(self, b, alpha, beta, "CSRTensor.add", ("self", "b"))

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def _plus(self, other: Any, sign: int) -> Any:
        if not isinstance(other, CSRTensor):
            return NotImplemented
        factors = Tensor(1, self.dtype), Tensor(sign, other.dtype)
        return csr_sum(self, other, *factors, "CSRTensor.add" if sign > 0 else "CSRTensor.sub", ("self", "other"))

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, Tensor | int | float | complex):
            return NotImplemented
        return csr_with_dense(self, other, arithmetic.mul, "CSRTensor.mul", "other")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, Tensor | int | float | complex):
            return NotImplemented
        return csr_with_dense(self, other, arithmetic.div, "CSRTensor.div", "other")

    def __matmul__(self, other: Any) -> Any:
        return self.mm(other) if isinstance(other, Tensor | CSRTensor) else NotImplemented


# Shared by methods and functions of ``ops``; ``name`` is that of the caller, for errors


def csr_as_coo(x: CSRTensor, name: str) -> COOTensor:
    """Return ``CSRTensor.to_coo``; ``name`` is that of the caller, for errors, here and below."""
    positions = x._matrix_positions(name)
    dtype = promote(positions.rows.dtype, positions.columns.dtype)
    stacked = array_module(positions.rows).stack((positions.rows.astype(dtype), positions.columns.astype(dtype)), 1)
    return COOTensor(Tensor._wrap(stacked), x.values, x.shape)


def csr_as_dense(x: CSRTensor, name: str) -> Tensor:
    """Return ``CSRTensor.to_dense``."""
    positions = x._matrix_positions(name)
    return scatter_add_operator(x.values, index=(positions.rows, positions.columns), shape=x.shape)


def csr_times_vector(x: CSRTensor, dense: Tensor, name: str, argument: str) -> Tensor:
    """Return ``CSRTensor.mv``."""
    vector, positions = check_tensor(dense, name, argument), x._matrix_positions(name)
    if vector.shape != (x.shape[1], 1):
        raise ValueError(f"For '{name}', '{argument}' must have the shape {(x.shape[1], 1)}, but got {vector.shape}")
    return times_dense(x.values, positions, vector, name, argument)


def csr_row_sums(x: CSRTensor, axis: int, name: str) -> Tensor:
    """Return ``CSRTensor.sum``."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise TypeError(f"For '{name}', 'axis' must be an int, but got {type(axis).__name__}")
    if axis not in (1, 1 - x.ndim):
        raise ValueError(f"For '{name}', 'axis' must be 1 or {1 - x.ndim}, but got {axis}")
    rows = x._positions(name).rows
    sums = scatter_add_operator(x.values, index=(rows,), shape=(x.shape[0], *x.shape[2:]))
    return reshape(sums, (x.shape[0], 1, *x.shape[2:]))


def csr_with_dense(
    x: CSRTensor, y: Tensor | Number, function: Callable[..., Tensor], name: str, argument: str
) -> Tensor | CSRTensor:
    """Return an elementwise operation with a dense tensor that broadcasts; with a single number, the values alone."""
    if not isinstance(y, Tensor) or (y.size == 1 and y.ndim <= 2):
        factor = reshape(y, ()) if isinstance(y, Tensor) else y
        return function(x.values, factor)
    return x._with_values(function(x.values, x._picked(y, name, argument)))


def csr_sum(
    a: CSRTensor, b: CSRTensor, alpha: Tensor, beta: Tensor, name: str, arguments: tuple[str, str]
) -> CSRTensor:
    """Return ``CSRTensor.add``; ``arguments`` are the names of the two, for errors, here and below."""
    for matrix, argument in zip((a, b), arguments, strict=True):
        check_type(matrix, CSRTensor, name, argument)
    for factor, argument in ((alpha, "alpha"), (beta, "beta")):
        check_tensor(factor, name, argument)
    a._check_same_shape(b, name)
    parts = a._matrix_positions(name), b._matrix_positions(name)
    x, y = operands(name, a.values, b.values)
    dtype = broadcasting.array_dtype(x)
    terms = [
        arithmetic.mul(values, matrix._picked(as_dtype(factor, dtype), name, argument))
        for values, matrix, factor, argument in ((x, a, alpha, "alpha"), (y, b, beta, "beta"))
    ]
    rows, columns, at = merged(_side_by_side(*parts))
    return CSRTensor(
        Tensor._wrap(offsets(rows.astype(promote(*(matrix._indptr._array.dtype for matrix in (a, b)))), a.shape[0])),
        Tensor._wrap(columns.astype(promote(*(matrix._indices._array.dtype for matrix in (a, b))))),
        scatter_add_operator(concat(terms), index=(at,), shape=rows.shape),
        a.shape,
    )


def csr_product(
    a: CSRTensor,
    b: CSRTensor,
    name: str,
    arguments: tuple[str, str],
    transposed: tuple[bool, bool] = (False, False),
    conjugated: tuple[bool, bool] = (False, False),
) -> CSRTensor:
    """Return the product of two CSRTensors, each as it is, transposed or conjugated."""
    values, positions = [], []
    for matrix, argument, turn, conjugate in zip((a, b), arguments, transposed, conjugated, strict=True):
        check_type(matrix, CSRTensor, name, argument)
        current = matrix._matrix_positions(name)
        positions.append(current.transposed if turn else current)
        values.append(complex_numbers.conj(matrix.values) if conjugate else matrix.values)
    if positions[0].shape[1] != positions[1].shape[0]:
        raise ValueError(
            f"For '{name}', the factors must have as many columns as rows, "
            f"but got shapes {positions[0].shape} and {positions[1].shape}"
        )
    x, y = operands(name, values[0], values[1])
    target = product_positions(*positions)
    product = _element_product(x, y, x_positions=positions[0], y_positions=positions[1], positions=target)
    return CSRTensor(
        Tensor._wrap(offsets(target.rows.astype(a._indptr._array.dtype), target.shape[0])),
        Tensor._wrap(target.columns.astype(a._indices._array.dtype)),
        product,
        target.shape,
    )


class RowTensor(Sparse):
    """A tensor with a few stored entries of the first axis, each whole; all others are 0.

    With ``row_tensor`` alone it is a copy of that.

    Args:
        indices: a vector of integers: the position of each entry on the first axis.
        values: a tensor with an entry for each of ``indices``.
        shape: the shape of the dense tensor, a tuple of ints.
        row_tensor: the RowTensor to copy.

    Raises:
        TypeError: an argument is of the wrong type, or ``row_tensor`` is not alone.
        ValueError: ``shape`` has a length that is not above 0, or the shapes do not fit together.
    """

    def __init__(
        self,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        row_tensor: RowTensor | None = None,
    ) -> None:
        if row_tensor is not None:
            check_type(row_tensor, RowTensor, "RowTensor", "row_tensor")
            _check_alone("RowTensor", "row_tensor", indices, values, shape)
            indices, values, shape = row_tensor.indices, row_tensor.values, row_tensor.dense_shape
        self._indices = _check_integers(indices, "RowTensor", "indices")
        entries = check_tensor(values, "RowTensor", "values")
        self._shape = _check_shape("RowTensor", shape, None)
        if self._indices.ndim != 1 or not self._shape or entries.shape != self._indices.shape + self._shape[1:]:
            raise ValueError(
                f"For 'RowTensor', 'values' must have an entry of shape {self._shape[1:]} for each of the vector "
                f"'indices', but got shapes {entries.shape} and {self._indices.shape}"
            )
        super().__init__(entries)

    @property
    def indices(self) -> Tensor:
        """The position of each entry on the first axis."""
        return Tensor._wrap(self._indices._array)

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """The shape of the dense tensor."""
        return self._shape

    def __repr__(self) -> str:
        return _text("RowTensor", self._shape, {"indices": self._indices, "values": self._values})


name_methods(globals())
