"""Names that a module does not hold yet: found in its files, loaded on first use, absent here, or the nearest one.

A module's ``__getattr__`` is made here, from rows. So ``import mindspore`` loads no data sets and no training loop, and
a name that is not covered is an error that names the nearest one that is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, NoReturn

from .absent import absent_in, check_module

__all__ = ["is_of_the_engine", "loaded", "names_in", "on_first_use", "unavailable"]

_ENGINE = __name__.rsplit(".", 2)[0]
loaded: list[Callable[[], None]] = []
"""Called when a module may have been loaded because something of it was asked for."""


def names_in(package: str, without: Collection[str] = ()) -> dict[str, Any]:
    """What the files of a package offer (their ``__all__``), so that a file that is added there is found.

    Args:
        package: its ``__name__``.
        without: modules whose names stay theirs; those whose names begin with an underscore do anyway.

    Raises:
        ValueError: two files offer one name.
    """
    found: dict[str, Any] = {}
    for name in sorted(module.name for module in iter_modules(sys.modules[package].__path__)):
        if name.startswith("_") or name in without:
            continue
        module = import_module(f"{package}.{name}")
        for key in module.__all__:
            if key in found:
                raise ValueError(f"'{key}' is offered by two files of {package}, one of them {name}")
            found[key] = getattr(module, key)
    return found


def on_first_use(
    module: str,
    rooms: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module.

    Args:
        module: the module's ``__name__``.
        rooms: modules below it that are imported when first asked for.
        names: name -> module below the engine that holds it, "" for the engine itself; taken from there when first
            asked for.
    """
    names = names or {}

    def __getattr__(name: str) -> Any:  # noqa: N807  (it becomes the module's)
        if name in rooms:
            room = import_module(f"{module}.{name}")
            _tell()
            return room
        if name in names:
            found = getattr(import_module(f"{_ENGINE}.{names[name]}".rstrip(".")), name)
        elif name in (absent := absent_in(module.removeprefix(_ENGINE).lstrip(".") or "top")):
            found = unavailable(f"{_shown(module)}.{name}", absent[name])
        else:
            check_module(f"{_shown(module)}.{name}")
            raise _NoSuchName(module, name, {*rooms, *names, *absent})
        setattr(sys.modules[module], name, found)
        _tell()
        return found

    return __getattr__


def _tell() -> None:
    for call in loaded:
        call()


def is_of_the_engine(one: type) -> bool:
    """Whether a class is the engine's own, not a user's: under the alias its module may say `mindspore`."""
    return one.__module__.partition(".")[0] in (_ENGINE.partition(".")[0], "mindspore")


def unavailable(name: str, instead: str) -> Callable[..., NoReturn]:
    """A function that says in one line what to use instead of ``name``."""

    def not_here(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"{name} is not covered by hookscope: {instead}")

    not_here.__name__ = not_here.__qualname__ = name.rpartition(".")[2]
    not_here.__doc__ = f"Not covered: {instead}"
    not_here.__mro_entries__ = not_here  # type: ignore[attr-defined]  # a class made of it gets the same answer
    return not_here


class _NoSuchName(AttributeError):  # noqa: N818  (users see AttributeError's text)
    """Looks for the nearest name when somebody reads the text: a hasattr does not."""

    def __init__(self, module: str, name: str, more: set[str]) -> None:
        super().__init__(module, name, more)
        self.name = name

    def __str__(self) -> str:
        return _no_such_name(*self.args)


def _shown(module: str) -> str:
    return "mindspore" + module.removeprefix(_ENGINE)


def _no_such_name(module: str, name: str, more: set[str]) -> str:
    text = f"module '{_shown(module)}' has no attribute '{name}' in hookscope, which stands in for mindspore"
    if name.startswith("__"):
        return text
    from .nearest import nearest

    public = {n for n in vars(sys.modules[module]) if not n.startswith("_") or name.startswith("_")} | more
    # Whoever asks for Conv2D means Conv2d: compare without case, and tell how it is written.
    written = {n.lower(): n for n in sorted(public)}
    near = nearest(name.lower(), written)
    return text if near is None else f"{text}; the nearest name is '{written[near]}'"
