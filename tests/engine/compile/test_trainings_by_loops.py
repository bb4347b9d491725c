"""Whole trainings at jit level O1: the numbers of eager ones up to rounding, with the same random numbers drawn."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine.compile.function import CompiledFunction
from hookscope.engine.compile.graph import FusedLoop
from tests.engine.compile.test_bits import trained


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[CompiledFunction]]:
    """Compile everything in a test, in GRAPH_MODE, at O1."""
    functions: list[CompiledFunction] = []
    before = CompiledFunction.__init__

    def note(self: CompiledFunction, *args: object, **kwargs: object) -> None:
        before(self, *args, **kwargs)  # type: ignore[arg-type]
        self._level = "O1"
        functions.append(self)

    monkeypatch.setattr(CompiledFunction, "__init__", note)
    yield functions
    ms.set_context(mode=ms.PYNATIVE_MODE)


# The gradient of a bias before a batch norm is rounding errors alone, which Adam turns into steps of 0.01.
TOLERANCES = {"convolutions": 1e-4, "encoder": 1e-4, "bprop": 0.05, "recompute encoder": 1e-4}


@pytest.mark.parametrize(("case", "tolerance"), TOLERANCES.items())
def test_a_training_by_loops_is_the_eager_one_but_for_rounding(
    case: str, tolerance: float, compiled: list[CompiledFunction]
) -> None:
    eager = trained(case)
    ms.set_context(mode=ms.GRAPH_MODE)
    result = trained(case)
    plans = [guarded.plan for item in compiled for some in item.plans.values() for guarded in some]
    assert any(isinstance(node, FusedLoop) for plan in plans for node in plan.graph.nodes)
    assert any(item.counts["replayed"] for item in compiled)
    assert len(result) == len(eager)
    for actual, expected in zip(result, eager, strict=True):
        entry, other = (np.frombuffer(part, np.float32) for part in (actual, expected))
        np.testing.assert_allclose(entry, other, rtol=1e-3, atol=tolerance)
