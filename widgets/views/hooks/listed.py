"""The hooks that there are, as rows, and what those that were written in a panel print."""

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


class ListedHook(TypedDict):
    """A hook on a cell; of one that was written in the panel the text and the number by which errors name it."""

    path: str
    label: str
    kind: str
    function: str
    where: str
    own: bool
    source: str
    number: int


class Hooks(TypedDict):
    """Every hook, and what a hook of each kind looks like; the cells are offered as one types a path.

    Where something is compiled the note says that it runs eagerly meanwhile.
    """

    rows: list[ListedHook]
    count: int
    note: str
    templates: dict[str, str]
    cells: list[str]


class Printed(TypedDict):
    """What written hooks printed."""

    entries: list[written_hooks.Entry]
    dropped: int


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

    def view(self) -> Printed:
        """What the page shows."""
        return {"entries": self.log.entries(), "dropped": self.log.dropped}


def _nothing() -> None:
    """Be whom a closed panel's log tells."""


def hooks_view(session: DebugSession) -> Hooks:
    """Every hook, and what a hook of each kind looks like."""
    rows = session.hooks()
    return {
        "rows": [_row(row) for row in rows[:MAX_ROWS]],
        "count": len(rows),
        "note": session.runs_eagerly,
        "templates": TEMPLATES,
        "cells": [path or "." for path, _ in islice(session.paths, OFFERED_CELLS)],
    }


def _row(row: HookRow) -> ListedHook:
    written = written_hooks.written_of(row.hook)
    captures = row.by_session and row.function == MAKES_CAPTURES
    return {
        "path": row.path,
        "label": cell_name(row.path),
        "kind": row.kind,
        "function": row.function,
        "where": "written here" if written else _where(row) if not captures else "",
        "own": row.by_session,
        "source": written.source if written else "",
        "number": written.number if written else 0,
    }


def _where(row: HookRow) -> str:
    return f"{file_label(row.filename)}:{row.line}" if row.filename else ""
