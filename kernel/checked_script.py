"""`hookscope run --check script.py`: run of an unchanged script with a session over every network that it calls.

Findings are reported when the script has ended, however it did, and determine the exit status.
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

from hookscope.kernel.descriptor import Descriptor
from hookscope.kernel.ranks.options import WITH_VALUE, add_rank_options
from hookscope.kernel.ranks.script_end import RankEnd, status_of_exit, traceback_of_script

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.diagnose.causes import Cause

__all__ = ["add_options", "run_checked", "with_values"]

# Captures are not needed after the script has ended; conditions check each capture when it is made.
BOUNDS: dict[str, Any] = {"max_bytes": 16 << 20, "max_captures": 500}

_FAULTY, _CAUSES, _INTERRUPTED = 2, 1, 130
# Signals that end a script without a handler but leave time to report; Windows lacks some of them.
_FATAL = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
_ENDS = {"KeyboardInterrupt": "Interrupted", **{signum.name: f"Ended by {signum.name}" for signum in _FATAL}}
_BARE = {"--check": "all", "--json": "-", "--serve": ""}


def add_options(run: argparse.ArgumentParser) -> None:
    """Add the options of `hookscope run`, apart from the script."""
    run.add_argument(
        "--check",
        action="append",
        default=[],
        metavar="NAME,...",
        help="look for these conditions, alone for all (docs/conditions.md); print the causes of the findings; "
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
    """Return the arguments of `run` with a value after a bare `--check` or `--json`, which argparse needs."""
    tokens = list(arguments)
    index = 1
    while index < len(tokens) and tokens[index].startswith("-") and tokens[index] != "--":
        token = tokens[index]
        if token in _BARE:
            tokens[index] = f"{token}={_BARE[token]}"
        index += 2 if token in ("-b", "--break", "--stop-on", "--serve-address", *WITH_VALUE) else 1
    return tokens


def run_checked(options: argparse.Namespace, rank: RankEnd | None = None) -> int:
    """Run the script under a session.

    Args:
        options: the parsed command line.
        rank: the end of this process if it is one of many ranks; if the script fails there, this does not return.

    Returns:
        The exit status.
    """
    if options.json is not None and not (options.check or options.stop_on):
        return _refuse("--json writes the findings of --check: give that too")
    if options.serve_address is not None and options.serve is None:
        return _refuse("--serve-address is for --serve: give that too")
    from hookscope.engine.debug.faults import suppress_faults

    try:
        session = _session(options)
        out = None if options.json is None else _Output(options.json)
    except (ValueError, OSError) as error:
        return _refuse(" ".join(str(error).split()))
    process = os.getpid()
    reports = options.check or options.stop_on
    try:
        with _served(session, options), _fatal_signals_raise() if reports and rank is None else nullcontext():
            failure, ended_with = _run(options.script, session, rank)
    except (ValueError, OSError) as error:
        return _refuse(f"--serve: {' '.join(str(error).split())}")
    if os.getpid() != process:  # forked by the script: it belongs to the script, and its findings are not reported
        if rank is not None and failure:
            rank.leave(failure)
        return failure
    causes: tuple[Cause, ...] = ()
    with suppress_faults(session, "the report"):
        causes = session.findings().causes()
        if reports:
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
    """Raised in the script by a signal that ends it."""

    def __init__(self, signum: int) -> None:
        super().__init__(128 + signum)  # the exit status of a shell, for code that catches it
        self.signal = signal.Signals(signum)


def _end_by(signum: int) -> None:
    """End this process by a signal, so that the sender sees the signal as the cause."""
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)


@contextmanager
def _fatal_signals_raise() -> Iterator[None]:
    """Make fatal signals raise once instead of ending the process, so that findings are reported first.

    Signals that the script handles itself are unchanged. In processes that it forks, they end the process at once.
    """
    process, handled = os.getpid(), [signum for signum in _FATAL if signal.getsignal(signum) is signal.SIG_DFL]

    def go_back(*_: object) -> None:
        for signum in handled:
            if signal.getsignal(signum) is end:
                signal.signal(signum, signal.SIG_DFL)

    def end(signum: int, frame: object) -> None:
        go_back()  # a second signal ends a script that continues after the first
        if os.getpid() != process:  # where a handler of the script's calls this one
            _end_by(signum)
        raise _Signaled(signum)

    masks: dict[int, set[int]] = {}  # by the thread that forks

    def block() -> None:
        masks[threading.get_ident()] = signal.pthread_sigmask(signal.SIG_BLOCK, handled)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, masks.pop(threading.get_ident()))

    def begin_child() -> None:
        go_back()
        unblock()

    # Python loses a signal that arrives in a new process before its setup; a blocked one is delivered afterwards.
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=begin_child)
    for signum in handled:
        signal.signal(signum, end)
    try:
        yield
    finally:
        go_back()


def _refuse(message: str) -> int:
    print(f"hookscope run: {message}", file=sys.stderr)
    return _FAULTY


def _tell_line(line: str) -> None:
    from hookscope.engine.cpu.notices import tell  # imports the engine, which the script has imported by then

    tell(line)


def _session(options: argparse.Namespace) -> DebugSession:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.diagnose.conditions import parse_conditions, split_conditions

    texts = {
        option: [text for conditions in values for text in split_conditions(conditions, option)]
        for option, values in (("--check", options.check), ("--stop-on", options.stop_on))
    }
    for option, conditions in texts.items():
        parse_conditions(conditions, option)  # raises an error that names the option
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
    """Destination of the JSON. If it is standard output, the script's own output goes to standard error."""

    def __init__(self, target: str) -> None:
        self._target = target
        if target != "-":
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        else:
            sys.stdout.flush()
            descriptor = os.dup(1)
            os.dup2(2, 1)
        self._descriptor = Descriptor(descriptor)

    def write(self, data: Mapping[str, Any]) -> None:
        """Write the data and close the file; a script that closed all descriptors has closed this one, too."""
        if self._descriptor.is_open():
            target: str | int = self._descriptor.descriptor
        elif self._target != "-":
            target = self._target
        else:
            _tell_line("hookscope run: --json: the script has closed the standard output that was kept for it")
            return
        with open(target, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=2, allow_nan=False)
            file.write("\n")


def _run(script: str, session: DebugSession, rank: RankEnd | None) -> tuple[int, str | None]:
    """Run the script; return its exit status, negative for a signal, and its error in one line."""
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
    except BaseException as error:  # report the script's exception as Python would, before the findings
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
