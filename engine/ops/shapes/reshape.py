"""Operators that move elements without computing: shape, order, joining, splitting, element type, identity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from ...base.argument_checks import check_int, check_one_of, check_positive_int, check_type
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import Array, DTypeLike, Functions, Ints, Shape, TensorLike, Value
from ...cpu.array_module import array_module
from ...tape.tape import state
from ...tensors.backend import moved
from ...tensors.dtype import DType, numpy_dtype, promote
from ...tensors.nested import Sparse, replaced, tensors_in
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import fixed
from ...tensors.views import ReshapeOperator, ViewOperator, stop_gradient_operator
from ..arguments import Axis, along, axes_of, check_axes, check_operand, check_tensor, ints_of, one_axis
from .broadcasting import array_dtype, broadcast_to_operator, cast_operator

__all__ = [
    "broadcast_to", "cast", "cat", "chunk", "concat", "expand_dims", "flatten", "flip", "identity", "move_to", "pad",
    "permute", "reshape", "split", "squeeze", "stack", "stop_gradient", "swapaxes", "tile", "transpose", "unsqueeze"
]  # fmt: skip

_reshape = ReshapeOperator(
    "reshape",
    lambda x, shape: x.reshape(shape),
    (lambda F, g, out, x, shape: F.reshape(g, shape=tuple(x.shape)),),
    keeps_dtype=True,
    unread=(0, -1),
)
_transpose = ViewOperator(
    "transpose",
    lambda x, axes: x.transpose(axes),
    (lambda F, g, out, x, axes: F.transpose(g, axes=tuple(int(i) for i in np.argsort(axes))),),
    keeps_dtype=True,
    unread=(0, -1),
)
_flip = Operator(
    "flip", lambda x, axes: array_module(x).flip(x, axes), (lambda F, g, out, x, axes: F.flip(g, axes=axes),)
)
identity = Operator("identity", lambda x: x.view(), (lambda F, g, out, x: g,), keeps_dtype=True).declare(
    "The same values, a new tensor."
)


@declare(primitive=(prim("Identity"), prim("Reusing")))
def _identity(input_x: Tensor) -> Tensor:
    """Return the same values in a new tensor.

    Args:
        input_x: a tensor.
    """
    result: Tensor = identity(input_x)
    return result


def apart(result: Tensor, source: Tensor) -> Tensor:
    """Return a function's result so that it does not share elements with the tensor that it was made from.

    Args:
        result: a new tensor, or ``source``.
        source: the tensor that it was made from.

    Returns:
        A tensor that writes to ``source`` do not change, nor the other way around.
    """
    if result is source:
        return identity(source)
    result._view = None
    return result


_contiguous = Operator("contiguous", lambda x: x.copy(order="C"), (lambda F, g, out, x: g,), keeps_dtype=True).declare(
    "The same values, laid out row by row."
)
slice_operator = ViewOperator(
    "slice_axis",
    lambda x, axis, start, stop: x[(slice(None),) * axis + (slice(start, stop),)],
    (lambda F, g, out, x, axis, start, stop: F.pad_axis(g, axis=axis, before=start, after=x.shape[axis] - stop),),
    keeps_dtype=True,
)


def _parts_kernel(x: Array, axis: int, sizes: tuple[int, ...]) -> tuple[Array, ...]:
    ends = list(accumulate(sizes))
    return tuple([x[(slice(None),) * axis + (slice(end - size, end),)] for size, end in zip(sizes, ends, strict=True)])


def _parts_rule(
    F: Functions, needs: list[bool], g: tuple[Value | None, ...], out: Any, x: Value, axis: int, sizes: tuple[int, ...]
) -> list[Any]:
    gradients = [F.zeros_like(part) if gradient is None else gradient for gradient, part in zip(g, out, strict=True)]
    # 0 is added as if each gradient were padded with zeros to the length of `x` and all were summed: -0 becomes 0.
    return [F.add(F.concat(*gradients, axis=axis), 0.0)]


parts_operator = Operator("parts", _parts_kernel, joint_vjp=_parts_rule, keeps_dtype=True).declare(
    "Parts of a tensor along an axis, of these sizes, which add up to its length."
)


def _place_of(x: Value) -> str:
    return "CPU" if isinstance(x._array if isinstance(x, Tensor) else x, np.ndarray) else "GPU"


move_operator = Operator(
    "move_to",
    lambda x, to: moved(x, to, "move_to"),
    (lambda F, g, out, x, to: F.move_to(g, to=_place_of(x)),),
    keeps_dtype=True,
).declare('The same values on another device, "CPU" or "GPU".')


def _pad_axis_kernel(x: Array, axis: int, before: int, after: int) -> Array:
    length = x.shape[axis]
    result = array_module(x).zeros((*x.shape[:axis], before + length + after, *x.shape[axis + 1 :]), x.dtype)
    result[(slice(None),) * axis + (slice(before, before + length),)] = x
    return result


_pad_axis = Operator(
    "pad_axis",
    _pad_axis_kernel,
    (lambda F, g, out, x, axis, before, after: F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis]),),
)


def _concat_rule(F: Functions, needs: list[bool], g: Value, out: Value, *parts: Value, axis: int) -> list[Any]:
    gradients, start = [], 0
    for part, is_needed in zip(parts, needs, strict=True):
        stop = start + part.shape[axis]
        gradients.append(F.slice_axis(g, axis=axis, start=start, stop=stop) if is_needed else None)
        start = stop
    return gradients


_concat = Operator(
    "concat", lambda *parts, axis: array_module(parts[0]).concatenate(parts, axis=axis), joint_vjp=_concat_rule
)


def _pad_kernel(x: Array, widths: tuple[tuple[int, int], ...], mode: str, value: float) -> Array:
    xp = array_module(x)
    return xp.pad(x, widths, mode=mode, **({"constant_values": value} if mode == "constant" else {}))


def _pad_rule(
    F: Functions, g: Value, out: Value, x: Value, widths: tuple[tuple[int, int], ...], mode: str, value: float
) -> Any:
    for axis, (before, after) in enumerate(widths):
        if mode == "constant":
            g = F.slice_axis(g, axis=axis, start=before, stop=before + x.shape[axis])
        elif before or after:  # an element gets the gradients of all its copies
            positions = np.pad(np.arange(x.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
            shape = (*g.shape[:axis], x.shape[axis], *g.shape[axis + 1 :])
            g = F.scatter_add(g, index=along(g, axis, _beside(g, positions)), shape=shape)
    return g


def _beside(x: Value, places: Array) -> Array:
    """Return an index on the device of ``x``."""
    return fixed(array_module(x._array if isinstance(x, Tensor) else x).asarray(places))


_pad = Operator("pad", _pad_kernel, (_pad_rule,))


@declare(method="contiguous")
def _contiguous_of_tensor(input: Tensor) -> Tensor:
    """Return the same values in row-major order in memory.

    Args:
        input: a tensor of any shape.

    Returns:
        ``input`` itself if it is contiguous, else a copy of its shape and dtype.
    """
    return input if input.is_contiguous() else _contiguous(input)


@declare(primitive=prim("Reshape"), mint=True, numpy=renamed(input="x", shape="new_shape"))
def reshape(input: Tensor, shape: Shape) -> Tensor:
    """Return the elements in row-major order in another shape.

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
    """Return the elements in row-major order in another shape.

    Args:
        input: a tensor of any shape.
        *lengths: the new lengths, one by one or as one tuple; one may be -1 and is inferred from the others.
        shape: instead of these, the new lengths by name.

    Returns:
        A tensor of the same dtype; it shares memory with ``input`` if the layout allows it.

    Raises:
        TypeError: no shape, two of them, or other values than ints.
        ValueError: the number of elements does not fit.
    """
    return reshape(input, _one_shape("reshape", lengths, shape))


def _one_shape(name: str, lengths: tuple[Any, ...], shape: Any) -> Any:
    """Return the shape that a user gave by position or by name."""
    if bool(lengths) == (shape is not None):
        conflict = "both" if lengths else "nothing"
        raise TypeError(f"For 'Tensor.{name}', the shape must be given by place or as 'shape', but got {conflict}")
    return shape if shape is not None else lengths[0] if len(lengths) == 1 else lengths


@declare(method="view")
def _view_of_tensor(input: Tensor, *lengths: Any, shape: Shape | None = None, dtype: DTypeLike | None = None) -> Tensor:
    """Return the elements in another shape, or their bytes read as another dtype.

    Args:
        input: a tensor of any shape.
        *lengths: the new lengths, one by one or as one tuple (see ``reshape``); or one dtype, through which no gradient
            passes.
        shape: instead of these, the new lengths by name.
        dtype: instead of these, the dtype by name.

    Returns:
        A tensor of the new shape; with a dtype, of that dtype, the last axis scaled by the ratio of the sizes.

    Raises:
        TypeError: neither shape nor dtype, two of them, or other values than ints.
        ValueError: the number of elements, or of bytes in the last axis, does not fit.
    """
    if dtype is not None and (lengths or shape is not None):
        raise TypeError("For 'Tensor.view', a shape or a dtype must be given, but got both")
    if dtype is None and len(lengths) == 1 and isinstance(lengths[0], DType) and shape is None:
        dtype = lengths[0]
    if dtype is not None:
        in_rows = array_module(input._array).ascontiguousarray(input._array).reshape(input.shape)
        return Tensor._wrap(in_rows.view(numpy_dtype(dtype)))
    return reshape(input, _one_shape("view", lengths, shape))


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
        raise ValueError(f"For 'transpose', 'dims' must order the {input.ndim} axes of 'input', but got {requested}")
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


@declare(
    primitive=(prim("Concat", axis=0), prim("ParallelConcat")), mint=(renamed(axis="dim"), renamed("cat", axis="dim"))
)
def concat(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return the concatenation of tensors along an axis that they have.

    Args:
        tensors: a list or tuple of tensors, whose shapes differ along ``axis`` at most; different dtypes are promoted
            to one that holds all values.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tensor, along ``axis`` as long as all of them together.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors.
        ValueError: it is empty, shapes differ elsewhere than along ``axis``, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "concat")
    at = axes_of(axis, parts[0].ndim, "concat")
    first = parts[0]
    for part in parts:
        if part._array.dtype != first._array.dtype:
            common = first._array.dtype
            for tensor in parts:
                common = promote(common, tensor._array.dtype)
            parts = [p if p._array.dtype == common else cast_operator(p, dtype=common) for p in parts]
            break
    return _concat(*parts, axis=(at or (0,))[0])


cat = concat


@declare(primitive=(prim("Stack", axis=0), prim("Pack", axis=0)))
def stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis.

    Args:
        tensors: a list or tuple of tensors of one shape and one dtype.
        axis: the position of the new axis in the result, in [-ndim - 1, ndim].

    Returns:
        A tensor with one more axis, as long as there are tensors.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors, or their dtypes differ.
        ValueError: it is empty, shapes differ, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "stack")
    for index, part in enumerate(parts):
        if part.dtype != parts[0].dtype:
            raise TypeError(
                f"For 'stack', all tensors must be {parts[0].dtype}, but entry {index} is {part.dtype}; cast them first"
            )
    return _stack(parts, axis)


@declare(mint=renamed("stack", axis="dim"), numpy=renamed("stack", tensors="arrays"))
def _stack(tensors: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Return tensors of one shape joined along a new axis, in the dtype that they promote to.

    Args:
        tensors: a list or tuple of tensors of one shape.
        axis: the position of the new axis in the result, in [-ndim - 1, ndim].

    Returns:
        A tensor with one more axis, as long as there are tensors.

    Raises:
        TypeError: ``tensors`` is not a list or tuple of tensors.
        ValueError: it is empty, shapes differ, or ``axis`` is out of range.
    """
    parts = _sequence(tensors, "stack")
    for index, part in enumerate(parts):
        if part.shape != parts[0].shape:
            raise ValueError(
                f"For 'stack', all tensors must have the shape {parts[0].shape}, but entry {index} has {part.shape}"
            )
    return concat([expand_dims(part, axis) for part in parts], axis)


def tensor_of(value: TensorLike) -> Tensor:
    """Return a value as a tensor; unlike in ``Tensor(value)``, tensors in it keep their gradients.

    Args:
        value: a tensor, which is returned itself, an array, a number, or a list or tuple of numbers and tensors, nested
            as the axes are.

    Returns:
        A tensor with the elements of ``Tensor(value)``.

    Raises:
        TypeError: a list is not rectangular, or holds other values.
    """
    if isinstance(value, Tensor):
        return value
    result = Tensor(value)
    return _joined(value, result.dtype) if state.recordings and tensors_in(value) else result


def _joined(value: Any, dtype: DType) -> Tensor:
    if isinstance(value, list | tuple):
        return stack([_joined(part, dtype) for part in value])
    return cast(value, dtype) if isinstance(value, Tensor) else Tensor(value, dtype)


def _sequence(tensors: Sequence[Tensor], name: str) -> list[Tensor]:
    check_type(tensors, list | tuple, name, "tensors", "a list or tuple of Tensors")
    if not tensors:
        raise ValueError(f"For '{name}', 'tensors' must not be empty")
    return [check_tensor(t, name, f"tensors[{i}]") for i, t in enumerate(tensors)]


@declare(method=True, mint=renamed(axis="dim"))
def split(tensor: Tensor, split_size_or_sections: Shape, axis: int = 0) -> tuple[Tensor, ...]:
    """Return parts of a tensor along an axis.

    Args:
        tensor: a tensor with at least one axis.
        split_size_or_sections: an int, the length of each part (the last may be shorter), or the length of each.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tuple of tensors of the same dtype; of an axis without elements one such part.

    Raises:
        TypeError: ``tensor`` is not a Tensor, or the lengths are not ints.
        ValueError: a length is negative (a single one not positive), the lengths do not add up to that of the axis, or
            ``axis`` is out of range.
    """
    x = check_axes(tensor, 1, "split", "tensor")
    at = one_axis(axis, x.ndim, "split")
    length = x.shape[at]
    if isinstance(split_size_or_sections, int):
        if split_size_or_sections <= 0:
            raise ValueError(f"For 'split', the size of a part must be positive, but got {split_size_or_sections}")
        sizes = [split_size_or_sections] * (length // split_size_or_sections)
        sizes += [length % split_size_or_sections] if length % split_size_or_sections or not length else []
    else:
        sizes = list(ints_of(split_size_or_sections, "split", "split_size_or_sections"))
        if min(sizes, default=0) < 0:
            raise ValueError(f"For 'split', no size of a part may be negative, but got {sizes}")
        if sum(sizes) != length:
            raise ValueError(f"For 'split', the sizes {sizes} must add up to {length}, the length of axis {axis}")
    parts, start = [], 0
    for size in sizes:
        parts.append(slice_operator(x, axis=at, start=start, stop=start + size))
        start += size
    return tuple(parts)


@declare(primitive=prim("SplitV", "size_splits", "split_dim", "num_split"))
def _split_by_sizes(x: Tensor, size_splits: Shape, split_dim: int, num_split: int) -> tuple[Tensor, ...]:
    """Return parts of given lengths along an axis.

    Args:
        x: a tensor with at least one axis.
        size_splits: the length of each part; one may be -1 and is inferred from the others.
        split_dim: the axis, in [-ndim, ndim).
        num_split: the number of parts; must be the number of lengths.

    Returns:
        A tuple of ``num_split`` tensors of the same dtype.

    Raises:
        ValueError: the lengths do not add up to that of the axis, ``num_split`` is not their number, or ``split_dim``
            is out of range.
    """
    sizes = list(ints_of(size_splits, "SplitV", "size_splits"))
    at = one_axis(split_dim, check_tensor(x, "SplitV", "x").ndim, "SplitV")
    if num_split != len(sizes):
        raise ValueError(f"For 'SplitV', 'num_split' must be {len(sizes)}, the number of sizes, but got {num_split}")
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = x.shape[at] - sum(sizes) - 1
    return split(x, sizes, at)


@declare(method=True, mint=renamed(axis="dim"))
def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Return at most ``chunks`` parts along an axis, all of one length but the last, which may be shorter.

    Args:
        input: a tensor with at least one axis.
        chunks: the number of parts; there are fewer if the axis is too short.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A tuple of tensors of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``chunks`` or ``axis`` is not an int.
        ValueError: ``chunks`` is not above 0, or ``axis`` is out of range.
    """
    check_positive_int(chunks, "chunk", "chunks", repr)
    x = check_tensor(input, "chunk")
    at = one_axis(axis, x.ndim, "chunk")
    if not x.ndim:
        raise ValueError("For 'chunk', 'input' must have at least one axis, but got shape ()")
    return split(x, max(1, -(-x.shape[at] // chunks)), at)


@declare(primitive=prim("Split", axis=0, output_num=1))
def _split_evenly(input_x: Tensor, axis: int, output_num: int) -> tuple[Tensor, ...]:
    """Return parts of one length along an axis.

    Args:
        input_x: a tensor with at least one axis.
        axis: the axis, in [-ndim, ndim).
        output_num: the number of parts, which divides the length of the axis.

    Returns:
        A tuple of ``output_num`` tensors of the same dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``axis`` or ``output_num`` is not an int.
        ValueError: ``output_num`` does not divide the axis, or ``axis`` is out of range.
    """
    x = check_tensor(input_x, "Split", "input_x")
    at = one_axis(axis, x.ndim, "Split")
    check_int(output_num, "Split", "output_num")
    if not x.ndim or output_num < 1 or x.shape[at] % output_num:
        raise ValueError(
            f"For 'Split', 'output_num' must be positive and divide axis {axis} of shape {x.shape}, "
            f"but got {output_num}"
        )
    return split(x, [x.shape[at] // output_num] * output_num, at)


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge", "circular": "wrap"}
"""NumPy's names of the modes, by ours."""


@declare(mint=renamed("nn.functional.pad", input_x="input", padding="pad"))
def pad(input_x: Tensor, padding: Shape, mode: str = "constant", value: float | None = None) -> Tensor:
    """Return the tensor with elements added at the ends of the last axes.

    Args:
        input_x: a tensor of any shape.
        padding: pairs (before, after) of numbers of elements, the last axis first; a negative number removes elements.
        mode: the elements added: "constant" (``value``), "reflect" (the mirror image without the edge, shorter than the
            axis), "replicate" or "edge" (the edge again), "circular" (the other end).
        value: the constant, 0 by default; None in the other modes.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``padding`` does not hold ints.
        ValueError: ``padding`` is not pairs or does not fit the axes, another ``mode``, or ``value`` with a mode that
            does not take one.
    """
    x = check_tensor(input_x, "pad", "input_x")
    amounts = ints_of(padding, "pad", "padding")
    if len(amounts) % 2 or len(amounts) > 2 * x.ndim:
        raise ValueError(f"For 'pad', 'padding' must be pairs for at most {x.ndim} axes, but got {amounts}")
    if not isinstance(mode, str) or mode not in _PAD_MODES:
        raise ValueError(f"For 'pad', 'mode' must be one of {list(_PAD_MODES)}, but got {mode!r}")
    if mode != "constant" and value is not None:
        raise ValueError(f"For 'pad', 'value' must be None with mode {mode!r}, but got {value!r}")
    pairs = list(zip(amounts[::2], amounts[1::2], strict=True))
    widths = ((0, 0),) * (x.ndim - len(pairs)) + tuple(reversed(pairs))
    for axis, (before, after) in enumerate(widths):
        length = x.shape[axis]
        if length + min(before, 0) + min(after, 0) < 0:
            raise ValueError(f"For 'pad', 'padding' must leave something of {length} elements, but got {amounts}")
        if before < 0 or after < 0:  # cut off
            x = slice_operator(x, axis=axis, start=max(0, -before), stop=length - max(0, -after))
        if mode == "reflect" and max(before, after) >= max(x.shape[axis], 1):
            raise ValueError(
                f"For 'pad', 'padding' must be less than the length {x.shape[axis]} of the axis with mode 'reflect', "
                f"but got {amounts}"
            )
    widths = tuple((max(before, 0), max(after, 0)) for before, after in widths)
    return _pad(x, widths=widths, mode=_PAD_MODES[mode], value=0 if value is None else value)


@declare(primitive=prim("Pad", "paddings"))
def pad_by_axis(x: Tensor, paddings: Sequence[Sequence[int]]) -> Tensor:
    """Return the tensor with zeros added at the ends of the axes.

    Args:
        x: a tensor of any shape.
        paddings: a pair (before, after) for each axis, the first axis first; a negative number removes elements.

    Returns:
        A tensor of the same dtype.

    Raises:
        ValueError: there are more pairs than axes.
    """
    return pad(x, [n for pair in reversed(list(paddings)) for n in pair])


@declare(method=True)
def _resize(input: Tensor, *new_shape: Any) -> Tensor:
    """Return the first elements, in row-major order, in another shape, padded with 0.

    Args:
        input: a tensor of any shape.
        *new_shape: the new lengths, one by one or as one tuple.

    Returns:
        A tensor of ``new_shape`` and the same dtype.
    """
    lengths = new_shape[0] if len(new_shape) == 1 and not isinstance(new_shape[0], int) else new_shape
    count, flat = math.prod(lengths), reshape(input, (input.size,))
    if count > input.size:
        flat = pad(flat, (0, count - input.size))
    return reshape(flat[:count], lengths)


@declare(primitive=prim("Cast"))
def cast(input: TensorLike, dtype: DTypeLike) -> Tensor:
    """Return the elements in another dtype.

    Args:
        input: a tensor of any shape, or a value convertible to one.
        dtype: the element type; of complex numbers a real type takes the real part.

    Returns:
        A tensor of the same shape; ``input`` itself if it has the dtype. Its gradient is cast back.

    Raises:
        TypeError: ``dtype`` is not a dtype.
    """
    x = tensor_of(input)
    target = numpy_dtype(dtype)
    return x if array_dtype(x) == target else cast_operator(x, dtype=target)


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """Return the same values on another device.

    Args:
        input: a tensor of any shape.
        to: "CPU" or "GPU".
        blocking: whether to wait for the copy.

    Returns:
        A tensor of the same shape and dtype, through which gradients pass back to the device of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: ``to`` is another name, or the device is not available.
    """
    return check_tensor(input, "move_to").move_to(to, blocking)


@declare(primitive=prim("IdentityN"))
def _identities(x: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """Return the same tensors.

    Args:
        x: a tuple or list of tensors.

    Returns:
        A tuple of them.
    """
    return tuple(x)


@declare(primitive=prim("StopGradient"))
def stop_gradient(value: Any) -> Any:
    """Return the same values, through which no gradient passes.

    Args:
        value: a tensor, a sparse one too, or a tuple or list of them, nested ones too; anything else is returned as it
            is.

    Returns:
        The same structure with new tensors that share the values.
    """
    if isinstance(value, tuple | list):
        return type(value)([stop_gradient(v) for v in value])
    if isinstance(value, Sparse):
        return replaced(value, [stop_gradient(value.values)])
    return stop_gradient_operator(value) if isinstance(value, Tensor) else value
