"""A notebook from a stranger, with widget state that claims to be ours and runs code of theirs.

Jupyter and anywidget decide what such a notebook may do. The tests show that Hookscope adds nothing to it: a static
copy has no script, and saved state gets no further as a panel's than as that of any other widget.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import nbformat
import pytest
from nbformat.sign import NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook, new_output
from playwright.sync_api import expect

from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel
from tests.browser.lab import Notebook, Server, Window, wait_until

Opener = Callable[[], Notebook]

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
NAME = "stranger.ipynb"
MODEL = "0123456789abcdef0123456789abcdef"
THEIRS = "window.ran = ['saved code']; export default { render({ el }) { el.append('theirs'); } };"
HOSTILE = (
    "<p>their page</p><script>window.ran = ['script']</script>"
    "<img src='nowhere:' onerror=\"window.ran = ['handler']\">"
    "<a href=\"javascript:window.ran = ['link']\">a link of theirs</a>"
)


def hostile_state(ours: bool) -> dict[str, Any]:
    """Return a live panel's metadata in a notebook, or another widget's, with the stranger's code in it."""
    state = {name: value for name, value in _panel_state().items() if not isinstance(value, bytes)}
    any_widgets = {name: value for name, value in state.items() if name.startswith(("_model", "_view"))}
    base = {"model_module": "@jupyter-widgets/base", "model_module_version": "2.0.0"}
    layout = {"model_name": "LayoutModel", **base, "state": {}}
    widget = {
        "model_name": "AnyModel",
        "model_module": "anywidget",
        "model_module_version": state["_model_module_version"],
        "state": {**(state if ours else any_widgets), "_esm": THEIRS, "layout": "IPY_MODEL_layout"},
    }
    return {"version_major": 2, "version_minor": 0, "state": {MODEL: widget, "layout": layout}}


def _panel_state() -> dict[str, Any]:
    from hookscope.engine import nn

    panel = DebuggerPanel(DebugSession(nn.ReLU()))
    try:
        return dict(panel.get_state())
    finally:
        panel.close()


def static_copy() -> dict[str, str]:
    """Return our static copy of a network whose names are markup."""
    from hookscope.engine import nn

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.insert_child_to_cell("<img src='nowhere:' onerror='ran=[`name`]'>", nn.ReLU())

    from hookscope.widgets.static_html.snapshot import static_forms

    return static_forms(DebugSession(Net()))


def write(server: Server, *outputs: dict[str, Any], ours: bool = True, trusted: bool = False) -> None:
    """Write a cell for each output; a notebook is trusted if it was run here, or if the user declared it trusted."""
    cells = [
        new_code_cell(f"{k}", outputs=[new_output("display_data", data=data)], execution_count=1)
        for k, data in enumerate(outputs)
    ]
    kernel = {"name": "hookscope", "display_name": "hookscope", "language": "python"}
    notebook = new_notebook(cells=cells, metadata={"kernelspec": kernel, "widgets": {STATE: hostile_state(ours)}})
    nbformat.write(notebook, server.root / NAME)
    if trusted:
        NotebookNotary(data_dir=str(server.root.parent / "data")).sign(notebook)


@pytest.fixture
def open_theirs(window: Window, open_notebook: Callable[[str], Notebook]) -> Opener:
    """Open the notebook that was written, in a page in which none of its code has run yet."""

    def open_one() -> Notebook:
        window.page.evaluate("delete window.ran")
        return open_notebook(NAME)

    return open_one


def output_of(notebook: Notebook) -> list[str]:
    return list(notebook.page.evaluate("window.ran ?? []"))


def is_trusted(notebook: Notebook) -> bool:
    script = "window.jupyterapp.shell.currentWidget.content.widgets.every((cell) => cell.model.trusted)"
    return bool(notebook.page.evaluate(script))


@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_our_static_copy_has_no_script(lab: Server, open_theirs: Opener, trusted: bool) -> None:
    write(lab, static_copy(), trusted=trusted)
    notebook = open_theirs()
    copy = notebook.cell(0)
    expect(copy).to_contain_text("onerror")
    assert is_trusted(notebook) is trusted
    assert copy.locator("script, iframe, object, embed, [onerror], [onclick], [onload]").count() == 0
    assert copy.locator("img:not([src^='data:'])").count() == 0
    assert not {"script", "handler", "name"} & set(output_of(notebook))


def test_their_page_runs_nothing_unless_it_is_trusted(lab: Server, open_theirs: Opener) -> None:
    write(lab, {"text/html": HOSTILE}, static_copy())
    notebook = open_theirs()
    expect(notebook.cell(0)).to_contain_text("their page")
    assert not is_trusted(notebook)
    assert not {"script", "handler", "name"} & set(output_of(notebook))


@pytest.mark.parametrize("trusted", [False, True], ids=["untrusted", "trusted"])
def test_state_that_claims_to_be_a_panel_gets_no_further_than_any_widgets(
    lab: Server, open_theirs: Opener, trusted: bool
) -> None:
    """anywidget runs the code in saved state, even in a notebook that is not trusted: only anywidget can mend that."""
    view = {VIEW: {"version_major": 2, "version_minor": 0, "model_id": MODEL}, "text/plain": "their panel"}

    def look(ours: bool) -> tuple[list[str], int]:
        write(lab, view, static_copy(), ours=ours, trusted=trusted)
        notebook = open_theirs()
        assert is_trusted(notebook) is trusted
        expect(notebook.cell(0)).to_contain_text("their")
        with suppress(TimeoutError):
            wait_until("their code to run", lambda: output_of(notebook), 10)
        result = output_of(notebook), notebook.cell(0).get_by_role("group").count()
        notebook.close(keep_page=True)
        return result

    results = [look(ours=True), look(ours=False)]
    assert results[0] == results[1]
    assert set(results[0][0]) <= {"saved code"}
    assert results[0][1] == 0, "a panel of ours was drawn from it"
