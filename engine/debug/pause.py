"""Pausing: what a paused run shows (``PausePoint``), and who answers for the user (``Pauser``).

A pause blocks the thread that runs the user's code. What it waits *in* differs: the Hookscope kernel keeps
its widgets live, a terminal reads commands, a script has nobody to ask. A ``Pauser`` is that difference and
nothing else.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from .session import DebugSession

__all__ = [
    "COMMANDS",
    "DebugAbort",
    "OperatorRecord",
    "PausePoint",
    "Pauser",
    "TerminalPauser",
    "check_command",
    "default_pauser",
    "describe",
    "set_default_pauser",
]

COMMANDS = ("over", "into", "out", "continue", "abort")


class DebugAbort(Exception):
    """Raised out of the user's call when the answer to a pause is "abort"."""


class OperatorRecord(NamedTuple):
    """One operator that ran: its name, what went in, what came out."""

    name: str
    inputs: tuple[Any, ...]
    outputs: Any


@dataclass(eq=False)
class PausePoint:
    """Where a run stands still, as plain data for whoever shows it.

    Attributes:
        kind: "bprop", "breakpoint", "condition" or "pause".
        reason: why it stopped, one sentence.
        path: the cell's dotted path ("" for the root).
        moment: "forward_pre", "forward", "backward_pre", "backward", "bprop" or "" for a plain pause.
        filename, function, first_line, lines: the source that is shown; empty and 0 where there is none.
        line: the current line, in the numbering of the file.
        locals: the names in scope and their values.
        changed: the names whose values changed since the last stop in the same function.
        operators: what ran so far in this bprop, oldest first.
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
    names: dict[str, object] = field(default_factory=dict, repr=False)
    """What ``evaluate`` knows beside the locals: the function's globals, and the debugger's own names."""
    assign: Callable[[str, object], None] | None = field(default=None, repr=False)
    """Gives a local variable of the paused function another value; None where there is no such function."""


class Pauser(Protocol):
    """Whoever answers while a run is paused."""

    def unavailable(self) -> str | None:
        """None if somebody can answer; otherwise why not, as one clause."""
        ...

    def wait(self, until: Callable[[], bool]) -> None:
        """Block the calling thread until ``until()`` is true."""
        ...


_default: Pauser | None = None


def set_default_pauser(pauser: Pauser | None) -> None:
    """Set who answers in sessions that were given no pauser; None goes back to the terminal."""
    global _default
    _default = pauser


def default_pauser() -> Pauser | None:
    """Who answers in sessions that were given no pauser; None means the terminal."""
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


_KEYS = {
    **{name: name for name in COMMANDS},
    **{"n": "over", "s": "into", "o": "out", "c": "continue", "a": "abort"},
}
_HELP = (
    "n/over, s/into, o/out, c/continue, a/abort; l: source, v: variables; "
    "NAME = EXPRESSION sets a variable; anything else is evaluated"
)


class TerminalPauser:
    """A prompt on the terminal; unavailable where standard input or output is none."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session

    def unavailable(self) -> str | None:
        """Whether there is a terminal to ask at."""
        for name, stream in (("standard input", sys.stdin), ("standard output", sys.stdout)):
            if stream is None or not stream.isatty():
                return f"{name} is not a terminal"
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        """Read and obey commands until one of them resumes the run."""
        point = self._session.paused
        if point is None:
            return
        print(f"hookscope: {point.reason}")
        if point.exception is not None:
            print("".join(traceback.format_exception_only(point.exception)).rstrip())
        _print_source(point, around=2)
        while not until():
            try:
                line = input("(hookscope) ").strip()
            except EOFError:
                line = "continue"
            self._obey(line, point)

    def _obey(self, line: str, point: PausePoint) -> None:
        if line in _KEYS:
            self._session.resume(_KEYS[line])
        elif line in ("", "h", "help", "?"):
            print(_HELP)
        elif line == "l":
            _print_source(point)
        elif line == "v":
            for name, value in point.locals.items():
                print(f"{'*' if name in point.changed else ' '} {name} = {describe(value)}")
        else:
            self._evaluate(line)

    def _evaluate(self, line: str) -> None:
        name, equals, expression = line.partition("=")
        try:
            if equals and name.strip().isidentifier() and not expression.startswith("="):
                self._session.assign(name.strip(), self._session.evaluate(expression.strip()))
            else:
                print(describe(self._session.evaluate(line), limit=2000))
        except Exception as error:  # whatever the user's expression raises is for the user to read, at the prompt
            print("".join(traceback.format_exception_only(error)).rstrip())


def _print_source(point: PausePoint, around: int | None = None) -> None:
    for number, text in enumerate(point.lines, start=point.first_line):
        if around is None or abs(number - point.line) <= around:
            print(f"{'->' if number == point.line else '  '} {number:4d}  {text}")
