"""Passes over graphs: what they leave out, and what they must not."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, ops
from hookscope.engine.graph.function import Compiled


def test_arrays_that_no_rule_reads_do_not_wait_for_the_walk_back() -> None:
    shape = (64, 1024)

    def function(x: Tensor) -> Any:
        for _ in range(6):
            x = ops.relu(x) + 1.0  # of which the rules read no more than relu's output
        return x.sum()

    gradient = ms.value_and_grad(function)
    compiled, x = Compiled(lambda x: gradient(x), "f"), Tensor(np.ones(shape, np.float32))
    wanted = gradient(x)
    for _ in range(2):
        compiled(x)
    tracemalloc.start()
    got = compiled(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert compiled.counts["replayed"] == 2
    assert [t.asnumpy().tobytes() for t in got] == [t.asnumpy().tobytes() for t in wanted]
    assert peak < 9.5 * x.nbytes  # six outputs of relu, and what is computed with; else twelve


def test_zeros_of_two_signs_are_two_constants() -> None:
    function = Compiled(lambda x: 1.0 / (x * 0.0) - 1.0 / (x * -0.0), "f")
    x = Tensor(np.ones(3, np.float32))
    for _ in range(3):
        assert function(x).tolist() == [float("inf")] * 3
    assert function.counts["replayed"] == 2
