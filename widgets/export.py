"""A session as one page of HTML that needs nothing else: no kernel, no script, no file beside it, no network.

The page says so itself in its policy (Content-Security-Policy), so that a browser would run no script even if some
text came to be taken for markup. What opens and closes is <details>; drawings are SVG, heatmaps inline PNG. It is
bounded, and says what was left out.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.engine.atomic_write import file_behind, write_text
from hookscope.engine.debug import GivenUp
from hookscope.engine.progress import progress
from hookscope.widgets import cells_view, conditions_view, displays, drawings, progress_view, snapshot, texts
from hookscope.widgets.markup import STYLE, table, text
from hookscope.widgets.messages import Actions

if TYPE_CHECKING:
    from hookscope.engine.debug import Capture, DebugSession, ParameterRow
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
nav{display:flex;flex-wrap:wrap;gap:2px 14px}nav a{color:inherit}
:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.scroll{overflow-x:auto}
summary{cursor:pointer;padding:2px 0}
.drawings{display:flex;flex-wrap:wrap;gap:8px 24px;padding:4px 0 12px 18px}
figure{margin:0}figcaption{font-size:12px;color:var(--soft);max-width:420px;overflow-wrap:anywhere}
.warn{color:var(--warn);background:var(--warn-paper);border-radius:3px;padding:0 5px}
ul{list-style:none;margin:0;padding-left:18px}
.hs-static.hs-static table .hs-prose{max-width:420px}
@media (max-width:640px){
.findings :is(table,tbody){display:block}
.findings thead{position:absolute;clip-path:inset(50%)}
.findings tr{display:flex;flex-wrap:wrap;gap:0 12px;padding:6px 0}
.hs-static.hs-static .findings td{padding:0;white-space:normal;max-width:none}
.findings td:first-child{font-weight:600}
.findings td:nth-child(3)::before{content:"step "}
.findings td:nth-child(4)::after{content:" \\d7"}
.findings td:nth-child(n+5){flex:0 0 100%}
.findings td:nth-child(n+6){color:var(--soft)}
}
</style>"""

# Nothing is loaded and nothing runs.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def export_html(session: DebugSession, path: str | PathLike[str]) -> Path:
    """Write a session as one self-contained page, and return where it is; the file is whole, or as it was.

    Raises:
        OSError: the file cannot be written (`hookscope.engine.atomic_write`).
        Stopped: somebody asked it to stop (`hookscope.engine.progress`).
    """
    target = Path(path)
    file_behind(target, "export_html")  # before the work: a folder that does not exist
    write_text(target, export_page(session), "export_html")
    return target


def export_page(session: DebugSession) -> str:
    """Return a session as one self-contained page of HTML.

    Raises:
        Stopped: somebody asked it to stop.
    """
    root = texts.root_name(session)
    sections = []
    with progress("export", len(_SECTIONS), "parts", of=session) as work:
        for title, make in _SECTIONS:
            if part := make(session):
                sections.append((title, part))
            work.advance()
    links = "".join(f'<a href="#{_anchor(title)}">{title}</a>' for title, _ in sections)
    body = "\n".join(f'<section><h2 id="{_anchor(title)}">{title}</h2>\n{part}\n</section>' for title, part in sections)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{text(root, 100)}: Hookscope</title>\n{STYLE}\n{_STYLE}\n</head>\n"
        f'<body class="hs-static">\n<main>\n<h1>{text(root)}</h1>\n'
        f'<p class="soft">{_summary(session)}</p>\n<nav aria-label="Parts">{links}</nav>\n'
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def file_name(session: DebugSession) -> str:
    """Name the file after the network, in characters that every file system takes."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in texts.root_name(session))
    return f"hookscope-{name[:60]}.html"


def _send_page(panel: DebuggerPanel) -> None:
    """Answer the panel's button: the browser saves what it is sent, wherever the kernel runs."""
    with progress_view.started_by_button(panel, "export"):
        page = export_page(panel.session)
    panel.send({"type": "export", "name": file_name(panel.session)}, [page.encode(errors="backslashreplace")])


ACTIONS: Actions = {"export": ({}, _send_page)}


def _anchor(title: str) -> str:
    return title.lower()


def _summary(session: DebugSession) -> str:
    captures = session.captures.rows()
    steps = len({capture.step for capture in captures})
    parts = [
        f"{len(session.tree()):,} cells",
        f"{len(captures):,} captures of {steps:,} step{'' if steps == 1 else 's'}",
        f"{len(session.findings()):,} findings" if session.conditions else "no conditions looked for",
    ]
    return " · ".join(part for part in parts if part)


def _left_out(what: str, shown: int, total: int) -> str:
    return f'<p class="soft">{total - shown:,} of {total:,} {what} left out.</p>' if shown < total else ""


def _scrolling(part: str, kind: str = "") -> str:
    # A part that scrolls must be reachable by keyboard.
    return f'<div class="{f"scroll {kind}".strip()}" tabindex="0">{part}</div>'


def _stop(session: DebugSession) -> str:
    point, skipped = snapshot.shown_stop(session)
    return "" if point is None else _scrolling(snapshot.stop_html(point, skipped))


def _gradients(session: DebugSession) -> str:
    return "".join(_scrolling(snapshot.gradient_html(check)) for check in session.gradient_checks.values())


def _findings(session: DebugSession) -> str:
    findings = session.findings()
    if not findings:
        return "<p>Nothing found.</p>" if session.conditions else ""
    left_out = _left_out("findings", min(len(findings), snapshot.MAX_ROWS), len(findings))
    return _scrolling(snapshot.findings_html(findings), "findings") + left_out


def _conditions(session: DebugSession) -> str:
    rows = [
        (row["name"], row["threshold"], row["unit"], "pause" if row["pause"] else "mark", row["meaning"])
        for row in conditions_view.condition_rows(session)
        if row["on"]
    ]
    columns = ("condition", "threshold", "of", "where it holds", "meaning")
    return _scrolling(table("", columns, rows, numeric=("threshold",))) if rows else ""


def _training(session: DebugSession) -> str:
    picture = snapshot.training_figure(session)
    return f'<div class="drawings">{picture}</div>' if picture else ""


def _cells(session: DebugSession) -> str:
    return displays.cell_tree(cells_view.cell_nodes(session), most=MAX_CELLS)


def _timeline(session: DebugSession) -> str:
    """The captures by step; of too many those that a condition marked, then the newest."""
    captures = session.captures.rows()
    if not captures:
        return "<p>No captures.</p>"
    notes = " ".join(session.captures.notes())
    chosen = snapshot.chosen(captures, MAX_CAPTURES)
    with_values = [capture for capture in chosen if not isinstance(capture, GivenUp)]
    pictured = {capture.index for capture in snapshot.chosen(with_values, MAX_HEATMAPS)}
    parts = [f'<p class="soft">{text(notes)}</p>' if notes else "", _left_out("captures", len(chosen), len(captures))]
    last = chosen[-1].step
    with progress("captures", len(chosen), "captures") as work:
        for step, group in groupby(chosen, key=lambda capture: capture.step):
            rows = list(group)
            marked = sum(bool(capture.hits) for capture in rows)
            title = f"Step {step}: {len(rows):,} capture{'' if len(rows) == 1 else 's'}"
            badge = f' <span class="warn">{marked:,} marked by conditions</span>' if marked else ""
            opened = " open" if step == last else ""
            parts.append(f"<details{opened}><summary>{title}{badge}</summary>\n<ul>")
            for capture in rows:
                parts.append(_capture(capture, capture.index in pictured))
                work.advance()
            parts.append("</ul></details>")
    if len(pictured) < len(chosen):
        which = f"{len(pictured):,} of these captures: those that conditions marked, then the newest"
        parts.append(f'<p class="soft">Heatmaps are drawn for {which}.</p>')
    return "\n".join(part for part in parts if part)


def _capture(capture: Capture | GivenUp, pictured: bool) -> str:
    hits = f' <span class="warn">{text(", ".join(capture.hits))}</span>' if capture.hits else ""
    origin = "" if capture.origin == "tap" else f" · {capture.origin}"
    facts = f"{texts.shape_text(capture.shape)} {texts.dtype_text(capture.dtype)}{origin}"
    title = f"<b>{text(capture.key)}</b> <small>{text(facts)}</small>{hits}"
    figures = capture.statistics()
    shown = "<p>The value was given up before its figures were computed.</p>"
    if figures is not None:
        shown = _scrolling(displays.figures_html(figures))
    if pictured and not isinstance(capture, GivenUp):
        shown += drawings.matrix_figure(capture.value._array)
    return _opened_by(title, shown)


def _opened_by(title: str, drawings_: str) -> str:
    return f'<li><details><summary>{title}</summary><div class="drawings">{drawings_}</div></details></li>'


def _parameters(session: DebugSession) -> str:
    rows = session.parameters()
    shown = rows[:MAX_PARAMETERS]
    lines = []
    with progress("parameters", len(shown), "parameters") as work:
        for row in shown:
            lines.append(_parameter(session, row))
            work.advance()
    return f"<ul>{''.join(lines)}</ul>{_left_out('parameters', len(shown), len(rows))}" if rows else ""


def _parameter(session: DebugSession, row: ParameterRow) -> str:
    name, shape, dtype, grad, *_, gradient = snapshot.parameter_cells(row)
    facts = [f"{shape} {dtype}", "" if grad == "yes" else "requires_grad=False"]
    facts.append(f"gradient norm {gradient}" if gradient else "")
    title = f"<b>{text(name)}</b> <small>{text(' · '.join(fact for fact in facts if fact))}</small>"
    return _opened_by(title, _scrolling(displays.figures_html(row.statistics)) + _curves(session, row.name))


def _curves(session: DebugSession, name: str) -> str:
    series = {"gradient norm": session.history.gradient_norms, "update ratio": session.history.update_ratios}
    pictures = ((told, drawings.curve(f"{told} by step", list(found.get(name, ())))) for told, found in series.items())
    return "".join(drawings.figure(picture, f"{told} by step") for told, picture in pictures if picture)


def _hooks(session: DebugSession) -> str:
    rows = snapshot.hook_rows(session)
    shown = rows[:MAX_HOOKS]
    left_out = _left_out("hooks", len(shown), len(rows))
    return _scrolling(table("", snapshot.HOOK_COLUMNS, shown)) + left_out if rows else ""


_SECTIONS: tuple[tuple[str, Callable[[DebugSession], str]], ...] = (
    ("Stop", _stop),
    ("Findings", _findings),
    ("Gradients", _gradients),
    ("Training", _training),
    ("Cells", _cells),
    ("Timeline", _timeline),
    ("Parameters", _parameters),
    ("Hooks", _hooks),
    ("Conditions", _conditions),
)
