"""``hookscope.serve()``: makes a script, an IPython shell or an ipyparallel engine available to notebooks.

Requests are handled at safe points and at pauses. Between cells they are handled where the main thread waits for the
next cell: in its event loop, as in an engine of ipyparallel, or at IPython's prompt.
"""

from __future__ import annotations

import asyncio
import atexit
import select
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from hookscope.engine import debug
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.remote import RemotePauser, RequestService
from hookscope.engine.debug.watch.newest_session import newest_session, when_attached

from ..ipykernel_adapter import runners_of_user_code
from .served_process import ServedProcess

__all__ = ["serve"]

_LOOKS = 0.02  # s between two checks for requests at a prompt

_serving: ServedProcess | None = None


def serve(run: str = "", *, address: str | None = None) -> None:
    """Let notebooks of this user attach to this process from now on, pause its networks and change them.

    ``%cell --attach`` in a notebook with Hookscope's kernel shows the session that was attached last. A pause waits for
    connected notebooks; without them nothing pauses. Repeated calls have no effect.

    Args:
        run: the same text for all processes that belong together, such as a job's number. By default, processes started
            by one ``mpiexec`` on this machine belong together.
        address: ``tcp://HOST:PORT`` for connections from other machines; HOST is this machine's address or the name of
            its network interface, and the port ``*`` is any free one. By default only this user's processes on this
            machine can connect.

    Raises:
        ValueError: a name or address is invalid, or another process has this name and rank.
        RuntimeError: this is a notebook's kernel, or is already served as another run.
        OSError: this process cannot listen there, or the folder of cards is accessible to other users.
    """
    global _serving
    if _serving is not None:
        served_run = _serving.served.card.run
        if run not in ("", served_run):
            raise RuntimeError(f"this process is served already, as run {served_run!r}")
        return
    shell = _shell()
    kernel = getattr(shell, "kernel", None)
    if kernel is not None and not hasattr(kernel, "engine_id"):  # ipyparallel's engines have it
        raise RuntimeError("a notebook's kernel has pages of its own: %cell NET opens a panel in it")
    idle = _Idle(shell)
    process = ServedProcess(_program_name(kernel), newest_session, lambda: _names(shell), idle.runs, run, address)
    if shell is not None and "hookscope" not in shell.extension_manager.loaded:
        shell.extension_manager.load_extension("hookscope")
    debug.set_default_pauser(lambda session: RemotePauser(process.served))
    recording = _Recording(process)
    when_attached.append(recording.begin)
    if (session := newest_session()) is not None and session.attached:
        recording.begin(session)
    if shell is not None:
        shell.events.register("post_run_cell", recording.cell_ended)
    idle.answer(process.served)
    atexit.register(_end, process, recording)
    process.open()
    _serving = process


def _end(process: ServedProcess, recording: _Recording) -> None:
    recording.end()
    process.close()


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def _names(shell: Any) -> dict[str, Any]:
    namespace: dict[str, Any] = sys.modules["__main__"].__dict__ if shell is None else shell.user_ns
    return namespace


def _program_name(kernel: Any) -> str:
    if kernel is not None:
        return "engines of ipyparallel"
    return sys.argv[0] or "python"


class _Recording:
    """Recording of the session that was attached last, while it is needed."""

    def __init__(self, process: ServedProcess) -> None:
        self._process = process
        self._recorded: weakref.ref[DebugSession] | None = None

    def begin(self, session: DebugSession) -> None:
        if self._recorded is None or self._recorded() is not session:
            self._recorded = weakref.ref(session)
            self._process.requests.record(session)

    def cell_ended(self, result: Any = None) -> None:
        """Follow the end of the shell's cell; the session may continue in the next one."""
        session = None if self._recorded is None else self._recorded()
        error = None if result is None else result.error_before_exec or result.error_in_exec
        if self._recorded is not None and (session is None or not session.attached or error is not None):
            self.end(error)

    def end(self, error: BaseException | None = None) -> None:
        if self._recorded is None:
            return
        self._process.requests.end_recording(error)
        if self._recorded() is not None:
            self._process.tell_forms()
        self._recorded = None


class _Idle:
    """The main thread's wait for the user's next cell, if it has one.

    Args:
        shell: IPython's shell, or None.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._loop: asyncio.AbstractEventLoop | None = None
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            self._loop = asyncio.get_running_loop()
        self._runners = runners_of_user_code(shell, kernel)

    def runs(self) -> bool:
        """Return whether the user's code runs. Any thread may call it.

        Before and after user code, IPython calls registered callbacks, where an interrupt is printed and lost, or loses
        the cell's reply. So one of the runner functions must be on the main thread's stack.
        """
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None and frame.f_code not in self._runners:
            frame = frame.f_back
        return self._shell is None or frame is not None

    def answer(self, served: RequestService) -> None:
        """Handle requests during that wait from now on."""
        loop = self._loop
        if loop is not None:
            served.when_asked(lambda: _call(loop, served.answer_all))
        elif hasattr(self._shell, "enable_gui") and getattr(self._shell, "active_eventloop", "") is None:
            from IPython.terminal import pt_inputhooks

            def hook(context: Any) -> None:
                while not context.input_is_ready():
                    select.select([context.fileno()], [], [], _LOOKS)
                    served.answer_all()

            pt_inputhooks.register("hookscope", hook)  # type: ignore[no-untyped-call]
            self._shell.enable_gui("hookscope")


def _call(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(act)
