"""Declared inputs of ``Cell.set_inputs`` and ``enable_dynamic``: their checks, and their symbolic dimensions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from ..nn.cell import Cell
from ..tensors.placeholder import UNKNOWN_RANK, Placeholder, Symbol
from ..tensors.tensor import Tensor

__all__ = ["InferredAxes", "bind_arguments", "check_declared", "check_inputs", "symbolic_axes_of"]


def check_inputs(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compare a call's inputs with those declared by ``set_inputs``.

    Args:
        cell: the cell.
        args: the positional inputs of the call.
        kwargs: the keyword inputs.

    Raises:
        TypeError: inputs that ``construct`` does not accept, the wrong kind, or the wrong dtype.
        ValueError: the wrong number of inputs or axes, the wrong length of an axis, or one that a Symbol does not
            allow.
    """
    declared = cell.__dict__.get("_inputs")
    if not declared:
        return
    name, by_name, inputs = type(cell).__name__, cell.__dict__["_inputs_named"], (*args, *kwargs.values())
    indices: Any = range(len(declared))
    if kwargs or by_name or len(inputs) != len(declared):
        arguments = bind_arguments(f"For '{name}'", cell.construct, args, kwargs)
        if by_name:
            names = list(inspect.signature(cell.construct).parameters)
            indices = [names.index(argument) for argument in by_name if argument in arguments]
            declared, inputs = (
                [declared[index] for index in indices],
                tuple([arguments[names[index]] for index in indices]),
            )
        elif len(inputs) != len(declared):
            raise ValueError(f"For '{name}', set_inputs() declared {len(declared)} inputs, but got {len(inputs)}")
        elif len(arguments) == len(declared):  # keyword inputs may come in any order
            inputs = tuple(arguments.values())
    lengths: dict[int, int] = {}
    for index, expected, x in zip(indices, declared, inputs, strict=True):
        _check(f"For '{name}', input {index}", expected, x, lengths)


def check_declared(
    function: Callable[..., Any],
    declared: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    has_more: bool = False,
) -> None:
    """Compare a call's arguments with those declared by ``enable_dynamic``.

    Args:
        function: the function that is called.
        declared: placeholders, and tuples and lists of them, by argument names.
        args: the positional arguments.
        kwargs: the keyword arguments.
        has_more: whether there may be more arguments than the function accepts, such as an incoming gradient.

    Raises:
        TypeError: arguments that the function does not accept, the wrong kind, or the wrong dtype.
        ValueError: the wrong number of axes, the wrong length of an axis, or one that a Symbol does not allow.
    """
    label = f"For '{getattr(function, '__qualname__', type(function).__name__)}'"
    if not has_more:
        arguments = bind_arguments(label, function, args, kwargs)
    else:
        arguments = {**dict(zip(inspect.signature(function).parameters, args, strict=False)), **kwargs}
    lengths: dict[int, int] = {}
    for name, expected in declared.items():
        if name in arguments:
            _check(f"{label}, argument '{name}'", expected, arguments[name], lengths)


def bind_arguments(
    subject: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: type = TypeError
) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Args:
        subject: the beginning of an error message.
        function: the function that is called.
        args: the positional arguments.
        kwargs: the keyword arguments.
        error: the class of the error.

    Raises:
        TypeError: the function does not accept them; or the class ``error``.
    """
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError as mismatch:
        raise error(f"{subject}, {mismatch}") from None


def _check(subject: str, expected: Any, x: Any, same: dict[int, int]) -> None:
    """Compare an input with its declaration.

    Args:
        subject: the beginning of an error message.
        expected: a tensor or a placeholder, a tuple or list of declarations, or another value.
        x: the input.
        same: the dimensions of the call by the identities of their Symbols, which are unique.
    """
    if isinstance(expected, Tensor):
        if not isinstance(x, Tensor):
            raise TypeError(f"{subject} must be a Tensor, as declared, but got {type(x).__name__}")
        if expected.dtype != x.dtype:
            raise TypeError(f"{subject} must have dtype {expected.dtype}, but got {x.dtype}")
        _check_shape(subject, expected, x.shape, same)
    elif isinstance(expected, tuple | list):
        if not isinstance(x, tuple | list):
            raise TypeError(f"{subject} must be a {type(expected).__name__}, as declared, but got {type(x).__name__}")
        if len(x) != len(expected):
            raise ValueError(f"{subject} must have {len(expected)} elements, as declared, but got {len(x)}")
        for index, (part, item) in enumerate(zip(expected, x, strict=True)):
            _check(f"{subject}[{index}]", part, item, same)
    elif type(x) is not type(expected):
        kind = TypeError if isinstance(x, Tensor) else ValueError
        raise kind(f"{subject} must be a {type(expected).__name__}, as declared, but got {type(x).__name__}")


def _check_shape(subject: str, expected: Tensor, shape: tuple[int, ...], same: dict[int, int]) -> None:
    lengths: Any = expected.shape
    if isinstance(expected, Placeholder):
        lengths = expected.__dict__["_lengths"]
        if expected.shape == (UNKNOWN_RANK,):
            return
    if len(lengths) != len(shape):
        raise ValueError(f"{subject} must have {len(lengths)} axes, but got shape {shape}")
    for axis, (declared, length) in enumerate(zip(lengths, shape, strict=True)):
        if isinstance(declared, Symbol):
            why = _violation(declared, length, same)
            if why:
                raise ValueError(f"{subject} must have a length of axis {axis} that {why}, but got shape {shape}")
        elif declared is not None and declared >= 0 and declared != length:
            raise ValueError(f"{subject} must have the shape {expected.shape}, but got {shape}")


def _violation(symbol: Symbol, length: int, same: dict[int, int]) -> str:
    """Return the condition of a Symbol that a length violates, or ""."""
    limits = symbol.to_dict()
    divisor, remainder = symbol.figures["divisor"], symbol.figures["remainder"]
    if length > limits.get("max", length):
        return f"is at most {limits['max']}"
    if length < limits.get("min", length):
        return f"is at least {limits['min']}"
    if (divisor, remainder) != (1, 0) and not (length > remainder and length % divisor == remainder):
        return f"is n * {divisor} + {remainder} with n above 0"
    if "id" in limits and same.setdefault(id(symbol), length) != length:
        return f"is {same[id(symbol)]}, as its unique Symbol was before"
    return ""


def open_axes(declaration: Any) -> Any:
    """Return the symbolic axes of a declaration.

    Args:
        declaration: a placeholder, another value, or tuples and lists of them.

    Returns:
        the axes of a placeholder, None for another value, the same structure for a structure.
    """
    if isinstance(declaration, Placeholder):
        lengths = declaration.__dict__["symbolic_shape"]
        if list(lengths) == [UNKNOWN_RANK]:
            return tuple(range(_MOST_AXES))
        return tuple([axis for axis, n in enumerate(lengths) if not (isinstance(n, int) and n >= 0)])
    return tuple(map(open_axes, declaration)) if isinstance(declaration, tuple | list) else None


_MOST_AXES = 64


def _axes_of_cell(cell: Cell, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the symbolic dimensions that ``Cell.set_inputs`` declares for a call's inputs.

    Args:
        cell: the cell.
        args: the positional inputs.
        kwargs: the keyword inputs.

    Returns:
        the result of ``open_axes`` for the positional inputs, and for the others by name; None without a declaration.
    """
    declared = cell.__dict__.get("_inputs")
    if not declared:
        return None
    by_name = dict(zip(inspect.signature(cell.construct).parameters, declared, strict=False)) if kwargs else {}
    extra = max(0, len(args) - len(declared))  # such as an incoming gradient
    axes = open_axes((*declared, *[None] * extra))
    return axes[: len(args)], {name: open_axes(by_name.get(name)) for name in kwargs}


def _axes_of_function(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the symbolic dimensions that ``enable_dynamic`` declares for a call's arguments, in the same form."""
    declared = function._declared
    names = list(inspect.signature(function).parameters)
    axes = [open_axes(declared.get(name)) for name in names[: len(args)]]
    return (*axes, *[None] * (len(args) - len(axes))), {name: open_axes(declared.get(name)) for name in kwargs}


class InferredAxes:
    """Symbolic dimensions inferred from calls: those that differed between calls with arguments of one structure."""

    def __init__(self) -> None:
        self._observed_shapes: dict[Any, list[tuple[tuple[int, ...], set[int]]]] = {}  # by structure of the arguments

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        shapes: list[tuple[int, ...]] = []
        structure = _structure((args, kwargs), shapes)
        records = self._observed_shapes.setdefault(structure, [(shape, set()) for shape in shapes])
        for shape, (first_shape, axes) in zip(shapes, records, strict=True):
            axes.update(axis for axis, n in enumerate(first_shape) if shape[axis] != n)
        return _axes_like((args, kwargs), iter(records))


def _structure(value: Any, shapes: list[tuple[int, ...]]) -> Any:
    """Return the structure of arguments with their ranks; their shapes are appended to ``shapes``."""
    if isinstance(value, Tensor) and not isinstance(value, Placeholder):
        shapes.append(value.shape)
        return value.ndim
    if isinstance(value, tuple | list):
        return type(value), tuple([_structure(part, shapes) for part in value])
    if isinstance(value, dict):
        return dict, tuple([(repr(key), _structure(part, shapes)) for key, part in value.items()])
    return None


def _axes_like(value: Any, records: Iterator[tuple[Any, set[int]]]) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Placeholder):
        return tuple(sorted(next(records)[1]))
    if isinstance(value, tuple | list):
        return tuple([_axes_like(part, records) for part in value])
    if isinstance(value, dict):
        return {key: _axes_like(part, records) for key, part in value.items()}
    return None


def symbolic_axes_of(function: Any, dynamic: int = 0) -> Callable[[Any, Any], Any] | None:
    """Return the function that determines the symbolic dimensions of a call; None if there never are any.

    Args:
        function: a cell or a function, which may have declared inputs.
        dynamic: whether dimensions that change between calls become symbolic.
    """
    if isinstance(function, Cell):
        return functools.partial(_axes_of_cell, function)
    if getattr(function, "_declared", None) is not None:
        return functools.partial(_axes_of_function, function)
    return InferredAxes() if dynamic else None
