"""A cell that calls itself comes as deep with hooks and under a session as it does alone."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, grad, nn
from hookscope.engine.base import recursion_limit
from hookscope.engine.debug import DebugSession


class Recursive(nn.Cell):
    """Cell that calls itself, endlessly for a negative ``left``."""

    def construct(self, x: Tensor, left: int) -> Tensor:
        return x if left == 0 else self(x * 1.0, left - 1)


X = Tensor(np.ones(2, np.float32))


def hooked(cell: nn.Cell) -> nn.Cell:
    cell.register_forward_pre_hook(lambda cell, inputs: None)
    cell.register_forward_hook(lambda cell, inputs, output: None)
    cell.register_backward_hook(lambda cell, grad_input, grad_output: None)
    return cell


def recomputed(cell: nn.Cell) -> nn.Cell:
    cell.recompute()
    return cell


def as_it_is(cell: nn.Cell) -> nn.Cell:
    return cell


def forward(cell: nn.Cell, left: int) -> Any:
    return cell(X, left)


def gradient(cell: nn.Cell, left: int) -> Any:
    return grad(lambda x: cell(x, left))(X)


def deepest(run: Callable[[nn.Cell, int], Any], cell: nn.Cell) -> int:
    """Return how many nested calls a run can do."""
    fits, fails = 1, 1000
    while fails - fits > 1:
        middle = (fits + fails) // 2
        try:
            run(cell, middle)
            fits = middle
        except RecursionError:
            fails = middle
    return fits


@pytest.fixture(autouse=True)
def _limit_stays() -> Any:
    before = sys.getrecursionlimit()
    yield
    assert sys.getrecursionlimit() == before
    assert not recursion_limit._extra_frames


@pytest.mark.parametrize("run", [forward, gradient])
@pytest.mark.parametrize("looked_at", [as_it_is, hooked])
def test_a_recursion_comes_as_deep_watched_as_plain(
    run: Callable[[nn.Cell, int], Any], looked_at: Callable[[nn.Cell], nn.Cell]
) -> None:
    plain = Recursive()
    forward(plain, 1)
    depth = deepest(run, plain)
    if sys.version_info[:2] == (3, 12):
        depth -= 16  # C has a limit of its own there, which taps need a little of, and which nobody can raise
    cell = looked_at(Recursive())
    forward(cell, 1)  # the first call looks at the cell's names
    run(cell, depth)
    for watched in (cell, nn.ReLU()):
        with DebugSession(watched, conditions=["all"], breaks=[".:backward if norm < 0"]) as session:
            run(cell, depth)
        assert not session.faults


def test_a_recursion_of_recomputed_cells_comes_as_deep_watched() -> None:
    cell = recomputed(Recursive())
    depth = deepest(forward, cell) - 16  # what taps take at the end
    with DebugSession(cell, conditions=["all"]) as session:
        forward(cell, depth)
    assert not session.faults


@pytest.mark.faults_expected
@pytest.mark.parametrize("looked_at", [as_it_is, hooked, recomputed])
@pytest.mark.parametrize("conditions", [(), ("all",)])
def test_a_recursion_without_an_end_ends_in_an_error(
    looked_at: Callable[[nn.Cell], nn.Cell], conditions: tuple[str, ...]
) -> None:
    cell = looked_at(Recursive())
    for session in (contextlib.nullcontext(), DebugSession(cell, conditions=conditions)):
        for run in (forward, gradient):
            with session, pytest.raises(RecursionError):
                run(cell, -1)


def test_nothing_is_left_wherever_a_recursion_reaches_the_limit() -> None:
    def run_from(frames: int) -> None:
        if frames:
            return run_from(frames - 1)
        with pytest.raises(RecursionError):
            forward(cell, -1)
        return None

    cell = hooked(Recursive())
    for frames in range(64):  # where the limit is met moves by a frame each time
        run_from(frames)
        assert not recursion_limit._extra_frames, frames


class Sets(nn.Cell):
    """Cell that sets another limit in the middle of a call."""

    def construct(self, x: Tensor, left: int) -> Tensor:
        if left == 20:
            sys.setrecursionlimit(sys.getrecursionlimit() + 1234)
        return x if left == 0 else self(x, left - 1)


def test_a_limit_that_is_set_meanwhile_stays() -> None:
    before = sys.getrecursionlimit()
    cell = Sets()
    try:
        with DebugSession(cell):
            cell(X, 40)
            set_by_user = sys.getrecursionlimit()
            assert set_by_user >= before + 1234
            cell(X, 10)
            assert sys.getrecursionlimit() == set_by_user
            sys.setrecursionlimit(2**31 - 1)
            cell(X, 10)
            assert sys.getrecursionlimit() == 2**31 - 1
    finally:
        sys.setrecursionlimit(before)


class SetsForAWhile(nn.Cell):
    """Cell that sets another limit for the calls inside it."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Recursive()

    def construct(self, x: Tensor) -> Tensor:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(5000)
        try:
            return self.inner(x, 40)
        finally:
            sys.setrecursionlimit(before)


def test_a_limit_that_is_set_for_a_while_is_put_back() -> None:
    cell = SetsForAWhile()
    with DebugSession(cell):
        for _ in range(3):
            cell(X)


def test_threads_give_the_room_back() -> None:
    cell = Recursive()
    forward(cell, 1)

    def run() -> None:
        for _ in range(20):
            forward(cell, 60)

    with DebugSession(nn.ReLU()):
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
