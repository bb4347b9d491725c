"""Checks of the arguments of operators: tensors, ints and axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tensors import precision
from ..tensors.tensor import Tensor

Axis = int | tuple[int, ...] | list[int] | Tensor | None


def one_axis(axis: object, ndim: int, name: str) -> int:
    """Return an axis as an int in [0, ndim).

    Args:
        axis: the user's argument, in [-ndim, ndim); an integer tensor without axes counts as its number.
        ndim: the number of axes.
        name: of the operator, for the error.

    Raises:
        TypeError: it is not an int.
        ValueError: it is out of range.
    """
    if type(axis) is int and -ndim <= axis < ndim:
        return axis % ndim
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        if isinstance(axis, Tensor) and isinstance(_axes_in(axis), int):
            return one_axis(_axes_in(axis), ndim, name)
        raise TypeError(f"For '{name}', 'axis' must be an int, but got {type(axis).__name__}")
    return (axes_of(int(axis), ndim, name) or (0,))[0]


def along(x: object, axis: int, part: object) -> tuple[Any, ...]:
    """Return the index that takes ``part`` of one axis and all of those before it.

    Args:
        x: the tensor to index, for readers of the call.
        axis: the axis, not negative.
        part: an index or a slice.
    """
    return (slice(None),) * axis + (part,)


def check_tensor(x: object, name: str, argument: str = "input") -> Tensor:
    """Return the argument, which must be a tensor.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is not a tensor.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor, but got {type(x).__name__}")
    return x


def check_operand(x: object, name: str, argument: str = "input") -> Tensor:
    """Return the argument, which must be a tensor, in the element type of ``Cell.to_float`` while one is active.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is not a tensor.
    """
    tensor = check_tensor(x, name, argument)
    if precision.scopes:
        (tensor,) = precision.cast_operands((tensor,))
    return tensor


def check_axes(x: object, least: int, name: str, argument: str = "input") -> Tensor:
    """Return the argument, which must be a tensor of some axes.

    Args:
        x: the argument.
        least: the least number of axes.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is not a tensor.
        ValueError: it has fewer axes.
    """
    tensor = check_tensor(x, name, argument)
    if tensor.ndim < least:
        axes = "axis" if least == 1 else "axes"
        raise ValueError(f"For '{name}', '{argument}' must have at least {least} {axes}, but got shape {tensor.shape}")
    return tensor


def tensors_of(values: object, name: str, argument: str) -> list[Tensor]:
    """Return a list or tuple of tensors as a list.

    Args:
        values: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: ``values`` is of the wrong type.
    """
    if not isinstance(values, list | tuple):
        kind = type(values).__name__
        raise TypeError(f"For '{name}', '{argument}' must be a list or tuple of Tensors, but got {kind}")
    for index, item in enumerate(values):
        if not isinstance(item, Tensor):
            check_tensor(item, name, f"{argument}[{index}]")
    return list(values)


def check_broadcast(name: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that several broadcast to.

    Args:
        name: of the operator, for the error.
        **shapes: those of the arguments by their names.

    Raises:
        ValueError: they do not broadcast.
    """
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        descriptions = " and ".join(f"{shape} of '{argument}'" for argument, shape in shapes.items())
        raise ValueError(f"For '{name}', the shapes {descriptions} must broadcast") from None


def int_of(value: object, name: str, argument: str) -> int:
    """Return an int, or an integer tensor of one element, as an int.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: ``value`` is of the wrong type.
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]  # raises for other types
    except (TypeError, ValueError):
        description = f"a Tensor of {value.dtype}{list(value.shape)}" if isinstance(value, Tensor) else repr(value)
        raise TypeError(f"For '{name}', '{argument}' must be an int, but got {description}") from None


def bool_of(value: object, name: str, argument: str) -> bool:
    """Return the truth value of the argument.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it has no truth value, such as a tensor of several elements.
    """
    try:
        return bool(value)
    except ValueError:
        raise TypeError(f"For '{name}', '{argument}' must be a bool, but got {type(value).__name__}") from None


def ints_of(value: object, name: str, argument: str) -> tuple[int, ...]:
    """Return an int, a sequence of ints or an integer tensor as a tuple of ints.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: ``value`` is of the wrong type.
    """
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return (_as_int(value),)
    if isinstance(value, list | tuple) and all(
        isinstance(n, int | np.integer | Tensor) and not isinstance(n, bool) for n in value
    ):
        return tuple([_as_int(n) for n in value])
    raise TypeError(f"For '{name}', '{argument}' must be an int or a tuple of ints, but got {value!r}")


def _as_int(value: Any) -> int:
    """Return an int; the length of an axis that a trace leaves open stays open, which ``int`` would fix."""
    return +value if isinstance(value, int) else int(value)


def _axes_in(axis: Tensor) -> Any:
    """Return the axes in an integer tensor: an int if it has no axes, else a tuple; any other tensor as it is."""
    if axis._array.dtype.kind not in "iu" or axis.ndim > 1:
        return axis
    numbers = axis.tolist()
    return tuple(numbers) if isinstance(numbers, list) else numbers


def axes_of(axis: Axis, ndim: int, name: str) -> tuple[int, ...] | None:
    """Return axes as non-negative numbers, None for all of them.

    Args:
        axis: an int, several of them, or None or () for all axes; an integer tensor of at most one axis, too.
        ndim: the number of axes.
        name: of the operator, for the error.

    Raises:
        ValueError: an axis outside [-ndim, ndim) or repeated.
        TypeError: an axis that is not an int.
    """
    if axis is None or (isinstance(axis, tuple) and not axis):
        return None
    if not isinstance(axis, int | tuple | list):
        if isinstance(axis, np.ndarray | np.integer):
            axis = axis.tolist()
        elif isinstance(axis, Tensor) and (numbers := _axes_in(axis)) is not axis:
            return axes_of(numbers, ndim, name)
        elif not isinstance(axis, Sequence):
            raise TypeError(f"For '{name}', 'axis' must be an int or a tuple of ints, but got {type(axis).__name__}")
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    result = []
    for item in axes:
        if isinstance(item, bool) or not isinstance(item, int | np.integer):
            if isinstance(item, Tensor) and isinstance(_axes_in(item), int):
                return axes_of(tuple([_axes_in(n) if isinstance(n, Tensor) else n for n in axes]), ndim, name)
            raise TypeError(f"For '{name}', 'axis' must be an int or a tuple of ints, but got {type(item).__name__}")
        if not -max(ndim, 1) <= item < max(ndim, 1):
            raise ValueError(f"For '{name}', 'axis' must be in [{-ndim}, {ndim}), but got {item}")
        result.append(int(item) % max(ndim, 1))
    if len(set(result)) != len(result):
        raise ValueError(f"For '{name}', 'axis' names an axis twice: {axes}")
    return tuple(result) if ndim else None


def check_same_dtype(name: str, **tensors: Tensor) -> None:
    """Raise TypeError if arguments differ in dtype.

    Args:
        name: of the operator, for the error.
        **tensors: the arguments by their names.

    Raises:
        TypeError: one has a different dtype than the first.
    """
    (first, x), *remaining = tensors.items()
    for argument, y in remaining:
        if y._array.dtype != x._array.dtype:
            raise TypeError(f"For '{name}', '{argument}' must be {x.dtype} as '{first}' is, but got {y.dtype}")


def check_loses_nothing(name: str, **tensors: Any) -> None:
    """Raise TypeError if a value to be written among integers, or among real numbers, would lose a part.

    Args:
        name: of the operator, for the error.
        **tensors: by their names the tensor and the value to write, which is a tensor or convertible to one.

    Raises:
        TypeError: floating numbers for a tensor of integers, or complex ones for real ones.
    """
    (first, x), (argument, operand) = tensors.items()
    value = operand if isinstance(operand, Tensor) else Tensor(operand)
    loses = {"b": "fVc", "i": "fVc", "u": "fVc", "f": "c", "V": "c"}.get(x._array.dtype.kind, "")
    if value._array.dtype.kind in loses:
        raise TypeError(
            f"For '{name}', '{argument}' must be {x.dtype} as '{first}' is, but got {value.dtype}; cast one of them"
        )


def check_integers(x: object, name: str, argument: str) -> Tensor:
    """Return the argument, which must be a tensor of integers.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is not a tensor of integers.
    """
    tensor = check_tensor(x, name, argument)
    if tensor._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must be integers, but got {tensor.dtype}")
    return tensor
