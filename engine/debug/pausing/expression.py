"""Expressions that the user writes into breakpoints and into the Evaluate box.

A breakpoint's expression sees these names, for each tensor that passes at its moment:

    value               the tensor
    norm mean minimum maximum std    its figures, computed only if the expression asks for them
    step call           the number of root calls so far, the number of this call of the cell in the step
    passes              how often the run came to this breakpoint's place, this time included
    cell                the cell
    rank                the number of this process among the ranks, 0 where it is alone
    np ms               NumPy and Hookscope's engine

and at a ``bprop`` also the function's arguments by their own names.
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Mapping
from types import CodeType
from typing import Any

from ...core.nearest import nearest
from ..captures.statistics import statistics

__all__ = ["FIGURES", "NAMES", "compile_expression", "evaluate", "names_in", "value_of", "value_scope"]

FIGURES = ("norm", "mean", "minimum", "maximum", "std")
NAMES = ("value", *FIGURES, "step", "call", "passes", "cell", "rank", "np", "ms")


def compile_expression(text: str, known: Collection[str] | None = None) -> CodeType:
    """Compile one Python expression.

    Args:
        text: the expression.
        known: the names that it may use beside Python's own; None if that is not known before it runs.

    Raises:
        ValueError: it is no expression, or uses another name; one line that says what is wrong.
    """
    try:
        code = compile(text.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        raise ValueError(f"expression {text!r}: {detail}") from None
    if known is not None:
        for name in names_in(code):
            if name not in known and not hasattr(builtins, name):
                raise ValueError(
                    f"expression {text!r}: the name {name!r} is unknown here; the nearest is {nearest(name, known)!r}"
                )
    return code


def names_in(code: CodeType) -> set[str]:
    """The global names that an expression looks up; attributes are not among them."""
    import dis

    found = {
        str(instruction.argval)
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL")
    }
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= names_in(constant)
    return found


def evaluate(code: CodeType, scope: Mapping[str, object]) -> Any:
    """Run a compiled expression with the names in scope."""
    return eval(code, {"__builtins__": builtins, **scope})  # the user's own expression, typed in this session


def value_of(expression: str, names: Mapping[str, object]) -> Any:
    """The value of an expression that sees these names, and the figures of ``value`` that it asks for.

    Raises:
        ValueError: it is no expression.
        Exception: whatever it raises.
    """
    code = compile_expression(expression)
    return evaluate(code, {**value_scope(names.get("value"), names_in(code).difference(names)), **names})


def value_scope(value: object, wanted: Collection[str] = FIGURES) -> dict[str, object]:
    """``value`` and those of its figures that are wanted."""
    scope: dict[str, object] = {"value": value}
    figures = [name for name in FIGURES if name in wanted]
    if figures:
        found = statistics(value) if hasattr(value, "_array") else None
        scope.update({name: float("nan") if found is None else getattr(found, name) for name in figures})
    return scope
