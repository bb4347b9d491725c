"""`%load_ext hookscope`, which the Hookscope kernel runs itself at its start.

Nothing of the engine is imported here, so that a kernel starts as fast as a plain one.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

from wrapt import register_post_import_hook

from .magics import completion
from .panels import panels_of
from .pauses.pauser import front_end_takes_input, widgets_are_live

_SHOWN_AS_HTML = (
    ("hookscope.engine.tensors.tensor", "Tensor"),
    ("hookscope.engine.nn.cell", "Cell"),
    ("hookscope.engine.debug.record.capture", "Capture"),
)
"""Module and name of each class whose values, including those of subclasses, a notebook shows as HTML."""
_LABELS_MODULE = "hookscope.engine.base.file_labels"
_PANEL_MODULE = "hookscope.widgets.panel"
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def load_ipython_extension(shell: Any) -> None:
    """Register the magics in `shell`, and the pauser and labels with the debugger once it is imported."""
    for magics in _magics():
        if not isinstance(shell.magics_manager.registry.get(magics.__name__), magics):
            shell.register_magics(magics)
    completion.register(shell)
    for module, name in _SHOWN_AS_HTML:
        register_post_import_hook(partial(_show_as_html, shell, name), module)
    panels_of(shell).register()
    register_post_import_hook(partial(_show_panels, shell), _PANEL_MODULE)
    register_post_import_hook(partial(_introduce, shell), "hookscope.engine.debug")
    register_post_import_hook(partial(_name_cells, shell), _LABELS_MODULE)


def _magics() -> tuple[Any, ...]:
    from .magics.cell_magics import HookscopeMagics
    from .magics.rank_magics import RanksMagics

    return HookscopeMagics, RanksMagics


def _show_as_html(shell: Any, name: str, module: Any) -> None:
    # Not by name: under the alias, a class's ``__module__`` is MindSpore's.
    shell.display_formatter.formatters["text/html"].for_type(getattr(module, name), _html)


def _html(value: object) -> str | None:
    from hookscope.widgets.static_html import displays

    return displays.html(value)


def _show_panels(shell: Any, module: Any) -> None:
    # Not by name: each widget has a class of its own with the same name.
    shell.display_formatter.mimebundle_formatter.for_type(module.DebuggerPanel, _forms)
    shell.display_formatter.ipython_display_formatter.for_type(module.DebuggerPanel, _display)
    from hookscope.widgets import saved_widget

    if (add := panels_of(shell).add_panel) not in saved_widget.creation_callbacks:
        saved_widget.creation_callbacks.append(add)


def _display(panel: Any) -> None:
    """Show a panel that is a cell's value; without a person at the front end, its static forms."""
    if not widgets_are_live():
        raise NotImplementedError  # IPython then requests the forms
    panel.display()


def _forms(panel: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the forms of a panel that is a cell's value: only static ones if no live widget will be visible."""
    forms, metadata = panel._repr_mimebundle_()
    if not widgets_are_live():
        forms.pop(_WIDGET_VIEW, None)
    return forms, metadata


def _introduce(shell: Any, debug: Any) -> None:
    from .pauses.pauser import KernelPauser

    if hasattr(shell, "kernel"):  # not in a terminal, where the debugger prompts
        debug.set_default_pauser(KernelPauser)


def _name_cells(shell: Any, labels: Any) -> None:
    def label(filename: str) -> str | None:
        name = shell.compile.format_code_name(filename)  # such as ("Cell", "In[3]")
        # Programs that run a notebook from start to end may not count its cells: nbval calls each of them In[1].
        return None if name is None else " ".join(name) if front_end_takes_input() else "a cell"

    labels.set_file_labels(label)


def unload_ipython_extension(shell: Any) -> None:
    """Unregister the magics, and restore the debugger's own pauser and labels."""
    for magics in _magics():
        registered = shell.magics_manager.registry.pop(magics.__name__, None)
        for kind, names in magics.magics.items() if registered is not None else ():
            for name in names:
                shell.magics_manager.magics[kind].pop(name, None)
    completion.unregister(shell)
    for module, name in _SHOWN_AS_HTML:
        shell.display_formatter.formatters["text/html"].pop(f"{module}.{name}", None)
    panels = panels_of(shell)
    panels.unregister()
    panel = sys.modules.get(_PANEL_MODULE)
    if panel is not None:
        shell.display_formatter.mimebundle_formatter.pop(panel.DebuggerPanel, None)
        shell.display_formatter.ipython_display_formatter.pop(panel.DebuggerPanel, None)
        from hookscope.widgets import saved_widget

        saved_widget.creation_callbacks.remove(panels.add_panel)
    debug = sys.modules.get("hookscope.engine.debug")
    if debug is not None:
        debug.set_default_pauser(None)
    labels = sys.modules.get(_LABELS_MODULE)
    if labels is not None:
        labels.set_file_labels(None)
