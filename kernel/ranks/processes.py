"""What Linux knows of processes: who descends from whom, and what is to happen when one of them dies."""

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
_KILL: signal.Signals = getattr(signal, "SIGKILL", signal.SIGTERM)  # of a system where nothing of this is called


def adopt_orphans() -> None:
    """From now on a descendant whose parent ended is this process's child, so that none can get away."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(parent: int, signum: signal.Signals = _KILL) -> None:
    """Have this process get a signal as soon as its parent ends.

    Args:
        parent: the parent's id; if it has ended already, this process ends here.
        signum: the signal.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signum), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(128 + signum)


def flush_c() -> None:
    """Write out what C code holds in its buffers: os._exit would lose it."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


def descendants(of: int) -> list[int]:
    """The processes below that one, parents before children."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
                # The program's name stands in brackets and may have any character.
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found = list(children.get(of, ()))
    for process in found:  # which grows meanwhile
        found += children.get(process, ())
    return found


def kill(process: int, signum: int) -> None:
    """Send a signal to a process that may have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, signum)


def kill_descendants(signum: int, spared: Collection[int] = ()) -> bool:
    """Send a signal to all processes below this one; returns whether there was any."""
    found = [process for process in descendants(os.getpid()) if process not in spared]
    for process in found:
        kill(process, signum)
    return bool(found)


def reap() -> tuple[dict[int, int], bool]:
    """Take note of children that ended; returns their statuses as subprocess gives them, and whether any is left."""
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
    """Whether a process stands still by a signal, as SIGSTOP or a debugger gave it; False where there is none."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            # The program's name stands in brackets and may have any character.
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def signal_name(signum: int) -> str:
    """`SIGKILL` for 9."""
    try:
        return signal.Signals(signum).name
    except ValueError:  # a real-time signal
        return f"signal {signum}"
