"""Frames at a pause: the user's functions on the stack, each with its line and its variables."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.tensors.nested import tensors_in

from ..inert_reads import is_a
from ..record.memory import ArrayMemory
from .stepping.user_code import is_user_code
from .stepping.variables import Change, assign, variables

if TYPE_CHECKING:
    from .pause import PausePoint

__all__ = ["StackFrame", "at_frame", "qualified_name", "raised_frames", "running_frames", "saved_frames"]

# Of a deeper stack the outermost and the innermost functions are displayed.
_MAX_FRAMES = 100


@dataclass(eq=False)
class StackFrame:
    """A function of the user's on the stack of a pause.

    Attributes:
        code: its code.
        line: the line that it runs, in the numbering of the file.
        names: the global names that it sees.
        variables: returns its local variables by name, as a new dictionary.
        assign: assigns a variable; None if the function has ended.
        is_module: whether it is the code of a module or of a notebook's cell, whose variables are ``names``.
    """

    code: CodeType
    line: int
    names: dict[str, Any] = field(repr=False)
    variables: Callable[[], dict[str, object]] = field(repr=False)
    assign: Callable[[str, object], Change] | None = field(default=None, repr=False)
    is_module: bool = False

    @property
    def label(self) -> str:
        """The function and the line: ``construct, line 12``."""
        return f"{self.code.co_name}, line {self.line}"

    @property
    def qualified_label(self) -> str:
        """The same with the class of a method: ``Block.construct, line 12``."""
        return f"{self.qualified_name}, line {self.line}"

    @property
    def qualified_name(self) -> str:
        """The name of the function, with the class of a method."""
        return qualified_name(self.code)


def qualified_name(code: CodeType) -> str:
    """Return the name of a function, with the class of a method."""
    return code.co_qualname.rpartition("<locals>.")[2]


def running_frames(frame: FrameType | None) -> list[StackFrame]:
    """Return the user's running functions from ``frame`` outwards, outermost first."""
    return _shortened([_of(frame, frame.f_lineno, partial(_assign, frame)) for frame in user_frames(frame)][::-1])


def raised_frames(trace: TracebackType | None) -> list[StackFrame]:
    """Return the user's functions on the stack of an exception, outermost first; those that it left have ended."""
    running = [] if trace is None else running_frames(trace.tb_frame.f_back)
    ended: list[StackFrame] = []
    while trace is not None:
        if is_user_code(trace.tb_frame.f_code):
            ended.append(_of(trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return _shortened([*running, *ended])


def user_frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the user's running functions from ``frame`` outwards."""
    called = ""
    while frame is not None:
        # A notebook cell with a magic at its top is one call in IPython; the lines of the cell run inside it.
        if is_user_code(frame.f_code) and called != "run_cell_magic":
            yield frame
        called, frame = frame.f_code.co_name, frame.f_back


def _of(frame: FrameType, line: int, assign: Callable[[str, object], Change] | None = None) -> StackFrame:
    is_module = frame.f_code.co_name == "<module>" and frame.f_locals is frame.f_globals
    return StackFrame(frame.f_code, line, frame.f_globals, partial(variables, frame), assign, is_module)


def _shortened(frames: list[StackFrame]) -> list[StackFrame]:
    half = _MAX_FRAMES // 2
    return frames if len(frames) <= _MAX_FRAMES else [*frames[:half], *frames[-half:]]


def _assign(frame: FrameType, name: str, value: object) -> Change:
    """Assign a variable of a function that called the paused one, and may go on after an abort."""
    before = variables(frame)
    change = assign(frame, name, value)
    if change.undo is not None or change.name not in before:
        return change

    def undo() -> None:
        assign(frame, change.name, before[change.name])

    return change._replace(undo=undo)


def at_frame(point: PausePoint, index: int) -> PausePoint:
    """Return the point of a pause as another of its frames shows it, with the variables of that function."""
    from .points import lines_with_code, source_of

    frame = point.frames[index]
    lines, first_line = source_of(frame.code)
    return dataclasses.replace(
        point,
        filename=frame.code.co_filename,
        function=frame.code.co_name,
        first_line=first_line,
        lines=lines,
        line=frame.line,
        locals=frame.variables(),
        changed=set(),
        operator=None,
        stoppable=lines_with_code(frame.code),
        call=None,
        names={**point.own_names, **frame.names},
        assign=frame.assign,
        variables=None if frame.assign is None else frame.variables,
        passing=None,
        frame=index,
        where=frame.qualified_name,
    )


def saved_frames(frames: Sequence[StackFrame], max_bytes: int, hidden: Callable[[object], bool]) -> list[StackFrame]:
    """Return the frames with copies of their variables, which keep no function running.

    The variables of a module are not copied: they are those that it has when they are read.

    Args:
        frames: the frames.
        max_bytes: memory limit of the arrays in the variables; the innermost functions come first.
        hidden: returns whether a variable's value is left out.
    """
    memory = ArrayMemory()
    saved: list[StackFrame] = []
    read: Callable[[], dict[str, object]]
    for frame in reversed(frames):
        if frame.is_module:
            read = partial(_module_variables, frame.names)
        else:
            values = {name: value for name, value in frame.variables().items() if not hidden(value)}
            read = {name: _bounded(value, memory, max_bytes) for name, value in values.items()}.copy
        saved.append(StackFrame(frame.code, frame.line, frame.names, read, is_module=frame.is_module))
    return saved[::-1]


def _module_variables(names: dict[str, Any]) -> dict[str, object]:
    return {name: value for name, value in names.items() if name.isidentifier()}


class _Dropped:
    """Placeholder of a variable that does not fit into the memory limit."""

    def __init__(self, value: object) -> None:
        shape = "x".join(map(str, getattr(value, "shape", ())))
        self._text = f"<{type(value).__name__} {shape}: not kept, since it exceeds the session's max_bytes>"

    def __repr__(self) -> str:
        return self._text


def _bounded(value: object, memory: ArrayMemory, max_bytes: int) -> object:
    arrays = _arrays_in(value)
    for array in arrays:
        memory.add(array)
    if memory.bytes <= max_bytes or not arrays:
        return value
    for array in arrays:
        memory.remove(array)
    return _Dropped(value)


def _arrays_in(value: object) -> list[Any]:
    if is_a(value, np.ndarray):
        return [value]
    try:
        return [tensor._array for tensor in tensors_in(value)]
    except Exception:  # a list that contains itself, a mapping of the user's: it counts as nothing
        return []
