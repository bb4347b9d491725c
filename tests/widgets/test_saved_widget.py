"""A panel in a saved notebook: its text, its static copy, and its remains after it is closed."""

from __future__ import annotations

from typing import Any

import pytest
from plain_session import FakeClock, PlainSession

from hookscope.widgets import DebuggerPanel
from hookscope.widgets.views.findings import set_muted

pytestmark = pytest.mark.usefixtures("sent")


@pytest.fixture
def panel(session: PlainSession, sent: list[Any], clock: FakeClock) -> DebuggerPanel:
    return DebuggerPanel(session, clock=clock)


def test_the_text_form_is_one_deterministic_line(panel: DebuggerPanel, session: PlainSession) -> None:
    session.capture()
    assert repr(panel) == "DebuggerPanel(Net, 3 cells, 1 captures)"


def test_the_mimebundle_carries_all_three_forms(panel: DebuggerPanel) -> None:
    data, _ = panel._repr_mimebundle_()
    assert data["text/plain"] == "DebuggerPanel(Net, 3 cells, 0 captures)"
    assert "block.relu" not in data["text/plain"]
    assert "LeakyReLU" in data["text/html"]
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == panel.model_id


class Handle:
    """A stand-in for IPython's display handle."""

    def __init__(self, content: dict[str, str]) -> None:
        self.content = content

    def update(self, content: dict[str, str], raw: bool = False) -> None:
        assert raw
        self.content = content


@pytest.fixture
def handles(monkeypatch: pytest.MonkeyPatch) -> list[Handle]:
    """Return the handles of displays: the live panel and the copy after it."""
    handles: list[Handle] = []

    def display(content: dict[str, str], **keys: object) -> Handle:
        handles.append(Handle(content))
        return handles[-1]

    monkeypatch.setattr("hookscope.widgets.saved_widget.display", display)
    return handles


WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


def test_a_displayed_panel_has_a_static_copy_behind_it(panel: DebuggerPanel, handles: list[Handle]) -> None:
    panel.display()
    live, copy = handles
    assert set(live.content) == {WIDGET_VIEW, "text/plain"}
    assert set(copy.content) == {"text/html", "text/plain"}
    assert "<table" in copy.content["text/html"]


def test_freeze_replaces_the_widget_by_its_static_forms_and_closes_it(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    panel.display()
    panel.freeze()
    live, copy = handles
    assert set(live.content) == {"text/html", "text/plain"}
    assert "<table" in live.content["text/html"]
    assert set(copy.content.values()) == {""}
    assert session.observers == []
    assert panel.comm is panel.layout.comm is None


def test_the_copy_is_renewed_where_there_is_something_new(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    panel.display("page")
    live, copy = handles
    before = live.content, copy.content
    panel.renew("page")
    assert (live.content, copy.content) == before
    session.capture()
    panel.renew("page")
    assert len(handles) == 2 and live.content is before[0]
    assert "1 captures" in copy.content["text/plain"]
    session.emit("changed")
    del session.nodes[1:]
    panel.renew("page")
    assert "1 cells" in copy.content["text/plain"]


def test_what_is_muted_is_in_the_copy_before_another_cell_runs(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    session.add_condition("nan")
    session.find("nan", "")
    panel.display("page")
    set_muted(panel, "nan", "", on=True, reason="a mask <b>")
    assert "a mask &lt;b&gt;" in handles[1].content["text/html"] and len(handles) == 2
    set_muted(panel, "nan", "", on=False, reason="")
    assert "a mask" not in handles[1].content["text/html"]


def test_a_panel_that_a_user_displays_knows_its_page(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    """Otherwise the next cell that captures something would show a second copy."""
    panel.running_cell = lambda: ("page", "1")
    panel.display()
    session.capture()
    panel.renew("page", "2")
    assert len(handles) == 2 and "1 captures" in handles[1].content["text/plain"]


def test_a_page_that_was_loaded_anew_gets_a_copy_of_its_own(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    """It does not have the earlier display; only new captures are a reason to show a copy again."""
    panel.display("page")
    session.emit("changed")
    panel.renew("page after a reload")
    assert len(handles) == 2
    session.capture()
    panel.renew("page after a reload")
    panel.renew("page after a reload")
    assert len(handles) == 3 and "1 captures" in handles[2].content["text/plain"]
    session.capture()
    panel.renew("page after a reload")
    assert len(handles) == 3 and "2 captures" in handles[2].content["text/plain"]
    panel.freeze()
    assert "<table" in handles[2].content["text/html"]


def test_a_copy_whose_cell_is_emptied_is_displayed_anew(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    panel.display("page", "1")
    session.capture()
    panel.renew("page after a reload", "2")
    panel.lose_copies({"3"})
    panel.renew("page after a reload", "3")
    assert len(handles) == 3
    panel.lose_copies({"2"})
    panel.renew("page after a reload", "4")
    assert len(handles) == 4 and "1 captures" in handles[3].content["text/plain"]


def test_a_panel_that_was_never_shown_is_not_renewed(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    session.capture()
    panel.renew("page")
    assert handles == []


def test_in_a_long_cell_the_copy_is_renewed_every_ten_seconds(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle], clock: FakeClock, monkeypatch: Any
) -> None:
    monkeypatch.setattr("hookscope.widgets.saved_widget.monotonic", clock)
    panel.running_cell = lambda: ("page", "cell")
    panel.display("page")
    copy = handles[1]
    for _ in range(9):
        clock.now += 1.0
        session.capture()
    assert "0 captures" in copy.content["text/plain"]
    clock.now += 1.5
    session.capture()
    assert "10 captures" in copy.content["text/plain"]
    clock.now += 5.0
    session.capture()
    assert "10 captures" in copy.content["text/plain"]


def test_freezing_a_panel_that_was_never_shown_closes_it(panel: DebuggerPanel, session: PlainSession) -> None:
    panel.freeze()
    assert session.observers == []


def test_a_panel_that_cannot_be_drawn_says_so_in_its_place_and_is_closed_all_the_same(
    panel: DebuggerPanel, session: PlainSession, handles: list[Handle]
) -> None:
    panel.display()
    session.nodes[0] = None
    panel.freeze()
    assert {type(error) for _, error in session.faults} == {AttributeError}
    assert {"the line of a panel", "the static form of 'cells'"} <= {location for location, _ in session.faults}
    assert "This part could not be made: AttributeError" in handles[0].content["text/html"]
    assert session.observers == []
