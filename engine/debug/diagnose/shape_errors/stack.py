"""Stack of an exception: the frames of its traceback, the user's innermost line, the cells that were running."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from hookscope.engine.base.code_origin import is_engine
from hookscope.engine.nn import bprop, calling
from hookscope.engine.nn.cell import Cell
from hookscope.engine.tape import taps

from ...inert_reads import array_of, is_tensor
from ...stop.stepping.user_code import is_user_code
from ...stop.stepping.variables import variables

__all__ = ["ErrorStack", "Level", "RunningCell", "arrays_in"]

Position = tuple[int, int, int, int]
"""First line, last line, first column and last column of an instruction's source, as in ``ast``."""

_CELL_OF_FRAME: dict[CodeType, tuple[str, str]] = {
    Cell.__call__.__code__: ("self", "construct"),
    calling.call_observed.__code__: ("cell", "construct"),
    calling.call_hook.__code__: ("cell", "hook"),
    taps.run_bprop.__code__: ("cell", "bprop"),
}
"""Functions that run a cell: the variable that holds it, and the part of it that they run."""

_OWNER_OF_FRAME: dict[CodeType, str] = {
    calling._BackwardMarks._checked.__code__: "hook",
    bprop._CustomBprop.backward.__code__: "bprop",
}
"""Methods of an object whose attribute ``cell`` is the cell."""


_CALLING = (calling.call_observed.__code__.co_filename, Cell.__call__.__code__.co_filename)
"""Files whose functions lead from a call of a cell to its construct."""


@dataclass(frozen=True)
class Level:
    """A frame of a traceback.

    Attributes:
        frame: the frame.
        line: the line that was running.
        position: the expression that was running; None if it is unknown.
    """

    frame: FrameType
    line: int
    position: Position | None

    @property
    def code(self) -> CodeType:
        """The code of the frame."""
        return self.frame.f_code

    @cached_property
    def variables(self) -> dict[str, object]:
        """The local variables."""
        return variables(self.frame)

    @cached_property
    def arguments(self) -> dict[str, Any]:
        """The arguments of the function by name, as the variables hold them now."""
        code = self.code
        count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
        return {name: self.variables[name] for name in code.co_varnames[:count] if name in self.variables}

    @property
    def is_engine(self) -> bool:
        """True if the frame runs code of the engine."""
        return is_engine(self.code.co_filename)


@dataclass(frozen=True)
class RunningCell:
    """A cell on the stack.

    Attributes:
        cell: the cell.
        part: "construct", "hook" or "bprop".
        index: the index of its frame among the levels.
    """

    cell: Cell
    part: str
    index: int


class ErrorStack:
    """Frames of an exception, outermost first.

    Args:
        error: the exception.

    Attributes:
        levels: the frames of the traceback.
        callers: the frames outside of the traceback that still run, innermost first.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.levels: list[Level] = []
        trace = error.__traceback__
        self.callers = [] if trace is None else list(_callers(trace.tb_frame))
        while trace is not None:
            code = trace.tb_frame.f_code
            self.levels.append(Level(trace.tb_frame, trace.tb_lineno, _position(code, trace.tb_lasti)))
            trace = trace.tb_next

    @cached_property
    def user_index(self) -> int:
        """The index of the innermost level of user code; -1 if there is none."""
        indices = [index for index, level in enumerate(self.levels) if is_user_code(level.code)]
        return indices[-1] if indices else -1

    @property
    def user(self) -> Level | None:
        """The innermost level of user code."""
        return None if self.user_index < 0 else self.levels[self.user_index]

    @property
    def written(self) -> Level | None:
        """The innermost level in the user's file: ``user``, or a comprehension in it."""
        user = self.user
        if user is None:
            return None
        level = user
        for inner in self.levels[self.user_index + 1 :]:
            if inner.code.co_filename != user.code.co_filename:
                break
            level = inner
        return level

    @property
    def entry(self) -> Level | None:
        """The function of the engine that the user's innermost line called; None if it called none that failed."""
        written = self.written
        if written is None:
            return None
        index = self.levels.index(written) + 1
        return self.levels[index] if index < len(self.levels) and self.levels[index].is_engine else None

    @cached_property
    def cells(self) -> list[RunningCell]:
        """The cells that were running, outermost first."""
        cells: list[RunningCell] = []
        for index, level in enumerate(self.levels):
            cell, part = _cell_of(level)
            if cell is not None and not (cells and cells[-1].cell is cell and cells[-1].part == part):
                cells.append(RunningCell(cell, part, index))
        return cells

    @cached_property
    def inside(self) -> list[Level]:
        """The engine's levels of the failing call: those after the user's line, in the innermost cell."""
        first = self.user_index + 1
        if self.cells:
            first = max(first, self.cells[-1].index)
        return [level for level in self.levels[first:] if level.is_engine and level.code.co_filename not in _CALLING]

    def argument(self, *names: str) -> Any:
        """Return the argument of the innermost function of the engine that has one of these names; None if none has."""
        for level in reversed(self.inside):
            for name in names:
                if name in level.arguments:
                    return level.arguments[name]
        return None


def _cell_of(level: Level) -> tuple[Cell | None, str]:
    if level.code in _CELL_OF_FRAME:
        name, part = _CELL_OF_FRAME[level.code]
        cell = level.variables.get(name)
        return (cell, part) if issubclass(type(cell), Cell) else (None, "")  # type: ignore[return-value]
    if level.code in _OWNER_OF_FRAME:
        cell = getattr(level.variables.get("self"), "cell", None)
        return (cell, _OWNER_OF_FRAME[level.code]) if issubclass(type(cell), Cell) else (None, "")
    return None, ""


def _callers(frame: FrameType) -> Iterator[FrameType]:
    outer = frame.f_back
    while outer is not None:
        yield outer
        outer = outer.f_back


def _position(code: CodeType, instruction: int) -> Position | None:
    if instruction < 0:
        return None
    position = next(itertools.islice(code.co_positions(), instruction // 2, None), None)
    return None if position is None or None in position else position  # type: ignore[return-value]


def arrays_in(value: object, depth: int = 3) -> list[Any]:
    """Return the arrays of the tensors in a value: itself, or in plain tuples, lists and dictionaries."""
    if is_tensor(value):
        return [array_of(value)]
    if depth and type(value) in (tuple, list, dict):
        items: Any = value.values() if type(value) is dict else value
        return [array for item in items for array in arrays_in(item, depth - 1)]
    return []
