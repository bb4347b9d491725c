"""The panel without JavaScript: static HTML for saved notebooks and for pages that run no script.

It stays in the notebook and in its history, so it is small and the same every time: where the run stands and what is
wrong come first, of many captures those are shown that conditions marked and the newest, long tables are closed but for
the first where nothing is wrong, and a drawing is a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hookscope.widgets import texts
from hookscope.widgets.markup import Table, details, page, text
from hookscope.widgets.view import Static, View
from hookscope.widgets.views import VIEWS, WHOLE

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

STATIC_COPY = "A static copy: run the cell again for the live panel."

_LONG = 12  # a table with more rows opens and closes


def _chosen(views: Collection[str] | None) -> list[View]:
    return [VIEWS[name] for name in (WHOLE if views is None else views)]


def panel_html(session: DebugSession, views: Collection[str] | None = None) -> str:
    """Return what these views of a session show, or with None all of them, as one static block."""
    root = texts.root_name(session)
    parts: list[str | Table] = [f"<p><b>{text(root)}</b><br><small>{text(STATIC_COPY)}</small></p>"]
    forms = dict.fromkeys(view.static for view in _chosen(views) if view.static)
    for form in sorted(forms, key=lambda form: form.place):
        parts += made(session, f"the static form of {_name_of(form)}", partial(form.make, session), _told)
    opened = made(session, "the findings", lambda: bool(session.findings()), lambda error: False)  # to be read first
    shown = []
    for part in parts:
        if isinstance(part, str):
            shown.append(part)
        elif len(part.rows) <= _LONG:
            shown.append(part.html(part.title))
        else:
            shown.append(details(part.title, part.html(""), opened=not opened))
            opened = True
    return page(*shown)


def summary(session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel") -> str:
    """Return a panel of this name with these views as one line of text, the same every time."""
    told = dict.fromkeys(view.summary for view in VIEWS.values() if view in _chosen(views) and view.summary)
    parts = [made(session, "the line of a panel", partial(tell, session), texts.error_line) for tell in told]
    return f"{name}({', '.join([texts.root_name(session), *parts])})"


Made = TypeVar("Made")


def made(session: DebugSession, what: str, make: Callable[[], Made], instead: Callable[[Exception], Made]) -> Made:
    """Return what `make` makes; where it raises, report a fault of the debugger, and return something instead."""
    try:
        return make()
    except Exception as error:
        if not session.forgives(what, error):
            raise
        return instead(error)


def not_made(error: Exception) -> str:
    """Say, as markup, that a part is missing and why."""
    return f"<p>{text(f'This part could not be made: {texts.error_line(error)}')}</p>"


def _told(error: Exception) -> list[str | Table]:
    return [not_made(error)]


def _name_of(form: Static) -> str:
    return next((repr(view.name) for view in VIEWS.values() if view.static is form), "a view")


# Where a widget's kernel is gone, JupyterLab shows an error in place of the widget, whatever else the output offers.
# So the copy is an output of its own behind the live panel's, and hides the error; or itself, while the panel lives.
_BEHIND_LIVE_STYLE = """<style>
.jp-OutputArea-child:has(.hs[role=group]) + .jp-OutputArea-child:has(.hs-behind-live){display:none}
.jp-OutputArea-child:has(+ .jp-OutputArea-child .hs-behind-live) .jupyter-widgets:not(:has(*)){display:none}
</style>"""


def copy_behind_live(
    session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel"
) -> dict[str, str]:
    """Return the static forms for an output right behind that of the live panel, to be seen when it is gone."""
    return behind_live(summary(session, views, name), panel_html(session, views))


def behind_live(summary: str, html: str) -> dict[str, str]:
    """Return a line of text and markup as such static forms."""
    return {"text/plain": summary, "text/html": f'{_BEHIND_LIVE_STYLE}\n<div class="hs-behind-live">{html}</div>'}


def static_forms(
    session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel"
) -> dict[str, str]:
    """Return what a saved notebook keeps of a panel, by mime type."""
    return {"text/plain": summary(session, views, name), "text/html": panel_html(session, views)}
