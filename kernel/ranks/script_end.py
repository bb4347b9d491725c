"""End of a rank's script. A failed rank must not wait for the other ranks, since they would wait for it.

At the end of a process, mpi4py ends MPI, which waits for all ranks. So a failed rank reports its exception, flushes
its buffers and leaves at once. Its launcher (`launch.py`) ends the others; if another program started the ranks, MPI
does.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import stat
import sys
import time
from array import array
from types import TracebackType
from typing import NoReturn, TextIO

from hookscope.kernel.descriptor import Descriptor
from hookscope.kernel.ranks.processes import flush_c

__all__ = ["REPORT_VARIABLE", "RankEnd", "end_of_rank", "rank_of_environment", "status_of_exit", "traceback_of_script"]

REPORT_VARIABLE = "HOOKSCOPE_RANK_REPORT"  # descriptor of the file that the launcher reads at the end

# Environment variables from mpiexec. The innermost mpiexec takes precedence: Slurm's are set in its complete
# allocation.
_RANKS = ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK")
_SIZES = {
    "PMI_RANK": ("PMI_SIZE",),
    "OMPI_COMM_WORLD_RANK": ("OMPI_COMM_WORLD_SIZE",),
    "PMIX_RANK": ("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
    "SLURM_PROCID": ("SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"),
}


def rank_of_environment() -> int | None:
    """Return the rank that mpiexec assigned to this process, None without mpiexec."""
    return next((int(os.environ[name]) for name in _RANKS if os.environ.get(name, "").isdigit()), None)


def _is_one_of_many() -> bool:
    for name, sizes in _SIZES.items():
        if os.environ.get(name, "").isdigit():
            size = next((os.environ[text] for text in sizes if os.environ.get(text, "").isdigit()), None)
            # Without a known size, a rank above 0 implies other ranks.
            if int(size) > 1 if size is not None else int(os.environ[name]) > 0:
                return True
    return False


def end_of_rank() -> RankEnd | None:
    """Return the end of this process if it is one of many ranks, or the only one of a launcher; else None."""
    descriptor = os.environ.pop(REPORT_VARIABLE, "")  # not inherited by the rank's children
    if descriptor.isdigit():
        with contextlib.suppress(OSError):
            os.set_inheritable(int(descriptor), False)
            rank = RankEnd(int(descriptor))
            rank.started()
            return rank
    return RankEnd(None) if _is_one_of_many() else None


def status_of_exit(code: object) -> int:
    """Return the exit status that Python gives a process for the code of a SystemExit."""
    if code is None:
        return 0
    return int(code) & 0xFF if isinstance(code, int) else 1


def traceback_of_script(traceback: TracebackType | None, script: str) -> TracebackType | None:
    """Return the traceback without the frames before the script."""
    while traceback is not None and traceback.tb_frame.f_code.co_filename != script:
        traceback = traceback.tb_next
    return traceback


class RankEnd:
    """The end of a rank.

    Args:
        report: the descriptor of the launcher's file; None if another program started the ranks.
    """

    def __init__(self, report: int | None) -> None:
        self._report = None if report is None else Descriptor(report)
        self._process = os.getpid()

    @property
    def _forked(self) -> bool:
        """Whether the script forked this process, whose end does not concern the launcher."""
        return os.getpid() != self._process

    def tell(self, error: BaseException, script: str) -> None:
        """Report the script's exception as Python would: to the launcher, which shows it last, else on standard error.

        Args:
            error: the exception; a SystemExit is reported by its message.
            script: the script's path; the frames before it are omitted.
        """
        error.__traceback__ = traceback_of_script(error.__traceback__, script)
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        if self._report is None or self._forked or not self._report.is_open():
            self._print(error, sys.stderr)
            return
        line = "" if isinstance(error, SystemExit) else f"{type(error).__name__}: {_text(error)}".rstrip(": ")
        self._note({"at": time.monotonic(), "error": " ".join(line.split())})
        # A hook of the script's may end the process; output before that is kept.
        report = os.dup(self._report.descriptor)
        with open(report, "w", encoding="utf-8", errors="backslashreplace", buffering=1) as file:
            previous, sys.stderr = sys.stderr, file
            try:
                self._print(error, file)
            finally:
                sys.stderr = previous

    def started(self) -> None:
        """Report that a KeyboardInterrupt is the script's from now on; before, Python would show its own traceback."""
        self._note({})

    def finished(self) -> None:
        """Report that the script ended by itself: a nonzero exit status then does not end the other ranks."""
        self._note({"finished": True})

    def leave(self, status: int) -> NoReturn:
        """End this process now, and the other ranks with it.

        Args:
            status: the exit status.
        """
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        _flush_files()
        flush_c()
        if self._report is None and not self._forked and (mpi := sys.modules.get("mpi4py.MPI")) is not None:
            with contextlib.suppress(Exception):
                if mpi.Is_initialized() and not mpi.Is_finalized():
                    _wait_for_readers()
                    mpi.COMM_WORLD.Abort(status)
        os._exit(status)

    def _note(self, facts: dict[str, object]) -> None:
        if self._report is not None and not self._forked and self._report.is_open():
            report = self._report.descriptor
            with contextlib.suppress(OSError):
                os.ftruncate(report, 0)
                os.lseek(report, 0, os.SEEK_SET)
                os.write(report, json.dumps(facts).encode() + b"\n")

    def _print(self, error: BaseException, file: TextIO | None) -> None:
        if isinstance(error, SystemExit):
            if error.code is not None and not isinstance(error.code, int) and file is not None:
                with contextlib.suppress(Exception):  # the reader is gone
                    print(error.code, file=file)
            return
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except Exception:  # a failing hook of the script's
            sys.__excepthook__(type(error), error, error.__traceback__)


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an exception of the script's whose text fails
        return ""


def _wait_for_readers(seconds: float = 1.0) -> None:
    """Wait until data in pipes has been read, since an aborted mpiexec may discard the rest."""
    import fcntl  # not on Windows, where MPI is not supported
    import termios

    end = time.monotonic() + seconds
    for descriptor in (1, 2):
        unread = array("i", [0])
        with contextlib.suppress(OSError):  # not a pipe
            while stat.S_ISFIFO(os.fstat(descriptor).st_mode) and time.monotonic() < end:
                fcntl.ioctl(descriptor, termios.FIONREAD, unread)
                if not unread[0]:
                    break
                time.sleep(0.005)
    time.sleep(0.05)  # time for the reader to forward it


def _flush_files() -> None:
    """Flush the script's files, as the end of Python would; not pipes and sockets, which may block."""
    objects = gc.get_objects()
    for kind in (io.TextIOWrapper, io.BufferedWriter, io.BufferedRandom):  # text goes through the others
        for file in objects:
            if type(file) is kind:
                with contextlib.suppress(Exception):
                    if not file.closed and stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                        file.flush()
