"""The cells as columns for the page."""

from __future__ import annotations

from plain_session import PlainSession, plain_node
from sent_cells import sent_cells

from hookscope.engine import nn
from hookscope.engine.debug import Breakpoint, DebugSession
from hookscope.widgets.views.cells import nodes as cells_view


def rows(session: object, stops: tuple[Breakpoint, ...] = ()) -> list[dict[str, object]]:
    nodes = cells_view.cell_nodes(session)
    return sent_cells(*cells_view.cell_texts(nodes), cells_view.cell_states(nodes, stops))


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
    texts, _ = cells_view.cell_texts(nodes)
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
