"""Messages from the page: `{"type": ..., ...}`, checked field by field before anything is done.

A view offers a table of actions: for each type of message its fields, with their types, and the function that does it
to the panel. A message that is not in the table, or lacks a field, is one clear error.

A page can also write traits, with the `update` messages of Jupyter's widgets. What one page writes goes to the others,
and among the traits is the code that they run: so only PAGE_TRAITS are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from traitlets import HasTraits

from hookscope.widgets import texts


class Action(NamedTuple):
    """What a page may ask.

    Attributes:
        fields: the message's fields, each with its type.
        act: does it, given the panel and the fields.
        background: the page asks by itself, and nobody waits for the answer.
        keeps_error: it does not wipe away what is said to have gone wrong; nor does what is asked in the background.
    """

    fields: Mapping[str, type]
    act: Callable[..., None]
    background: bool = False
    keeps_error: bool = False


Actions = Mapping[str, Action]
PAGE_TRAITS = ("selected", "view")
"""The traits that a page may write; the others are Python's."""


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
    action = known[name]
    fields = {}
    for field, kind in action.fields.items():
        value = content.get(field)
        if type(value) is not kind:
            got = "nothing" if field not in content else type(value).__name__
            raise MessageError(f"message {name!r} needs {field}: {kind.__name__}, got {got}")
        fields[field] = value
    return action.act, fields


def checked_traits(widget: HasTraits, state: object) -> tuple[dict[str, Any], str]:
    """Return what a page may write of a state that it sent, and what is wrong with the rest, or ""."""
    if not isinstance(state, Mapping):
        return {}, f"the state in an update must be an object, got {type(state).__name__}"
    taken, wrong = {}, []
    refused = sorted(str(name) for name in state if name not in PAGE_TRAITS)
    if refused:
        names = texts.one_line(", ".join(refused), 80)
        wrong.append(f"a page cannot set {names}; it can set {', '.join(PAGE_TRAITS)}")
    for name in PAGE_TRAITS:
        if name in state:
            try:
                widget.traits()[name]._validate(widget, state[name])
                taken[name] = state[name]
            except Exception as error:  # a validator may raise anything
                wrong.append(texts.error_line(error))
    return taken, "; ".join(wrong)


def one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    """Refuse what is not known.

    Raises:
        MessageError: names the value and what is allowed.
    """
    if value not in known:
        raise MessageError(f"unknown {what} {texts.one_line(value, 40)!r}; it is one of {', '.join(known)}")
