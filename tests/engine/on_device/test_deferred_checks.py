"""Numbers that are not allowed are found on a GPU when numbers are read, without a wait, and named with their line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.base import deferred_checks
from hookscope.engine.compile.function import CompiledFunction
from tests import strict_device

FILE = Path(__file__).name


@pytest.fixture(autouse=True)
def counts() -> Iterator[Any]:
    with strict_device.device() as result:
        yield result
    assert not deferred_checks.pending_checks


def line() -> int:
    """Return the number of the line that calls this."""
    frame: Any = inspect.currentframe()
    number: int = frame.f_back.f_lineno
    return number


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.gather(Tensor([[1.0], [2.0]]), Tensor([0, 2]), 0),
            RuntimeError,
            r"For 'gather', indices must be in \[-2, 2\), but got 0..2",
        ),
        (
            lambda: nn.Embedding(3, 2)(Tensor([[3]])),
            RuntimeError,
            r"For 'gather', indices must be in \[-3, 3\), but got 3..3",
        ),
        (
            lambda: ops.cross_entropy(Tensor(np.zeros((2, 3), np.float32)), Tensor([0, 5])),
            ValueError,
            r"For 'cross_entropy', the class numbers in 'target' must be in \[0, 3\) or -100, but got 5",
        ),
        (
            lambda: ops.nll_loss(Tensor(np.zeros((2, 3), np.float32)), Tensor([0, -1])),
            ValueError,
            r"For 'nll_loss', the class numbers in 'target' must be in \[0, 3\) or -100, but got -1",
        ),
        (
            lambda: ops.tensor_scatter_add(Tensor([1.0, 2.0]), Tensor([[2]]), Tensor([1.0])),
            RuntimeError,
            "indices must be in",
        ),
    ],
    ids=["gather", "embedding", "cross entropy", "nll", "scatter"],
)
def test_what_is_out_of_range_is_told_when_numbers_are_read(
    call: Callable[[], Any], error: type[Exception], text: str, counts: Any
) -> None:
    other = Tensor([1.0])
    counts.clear()
    call()
    assert not counts.synchronizations
    with pytest.raises(error, match=text) as info:
        other.asnumpy()
    assert f"on a GPU this is seen when numbers are read: the call was at {__file__}:" in str(info.value)
    assert other.tolist() == [1.0]  # it is reported once


def test_the_line_is_that_of_the_call() -> None:
    x = Tensor([1.0, 2.0])
    ops.gather(x, Tensor([1]), 0)
    ops.gather(x, Tensor([5]), 0)
    at = line() - 1
    with pytest.raises(RuntimeError, match=f"{FILE}:{at}$"):
        float(x[0])


def test_what_is_allowed_is_never_told_and_a_step_waits_for_nothing(counts: Any) -> None:
    table, head = nn.Embedding(5, 4), nn.Dense(4, 3)
    weights = [*table.trainable_params(), *head.trainable_params()]
    x, y = Tensor([0, 4, 2], ms.int32), Tensor([0, 2, 1], ms.int32)
    step = value_and_grad(lambda: ops.cross_entropy(head(table(x)), y), None, weights)
    counts.clear()
    loss, _ = step()
    assert not counts.synchronizations and len(deferred_checks.pending_checks) == 2
    assert np.isfinite(float(loss)) and not deferred_checks.pending_checks


def test_in_the_end_the_host_waits_rather_than_keep_more_and_more() -> None:
    x, indices = Tensor([1.0, 2.0]), Tensor([1])
    for _ in range(deferred_checks._MOST + 2):
        ops.gather(x, indices, 0)
    assert len(deferred_checks.pending_checks) == 2
    deferred_checks.run_deferred_checks()


def test_a_plan_looks_too() -> None:
    compiled, x = CompiledFunction(lambda x, i: ops.gather(x, i, 0) * 2, "f"), Tensor([1.0, 2.0])
    for _ in range(5):
        result = compiled(x, Tensor([1]))
    assert result.tolist() == [4.0] and compiled.counts["replayed"]
    compiled(x, Tensor([2]))
    with pytest.raises(RuntimeError, match=r"For 'gather', indices must be in \[-2, 2\), but got 2..2"):
        x.asnumpy()


def test_on_the_cpu_it_is_told_at_once() -> None:
    ms.set_device("CPU")
    with pytest.raises(RuntimeError, match=r"indices must be in \[-2, 2\), but got 0..2$"):
        ops.gather(Tensor([1.0, 2.0]), Tensor([0, 2]), 0)
