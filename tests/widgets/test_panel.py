"""The panel's conversation with the page: its messages, and the effect of requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from plain_session import FakeClock, PlainSession, plain_node
from sent_cells import cells_of

from hookscope.engine.debug import Breakpoint
from hookscope.widgets import DebuggerPanel

pytestmark = pytest.mark.usefixtures("sent")


@pytest.fixture
def panel(session: PlainSession, sent: list[Any], clock: FakeClock) -> DebuggerPanel:
    panel = DebuggerPanel(session, clock=clock)
    panel.view = "cells"  # most requests here go to the tree
    return panel


def ask(panel: DebuggerPanel, **message: Any) -> None:
    """Deliver a message as ipywidgets does."""
    panel._handle_msg({"content": {"data": {"method": "custom", "content": message}}, "buffers": []})


def custom(sent: list[Any], kind: str) -> list[tuple[dict[str, Any], list[Any]]]:
    return [
        (data["content"], buffers)
        for _, data, buffers in sent
        if data.get("method") == "custom" and data["content"]["type"] == kind
    ]


# Requests that a page may make.


@pytest.mark.parametrize("kind", ["forward_pre", "forward", "backward_pre", "backward"])
def test_a_hook_is_attached_and_detached(panel: DebuggerPanel, session: PlainSession, kind: str) -> None:
    ask(panel, type="hook", path="block.relu", kind=kind, on=True)
    assert session.node("block.relu").attached == {kind}
    assert cells_of(panel)[2]["attached"] == [kind]
    ask(panel, type="hook", path="block.relu", kind=kind, on=False)
    assert cells_of(panel)[2]["attached"] == []


def test_train_mode_follows_the_switch(panel: DebuggerPanel) -> None:
    ask(panel, type="train", path="block", on=False)
    assert [node["training"] for node in cells_of(panel)] == [True, False, True]


def test_a_breakpoint_is_set_and_taken_away(panel: DebuggerPanel, session: PlainSession) -> None:
    ask(panel, type="breakpoint", path="block.relu", moment="forward_pre")
    ask(panel, type="breakpoint", path="block.relu", moment="bprop")
    ask(panel, type="breakpoint", path="block.relu", moment="bprop")
    assert session.breakpoints == [Breakpoint("block.relu", "bprop")]
    assert [node["breaks"] for node in cells_of(panel)] == [[], [], ["bprop"]]
    ask(panel, type="breakpoint", path="block.relu", moment="")
    assert session.breakpoints == []


def test_taking_a_cell_out_of_a_pattern_leaves_the_others_their_breakpoint(
    panel: DebuggerPanel, session: PlainSession
) -> None:
    session.nodes.append(plain_node("block.gelu", 2, "GELU", has_bprop=True))
    session.breakpoints = [Breakpoint("block.*", "bprop", "step > 2"), Breakpoint("block.relu", "forward")]
    ask(panel, type="breakpoint", path="block.relu", moment="forward")
    assert session.breakpoints == [Breakpoint("block.relu", "forward"), Breakpoint("block.gelu", "bprop", "step > 2")]


def test_requires_grad_follows_the_box(panel: DebuggerPanel, session: PlainSession) -> None:
    panel.view = "parameters"
    before = panel.parameter_numbers
    ask(panel, type="requires_grad", name="block.weight", on=False)
    assert session.rows[0].requires_grad is False
    assert panel.parameter_numbers != before


def test_resume_passes_each_command_once(panel: DebuggerPanel, session: PlainSession) -> None:
    commands = ["over", "into", "out", "operator", "cell", "continue", "abort"]
    for command in commands:
        session.pause()
        ask(panel, type="resume", command=command)
    assert session.commands == commands
    assert panel.status["state"] == "running"


def test_what_is_shown_moves_back_and_forward_while_the_run_stands(panel: DebuggerPanel, session: PlainSession) -> None:
    session.pause()
    live = panel.stop
    ask(panel, type="step_back")
    assert (panel.stop["kind"], panel.stop["line"], panel.stop["reason"]) == ("past", 10, "1 line back")
    assert panel.status["text"] == "paused in bprop of block.relu, line 11"
    ask(panel, type="step_forward")
    assert panel.stop == live and not live["operators"][0]["shown"]
    ask(panel, type="show_operator", index=0)
    assert panel.stop["operators"][0]["shown"] and panel.stop["reason"] == "operator Mul"
    ask(panel, type="show_operator", index=7)
    assert panel.status["error"].startswith("IndexError")
    assert session.looks == [("step_back",), ("step_forward",), ("show_operator", 0), ("show_operator", 7)]
    assert session.commands == []


def test_resume_while_running_is_refused(panel: DebuggerPanel, session: PlainSession) -> None:
    ask(panel, type="resume", command="over")
    assert session.commands == []
    assert panel.status["error"] == "cannot do 'over': the run is not paused"


def test_a_resume_that_fails_leaves_the_panel_paused(panel: DebuggerPanel, session: PlainSession) -> None:
    def refuse(command: str) -> None:
        raise RuntimeError("busy")

    session.resume = refuse
    session.pause()
    ask(panel, type="resume", command="over")
    assert panel.status["state"] == "paused"
    assert panel.status["error"] == "RuntimeError: busy"


def test_evaluate_answers_with_the_value_or_one_line_of_error(panel: DebuggerPanel, session: PlainSession) -> None:
    session.pause()
    ask(panel, type="evaluate", expression="n + 1")
    ask(panel, type="evaluate", expression="missing")
    assert panel.evaluations == [
        {"expression": "n + 1", "text": "4", "failed": False},
        {"expression": "missing", "text": "NameError: name 'missing' is not defined", "failed": True},
    ]
    assert panel.status["error"] == ""


def test_evaluate_while_running_is_refused(panel: DebuggerPanel) -> None:
    ask(panel, type="evaluate", expression="1")
    assert panel.evaluations == []
    assert panel.status["error"] == "cannot evaluate: the run is not paused"


def test_only_the_last_20_evaluations_are_kept(panel: DebuggerPanel, session: PlainSession) -> None:
    session.pause()
    for k in range(25):
        ask(panel, type="evaluate", expression=str(k))
    assert [evaluation["text"] for evaluation in panel.evaluations] == [str(k) for k in range(5, 25)]


def test_interrupting_an_evaluation_reaches_the_paused_run(panel: DebuggerPanel, session: PlainSession) -> None:
    def interrupt(expression: str) -> object:
        raise KeyboardInterrupt

    session.evaluate = interrupt
    session.pause()
    with pytest.raises(KeyboardInterrupt):
        panel._received(panel, {"type": "evaluate", "expression": "forever()"}, [])


def test_selecting_a_capture_publishes_its_histogram(panel: DebuggerPanel, session: PlainSession) -> None:
    session.capture()
    ask(panel, type="select", index=0)
    assert panel.selection["key"] == "block#0 forward output"
    assert len(panel.histogram) == (64 + 65) * 8


def test_selecting_a_dropped_capture_says_so(panel: DebuggerPanel) -> None:
    ask(panel, type="select", index=7)
    assert panel.selection == {}
    assert panel.status["error"] == "capture 7 is no longer kept"


def test_statistics_are_computed_for_what_is_looked_at_and_while_code_runs_only_when_it_is_time(
    panel: DebuggerPanel, session: PlainSession, sent: list[Any], clock: FakeClock
) -> None:
    captures = [session.capture() for _ in range(3)]
    panel.sync()
    for capture in captures:
        capture.computed = 0
    ask(panel, type="statistics", indices=[1, 99])
    assert [capture.computed for capture in captures] == [0, 0, 0]
    clock.now = 1.0
    ask(panel, type="statistics", indices=[1, 99])
    assert [capture.computed for capture in captures] == [0, 1, 0]
    ((_, buffers),) = custom(sent, "statistics")
    assert len(buffers[0]) == 10 * 8


# Requests that it may not make.


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ({"type": "explode"}, "unknown message 'explode'; known: hello, sync, show, "),
        ({"type": 3}, "a message must be an object with a type, got {'type': 3}"),
        ({}, "a message must be an object with a type, got {}"),
        ({"type": "hook", "path": "block", "kind": "forward"}, "message 'hook' needs on: bool, got nothing"),
        ({"type": "train", "path": 3, "on": True}, "message 'train' needs path: str, got int"),
        ({"type": "train", "path": "block", "on": 1}, "message 'train' needs on: bool, got int"),
        (
            {"type": "hook", "path": "block", "kind": "sideways", "on": True},
            "unknown hook kind 'sideways'; it is one of",
        ),
        ({"type": "train", "path": "blok", "on": True}, "ValueError: no cell 'blok'; the nearest is 'block'"),
        (
            {"type": "resume", "command": "fly"},
            "unknown command 'fly'; it is one of over, into, out, operator, cell, continue, abort",
        ),
        ({"type": "show", "view": "moon"}, "unknown view 'moon'; it is one of findings, cells, captures, curves"),
        ({"type": "select", "index": True}, "message 'select' needs index: int, got bool"),
        ({"type": "statistics", "indices": ["a"]}, "message 'statistics': indices must be a list of int"),
    ],
)
def test_a_bad_message_is_one_line_in_the_status(panel: DebuggerPanel, message: dict[str, Any], line: str) -> None:
    ask(panel, **message)
    assert panel.status["error"].startswith(line)
    assert "\n" not in panel.status["error"]


@pytest.mark.parametrize("content", [None, 3, "hello", ["hello"]])
def test_a_message_that_is_no_object_is_one_line_in_the_status(panel: DebuggerPanel, content: object) -> None:
    panel._received(panel, content, [])
    assert panel.status["error"].startswith("a message must be an object with a type, got ")


def test_the_next_good_action_clears_the_error(panel: DebuggerPanel) -> None:
    ask(panel, type="explode")
    ask(panel, type="train", path="block", on=True)
    assert panel.status["error"] == ""


def test_what_the_page_asks_by_itself_leaves_the_error_in_place(panel: DebuggerPanel) -> None:
    ask(panel, type="explode")
    for message in ({"type": "sync"}, {"type": "hello"}, {"type": "statistics", "indices": []}):
        ask(panel, **message)
    assert panel.status["error"].startswith("unknown message 'explode'")


def test_every_message_is_answered(panel: DebuggerPanel, sent: list[Any]) -> None:
    ask(panel, type="explode")
    ask(panel, type="hello")
    assert [content["action"] for content, _ in custom(sent, "done")] == ["explode", "hello"]


# Events of the session.


def test_the_status_follows_the_run(panel: DebuggerPanel, session: PlainSession) -> None:
    texts = [panel.status["text"]]
    session.capture()
    texts.append(panel.status["text"])
    session.pause()
    texts.append(panel.status["text"])
    session.paused = None
    for event in ("resumed", "finished"):
        session.emit(event)
        texts.append(panel.status["text"])
    where = "paused in bprop of block.relu, line 11"
    assert texts == ["ready", "running", where, "running", "finished, no longer watching"]


def test_a_session_that_was_attached_before_is_watching_not_running(
    session: PlainSession, sent: list[Any], clock: FakeClock
) -> None:
    session.attached = True
    panel = DebuggerPanel(session, clock=clock)
    texts = [panel.status["text"]]
    session.capture()
    texts.append(panel.status["text"])
    session.pause()
    ask(panel, type="resume", command="continue")
    session.emit("resumed")
    texts.append(panel.status["text"])
    assert texts == ["watching"] * 3
    before = len(custom(sent, "captures"))
    for _ in range(100):
        session.capture()
    assert len(custom(sent, "captures")) <= before + 1, "the throttle does not hold here"


def test_pauses_that_nobody_could_answer_are_told_and_shown(panel: DebuggerPanel, session: PlainSession) -> None:
    session.pause()
    session.skipped_pauses = [session.paused]
    session.paused = session.shown = None
    session.emit("finished")
    assert panel.status["text"] == "finished, no longer watching; 1 pause skipped: nobody could answer"
    assert panel.stop["skipped"] is True
    assert panel.stop["line"] == 11


def test_live_updates_are_throttled_and_the_rest_is_sent_at_the_end(
    session: PlainSession, sent: list[Any], clock: FakeClock
) -> None:
    panel = DebuggerPanel(session, clock=clock)
    panel.view = "captures"
    ask(panel, type="hello")
    for tick in range(1000):
        clock.now = tick / 1000
        session.capture()
    # On this clock an update takes no time; its cost for the server and the page counts, too.
    assert 4 <= len(custom(sent, "captures")) <= 6
    assert len(custom(sent, "backlog")) <= 6
    session.emit("finished")
    assert sum(content["count"] for content, _ in custom(sent, "captures")) == 1000
    assert panel.status["text"] == "finished, no longer watching"


def test_captures_held_back_by_the_throttle_come_when_the_page_asks_later(
    panel: DebuggerPanel, session: PlainSession, sent: list[Any], clock: FakeClock
) -> None:
    panel.view = "captures"
    ask(panel, type="hello")
    for _ in range(10):
        session.capture()
    assert len(custom(sent, "backlog")) == 1
    ask(panel, type="sync")
    assert len(custom(sent, "backlog")) == 2, "the throttle does not hold here"
    clock.now = 1.0
    ask(panel, type="sync")
    assert sum(content["count"] for content, _ in custom(sent, "captures")) == 10


def test_a_capture_that_is_not_due_costs_nothing(panel: DebuggerPanel, session: PlainSession, sent: list[Any]) -> None:
    ask(panel, type="hello")
    session.capture()
    session.capture()
    trees, messages = session.trees_made, len(sent)
    for _ in range(100):
        session.capture()
    assert (session.trees_made, len(sent)) == (trees, messages)


def test_a_fault_of_the_panel_never_reaches_the_users_run(
    panel: DebuggerPanel, session: PlainSession, clock: FakeClock
) -> None:
    def broken() -> list[Any]:
        raise RuntimeError("boom")

    session.tree = broken
    session.emit("finished")
    assert panel._error == "the panel could not be updated: RuntimeError: boom"
    del session.tree
    session.nodes.pop()
    ask(panel, type="sync")
    assert len(cells_of(panel)) == 2


def test_a_reloaded_page_gets_everything_again(panel: DebuggerPanel, session: PlainSession, sent: list[Any]) -> None:
    for _ in range(3):
        session.capture()
    session.pause()
    ask(panel, type="evaluate", expression="n")
    ask(panel, type="select", index=0)
    ask(panel, type="show", view="captures")
    sent.clear()
    ask(panel, type="hello")
    ((content, _),) = custom(sent, "captures")
    assert (content["reset"], content["count"]) == (True, 3)
    state = panel.get_state()
    assert state["status"]["text"] == "paused in bprop of block.relu, line 11"
    assert state["stop"]["locals"][1]["value"] == "3"
    assert state["evaluations"][0]["text"] == "3"
    assert (state["selected"], state["selection"]["index"]) == (0, 0)
    assert [node["path"] for node in cells_of(panel)] == ["", "block", "block.relu"]
    json.dumps({name: value for name, value in state.items() if not isinstance(value, bytes)})


def test_a_panel_made_during_a_pause_shows_it(session: PlainSession, sent: list[Any]) -> None:
    session.pause()
    assert DebuggerPanel(session).status["state"] == "paused"


def test_a_panel_over_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="session must be a DebugSession, got int"):
        DebuggerPanel(3)


def test_a_closed_panel_hears_nothing(panel: DebuggerPanel, session: PlainSession) -> None:
    panel.close()
    assert session.observers == []


# The view in sight.


def traits(sent: list[Any]) -> set[str]:
    """Return the traits that were sent."""
    updates = [data for _, data, _ in sent if data.get("method") == "update"]
    return {name for data in updates for name in (*data["state"], *(path[0] for path in data["buffer_paths"]))}


TABLES = {
    "cells": {"tree", "tree_numbers", "tree_states"},
    "parameters": {"parameters", "parameter_numbers"},
    "hooks": {"hooks"},
}


def test_the_first_message_has_all_that_the_first_view_shows(session: PlainSession, sent: list[Any]) -> None:
    panel = DebuggerPanel(session, views=("cells", "captures"))
    kinds = [kind for kind, data, _ in sent if "_esm" in data.get("state", {}) or kind != "comm_open"]
    assert kinds == ["comm_open"]
    assert len(cells_of(panel)) == 3
    trees = session.trees_made
    sent.clear()
    ask(panel, type="hello")
    assert session.trees_made == trees, "the tree was computed twice"
    assert traits(sent) == set()


@pytest.mark.parametrize("view", ["cells", "parameters", "hooks"])
def test_a_table_is_sent_when_its_view_is_chosen(panel: DebuggerPanel, sent: list[Any], view: str) -> None:
    panel.view = "findings"
    sent.clear()
    for name in ("tree", "parameters", "hooks"):
        panel.set_trait(name, {})
    sent.clear()
    ask(panel, type="show", view=view)
    assert {name for name in traits(sent) if name in set().union(*TABLES.values())} <= TABLES[view]
    assert panel.trait_values()[min(TABLES[view], key=len)] != {}


def test_a_step_sends_where_the_run_stands_and_no_table(
    panel: DebuggerPanel, session: PlainSession, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    session.pause()
    ask(panel, type="hello")
    sent.clear()
    trees = session.trees_made
    monkeypatch.setattr(session, "parameters", None)
    ask(panel, type="resume", command="over")
    session.pause(line=12)
    assert panel.status["text"] == "paused in bprop of block.relu, line 12"
    assert traits(sent) == {"status", "stop"}
    assert session.trees_made == trees


def test_one_click_in_a_large_tree_sends_a_few_bytes_a_cell(
    session: PlainSession, sent: list[Any], clock: FakeClock
) -> None:
    session.nodes += [plain_node(f"block.c{k}", 2, "Dense") for k in range(10_000)]
    panel = DebuggerPanel(session, clock=clock)
    panel.view = "cells"
    sent.clear()
    ask(panel, type="train", path="block.c77", on=False)
    assert traits(sent) == {"tree_states"}
    assert sum(len(buffer) for _, _, buffers in sent for buffer in buffers) < 100_000
    assert cells_of(panel)[80]["training"] is False


def test_training_that_nobody_can_see_costs_nothing(session: PlainSession, sent: list[Any], clock: FakeClock) -> None:
    panel = DebuggerPanel(session, clock=clock)
    session.capture()
    trees = session.trees_made
    sent.clear()
    for tick in range(1000):
        clock.now = 1 + tick / 100
        session.capture()
    assert (session.trees_made, sent) == (trees, [])
    ask(panel, type="show", view="captures")
    ask(panel, type="hello")
    assert sum(content["count"] for content, _ in custom(sent, "captures") if content["reset"]) >= 1001


def test_the_other_views_follow_a_run_now_and_then(session: PlainSession, clock: FakeClock) -> None:
    panel = DebuggerPanel(session, clock=clock)
    ask(panel, type="hello")
    assert panel.parameters == {}
    for tick in range(1, 20):
        clock.now = tick
        session.capture()
    assert panel.view == "findings"
    assert panel.parameters["name"] == ["block.weight"]


def test_what_a_page_asks_by_itself_waits_while_code_runs(
    session: PlainSession, clock: FakeClock, sent: list[Any]
) -> None:
    panel = DebuggerPanel(session, views="parameters", clock=clock)
    ask(panel, type="hello")
    session.capture()
    sent.clear()
    for _ in range(100):
        ask(panel, type="look_at_parameters", rows=[0], others=False, series="gradient_norm")
        ask(panel, type="sync")
    assert custom(sent, "parameter_figures") == []
    clock.now = 1.0
    ask(panel, type="look_at_parameters", rows=[0], others=False, series="gradient_norm")
    assert len(custom(sent, "parameter_figures")) == 1


def test_what_one_panel_changes_another_shows(session: PlainSession, clock: FakeClock, sent: list[Any]) -> None:
    panel, other = DebuggerPanel(session, clock=clock), DebuggerPanel(session, clock=clock)
    panel.view = other.view = "cells"
    clock.now = 1.0
    ask(panel, type="train", path="block", on=False)
    assert cells_of(other)[1]["training"] is False
    sent.clear()
    ask(panel, type="train", path="block", on=True)  # at once: for the other this is not due
    assert cells_of(other)[1]["training"] is False
    assert len(custom(sent, "backlog")) == 1
    ask(other, type="sync")
    assert cells_of(other)[1]["training"] is True


def test_a_view_is_chosen_from_python(panel: DebuggerPanel, session: PlainSession) -> None:
    panel.view = "parameters"
    assert panel.parameters["name"] == ["block.weight"]
    with pytest.raises(ValueError, match="view must be one of findings, cells, captures, .*, got 'moon'"):
        panel.view = "moon"
    assert panel.view == "parameters"


def test_a_page_that_is_drawn_after_it_was_asked_whether_it_is_seen_is_asked_again(
    panel: DebuggerPanel, sent: list[Any]
) -> None:
    panel.ask_who_sees()
    assert len(custom(sent, "look")) == 1 and panel.seen is None
    panel._received(panel, {"type": "hello"}, None)
    assert len(custom(sent, "look")) == 2
    panel._received(panel, {"type": "seen", "visible": False}, None)
    panel._received(panel, {"type": "hello"}, None)
    assert len(custom(sent, "look")) == 2 and panel.seen is False
