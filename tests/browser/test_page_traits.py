"""One page cannot replace the code that another loads: a raw message from a page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.lab import Notebook, Server, write_notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

CELLS = [NETWORK, "%cell net", "print('usable', 6 * 7)"]
THEIRS = "window.taken = true; export default { render({ el }) { el.append('theirs'); } };"
WRITE = """(state) => {
    const notebook = window.jupyterapp.shell.currentWidget;
    const outputs = notebook.content.widgets[1].model.toJSON().outputs;
    const view = "application/vnd.jupyter.widget-view+json";
    const comm_id = outputs.find((one) => one.data?.[view]).data[view].model_id;
    const kernel = notebook.context.sessionContext.session.kernel;
    kernel.sendShellMessage({
        header: {
            msg_id: crypto.randomUUID(), msg_type: "comm_msg", session: kernel.clientId, username: "", version: "5.2",
            date: new Date().toISOString(),
        },
        parent_header: {}, metadata: {}, content: { comm_id, data: { method: "update", state, buffer_paths: [] } },
        channel: "shell", buffers: [],
    }, false, true);
}"""


@pytest.fixture
def notebook(lab: Server, open_notebook: Callable[[str], Notebook]) -> Notebook:
    write_notebook(lab.root / "page_traits.ipynb", CELLS)
    notebook = open_notebook("page_traits.ipynb")
    notebook.run_to_end(0)
    return notebook


def test_a_page_that_writes_what_is_pythons_changes_no_page(notebook: Notebook) -> None:
    notebook.run_to_end(1)
    panel = Panel.in_cell(notebook.cell(1))
    state = {"_esm": THEIRS, "_css": "* { display: none }", "views": ["hooks"], "title": "theirs"}
    notebook.page.evaluate(WRITE, state)
    message = panel.root.get_by_role("alert").filter(visible=True)
    expect(message).to_contain_text("a page cannot set _css, _esm, title, views")
    assert "usable 42" in notebook.run_to_end(2)
    notebook.save()
    notebook.reload()
    panel = Panel.in_cell(notebook.cell(1))
    expect(panel.root).to_have_accessible_name("Debugger of Net")
    expect(panel.root.get_by_role("tab")).to_have_count(7)
    assert not notebook.page.evaluate("window.taken ?? false")
    panel.tab("Cells")
    panel.toggle_train("relu")
