"""Static HTML of captures: a few in a saved notebook, many more in the export."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from hookscope.engine.debug import EvictedCapture
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.tape.progress import progress
from hookscope.widgets import texts
from hookscope.widgets.static_html import drawings
from hookscope.widgets.static_html.markup import Table, left_out, number, opened_by, scrolling, text
from hookscope.widgets.views.findings.rows import captures_of

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, CaptureRing, DebugSession

    Row = Capture | EvictedCapture

MAX_CAPTURES = 80
MAX_HEATMAPS = 4
"""Limits of a saved notebook; those of the export follow."""

MAX_EXPORTED = 500
MAX_EXPORTED_HEATMAPS = 60

_HEATMAP_CELLS = 32


def static_parts(session: DebugSession) -> list[str | Table]:
    """Return plots of marked captures, and a table of captures."""
    figures = "".join(_marked_heatmaps(session))
    notes = f"<p><small>{text(' '.join(session.captures.notes()))}</small></p>" if session.captures.notes() else ""
    return [f'<div class="hs-figures">{figures}</div>' if figures else "", notes, _captures(session.captures)]


def _marked_heatmaps(session: DebugSession) -> list[str]:
    """Return heatmaps of the first captures that conditions marked, skipping constant ones."""
    indices = captures_of(session)
    marked = {indices.get((finding.condition, finding.subject), -1) for finding in session.findings()}
    pictures: list[str] = []
    for capture in session.captures:
        if capture.index not in marked or len(pictures) == MAX_HEATMAPS:
            continue
        figures = capture.statistics()
        faults = figures.nan + figures.positive_inf + figures.negative_inf
        if faults or figures.minimum < figures.maximum:
            caption = f"{capture.key}, step {capture.step}: {', '.join(capture.hits)}. "
            pictures.append(drawings.matrix_figure(capture.value._array, caption, _HEATMAP_CELLS))
    return pictures


def _captures(captures: CaptureRing) -> Table:
    retained = captures.rows()
    rows = [_capture_row(capture) for capture in selected_captures(retained, MAX_CAPTURES)]
    title = f"Captures: {len(retained)}"
    if len(rows) < len(retained):
        title = f"Captures: {len(rows)} of {len(retained)}, those that conditions marked and the newest"
    figures = ("min", "max", "mean", "std", "NaN", "inf")
    columns = ("step", "cell", "direction", "value", "shape", "dtype", *figures, "marks")
    # The columns for NaN and infinities are omitted if they are empty.
    selection = [k for k, name in enumerate(columns) if name not in ("NaN", "inf") or any(row[k] for row in rows)]
    table_rows = [tuple(row[k] for k in selection) for row in rows]
    return Table(title, tuple(columns[k] for k in selection), table_rows, numeric=("step", *figures))


def selected_captures(captures: Sequence[Row], most: int) -> list[Row]:
    """Return at most `most` captures, preferring those that conditions marked, then the newest, in run order."""
    ordered = sorted(captures, key=lambda capture: (bool(capture.hits), capture.index), reverse=True)
    return sorted(ordered[:most], key=lambda capture: capture.index)


def _capture_row(capture: Row) -> tuple[object, ...]:
    statistics = capture.statistics()
    figures: tuple[object, ...] = ("given up", "", "", "", "", "")
    if statistics is not None:
        spread = (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
        infinite = statistics.positive_inf + statistics.negative_inf
        figures = (*map(number, spread), statistics.nan, infinite)
    marks = [*({"hook": ["hook"], "edit": ["edited"]}.get(capture.origin, [])), *capture.hits]
    cell = cell_name(capture.path)
    return (
        capture.step,
        f"{cell} #{capture.call}" if capture.call else cell,
        capture.direction,
        capture.slot,
        texts.shape_text(capture.shape),
        texts.dtype_text(capture.dtype),
        *figures,
        ", ".join(marks),
    )


def timeline_html(session: DebugSession) -> str:
    """Return captures by step; if there are too many, those that conditions marked are preferred, then the newest."""
    captures = session.captures.rows()
    if not captures:
        return "<p>No captures.</p>"
    notes = " ".join(session.captures.notes())
    selection = selected_captures(captures, MAX_EXPORTED)
    with_values = [capture for capture in selection if not isinstance(capture, EvictedCapture)]
    with_picture = {capture.index for capture in selected_captures(with_values, MAX_EXPORTED_HEATMAPS)}
    parts = [f'<p class="soft">{text(notes)}</p>' if notes else "", left_out("captures", len(selection), len(captures))]
    last = selection[-1].step
    with progress("captures", len(selection), "captures") as work:
        for step, group in groupby(selection, key=lambda capture: capture.step):
            rows = list(group)
            marked = sum(bool(capture.hits) for capture in rows)
            title = f"Step {step}: {len(rows):,} capture{'' if len(rows) == 1 else 's'}"
            badge = f' <span class="warn">{marked:,} marked by conditions</span>' if marked else ""
            opened = " open" if step == last else ""
            parts.append(f"<details{opened}><summary>{title}{badge}</summary>\n<ul>")
            for capture in rows:
                parts.append(_capture(capture, capture.index in with_picture))
                work.advance()
            parts.append("</ul></details>")
    if len(with_picture) < len(selection):
        selection_text = f"{len(with_picture):,} of these captures: those that conditions marked, then the newest"
        parts.append(f'<p class="soft">Heatmaps are drawn for {selection_text}.</p>')
    return "\n".join(part for part in parts if part)


def _capture(capture: Capture | EvictedCapture, with_picture: bool) -> str:
    hits = f' <span class="warn">{text(", ".join(capture.hits))}</span>' if capture.hits else ""
    origin = "" if capture.origin == "tap" else f" · {capture.origin}"
    facts = f"{texts.shape_text(capture.shape)} {texts.dtype_text(capture.dtype)}{origin}"
    title = f"<b>{text(capture.key)}</b> <small>{text(facts)}</small>{hits}"
    figures = capture.statistics()
    body = "<p>The value was given up before its figures were computed.</p>"
    if figures is not None:
        body = scrolling(drawings.figures_html(figures))
    if with_picture and not isinstance(capture, EvictedCapture):
        body += drawings.matrix_figure(capture.value._array)
    return opened_by(title, body)
