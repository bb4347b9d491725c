"""Names of a module beyond its globals: collected from its files, loaded on first use, unsupported, or misspelled.

A module's ``__getattr__`` is made here, from rows. So ``import mindspore`` does not load data sets and training loops,
and the error for an unknown name suggests the nearest one.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

from .absent_names import absent_in, check_module

__all__ = [
    "copy_with_name",
    "is_of_the_engine",
    "loaded",
    "name_methods",
    "names_in",
    "on_first_use",
    "set_method_names",
    "unavailable",
]

_ENGINE = __name__.rsplit(".", 2)[0]
_CALLED = ("__init__", "__call__")
_MINDSPORE_HOMES = {"formats": "train.serialization", "tensors.dtype": "common.dtype"}
"""Packages of the engine that have a different name in MindSpore."""
loaded: list[Callable[[], None]] = []
"""Called when a module may have been loaded by access to a name."""


def names_in(package: str, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the public names (``__all__``) of a package's files, so that a new file is included.

    Args:
        package: its ``__name__``.
        without: modules whose names are not included; those whose names begin with an underscore never are.

    Raises:
        ValueError: two files have the same name in ``__all__``.
    """
    values: dict[str, Any] = {}
    for name in sorted(module.name for module in iter_modules(sys.modules[package].__path__)):
        if name.startswith("_") or name in without:
            continue
        module = import_module(f"{package}.{name}")
        for key in module.__all__:
            if key in values:
                raise ValueError(f"'{key}' is offered by two files of {package}, one of them {name}")
            values[key] = getattr(module, key)
    return values


def on_first_use(
    module: str, rooms: Collection[str] = (), names: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module.

    Args:
        module: the module's ``__name__``.
        rooms: modules below it that are imported on first use.
        names: name -> module below the engine that contains it, "" for the engine itself; taken from there on first
            use.
    """
    names = names or {}

    def __getattr__(name: str) -> Any:  # noqa: N807  (it becomes the module's own)
        if name in rooms:
            submodule = import_module(f"{module}.{name}")
            _notify_loaded()
            return submodule
        if name in names:
            value = getattr(import_module(f"{_ENGINE}.{names[name]}".rstrip(".")), name)
        elif name in (absent := absent_in(_path(module) or "top")):
            value = unavailable(f"{_mindspore_name(module)}.{name}", absent[name])
        else:
            check_module(f"{_mindspore_name(module)}.{name}")
            raise _NoSuchName(module, name, {*rooms, *names, *absent})
        setattr(sys.modules[module], name, value)
        _notify_loaded()
        return value

    return __getattr__


def _notify_loaded() -> None:
    for call in loaded:
        call()


def is_of_the_engine(kind: type) -> bool:
    """Return whether a class is the engine's, not a user's: under the alias its module may be `mindspore`."""
    return kind.__module__.partition(".")[0] in (_ENGINE.partition(".")[0], "mindspore")


def copy_with_name(function: types.FunctionType, name: str) -> types.FunctionType:
    """Return a copy of a function with a different name, which Python's errors about its arguments use.

    Args:
        function: the function.
        name: the name, with dots for a method.
    """
    copy = types.FunctionType(
        function.__code__, function.__globals__, name.rpartition(".")[2], function.__defaults__, function.__closure__
    )
    functools.update_wrapper(copy, function)
    copy.__kwdefaults__, copy.__name__, copy.__qualname__ = function.__kwdefaults__, name.rpartition(".")[2], name
    return copy


def name_methods(namespace: Mapping[str, Any], inner: Collection[type] = ()) -> None:
    """Give methods of public classes the names of these classes, for errors about their arguments.

    This concerns inherited constructors, methods of the engine's base classes, and those of functions that create
    classes.

    Args:
        namespace: names and values of a module; the classes of this package among them are changed.
        inner: base classes of the engine whose names do not begin with an underscore.
    """
    for name, kind in namespace.items():
        if not isinstance(kind, type) or name.startswith("_") or not is_of_the_engine(kind):
            continue
        for key in {key: key for base in kind.__mro__ for key in vars(base) if key in _CALLED or key[0] != "_"}:
            owner = next(base for base in kind.__mro__ if key in vars(base))
            method = vars(owner)[key]
            if not isinstance(method, types.FunctionType):
                continue
            if owner is kind and "<locals>" in method.__qualname__:
                method.__qualname__ = f"{kind.__name__}.{key}"
            elif owner is not kind and (key == "__init__" or owner.__name__.startswith("_") or owner in inner):
                setattr(kind, key, copy_with_name(method, f"{kind.__name__}.{key}"))


def set_method_names(part: type, name: str) -> None:
    """Give the methods of a base class the name of the class that it is a part of, for errors about arguments.

    Args:
        part: a class that only this class inherits from.
        name: the name of the class.
    """
    for key, method in vars(part).items():
        if isinstance(method, types.FunctionType):
            method.__qualname__ = f"{name}.{key}"


def unavailable(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that raises an error with the alternative to ``name``."""

    def unavailable_function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not covered by hookscope: {instead}")

    unavailable_function.__name__ = unavailable_function.__qualname__ = name.rpartition(".")[2]
    unavailable_function.__doc__ = f"Not covered: {instead}"
    unavailable_function.__mro_entries__ = unavailable_function  # type: ignore[attr-defined]  # a class derived from it raises the same error
    return unavailable_function


class _NoSuchName(AttributeError):  # noqa: N818  (users see AttributeError's text)
    """Error that looks for the nearest name when its text is read, not in a hasattr."""

    def __init__(self, module: str, name: str, more: set[str]) -> None:
        super().__init__(module, name, more)
        self.name = name

    def __str__(self) -> str:
        return _no_such_name(*self.args)


def _path(module: str) -> str:
    """Return the path of a module below the engine, or below its package of MindSpore's modules."""
    return module.removeprefix(_ENGINE).removeprefix(".mindspore").lstrip(".")


def _mindspore_name(module: str) -> str:
    path = _path(module)
    return f"mindspore.{_MINDSPORE_HOMES.get(path, path)}".rstrip(".")


def _no_such_name(module: str, name: str, more: set[str]) -> str:
    text = f"module '{_mindspore_name(module)}' has no attribute '{name}' in hookscope, which stands in for mindspore"
    if name.startswith("__"):
        return text
    from .nearest_name import nearest

    public = {n for n in vars(sys.modules[module]) if not n.startswith("_") or name.startswith("_")} | more
    # Conv2D means Conv2d: compare without case, and suggest the right spelling.
    spelling = {n.lower(): n for n in sorted(public)}
    closest = nearest(name.lower(), spelling)
    return text if closest is None else f"{text}; the nearest name is '{spelling[closest]}'"
