"""Hooks written in the panel: checked, attached, heard, and taken off again, over a real session."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
import pytest
from plain_session import FakeClock

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.views.hooks import listed, written_hooks

pytestmark = pytest.mark.usefixtures("sent")

PRINTS = "def look(cell, inputs, output):\n    print('saw', output.shape)\n"


@pytest.fixture
def net() -> nn.Cell:
    return nn.SequentialCell(nn.Dense(3, 2), nn.ReLU())


@pytest.fixture
def panel(net: nn.Cell) -> DebuggerPanel:
    panel = DebuggerPanel(DebugSession(net), namespace={}, clock=FakeClock())
    panel.view = "hooks"
    return panel


def ask(panel: DebuggerPanel, **message: Any) -> None:
    panel._received(panel, message, [])
    assert panel.status["error"] == ""


def attach(panel: DebuggerPanel, source: str, kind: str = "forward", path: str = "0") -> dict[str, Any]:
    ask(panel, type="attach_hook", path=path, kind=kind, source=source)
    return dict(panel.hook_answer)


def printed(panel: DebuggerPanel) -> list[dict[str, Any]]:
    ask(panel, type="hook_log")
    return list(panel.hook_log["entries"])


def run(net: nn.Cell) -> Any:
    return net(ms.Tensor(np.ones((4, 3), np.float32)))


def train(net: nn.Cell) -> None:
    ms.grad(lambda x: net(x).sum())(ms.Tensor(np.ones((4, 3), np.float32)))


def test_a_written_hook_is_attached_and_what_it_prints_is_in_the_panel_only(
    panel: DebuggerPanel, net: nn.Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert attach(panel, PRINTS) == {"text": "attached: forward hook look of 0", "failed": False}
    run(net)
    assert printed(panel) == [{"where": "forward hook look of 0", "text": "saw (4, 2)", "failed": False, "times": 1}]
    assert capsys.readouterr().out == ""
    assert sys.stdout is not None and not isinstance(sys.stdout, written_hooks._Router)


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_every_template_has_the_signature_of_its_kind_and_runs(panel: DebuggerPanel, net: nn.Cell, kind: str) -> None:
    assert attach(panel, listed.TEMPLATES[kind], kind)["failed"] is False
    train(net)
    (entry,) = printed(panel)
    assert entry["text"].startswith("Dense ")
    assert not entry["failed"]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(cell, x):\n    pass\n", "must take 3 arguments, as hook(cell, inputs, output), but got f(cell, x)"),
        ("def f(:\n", "ValueError: line 1: invalid syntax"),
        ("x = 1\n", "ValueError: the text must define the hook: a function, def NAME(...):"),
        ("import nowhere_to_be_found\ndef f(c, i, o): pass\n", "ModuleNotFoundError: No module named"),
        ("\0", "ValueError: source code string cannot contain null bytes"),
    ],
)
def test_what_is_no_hook_is_refused_in_one_line(panel: DebuggerPanel, source: str, line: str) -> None:
    answer = attach(panel, source)
    assert answer["failed"]
    assert line in answer["text"]
    assert "\n" not in answer["text"]
    assert panel.hooks["rows"] == []


def test_a_hook_on_no_cell_is_answered_with_the_nearest(panel: DebuggerPanel) -> None:
    assert "no cell 'nowhere'" in attach(panel, PRINTS, path="nowhere")["text"]


def test_what_a_hook_returns_counts_and_what_it_raises_goes_on_and_is_shown(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, "def zero(cell, inputs, output):\n    return output * 0\n")
    assert float(run(net).asnumpy().sum()) == 0
    attach(panel, "def bad(cell, inputs, output):\n    print('before')\n    return 1 / 0\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run(net)
    assert any("forward hook 'bad'" in note for note in caught.value.__notes__)
    entries = printed(panel)
    assert [(entry["text"], entry["failed"]) for entry in entries] == [
        ("before", False),
        ("ZeroDivisionError: division by zero\nline 3: return 1 / 0", True),
    ]


def test_the_same_error_is_shown_once_and_counted(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, "def bad(cell, inputs, output):\n    raise ValueError(len(output))\n")
    for rows in (4, 4, 4, 5):
        with pytest.raises(ValueError, match=str(rows)):
            net(ms.Tensor(np.ones((rows, 3), np.float32)))
    assert [(entry["text"].partition("\n")[0], entry["times"]) for entry in printed(panel)] == [
        ("ValueError: 4", 3),
        ("ValueError: 5", 1),
    ]


def test_what_is_written_is_kept_within_bounds(panel: DebuggerPanel) -> None:
    ask(panel, type="hook_draft", path="0", kind="backward", source="def f" * 50_000)
    assert panel.hook_draft == {"path": "0", "kind": "backward", "source": ("def f" * 50_000)[:100_000]}
    panel._received(panel, {"type": "hook_draft", "path": "0", "kind": "sideways", "source": ""}, [])
    assert "unknown hook kind 'sideways'" in panel.status["error"]
    assert panel.hook_draft["kind"] == "backward"


def test_a_hook_sees_the_notebooks_names_also_those_that_come_later(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, "import math\ndef helper():\n    return math.pi + later\ndef f(c, i, o):\n    print(helper() > 10)\n")
    panel.namespace["later"] = 7
    run(net)
    assert printed(panel)[0]["text"] == "True"
    assert "helper" in panel.namespace


def test_every_hook_is_listed_with_its_place_and_only_the_sessions_can_be_detached(
    panel: DebuggerPanel, net: nn.Cell
) -> None:
    def mine(cell: nn.Cell, inputs: Any, output: Any) -> None:
        """Do nothing, on purpose."""

    net[1].register_forward_hook(mine)
    ask(panel, type="hook", path="1", kind="backward", on=True)
    attach(panel, PRINTS)
    rows = {(row["path"], row["kind"]): row for row in panel.hooks["rows"]}
    line = mine.__code__.co_firstlineno
    assert rows["1", "forward"]["where"] == f"test_hooks_view.py:{line}"
    assert rows["1", "forward"]["function"].endswith("<locals>.mine")
    assert [row["own"] for row in rows.values()] == [True, False, True]
    assert rows["1", "backward"]["function"] == "makes captures"
    assert (rows["0", "forward"]["source"], rows["0", "forward"]["where"]) == (PRINTS, "written here")
    ask(panel, type="hook", path="0", kind="forward", on=False)
    run(net)
    assert printed(panel) == []
    assert len(panel.hooks["rows"]) == 2


def test_what_hooks_print_is_bounded(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, "def f(cell, inputs, output):\n    print('x' * 1500)\n")
    for _ in range(100):
        run(net)
    entries = printed(panel)
    assert sum(len(entry["text"]) for entry in entries) <= 20_000
    assert panel.hook_log["dropped"] == 100 - len(entries)
    attach(panel, "def f(cell, inputs, output):\n    print('y' * 10**6)\n")
    run(net)
    assert len(printed(panel)[-1]["text"]) == 2000
    ask(panel, type="clear_hook_log")
    assert panel.hook_log["entries"] == []


def test_the_log_is_told_ten_times_a_second_at_most_and_the_rest_when_asked(net: nn.Cell) -> None:
    clock = FakeClock()
    panel = DebuggerPanel(DebugSession(net), namespace={}, clock=clock)
    attach(panel, PRINTS)
    told = []
    panel.observe(lambda change: told.append(change), "hook_log")
    for tick in range(100):
        clock.now = tick / 100
        run(net)
    assert 9 <= len(told) <= 11
    assert "\n".join(entry["text"] for entry in printed(panel)).count("saw") == 100


def test_other_threads_print_where_they_did_before(
    panel: DebuggerPanel, net: nn.Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    inside, done = threading.Event(), threading.Event()
    panel.namespace |= {"inside": inside, "done": done}
    attach(panel, "def f(cell, inputs, output):\n    inside.set(); done.wait(10); print('hook')\n")
    thread = threading.Thread(target=run, args=(net,))
    thread.start()
    inside.wait(10)
    print("cell")
    done.set()
    thread.join()
    print("after")
    assert capsys.readouterr().out == "cell\nafter\n"
    assert [entry["text"] for entry in printed(panel)] == ["hook"]


def test_a_hook_outlives_its_panel_and_does_not_keep_it(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, PRINTS)
    panel.close()
    run(net)
    assert panel.hook_log == {}
