"""Findings that depend on several calls of one cell, or on what follows a cell, and their look-alikes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops, value_and_grad
from hookscope.engine.debug import DebugSession

FEATURES = 6


def train(
    net: nn.Cell,
    condition: str,
    steps: int = 4,
    x: np.ndarray | None = None,
    weights: list[Parameter] | None = None,
    loss: Any = None,
    before: Any = None,
    rate: float = 0.001,
) -> DebugSession:
    weights = net.trainable_params() if weights is None else weights
    optimizer = nn.SGD(weights, rate)
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(16, FEATURES)).astype(np.float32) if x is None else x
    step = value_and_grad(loss or (lambda x: (net(x) ** 2).mean()), None, weights)
    with DebugSession(net, conditions=[condition]) as session:
        for number in range(steps):
            if before is not None:
                before(number)
            optimizer(step(Tensor(inputs))[1])
    return session


def found(session: DebugSession) -> list[str]:
    return [finding.path for finding in session.findings()]


# A bprop that uses what another call left on self


class Square(nn.Cell):
    """The square, whose bprop uses the input that is stored."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: Any = None

    def construct(self, x: Tensor) -> Tensor:
        self.stored = x
        return x * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (2 * self.stored * dout,)


class OwnInput(Square):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (2 * x * dout,)


class Stack(Square):
    """Stores the inputs in a list, of which each bprop takes the last."""

    def __init__(self) -> None:
        super().__init__()
        self.stored = []

    def construct(self, x: Tensor) -> Tensor:
        self.stored.append(x)
        return x * x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (2 * self.stored.pop() * dout,)


class Noisy(Square):
    """Multiplies by random numbers, which are stored."""

    def construct(self, x: Tensor) -> Tensor:
        self.stored = ops.randn(*x.shape)
        return x * self.stored

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (self.stored * dout,)


class Twice(nn.Cell):
    def __init__(self, act: nn.Cell, other: nn.Cell | None = None) -> None:
        super().__init__()
        ms.set_seed(0)
        self.first, self.second = nn.Dense(FEATURES, FEATURES), nn.Dense(FEATURES, FEATURES)
        self.act = act
        self.other = other

    def construct(self, x: Tensor) -> Tensor:
        x = self.act(self.first(x))
        return (self.act if self.other is None else self.other)(self.second(x))


def test_a_bprop_that_uses_what_a_later_call_stored_is_found() -> None:
    (finding,) = train(Twice(Square()), "wrong_bprop").findings()
    assert finding.path == "act" and finding.message.endswith(
        "(right for one call alone; of 2 calls in one run, one uses what a later call kept on self)"
    )
    assert "one object for each place" in finding.advice


@pytest.mark.parametrize(
    "net",
    [
        lambda: Twice(OwnInput()),
        lambda: Twice(Square(), Square()),
        lambda: Twice(Stack()),
        lambda: Twice(Noisy()),
        lambda: nn.SequentialCell(nn.Dense(FEATURES, FEATURES), Square()),
    ],
)
def test_a_bprop_that_uses_its_own_call_is_not_reported(net: Any) -> None:
    assert not train(net(), "wrong_bprop", steps=12).findings()


def test_the_comparison_in_place_changes_no_bit() -> None:
    nets = [Twice(Square()) for _ in range(2)]
    train(nets[0], "wrong_bprop")
    optimizer = nn.SGD(nets[1].trainable_params(), 0.001)
    step = value_and_grad(lambda x: (nets[1](x) ** 2).mean(), None, nets[1].trainable_params())
    inputs = Tensor(np.random.default_rng(0).normal(size=(16, FEATURES)).astype(np.float32))
    for _ in range(4):
        optimizer(step(inputs)[1])
    for watched, plain in zip(nets[0].get_parameters(), nets[1].get_parameters(), strict=True):
        np.testing.assert_array_equal(watched.asnumpy(), plain.asnumpy())


# A bprop of an identity


class Identity(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 1.0


class Reversed(Identity):
    def __init__(self, strength: float) -> None:
        super().__init__()
        self.strength = strength

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (-self.strength * dout,)


class Weakened(Identity):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (0.1 * dout,)


class Clipped(Identity):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (ops.clip_by_value(dout, -0.1, 0.1),)


class GivesInput(Identity):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (x,)


class GivesOnes(Identity):
    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (ops.ones_like(x),)


class NegatedTanh(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (-dout * (1 - out * out),)


class GradientReversal(Identity):
    def __init__(self, strength: float) -> None:
        super().__init__()
        self.strength = strength

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (self.strength * dout,)


class ReversibleBlock(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x + ops.tanh(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * (2 - ops.tanh(x) ** 2),)


def between(cell: nn.Cell) -> nn.Cell:
    ms.set_seed(0)
    return nn.SequentialCell(nn.Dense(FEATURES, 4), cell, nn.Dense(4, 1))


@pytest.mark.parametrize(
    "cell",
    [
        Reversed(1.0),
        Reversed(0.3),
        Reversed(0.0),
        Weakened(),
        Clipped(),
        GradientReversal(-1.0),
        GradientReversal(0.0),
        ReversibleBlock(),
    ],
    ids=["minus", "weaker", "stopped", "scaled", "clipped", "named", "named_stopped", "reversible"],
)
def test_a_bprop_that_changes_the_gradient_of_an_identity_is_meant(cell: nn.Cell) -> None:
    assert not train(between(cell), "wrong_bprop").findings()


@pytest.mark.parametrize("cell", [GivesInput(), GivesOnes(), NegatedTanh()], ids=["input", "ones", "tanh"])
def test_other_wrong_bprops_are_found(cell: nn.Cell) -> None:
    assert found(train(between(cell), "wrong_bprop")) == ["1"]


def test_a_reversal_that_does_not_reverse_is_found() -> None:
    (finding,) = train(between(GradientReversal(1.0)), "wrong_bprop").findings()
    assert "says that it reverses the gradient" in finding.message and "minus" in finding.advice


# Samples


class FirstTokens(nn.Cell):
    """Reads the last of the tokens of each sequence after a GRU that runs over the batch."""

    def __init__(self, batch_first: bool) -> None:
        super().__init__()
        ms.set_seed(0)
        self.embedding = nn.Embedding(3, 8, embedding_table="normal")
        self.gru = nn.GRU(8, 8, batch_first=batch_first)
        self.head = nn.Dense(8, 2)

    def construct(self, tokens: Tensor) -> Tensor:
        return self.head(self.gru(self.embedding(tokens))[0][:, -1])


def test_a_recurrent_layer_over_the_batch_is_found_where_tokens_are_alike() -> None:
    tokens = np.random.default_rng(0).integers(0, 3, (16, 5)).astype(np.int32)
    tokens[-1, -1] = tokens[0, -1]  # so that another first sample may be the same where the network looks
    (finding,) = train(FirstTokens(False), "samples_leak", x=tokens).findings()
    assert finding.path == "gru" and "batch_first" in finding.advice
    assert not train(FirstTokens(True), "samples_leak", x=tokens).findings()


class Messages(nn.Cell):
    """Sums over the edges of a graph, whose nodes are the samples."""

    def __init__(self) -> None:
        super().__init__()
        rng = np.random.default_rng(1)
        self.dense = nn.Dense(FEATURES, 2)
        self.source, self.target = (Tensor(rng.integers(0, 16, 40).astype(np.int32)) for _ in range(2))

    def construct(self, x: Tensor) -> Tensor:
        return ops.unsorted_segment_sum(ops.gather(self.dense(x), self.source, 0), self.target, 16)


def test_the_nodes_of_a_graph_depend_on_each_other() -> None:
    assert not train(Messages(), "samples_leak").findings()


class NormalizedByNumPy(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        values = x.asnumpy()
        return (x - Tensor(values.mean(0))) / Tensor(values.std(0) + 1e-3)


def test_statistics_of_the_batch_by_numpy_are_found() -> None:
    net = nn.SequentialCell(nn.Dense(FEATURES, 4), NormalizedByNumPy(), nn.Dense(4, 1))
    assert found(train(net, "samples_leak")) == ["1"]


# Inputs that are normalized next


class ReshapedNorm(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4)

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.norm(self.conv(x.expand_dims(1)).swapaxes(1, 2).reshape(-1, 4)))


class Functional(nn.Cell):
    def __init__(self, act: Any) -> None:
        super().__init__()
        self.dense, self.act = nn.Dense(FEATURES, 4), act

    def construct(self, x: Tensor) -> Tensor:
        return self.act(self.dense(x))


class OwnNorm(nn.Cell):
    """A normalization with a scale and a bias of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.gamma, self.beta = Parameter(np.ones(FEATURES, np.float32)), Parameter(np.zeros(FEATURES, np.float32))

    def construct(self, x: Tensor) -> Tensor:
        x = (x - x.mean(0)) / ops.sqrt(x.var(0) + 1e-5)
        return x * self.gamma + self.beta


class Scaled(nn.Cell):
    """A linear function with the weights of a vector."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = Parameter(np.full(FEATURES, 1e-3, np.float32))

    def construct(self, x: Tensor) -> Tensor:
        return (x * self.weight).sum(1)


def by_hand(x: Tensor) -> Tensor:
    return (x - x.mean(0)) / ops.sqrt(x.var(0) + 1e-5)


LAYER_NORM = (Tensor(np.ones(4, np.float32)), Tensor(np.zeros(4, np.float32)))
NORMALIZED = {
    "batch_norm": lambda: nn.SequentialCell(nn.Dense(FEATURES, 4), nn.BatchNorm1d(4), nn.ReLU()),
    "layer_norm": lambda: nn.SequentialCell(nn.Dense(FEATURES, 4), nn.LayerNorm((4,))),
    "reshaped": ReshapedNorm,
    "function": lambda: Functional(lambda x: ops.layer_norm(x, (4,), *LAYER_NORM)),
    "by_hand": lambda: Functional(by_hand),
    "own_norm_first": lambda: nn.SequentialCell(OwnNorm(), nn.Dense(FEATURES, 1)),
}
RAW = {
    "activation": lambda: nn.SequentialCell(nn.Dense(FEATURES, 4), nn.ReLU(), nn.Dense(4, 1)),
    "later": lambda: nn.SequentialCell(nn.Dense(FEATURES, 4), nn.ReLU(), nn.BatchNorm1d(4)),
    "alone": lambda: nn.Dense(FEATURES, 1),
    "vector": Scaled,
    "scaled_first": lambda: nn.SequentialCell(nn.PReLU(), nn.Dense(FEATURES, 1)),
}


def raw(scale: float = 90.0) -> np.ndarray:
    return (scale + np.random.default_rng(0).normal(size=(16, FEATURES))).astype(np.float32)


@pytest.mark.parametrize("name", NORMALIZED)
def test_inputs_that_are_normalized_next_are_not_reported(name: str) -> None:
    net = NORMALIZED[name]().set_train()
    assert not train(net, "inputs_not_normalized", x=raw()).findings()


@pytest.mark.parametrize("name", RAW)
def test_raw_inputs_are_found(name: str) -> None:
    net = RAW[name]().set_train()
    assert len(train(net, "inputs_not_normalized", x=raw()).findings()) == 1


# Modes


class Classifier(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense, self.dropout, self.head = nn.Dense(FEATURES, 8), nn.Dropout(p=0.5), nn.Dense(8, 2)

    def construct(self, x: Tensor) -> Tensor:
        return self.head(self.dropout(ops.relu(self.dense(x))))


def test_the_dropout_of_a_teacher_may_be_off() -> None:
    teacher, student = Classifier().set_train(False), Classifier().set_train()
    optimizer = nn.SGD(student.trainable_params(), 0.01)
    step = value_and_grad(lambda x: ((student(x) - teacher(x)) ** 2).mean(), None, optimizer.parameters)
    with DebugSession(None, conditions=["wrong_mode"]) as session:
        for _ in range(4):
            optimizer(step(Tensor(raw(0.0)))[1])
    assert not session.findings()


def test_the_dropout_of_a_trained_network_must_be_on() -> None:
    assert found(train(Classifier().set_train(False), "wrong_mode")) == ["dropout"]


# Zeros in some calls, and gradients that are large in some steps


class FixedPoint(nn.Cell):
    """A state that begins at zero, and is taken through one layer several times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        ms.set_seed(0)
        self.recur, self.inject = nn.Dense(4, 4, has_bias=False), nn.Dense(FEATURES, 4)
        self.times = times

    def construct(self, x: Tensor) -> Tensor:
        state = ops.zeros((x.shape[0], 4), ms.float32)
        for _ in range(self.times):
            state = ops.tanh(self.recur(state) + self.inject(x))
        return state


class Zeros(nn.Cell):
    def construct(self, x: Tensor) -> Tensor:
        return x * 0.0


def test_zeros_in_the_first_of_several_calls_are_not_reported() -> None:
    assert not train(FixedPoint(3), "all_zero", steps=6).findings()


def test_zeros_in_every_call_are_found() -> None:
    assert "act" in found(train(Twice(Zeros()), "all_zero", steps=6))


class Amplified(Identity):
    def __init__(self) -> None:
        super().__init__()
        self.factor = 1.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (self.factor * dout,)


@pytest.mark.parametrize(
    ("large", "expected"), [((0,), 1), ((5,), 0), ((5, 7, 9), 0), ((5, 6, 7), 1), ((2,), 1), (tuple(range(12)), 1)]
)
def test_a_large_gradient_is_found_at_the_beginning_or_in_several_steps(large: tuple[int, ...], expected: int) -> None:
    amplified = Amplified()
    net = between(amplified)

    def set_factor(step: int) -> None:
        amplified.factor = 1e4 if step in large else 1.0

    session = train(net, "exploding_gradient", steps=12, before=set_factor, rate=1e-9)
    assert min(len(session.findings()), 1) == expected
