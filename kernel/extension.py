"""What `%load_ext hookscope` does. The Hookscope kernel does it by itself when it starts.

Nothing of the engine is imported here, so that a kernel starts as fast as a plain one.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from wrapt import register_post_import_hook

from .panels import panels_of
from .pausing import somebody_looks, widgets_come_alive

_SHOWN_AS_HTML = (
    ("hookscope.engine.tensors.tensor", "Tensor"),
    ("hookscope.engine.nn.cell", "Cell"),
    ("hookscope.engine.debug.record.capture", "Capture"),
)
"""Module and name of each class whose values a notebook shows as HTML; so it does those of classes below it."""
_LABELS_MODULE = "hookscope.engine.base.file_labels"
_PANEL_MODULE = "hookscope.widgets.panel"
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def load_ipython_extension(shell: Any) -> None:
    """Register the magics in `shell`, and with the debugger, once it is imported, what this front end knows better."""
    for magics in _magics():
        if not isinstance(shell.magics_manager.registry.get(magics.__name__), magics):
            shell.register_magics(magics)
    for module, name in _SHOWN_AS_HTML:
        register_post_import_hook(partial(_show_as_html, shell, name), module)
    panels_of(shell).register()
    register_post_import_hook(partial(_show_panels, shell), _PANEL_MODULE)
    register_post_import_hook(partial(_introduce, shell), "hookscope.engine.debug")
    register_post_import_hook(partial(_name_cells, shell), _LABELS_MODULE)


def _magics() -> tuple[Any, ...]:
    from .magics import HookscopeMagics
    from .remote.magic import RanksMagics

    return HookscopeMagics, RanksMagics


def _show_as_html(shell: Any, name: str, module: Any) -> None:
    # Not by name: under the alias a class says MindSpore's name of its module.
    shell.display_formatter.formatters["text/html"].for_type(getattr(module, name), _html)


def _html(value: object) -> str | None:
    from hookscope.widgets import displays

    return displays.html(value)


def _show_panels(shell: Any, module: Any) -> None:
    # Not by name: each widget has a class of its own, which has the same name and would be taken for this one.
    shell.display_formatter.mimebundle_formatter.for_type(module.DebuggerPanel, _forms)
    shell.display_formatter.ipython_display_formatter.for_type(module.DebuggerPanel, partial(_display, shell))
    from hookscope.widgets import kept

    if (add := panels_of(shell).add_panel) not in kept.when_made:
        kept.when_made.append(add)


def _display(shell: Any, panel: Any) -> None:
    """Show a panel that is a cell's value; where nobody looks, its forms."""
    if not widgets_come_alive():
        raise NotImplementedError  # IPython asks for the forms then
    panels_of(shell).show(panel)


def _forms(panel: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a panel that is a cell's value shows where nobody will see a live widget: its static forms alone."""
    forms, metadata = panel._repr_mimebundle_()
    if not widgets_come_alive():
        forms.pop(_WIDGET_VIEW, None)
    return forms, metadata


def _introduce(shell: Any, debug: Any) -> None:
    from .pausing import KernelPauser

    if hasattr(shell, "kernel"):  # not in a terminal: there the debugger asks at its own prompt
        debug.set_default_pauser(KernelPauser)


def _name_cells(shell: Any, labels: Any) -> None:
    def label(filename: str) -> str | None:
        name = shell.compile.format_code_name(filename)  # such as ("Cell", "In[3]")
        # What runs a notebook from start to end may not count its cells: nbval calls each of them In[1].
        return None if name is None else " ".join(name) if somebody_looks() else "a cell"

    labels.set_file_labels(label)


def unload_ipython_extension(shell: Any) -> None:
    """Take the magics away again, and give the debugger its own ways back."""
    for magics in _magics():
        there = shell.magics_manager.registry.pop(magics.__name__, None)
        for kind, names in magics.magics.items() if there is not None else ():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
    for module, name in _SHOWN_AS_HTML:
        shell.display_formatter.formatters["text/html"].pop(f"{module}.{name}", None)
    panels = panels_of(shell)
    panels.unregister()
    panel = sys.modules.get(_PANEL_MODULE)
    if panel is not None:
        shell.display_formatter.mimebundle_formatter.pop(panel.DebuggerPanel, None)
        shell.display_formatter.ipython_display_formatter.pop(panel.DebuggerPanel, None)
        from hookscope.widgets import kept

        kept.when_made.remove(panels.add_panel)
    debug = sys.modules.get("hookscope.engine.debug")
    if debug is not None:
        debug.set_default_pauser(None)
    labels = sys.modules.get(_LABELS_MODULE)
    if labels is not None:
        labels.set_file_labels(None)
