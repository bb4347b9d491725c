"""The panel without JavaScript: static HTML for saved notebooks and for pages that run no script.

It is stored in the notebook and its version history, so it is small and reproducible. The run's status and the findings
come first. Of many captures, those marked by conditions and the newest are shown. Long tables are collapsed, except the
first if there are no findings. A drawing takes a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from hookscope.widgets import texts
from hookscope.widgets.static_html.markup import Table, details, page, text
from hookscope.widgets.view import Static, View
from hookscope.widgets.views import TABS, VIEWS

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

STATIC_COPY = "A static copy: run the cell again for the live panel."

_MAX_OPEN_ROWS = 12  # a table with more rows is collapsible


def _views_of(views: Collection[str] | None) -> list[View]:
    return [VIEWS[name] for name in (TABS if views is None else views)]


def panel_html(session: DebugSession, views: Collection[str] | None = None) -> str:
    """Return these views of a session, or all of them for None, as one static block."""
    root = texts.root_name(session)
    parts: list[str | Table] = [f"<p><b>{text(root)}</b><br><small>{text(STATIC_COPY)}</small></p>"]
    parts.append(failed_line(session))
    forms = dict.fromkeys(view.static for view in _views_of(views) if view.static)
    for form in sorted(forms, key=lambda form: form.position):
        parts += attempt(session, f"the static form of {_name_of(form)}", partial(form.make, session), _failure_parts)
    is_first_open = attempt(
        session, "the findings", lambda: bool(session.findings()), lambda error: False
    )  # read first
    blocks = []
    for part in parts:
        if isinstance(part, str):
            blocks.append(part)
        elif len(part.rows) <= _MAX_OPEN_ROWS:
            blocks.append(part.html(part.title))
        else:
            blocks.append(details(part.title, part.html(""), opened=not is_first_open))
            is_first_open = True
    return page(*blocks)


def failed_line(session: DebugSession) -> str:
    """Return a line about the error that ended the newest run; "" if it ended well."""
    return "" if session.failure is None else f"<p><b>F{text(session.failure.summary.removeprefix('f'))}</b></p>"


def summary(session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel") -> str:
    """Return a one-line, reproducible summary of a panel with this name and these views."""
    summaries = dict.fromkeys(view.summary for view in VIEWS.values() if view in _views_of(views) and view.summary)
    parts = [
        attempt(session, "the line of a panel", partial(summary_of, session), texts.error_line)
        for summary_of in summaries
    ]
    return f"{name}({', '.join([texts.root_name(session), *parts])})"


Result = TypeVar("Result")


def attempt(
    session: DebugSession, what: str, make: Callable[[], Result], fallback: Callable[[Exception], Result]
) -> Result:
    """Return the result of `make`; if it raises, report a fault of the debugger and return `fallback(error)`."""
    try:
        return make()
    except Exception as error:
        if not session.report_fault(what, error):
            raise
        return fallback(error)


def failure_html(error: Exception) -> str:
    """Return markup that states that a part is missing, and why."""
    return f"<p>{text(f'This part could not be made: {texts.error_line(error)}')}</p>"


def _failure_parts(error: Exception) -> list[str | Table]:
    return [failure_html(error)]


def _name_of(form: Static) -> str:
    return next((repr(view.name) for view in VIEWS.values() if view.static is form), "a view")


# If a widget's kernel is gone, JupyterLab shows an error instead of the widget, regardless of the output's other forms.
# So the copy is a separate output after the live panel's. It hides that error, or itself while the panel is live.
_BEHIND_LIVE_STYLE = """<style>
.jp-OutputArea-child:has(.hs[role=group]) + .jp-OutputArea-child:has(.hs-behind-live){display:none}
.jp-OutputArea-child:has(+ .jp-OutputArea-child .hs-behind-live) .jp-OutputArea-output:not(:has(*)){display:none}
</style>"""


def copy_behind_live(
    session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel"
) -> dict[str, str]:
    """Return the static forms for an output directly after the live panel's, visible when that panel is gone."""
    return behind_live(summary(session, views, name), panel_html(session, views))


def behind_live(summary: str, html: str) -> dict[str, str]:
    """Return a line of text and markup as static forms after a live panel."""
    return {"text/plain": summary, "text/html": f'{_BEHIND_LIVE_STYLE}\n<div class="hs-behind-live">{html}</div>'}


def static_forms(
    session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel"
) -> dict[str, str]:
    """Return the forms of a panel in a saved notebook, by mime type."""
    return {"text/plain": summary(session, views, name), "text/html": panel_html(session, views)}
