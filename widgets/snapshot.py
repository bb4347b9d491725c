"""The panel without JavaScript: static HTML for saved notebooks and for pages that run no script.

It stays in the notebook and in its history, so it is small and the same every time: where the run stands and what is
wrong come first, of many captures those are shown that conditions marked and the newest, long tables behind the first
are closed, and a drawing is a few kilobytes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.engine.debug.rows import HOOK_KINDS
from hookscope.widgets import cells_view, conditions_view, drawings, stepper_view, texts
from hookscope.widgets.markup import details, number, page, table, text

if TYPE_CHECKING:
    from hookscope.engine.debug import (
        Capture,
        CaptureRing,
        CellNode,
        DebugSession,
        Finding,
        GivenUp,
        GradientCheck,
        ParameterRow,
        PausePoint,
    )

    Row = Capture | GivenUp

MAX_ROWS = 200
MAX_CAPTURES = 80
MAX_HEATMAPS = 4
STATIC_COPY = "A static copy: run the cell again for the live panel."

_LONG = 12  # a table with more rows opens and closes
_HEATMAP_CELLS = 32


class _Part(NamedTuple):
    """A table before it is decided whether it is open."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    numeric: Sequence[str] = ()

    def html(self, caption: str) -> str:
        return table(caption, self.columns, self.rows, self.numeric)


def panel_html(session: DebugSession, views: Collection[str] | None = None) -> str:
    """Return what these views of a session show, or with None all of them, as one static block."""
    root = texts.root_name(session)
    parts: list[str | _Part] = [f"<p><b>{text(root)}</b><br><small>{text(STATIC_COPY)}</small></p>"]
    for names, make in _VIEWS:
        if views is None or not names.isdisjoint(views):
            parts += make(session)
    opened = False
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


def _caption(what: str, size: int) -> str:
    return f"{what}: {size}" if size <= MAX_ROWS else f"{what}: the first {MAX_ROWS} of {size}"


# The stepper


def _stepper(session: DebugSession) -> list[str | _Part]:
    point, skipped = shown_stop(session)
    stop = [] if point is None else [stop_html(point, skipped)]
    return [*stop, *map(gradient_html, session.gradient_checks.values())]


def shown_stop(session: DebugSession) -> tuple[PausePoint | None, bool]:
    """Return where a session is paused, or the last pause at which nobody could answer, and whether it is that."""
    skipped = session.paused is None and bool(session.skipped_pauses)
    return (session.skipped_pauses[-1] if skipped else session.paused), skipped


def stop_html(point: PausePoint, skipped: bool) -> str:
    """Return one stop: where, why, the source with its line marked, the locals and the operators."""
    view = stepper_view.stop_view(point, skipped)
    lines = [_source_line(view["first_line"] + k, line, view["line"]) for k, line in enumerate(view["lines"])]
    values = [(item["name"], item["value"], "changed" if item["changed"] else "") for item in view["locals"]]
    operators = [(item["name"], item["inputs"], item["outputs"]) for item in view["operators"]]
    title = ("Skipped pause: " if skipped else "Paused: ") + view["title"]
    return "\n".join(
        [
            f"<p><b>{text(title)}</b><br>{text(view['reason'])}</p>",
            f"<p>{text(view['exception'])}</p>" if view["exception"] else "",
            f"<pre>{''.join(lines)}</pre>" if lines else "",
            table("Locals", ("name", "value", ""), values) if values else "",
            table("Operators run", ("operator", "inputs", "outputs"), operators) if operators else "",
        ]
    )


def _source_line(line: int, source: str, current: int) -> str:
    body = f"{'→' if line == current else ' '} {line:>4}  {text(source)}"
    return (f"<mark>{body}</mark>" if line == current else body) + "\n"


def gradient_html(check: GradientCheck) -> str:
    """Return what a gradient check found."""
    view = stepper_view.gradient_view(check)
    names = ("name", "shape", "verdict", "checked", "automatic", "numeric", "reason")
    columns = ("of", "shape", "verdict", "checked", "to automatic", "to differences", "reason")
    return table(view["summary"], columns, [[row[name] for name in names] for row in view["rows"]])


# The conditions


def _conditions(session: DebugSession) -> list[str | _Part]:
    findings = session.findings()
    found: list[str | _Part] = []
    if findings:
        title = _caption("Findings", len(findings))
        found.append(_Part(title, conditions_view.COLUMNS, _finding_rows(findings), numeric=("times",)))
    return [*found, looked_for_html(session)]


def findings_html(findings: Sequence[Finding]) -> str:
    """Return what the conditions found as a table."""
    return table("", conditions_view.COLUMNS, _finding_rows(findings), numeric=("times",))


def _finding_rows(findings: Sequence[Finding]) -> list[tuple[object, ...]]:
    return [conditions_view.finding_cells(finding) for finding in findings[:MAX_ROWS]]


def looked_for_html(session: DebugSession) -> str:
    """Return the conditions that were looked for, with their thresholds, as one sentence; "" for none."""
    rows = [row for row in conditions_view.condition_rows(session) if row["on"]]
    names = [f"{row['name']}={row['threshold']}" if row["threshold"] else row["name"] for row in rows]
    if not rows:
        return ""
    nothing = "" if session.findings() else f"{conditions_view.verdict(session)} "
    muted = [f"{condition} in {cell_name(path)}" for condition, path in session.muted]
    told = [f"{nothing}Looked for: {', '.join(names)}.", f"Muted: {', '.join(muted)}." if muted else ""]
    return f"<p><small>{text(' '.join(part for part in told if part))}</small></p>"


# The captures


def _timeline(session: DebugSession) -> list[str | _Part]:
    pictures = [training_figure(session), *_marked_heatmaps(session)]
    drawn = "".join(picture for picture in pictures if picture)
    notes = f"<p><small>{text(' '.join(session.captures.notes()))}</small></p>" if session.captures.notes() else ""
    return [f'<div class="hs-figures">{drawn}</div>' if drawn else "", notes, _captures(session.captures)]


def training_figure(session: DebugSession) -> str:
    """Return the losses of the steps as a curve; "" for fewer than two."""
    losses = list(session.history.losses)
    picture = drawings.curve("loss by step", losses)
    if not picture:
        return ""
    (first, before), (last, after) = losses[0], losses[-1]
    return drawings.figure(picture, f"loss {number(before)} in step {first}, {number(after)} in step {last}")


def _marked_heatmaps(session: DebugSession) -> list[str]:
    """The first captures that conditions marked, of those in which there is something to see."""
    marked = {row["capture"] for row in conditions_view.finding_rows(session, session.findings())}
    pictures: list[str] = []
    for capture in session.captures:
        if capture.index not in marked or len(pictures) == MAX_HEATMAPS:
            continue
        figures = capture.statistics()
        faults = figures.nan + figures.positive_inf + figures.negative_inf
        if faults or figures.minimum < figures.maximum:
            told = f"{capture.key}, step {capture.step}: {', '.join(capture.hits)}. "
            pictures.append(drawings.matrix_figure(capture.value._array, told, _HEATMAP_CELLS))
    return pictures


def _captures(captures: CaptureRing) -> _Part:
    kept = captures.rows()
    rows = [_capture_row(capture) for capture in chosen(kept, MAX_CAPTURES)]
    title = f"Captures: {len(kept)}"
    if len(rows) < len(kept):
        title = f"Captures: {len(rows)} of {len(kept)}, those that conditions marked and the newest"
    figures = ("min", "max", "mean", "std", "NaN", "inf")
    columns = ("step", "cell", "direction", "value", "shape", "dtype", *figures, "marks")
    return _Part(title, columns, rows, numeric=("step", *figures))


def chosen(captures: Sequence[Row], most: int) -> list[Row]:
    """Choose the captures that conditions marked, then the newest; in the order of the run."""
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


# The cells, the parameters, the hooks


def _cells(session: DebugSession) -> list[str | _Part]:
    return [_cell_part(cells_view.cell_nodes(session))]


def cell_tree_html(nodes: Sequence[CellNode]) -> str:
    """Return the cell tree as a table, children indented under their parents."""
    part = _cell_part(nodes)
    return part.html(part.title)


def _cell_part(nodes: Sequence[CellNode]) -> _Part:
    columns = ("cell", "type", "parameters", "output", "mode", "hooks")
    rows = [
        (
            "\u2003" * node.depth + ("└ " if node.depth else "") + node.name,
            node.type + (" (own bprop)" if node.has_bprop else ""),
            f"{node.parameters:,}" if node.parameters else "",
            node.shape,
            "train" if node.training else "eval",
            hooks_text(node),
        )
        for node in nodes[:MAX_ROWS]
    ]
    return _Part(_caption("Cells", len(nodes)), columns, rows, numeric=("parameters",))


def hooks_text(node: CellNode) -> str:
    """Write a cell's hooks as `forward, 2 backward`."""
    counts = [(kind, node.hooks.get(kind, 0)) for kind in HOOK_KINDS]
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in counts if count)


def _parameters(session: DebugSession) -> list[str | _Part]:
    rows = session.parameters()
    figures = ("mean", "std", "norm", "gradient norm", "update ratio")
    columns = ("name", "shape", "dtype", "requires_grad", *figures)
    cells = [
        (*parameter_cells(row), "" if row.update_ratio is None else number(row.update_ratio)) for row in rows[:MAX_ROWS]
    ]
    return [_Part(_caption("Parameters", len(rows)), columns, cells, numeric=figures)]


def parameter_cells(row: ParameterRow) -> tuple[str, ...]:
    """Write one parameter as the cells of a text or HTML table."""
    figures = row.statistics
    return (
        row.name,
        texts.shape_text(row.shape),
        texts.dtype_text(row.dtype),
        "yes" if row.requires_grad else "no",
        number(figures.mean),
        number(figures.std),
        number(figures.norm),
        "" if row.gradient_norm is None else number(row.gradient_norm),
    )


HOOK_COLUMNS = ("cell", "kind", "function", "from")


def _hooks(session: DebugSession) -> list[str | _Part]:
    rows = hook_rows(session)
    return [_Part(_caption("Hooks", len(rows)), HOOK_COLUMNS, rows[:MAX_ROWS])] if rows else []


def hook_rows(session: DebugSession) -> list[tuple[str, ...]]:
    """Write every hook as the cells of a table with HOOK_COLUMNS."""
    return [
        (cell_name(row.path), row.kind, row.function, "panel" if row.by_session else "you") for row in session.hooks()
    ]


_CAPTURES = frozenset({"captures", "timeline", "tensor"})
# Which views a part belongs to, and the part, in the order of the page.
_VIEWS = (
    (frozenset({"stepper"}), _stepper),
    (frozenset({"conditions"}), _conditions),
    (_CAPTURES, _timeline),
    (frozenset({"cells"}), _cells),
    (frozenset({"parameters"}), _parameters),
    (frozenset({"hooks"}), _hooks),
)


# What a notebook keeps


def summary(session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel") -> str:
    """Return a panel of this name with these views as one line of text, the same every time."""
    parts = [texts.root_name(session)]
    if views is None or "cells" in views:
        parts.append(f"{sum(1 for _ in session.paths)} cells")
    if views is None or not _CAPTURES.isdisjoint(views):
        parts.append(f"{len(session.captures.rows())} captures")
    return f"{name}({', '.join(parts)})"


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
    html = f'{_BEHIND_LIVE_STYLE}\n<div class="hs-behind-live">{panel_html(session, views)}</div>'
    return {"text/plain": summary(session, views, name), "text/html": html}


def static_forms(
    session: DebugSession, views: Collection[str] | None = None, name: str = "DebuggerPanel"
) -> dict[str, str]:
    """Return what a saved notebook keeps of a panel, by mime type."""
    return {"text/plain": summary(session, views, name), "text/html": panel_html(session, views)}
