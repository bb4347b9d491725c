"""The Parameters view as a user sees it: ten thousand rows, live figures, and values changed by hand."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from playwright.sync_api import Locator, Page

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession


class Network:
    """Dense layers, their session, and a training step."""

    def __init__(self, layers: int) -> None:
        self.net = nn.SequentialCell(*(nn.Dense(3, 3) for _ in range(layers)))
        self.session = DebugSession(self.net)

    def train(self, steps: int) -> None:
        optimizer = nn.SGD(self.net.trainable_params(), 0.1)
        x = ms.Tensor(np.ones((4, 3), np.float32))
        gradient = ms.value_and_grad(lambda: (self.net(x) ** 2).mean(), None, optimizer.parameters)
        with self.session:
            for _ in range(steps):
                optimizer(gradient()[1])


@pytest.fixture
def network() -> Network:
    return Network(2)


@pytest.fixture
def parameters_page(page: Page, network: Network, sent: list[Any]) -> PanelPage:
    """Return the Parameters tab of a panel over two layers."""
    return _opened(page, network, sent)


@pytest.fixture
def many(page: Page, sent: list[Any]) -> PanelPage:
    """Return the same over a network of 10,000 parameters."""
    return _opened(page, Network(5000), sent)


def _opened(page: Page, network: Network, sent: list[Any]) -> PanelPage:
    panel_page = PanelPage(page, network.session, sent)
    page.get_by_role("tab", name="Parameters").click()
    return panel_page


def grid(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("grid", name="Parameters")


def cell(panel_page: PanelPage, row: int, column: str) -> Locator:
    heads = [head.inner_text() for head in grid(panel_page).get_by_role("columnheader").all()]
    return grid(panel_page).get_by_role("row").nth(row + 1).get_by_role("gridcell").nth(heads.index(column))


def number(panel_page: PanelPage, row: int, column: str) -> float:
    """Return a figure; 0 if there is none."""
    text = cell(panel_page, row, column).inner_text()
    return float(text) if text[-1].isdigit() else 0.0


def preview(panel_page: PanelPage) -> str:
    return panel_page.page.get_by_role("status", name="Preview of the change").inner_text()


def button(panel_page: PanelPage, name: str) -> Locator:
    return panel_page.page.get_by_role("button", name=name, exact=True)


def select(panel_page: PanelPage, name: str, table: Locator | None = None) -> None:
    row = (table or grid(panel_page)).get_by_role("gridcell", name=name, exact=True)
    panel_page.until(row.is_visible)
    row.click()
    panel_page.until(panel_page.page.get_by_role("region", name="Selected parameter").is_visible)


def fill(panel_page: PanelPage, **fields: str) -> None:
    for name, text in fields.items():
        panel_page.page.get_by_role("textbox", name=name).fill(text)


def test_ten_thousand_rows_are_a_few_elements_and_are_filtered_and_sorted(many: PanelPage) -> None:
    panel_page = many
    panel_page.until(lambda: grid(panel_page).get_attribute("aria-rowcount") == "10001")
    assert grid(panel_page).get_by_role("row").count() < 40
    panel_page.until(lambda: "·" not in cell(panel_page, 0, "norm").inner_text())
    button(panel_page, "norm").click()
    button(panel_page, "norm").click()
    norms = {row.name: row.statistics.norm for row in panel_page.panel.session.parameters()}
    largest = max(norms, key=norms.__getitem__)
    panel_page.until(lambda: cell(panel_page, 0, "name").inner_text() == largest, seconds=30)
    panel_page.page.get_by_role("searchbox", name="Filter parameters").fill("4321 bias")
    panel_page.until(lambda: grid(panel_page).get_attribute("aria-rowcount") == "2")
    assert cell(panel_page, 0, "name").inner_text() == "4321.bias"


def test_gradient_norms_ratios_and_a_line_of_their_history_follow_the_training(
    parameters_page: PanelPage, network: Network
) -> None:
    panel_page = parameters_page
    panel_page.until(lambda: "·" not in cell(panel_page, 0, "norm").inner_text())
    assert [number(panel_page, 0, name) for name in ("gradient norm", "update ratio")] == [0, 0]
    network.train(1)
    panel_page.until(lambda: number(panel_page, 0, "update ratio") > 0)
    assert number(panel_page, 0, "gradient norm") > 0
    network.session.add_condition("update_too_large")
    network.train(4)
    line = panel_page.page.get_by_role("img", name="gradient norm of 0.weight, steps 2 to 5: from")
    panel_page.until(line.is_visible)
    panel_page.page.get_by_role("combobox", name="History shows").select_option("update ratio")
    panel_page.until(panel_page.page.get_by_role("img", name="update ratio of 0.weight, steps 2 to 5: from").is_visible)


def test_an_edit_is_told_then_done_then_undone(parameters_page: PanelPage, network: Network) -> None:
    panel_page, weight = parameters_page, network.net[1].weight
    before = weight.asnumpy()
    select(panel_page, "1.weight")
    assert preview(panel_page) == "Fill in elements and number to see what changes."
    assert button(panel_page, "Apply").is_disabled() and button(panel_page, "Undo").is_disabled()
    fill(panel_page, Elements="[0, :]", Number="0")
    panel_page.until(lambda: preview(panel_page).startswith("changes 3 of 9 elements of 1.weight: "))
    np.testing.assert_array_equal(weight.asnumpy(), before)
    button(panel_page, "Apply").click()
    panel_page.until(lambda: preview(panel_page).startswith("done, set 1.weight[0, :] to 0"))
    np.testing.assert_array_equal(weight.asnumpy(), np.where([[1], [0], [0]], 0, before))
    detail = panel_page.page.get_by_role("region", name="Selected parameter")
    panel_page.until(lambda: "zeros\n3" in detail.inner_text())
    assert button(panel_page, "Apply").is_disabled()
    button(panel_page, "Undo").click()
    panel_page.until(lambda: preview(panel_page) == "undone: set 1.weight[0, :] to 0")
    np.testing.assert_array_equal(weight.asnumpy(), before)
    assert button(panel_page, "Undo").is_disabled()


@pytest.mark.parametrize(
    ("change", "fields", "message"),
    [
        ("scale by", {"Factor": "half"}, "factor must be a number, got 'half'"),
        ("clip", {"Lowest": "2", "Highest": "1"}, "low must not be above high, got 2 and 1"),
        ("set elements", {"Elements": "[7]", "Number": "1"}, "index '[7]' does not fit the shape 3x3"),
    ],
)
def test_bad_input_is_told_and_cannot_be_applied(
    parameters_page: PanelPage, change: str, fields: dict[str, str], message: str
) -> None:
    select(parameters_page, "0.weight")
    parameters_page.page.get_by_role("combobox", name="Change").select_option(change)
    fill(parameters_page, **fields)
    parameters_page.until(lambda: preview(parameters_page).startswith(message))
    assert button(parameters_page, "Apply").is_disabled()


def test_the_keyboard_alone_changes_a_value(parameters_page: PanelPage, network: Network) -> None:
    panel_page, press = parameters_page, parameters_page.page.keyboard.press
    panel_page.until(lambda: grid(panel_page).get_attribute("aria-rowcount") == "5")
    grid(panel_page).focus()
    press("ArrowDown")
    press("ArrowDown")
    detail = panel_page.page.get_by_role("region", name="Selected parameter")
    panel_page.until(lambda: detail.is_visible() and "0.bias" in detail.inner_text())
    change = panel_page.page.get_by_role("combobox", name="Change")
    while not change.evaluate("element => element === document.activeElement"):
        press("Tab")
    press("ArrowDown")
    panel_page.until(lambda: change.input_value() == "scale")
    press("Tab")
    panel_page.page.keyboard.type("0")
    panel_page.until(button(panel_page, "Apply").is_enabled)
    press("Enter")
    panel_page.until(lambda: preview(panel_page).startswith("done, scale 0.bias by 0"))
    assert network.net[0].bias.asnumpy().tolist() == [0, 0, 0]


def test_a_reloaded_page_shows_the_selected_parameter_and_what_can_be_undone(
    parameters_page: PanelPage, network: Network
) -> None:
    select(parameters_page, "0.weight")
    parameters_page.page.get_by_role("combobox", name="Change").select_option("set to zero")
    parameters_page.until(button(parameters_page, "Apply").is_enabled)
    button(parameters_page, "Apply").click()
    parameters_page.until(button(parameters_page, "Undo").is_enabled)
    parameters_page.page.evaluate("show()")
    parameters_page.until(button(parameters_page, "Undo").is_enabled)
    assert "0.weight" in parameters_page.page.get_by_role("region", name="Selected parameter").inner_text()
    parameters_page.until(lambda: cell(parameters_page, 0, "norm").inner_text() == "0")


def test_another_network_in_the_same_session_gets_rows_of_its_own(parameters_page: PanelPage, network: Network) -> None:
    parameters_page.until(lambda: grid(parameters_page).get_attribute("aria-rowcount") == "5")
    network.net.append(nn.Dense(3, 5))
    parameters_page.panel.sync()
    parameters_page.until(lambda: grid(parameters_page).get_attribute("aria-rowcount") == "7")
    parameters_page.until(lambda: cell(parameters_page, 4, "shape").inner_text() == "5x3 float32")
    parameters_page.until(lambda: number(parameters_page, 4, "norm") > 0)


class Tied(nn.Cell):
    """A head that shares the weight of an embedding, statistics, a frozen layer, and names as long as real ones."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(50, 3)
        self.a_projection_with_a_name_that_is_longer_than_its_column = nn.Dense(3, 3)
        self.norm = nn.BatchNorm1d(3)
        self.frozen = nn.Dense(3, 3)
        self.frozen.weight.requires_grad = False
        self.head = nn.Dense(3, 50)
        self.head.weight = self.embed.embedding_table
        large = self.a_projection_with_a_name_that_is_longer_than_its_column
        large.weight.set_data(large.weight * -1.234567e-12)
        large.bias.set_data(ms.Tensor(np.array([np.nan, -3.21e12, np.inf], np.float32)))

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.head(self.frozen(self.norm(self.embed(x).mean(1))))


class TiedNetwork(Network):
    def __init__(self) -> None:
        self.net = Tied().set_train()
        self.session = DebugSession(self.net, conditions=["update_too_large"])

    def train(self, steps: int, learning_rate: float = 0.1) -> None:
        weights = [parameter for parameter in self.net.trainable_params() if "projection" not in parameter.name]
        optimizer = nn.SGD(weights, learning_rate)
        x = ms.Tensor(np.arange(20).reshape(4, 5).astype(np.int32))
        gradient = ms.value_and_grad(lambda: (self.net(x) ** 2).mean(), None, optimizer.parameters)
        with self.session:
            for _ in range(steps):
                optimizer(gradient()[1])


@pytest.fixture
def tied() -> TiedNetwork:
    return TiedNetwork()


@pytest.fixture
def mixed_page(page: Page, tied: TiedNetwork, sent: list[Any]) -> PanelPage:
    """Return the Parameters tab over parameters of all sorts."""
    return _opened(page, tied, sent)


# Cells of a row that overlap, or that are outside their table.
COLLISIONS = """tables => tables.flatMap((table) => [...table.querySelectorAll("[role=row]")].flatMap((row) => {
  const cells = [...row.children].filter((cell) => cell.checkVisibility());
  const boxes = cells.map((cell) => cell.getBoundingClientRect());
  const end = row.getBoundingClientRect().right + 0.5;
  return cells.filter((cell, k) => (k && boxes[k].left < boxes[k - 1].right) || boxes[k].right > end)
    .map((cell) => cell.textContent);
}))"""
CUT = """tables => tables.flatMap((table) => [...table.querySelectorAll(".hs-number, [role=columnheader]")]
  .filter((cell) => cell.checkVisibility() && cell.scrollWidth > cell.clientWidth).map((cell) => cell.textContent))"""


def statistics(panel_page: PanelPage) -> Locator:
    return panel_page.page.get_by_role("grid", name="Running statistics")


def open_statistics(panel_page: PanelPage) -> None:
    opener = panel_page.page.get_by_role("button", name="running statistics")
    panel_page.until(opener.is_visible)
    opener.click()


@pytest.mark.parametrize("width", [360, 480, 700, 850, 1440])
def test_no_column_reaches_over_another_and_no_number_is_cut(
    mixed_page: PanelPage, tied: TiedNetwork, width: int
) -> None:
    mixed_page.page.set_viewport_size({"width": width, "height": 700})
    tied.train(2)
    open_statistics(mixed_page)
    mixed_page.until(lambda: "·" not in "".join(mixed_page.page.locator(".hs-number").all_inner_texts()))
    assert mixed_page.page.get_by_role("grid").evaluate_all(COLLISIONS) == []
    assert mixed_page.page.get_by_role("grid").evaluate_all(CUT) == []


def test_running_statistics_have_a_table_of_their_own_which_opens(mixed_page: PanelPage, tied: TiedNetwork) -> None:
    panel_page = mixed_page
    opener = panel_page.page.get_by_role("button", name="2 running statistics, not trained")
    panel_page.until(opener.is_visible)
    assert grid(panel_page).get_by_role("row").filter(has_text="moving_").count() == 0
    assert panel_page.page.get_by_text("8 parameters").is_visible()
    assert opener.get_attribute("aria-expanded") == "false" and not statistics(panel_page).is_visible()
    opener.focus()
    panel_page.page.keyboard.press("Enter")
    assert opener.get_attribute("aria-expanded") == "true"
    heads = [head.inner_text() for head in statistics(panel_page).get_by_role("columnheader").all()]
    assert heads == ["name", "shape", "mean", "std", "min", "max"]
    variance = statistics(panel_page).get_by_role("row").filter(has_text="moving_variance")
    panel_page.until(lambda: variance.get_by_role("gridcell").nth(2).inner_text() == "1")
    tied.net.norm.moving_variance.set_data(ms.Tensor(np.array([1, np.nan, 2], np.float32)))
    panel_page.panel.sync()
    panel_page.until(panel_page.page.get_by_text("1 with NaN or inf").is_visible)


def test_one_filter_and_one_selection_are_for_both_tables(mixed_page: PanelPage) -> None:
    panel_page = mixed_page
    select(panel_page, "frozen.bias")
    open_statistics(panel_page)
    select(panel_page, "norm.moving_mean", statistics(panel_page))
    chosen = panel_page.page.get_by_role("region", name="Selected parameter")
    panel_page.until(lambda: "a running statistic: its cell keeps it" in chosen.inner_text())
    panel_page.until(lambda: panel_page.page.get_by_role("row", selected=True).count() == 1)
    panel_page.page.get_by_role("searchbox", name="Filter parameters").fill("moving_mean")
    tables = (grid(panel_page), statistics(panel_page))
    panel_page.until(lambda: [table.get_attribute("aria-rowcount") for table in tables] == ["1", "2"])
    assert panel_page.page.get_by_text("No parameter has all of these words.").is_visible()


def test_a_row_says_who_shares_it_what_is_frozen_and_what_is_not_finite(mixed_page: PanelPage) -> None:
    panel_page = mixed_page
    row = grid(panel_page).get_by_role("row").filter(has_text="embedding_table")
    panel_page.until(row.get_by_role("gridcell", name="embed.embedding_table, shared by embed and head").is_visible)
    assert "shared by embed and head" in row.inner_text()
    assert "frozen" in grid(panel_page).get_by_role("row").filter(has_text="frozen.weight").inner_text().split("\n")
    broken = grid(panel_page).get_by_role("row").filter(has_text="column.bias")
    panel_page.until(lambda: "NaN, inf" in broken.inner_text())
    panel_page.page.get_by_role("searchbox", name="Filter parameters").fill("shared")
    panel_page.until(lambda: grid(panel_page).get_attribute("aria-rowcount") == "2")
    box = panel_page.page.get_by_role("checkbox", name="requires_grad of embed.embedding_table")
    box.click()
    panel_page.until(lambda: "frozen" in row.inner_text())
    row.get_by_text("shared by").click()
    chosen = panel_page.page.get_by_role("region", name="Selected parameter")
    panel_page.until(lambda: "shared by embed and head · frozen: requires_grad is False" in chosen.inner_text())


def test_an_unusual_update_is_tinted_and_says_why(mixed_page: PanelPage, tied: TiedNetwork) -> None:
    panel_page = mixed_page
    tied.train(2, learning_rate=1e-9)
    names = [row.name for row in tied.session.parameters() if "moving" not in row.name]
    position = names.index("embed.embedding_table")
    ratio = cell(panel_page, position, "update ratio")
    panel_page.until(lambda: (ratio.get_attribute("title") or "").startswith("update_too_small: changed by"))
    assert ratio.get_attribute("aria-description") == ratio.get_attribute("title")
    plain = cell(panel_page, position, "norm")
    background = "cell => getComputedStyle(cell).backgroundColor"
    assert ratio.evaluate(background) != plain.evaluate(background)
    tied.train(2, learning_rate=0.1)
    panel_page.until(
        lambda: (ratio.get_attribute("title") or "").startswith("embed.embedding_table: L2 norm of the last")
    )
    assert ratio.evaluate(background) == plain.evaluate(background)


def test_points_of_a_history_are_read_by_pointer_and_by_the_arrow_keys(
    parameters_page: PanelPage, network: Network
) -> None:
    panel_page, reading = parameters_page, parameters_page.page.get_by_role("status", name="Point of the history")
    network.session.add_condition("update_too_large")
    network.train(5)
    norms = dict(network.session.history.gradient_norms["1.weight"])
    line = panel_page.page.get_by_role("img", name="gradient norm of 1.weight, steps 1 to 5")
    panel_page.until(line.is_visible)

    def read() -> tuple[int, float]:
        step, value = re.fullmatch(r"step (\d+): gradient norm (\S+)", reading.inner_text()).groups()  # type: ignore[union-attr]
        return int(step), float(value)

    width = line.evaluate("line => line.getBoundingClientRect().width")
    for step, x in ((1, 1), (3, width / 2), (5, width - 1)):
        line.hover(position={"x": x, "y": 9})
        assert read() == (step, pytest.approx(norms[step], rel=1e-3))
    panel_page.page.mouse.move(0, 0)
    assert not reading.is_visible()
    select(panel_page, "1.weight")
    grid(panel_page).focus()
    for key, step in (("ArrowRight", 5), ("ArrowLeft", 4), ("ArrowLeft", 3), ("ArrowRight", 4)):
        panel_page.page.keyboard.press(key)
        assert read() == (step, pytest.approx(norms[step], rel=1e-3))
    panel_page.page.keyboard.press("ArrowUp")
    assert not reading.is_visible()


def test_heights_of_a_history_are_logarithms_and_what_has_none_is_marked(
    parameters_page: PanelPage, network: Network
) -> None:
    panel_page, history = parameters_page, network.session.history
    for step, value in enumerate((1e-6, 1e-4, 1e-2, 0.0, float("nan"), 1.0), 1):
        history.add_gradient("0.weight", step, value)
    for step in range(1, 7):
        history.add_gradient("0.bias", step, 1.0 + step / 100)
    panel_page.page.evaluate("show()")
    name = "gradient norm of 0.weight, steps 1 to 6: from 0 to 1, last 1, 1 not finite"
    panel_page.until(panel_page.page.get_by_role("img", name=name).is_visible)
    lines = panel_page.page.locator(".hs-spark-line")
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", lines.nth(0).get_attribute("d") or "")]
    assert heights == pytest.approx([16, 16 - 14 / 3, 16 - 28 / 3, 2], abs=0.1)
    for mark in ("zero", "fault"):
        assert (panel_page.page.locator(f".hs-spark-{mark}").nth(0).get_attribute("d") or "").count("M") == 1
    # A change of a few percent stays a flat line.
    flat = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", lines.nth(1).get_attribute("d") or "")]
    assert max(flat) - min(flat) < 1


def test_every_column_says_what_its_numbers_are(parameters_page: PanelPage) -> None:
    heads = grid(parameters_page).get_by_role("columnheader").all()
    titles = {head.inner_text(): head.get_attribute("title") or "" for head in heads}
    assert all(titles.values())
    assert titles["size"] == "number of elements"
    assert "L2 norm" in titles["gradient norm"]
