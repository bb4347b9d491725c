"""Hooks as rows, and the output of those that were written in a panel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from hookscope.engine.base.file_labels import file_label
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.watch.hooks import MAKES_CAPTURES
from hookscope.widgets.throttle import Throttle
from hookscope.widgets.views.hooks import written_hooks

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession, HookRow

MAX_ROWS = 500
OFFERED_CELLS = 1000
"""Maximum number of cells offered as completions of a path; others can be typed."""

_INPUTS = """\
def look(cell, inputs):
    print(type(cell).__name__, inputs[0].shape)
    # return inputs    a returned tuple replaces them
"""
_OUTPUT = """\
def look(cell, inputs, output):
    print(type(cell).__name__, output.shape)
    # return output    a returned value replaces it
"""
_ARRIVING = """\
def look(cell, grad_output):
    print(type(cell).__name__, abs(grad_output[0]).max())
    # return grad_output    a returned value replaces it
"""
_LEAVING = """\
def look(cell, grad_input, grad_output):
    print(type(cell).__name__, abs(grad_output[0]).max())
    # return grad_input    a returned value replaces it
"""
TEMPLATES = {"forward_pre": _INPUTS, "forward": _OUTPUT, "backward_pre": _ARRIVING, "backward": _LEAVING}


class HookEntry(TypedDict):
    """A hook on a cell; for one written in the panel, its source and the number that identifies it in errors."""

    path: str
    label: str
    kind: str
    function: str
    where: str
    by_session: bool
    source: str
    number: int


class Hooks(TypedDict):
    """All hooks, a template for each kind, and the cells offered as completions of a path.

    If something is compiled, the note states that it runs eagerly meanwhile.
    """

    rows: list[HookEntry]
    count: int
    note: str
    templates: dict[str, str]
    cells: list[str]


class Printed(TypedDict):
    """The output of written hooks."""

    entries: list[written_hooks.Entry]
    dropped: int


class HookLog:
    """The output of written hooks, published as often as the throttle allows.

    Hooks also run while no session is attached and no cell runs, so that no other event would publish it.
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
        """Stop publishing: a hook may outlive the panel in which it was written, and must not keep it alive."""
        self._tell = _nothing

    def view(self) -> Printed:
        """Return the log as the page shows it."""
        return {"entries": self.log.entries(), "dropped": self.log.dropped}


def _nothing() -> None:
    """Do nothing; replaces the callback of a closed panel's log."""


def hooks_view(session: DebugSession) -> Hooks:
    """Return all hooks, and a template for each kind."""
    rows = session.hooks()
    return {
        "rows": [_row(row) for row in rows[:MAX_ROWS]],
        "count": len(rows),
        "note": session.runs_eagerly,
        "templates": TEMPLATES,
        "cells": [path or "." for path, _ in islice(session.paths, OFFERED_CELLS)],
    }


def _row(row: HookRow) -> HookEntry:
    hook_source = written_hooks.written_of(row.hook)
    captures = row.by_session and row.function == MAKES_CAPTURES
    return {
        "path": row.path,
        "label": cell_name(row.path),
        "kind": row.kind,
        "function": row.function,
        "where": "written here" if hook_source else _where(row) if not captures else "",
        "by_session": row.by_session,
        "source": hook_source.source if hook_source else "",
        "number": hook_source.number if hook_source else 0,
    }


def _where(row: HookRow) -> str:
    return f"{file_label(row.filename)}:{row.line}" if row.filename else ""
