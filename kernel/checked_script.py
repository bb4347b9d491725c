"""`hookscope run --check script.py`: runs a script unchanged with a session over every network that it calls.

What was found is told when the script has ended, however it did, and decides the exit status.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from hookscope.kernel.ranks.ending import RankEnd, status_of_exit, traceback_of_script
from hookscope.kernel.ranks.options import WITH_VALUE, add_rank_options

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

__all__ = ["add_options", "run_checked", "with_values"]

# Nobody looks at captures when the script has ended. Conditions look at each while it is made.
BOUNDS: dict[str, Any] = {"max_bytes": 16 << 20, "max_captures": 500}

_FAULTY, _CAUSES, _INTERRUPTED = 2, 1, 130
_BARE = {"--check": "all", "--json": "-", "--serve": ""}


def add_options(run: argparse.ArgumentParser) -> None:
    """What `hookscope run` takes beside the script."""
    run.add_argument(
        "--check", action="append", default=[], metavar="NAME,...",
        help="look for these conditions, alone for all (docs/conditions.md); print what causes what was found; "
        "exit status 1 where there is a cause",
    )  # fmt: skip
    run.add_argument(
        "--stop-on", action="append", default=[], metavar="NAME,...", help="the same, and pause where one holds"
    )
    run.add_argument(
        "-b", "--break", action="append", default=[], dest="breaks", metavar="BREAKPOINT",
        help="pause there: 'PATH[:MOMENT] [if EXPRESSION]' (docs/debugging.md)",
    )  # fmt: skip
    run.add_argument(
        "--serve", nargs="?", const="", metavar="RUN",
        help="let notebooks of this user look at the script, pause it and change it while it runs: %%cell --attach",
    )
    run.add_argument(
        "--serve-address", metavar="ADDRESS",
        help="let them look from other machines too: tcp://HOST:PORT or tcp://HOST:*, an address or an interface here",
    )  # fmt: skip
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
    try:
        session = _session(options)
        out = None if options.json is None else _output(options.json)
    except (ValueError, OSError) as error:
        return _refuse(" ".join(str(error).split()))
    try:
        with _served(session, options):
            failure, ended_with = _run(options.script, session, rank)
    except (ValueError, OSError) as error:
        return _refuse(f"--serve: {' '.join(str(error).split())}")
    causes = session.findings().causes()
    if options.check or options.stop_on:
        _tell(session, options.script, ended_with, out)
    status = failure if failure == _INTERRUPTED or not causes else _CAUSES
    if rank is not None:
        if failure:
            rank.leave(status)
        rank.finished()
    return status


def _refuse(message: str) -> int:
    print(f"hookscope run: {message}", file=sys.stderr)
    return _FAULTY


def _session(options: argparse.Namespace) -> DebugSession:
    from hookscope.engine.debug import DebugSession
    from hookscope.engine.debug.conditions import parse_conditions, split_conditions

    texts = {
        option: [text for given in values for text in split_conditions(given)]
        for option, values in (("--check", options.check), ("--stop-on", options.stop_on))
    }
    for option, given in texts.items():
        parse_conditions(given, option)  # whose complaint names the option
    pauses = options.breaks or options.stop_on or options.serve is not None
    return DebugSession(
        conditions=texts["--check"], stop_on=texts["--stop-on"], breaks=options.breaks, name="run",
        **({} if pauses else BOUNDS),
    )  # fmt: skip


def _served(session: DebugSession, options: argparse.Namespace) -> AbstractContextManager[None]:
    if options.serve is None:
        return nullcontext()
    from hookscope.kernel.remote.served_script import serving

    return serving(session, options.script, options.serve, options.serve_address)


def _output(where: str) -> TextIO:
    """Where the JSON goes. Standard output is kept for it: what the script writes there goes to standard error."""
    if where != "-":
        return open(where, "w", encoding="utf-8")
    sys.stdout.flush()
    kept = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return kept


def _run(script: str, session: DebugSession, rank: RankEnd | None) -> tuple[int, str | None]:
    """Run it; returns the status that it would have ended with, and its error in a line."""
    try:
        with session:
            runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        if rank is not None and status_of_exit(ended.code):
            rank.tell(ended, script)
        elif ended.code is not None and not isinstance(ended.code, int):
            print(ended.code, file=sys.stderr)
        return ended.code if isinstance(ended.code, int) else status_of_exit(ended.code), None
    except KeyboardInterrupt as error:
        if rank is not None:
            rank.tell(error, script)
        return _INTERRUPTED, "KeyboardInterrupt"
    except BaseException as error:  # whatever the script raises is told as Python would, before what was found
        if rank is not None:
            rank.tell(error, script)
        else:
            sys.stdout.flush()
            error.__traceback__ = traceback_of_script(error.__traceback__, script)
            sys.excepthook(type(error), error, error.__traceback__)
        return 1, f"{type(error).__name__}: {error}".rstrip(": ")
    return 0, None


def _tell(session: DebugSession, script: str, error: str | None, out: TextIO | None) -> None:
    from hookscope.engine.debug.checks.report import report_data, report_text

    if out is None:
        sys.stdout.flush()
        print("\nInterrupted; so far:\n" if error == "KeyboardInterrupt" else "")
        print(report_text(session))
        return
    data: dict[str, Any] = {"script": script, "error": error, **report_data(session)}
    with out:
        json.dump(data, out, indent=2, allow_nan=False)
        out.write("\n")
