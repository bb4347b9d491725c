"""Expressions that are evaluated at each stop, and names whose value is shown where one points at them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np

from hookscope.engine.debug.record.statistics import statistics
from hookscope.widgets import texts
from hookscope.widgets.messages import MessageError

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel

_MOST_WATCHED = 50
_MOST_TEXT = 400
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class Evaluation(TypedDict):
    """What was asked, and the answer."""

    expression: str
    text: str
    failed: bool


class Peek(Evaluation):
    """The value of a name in the source."""

    type: Literal["peek"]


class _Watched:
    """The expressions of one panel, in the order in which they were added."""

    def __init__(self, panel: DebuggerPanel) -> None:
        self.expressions: list[str] = []
        self.evaluating = False


def publish_watched(panel: DebuggerPanel) -> None:
    """Evaluate what is watched where the run stands; while it runs, the values of the last stop stay."""
    watched = panel.memory(_Watched)
    if watched.evaluating or not watched.expressions or panel.session.paused is None:
        return
    watched.evaluating = True  # an expression that changes something is told of as any change is, and asks for itself
    try:
        panel.watched = [evaluation(panel.session, text, _MOST_TEXT) for text in watched.expressions]
    finally:
        watched.evaluating = False


def watch_expression(panel: DebuggerPanel, expression: str) -> None:
    """Evaluate an expression at each stop from now on."""
    watched, text = panel.memory(_Watched), " ".join(expression.split())
    if not text:
        raise MessageError("there is no expression to watch")
    if len(watched.expressions) >= _MOST_WATCHED and text not in watched.expressions:
        raise MessageError(f"{_MOST_WATCHED} expressions are watched already: remove one first")
    if text not in watched.expressions:
        watched.expressions.append(text)
        panel.watched = [*panel.watched, {"expression": text, "text": "", "failed": False}]
    publish_watched(panel)


def unwatch_expression(panel: DebuggerPanel, expression: str) -> None:
    """Evaluate it no more."""
    watched = panel.memory(_Watched)
    watched.expressions = [text for text in watched.expressions if text != expression]
    panel.watched = [one for one in panel.watched if one["expression"] != expression]


def peek(panel: DebuggerPanel, expression: str) -> None:
    """Send the value of a name, or of an attribute of one, with a few figures."""
    if not _NAME.fullmatch(expression):
        raise MessageError(f"{texts.one_line(expression, 40)!r} is no name")
    if panel.session.paused is None:
        return
    found = evaluation(panel.session, expression, _MOST_TEXT, figures=True)
    panel.send({"type": "peek", **found})


def evaluation(session: DebugSession, expression: str, limit: int, figures: bool = False) -> Evaluation:
    """The value of an expression where the run stands as text, or the error that it raises."""
    try:
        value = session.evaluate(expression)
        text = texts.value_text(value, limit)
        told = figures_text(value) if figures else ""
        return {"expression": expression, "text": f"{text}\n{told}" if told else text, "failed": False}
    except Exception as error:  # the user's expression may raise anything; it is the answer
        return {"expression": expression, "text": texts.error_line(error), "failed": True}


def figures_text(value: object) -> str:
    """A few figures of an array of numbers in one line; "" for anything else, and for a single number."""
    array: Any = getattr(value, "_array", value)
    if not isinstance(getattr(array, "dtype", None), np.dtype) or array.dtype.kind == "O" or array.size < 2:
        return ""
    try:
        found = statistics(array)
    except TypeError:  # elements that are no numbers
        return ""
    shown = {"min": found.minimum, "max": found.maximum, "mean": found.mean, "std": found.std}
    faults = {"NaN": found.nan, "inf": found.positive_inf, "-inf": found.negative_inf}
    finite = [f"{name} {number:.5g}" for name, number in shown.items()] if found.finite else ["no finite elements"]
    return ", ".join([*finite, *(f"{count:,} {name}" for name, count in faults.items() if count)])
