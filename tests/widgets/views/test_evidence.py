"""The picture on a card: of the value that shows the fault, or of the faulty number, always in words too."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession
from hookscope.widgets.views.findings.cards import cards_html
from hookscope.widgets.views.findings.evidence import Evidence
from hookscope.widgets.views.findings.rows import cause_rows

X = np.array([[2.0, 3.0, -1.0, 0.5]], np.float32)


def evidence(session: DebugSession, condition: str) -> Evidence:
    rows = cause_rows(session, session.findings())
    json.dumps(rows, allow_nan=False)
    return next(row["evidence"] for row in rows if row["condition"] == condition)


class Log(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.log(x)


class Times(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return 2 * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * 3,)


def test_of_a_value_there_are_its_bars_and_apart_from_them_what_is_not_finite() -> None:
    net = nn.SequentialCell(Log())
    with DebugSession(net, conditions=["nan"]) as session:
        net(Tensor(X))
    picture = evidence(session, "nan")
    expected, edges = np.histogram(np.log(X[X > 0]), 64)
    assert (picture["kind"], picture["nan"], picture["positive_inf"]) == ("values", 1, 0)
    assert picture["counts"] == expected.tolist()
    assert (picture["low"], picture["high"]) == pytest.approx((edges[0], edges[-1]))
    assert picture["caption"] == "0#0 forward output in step 1: 4 values, 1 NaN, the others from -0.6931 to 1.099"


def test_a_value_that_is_nowhere_finite_has_no_bars_but_words() -> None:
    net = nn.SequentialCell(Log())
    with DebugSession(net, conditions=["nan"]) as session:
        net(Tensor(-np.ones((2, 2), np.float32)))
    picture = evidence(session, "nan")
    assert (picture["kind"], picture["counts"], picture["nan"]) == ("values", [], 4)
    assert "4 values, 4 NaN" in cards_html(session)


def test_of_a_bprop_it_is_what_it_returned() -> None:
    net = nn.SequentialCell(nn.Dense(4, 2), Times())
    step = value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
    with DebugSession(net, conditions=["wrong_bprop"]) as session:
        step(Tensor(X))
    caption = evidence(session, "wrong_bprop")["caption"]
    assert caption == "1#0 backward grad_input[0] in step 1: 2 values, from 3 to 3"


def test_of_the_loss_and_of_updates_it_is_the_curve_by_step() -> None:
    net = nn.SequentialCell(nn.Dense(4, 8))
    optimizer = nn.SGD(net.trainable_params(), 20.0)
    step = value_and_grad(lambda x: ops.sin(net(x)).sum(), None, optimizer.parameters)
    losses = []
    with DebugSession(net, conditions=["update_too_large", "loss_not_decreasing"]) as session:
        for _ in range(30):
            loss, gradients = step(Tensor(X))
            losses.append(float(loss))
            optimizer(gradients)
    rows = {row["condition"]: row["evidence"] for row in cause_rows(session, session.findings())}
    assert rows, "such steps have no finding"
    for name, picture in rows.items():
        assert picture["kind"] == "series", name
    assert [(step, value) for step, value in session.history.losses] == list(enumerate(losses, 1))
    assert all(math.isfinite(y) for picture in rows.values() for _, y in picture["points"] if y is not None)
