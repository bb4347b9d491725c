"""The panel without JavaScript: static HTML for saved notebooks and for pages that run no script.

Code hosts remove <style>, classes and scripts, so the markup must read well bare: real tables with captions
and header cells, indentation by characters. The style only helps where it survives, and takes its colours
from the page so that light and dark both work. All text passes through `html.escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.widgets import conditions_view, views

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, CaptureRing, CellNode, DebugSession, Finding, ParameterRow, PausePoint

MAX_ROWS = 200
MAX_TEXT = 2000
"""Characters of one text: a name, a value, a line of source."""
STATIC_COPY = "A static copy: run the cell again for the live panel."

# Characters that reorder or hide the text around them are shown as their code instead.
_INVISIBLE = {
    code: f"\\u{code:04x}"
    for first, last in (
        (0x00, 0x1F),
        (0x7F, 0x9F),
        (0x061C, 0x061C),
        (0x200B, 0x200F),
        (0x2028, 0x202E),
        (0x2060, 0x2069),
        (0xFEFF, 0xFEFF),
    )
    for code in range(first, last + 1)
    if chr(code) not in "\t\n"
}

# The doubled class outweighs the notebook's own rules for tables in outputs.
STYLE = """<style>
.hs-static{font:13px/1.45 system-ui,sans-serif;color:inherit;overflow-x:auto}
.hs-static table{border-collapse:collapse;margin:6px 0 14px;font-size:12px}
.hs-static caption{text-align:left;font-weight:600;padding:4px 0}
.hs-static.hs-static table :is(th,td){padding:2px 10px;text-align:left;white-space:nowrap;border:0}
.hs-static tr{background:none;border-bottom:1px solid rgba(128,128,128,.3)}
.hs-static th{font-weight:600}
.hs-static.hs-static table .hs-n{text-align:right;font-variant-numeric:tabular-nums}
.hs-static .hs-n,.hs-static pre{font-family:ui-monospace,Menlo,Consolas,monospace}
.hs-static pre{font-size:12px;line-height:1.5;color:inherit;background:none;margin:4px 0}
.hs-static ul.hs-cells ul,.hs-static ul.hs-cells{list-style:none;margin:0;padding-left:18px}
.hs-static ul.hs-cells{padding-left:0}
.hs-static ul.hs-cells li{margin:1px 0;padding-left:13px}
.hs-static ul.hs-cells li:has(>details){padding-left:0}
.hs-static summary{cursor:pointer}
.hs-static code{font:12px ui-monospace,Menlo,Consolas,monospace;color:inherit;background:none}
.hs-static .hs-drawing{display:block;margin:2px 0;overflow:visible}
.hs-static .hs-heatmap{image-rendering:pixelated}
.hs-static mark{background:rgba(245,164,66,.25);color:inherit}
</style>"""


def text(value: object, limit: int = MAX_TEXT) -> str:
    """Escape any text for HTML, cut where it is long, with invisible and reordering characters made visible."""
    shown = str(value)
    if len(shown) > limit:
        shown = f"{shown[:limit]}… ({len(shown):,} characters)"
    return escape(shown.translate(_INVISIBLE), quote=True)


def number(value: float) -> str:
    """Write a statistic with five significant digits."""
    return f"{value:.5g}"


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[str] = ()) -> str:
    """Return an HTML table; `numeric` names the columns that are right-aligned."""
    align = [_align(name in set(numeric)) for name in columns]
    head = _cells('th scope="col"', columns, align)
    body = "\n".join(f"<tr>{_cells('td', row, align)}</tr>" for row in rows)
    title = f"<caption>{text(caption)}</caption>\n" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"


def _cells(tag: str, cells: Sequence[object], align: Sequence[str]) -> str:
    name = tag.split()[0]
    return "".join(f"<{tag}{how}>{text(cell)}</{name}>" for cell, how in zip(cells, align, strict=True))


def _align(right: bool) -> str:
    # The attribute survives where classes and styles are removed.
    return ' class="hs-n" align="right"' if right else ' align="left"'


def page(*parts: str) -> str:
    """Wrap parts into one self-contained block."""
    return f'{STYLE}\n<div class="hs-static">\n' + "\n".join(part for part in parts if part) + "\n</div>"


def cell_tree_html(nodes: Sequence[CellNode]) -> str:
    """Return the cell tree as a table, children indented under their parents."""
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
    caption = "Cells" if len(nodes) <= MAX_ROWS else _caption("Cells", len(nodes))
    return table(caption, columns, rows, numeric=("parameters",))


def hooks_text(node: CellNode) -> str:
    """Write a cell's hooks as `forward, 2 backward`."""
    counts = [(kind, node.hooks.get(kind, 0)) for kind in views.KINDS]
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in counts if count)


def captures_html(captures: CaptureRing) -> str:
    """Return the first captures as a table, and say how many are not shown."""
    rows = [_capture_row(capture) for capture in islice(captures, MAX_ROWS)]
    caption = _caption("Captures", len(captures))
    if captures.dropped:
        caption += f" ({captures.dropped} older ones dropped)"
    figures = ("min", "max", "mean", "std", "NaN", "inf")
    columns = ("step", "cell", "direction", "value", "shape", "dtype", *figures, "marks")
    return table(caption, columns, rows, numeric=("step", *figures))


def _caption(what: str, size: int) -> str:
    return f"{what}: {size}" if size <= MAX_ROWS else f"{what}: the first {MAX_ROWS} of {size}"


def _capture_row(capture: Capture) -> tuple[object, ...]:
    statistics = capture.statistics()
    figures = (statistics.minimum, statistics.maximum, statistics.mean, statistics.std)
    marks = [*(["hook"] if capture.origin == "hook" else []), *capture.hits]
    cell = cell_name(capture.path)
    return (
        capture.step,
        f"{cell} #{capture.call}" if capture.call else cell,
        capture.direction,
        capture.slot,
        views.shape_text(capture.shape),
        views.dtype_text(capture.dtype),
        *map(number, figures),
        statistics.nan,
        statistics.positive_inf + statistics.negative_inf,
        ", ".join(marks),
    )


def parameters_html(rows: Sequence[ParameterRow]) -> str:
    """Return the parameters as a table."""
    figures = ("mean", "std", "norm", "gradient norm", "update ratio")
    columns = ("name", "shape", "dtype", "requires_grad", *figures)
    cells = [
        (*parameter_cells(row), "" if row.update_ratio is None else number(row.update_ratio)) for row in rows[:MAX_ROWS]
    ]
    return table(_caption("Parameters", len(rows)), columns, cells, numeric=figures)


def parameter_cells(row: ParameterRow) -> tuple[str, ...]:
    """Write one parameter as the cells of a text or HTML table."""
    figures = row.statistics
    return (
        row.name,
        views.shape_text(row.shape),
        views.dtype_text(row.dtype),
        "yes" if row.requires_grad else "no",
        number(figures.mean),
        number(figures.std),
        number(figures.norm),
        "" if row.gradient_norm is None else number(row.gradient_norm),
    )


def findings_html(findings: Sequence[Finding], caption: str = "") -> str:
    """Return what the conditions found as a table."""
    rows = [conditions_view.finding_cells(finding) for finding in findings[:MAX_ROWS]]
    return table(caption, conditions_view.COLUMNS, rows, numeric=("times",))


def stop_html(point: PausePoint, skipped: bool) -> str:
    """Return one stop: where, why, the source with its line marked, the locals and the operators."""
    view = views.stop_view(point, skipped)
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


def panel_html(session: DebugSession) -> str:
    """Return everything a session knows, as one static block."""
    root = views.root_name(session)
    skipped = session.paused is None and bool(session.skipped_pauses)
    point = session.skipped_pauses[-1] if skipped else session.paused
    findings = session.findings()
    return page(
        f"<p><b>{text(root)}</b><br><small>{text(STATIC_COPY)}</small></p>",
        stop_html(point, skipped) if point is not None else "",
        findings_html(findings, _caption("Findings", len(findings))) if findings else "",
        cell_tree_html(views.cell_nodes(session)),
        captures_html(session.captures),
        parameters_html(session.parameters()),
    )


def summary(session: DebugSession) -> str:
    """Return the panel as one line of text, the same every time."""
    cells, captures = len(session.tree()), len(session.captures)
    return f"DebuggerPanel({views.root_name(session)}, {cells} cells, {captures} captures)"


# Where a widget's kernel is gone, JupyterLab shows an error in place of the widget, whatever else the output offers.
# So the copy is an output of its own behind the live panel's, and hides the error; or itself, while the panel lives.
_BEHIND_LIVE_STYLE = """<style>
.jp-OutputArea-child:has(.hs[role=group]) + .jp-OutputArea-child:has(.hs-behind-live){display:none}
.jp-OutputArea-child:has(+ .jp-OutputArea-child .hs-behind-live) .jupyter-widgets:not(:has(*)){display:none}
</style>"""


def copy_behind_live(session: DebugSession) -> dict[str, str]:
    """Return the static forms for an output right behind that of the live panel, to be seen when it is gone."""
    html = f'{_BEHIND_LIVE_STYLE}\n<div class="hs-behind-live">{panel_html(session)}</div>'
    return {"text/plain": summary(session), "text/html": html}


def static_forms(session: DebugSession) -> dict[str, str]:
    """Return what a saved notebook keeps of a panel, by mime type."""
    return {"text/plain": summary(session), "text/html": panel_html(session)}
