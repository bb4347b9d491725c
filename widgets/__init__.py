"""Debugger panels: views of one `DebugSession`, live in a notebook and static in a saved one.

Each name is imported on first access, so that `import hookscope` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookscope.widgets.panel import DebuggerPanel
    from hookscope.widgets.static_html.export import export_html
    from hookscope.widgets.static_html.tables import HookTable, ParameterTable
    from hookscope.widgets.view_widgets import (
        CaptureTimeline,
        CellTree,
        FindingList,
        HookEditor,
        LossCurves,
        ParameterEditor,
        Stepper,
        TensorView,
    )
    from hookscope.widgets.views.cells.static_html import cell_tree_html

__all__ = [
    "CaptureTimeline",
    "CellTree",
    "DebuggerPanel",
    "FindingList",
    "HookEditor",
    "HookTable",
    "LossCurves",
    "ParameterEditor",
    "ParameterTable",
    "Stepper",
    "TensorView",
    "cell_tree_html",
    "export_html",
]

_HOMES = {
    "CaptureTimeline": "view_widgets",
    "CellTree": "view_widgets",
    "FindingList": "view_widgets",
    "DebuggerPanel": "panel",
    "HookEditor": "view_widgets",
    "HookTable": "static_html.tables",
    "LossCurves": "view_widgets",
    "ParameterEditor": "view_widgets",
    "ParameterTable": "static_html.tables",
    "Stepper": "view_widgets",
    "TensorView": "view_widgets",
    "cell_tree_html": "views.cells.static_html",
    "export_html": "static_html.export",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
