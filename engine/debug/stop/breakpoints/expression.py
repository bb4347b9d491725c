"""Expressions of breakpoints and of the Evaluate box.

A breakpoint's expression can use these names, for each tensor that passes at its moment:

    value               the tensor
    norm mean minimum maximum std    its statistics, computed only if the expression uses them
    step call           the number of the step, the number of this call of the cell in the step
    passes              the number of times that the run reached the breakpoint, including this one
    cell                the cell
    rank                the number of this process among the ranks, 0 for a single process
    np ms               NumPy and Hookscope's engine

and at a ``bprop`` also the function's arguments by their own names.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Any

from ....base.nearest_name import suggestion
from ....base.quoting import quoted
from ...record.statistics import statistics

__all__ = ["FIGURES", "NAMES", "compile_expression", "evaluate", "names_in", "take_part", "value_of", "value_scope"]

FIGURES = ("norm", "mean", "minimum", "maximum", "std")
NAMES = ("value", *FIGURES, "step", "call", "passes", "cell", "rank", "np", "ms")


_ONLY_READ = {
    *set(NAMES).difference(("cell", "np", "ms")),
    "abs",
    "bool",
    "float",
    "int",
    "isinstance",
    "len",
    "max",
    "min",
    "repr",
    "round",
    "str",
    "sum",
}
_READING = {
    "T",
    "abs",
    "all",
    "any",
    "argmax",
    "argmin",
    "astype",
    "dtype",
    "exp",
    "flatten",
    "isfinite",
    "isinf",
    "isnan",
    "item",
    "log",
    "max",
    "mean",
    "min",
    "ndim",
    "norm",
    "prod",
    "ravel",
    "reshape",
    "shape",
    "size",
    "sqrt",
    "std",
    "sum",
    "tolist",
    "var",
}
"""Attributes of tensors that change nothing and draw no random number in an expression of the names above."""


def compile_expression(text: str, known: Collection[str] | None = None) -> CodeType:
    """Compile one Python expression.

    Args:
        text: the expression.
        known: the allowed names apart from Python's own; None if they are not known in advance.

    Raises:
        ValueError: it is not an expression, is nested too deeply, or uses an unknown name; the message is one line.
    """
    try:
        code = compile(text.strip(), "<expression>", "eval")
    except (MemoryError, RecursionError, SyntaxError, ValueError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, MemoryError | RecursionError):  # raised when Python's compiler gives up
            detail = "it has too many parts in each other"
        elif _is_statement(text):
            detail = "it is a statement, and only an expression has a value"
        raise ValueError(f"expression {quoted(text)}: {detail}") from None
    if known is not None:
        for name in names_in(code):
            if name not in known and not hasattr(builtins, name):
                unknown = f"the name {quoted(name)} is unknown here{suggestion(name, known)}"
                raise ValueError(f"expression {quoted(text)}: {unknown}")
    return code


def _is_statement(text: str) -> bool:
    try:
        compile(text.strip(), "<expression>", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def names_in(code: CodeType) -> set[str]:
    """Return the global names that an expression looks up; attributes are not among them."""
    return set(_looked_through(code)[0])


@functools.lru_cache(maxsize=256)
def _looked_through(code: CodeType) -> tuple[frozenset[str], bool]:
    """Return the global names in an expression, and whether it can change state: by a call or an attribute."""
    import dis

    names: set[str] = set()
    changes = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            names.add(str(instruction.argval))
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            changes = changes or instruction.argval not in _READING
    changes = changes or not names <= _ONLY_READ
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_names, inner_changes = _looked_through(constant)
            names, changes = names | inner_names, changes or inner_changes
    return frozenset(names), changes


def evaluate(code: CodeType, scope: Mapping[str, object], tell: Callable[[], None] = lambda: None) -> Any:
    """Evaluate a compiled expression with the names in scope, and restore any state of the run that it changes.

    Args:
        code: the expression.
        scope: its names.
        tell: called if anything other than random state is restored.

    Returns:
        the value of the expression.

    Raises:
        Exception: any exception that it raises.
    """
    names, changes = _looked_through(code)
    if not changes:
        return take_part(code, scope)
    from hookscope.engine.nn.snapshots import run_and_restore

    used_values = [scope[name] for name in {"cell", *names} if name in scope]
    value, restored = run_and_restore(lambda: take_part(code, scope), used_values)
    if restored:
        tell()
    return value


def take_part(code: CodeType, scope: Mapping[str, object]) -> Any:
    """Evaluate a compiled expression as part of the run, like a hook: its changes stay."""
    return eval(code, {"__builtins__": builtins, **scope})  # the user's own expression, typed in this session


def value_of(
    expression: str, names: Mapping[str, object], run: Callable[[CodeType, Mapping[str, object]], Any] = evaluate
) -> Any:
    """Return the value of an expression with these names and the statistics of ``value`` that it uses.

    Args:
        expression: the expression.
        names: the names.
        run: ``evaluate``; or ``take_part`` to keep its changes.

    Raises:
        ValueError: it is not an expression.
        Exception: any exception that it raises.
    """
    code = compile_expression(expression)
    return run(code, {**value_scope(names.get("value"), names_in(code).difference(names)), **names})


def value_scope(value: object, wanted: Collection[str] = FIGURES) -> dict[str, object]:
    """Return ``value`` and the requested statistics of it."""
    scope: dict[str, object] = {"value": value}
    figures = [name for name in FIGURES if name in wanted]
    if figures:
        figures_of_value = statistics(value) if hasattr(value, "_array") else None
        scope.update(
            {name: float("nan") if figures_of_value is None else getattr(figures_of_value, name) for name in figures}
        )
    return scope
