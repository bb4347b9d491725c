"""The cells as columns for the page: switches, figures in a budget, trends, shared parameters; and static forms."""

from __future__ import annotations

import gc
import re
import weakref
from html import unescape
from typing import Any

import numpy as np
import pytest
from plain_session import PlainSession, PlainTensor, plain_node
from sent_cells import sent_cells

from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import Breakpoint, Capture, DebugSession
from hookscope.engine.debug.record.statistics import load_kernels
from hookscope.widgets import DebuggerPanel
from hookscope.widgets.static_html import export, snapshot
from hookscope.widgets.views.cells import nodes as cells_view
from hookscope.widgets.views.cells.figures import (
    FIGURE_KINDS,
    FIGURE_NUMBERS,
    FIGURE_WORDS,
    TREND_NUMBERS,
    CellFigures,
    Figure,
    downsampled,
    figure,
)
from hookscope.widgets.views.cells.shared_parts import Shared, sharing

SECOND = 1.0


@pytest.fixture(scope="module", autouse=True)
def kernels() -> None:
    """Load the statistics' kernels now, since a background thread would load them later."""
    load_kernels()


def rows(session: object, stops: tuple[Breakpoint, ...] = ()) -> list[dict[str, object]]:
    nodes = cells_view.cell_nodes(session)
    return sent_cells(*cells_view.cell_texts(nodes, {}), cells_view.cell_states(nodes, stops))


def test_cells_carry_the_state_of_every_switch(session: PlainSession) -> None:
    session.attach_hook("block.relu", "backward")
    session.nodes[2].hooks["forward"] = 300
    stops = (Breakpoint("block*", "backward"), Breakpoint("*", "bprop"), Breakpoint("ops.mul"))
    root, block, relu = rows(session, stops)
    assert (root["path"], root["type"], root["depth"], root["parameters"]) == ("", "Net", 0, 6)
    assert (block["path"], block["has_bprop"], block["breaks"]) == ("block", False, ["backward"])
    assert relu["attached"] == ["backward"]
    assert relu["hooks"] == {"forward_pre": 0, "forward": 255, "backward_pre": 0, "backward": 1}  # a byte each
    assert relu["breaks"] == ["backward", "bprop"]
    assert (relu["shape"], relu["training"], relu["parameters"]) == ("2x3", True, 0)


def test_types_and_shapes_are_sent_once_however_many_cells_have_them(session: PlainSession) -> None:
    session.nodes += [plain_node(f"block.c{k}", 2, "Dense") for k in range(1000)]
    nodes = cells_view.cell_nodes(session)
    texts, _ = cells_view.cell_texts(nodes, {})
    assert (texts["types"], texts["shapes"]) == (["Net", "Block", "LeakyReLU", "Dense"], ["2x3"])
    assert len(cells_view.cell_states(nodes, ())) == 8 * 1003


def test_every_root_is_at_the_top_of_the_tree() -> None:
    class Loss(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.relu = nn.ReLU()

    session = DebugSession()
    for root in (nn.SequentialCell(nn.ReLU()), Loss(), nn.ReLU()):
        session.paths.add_root(root)
    depths = [(row["path"], row["depth"]) for row in rows(session)]
    assert depths == [("", 0), ("0", 1), ("Loss", 0), ("Loss.relu", 1), ("ReLU", 0)]


# Figures


class Two(nn.Cell):
    """A cell with two outputs."""

    def construct(self, x: Any) -> Any:
        return x, x * 100.0


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 2)
        self.two = Two()
        self.unused = nn.ReLU()

    def construct(self, x: Any) -> Any:
        return self.two(self.dense(x))[0].sum()


def train(net: nn.Cell, values: list[np.ndarray], **options: Any) -> DebugSession:
    session = DebugSession(net, **options)
    step = value_and_grad(net, None, net.trainable_params())
    with session:
        for value in values:
            step(Tensor(value.astype(np.float32)))
    return session


def figures_of(figures: CellFigures, paths: list[str], budget: float = SECOND) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the message for these rows, by path and kind."""
    table = np.frombuffer(figures.update(paths, budget), "<f8").reshape(len(FIGURE_NUMBERS), -1).T
    read = [dict(zip(FIGURE_NUMBERS, row, strict=True)) for row in table.tolist()]
    return {
        (paths[int(row["cell"])], FIGURE_KINDS[int(row["kind"])]): {**row, "word": FIGURE_WORDS[int(row["word"])]}
        for row in read
    }


def silent(session: object) -> CellFigures:
    return CellFigures(session, lambda *_: None)


def test_a_cell_has_the_spread_of_its_last_output_and_the_norm_of_the_last_gradient_there() -> None:
    net = Net()
    inputs = [np.full((4, 3), 7.0), np.arange(12.0).reshape(4, 3)]
    figures = figures_of(silent(train(net, inputs)), ["", "dense", "two", "unused"])
    weight, bias = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    output = figures["dense", "output"]
    assert output["value"] == pytest.approx((inputs[1] @ weight.T + bias).std(), rel=1e-5)
    assert (output["step"], output["count"], output["word"]) == (2, 8, "")
    # The gradient of a sum is ones.
    assert figures["dense", "gradient"]["value"] == pytest.approx(np.sqrt(8.0))
    assert not {path for path, _ in figures} & {"", "unused"}  # without captures no figure, not zero


def test_of_several_outputs_the_first_counts() -> None:
    figures = figures_of(silent(train(Net(), [np.arange(12.0).reshape(4, 3)])), ["dense", "two"])
    assert figures["two", "output"]["value"] == pytest.approx(figures["dense", "output"]["value"])


@pytest.mark.parametrize(
    ("kind", "value", "word", "number"),
    [
        ("output", [0.0, 0.0], "zero", 0.0),
        ("output", [3.0, 3.0], "const", 0.0),
        ("output", [-3.0], "", 3.0),  # one element has no deviation, but a magnitude
        ("output", [0.0], "zero", 0.0),
        ("output", [1.0, np.nan, np.inf], "NaN", 0.0),
        ("output", [1.0, 3.0, -np.inf], "inf", 1.0),
        ("output", [], "empty", np.nan),
        ("output", [np.nan], "NaN", np.nan),
        ("output", [True, False], "", 0.5),
        ("gradient", [3.0, 4.0], "", 5.0),
        ("gradient", [0.0, 0.0], "zero", 0.0),
        ("gradient", [2.0, 2.0, 2.0, 2.0], "", 4.0),
    ],
)
def test_zero_constant_and_what_is_not_finite_have_a_word(
    kind: str, value: list[Any], word: str, number: float
) -> None:
    array = np.array(value, bool if value == [True, False] else np.float32)
    figure_sent = figure(kind, Capture(0, 4, "relu", "ReLU", 0, "forward", "output", Tensor(array)))
    assert figure_sent is not None
    assert (figure_sent.step, figure_sent.word, figure_sent.elements) == (4, word, len(value))
    np.testing.assert_equal(figure_sent.value, number)


def test_with_no_time_nothing_is_computed_and_what_is_to_come_is_told(session: PlainSession) -> None:
    for path in ("block", "block.relu"):
        session.capture(path)
    figures = silent(session)
    assert figures_of(figures, ["", "block", "block.relu"], budget=0.0) == {}
    assert figures.rest == 2
    assert [capture.computed for capture in session.captures] == [0, 0]
    assert len(figures_of(figures, ["", "block", "block.relu"])) == 2
    assert figures.rest == 0


def test_only_rows_in_sight_are_computed_each_value_once_and_only_the_newest(session: PlainSession) -> None:
    for step in (1, 2):
        for path in ("block", "block.relu"):
            session.capture(path, step=step)
    figures = silent(session)
    figures.look_at([2, 99, -1])  # a page may be behind: indices of missing rows are skipped
    assert list(figures_of(figures, ["", "block", "block.relu"])) == [("block.relu", "output")]
    figures_of(figures, ["", "block", "block.relu"])
    assert [capture.computed for capture in session.captures] == [0, 0, 0, 1]


def test_a_figure_stays_until_there_is_time_for_a_newer_one(session: PlainSession) -> None:
    session.capture("block", step=1)
    figures = silent(session)
    figures_of(figures, ["block"])
    session.capture("block", step=2)
    assert figures_of(figures, ["block"], budget=0.0)["block", "output"]["step"] == 1
    assert figures_of(figures, ["block"])["block", "output"]["step"] == 2


def test_what_was_given_up_keeps_its_figures_and_one_that_has_none_is_no_zero(session: PlainSession) -> None:
    session.capture("block", step=1)
    session.capture("block.relu", step=1)
    session.captures.give_up(1)
    session.captures.give_up(1, figures=False)
    figures = figures_of(silent(session), ["block", "block.relu"], budget=0.0)
    assert list(figures) == [("block", "output")]


def test_an_edit_at_a_pause_is_seen(session: PlainSession) -> None:
    capture = session.capture("block", step=1)
    figures = silent(session)
    before = figures_of(figures, ["block"])["block", "output"]["value"]
    capture.value = PlainTensor(np.array([0.0, 10.0]))
    session.captures.replacements += 1
    after = figures_of(figures, ["block"])["block", "output"]["value"]
    assert (round(before, 3), after) == (1.708, 5.0)


def test_figures_keep_no_value_alive() -> None:
    session = DebugSession(nn.ReLU(), max_captures=4)
    figures = silent(session)
    with session:
        session.roots[0](Tensor(np.ones(3, np.float32)))
        reference = weakref.ref(session.captures[-1].array)
        figures_of(figures, [""])
        for _ in range(4):
            session.roots[0](Tensor(np.ones(3, np.float32)))
    gc.collect()
    assert reference() is None


def test_rows_in_sight_are_numbers(session: PlainSession, sent: list[Any]) -> None:
    panel = DebuggerPanel(session)
    for wrong in ({"rows": ["0"]}, {"rows": 3}):
        panel._received(panel, {"type": "look_at_cells", **wrong}, [])
        assert "rows" in panel.status["error"]
    panel._received(panel, {"type": "cell_trend", "path": "block", "kind": "mean"}, [])
    assert "unknown figure 'mean'; it is one of output, gradient" in panel.status["error"]


# Trends


def trend(figures: CellFigures, sent: list[Any], path: str, kind: str) -> tuple[dict[str, Any], list[tuple[Any, ...]]]:
    """Return the last trend that was sent, and its points."""
    figures.follow_trend(path, kind)
    figures.update([path], SECOND)
    content, [buffer] = sent[-1]
    table = np.frombuffer(buffer, "<f8").reshape(len(TREND_NUMBERS), -1).T.tolist()
    return content, [(int(step), value, FIGURE_WORDS[int(word)]) for step, value, word in table]


def test_a_trend_has_one_figure_of_one_cell_for_each_step_the_oldest_first() -> None:
    inputs = [np.eye(4, 3) * scale for scale in (1.0, 2.0, np.nan)]
    net = Net()
    net.dense.bias.set_data(Tensor(np.zeros(2, np.float32)))
    session = train(net, inputs)
    sent: list[Any] = []
    figures = CellFigures(session, lambda *message: sent.append(message))
    content, points = trend(figures, sent, "dense", "output")
    assert content == {"type": "cell_trend", "path": "dense", "kind": "output", "rest": 0, "never": 0}
    assert [(step, word) for step, _, word in points] == [(1, ""), (2, ""), (3, "NaN")]
    assert points[1][1] == pytest.approx(2 * points[0][1], rel=1e-5)
    figures.follow_trend("", "")
    figures.update(["dense"], SECOND)
    assert len(sent) == 1  # no page shows it any more


def test_older_captures_are_in_the_trend_with_the_figures_that_they_kept(session: PlainSession) -> None:
    for step in range(1, 6):
        session.capture("block", step=step)
    session.captures.give_up(1, figures=False)
    session.captures.give_up(2)
    sent: list[Any] = []
    content, points = trend(CellFigures(session, lambda *message: sent.append(message)), sent, "block", "output")
    assert [step for step, _, _ in points] == [2, 3, 4, 5]
    assert content["never"] == 1


def test_a_long_trend_keeps_its_ends_and_what_stands_out() -> None:
    points = [Figure(step, 1.0, "", 0, 0, 2, 1.0) for step in range(1000)]
    points[500] = points[500]._replace(word="NaN", value=float("nan"), nan=1)
    points[700] = points[700]._replace(value=9.0)
    steps = [point.step for point in downsampled(points)]
    assert len(steps) <= 120
    assert {0, 500, 700, 999} <= set(steps)
    assert steps == sorted(steps)


# Shared parameters


class Half(nn.Cell):
    def __init__(self, embed: nn.Cell) -> None:
        super().__init__()
        self.embed = embed
        self.dense = nn.Dense(4, 4, has_bias=False)


class Tied(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        embed = nn.Embedding(5, 4)
        self.encoder, self.decoder = Half(embed), Half(embed)
        self.head = nn.Dense(4, 5, has_bias=False)
        self.head.weight = embed.embedding_table


def test_what_is_shared_is_told_in_each_place() -> None:
    groups = sharing(DebugSession(Tied()).paths)
    assert set(groups) == {"encoder", "encoder.embed", "decoder", "head"}
    assert groups["encoder.embed"] == Shared(
        "shared, also decoder.embed and 1 more",
        "The same cell is also decoder.embed. Its embedding_table is the same parameter as head.weight.",
        "20 elements of these shared with decoder.embed, head",
    )
    assert groups["decoder"].mark == "embed shared with encoder.embed"
    assert groups["head"].mark == "weight shared with encoder.embed"
    assert groups["encoder"] == Shared("", "", "20 elements of these shared with decoder.embed, head")


def test_a_parameter_of_several_cells_is_shared_by_all_of_them() -> None:
    net = nn.SequentialCell(*(nn.Dense(2, 2, has_bias=False) for _ in range(3)))
    net[1].weight = net[2].weight = net[0].weight
    groups = sharing(DebugSession(net).paths)
    assert [groups[path].mark for path in "012"] == ["weight shared by 3 cells"] * 3
    assert "" not in groups  # no cell outside the network has it


def test_where_nothing_is_shared_nothing_is_told() -> None:
    assert sharing(DebugSession(nn.SequentialCell(nn.Dense(2, 2), nn.CellList([nn.ReLU()]))).paths) == {}


def test_a_cell_of_two_roots_is_shared() -> None:
    inner = nn.Dense(2, 2)
    session = DebugSession(nn.SequentialCell(inner))
    session.paths.add_root(nn.SequentialCell(inner))
    groups = sharing(session.paths)
    assert groups["0"].mark == "shared, also SequentialCell.0"


def test_marks_travel_with_the_row_that_they_are_of(sent: list[Any]) -> None:
    panel = DebuggerPanel(DebugSession(Tied()), views=("cells", "captures"))
    paths = panel.tree["paths"]
    assert [(paths[at], mark) for at, mark, _, _ in panel.tree["shared"]] == [
        ("encoder", ""),
        ("encoder.embed", "shared, also decoder.embed and 1 more"),
        ("decoder", "embed shared with encoder.embed"),
        ("head", "weight shared with encoder.embed"),
    ]


# Without a script


@pytest.fixture
def session_that_ran() -> DebugSession:
    """Return a session over a network with a dead unit, a tied weight, and a NaN in its last step."""
    net = nn.SequentialCell(
        nn.Dense(3, 3, has_bias=False), nn.ReLU(), nn.Dense(3, 3, has_bias=False), nn.SequentialCell(nn.ReLU())
    )
    net[2].weight = net[0].weight
    net[0].weight.set_data(Tensor(-np.eye(3, dtype=np.float32)))
    return train(SumOf(net), [np.arange(1.0, 13).reshape(4, 3)], conditions=["dead_relu", "all_zero"])


class SumOf(nn.Cell):
    def __init__(self, net: nn.Cell) -> None:
        super().__init__()
        self.net = net

    def construct(self, x: Any) -> Any:
        return ops.square(self.net(x) + 1.0).sum()


def test_a_saved_notebook_has_bars_findings_and_what_is_shared(session_that_ran: DebugSession) -> None:
    html = snapshot.panel_html(session_that_ran, ["cells"])
    rows = {cells[0].strip("\u2003└ "): cells for cells in reversed(table_rows(html))}
    head = rows["cell"]
    index = {name: head.index(name) for name in ("worst finding", "output spread", "gradient norm", "shared")}
    assert rows["0"][index["output spread"]].split("\u2007")[-1] == "3.45"
    assert "█" in rows["0"][index["output spread"]]
    assert rows["1"][index["output spread"]].strip("\u2007") == "zero"
    assert rows["1"][index["worst finding"]] == "dead_relu \u00d73"
    assert rows["0"][index["shared"]] == "weight shared with net.2"
    assert rows["net"][index["output spread"]] == ""


def test_a_saved_notebook_of_a_network_that_did_not_run_has_no_empty_columns() -> None:
    html = snapshot.panel_html(DebugSession(nn.ReLU()), ["cells"])
    assert table_rows(html)[0] == ["cell", "type", "parameters", "output", "mode", "hooks"]


def test_a_cell_that_may_be_shut_says_what_was_found_inside(session_that_ran: DebugSession) -> None:
    page = export.export_page(session_that_ran)
    assert re.search(r"<summary><b>net</b>.*?· inside: dead_relu, \d+ hits in \d cells?</small></summary>", page)
    assert "output spread 3.45 · gradient norm" in page


def table_rows(html: str) -> list[list[str]]:
    """Return the cells of each row of the tables."""
    matches = re.findall(r"<tr>(.*?)</tr>", html)
    return [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in matches]
