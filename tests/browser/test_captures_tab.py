"""The Captures tab: captures in order, step by step, and each value as a picture."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel
from tests.browser.subject import NETWORK

TAB = "Captures"
TELL = 2
CELLS = [
    NETWORK,
    """\
%%cell -o dbg
class Logarithm(nn.Cell):
    def construct(self, x):
        return ops.log(x)

step()
net.dense.bias.set_data(net.dense.bias + 1)
step()
logarithm = Logarithm()
values = logarithm(ms.Tensor(np.array([[1, 0, -1, 2], [4, 8, 16, -1]], np.float32)))""",
    """\
import json
print(json.dumps([c.value.asnumpy().tolist() for c in dbg.captures if c.key == 'dense#0 forward output']))""",
]


@pytest.fixture
def captures(panel: Panel) -> Locator:
    """Return the list of all captures of all steps, in the order of the run."""
    every = panel.button("All steps")
    if every.get_attribute("aria-pressed") == "false":
        every.click()
    find(panel, "")
    return panel.root.get_by_role("grid", name="Captures")


def find(panel: Panel, text: str) -> None:
    panel.root.get_by_role("searchbox", name="Filter captures").fill(text)


def picture(locator: Locator, name: str) -> Locator:
    return locator.get_by_role("img", name=re.compile(f"^{name}"))


def slider(root: Locator, name: str) -> Locator:
    return root.get_by_role("slider", name=name, exact=True)


def kernels_values(shared_notebook: Notebook) -> np.ndarray:
    """Return the outputs of `dense` in each step, from the kernel."""
    return np.array(json.loads(shared_notebook.run_to_end(TELL)), np.float32)


def test_each_cell_has_its_forward_and_backward_below_its_name_in_the_order_of_the_run(
    panel: Panel, captures: Locator
) -> None:
    slider(panel.root, "Step").press("Home")
    expect(captures.get_by_role("row").nth(1)).to_have_text("conv")
    expect(captures.get_by_role("row").nth(2)).to_contain_text("input[0]")
    expect(captures.get_by_role("row").nth(2)).to_contain_text("output")
    rows = [row.inner_text().split() for row in captures.get_by_role("row").all()[1:]]
    assert [row[0] if len(row) == 1 else row[1] for row in rows][:6] == ["conv", "fwd", "bwd", "relu", "fwd", "bwd"]


def test_without_groups_captures_stand_in_the_order_of_the_run_forward_then_backward(
    panel: Panel, captures: Locator
) -> None:
    slider(panel.root, "Step").press("Home")
    panel.button("By cell").click()
    expect(captures.get_by_role("row").nth(1)).to_contain_text("conv")
    rows = [row.get_by_role("gridcell").all_inner_texts()[1:3] for row in captures.get_by_role("row").all()[1:]]
    panel.button("By cell").click()
    values = [["conv", "fwd"], ["relu", "fwd"], ["flatten", "fwd"], ["dense", "fwd"], ["double", "fwd"]]
    values += [["double", "bwd"], ["dense", "bwd"], ["flatten", "bwd"], ["relu", "bwd"]]
    assert rows[: len(values)] == values


def test_one_step_is_chosen_with_the_slider_and_the_selected_value_goes_along(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(1, "dense")
    slider(panel.root, "Step").press("Home")
    expect(slider(panel.root, "Step")).to_have_attribute("aria-valuetext", re.compile("^step 1"))
    slider(panel.root, "Step").press("ArrowRight")
    expect(region.get_by_role("heading", name="dense#0 forward output, step 2")).to_be_visible()


def test_a_capture_leads_to_its_cell_and_to_its_source(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(1, "double")
    region.get_by_role("button", name="Show source").click()
    expect(region.get_by_role("region", name="Source")).to_contain_text("return doubled(x)")
    region.get_by_role("button", name="Show source").click()
    region.get_by_role("button", name="Show cell").click()
    expect(panel.root.get_by_role("treeitem", name="double, Double")).to_be_focused()


def test_nan_and_infinities_stand_apart_in_the_histogram(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(2, "Logarithm")
    name = "Histogram of .* output: 64 bins from 0 to 2.77.*, 2 NaN, 1 \N{MINUS SIGN}inf$"
    expect(picture(region, name)).to_be_visible()


def test_a_heatmap_tells_the_value_under_the_pointer(
    panel: Panel, captures: Locator, shared_notebook: Notebook
) -> None:
    value = kernels_values(shared_notebook)[0, 1, 3]
    region = panel.select_capture(1, "dense")
    heatmap = picture(region, "Heatmap of dense#0 forward output")
    box = heatmap.bounding_box()
    assert box is not None
    heatmap.hover(position={"x": box["width"] * 0.7, "y": box["height"] * 0.75})  # row 1 of 2, column 3 of 5
    expect(region.get_by_text(f"[1, 3] = {value:#.6g}")).to_be_visible()


def test_a_feature_map_is_a_grid_of_channels_and_one_is_opened(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(1, "conv")
    channels = region.get_by_role("group", name="Channels").get_by_role("button")
    expect(channels).to_have_count(4)
    channels.nth(2).click()
    expect(picture(region, r"Heatmap of conv#0 forward output, step 1: slice \[0, 2\], 6x6")).to_be_focused()


def test_slices_of_a_value_of_many_axes_are_chosen_with_sliders(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(1, "conv")
    region.get_by_role("button", name="Heatmap").click()
    slider(region, "axis 0").press("End")
    slider(region, "axis 1").press("End")
    expect(picture(region, r"Heatmap of conv#0 forward output, step 1: slice \[1, 3\], 6x6")).to_be_visible()


def test_two_captures_stand_beside_their_difference(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(2, "dense")
    region.get_by_role("combobox", name="Compare with").fill("step 1 dense output")
    option = region.get_by_role("option").first
    expect(option).to_have_text("step 1: dense#0 forward output")
    option.click()
    expect(picture(region, "Heatmap of difference: 2x5")).to_be_visible()
    expect(region.get_by_text("largest difference in this slice: 1 ")).to_be_visible()
    region.get_by_role("button", name="Stop comparing").click()
    expect(picture(region, "Heatmap of difference")).to_be_hidden()


def test_a_pinned_capture_stays_while_others_are_selected(panel: Panel, captures: Locator) -> None:
    region = panel.select_capture(1, "dense")
    region.get_by_role("button", name="Pin A").click()
    panel.select_capture(2, "dense")
    expect(picture(region, "Heatmap of difference: 2x5")).to_be_visible()
    region.get_by_role("button", name="Stop comparing").click()
    expect(picture(region, "Heatmap of difference")).to_be_hidden()


def test_copy_as_numpy_puts_code_on_the_clipboard_that_gives_the_value(
    panel: Panel, captures: Locator, shared_notebook: Notebook
) -> None:
    expected = kernels_values(shared_notebook)[0]
    shared_notebook.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    region = panel.select_capture(1, "dense")
    region.get_by_role("button", name="Copy as NumPy").click()
    expect(region.get_by_text("Copied.")).to_be_visible()
    names: dict[str, Any] = {}
    exec(shared_notebook.page.evaluate("navigator.clipboard.readText()"), names)
    np.testing.assert_array_equal(names["array"], expected)
