"""Conditions of the user's own: ``if EXPRESSION``.

The expression can use the names of a breakpoint's expression, and of the value: ``direction`` ("forward" or
"backward"), ``slot`` and ``path``, and counts of its elements: ``zeros``, ``nan``, ``inf`` and ``count``.
"""

from __future__ import annotations

from ...stop.breakpoints.expression import NAMES, compile_expression, evaluate, names_in, value_scope
from .condition import NO_THRESHOLD, Condition
from .values import ValueObservation

__all__ = ["COUNTS", "OWN_NAMES", "own_condition"]

COUNTS = ("zeros", "nan", "inf", "count")
OWN_NAMES = (*NAMES, "direction", "slot", "path", *COUNTS)


def own_condition(text: str) -> Condition:
    """Return the condition of ``if EXPRESSION``.

    Raises:
        ValueError: it is not an expression, or uses an unknown name.
    """
    expression = text.strip().removeprefix("if").strip()
    code = compile_expression(expression, OWN_NAMES)
    required = frozenset(names_in(code))

    def formula(observation: ValueObservation, threshold: float) -> str | None:
        capture = observation.capture
        scope = {**value_scope(capture.value, required), **observation.names()}
        scope.update({"direction": capture.direction, "slot": capture.slot, "path": capture.path})
        if required.intersection(COUNTS):
            figures = observation.figures
            infinities = figures.positive_inf + figures.negative_inf
            scope.update({"zeros": figures.zeros, "nan": figures.nan, "inf": infinities, "count": figures.count})
        return "it is true" if evaluate(code, scope) else None

    return Condition(
        f"if {expression}",
        ValueObservation,
        formula,
        NO_THRESHOLD,
        "",
        "an expression of your own is true",
        "It is your own condition.",
        "own",
        slots=("input", "output", "grad"),
        certain=True,
        is_own=True,
    )
