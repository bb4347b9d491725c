"""Pausing: the state of a paused run (``PausePoint``), and the object that waits for the user (``Pauser``).

A pause blocks the thread that runs the user's code. The Hookscope kernel keeps its widgets live meanwhile, a terminal
reads commands, and a script cannot pause. A ``Pauser`` implements exactly this difference.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..record.capture import cell_name

if TYPE_CHECKING:
    from hookscope.engine.tape.tape import Recording

    from ..session import DebugSession
    from ..watch.value_event import ValueEvent
    from .frames import StackFrame
    from .stepping.history import LineHistory, PastState
    from .stepping.variables import Change

__all__ = [
    "COMMANDS",
    "DebugAbort",
    "OperatorRecord",
    "PausePoint",
    "Pauser",
    "check_command",
    "default_pauser",
    "describe",
    "in_a_forked_process",
    "set_default_pauser",
]

COMMANDS = ("over", "into", "out", "operator", "cell", "continue", "abort")


class DebugAbort(Exception):
    """Raised out of the user's call when a pause is ended by "abort"."""


class OperatorRecord(NamedTuple):
    """One operator that ran: its name, inputs, outputs, and the line of the user's code that ran it.

    ``path`` is the cell, called inside the bprop, that ran it; "" if the bprop itself did. ``call`` distinguishes calls
    of one function.
    """

    name: str
    inputs: tuple[Any, ...]
    outputs: Any
    function: str = ""
    filename: str = ""
    line: int = 0
    path: str = ""
    call: int = 0


@dataclass(eq=False)
class PausePoint:
    """The state of a paused run, as plain data for display.

    Attributes:
        kind: "bprop", "line", "breakpoint", "condition", "exception" or "pause"; "past" for a state that was stepped
            back to, "failure" for the post mortem of a run that has ended.
        reason: the reason of the stop, in a few words; ``place`` is the location.
        path: the cell's dotted path ("" for the root).
        where: the location in words, if it is not a moment of the cell at ``path``.
        moment: "forward_pre", "forward", "backward_pre", "backward", "bprop", "construct", "operator", "exception"; ""
            at other lines.
        filename, function, first_line, lines: the displayed source; empty and 0 if there is none.
        line: the current line, in the numbering of the file.
        call: distinguishes calls of the displayed function among ``operators`` and ``history``; None if it is unknown.
        locals: the names in scope and their values.
        changed: the names whose values changed since the last stop in the same function.
        operators: the operators that ran since the stepping began, oldest first.
        operator: the displayed operator, at a stop after an operator.
        history: the lines that were passed since the stepping began, oldest first.
        back: the number of steps back from the pause to this state; 0 at the pause itself.
        stoppable: the displayed lines that can have a breakpoint.
        bprop_begins: the file of the bprop that is stepped, and its first line there; "" and 0 elsewhere.
        stack: "function, line N" of the functions being stepped, outermost first.
        frames: the user's functions on the stack, outermost first; empty when the pause has ended.
        frame: the index of the displayed function among them; -1 if it is none of them.
        notes: sentences on the exception: the inputs of the cell that raised it, an explanation.
        exception: the exception raised here, if the stop is about one.
    """

    kind: str
    reason: str
    path: str
    moment: str
    filename: str = ""
    function: str = ""
    first_line: int = 0
    lines: Sequence[str] = ()
    line: int = 0
    call: int | None = None
    locals: dict[str, object] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    operators: list[OperatorRecord] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    frames: Sequence[StackFrame] = ()
    frame: int = -1
    where: str = ""
    notes: Sequence[str] = ()
    exception: BaseException | None = None
    operator: OperatorRecord | None = None
    history: list[PastState] = field(default_factory=list, repr=False)
    back: int = 0
    stoppable: frozenset[int] = frozenset()
    bprop_begins: tuple[str, int] = ("", 0)
    names: dict[str, object] = field(default_factory=dict, repr=False)
    """Names for ``evaluate`` apart from the locals: the function's globals, and the debugger's own names."""
    own_names: Mapping[str, object] = field(default_factory=dict, repr=False)
    """The debugger's own names among them."""
    assign: Callable[[str, object], Change] | None = field(default=None, repr=False)
    """Function that assigns a variable of the paused function; None if there is no such function."""
    variables: Callable[[], dict[str, object]] | None = field(default=None, repr=False)
    """Function that returns the current variables of the paused function."""
    passing: ValueEvent | None = field(default=None, repr=False)
    """The replaceable values, at a moment of a cell."""
    arguments: tuple[Any, ...] | None = field(default=None, repr=False)
    """The arguments of the ``bprop``; None outside a bprop."""
    recordings: tuple[Recording, ...] = field(default=(), repr=False)
    """The recordings of the paused run; an edit is computed in them."""
    recomputed: str = field(default="", repr=False)
    """The name of a running cell whose ``construct`` runs again in the backward pass; "" if there is none."""
    past: LineHistory | None = field(default=None, repr=False)
    """The source of ``history``."""

    @property
    def place(self) -> str:
        """The location: ``bprop of block.scale, line 12``."""
        location = f"{self.moment} of {cell_name(self.path)}" if self.moment else self.function or "code"
        if self.where:
            location = self.where
        return f"{location}, line {self.line}" if self.line else location


class Pauser(Protocol):
    """Object that waits for the user's command while a run is paused."""

    def unavailable(self) -> str | None:
        """Return None if pausing is possible; otherwise the reason why not, as one clause."""
        ...

    def wait(self, until: Callable[[], bool]) -> None:
        """Block the calling thread until ``until()`` is true."""
        ...


_process = os.getpid()


def in_a_forked_process() -> str | None:
    """Return why a forked process cannot pause; None in the original process."""
    return None if os.getpid() == _process else f"process {os.getpid()} was forked from the one that can be answered"


PauserOf = Callable[["DebugSession"], Pauser]

_default: PauserOf | None = None


def set_default_pauser(make: PauserOf | None) -> None:
    """Set the factory of pausers for sessions without one; None restores the terminal."""
    global _default
    _default = make


def default_pauser() -> PauserOf | None:
    """Return the factory of pausers for sessions without one; None means the terminal."""
    return _default


def check_command(command: str) -> str:
    """Return a command.

    Raises:
        ValueError: it is not one of ``COMMANDS``.
    """
    if command not in COMMANDS:
        raise ValueError(f"command must be one of {', '.join(COMMANDS)}, got {command!r}")
    return command


def describe(value: object, limit: int = 200) -> str:
    """Return a value as one line of text; never raises, even for values of the user's own classes."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # a user's __repr__ may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."
