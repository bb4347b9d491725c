"""Errors in a panel, a report or a page are reported in one line, and end neither a cell nor a script nor a test."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

IN_A_SHELL = """
import contextlib, io, os
os.environ["SERVER_SOFTWARE"] = {server!r}
import numpy as np
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "hookscope")
shell.run_cell('''
import numpy as np
import hookscope.engine as ms
from hookscope.engine import nn, ops, Tensor
ms.set_seed(1)
net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.Dense(4, 1))
x = Tensor(np.ones((1, 3), np.float32))
def bits():
    value, gradients = ms.value_and_grad(net, None, net.trainable_params())(x)
    return [one.asnumpy().tobytes() for one in (value, *gradients)]
alone = bits()
''').raise_error()

from types import SimpleNamespace
from unittest.mock import patch

from hookscope.engine.debug import DebugSession
from hookscope.kernel.panels import Panels
from hookscope.widgets import DebuggerPanel, panel
from hookscope.widgets.static_html import snapshot
from hookscope.widgets.views import VIEWS

def boom(*args, **named):
    raise RuntimeError("planted")

class Views(dict):
    def __getitem__(self, name):
        view = SimpleNamespace(**vars(super().__getitem__(name)))
        view.publish = boom
        return view

PLANTS = {{
    "the panel": patch.object(DebuggerPanel, "__init__", boom),
    "showing it": patch.object(DebuggerPanel, "display", boom),
    "a view": patch.object(panel, "VIEWS", Views(VIEWS)),
    "the heading": patch.object(panel, "heading", boom),
    "its status": patch.object(DebuggerPanel, "publish_status", boom),
    "the static forms": patch.object(snapshot, "panel_html", boom),
    "a line of text": patch.object(snapshot, "summary", boom),
    "findings": patch.object(DebugSession, "findings", boom),
    "hooks": patch.object(DebugSession, "hooks", boom),
    "another network": patch.object(Panels, "_detach_if_replaced", boom),
}}
for what, planted in PLANTS.items():
    err = io.StringIO()
    with planted, contextlib.redirect_stderr(err):
        shell.run_cell("%%cell net --check all\\nseen = bits()").raise_error()
        assert shell.user_ns.pop("seen") == shell.user_ns["alone"], what
        shell.run_cell("seen = bits()").raise_error()  # and what follows
        assert shell.user_ns.pop("seen") == shell.user_ns["alone"], what
    told = [line for line in err.getvalue().splitlines() if "planted" in line]
    assert len(told) == len(set(told)) and "Traceback" not in err.getvalue(), (what, err.getvalue())
    assert all(line.startswith("hookscope: ") for line in told), (what, told)
    print(what, len(told))
print("the same bits")
"""


@pytest.mark.parametrize("server", ["voila/0.5", ""], ids=["live", "static"])
def test_a_cell_under_the_debugger_runs_whatever_raises_in_what_is_shown_of_it(
    server: str, run_python: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    process = run_python(IN_A_SHELL.format(server=server), seconds=240)
    assert "the same bits" in process.stdout
    lines = dict(line.rsplit(" ", 1) for line in process.stdout.splitlines() if line[-1:].isdigit())
    silent = {what for what, count in lines.items() if count == "0"}
    # A live panel needs a page, and replaces the static form.
    assert silent <= {"the panel", "showing it", "a view", "the heading", "its status", "another network"} - (
        {"the panel", "showing it", "a view", "the heading", "its status"} if server else set()
    )


SCRIPT = """
import numpy as np
from mindspore import nn, ops, Tensor
import mindspore as ms
from hookscope.engine.debug.diagnose import {where}

def boom(*args, **named):
    raise RuntimeError("planted")

{where}.{name} = boom
net = nn.Dense(3, 1)
ms.value_and_grad(net, None, net.trainable_params())(Tensor(np.ones((1, 3), np.float32)))
print("ran")
"""


@pytest.mark.parametrize(
    ("where", "name"), [("report", "report_text"), ("findings", "text_table"), ("causes", "causes_of")]
)
def test_a_script_that_is_checked_ends_as_by_itself_where_the_report_fails(
    where: str, name: str, tmp_path: Path
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.format(where=where, name=name))
    process = subprocess.run(
        [sys.executable, "-m", "hookscope", "run", "--check", "script.py"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (process.returncode, process.stdout.splitlines()[0]) == (0, "ran")
    assert "Traceback" not in process.stderr
    assert process.stderr.count("the report raised RuntimeError: planted; the run goes on") == (where != "findings")


def test_losses_of_shape_one_end_no_checked_script(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import numpy as np\nimport mindspore as ms\nfrom mindspore import nn, Tensor\n"
        "net = nn.Dense(3, 1)\nx = Tensor(np.ones((1, 3), np.float32))\n"
        "for _ in range(3):\n"
        "    v, g = ms.value_and_grad(net, None, net.trainable_params())(x)\n"
        "    print(v.shape, [t.shape for t in g])\n"
    )
    process = subprocess.run(
        [sys.executable, "-m", "hookscope", "run", "--check", "script.py"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.count("(1, 1) [(1, 3), (1,)]") == 3
    assert "nothing wrong" in process.stdout


def test_a_test_whose_report_fails_passes_as_by_itself(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import numpy as np\nfrom mindspore import ops, Tensor, nn\n"
        "from hookscope.engine.debug.diagnose import report\n\n"
        "def boom(session):\n    raise RuntimeError('planted')\n\n"
        "class Log(nn.Cell):\n    def construct(self, x):\n        return ops.log(x)\n\n"
        "def test_faulty(monkeypatch):\n    report.report_text = boom\n    Log()(Tensor(np.float32([-1.0, 3.0])))\n"
    )
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-qs", "--alias-mindspore", "--check-networks=all", "test_it.py"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        check=False,
    )
    assert "1 passed" in process.stdout, process.stdout
    assert "the report raised RuntimeError: planted" in process.stderr


@pytest.mark.faults_expected
def test_what_raises_where_a_page_is_answered_in_a_run_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from types import SimpleNamespace

    from hookscope.engine.debug import faults
    from hookscope.engine.tape import progress
    from hookscope.kernel.pauses.message_filter import answer_at_safe_points

    def boom() -> None:
        raise RuntimeError("planted")

    before = progress._answer
    faults.kernel_faults.cache_clear()
    pump: Any = SimpleNamespace(inbox=SimpleNamespace(urgent=1), answer=boom)
    try:
        answer_at_safe_points(pump)
        for _ in range(3):
            progress.safe_point()
    finally:
        progress.answer_with(before)
        faults.kernel_faults.cache_clear()
    assert capsys.readouterr().err.count("answering a page in a run raised RuntimeError: planted") == 1
