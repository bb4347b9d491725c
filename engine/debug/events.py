"""Events for the observers of a session, and its messages on standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from hookscope.engine.cpu.notices import tell

from .faults import Faults

__all__ = ["Event", "Events"]

Event = Literal["attached", "captured", "paused", "resumed", "changed", "finished"]
"""Events that observers receive.

"attached": the session is attached. "captured": values were captured. "paused": the run is paused. "resumed": it
continues. "changed": anything else that a view may show has changed. "finished": the session is detached.
"""


class Events:
    """Dispatcher of a session's events and messages.

    Args:
        name: the prefix of its messages.

    Attributes:
        name: the prefix of its messages.
        faults: reports exceptions of the debugger.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.faults = Faults(name)
        self._observers: list[Callable[[Event], None]] = []
        self._said: set[str] = set()

    def observe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        """Call ``callback`` with each event; return the function that unsubscribes it."""
        self._observers.append(callback)

        def unsubscribe() -> None:
            if callback in self._observers:
                self._observers.remove(callback)

        return unsubscribe

    def notify(self, event: Event) -> None:
        """Notify the observers; an interrupted observer is notified again, so that no view stays out of date."""
        interrupted: KeyboardInterrupt | None = None
        for callback in tuple(self._observers):
            try:
                self._tell(callback, event)
            except KeyboardInterrupt as interrupt:
                interrupted = interrupt
                self._tell(callback, event)
        if interrupted is not None:
            raise interrupted

    def _tell(self, callback: Callable[[Event], None], event: Event) -> None:
        try:
            callback(event)
        except Exception as error:  # a view that fails must not end the user's run
            if not self.faults.report_fault("an observer", error, id(callback)):
                raise

    def say(self, text: str, once: str | None = None) -> None:
        """Print one line on standard error; with ``once``, only the first line of that kind."""
        if once is None or once not in self._said:
            self._said.update(() if once is None else (once,))
            tell(f"hookscope: {self.name}: {text}")
