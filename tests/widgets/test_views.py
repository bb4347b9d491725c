"""From a session's data to the rows and buffers that the page reads."""

from __future__ import annotations

import json

import numpy as np
from plain_session import PlainSession, PlainTensor

from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import cells_view, views


def columns(buffer: bytes, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    table = np.frombuffer(buffer, "<f8").reshape(len(names), -1)
    return dict(zip(names, table, strict=True))


def test_cells_carry_the_state_of_every_switch(session: PlainSession) -> None:
    session.attach_hook("block.relu", "backward")
    root, block, relu = cells_view.cell_rows(session)
    assert (root["label"], root["name"], root["depth"]) == ("(root)", "Net", 0)
    assert (block["label"], block["has_bprop"]) == ("block", False)
    assert relu["attached"] == ["backward"]
    assert relu["hooks"] == {"forward_pre": 0, "forward": 0, "backward_pre": 0, "backward": 1}
    json.dumps([root, block, relu])


def test_every_root_is_at_the_top_of_the_tree() -> None:
    class Loss(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.relu = nn.ReLU()

    session = DebugSession()
    for root in (nn.SequentialCell(nn.ReLU()), Loss(), nn.ReLU()):
        session.paths.add_root(root)
    depths = [(row["path"], row["depth"]) for row in cells_view.cell_rows(session)]
    assert depths == [("", 0), ("0", 1), ("Loss", 0), ("Loss.relu", 1), ("ReLU", 0)]


def test_captures_come_once_with_their_numbers_as_float64_columns(session: PlainSession) -> None:
    session.capture(hits=["nan"], origin="hook")
    session.capture("", call=3, step=2)
    feed = views.CaptureFeed(session)
    content, buffer = feed.take(float("inf"))
    numbers = columns(buffer, views.CAPTURE_NUMBERS)
    assert (content["reset"], content["count"]) == (True, 2)
    assert content["columns"]["cell"] == ["block", "(root)"]
    assert content["columns"]["hits"] == ["nan", ""]
    assert content["columns"]["origin"] == ["hook", "tap"]
    assert numbers["index"].tolist() == [0, 1]
    assert numbers["call"].tolist() == [0, 3]
    assert numbers["maximum"].tolist() == [5, 5]
    np.testing.assert_allclose(numbers["std"], np.arange(6.0).std())
    assert feed.take(float("inf")) is None
    session.capture()
    content, buffer = feed.take(float("inf"))
    assert content["reset"] is False
    assert columns(buffer, views.CAPTURE_NUMBERS)["index"].tolist() == [2]


def test_without_a_budget_no_statistics_are_computed(session: PlainSession) -> None:
    capture = session.capture()
    _, buffer = views.CaptureFeed(session).take(0.0)
    numbers = columns(buffer, views.CAPTURE_NUMBERS)
    assert capture.computed == 0
    assert numbers["known"].tolist() == [0]
    assert np.isnan(numbers["mean"]).all()


def test_captures_that_the_ring_dropped_are_skipped_and_told(session: PlainSession) -> None:
    feed = views.CaptureFeed(session)
    for _ in range(5):
        session.capture()
    feed.take(0.0)
    for _ in range(5):
        session.capture()
    del session.captures[:8]
    session.captures.dropped = 8
    content, buffer = feed.take(0.0)
    assert (content["oldest"], content["dropped"]) == (8, 8)
    assert columns(buffer, views.CAPTURE_NUMBERS)["index"].tolist() == [8, 9]
    assert feed.find([3, 9]) == [session.captures[1]]


def test_clearing_the_captures_clears_the_page(session: PlainSession) -> None:
    feed = views.CaptureFeed(session)
    session.capture()
    session.capture()
    feed.take(0.0)
    session.captures.clear()
    content, _ = feed.take(0.0)
    assert (content["count"], content["oldest"]) == (0, 2)
    assert feed.take(0.0) is None


def test_nan_and_infinity_are_counted_apart(session: PlainSession) -> None:
    capture = session.capture()
    capture.value._array[0] = [np.nan, np.inf, -np.inf]
    row = dict(zip(views.CAPTURE_NUMBERS, views.capture_numbers(capture, capture.statistics()), strict=True))
    assert (row["nan"], row["inf"], row["minimum"], row["maximum"]) == (1, 2, 3, 5)


def test_the_selected_capture_brings_its_64_bins_and_65_edges(session: PlainSession) -> None:
    content, buffer = views.selection_view(session.capture(), session.captures)
    numbers = np.frombuffer(buffer, "<f8")
    counts, edges = np.histogram(np.arange(6.0), 64)
    np.testing.assert_array_equal(numbers[:64], counts)
    np.testing.assert_array_equal(numbers[64:], edges)
    assert content["figures"]["maximum"] == "5.0"
    json.dumps(content, allow_nan=False)


def test_figures_that_are_no_numbers_survive_json(session: PlainSession) -> None:
    capture = session.capture()
    figures = capture.statistics()
    figures.minimum = float("nan")
    figures.norm = float("inf")
    capture.statistics = lambda: figures
    content, _ = views.selection_view(capture, session.captures)
    assert content["figures"]["minimum"] == "nan"
    assert content["figures"]["norm"] == "inf"
    json.dumps(content, allow_nan=False)


def test_a_tensor_is_written_short_whatever_its_size() -> None:
    text = views.value_text(PlainTensor(np.arange(1e6)))
    assert text == "PlainTensor 1000000 float64 [0, 1, 2, 3, 4, 5, …]"


def test_a_value_whose_repr_raises_is_still_shown() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert views.value_text(Broken()) == "<Broken: its repr raised RuntimeError>"


def test_a_long_value_is_cut() -> None:
    assert len(views.value_text("x" * 10_000)) == 2000


def test_a_stop_carries_source_locals_operators_and_the_exception(session: PlainSession) -> None:
    session.pause(exception=ZeroDivisionError("division by zero\nmore"))
    view = views.stop_view(session.paused)
    assert view["title"] == "bprop of block.relu, line 11"
    assert view["lines"] == ["def bprop(self, x, out, dout):", "    return (dout,)"]
    assert view["locals"][1] == {"name": "n", "value": "3", "changed": True}
    assert view["operators"] == [{"name": "Mul", "inputs": "float64 2, 2", "outputs": "None", "shown": False}]
    assert view["exception"] == "ZeroDivisionError: division by zero"
    json.dumps(view)
