"""Expressions evaluated at each stop, and values of names under the pointer."""

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

_MAX_WATCHES = 50
_MAX_TEXT = 400
_NAME = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


class Evaluation(TypedDict):
    """An expression and its result."""

    expression: str
    text: str
    failed: bool


class Peek(Evaluation):
    """The value of a name in the source."""

    type: Literal["peek"]


class _WatchExpressions:
    """The watched expressions of one panel, in the order of their addition."""

    def __init__(self, panel: DebuggerPanel) -> None:
        self.expressions: list[str] = []
        self.evaluating = False


def publish_watch_values(panel: DebuggerPanel) -> None:
    """Evaluate the watched expressions at the pause; while the run goes on, the last values stay."""
    watches = panel.memory(_WatchExpressions)
    if watches.evaluating or not watches.expressions or panel.session.shown is None:
        return
    watches.evaluating = True  # an expression with side effects publishes changes, which would evaluate again
    try:
        panel.watches = [evaluation(panel.session, text, _MAX_TEXT) for text in watches.expressions]
    finally:
        watches.evaluating = False


def watch_expression(panel: DebuggerPanel, expression: str) -> None:
    """Evaluate an expression at each stop from now on."""
    watches, text = panel.memory(_WatchExpressions), " ".join(expression.split())
    if not text:
        raise MessageError("there is no expression to watch")
    if len(watches.expressions) >= _MAX_WATCHES and text not in watches.expressions:
        raise MessageError(f"{_MAX_WATCHES} expressions are watched already: remove one first")
    if text not in watches.expressions:
        watches.expressions.append(text)
        panel.watches = [*panel.watches, {"expression": text, "text": "", "failed": False}]
    publish_watch_values(panel)


def unwatch_expression(panel: DebuggerPanel, expression: str) -> None:
    """Stop evaluating an expression."""
    watches = panel.memory(_WatchExpressions)
    watches.expressions = [text for text in watches.expressions if text != expression]
    panel.watches = [entry for entry in panel.watches if entry["expression"] != expression]


def peek(panel: DebuggerPanel, expression: str) -> None:
    """Send the value of a name, or of an attribute of one, with a few statistics."""
    if not _NAME.fullmatch(expression):
        raise MessageError(f"{texts.one_line(expression, 40)!r} is not a name")
    if panel.session.shown is None:
        return
    result = evaluation(panel.session, expression, _MAX_TEXT, figures=True)
    panel.send({"type": "peek", **result})


def evaluation(session: DebugSession, expression: str, limit: int, figures: bool = False) -> Evaluation:
    """Return the value of an expression at the pause as text, or the error that it raises."""
    try:
        value = session.evaluate(expression)
        text = texts.value_text(value, limit)
        summary = figures_text(value) if figures else ""
        return {"expression": expression, "text": f"{text}\n{summary}" if summary else text, "failed": False}
    except Exception as error:  # the user's expression may raise anything; the error is the reply
        return {"expression": expression, "text": texts.error_line(error), "failed": True}


def figures_text(value: object) -> str:
    """Return a few statistics of a numeric array in one line; "" for anything else, and for a single number."""
    array: Any = value if issubclass(type(value), np.ndarray) else texts.array_in(value)
    if array is None or array.dtype.kind == "O" or array.size < 2:
        return ""
    try:
        summary = statistics(array)
    except TypeError:  # non-numeric elements
        return ""
    spread = {"min": summary.minimum, "max": summary.maximum, "mean": summary.mean, "std": summary.std}
    faults = {"NaN": summary.nan, "inf": summary.positive_inf, "-inf": summary.negative_inf}
    finite = [f"{name} {number:.5g}" for name, number in spread.items()] if summary.finite else ["no finite elements"]
    return ", ".join([*finite, *(f"{count:,} {name}" for name, count in faults.items() if count)])
