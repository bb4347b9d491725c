"""Visibility of a pause: a panel is shown where a user can respond.

When a run pauses, the pages report whether a panel of the session is visible. If none is visible, one is shown in the
output of the running cell, since the session's panel may be out of view, cleared, or never shown. The same happens if a
panel is removed from the page during the pause. A reloaded page has lost a running cell's output. So a cell that is run
meanwhile, and has to wait, prints the reason and shows the panel too.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..panels import panels_of, run_of
from .pause_lines import PauseLines

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets import DebuggerPanel

_lines: WeakKeyDictionary[Any, PauseLines] = WeakKeyDictionary()
"""The lines about the pauses of each session."""

PATIENCE_SECONDS = 2.0
"""Maximum seconds for a page to report that a panel is visible."""


def clear_lines() -> None:
    """Remove the lines about pauses, since the kernel ends."""
    for lines in list(_lines.values()):
        lines.clear()


class VisiblePause:
    """Visibility of one pause.

    Args:
        session: the session that pauses.
        shell: IPython's shell.
    """

    def __init__(self, session: DebugSession, shell: Any) -> None:
        self._session = session
        self._shell = shell
        self._panel_registry = panels_of(shell)
        self._waiting_requests: list[dict[str, Any]] = []  # execute requests whose page may show no panel
        self._run = self._panel_registry.run()
        self._request = shell.kernel.get_parent("shell")
        self._lines = _lines.setdefault(session, PauseLines(shell.kernel))
        for request in self._lines.begin(shell.kernel.pump.queued()):
            self._show_line(request)
        self._removals = sum(panel.removals for panel in self._panels())
        self._request_time: float | None = None
        self._request_sight()
        for request in shell.kernel.pump.queued():
            if run_of(request).cell == self._run.cell:  # the cell is run again, so its page has lost this run's output
                self.cell_waits(request)

    def look(self) -> None:
        """Show a panel if none is visible; called repeatedly during the pause."""
        panels = self._panels()
        for panel in panels:
            if (panel.captured or panel.changed) and monotonic() >= panel.renew_at:
                panel.renew_due()
        removals = sum(panel.removals for panel in panels)
        if removals != self._removals:
            self._removals = removals
            self._request_sight()  # a reply from before the removal is outdated
        if self._request_time is None:
            return
        if any(panel.seen for panel in panels):
            self._request_time = None
            for request in self._waiting_requests:
                self._show_in(request, panels)
            self._waiting_requests.clear()
        elif not self._waiting_requests and any(
            self._panel_registry.is_new(panel) and not panel.removals for panel in panels
        ):
            return  # it is where another one would be shown
        elif self._patience_is_over() or all(panel.seen is False for panel in panels):
            self._request_time = None
            self._show()

    def end(self) -> None:
        """Remove the lines about the pause, which is over."""
        self._lines.end()

    def _patience_is_over(self) -> bool:
        return self._request_time is not None and monotonic() - self._request_time > PATIENCE_SECONDS

    def _reruns(self) -> list[dict[str, Any]]:
        """Return the waiting requests that run the paused cell again, whose page has lost this run's output."""
        return [request for request in self._waiting_requests if run_of(request).cell == self._run.cell]

    def cell_waits(self, request: dict[str, Any]) -> None:
        """Show a line in the output of a cell that has to wait."""
        self._show_line(request)
        self._waiting_requests.append(request)
        self._request_sight()

    def _show_line(self, request: dict[str, Any]) -> None:
        point = self._session.paused
        position = "" if point is None else f" at {point.place}"
        paused_run = "its last run" if run_of(request).cell == self._run.cell else "another one"
        self._lines.show(
            f"hookscope: this cell waits, since {paused_run} is paused{position}: press Continue in the panel of "
            f"{self._session.name}, or interrupt the kernel.",
            request,
        )

    def _request_sight(self) -> None:
        self._request_time = monotonic()
        for panel in self._panels():
            panel.ask_who_sees()

    def _panels(self) -> list[DebuggerPanel]:
        from hookscope.widgets.panel import DebuggerPanel
        from hookscope.widgets.saved_widget import open_panels

        return [
            panel
            for panel in list(open_panels)
            if isinstance(panel, DebuggerPanel) and panel.session is self._session and "stepper" in panel.views
        ]

    def _show(self) -> None:
        if self._waiting_requests:
            self._show_in((self._reruns() or self._waiting_requests)[0], [])
            self._waiting_requests.clear()
            return
        from hookscope.widgets import DebuggerPanel

        point = self._session.paused
        if point is not None:
            self._lines.show(
                f"hookscope: {self._session.name}: paused at {point.place} ({point.reason}): press Continue in the "
                "panel below, or interrupt the kernel",
                self._request,
            )
        DebuggerPanel(self._session).display()

    def _show_in(self, request: dict[str, Any], seen: list[DebuggerPanel]) -> None:
        """Show a panel in the output of a waiting cell, unless its page is the one with a visible panel."""
        if seen and run_of(request).page == self._run.page:
            return
        from hookscope.widgets import DebuggerPanel

        self._panel_registry.show_under(DebuggerPanel(self._session), request)
