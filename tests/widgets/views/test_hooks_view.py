"""Hooks written in the panel: checked, attached, logged, and removed again, over a real session."""

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
from hookscope.widgets.views.hooks import rows as listed
from hookscope.widgets.views.hooks import written_hooks
from hookscope.widgets.views.hooks.names import MAX_NAMES, names_at_end
from hookscope.widgets.views.hooks.static_html import hook_rows

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
    answer = attach(panel, PRINTS)
    assert answer == {"text": "attached: forward hook look of 0", "failed": False, "line": 0, "source": ""}
    run(net)
    (entry,) = printed(panel)
    assert (entry["where"], entry["text"]) == ("forward hook look of 0", "saw (4, 2)")
    assert (entry["failed"], entry["times"], entry["number"], entry["line"]) == (False, 1, 0, 0)
    assert capsys.readouterr().out == ""
    assert sys.stdout is not None and not isinstance(sys.stdout, written_hooks._Router)


def test_where_a_network_is_compiled_the_panel_says_that_a_hook_makes_its_calls_eager(
    panel: DebuggerPanel, net: nn.Cell
) -> None:
    attach(panel, PRINTS)
    assert panel.hooks["note"] == "" and panel.status["text"] == "ready"
    ask(panel, type="hook", path="0", kind="forward", on=False)
    net.compile(ms.Tensor(np.ones((4, 3), np.float32)))
    assert panel.hooks["note"] == ""
    attach(panel, PRINTS)
    message = "SequentialCell is compiled; while a hook of the session is attached, its calls run eagerly"
    assert panel.hooks["note"] == message
    assert panel.status["text"] == "ready; compiled calls run eagerly"
    net.compile_and_run(ms.Tensor(np.ones((4, 3), np.float32)))
    assert printed(panel)[-1]["text"] == "saw (4, 2)"
    ask(panel, type="hook", path="0", kind="forward", on=False)
    assert panel.hooks["note"] == "" and panel.status["text"] == "ready"


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_every_template_has_the_signature_of_its_kind_and_runs(panel: DebuggerPanel, net: nn.Cell, kind: str) -> None:
    assert attach(panel, listed.TEMPLATES[kind], kind)["failed"] is False
    train(net)
    (entry,) = printed(panel)
    assert entry["text"].startswith("Dense ")
    assert not entry["failed"]


WRONG = "must take 3 arguments, as hook(cell, inputs, output), but got f(cell, x)"


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("# why\ndef f(cell, x):\n    pass\n", WRONG, 2),
        ("def f(cell, inputs, output):\n    if output\n        pass\n", "line 2: SyntaxError: expected ':'", 2),
        ("def f(cell, inputs, output):\npass\n", "line 2: IndentationError: expected an indented block", 2),
        ("x = 1\n", "ValueError: the text must define the hook: a function, def NAME(...):", 0),
        ("\nimport nowhere_to_be_found\ndef f(c, i, o): pass\n", "line 2: ModuleNotFoundError: No module named", 2),
        ("\0", "source code string cannot contain null bytes", 0),
    ],
)
def test_what_is_no_hook_is_refused_in_one_line_that_names_the_line(
    panel: DebuggerPanel, source: str, message: str, line: int
) -> None:
    answer = attach(panel, source)
    assert answer["failed"]
    assert message in answer["text"]
    assert "\n" not in answer["text"]
    assert (answer["line"], answer["source"]) == (line, source)
    assert panel.hooks["rows"] == []


def test_an_error_while_a_hook_runs_names_the_hook_and_the_line(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, "def helper(x):\n    return x[99]\n\n\ndef f(c, i, o):\n    helper(o.shape)\n")
    attach(panel, "def g(c, i, o):\n    return None\n", path="1")
    with pytest.raises(IndexError):
        run(net)
    (entry,) = printed(panel)
    numbers = {row["path"]: row["number"] for row in panel.hooks["rows"]}
    assert (entry["number"], entry["line"]) == (numbers["0"], 2)
    assert numbers["0"] != numbers["1"]


def test_a_hook_on_no_cell_is_answered_with_the_nearest(panel: DebuggerPanel) -> None:
    answer = attach(panel, PRINTS, path="nowhere")
    assert "no cell 'nowhere'" in answer["text"]
    assert answer["line"] == 0  # the text is right


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
        """Do nothing."""

    net[1].register_forward_hook(mine)
    ask(panel, type="hook", path="1", kind="backward", on=True)
    attach(panel, PRINTS)
    rows = {(row["path"], row["kind"]): row for row in panel.hooks["rows"]}
    line = mine.__code__.co_firstlineno
    assert rows["1", "forward"]["where"] == f"test_hooks_view.py:{line}"
    assert rows["1", "forward"]["function"] == "mine"
    assert [row["by_session"] for row in rows.values()] == [True, False, True]
    assert rows["1", "backward"]["function"] == "makes captures"
    assert (rows["0", "forward"]["source"], rows["0", "forward"]["where"]) == (PRINTS, "written here")
    ask(panel, type="hook", path="0", kind="forward", on=False)
    run(net)
    assert printed(panel) == []
    assert len(panel.hooks["rows"]) == 2


def test_a_saved_panel_names_hooks_as_their_authors_do(panel: DebuggerPanel, net: nn.Cell) -> None:
    def mine(cell: nn.Cell, inputs: Any, output: Any) -> None:
        """Do nothing."""

    net[1].register_forward_hook(mine)
    ask(panel, type="hook", path="1", kind="backward", on=True)
    rows = hook_rows(panel.session)
    assert [(path, kind, name, of) for path, kind, name, of in rows if path == "1"] == [
        ("1", "forward", "mine", "you"),
        ("1", "backward", "makes captures", "panel"),
    ]


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
    logs = []
    panel.observe(lambda change: logs.append(change), "hook_log")
    for tick in range(100):
        clock.now = tick / 100
        run(net)
    assert 9 <= len(logs) <= 11
    assert "\n".join(entry["text"] for entry in printed(panel)).count("saw") == 100


def test_other_threads_print_where_they_did_before(
    panel: DebuggerPanel, net: nn.Cell, capsys: pytest.CaptureFixture[str]
) -> None:
    inside, ended = threading.Event(), threading.Event()
    panel.namespace |= {"inside": inside, "done": ended}
    attach(panel, "def f(cell, inputs, output):\n    inside.set(); done.wait(120); print('hook')\n")
    thread = threading.Thread(target=run, args=(net,))
    thread.start()
    inside.wait(120)
    print("cell")
    ended.set()
    thread.join()
    print("after")
    assert capsys.readouterr().out == "cell\nafter\n"
    assert [entry["text"] for entry in printed(panel)] == ["hook"]


def test_a_hook_outlives_its_panel_and_does_not_keep_it(panel: DebuggerPanel, net: nn.Cell) -> None:
    attach(panel, PRINTS)
    panel.close()
    run(net)
    assert panel.hook_log == {}


class Secretive:
    """An object that runs the user's code when it is inspected."""

    plain = 1

    def __init__(self) -> None:
        self.looked = 0

    @property
    def computed(self) -> str:
        self.looked += 1
        return "text"

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_"):
            self.looked += 1
        return "text"


def offered(text: str, kind: str = "forward", cell: object = None, **namespace: Any) -> list[str]:
    return names_at_end(text, kind, cell, namespace).names


def test_names_of_the_notebook_of_the_hook_and_of_python_are_offered_the_nearest_first() -> None:
    text = "def f(cell, inputs, output):\n    outline, outset = 1, 2\n    for out in inputs:\n        o"
    assert offered(text, outer=1, _out=2, other=3)[:6] == ["output", "outline", "outset", "out", "other", "outer"]
    assert "open" in offered(text) and "or" in offered(text)
    assert names_at_end("np.lina", "forward", None, {"np": np}) == ("lina", ["linalg"])
    assert offered("_", _hidden=1)[0] == "_hidden"
    assert offered("", visible=1, _hidden=2)[0] == "visible"
    assert "_hidden" not in offered("", visible=1, _hidden=2)


@pytest.mark.parametrize(
    ("kind", "written", "expected"),
    [
        ("forward", "def f(cell, inputs, output):\n    output.asn", ["asnumpy"]),
        ("forward", "def f(cell, inputs, output):\n    inputs[0].asn", ["asnumpy"]),
        ("forward", "def f(cell, inputs, output):\n    inputs.asn", []),
        ("forward", "def f(cell, inputs, output):\n    inputs.cou", ["count"]),
        ("backward_pre", "def f(cell, grad):\n    g = grad[0]  # the first\n    print(g.asn", ["asnumpy"]),
        ("backward", "def f(c, grad_input, grad_output):\n    for g in grad_output:\n        g.asn", ["asnumpy"]),
        ("forward", "def f(cell, inputs, output):\n    a = b\n    b = a\n    a.x", []),
        ("forward", "def f(cell, inputs, output):\n    cell.construct.__na", ["__name__"]),
        ("forward", "print().x", []),
        ("forward", "1.x", []),
        ("forward", "'text'.x", []),
    ],
)
def test_attributes_of_what_a_hook_gets_are_offered(kind: str, written: str, expected: list[str]) -> None:
    assert offered(written, kind) == expected


def test_the_cell_that_is_hooked_has_its_own_cells_and_parameters(net: nn.Cell) -> None:
    net.bias_of_net = ms.Parameter(ms.Tensor([1.0]), name="bias_of_net")
    written = "def f(cell, inputs, output):\n    cell."
    assert offered(f"{written}bias_of", cell=net) == ["bias_of_net"]
    assert "weight" in offered(f"{written}weig", cell=net[0])
    assert offered("net[0].weig", net=net) == ["weight"]
    assert offered("net.bias_of_net.asn", net=net) == ["asnumpy"]


def test_looking_for_names_runs_no_code_of_the_users() -> None:
    secretive = Secretive()
    assert offered("it.pla", it=secretive) == ["plain"]
    assert offered("it.computed.upp", it=secretive) == []
    assert offered("it.anything.upp", it=secretive) == []
    assert offered("it[0].upp", it=secretive) == []
    assert secretive.looked == 0


def test_a_long_text_is_searched_at_once_and_a_long_list_is_cut() -> None:
    namespace = {f"name_{k}": k for k in range(1000)}
    assert len(offered("x = 1\n" * 15_000 + " " * 5_000 + "name_", **namespace)) == MAX_NAMES


def test_names_are_asked_for_by_the_page_and_answered_with_its_number(panel: DebuggerPanel, sent: list[Any]) -> None:
    panel.namespace["losses"] = []
    sent.clear()
    ask(panel, type="complete_hook", number=7, path="nowhere", kind="forward", before="loss")
    answers = [data["content"] for _, data, _ in sent if data.get("method") == "custom"]
    assert {"type": "hook_names", "number": 7, "begun": "loss", "names": ["losses"]} in answers
