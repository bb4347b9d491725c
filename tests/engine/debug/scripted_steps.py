"""Running plain functions under the stepper by scripted commands, shared by its tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hookscope.engine.debug.stop.stepping.stepper import Stepper, Stop


def place(stop: Stop) -> str:
    """Function and line, counted from the def line, and what was raised there."""
    code = stop.frame.f_code
    raised = "" if stop.exception is None else f" {type(stop.exception).__name__}"
    return f"{code.co_name}+{stop.line - code.co_firstlineno}{raised}"


def stops_of(function: Callable[..., Any], *args: Any, commands: list[str]) -> tuple[Any, list[str]]:
    """Run with these commands, then "continue"; the result, and where it stopped."""
    seen: list[str] = []
    script = iter(commands)

    def answer(stop: Stop) -> str:
        seen.append(place(stop))
        return next(script, "continue")

    return Stepper(answer).call(function, *args), seen
