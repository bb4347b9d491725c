"""Forms of a panel that a notebook saves: the live view, and static forms for when no kernel is running.

The static form is renewed when there is something new: the code that runs the cells calls `renew` when a cell ends. A
reloaded page has lost earlier outputs; it gets its own copy below the cell that ran last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakSet

import anywidget
from IPython.display import display

from hookscope.widgets.static_html import snapshot

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

    from hookscope.engine.debug import DebugSession

# Minimum interval between renewals while a cell runs, and their maximum share of its time.
_RENEW_SECONDS = 10.0
_RENEW_SHARE = 0.01

Display = Callable[..., "DisplayHandle"]

open_panels: WeakSet[SavedWidget] = WeakSet()
"""Every panel that is not closed."""

creation_callbacks: list[Callable[[SavedWidget], None]] = []
"""Called with each new panel, except those made in `outside_cells`."""

_in_cell = ContextVar("of a cell", default=True)


@contextmanager
def outside_cells() -> Iterator[None]:
    """Create panels that belong to no cell: another process opens them, and closes them without ending the session."""
    token = _in_cell.set(False)
    try:
        yield
    finally:
        _in_cell.reset(token)


class _Copy(NamedTuple):
    """A displayed static form: the cell whose output holds it, and the handle that updates it."""

    cell: str
    output: DisplayHandle


class SavedWidget(anywidget.AnyWidget):
    """A widget that leaves text (its ``repr``) and HTML forms in a saved notebook.

    Attributes:
        session: the session that the widget shows, if any.
        captured: whether there are captures since the static form was last made.
        changed: whether anything else has changed since then.
    """

    session: DebugSession | None = None
    captured = False
    changed = False
    renew_at = math.inf
    """The `time.monotonic` at which the static form is due for renewal even while a cell runs."""
    running_cell: Callable[[], tuple[str, str]] | None = None
    """Returns the running page and cell; if None, nothing is renewed while a cell runs."""

    paused_cell = ""
    """The cell whose run is paused, or else the cell that made the panel; "" if it is unknown."""

    _live: DisplayHandle | None = None
    _drawn = False  # whether a page may show the widget

    def __init__(self) -> None:
        self._copies: dict[str, _Copy] = {}  # by page
        super().__init__()
        open_panels.add(self)
        for callback in creation_callbacks if _in_cell.get() else ():
            callback(self)

    def subject_name(self) -> str:
        """Return a name for the object that the panel shows."""
        raise NotImplementedError

    def snapshot_html(self) -> str:
        """Return the panel as static HTML, as a saved notebook shows it without a kernel."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._drawn = True
        bundle_, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle_, **self._static()}, metadata

    def live_form(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return only the live view, as data by mime type, and its metadata."""
        self._drawn = True
        live, metadata = super()._repr_mimebundle_() or ({}, {})
        return {**live, "text/plain": f"{type(self).__name__}({self.subject_name()})"}, metadata

    def display(self, page: str = "", cell: str = "", show: Display | None = None) -> None:
        """Show the panel in the running cell's output, followed by the static copy that a saved notebook keeps.

        The static copy is in an output of its own, which the page shows only if the panel is not live.

        Args:
            page: the front-end page that the cell runs in; by default the current one.
            cell: the cell's identifier.
            show: puts data by mime type into an output; by default IPython's ``display``.
        """
        show = show or display
        if not page and self.running_cell is not None:
            page, cell = self.running_cell()
        live, metadata = self.live_form()
        self._live = show(live, metadata=metadata, raw=True, display_id=True)
        self._copies = {page: _Copy(cell, show(self._copy_forms(), raw=True, display_id=True))}
        if self.running_cell is not None:
            self.renew_at = monotonic() + _RENEW_SECONDS

    def renew(self, page: str = "", cell: str = "") -> None:
        """Renew the static copies in the saved notebook, if the panel was displayed and there is something new.

        Args:
            page: the front-end page of the cell that runs, or has just run.
            cell: the cell's identifier.
        """
        new_page = page not in self._copies
        if self._live is None or not (self.captured or (self.changed and not new_page)):
            return
        forms = self.renew_in_place()
        if new_page:
            self._copies[page] = _Copy(cell, display(forms, raw=True, display_id=True))  # type: ignore[no-untyped-call]

    def renew_in_place(self) -> dict[str, str]:
        """Renew the static copies where they are, as after a change that no cell made; return their forms."""
        self.captured = self.changed = False
        forms = self._copy_forms()
        for copy in self._copies.values():  # any page that shows a copy may be the one that is saved
            copy.output.update(forms, raw=True)  # type: ignore[no-untyped-call]  # IPython is untyped
        return forms

    def show_again(self, page: str) -> None:
        """Resend the static copy to a reconnected page, which may have missed earlier updates."""
        if self._live is not None and page in self._copies:
            self._copies[page].output.update(self._copy_forms(), raw=True)  # type: ignore[no-untyped-call]

    def lose_copies(self, cells: Collection[str]) -> None:
        """Drop copies whose cells' outputs were removed; they will be displayed again."""
        for page, copy in list(self._copies.items()):
            if copy.cell in cells:
                del self._copies[page]
                self.captured = True

    def renew_due(self) -> None:
        """Renew the static form while a cell runs, and schedule the next renewal so that it slows the cell little."""
        begin = monotonic()
        self.renew_at = math.inf  # displaying may emit events that arrive here again
        try:
            if self.running_cell is not None:
                self.renew(*self.running_cell())
        finally:
            end = monotonic()
            self.renew_at = end + max(_RENEW_SECONDS, (end - begin) / _RENEW_SHARE)

    def _copy_forms(self) -> dict[str, str]:
        return snapshot.behind_live(repr(self), self.snapshot_html())

    def _static(self) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.snapshot_html()}

    def freeze(self) -> None:
        """Replace the displayed panel by its static forms, and close it."""
        try:
            if self._live is not None:
                forms = self._static()
                self._live.update(forms, raw=True)  # type: ignore[no-untyped-call]
                for index, copy in enumerate(self._copies.values()):
                    # The first copy is behind the live view; a page that shows another copy may not have the live view.
                    replacement = {"text/plain": "", "text/html": ""} if not index else forms
                    copy.output.update(replacement, raw=True)  # type: ignore[no-untyped-call]
        finally:
            self.close()

    def close(self) -> None:
        """Remove the widget from the page."""
        open_panels.discard(self)
        super().close()
