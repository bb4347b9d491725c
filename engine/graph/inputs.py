"""What ``Cell.set_inputs`` or ``enable_dynamic`` has said of a call's inputs: what they must be, what is left open."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ..core.placeholder import UNKNOWN_RANK, Placeholder
from ..core.tensor import Tensor
from ..nn.cell import Cell

__all__ = ["Varying", "check_inputs", "opens_of"]


def check_inputs(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compare a call's inputs with those that were told.

    Args:
        cell: the cell.
        args: the positional inputs of the call.
        kwargs: the keyword inputs.

    Raises:
        TypeError: another number of inputs, another kind, or another dtype.
        ValueError: another number of axes, or another length of one.
    """
    told = cell.get_inputs()
    if not told:
        return
    given = (*args, *kwargs.values())
    name = type(cell).__name__
    if len(given) != len(told):
        raise TypeError(f"For '{name}', set_inputs() told of {len(told)} inputs, but got {len(given)}")
    for place, (expected, x) in enumerate(zip(told, given, strict=True)):
        if not isinstance(expected, Tensor):
            continue
        if not isinstance(x, Tensor):
            raise TypeError(f"For '{name}', input {place} must be a Tensor, as set_inputs() told, but got {x!r}")
        if expected.dtype != x.dtype:
            raise TypeError(f"For '{name}', input {place} must have dtype {expected.dtype}, but got {x.dtype}")
        lengths: Any = expected.__dict__["symbolic_shape"] if isinstance(expected, Placeholder) else expected.shape
        if list(lengths) == [UNKNOWN_RANK]:
            continue
        if len(lengths) != x.ndim:
            raise ValueError(f"For '{name}', input {place} must have {len(lengths)} axes, but got shape {x.shape}")
        for wanted, length in zip(lengths, x.shape, strict=True):
            if isinstance(wanted, int) and wanted >= 0 and wanted != length:
                raise ValueError(f"For '{name}', input {place} must have the shape {expected.shape}, but got {x.shape}")
            figures = getattr(wanted, "figures", None)
            if figures is not None and not _fits(length, figures):
                raise ValueError(f"For '{name}', a length of input {place} must fit {wanted}, but got {x.shape}")


def _fits(length: int, figures: dict[str, Any]) -> bool:
    most = figures["max"] or length
    return bool(figures["min"] <= length <= most and length % figures["divisor"] == figures["remainder"])


def open_axes(told: Any) -> Any:
    """Which lengths are left open by what was told of an input.

    Args:
        told: a placeholder, another value, or tuples and lists of them.

    Returns:
        of a placeholder the axes, None of another value, of a structure one that is alike.
    """
    if isinstance(told, Placeholder):
        lengths = told.__dict__["symbolic_shape"]
        if list(lengths) == [UNKNOWN_RANK]:
            return tuple(range(_MOST_AXES))
        return tuple([axis for axis, n in enumerate(lengths) if not (isinstance(n, int) and n >= 0)])
    return tuple(map(open_axes, told)) if isinstance(told, tuple | list) else None


_MOST_AXES = 64


def _told_of_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Which lengths of a call's inputs ``Cell.set_inputs`` leaves open.

    Args:
        cell: the cell.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Returns:
        what ``open_axes`` gives of the positional inputs, and of the others by name; None where nothing was told.
    """
    told = cell.get_inputs()
    if not told:
        return None
    more = max(0, len(args) + len(kwargs) - len(told))  # such as the gradient that arrives
    given = open_axes((*told, *[None] * more))
    return given[: len(args)], dict(zip(kwargs, given[len(args) :], strict=False))


def _told_of_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Which lengths of a call's arguments ``enable_dynamic`` leaves open, of the same form.

    Raises:
        TypeError: an argument is of another kind or dtype than was told.
        ValueError: it has another number of axes, or another length of one.
    """
    told = function._dynamic_inputs
    names = list(inspect.signature(function).parameters)
    name = getattr(function, "__name__", "")
    of_args = {names[place]: x for place, x in enumerate(args) if place < len(names)}
    for one, expected in told.items():
        if one in of_args or one in kwargs:
            _check_told(name, one, expected, of_args[one] if one in of_args else kwargs[one])
    given = [open_axes(told.get(one)) for one in names[: len(args)]]
    return (*given, *[None] * (len(args) - len(given))), {one: open_axes(told.get(one)) for one in kwargs}


def _check_told(name: str, argument: str, expected: Any, x: Any) -> None:
    if not isinstance(expected, Tensor):
        if type(x) is not type(expected) or len(x) != len(expected):
            what = f"a {type(expected).__name__} of {len(expected)} Tensors"
            raise TypeError(f"For '{name}', '{argument}' must be {what}, as enable_dynamic() told, but got {x!r}")
        for part, one in zip(expected, x, strict=True):
            _check_told(name, argument, part, one)
        return
    if not isinstance(x, Tensor):
        raise TypeError(f"For '{name}', '{argument}' must be a Tensor, as enable_dynamic() told, but got {x!r}")
    if expected.dtype != x.dtype:
        raise TypeError(f"For '{name}', '{argument}' must have dtype {expected.dtype}, but got {x.dtype}")
    if list(expected.shape) != [UNKNOWN_RANK] and not (
        len(expected.shape) == x.ndim and all(n in (-1, m) for n, m in zip(expected.shape, x.shape, strict=True))
    ):
        raise ValueError(f"For '{name}', '{argument}' must have the shape {expected.shape}, but got {x.shape}")


class Varying:
    """Which lengths of a function's arguments were seen to be other ones at another call: those are left open."""

    def __init__(self) -> None:
        self._seen: dict[Any, list[tuple[tuple[int, ...], set[int]]]] = {}  # by the arguments' form

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found: list[tuple[int, ...]] = []
        form = _form((args, kwargs), found)
        seen = self._seen.setdefault(form, [(shape, set()) for shape in found])
        for shape, (first, axes) in zip(found, seen, strict=True):
            axes.update(axis for axis, n in enumerate(first) if shape[axis] != n)
        return _alike((args, kwargs), iter(seen))


def _form(value: Any, shapes: list[tuple[int, ...]]) -> Any:
    """The structure of arguments with the numbers of axes; ``shapes`` gets the shapes."""
    if isinstance(value, Tensor) and not isinstance(value, Placeholder):
        shapes.append(value.shape)
        return value.ndim
    if isinstance(value, tuple | list):
        return type(value), tuple([_form(part, shapes) for part in value])
    if isinstance(value, dict):
        return dict, tuple([(repr(key), _form(part, shapes)) for key, part in value.items()])
    return None


def _alike(value: Any, seen: Iterator[tuple[Any, set[int]]]) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Placeholder):
        return tuple(sorted(next(seen)[1]))
    if isinstance(value, tuple | list):
        return tuple([_alike(part, seen) for part in value])
    if isinstance(value, dict):
        return {key: _alike(part, seen) for key, part in value.items()}
    return None


def opens_of(function: Any, dynamic: int = 0) -> Callable[[Any, Any], Any] | None:
    """What tells of the arguments of a call which lengths are left open; None if they never are.

    Args:
        function: a cell or a function, of which something may have been told.
        dynamic: whether lengths are left open that were seen to change.
    """
    if isinstance(function, Cell):
        return functools.partial(_told_of_cell, function)
    if getattr(function, "_dynamic_inputs", None) is not None:
        return functools.partial(_told_of_function, function)
    return Varying() if dynamic else None
