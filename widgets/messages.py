"""Messages from the page: `{"type": ..., ...}`, checked field by field before anything is done.

A view offers a table of actions: for each type of message its fields, with their types, and the function that does it
to the panel. A message that is not in the table, or lacks a field, is one clear error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookscope.widgets import texts

Action = tuple[dict[str, type], Callable[..., None]]
Actions = Mapping[str, Action]


class MessageError(ValueError):
    """A message that asks for something impossible; its text is the whole answer."""


def checked(content: object, known: Actions) -> tuple[Callable[..., None], dict[str, Any]]:
    """Return what a message asks for: the function and its arguments.

    Raises:
        MessageError: it is none of the known messages, or one of its fields is wrong.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("type"), str):
        raise MessageError(f"a message must be an object with a type, got {texts.one_line(repr(content), 80)}")
    name = content["type"]
    if name not in known:
        raise MessageError(f"unknown message {texts.one_line(name, 40)!r}; known: {', '.join(known)}")
    wanted, act = known[name]
    fields = {}
    for field, kind in wanted.items():
        value = content.get(field)
        if type(value) is not kind:
            got = "nothing" if field not in content else type(value).__name__
            raise MessageError(f"message {name!r} needs {field}: {kind.__name__}, got {got}")
        fields[field] = value
    return act, fields


def one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse what is not known.

    Raises:
        MessageError: names the value and what is allowed.
    """
    if value not in known:
        raise MessageError(f"unknown {what} {texts.one_line(value, 40)!r}; it is one of {', '.join(known)}")
