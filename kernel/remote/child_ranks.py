"""Ranks that ``%ranks N`` starts: one launcher as a child of the notebook's kernel, and cells that run on all ranks."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

from hookscope.engine.cpu.interrupts import uninterrupted
from hookscope.engine.debug.compare.ranks.findings import ranks_text
from hookscope.engine.debug.remote import RemoteError, cards
from hookscope.kernel.ranks.processes import is_stopped

from ..pauses.pauser import front_end_takes_input, running_kernel, unavailable
from . import host
from .fleet import Fleet
from .outputs import Outputs

__all__ = ["ChildRanks", "RanksFailed", "start_ranks"]

_SECONDS = 120.0  # timeout for the start of all ranks: a busy machine imports slowly
_LAST = 3.0  # s for the ranks to end by themselves
_ON_ITS_WAY = 0.02  # s for output of a rank's subprocess to arrive through the launcher
_TO_HEAR = 0.4  # s for the ranks to end the cell after an interrupt
_TAIL = 40  # lines of the launcher's output that are kept


class RanksFailed(Exception):  # noqa: N818  (it is the cell's result, after the ranks' own errors)
    """A cell failed on some ranks; their errors are shown above."""

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows instead of a traceback, which would show only the magic."""
        return [str(self)]


def start_ranks(count: int) -> ChildRanks:
    """Start this many ranks, and wait until they are available.

    Raises:
        RuntimeError: the ranks cannot be started; the message says why.
    """
    folder = tempfile.TemporaryDirectory(prefix="hookscope-ranks-")
    run = uuid4().hex[:12]
    command = [sys.executable, "-m", "hookscope", "run", "--ranks", str(count), str(host.__file__), folder.name, run]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    output = _LauncherOutput(process)
    deadline = monotonic() + _SECONDS
    path = Path(folder.name)
    try:
        while len(available := cards(path)) < count:
            if process.poll() is not None:
                raise RuntimeError("the ranks could not be started:\n" + "\n".join(output.to_its_end()))
            if monotonic() > deadline:
                summary = f"of {count} ranks {len(available)} were there after {_SECONDS:g} s"
                raise RuntimeError("\n".join((f"{summary}:", *output.tail)))
            sleep(0.02)
        return ChildRanks(Fleet(available), process, folder, output)
    except BaseException:
        process.terminate()
        folder.cleanup()
        raise


class _LauncherOutput:
    """Output of the launcher: its own messages, and labeled output of the ranks' subprocesses and C code.

    Attributes:
        tail: the last lines.
        on_line: called with each line; None if no cell shows it.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.tail: deque[str] = deque(maxlen=_TAIL)
        self.on_line: Callable[[str], None] | None = None
        self._process = process
        self._thread = threading.Thread(target=self._read, name="hookscope ranks' output", daemon=True)
        self._thread.start()

    def to_its_end(self) -> list[str]:
        """Return the last lines after the launcher has ended."""
        self._thread.join(_LAST)
        return list(self.tail)

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for raw in lines:
                line = raw.decode("utf-8", "replace").rstrip("\n")
                self.tail.append(line)
                if self.on_line is not None:
                    self.on_line(line)


class ChildRanks:
    """Ranks that live until they are stopped, or until the kernel ends.

    Attributes:
        fleet: the connections to the ranks.
    """

    def __init__(
        self,
        fleet: Fleet,
        process: subprocess.Popen[bytes],
        folder: tempfile.TemporaryDirectory[str],
        output: _LauncherOutput,
    ) -> None:
        self.fleet = fleet
        self._process, self._folder, self._output = process, folder, output
        self._kernel = os.getpid()
        atexit.register(self.stop)

    @property
    def alive(self) -> bool:
        """Whether all ranks are running."""
        return len(self.fleet.living) == len(self.fleet.ranks)

    def run(self, code: str, on: Sequence[int] | None = None) -> None:
        """Run a cell on these ranks, by default on all, and show their output; an interrupt is sent to all.

        After an interrupt, the cell ends here when it has ended on the ranks, except on ranks whose processes are
        stopped, or after a second interrupt.

        Raises:
            RanksFailed: the cell failed on some ranks, or a rank has ended.
            KeyboardInterrupt: the cell was interrupted.
        """
        outputs = self.fleet.outputs = Outputs()
        self._output.on_line = partial(outputs.line, name="stdout")
        has_viewer, replies = front_end_takes_input(), dict[int, Future[Any]]()
        try:
            with uninterrupted():  # all ranks get the request or none
                replies = self.fleet.ask("execute", on, code=code, all=on is None, looks=has_viewer, cell=str(uuid4()))
            self._wait(replies)
        except KeyboardInterrupt:
            self.fleet.interrupt(on)
            try:
                self._wait(replies, interrupted=True)
            finally:
                self._tell_silent(replies, outputs)
                outputs.show_errors()
            raise
        outputs.show_errors()
        sleep(_ON_ITS_WAY)
        self._tell_failed(replies)

    def _wait(self, answers: dict[int, Future[Any]], interrupted: bool = False) -> None:
        """Wait for the replies; in the Hookscope kernel the pages' widgets stay live meanwhile."""
        begin = monotonic()

        def done() -> bool:
            if all(answer.done() for answer in answers.values()):
                return True
            return interrupted and monotonic() - begin > _TO_HEAR and bool(self._stopped(answers))

        kernel = running_kernel()
        for answer in answers.values():
            answer.add_done_callback(lambda _: kernel.pump.wake() if kernel is not None else None)
        if kernel is not None and unavailable() is None:
            kernel.pump.pause(done)
            return
        while not done():
            sleep(0.01)

    def _stopped(self, answers: dict[int, Future[Any]]) -> list[int]:
        """Return the ranks that have not replied and whose processes are stopped."""
        pids = {rank: self.fleet.ranks[rank].remote.card.pid for rank, answer in answers.items() if not answer.done()}
        return [rank for rank, pid in pids.items() if is_stopped(pid)]

    def _tell_silent(self, answers: dict[int, Future[Any]], outputs: Outputs) -> None:
        """Print the ranks on which the cell still runs after an interrupt."""
        silent = [rank for rank, answer in answers.items() if not answer.done()]
        if not silent:
            return
        stopped = self._stopped(answers)
        hint = "".join(
            f"; process {(pid := self.fleet.ranks[rank].remote.card.pid)} of rank {rank} is stopped: "
            f"kill -CONT {pid} lets it go on"
            for rank in stopped
        )
        outputs.line(f"hookscope: the cell has not ended yet on {ranks_text(silent)}{hint}; %ranks stop ends all")

    def _tell_failed(self, answers: dict[int, Future[Any]]) -> None:
        failed, ended_ranks = [], []
        for rank, answer in answers.items():
            try:
                if answer.result()["error"] is not None:
                    failed.append(rank)
            except RemoteError:
                ended_ranks.append(rank)
        if ended_ranks:
            self._process.wait(_LAST)
            self._output.to_its_end()
            raise RanksFailed(
                f"{ranks_text(ended_ranks)} ended while the cell ran, and all ranks with that; %ranks N starts new ones"
            )
        if failed:
            raise RanksFailed(f"The cell failed on {ranks_text(failed)}.")

    def stop(self) -> None:
        """End all ranks; in a process forked from the one that started them, do nothing."""
        if os.getpid() != self._kernel:
            return
        atexit.unregister(self.stop)
        self.fleet.ask("end")
        try:
            self._process.wait(_LAST)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            self._process.wait()
        self.fleet.leave()
        self._folder.cleanup()
