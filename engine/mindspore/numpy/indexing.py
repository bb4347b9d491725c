"""Selection of elements by index or condition, and conversion of indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_one_of
from ...base.types import Ints, TensorLike
from ...ops.arguments import check_axes, check_broadcast, ints_of, one_axis
from ...tensors.dtype import bool_, int32, int64
from ...tensors.tensor import Tensor
from .arrays import asarray, new_tensor, several, tensors_of, vector

__all__ = [
    "choose",
    "ix_",
    "piecewise",
    "ravel_multi_index",
    "select",
    "take",
    "take_along_axis",
    "unravel_index",
    "where",
]


def where(
    condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None
) -> Tensor | tuple[Tensor, ...]:
    """Return ``x`` if the condition holds, else ``y``; for the condition alone the indices at which it holds.

    Args:
        condition: bools, or numbers that are not 0.
        x: the values where it holds; broadcasts with the others.
        y: the values elsewhere.

    Returns:
        a Tensor of the broadcast shape; or a tuple of an Int64 vector for each axis.

    Raises:
        TypeError: only one of ``x`` and ``y`` is passed.
        ValueError: the shapes do not broadcast.
    """
    if x is None and y is None:
        return ops.nonzero(asarray(condition), as_tuple=True)
    if x is None or y is None:
        raise TypeError("For 'numpy.where', 'x' and 'y' must both be given, or neither")
    return ops.where(asarray(condition), asarray(x), asarray(y))


def take(a: TensorLike, indices: TensorLike, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Return elements along one axis by index.

    Args:
        a: the source elements.
        indices: the indices, ints of any shape.
        axis: the axis, in [-ndim, ndim); None counts the flattened elements.
        mode: the treatment of indices out of range: "clip" takes the nearest, "wrap" counts modulo the length, "raise"
            is an error.

    Returns:
        a Tensor with the axes of ``indices`` in place of ``axis``.

    Raises:
        ValueError: ``axis`` is out of range, or an unknown ``mode``.
        RuntimeError: an index out of range, with "raise".
    """
    return ops.take(asarray(a), asarray(indices), axis, mode)


def take_along_axis(arr: TensorLike, indices: TensorLike, axis: int | None) -> Tensor:
    """Return elements along one axis by indices that differ from line to line.

    Args:
        arr: the source elements.
        indices: the indices, ints, with as many axes as ``arr``; the axes other than ``axis`` broadcast.
        axis: the axis, in [-ndim, ndim); None flattens ``arr``, and ``indices`` is a vector then.

    Returns:
        a Tensor of the dtype of ``arr`` with the length of ``indices`` along ``axis``.

    Raises:
        TypeError: ``indices`` are not ints.
        ValueError: the wrong rank, shapes that do not broadcast, or an axis or index out of range.
    """
    x, positions = asarray(arr), asarray(indices)
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    if x.ndim != positions.ndim:
        raise ValueError(
            f"For 'numpy.take_along_axis', 'indices' must have as many axes as 'arr', but got the shapes "
            f"{positions.shape} and {x.shape}"
        )
    at = one_axis(axis, x.ndim, "numpy.take_along_axis")
    positions = _integers(positions, "take_along_axis")
    x_shape, index_shape = ((*array.shape[:at], *array.shape[at + 1 :]) for array in (x, positions))
    shape = check_broadcast("numpy.take_along_axis", arr=x_shape, indices=index_shape)
    x, positions = (ops.broadcast_to(array, (*shape[:at], array.shape[at], *shape[at:])) for array in (x, positions))
    return ops.gather_elements(x, at, ops.where(positions < 0, positions + x.shape[at], positions))


def _integers(positions: Tensor, name: str, argument: str = "indices") -> Tensor:
    """Return indices, which must be integers."""
    if positions.dtype.is_floating_point or positions.dtype.is_complex:
        raise TypeError(f"For 'numpy.{name}', '{argument}' must be integers, but got {positions.dtype}")
    return positions if positions.dtype in (int32, int64) else positions.astype(int32)


_MODES = ("clip", "wrap")


def choose(a: TensorLike, choices: TensorLike | Sequence[TensorLike], mode: str = "clip") -> Tensor:
    """Select each element from one of several tensors, the one that ``a`` indexes.

    Args:
        a: the index of the tensor.
        choices: the tensors, or one whose first axis lists them; they broadcast with ``a``.
        mode: the treatment of indices out of range: "clip" takes the nearest, "wrap" counts modulo the length.

    Returns:
        a Tensor of the broadcast shape.

    Raises:
        TypeError: ``a`` are not ints.
        ValueError: an unknown ``mode``, no choices, or shapes that do not broadcast.
    """
    check_one_of(mode, _MODES, "numpy.choose", "mode")
    choice = _integers(asarray(a), "choose", "a")
    if isinstance(choices, list | tuple) and choices:
        tensors = list(tensors_of(*choices))
    else:
        tensors = list(check_axes(asarray(choices), 1, "numpy.choose", "choices"))
    if not tensors:
        raise ValueError("For 'numpy.choose', 'choices' must hold one tensor at least")
    shapes = {f"choices[{i}]": tensor.shape for i, tensor in enumerate(tensors)}
    shape = check_broadcast("numpy.choose", a=choice.shape, **shapes)
    positions = np.clip(choice.asnumpy(), 0, len(tensors) - 1) if mode == "clip" else choice.asnumpy() % len(tensors)
    stacked = ops.stack([ops.broadcast_to(tensor, shape) for tensor in tensors])
    return take_along_axis(stacked, new_tensor(np.broadcast_to(positions, shape)[None]), 0)[0]


def select(condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0) -> Tensor:
    """Select each element from the first of several tensors whose condition holds there.

    Args:
        condlist: the conditions, bools.
        choicelist: the values where they hold, one for each.
        default: the value where no condition holds.

    Returns:
        a Tensor of the broadcast shape, of the common dtype of the choices and a tensor ``default``.

    Raises:
        ValueError: no choices, not as many choices as conditions, or shapes that do not broadcast.
    """
    for argument, value in (("condlist", condlist), ("choicelist", choicelist)):
        several(value, "numpy.select", argument)
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(
            f"For 'numpy.select', 'choicelist' must hold one tensor for each of one condition at least, but got "
            f"{len(choicelist)} for {len(condlist)}"
        )
    if isinstance(default, bool | int | float | complex):
        values = list(tensors_of(*choicelist))
        result = asarray(default).astype(values[0].dtype)
    else:
        *values, result = tensors_of(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(values), strict=True):
        result = ops.where(asarray(condition).astype(bool_), choice, result)
    return result


def piecewise(
    x: TensorLike, condlist: TensorLike | Sequence[TensorLike], funclist: Sequence[Any], *args: Any, **kw: Any
) -> Tensor:
    """Evaluate a piecewise function.

    Args:
        x: the points to evaluate.
        condlist: for each piece its condition: bools that broadcast with ``x``; the last of several that hold counts.
        funclist: for each piece the function, which takes all of ``x``, or its value; an additional one applies where
            no condition holds, with a value of 0 otherwise.
        *args: further arguments of the functions.
        **kw: further keyword arguments.

    Returns:
        a Tensor of the shape of ``x``, of the common dtype of the pieces.

    Raises:
        ValueError: neither as many functions as conditions nor one more.
    """
    at = asarray(x)
    is_single = isinstance(condlist, Tensor | np.ndarray) and (condlist.ndim == at.ndim)
    for argument, value in (("condlist", condlist), ("funclist", funclist)):
        several(value, "numpy.piecewise", argument)
    conditions = [asarray(item) for item in ([condlist] if is_single else condlist)]  # type: ignore[union-attr]
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"For 'numpy.piecewise', 'funclist' must have as many entries as 'condlist' or one more, but got "
            f"{len(funclist)} for {len(conditions)}"
        )
    values = [item(at, *args, **kw) if callable(item) else item for item in funclist]
    default = values.pop() if len(values) > len(conditions) else 0
    return ops.broadcast_to(select(conditions[::-1], values[::-1], default), at.shape)


def unravel_index(indices: TensorLike, shape: Ints, order: str = "C") -> tuple[Tensor, ...]:
    """Convert indices of flattened elements to indices along each axis.

    Args:
        indices: the indices; negative ones count from the end, and those out of range are clipped.
        shape: the length of each axis.
        order: the order of flattened elements: "C": the last axis runs fastest; "F": the first one.

    Returns:
        a tuple of a Tensor of the shape of ``indices`` for each axis, Int64 as ``indices`` or Int32.

    Raises:
        TypeError: ``indices`` or ``shape`` are not ints.
        ValueError: an unsupported ``order``.
    """
    check_one_of(order, ("C", "F"), "numpy.unravel_index", "order")
    lengths = ints_of(shape, "numpy.unravel_index", "shape")
    count = math.prod(lengths)
    numbers = _integers(asarray(indices), "unravel_index")
    kind = int64 if isinstance(indices, Tensor) and numbers.dtype == int64 else int32
    positions = np.clip(numbers.asnumpy(), -count, count - 1) % count
    return tuple(new_tensor(axis_indices, kind) for axis_indices in np.unravel_index(positions, lengths, order))  # type: ignore[call-overload]


def ravel_multi_index(multi_index: Sequence[TensorLike], dims: Ints, mode: str = "clip", order: str = "C") -> Tensor:
    """Convert indices along each axis to indices of the flattened elements.

    Args:
        multi_index: for each axis the indices, ints; they broadcast.
        dims: the length of each axis.
        mode: the treatment of indices out of range: "clip" takes the nearest, "wrap" counts modulo the length.
        order: the order of flattened elements: "C": the last axis runs fastest; "F": the first one.

    Returns:
        an Int32 Tensor of the broadcast shape.

    Raises:
        TypeError: indices or ``dims`` are not ints.
        ValueError: the numbers of index arrays and axes differ, or an unknown ``mode`` or ``order``.
    """
    check_one_of(mode, _MODES, "numpy.ravel_multi_index", "mode")
    check_one_of(order, ("C", "F"), "numpy.ravel_multi_index", "order")
    lengths = ints_of(dims, "numpy.ravel_multi_index", "dims")
    positions = [_integers(asarray(numbers), "ravel_multi_index", "multi_index").asnumpy() for numbers in multi_index]
    if len(positions) != len(lengths):
        raise ValueError(
            f"For 'numpy.ravel_multi_index', 'multi_index' must have the {len(lengths)} entries of 'dims', but got "
            f"{len(positions)}"
        )
    return new_tensor(np.ravel_multi_index(tuple(positions), lengths, mode, order))  # type: ignore[call-overload]


def ix_(*args: TensorLike) -> tuple[Tensor, ...]:
    """Return an index of all combinations of indices along several axes: ``x[ix_(rows, columns)]``.

    Args:
        *args: for each axis a vector of ints, or a mask of bools.

    Returns:
        a tuple of a Tensor for each, of length 1 along the axes of the others.

    Raises:
        ValueError: an argument has more than one axis.
    """
    result = []
    for i, numbers in enumerate(args):
        positions = vector(numbers, "ix_", "args")
        if positions.dtype == bool_:
            positions = new_tensor(np.flatnonzero(positions.asnumpy()))
        result.append(ops.reshape(positions, tuple(positions.size if k == i else 1 for k in range(len(args)))))
    return tuple(result)
