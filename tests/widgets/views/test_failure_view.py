"""A failure in the panel: the status, the post mortem, the functions on the stack, and the forms without a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel, export_html, texts
from hookscope.widgets.static_html import snapshot

pytestmark = pytest.mark.usefixtures("sent")

LONG = "three elements <b>are</b> refused; " + "and so on " * 30


class Attention(nn.Cell):
    def construct(self, x: Any) -> Any:
        weights = x * 2.0
        if x.shape == (3,):
            raise ValueError(LONG)
        return weights


class Block(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Attention()

    def construct(self, x: Any) -> Any:
        hidden = x + 1.0
        return self.attn(hidden)


def ask(panel: DebuggerPanel, **message: Any) -> str:
    panel._received(panel, message, [])
    return str(panel.status["error"])


def elements(count: int) -> ms.Tensor:
    return ms.Tensor(np.ones(count, np.float32))


@pytest.fixture
def panel() -> DebuggerPanel:
    """Return the panel of a session whose run has failed."""
    session = DebugSession(Block(), conditions=["nan"])
    panel = DebuggerPanel(session)
    with pytest.raises(ValueError, match="three elements"), session:
        session.roots[0](elements(3))
    return panel


def test_the_status_says_what_failed_and_where_and_the_tooltip_all_of_it(panel: DebuggerPanel) -> None:
    status = panel.status
    assert status["state"] == "finished" and status["failed"]
    assert status["text"].startswith("failed in attn: ValueError: three elements <b>are</b> refused; and so on")
    assert len(status["text"]) == 90 and status["text"].endswith("…")
    assert status["full"] == f"failed in attn: ValueError: {LONG.strip()}"


def test_a_run_that_ends_well_is_finished_again(panel: DebuggerPanel) -> None:
    with panel.session:
        panel.session.roots[0](elements(2))
    assert panel.status["text"] == "finished, no longer watching" and not panel.status["failed"]


def test_the_post_mortem_shows_the_function_that_failed_and_evaluates_there(panel: DebuggerPanel) -> None:
    assert ask(panel, type="post_mortem") == ""
    stop = panel.stop
    assert (panel.view, stop["kind"], stop["function"], stop["path"]) == ("stepper", "failure", "construct", "attn")
    assert stop["exception"].startswith("ValueError: three elements")
    assert stop["notes"] == ["attn got x: float32 3"]
    assert [item["name"] for item in stop["locals"]] == ["self", "x", "weights"]
    ask(panel, type="evaluate", expression="weights.sum()")
    assert panel.evaluations[-1]["text"].startswith("Tensor () float32 [12")
    ask(panel, type="watch_expression", expression="x.shape")
    assert panel.watches[0]["text"] == "(3,)"
    ask(panel, type="edit", name="x", expression="x + 1")
    assert panel.evaluations[-1]["text"] == "RuntimeError: nothing can be set any more: the run has failed"
    assert ask(panel, type="resume", command="continue") == "cannot do 'continue': the run is not paused"


def test_another_function_of_the_stack_is_shown_and_marked(panel: DebuggerPanel) -> None:
    ask(panel, type="post_mortem")
    stack, frame = panel.stop["stack"], panel.stop["frame"]
    assert frame == len(stack) - 1 and panel.stop["walks"]
    assert [entry.partition(",")[0] for entry in stack[-2:]] == ["Block.construct", "Attention.construct"]
    assert ask(panel, type="show_frame", index=frame - 1) == ""
    assert panel.stop["frame"] == frame - 1 and panel.stop["stack"] == stack
    assert [item["name"] for item in panel.stop["locals"]] == ["self", "x", "hidden"]
    assert "must be one of" in ask(panel, type="show_frame", index=99)


def test_the_post_mortem_goes_with_the_failure(panel: DebuggerPanel) -> None:
    ask(panel, type="post_mortem")
    panel.session.clear_failure()
    panel.sync()
    assert panel.stop == {} and not panel.status["failed"]
    assert "has no failure" in ask(panel, type="post_mortem")


def test_a_panel_that_opens_at_a_post_mortem_shows_it(panel: DebuggerPanel) -> None:
    panel.session.post_mortem()
    other = DebuggerPanel(panel.session)
    assert (other.view, other.stop["kind"]) == ("stepper", "failure")


def test_while_the_run_is_paused_at_the_error_there_is_no_post_mortem() -> None:
    states: list[tuple[str, bool]] = []

    class Answers:
        def unavailable(self) -> None:
            return None

        def wait(self, until: Any) -> None:
            states.append((panel.status["text"], panel.status["failed"]))
            session.resume("continue")

    session = DebugSession(Block(), breaks=["exception"], pauser=Answers())
    panel = DebuggerPanel(session)
    with pytest.raises(ValueError, match="three elements"), session:
        session.roots[0](elements(3))
    line = Attention.construct.__code__.co_firstlineno + 3
    assert states == [(f"paused in attn, line {line}", False)]
    assert panel.status["failed"]


def test_the_static_form_and_the_export_say_it_and_show_the_stack(panel: DebuggerPanel, tmp_path: Any) -> None:
    path = tmp_path / "session.html"
    export_html(panel.session, str(path))
    for html in (snapshot.panel_html(panel.session), path.read_text()):
        assert "<b>Failed in attn: ValueError: three elements &lt;b&gt;are&lt;/b&gt; refused" in html
        assert "Failed: attn, line" in html
        assert "attn got x: float32 3" in html
        assert "Block.construct, line" in html
        assert "<b>are</b>" not in html


def test_an_error_whose_text_raises_is_one_line() -> None:
    class SilentError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    assert texts.error_line(SilentError()) == "SilentError: <its text raised RuntimeError>"
