"""Hooks: their handles and entries, the error texts, and the switch that turns all off."""

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
    """Handle of a registered hook. ``remove()`` removes the hook; repeated calls do nothing.

    Args:
        entries: the hooks of its kind.
        entry: the hook.
        prepend: whether it is called before the existing hooks.

    Attributes:
        id: a unique number.
    """

    def __init__(self, entries: dict[int, Any], entry: object, prepend: bool = False) -> None:
        self.id = next(_ids)
        self._entries: dict[int, Any] | None = entries
        if prepend:
            previous = list(entries.items())
            entries.clear()
            entries[self.id] = entry
            entries.update(previous)
        else:
            entries[self.id] = entry

    @property
    def handle_id(self) -> int:
        """MindSpore's name for ``id``."""
        return self.id

    def remove(self) -> None:
        """Remove the hook; do nothing if it is already removed."""
        if self._entries is not None:
            self._entries.pop(self.id, None)
            self._entries = None

    def __deepcopy__(self, memo: dict[int, Any]) -> HookHandle:
        # A copied network has its own hooks, and a handle among its attributes removes those.
        copied = object.__new__(HookHandle)
        memo[id(self)] = copied
        copied.id, copied._entries = self.id, copy.deepcopy(self._entries, memo)
        return copied


class HookEntry:
    """A registered hook: the function and its calling convention.

    Args:
        function: the hook.
        with_kwargs: whether it also gets the keyword arguments of the call.
        always_call: whether it is also called if the cell raised.
    """

    __slots__ = ("always_call", "function", "with_kwargs")

    def __init__(self, function: Callable[..., Any], with_kwargs: bool = False, always_call: bool = False) -> None:
        self.function = function
        self.with_kwargs = with_kwargs
        self.always_call = always_call


_on_bprops = True


def bprop_forward_hooks() -> bool:
    """Return whether forward hooks run on cells with their own ``bprop``; MindSpore skips them."""
    return _on_bprops


def set_bprop_forward_hooks(on: bool) -> None:
    """Set whether forward hooks run on cells with a ``bprop``; MindSpore skips them.

    Args:
        on: whether they run.
    """
    global _on_bprops
    _on_bprops = on


class _Local(threading.local):
    off = 0


_local = _Local()


def hooks_enabled() -> bool:
    """Return whether cell hooks run: not inside ``hooks_off``."""
    return not _local.off


@contextmanager
def hooks_off() -> Iterator[None]:
    """Disable cell hooks inside the block."""
    _local.off += 1
    try:
        yield
    finally:
        _local.off -= 1


def check_arity(hook: object, count: int, method: str, expected: str) -> None:
    """Reject a hook that cannot be called with ``count`` positional arguments.

    Raises:
        TypeError: the text has the expected signature.
    """
    if not callable(hook):
        raise TypeError(f"For '{method}', expected a callable hook function {expected}, but got {type(hook).__name__}")
    try:
        signature = inspect.signature(hook)
    except (TypeError, ValueError):
        return  # built-ins without a signature are not checked
    try:
        signature.bind(*range(count))
    except TypeError:
        name = getattr(hook, "__name__", type(hook).__name__)
        raise TypeError(
            f"For '{method}', the hook must take {count} arguments, as {expected}, but got {name}{signature}"
        ) from None


def wrong_return(hook: str, allowed: str, got: str) -> str:
    """Return the error message for a hook's wrong return value; all three arguments are phrases."""
    return f"{hook} must return {allowed}, but got {got}"


def explain_hook_error(error: Exception, kind: str, hook: Callable[..., Any], where: str) -> None:
    """Add the hook's name and its cell to an error that it raised; once if the hook calls its own cell."""
    name = getattr(hook, "__qualname__", type(hook).__name__)
    add_note_once(error, f"raised by the {kind} hook '{name}' of {where}")


def add_note_once(error: Exception, note: str) -> None:
    """Add a note to an error unless it already has it.

    Args:
        error: the error.
        note: the note.
    """
    if note not in getattr(error, "__notes__", ()):
        error.add_note(note)
