"""Surfaces: further public names of a function of ``ops``, declared at the function.

    @declare(method=True, primitive=prim("Softcap", cap=30.0), mint=True, numpy=True)
    def softcap(input, cap=30.0): ...

is ``Tensor.softcap``, ``ops.Softcap(cap)``, ``mint.softcap`` and ``numpy.softcap`` as well. A surface differs from the
function in names of arguments at most (``renamed``). If MindSpore's own form differs otherwise, that form is a separate
function, with a leading underscore, and is declared for its surface only. Methods also accept the function's own
argument names; so does a second name of ``ops`` (``alias``).

A name of ``mint`` may have dots: ``mint="nn.functional.relu"`` is in that module of ``mint`` (``functions_of``).

``methods.py``, ``ops/primitives.py``, ``mint`` and ``numpy`` read the tables here and define the names.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, NamedTuple, TypeVar

__all__ = [
    "IN_PLACE",
    "METHODS",
    "MINT",
    "NUMPY",
    "PRIMITIVES",
    "REQUIRED",
    "PrimitiveRow",
    "alias",
    "declare",
    "everywhere",
    "functions_of",
    "prim",
    "renamed",
]

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

METHODS: dict[str, Function] = {}
"""Methods of Tensor by name; the function gets the tensor as first argument."""
IN_PLACE: dict[str, Function] = {}
"""Methods that assign the function's result to the tensor, by their names (``exp_``)."""
MINT: dict[str, Function] = {}
"""Functions of ``mint`` by name; those of its modules have dots (``linalg.qr``)."""
NUMPY: dict[str, Function] = {}
"""Functions of ``numpy`` by name."""
PRIMITIVES: dict[str, tuple[Function, PrimitiveRow]] = {}
"""Primitive classes by name, with the functions that they call."""

REQUIRED = object()
"""Marks an argument without a default: it must be given."""


class PrimitiveRow(NamedTuple):
    """A Primitive class.

    Attributes:
        name: the name of the class.
        parameters: those of its constructor, in order, each with its default or ``REQUIRED``. An instance passes them
            to the function by name, after the inputs.
        left_out: further arguments of the function that a call of an instance does not accept.
    """

    name: str
    parameters: tuple[tuple[str, Any], ...]
    left_out: tuple[str, ...] = ()

    def without(self, *arguments: str) -> PrimitiveRow:
        """Return the same class, whose calls do not accept these arguments; they keep their defaults."""
        return self._replace(left_out=arguments)


class Renamed(NamedTuple):
    """A surface whose arguments have other names: see ``renamed``."""

    name: str
    arguments: dict[str, str]
    without: tuple[str, ...]
    keyword: tuple[str, ...]
    defaults: dict[str, Any]


def prim(name: str, /, *required: str, **defaults: Any) -> PrimitiveRow:
    """Return the row of a Primitive class.

    Args:
        name: its name.
        *required: the arguments of its constructor that must be given, in order.
        **defaults: the following ones, with their defaults.

    Returns:
        the row for ``declare``.
    """
    return PrimitiveRow(name, (*((argument, REQUIRED) for argument in required), *defaults.items()))


def everywhere(primitive: str, *names: str) -> dict[str, Any]:
    """Return the surfaces of most operators: a method of tensors, a Primitive and a function of ``mint``.

    Args:
        primitive: the name of the class.
        *names: those of the method and of the function of ``mint``; by default the operator's own.

    Returns:
        the arguments for ``declare``.
    """
    return {"method": names or True, "primitive": prim(primitive), "mint": names or True}


def renamed(
    name: str = "",
    /,
    without: Sequence[str] = (),
    keyword: Sequence[str] = (),
    defaults: Mapping[str, Any] | None = None,
    **arguments: str,
) -> Renamed:
    """Return a surface with other argument names: ``renamed(axis="dim")`` has ``dim`` for the function's ``axis``.

    All parameters refer to arguments by the function's names.

    Args:
        name: the name of the surface; that of the function by default.
        without: arguments of the function that the surface does not have; they keep their defaults.
        keyword: keyword-only arguments; those after them are too.
        defaults: defaults that differ, also of arguments in ``without``; ``REQUIRED`` for no default.
        **arguments: the surface's name by the function's name.
    """
    return Renamed(name, arguments, tuple(without), tuple(keyword), dict(defaults or {}))


def alias(function: Any, row: Renamed) -> Function:
    """Return a function under a second name, with other argument names; it accepts the function's own too.

    Args:
        function: the function, or an operator.
        row: the name and the differences, from ``renamed``.

    Returns:
        the function of that name.
    """
    return _with_other_names(function, row, row.name, own_too=True)


def functions_of(table: Mapping[str, Function], module: str = "") -> dict[str, Function]:
    """Return the functions of a table in this module (the name before the last dot), by the part after it."""
    parts = ((name.rpartition("."), function) for name, function in table.items())
    return {name: function for (parent, _, name), function in parts if parent == module}


Names = bool | str | Renamed | Sequence[str | Renamed]


def declare(
    *,
    method: Names = False,
    in_place: bool | str = False,
    primitive: PrimitiveRow | Sequence[PrimitiveRow] = (),
    mint: Names = False,
    numpy: Names = False,
) -> Callable[[F], F]:
    """Return a decorator that declares a function (or an operator) on these surfaces and returns it unchanged.

    Args:
        method: whether it is a method of Tensor; or its name, or names, there.
        in_place: whether it has an in-place method, by its name with an underscore; or the name of that method.
        primitive: the Primitive classes (``prim``) that call it.
        mint: whether it is a function of ``mint``; or its name, or names, there.
        numpy: likewise for ``numpy``.

    Raises:
        ValueError: a surface has the name already.
    """

    def offer(function: F) -> F:
        for table, names in ((METHODS, method), (MINT, mint), (NUMPY, numpy)):
            for name, offered in _offered(function, names, own_too=table is METHODS):
                _enter(table, name, offered)
        if in_place:
            _enter(IN_PLACE, f"{_own_name(function)}_" if in_place is True else in_place, function)
        rows = (primitive,) if isinstance(primitive, PrimitiveRow) else primitive
        for row in rows:
            _enter(PRIMITIVES, row.name, (function, row))
        if isinstance(function, FunctionType) and function.__name__.startswith("_"):
            # A form for some surfaces only; Python's errors about its arguments use its name there.
            surface_names: list[str] = [
                name for target in (method, mint, numpy) for name, _ in _offered(function, target, False)
            ]
            surface_names += [row.name for row in rows] + [function.__name__]
            function.__qualname__ = surface_names[0].rpartition(".")[2]
        return function

    return offer


def _enter(table: dict[str, Any], name: str, value: Any) -> None:
    if name in table:
        raise ValueError(f"'{name}' is declared already, by {table[name]!r}")
    table[name] = value


def _own_name(function: Any) -> str:
    return str(function.__name__).lstrip("_")


def _offered(function: Any, names: Names, own_too: bool) -> list[tuple[str, Function]]:
    own_name = _own_name(function)
    if isinstance(names, bool):
        return [(own_name, function)] if names else []
    rows = [names] if isinstance(names, str | Renamed) else names
    return [
        (row, function)
        if isinstance(row, str)
        else (row.name or own_name, _with_other_names(function, row, row.name or own_name, own_too))
        for row in rows
    ]


def _with_names_changed(text: str, row: Renamed) -> str:
    """Return a function's documentation with the argument names of a surface, without those that it omits."""
    for argument in row.without:
        entry = rf"^    {argument}: .*\n(?: {{8}}.*\n)*"
        text = re.sub(entry, "", text + "\n", flags=re.MULTILINE).rstrip()
    for theirs, ours in row.arguments.items():
        text = re.sub(rf"(?<=``){theirs}(?=``)|(?<=^    ){theirs}(?=: )", ours, text, flags=re.MULTILINE)
    return text


def _with_other_names(function: Any, row: Renamed, name: str, own_too: bool) -> Function:
    """Return the function with other names of its arguments, by its signature."""
    name = name.rpartition(".")[2]
    signature = inspect.signature(function)
    for argument in (*row.arguments, *row.without, *row.keyword, *row.defaults):
        if argument not in signature.parameters:
            raise ValueError(f"'{name}' changes or leaves out '{argument}', which is not an argument of {function!r}")
    remaining = {key: parameter for key, parameter in signature.parameters.items() if key not in row.without}
    ours = {
        **({key: key for key in remaining} if own_too else {}),
        **{row.arguments.get(key, key): key for key in remaining},
    }
    # An argument may be omitted by position, or be keyword-only, only if no later one is positional.
    by_place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    positional = [key for key, parameter in signature.parameters.items() if parameter.kind is by_place]
    count = next((i for i, key in enumerate(positional) if key in row.without + row.keyword), len(positional))
    parameters = [
        parameter.replace(
            name=row.arguments.get(key, key),
            kind=parameter.KEYWORD_ONLY if key in positional[count:] else parameter.kind,
            default=parameter.empty if default is REQUIRED else default,
        )
        for key, parameter in remaining.items()
        for default in (row.defaults.get(key, parameter.default),)
    ]
    has_varargs = any(argument.kind is argument.VAR_POSITIONAL for argument in parameters)
    needed = [key for key in positional if signature.parameters[key].default is inspect.Parameter.empty]
    # (position, or -1 if keyword-only; name; default) of each argument whose default differs on this surface.
    changed_defaults = [
        (positional.index(key) if key in positional else -1, key, row.defaults[key]) for key in row.defaults
    ]

    def surface(*args: Any, **kwargs: Any) -> Any:
        if len(args) > count and not has_varargs:
            raise TypeError(f"{name}() takes {count} positional arguments but {len(args)} were given")
        if kwargs:
            for key in kwargs:
                if key not in ours:
                    raise TypeError(f"{name}() got an unexpected keyword argument '{key}'")
            renamed_arguments = {ours[key]: value for key, value in kwargs.items()}
            if len(renamed_arguments) < len(kwargs):
                raise TypeError(f"{name}() got an argument under two names: {', '.join(kwargs)}")
            kwargs = renamed_arguments
        for position, key, default in changed_defaults:
            if key not in kwargs and not 0 <= position < len(args):
                if default is REQUIRED:
                    raise TypeError(f"{name}() is missing the argument '{row.arguments.get(key, key)}'")
                kwargs[key] = default
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            missing = [row.arguments.get(key, key) for key in needed[len(args) :] if key not in kwargs]
            if not missing or (error.__traceback__ is not None and error.__traceback__.tb_next is not None):
                raise  # the function has begun
        names = ", ".join(f"'{key}'" for key in missing)
        raise TypeError(f"{name}() is missing the argument{'s' * (len(missing) > 1)} {names}")

    surface.__name__ = surface.__qualname__ = name
    surface.__module__ = function.__module__
    surface.__doc__ = _with_names_changed(inspect.getdoc(function) or "", row)
    surface.__wrapped__ = function  # type: ignore[attr-defined]
    surface.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return surface
