"""What a notebook keeps of a panel: the live view, and beside it static forms for when no kernel is there any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anywidget
from IPython.display import display

from hookscope.widgets import snapshot, texts

if TYPE_CHECKING:
    from IPython.display import DisplayHandle

    from hookscope.engine.debug import DebugSession


class Kept(anywidget.AnyWidget):
    """A widget of some views of a session that leaves these as text and as HTML.

    Attributes:
        session: the session.
        views: the names of the views.
    """

    session: DebugSession
    views: list[Any]

    _displays: tuple[DisplayHandle, DisplayHandle] | None = None
    _shown = False  # whether there can be a page that shows it

    def __repr__(self) -> str:
        return snapshot.summary(self.session, self.views, type(self).__name__)

    def snapshot_html(self) -> str:
        """Return the panel as static HTML: what a saved notebook shows without a kernel."""
        return snapshot.panel_html(self.session, self.views)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        self._shown = True
        bundle_, metadata = super()._repr_mimebundle_(**kwargs) or ({}, {})
        return {**bundle_, **self._static()}, metadata

    def display(self) -> None:
        """Show the panel in the running cell's output; once more, renew what a saved notebook keeps of it there.

        That is a static copy in an output of its own, which the page shows only where the panel is not live.
        """
        self._shown = True
        if self._displays is None:
            live, metadata = super()._repr_mimebundle_() or ({}, {})  # the static forms are the copy's
            live = {**live, "text/plain": f"{type(self).__name__}({texts.root_name(self.session)})"}
            shown = display(live, metadata=metadata, raw=True, display_id=True)  # type: ignore[no-untyped-call]
            copy = display(self._copy(), raw=True, display_id=True)  # type: ignore[no-untyped-call]
            self._displays = shown, copy
        else:
            self._displays[1].update(self._copy(), raw=True)  # type: ignore[no-untyped-call]  # IPython is untyped

    def _copy(self) -> dict[str, str]:
        return snapshot.copy_behind_live(self.session, self.views, type(self).__name__)

    def _static(self) -> dict[str, str]:
        return snapshot.static_forms(self.session, self.views, type(self).__name__)

    def freeze(self) -> None:
        """Put the static forms where `display` showed the panel, and close it."""
        try:
            if self._displays is not None:
                live, copy = self._displays
                live.update(self._static(), raw=True)  # type: ignore[no-untyped-call]
                copy.update({"text/plain": "", "text/html": ""}, raw=True)  # type: ignore[no-untyped-call]
        finally:
            self.close()
