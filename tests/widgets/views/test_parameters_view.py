"""The Parameters view's side of Python: the messages for rows, and the editor's answers."""

from __future__ import annotations

import gc
import json
import math
import weakref
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hookscope import engine as ms
from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.conditions import CONDITIONS, Condition
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.static_html.markup import Table
from hookscope.widgets.views.parameters import figures as view
from hookscope.widgets.views.parameters.roles import is_running_statistic
from hookscope.widgets.views.parameters.static_html import export_html, static_parts
from hookscope.widgets.views.parameters.update_check import unusual_update


class Page:
    """A page that stores its messages, and the figures by name of the parameter."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []
        self.names: list[str] = []
        self.figures: dict[str, dict[str, float]] = {}
        self.history: dict[str, list[tuple[float, float]]] = {}
        self.newest: list[str] = []

    def send(self, content: dict[str, Any], buffers: Any = ()) -> None:
        json.dumps(content, allow_nan=False)
        self.messages.append(content)
        if content["type"] != "parameter_figures":
            return
        table = np.frombuffer(buffers[0], "<f8").reshape(len(view.FIGURES), -1)
        self.newest = [self.names[int(position)] for position in table[0]]
        rest = list(np.frombuffer(buffers[1], "<f8"))
        for k, name in enumerate(self.newest):
            self.figures[name] = dict(zip(view.FIGURES, table[:, k].tolist(), strict=True))
            count = int(rest.pop(0))
            steps, values, rest = rest[:count], rest[count : 2 * count], rest[2 * count :]
            if k < content["with_history"]:
                self.history[name] = list(zip(steps, values, strict=True))
        assert rest == []

    def last(self, kind: str) -> dict[str, Any]:
        return [message for message in self.messages if message["type"] == kind][-1]


def network(count: int = 2) -> nn.SequentialCell:
    return nn.SequentialCell(*(nn.Dense(3, 3) for _ in range(count)))


def view_and_page(session: DebugSession) -> tuple[view.ParametersView, Page]:
    page = Page()
    return view.ParametersView(session, page.send), page


def publish(parameters: view.ParametersView, page: Page, budget: float = 60.0) -> None:
    rows = parameters.rows()
    page.names = [row.name for row in rows]
    parameters.publish(rows, budget)


def training(net: nn.Cell, learning_rate: float = 0.1) -> Any:
    optimizer = nn.SGD(net.trainable_params(), learning_rate)
    x = ms.Tensor(np.ones((4, 3), np.float32))
    gradient = ms.value_and_grad(lambda: (net(x) ** 2).mean(), None, optimizer.parameters)

    def step() -> list[np.ndarray]:
        gradients = gradient()[1]
        optimizer(gradients)
        return [gradient.asnumpy() for gradient in gradients]

    return step


def test_every_parameter_comes_with_its_figures() -> None:
    net = network()
    session = DebugSession(net)
    parameters, page = view_and_page(session)
    publish(parameters, page)
    for parameter in net.trainable_params():
        values, figures = parameter.asnumpy().astype(np.float64), page.figures[parameter.name]
        expected = (values.mean(), values.std(), values.min(), values.max(), np.linalg.norm(values))
        actual = tuple(figures[name] for name in ("mean", "std", "minimum", "maximum", "norm"))
        np.testing.assert_allclose(actual, expected, rtol=1e-6)
        assert np.isnan(figures["gradient_norm"]) and np.isnan(figures["update_ratio"])
    texts = view.parameter_texts(session.parameters())
    assert (texts["name"][0], texts["shape"][0], texts["dtype"][0]) == ("0.weight", "3x3", "float32")
    assert texts["shared"] == {}


class Tied(nn.Cell):
    """A head that shares the weight of an embedding, and layers that keep statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(5, 3)
        self.norm = nn.BatchNorm1d(3)
        self.head = nn.Dense(3, 5)
        self.head.weight = self.embed.embedding_table
        self.running_total = ms.Parameter(ms.Tensor(np.zeros(2, np.float32)), name="total", requires_grad=False)
        self.running = ms.Parameter(ms.Tensor(np.zeros(2, np.float32)), name="no statistic", requires_grad=False)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.head(self.norm(self.embed(x).mean(1)))


def test_a_parameter_that_cells_share_says_which() -> None:
    net = Tied()
    rows = DebugSession(net).parameters()
    shared = view.parameter_texts(rows)["shared"]
    sharers = {rows[int(position)].name: sharer for position, sharer in shared.items()}
    assert sharers == {"embed.embedding_table": "shared by embed and head"}
    # A cell with two paths is one cell, and so is one that has a parameter under two names.
    twice = nn.SequentialCell(block := nn.Dense(3, 3), block)
    block.again = block.weight
    assert view.parameter_texts(DebugSession(twice).parameters())["shared"] == {}


def test_of_many_that_share_some_are_named() -> None:
    layers = [nn.Dense(3, 3, has_bias=False) for _ in range(6)]
    for layer in layers[1:]:
        layer.weight = layers[0].weight
    assert view.parameter_texts(DebugSession(nn.SequentialCell(*layers)).parameters())["shared"] == {
        "0": "shared by 0, 1, 2 and 3 more cells"
    }


def test_running_statistics_are_told_from_frozen_weights() -> None:
    net = Tied()
    net.embed.embedding_table.requires_grad = False
    rows = DebugSession(net).parameters()
    numbers = np.frombuffer(view.parameter_numbers(rows), "<f8").reshape(len(view.PARAMETER_NUMBERS), -1)
    running = {row.name for row, item in zip(rows, numbers[2], strict=True) if item}
    assert running == {"norm.moving_mean", "norm.moving_variance", "running_total"}
    net.norm.moving_mean.requires_grad = True  # by mistake: it must appear among the trained ones
    assert not is_running_statistic(next(row for row in DebugSession(net).parameters() if "mean" in row.name))


def test_saved_and_exported_pages_tell_the_same() -> None:
    session = DebugSession(Tied())
    weights, running = (part for part in static_parts(session) if isinstance(part, Table))
    assert (weights.title, running.title) == ("Parameters: 5", "Running statistics: 3")
    assert weights.rows[1][0] == "embed.embedding_table (shared by embed and head)"
    assert [row[0] for row in running.rows] == ["running_total", "norm.moving_mean", "norm.moving_variance"]
    html = export_html(session)
    assert "shared by embed and head" in html
    assert html.count("running statistic") == 3


def judged(ratio: float, *looked_for: Condition, norm: float = 1.0, shape: tuple[int, ...] = (4, 4)) -> str:
    return unusual_update(shape, ratio, True, lambda: norm, {item.name: item for item in looked_for})


def test_an_update_is_unusual_where_the_conditions_say_so() -> None:
    large, small = CONDITIONS["update_too_large"], CONDITIONS["update_too_small"]
    far, near = CONDITIONS["learning_rate_too_large"], CONDITIONS["learning_rate_too_small"]
    assert [judged(ratio, norm=2.0) for ratio in (near.threshold, 1e-3, far.threshold, math.nan)] == [""] * 4
    verdict = judged(2 * large.threshold, norm=2.0)
    assert verdict == "update_too_large: changed by 2 of its norm in one step"
    assert judged(small.threshold / 2).startswith("update_too_small: changed by 5e-08 of its norm")
    assert judged(near.threshold / 2).endswith("below 1e-05 in all weights together is learning_rate_too_small")
    assert judged((far.threshold + large.threshold) / 2, norm=2.0).endswith("is learning_rate_too_large")


def test_what_the_session_looks_for_counts_with_its_own_threshold() -> None:
    assert judged(0.3, replace(CONDITIONS["update_too_large"], threshold=0.2), norm=2.0).startswith("update_too_large")
    verdict = judged(2.0, replace(CONDITIONS["update_too_large"], threshold=9.0), norm=2.0)
    assert verdict.endswith("learning_rate_too_large")
    assert judged(1e-6, replace(CONDITIONS["update_too_small"], threshold=1e-4)).startswith("update_too_small")


def test_biases_what_begins_small_and_what_gets_no_gradient_are_not_judged() -> None:
    assert judged(5.0, shape=(4,)) == ""
    assert judged(50.0, norm=1e-3) == ""  # grows to the size that its fan-in requires
    assert unusual_update((4, 4), 0.0, False, lambda: 1.0, {}) == ""


def test_an_unusual_update_is_sent_with_its_reason_and_a_usual_one_again_without() -> None:
    net = network(1)
    session = DebugSession(net)
    parameters, page = view_and_page(session)
    with session:
        training(net, learning_rate=1e-9)()
        publish(parameters, page)
        verdict = page.last("parameter_figures")["unusual"]
        assert list(verdict) == ["0"] and verdict["0"].startswith("update_too_small")
        training(net, learning_rate=0.1)()
        publish(parameters, page)
    assert page.newest[0] == "0.weight"
    assert page.last("parameter_figures")["unusual"] == {}


def test_gradient_norm_and_update_ratio_of_the_last_step_arrive() -> None:
    net = network()
    session = DebugSession(net)
    parameters, page = view_and_page(session)
    step = training(net)
    with session:
        before = [parameter.asnumpy() for parameter in net.trainable_params()]
        gradients = step()
    publish(parameters, page)
    for parameter, old, gradient in zip(net.trainable_params(), before, gradients, strict=True):
        figures = page.figures[parameter.name]
        assert figures["gradient_norm"] == pytest.approx(np.linalg.norm(gradient), rel=1e-5)
        if np.linalg.norm(old):
            ratio = np.linalg.norm(parameter.asnumpy() - old) / np.linalg.norm(old)
            assert figures["update_ratio"] == pytest.approx(ratio, rel=1e-4)


def test_what_has_not_changed_is_not_sent_again() -> None:
    net = network()
    parameters, page = view_and_page(DebugSession(net))
    publish(parameters, page)
    page.messages.clear()
    publish(parameters, page)
    assert page.messages == []
    net[1].bias.set_data(net[1].bias + 1)
    publish(parameters, page)
    assert page.newest == ["1.bias"]


def test_a_page_that_is_loaded_anew_gets_everything() -> None:
    parameters, page = view_and_page(DebugSession(network()))
    publish(parameters, page)
    parameters.restart()
    publish(parameters, page)
    assert len(page.newest) == 4


def test_without_time_the_rows_in_view_come_first_and_the_rest_later() -> None:
    parameters, page = view_and_page(DebugSession(network(100)))
    publish(parameters, page, 60.0)
    parameters.restart()
    page.names = [row.name for row in parameters.rows()]
    parameters.look_at([150, 151], "gradient_norm")
    parameters.answer(others=False)
    assert page.newest == ["75.weight", "75.bias"]
    for _ in range(300):
        publish(parameters, page, 0.0)
    assert len(page.figures) == 200


def test_old_arrays_are_not_kept() -> None:
    net = network(1)
    parameters, page = view_and_page(DebugSession(net))
    publish(parameters, page)
    old = weakref.ref(net[0].weight._array)
    net[0].weight.set_data(net[0].weight + 1)
    gc.collect()
    assert old() is None


@pytest.mark.parametrize("conditions", [[], ["update_too_large"]])
@pytest.mark.parametrize("series", view.SERIES)
def test_the_history_is_the_sessions_or_what_was_seen(conditions: list[str], series: str) -> None:
    net = network(1)
    session = DebugSession(net, conditions=conditions)
    parameters, page = view_and_page(session)
    publish(parameters, page)
    parameters.look_at([0], series)
    parameters.answer(others=False)
    step = training(net)
    norms = []
    with session:
        for _ in range(5):
            norms.append(float(np.linalg.norm(step()[0])))
            publish(parameters, page)
    parameters.look_at([0], series)
    parameters.answer(others=False)
    steps, values = zip(*page.history["0.weight"], strict=True)
    assert steps == (1, 2, 3, 4, 5)
    if series == "gradient_norm":
        np.testing.assert_allclose(values, norms, rtol=1e-5)


def test_a_long_history_keeps_its_peaks() -> None:
    series = [(step, 1.0) for step in range(1000)]
    series[501] = (501, 9.0)
    series[777] = (777, float("nan"))
    points = view.downsampled(series)
    assert len(points) <= 60
    assert (501, 9.0) in points
    assert any(np.isnan(value) for _, value in points)


def test_the_editor_tells_does_and_undoes() -> None:
    net = network()
    parameters, page = view_and_page(DebugSession(net))
    before = net[1].weight.asnumpy()
    parameters.select_parameter("1.weight")
    parameters.preview_edit(1, "1.weight", "scale", {"factor": "2"})
    answer = page.last("edit_answer")
    assert answer["text"].startswith("changes 9 of 9 elements of 1.weight: min ")
    assert (answer["number"], answer["ready"], answer["failed"], answer["undo"]) == (1, True, False, "")
    np.testing.assert_array_equal(net[1].weight.asnumpy(), before)
    parameters.apply_edit(1)
    np.testing.assert_array_equal(net[1].weight.asnumpy(), 2 * before)
    answer = page.last("edit_answer")
    assert answer["text"].startswith("done, scale 1.weight by 2: changes 9 of 9")
    assert (answer["ready"], answer["undo"]) == (False, "scale 1.weight by 2")
    assert float(page.last("parameter")["figures"]["maximum"]) == pytest.approx(2 * before.max())
    parameters.undo_edit()
    np.testing.assert_array_equal(net[1].weight.asnumpy(), before)
    assert page.last("edit_answer")["text"] == "undone: scale 1.weight by 2"
    assert page.last("edit_answer")["undo"] == ""


def test_bad_input_is_answered_in_one_line() -> None:
    parameters, page = view_and_page(DebugSession(network()))
    parameters.preview_edit(3, "1.weight", "set", {"index": "[9]", "number": "0"})
    answer = page.last("edit_answer")
    assert answer["failed"] and not answer["ready"]
    assert answer["text"].startswith("index '[9]' does not fit the shape 3x3")


def test_only_the_edit_that_was_told_last_is_done() -> None:
    net = network()
    parameters, page = view_and_page(DebugSession(net))
    before = net[0].weight._array
    parameters.preview_edit(1, "0.weight", "zero", {})
    parameters.preview_edit(2, "0.weight", "scale", {"factor": "x"})
    for number in (1, 2):
        parameters.apply_edit(number)
        assert page.last("edit_answer")["failed"]
    assert net[0].weight._array is before


@pytest.mark.usefixtures("sent")
def test_messages_from_the_page_are_checked() -> None:
    panel = DebuggerPanel(DebugSession(network()))
    for message, error in (
        ({"type": "look_at_parameters", "rows": ["0"], "others": False, "series": "gradient_norm"}, "a list of int"),
        ({"type": "look_at_parameters", "rows": [], "others": False, "series": "moon"}, "unknown series 'moon'"),
        ({"type": "select_parameter", "name": "2.weight"}, "there is no parameter '2.weight'"),
        ({"type": "preview_edit", "number": 1, "name": "0.bias", "action": "zero"}, "needs values: dict, got nothing"),
    ):
        panel._received(panel, message, [])
        assert error in panel.status["error"]
