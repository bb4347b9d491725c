"""View of parameters: one row each with live statistics that indicate health, and an editor of their values."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.widgets.messages import Action
from hookscope.widgets.view import Message, Section, Static, View, state
from hookscope.widgets.views.parameters.figures import (
    FIGURES,
    EditAnswer,
    ParameterFigures,
    ParametersView,
    ParameterTexts,
    SelectedParameter,
    parameter_numbers,
    parameter_texts,
)
from hookscope.widgets.views.parameters.static_html import export_html, static_parts

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel

_HERE = Path(__file__).parent


def _view(panel: DebuggerPanel) -> ParametersView:
    return panel.memory(_new_view)


def _new_view(panel: DebuggerPanel) -> ParametersView:
    return ParametersView(panel.session, panel.send)


def publish(panel: DebuggerPanel, budget: float) -> None:
    """Publish the current parameters."""
    view = _view(panel)
    rows = view.rows()
    with panel.hold_sync():
        panel.parameters = parameter_texts(rows)
        panel.parameter_numbers = parameter_numbers(rows)
    view.publish(rows, budget)  # after the page has these rows


def restart(panel: DebuggerPanel) -> None:
    """Send the statistics again."""
    _view(panel).restart()


def look_at_parameters(panel: DebuggerPanel, rows: list[Any], others: bool, series: str) -> None:
    """Send the statistics of rows that became visible; while code runs, with the next update."""
    view = _view(panel)
    view.look_at(rows, series)
    panel.when_due(partial(view.answer, others))


def set_requires_grad(panel: DebuggerPanel, name: str, on: bool) -> None:
    """Set whether a parameter requires a gradient."""
    panel.session.set_requires_grad(name, on)


def _of_view(method: Callable[..., None]) -> Callable[..., None]:
    """Return a method of the view as a function of the panel."""

    def act(panel: DebuggerPanel, **fields: Any) -> None:
        method(_view(panel), **fields)

    return act


VIEW = View(
    name="parameters",
    title="Parameters",
    position=30,
    script=_HERE / "parameters.js",
    style=_HERE / "parameters.css",
    traits={"parameters": state(ParameterTexts, live=True), "parameter_numbers": state(bytes, live=True)},
    messages={
        "parameter_figures": Message(ParameterFigures, live=True),
        "parameter": Message(SelectedParameter),
        "edit_answer": Message(EditAnswer),
    },
    actions={
        "requires_grad": Action({"name": str, "on": bool}, set_requires_grad),
        "look_at_parameters": Action(
            {"rows": list, "others": bool, "series": str}, look_at_parameters, background=True
        ),
        "select_parameter": Action({"name": str}, _of_view(ParametersView.select_parameter)),
        "preview_edit": Action(
            {"number": int, "name": str, "action": str, "values": dict},
            _of_view(ParametersView.preview_edit),
            keeps_error=True,
        ),
        "apply_edit": Action({"number": int}, _of_view(ParametersView.apply_edit)),
        "undo_edit": Action({}, _of_view(ParametersView.undo_edit)),
    },
    constants={"FIGURES": FIGURES},
    publish=publish,
    restart=restart,
    static=Static(50, static_parts),
    sections=(Section(70, "Parameters", export_html),),
)
