"""Other shapes and orders of the axes: reshape, transpose, flatten, squeeze, flip, tile."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...base.argument_checks import check_one_of
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import DTypeLike, Ints, Shape
from ...cpu.array_module import array_module
from ...tensors.dtype import DType, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.views import ReshapeOperator, ViewOperator
from ..arguments import Axis, axes_of, check_operand, check_tensor, ints_of, one_axis
from .broadcasting import broadcast_to_operator
from .copying import apart

__all__ = [
    "broadcast_to",
    "expand_dims",
    "flatten",
    "flip",
    "permute",
    "reshape",
    "squeeze",
    "swapaxes",
    "tile",
    "transpose",
    "unsqueeze",
]

_reshape = ReshapeOperator(
    "reshape",
    lambda x, shape: x.reshape(shape),
    (lambda F, g, out, x, shape: F.reshape(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
    placeholders=(0, -1),
)

_transpose = ViewOperator(
    "transpose",
    lambda x, axes: x.transpose(axes),
    (lambda F, g, out, x, axes: F.transpose(g, axes=tuple(int(i) for i in np.argsort(axes))),),
    keeps_dtype=True,
    placeholders=(0, -1),
)

_flip = Operator(
    "flip", lambda x, axes: array_module(x).flip(x, axes), (lambda F, g, out, x, axes: F.flip(g, axes=axes),)
)


@declare(primitive=prim("Reshape"), mint=True, numpy=renamed(input="x", shape="new_shape"))
def reshape(input: Tensor, shape: Shape) -> Tensor:
    """Return the elements in row-major order in a different shape.

    Args:
        input: a tensor of any shape.
        shape: the new lengths, an int or ints; one may be -1 and is inferred from the others.

    Returns:
        A tensor of the same dtype; it shares memory with ``input`` if the layout allows it.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``shape`` does not hold ints.
        ValueError: the number of elements does not fit, or -1 occurs twice.
    """
    lengths = ints_of(shape, "reshape", "shape")
    check_tensor(input, "reshape")
    product = math.prod(n for n in lengths if n != -1)
    if lengths.count(-1) > 1 or (
        product != input.size if -1 not in lengths else (product == 0 or input.size % product)
    ):
        raise ValueError(f"For 'reshape', {input.size} elements of shape {input.shape} do not fit into {lengths}")
    return _reshape(input, shape=lengths)


@declare(method="reshape")
def _reshape_of_tensor(input: Tensor, *lengths: Any, shape: Shape | None = None) -> Tensor:
    """Return the elements in row-major order in a different shape.

    Args:
        input: a tensor of any shape.
        *lengths: the new lengths, one by one or as one tuple; one may be -1 and is inferred from the others.
        shape: instead of these, the new lengths by name.

    Returns:
        A tensor of the same dtype; it shares memory with ``input`` if the layout allows it.

    Raises:
        TypeError: no shape, two of them, or values other than ints.
        ValueError: the number of elements does not fit.
    """
    return reshape(input, _shape_of("reshape", lengths, shape))


def _shape_of(name: str, lengths: tuple[Any, ...], shape: Any) -> Any:
    """Return the shape that a user gave by position or by name."""
    if bool(lengths) == (shape is not None):
        conflict = "both" if lengths else "nothing"
        raise TypeError(f"For 'Tensor.{name}', the shape must be given by place or as 'shape', but got {conflict}")
    return shape if shape is not None else lengths[0] if len(lengths) == 1 else lengths


@declare(method="view")
def _view_of_tensor(input: Tensor, *lengths: Any, shape: Shape | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return the elements in a different shape, or their bytes read as a different dtype.

    Args:
        input: a tensor of any shape.
        *lengths: the new lengths, one by one or as one tuple (see ``reshape``); or one dtype, through which no gradient
            passes.
        shape: instead of these, the new lengths by name.
        dtype: instead of these, the dtype by name.

    Returns:
        A tensor of the new shape; with a dtype, of that dtype, the last axis scaled by the ratio of the sizes.

    Raises:
        TypeError: neither shape nor dtype, two of them, or values other than ints.
        ValueError: the number of elements, or of bytes in the last axis, does not fit.
    """
    if dtype is not None and (lengths or shape is not None):
        raise TypeError("For 'Tensor.view', a shape or a dtype must be given, but got both")
    if dtype is None and len(lengths) == 1 and isinstance(lengths[0], DType) and shape is None:
        dtype = lengths[0]
    if dtype is not None:
        in_rows = array_module(input._array).ascontiguousarray(input._array).reshape(input.shape)
        return Tensor._wrap(in_rows.view(numpy_dtype(dtype)))
    return reshape(input, _shape_of("view", lengths, shape))


@declare(primitive=prim("Transpose"), mint="permute", numpy=renamed(input="a", dims="axes", defaults={"dims": None}))
def transpose(input: Tensor, dims: Ints | Tensor | None) -> Tensor:
    """Return the tensor with its axes in another order.

    Args:
        input: a tensor of any shape.
        dims: for each new axis the old one, negative ones counted from the end; None reverses them.

    Returns:
        A tensor of the same dtype, whose axis i has the length of axis dims[i] of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dims`` does not hold ints.
        ValueError: ``dims`` is not a permutation of all axes.
    """
    check_tensor(input, "transpose")
    requested = tuple(reversed(range(input.ndim))) if dims is None else ints_of(dims, "transpose", "dims")
    order = tuple(n % input.ndim if -input.ndim <= n < input.ndim else n for n in requested)
    if sorted(order) != list(range(input.ndim)):
        raise ValueError(
            f"For 'transpose', 'dims' must be a permutation of the {input.ndim} axes of 'input', but got {requested}"
        )
    return _transpose(input, axes=order)


permute = alias(transpose, renamed("permute", dims="axis"))


@declare(method="permute")
def _permute_of_tensor(input: Tensor, *axis: Any, dims: Ints | None = None) -> Tensor:
    """Return the tensor with its axes in another order.

    Args:
        input: a tensor of any shape.
        *axis: for each new axis the old one, one by one or as one tuple.
        dims: the same by name.

    Returns:
        A tensor of the same dtype, whose axis i has the length of axis dims[i] of ``input``.

    Raises:
        ValueError: these are not a permutation of all axes.
    """
    if dims is not None and not axis:
        axis = tuple(ints_of(dims, "permute", "dims"))
    return transpose(input, axis[0] if len(axis) == 1 and not isinstance(axis[0], int) else axis)


@declare(
    method=("swapaxes", renamed("swapdims", axis0="dim0", axis1="dim1")),
    mint=("swapaxes", renamed("transpose", axis0="dim0", axis1="dim1")),
    numpy=renamed(input="x", axis1="axis2", axis0="axis1"),
)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """Return the tensor with two axes exchanged.

    Args:
        input: a tensor of any shape.
        axis0: one axis, in [-ndim, ndim).
        axis1: the other one.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range.
    """
    order = list(range(check_tensor(input, "swapaxes").ndim))
    first, second = (one_axis(axis, input.ndim, "swapaxes") for axis in (axis0, axis1))
    if order:
        order[first], order[second] = second, first
    return transpose(input, tuple(order))


@declare(method="transpose")
def _transpose_of_tensor(input: Tensor, *axes: Any, dim0: int | None = None, dim1: int | None = None) -> Tensor:
    """Return the tensor with its axes in another order, or two of them exchanged.

    Args:
        input: a tensor of any shape.
        *axes: nothing, which reverses all; for each new axis the old one, one by one or as one tuple; or two ints,
            which exchanges these two (PyTorch's form).
        dim0: one of two axes to be exchanged, by name.
        dim1: the other one.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: the axes are not a permutation of all, or one is out of range.
    """
    if dim0 is not None and dim1 is not None and not axes:
        return swapaxes(input, dim0, dim1)
    if not axes:
        return transpose(input, None)
    if len(axes) == 2 and isinstance(axes[0], int):
        return swapaxes(input, *axes)
    return transpose(input, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


@declare(primitive=prim("Flatten"))
def _flatten_class(input_x: Tensor) -> Tensor:
    """Return the tensor with all axes but the first joined to one.

    Args:
        input_x: a tensor with at least one axis.

    Returns:
        A tensor of two axes and the same dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor.
        ValueError: it has no axes.
    """
    x = check_operand(input_x, "Flatten", "input_x")
    if not x.ndim:
        raise ValueError("For 'Flatten', 'input_x' must have at least 1 axis, but got shape ()")
    return apart(reshape(x, (x.shape[0], math.prod(x.shape[1:]))), x)


def flatten(input: Tensor, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Tensor:
    """Return the tensor with the axes from ``start_dim`` to ``end_dim`` joined to one.

    Args:
        input: a tensor of any shape.
        order: "C" for row-major order, "F" for that of the tensor with its axes reversed.
        start_dim: the first axis to be joined, in [-ndim, ndim).
        end_dim: the last one, in [-ndim, ndim).

    Returns:
        A tensor of the same dtype; of one axis if ``input`` has one or none.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``order`` is neither "C" nor "F", or an axis is out of range or after ``end_dim``.
    """
    x = check_operand(input, "flatten")
    return apart(flat_view(x, order, start_dim, end_dim), x)


def flat_view(input: Tensor, order: str, start_dim: int, end_dim: int) -> Tensor:
    """Return the result of ``flatten``, which shares the elements of ``input``."""
    check_one_of(order, ("C", "F"), "flatten", "order")
    x = check_tensor(input, "flatten")
    if order == "F":
        return flat_view(transpose(x, None), "C", start_dim, end_dim)
    if x.ndim < 2 and start_dim == 1:
        return reshape(x, (x.size,))
    first, last = (axes_of(d, x.ndim, "flatten") for d in (start_dim, end_dim))
    start, stop = (first or (0,))[0], (last or (0,))[0]
    if start > stop:
        raise ValueError(f"For 'flatten', 'start_dim' {start_dim} must not come after 'end_dim' {end_dim}")
    return reshape(x, (*x.shape[:start], math.prod(x.shape[start : stop + 1]), *x.shape[stop + 1 :]))


@declare(method="flatten")
def _flatten_of_tensor(
    input: Tensor, order: str | int = "C", *dims: int, start_dim: int = 0, end_dim: int = -1
) -> Tensor:
    """Return the tensor with the axes from ``start_dim`` to ``end_dim``, by default all, joined to one.

    Args:
        input: a tensor of any shape.
        order: "C" for row-major order, "F" for that of the tensor with its axes reversed; an int is ``start_dim``
            (PyTorch's form).
        *dims: ``end_dim``, after such an int.
        start_dim: the first axis to be joined, in [-ndim, ndim).
        end_dim: the last one, in [-ndim, ndim).

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: ``order`` is neither "C" nor "F", or an axis is out of range or after ``end_dim``.
    """
    if isinstance(order, int):
        start_dim, order, end_dim = order, "C", dims[0] if dims else end_dim
    if order == "C" and input.ndim == 0:
        return reshape(input, 1)
    return flat_view(input, order, start_dim, end_dim)


@declare(primitive=prim("Squeeze", axis=()), numpy=renamed(input="a"))
def squeeze(input: Tensor, axis: Axis = None) -> Tensor:
    """Return the tensor without the axes of length 1.

    Args:
        input: a tensor of any shape.
        axis: an axis or axes to remove, in [-ndim, ndim); longer ones stay. By default all. A tensor without axes stays
            as it is, whatever the axis.

    Returns:
        A tensor of the same dtype and elements.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = check_tensor(input, "squeeze")
    if not x.shape:
        axis = None
    removed = axes_of(axis, x.ndim, "squeeze")
    lengths = [n for i, n in enumerate(x.shape) if n != 1 or (removed is not None and i not in removed)]
    return reshape(x, tuple(lengths))


@declare(method="squeeze")
def _squeeze_of_tensor(input: Tensor, *axes: Any, axis: Axis = None) -> Tensor:
    """Return the tensor without the axes of length 1.

    Args:
        input: a tensor of any shape.
        *axes: the axes to remove, one by one or as one tuple; longer ones stay. By default all.
        axis: the same by name.

    Returns:
        A tensor of the same dtype and elements.

    Raises:
        ValueError: an axis is out of range or repeated.
    """
    return squeeze(input, axes[0] if len(axes) == 1 else axes or axis)


@declare(
    method=("expand_dims", renamed("unsqueeze", axis="dim")),
    primitive=prim("ExpandDims"),
    mint=renamed("unsqueeze", input_x="input", axis="dim"),
)
def expand_dims(input_x: Tensor, axis: int) -> Tensor:
    """Return the tensor with one more axis, of length 1.

    Args:
        input_x: a tensor of any shape.
        axis: the position of the new axis in the result, in [-ndim - 1, ndim].

    Returns:
        A tensor of the same dtype and elements.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_tensor(input_x, "expand_dims", "input_x")
    axes = axes_of(axis, x.ndim + 1, "expand_dims")
    at = (axes or (0,))[0]
    return reshape(x, (*x.shape[:at], 1, *x.shape[at:]))


unsqueeze = alias(expand_dims, renamed("unsqueeze", input_x="input", axis="dim"))


@declare(method=True, primitive=(prim("BroadcastTo", "shape"), prim("Expand")), mint=True, numpy=renamed(input="array"))
def broadcast_to(input: Tensor, shape: Shape) -> Tensor:
    """Return the tensor repeated along axes of length 1, and along new leading ones, to fill a shape.

    Args:
        input: a tensor of any shape.
        shape: the new lengths; -1 keeps that of an axis.

    Returns:
        A tensor of ``shape`` and the same dtype; its gradient is summed over the repetitions.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``shape`` does not hold ints.
        ValueError: the length of an axis is neither 1 nor that in ``shape``.
    """
    x = check_tensor(input, "broadcast_to")
    lengths = ints_of(shape, "broadcast_to", "shape")
    offset = len(lengths) - x.ndim
    target = tuple(x.shape[i - offset] if n == -1 and i >= offset else n for i, n in enumerate(lengths))
    return broadcast_to_operator(x, shape=target)


@declare(primitive=prim("Tile"), mint=True, numpy=renamed(input="a", dims="reps"))
def tile(input: Tensor, dims: Shape) -> Tensor:
    """Return the whole tensor repeated along its axes.

    Args:
        input: a tensor of any shape.
        dims: how often along each axis, none negative; with fewer numbers than axes the leading ones count as 1, with
            more the tensor gets leading axes.

    Returns:
        A tensor of the same dtype, along axis i dims[i] times as long.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dims`` does not hold ints.
        ValueError: a number is negative.
    """
    x = check_operand(input, "tile")
    times = ints_of(dims, "tile", "dims")
    if min(times, default=0) < 0:
        raise ValueError(f"For 'tile', 'dims' must not be negative, but got {times}")
    shape = (1,) * (len(times) - x.ndim) + x.shape
    times = (1,) * (len(shape) - len(times)) + times
    expanded = reshape(x, tuple(n for pair in zip((1,) * len(shape), shape, strict=True) for n in pair))
    full = broadcast_to(expanded, tuple(n for pair in zip(times, shape, strict=True) for n in pair))
    return apart(reshape(full, tuple(t * n for t, n in zip(times, shape, strict=True))), x)


@declare(method="tile")
def _tile_of_tensor(input: Tensor, *repeats: Any, dims: Shape = (), reps: Shape = ()) -> Tensor:
    """Return the whole tensor repeated along its axes.

    Args:
        input: a tensor of any shape.
        *repeats: how often along each axis, one by one or as one tuple; none negative. With fewer numbers than axes
            the leading ones count as 1, with more the tensor gets leading axes.
        dims: the same, by name.
        reps: the same, by its other name.

    Returns:
        A tensor of the same dtype, along axis i repeats[i] times as long.

    Raises:
        TypeError: the numbers are not ints.
        ValueError: a number is negative.
    """
    return tile(input, repeats[0] if len(repeats) == 1 else repeats or dims or reps)


@declare(method=True)
def _repeat(input: Tensor, *repeats: Any) -> Tensor:
    """Return the whole tensor repeated along its axes.

    Args:
        input: a tensor of any shape.
        *repeats: how often along each axis, one by one or as one tuple; at least as many numbers as axes, with more the
            tensor gets leading axes.

    Returns:
        A tensor of the same dtype, along axis i repeats[i] times as long.

    Raises:
        ValueError: fewer numbers than axes, or a negative one.
    """
    times = repeats[0] if len(repeats) == 1 and not isinstance(repeats[0], int) else repeats
    if len(times) < input.ndim:
        raise ValueError(
            f"For 'Tensor.repeat', 'repeats' must have at least {input.ndim} entries, but got {tuple(times)}"
        )
    return tile(input, tuple(times))


@declare(method=True, mint=True)
def flip(input: Tensor, dims: Ints) -> Tensor:
    """Return the order of the elements reversed along axes.

    Args:
        input: a tensor of any shape.
        dims: the axis or axes, in [-ndim, ndim); an empty tuple is all.

    Returns:
        A tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dims`` does not hold ints.
        ValueError: an axis is out of range or repeated.
    """
    axes = axes_of(ints_of(dims, "flip", "dims"), check_tensor(input, "flip").ndim, "flip")
    return _flip(input, axes=axes)
