"""Linux processes: descendants, signals, and the death of a parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from collections.abc import Collection

__all__ = [
    "adopt_orphans",
    "descendants",
    "die_with_parent",
    "flush_c",
    "is_stopped",
    "kill",
    "kill_descendants",
    "reap",
    "signal_name",
]

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)  # fallback for systems where nothing here is called


def adopt_orphans() -> None:
    """Make this process adopt descendants whose parent ends, so that it can end all of them."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int, signum: signal.Signals = _KILL) -> None:
    """Make this process receive a signal as soon as its parent ends.

    Args:
        parent: the parent's id; if it has already ended, this process exits.
        signum: the signal.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(128 + signum)


def flush_c() -> None:
    """Flush C buffers, which os._exit would lose."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


def descendants(of: int) -> list[int]:
    """Return the descendants of a process, parents before children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # The program's name is in parentheses and may contain any character.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    processes = list(children.get(of, ()))
    for process in processes:  # the list grows meanwhile
        processes += children.get(process, ())
    return processes


def kill(process: int, signum: int) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signum)


def kill_descendants(signum: int, spared: Collection[int] = ()) -> bool:
    """Send a signal to all descendants of this process; return whether there were any."""
    processes = [process for process in descendants(os.getpid()) if process not in spared]
    for process in processes:
        kill(process, signum)
    return bool(processes)


def reap() -> tuple[dict[int, int], bool]:
    """Reap children that ended; return their statuses as in subprocess, and whether any child is left."""
    ended: dict[int, int] = {}
    while True:
        try:
            process, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended, False
        if process == 0:
            return ended, True
        ended[process] = os.waitstatus_to_exitcode(status)


def is_stopped(process: int) -> bool:
    """Return whether a process is stopped by a signal such as SIGSTOP, or by a debugger; False if there is none."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The program's name is in parentheses and may contain any character.
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def signal_name(signum: int) -> str:
    """Return the name of a signal, such as `SIGKILL` for 9."""
    try:
        return signal.Signals(signum).name
    except ValueError:  # a real-time signal
        return f"signal {signum}"
