"""Deep and wide networks: what is done for each cell is done once, counted and not timed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.nn import Cell

DEPTH = 200


def counted(run: Callable[[], Any]) -> Counter[CodeType]:
    """Return how often each function was entered, a generator each time that it went on."""
    counts: Counter[CodeType] = Counter()

    def look(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            counts[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(before)
    return counts


def nested(depth: int) -> Cell:
    net: Cell = nn.ReLU()
    for _ in range(depth):
        net = nn.SequentialCell(net)
    return net


def test_looking_through_a_network_comes_to_each_cell_once() -> None:
    net = nested(DEPTH)
    assert counted(lambda: list(net.cells_and_names()))[Cell.cells_and_names.__code__] <= DEPTH + 2


def test_a_network_may_be_deeper_than_the_stack() -> None:
    net = inner = nn.Cell()
    for _ in range(sys.getrecursionlimit()):
        inner.insert_child_to_cell("c", nn.Cell())
        inner = inner.c
    *_, (path, last) = net.cells_and_names()
    assert last is inner
    assert path.count("c") == sys.getrecursionlimit()


def test_the_first_call_checks_the_names_of_the_whole_network_once() -> None:
    net = nested(50)
    first = counted(lambda: net(Tensor([1.0])))
    assert first[Cell.check_names_and_refresh_name.__code__] == 1
    assert first[Cell.cells_and_names.__code__] <= 3 * 52
    assert counted(lambda: net(Tensor([1.0])))[Cell.cells_and_names.__code__] == 0


@pytest.mark.parametrize("kind", [nn.CellList, nn.SequentialCell])
def test_a_long_list_looks_at_each_cell_a_few_times(kind: type[Cell]) -> None:
    cells = [nn.ReLU() for _ in range(DEPTH)]
    assert counted(lambda: kind(cells))[Cell.cells_and_names.__code__] <= 8 * DEPTH


def test_a_watched_call_looks_through_a_deep_network_once() -> None:
    net = nested(50)
    with DebugSession(net) as session:
        counts = counted(lambda: net(Tensor([1.0])))
        assert counts[Cell.cells_and_names.__code__] <= 5 * 52
        assert len(session.captures) == 2  # of the one leaf
