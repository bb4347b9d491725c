"""The hooks view: every hook on every cell, and an editor in which one is written, attached and taken off again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from hookscope.engine.debug.captures.capture import cell_name
from hookscope.engine.debug.rows import HOOK_KINDS
from hookscope.engine.debug.stepping.user_code import file_label
from hookscope.widgets import cells_view, texts, written_hooks
from hookscope.widgets.columns import Json
from hookscope.widgets.messages import Actions, one_of
from hookscope.widgets.throttle import Throttle

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, HookRow
    from hookscope.widgets.panel import DebuggerPanel

MAX_ROWS = 500
_MAX_DRAFT = 100_000  # characters: it is a hook, not a program
OFFERED_CELLS = 1000
"""Cells that are offered as one types a path; any other can be typed."""

_INPUTS = """\
def look(cell, inputs):
    print(type(cell).__name__, inputs[0].shape)
    # return inputs    what is returned takes their place
"""
_OUTPUT = """\
def look(cell, inputs, output):
    print(type(cell).__name__, output.shape)
    # return output    what is returned takes its place
"""
_ARRIVING = """\
def look(cell, grad_output):
    print(type(cell).__name__, abs(grad_output[0]).max())
    # return grad_output    what is returned takes its place
"""
_LEAVING = """\
def look(cell, grad_input, grad_output):
    print(type(cell).__name__, abs(grad_output[0]).max())
    # return grad_input    what is returned takes its place
"""
TEMPLATES = {"forward_pre": _INPUTS, "forward": _OUTPUT, "backward_pre": _ARRIVING, "backward": _LEAVING}


class HookLog:
    """What written hooks printed, told to the page as often as the throttle lets it.

    Hooks run also where no session watches and no cell runs, so that nobody else would tell it.
    """

    def __init__(self, tell: Callable[[], None], due: Throttle) -> None:
        self._tell = tell
        self._due = due
        self.log = written_hooks.Log(self._changed)

    def _changed(self) -> None:
        if not self._due.due():
            return
        with self._due.spend(), suppress(Exception):  # a fault of the panel must not stop the user's training
            self._tell()

    def close(self) -> None:
        """Tell nobody any more: a hook may outlive the panel in which it was written, and must not keep it."""
        self._tell = _nothing

    def view(self) -> Json:
        """What the page shows."""
        return {"entries": self.log.entries(), "dropped": self.log.dropped}


def _nothing() -> None:
    """Be whom a closed panel's log tells."""


def hooks_view(session: DebugSession) -> Json:
    """Every hook, and what a hook of each kind looks like."""
    rows = session.hooks()
    return {
        "rows": [_row(row) for row in rows[:MAX_ROWS]],
        "count": len(rows),
        "templates": TEMPLATES,
        "cells": [path or "." for path, _ in islice(session.paths, OFFERED_CELLS)],
    }


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Show the hooks as they are now."""
    panel.hooks = hooks_view(panel.session)


def _row(row: HookRow) -> Json:
    written = written_hooks.source_of(row.hook)
    captures = row.by_session and row.function.startswith("SessionHooks.")
    return {
        "path": row.path,
        "label": cell_name(row.path),
        "kind": row.kind,
        "function": "makes captures" if captures else row.function,
        "where": "written here" if written else _where(row) if not captures else "",
        "own": row.by_session,
        "source": written,
    }


def _where(row: HookRow) -> str:
    return f"{file_label(row.filename)}:{row.line}" if row.filename else ""


def attach(panel: DebuggerPanel, path: str, kind: str, source: str) -> None:
    """Compile a hook in the user's namespace and attach it; the answer says what became of it."""
    try:
        function = written_hooks.compile_hook(source, panel.namespace)
        name = getattr(function, "__qualname__", "hook")
        where = f"{kind} hook {name} of {cell_name('' if path == '.' else path)}"
        panel.session.attach_hook(path, kind, written_hooks.reporting(function, where, panel.printed.log, source))
        panel.hook_answer = {"text": f"attached: {where}", "failed": False}
    except Exception as error:  # the user's text may raise anything; it is the answer
        panel.hook_answer = {"text": texts.error_line(error), "failed": True}


def keep_draft(panel: DebuggerPanel, path: str, kind: str, source: str) -> None:
    """Keep what is written in the editor for the panel's other displays, and for a page that is loaded anew."""
    one_of("hook kind", kind, HOOK_KINDS)
    panel.hook_draft = {"path": path[:_MAX_DRAFT], "kind": kind, "source": source[:_MAX_DRAFT]}


def publish_log(panel: DebuggerPanel) -> None:
    """Tell what the throttle held back."""
    panel.hook_log = panel.printed.view()


def clear_log(panel: DebuggerPanel) -> None:
    """Forget what was printed."""
    panel.printed.log.clear()
    publish_log(panel)


ACTIONS: Actions = {
    "hook": cells_view.ACTIONS["hook"],
    "attach_hook": ({"path": str, "kind": str, "source": str}, attach),
    "hook_draft": ({"path": str, "kind": str, "source": str}, keep_draft),
    "hook_log": ({}, publish_log),
    "clear_hook_log": ({}, clear_log),
}
