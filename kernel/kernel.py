"""HookscopeKernel: IPython's kernel with the pause pump in its message path, otherwise unchanged."""

from __future__ import annotations

import os
import platform
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import Any, cast

from ipykernel.ipkernel import IPythonKernel
from IPython.core import release
from traitlets import Bool, Enum, Type, default

from hookscope import __version__

from . import alias, extension
from .ipykernel_adapter import Frames, KernelHooks, SignalHandler, error_reply
from .panels import panels_of
from .pauses import message_filter
from .pauses.completion import PausedNamesShell
from .pauses.pump import Pump
from .pauses.visible_pause import clear_lines
from .tracebacks import user_traceback

END_PATIENCE_SECONDS = 2.0
"""Maximum seconds that a restart waits for a paused cell to unwind. Jupyter kills the process after 5 s."""


FREEZE_SECONDS = 1.0
"""Maximum seconds to replace the panels by static forms after that."""


class HookscopeShell(PausedNamesShell):
    """IPython's shell with tracebacks of the user's own frames, and no events from comms while a cell is paused."""

    hide_engine_frames = Bool(
        True, help="Whether tracebacks leave out the frames of Hookscope between those of the user."
    ).tag(config=True)

    def shown_traceback(self, traceback: TracebackType | None) -> TracebackType | None:
        return user_traceback(traceback) if self.hide_engine_frames else traceback

    def is_muted(self, event: str) -> bool:
        """Return whether an event comes only from a comm's callback while a cell is paused.

        Every comm message fires pre_execute and post_execute. matplotlib's inline backend treats the latter as the end
        of the cell and would show the paused cell's unfinished figures.
        """
        return event in {"pre_execute", "post_execute"} and bool(cast(Any, self).kernel.pump.paused_here)


class HookscopeKernel(KernelHooks, IPythonKernel):
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
        self.process = os.getpid()  # a process forked from this one is not a kernel
        self.pump = Pump(self)
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]  # nor has ipykernel
        mode = self.alias_mindspore
        if mode == "always" or (mode == "auto" and not alias.mindspore_is_installed()):
            alias.install_as_mindspore()
        extension.load_ipython_extension(self.shell)
        message_filter.answer_at_safe_points(self.pump)

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

    def accept(self, frames: Frames) -> bool:
        return self.pump.accept(frames)

    def wake_up(self, frames: Frames) -> Callable[[], None] | None:
        run = self.pump.wake_up_run(frames)
        return None if run is None else partial(self.pump.drain, run)

    def front_end_connected(self, request: dict[str, Any]) -> None:
        panels_of(self.shell).resend_copies(request)

    @contextmanager
    def around_cell(self, request: dict[str, Any]) -> Iterator[None]:
        self.pump.begins(request)
        with self.pump.working(request):
            yield

    async def do_execute(self, code: str, *args: Any, **options: Any) -> Any:
        try:
            with self.pump.interruptible():
                return await super().do_execute(code, *args, **options)  # type: ignore[no-untyped-call]
        except KeyboardInterrupt as interrupt:  # IPython was interrupted before or after the user's code
            return error_reply(self.shell, interrupt)

    # Queries

    def do_complete(self, *args: Any, **options: Any) -> Any:
        with cast(HookscopeShell, self.shell).paused_names_first():
            return super().do_complete(*args, **options)  # type: ignore[no-untyped-call]

    def do_inspect(self, *args: Any, **options: Any) -> Any:
        with cast(HookscopeShell, self.shell).paused_names_first():
            return super().do_inspect(*args, **options)  # type: ignore[no-untyped-call]

    # Interrupt, restart, shutdown

    def interrupt_handler(self) -> SignalHandler:
        return self.pump.on_interrupt

    def request_begins(self) -> None:
        self.pump.hold_interrupts()

    def async_cell_interrupted(self) -> None:
        """Record the interrupt, to end a pause that the cell begins before it awaits and is cancelled."""
        self.pump.note_interrupt()

    async def do_shutdown(self, restart: bool) -> Any:
        await self.pump.end(END_PATIENCE_SECONDS)
        clear_lines()
        panels_of(self.shell).freeze(FREEZE_SECONDS)
        return super().do_shutdown(restart)  # type: ignore[no-untyped-call]
