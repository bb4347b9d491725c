"""The condition `lost_gradient`: weights that the data of a loss depend on only through a choice, and look-alikes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession

RNG = np.random.default_rng


def batch(count: int = 16, features: int = 6) -> Tensor:
    return Tensor(RNG(0).normal(size=(count, features)).astype(np.float32))


class Codes(nn.Cell):
    """Autoencoder whose decoder gets one of eight codes, chosen by the encoder."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way
        self.encoder = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 4))
        self.decoder = nn.SequentialCell(nn.Dense(4, 16), nn.Tanh(), nn.Dense(16, 6))
        self.table = nn.Embedding(8, 4)
        self.codes = Parameter(Tensor(RNG(1).normal(size=(8, 4)).astype(np.float32)), "codes")

    def look_up(self, z: Tensor) -> Tensor:
        codes = self.table.embedding_table if self.way == "embedding" else self.codes
        distances = ops.square(z.expand_dims(1) - codes).sum(-1)
        indices = distances.argmin(1)
        if self.way == "embedding":
            return self.table(indices)
        if self.way == "one-hot":
            return ops.matmul(ops.one_hot(indices, 8), codes)
        return codes[indices] if self.way == "index" else ops.gather(codes, indices, 0)

    def loss(self, x: Tensor, through: str = "") -> Tensor:
        z = self.encoder(x)
        code = self.look_up(z)
        terms = ops.square(code - ops.stop_gradient(z)).mean() + 0.25 * ops.square(z - ops.stop_gradient(code)).mean()
        if through == "straight":
            code = z + ops.stop_gradient(code - z)
        elif through == "custom":
            code = Straight()(z, code)
        return ops.mse_loss(self.decoder(code), x) + terms


class Straight(nn.Cell):
    """Returns the code, and passes its gradient to what chose it."""

    def construct(self, z: Tensor, code: Tensor) -> Tensor:
        return code * 1.0

    def bprop(self, z: Tensor, code: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor, Tensor]:
        return dout, dout


def findings(loss: Callable[[], Tensor], *cells: nn.Cell, steps: int = 10) -> list[str]:
    ms.set_seed(0)
    weights = [parameter for cell in cells for parameter in cell.trainable_params()]
    for index, parameter in enumerate(weights):
        parameter.name = f"parameter{index}"
    optimizer = nn.Adam(weights, 1e-3)
    step = value_and_grad(loss, None, optimizer.parameters)
    with DebugSession(None, conditions=["lost_gradient"]) as session:
        for _ in range(steps):
            optimizer(step()[1])
    return [f"{finding.path}: {finding.message}" for finding in session.findings()]


@pytest.mark.parametrize("way", ["embedding", "gather", "index", "one-hot"])
def test_an_encoder_behind_an_argmin_is_reported_with_its_line(way: str) -> None:
    net, x = Codes(way), batch()
    (text,) = findings(lambda: net.loss(x), net)
    assert text.startswith("encoder: lost_gradient in the gradient (encoder.0.weight, encoder.0.bias and 2 more: ")
    assert "only through argmin (test_choices.py, line " in text and "distances.argmin(1)" in text


@pytest.mark.parametrize("through", ["straight", "custom"])
def test_a_gradient_that_passes_straight_through_is_no_fault(through: str) -> None:
    net, x = Codes("gather"), batch()
    assert not findings(lambda: net.loss(x, through), net)


def test_a_router_that_only_a_balance_trains_is_reported() -> None:
    router, x, y = nn.Dense(6, 3), batch(), batch(16, 2)
    experts = nn.CellList([nn.Dense(6, 2) for _ in range(3)])

    def loss(weighted: bool) -> Tensor:
        chances = ops.softmax(router(x), -1)
        chosen = ops.one_hot(ops.argmax(chances, -1), 3)
        outputs = ops.stack([expert(x) for expert in experts], 1)
        share = chosen * chances if weighted else chosen
        output = (outputs * share.expand_dims(-1)).sum(1)
        return ops.mse_loss(output, y) + 0.01 * ops.square(chances.mean(0)).sum()

    (text,) = findings(lambda: loss(weighted=False), router, experts)
    assert "only through argmax" in text
    assert not findings(lambda: loss(weighted=True), router, experts)


def test_a_choice_that_logarithms_of_its_probabilities_train_is_no_fault() -> None:
    policy, classifier, x, labels = nn.Dense(6, 3), nn.Dense(2, 3), batch(), Tensor(np.arange(16, dtype=np.int32) % 3)
    pairs = ops.stack([x[:, :2], x[:, 2:4], x[:, 4:]], 1)

    def loss() -> Tensor:
        log_chances = ops.log_softmax(policy(x), -1)
        glimpse = ops.argmax(log_chances, -1)
        logits = classifier(pairs[Tensor(np.arange(16)), glimpse])
        errors = ops.cross_entropy(logits, labels, reduction="none")
        rewards = ops.stop_gradient(errors.mean() - errors)
        return errors.mean() - (ops.one_hot(glimpse, 3) * log_chances).sum(-1).mul(rewards).mean()

    assert not findings(loss, policy, classifier)


def test_targets_that_a_network_chooses_for_itself_are_no_fault() -> None:
    values, target, x = nn.Dense(6, 3), nn.Dense(6, 3), batch()
    rewards, actions = batch(16, 1).squeeze(1), Tensor(np.arange(16, dtype=np.int32) % 3)

    def double_q() -> Tensor:
        best = ops.argmax(values(x), -1)
        goal = rewards + 0.9 * ops.stop_gradient((target(x) * ops.one_hot(best, 3)).sum(-1))
        return ops.square((values(x) * ops.one_hot(actions, 3)).sum(-1) - goal).mean()

    assert not findings(double_q, values)
    assert not findings(lambda: ops.cross_entropy(values(x), ops.stop_gradient(ops.argmax(values(x), -1))), values)


def test_a_choice_beside_a_gradient_is_no_fault() -> None:
    net, x, y = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 3)), batch(), batch(16, 3)

    def masked() -> Tensor:
        output = net(x)
        return ops.square(ops.where(output > 0, output, 0.1 * output) - y).mean()

    def accuracy_inside() -> Tensor:
        output = net(x)
        hits = (ops.argmax(output, -1) == 0).astype(ms.float32).mean()
        return ops.square(output - y).mean() + 0 * hits

    assert not findings(masked, net)
    assert not findings(accuracy_inside, net)


def test_a_loss_of_overlaps_gives_a_gradient_too() -> None:
    boxes, classes, x = nn.Dense(6, 3), nn.Dense(6, 9), batch()
    wanted, labels, rows = batch(16, 3), Tensor(np.arange(16, dtype=np.int32) % 3), Tensor(np.arange(16))
    masks = Tensor(np.asarray(RNG(3).random((16, 6)) < 0.5, np.float32))
    segment, regress = nn.Dense(6, 6), nn.Dense(6, 1)

    def matched() -> Any:
        widths = ops.softplus(boxes(x))
        inner = ops.minimum(widths, ops.abs(wanted))
        overlaps = inner / (widths + ops.abs(wanted) - inner)
        logits = classes(x).reshape(16, 3, 3)[rows, ops.argmax(overlaps, 1)]
        return (1 - overlaps).mean() + ops.cross_entropy(logits, labels)

    def dice() -> Any:
        shares = ops.sigmoid(segment(x))
        chosen = (shares > 0.5).astype(ms.float32)
        overlap = 2 * (shares * masks).sum() / (shares.sum() + masks.sum())
        return 1 - overlap + ops.square(regress(x * chosen) - wanted[:, :1]).mean()

    assert not findings(matched, boxes, classes)
    assert not findings(dice, segment, regress)
