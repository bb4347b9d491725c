"""Planted faults of numbers: NaN from log, sqrt, exp, 0 / 0 and masks, and Inf that stays inside a cell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal, initializer

from . import blocks, data
from .programs import Run, by_hand, one_step, planted, with_model

# nan_produced


class Log(nn.Cell):
    """log(x), or log(1 + x)."""

    def __init__(self, plus: float) -> None:
        super().__init__()
        self.plus = plus

    def construct(self, x: Tensor) -> Any:
        return ops.log(x + self.plus)


@planted(
    "nan_produced",
    "log",
    "Counts, some of them 0, are put on a logarithmic scale by log(x).",
    also=("body", "body.dense1"),
    not_finite=True,
)
def log_of_counts(fault: bool) -> Run:
    random = np.random.default_rng(0)
    counts = random.poisson(2.0, (64, 6)).astype(np.float32)
    y = (counts[:, 0] > counts[:, 1]).astype(np.int32)
    net = blocks.chain(log=Log(0.0 if fault else 1.0), body=blocks.mlp(6, 24, 2))
    return Run(
        net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.3), data.batches(counts, y, steps=20), with_model
    )


class Distance(nn.Cell):
    """The Euclidean distance of two rows."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return ops.sqrt(ops.square(a - b).sum(1) + self.epsilon)


class Siamese(nn.Cell):
    """The distance of two pictures' embeddings."""

    def __init__(self, distance: nn.Cell) -> None:
        super().__init__()
        self.embed = blocks.embedder()
        self.distance = distance

    def construct(self, a: Tensor, b: Tensor) -> Any:
        return self.distance(self.embed(a), self.embed(b))


def contrastive(distance: Tensor, same: Tensor) -> Any:
    """Return the contrastive loss of Hadsell et al. 2006, with margin 1."""
    return (same * ops.square(distance) + (1 - same) * ops.square(ops.relu(1 - distance))).mean()


def pairs_of_digits(identical: bool) -> tuple[data.Array, data.Array, data.Array]:
    """Return two columns of flat pictures, and whether they show the same digit; a pair may be one picture twice."""
    x, y = data.digits(128, classes=4)
    flat = data.normalized(x).reshape(len(x), -1)
    a, b = flat[:64], flat[64:].copy()
    same = (y[:64] == y[64:]).astype(np.float32)
    if identical:
        b[20], same[20] = a[20], 1.0
    return a, b, same


@planted(
    "nan_produced",
    "distance",
    "sqrt without an epsilon: a pair of equal pictures has no gradient at distance 0.",
    not_finite=True,
)
def root_of_zero(fault: bool) -> Run:
    net = Siamese(Distance(0.0 if fault else 1e-9))
    batches = data.batches(*pairs_of_digits(identical=True), steps=20)
    return Run(net, contrastive, nn.Adam(net.trainable_params(), 0.003), batches)


class CosineSoftmax(nn.Cell):
    """The softmax of cosines to learned points over a temperature, in float16."""

    def __init__(self, width: int, classes: int, stable: bool) -> None:
        super().__init__()
        self.points = Parameter(initializer(Normal(1.0), (classes, width)), "points")
        self.stable = stable

    def construct(self, x: Tensor) -> Any:
        a, b = (v / ops.sqrt(ops.square(v).sum(1, keepdims=True) + 1e-6) for v in (x, self.points))
        scores = (ops.matmul(a, b.T) / 0.04).astype(ms.float16)
        if self.stable:
            scores = scores - ops.stop_gradient(scores.max(1, keepdims=True))
        powers = ops.exp(scores)
        return (powers / powers.sum(1, keepdims=True)).astype(ms.float32)


def likelihood(probabilities: Tensor, labels: Tensor) -> Any:
    return -ops.log(ops.gather_elements(probabilities, 1, labels.expand_dims(1)) + 1e-4).mean()


@planted(
    "nan_produced",
    "similarity",
    "A softmax written by hand in float16: exp(score) overflows above 11.",
    not_finite=True,
)
def exponential_in_float16(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(dense=nn.Dense(6, 16), tanh=nn.Tanh(), similarity=CosineSoftmax(16, 3, stable=not fault))
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, likelihood, optimizer, data.batches(x, y, steps=24), one_step)


class CarelessMean(nn.Cell):
    """The mean over the words that are not padding; 0 / 0 if there is none."""

    def construct(self, x: Tensor, words: Tensor) -> Any:
        kept = ops.not_equal(words, 0).astype(x.dtype).expand_dims(-1)
        return (x * kept).sum(1) / kept.sum(1)


def reviews_with_an_empty_one() -> tuple[data.Array, data.Array]:
    words, y = data.reviews()
    words[37] = 0
    return words, y


@planted(
    "nan_produced", "pool", "The mean over a review's words, of which one review has none: 0 / 0.", not_finite=True
)
def mean_of_an_empty_review(fault: bool) -> Run:
    words, y = reviews_with_an_empty_one()
    net = blocks.TextClassifier()
    if fault:
        net.pool = CarelessMean()
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(words, y, steps=16), by_hand
    )


class AttentionClassifier(nn.Cell):
    """Attention between the words that are not padding."""

    def __init__(self, masked: float) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 16, embedding_table=Normal(1.0))
        self.attention = blocks.Attention(16)
        self.pool, self.head = blocks.MaskedMean(), nn.Dense(16, 3)
        self.masked = masked

    def construct(self, words: Tensor) -> Any:
        mask = ops.where(ops.equal(words, 0), Tensor(self.masked, ms.float32), Tensor(0.0, ms.float32))
        return self.head(self.pool(self.attention(self.embedding(words), mask.expand_dims(1).expand_dims(1)), words))


@planted("nan_produced", "attention", "A row of words is all padding: the softmax of a row of -inf.", not_finite=True)
def softmax_of_a_masked_row(fault: bool) -> Run:
    words, y = reviews_with_an_empty_one()
    net = AttentionClassifier(-math.inf if fault else -1e9)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    return Run(net, nn.CrossEntropyLoss(), optimizer, data.batches(words, y, steps=16), one_step)


# inf_inside: each of these cells has its Inf in ``inside``


class NearStation(nn.Cell):
    """The proximity of the station, 1 / (1 + 1 / distance), beside the other features."""

    def __init__(self, least: float) -> None:
        super().__init__()
        self.least = least

    def inside(self, x: Tensor) -> Any:
        return 1 / ops.maximum(x[:, :1], Tensor(self.least))

    def construct(self, x: Tensor) -> Any:
        return ops.concat([x[:, 1:], 1 / (1 + self.inside(x))], 1)


@planted("inf_inside", "near", "1 / distance is Inf for a house at the station; 1 / (1 + Inf) hides it.")
def one_over_distance(fault: bool) -> Run:
    x, y = data.houses()
    distance = np.where(np.arange(64) % 10 == 3, 0, x[:, 3:4].T / 10).T.astype(np.float32)
    features = np.concatenate([distance, data.normalized(x[:, [0, 1, 2, 4]], 0)], 1)
    net = blocks.chain(near=NearStation(0.0 if fault else 0.01), body=blocks.mlp(5, 24, 1))
    batches = data.batches(features, y[:, None], steps=24)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, with_model)


class Threshold(nn.Cell):
    """A sharp sigmoid of the features by its formula, in float16."""

    def __init__(self, sharpness: float) -> None:
        super().__init__()
        self.sharpness = sharpness

    def inside(self, x: Tensor) -> Any:
        return ops.exp(-x.astype(ms.float16) * self.sharpness)

    def construct(self, x: Tensor) -> Any:
        return (1 / (1 + self.inside(x))).astype(ms.float32)


@planted("inf_inside", "threshold", "1 / (1 + exp(-10 x)) in float16: exp overflows, the quotient is a good 0.")
def sigmoid_by_hand_in_float16(fault: bool) -> Run:
    x, y = data.flowers()
    net = blocks.chain(threshold=Threshold(10.0 if fault else 2.0), body=blocks.mlp(6, 24, 3))
    return Run(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.5), data.batches(x, y, steps=30))


class LogPower(nn.Cell):
    """The logarithm of a spectrum's power, within bounds."""

    def __init__(self, floor: float) -> None:
        super().__init__()
        self.floor = floor

    def inside(self, x: Tensor) -> Any:
        return ops.log(ops.square(x) + self.floor)

    def construct(self, x: Tensor) -> Any:
        return ops.clamp(self.inside(x), -3.0, 3.0)


class Speech(nn.Cell):
    """A convolution over the log-power of frames."""

    def __init__(self, floor: float) -> None:
        super().__init__()
        self.power = LogPower(floor)
        self.conv = nn.Conv1d(2, 16, 5, 2)
        self.head = nn.Dense(128, 3)

    def construct(self, x: Tensor) -> Any:
        return self.head(ops.relu(self.conv(self.power(x.swapaxes(1, 2)))).reshape((x.shape[0], -1)))


@planted("inf_inside", "power", "log(power) of silent frames is -Inf, and clamp makes -3 of it.")
def log_of_silence(fault: bool) -> Run:
    x, y = data.waves()
    x[:, 12:] = 0
    net = Speech(0.0 if fault else 1e-3)
    return Run(
        net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(x, y, steps=20), one_step
    )
