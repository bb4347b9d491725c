"""Traits that a page may write: the view and the selection. All other state of a panel is Python's."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest
from plain_session import FakeClock, PlainSession

from hookscope.widgets import DebuggerPanel

pytestmark = pytest.mark.usefixtures("sent")

HOSTILE = "export default { render() { document.title = 'taken' } }"


@pytest.fixture
def panel(session: PlainSession, sent: list[Any], clock: FakeClock) -> DebuggerPanel:
    session.capture()
    panel = DebuggerPanel(session, clock=clock)
    panel.view = "cells"
    sent.clear()
    return panel


def write(panel: DebuggerPanel, state: object, buffers: tuple[bytes, ...] = (), **data: Any) -> None:
    """Deliver an `update` message as it comes from a comm."""
    assert panel.comm is not None
    panel.comm.handle_msg({"content": {"data": {"method": "update", "state": state, **data}}, "buffers": buffers})


def test_a_page_may_choose_the_view_and_the_capture(panel: DebuggerPanel) -> None:
    write(panel, {"view": "captures", "selected": 0})
    assert (panel.view, panel.selected) == ("captures", 0)
    assert panel.status["error"] == ""


def test_no_other_trait_is_a_pages_to_write(panel: DebuggerPanel, sent: list[Any]) -> None:
    names = set(panel.keys) - {"view", "selected"}
    assert {"_esm", "_css", "views", "title", "status", "layout", "_view_module", "hook_draft", "tree"} <= names
    before = {name: getattr(panel, name) for name in names - {"status"}}
    for name in sorted(names):
        write(panel, {name: HOSTILE})
        assert f"a page cannot set {name}; it can set selected, view" in panel.status["error"]
    assert {name: getattr(panel, name) for name in before} == before
    assert panel.status["state"] == "ready"
    assert HOSTILE not in repr(sent), "the state was sent to the other pages"


def test_what_it_may_write_is_taken_also_beside_what_it_may_not(panel: DebuggerPanel, sent: list[Any]) -> None:
    write(panel, {"_esm": HOSTILE, "view": "hooks", "no such trait": 1})
    assert panel.view == "hooks"
    assert "_esm, no such trait" in panel.status["error"]
    assert HOSTILE not in repr(sent)


@pytest.mark.parametrize("state", [{"view": HOSTILE}, {"view": 3}, {"selected": "x"}, {"selected": 99}, {"view": None}])
def test_a_value_that_cannot_be_reaches_no_other_page(panel: DebuggerPanel, sent: list[Any], state: Any) -> None:
    write(panel, state)
    assert (panel.view, panel.selected) == ("cells", -1)
    assert panel.status["error"]
    states = [data["state"] for _, data, _ in sent if "state" in data]
    assert not [state for state in states if "view" in state or "selected" in state]


@pytest.mark.parametrize("state", [None, [], "view", 5, [["view", "hooks"]]])
def test_a_state_that_is_no_object_changes_nothing(panel: DebuggerPanel, state: object) -> None:
    write(panel, state)
    assert panel.view == "cells"
    assert "must be an object" in panel.status["error"]


def test_buffers_write_no_more_than_the_rest(panel: DebuggerPanel, sent: list[Any]) -> None:
    numbers, code = panel.tree_numbers, panel._esm
    write(panel, {"tree_numbers": None}, (b"taken", b"taken"), buffer_paths=[["tree_numbers"], ["_esm"]])
    assert (panel.tree_numbers, panel._esm) == (numbers, code)
    assert "taken" not in repr(sent)


def test_a_page_that_asks_for_the_state_gets_pythons(panel: DebuggerPanel, sent: list[Any]) -> None:
    write(panel, {"_esm": HOSTILE})
    assert panel.comm is not None
    panel.comm.handle_msg({"content": {"data": {"method": "request_state"}}, "buffers": []})
    (state,) = [data["state"] for _, data, _ in sent if "_esm" in data.get("state", {})]
    assert state["_esm"] == DebuggerPanel._esm
    assert state["views"] == panel.views


def test_what_follows_what_a_page_chose_is_told_as_ever(panel: DebuggerPanel) -> None:
    slider = ipywidgets.IntSlider()
    ipywidgets.link((panel, "selected"), (slider, "value"))
    write(panel, {"selected": 0})
    assert slider.value == 0
