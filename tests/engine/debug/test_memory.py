"""A session stays within its bounds however long it watches."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, value_and_grad
from hookscope.engine.cpu import compiling
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.record.capture import _known
from hookscope.engine.debug.record.statistics import statistics

MOST_BYTES = 64 * 1024


class Nobody:
    """A pauser that cannot answer, so that a pause is noted and the run continues."""

    def unavailable(self) -> str | None:
        return "nobody is here"

    def wait(self, until: Callable[[], bool]) -> None:
        raise AssertionError("asked, though nobody is here")


def network() -> nn.Cell:
    ms.set_seed(1)
    return nn.SequentialCell(nn.Dense(4, 16), nn.Tanh(), nn.Dense(16, 1))


def steps(net: nn.Cell, count: int) -> Iterator[int]:
    """Train; yield the number of steps so far after each step."""
    loss = nn.MSELoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.001, 0.9)
    step = value_and_grad(lambda x, y: loss(net(x), y), None, net.trainable_params())
    x = Tensor(np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32))
    y = Tensor(np.ones((8, 1), np.float32))
    for number in range(1, count + 1):
        _, gradients = step(x, y)
        optimizer(gradients)
        yield number


def reachable(session: DebugSession) -> tuple[int, int]:
    """Return the number of objects that a session keeps, and their bytes without those of arrays.

    Objects of the program or of the network are left out.
    """
    others = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.CodeType, nn.Cell, Nobody)
    reached: dict[int, object] = {}
    open_ends: list[object] = [session]
    while open_ends:
        item = open_ends.pop()
        if id(item) in reached or isinstance(item, others):
            continue
        reached[id(item)] = item
        open_ends += gc.get_referents(item)
    return len(reached), sum(sys.getsizeof(o) for o in reached.values() if not isinstance(o, np.ndarray))


@pytest.mark.parametrize(
    ("count", "options"),
    [
        pytest.param(10_000, {}, id="references", marks=pytest.mark.ci_only),
        pytest.param(
            2_400,
            {"stop_on": ["nan", "exploding_gradient=1e-30", "all_zero"]},
            id="hits in each step",
            marks=pytest.mark.ci_only,
        ),
        pytest.param(2_000, {"breaks": ["*:backward", "*:forward if step < 0"], "every": 2}, id="breakpoints"),
    ],
)
def test_however_many_steps_are_watched_a_session_stays_within_its_bounds(count: int, options: dict[str, Any]) -> None:
    net = network()
    session = DebugSession(net, watch=["*"], max_bytes=MOST_BYTES, max_captures=1_000, pauser=Nobody(), **options)
    early = late = (0, 0)
    with session:
        for number in steps(net, count):
            assert session.captures.bytes <= MOST_BYTES
            if number == count // 2:  # the statistics over steps keep 1,000 of them
                early = reachable(session)
        late = reachable(session)
    assert session.step == count and session.captures.dropped > 4 * len(session.captures)
    assert bool(session.hits) == ("stop_on" in options)
    # The ring holds a few captures more or less, depending on where in a step it is full.
    assert late[0] <= 1.1 * early[0] and late[1] <= 1.1 * early[1]


def test_the_allocator_sees_no_growth_either() -> None:
    net = network()
    sizes: dict[int, int] = {}
    tracemalloc.start()
    try:
        with DebugSession(net, watch=["*"], max_bytes=MOST_BYTES, max_captures=1_000):
            for number in steps(net, 1_800):
                if number in (1_050, 1_800):  # by then it keeps the losses of 1,000 steps
                    gc.collect()
                    sizes[number], _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sizes[1_800] <= 1.1 * sizes[1_050]


def test_the_figures_of_an_array_are_computed_once_and_let_go_with_it() -> None:
    net = nn.SequentialCell(nn.Tanh(), nn.Tanh())
    before = set(_known)
    with DebugSession(net) as session:
        net(Tensor(np.ones((4, 4), np.float32)))
    output, following = session.captures[1], session.captures[2]
    assert (output.slot, following.slot) == ("output", "input[0]")
    assert output.statistics() is following.statistics()
    key = id(output.array)
    assert key in _known
    del output, following
    session.captures.clear()
    assert key not in _known and set(_known) <= before


def test_an_array_that_is_dense_in_another_order_of_axes_is_not_copied_for_its_figures() -> None:
    samples_last = np.random.default_rng(0).standard_normal((16, 32, 32, 64)).astype(np.float32)
    array = samples_last.transpose(3, 0, 1, 2)
    assert not array.flags.forc
    expected = statistics(samples_last)
    tracemalloc.start()
    try:
        figures = statistics(array)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if compiling.is_on():  # NumPy computes with float64 copies
        assert peak < array.nbytes // 8
    assert figures.shape == array.shape
    assert (figures.mean, figures.std, figures.histogram.tolist()) == (
        expected.mean,
        expected.std,
        expected.histogram.tolist(),
    )
