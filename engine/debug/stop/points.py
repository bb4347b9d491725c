"""Pause points: the source, the scope and the stack at the place of a pause."""

from __future__ import annotations

import functools
import inspect
import linecache
import sys
from collections.abc import Mapping, Sequence
from itertools import islice
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from .frames import StackFrame, raised_frames, running_frames, user_frames
from .pause import OperatorRecord, PausePoint
from .stepping.stepper import Stop
from .stepping.user_code import nearest_user_frame
from .stepping.variables import variables

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

__all__ = [
    "argument_names",
    "construct_code",
    "construct_file",
    "files_of",
    "lines_with_code",
    "point_at_cell",
    "point_at_stop",
    "source_of",
    "stack_of",
]


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
    """Return a pause point at a line of a function, whose names hide ``names``, the debugger's own."""
    code = stop.frame.f_code
    lines, first_line = source_of(code)
    scope = stop.locals()
    trace = None if stop.exception is None else stop.exception.__traceback__
    frames = running_frames(stop.frame) if trace is None else raised_frames(trace)
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
        stack=[frame.label for frame in frames],
        frames=frames,
        frame=_index_of(code, frames),
        exception=stop.exception,
        names={**names, **stop.frame.f_globals},
        stoppable=lines_with_code(code),
        own_names=names,
        assign=None if stop.exception is not None else stop.assign,
        variables=stop.locals,
    )


def point_at_cell(
    cell: Cell, kind: str, reason: str, path: str, moment: str, names: Mapping[str, object], values: dict[str, object]
) -> PausePoint:
    """Return a pause point before or after a cell; its locals are the values that pass there.

    The line is the user's line that called the cell, or in the backward pass the one that requested the gradient; its
    names are in scope too. Without user code on the stack, the source is the cell's ``construct``.
    """
    caller = nearest_user_frame(sys._getframe(1))
    code: CodeType | None
    if caller is None:
        code = construct_code(cell)
        scope = {}
    else:
        code = caller.f_code
        scope = {**caller.f_globals, **variables(caller)}
    lines, first_line = ((), 0) if code is None else source_of(code)
    frames = running_frames(caller)
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
        stoppable=frozenset() if code is None else lines_with_code(code),
        stack=[frame.label for frame in frames],
        frames=frames,
        frame=_index_of(code, frames),
        names={**names, **scope},
        own_names=names,
    )


def construct_code(cell: Cell) -> CodeType | None:
    """Return the code of a cell's ``construct``."""
    return _code_of_method(cell, "construct")


def construct_file(cell: Cell) -> str:
    """Return the file that defines a cell's ``construct``; "" if it has none."""
    code = construct_code(cell)
    return "" if code is None else code.co_filename


def files_of(cell: Cell) -> set[str]:
    """Return the files that define a cell's ``construct`` and its ``bprop``."""
    codes = (construct_code(cell), _code_of_method(cell, "bprop") if cell.has_custom_bprop else None)
    return {code.co_filename for code in codes if code is not None}


def _code_of_method(cell: Cell, name: str) -> CodeType | None:
    method = inspect.unwrap(getattr(cell, name))
    code: CodeType | None = getattr(getattr(method, "__func__", method), "__code__", None)
    return code


def _index_of(code: CodeType | None, frames: Sequence[StackFrame]) -> int:
    """Return the index of the displayed function, the innermost of the user's; -1 if it is another."""
    return len(frames) - 1 if frames and frames[-1].code is code else -1


@functools.lru_cache(maxsize=64)
def source_of(code: CodeType) -> tuple[tuple[str, ...], int]:
    """Return the lines of a function, and the number of the first; nothing and 0 if they are not available."""
    if code.co_name == "<module>":  # before 3.13, inspect returns its first block alone
        return tuple(line.rstrip("\n") for line in linecache.getlines(code.co_filename)), 1
    try:
        lines, first_line = inspect.getsourcelines(code)
        if 0 < first_line + len(lines) <= code.co_firstlineno:  # before 3.13, for a class's body: the function above it
            lines, first_line = (
                inspect.getblock(inspect.findsource(code)[0][code.co_firstlineno - 1 :]),
                code.co_firstlineno,
            )
    except (OSError, TypeError):  # no source available: a compiled or generated function
        return (), 0
    return tuple(line.rstrip("\n") for line in lines), max(first_line, 1)


@functools.lru_cache(maxsize=1024)
def lines_with_code(code: CodeType) -> frozenset[int]:
    """Return the numbers of the lines that a function can reach, including inner functions, without its header."""
    numbers = {line for _, _, line in code.co_lines() if line}
    if len(numbers) > 1 and code.co_name != "<module>":  # else the function is a single line
        numbers.discard(code.co_firstlineno)
    inner_numbers = (lines_with_code(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return frozenset(numbers).union(*inner_numbers)


def stack_of(frame: FrameType | None, most: int) -> list[str]:
    """Return the innermost ``most`` of the user's running functions, outermost first, as ``function, line N``."""
    frames = islice(user_frames(frame), most)
    return [f"{running.f_code.co_name}, line {running.f_lineno}" for running in frames][::-1]


def argument_names(function: Any, args: Sequence[object]) -> dict[str, object]:
    """Return the arguments of a call by the function's parameter names."""
    try:
        return dict(inspect.signature(function).bind(*args).arguments)
    except (TypeError, ValueError):  # no signature, or one that does not fit: the call itself raises
        return {}
