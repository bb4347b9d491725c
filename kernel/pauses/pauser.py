"""Pausing for users and the debugger: `pause()`, `resume()` and the debugger's pauser."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ipykernel_adapter import takes_input

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

    from ..kernel import HookscopeKernel

_button_events: list[threading.Event] = []
"""One event for each `pause()` that waits for `resume()` or its button."""


def running_kernel() -> HookscopeKernel | None:
    """Return this process's Hookscope kernel, None if there is none, without importing ipykernel."""
    module = sys.modules.get("hookscope.kernel.kernel")
    if module is None or not module.HookscopeKernel.initialized():
        return None
    kernel: HookscopeKernel = module.HookscopeKernel.instance()
    return kernel


def front_end_takes_input() -> bool:
    """Return whether a person at a front end can see a widget and respond; not under nbclient, nbval or a terminal."""
    from IPython import get_ipython

    return takes_input(getattr(get_ipython(), "kernel", None))


def widgets_are_live() -> bool:
    """Return whether a widget shown now will be usable: a person is at the front end, or Voila will show the page."""
    return front_end_takes_input() or os.environ.get("SERVER_SOFTWARE", "").startswith("voila/")


def unavailable() -> str | None:
    """Return why no one can respond to a pause, as one clause; None if someone can."""
    kernel = running_kernel()
    if kernel is None:
        return "this is not the Hookscope kernel"
    if kernel.process != os.getpid():
        return f"process {os.getpid()} was forked from the kernel"
    if not front_end_takes_input():
        return "this front end takes no input (it runs the notebook from start to end)"
    return None


class KernelPauser:
    """The debugger's pauser (`hookscope.engine.debug.Pauser`) in the Hookscope kernel.

    Args:
        session: the session that pauses.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session

    def unavailable(self) -> str | None:
        return "choose the Hookscope kernel to pause" if running_kernel() is None else unavailable()

    def wait(self, until: Callable[[], bool]) -> None:
        kernel = running_kernel()
        if kernel is None:
            raise RuntimeError("cannot pause: this is not the Hookscope kernel")
        from .visible_pause import VisiblePause

        visible = VisiblePause(self._session, kernel.shell)
        try:
            kernel.pump.pause(until, meanwhile=visible.look, waits=visible.cell_waits)
        finally:
            visible.end()


def pause(until: Callable[[], bool] | None = None, timeout: float | None = None) -> bool:
    """Pause the running cell while its widgets stay live.

    It resumes when `until()` is true; without `until`, when the button shown here is pressed or code calls `resume()`.
    Return True then; return False when `timeout` seconds passed first. If a pause is not possible, print the reason in
    one line and return False at once.
    """
    if until is not None and not callable(until):
        raise TypeError(f"pause: until must be a function without arguments or None, got {type(until).__name__}")
    if timeout is not None and (
        isinstance(timeout, bool) or not isinstance(timeout, int | float) or math.isnan(timeout) or timeout < 0
    ):
        raise ValueError(f"pause: timeout must be seconds, zero or more, or None, got {timeout!r}")
    reason = unavailable()
    kernel = running_kernel()
    if reason is not None or kernel is None:
        from hookscope.engine.cpu.notices import tell

        tell(f"hookscope: not pausing, because {reason}.")
        return False
    if until is not None:
        return kernel.pump.pause(until, timeout)
    return _pause_with_button(kernel, timeout)


def resume() -> None:
    """End every `pause()` without an `until`. Any thread may call it, or a widget's callback."""
    for event in list(_button_events):
        event.set()
    kernel = running_kernel()
    if kernel is not None:
        kernel.pump.wake()


def _pause_with_button(kernel: HookscopeKernel, timeout: float | None) -> bool:
    from IPython.display import display
    from ipywidgets import Button

    from ..panels import display_under
    from .pause_lines import PauseLines

    event, lines = threading.Event(), PauseLines(kernel)
    button = Button(description="Continue", icon="play", tooltip="Let the paused cell go on")
    button.on_click(lambda _: event.set())
    display(button)  # type: ignore[no-untyped-call]

    def cell_waits(request: dict[str, Any]) -> None:
        lines.show("hookscope: this cell waits, since another one is paused: press Continue.", request)
        display_under(kernel, request, button._repr_mimebundle_())

    _button_events.append(event)
    try:
        return kernel.pump.pause(event.is_set, timeout, waits=cell_waits)
    finally:
        _button_events.remove(event)
        button.close()
        lines.clear()
