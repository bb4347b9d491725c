"""Hooks: the handle that removes one, what is said of a wrong one, and the switch that turns all off."""

from __future__ import annotations

import copy
import inspect
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

__all__ = [
    "HookEntry",
    "HookHandle",
    "add_note_once",
    "bprop_forward_hooks",
    "check_arity",
    "explain_hook_error",
    "hooks_enabled",
    "hooks_off",
    "set_bprop_forward_hooks",
    "wrong_return",
]

_ids = itertools.count()


class HookHandle:
    """What registering a hook returns. ``remove()`` takes the hook off again; more than once is the same as once.

    Args:
        entries: where the hooks of its kind are kept.
        entry: the hook.
        prepend: whether it is to be called before those that are there.

    Attributes:
        id: a number of its own.
    """

    def __init__(self, entries: dict[int, Any], entry: object, prepend: bool = False) -> None:
        self.id = next(_ids)
        self._entries: dict[int, Any] | None = entries
        if prepend:
            others = list(entries.items())
            entries.clear()
            entries[self.id] = entry
            entries.update(others)
        else:
            entries[self.id] = entry

    @property
    def handle_id(self) -> int:
        """MindSpore's name for ``id``."""
        return self.id

    def remove(self) -> None:
        """Take the hook off. Where it was taken off before, nothing happens."""
        if self._entries is not None:
            self._entries.pop(self.id, None)
            self._entries = None

    def __deepcopy__(self, memo: dict[int, Any]) -> HookHandle:
        # A copied network has hooks of its own, and a handle among its attributes removes those.
        copied = object.__new__(HookHandle)
        memo[id(self)] = copied
        copied.id, copied._entries = self.id, copy.deepcopy(self._entries, memo)
        return copied


class HookEntry:
    """One registered hook: the function and how it wants to be called.

    Args:
        function: the hook.
        with_kwargs: whether it gets the keyword arguments of the call too.
        always_call: whether it is called also where the cell raised.
    """

    __slots__ = ("always_call", "function", "with_kwargs")

    def __init__(self, function: Callable[..., Any], with_kwargs: bool = False, always_call: bool = False) -> None:
        self.function = function
        self.with_kwargs = with_kwargs
        self.always_call = always_call


_on_bprops = True


def bprop_forward_hooks() -> bool:
    """Return whether forward hooks run on cells with a ``bprop`` of their own; MindSpore passes over them."""
    return _on_bprops


def set_bprop_forward_hooks(on: bool) -> None:
    """Let forward hooks run on cells with a ``bprop`` from now on, or pass them over as MindSpore does.

    Args:
        on: whether they run.
    """
    global _on_bprops
    _on_bprops = on


class _Local(threading.local):
    off = 0


_local = _Local()


def hooks_enabled() -> bool:
    """Whether cell hooks run: not inside ``hooks_off``."""
    return not _local.off


@contextmanager
def hooks_off() -> Iterator[None]:
    """Cell hooks do not run inside the block."""
    _local.off += 1
    try:
        yield
    finally:
        _local.off -= 1


def check_arity(hook: object, count: int, method: str, expected: str) -> None:
    """Refuse what cannot be called with ``count`` positional arguments.

    Raises:
        TypeError: the text has the expected signature.
    """
    if not callable(hook):
        raise TypeError(f"For '{method}', expected a callable hook function {expected}, but got {type(hook).__name__}")
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):
        return  # Built-ins without a signature are taken at their word.
    try:
        signature.bind(*range(count))
    except TypeError:
        name = getattr(hook, "__name__", type(hook).__name__)
        raise TypeError(
            f"For '{method}', the hook must take {count} arguments, as {expected}, but got {name}{signature}"
        ) from None


def wrong_return(hook: str, allowed: str, got: str) -> str:
    """What the error says where a hook returned something else than it may, all three in words."""
    return f"{hook} must return {allowed}, but got {got}"


def explain_hook_error(error: Exception, kind: str, hook: Callable[..., Any], where: str) -> None:
    """Add to an error from a hook which hook it was, of which cell; once where the hook calls its own cell."""
    name = getattr(hook, "__qualname__", type(hook).__name__)
    add_note_once(error, f"raised by the {kind} hook '{name}' of {where}")


def add_note_once(error: Exception, note: str) -> None:
    """Add a note to an error that has not got it yet.

    Args:
        error: the error.
        note: the note.
    """
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
