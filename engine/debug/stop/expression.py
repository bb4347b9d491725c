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
import functools
from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Any

from ...base.nearest_name import suggestion
from ...base.quoting import quoted
from ..record.statistics import statistics

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
"""Attributes of tensors by which an expression of the names above changes nothing, and draws no random number."""


def compile_expression(text: str, known: Collection[str] | None = None) -> CodeType:
    """Compile one Python expression.

    Args:
        text: the expression.
        known: the names that it may use beside Python's own; None if that is not known before it runs.

    Raises:
        ValueError: it is no expression, has too many parts in each other, or uses another name; one line that says what
            is wrong.
    """
    try:
        code = compile(text.strip(), "<expression>", "eval")
    except (MemoryError, RecursionError, SyntaxError, ValueError) as error:
        detail = error.msg if isinstance(error, SyntaxError) else str(error)
        if isinstance(error, MemoryError | RecursionError):  # which Python's compiler gives up with
            detail = "it has too many parts in each other"
        raise ValueError(f"expression {quoted(text)}: {detail}") from None
    if known is not None:
        for name in names_in(code):
            if name not in known and not hasattr(builtins, name):
                unknown = f"the name {quoted(name)} is unknown here{suggestion(name, known)}"
                raise ValueError(f"expression {quoted(text)}: {unknown}")
    return code


def names_in(code: CodeType) -> set[str]:
    """The global names that an expression looks up; attributes are not among them."""
    return set(_looked_through(code)[0])


@functools.lru_cache(maxsize=256)
def _looked_through(code: CodeType) -> tuple[frozenset[str], bool]:
    """The global names that an expression looks up, and whether it can change something: by a call or an attribute."""
    import dis

    found: set[str] = set()
    changes = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            found.add(str(instruction.argval))
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            changes = changes or instruction.argval not in _READING
    changes = changes or not found <= _ONLY_READ
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names, may = _looked_through(constant)
            found, changes = found | names, changes or may
    return frozenset(found), changes


def evaluate(code: CodeType, scope: Mapping[str, object], tell: Callable[[], None] = lambda: None) -> Any:
    """Run a compiled expression with the names in scope, to look: what it changes of the run is put back.

    Args:
        code: the expression.
        scope: its names.
        tell: called where something is put back other than random numbers.

    Returns:
        Its value.

    Raises:
        Exception: whatever it raises.
    """
    names, changes = _looked_through(code)
    if not changes:
        return take_part(code, scope)
    from hookscope.engine.nn.restoring import looking

    named = [scope[name] for name in {"cell", *names} if name in scope]
    value, put_back = looking(lambda: take_part(code, scope), named)
    if put_back:
        tell()
    return value


def take_part(code: CodeType, scope: Mapping[str, object]) -> Any:
    """Run a compiled expression with the names in scope as a part of the run, as a hook: what it changes stays so."""
    return eval(code, {"__builtins__": builtins, **scope})  # the user's own expression, typed in this session


def value_of(
    expression: str, names: Mapping[str, object], run: Callable[[CodeType, Mapping[str, object]], Any] = evaluate
) -> Any:
    """The value of an expression that sees these names, and the figures of ``value`` that it asks for.

    Args:
        expression: the expression.
        names: the names.
        run: ``evaluate``; or ``take_part``, where what it changes stays changed.

    Raises:
        ValueError: it is no expression.
        Exception: whatever it raises.
    """
    code = compile_expression(expression)
    return run(code, {**value_scope(names.get("value"), names_in(code).difference(names)), **names})


def value_scope(value: object, wanted: Collection[str] = FIGURES) -> dict[str, object]:
    """``value`` and those of its figures that are wanted."""
    scope: dict[str, object] = {"value": value}
    figures = [name for name in FIGURES if name in wanted]
    if figures:
        found = statistics(value) if hasattr(value, "_array") else None
        scope.update({name: float("nan") if found is None else getattr(found, name) for name in figures})
    return scope
