"""Front ends other than JupyterLab on the Hookscope kernel: a plain kernel, nbconvert, Voila."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from kernel_driver import Kernel, Message
from nbformat.v4 import new_code_cell, new_notebook

PLAIN = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
WIDGET = "application/vnd.jupyter.widget-view+json"
NOWHERE = "no cell 'nowhere'"
SETUP = """
%load_ext hookscope
import threading, time
import hookscope
hookscope.install_as_mindspore()
import numpy as np
from mindspore import Tensor, nn, value_and_grad
net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 2))
x = Tensor(np.ones((4, 3), np.float32))
step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
"""


@pytest.fixture(scope="module")
def plain() -> Iterator[Kernel]:
    with Kernel(argv=PLAIN) as kernel:
        assert kernel.run(SETUP).status == "ok"
        yield kernel


class Page:
    """A page that shows the panel of `%cell net`, and sends over a subshell of the kernel, as JupyterLab does."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        create = kernel.control_reply(kernel.send("create_subshell_request", {}, control=True))
        self.subshell = create["content"]["subshell_id"]
        cell = kernel.run("%cell net")
        self.panel = kernel.comm_opened(str(cell.reply["parent_header"]["msg_id"]), "AnyModel")

    def send(self, **action: object) -> str:
        return self.kernel.comm(self.panel, {"method": "custom", "content": action}, self.subshell)

    def finish(self, message: str) -> None:
        self.kernel.until(lambda: self.kernel.is_idle(message), "the answer to a message of the panel")

    def hook(self, path: str, on: bool) -> str:
        return self.send(type="hook", path=path, kind="forward", on=on)

    def problems(self) -> list[str]:
        """Return the panel's error messages; the last is deliberate: a hook on a missing cell."""
        self.finish(self.hook("nowhere", on=True))
        data: list[Message] = [m["content"]["data"] for m in self.kernel.iopub if m["msg_type"] == "comm_msg"]
        errors = [d["state"]["status"]["error"] for d in data if "status" in d.get("state", {})]
        return list(dict.fromkeys(error for error in errors if error))


@pytest.fixture
def page(plain: Kernel) -> Iterator[Page]:
    plain.run(SETUP)  # a network without hooks
    page = Page(plain)
    page.finish(page.send(type="hello"))
    yield page
    plain.run("_session.detach()")
    plain.iopub.clear()


def test_a_plain_kernel_answers_over_a_subshell_while_a_cell_runs(plain: Kernel, page: Page) -> None:
    cell = plain.execute("while not _session.hooks(): time.sleep(0.01)\nprint([row.path for row in _session.hooks()])")
    page.hook("1", on=True)
    assert plain.result(cell).text == "['1']\n"
    assert [NOWHERE in problem for problem in page.problems()] == [True]


def test_a_training_and_a_subshell_do_not_get_into_each_others_way(plain: Kernel, page: Page) -> None:
    """Hooks come and go while the network trains; the last request counts, and nothing fails or blocks."""
    cell = plain.execute("for _ in range(300): step(x); time.sleep(0.002)\nprint('trained', _session.step)")
    for turn in range(20):
        messages = [page.hook(path, on=turn % 2 == 0) for path in ("0", "1", "2")]
        messages.append(page.send(type="all_conditions", on=turn % 4 < 2))
        for message in messages:
            page.finish(message)
    page.finish(page.hook("1", on=True))
    assert plain.result(cell).text == "trained 300\n"
    assert plain.run("print([row.path for row in _session.hooks()], _session.conditions)").text == "['1'] []\n"
    assert [NOWHERE in problem for problem in page.problems()] == [True]


def test_a_breakpoint_in_a_plain_kernel_is_recorded_and_told_in_one_line(plain: Kernel) -> None:
    result = plain.run("%%cell net --break 1 -o dbg --no-panel\nprint('ran', net(x).shape)")
    assert result.text == "ran (4, 2)\n"
    assert result.errors.count("\n") == 1
    assert "not paused at forward of 1" in result.errors
    assert "choose the Hookscope kernel to pause" in result.errors
    assert plain.run("print(len(dbg.skipped_pauses))").text == "1\n"


def test_a_warning_names_the_line_of_a_cell_as_the_notebook_does(plain: Kernel) -> None:
    result = plain.run(
        "import hookscope.engine as ms\n\n@ms.jit\ndef branch(x):\n    return x if x.sum() > 0 else -x\n\n\n"
        "_ = branch(ms.Tensor([1.0]))"
    )
    count = plain.run("print(len(In) - 2)").text.strip()
    assert f"a branch is taken on a tensor's value (Cell In[{count}], line 5)" in result.errors
    assert f"Cell In[{count}]:8: UserWarning: no plan can be made of 'branch'" in result.errors
    assert "ipykernel" not in result.errors


def test_voila_which_shows_the_page_after_the_run_gets_live_panels() -> None:
    """Voila runs a notebook as nbclient does, without input, but the kernel lives on and the page talks to it."""
    with Kernel(env={"SERVER_SOFTWARE": "voila/0.5.13"}) as kernel:
        kernel.run(SETUP, allow_stdin=False)
        cell = kernel.run("%cell net", allow_stdin=False)
        assert WIDGET in cell.of_type("display_data")[0]["content"]["data"]
        paused = kernel.run("%%cell net --break 1\nprint('ran', net(x).shape)", allow_stdin=False)
        assert WIDGET in paused.of_type("display_data")[0]["content"]["data"]
        assert paused.text == "ran (4, 2)\n"
        assert "this front end takes no input" in paused.errors


@pytest.mark.parametrize("kernel_name", ["python3", "hookscope"])
def test_nbconvert_makes_a_page_with_static_forms_and_no_widget(kernel_name: str, tmp_path: Path) -> None:
    sources = ["from hookscope.widgets import CellTree, DebuggerPanel\nDebuggerPanel(dbg)", "CellTree(dbg)"]
    cells = [SETUP, "%cell net", "%%cell net -o dbg\nstep(x);", *sources]
    notebook = new_notebook(cells=[new_code_cell(source) for source in cells])
    notebook.metadata.kernelspec = {"name": kernel_name, "display_name": kernel_name, "language": "python"}
    nbformat.write(notebook, tmp_path / "network.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "network.ipynb"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    page = (tmp_path / "network.html").read_text(encoding="utf-8")
    assert page.count("Captures: 0") == 1
    assert page.count("grad_input[0]") >= 2
    assert page.count("A static copy: run the cell again for the live panel.") == 4
    assert f'<script type="{WIDGET}">' not in page
    assert "Error displaying widget" not in page
