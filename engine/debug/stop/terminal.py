"""Terminal prompt for a script's pauses: the labels of the panel's buttons, in any case, and further commands.

A line that is not a command is an expression to evaluate, and ``NAME = EXPRESSION`` an edit.
"""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, TextIO

from ...base.nearest_name import nearest
from ..record.rows import table
from .failure import error_text
from .pause import PausePoint, describe, in_a_forked_process

if TYPE_CHECKING:
    from ..session import DebugSession

__all__ = ["TerminalPauser"]

_EDIT = re.compile(r"(?:edit\s+)?(\w+(?:\s*\[\s*\d+\s*\])?)\s*=(?!=)\s*(.+)", re.IGNORECASE | re.DOTALL)
_COMMAND_FORM = re.compile(r"[A-Za-z]+(\s+[A-Za-z]+)?")
_CAPTURES = 20
_QUIT = ("quit", "q", "exit")


class TerminalPauser:
    """Prompt on the terminal; unavailable if standard input or output is not a terminal."""

    def __init__(self, session: DebugSession) -> None:
        self._session = session

    def unavailable(self) -> str | None:
        """Return why the terminal is not available, or None: it must exist, and only one process may read it."""
        forked = in_a_forked_process()
        if forked is not None:
            return forked
        for name, stream in (("standard input", sys.stdin), ("standard output", sys.stdout)):
            if not _is_terminal(stream):
                return f"{name} is not a terminal"
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        """Read and run commands until one of them resumes the run."""
        point = self._session.paused
        if point is None:
            return
        try:
            _print_stop(point)
            while not until():
                self._obey(_read(at_end="continue"))
        except OSError:  # the terminal is gone, and with it the user
            self._session.resume("continue")

    def look_at_failure(self, point: PausePoint) -> None:
        """Read and run commands at a failure, until one of ``_QUIT``."""
        with suppress(OSError):  # the terminal is gone
            _print_stop(point)
            print(f"Nothing can go on here; {_QUIT[0]!r} leaves, 'help' lists the commands.")
            while (line := _read(at_end=_QUIT[0])).lower() not in _QUIT:
                self._obey(line)

    def _obey(self, line: str) -> None:
        text = " ".join(line.lower().split())
        resume = _RESUME.get(text)
        word, _, rest = line.partition(" ")
        command = _COMMANDS.get(text) or _COMMANDS.get(word.lower())
        argument = "" if text in _COMMANDS else rest.strip()
        edit = _EDIT.fullmatch(line)
        try:
            if resume is not None:
                self._session.resume(resume)
            elif not line:
                _help(self._session, "")
            elif edit:
                self._session.edit(edit[1], edit[2])
            elif command is None:
                self._evaluate(line)
            elif argument and not command.arguments:
                print(f"{word!r} takes nothing after it; `print {line}` evaluates it as an expression")
            else:
                command.run(self._session, argument)
        except Exception as error:  # any exception of the user's line is printed at the prompt
            print("".join(traceback.format_exception_only(error)).rstrip())

    def _evaluate(self, line: str) -> None:
        try:
            value = self._session.evaluate(line)
        except (NameError, ValueError):
            commands = [*_RESUME, *_COMMANDS]
            # One name, or words that are not Python: more likely a mistyped command.
            if not _COMMAND_FORM.fullmatch(line) or line.split()[0].lower() in ("not", "lambda", "await"):
                raise
            nearest_command = nearest(line.lower(), commands)
            command = (
                "'help' lists the commands"
                if nearest_command is None
                else f"the nearest command is {nearest_command!r}"
            )
            print(f"{line!r} is neither a command nor a name here; {command}")
        else:
            print(describe(value, limit=2000))


def _is_terminal(stream: TextIO | None) -> bool:
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # it is closed
        return False


class _Command(NamedTuple):
    run: Callable[[DebugSession, str], None]
    arguments: str
    does: str


def _read(at_end: str) -> str:
    """Return the next line that the user types, or ``at_end`` at the end of the input."""
    try:
        return input("(hookscope) ").strip()
    except EOFError:
        return at_end


def _print_stop(point: PausePoint) -> None:
    print(f"hookscope: {point.place}: {point.reason}")
    if point.exception is not None:
        print(error_text(point.exception))
    for note in point.notes:
        print(note)
    _print_source(point, around=2)


def _print_source(point: PausePoint, around: int | None = None) -> None:
    for number, text in enumerate(point.lines, start=point.first_line):
        if around is None or abs(number - point.line) <= around:
            print(f"{'->' if number == point.line else '  '} {number:4d}  {text}")


def _point(session: DebugSession) -> PausePoint:
    point = session.shown or session.paused
    assert point is not None
    return point


def _source(session: DebugSession, argument: str) -> None:
    _print_source(_point(session))


def _variables(session: DebugSession, argument: str) -> None:
    point = _point(session)
    for name, value in point.locals.items():
        print(f"{'*' if name in point.changed else ' '} {name} = {describe(value)}")


def _stack(session: DebugSession, argument: str) -> None:
    point = _point(session)
    labels = [frame.qualified_label for frame in point.frames] or point.stack
    for index, label in enumerate(labels):
        print(f"{'->' if index == point.frame else '  '} {label}")


def _up(session: DebugSession, argument: str) -> None:
    _show_frame(session, -1)


def _down(session: DebugSession, argument: str) -> None:
    _show_frame(session, 1)


def _show_frame(session: DebugSession, step: int) -> None:
    point = _point(session)
    if not 0 <= point.frame + step < len(point.frames):
        raise IndexError(f"there is no function {'around' if step < 0 else 'inside'} this one on the stack")
    print(point.frames[point.frame + step].qualified_label)
    _print_source(session.show_frame(point.frame + step), around=2)


def _print(session: DebugSession, argument: str) -> None:
    print(describe(session.evaluate(argument), limit=2000))


def _edit(session: DebugSession, argument: str) -> None:
    print("edit NAME = EXPRESSION")


def _print_past(point: PausePoint) -> None:
    print(f"{point.place}: {point.reason}".rstrip(": "))
    _print_source(point, around=2)


def _back(session: DebugSession, argument: str) -> None:
    _print_past(session.step_back())


def _forward(session: DebugSession, argument: str) -> None:
    _print_past(session.step_forward())


def _break(session: DebugSession, argument: str) -> None:
    if argument:
        session.add_breakpoint(argument)
    for stop in session.breakpoints:
        print(f"{stop}, stopped {stop.hits} times")


def _unbreak(session: DebugSession, argument: str) -> None:
    session.remove_breakpoint(argument)


def _until(session: DebugSession, argument: str) -> None:
    if not argument.isdecimal():
        raise ValueError(f"until LINE, not {argument!r}")
    session.run_to_line(int(argument))


def _watch(session: DebugSession, argument: str) -> None:
    if argument:
        session.add_watch(argument)
    for watch in session.watch:
        print(f"{watch.pattern or 'every leaf'}:{watch.direction}")


def _unwatch(session: DebugSession, argument: str) -> None:
    session.remove_watch(argument)


def _condition(session: DebugSession, argument: str) -> None:
    if argument:
        session.add_condition(argument, pause=True)
    for name in session.checks.conditions:
        print(name)


def _uncondition(session: DebugSession, argument: str) -> None:
    session.remove_condition(argument)


def _hook(session: DebugSession, argument: str) -> None:
    session.attach_hook(*_two(argument, "hook PATH KIND"))


def _unhook(session: DebugSession, argument: str) -> None:
    session.detach_hook(*_two(argument, "unhook PATH KIND"))


def _train(session: DebugSession, argument: str) -> None:
    path, mode = _two(argument, "train PATH on|off")
    if mode.lower() not in ("on", "off"):
        raise ValueError(f"train PATH on|off, not {mode!r}")
    session.set_train(path, mode.lower() == "on")


def _two(argument: str, usage: str) -> tuple[str, str]:
    parts = argument.split()
    if len(parts) != 2:
        raise ValueError(usage)
    return parts[0], parts[1]


def _captures(session: DebugSession, argument: str) -> None:
    if argument and not argument.isdecimal():
        raise ValueError(f"captures [HOW MANY], not {argument!r}")
    print(table(list(session.captures)[-int(argument or _CAPTURES) :]))


def _help(session: DebugSession, argument: str) -> None:
    for names, text in _HELP:
        print(f"{names}: {text}")


# Button labels, then short forms, for each command that resumes the run.
_GO_ON = {
    "over": ("step over", "over", "next", "n"),
    "into": ("step into", "into", "step", "s"),
    "out": ("step out", "out", "o"),
    "operator": ("next operator", "operator"),
    "cell": ("next cell", "cell"),
    "continue": ("continue", "c"),
    "abort": ("abort", "a"),
}
_RESUME = {name: command for command, names in _GO_ON.items() for name in names}

_OTHERS: dict[tuple[str, ...], _Command] = {
    ("step back", "back", "b"): _Command(_back, "", "show the line that was passed before"),
    ("step forward", "forward", "f"): _Command(_forward, "", "show the line after it"),
    ("source", "l"): _Command(_source, "", "the whole function"),
    ("variables", "v"): _Command(_variables, "", "the names in scope; * marks those that changed"),
    ("stack",): _Command(_stack, "", "the functions that are running"),
    ("up", "u"): _Command(_up, "", "show the function that called this one, with its variables"),
    ("down", "d"): _Command(_down, "", "show the function that it called"),
    ("captures",): _Command(_captures, "[HOW MANY]", "the newest captures"),
    ("print", "p"): _Command(_print, "EXPRESSION", "evaluate it, also if it looks like a command"),
    ("edit",): _Command(_edit, "NAME = EXPRESSION", "replace the passing value by it; the word may be left out"),
    ("break",): _Command(_break, "[PATH[:MOMENT] [if EXPRESSION]]", "stop there; alone, list where it stops"),
    ("unbreak",): _Command(_unbreak, "PATH[:MOMENT] [if EXPRESSION]", "stop there no more"),
    ("until",): _Command(_until, "LINE", "go on up to this line of the function"),
    ("watch",): _Command(_watch, "[PATTERN[:DIRECTION]]", "make captures there; alone, list the watched cells"),
    ("unwatch",): _Command(_unwatch, "PATTERN[:DIRECTION]", "make none there any more"),
    ("condition",): _Command(_condition, "[NAME[=THRESHOLD]]", "stop where it holds; alone, list the conditions"),
    ("uncondition",): _Command(_uncondition, "NAME", "look for it no more"),
    ("hook",): _Command(_hook, "PATH KIND", "attach a hook that makes captures"),
    ("unhook",): _Command(_unhook, "PATH KIND", "take it off"),
    ("train",): _Command(_train, "PATH on|off", "set training mode"),
    ("help", "h", "?"): _Command(_help, "", "this list"),
}
_COMMANDS = {name: command for names, command in _OTHERS.items() for name in names}
_DOES = {
    "over": "go on to the next line; at a cell, to the moment after it",
    "into": "go on into a function of yours that the line calls",
    "out": "go on to the line after the call",
    "operator": "go on to the next operator",
    "cell": "go on to the next moment of a cell",
    "continue": "go on to the next breakpoint, or the end",
    "abort": "end the run",
}
_HELP = [
    *((", ".join(names), _DOES[command]) for command, names in _GO_ON.items()),
    *(
        (", ".join(names) + (f" {command.arguments}" if command.arguments else ""), command.does)
        for names, command in _OTHERS.items()
    ),
    ("anything else", "an expression to evaluate"),
]
