"""`hookscope run --check script.py`: runs a script unchanged with a session over every network that it calls.

What was found is told when the script has ended, however it did, and decides the exit status.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from hookscope.kernel.held_file import HeldFile
from hookscope.kernel.ranks.ending import RankEnd, status_of_exit, traceback_of_script
from hookscope.kernel.ranks.options import WITH_VALUE, add_rank_options

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.diagnose.causes import Cause

__all__ = ["add_options", "run_checked", "with_values"]

# Nobody looks at captures when the script has ended. Conditions look at each while it is made.
BOUNDS: dict[str, Any] = {"max_bytes": 16 << 20, "max_captures": 500}

_FAULTY, _CAUSES, _INTERRUPTED = 2, 1, 130
# What ends a script that does not care, and leaves the time to tell; Windows has not both.
_FATAL = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_ENDS = {"KeyboardInterrupt": "Interrupted", **{signum.name: f"Ended by {signum.name}" for signum in _FATAL}}
_BARE = {"--check": "all", "--json": "-", "--serve": ""}


def add_options(run: argparse.ArgumentParser) -> None:
    """What `hookscope run` takes beside the script."""
    run.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="NAME,...",
        help="look for these conditions, alone for all (docs/conditions.md); print what causes what was found; "
        "exit status 1 where there is a cause",
    )
    run.add_argument(
        "--stop-on", action="append", default=[], metavar="NAME,...", help="the same, and pause where one holds"
    )
    run.add_argument(
        "-b",
        "--break",
        action="append",
        default=[],
        dest="breaks",
        metavar="BREAKPOINT",
        help="pause there: 'PATH[:MOMENT] [if EXPRESSION]' (docs/debugging.md)",
    )
    run.add_argument(
        "--serve",
        nargs="?",
        const="",
        metavar="RUN",
        help="let notebooks of this user look at the script, pause it and change it while it runs: %%cell --attach",
    )
    run.add_argument(
        "--serve-address",
        metavar="ADDRESS",
        help="let them look from other machines too: tcp://HOST:PORT or tcp://HOST:*, an address or an interface here",
    )
    run.add_argument(
        "--json", metavar="FILE", help="write the causes there as JSON; alone, on standard output, with nothing else"
    )
    add_rank_options(run)


def with_values(arguments: Sequence[str]) -> list[str]:
    """The arguments of `run`, with a value for `--check` or `--json` alone: argparse would take the script for it."""
    found = list(arguments)
    place = 1
    while place < len(found) and found[place].startswith("-") and found[place] != "--":
        word = found[place]
        if word in _BARE:
            found[place] = f"{word}={_BARE[word]}"
        place += 2 if word in ("-b", "--break", "--stop-on", "--serve-address", *WITH_VALUE) else 1
    return found


def run_checked(options: argparse.Namespace, rank: RankEnd | None = None) -> int:
    """Run the script under a session.

    Args:
        options: what the command line says.
        rank: how this process ends if it is one of many ranks; where the script fails there, this does not return.

    Returns:
        The exit status.
    """
    if options.json is not None and not (options.check or options.stop_on):
        return _refuse("--json is for what --check finds: give that too")
    if options.serve_address is not None and options.serve is None:
        return _refuse("--serve-address is for --serve: give that too")
    from hookscope.engine.debug.faults import forgiven

    try:
        session = _session(options)
        out = None if options.json is None else _Output(options.json)
    except (ValueError, OSError) as error:
        return _refuse(" ".join(str(error).split()))
    process = os.getpid()
    tells = options.check or options.stop_on
    try:
        with _served(session, options), _fatal_signals_raise() if tells and rank is None else nullcontext():
            failure, ended_with = _run(options.script, session, rank)
    except (ValueError, OSError) as error:
        return _refuse(f"--serve: {' '.join(str(error).split())}")
    if os.getpid() != process:  # one that the script forked: it is the script's own, and what it found is nobody's
        if rank is not None and failure:
            rank.leave(failure)
        return failure
    causes: tuple[Cause, ...] = ()
    with forgiven(session, "the report"):
        causes = session.findings().causes()
        if tells:
            _tell(session, options.script, ended_with, out)
    status = failure if failure == _INTERRUPTED or not causes else _CAUSES
    if rank is not None:
        if failure:
            rank.leave(status)
        rank.finished()
    if failure < 0:
        with suppress(Exception):
            sys.stdout.flush()
        _end_by(-failure)
    return status


class _Signaled(SystemExit):
    """A signal ends the script."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)  # as a shell tells it, for who catches it
        self.signal = signal.Signals(signum)


def _end_by(signum: int) -> None:
    """End this process by a signal, so that whoever sent it sees that it was that."""
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


@contextmanager
def _fatal_signals_raise() -> Iterator[None]:
    """Let signals that would end the process raise instead, once: what was found is told before the end.

    A script that handles one itself does so as ever. In processes that it forks, they end the process at once.
    """
    process, taken = os.getpid(), [signum for signum in _FATAL if signal.getsignal(signum) is signal.SIG_DFL]

    def go_back(*_: object) -> None:
        for signum in taken:
            if signal.getsignal(signum) is end:
                signal.signal(signum, signal.SIG_DFL)

    def end(signum: int, frame: object) -> None:
        go_back()  # a second one ends a script that goes on after the first
        if os.getpid() != process:  # where a handler of the script's calls this one
            _end_by(signum)
        raise _Signaled(signum)

    masks: dict[int, set[int]] = {}  # by the thread that forks

    def block() -> None:
        masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, taken)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.pop(threading.get_ident()))

    def begin_child() -> None:
        go_back()
        unblock()

    # Python forgets a signal that comes to a new process before it has set itself up; one that is blocked comes later.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=begin_child)
    for signum in taken:
        signal.signal(signum, end)
    try:
        yield
    finally:
        go_back()


def _refuse(message: str) -> int:
    print(f"hookscope run: {message}", file=sys.stderr)
    return _FAULTY


def _tell_line(line: str) -> None:
    from hookscope.engine.cpu.telling import tell  # which imports the engine, as the script has done by then

    tell(line)


def _session(options: argparse.Namespace) -> DebugSession:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.diagnose.conditions import parse_conditions, split_conditions

    texts = {
        option: [text for given in values for text in split_conditions(given, option)]
        for option, values in (("--check", options.check), ("--stop-on", options.stop_on))
    }
    for option, given in texts.items():
        parse_conditions(given, option)  # whose complaint names the option
    pauses = options.breaks or options.stop_on or options.serve is not None
    return DebugSession(
        conditions=texts["--check"],
        stop_on=texts["--stop-on"],
        breaks=options.breaks,
        name="run",
        **({} if pauses else BOUNDS),
    )


def _served(session: DebugSession, options: argparse.Namespace) -> AbstractContextManager[None]:
    if options.serve is None:
        return nullcontext()
    from hookscope.kernel.remote.served_script import serving

    return serving(session, options.script, options.serve, options.serve_address)


class _Output:
    """Where the JSON goes. Standard output is kept for it: what the script writes there goes to standard error."""

    def __init__(self, where: str) -> None:
        self._where = where
        if where != "-":
            descriptor = os.open(where, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        else:
            sys.stdout.flush()
            descriptor = os.dup(1)
            os.dup2(2, 1)
        self._held = HeldFile(descriptor)

    def write(self, data: Mapping[str, Any]) -> None:
        """Write the data and close; a script that has closed all descriptors has closed this one, too."""
        if self._held.is_open():
            target: str | int = self._held.descriptor
        elif self._where != "-":
            target = self._where
        else:
            _tell_line("hookscope run: --json: the script has closed the standard output that was kept for it")
            return
        with open(target, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, allow_nan=False)
            file.write("\n")


def _run(script: str, session: DebugSession, rank: RankEnd | None) -> tuple[int, str | None]:
    """Run it; returns the status that it would have ended with, for a signal less than 0, and its error in a line."""
    try:
        with session:
            runpy.run_path(script, run_name="__main__")
    except _Signaled as ended:
        return -ended.signal, ended.signal.name
    except SystemExit as ended:
        if rank is not None and status_of_exit(ended.code):
            rank.tell(ended, script)
        elif ended.code is not None and not isinstance(ended.code, int):
            _tell_line(str(ended.code))
        return ended.code if isinstance(ended.code, int) else status_of_exit(ended.code), None
    except KeyboardInterrupt as error:
        if rank is not None:
            rank.tell(error, script)
        return _INTERRUPTED, "KeyboardInterrupt"
    except BaseException as error:  # whatever the script raises is told as Python would, before what was found
        if rank is not None:
            rank.tell(error, script)
        else:
            with suppress(Exception):
                sys.stdout.flush()
            error.__traceback__ = traceback_of_script(error.__traceback__, script)
            sys.excepthook(type(error), error, error.__traceback__)
        return 1, f"{type(error).__name__}: {error}".rstrip(": ")
    return 0, None


def _tell(session: DebugSession, script: str, error: str | None, out: _Output | None) -> None:
    from hookscope.engine.debug.diagnose.report import report_data, report_text

    if out is None:
        sys.stdout.flush()
        print(f"\n{_ENDS[error]}; so far:\n" if error in _ENDS else "")
        print(report_text(session))
        return
    data: dict[str, Any] = {"script": script, "error": error, **report_data(session)}
    out.write(data)
