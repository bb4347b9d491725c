"""Exceptions of a watched run: the cell that raised one, its inputs and frames, and the failure that stays after it.

Nothing here refers to the exception itself after the run: its traceback keeps every value of the run alive. A failure
has a copy of the exception without the traceback, and copies of the variables of the user's functions.
"""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from hookscope.engine.nn.calling import call_hook, call_observed
from hookscope.engine.tape import taps
from hookscope.engine.tape.progress import Stopped

from ..diagnose.shape_errors import explain_error
from ..inert_reads import is_a, is_tensor
from ..record.capture import cell_name
from .frames import StackFrame, raised_frames, saved_frames
from .pause import DebugAbort, PausePoint, describe
from .points import argument_names, lines_with_code, source_of

if TYPE_CHECKING:
    from hookscope.engine.nn import Cell

    from ..events import Events
    from ..faults import Faults
    from ..record.newest_values import NewestValues
    from ..record.ring import CaptureRing
    from ..watch.paths import CellPaths
    from .display import PauseDisplay

__all__ = [
    "Explainer",
    "FailedCall",
    "Failure",
    "Failures",
    "RaisedError",
    "error_text",
    "is_failure",
    "left_known_cell",
    "point_at_error",
    "without_traceback",
]


# End of an iteration, and the user's own wishes: no errors.
_NOT_ERRORS = (StopIteration, StopAsyncIteration, GeneratorExit, DebugAbort, Stopped)
_MAX_INPUT_TEXT = 60


def is_failure(error: BaseException | None) -> bool:
    """Return whether an exception is an error of the run: not an interrupt, an abort or the end of an iteration."""
    return isinstance(error, Exception) and not isinstance(error, _NOT_ERRORS)


@dataclass(eq=False)
class FailedCall:
    """The innermost call of a cell that an exception left.

    Attributes:
        path: the cell's path; the name of its class for a cell outside the session, such as a loss.
        cell: the cell.
        inputs: its inputs, or those of its ``bprop`` or hook, by name.
        traceback: the traceback of the exception.
    """

    path: str
    cell: Cell
    inputs: dict[str, object]
    traceback: TracebackType | None


@dataclass(eq=False)
class RaisedError:
    """An exception on its way outwards.

    Attributes:
        error: the exception.
        path: the path of the innermost cell of the session; "" if there is none.
        where: the location in words: "block.attn", "the bprop of block.attn"; "" outside all cells.
        call: the innermost call, or None.
        frames: the user's functions on its stack, outermost first.
        notes: the inputs of the call, and an explanation if there is one.
    """

    error: BaseException
    path: str = ""
    where: str = ""
    call: FailedCall | None = None
    frames: list[StackFrame] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, error: BaseException, explainer: Explainer, faults: Faults, backward_path: str | None = None
    ) -> RaisedError:
        """Return an exception with the cell that raised it and its frames.

        Args:
            error: the exception.
            explainer: explains the exception; it has the cells of the session.
            faults: reports an explanation that fails.
            backward_path: the path of the cell whose gradient was computed; None in a forward pass.
        """
        paths = explainer.paths
        raised = cls(error, frames=raised_frames(error.__traceback__))
        calls = list(_calls_in(error.__traceback__))
        known = [call for call in calls if paths.path_of(call.cell) is not None]
        if calls:
            call = (known or calls)[-1]
            raised.path = paths.path_of(call.cell) or ""
            name = cell_name(raised.path) if known else type(call.cell).__name__
            raised.where = f"the {call.function} of {name}" if call.function else name
            raised.call = FailedCall(name, call.cell, call.inputs(), error.__traceback__)
            raised.notes.append(_inputs_text(raised.where, raised.call.inputs))
        if backward_path is not None and not known:
            raised.path, raised.where = backward_path, f"the backward pass of {cell_name(backward_path)}"
        with faults.at("explaining an error"):
            explanation = explainer.explain(error, raised.call)
            raised.notes += [explanation] if explanation else []
        return raised


@dataclass(eq=False)
class _Call:
    """A call of a cell, of its ``bprop`` or of one of its hooks, on the stack of an exception."""

    cell: Cell
    function: str
    variables: Mapping[str, Any]

    def inputs(self) -> dict[str, object]:
        """Return the inputs by name."""
        values = self.variables
        if self.function == "bprop":
            return argument_names(self.cell.bprop, values["args"])
        if self.function:
            by_name = argument_names(values["function"], (self.cell, *values["arguments"]))
            without_cell = list(by_name.items())[1:]
            numbered = {f"arguments[{index}]": value for index, value in enumerate(values["arguments"])}
            return dict(without_cell) if len(without_cell) == len(numbered) else numbered
        try:
            bound = inspect.signature(self.cell.construct).bind(*values["args"], **values["kwargs"])
        except (TypeError, ValueError):  # arguments that do not fit, which may be the error itself
            return {**{f"inputs[{index}]": value for index, value in enumerate(values["args"])}, **values["kwargs"]}
        return dict(bound.arguments)


_CALLS: dict[CodeType, str] = {call_observed.__code__: "", call_hook.__code__: "hook", taps.run_bprop.__code__: "bprop"}
"""The engine's functions that call the user's code of a cell, each with its variable ``cell``."""


def _calls_in(trace: TracebackType | None) -> list[_Call]:
    """Return the calls of cells on the stack of an exception, outermost first."""
    calls: list[_Call] = []
    while trace is not None:
        function = _CALLS.get(trace.tb_frame.f_code)
        if function is not None:
            values = trace.tb_frame.f_locals
            if "cell" in values:
                kind = f"{values['kind']} hook" if function == "hook" else function
                calls.append(_Call(values["cell"], kind, values))
        trace = trace.tb_next
    return calls


def left_known_cell(error: BaseException, paths: CellPaths) -> bool:
    """Return whether an exception left a cell of the session."""
    return any(paths.path_of(call.cell) is not None for call in _calls_in(error.__traceback__))


def _inputs_text(where: str, inputs: Mapping[str, object]) -> str:
    values = ", ".join(f"{name}: {_value_text(value)}" for name, value in inputs.items())
    return f"{where} got {values}" if values else f"{where} got no inputs"


def _value_text(value: Any) -> str:
    if is_tensor(value):
        return f"{str(value.dtype).lower()} {'x'.join(map(str, value.shape)) or '()'}"
    if is_a(value, tuple, list) and any(map(is_tensor, value)):
        return f"({', '.join(map(_value_text, value[:4]))}{', ...' if len(value) > 4 else ''})"
    return describe(value, _MAX_INPUT_TEXT)


@dataclass(frozen=True)
class Explainer:
    """Explainer of the exceptions of a session, by what it recorded."""

    paths: CellPaths
    captures: CaptureRing
    newest: NewestValues

    def explain(self, error: BaseException, call: FailedCall | None = None) -> str | None:
        """Return what did not fit, with the origin of each operand; None if nothing explains the exception."""
        return explain_error(error, call, paths=self.paths, captures=self.captures, shapes=self.newest.shapes)


def error_text(error: BaseException) -> str:
    """Return the class and the message of an exception, also of one whose text raises."""
    return "".join(traceback.format_exception_only(error)).strip()


def point_at_error(raised: RaisedError, kind: str, reason: str, names: Mapping[str, object]) -> PausePoint:
    """Return the point at an exception: the innermost of the user's functions that it left.

    Args:
        raised: the exception.
        kind: "exception", or "failure" after the run.
        reason: the reason of the stop.
        names: the debugger's names.
    """
    own_names = {**names, "error": raised.error}
    if raised.call is not None:
        own_names |= {"cell": raised.call.cell, "inputs": raised.call.inputs}
    point = PausePoint(
        kind,
        reason,
        raised.path,
        "exception",
        exception=raised.error,
        stack=[frame.label for frame in raised.frames],
        frames=raised.frames,
        frame=len(raised.frames) - 1,
        notes=raised.notes,
        names=own_names,
        own_names=own_names,
    )
    if raised.frames:
        innermost = raised.frames[-1]
        point.filename, point.function = innermost.code.co_filename, innermost.code.co_name
        point.lines, point.first_line = source_of(innermost.code)
        point.stoppable = lines_with_code(innermost.code)
        point.line, point.locals = innermost.line, innermost.variables()
        point.names = {**own_names, **innermost.names}
    point.where = raised.where or point.function
    return point


@dataclass(eq=False)
class Failure:
    """An error that ended a watched run, after that run.

    Attributes:
        path: the path of the innermost cell of the session that it left; "" for the root, and outside the network.
        where: the location in words: "block.attn", "the bprop of block.attn"; "" outside all cells.
        error: a copy of the exception, without its traceback and its causes.
        message: the class and the message of the exception.
        frames: the user's functions on its stack, outermost first, with copies of their variables.
        notes: the inputs of the innermost cell, and an explanation if there is one.
    """

    path: str
    where: str
    error: BaseException
    message: str
    frames: list[StackFrame]
    notes: list[str]

    @property
    def summary(self) -> str:
        """The failure in a line: ``failed in block.attn: ValueError: ...``."""
        location = f" in {self.where}" if self.where else ""
        return f"failed{location}: {' '.join(self.message.split())}"

    def point(self) -> PausePoint:
        """Return the failure as a point that can be displayed."""
        raised = RaisedError(self.error, self.path, self.where, None, self.frames, self.notes)
        return point_at_error(raised, "failure", "the run has failed", {})


class Failures:
    """The newest failure of a session.

    Args:
        explainer: has the cells of the session, and its captures, whose memory limit also holds for the variables of a
            failure.
        display: the displayed point.
        events: notified of changes.

    Attributes:
        newest: the failure; None after a run without one.
    """

    def __init__(self, explainer: Explainer, display: PauseDisplay, events: Events) -> None:
        self.newest: Failure | None = None
        self.explainer = explainer
        self._captures = explainer.captures
        self._display = display
        self._events = events
        self._error_id = 0

    def record(self, error: BaseException, backward_path: str | None = None) -> None:
        """Record an exception that leaves the run; do nothing if it is recorded already.

        Args:
            error: the exception.
            backward_path: as in ``RaisedError.of``.
        """
        # The exception is alive here, so another one with its id has ended, and with it the run before.
        if self.newest is not None and self._error_id == id(error) and self.newest.message == error_text(error):
            return
        with self._events.faults.at("recording a failure"):
            raised = RaisedError.of(error, self.explainer, self._events.faults, backward_path)
            frames = saved_frames(raised.frames, self._captures.max_bytes, self._is_hidden)
            self.newest = Failure(
                raised.path, raised.where, without_traceback(error), error_text(error), frames, raised.notes
            )
            self._error_id = id(error)
            self._events.notify("changed")

    def _is_hidden(self, value: object) -> bool:
        """Return whether a variable would keep this session alive."""
        from ..session import DebugSession

        return is_a(value, DebugSession)

    def release(self) -> None:
        """Release the failure, since a run begins or ended well."""
        if self.newest is None:
            return
        self.newest = None
        self._display.show_failure(None)
        self._events.notify("changed")


def without_traceback(error: BaseException) -> BaseException:
    """Return a copy of an exception that refers to no frame; a plain Exception if its class cannot be copied."""
    kind = type(error)
    builtin: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
    try:
        # Without the class's own constructor, whose arguments are unknown.
        arguments = builtin.__reduce__(error)[1]
        copied: BaseException = builtin.__new__(kind, *arguments)
        builtin.__init__(copied, *arguments)
        copied.__dict__.update(error.__dict__)
    except Exception:  # a class of the user's may refuse to be made without its constructor
        copied = Exception(error_text(error))
    return copied
