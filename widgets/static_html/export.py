"""Self-contained HTML page of a session: it needs no kernel, script, other file or network.

The page declares this in its Content-Security-Policy, so that a browser would run no script even if some text were
parsed as markup. Collapsible parts are <details>; drawings are SVG, heatmaps inline PNG. The page's size is bounded,
and the page states what was left out.
"""

from __future__ import annotations

from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from hookscope.engine.base.atomic_write import file_behind, write_text
from hookscope.engine.tape.progress import progress
from hookscope.widgets import progress_view, texts
from hookscope.widgets.messages import Action
from hookscope.widgets.static_html import snapshot
from hookscope.widgets.static_html.markup import STYLE, text
from hookscope.widgets.views import VIEWS

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel

_STYLE = """<style>
:root{color-scheme:light dark}
body.hs-static{margin:0 auto;max-width:1200px;padding:16px 24px 48px;color:var(--hs-ink);background:var(--hs-surface);
font:14px/1.5 system-ui,sans-serif}
h1{font-size:22px;margin:8px 0 2px}h2{font-size:16px;margin:28px 0 8px;border-bottom:1px solid var(--hs-line)}
h1,h2,p,td,th,code,summary{overflow-wrap:break-word}
.soft,caption{color:var(--hs-muted-ink)}
nav{display:flex;flex-wrap:wrap;gap:2px 14px}nav a{color:inherit}
:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.scroll{overflow-x:auto}
summary{cursor:pointer;padding:2px 0}
.drawings{display:flex;flex-wrap:wrap;gap:8px 24px;padding:4px 0 12px 18px}
figure{margin:0}figcaption{font-size:12px;color:var(--hs-muted-ink);max-width:420px;overflow-wrap:anywhere}
.warn{color:var(--hs-warn-ink);background:var(--hs-marked);border-radius:3px;padding:0 5px}
ul{list-style:none;margin:0;padding-left:18px}
.hs-static.hs-static table .hs-prose{max-width:420px}
</style>"""


class Exported(TypedDict):
    """The exported page, as a buffer, and the file name to save it under."""

    type: Literal["export"]
    name: str


# No resource is loaded and no script runs.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def export_html(session: DebugSession, path: str | PathLike[str]) -> Path:
    """Write a session as one self-contained page, atomically, and return the file's path.

    Raises:
        OSError: the file cannot be written (`hookscope.engine.base.atomic_write`).
        Stopped: the export was stopped on request (`hookscope.engine.tape.progress`).
    """
    target = Path(path)
    file_behind(target, "export_html")  # before the work: raises if the folder does not exist
    write_text(target, export_page(session), "export_html")
    return target


def export_page(session: DebugSession) -> str:
    """Return a session as one self-contained page of HTML.

    Raises:
        Stopped: the export was stopped on request.
    """
    root = texts.root_name(session)
    rendered = []
    sections = sorted((part for view in VIEWS.values() for part in view.sections), key=lambda part: part.position)
    with progress("export", len(sections), "parts", of=session) as work:
        for _, title, make in sections:
            description = f"the part {title!r} of an exported page"
            if part := snapshot.attempt(session, description, partial(make, session), snapshot.failure_html):
                rendered.append((title, part))
            work.advance()
    links = "".join(f'<a href="#{_anchor(title)}">{title}</a>' for title, _ in rendered)
    body = "\n".join(f'<section><h2 id="{_anchor(title)}">{title}</h2>\n{part}\n</section>' for title, part in rendered)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{text(root, 100)}: Hookscope</title>\n{STYLE}\n{_STYLE}\n</head>\n"
        f'<body class="hs-static">\n<main>\n<h1>{text(root)}</h1>\n'
        f'<p class="soft">{_summary(session)}</p>\n{snapshot.failed_line(session)}\n'
        f'<nav aria-label="Parts">{links}</nav>\n'
        f"{body}\n</main>\n</body>\n</html>\n"
    )


def file_name(session: DebugSession) -> str:
    """Return a file name for the network, in characters that every file system accepts."""
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in texts.root_name(session))
    return f"hookscope-{name[:60]}.html"


def _send_page(panel: DebuggerPanel) -> None:
    """Handle the panel's export button: send the page to the browser, which saves it wherever the kernel runs."""
    with progress_view.started_by_button(panel, "export"):
        page = export_page(panel.session)
    panel.send({"type": "export", "name": file_name(panel.session)}, [page.encode(errors="backslashreplace")])


ACTIONS = {"export": Action({}, _send_page)}


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
