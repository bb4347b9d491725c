"""Gradients that are added up over several steps make one step of the optimizer with their mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, boost, nn, ops

GRADIENTS = np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25], [-4.0, 8.0], [7.0, 7.0]], np.float32)


def test_after_so_many_steps_the_optimizer_takes_the_mean_and_it_begins_anew() -> None:
    # Weights and names are as MindSpore 2.10's.
    weight = Parameter(Tensor(np.array([1.0, 2.0], np.float32)), name="weight")
    accumulate = boost.GradientAccumulation(2, nn.SGD([weight], 0.5))
    expected, records = np.array([1.0, 2.0]), []
    for step, gradient in enumerate(GRADIENTS, 1):
        assert accumulate(Tensor(float(step)), (Tensor(gradient),)).item() == step  # the loss
        if step % 2 == 0:
            expected = expected - 0.5 * GRADIENTS[step - 2 : step].mean(0)
        records.append(weight.asnumpy().tolist())
        np.testing.assert_allclose(records[-1], expected, rtol=1e-6)
    assert records[0] == [1.0, 2.0]
    assert [p.name for p in accumulate.get_parameters()] == [
        "optimizer.weight",
        "grad_accumulation.optimizer.weight",
        "accumulation_step",
        "optimizer.global_step",
        "optimizer.learning_rate",
        "optimizer.momentum",
        "optimizer.accum.weight",
        "optimizer.stat.weight",
    ]


@pytest.mark.parametrize(
    ("steps", "optimizer", "error", "names"),
    [
        (0, "sgd", ValueError, "'max_accumulation_step' must be"),
        (1.0, "sgd", TypeError, "'max_accumulation_step' must be"),
        (2, None, TypeError, "'optimizer' must be an optimizer"),
    ],
)
def test_what_cannot_be_is_refused(steps: Any, optimizer: Any, error: type[Exception], names: str) -> None:
    output: Any = optimizer and nn.SGD([Parameter(Tensor([1.0]), name="weight")], 0.5)
    with pytest.raises(error, match=f"For 'GradientAccumulation', {names}"):
        boost.GradientAccumulation(steps, output)


def test_what_was_made_for_ascend_names_the_way_to_go() -> None:
    with pytest.raises(NotImplementedError, match=r"train with mindspore.nn or mindspore.train.Model"):
        boost.AutoBoost("O1")


def test_operations_of_reducing_are_words() -> None:
    assert [getattr(ops.ReduceOp, name) for name in ("SUM", "MAX", "MIN", "PROD", "AVG")] == [
        "sum",
        "max",
        "min",
        "prod",
        "avg",
    ]
