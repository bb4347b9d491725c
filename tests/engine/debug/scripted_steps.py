"""Plain functions run under the stepper by scripted commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookscope.engine.debug.stop.stepping.stepper import Stepper, Stop


def position_of(stop: Stop) -> str:
    """Return function and line, counted from the def line, and the exception raised there."""
    code = stop.frame.f_code
    raised = "" if stop.exception is None else f" {type(stop.exception).__name__}"
    return f"{code.co_name}+{stop.line - code.co_firstlineno}{raised}"


def stops_of(function: Callable[..., Any], *args: Any, commands: list[str]) -> tuple[Any, list[str]]:
    """Run with these commands, then "continue"; return the result and the stops."""
    stops: list[str] = []
    script = iter(commands)

    def answer(stop: Stop) -> str:
        stops.append(position_of(stop))
        return next(script, "continue")

    return Stepper(answer).call(function, *args), stops
