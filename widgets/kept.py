"""What a notebook keeps of a panel: the live view, and beside it static forms for when no kernel is there any more.

The static form is renewed where there is something new: whoever runs the cells calls `renew` when one ends. A page that
was loaded anew knows nothing of what was displayed before; it gets a copy of its own under the cell that ran last.
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

from hookscope.widgets import snapshot

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

    from hookscope.engine.debug import DebugSession

# While a cell runs, so often at most, and no more of its time than this share.
_RENEW_SECONDS = 10.0
_RENEW_SHARE = 0.01

Display = Callable[..., "DisplayHandle"]

open_panels: WeakSet[Kept] = WeakSet()
"""Every panel that is not closed."""

when_made: list[Callable[[Kept], None]] = []
"""Told of each panel that is made, but for those `of_no_cell`."""

_of_a_cell = ContextVar("of a cell", default=True)


@contextmanager
def of_no_cell() -> Iterator[None]:
    """Make panels of no cell: another process asks for them, and closes them without ending the session."""
    token = _of_a_cell.set(False)
    try:
        yield
    finally:
        _of_a_cell.reset(token)


class _Copy(NamedTuple):
    """A static form that is displayed: in the output of which cell, and by what it is changed."""

    cell: str
    shown: DisplayHandle


class Kept(anywidget.AnyWidget):
    """A widget that leaves what it shows as text, its ``repr``, and as HTML.

    Attributes:
        session: the session that it is of, if it is of one.
        captured: whether something was captured since its static form was last made,
        changed: and whether anything else of it is another.
    """

    session: DebugSession | None = None
    captured = False
    changed = False
    renew_at = math.inf
    """When the static form is to be renewed also while a cell runs, by `time.monotonic`."""
    place_now: Callable[[], tuple[str, str]] | None = None
    """Tells which page and which cell run now; without it nothing is renewed while a cell runs."""

    _live: DisplayHandle | None = None
    _shown = False  # whether there can be a page that shows it

    def __init__(self) -> None:
        self._copies: dict[str, _Copy] = {}  # by the page that they were displayed in
        super().__init__()
        open_panels.add(self)
        for made in when_made if _of_a_cell.get() else ():
            made(self)

    def of_what(self) -> str:
        """Name what the panel looks at."""
        raise NotImplementedError

    def snapshot_html(self) -> str:
        """Return the panel as static HTML: what a saved notebook shows without a kernel."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._shown = True
        bundle_, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle_, **self._static()}, metadata

    def live_form(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the live view alone, as data by mime type, and its metadata."""
        self._shown = True
        live, metadata = super()._repr_mimebundle_() or ({}, {})
        return {**live, "text/plain": f"{type(self).__name__}({self.of_what()})"}, metadata

    def display(self, page: str = "", cell: str = "", show: Display | None = None) -> None:
        """Show the panel in the running cell's output, and behind it what a saved notebook keeps of it.

        That is a static copy in an output of its own, which the page shows only where the panel is not live.

        Args:
            page: which page of the front end the cell runs in; the one that runs now by default.
            cell: which cell it is.
            show: puts data by mime type into an output, as IPython's ``display`` does, which is the default.
        """
        show = show or display
        if not page and self.place_now is not None:
            page, cell = self.place_now()
        live, metadata = self.live_form()
        self._live = show(live, metadata=metadata, raw=True, display_id=True)
        self._copies = {page: _Copy(cell, show(self._copy_forms(), raw=True, display_id=True))}
        if self.place_now is not None:
            self.renew_at = monotonic() + _RENEW_SECONDS

    def renew(self, page: str = "", cell: str = "") -> None:
        """Renew what a saved notebook keeps of the panel, if it was displayed and there is something new.

        Args:
            page: which page of the front end the cell that runs, or has just run, belongs to.
            cell: which cell it is.
        """
        new_page = page not in self._copies
        if self._live is None or not (self.captured or (self.changed and not new_page)):
            return
        self.captured = self.changed = False
        forms = self._copy_forms()
        for copy in self._copies.values():  # each page that shows one may be the one that is saved
            copy.shown.update(forms, raw=True)  # type: ignore[no-untyped-call]  # IPython is untyped
        if new_page:
            self._copies[page] = _Copy(cell, display(forms, raw=True, display_id=True))  # type: ignore[no-untyped-call]

    def show_again(self, page: str) -> None:
        """A page is connected again: what was sent to it meanwhile may have come to nobody."""
        if self._live is not None and page in self._copies:
            self._copies[page].shown.update(self._copy_forms(), raw=True)  # type: ignore[no-untyped-call]

    def lose_copies(self, cells: Collection[str]) -> None:
        """The outputs of these cells are gone, and what was displayed in them: it is to be displayed anew."""
        for page, copy in list(self._copies.items()):
            if copy.cell in cells:
                del self._copies[page]
                self.captured = True

    def renew_due(self) -> None:
        """Renew it while a cell runs, and see to it that the next time is late enough to hold up nobody."""
        begin = monotonic()
        self.renew_at = math.inf  # what is displayed may be heard of here again
        try:
            if self.place_now is not None:
                self.renew(*self.place_now())
        finally:
            end = monotonic()
            self.renew_at = end + max(_RENEW_SECONDS, (end - begin) / _RENEW_SHARE)

    def _copy_forms(self) -> dict[str, str]:
        return snapshot.behind_live(repr(self), self.snapshot_html())

    def _static(self) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.snapshot_html()}

    def freeze(self) -> None:
        """Put the static forms where `display` showed the panel, and close it."""
        try:
            if self._live is not None:
                forms = self._static()
                self._live.update(forms, raw=True)  # type: ignore[no-untyped-call]
                for place, copy in enumerate(self._copies.values()):
                    # The first stands behind the live view; the page of another may know of no other any more.
                    behind = {"text/plain": "", "text/html": ""} if not place else forms
                    copy.shown.update(behind, raw=True)  # type: ignore[no-untyped-call]
        finally:
            self.close()

    def close(self) -> None:
        """Remove the widget from the page."""
        open_panels.discard(self)
        super().close()
