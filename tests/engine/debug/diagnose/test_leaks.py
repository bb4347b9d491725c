"""Conditions on what a network must not see: its own targets as inputs, and what a mask is to hide."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession

RNG = np.random.default_rng(0)
CLASSES, LENGTH = 7, 6


def findings(
    condition: str, loss: Callable[[], Any], cells: Iterable[nn.Cell], steps: int = 8, rate: float = 1e-3
) -> list[str]:
    ms.set_seed(0)
    weights = [parameter for cell in cells for parameter in cell.trainable_params()]
    for index, parameter in enumerate(weights):
        parameter.name = f"parameter{index}"
    optimizer = nn.Adam(weights, rate)
    step = ms.value_and_grad(loss, None, optimizer.parameters)
    with DebugSession(None, conditions=[condition]) as session:
        for _ in range(steps):
            optimizer(step()[1])
    return [finding.message for finding in session.findings()]


# Targets as inputs


def tokens() -> Any:
    return np.random.default_rng(1).integers(0, CLASSES, (5, LENGTH)).astype(np.int32)


class Language(nn.Cell):
    def __init__(self, way: str = "embedding") -> None:
        super().__init__()
        self.way = way
        self.table = nn.Embedding(CLASSES + 1, 8)
        self.head = nn.Dense(8, CLASSES)

    def construct(self, x: Tensor) -> Any:
        table = self.table.embedding_table
        rows = (
            self.table(x) if self.way == "embedding" else table[x] if self.way == "index" else ops.gather(table, x, 0)
        )
        return self.head(rows)


@pytest.mark.parametrize("way", ["embedding", "gather", "index"])
def test_tokens_that_are_to_be_predicted_and_are_given_are_reported(way: str) -> None:
    net, x = Language(way), Tensor(tokens())
    loss = lambda: ops.cross_entropy(net(x).reshape(-1, CLASSES), x.reshape(-1))  # noqa: E731
    (message,) = findings("target_is_input", loss, [net], 60, 0.05)
    assert "it has learned to copy them: " in message


def test_tokens_that_are_shifted_or_masked_are_no_fault() -> None:
    net, x = Language(), tokens()
    masked = np.where(np.arange(LENGTH) % 3 == 1, CLASSES, x).astype(np.int32)

    def shifted() -> Any:
        return ops.cross_entropy(net(Tensor(x[:, :-1])).reshape(-1, CLASSES), Tensor(x[:, 1:].reshape(-1)))

    def hidden() -> Any:
        return ops.cross_entropy(net(Tensor(masked)).reshape(-1, CLASSES), Tensor(x.reshape(-1)))

    assert not findings("target_is_input", shifted, [net], 60, 0.05)
    assert not findings("target_is_input", hidden, [net], 60, 0.05)


def test_few_numbers_or_few_classes_may_be_equal_by_chance() -> None:
    net, few = Language(), Tensor(np.arange(5, dtype=np.int32))
    same = Tensor(np.ones(40, np.int32))
    assert not findings("target_is_input", lambda: ops.cross_entropy(net(few), few), [net])
    assert not findings("target_is_input", lambda: ops.cross_entropy(net(same), same), [net])


def test_labels_that_a_generator_gets_and_steps_of_a_sequence_are_no_leak() -> None:
    labels = Tensor(np.arange(32, dtype=np.int32) % CLASSES)
    table, judge, net, x = nn.Embedding(CLASSES, 8), nn.Dense(8, CLASSES), Language(), tokens()

    def conditional() -> Any:
        return ops.cross_entropy(judge(table(labels)), labels)

    def focal() -> Any:
        logits = judge(table(labels))
        chosen = ops.softmax(logits, -1)[Tensor(np.arange(32)), labels]
        return ((1 - chosen) ** 2 * ops.cross_entropy(logits, labels, reduction="none")).mean()

    def unrolled() -> Any:
        steps = [Tensor(x[:, [time] * 4].copy()) for time in range(LENGTH)]
        return sum(
            ops.cross_entropy(net(now).reshape(-1, CLASSES), later.reshape(-1))
            for now, later in itertools.pairwise(steps)
        )

    assert not findings("target_is_input", conditional, [table, judge], 60, 0.05)
    assert not findings("target_is_input", focal, [table, judge], 60, 0.05)
    assert not findings("target_is_input", unrolled, [net], 30, 0.05)


def test_positions_and_the_labels_of_a_contrast_are_no_tokens() -> None:
    places, head, order = nn.Embedding(20, 8), nn.Dense(8, 20), Tensor(np.arange(20, dtype=np.int32))
    assert not findings("target_is_input", lambda: ops.cross_entropy(head(places(order)), order), [places, head])


# Masks after a softmax

X = Tensor(RNG.normal(size=(4, LENGTH, 8)).astype(np.float32))
Y = Tensor(RNG.normal(size=(4, LENGTH, 8)).astype(np.float32))
CAUSAL = Tensor(np.tril(np.ones((LENGTH, LENGTH), np.float32)))


class Attention(nn.Cell):
    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.query, self.key, self.value = nn.Dense(8, 8), nn.Dense(8, 8), nn.Dense(8, 8)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Any:
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(1, 2)) / 8**0.5
        if self.form == "before":
            return ops.matmul(ops.softmax(ops.masked_fill(scores, CAUSAL == 0, -1e9), -1), self.value(x))
        weights = ops.softmax(scores, -1)
        if self.form == "ones":
            weights = weights * ops.ones_like(CAUSAL)
        elif self.form == "one each":
            weights = weights * Tensor(np.eye(LENGTH, dtype=np.float32))
        elif self.form == "queries":
            weights = weights * Tensor(np.array([[1]] * 4 + [[0]] * 2, np.float32))
        elif self.form == "scaled":
            weights = weights * (0.5 * CAUSAL)
        elif self.form != "none":
            weights = weights * CAUSAL
        if self.form == "divided":
            weights = weights / weights.sum(-1, keepdims=True)
        if self.form == "divided later":
            return ops.matmul(weights, self.value(x)) / weights.sum(-1, keepdims=True)
        if self.form == "dropped":
            weights = self.drop(weights)
        if self.form == "reshaped":
            weights = weights.reshape(4, LENGTH, LENGTH)
        return ops.bmm(weights, self.value(x)) if self.form == "bmm" else ops.matmul(weights, self.value(x))


@pytest.mark.parametrize("form", ["after", "dropped", "reshaped", "bmm"])
def test_a_mask_after_the_softmax_is_reported(form: str) -> None:
    net = Attention(form)
    (message,) = findings("mask_after_softmax", lambda: ops.mse_loss(net(X), Y), [net])
    assert "of the weights are lost" in message


@pytest.mark.parametrize(
    "form", ["before", "none", "ones", "one each", "queries", "scaled", "divided", "divided later"]
)
def test_masks_that_hide_nothing_or_before_the_softmax_are_no_fault(form: str) -> None:
    net = Attention(form)
    assert not findings("mask_after_softmax", lambda: ops.mse_loss(net(X), Y), [net])


def test_a_softmax_over_clusters_beside_a_mask_of_positions_is_right() -> None:
    assign, mask = nn.Dense(8, 3), Tensor(np.array([[[1.0] * 4 + [0.0] * 2]] * 4, np.float32))

    def loss() -> Any:
        shares = ops.softmax(assign(X).swapaxes(1, 2), 1) * mask
        return ops.square(ops.matmul(shares, X)).mean()

    assert not findings("mask_after_softmax", loss, [assign])


def test_a_mask_with_more_axes_than_the_weights_ends_no_check() -> None:
    mix, mask = (
        Parameter(Tensor(np.zeros((LENGTH, LENGTH), np.float32)), "mix"),
        Tensor(np.ones((4, 1, LENGTH), np.float32)),
    )
    step = ms.value_and_grad(lambda: ops.matmul(ops.softmax(mix, -1) * mask, X).mean(), None, [mix])
    with DebugSession(None, conditions=["all"]) as session:
        for _ in range(3):
            step()
    assert not session.faults


def test_probabilities_of_several_classes_are_no_attention() -> None:
    net, sets = nn.Dense(8, 5), Tensor(np.array([[1, 1, 0, 0, 1]] * LENGTH, np.float32))
    inputs = X[0]
    assert not findings(
        "mask_after_softmax", lambda: -ops.log((ops.softmax(net(inputs), -1) * sets).sum(-1)).mean(), [net]
    )


# Weights that are unfrozen


def unfrozen(held: bool, by_hand: bool = False) -> list[str]:
    net = nn.SequentialCell(nn.Dense(8, 8), nn.Tanh(), nn.Dense(8, 8))
    for parameter in net[0].get_parameters():
        parameter.requires_grad = False
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    others: list[nn.Optimizer] = []
    step = ms.value_and_grad(lambda: ops.mse_loss(net(X), Y), None, optimizer.parameters)
    with DebugSession(None, conditions=["unfrozen_parameter"]) as session:
        for number in range(8):
            if number == 2 and not by_hand:
                for parameter in net[0].get_parameters():
                    parameter.requires_grad = True
                if held:
                    others.append(nn.SGD(net[0].trainable_params(), 1e-3))
            optimizer(step()[1])
    return [finding.message for finding in session.findings()]


def test_weights_that_are_unfrozen_and_that_no_optimizer_holds_are_reported() -> None:
    (message,) = unfrozen(held=False)
    assert "no optimizer holds it, and no gradient is computed for it" in message


def test_weights_that_another_optimizer_holds_or_that_stay_frozen_are_no_fault() -> None:
    assert not unfrozen(held=True)
    assert not unfrozen(held=False, by_hand=True)


def test_weights_that_another_gradient_call_requests_are_no_fault() -> None:
    net = nn.SequentialCell(nn.Dense(8, 8), nn.Tanh(), nn.Dense(8, 8))
    loss = lambda: ops.mse_loss(net(X), Y)  # noqa: E731
    every, head = net.trainable_params(), net[2].trainable_params()
    both, last = ms.value_and_grad(loss, None, every), ms.value_and_grad(loss, None, head)
    with DebugSession(None, conditions=["unfrozen_parameter"]) as session:
        for number in range(8):
            for parameter in net[0].get_parameters():
                parameter.requires_grad = number > 1
            for step, weights in ((last, head), (both, every)):
                for parameter, gradient in zip(weights, step()[1], strict=True):
                    if parameter.requires_grad:
                        parameter.set_data(parameter - 0.01 * gradient)
    assert not session.findings()


def test_layers_that_were_never_frozen_may_be_left_out_of_the_optimizer() -> None:
    body, head = nn.Dense(8, 8), nn.Dense(8, 8)
    assert not findings("unfrozen_parameter", lambda: ops.mse_loss(head(body(X)), Y), [head])
    assert isinstance(body.weight, Parameter)
