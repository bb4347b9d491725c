"""Pausing: what a paused run shows (``PausePoint``), and who answers for the user (``Pauser``).

A pause blocks the thread that runs the user's code. What it waits *in* differs: the Hookscope kernel keeps
its widgets live, a terminal reads commands, a script has nobody to ask. A ``Pauser`` is that difference and
nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..record.capture import cell_name

if TYPE_CHECKING:
    from hookscope.engine.tape.tape import Recording

    from ..session import DebugSession
    from .editing import Passing
    from .stepping.history import BpropHistory, PastState
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
    """Raised out of the user's call when the answer to a pause is "abort"."""


class OperatorRecord(NamedTuple):
    """One operator that ran: its name, what went in, what came out, and the line of the user's code that ran it.

    ``path`` is the cell that was called inside the bprop and ran it; "" if the bprop itself did.
    """

    name: str
    inputs: tuple[Any, ...]
    outputs: Any
    function: str = ""
    filename: str = ""
    line: int = 0
    path: str = ""


@dataclass(eq=False)
class PausePoint:
    """Where a run stands still, as plain data for whoever shows it.

    Attributes:
        kind: "bprop", "breakpoint", "condition" or "pause"; "past" for a state that was stepped back to.
        reason: why it stopped, in a few words; ``place`` says where.
        path: the cell's dotted path ("" for the root).
        moment: "forward_pre", "forward", "backward_pre", "backward", "bprop", "operator" or "" for a plain pause.
        filename, function, first_line, lines: the source that is shown; empty and 0 where there is none.
        line: the current line, in the numbering of the file.
        locals: the names in scope and their values.
        changed: the names whose values changed since the last stop in the same function.
        operators: what ran so far in this bprop, oldest first.
        operator: the one that is shown, at a stop after an operator.
        history: the lines that this bprop passed before, oldest first.
        back: how many of them one has stepped back to come here; 0 where the run stands.
        stoppable: the numbers of the shown lines at which a breakpoint can stand; none outside a bprop that is stepped.
        bprop_begins: the file of the bprop that is stepped, and its first line there.
        stack: "function, line N" of the functions being stepped, outermost first.
        exception: what was raised here, if the stop is about an exception.
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
    locals: dict[str, object] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    operators: list[OperatorRecord] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    exception: BaseException | None = None
    operator: OperatorRecord | None = None
    history: list[PastState] = field(default_factory=list, repr=False)
    back: int = 0
    stoppable: frozenset[int] = frozenset()
    bprop_begins: tuple[str, int] = ("", 0)
    names: dict[str, object] = field(default_factory=dict, repr=False)
    """What ``evaluate`` knows beside the locals: the function's globals, and the debugger's own names."""
    assign: Callable[[str, object], Change] | None = field(default=None, repr=False)
    """Gives a variable of the paused function another value; None where there is no such function."""
    variables: Callable[[], dict[str, object]] | None = field(default=None, repr=False)
    """The variables of the paused function as they are now."""
    passing: Passing | None = field(default=None, repr=False)
    """What passes here and can be replaced, at a moment of a cell."""
    arguments: tuple[Any, ...] | None = field(default=None, repr=False)
    """What the ``bprop`` was called with; None where the run stands in none."""
    recordings: tuple[Recording, ...] = field(default=(), repr=False)
    """What records the run that stands here: an edit is computed in it."""
    past: BpropHistory | None = field(default=None, repr=False)
    """What ``history`` comes from."""

    @property
    def place(self) -> str:
        """Where it is: ``bprop of block.scale, line 12``."""
        where = f"{self.moment} of {cell_name(self.path)}" if self.moment else self.function or "code"
        return f"{where}, line {self.line}" if self.line else where


class Pauser(Protocol):
    """Whoever answers while a run is paused."""

    def unavailable(self) -> str | None:
        """None if somebody can answer; otherwise why not, as one clause."""
        ...

    def wait(self, until: Callable[[], bool]) -> None:
        """Block the calling thread until ``until()`` is true."""
        ...


_process = os.getpid()


def in_a_forked_process() -> str | None:
    """Why nobody can answer in a process that was forked from the one that a person looks at; None in that one."""
    return None if os.getpid() == _process else f"process {os.getpid()} was forked from the one that can be answered"


PauserOf = Callable[["DebugSession"], Pauser]

_default: PauserOf | None = None


def set_default_pauser(make: PauserOf | None) -> None:
    """Set what gives sessions their pauser, where they were given none; None goes back to the terminal."""
    global _default
    _default = make


def default_pauser() -> PauserOf | None:
    """What gives sessions their pauser, where they were given none; None means the terminal."""
    return _default


def check_command(command: str) -> str:
    """Return the command.

    Raises:
        ValueError: it is none of ``COMMANDS``.
    """
    if command not in COMMANDS:
        raise ValueError(f"command must be one of {', '.join(COMMANDS)}, got {command!r}")
    return command


def describe(value: object, limit: int = 200) -> str:
    """A value as one line of text; never raises, since it shows values of the user's own classes."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # a user's __repr__ may raise anything
        text = f"<{type(value).__name__} whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: limit - 3] + "..."
