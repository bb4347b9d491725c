"""What ``Cell.set_inputs`` or ``enable_dynamic`` has said of a call's inputs: what they must be, what is left open."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ..nn.cell import Cell
from ..tensors.placeholder import UNKNOWN_RANK, Placeholder, Symbol
from ..tensors.tensor import Tensor

__all__ = ["Varying", "bound", "check_declared", "check_inputs", "opens_of"]


def check_inputs(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compare a call's inputs with those that ``set_inputs`` told.

    Args:
        cell: the cell.
        args: the positional inputs of the call.
        kwargs: the keyword inputs.

    Raises:
        TypeError: inputs that ``construct`` does not take, another kind, or another dtype.
        ValueError: another number of inputs or of axes, another length of an axis, or one that a Symbol does not allow.
    """
    told = cell.__dict__.get("_inputs")
    if not told:
        return
    name, by_name, given = type(cell).__name__, cell.__dict__["_inputs_named"], (*args, *kwargs.values())
    places: Any = range(len(told))
    if kwargs or by_name or len(given) != len(told):
        arguments = bound(f"For '{name}'", cell.construct, args, kwargs)
        if by_name:
            names = list(inspect.signature(cell.construct).parameters)
            places = [names.index(one) for one in by_name if one in arguments]
            told, given = [told[place] for place in places], tuple([arguments[names[place]] for place in places])
        elif len(given) != len(told):
            raise ValueError(f"For '{name}', set_inputs() told of {len(told)} inputs, but got {len(given)}")
        elif len(arguments) == len(told):  # keyword inputs may come in any order
            given = tuple(arguments.values())
    same: dict[int, int] = {}
    for place, expected, x in zip(places, told, given, strict=True):
        _check(f"For '{name}', input {place}", expected, x, same)


def check_declared(
    function: Callable[..., Any],
    declared: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_more: bool = False,
) -> None:
    """Compare a call's arguments with those that ``enable_dynamic`` told.

    Args:
        function: what is called.
        declared: placeholders, and tuples and lists of them, by the names of arguments.
        args: the positional arguments.
        kwargs: the keyword arguments.
        has_more: whether there may be more of them than the function takes, such as the gradient that arrives.

    Raises:
        TypeError: arguments that the function does not take, another kind, or another dtype.
        ValueError: another number of axes, another length of an axis, or one that a Symbol does not allow.
    """
    who = f"For '{getattr(function, '__qualname__', type(function).__name__)}'"
    if not has_more:
        given = bound(who, function, args, kwargs)
    else:
        given = {**dict(zip(inspect.signature(function).parameters, args, strict=False)), **kwargs}
    same: dict[int, int] = {}
    for name, expected in declared.items():
        if name in given:
            _check(f"{who}, argument '{name}'", expected, given[name], same)


def bound(
    who: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: type = TypeError
) -> dict[str, Any]:
    """The arguments of a call by their names.

    Args:
        who: what an error begins with.
        function: what is called.
        args: the positional arguments.
        kwargs: the keyword arguments.
        error: the class of the error.

    Raises:
        TypeError: the function does not take them; or the class that is asked for.
    """
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError as wrong:
        raise error(f"{who}, {wrong}") from None


def _check(who: str, expected: Any, x: Any, same: dict[int, int]) -> None:
    """Compare an input with what was told of it.

    Args:
        who: what an error begins with.
        expected: a tensor or a placeholder, a tuple or list of what is told, or another value.
        x: the input.
        same: the lengths of the call by the identities of their Symbols, which are unique.
    """
    if isinstance(expected, Tensor):
        if not isinstance(x, Tensor):
            raise TypeError(f"{who} must be a Tensor, as was told, but got {type(x).__name__}")
        if expected.dtype != x.dtype:
            raise TypeError(f"{who} must have dtype {expected.dtype}, but got {x.dtype}")
        _check_shape(who, expected, x.shape, same)
    elif isinstance(expected, tuple | list):
        if not isinstance(x, tuple | list):
            raise TypeError(f"{who} must be a {type(expected).__name__}, as was told, but got {type(x).__name__}")
        if len(x) != len(expected):
            raise ValueError(f"{who} must have {len(expected)} elements, as was told, but got {len(x)}")
        for place, (one, given) in enumerate(zip(expected, x, strict=True)):
            _check(f"{who}[{place}]", one, given, same)
    elif type(x) is not type(expected):
        kind = TypeError if isinstance(x, Tensor) else ValueError
        raise kind(f"{who} must be a {type(expected).__name__}, as was told, but got {type(x).__name__}")


def _check_shape(who: str, expected: Tensor, shape: tuple[int, ...], same: dict[int, int]) -> None:
    lengths: Any = expected.shape
    if isinstance(expected, Placeholder):
        lengths = expected.__dict__["_lengths"]
        if expected.shape == (UNKNOWN_RANK,):
            return
    if len(lengths) != len(shape):
        raise ValueError(f"{who} must have {len(lengths)} axes, but got shape {shape}")
    for axis, (wanted, length) in enumerate(zip(lengths, shape, strict=True)):
        if isinstance(wanted, Symbol):
            why = _why_not(wanted, length, same)
            if why:
                raise ValueError(f"{who} must have a length of axis {axis} that {why}, but got shape {shape}")
        elif wanted is not None and wanted >= 0 and wanted != length:
            raise ValueError(f"{who} must have the shape {expected.shape}, but got {shape}")


def _why_not(symbol: Symbol, length: int, same: dict[int, int]) -> str:
    """What a Symbol allows and a length is not, or ""."""
    told = symbol.to_dict()
    divisor, remainder = symbol.figures["divisor"], symbol.figures["remainder"]
    if length > told.get("max", length):
        return f"is at most {told['max']}"
    if length < told.get("min", length):
        return f"is at least {told['min']}"
    if (divisor, remainder) != (1, 0) and not (length > remainder and length % divisor == remainder):
        return f"is n * {divisor} + {remainder} with n above 0"
    if "id" in told and same.setdefault(id(symbol), length) != length:
        return f"is {same[id(symbol)]}, as its unique Symbol was before"
    return ""


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
    told = cell.__dict__.get("_inputs")
    if not told:
        return None
    named = dict(zip(inspect.signature(cell.construct).parameters, told, strict=False)) if kwargs else {}
    more = max(0, len(args) - len(told))  # such as the gradient that arrives
    given = open_axes((*told, *[None] * more))
    return given[: len(args)], {name: open_axes(named.get(name)) for name in kwargs}


def _told_of_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Which lengths of a call's arguments ``enable_dynamic`` leaves open, of the same form."""
    told = function._declared
    names = list(inspect.signature(function).parameters)
    opens = [open_axes(told.get(one)) for one in names[: len(args)]]
    return (*opens, *[None] * (len(args) - len(opens))), {one: open_axes(told.get(one)) for one in kwargs}


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
    if getattr(function, "_declared", None) is not None:
        return functools.partial(_told_of_function, function)
    return Varying() if dynamic else None
