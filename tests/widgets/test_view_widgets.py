"""Single views and choices of views, beside ordinary ipywidgets."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest
from plain_session import FakeClock, PlainSession
from sent_cells import cells_of

from hookscope import widgets
from hookscope.widgets import CaptureTimeline, CellTree, DebuggerPanel, TensorView
from hookscope.widgets.views import VIEWS

pytestmark = pytest.mark.usefixtures("sent")

SINGLE = {
    "CellTree": "cells",
    "CaptureTimeline": "timeline",
    "TensorView": "tensor",
    "ParameterEditor": "parameters",
    "Stepper": "stepper",
    "FindingList": "findings",
    "HookEditor": "hooks",
}
# The views of each trait.
VIEWS_OF = {
    "tree": {"cells"},
    "parameters": {"parameters"},
    "stop": {"stepper"},
    "conditions": {"findings", "cells"},
    "hooks": {"hooks"},
    "selection": {"captures", "tensor"},
}


def ask(panel: DebuggerPanel, **message: Any) -> str:
    panel._received(panel, message, [])
    return panel.status["error"]


@pytest.mark.parametrize("name", SINGLE)
def test_each_view_is_a_widget_and_what_it_does_not_show_is_neither_computed_nor_sent(
    session: PlainSession, sent: list[Any], clock: FakeClock, name: str
) -> None:
    session.capture()
    panel = getattr(widgets, name)(session, clock=clock)
    ask(panel, type="hello")
    session.pause()
    for tick in range(1, 20):
        clock.now = tick
        session.capture()
    session.emit("finished")
    for trait, views in VIEWS_OF.items():
        if SINGLE[name] not in views:
            assert getattr(panel, trait) == {}, trait
    messages = [data["content"]["type"] for _, data, _ in sent if data.get("method") == "custom"]
    assert ("captures" in messages) == (name == "CaptureTimeline")
    assert ("parameter_figures" in messages) == (name == "ParameterEditor")
    assert (session.trees_made > 0) == (name == "CellTree")


@pytest.mark.parametrize("name", SINGLE)
def test_a_widget_of_one_view_answers_the_messages_of_that_view_alone(session: PlainSession, name: str) -> None:
    panel = getattr(widgets, name)(session)
    own = VIEWS[SINGLE[name]].actions
    for view in VIEWS.values():
        for action in view.actions:
            unknown = ask(panel, type=action).startswith("unknown message")
            assert unknown == (action not in own)


def test_a_choice_of_views_keeps_its_order_and_begins_with_the_first(session: PlainSession) -> None:
    panel = DebuggerPanel(session, views=("parameters", "cells"))
    assert (panel.views, panel.view) == (["parameters", "cells"], "parameters")
    assert panel.parameters["name"] == ["block.weight"]
    session.pause()
    assert panel.view == "parameters", "a pause selected a stepper that the panel lacks"
    assert ask(panel, type="show", view="stepper") == "unknown view 'stepper'; it is one of parameters, cells"


@pytest.mark.parametrize(
    ("views", "error", "line"),
    [
        (("cells", "moon"), ValueError, "views: unknown view 'moon'; known are findings, cells, captures, timeline"),
        ((), ValueError, "views must name at least one of findings, cells, "),
        (("cells", "hooks", "cells"), ValueError, "views: each view can be there once, got cells, hooks, cells"),
        (("captures", "tensor"), ValueError, "views: 'captures' is 'timeline' and 'tensor' together, got captures, "),
        ((3,), TypeError, "views must be names of views, got int"),
        (3, TypeError, "views must be names of views, got int"),
    ],
)
def test_a_bad_choice_of_views_is_one_clear_error(
    session: PlainSession, views: Any, error: type[Exception], line: str
) -> None:
    with pytest.raises(error) as caught:
        DebuggerPanel(session, views=views)
    assert str(caught.value).startswith(line)
    assert session.observers == []


def test_one_name_is_a_choice_too(session: PlainSession) -> None:
    assert DebuggerPanel(session, views="findings").views == ["findings"]


def test_text_and_html_are_of_the_views_that_are_there(session: PlainSession) -> None:
    session.capture()
    forms = {name: getattr(widgets, name)(session)._repr_mimebundle_()[0] for name in SINGLE}
    assert forms["CellTree"]["text/plain"] == "CellTree(Net, 3 cells)"
    assert forms["CaptureTimeline"]["text/plain"] == "CaptureTimeline(Net, 1 captures)"
    assert forms["ParameterEditor"]["text/plain"] == "ParameterEditor(Net)"
    assert {name for name, form in forms.items() if "LeakyReLU" in form["text/html"]} == {"CellTree"}
    assert {name for name, form in forms.items() if "block.weight" in form["text/html"]} == {"ParameterEditor"}


# Composition


def test_a_slider_moves_through_the_captures_and_follows_what_is_selected(session: PlainSession) -> None:
    for step in range(5):
        session.capture(step=step)
    timeline, tensor = CaptureTimeline(session), TensorView(session)
    slider = ipywidgets.IntSlider(min=0, max=4)
    box = ipywidgets.VBox([slider, ipywidgets.HBox([timeline, tensor])])
    ipywidgets.link((timeline, "selected"), (tensor, "selected"))
    ipywidgets.link((slider, "value"), (timeline, "selected"))
    assert box.children[1].children == (timeline, tensor)
    slider.value = 3
    assert (timeline.selected, tensor.selection["step"]) == (3, 3)
    assert timeline.selection == {}, "the timeline has a selection though it does not show it"
    ask(timeline, type="select", index=1)
    assert (slider.value, tensor.selected, tensor.selection["step"]) == (1, 1, 1)
    tensor.selected = 2
    assert (slider.value, timeline.selected) == (2, 2)


def test_selecting_what_is_not_kept_is_refused_and_changes_nothing(session: PlainSession) -> None:
    session.capture()
    tensor = TensorView(session)
    tensor.selected = 0
    with pytest.raises(ValueError, match="capture 9 is no longer kept"):
        tensor.selected = 9
    assert tensor.selected == tensor.selection["index"] == 0
    tensor.selected = -1
    assert tensor.selection == {}


def test_two_widgets_of_one_session_follow_each_other(session: PlainSession, clock: FakeClock) -> None:
    tree, hooks = CellTree(session, clock=clock), widgets.HookEditor(session, clock=clock)
    clock.now = 1.0
    assert ask(hooks, type="hook", path="block.relu", kind="forward", on=True) == ""
    assert cells_of(tree)[2]["attached"] == ["forward"]
