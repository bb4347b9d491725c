"""Making pause points: the source, the scope and the stack of a place where a run stands still."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Mapping, Sequence
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..record.capture import cell_name
from .pause import OperatorRecord, PausePoint
from .stepping.stepper import Stop
from .stepping.user_code import is_user_code, nearest_user_frame
from .stepping.variables import variables

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = ["argument_names", "lines_with_code", "place", "point_at_cell", "point_at_stop", "source_of", "stack_of"]


def point_at_stop(
    stop: Stop,
    kind: str,
    reason: str,
    path: str,
    moment: str,
    names: Mapping[str, object],
    operators: Sequence[OperatorRecord] = (),
    changed: set[str] | None = None,
) -> PausePoint:
    """A pause point at a line of a function, whose names hide ``names``, the debugger's own."""
    code = stop.frame.f_code
    lines, first_line = source_of(code)
    scope = stop.locals()
    return PausePoint(
        kind,
        reason,
        path,
        moment,
        code.co_filename,
        code.co_name,
        first_line,
        lines,
        stop.line,
        locals=scope,
        changed=changed or set(),
        operators=list(operators),
        stack=stack_of(stop.frame),
        exception=stop.exception,
        names={**names, **stop.frame.f_globals},
        assign=None if stop.exception is not None else stop.assign,
        variables=stop.locals,
    )


def point_at_cell(
    cell: Cell, kind: str, reason: str, path: str, moment: str, names: Mapping[str, object], values: dict[str, object]
) -> PausePoint:
    """A pause point before or after a cell: what passes there is the locals.

    The line is the one of the user's that called the cell, or on the way back the one that asked for the gradient; its
    names are known too. Where no code of the user's runs, the source is the cell's ``construct``.
    """
    caller = nearest_user_frame(sys._getframe(1))
    code: CodeType | None
    if caller is None:
        code = getattr(getattr(cell.construct, "__func__", cell.construct), "__code__", None)
        known = {}
    else:
        code = caller.f_code
        known = {**caller.f_globals, **variables(caller)}
    lines, first_line = ((), 0) if code is None else source_of(code)
    return PausePoint(
        kind,
        reason,
        path,
        moment,
        "" if code is None else code.co_filename,
        "construct" if code is None else code.co_name,
        first_line,
        lines,
        first_line if caller is None else caller.f_lineno,
        locals={"cell": cell, **values},
        stack=stack_of(sys._getframe(1)),
        names={**names, **known},
    )


@functools.lru_cache(maxsize=64)
def source_of(code: CodeType) -> tuple[tuple[str, ...], int]:
    """The lines of a function, and the number of the first; nothing and 0 where they cannot be had."""
    try:
        lines, first = inspect.getsourcelines(code)
        if 0 < first + len(lines) <= code.co_firstlineno:  # before 3.13, of a class's body: the function above it
            lines, first = inspect.getblock(inspect.findsource(code)[0][code.co_firstlineno - 1 :]), code.co_firstlineno
    except (OSError, TypeError):  # no source to be had: a compiled or generated function
        return (), 0
    return tuple(line.rstrip("\n") for line in lines), max(first, 1)


@functools.lru_cache(maxsize=64)
def lines_with_code(code: CodeType) -> frozenset[int]:
    """The numbers of the lines that a function may come to, those of functions inside it too; not that of its head."""
    own = {line for _, _, line in code.co_lines() if line}
    if len(own) > 1:  # else all of it is one line
        own.discard(code.co_firstlineno)
    inside = (lines_with_code(one) for one in code.co_consts if isinstance(one, CodeType))
    return frozenset(own).union(*inside)


def stack_of(frame: FrameType | None) -> list[str]:
    """The user's functions that are running, outermost first, each as ``function, line N``."""
    found: list[str] = []
    called = ""
    while frame is not None:
        # What IPython makes of a cell with a magic at its top is one call; the lines of the cell run inside it.
        if is_user_code(frame.f_code) and called != "run_cell_magic":
            found.append(f"{frame.f_code.co_name}, line {frame.f_lineno}")
        called, frame = frame.f_code.co_name, frame.f_back
    return found[::-1]


def argument_names(function: Any, args: Sequence[object]) -> dict[str, object]:
    """The arguments of a call by the names that the function gives them."""
    try:
        return dict(inspect.signature(function).bind(*args).arguments)
    except (TypeError, ValueError):  # no signature, or one that does not fit: the call itself will say so
        return {}


def place(path: str) -> str:
    """A cell as messages name it."""
    return cell_name(path) if not path else f"'{path}'"
