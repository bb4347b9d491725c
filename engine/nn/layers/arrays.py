"""Layers that create and move elements: ranges, one-hot rows, rolling, sparse entries."""

from __future__ import annotations

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_type
from ...base.types import Ints, Shape
from ...ops.arguments import ints_of
from ...ops.sparse.tensors import COOTensor
from ...tensors.dtype import DType, float32
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = ["OneHot", "Range", "Roll", "SparseTensorDenseMatmul", "SparseToDense"]


class OneHot(Cell):
    """A vector along a new axis for each index: ``on_value`` at the index, ``off_value`` elsewhere.

    Takes ``indices``, an integer Tensor of any shape, and returns a Tensor with one axis of length ``depth`` more; an
    index outside [0, depth) gives ``off_value`` only.

    Args:
        axis: the position of the new axis; -1 is the last.
        depth: the length of the new axis.
        on_value: the number at the index.
        off_value: the number elsewhere.
        dtype: element type of the output.
    """

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: DType = float32
    ) -> None:
        super().__init__()
        self.axis, self.depth, self.on_value, self.off_value, self.dtype = axis, depth, on_value, off_value, dtype

    def construct(self, indices: Tensor) -> Tensor:
        vectors = ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)
        return ops.cast(vectors, self.dtype)


class Range(Cell):
    """The numbers start, start + delta, ... below ``limit``, computed once; each call returns them.

    Returns a Tensor with one axis, int32 if all arguments are ints, else float32.

    Args:
        start: the first number; without ``limit`` the end, and the numbers begin at 0.
        limit: the exclusive end of the numbers.
        delta: the step; a negative one counts down.

    Raises:
        ValueError: ``delta`` is 0.
    """

    def __init__(self, start: float, limit: float | None = None, delta: float = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("For 'Range', 'delta' must not be 0")
        numbers = np.arange(start, step=delta) if limit is None else np.arange(start, limit, delta)
        self.result_tensor = Tensor(numbers.astype(np.int32 if numbers.dtype.kind == "i" else np.float32))

    def construct(self) -> Tensor:
        return self.result_tensor


class Roll(Cell):
    """Elements shifted cyclically along axes, as ``numpy.roll``.

    Takes ``input_x`` and returns a Tensor of the same shape and dtype. The call raises ValueError for an axis that the
    input does not have.

    Args:
        shift: the distance, an int or one for each of ``axis``; negative numbers shift towards the front.
        axis: the axis or axes to move along.

    Raises:
        ValueError: ``shift`` and ``axis`` have different lengths.
    """

    def __init__(self, shift: Ints, axis: Ints) -> None:
        super().__init__()
        shifts, axes = ints_of(shift, "Roll", "shift"), ints_of(axis, "Roll", "axis")
        if len(shifts) != len(axes):
            raise ValueError(f"For 'Roll', 'shift' and 'axis' must have one length, but got {shift} and {axis}")
        self.shift, self.axis = shifts, axes

    def construct(self, input_x: Tensor) -> Tensor:
        check_type(input_x, Tensor, "Roll", "input_x")
        for shift, axis in zip(self.shift, self.axis, strict=True):
            if not -input_x.ndim <= axis < input_x.ndim:
                raise ValueError(f"For 'Roll', 'axis' must be in [{-input_x.ndim}, {input_x.ndim}), but got {axis}")
            length = input_x.shape[axis]
            positions = (np.arange(length) - shift) % length
            axis_index = axis % input_x.ndim
            input_x = ops.getitem(input_x, (slice(None),) * axis_index + (Tensor(positions),))
        return input_x


class SparseToDense(Cell):
    """A sparse tensor converted to a dense one.

    Takes ``sparse_tensor``, a COOTensor, and returns a Tensor of its shape and dtype; for repeated positions
    the last element counts. The call raises TypeError for anything else, and ValueError for positions outside the
    shape.
    """

    def construct(self, sparse_tensor: COOTensor) -> Tensor:
        sparse = check_type(sparse_tensor, COOTensor, "SparseToDense", "sparse_tensor")
        return ops.SparseToDense()(*sparse.to_tuple())


class SparseTensorDenseMatmul(Cell):
    """A sparse matrix times a dense one.

    Takes ``indices``, the positions of the elements of the first, Int32 or Int64 (N, 2), ``values``, the elements (N,),
    ``sparse_shape``, a tuple of two ints, and ``dense``, a Tensor of two axes and of the dtype of ``values``. Returns a
    Tensor of two axes and of that dtype. The call raises TypeError for arguments of the wrong type, and ValueError for
    shapes that do not match and positions outside ``sparse_shape``.

    Args:
        adjoint_st: whether to transpose the sparse matrix.
        adjoint_dt: whether to transpose the dense one.

    Raises:
        TypeError: ``adjoint_st`` or ``adjoint_dt`` is not a bool.
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adjoint_st = check_bool(adjoint_st, "SparseTensorDenseMatmul", "adjoint_st")
        self.adjoint_dt = check_bool(adjoint_dt, "SparseTensorDenseMatmul", "adjoint_dt")

    def construct(self, indices: Tensor, values: Tensor, sparse_shape: Shape, dense: Tensor) -> Tensor:
        return ops.SparseTensorDenseMatmul(self.adjoint_st, self.adjoint_dt)(indices, values, sparse_shape, dense)
