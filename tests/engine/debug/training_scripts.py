"""Small data sets and a usual training loop, shared by the planted faults and the healthy networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn

Batch = tuple[Any, ...]


class Script(NamedTuple):
    """A training script in two halves, so that a debugger can be put between them."""

    net: nn.Cell
    train: Callable[[], object]


def blobs(steps: int, batch: int = 32, features: int = 8, classes: int = 4, scale: float = 1.0) -> list[Batch]:
    """Return batches of points around one center for each class, and the classes."""
    random = np.random.default_rng(1)
    centers = random.standard_normal((classes, features)) * 1.5
    batches = []
    for _ in range(steps):
        labels = random.integers(0, classes, batch)
        points = (centers[labels] + random.standard_normal((batch, features))) * scale
        batches.append((Tensor(points.astype(np.float32)), Tensor(labels.astype(np.int32))))
    return batches


def images(steps: int, batch: int = 16, size: int = 12, classes: int = 4) -> list[Batch]:
    """Return batches of noisy images with a bright stripe whose position is the class."""
    random = np.random.default_rng(2)
    width = size // classes
    batches = []
    for _ in range(steps):
        labels = random.integers(0, classes, batch)
        pixels = random.standard_normal((batch, 1, size, size)) * 0.5
        for k, label in enumerate(labels):
            pixels[k, 0, :, label * width : (label + 1) * width] += 1.0
        batches.append((Tensor(pixels.astype(np.float32)), Tensor(labels.astype(np.int32))))
    return batches


def sequences(steps: int, batch: int = 16, length: int = 10, features: int = 4) -> list[Batch]:
    """Return batches of (batch, length, features) noise, and the mean of the first feature."""
    random = np.random.default_rng(3)
    batches = []
    for _ in range(steps):
        x = random.standard_normal((batch, length, features)).astype(np.float32)
        batches.append((Tensor(x), Tensor(x[:, :, 0].mean(1, keepdims=True))))
    return batches


def sentences(steps: int, batch: int = 8, length: int = 10, words: int = 20) -> list[Batch]:
    """Return batches of word numbers; each word follows from the previous one, and the second half is what follows."""
    random = np.random.default_rng(4)
    follower = random.permutation(words)
    batches = []
    for _ in range(steps):
        rows = [random.integers(0, words, batch)]
        for _ in range(length):
            rows.append(follower[rows[-1]])
        text = np.stack(rows, 1).astype(np.int32)
        batches.append((Tensor(text[:, :-1].copy()), Tensor(text[:, 1:].copy())))
    return batches


def train(
    net: nn.Cell,
    loss: Callable[..., Any],
    batches: Iterable[Batch],
    optimizer: Any = None,
    weights: Any = None,
    sign: float = 1.0,
) -> None:
    """Take one step for each batch ``(inputs..., target)``; Adam with a rate of 1e-2 if no optimizer is given."""
    weights = list(weights or net.trainable_params())
    optimizer = optimizer or nn.Adam(weights, 1e-2)
    net.set_train()
    step = ms.value_and_grad(lambda *batch: loss(net(*batch[:-1]), batch[-1]), None, weights)
    for batch in batches:
        _, gradients = step(*batch)
        optimizer(tuple(gradient * sign for gradient in gradients) if sign != 1.0 else gradients)


def mlp(features: int = 8, hidden: int = 16, classes: int = 4, activation: Callable[[], nn.Cell] = nn.ReLU) -> nn.Cell:
    """Return a classifier of two hidden layers."""
    return nn.SequentialCell(
        nn.Dense(features, hidden), activation(), nn.Dense(hidden, hidden), activation(), nn.Dense(hidden, classes)
    )


def cross_entropy() -> nn.Cell:
    """Return the loss of most classifiers here."""
    return nn.CrossEntropyLoss()
