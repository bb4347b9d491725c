"""Process of a notebook's rank: it runs the notebook's cells in its own shell, and serves its session's panel.

``%ranks N`` starts this file N times by ``hookscope run --ranks N``. The ranks keep their variables between cells and
end with the notebook's kernel.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
import threading
from collections import deque
from pathlib import Path
from types import ModuleType, SimpleNamespace, TracebackType
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.jsonutil import json_default
from traitlets import Type

from hookscope.engine.cpu.notices import flush_output, tell
from hookscope.engine.debug.remote import RemotePauser, RequestService
from hookscope.engine.distributed import synchronization, world
from hookscope.kernel import alias, extension
from hookscope.kernel.ipykernel_adapter import SentTracebackHooks
from hookscope.kernel.panels import panels_of
from hookscope.kernel.remote.comms import serve_comms
from hookscope.kernel.remote.sessions import SessionRequests
from hookscope.kernel.tracebacks import user_traceback

__all__ = ["main"]

_LAST_SECONDS = 3.0  # s for a running cell to end after the notebook is gone
_FRONT_END_OPTIONS = 30.0  # s for the notebook that started a rank to attach

Message = dict[str, Any]


class Rank:
    """This process: its server, its shell and the pending cells.

    Args:
        folder: the folder for its card.
        run: the name of these ranks.
    """

    def __init__(self, folder: Path, run: str) -> None:
        number, count = world.launcher_rank()
        self.served = RequestService("ranks of a notebook", number, count, run, folder)
        self._cells: deque[tuple[bytes, Message]] = deque()
        self._runs: tuple[bytes, Message] | None = None
        self._has_front_end = False
        # Cells of all ranks at whose end this rank has not yet met the others. It meets them once for each, even if an
        # interrupt prevented it from running the cell, or from meeting them then.
        self._pending_ends: deque[None] = deque()
        self._ends = False
        self.shell = _shell(self)
        self.served.on("execute", self._execute, at_once=True)
        self.served.on("end", self._end, at_once=True)
        self.served.when_alone = self._notebook_is_gone
        serve_comms(self.served)
        self.requests = SessionRequests(
            self.served, self.session, lambda: self.shell.user_ns, lambda: self._runs is not None
        )
        panels_of(self.shell).session_callbacks.append(self.requests.record)
        self.served.on("interrupt", self._interrupt, at_once=True)
        self.served.answer_at_safe_points()

    # Requests from the notebook, in the server's thread

    def _execute(self, client: bytes, message: Message, buffers: list[memoryview]) -> Any:
        self._cells.append((client, message))
        self.served.wake()
        return RequestService.DEFERRED

    def _interrupt(self, client: bytes, message: Message, buffers: list[memoryview]) -> None:
        """Interrupt the notebook's cell: drop pending cells if there are any, else interrupt the running one."""
        dropped = False
        with contextlib.suppress(IndexError):
            while True:
                requester, cell = self._cells.popleft()
                self.served.reply(requester, cell, {"error": {"name": "KeyboardInterrupt", "text": "it had not begun"}})
                dropped = True
                if cell.get("all"):
                    self._pending_ends.append(None)
        if not dropped and self._runs is not None:
            self.served.interrupt()

    def _end(self, *request: object) -> None:
        self._ends = True
        if self._runs is not None:
            self.served.interrupt()
        self.served.wake()

    def _notebook_is_gone(self) -> None:
        """End the process; the notebook that needs a running cell's results is gone."""
        deadline = threading.Timer(_LAST_SECONDS, os._exit, [1])
        deadline.daemon = True
        deadline.start()
        self._end()

    # Main thread

    def session(self) -> Any:
        """Return the session that a magic opened last; None before the first."""
        return self.shell.user_ns.get("_session")

    def parent(self, channel: str = "shell") -> Message:
        """Return the running cell's request in ipykernel's form."""
        if self._runs is None:
            return {}
        client, message = self._runs
        header = {"msg_id": f"{client.hex()}-{message.get('id')}", "session": client.hex()}
        return {"header": header, "metadata": {"cellId": message.get("cell", "")}, "content": {"code": message["code"]}}

    def tell(self, kind: str, **fields: Any) -> None:
        """Send output of the running cell to its client."""
        client = None if self._runs is None else self._runs[0]
        self.served.tell({"type": kind, **fields}, to=client, default=json_default)

    def work(self) -> None:
        """Run cells until the notebook ends the ranks or disconnects."""
        signal.signal(signal.SIGINT, self.served.on_interrupt)
        with self.served.uninterrupted():
            self._work(self.served)

    def _work(self, served: RequestService) -> None:
        served.open()
        served.wait(lambda: bool(served.clients or self._ends), _FRONT_END_OPTIONS)
        while served.clients and not self._ends:
            with contextlib.suppress(KeyboardInterrupt):
                served.wait(lambda: bool(self._cells or self._ends or not served.clients), None)
                while self._cells and not self._ends:
                    self._take_cell()
                    if self._runs is not None:
                        self._run(*self._runs)

    def _take_cell(self) -> None:
        """Make the next cell the running one, or none if an interrupt has removed it."""
        try:
            self._runs = self._cells[0]  # before its removal, so that an interrupt finds it in either place
            self._runs = self._cells.popleft()
        except IndexError:
            self._runs = None

    def _run(self, client: bytes, message: Message) -> None:
        self._has_front_end = bool(message.get("looks"))
        try:
            of_all = bool(message.get("all"))
            error = self._align_runs() if of_all else None
            if of_all:
                self._pending_ends.append(None)
            if error is None:
                error = self._run_code(message["code"])
                if of_all:
                    error = self._align_runs() or error
            self.requests.end_recording(error)
            flush_output()
            failure = None if error is None else {"name": type(error).__name__, "text": str(error)}
        finally:
            self._runs = None
        served = self.served
        served.reply(client, message, {"error": failure})

    def _run_code(self, code: str) -> BaseException | None:
        """Run the code of a cell; return the exception that it raised."""
        try:
            with self.served.interruptible():
                result = self.shell.run_cell(code, store_history=True)
        except KeyboardInterrupt as interrupt:  # IPython was interrupted before or after the code
            self.shell.showtraceback()
            return interrupt
        error: BaseException | None = result.error_before_exec or result.error_in_exec
        return error

    def _align_runs(self) -> BaseException | None:
        """Wait for the other ranks, whose cells may still need this one; return the exception, if any."""
        current = world.world()
        if current.collectives is None or current.broken:
            self._pending_ends.clear()
            return None
        try:
            while self._pending_ends:
                synchronization.synchronize("the end of the cell")
                self._pending_ends.pop()
        except (RuntimeError, KeyboardInterrupt) as error:
            self.shell.showtraceback()
            return error
        return None

    def looks(self) -> bool:
        """Return whether a person at the front end can see the running cell's output and reply."""
        return self._has_front_end


class _Pauser(RemotePauser):
    def __init__(self, rank: Rank) -> None:
        super().__init__(rank.served)
        self._rank = rank

    def unavailable(self) -> str | None:
        if not self._rank.looks():
            return "this front end takes no input (it runs the notebook from start to end)"
        return super().unavailable()


class _Stream(io.TextIOBase):
    """Standard output or error of the cells: a message for each line, or for a partial line at a flush."""

    encoding = "utf-8"

    def __init__(self, rank: Rank, name: str, file: Any) -> None:
        self._rank, self._name, self._file = rank, name, file
        self._process = os.getpid()
        self._text = ""
        self._lock = threading.Lock()

    def fileno(self) -> int:
        return int(self._file.fileno())

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            self._text += text
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self) -> None:
        with self._lock:
            text, self._text = self._text, ""
        if os.getpid() != self._process:  # a process forked from the rank, which has no connection
            self._file.write(text)
            self._file.flush()
        elif text:
            self._rank.tell("stream", name=self._name, text=text)


class _Publisher(DisplayPublisher):
    rank: Any = None

    def publish(  # type: ignore[override]
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **kwargs: Any,
    ) -> None:
        flush_output()
        self.rank.tell("display", data=data, metadata=metadata or {}, transient=transient or {}, update=update)

    def clear_output(self, wait: bool = False) -> None:
        """Do nothing, since other ranks share the output."""


class _Hook(DisplayHook):
    rank: Any = None

    def write_output_prompt(self) -> None:
        flush_output()

    def write_format_data(self, format_dict: dict[str, Any], md_dict: dict[str, Any] | None = None) -> None:
        self.rank.tell("display", data=format_dict, metadata=md_dict or {}, transient={}, update=False)

    def finish_displayhook(self) -> None:
        """Do nothing, since there is no line to end."""


class _Shell(SentTracebackHooks, InteractiveShell):
    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    rank: Any = None

    def shown_traceback(self, traceback: TracebackType | None) -> TracebackType | None:
        return user_traceback(traceback)

    def send_traceback(self, kind: type[BaseException], value: BaseException, lines: list[str]) -> None:
        flush_output()
        self.rank.tell("error", name=kind.__name__, text=str(value), traceback=lines)

    def ask_exit(self) -> None:
        tell("hookscope: exit() ends no rank: %ranks stop ends all")


def _shell(rank: Rank) -> Any:
    module = ModuleType("__main__", "The names of this rank's cells.")
    sys.modules["__main__"] = module
    _Shell.clear_instance()
    shell: Any = _Shell.instance(user_module=module, user_ns=module.__dict__)
    shell.rank = shell.display_pub.rank = shell.displayhook.rank = rank
    shell.history_manager.enabled = False
    shell.kernel = SimpleNamespace(get_parent=rank.parent)
    shell.colors = "neutral"
    extension.load_ipython_extension(shell)
    if not alias.mindspore_is_installed():
        alias.install_as_mindspore()
    from hookscope.engine import debug

    debug.set_default_pauser(lambda session: _Pauser(rank))
    sys.stdout = _Stream(rank, "stdout", sys.stdout)
    sys.stderr = _Stream(rank, "stderr", sys.stderr)
    return shell


def main() -> None:
    """Run a rank of a notebook; the command line has the folder of its card and the name of the ranks."""
    folder = Path(sys.argv[1])
    rank = Rank(folder, sys.argv[2])
    try:
        rank.work()
    finally:
        rank.served.close()
        with contextlib.suppress(OSError):  # remains after a killed kernel; the last rank finds it empty
            folder.rmdir()


if __name__ == "__main__":
    main()
