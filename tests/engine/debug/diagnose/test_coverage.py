"""A session without findings says what it judged and what it could not, and never "nothing wrong" without a step."""

from __future__ import annotations

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.coverage import Coverage
from hookscope.engine.debug.diagnose.report import report_data, report_text

X = Tensor(np.random.default_rng(0).normal(size=(8, 4)).astype(np.float32))


def test_without_a_step_nothing_is_said_to_be_right() -> None:
    net = nn.SequentialCell(nn.Dense(4, 6), nn.Dense(6, 1))
    with DebugSession(net, conditions=["all"]) as session:
        for _ in range(3):
            net[1](net[0](X))  # neither a call of the network nor a gradient call
    assert session.step == 0 and session.captured > 0
    text = report_text(session)
    assert "no step was seen, so nothing can be said" in text.replace("\n", " ") and "nothing wrong" not in text


def test_conditions_that_had_nothing_to_judge_are_named() -> None:
    net = nn.SequentialCell(nn.Dense(4, 6), nn.Tanh(), nn.Dense(6, 1))
    optimizer = nn.SGD(net.trainable_params(), 0.01)
    step = ms.value_and_grad(lambda x: net(x).square().mean(), None, optimizer.parameters)
    with DebugSession(net, conditions=["nan", "dead_relu", "batch_of_one", "update_too_large"]) as session:
        for _ in range(2):
            optimizer(step(X)[1])
    coverage = session.checks.coverage()
    assert (coverage.steps, coverage.unjudged) == (2, ("dead_relu", "batch_of_one"))
    assert report_text(session).endswith("nothing wrong. Nothing to judge for: dead_relu, batch_of_one.")
    assert report_data(session)["unjudged"] == ["dead_relu", "batch_of_one"]


def test_a_check_that_was_not_made_is_named_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    class Prints(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Dense(4, 1)

        def construct(self, x: Tensor) -> Tensor:
            print("called")
            return self.dense(x)

    net = Prints()
    step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    with DebugSession(net, conditions=["samples_leak"]) as session:
        step(X)
        step(X)
    reason = "samples_leak in (root), since the run of a copy may change print"
    assert session.checks.coverage().unchecked == (reason,)
    assert capsys.readouterr().err.count("samples_leak is not checked in (root)") == 1
    assert reason in report_text(session).replace("\n", " ")


@pytest.mark.parametrize(
    ("coverage", "muted", "text"),
    [
        (Coverage(0, 0), 0, ""),
        (Coverage(1, 4, ("nan",)), 0, "1 step, 4 captures, 1 condition: nothing wrong."),
        (
            Coverage(1, 4, ("nan",), trained=False),
            0,
            "1 step, 4 captures, 1 condition: nothing wrong. No gradient was computed for its weights: it was not "
            "trained here.",
        ),
        (Coverage(2, 4, ("nan",)), 3, "2 steps, 4 captures, 1 condition: nothing wrong apart from muted findings (3)."),
    ],
)
def test_the_sentences(coverage: Coverage, muted: int, text: str) -> None:
    assert coverage.text(muted) == text


def test_a_training_by_hand_is_a_training() -> None:
    net = nn.Dense(2, 1)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    with DebugSession(net, conditions=["nan"]) as session:
        for _ in range(3):
            net(Tensor(np.ones((1, 2), np.float32)))
            optimizer(tuple(parameter * 0.1 for parameter in optimizer.parameters))
    assert session.checks.coverage().trained
