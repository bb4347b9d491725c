"""Lifetimes of the panels, and of the sessions that the magics open.

The sessions and panels of a notebook's cell live until that cell runs again or is deleted, until they are closed, or
until the kernel ends. Opening another panel does not end them. The captures of each session are bounded by its ring
buffer. A replaced session is detached at once.

A panel's static form in the saved notebook is renewed when a cell ends, periodically during a long cell, when its page
reconnects, and at the end of the kernel, since a notebook without a kernel cannot show widgets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from IPython.display import DisplayHandle, display

from .ipykernel_adapter import publish
from .pauses.pauser import widgets_are_live
from .reruns import WITHOUT_ID, Reruns

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, Scalars
    from hookscope.widgets.saved_widget import SavedWidget

NEWEST = "_session"
"""The variable of the session that a magic opened last without an explicit name."""


class Run(NamedTuple):
    """One run of a notebook's cell: its request, the cell, and the page that sent it."""

    request: str
    cell: str
    page: str
    deleted: frozenset[str]


@dataclass(eq=False)
class CellContents:
    """The session with its variable, the panel, or both, that a run of a cell opened."""

    run: Run
    session: DebugSession | None = None
    name: str = ""
    runs: bool = False  # whether the body of its `%%cell` is running
    panels: list[SavedWidget] = field(default_factory=list)

    def sessions(self) -> list[DebugSession]:
        """Return the session and those of the panels, each once, in their order."""
        on_panels = [panel.session for panel in self.panels if "session" in panel.__dict__]
        all_sessions = [session for session in (self.session, *on_panels) if session is not None]
        return list({id(session): session for session in all_sessions}.values())


def panels_of(shell: Any) -> Panels:
    """Return the sessions and panels of this shell's notebook."""
    if shell not in _panels:
        _panels[shell] = Panels(shell)
    return _panels[shell]


class Panels:
    """The sessions and panels that the cells of one notebook have opened.

    Args:
        shell: IPython's shell.

    Attributes:
        session_callbacks: called with each session that a magic opens, before it is attached.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._contents: list[CellContents] = []
        # Of the run before of each cell, the numbers of its sessions, oldest first, until the cell opens new ones.
        self._previous: dict[str, list[Scalars]] = {}
        self._reruns = Reruns()
        self.session_callbacks: list[Callable[[DebugSession], None]] = []

    def register(self) -> None:
        """Register for the begin and end of cells."""
        self._shell.events.register("pre_run_cell", self._cell_begins)
        self._shell.events.register("post_run_cell", self._cell_ended)

    def unregister(self) -> None:
        """Unregister from the begin and end of cells."""
        self._shell.events.unregister("pre_run_cell", self._cell_begins)
        self._shell.events.unregister("post_run_cell", self._cell_ended)

    # Opening

    def add_session(self, session: DebugSession, name: str | None = None, explicit: Collection[str] = ()) -> str:
        """Bind a magic's session to a variable; without a name, to one of the form ``_session_2``.

        It replaces an earlier session of the same network from the same run of a cell, and takes over what was clicked
        in the cell's previous run.

        Args:
            session: the session, before it is attached.
            name: the variable.
            explicit: the names of conditions and limits that the magic's line gives.
        """
        run = self.run()
        for contents in list(self._contents):
            previous = contents.session
            same = previous is not None and previous.roots == session.roots
            if same and contents.run.request == run.request and not contents.runs:
                self._end(contents)
        numbered = (f"{NEWEST}_{number}" for number in count(1))
        if name is None:
            name = next(candidate for candidate in numbered if candidate not in self._shell.user_ns)
            self._shell.user_ns[NEWEST] = session
        self._contents.append(CellContents(run, session, name))
        self._shell.user_ns[name] = session
        self._overlay_previous(run, session)
        from hookscope.engine.debug.faults import suppress_faults

        with suppress_faults(session, "what was clicked in the previous run"):
            for contents in self._contents[:-1] if run.cell.startswith(WITHOUT_ID) else ():
                if contents.session is not None and contents.session.name == session.name and not contents.runs:
                    self._reruns.remember(contents.run.cell, contents.session)
            self._reruns.take_over(run.cell, session, explicit)
        for callback in self.session_callbacks:
            with suppress_faults(session, "an observer of sessions"):
                callback(session)
        return name

    def add_panel(self, panel: SavedWidget) -> None:
        """Record a panel that a magic or the user created."""
        run = self.run()
        panel.running_cell = lambda: (self.run().page, self.run().cell)
        panel.paused_cell = run.cell
        panel.observe(lambda change: self._forget_closed(panel), "comm")
        matching = (o for o in self._contents if o.session is panel.session and o.run.request == run.request)
        contents = next(matching, None)
        if contents is None:
            contents = CellContents(run)
            self._contents.append(contents)
            if panel.session is not None and panel.session not in self._sessions():
                self._overlay_previous(run, panel.session)
        contents.panels.append(panel)

    def _sessions(self) -> list[DebugSession]:
        return [session for contents in self._contents for session in contents.sessions()]

    def _overlay_previous(self, run: Run, session: DebugSession) -> None:
        """Let the curves of a cell's new session show those of the cell's run before, in the order of its sessions."""
        previous = self._previous.get(run.cell)
        if previous and not session.step and previous[0] is not session.scalars:
            scalars = previous.pop(0)
            scalars.previous = None  # only one run before is shown
            session.scalars.previous = scalars

    def _keep_scalars(self, contents: CellContents) -> None:
        """Keep the numbers of a cell that runs again."""
        for session in contents.sessions():
            # A run that failed before it recorded anything does not replace the one before it.
            scalars = session.scalars if session.scalars.count else session.scalars.previous
            if scalars is not None:
                self._previous[contents.run.cell].append(scalars)

    def run(self) -> Run:
        """Return the current run of a cell."""
        kernel = getattr(self._shell, "kernel", None)
        return run_of({} if kernel is None else kernel.get_parent("shell"))

    def is_new(self, panel: SavedWidget) -> bool:
        """Return whether the current run of a cell has created the panel."""
        run = self.run()
        return any(panel in contents.panels and contents.run.request == run.request for contents in self._contents)

    def open(self, session: DebugSession) -> SavedWidget | None:
        """Show a session's live panel in the running cell's output; with no person present, its static forms."""
        if not widgets_are_live():
            _show_static(session)
            return None
        from hookscope.engine.debug.faults import suppress_faults
        from hookscope.widgets import DebuggerPanel

        panel = None
        with suppress_faults(session, "opening the panel"):
            panel = DebuggerPanel(session)
            panel.display()
        return panel

    @contextmanager
    def around(self, session: DebugSession, with_panel: bool = True) -> Iterator[None]:
        """Show the panel before the body of a `%%cell`, and mark the body as running; renewal follows the cell's end.

        Without a person at the front end, static forms are shown at the end, if they have content.
        """
        contents = next(contents for contents in self._contents if contents.session is session)
        contents.runs = True
        panel = self.open(session) if with_panel and widgets_are_live() else None
        try:
            yield
        finally:
            contents.runs = False
            if with_panel and panel is None:
                _show_static(session)

    def forget_choices(self, name: str | None) -> str:
        """Forget what was clicked in the panels of this network, or in all for None; return what to print."""
        from hookscope.widgets.choices import choices_of
        from hookscope.widgets.choices.of_panel import forget_choices
        from hookscope.widgets.choices.rerun import forget
        from hookscope.widgets.panel import DebuggerPanel

        count = self._reruns.forget(name)
        for session in {contents.session for contents in self._contents if contents.session is not None}:
            if name not in (None, session.name) or choices_of(session).is_empty():
                continue
            count += 1
            for panel in [panel for contents in self._contents for panel in contents.panels]:
                if isinstance(panel, DebuggerPanel) and panel.session is session:
                    forget_choices(panel)
            forget(session)
        of = "" if name is None else f" for {name}"
        return f"Forgotten: what was clicked{of}." if count else f"Nothing was clicked{of}."

    def show_under(self, panel: SavedWidget, request: dict[str, Any]) -> None:
        """Show a panel in the output of a cell that waits to be run."""
        run = run_of(request)
        for contents in self._contents:
            if panel in contents.panels:
                contents.panels.remove(panel)
        self._contents = [contents for contents in self._contents if contents.session is not None or contents.panels]
        self._contents.append(CellContents(run, panels=[panel]))
        panel.display(run.page, run.cell, partial(display_under, self._shell.kernel, request))

    def resend_copies(self, request: dict[str, Any]) -> None:
        """Handle a page's request for the kernel's description, sent on every connection and reconnection."""
        page = run_of(request).page
        for contents in self._contents:
            for panel in contents.panels:
                with _faults_reported("shown again"):
                    panel.show_again(page)

    def table(self) -> str:
        """Return the existing sessions, oldest first, as a text table."""
        from tabulate import tabulate

        rows = [
            (contents.name, session.name, _state(session), session.step, len(session.captures), len(session.findings()))
            for contents in self._contents
            if (session := contents.session) is not None
        ]
        if not rows:
            return "There is no session: %cell NET or %%cell NET opens one."
        return tabulate(rows, ("variable", "network", "", "steps", "captures", "findings"))

    # Events of cells

    def _cell_begins(self, info: object = None) -> None:
        run = self.run()
        cleared = {run.cell, *run.deleted}
        for cell in run.deleted:
            self._previous.pop(cell, None)
        ended = [
            contents
            for contents in self._contents
            # A cell that a magic runs inside its own, or one that waited, belongs to this run.
            if contents.run.cell in cleared and contents.run.request != run.request
        ]
        if any(contents.run.cell == run.cell for contents in ended):
            self._previous[run.cell] = []
        for contents in ended:
            if contents.run.cell == run.cell:
                self._keep_scalars(contents)
            self._end(contents)
        for contents in list(self._contents):
            if contents.run.request == run.request:
                continue
            for panel in contents.panels:
                panel.lose_copies(cleared)
        self._reruns.forget(cells=run.deleted)

    def _cell_ended(self, result: object = None) -> None:
        run = self.run()
        for contents in list(self._contents):
            if contents.run.request != run.request:  # `%%cell` ends its session itself
                with _faults_reported("compared with the notebook's names"):
                    self._detach_if_replaced(contents)
            for panel in contents.panels if not contents.runs else ():  # the body is a cell inside the cell
                with _faults_reported("renewed"):
                    panel.renew(run.page, run.cell)

    def _detach_if_replaced(self, contents: CellContents) -> None:
        from hookscope.widgets.network_check import replacement_message

        session = contents.session
        if session is None or not session.attached:
            return
        message = replacement_message(session, self._shell.user_ns)
        if message is not None:
            for panel in contents.panels:
                panel.replaced = message
            session.detach()

    # Closing

    def _forget_closed(self, panel: SavedWidget) -> None:
        if panel.comm is not None:
            return
        for contents in list(self._contents):
            if panel in contents.panels:
                contents.panels.remove(panel)
                if not contents.panels:
                    self._end(contents)

    def _end(self, contents: CellContents) -> None:
        if contents not in self._contents:
            return
        self._contents.remove(contents)
        if contents.session is not None:
            with _faults_reported("remembered"):
                self._reruns.remember(contents.run.cell, contents.session)
            contents.session.detach()
            if contents.name.startswith(f"{NEWEST}_") and self._shell.user_ns.get(contents.name) is contents.session:
                del self._shell.user_ns[contents.name]
        for panel in list(contents.panels):
            with _faults_reported("closed"):
                panel.close()

    def freeze(self, seconds: float) -> None:
        """Replace live panels by static forms, newest first, within a time limit, since the kernel ends."""
        deadline = monotonic() + seconds
        for contents in reversed(self._contents):
            for panel in list(contents.panels):
                if monotonic() < deadline:
                    with _faults_reported("made static"):
                        panel.freeze()


def _state(session: DebugSession) -> str:
    return "paused" if session.paused is not None else "watching" if session.attached else "finished"


def _show_static(session: DebugSession) -> None:
    from hookscope.engine.debug.faults import suppress_faults
    from hookscope.widgets.static_html.snapshot import static_forms

    with suppress_faults(session, "the static form of a panel"):
        display(static_forms(session), raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here


def run_of(request: dict[str, Any]) -> Run:
    """Return the run of a cell for an execute request."""
    header, metadata = request.get("header") or {}, request.get("metadata") or {}
    # For front ends without cell identifiers, cells with the same text are the same cell.
    cell = metadata.get("cellId") or f"{WITHOUT_ID}{(request.get('content') or {}).get('code', '')}"
    deleted = metadata.get("deletedCells")
    return Run(
        str(header.get("msg_id", "")),
        str(cell),
        str(header.get("session", "")),
        frozenset(map(str, deleted)) if isinstance(deleted, list) else frozenset(),
    )


def display_under(
    kernel: Any,
    request: dict[str, Any],
    data: dict[str, Any],
    metadata: dict[str, Any] | None = None,
    raw: bool = True,
    display_id: bool = True,
) -> DisplayHandle:
    """Do as `display`, but in the output of a waiting request's cell instead of the running cell."""
    handle = DisplayHandle()  # type: ignore[no-untyped-call]  # IPython has no types here
    content = {"data": data, "metadata": metadata or {}, "transient": {"display_id": handle.display_id}}
    publish(kernel, "display_data", content, request)
    return handle


_panels: WeakKeyDictionary[Any, Panels] = WeakKeyDictionary()


@contextmanager
def _faults_reported(what: str) -> Iterator[None]:
    # A fault of an old panel must not stop the next cell, nor the kernel's end.
    try:
        yield
    except Exception as error:
        from hookscope.engine.cpu.notices import tell
        from hookscope.engine.debug.faults import log_fault

        fault = log_fault(f"a panel that was to be {what}", error)
        tell(f"hookscope: a panel could not be {what}: {fault.error}")
