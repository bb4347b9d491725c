"""What operators check of their arguments: tensors, ints and axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tensors import precision
from ..tensors.tensor import Tensor

Axis = int | tuple[int, ...] | list[int] | Tensor | None


def one_axis(axis: object, ndim: int, name: str) -> int:
    """An axis as an int in [0, ndim).

    Args:
        axis: as the user gave it, in [-ndim, ndim); an integer tensor without axes counts as its number.
        ndim: the number of axes.
        name: of the operator, for the error.

    Raises:
        TypeError: it is no int.
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
    """The index that takes ``part`` of one axis and all of those before it.

    Args:
        x: the tensor to index, for readers of the call.
        axis: the axis, not negative.
        part: an index or a slice.
    """
    return (slice(None),) * axis + (part,)


def check_tensor(x: object, name: str, argument: str = "input") -> Tensor:
    """The argument, which must be a tensor.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is none.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor, but got {type(x).__name__}")
    return x


def check_operand(x: object, name: str, argument: str = "input") -> Tensor:
    """``check_tensor``; while ``Cell.to_float`` asks for an element type, the tensor in it, as operators take it.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is none.
    """
    found = check_tensor(x, name, argument)
    if precision.scopes:
        (found,) = precision.cast_operands((found,))
    return found


def check_axes(x: object, least: int, name: str, argument: str = "input") -> Tensor:
    """The argument, which must be a tensor of some axes.

    Args:
        x: the argument.
        least: how many axes it must have at least.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is no tensor.
        ValueError: it has fewer axes.
    """
    found = check_tensor(x, name, argument)
    if found.ndim < least:
        axes = "axis" if least == 1 else "axes"
        raise ValueError(f"For '{name}', '{argument}' must have at least {least} {axes}, but got shape {found.shape}")
    return found


def tensors_of(values: object, name: str, argument: str) -> list[Tensor]:
    """A list or tuple of tensors as a list.

    Args:
        values: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: anything else.
    """
    if not isinstance(values, list | tuple):
        given = type(values).__name__
        raise TypeError(f"For '{name}', '{argument}' must be a list or tuple of Tensors, but got {given}")
    for place, one in enumerate(values):
        if not isinstance(one, Tensor):
            check_tensor(one, name, f"{argument}[{place}]")
    return list(values)


def check_broadcast(name: str, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that several broadcast to.

    Args:
        name: of the operator, for the error.
        **shapes: those of the arguments by their names.

    Raises:
        ValueError: they do not.
    """
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        given = " and ".join(f"{shape} of '{argument}'" for argument, shape in shapes.items())
        raise ValueError(f"For '{name}', the shapes {given} must broadcast") from None


def int_of(value: object, name: str, argument: str) -> int:
    """An int, or an integer tensor of one element, as an int.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: anything else.
    """
    try:
        return operator.index(value)  # type: ignore[arg-type]  # what is no int raises
    except (TypeError, ValueError):
        given = f"a Tensor of {value.dtype}{list(value.shape)}" if isinstance(value, Tensor) else repr(value)
        raise TypeError(f"For '{name}', '{argument}' must be an int, but got {given}") from None


def bool_of(value: object, name: str, argument: str) -> bool:
    """Whether the argument is true.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is neither true nor false, as several elements are.
    """
    try:
        return bool(value)
    except ValueError:
        raise TypeError(f"For '{name}', '{argument}' must be a bool, but got {type(value).__name__}") from None


def ints_of(value: object, name: str, argument: str) -> tuple[int, ...]:
    """An int, a sequence of ints or an integer tensor as a tuple of ints.

    Args:
        value: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: anything else.
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
    """An int; the length of an axis that a trace leaves open stays one, which ``int`` would settle."""
    return +value if isinstance(value, int) else int(value)


def _axes_in(axis: Tensor) -> Any:
    """The axes that an integer tensor names: an int of one without axes, else a tuple; another tensor as it is."""
    if axis._array.dtype.kind not in "iu" or axis.ndim > 1:
        return axis
    held = axis.tolist()
    return tuple(held) if isinstance(held, list) else held


def axes_of(axis: Axis, ndim: int, name: str) -> tuple[int, ...] | None:
    """Axes as non-negative numbers, None for all of them.

    Args:
        axis: an int, several of them, or None or () for all axes; an integer tensor of at most one axis, too.
        ndim: the number of axes.
        name: of the operator, for the error.

    Raises:
        ValueError: an axis outside [-ndim, ndim) or named twice.
        TypeError: an axis that is no int.
    """
    if axis is None or (isinstance(axis, tuple) and not axis):
        return None
    if not isinstance(axis, int | tuple | list):
        if isinstance(axis, np.ndarray | np.integer):
            axis = axis.tolist()
        elif isinstance(axis, Tensor) and (found_in := _axes_in(axis)) is not axis:
            return axes_of(found_in, ndim, name)
        elif not isinstance(axis, Sequence):
            raise TypeError(f"For '{name}', 'axis' must be an int or a tuple of ints, but got {type(axis).__name__}")
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    found = []
    for one in given:
        if isinstance(one, bool) or not isinstance(one, int | np.integer):
            if isinstance(one, Tensor) and isinstance(_axes_in(one), int):
                return axes_of(tuple([_axes_in(n) if isinstance(n, Tensor) else n for n in given]), ndim, name)
            raise TypeError(f"For '{name}', 'axis' must be an int or a tuple of ints, but got {type(one).__name__}")
        if not -max(ndim, 1) <= one < max(ndim, 1):
            raise ValueError(f"For '{name}', 'axis' must be in [{-ndim}, {ndim}), but got {one}")
        found.append(int(one) % max(ndim, 1))
    if len(set(found)) != len(found):
        raise ValueError(f"For '{name}', 'axis' names an axis twice: {given}")
    return tuple(found) if ndim else None


def check_same_dtype(name: str, **tensors: Tensor) -> None:
    """Raise where arguments differ in dtype.

    Args:
        name: of the operator, for the error.
        **tensors: the arguments by their names.

    Raises:
        TypeError: one has another dtype than the first.
    """
    (first, x), *others = tensors.items()
    for other, y in others:
        if y._array.dtype != x._array.dtype:
            raise TypeError(f"For '{name}', '{other}' must be {x.dtype} as '{first}' is, but got {y.dtype}")


def check_loses_nothing(name: str, **tensors: Any) -> None:
    """Raise where what is to be put among integers, or among real numbers, would lose a part.

    Args:
        name: of the operator, for the error.
        **tensors: by their names the tensor, and what is to be put there: a tensor, or what one can be made of.

    Raises:
        TypeError: floating numbers for a tensor of integers, or complex ones for real ones.
    """
    (first, x), (other, given) = tensors.items()
    value = given if isinstance(given, Tensor) else Tensor(given)
    loses = {"b": "fVc", "i": "fVc", "u": "fVc", "f": "c", "V": "c"}.get(x._array.dtype.kind, "")
    if value._array.dtype.kind in loses:
        raise TypeError(
            f"For '{name}', '{other}' must be {x.dtype} as '{first}' is, but got {value.dtype}; cast one of them"
        )


def check_integers(x: object, name: str, argument: str) -> Tensor:
    """The argument, which must be a tensor of integers.

    Args:
        x: the argument.
        name: of the operator, for the error.
        argument: its name, for the error.

    Raises:
        TypeError: it is none.
    """
    found = check_tensor(x, name, argument)
    if found._array.dtype.kind not in "iu":
        raise TypeError(f"For '{name}', '{argument}' must be integers, but got {found.dtype}")
    return found
