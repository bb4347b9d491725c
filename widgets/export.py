"""A session as one page of HTML that needs nothing else: no kernel, no script, no file beside it, no network.

The page says so itself in its policy (Content-Security-Policy), so that a browser would run no script even if some
text came to be taken for markup. What opens and closes is <details>; drawings are SVG, heatmaps inline PNG. It is
bounded, and says what was left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.widgets import conditions_view, displays, drawings, snapshot, views
from hookscope.widgets.snapshot import text

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession
    from hookscope.widgets.panel import DebuggerPanel

MAX_CELLS = 2_000
MAX_CAPTURES = 500
MAX_HEATMAPS = 60
MAX_PARAMETERS = 500
MAX_HOOKS = 500

_STYLE = """<style>
:root{color-scheme:light dark;--ink:light-dark(#1f2328,#e3e5e8);--paper:light-dark(#fff,#1b1c1f);
--soft:light-dark(#5a6169,#a3a8ae);--line:light-dark(#dfe2e6,#3a3d42);--warn:light-dark(#8a4500,#f5b566);
--warn-paper:light-dark(#fff4e5,#3a2c19)}
body{margin:0 auto;max-width:1200px;padding:16px 24px 48px;color:var(--ink);background:var(--paper);
font:14px/1.5 system-ui,sans-serif}
h1{font-size:22px;margin:8px 0 2px}h2{font-size:16px;margin:28px 0 8px;border-bottom:1px solid var(--line)}
h1,h2,p,td,th,code,summary{overflow-wrap:anywhere}
.soft,caption{color:var(--soft)}
nav a{color:inherit;margin-right:14px}
:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.scroll{overflow-x:auto}
summary{cursor:pointer;padding:2px 0}
.drawings{display:flex;flex-wrap:wrap;gap:8px 24px;padding:4px 0 12px 18px}
figure{margin:0}figcaption{font-size:12px;color:var(--soft);max-width:420px;overflow-wrap:anywhere}
.warn{color:var(--warn);background:var(--warn-paper);border-radius:3px;padding:0 5px}
ul{list-style:none;margin:0;padding-left:18px}
.hs-static.hs-static table td{white-space:normal;max-width:420px;vertical-align:top}
.hs-static .prose table{min-width:860px}
.hs-static .prose td:first-child{min-width:160px}
.hs-static.hs-static table .hs-n{white-space:nowrap}
</style>"""

# Nothing is loaded and nothing runs.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def export_html(session: DebugSession, path: str | PathLike[str]) -> Path:
    """Write a session as one self-contained page, and return where it is.

    Raises:
        OSError: the file cannot be written.
    """
    target = Path(path)
    target.write_text(export_page(session), encoding="utf-8")
    return target


def export_page(session: DebugSession) -> str:
    """Return a session as one self-contained page of HTML."""
    root = views.root_name(session)
    sections = [(title, part) for title, make in _SECTIONS if (part := make(session))]
    links = "".join(f'<a href="#{_anchor(title)}">{title}</a>' for title, _ in sections)
    body = "\n".join(f'<section><h2 id="{_anchor(title)}">{title}</h2>\n{part}\n</section>' for title, part in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{text(root, 100)}: Hookscope</title>\n{snapshot.STYLE}\n{_STYLE}\n</head>\n"
        f'<body class="hs-static">\n<main>\n<h1>{text(root)}</h1>\n'
        f'<p class="soft">{_summary(session)}</p>\n<nav aria-label="Parts">{links}</nav>\n'
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def file_name(session: DebugSession) -> str:
    """Name the file after the network, in characters that every file system takes."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in views.root_name(session))
    return f"hookscope-{name[:60]}.html"


def _send_page(panel: DebuggerPanel) -> None:
    """Answer the panel's button: the browser saves what it is sent, wherever the kernel runs."""
    page = export_page(panel.session)
    panel.send({"type": "export", "name": file_name(panel.session)}, [page.encode()])


ACTIONS: dict[str, tuple[dict[str, type], Callable[..., None]]] = {"export": ({}, _send_page)}
"""The message of the panel's button: its fields, and what is done."""


def _anchor(title: str) -> str:
    return title.lower()


def _summary(session: DebugSession) -> str:
    steps = len({capture.step for capture in session.captures})
    dropped = session.captures.dropped
    parts = [
        f"{len(session.tree()):,} cells",
        f"{len(session.captures):,} captures of {steps:,} step{'' if steps == 1 else 's'}",
        f"{dropped:,} older captures dropped" if dropped else "",
        f"{len(session.findings()):,} findings" if session.conditions else "no conditions looked for",
    ]
    return " · ".join(part for part in parts if part)


def _left_out(what: str, shown: int, total: int) -> str:
    return f'<p class="soft">{total - shown:,} of {total:,} {what} left out.</p>' if shown < total else ""


def _scrolling(part: str, kind: str = "") -> str:
    # A part that scrolls must be reachable by keyboard.
    return f'<div class="{f"scroll {kind}".strip()}" tabindex="0">{part}</div>'


def _stop(session: DebugSession) -> str:
    skipped = session.paused is None and bool(session.skipped_pauses)
    point = session.skipped_pauses[-1] if skipped else session.paused
    return "" if point is None else _scrolling(snapshot.stop_html(point, skipped))


def _findings(session: DebugSession) -> str:
    findings = session.findings()
    if not findings:
        return "<p>Nothing found.</p>" if session.conditions else ""
    left_out = _left_out("findings", min(len(findings), snapshot.MAX_ROWS), len(findings))
    return _scrolling(snapshot.findings_html(findings), "prose") + left_out


def _conditions(session: DebugSession) -> str:
    rows = [
        (row["name"], row["threshold"], row["unit"], "pause" if row["pause"] else "mark", row["meaning"])
        for row in conditions_view.condition_rows(session)
        if row["on"]
    ]
    columns = ("condition", "threshold", "of", "where it holds", "meaning")
    return _scrolling(snapshot.table("", columns, rows, numeric=("threshold",)), "prose") if rows else ""


def _training(session: DebugSession) -> str:
    losses = list(session.history.losses)
    picture = drawings.curve("loss by step", losses)
    if not picture:
        return ""
    (first, before), (last, after) = losses[0], losses[-1]
    told = f"loss {snapshot.number(before)} in step {first}, {snapshot.number(after)} in step {last}"
    return f'<div class="drawings">{_figure(picture, told)}</div>'


def _cells(session: DebugSession) -> str:
    return displays.cell_tree(views.cell_nodes(session), most=MAX_CELLS)


def _timeline(session: DebugSession) -> str:
    """The captures by step; of too many those that a condition marked, then the newest."""
    captures = list(session.captures)
    if not captures:
        return "<p>No captures.</p>"
    chosen = _chosen(captures, MAX_CAPTURES)
    pictured = {capture.index for capture in _chosen(chosen, MAX_HEATMAPS)}
    parts = [_left_out("captures", len(chosen), len(captures))]
    last = chosen[-1].step
    for step, group in groupby(chosen, key=lambda capture: capture.step):
        rows = list(group)
        marked = sum(bool(capture.hits) for capture in rows)
        title = f"Step {step}: {len(rows):,} capture{'' if len(rows) == 1 else 's'}"
        badge = f' <span class="warn">{marked:,} marked by conditions</span>' if marked else ""
        opened = " open" if step == last else ""
        lines = "\n".join(_capture(capture, capture.index in pictured) for capture in rows)
        parts.append(f"<details{opened}><summary>{title}{badge}</summary>\n<ul>\n{lines}\n</ul></details>")
    if len(pictured) < len(chosen):
        which = f"{len(pictured):,} of these captures: those that conditions marked, then the newest"
        parts.append(f'<p class="soft">Heatmaps are drawn for {which}.</p>')
    return "\n".join(part for part in parts if part)


def _chosen(captures: Sequence[Capture], most: int) -> list[Capture]:
    ordered = sorted(captures, key=lambda capture: (bool(capture.hits), capture.index), reverse=True)
    return sorted(ordered[:most], key=lambda capture: capture.index)


def _capture(capture: Capture, pictured: bool) -> str:
    hits = f' <span class="warn">{text(", ".join(capture.hits))}</span>' if capture.hits else ""
    origin = "" if capture.origin == "tap" else f" · {capture.origin}"
    facts = f"{views.shape_text(capture.shape)} {views.dtype_text(capture.dtype)}{origin}"
    title = f"<b>{text(capture.key)}</b> <small>{text(facts)}</small>{hits}"
    picture = _heatmap(capture.value._array) if pictured else ""
    return _opened_by(title, _scrolling(displays.figures_html(capture.statistics())) + picture)


def _opened_by(title: str, drawings_: str) -> str:
    return f'<li><details><summary>{title}</summary><div class="drawings">{drawings_}</div></details></li>'


def _heatmap(array: Any) -> str:
    """The first matrix of a value; a value of one axis has none."""
    if array.ndim < 2 or array.dtype.kind not in "biuf" or not array.size:
        return ""
    lead = (0,) * (array.ndim - 2)
    matrix = array[lead]
    # Thinned out where it is, so that little comes from a GPU.
    matrix = matrix[tuple(slice(None, None, -(-size // drawings.MOST_PIXELS)) for size in matrix.shape)]
    matrix = matrix.get() if hasattr(matrix, "get") else np.asarray(matrix)
    where = f"[{', '.join('0' for _ in lead)}] of it: " if lead else ""
    told = f"{where}blue below 0, white at 0, red above; grey NaN, black inf"
    if matrix.shape != array.shape[-2:]:
        told += f"; {views.shape_text(matrix.shape)} of its elements, at equal distances"
    return _figure(drawings.heatmap("heatmap", matrix), told)


def _figure(picture: str, told: str) -> str:
    return f"<figure>{picture}<figcaption>{text(told)}</figcaption></figure>"


def _parameters(session: DebugSession) -> str:
    rows = session.parameters()
    shown = rows[:MAX_PARAMETERS]
    lines = []
    for row in shown:
        name, shape, dtype, grad, *_, gradient = snapshot.parameter_cells(row)
        facts = [f"{shape} {dtype}", "" if grad == "yes" else "requires_grad=False"]
        facts.append(f"gradient norm {gradient}" if gradient else "")
        title = f"<b>{text(name)}</b> <small>{text(' · '.join(fact for fact in facts if fact))}</small>"
        lines.append(_opened_by(title, _scrolling(displays.figures_html(row.statistics)) + _curves(session, row.name)))
    return f"<ul>{''.join(lines)}</ul>{_left_out('parameters', len(shown), len(rows))}" if rows else ""


def _curves(session: DebugSession, name: str) -> str:
    series = {"gradient norm": session.history.gradient_norms, "update ratio": session.history.update_ratios}
    pictures = ((told, drawings.curve(f"{told} by step", list(found.get(name, ())))) for told, found in series.items())
    return "".join(_figure(picture, f"{told} by step") for told, picture in pictures if picture)


def _hooks(session: DebugSession) -> str:
    hooks = session.hooks()
    rows: Iterable[Sequence[object]] = [
        (cell_name(row.path), row.kind, row.function, "panel" if row.by_session else "you") for row in hooks[:MAX_HOOKS]
    ]
    columns = ("cell", "kind", "function", "from")
    left_out = _left_out("hooks", min(len(hooks), MAX_HOOKS), len(hooks))
    return _scrolling(snapshot.table("", columns, rows)) + left_out if hooks else ""


_SECTIONS: tuple[tuple[str, Callable[[DebugSession], str]], ...] = (
    ("Stop", _stop),
    ("Findings", _findings),
    ("Training", _training),
    ("Cells", _cells),
    ("Timeline", _timeline),
    ("Parameters", _parameters),
    ("Hooks", _hooks),
    ("Conditions", _conditions),
)
