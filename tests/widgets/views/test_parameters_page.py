"""The Parameters view as a person meets it: ten thousand rows, live figures, and values changed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from panel_page import PanelPage
from playwright.sync_api import Browser, Locator

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
def opened(browser: Browser, network: Network, sent: list[Any]) -> Iterator[PanelPage]:
    """The Parameters tab of a panel over two layers; an error in its JavaScript fails the test."""
    yield from _opened(browser, network, sent)


@pytest.fixture
def many(browser: Browser, sent: list[Any]) -> Iterator[PanelPage]:
    """The same over a network of 10,000 parameters."""
    yield from _opened(browser, Network(5000), sent)


def _opened(browser: Browser, network: Network, sent: list[Any]) -> Iterator[PanelPage]:
    page = browser.new_page(viewport={"width": 1000, "height": 640})
    shown = PanelPage(page, network.session, sent)
    page.get_by_role("tab", name="Parameters").click()
    yield shown
    assert shown.errors == []
    page.close()


def grid(shown: PanelPage) -> Locator:
    return shown.page.get_by_role("grid", name="Parameters")


def cell(shown: PanelPage, row: int, column: str) -> Locator:
    heads = [head.inner_text() for head in grid(shown).get_by_role("columnheader").all()]
    return grid(shown).get_by_role("row").nth(row + 1).get_by_role("gridcell").nth(heads.index(column))


def number(shown: PanelPage, row: int, column: str) -> float:
    """A figure; 0 where there is none."""
    text = cell(shown, row, column).inner_text()
    return float(text) if text[-1].isdigit() else 0.0


def preview(shown: PanelPage) -> str:
    return shown.page.get_by_role("status", name="What the change does").inner_text()


def button(shown: PanelPage, name: str) -> Locator:
    return shown.page.get_by_role("button", name=name, exact=True)


def select(shown: PanelPage, name: str) -> None:
    row = grid(shown).get_by_role("gridcell", name=name, exact=True)
    shown.until(row.is_visible)
    row.click()
    shown.until(shown.page.get_by_role("region", name="Selected parameter").is_visible)


def fill(shown: PanelPage, **fields: str) -> None:
    for name, text in fields.items():
        shown.page.get_by_role("textbox", name=name).fill(text)


def test_ten_thousand_rows_are_a_few_elements_and_are_filtered_and_sorted(many: PanelPage) -> None:
    shown = many
    shown.until(lambda: grid(shown).get_attribute("aria-rowcount") == "10001")
    assert grid(shown).get_by_role("row").count() < 40
    shown.until(lambda: "·" not in cell(shown, 0, "norm").inner_text())
    button(shown, "norm").click()
    button(shown, "norm").click()
    norms = {row.name: row.statistics.norm for row in shown.panel.session.parameters()}
    largest = max(norms, key=norms.__getitem__)
    shown.until(lambda: cell(shown, 0, "name").inner_text() == largest, seconds=30)
    shown.page.get_by_role("searchbox", name="Filter parameters").fill("4321 bias")
    shown.until(lambda: grid(shown).get_attribute("aria-rowcount") == "2")
    assert cell(shown, 0, "name").inner_text() == "4321.bias"


def test_gradient_norms_ratios_and_a_line_of_their_history_follow_the_training(
    opened: PanelPage, network: Network
) -> None:
    shown = opened
    shown.until(lambda: "·" not in cell(shown, 0, "norm").inner_text())
    assert [number(shown, 0, name) for name in ("gradient norm", "update ratio")] == [0, 0]
    network.train(1)
    shown.until(lambda: number(shown, 0, "update ratio") > 0)
    assert number(shown, 0, "gradient norm") > 0
    network.session.add_condition("update_too_large")
    network.train(4)
    line = shown.page.get_by_role("img", name="gradient norm of 0.weight, steps 2 to 5: from")
    shown.until(line.is_visible)
    shown.page.get_by_role("combobox", name="History shows").select_option("update ratio")
    shown.until(shown.page.get_by_role("img", name="update ratio of 0.weight, steps 2 to 5: from").is_visible)


def test_an_edit_is_told_then_done_then_undone(opened: PanelPage, network: Network) -> None:
    shown, weight = opened, network.net[1].weight
    before = weight.asnumpy()
    select(shown, "1.weight")
    assert preview(shown) == "Fill in elements and number to see what changes."
    assert button(shown, "Apply").is_disabled() and button(shown, "Undo").is_disabled()
    fill(shown, Elements="[0, :]", Number="0")
    shown.until(lambda: preview(shown).startswith("changes 3 of 9 elements of 1.weight: "))
    np.testing.assert_array_equal(weight.asnumpy(), before)
    button(shown, "Apply").click()
    shown.until(lambda: preview(shown).startswith("done, set 1.weight[0, :] to 0"))
    np.testing.assert_array_equal(weight.asnumpy(), np.where([[1], [0], [0]], 0, before))
    detail = shown.page.get_by_role("region", name="Selected parameter")
    shown.until(lambda: "zeros\n3" in detail.inner_text())
    assert button(shown, "Apply").is_disabled()
    button(shown, "Undo").click()
    shown.until(lambda: preview(shown) == "undone: set 1.weight[0, :] to 0")
    np.testing.assert_array_equal(weight.asnumpy(), before)
    assert button(shown, "Undo").is_disabled()


@pytest.mark.parametrize(
    ("change", "fields", "told"),
    [
        ("scale by", {"Factor": "half"}, "factor must be a number, got 'half'"),
        ("clip", {"Lowest": "2", "Highest": "1"}, "low must not be above high, got 2 and 1"),
        ("set elements", {"Elements": "[7]", "Number": "1"}, "index '[7]' does not fit the shape 3x3"),
    ],
)
def test_bad_input_is_told_and_cannot_be_applied(
    opened: PanelPage, change: str, fields: dict[str, str], told: str
) -> None:
    select(opened, "0.weight")
    opened.page.get_by_role("combobox", name="Change").select_option(change)
    fill(opened, **fields)
    opened.until(lambda: preview(opened).startswith(told))
    assert button(opened, "Apply").is_disabled()


def test_the_keyboard_alone_changes_a_value(opened: PanelPage, network: Network) -> None:
    shown, press = opened, opened.page.keyboard.press
    shown.until(lambda: grid(shown).get_attribute("aria-rowcount") == "5")
    grid(shown).focus()
    press("ArrowDown")
    press("ArrowDown")
    detail = shown.page.get_by_role("region", name="Selected parameter")
    shown.until(lambda: detail.is_visible() and "0.bias" in detail.inner_text())
    change = shown.page.get_by_role("combobox", name="Change")
    while not change.evaluate("element => element === document.activeElement"):
        press("Tab")
    press("ArrowDown")
    shown.until(lambda: change.input_value() == "scale")
    press("Tab")
    shown.page.keyboard.type("0")
    shown.until(button(shown, "Apply").is_enabled)
    press("Enter")
    shown.until(lambda: preview(shown).startswith("done, scale 0.bias by 0"))
    assert network.net[0].bias.asnumpy().tolist() == [0, 0, 0]


def test_a_reloaded_page_shows_the_selected_parameter_and_what_can_be_undone(
    opened: PanelPage, network: Network
) -> None:
    select(opened, "0.weight")
    opened.page.get_by_role("combobox", name="Change").select_option("set to zero")
    opened.until(button(opened, "Apply").is_enabled)
    button(opened, "Apply").click()
    opened.until(button(opened, "Undo").is_enabled)
    opened.page.evaluate("show()")
    opened.until(button(opened, "Undo").is_enabled)
    assert "0.weight" in opened.page.get_by_role("region", name="Selected parameter").inner_text()
    opened.until(lambda: cell(opened, 0, "norm").inner_text() == "0")


def test_another_network_in_the_same_session_gets_rows_of_its_own(opened: PanelPage, network: Network) -> None:
    opened.until(lambda: grid(opened).get_attribute("aria-rowcount") == "5")
    network.net.append(nn.Dense(3, 5))
    opened.panel.sync()
    opened.until(lambda: grid(opened).get_attribute("aria-rowcount") == "7")
    opened.until(lambda: cell(opened, 4, "shape").inner_text() == "5x3 float32")
    opened.until(lambda: number(opened, 4, "norm") > 0)
