"""HookscopeKernel: IPython's kernel, with the pause pump in its message path. Ordinary in every other way."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from ipykernel.ipkernel import IPythonKernel
from IPython.core import release
from IPython.core.events import EventManager
from traitlets import Bool, Enum, Type, default

from hookscope import __version__

from . import alias, answering, extension
from .inbox import Frames
from .panels import panels_of
from .paused_names import PausedNamesShell
from .pump import Pump
from .tracebacks import without_plumbing

END_PATIENCE_SECONDS = 2.0
"""How long a restart waits for a paused cell to unwind. Jupyter kills the process after 5 s."""


FREEZE_SECONDS = 1.0
"""How long the panels may take to become static after that."""


class _Events(EventManager):
    """Keeps still about the start and end of a comm's callback while a cell is paused.

    Every comm message fires pre_execute and post_execute. matplotlib's inline backend takes the second for
    the end of the cell and would show the paused cell's unfinished figures.
    """

    def trigger(self, event: str, *args: Any, **kwargs: Any) -> None:
        if event in {"pre_execute", "post_execute"} and cast(Any, self.shell).kernel.pump.paused_here:
            return
        super().trigger(event, *args, **kwargs)


class HookscopeShell(PausedNamesShell):
    """IPython's shell with the events above, and with tracebacks that show the user's own frames."""

    hide_engine_frames = Bool(
        True, help="Whether tracebacks leave out the frames of Hookscope between those of the user."
    ).tag(config=True)

    def _get_exc_info(self, exc_tuple: Any = None) -> tuple[Any, Any, Any]:
        kind, value, traceback = super()._get_exc_info(exc_tuple)  # type: ignore[no-untyped-call]
        return kind, value, without_plumbing(traceback) if self.hide_engine_frames else traceback

    def init_events(self) -> None:
        super().init_events()  # type: ignore[no-untyped-call]  # IPython has no types here
        events = _Events(self, self.events.callbacks)
        events.callbacks.update(self.events.callbacks)
        self.events = events


class HookscopeKernel(IPythonKernel):
    """A Python kernel whose running cell can pause while its widgets stay live."""

    implementation = "hookscope"
    implementation_version = __version__
    shell_class = Type(HookscopeShell)
    debugger_class = Type("hookscope.kernel.debugger.HookscopeDebugger")

    alias_mindspore = Enum(
        ["auto", "always", "never"],
        help="""Whether `import mindspore` gives Hookscope's engine: "auto" when MindSpore itself is not
        installed, "always", or "never". HOOKSCOPE_ALIAS_MINDSPORE sets the default.""",
    ).tag(config=True)

    @default("alias_mindspore")
    def _default_alias_mindspore(self) -> str:
        return os.environ.get("HOOKSCOPE_ALIAS_MINDSPORE", "auto")

    def __init__(self, **kwargs: Any) -> None:
        self.process = os.getpid()  # a process that is forked from this one is no kernel
        self.pump = Pump(self, answering.is_panels)
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]  # nor has ipykernel
        wanted = self.alias_mindspore
        if wanted == "always" or (wanted == "auto" and not alias.mindspore_is_installed()):
            alias.install_as_mindspore()
        extension.load_ipython_extension(self.shell)
        answering.answer_at_safe_points(self.pump)

    @property
    def banner(self) -> str:  # type: ignore[override]  # ipykernel overrides its attribute in the same way
        versions = f"Python {platform.python_version()}, IPython {release.version}"
        return (
            f"Hookscope {self.implementation_version} ({versions})\n"
            "%%cell net: run a cell under the debugger; %%cell? tells more\n"
        )

    def start(self) -> None:
        super().start()  # type: ignore[no-untyped-call]
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self.pump.on_idle_interrupt)

    # The message path

    async def shell_channel_thread_main(self, msg: Frames) -> None:
        if not self.pump.accept(msg):
            await super().shell_channel_thread_main(msg)  # type: ignore[no-untyped-call]

    async def shell_main(self, subshell_id: str | None, msg: Frames) -> None:
        run = self.pump.wake_up_run(msg) if subshell_id is None else None
        if run is None:
            await super().shell_main(subshell_id, msg)
        elif self._main_asyncio_lock.locked():  # an async cell is awaiting, perhaps just these messages
            self.pump.drain(run)
        else:
            async with self._main_asyncio_lock:
                self.pump.drain(run)

    async def kernel_info_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        await super().kernel_info_request(stream, ident, parent)  # type: ignore[no-untyped-call]
        panels_of(self.shell).page_is_back(parent)

    async def execute_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        self.pump.begins(parent)
        with self.pump.working(parent):
            await super().execute_request(stream, ident, parent)  # type: ignore[no-untyped-call]

    async def do_execute(self, code: str, *args: Any, **options: Any) -> Any:
        try:
            with self.pump.interruptible():
                return await super().do_execute(code, *args, **options)  # type: ignore[no-untyped-call]
        except KeyboardInterrupt as interrupt:  # IPython was at work before or after the user's code
            shell = cast(Any, self.shell)
            shell.showtraceback()
            return {
                "status": "error",
                "ename": type(interrupt).__name__,
                "evalue": str(interrupt),
                "traceback": shell._last_traceback or [],
                "execution_count": shell.execution_count - 1,
                "user_expressions": {},
                "payload": [],
            }

    @contextmanager
    def _cancel_on_sigint(self, future: asyncio.Future[Any]) -> Iterator[None]:
        """Around an async cell: an interrupt cancels it where it awaits, and ends a pause that it begins before."""
        with super()._cancel_on_sigint(future):
            cancel = cast(Callable[[int, FrameType | None], None], signal.getsignal(signal.SIGINT))

            def note_and_cancel(signum: int, frame: FrameType | None) -> None:
                cancel(signum, frame)
                self.pump.note_interrupt()

            signal.signal(signal.SIGINT, note_and_cancel)  # ipykernel puts back what stood there before
            yield

    # Queries

    def do_complete(self, *args: Any, **options: Any) -> Any:
        with cast(HookscopeShell, self.shell).paused_names_first():
            return super().do_complete(*args, **options)  # type: ignore[no-untyped-call]

    def do_inspect(self, *args: Any, **options: Any) -> Any:
        with cast(HookscopeShell, self.shell).paused_names_first():
            return super().do_inspect(*args, **options)  # type: ignore[no-untyped-call]

    # Interrupt, restart, shutdown

    def pre_handler_hook(self) -> None:
        self.saved_sigint_handler = signal.signal(signal.SIGINT, self.pump.on_interrupt)
        self.pump.hold_interrupts()

    def post_handler_hook(self) -> None:
        signal.signal(signal.SIGINT, self.saved_sigint_handler)

    async def do_shutdown(self, restart: bool) -> Any:
        await self.pump.end(END_PATIENCE_SECONDS)
        panels_of(self.shell).freeze(FREEZE_SECONDS)
        return super().do_shutdown(restart)  # type: ignore[no-untyped-call]
