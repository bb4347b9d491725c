"""Messages from the page: `{"type": ..., ...}`, validated field by field before dispatch.

A view provides a table of actions: each type of message with its typed fields and the function that applies it to the
panel. A message that is not in the table, or lacks a field, raises one clear error.

A page can also write traits, with the `update` messages of Jupyter's widgets. A value that one page writes is sent to
the other pages, and the traits include the code that pages run. Therefore only PAGE_TRAITS are accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from traitlets import HasTraits

from hookscope.widgets import texts


class Action(NamedTuple):
    """A request that a page may send.

    Attributes:
        fields: the message's fields, each with its type.
        act: the handler, called with the panel and the fields.
        background: whether the page sends the request by itself, without a user who waits for the reply.
        keeps_error: whether it leaves the error message of an earlier request; background requests always do.
        chooses: whether its effect is the user's choice, which is kept when the cell is run again (`choices`).
    """

    fields: Mapping[str, type]
    act: Callable[..., None]
    background: bool = False
    keeps_error: bool = False
    chooses: bool = False


Actions = Mapping[str, Action]
PAGE_TRAITS = ("selected", "view")
"""The traits that a page may write; only Python writes the others."""


class MessageError(ValueError):
    """An impossible request; the error's text is the whole reply."""


def checked(content: object, choices: Actions) -> tuple[Callable[..., None], dict[str, Any]]:
    """Return the handler that a message requests, and its arguments.

    Raises:
        MessageError: the message's type is unknown, or one of its fields is wrong.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("type"), str):
        raise MessageError(f"a message must be an object with a type, got {texts.one_line(repr(content), 80)}")
    name = content["type"]
    if name not in choices:
        raise MessageError(f"unknown message {texts.one_line(name, 40)!r}; known: {', '.join(choices)}")
    action = choices[name]
    fields = {}
    for field, kind in action.fields.items():
        value = content.get(field)
        if type(value) is not kind:
            got = "nothing" if field not in content else type(value).__name__
            raise MessageError(f"message {name!r} needs {field}: {kind.__name__}, got {got}")
        fields[field] = value
    return action.act, fields


def checked_traits(widget: HasTraits, state: object) -> tuple[dict[str, Any], str]:
    """Return the traits of a received state that a page may write, and an error message for the rest, or ""."""
    if not isinstance(state, Mapping):
        return {}, f"the state in an update must be an object, got {type(state).__name__}"
    accepted, messages = {}, []
    refused = sorted(str(name) for name in state if name not in PAGE_TRAITS)
    if refused:
        names = texts.one_line(", ".join(refused), 80)
        messages.append(f"a page cannot set {names}; it can set {', '.join(PAGE_TRAITS)}")
    for name in PAGE_TRAITS:
        if name in state:
            try:
                widget.traits()[name]._validate(widget, state[name])
                accepted[name] = state[name]
            except Exception as error:  # a validator may raise anything
                messages.append(texts.error_line(error))
    return accepted, "; ".join(messages)


def check_choice(what: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless `value` is one of `choices`.

    Raises:
        MessageError: the value is unknown; the message names it and the allowed values.
    """
    if value not in choices:
        raise MessageError(f"unknown {what} {texts.one_line(value, 40)!r}; it is one of {', '.join(choices)}")
