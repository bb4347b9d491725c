"""The life of the panels, and of the sessions that the magics open.

What a notebook's cell opened lives until that cell runs again or is deleted, until it is closed, or until the kernel
ends; not until another panel opens. The captures of all sessions together are bounded by the ring that keeps them. A
session that is replaced watches no more from that moment on.

What a saved notebook keeps of a panel is renewed when a cell ends, during a long one now and then, when its page is
connected again, and at the end of the kernel; for without a kernel a notebook can show no widget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from IPython.display import DisplayHandle, display

from .ipykernel_adapter import publish
from .pausing import widgets_come_alive

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.kept import Kept

NEWEST = "_session"
"""The variable of the session that a magic opened last without a name of its own."""


class Run(NamedTuple):
    """One run of a notebook's cell: its request, the cell, and the page that it was sent from."""

    request: str
    cell: str
    page: str
    deleted: frozenset[str]


@dataclass(eq=False)
class Opened:
    """What a run of a cell opened: a session with its variable, a panel, or both."""

    run: Run
    session: DebugSession | None = None
    name: str = ""
    runs: bool = False  # whether the body of its `%%cell` runs
    panels: list[Kept] = field(default_factory=list)


def panels_of(shell: Any) -> Panels:
    """Return what the cells of this shell's notebook have opened."""
    if shell not in _panels:
        _panels[shell] = Panels(shell)
    return _panels[shell]


class Panels:
    """What the cells of one notebook have opened.

    Args:
        shell: IPython's shell.

    Attributes:
        when_added: told of each session that a magic opens, before it watches.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._opened: list[Opened] = []
        self.when_added: list[Callable[[DebugSession], None]] = []

    def register(self) -> None:
        """Follow the runs of the cells."""
        self._shell.events.register("pre_run_cell", self._cell_begins)
        self._shell.events.register("post_run_cell", self._cell_ended)

    def unregister(self) -> None:
        """Follow them no more."""
        self._shell.events.unregister("pre_run_cell", self._cell_begins)
        self._shell.events.unregister("post_run_cell", self._cell_ended)

    # What is opened

    def add_session(self, session: DebugSession, name: str | None = None) -> str:
        """Give a session that a magic made its variable; without a name, one of the form ``_session_2``.

        Of the same run of a cell it replaces an earlier one of the same network.
        """
        run = self.run()
        for opened in list(self._opened):
            earlier = opened.session
            same = earlier is not None and earlier.roots == session.roots
            if same and opened.run.request == run.request and not opened.runs:
                self._end(opened)
        numbered = (f"{NEWEST}_{number}" for number in count(1))
        if name is None:
            name = next(one for one in numbered if one not in self._shell.user_ns)
            self._shell.user_ns[NEWEST] = session
        self._opened.append(Opened(run, session, name))
        self._shell.user_ns[name] = session
        from hookscope.engine.debug.faults import forgiven

        for added in self.when_added:
            with forgiven(session, "whoever is told of sessions"):
                added(session)
        return name

    def add_panel(self, panel: Kept) -> None:
        """A panel was made, by a magic or by the user."""
        run = self.run()
        panel.place_now = lambda: (self.run().page, self.run().cell)
        panel.observe(lambda change: self._closed(panel), "comm")
        of_session = (o for o in self._opened if o.session is panel.session and o.run.request == run.request)
        opened = next(of_session, None)
        if opened is None:
            opened = Opened(run)
            self._opened.append(opened)
        opened.panels.append(panel)

    def run(self) -> Run:
        """Return the run that goes on now."""
        kernel = getattr(self._shell, "kernel", None)
        return run_of({} if kernel is None else kernel.get_parent("shell"))

    def is_new(self, panel: Kept) -> bool:
        """Whether the run that goes on now has made the panel."""
        run = self.run()
        return any(panel in opened.panels and opened.run.request == run.request for opened in self._opened)

    def show(self, panel: Kept) -> None:
        """Show a live panel in the running cell's output."""
        panel.display()

    def open(self, session: DebugSession) -> Kept | None:
        """Show a live panel of a session in the running cell's output; where nobody looks, its static forms."""
        if not widgets_come_alive():
            _show_static(session)
            return None
        from hookscope.engine.debug.faults import forgiven
        from hookscope.widgets import DebuggerPanel

        panel = None
        with forgiven(session, "opening the panel"):
            panel = DebuggerPanel(session)
            self.show(panel)
        return panel

    @contextmanager
    def around(self, session: DebugSession, shown: bool = True) -> Iterator[None]:
        """Around the body of a `%%cell`: the panel is shown before it, and renewed when the cell ends.

        Where nobody looks, its static forms are shown at the end, when there is something in them.
        """
        opened = next(opened for opened in self._opened if opened.session is session)
        opened.runs = True
        panel = self.open(session) if shown and widgets_come_alive() else None
        try:
            yield
        finally:
            opened.runs = False
            if shown and panel is None:
                _show_static(session)

    def show_under(self, panel: Kept, request: dict[str, Any]) -> None:
        """Show it in the output of a cell that waits to be run."""
        run = run_of(request)
        for opened in self._opened:
            if panel in opened.panels:
                opened.panels.remove(panel)
        self._opened = [opened for opened in self._opened if opened.session is not None or opened.panels]
        self._opened.append(Opened(run, panels=[panel]))
        panel.display(run.page, run.cell, partial(display_under, self._shell.kernel, request))

    def page_is_back(self, request: dict[str, Any]) -> None:
        """A page has asked what kernel this is, as it does when it is connected, also after it was not."""
        page = run_of(request).page
        for opened in self._opened:
            for panel in opened.panels:
                with _reported("shown again"):
                    panel.show_again(page)

    def table(self) -> str:
        """The sessions that there are, oldest first, as text."""
        from tabulate import tabulate

        rows = [
            (opened.name, session.name, _state(session), session.step, len(session.captures), len(session.findings()))
            for opened in self._opened
            if (session := opened.session) is not None
        ]
        if not rows:
            return "There is no session: %cell NET or %%cell NET opens one."
        return tabulate(rows, ("variable", "network", "", "steps", "captures", "findings"))

    # What the cells do

    def _cell_begins(self, info: object = None) -> None:
        run = self.run()
        emptied = {run.cell, *run.deleted}
        for opened in list(self._opened):
            if opened.run.request == run.request:  # a cell that a magic runs inside its own, or one that waited
                continue
            if opened.run.cell in emptied:
                self._end(opened)
            for panel in opened.panels:
                panel.lose_copies(emptied)

    def _cell_ended(self, result: object = None) -> None:
        run = self.run()
        for opened in list(self._opened):
            if opened.run.request != run.request:  # `%%cell` ends its session by itself
                with _reported("compared with the notebook's names"):
                    self._look_for_another_network(opened)
            for panel in opened.panels if not opened.runs else ():  # the body is a cell inside the cell
                with _reported("renewed"):
                    panel.renew(run.page, run.cell)

    def _look_for_another_network(self, opened: Opened) -> None:
        from hookscope.widgets.named import named_anew

        session = opened.session
        if session is None or not session.attached:
            return
        anew = named_anew(session, self._shell.user_ns)
        if anew is not None:
            for panel in opened.panels:
                panel.replaced = anew
            session.detach()

    # Ends

    def _closed(self, panel: Kept) -> None:
        if panel.comm is not None:
            return
        for opened in list(self._opened):
            if panel in opened.panels:
                opened.panels.remove(panel)
                if not opened.panels:
                    self._end(opened)

    def _end(self, opened: Opened) -> None:
        if opened not in self._opened:
            return
        self._opened.remove(opened)
        if opened.session is not None:
            opened.session.detach()
            if opened.name.startswith(f"{NEWEST}_") and self._shell.user_ns.get(opened.name) is opened.session:
                del self._shell.user_ns[opened.name]
        for panel in list(opened.panels):
            with _reported("closed"):
                panel.close()

    def freeze(self, seconds: float) -> None:
        """Make static what is live, the newest first, for so long at most: the kernel ends."""
        deadline = monotonic() + seconds
        for opened in reversed(self._opened):
            for panel in list(opened.panels):
                if monotonic() < deadline:
                    with _reported("made static"):
                        panel.freeze()


def print_under(kernel: Any, request: dict[str, Any], text: str) -> None:
    """Print a line in the output of a cell that waits to be run."""
    content = {"name": "stderr", "text": f"{text}\n"}
    publish(kernel, "stream", content, request, topic="stream.stderr")


def _state(session: DebugSession) -> str:
    return "paused" if session.paused is not None else "watching" if session.attached else "finished"


def _show_static(session: DebugSession) -> None:
    from hookscope.engine.debug.faults import forgiven
    from hookscope.widgets.snapshot import static_forms

    with forgiven(session, "the static form of a panel"):
        display(static_forms(session), raw=True)  # type: ignore[no-untyped-call]  # IPython has no types here


def run_of(request: dict[str, Any]) -> Run:
    """Return which run a request to execute is."""
    header, metadata = request.get("header") or {}, request.get("metadata") or {}
    # Front ends that give their cells no names: what has the same text is the same cell.
    cell = metadata.get("cellId") or f"text {(request.get('content') or {}).get('code', '')}"
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
    """What `display` does, but in the output of another cell than the one that runs: that of a request that waits."""
    handle = DisplayHandle()  # type: ignore[no-untyped-call]  # IPython has no types here
    content = {"data": data, "metadata": metadata or {}, "transient": {"display_id": handle.display_id}}
    publish(kernel, "display_data", content, request)
    return handle


_panels: WeakKeyDictionary[Any, Panels] = WeakKeyDictionary()


@contextmanager
def _reported(what: str) -> Iterator[None]:
    # A fault of an old panel must not stop the cell that is to run, nor the kernel's end.
    try:
        yield
    except Exception as error:
        from hookscope.engine.cpu.telling import tell
        from hookscope.engine.debug.faults import log_fault

        fault = log_fault(f"a panel that was to be {what}", error)
        tell(f"hookscope: a panel could not be {what}: {fault.error}")
