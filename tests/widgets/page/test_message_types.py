"""The types that the page's scripts are checked against equal Python's declarations of its messages."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

import pytest

from hookscope.widgets.messages import Action
from hookscope.widgets.page.message_types import Types
from hookscope.widgets.view import Message, View, state


class Point(TypedDict):
    """A point."""

    x: float
    name: str | None


class Line(TypedDict, total=False):
    """A line."""

    points: list[Point]
    ends: tuple[int, bool]
    by_name: dict[str, list[int | str]]


class Arrival(TypedDict):
    """A message."""

    type: Literal["came"]
    line: Line


def declarations(**more: Any) -> list[str]:
    types = Types()
    types.add([View(name="v", title="V", position=1, script="", **more)])
    return types.text().splitlines()


def test_state_and_messages_are_written_as_types_by_their_names() -> None:
    lines = declarations(
        traits={"points": state(list[Point]), "numbers": state(bytes)}, messages={"came": Message(Arrival)}
    )
    assert lines == [
        "/** @typedef {{x: number, name: string | null}} Point */",
        '/** @typedef {{type: "came", line: Line}} Arrival */',
        "/** @typedef {{points?: Point[], ends?: [number, boolean], by_name?: Record<string, (number | string)[]>}} "
        "Line */",
        "/** @typedef {Arrival} Sent */",
        "/** @typedef {never} Asked */",
    ]


def test_what_may_be_asked_has_the_fields_that_are_checked() -> None:
    actions = {"look": Action({"rows": list, "on": bool, "at": int}, print), "stop": Action({}, print)}
    (line,) = [line for line in declarations(actions=actions) if line.endswith(" Asked */")]
    assert line == '/** @typedef {{type: "look", rows: unknown[], on: boolean, at: number} | {type: "stop"}} Asked */'


def test_a_type_that_cannot_be_sent_is_refused() -> None:
    with pytest.raises(TypeError, match="nothing of the type <class 'complex'> can be sent"):
        declarations(traits={"odd": state(list[complex])})


def test_two_types_of_one_name_are_refused() -> None:
    other = TypedDict("Point", {"z": int})  # noqa: UP013  # a second one of this name
    with pytest.raises(ValueError, match="two types are called Point"):
        declarations(traits={"a": state(Point), "b": state(other)})
