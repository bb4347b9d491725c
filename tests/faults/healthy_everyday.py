"""Healthy: everyday training: regressions, embeddings, metric learning, series, several losses."""

from __future__ import annotations

from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.tensors.initializer import Normal

from . import blocks, data
from .programs import Run, by_hand, healthy, one_step, with_model


def houses(net: nn.Cell, loss: Any, rate: float = 0.01, way: Any = by_hand, steps: int = 24) -> Run:
    x, y = data.houses()
    optimizer = nn.Adam(net.trainable_params(), rate)
    return Run(net, loss, optimizer, data.batches(data.normalized(x, 0), y[:, None], steps=steps), way)


def classified(net: nn.Cell, columns: tuple[data.Array, ...], rate: float = 0.01, way: Any = by_hand) -> Run:
    batches = data.batches(*columns, steps=24)
    return Run(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), rate), batches, way)


@healthy("Least squares by gradient descent.")
def linear_regression() -> Run:
    x, y = data.houses()
    net = nn.Dense(5, 1)
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    return Run(net, nn.MSELoss(), optimizer, data.batches(data.normalized(x, 0), y[:, None], size=32, steps=20))


@healthy("One logit and nn.BCEWithLogitsLoss.")
def logistic_regression() -> Run:
    x, y = data.flowers(classes=2)
    net = nn.Dense(6, 1)
    optimizer = nn.SGD(net.trainable_params(), 0.3)
    batches = data.batches(x, y[:, None].astype(np.float32), steps=24)
    return Run(net, nn.BCEWithLogitsLoss(), optimizer, batches, one_step)


@healthy("Huber's loss, since a few targets are far off.")
def huber_with_outliers() -> Run:
    x, y = data.houses()
    y[::13] += 4
    net = blocks.mlp(5, 32, 1)
    batches = data.batches(data.normalized(x, 0), y[:, None], steps=30)
    return Run(net, nn.HuberLoss(), nn.Adam(net.trainable_params(), 0.01), batches)


@healthy("The 10, 50 and 90 % quantiles by the pinball loss: outputs (N, 3) meet a target (N, 1) on purpose.")
def quantile_regression() -> Run:
    levels = Tensor(np.array([0.1, 0.5, 0.9], np.float32))

    def pinball(output: Tensor, target: Tensor) -> Any:
        apart = target - output
        return ops.maximum(levels * apart, (levels - 1) * apart).mean()

    return houses(blocks.mlp(5, 32, 3), pinball)


@healthy("Mean and logarithm of the variance, by the normal likelihood.")
def likelihood_with_variance() -> Run:
    def loss(output: Tensor, target: Tensor) -> Any:
        mean, log_variance = output[:, :1], output[:, 1:]
        return (0.5 * (ops.square(target - mean) * ops.exp(-log_variance) + log_variance)).mean() + 1

    return houses(blocks.mlp(5, 32, 2), loss, 0.005)


@healthy("Counts by the Poisson likelihood of a log-rate.")
def poisson_regression() -> Run:
    random = np.random.default_rng(0)
    x = random.normal(0, 1, (64, 4)).astype(np.float32)
    y = random.poisson(np.exp(0.5 + x @ np.array([0.8, -0.5, 0.3, 0.0])))[:, None].astype(np.float32)
    net = blocks.mlp(4, 24, 1)

    def loss(output: Tensor, target: Tensor) -> Any:
        return (ops.exp(output) - target * output).mean() + 2

    return Run(net, loss, nn.Adam(net.trainable_params(), 0.02), data.batches(x, y, size=32, steps=24), one_step)


@healthy("Reviews by the mean of embedded words; padding does not count.")
def reviews_by_bag_of_words() -> Run:
    return classified(blocks.TextClassifier(), data.reviews())


class SkipGram(nn.Cell):
    """The loss of a word, a word near it, and some that are not (Mikolov et al. 2013)."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.center = nn.Embedding(words, width, embedding_table=Normal(0.3))
        self.context = nn.Embedding(words, width, embedding_table=Normal(0.3))

    def construct(self, center: Tensor, neighbor: Tensor, others: Tensor) -> Any:
        of_center = self.center(center)
        near = (of_center * self.context(neighbor)).sum(1)
        far = (of_center.expand_dims(1) * self.context(others)).sum(2)
        return -(ops.logsigmoid(near).mean() + ops.logsigmoid(-far).sum(1).mean())


@healthy("word2vec: skip-grams with three drawn words each; most rows of the tables get no gradient in a step.")
def word2vec() -> Run:
    rows, after = data.text(32, 12)
    center, neighbor = rows.ravel(), after.ravel()
    others = np.random.default_rng(0).integers(0, 20, (len(center), 3)).astype(np.int32)
    net = SkipGram(20, 12)
    batches = data.batches(center, neighbor, others, size=64, steps=30)
    return Run(net, None, nn.Adam(net.trainable_params(), 0.03), batches, one_step)


class Factors(nn.Cell):
    """A user's rating of a film: the product of two embeddings, and a bias for each."""

    def __init__(self, users: int, films: int, width: int = 6) -> None:
        super().__init__()
        self.user = nn.Embedding(users, width, embedding_table=Normal(0.3))
        self.film = nn.Embedding(films, width, embedding_table=Normal(0.3))
        self.of_user = nn.Embedding(users, 1, embedding_table="zeros")
        self.of_film = nn.Embedding(films, 1, embedding_table="zeros")

    def construct(self, user: Tensor, film: Tensor) -> Any:
        product = (self.user(user) * self.film(film)).sum(1, keepdims=True)
        return (product + self.of_user(user) + self.of_film(film)).squeeze(1)


@healthy("A recommender by matrix factorization; its biases begin at zero, as they should.")
def recommender() -> Run:
    random = np.random.default_rng(0)
    user, film = random.integers(0, 12, 128).astype(np.int32), random.integers(0, 10, 128).astype(np.int32)
    taste, kind = random.normal(0, 1, (12, 2)), random.normal(0, 1, (10, 2))
    stars = data.normalized((taste[user] * kind[film]).sum(1) + 0.2 * random.normal(0, 1, 128))
    net = Factors(12, 10)
    batches = data.batches(user, film, stars, size=64, steps=40)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.05), batches)


def pairs(count: int = 64) -> tuple[data.Array, data.Array, data.Array]:
    x, y = data.digits(2 * count, classes=4)
    flat = data.normalized(x).reshape(len(x), -1)
    return flat[:count], flat[count:], (y[:count] == y[count:]).astype(np.float32)


class Embedded(nn.Cell):
    """One network for each of several pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = blocks.embedder()

    def construct(self, *pictures: Tensor) -> Any:
        return tuple([self.embed(picture) for picture in pictures])


@healthy("Siamese networks share all weights on purpose; contrastive loss of squared distances.")
def siamese_contrastive() -> Run:
    def loss(both: Any, same: Tensor) -> Any:
        square = ops.square(both[0] - both[1]).sum(1)
        return (same * square + (1 - same) * ops.square(ops.relu(1 - ops.sqrt(square + 1e-6)))).mean()

    net = Embedded()
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.005), data.batches(*pairs(), steps=24))


class Triplets(nn.Cell):
    """The triplet loss of an anchor, one of its class, and one of another."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = blocks.embedder()
        self.loss = nn.TripletMarginLoss()

    def construct(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Any:
        return self.loss(self.embed(anchor), self.embed(positive), self.embed(negative), Tensor(1.0, ms.float32))


@healthy("Triplets of digits with margin 1.")
def triplets() -> Run:
    x, y = data.digits(64, classes=4)
    flat = data.normalized(x).reshape(64, -1)
    order = np.argsort(y, kind="stable").reshape(4, 16)
    positive, negative = np.empty(64, int), np.empty(64, int)
    positive[order], negative[order] = np.roll(order, 1, 1), np.roll(order, 1, 0)
    net = Triplets()
    batches = data.batches(flat, flat[positive], flat[negative], steps=20)
    return Run(net, None, nn.Adam(net.trainable_params(), 0.003), batches, one_step)


@healthy("Each picture finds its noisy twin among the batch: rows of the loss compare samples on purpose.")
def pictures_and_their_twins() -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    noisy = (flat + np.random.default_rng(1).normal(0, 0.3, flat.shape)).astype(np.float32)

    def loss(both: Any, number: Tensor) -> Any:
        a, b = (v / ops.sqrt(ops.square(v).sum(1, keepdims=True) + 1e-6) for v in both)
        return ops.cross_entropy(ops.matmul(a, b.T) / 0.2, number)

    net = Embedded()
    indices = np.tile(np.arange(16, dtype=np.int32), 4)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.005), data.batches(flat, noisy, indices, steps=24))


class Forecaster(nn.Cell):
    """A GRU and a dense layer on its last output."""

    def __init__(self) -> None:
        super().__init__()
        self.gru, self.head = nn.GRU(1, 16, batch_first=True), nn.Dense(16, 1)

    def construct(self, x: Tensor) -> Any:
        return self.head(self.gru(x)[0][:, -1])


@healthy("A GRU forecasts the next value of a series.")
def forecast_by_gru() -> Run:
    x, y = data.prices()
    net = Forecaster()
    batches = data.batches(data.normalized(x), y[:, None], steps=30)
    return Run(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), batches, with_model)


class Tagger(nn.Cell):
    """A bidirectional LSTM and a tag for each word, (N, tags, T)."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(40, 12, embedding_table=Normal(0.5), padding_idx=0)
        self.lstm = nn.LSTM(12, 12, batch_first=True, bidirectional=True)
        self.head = nn.Dense(24, 4)

    def construct(self, words: Tensor) -> Any:
        return self.head(self.lstm(self.embedding(words))[0]).swapaxes(1, 2)


@healthy("Tags of words by a bidirectional LSTM; padding has the label that the loss leaves out.")
def tagger() -> Run:
    words, _ = data.reviews()
    tags = np.where(words > 0, np.minimum((words - 1) // 5, 3), -100).astype(np.int32)
    net = Tagger()
    loss = nn.CrossEntropyLoss(ignore_index=-100)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), data.batches(words, tags, steps=20), one_step)


@healthy("Convolutions along a signal.")
def signals_by_convolution() -> Run:
    x, y = data.waves()
    net = nn.SequentialCell(
        nn.Conv1d(2, 12, 5, 2),
        nn.BatchNorm1d(12),
        nn.ReLU(),
        nn.Conv1d(12, 16, 3, 2),
        nn.BatchNorm1d(16),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(64, 3),
    )
    return classified(net, (x.swapaxes(1, 2).copy(), y), way=with_model)


class TwoHeads(nn.Cell):
    """A digit, and whether it is even, from one body."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(64, 48), nn.ReLU())
        self.digit, self.parity = nn.Dense(48, 10), nn.Dense(48, 1)

    def construct(self, x: Tensor) -> Any:
        h = self.body(x)
        return self.digit(h), self.parity(h).squeeze(1)


@healthy("Two heads and the sum of their losses.")
def two_tasks() -> Run:
    x, y = data.digits()

    def loss(both: Any, labels: Tensor) -> Any:
        even = ops.equal(ops.floor_mod(labels, 2), 0).astype(ms.float32)
        return ops.cross_entropy(both[0], labels) + nn.BCEWithLogitsLoss()(both[1], even)

    net = TwoHeads()
    batches = data.batches(data.normalized(x).reshape(64, -1), y, steps=24)
    return Run(net, loss, nn.Adam(net.trainable_params(), 0.01), batches)


@healthy("Several labels may hold at once: a sigmoid for each.")
def many_labels() -> Run:
    x, digit = data.digits()
    labels = np.stack([digit % 2 == 0, digit > 4, digit % 3 == 0], 1).astype(np.float32)
    net = blocks.mlp(64, 32, 3)
    batches = data.batches(data.normalized(x).reshape(64, -1), labels, steps=24)
    return Run(net, nn.BCEWithLogitsLoss(), nn.Adam(net.trainable_params(), 0.01), batches, with_model)


@healthy("An autoencoder that takes noise away.")
def denoising() -> Run:
    x, _ = data.digits()
    flat = data.normalized(x).reshape(64, -1)
    noisy = (flat + np.random.default_rng(1).normal(0, 0.5, flat.shape)).astype(np.float32)
    net = blocks.Autoencoder()
    return Run(
        net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01), data.batches(noisy, flat, steps=30), with_model
    )
