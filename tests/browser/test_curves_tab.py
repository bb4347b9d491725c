"""The Curves tab: losses of two networks, what the script logs, the run before of the cell, and the way to a step."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import Notebook
from tests.browser.panel import Panel

SETUP = """\
import hookscope
import mindspore as ms
import numpy as np
from mindspore import nn, ops

images = ms.Tensor(np.random.RandomState(0).rand(8, 6).astype(np.float32))
noise = ms.Tensor(np.random.RandomState(1).rand(8, 2).astype(np.float32))

class Gan(nn.Cell):
    def __init__(self):
        super().__init__()
        self.generator = nn.SequentialCell(nn.Dense(2, 8), nn.ReLU(), nn.Dense(8, 6))
        self.discriminator = nn.SequentialCell(nn.Dense(6, 8), nn.LeakyReLU(), nn.Dense(8, 1))

    def construct(self, x):
        return self.discriminator(x)

gan, bce, runs = None, nn.BCEWithLogitsLoss(), 0

def real_or_not(x, label):
    score = gan(x)
    return bce(score, label * ops.ones_like(score))"""
TRAIN = """\
%%cell
ms.set_seed(runs)
gan, runs = Gan(), runs + 1
judge, artist = (nn.Adam(part.trainable_params(), 0.01) for part in (gan.discriminator, gan.generator))
judge_step = ms.value_and_grad(
    lambda: real_or_not(images, 1.0) + real_or_not(gan.generator(noise), 0.0), None, judge.parameters)
artist_step = ms.value_and_grad(lambda: real_or_not(gan.generator(noise), 1.0), None, artist.parameters)
for epoch in range(4):
    for _ in range(5):
        judge(judge_step()[1])
        artist(artist_step()[1])
    hookscope.log("val_loss", float("nan") if epoch == 1 else 1.0 / (1 + epoch), step=5 * (epoch + 1))
    hookscope.log({"accuracy": {"train": epoch / 4, "val": epoch / 5}})"""
NETWORK, RUN, EVALUATE = 0, 1, 2
CELLS = [SETUP, TRAIN, 'hookscope.log("val_loss", 0.5, step=20)']


@pytest.fixture
def curves(shared_notebook: Notebook) -> Panel:
    """Run the training, and return its panel with the curves in view."""
    shared_notebook.run_to_end(RUN)
    panel = Panel.in_cell(shared_notebook.cell(RUN))
    panel.tab("Curves")
    expect(panel.view("Curves")).to_be_visible()
    return panel


def chart(panel: Panel, title: str) -> Locator:
    return panel.view("Curves").get_by_role("region", name=title, exact=True)


def series(panel: Panel, title: str) -> list[str]:
    return chart(panel, title).get_by_role("group").get_by_role("button").all_inner_texts()


def point(panel: Panel, title: str) -> Locator:
    return chart(panel, title).get_by_role("slider")


def test_both_objectives_are_there_with_what_was_logged_and_the_run_before(
    curves: Panel, shared_notebook: Notebook
) -> None:
    expect(chart(curves, "loss")).to_be_visible()
    assert series(curves, "loss") == ["loss of discriminator", "loss of generator", "val_loss"]
    assert series(curves, "learning rate") == ["learning rate of discriminator", "learning rate of generator"]
    assert series(curves, "accuracy") == ["accuracy.train", "accuracy.val"]
    description = (
        "val_loss 1 in step 5, 0.25 in step 20, lowest 0.25 in step 20, highest 1 in step 5, 1 of 4 values not"
    )
    expect(chart(curves, "loss")).to_contain_text(description)
    expect(curves.button("Run before")).to_be_hidden()
    shared_notebook.run_to_end(RUN)
    again = Panel.in_cell(shared_notebook.cell(RUN))
    again.tab("Curves")
    expect(again.button("Run before")).to_have_attribute("aria-pressed", "true")
    again.button("Run before").click()
    expect(again.button("Run before")).to_have_attribute("aria-pressed", "false")


def test_a_step_is_read_and_opened_by_the_keyboard(curves: Panel) -> None:
    slider = point(curves, "accuracy")
    slider.focus()
    slider.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", re.compile("^step 5: accuracy.train 0, accuracy.val 0"))
    slider.press("ArrowRight")
    slider.press("Enter")
    expect(curves.view("Captures")).to_be_visible()
    step = curves.view("Captures").get_by_role("slider", name="Step", exact=True)
    expect(step).to_have_attribute("aria-valuetext", "step 10")


def test_an_evaluation_in_a_later_cell_is_in_the_curves(curves: Panel, shared_notebook: Notebook) -> None:
    shared_notebook.run_to_end(EVALUATE)
    expect(chart(curves, "loss")).to_contain_text("val_loss 1 in step 5, 0.5 in step 20")
