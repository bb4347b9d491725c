"""A pause is visible where it can be answered.

When a run pauses, the pages are asked whether a person can see a panel of the session. Where none says so, one is
shown in the output of the cell that runs: its own may be scrolled away, cleared, or never have been shown. It is the
same if a panel is taken off the page during the pause. And as a page that was loaded anew shows nothing more of a cell
that runs, a cell that somebody runs meanwhile, and that has to wait, says why, and shows the panel too.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from .panels import panels_of, print_under, run_of

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets import DebuggerPanel

PATIENCE_SECONDS = 2.0
"""How long a page may take to say that a panel can be seen there."""


class VisiblePause:
    """Sees to it for one pause.

    Args:
        session: the session that pauses.
        shell: IPython's shell.
    """

    def __init__(self, session: DebugSession, shell: Any) -> None:
        self._session = session
        self._shell = shell
        self._opened = panels_of(shell)
        self._waiting: list[dict[str, Any]] = []  # requests to run a cell whose page may show no panel
        self._run = self._opened.run()
        self._left: WeakSet[DebuggerPanel] = WeakSet()  # what a page has taken off since the run paused
        self._asked: float | None = None
        self._ask()
        for request in shell.kernel.pump.queued():
            if run_of(request).cell == self._run.cell:  # run once more: its page has let go of this run
                self.cell_waits(request)

    def look(self) -> None:
        """Called while the pause lasts: show a panel where nobody can see one."""
        panels = self._panels()
        for panel in panels:
            if (panel.captured or panel.changed) and monotonic() >= panel.renew_at:
                panel.renew_due()
        gone = [panel for panel in panels if panel.gone]
        self._left.update(gone)
        if self._asked is None:
            if gone:
                self._ask()
            return
        if any(panel.seen for panel in panels):
            self._asked = None
            for request in self._waiting:
                self._show_in(request, panels)
            self._waiting.clear()
        elif not self._waiting and any(self._opened.is_new(panel) and panel not in self._left for panel in panels):
            return  # it stands where another one would be shown
        elif self._patience_is_over() or all(panel.seen is False or panel.gone for panel in panels):
            self._asked = None
            self._show()

    def _patience_is_over(self) -> bool:
        return self._asked is not None and monotonic() - self._asked > PATIENCE_SECONDS

    def _again(self) -> list[dict[str, Any]]:
        """The requests that wait to run the paused cell once more: its page has let go of this run."""
        return [request for request in self._waiting if run_of(request).cell == self._run.cell]

    def cell_waits(self, request: dict[str, Any]) -> None:
        """A cell was run, and has to wait: say so there."""
        point = self._session.paused
        where = "" if point is None else f" at {point.place}"
        who = "its last run" if run_of(request).cell == self._run.cell else "another one"
        print_under(
            self._shell.kernel,
            request,
            f"hookscope: this cell waits, since {who} is paused{where}: press Continue in the panel of "
            f"{self._session.name}, or interrupt the kernel.",
        )
        self._waiting.append(request)
        self._ask()

    def _ask(self) -> None:
        self._asked = monotonic()
        for panel in self._panels():
            panel.ask_who_sees()

    def _panels(self) -> list[DebuggerPanel]:
        from hookscope.widgets.kept import open_panels
        from hookscope.widgets.panel import DebuggerPanel

        return [
            panel
            for panel in list(open_panels)
            if isinstance(panel, DebuggerPanel) and panel.session is self._session and "stepper" in panel.views
        ]

    def _show(self) -> None:
        if self._waiting:
            self._show_in((self._again() or self._waiting)[0], [])
            self._waiting.clear()
            return
        from hookscope.widgets import DebuggerPanel

        point = self._session.paused
        if point is not None:
            self._session.say(
                f"paused at {point.place} ({point.reason}): press Continue in the panel below, or interrupt the kernel"
            )
        self._opened.show(DebuggerPanel(self._session))

    def _show_in(self, request: dict[str, Any], seen: list[DebuggerPanel]) -> None:
        """Show a panel in a cell that waits, unless its page is the one in which a panel is seen."""
        if seen and run_of(request).page == self._run.page:
            return
        from hookscope.widgets import DebuggerPanel

        self._opened.show_under(DebuggerPanel(self._session), request)
