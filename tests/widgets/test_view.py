"""Views may share a name for one thing; one name for two things is refused."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest

from hookscope.widgets.messages import Action
from hookscope.widgets.view import Message, View, refuse_clashes, state


class Sent(TypedDict):
    """A message."""

    type: str


SHARED = state(bytes)


def view(name: str, **more: Any) -> View:
    return View(name=name, title=name, position=1, script="", **more)


def test_what_views_share_is_one_thing() -> None:
    parts = {
        "traits": {"numbers": SHARED},
        "messages": {"sent": Message(Sent)},
        "actions": {"ask": Action({"at": int}, print)},
        "constants": {"KINDS": ("a", "b")},
    }
    refuse_clashes([view("a", **parts), view("b", **parts)])


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("traits", state(bytes), state(bytes)),
        ("messages", Message(Sent), Message(Sent, live=True)),
        ("actions", Action({}, print), Action({}, print, background=True)),
        ("constants", ("a",), ("b",)),
    ],
)
def test_one_name_for_two_things_is_refused(kind: str, first: object, second: object) -> None:
    with pytest.raises(ValueError, match=f"{kind}: the views 'a' and 'b' differ in 'x'"):
        refuse_clashes([view("a", **{kind: {"x": first}}), view("b", **{kind: {"x": second}})])
