"""Functions of ``mindspore.mint`` whose signatures differ from those in ``ops`` in more than argument names.

The others are declared with their functions (``mint=`` in ``ops``).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import ops
from ..base.argument_checks import check_one_of, check_type
from ..base.types import DTypeLike, Ints, Number, Operand, Shape
from ..ops.arguments import Axis, along, axes_of, check_tensor, int_of, ints_of, one_axis
from ..ops.elementwise.arithmetic import scaled
from ..ops.indexing.scattering import scaled_source
from ..ops.random.drawing import check_generator
from ..ops.shapes.reshape import flat_view
from ..tensors.dtype import DType, int64, numpy_dtype, to_dtype
from ..tensors.generator import Generator
from ..tensors.tensor import Tensor

__all__ = [
    "add", "allclose", "argmin", "argsort", "bernoulli", "cdist", "clone", "cummin", "diag", "dot", "empty",
    "empty_like", "equal", "flatten", "index_add", "item", "linspace", "log_softmax", "max", "mean", "median",
    "meshgrid", "min", "multinomial", "norm", "normal", "ones", "pow", "rand", "rand_like", "randint", "randint_like",
    "randn", "randn_like", "randperm", "repeat_interleave", "scatter_add", "select", "sort", "squeeze", "sub", "take",
    "topk", "vdot", "where", "zeros"
]  # fmt: skip

_WAYS_TO_MEASURE = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def pow(input: Operand, exponent: Operand) -> Tensor:
    """Return ``input`` to the power of ``exponent``; integers with a negative exponent give 0, except 1 and -1.

    Args:
        input: the base: a Tensor or a number.
        exponent: a Tensor or a number that broadcasts with it; one of the two is a Tensor.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        RuntimeError: a Tensor of integers to the power of a negative int.
        ValueError: the shapes do not broadcast.
    """
    integral = input._array.dtype.kind in "iu" if isinstance(input, Tensor) else isinstance(input, int)
    if integral and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError(f"For 'mint.pow', integers have no power of {exponent}: they would be fractions")
    return ops.pow(input, exponent)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether two tensors have the same shape and the same elements.

    Args:
        input: a Tensor.
        other: a Tensor.

    Returns:
        a Python bool.

    Raises:
        TypeError: one of them is not a Tensor.
    """
    for argument, x in (("input", input), ("other", other)):
        check_type(x, Tensor, "mint.equal", argument)
    return input.shape == other.shape and builtins.bool(ops.eq(input, other).all())


def linspace(start: Operand, end: Operand, steps: int, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return start + k * (end - start) / (steps - 1) for k from 0 to steps - 1, both ends included. No gradient passes.

    Args:
        start: the first number, a number or a 0-d tensor.
        end: the last number, a number or a 0-d tensor.
        steps: the number of values, an int of at least 1; a single one is ``start``.
        dtype: the dtype of the result; by default Float32.

    Returns:
        a Tensor of shape (steps,).

    Raises:
        TypeError: ``steps`` is not an int.
        ValueError: ``steps`` is below 1, or a tensor has axes.
    """
    numbers = ops.linspace(start, end, steps)
    return numbers if dtype is None else ops.cast(numbers, dtype)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """Return the scalar product of two vectors: the sum of input * other.

    Args:
        input: a vector.
        other: a vector of the same length.

    Returns:
        a Tensor without axes.

    Raises:
        ValueError: an input is not a vector, or the lengths differ.
    """
    if check_tensor(input, "mint.dot").ndim != 1 or check_tensor(other, "mint.dot", "other").ndim != 1:
        raise ValueError(f"For 'mint.dot', both must have one axis, but got shapes {input.shape} and {other.shape}")
    return ops.matmul(input, other)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Return the scalar product of two vectors, the first conjugated: the sum of conj(input) * other.

    Args:
        input: a vector.
        other: a vector of the same length.

    Returns:
        a Tensor without axes.

    Raises:
        ValueError: an input is not a vector, or the lengths differ.
    """
    return dot(ops.conj(input) if check_tensor(input, "mint.vdot")._array.dtype.kind == "c" else input, other)


def item(input: Tensor) -> bool | int | float | complex:
    """Return the one element of a Tensor as a Python number.

    Args:
        input: a Tensor with one element, of any shape.

    Returns:
        a bool, int, float or complex.

    Raises:
        TypeError: ``input`` is not a Tensor.
        RuntimeError: it has more elements, or none.
    """
    check_type(input, Tensor, "mint.item", "input", "a Tensor")
    if input.size != 1:
        raise RuntimeError(f"For 'mint.item', 'input' must have one element, but got {input.size}")
    return input.item()


def add(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input + alpha * other, element by element.

    Args:
        input: a Tensor or a number.
        other: a Tensor that broadcasts with ``input``, or a number.
        alpha: the factor of ``other``, a number.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: an input is neither a Tensor nor a number.
    """
    return ops.add(input, scaled(other, alpha))


def sub(input: Operand, other: Operand, *, alpha: Number = 1) -> Tensor:
    """Return input - alpha * other, element by element.

    Args:
        input: a Tensor or a number.
        other: a Tensor that broadcasts with ``input``, or a number.
        alpha: the factor of ``other``, a number.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: an input is neither a Tensor nor a number.
    """
    return ops.sub(input, scaled(other, alpha))


# Reductions


def mean(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the mean over axes.

    Args:
        input: a Tensor.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdim: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return ops.mean(_as(input, dtype), dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the index of the smallest element along one axis, or of all; the first one of several.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim); None flattens the input.
        keepdim: whether the axis stays, with length 1.

    Returns:
        an Int64 Tensor.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.argmin(input, dim, keepdim).astype(int64)


def max(
    input: Tensor,
    *args: Tensor | int | bool,
    dim: int | None = None,
    keepdim: bool = False,
    other: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the largest element; with its index: ``max(input, dim, keepdim)``; of each pair: ``max(input, other)``.

    Args:
        input: a Tensor.
        *args: ``dim`` and ``keepdim``, or ``other``, by position.
        dim: the axis, in [-ndim, ndim); None is all of them.
        keepdim: whether that axis stays, with length 1.
        other: a Tensor that broadcasts with ``input``.

    Returns:
        a Tensor; with ``dim`` a pair of it and the indices, Int64. The first of several largest elements gets the index
        and the gradient; without ``dim`` they share it.

    Raises:
        TypeError: there are more arguments, or ``other`` with ``dim`` or ``keepdim``.
        ValueError: ``dim`` is out of range, or the shapes do not broadcast.
    """
    return _extreme("max", ops.maximum, input, args, dim, keepdim, other)


def min(
    input: Tensor,
    *args: Tensor | int | bool,
    dim: int | None = None,
    keepdim: bool = False,
    other: Tensor | None = None,
) -> Tensor | tuple[Tensor, Tensor]:
    """Return the smallest element; with its index: ``min(input, dim, keepdim)``; of each pair: ``min(input, other)``.

    Args:
        input: a Tensor.
        *args: ``dim`` and ``keepdim``, or ``other``, by position.
        dim: the axis, in [-ndim, ndim); None is all of them.
        keepdim: whether that axis stays, with length 1.
        other: a Tensor that broadcasts with ``input``.

    Returns:
        a Tensor; with ``dim`` a pair of it and the indices, Int64. The first of several smallest elements gets the
        index and the gradient; without ``dim`` they share it.

    Raises:
        TypeError: there are more arguments, or ``other`` with ``dim`` or ``keepdim``.
        ValueError: ``dim`` is out of range, or the shapes do not broadcast.
    """
    return _extreme("min", ops.minimum, input, args, dim, keepdim, other)


def _extreme(
    name: str,
    pairwise: Callable[..., Tensor],
    input: Tensor,
    args: tuple[Any, ...],
    dim: int | None,
    keepdim: bool,
    other: Tensor | None,
) -> Tensor | tuple[Tensor, Tensor]:
    if len(args) > (1 if args and isinstance(args[0], Tensor) else 2):
        raise TypeError(f"For '{name}', what follows must be 'dim' and 'keepdim', or 'other', but got {len(args)} more")
    if args and isinstance(args[0], Tensor):
        other, args = args[0], args[1:]
    if other is not None and (dim is not None or keepdim):
        raise TypeError(f"For '{name}', 'other' goes without 'dim' and 'keepdim'")
    if other is not None:
        return pairwise(input, other)
    if args:
        dim, keepdim = args[0], args[1] if len(args) > 1 else keepdim
    if dim is None:
        return (ops.amax if name == "max" else ops.amin)(input)
    # By its index: only one of several extreme elements gets the gradient.
    positions = (ops.argmax if name == "max" else ops.argmin)(input, dim, True).astype(int64)
    values = ops.gather_elements(input, dim, positions) if input.ndim else ops.reshape(input, ())
    return (values, positions) if keepdim else (squeeze(values, dim), squeeze(positions, dim))


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """Return the median, the lower of two: of all, or along one axis with its index; NaN if any element is NaN.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim); None takes all elements.
        keepdim: whether that axis stays, with length 1.

    Returns:
        a Tensor without axes; with ``dim`` a pair of the elements and their indices, Int64.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.median(ops.reshape(input, (-1,)), 0)[0] if dim is None else ops.median(input, dim, keepdim)


def norm(
    input: Tensor, p: float | str = "fro", dim: Axis = None, keepdim: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the ``p``-norm of all elements, or of vectors along axes: (sum of abs(x) ** p) ** (1 / p).

    Args:
        input: a Tensor.
        p: the order, any number; inf is the largest and -inf the smallest absolute value; "fro" is 2, and "nuc" the
            sum of a matrix's singular values.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdim: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor of the norms.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: another ``p``, or an axis is out of range or repeated.
    """
    if p == "nuc":
        return ops.norm(input, p, dim, keepdim, dtype=dtype)
    order: Any = 2 if p == "fro" else p  # rejects other words
    return ops.vector_norm(input, order, dim, keepdim, dtype=dtype)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary") -> Tensor:
    """Return the ``p``-norm distance of each row of ``x1`` from each row of ``x2``.

    Args:
        x1: a Tensor (..., P, M).
        x2: a Tensor (..., R, M); the leading axes broadcast.
        p: the order, from 0 on; inf is the largest difference.
        compute_mode: must be one of PyTorch's three names of algorithms; all use differences of rows, with the same
            distances.

    Returns:
        a Tensor (..., P, R).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
        ValueError: ``p`` is negative, another ``compute_mode``, or the shapes do not match.
    """
    check_one_of(compute_mode, _WAYS_TO_MEASURE, "mint.cdist", "compute_mode")
    return ops.cdist(x1, x2, p)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether abs(input - other) <= atol + rtol * abs(other) for each pair.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        rtol: the tolerance relative to ``other``.
        atol: the absolute tolerance.
        equal_nan: whether two NaN are close.

    Returns:
        a bool.

    Raises:
        ValueError: the shapes do not broadcast.
    """
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)))


# Order


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Sort along one axis and return the indices too; equal elements keep their order, NaN is the largest.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        descending: whether the order is descending.
        stable: accepted for MindSpore compatibility: equal elements keep their order either way.

    Returns:
        the sorted Tensor, and an Int64 Tensor with each element's original index along ``dim``.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    values, positions = ops.sort(input, dim, descending)
    return values, positions.astype(int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Return the indices that sort along one axis; equal elements keep their order, NaN is the largest.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        descending: whether the order is descending.
        stable: accepted for MindSpore compatibility: equal elements keep their order either way.

    Returns:
        an Int64 Tensor of the shape of ``input``.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return ops.argsort(input, dim, descending).astype(int64)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest (or smallest) elements along one axis, and their indices.

    Args:
        input: a Tensor.
        k: the number of elements, from 0 to the length of the axis.
        dim: the axis, in [-ndim, ndim).
        largest: whether to select the largest; False selects the smallest.
        sorted: accepted for MindSpore compatibility: the elements are sorted either way, the most extreme first.

    Returns:
        the elements, and an Int64 Tensor with their indices.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` or ``k`` is out of range.
    """
    values, positions = ops.topk(input, k, dim, largest, sorted)
    return values, positions.astype(int64)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative minimum along one axis, and its index: the last one of several.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).

    Returns:
        the cumulative minima, and an Int64 Tensor with their indices.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    values, positions = ops.cummin(input, dim)
    return values, positions.astype(int64)


# Shape


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Remove axes of length 1; an axis of another length stays.

    Args:
        input: a Tensor.
        dim: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        a Tensor of the same elements.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    if dim is None:
        return ops.squeeze(input)
    ndim = check_tensor(input, "squeeze").ndim
    numbers = ints_of(dim, "squeeze", "dim")
    axes = (axes_of(numbers, ndim, "squeeze") if ndim else None) or ()
    singletons = tuple(axis for axis in axes if input.shape[axis] == 1)
    return ops.squeeze(input, singletons) if singletons else ops.reshape(input, input.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Flatten the axes from ``start_dim`` to ``end_dim`` into one.

    Args:
        input: a Tensor.
        start_dim: the first axis.
        end_dim: the last axis.

    Returns:
        a Tensor of the same elements; a vector of one for a number.

    Raises:
        ValueError: an axis is out of range, or the last comes before the first.
    """
    ndim = check_tensor(input, "flatten").ndim
    for axis in (start_dim, end_dim):
        axes_of(axis, ndim, "flatten")  # unlike ops.flatten, which accepts a missing axis 1
    return flat_view(input, "C", start_dim, end_dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """Return the coordinates of grid points: for each vector a Tensor of the grid's shape.

    Args:
        *tensors: the coordinates along each axis of the grid, vectors; or one tuple or list of them.
        indexing: "ij": the first vector runs along the first axis; "xy": the first one along the second axis, the
            second one along the first. None is "ij".

    Returns:
        a tuple of a Tensor for each vector.

    Raises:
        ValueError: another ``indexing``.
    """
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """Return a matrix with a vector on one diagonal, or one diagonal of a matrix.

    Args:
        input: a vector or a matrix.
        diagonal: the diagonal: 0 the main one, above it positive, below it negative.

    Returns:
        a matrix for a vector, a vector for a matrix.

    Raises:
        ValueError: ``input`` has another rank.
    """
    if check_tensor(input, "mint.diag").ndim == 2:
        return ops.diagonal(input, diagonal)
    offset = builtins.abs(int_of(diagonal, "mint.diag", "diagonal"))
    square = ops.diag(input)
    if not offset:
        return square
    before, behind = (offset, 0) if diagonal > 0 else (0, offset)
    return ops.pad(square, (before, behind, behind, before))


def repeat_interleave(
    input: Tensor, repeats: Ints | Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Repeat each element several times in succession.

    Args:
        input: a Tensor.
        repeats: the number of repetitions: an int for all, or one for each entry along the axis.
        dim: the axis, in [-ndim, ndim); None repeats all elements, flattened.
        output_size: the length of the result along the axis; it is only checked.

    Returns:
        a Tensor; a vector without ``dim``.

    Raises:
        ValueError: ``dim`` is out of range, ``repeats`` does not fit, or ``output_size`` is another length.
    """
    repeated = ops.repeat_interleave(input, repeats, dim)
    if output_size is not None and repeated.shape[dim or 0] != output_size:
        raise ValueError(
            f"For 'mint.repeat_interleave', 'output_size' must be the length {repeated.shape[dim or 0]} of the result, "
            f"but got {output_size}"
        )
    return repeated


# Selection


def where(condition: Tensor, input: Operand | None = None, other: Operand | None = None) -> Tensor | tuple[Tensor, ...]:
    """Return ``input`` if the condition holds, else ``other``; for the condition alone the indices at which it holds.

    Args:
        condition: a Bool Tensor.
        input: a Tensor or a number that broadcasts with it.
        other: the same.

    Returns:
        a Tensor of the broadcast shape; or a tuple of an Int64 vector for each axis.

    Raises:
        TypeError: only one of ``input`` and ``other`` is passed.
        ValueError: the shapes do not broadcast.
    """
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    if input is None or other is None:
        present, missing = ("other", "input") if input is None else ("input", "other")
        raise TypeError(f"For 'where', '{missing}' must be given too where '{present}' is")
    return ops.where(condition, input, other)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Return a copy of ``input`` with ``src`` added at indices along one axis; repeated indices add up.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        index: the index along ``dim`` for each element of ``src``, ints.
        src: the values to add, of the shape of ``index``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes do not match, or ``dim`` is out of range.
        IndexError: an index is out of range.
    """
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    """Return a copy of ``input`` with alpha times the entries of ``source`` added at indices along one axis.

    Args:
        input: a Tensor; a Parameter stays unchanged.
        dim: the axis, in [-ndim, ndim).
        index: the indices along ``dim``, a vector of ints.
        source: the values to add: of the shape of ``input``, as long as ``index`` along ``dim``.
        alpha: the factor of ``source``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: the shapes do not match, or ``dim`` or an index is out of range.
    """
    base = ops.reshape(input, check_tensor(input, "index_add").shape)  # ops.index_add assigns the sum to a Parameter
    return ops.index_add(base, index, scaled_source("index_add", source, alpha), dim)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return one entry along one axis: ``input[..., index, ...]``.

    Args:
        input: a Tensor of at least one axis.
        dim: the axis, in [-ndim, ndim).
        index: the index along it; a negative one counts from the end.

    Returns:
        a Tensor without that axis.

    Raises:
        TypeError: ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
        IndexError: ``index`` is out of range.
    """
    at = one_axis(dim, check_tensor(input, "mint.select").ndim, "mint.select")
    return input[along(input, at, int_of(index, "mint.select", "index"))]


def take(input: Tensor, index: Tensor) -> Tensor:
    """Return elements by their indices in the flattened Tensor.

    Args:
        input: a Tensor.
        index: the indices, ints of any shape.

    Returns:
        a Tensor of the shape of ``index``.

    Raises:
        IndexError: an index is out of range.
    """
    return ops.reshape(input, (-1,))[index]


# Nonlinear


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the logarithm of softmax along one axis, without overflow: x - log(sum of exp(x)).

    Args:
        input: a floating Tensor.
        dim: the axis, in [-ndim, ndim); None is axis 0 for an input with 0, 1 or 3 axes, else 1.
        dtype: the dtype to convert to first; None leaves that of ``input``.

    Returns:
        a Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` does not hold floats.
        ValueError: ``dim`` is out of range.
    """
    return ops.log_softmax(_as(input, dtype), axis_unless_given(input) if dim is None else dim)


def axis_unless_given(input: Tensor) -> int:
    """Return the axis of softmax and log_softmax if ``dim`` is None, as in MindSpore."""
    return 0 if check_tensor(input, "softmax").ndim in (0, 1, 3) else 1


# Creation


def zeros(size: Shape, *more: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a Tensor of zeros.

    Args:
        size: the length of each axis, as a tuple or list of ints; or the first of them.
        *more: the other lengths, if passed separately.
        dtype: the element type; None is Float32.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.zeros(_shape((size, *more)), dtype)


def ones(size: Shape, *more: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return a Tensor of ones.

    Args:
        size: the length of each axis, as a tuple or list of ints; or the first of them.
        *more: the other lengths, if passed separately.
        dtype: the element type; None is Float32.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.ones(_shape((size, *more)), dtype)


def empty(*size: Shape, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor of a shape with unspecified values; they are zeros.

    Args:
        *size: the length of each axis, or a tuple or list of them.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: ``size`` are not ints.
    """
    return ops.zeros(_shape(size), dtype)


def empty_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Return a Tensor of another's shape with unspecified values; they are zeros.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    return ops.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Tensor:
    """Return a differentiable copy.

    Args:
        input: a Tensor.

    Returns:
        a Tensor of its shape and dtype.
    """
    return check_tensor(input, "mint.clone").clone()


def _shape(size: tuple[Any, ...]) -> Sequence[int]:
    return size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size


def _shape_and_dtype(size: tuple[Any, ...], dtype: DTypeLike | None) -> tuple[Sequence[int], DTypeLike | None]:
    """Return shape and dtype; ``randn((2, 3), float32)`` occurs in examples of MindSpore's reference."""
    if len(size) == 2 and isinstance(size[0], tuple | list) and isinstance(size[1], DType) and dtype is None:
        return size[0], size[1]
    return _shape(size), dtype


def _floating(dtype: DTypeLike, name: str) -> DTypeLike:
    if numpy_dtype(dtype).kind not in "fV":
        raise TypeError(f"For '{name}', 'dtype' must be a floating dtype, but got {dtype}")
    return dtype


def _as(tensor: Tensor, dtype: DTypeLike | None) -> Tensor:
    return tensor if dtype is None else ops.cast(tensor, to_dtype(dtype))


def rand(
    *size: Shape, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random numbers, uniform over [0, 1).

    Args:
        *size: the length of each axis, or a tuple or list of them.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    lengths, dtype = _shape_and_dtype(size, dtype)
    return ops.rand(*lengths, dtype=dtype, seed=_seed(generator))


def randn(
    *size: Shape, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random numbers from the standard normal distribution.

    Args:
        *size: the length of each axis, or a tuple or list of them.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Float32.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.
    """
    lengths, dtype = _shape_and_dtype(size, dtype)
    return ops.randn(*lengths, dtype=dtype, seed=_seed(generator))


def rand_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random numbers, uniform over [0, 1), in another Tensor's shape.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: the dtype is not floating.
    """
    return ops.rand_like(input, dtype=_floating(dtype or check_tensor(input, "rand_like").dtype, "rand_like"))


def randn_like(input: Tensor, *, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random numbers from the standard normal distribution, in another Tensor's shape.

    Args:
        input: the Tensor with that shape.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        TypeError: the dtype is not floating.
    """
    return ops.randn_like(input, dtype=_floating(dtype or check_tensor(input, "randn_like").dtype, "randn_like"))


def randint(
    *args: Any, generator: Generator | None = None, dtype: DTypeLike | None = None, device: str | None = None
) -> Tensor:
    """Draw random ints: ``randint(high, size)`` from 0, ``randint(low, high, size)`` from ``low`` below ``high``.

    Args:
        *args: optionally ``low``, then ``high`` and ``size``, which is a tuple with the length of each axis.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Int64.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        a Tensor of the shape ``size``.

    Raises:
        ValueError: another number of arguments, or no int from ``low`` to below ``high`` exists.
    """
    if len(args) not in (2, 3):
        raise TypeError(f"For 'mint.randint', 'low', 'high' and 'size' or two of them must be given, but got {args}")
    low, high, size = (0, *args) if len(args) == 2 else args
    return ops.randint(low, high, size, _seed(generator), dtype=dtype)


def randint_like(input: Tensor, *args: int, dtype: DTypeLike | None = None, device: str | None = None) -> Tensor:
    """Draw random ints in another Tensor's shape: ``randint_like(input, high)`` from 0, ``randint_like(input, low,
    high)``.

    Args:
        input: the Tensor with that shape.
        *args: optionally ``low``, then ``high``, which is above all of them.
        dtype: the element type; None is that of ``input``.
        device: accepted for MindSpore compatibility; ``set_device`` selects the device of new Tensors.

    Returns:
        the Tensor.

    Raises:
        ValueError: another number of arguments, or no int from ``low`` to below ``high`` exists.
    """
    if len(args) not in (1, 2):
        raise TypeError(f"For 'mint.randint_like', 'low' and 'high' or one of them must be given, but got {args}")
    low, high = (0, *args) if len(args) == 1 else args
    return ops.randint(low, high, check_tensor(input, "mint.randint_like").shape, dtype=dtype or input.dtype)


def randperm(n: int, *, generator: Generator | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return the numbers from 0 below ``n`` in random order.

    Args:
        n: the length.
        generator: the stream to draw from; None is the engine's own.
        dtype: the element type; None is Int64.

    Returns:
        a vector of length ``n``.
    """
    order = ops.argsort(ops.rand(n, seed=_seed(generator)))
    return order.astype(int64 if dtype is None else dtype)


def normal(
    mean: float | Tensor = 0.0,
    std: float | Tensor = 1.0,
    size: Sequence[int] | None = None,
    generator: Generator | None = None,
) -> Tensor:
    """Draw random numbers from the normal distribution with these means and deviations.

    Args:
        mean: the mean: a number or a Tensor.
        std: the standard deviation: a number or a Tensor.
        size: the shape; None is the broadcast shape of ``mean`` and ``std``.
        generator: the stream to draw from; None is the engine's own.

    Returns:
        the Tensor.
    """
    if size is None:
        size = np.broadcast_shapes(*[x.shape for x in (mean, std) if isinstance(x, Tensor)])
    return ops.randn(*ints_of(size, "mint.normal", "size"), seed=_seed(generator)) * std + mean


def bernoulli(input: Tensor, *, generator: Generator | None = None) -> Tensor:
    """Draw 1 with the probability in ``input``, else 0.

    Args:
        input: the probabilities, a floating Tensor with elements in [0, 1].
        generator: the stream to draw from; None is the engine's own.

    Returns:
        a Tensor of the shape and dtype of ``input``.
    """
    return (ops.rand(*check_tensor(input, "mint.bernoulli").shape, seed=_seed(generator)) < input).astype(input.dtype)


def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None
) -> Tensor:
    """Draw ``num_samples`` indices for each row, with the weights of the row.

    Args:
        input: weights (N,) or (M, N), 0 or above; they need not sum to 1.
        num_samples: the number of indices for each row.
        replacement: whether an index may be drawn again.
        generator: the stream to draw from; None is the engine's own (``set_seed``).

    Returns:
        an Int64 Tensor (num_samples,) or (M, num_samples).

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: weights that ``ops.multinomial`` rejects, or without ``replacement`` more samples than N.
    """
    return ops.multinomial(input, num_samples, replacement, _seed(generator)).astype(int64)


def _seed(generator: Generator | None) -> int | None:
    """Return a seed drawn from a generator; None for the engine's own stream."""
    if generator is None:
        return None
    seed, offset = check_generator(generator).draw(1)
    return int((seed * 1000003 + offset) % 2**31)  # a different seed for each draw of the generator
