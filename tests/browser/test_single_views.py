"""Views of one session beside ordinary ipywidgets: boxes, a slider, tabs, effects of a click."""

from __future__ import annotations

from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook, Window
from tests.browser.subject import NETWORK

SHOW, TELL, SLIDE, MOVE, TRAIN = 1, 2, 3, 4, 5
CELLS = [
    f"""{NETWORK}
from ipywidgets import HBox, IntSlider, Tab, VBox, link
from hookscope.engine.debug import DebugSession
from hookscope.widgets import CaptureTimeline, CellTree, ParameterEditor, TensorView
session = DebugSession(net)
with session:
    train(1)""",
    """timeline, tensor, slider = CaptureTimeline(session), TensorView(session), IntSlider(max=5, description="capture")
link((slider, "value"), (timeline, "selected"))
link((timeline, "selected"), (tensor, "selected"))
VBox([slider, timeline, tensor, Tab([CellTree(session), ParameterEditor(session)], titles=("network", "weights"))])""",
    "print('slider', slider.value, 'training', net.relu.training)",
    "slider.value = 4",
    "tensor.selected = 3",
    "with session:\n    train(1)",
]


def group(shared_notebook: Notebook, name: str) -> Locator:
    return shared_notebook.cell(SHOW).get_by_role("group", name=f"{name} of Net", exact=True)


def test_views_stand_in_boxes_and_tabs_and_follow_a_slider(shared_notebook: Notebook, window: Window) -> None:
    shared_notebook.run_to_end(SHOW)
    timeline, tensor = group(shared_notebook, "Timeline"), group(shared_notebook, "Tensor")
    selected = timeline.get_by_role("grid", name="Captures").get_by_role("row", selected=True)
    heading = tensor.get_by_role("heading").first
    first = heading.inner_text()
    timeline.get_by_role("gridcell").filter(has_text="input[0]").nth(1).click()  # of the second cell
    expect(heading).not_to_have_text(first)
    assert "slider 2 " in shared_notebook.run_to_end(TELL)
    shared_notebook.run_to_end(SLIDE)
    expect(selected).to_have_attribute("aria-rowindex", "9")
    shared_notebook.run_to_end(MOVE)
    expect(selected).to_have_attribute("aria-rowindex", "6")
    assert "slider 3 " in shared_notebook.run_to_end(TELL)


def test_what_is_switched_in_one_view_counts_and_a_run_shows_in_all(shared_notebook: Notebook, window: Window) -> None:
    tree = group(shared_notebook, "Cells")
    switch = tree.get_by_role("switch", name="train mode of relu", exact=True)
    before = switch.get_attribute("aria-checked")
    switch.click()
    expect(switch).to_have_attribute("aria-checked", "false" if before == "true" else "true")
    assert f"training {before != 'true'}" in shared_notebook.run_to_end(TELL)
    rows = group(shared_notebook, "Timeline").get_by_role("grid", name="Captures")
    count = int(rows.get_attribute("aria-rowcount") or 0)
    shared_notebook.run_to_end(TRAIN)
    expect(rows).to_have_attribute("aria-rowcount", str(2 * count - 1))
