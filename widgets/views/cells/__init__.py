"""Cell tree: for each cell two statistics of its values, findings, hooks, train mode and breakpoint."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.engine.debug import Breakpoint
from hookscope.engine.debug.record.rows import HOOK_KINDS
from hookscope.engine.debug.stop.breakpoints.breakpoint import MOMENTS
from hookscope.widgets.messages import Action, check_choice
from hookscope.widgets.view import Message, Section, Static, View, state
from hookscope.widgets.views import findings
from hookscope.widgets.views.cells.figures import (
    FIGURE_KINDS,
    FIGURE_NUMBERS,
    FIGURE_WORDS,
    TREND_NUMBERS,
    CellFigures,
    InSight,
    Trend,
)
from hookscope.widgets.views.cells.nodes import CELL_NUMBERS, CELL_STATES, Tree, cell_nodes, cell_states, cell_texts
from hookscope.widgets.views.cells.shared_parts import sharing
from hookscope.widgets.views.cells.static_html import export_html, static_parts

if TYPE_CHECKING:
    from hookscope.engine.debug import DebugSession
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent


def _figures(panel: DebuggerPanel) -> CellFigures:
    return panel.memory(_new_figures)


def _new_figures(panel: DebuggerPanel) -> CellFigures:
    return CellFigures(panel.session, panel.send)


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Publish the current state of the cells."""
    nodes = cell_nodes(panel.session)
    shared = sharing(panel.session.paths)
    with panel.hold_sync():
        panel.tree, panel.tree_numbers = cell_texts(nodes, shared)
        panel.tree_states = cell_states(nodes, panel.session.breakpoints)
        panel.cell_figures = _figures(panel).update([node.path for node in nodes], budget)
    _tell_rest(panel)


def _send_figures(panel: DebuggerPanel) -> None:
    """Send the statistics of the visible rows, which are those of the last publication."""
    panel.send({"type": "cells_in_sight"}, [_figures(panel).update()])
    _tell_rest(panel)


def _tell_rest(panel: DebuggerPanel) -> None:
    """Notify the page that it may request the statistics that exceeded the time budget."""
    if _figures(panel).rest and panel.view == VIEW.name:
        panel.send({"type": "backlog"})


def look_at_cells(panel: DebuggerPanel, rows: list[Any]) -> None:
    """Send the statistics of rows that became visible; while code runs, with the next update."""
    _figures(panel).look_at(rows)
    panel.when_due(partial(_send_figures, panel))


def follow_trend(panel: DebuggerPanel, path: str, kind: str) -> None:
    """Send one statistic of one cell by step, now and with each update of the tree."""
    _figures(panel).follow_trend(path, kind)
    if kind:
        panel.when_due(partial(_send_figures, panel))


def set_hook(panel: DebuggerPanel, path: str, kind: str, on: bool) -> None:
    """Attach or detach the session's hook of this kind."""
    check_choice("hook kind", kind, HOOK_KINDS)
    (panel.session.attach_hook if on else panel.session.detach_hook)(path, kind)


def set_train(panel: DebuggerPanel, path: str, on: bool) -> None:
    """Set a cell, and those inside it, to training or to prediction."""
    panel.session.set_train(path, on)


def set_breakpoint(panel: DebuggerPanel, path: str, moment: str) -> None:
    """Set the cell's only breakpoint to this moment, or remove it for ""; keep a matching one unchanged."""
    session = panel.session
    for stop in list(session.breakpoints):
        if stop.operator or stop.moment == moment or not stop.applies(path, stop.moment):
            continue
        session.remove_breakpoint(stop)
        # A pattern covers several cells: the others keep their breakpoints.
        for node in session.tree():
            if node.path == path or not stop.applies(node.path, stop.moment):
                continue
            if node.has_bprop or stop.moment != "bprop":
                session.add_breakpoint(Breakpoint(node.path, stop.moment, stop.expression))
    if moment and not any(stop.applies(path, moment) for stop in session.breakpoints):
        session.add_breakpoint(Breakpoint(path, moment))


def _summary(session: DebugSession) -> str:
    return f"{sum(1 for _ in session.paths)} cells"


SET_HOOK = Action({"path": str, "kind": str, "on": bool}, set_hook, chooses=True)

VIEW = View(
    name="cells",
    title="Cells",
    position=10,
    script=_HERE / "tree.js",
    style=_HERE / "tree.css",
    leads_to="cell",
    traits={
        "tree": state(Tree, live=True),
        "tree_numbers": state(bytes, live=True),
        "tree_states": state(bytes, live=True),
        "cell_figures": state(bytes, live=True),
        "conditions": findings.CONDITIONS_TRAIT,  # number of findings of each cell
    },
    messages={"cells_in_sight": Message(InSight), "cell_trend": Message(Trend)},
    actions={
        "look_at_cells": Action({"rows": list}, look_at_cells, background=True),
        "cell_trend": Action({"path": str, "kind": str}, follow_trend, background=True),
        "hook": SET_HOOK,
        "train": Action({"path": str, "on": bool}, set_train),
        "breakpoint": Action({"path": str, "moment": str}, set_breakpoint, chooses=True),
    },
    constants={
        "HOOK_KINDS": HOOK_KINDS,
        "MOMENTS": MOMENTS,
        "CELL_NUMBERS": CELL_NUMBERS,
        "CELL_STATES": CELL_STATES,
        "FIGURE_KINDS": FIGURE_KINDS,
        "FIGURE_NUMBERS": FIGURE_NUMBERS,
        "FIGURE_WORDS": FIGURE_WORDS,
        "TREND_NUMBERS": TREND_NUMBERS,
    },
    publish=publish,
    publish_always=findings.publish,
    static=Static(40, static_parts),
    sections=(Section(50, "Cells", export_html),),
    summary=_summary,
)
