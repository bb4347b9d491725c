"""Plain functions run under the stepper by scripted commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from hookscope.engine.debug.stop.stepping.stepper import Stepper, Stop, is_user_code


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

    return run_stepped(answer, function, *args), stops


def run_stepped(
    answer: Callable[[Stop], str],
    function: Callable[..., Any],
    *args: Any,
    user_code: Callable[[CodeType], bool] = is_user_code,
) -> Any:
    """Run a function under the stepper, which ends with it; return the result."""
    stepper = Stepper(answer, lambda code: code.co_filename != __file__ and user_code(code))
    try:
        return stepper.call(function, args)
    finally:
        stepper.forget()
        stepper.listen(sys._getframe())
