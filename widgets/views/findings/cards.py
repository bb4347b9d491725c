"""Static HTML of causes as cards: in a saved notebook and on the exported page.

They stay readable where code hosts remove styles and classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.widgets.static_html.markup import details, left_out, text
from hookscope.widgets.views.findings.evidence import evidence_html
from hookscope.widgets.views.findings.rows import CauseRow, cause_rows

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession

_MOST = 20


def cards_html(session: DebugSession) -> str:
    """Return a card for each cause, the worst and earliest first; "" for none."""
    causes = cause_rows(session, session.findings())
    if not causes:
        return ""
    cards = "\n".join(_card(cause) for cause in causes[:_MOST])
    rest = left_out("causes", min(len(causes), _MOST), len(causes))
    return f'<ul class="hs-cards" aria-label="Findings">\n{cards}\n</ul>{rest}'


def _card(cause: CauseRow) -> str:
    parts = [
        f"<p><b>{text(cause['meaning'])}</b><br>\n<small><code>{text(cause['condition'])}</code> in "
        f"<b>{text(cause['label'])}</b>: {text(cause['certainty'])}, {text(cause['evidence_text'])}</small></p>",
        f"<p>{text(cause['message'])}</p>",
        f"<pre>{text(cause['source'])}</pre>" if cause["source"] and cause["source"] not in cause["message"] else "",
        f"<p>{text(cause['advice'])}</p>" if cause["advice"] else "",
        evidence_html(cause["evidence"]),
        _consequences(cause),
    ]
    return f'<li class="hs-card">\n{"".join(parts)}\n</li>'


def _consequences(cause: CauseRow) -> str:
    if not cause["consequences"]:
        return ""
    items = "".join(
        f"<li><code>{text(row['condition'])}</code> in {text(row['label'])}: {text(row['message'])}</li>"
        for row in cause["consequences"]
    )
    return details(f"so also: {cause['folded']}", f"<ul>{items}</ul>")
