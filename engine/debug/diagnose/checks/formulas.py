"""Evaluation of one formula: one that raises does not hold, and is reported once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..conditions import Condition

if TYPE_CHECKING:
    from ...events import Events

__all__ = ["detail_of", "report"]


def detail_of(condition: Condition, observation: Any, events: Events) -> str | None:
    """Return a few words on what is wrong with an observation; None if the condition does not hold."""
    try:
        return condition.formula(observation, condition.threshold)
    except Exception as error:
        report(condition, error, events)
        return None


def report(condition: Condition, error: Exception, events: Events) -> None:
    """Report a formula that raised: a fault of the condition's row, or an error of the user's own expression."""
    name = condition.name
    if condition.is_own:
        events.say(f"condition {name!r}: {type(error).__name__}: {error}", name)
    elif not events.faults.report_fault(f"condition {name!r}", error):
        raise error
