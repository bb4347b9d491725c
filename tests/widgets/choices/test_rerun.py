"""What was clicked in a panel is there again in the session of the cell's next run, as far as the network allows."""

from __future__ import annotations

import linecache
import sys
from typing import Any

import numpy as np
import pytest

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.base.file_labels import set_file_labels
from hookscope.engine.debug import DebugAbort, DebugSession
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.choices import choices_of
from hookscope.widgets.choices.rerun import detach_hooks, take_over

pytestmark = pytest.mark.usefixtures("sent")

WRITTEN = "def doubled(cell, inputs, output):\n    print('seen')\n    return output * 2\n"


class Net(nn.Cell):
    def __init__(self, *names: str) -> None:
        super().__init__()
        for name in names or ("first", "head"):
            setattr(self, name, nn.Dense(3, 3, weight_init="ones", bias_init="zeros"))

    def construct(self, x: Any) -> Any:
        for cell in self.cells():
            x = cell(x)
        return x


class Double(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 2

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (dout * 2,)


@pytest.fixture
def net() -> Net:
    return Net()


def ones() -> Any:
    return ms.Tensor(np.ones((2, 3), np.float32))


def click(panel: DebuggerPanel, action: str, **fields: Any) -> None:
    panel._received(panel, {"type": action, **fields}, [])
    assert not panel.status["error"], panel.status["error"]


def run_again(panel: DebuggerPanel, net: Any = None, explicit: Any = (), **options: Any) -> DebuggerPanel:
    """Return the panel of a new session of the same cell, as the kernel opens it."""
    before = panel.session
    choices = choices_of(before).copy()
    detach_hooks(before)
    session = DebugSession(before.roots[0] if net is None else net, **options)
    take_over(session, choices, explicit)
    return DebuggerPanel(session, namespace=panel.namespace)


def test_clicks_of_every_kind_are_there_again(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "breakpoint", path="head", moment="backward")
    click(panel, "hook", path="first", kind="forward", on=True)
    click(panel, "condition", name="dead_relu", on=True, pause=True, threshold="0.9")
    click(panel, "custom_condition", expression="norm > 10")
    click(panel, "mute", condition="nan", path="head", on=True, reason="meant")
    click(panel, "watch_expression", expression="output.shape")
    click(panel, "bounds", max_bytes="1MiB", max_captures="")
    click(panel, "hook_draft", path="head", kind="forward", source="def hook(")
    click(panel, "show", view="parameters")
    again = run_again(panel)
    session = again.session
    assert [str(stop) for stop in session.breakpoints] == ["head:backward"]
    assert [(row.path, row.kind) for row in session.hooks()] == [("first", "forward")]
    assert [condition.name for condition in session.conditions] == ["dead_relu", "if norm > 10"]
    assert session.checks.conditions["dead_relu"].threshold == 0.9
    assert session.checks.pausing == {"dead_relu"}
    assert [tuple(mute) for mute in session.muted] == [("nan", "head", "meant")]
    assert [entry["expression"] for entry in again.watches] == ["output.shape"]
    assert session.captures.max_bytes == 1 << 20
    assert again.hook_draft["source"] == "def hook("
    assert again.view == "parameters"
    assert again.retained == {
        "text": "1 breakpoint, 2 conditions, 1 muted finding, 1 hook, 1 limit, 1 watch expression",
        "misfits": [],
    }


def test_five_runs_keep_the_same_once(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "breakpoint", path="head", moment="forward")
    click(panel, "hook", path="first", kind="forward", on=True)
    for _ in range(5):
        panel = run_again(panel)
        assert [str(stop) for stop in panel.session.breakpoints] == ["head:forward"]
        assert len(panel.session.hooks()) == 1
        assert panel.retained["text"] == "1 breakpoint, 1 hook"


def test_what_was_clicked_away_does_not_come_back(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    for moment in ("forward", "backward", ""):
        click(panel, "breakpoint", path="head", moment=moment)
    for on in (True, False):
        click(panel, "hook", path="first", kind="forward", on=on)
        click(panel, "condition", name="nan", on=on, pause=False, threshold="")
        click(panel, "mute", condition="inf", path="head", on=on, reason="")
    click(panel, "watch_expression", expression="x")
    click(panel, "unwatch_expression", expression="x")
    assert choices_of(panel.session).is_empty()
    again = run_again(panel)
    assert again.retained == {"text": "", "misfits": []}
    assert not again.session.breakpoints and not again.session.conditions and not again.session.hooks()


def test_what_code_did_is_left_to_the_code(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    panel.session.add_breakpoint("head")
    panel.session.add_condition("nan")
    panel.session.attach_hook("head", "forward", lambda cell, inputs, output: None)
    click(panel, "breakpoint", path="first", moment="forward")
    again = run_again(panel)
    assert [str(stop) for stop in again.session.breakpoints] == ["first:forward"]
    assert again.session.conditions == []
    assert choices_of(again.session).hooks == {}


def test_the_line_wins_over_what_was_clicked(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "breakpoint", path="head", moment="forward")
    click(panel, "condition", name="dead_relu", on=True, pause=True, threshold="0.9")
    click(panel, "mute", condition="nan", path="head", on=True, reason="clicked")
    click(panel, "bounds", max_bytes="1MiB", max_captures="7")
    choices = choices_of(panel.session).copy()
    session = DebugSession(
        net, breaks=["head if norm > 1"], conditions=["dead_relu=0.5"], max_bytes=2 << 20, name="again"
    )
    session.mute("nan", "head", "line")
    take_over(session, choices, {"dead_relu", "max_bytes"})
    assert [str(stop) for stop in session.breakpoints] == ["head:forward if norm > 1"]
    assert session.checks.conditions["dead_relu"].threshold == 0.5
    assert session.checks.pausing == set()
    assert [mute.reason for mute in session.muted] == ["line"]
    assert (session.captures.max_bytes, session.captures.max_captures) == (2 << 20, 7)


def test_of_all_conditions_a_changed_one_stays_changed(net: Net) -> None:
    """`--check all` names none of them."""
    panel = DebuggerPanel(DebugSession(net, conditions=["all"]))
    click(panel, "condition", name="dead_relu", on=True, pause=True, threshold="0.9")
    click(panel, "condition", name="nan", on=False, pause=False, threshold="")
    again = run_again(panel, conditions=["all"]).session
    assert again.checks.conditions["dead_relu"].threshold == 0.9
    assert again.checks.pausing == {"dead_relu"}
    assert "nan" not in again.checks.conditions
    assert "inf" in again.checks.conditions


def test_what_does_not_fit_is_said_and_is_back_when_it_fits_again(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "breakpoint", path="head", moment="forward")
    click(panel, "hook", path="head", kind="forward", on=True)
    click(panel, "mute", condition="nan", path="head", on=True, reason="")
    smaller = run_again(panel, Net("first"))
    assert smaller.retained == {
        "text": "",
        "misfits": [
            "breakpoint head:forward: the network has no such cell now",
            "nan muted in head: the network has no such cell now",
            "forward hook of head: the network has no such cell now",
        ],
    }
    back = run_again(smaller, Net())
    assert back.retained == {"text": "1 breakpoint, 1 muted finding, 1 hook", "misfits": []}


def test_a_breakpoint_in_a_bprop_that_is_gone_is_said() -> None:
    network = nn.SequentialCell([Double()])
    panel = DebuggerPanel(DebugSession(network))
    click(panel, "breakpoint", path="0", moment="bprop")
    again = run_again(panel, nn.SequentialCell([nn.ReLU()]))
    [line] = again.retained["misfits"]
    assert line.startswith("breakpoint 0:bprop: ") and "no such cell has a bprop of its own" in line


def test_a_written_hook_runs_once_and_prints_in_the_new_panel(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "attach_hook", path="head", kind="forward", source=WRITTEN)
    plain = float(Net()(ones()).asnumpy()[0, 0])
    again = run_again(panel)
    assert float(net(ones()).asnumpy()[0, 0]) == 2 * plain
    click(again, "hook_log")
    assert [entry["text"] for entry in again.hook_log["entries"]] == ["seen"]
    click(again, "show", view="hooks")
    [row] = again.hooks["rows"]
    assert row["source"] == WRITTEN and row["where"] == "written here"


def test_a_second_panel_of_the_run_attaches_nothing_twice(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "attach_hook", path="head", kind="forward", source=WRITTEN)
    click(panel, "watch_expression", expression="output")
    again = run_again(panel)
    second = DebuggerPanel(again.session)
    assert [entry["expression"] for entry in second.watches] == ["output"]
    net(ones())
    click(again, "hook_log")
    assert [entry["text"] for entry in again.hook_log["entries"]] == ["seen"]


def test_without_a_panel_a_written_hook_runs_too(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "attach_hook", path="head", kind="forward", source=WRITTEN)
    choices = choices_of(panel.session).copy()
    detach_hooks(panel.session)
    plain = float(net(ones()).asnumpy()[0, 0])
    take_over(DebugSession(net), choices)
    assert float(net(ones()).asnumpy()[0, 0]) == 2 * plain


def test_a_hook_that_abort_undid_stays_away(net: Net) -> None:
    class Aborting:
        def unavailable(self) -> None:
            return None

        def wait(self, until: Any) -> None:
            click(panel, "hook", path="first", kind="forward", on=True)
            click(panel, "resume", command="abort")

    session = DebugSession(net, breaks=["head"], pauser=Aborting())
    panel = DebuggerPanel(session, namespace={})
    with pytest.raises(DebugAbort), session:
        net(ones())
    assert run_again(panel).session.hooks() == []


def test_a_network_that_the_body_makes_gets_its_hooks_when_it_is_called() -> None:
    panel = DebuggerPanel(DebugSession(Net()), namespace={})
    click(panel, "attach_hook", path="head", kind="forward", source=WRITTEN)
    choices = choices_of(panel.session).copy()
    session = DebugSession(name="net")
    take_over(session, choices)
    again = DebuggerPanel(session, namespace={})
    assert again.retained["text"] == "1 hook"
    network = Net()
    with session:
        network(ones())
    click(again, "hook_log")
    assert [entry["text"] for entry in again.hook_log["entries"]] == ["seen"]


def test_the_selected_capture_is_selected_when_the_run_comes_to_it(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    with panel.session:
        net(ones())
    [index] = [c.index for c in panel.session.captures if (c.path, c.slot) == ("head", "output")]
    click(panel, "select", index=index)
    again = run_again(panel)
    with again.session:
        net(ones())
    selected = next(c for c in again.session.captures if c.index == again.selected)
    assert (selected.path, selected.slot, selected.step) == ("head", "output", 1)
    assert again.selection["path"] == "head"


def test_a_second_panel_shows_the_selected_capture(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    with panel.session:
        net(ones())
    click(panel, "select", index=1)
    assert panel.selection["index"] == 1
    assert DebuggerPanel(panel.session).selection == panel.selection


def test_a_capture_of_a_step_that_the_run_does_not_reach_is_replaced_by_that_of_the_last_one(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    with panel.session:
        for _ in range(3):
            net(ones())
    index = [c.index for c in panel.session.captures if (c.path, c.slot) == ("head", "output")][-1]
    click(panel, "select", index=index)
    again = run_again(panel)
    with again.session:
        for _ in range(2):
            net(ones())
    selected = next(c for c in again.session.captures if c.index == again.selected)
    assert (selected.path, selected.slot, selected.step) == ("head", "output", 2)


def test_a_capture_that_the_run_does_not_make_is_said(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    with panel.session:
        net(ones())
    index = next(c.index for c in panel.session.captures if c.path == "head")
    click(panel, "select", index=index)
    smaller = Net("first")
    again = run_again(panel, smaller)
    with again.session:
        smaller(ones())
    assert again.retained["misfits"] == ["capture head#0 forward input[0]: the network has no such cell now"]
    assert again.selected == -1


def test_a_selection_of_the_new_run_wins(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net))
    with panel.session:
        net(ones())
    click(panel, "select", index=next(c.index for c in panel.session.captures if c.path == "head"))
    again = run_again(panel)
    with again.session:
        net.first(ones())
        click(again, "select", index=0)
        net(ones())
    assert again.selected == 0


def test_forget_takes_away_what_was_clicked_and_leaves_what_the_line_gave(net: Net) -> None:
    panel = DebuggerPanel(DebugSession(net, breaks=["first"], conditions=["nan"]), namespace={})
    click(panel, "breakpoint", path="head", moment="forward")
    click(panel, "hook", path="head", kind="forward", on=True)
    click(panel, "condition", name="nan", on=True, pause=True, threshold="")
    click(panel, "condition", name="inf", on=True, pause=False, threshold="")
    click(panel, "watch_expression", expression="x")
    again = run_again(panel, breaks=["first"], conditions=["nan"])
    click(again, "forget_choices")
    session = again.session
    assert [str(stop) for stop in session.breakpoints] == ["first:forward"]
    assert (list(session.checks.conditions), session.checks.pausing) == (["nan"], set())
    assert session.hooks() == [] and again.watches == []
    assert again.retained == {"text": "", "misfits": []}
    assert choices_of(session).is_empty()


def test_choices_keep_no_network_alive(net: Net) -> None:
    import gc
    import weakref

    panel = DebuggerPanel(DebugSession(net), namespace={})
    click(panel, "breakpoint", path="head", moment="forward")
    click(panel, "hook", path="head", kind="forward", on=True)
    network = Net()
    gone = weakref.ref(network)
    other = run_again(panel, network)
    choices = choices_of(other.session).copy()
    detach_hooks(other.session)
    other.close()
    del other, network
    gc.collect()
    assert gone() is None
    assert choices.hooks


DOUBLE = """
class Double(nn.Cell):
    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        {}doubled = dout * 2
        return (doubled,)
"""


def double(text: str, name: str) -> Any:
    """Return a cell of a class that is defined by a notebook's cell with this text."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"nn": nn}
    exec(compile(text, name, "exec"), namespace)
    return namespace["Double"]()


@pytest.mark.parametrize(
    ("edited", "stops", "misfits"),
    [
        (DOUBLE.format(""), ["0:7"], []),
        ("# a comment\n" + DOUBLE.format("scale = 2\n        "), ["0:9"], []),
        (
            DOUBLE.replace("doubled = dout * 2", "doubled = dout + dout").format(""),
            [],
            ["breakpoint 0:7: the function has no line 'doubled = dout * 2' now"],
        ),
    ],
)
def test_a_breakpoint_at_a_line_moves_with_the_line(edited: str, stops: list[str], misfits: list[str]) -> None:
    class Setting:
        def unavailable(self) -> None:
            return None

        def wait(self, until: Any) -> None:
            click(panel, "set_breakpoint_at", line=7, condition="", log="")
            click(panel, "resume", command="continue")

    network = nn.SequentialCell([double(DOUBLE.format(""), "<ipython-input-1>")])
    session = DebugSession(network, step=True, pauser=Setting())
    panel = DebuggerPanel(session)
    with session:
        ms.grad(lambda x: network(x).sum())(ones())
    again = run_again(panel, nn.SequentialCell([double(edited, "<ipython-input-2>")]))
    assert [str(stop) for stop in again.session.breakpoints] == stops
    assert again.retained["misfits"] == misfits


TRAIN = """
def train(network, x):
    {}y = network(x)
    return y.sum()
"""


@pytest.mark.parametrize(
    ("edited", "stops", "misfits"),
    [
        (TRAIN.format(""), ["In[7]:4"], []),
        ("# a comment\n" + TRAIN.format("x = x * 2\n    "), ["In[7]:6"], []),
        (TRAIN.replace("y.sum()", "y.mean()").format(""), [], ["'return y.sum()' now"]),
    ],
)
def test_a_breakpoint_in_a_notebooks_function_moves_with_the_run_of_its_cell(
    edited: str, stops: list[str], misfits: list[str], net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = sys.modules["__main__"]

    def define(text: str, name: str) -> None:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {}
        exec(compile(text, name, "exec"), namespace)
        monkeypatch.setattr(main, "train", namespace["train"], raising=False)

    class Setting:
        def unavailable(self) -> None:
            return None

        def wait(self, until: Any) -> None:
            click(panel, "show_frame", index=-1)
            click(panel, "set_breakpoint_at", line=4, condition="", log="")
            click(panel, "resume", command="continue")

    set_file_labels({"<ipython-input-1>": "Cell In[3]", "<ipython-input-2>": "Cell In[7]"}.get)
    try:
        define(TRAIN.format(""), "<ipython-input-1>")
        session = DebugSession(net, breaks=[".:forward"], pauser=Setting())
        panel = DebuggerPanel(session)
        with session:
            main.train(net, ones())  # type: ignore[attr-defined]
        assert [str(stop) for stop in session.breakpoints][1:] == ["In[3]:4"]
        define(edited, "<ipython-input-2>")
        again = run_again(panel)
        assert [str(stop) for stop in again.session.breakpoints] == stops
        assert [text.rpartition("no line ")[2] for text in again.retained["misfits"]] == misfits
    finally:
        set_file_labels(None)
