"""Explanation of an exception: what does not fit, and a line on each operand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...faults import log_fault
from .conflict import Conflict
from .operands import Operands
from .origins import Origins
from .python_rules import python_conflict_of
from .rules import conflict_of
from .stack import ErrorStack, arrays_in

if TYPE_CHECKING:
    from ...record.capture import Capture
    from ...stop.failure import FailedCall
    from ...watch.paths import CellPaths

__all__ = ["explain_error"]

_MOST_OPERANDS = 6
_MOST_CAUSES = 3
_SUBJECT = re.compile(r"For '(?P<name>[\w.]+)', ")
_PLAIN = (str, int, float, bool, type(None))


def explain_error(
    error: BaseException,
    call: FailedCall | None = None,
    *,
    paths: CellPaths | None = None,
    captures: Iterable[Capture] = (),
    shapes: Mapping[str, Sequence[Any]] | None = None,
) -> str | None:
    """Return an explanation of an exception, several lines; None if the values show nothing that would explain it.

    It reads the exception's traceback and runs no code of the user's. It never raises.

    Args:
        error: the exception.
        call: the call of the innermost cell that failed; None if it is unknown, or outside of cells.
        paths: the cells of the session, for their paths; without them, paths begin at the outermost cell.
        captures: the captures of the session, oldest first.
        shapes: the shapes of each cell's last output, by path.
    """
    try:
        return _explanation(error, call, paths, captures, shapes or {})
    except Exception as secondary:  # an explanation is an extra: the user's exception is what counts
        log_fault("the explanation of an exception", secondary)
        return None


def _explanation(
    error: BaseException,
    call: FailedCall | None,
    paths: CellPaths | None,
    captures: Iterable[Capture],
    shapes: Mapping[str, Sequence[Any]],
    causes: int = _MOST_CAUSES,
) -> str | None:
    stack = ErrorStack(error)
    operands = Operands(stack, Origins(stack, paths, captures), shapes)
    message = _message(error)
    conflict = conflict_of(message, operands) or python_conflict_of(error, message, operands, shapes)
    if conflict is None and error.__cause__ is not None and causes:
        text = _explanation(error.__cause__, None, paths, captures, shapes, causes - 1)
        if text is not None:
            kind = type(error.__cause__).__name__
            return f"{_heading(None, call, operands)}\nIt was raised from this {kind}:\n{text}"
    conflict = conflict or _operands_alone(message, operands)
    if conflict is None:
        return None
    return "\n".join([_heading(conflict, call, operands), *_details(conflict, operands)])


def _message(error: BaseException) -> str:
    """Return the text of an exception; "" for a user's class or argument, whose text is code of the user's."""
    is_plain = type(error).__module__ == "builtins" and all(type(item) in _PLAIN for item in error.args)
    return str(error) if is_plain else ""


def _operands_alone(message: str, operands: Operands) -> Conflict | None:
    """Return the tensors of the failing call or line, if no rule knows what does not fit.

    A message of the engine about settings, with no tensors, says what is wrong by itself.
    """
    stack = operands.stack
    is_engines = bool(stack.inside) and stack.levels[-1].is_engine
    arrays = []
    if is_engines:
        arrays = [array for level in stack.inside for array in arrays_in(list(level.arguments.values()))]
        arrays = [array for array in arrays if operands.known(array)]
    arrays = arrays or operands.in_statement()
    unique = list({id(array): array for array in arrays}.values())
    match = _SUBJECT.match(message) if is_engines else None
    name = match["name"] if match is not None else ""
    text = message[match.end() if match is not None else 0 :] if is_engines else ""
    if not unique:
        return Conflict(f"{name}: {text}", [], _passed_settings(message, operands)) if name else None
    return Conflict(text, [(array, "operand") for array in unique])


def _passed_settings(message: str, operands: Operands) -> str:
    """Return the expressions that the user's line passes for the arguments that a message names."""
    names = [name for name in dict.fromkeys(re.findall(r"'(\w+)'", message)) if operands.expression_of(name)]
    passed = [f"{operands.expression_of(name)} as {name}" for name in names]
    return f"The line passes {' and '.join(passed)}" if passed else ""


def _heading(conflict: Conflict | None, call: FailedCall | None, operands: Operands) -> str:
    stack = operands.stack
    cells = stack.cells
    location = ""
    if cells:
        name, kind = operands.origins.path_of(cells[-1].cell), type(cells[-1].cell).__name__
        if call is not None and call.cell is cells[-1].cell:
            name = call.path or kind
        location = name if name == kind else f"{name} ({kind})"
        location = location if cells[-1].part == "construct" else f"{cells[-1].part} of {location}"
    written = stack.written
    line = ""
    if written is not None:
        statement = None if operands.source is None else operands.source.statement
        text = "" if statement is None or operands.source is None else operands.source.first_line(statement)
        line = f"line {written.line}" + (f": {text}" if text else "")
    heading = ", ".join(part for part in (location, line) if part)
    return f"{heading}\n{_sentence(conflict.text)}" if conflict is not None and conflict.text else heading


def _details(conflict: Conflict, operands: Operands) -> list[str]:
    lines = list(dict.fromkeys(f"  {operands.line(array, role)}" for array, role in conflict.operands[:_MOST_OPERANDS]))
    return [*lines, _sentence(conflict.hint)] if conflict.hint else lines


def _sentence(text: str) -> str:
    """Return a text with a period; its first word has a capital letter unless it is a name."""
    if text.startswith(("axis ", "the ", "there ", "no line ")):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."
