"""The five small networks of the GPU's tests, each with a step of its training by Adam, in each precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, amp, nn, value_and_grad

__all__ = ["NETWORKS", "PRECISIONS", "training"]

PRECISIONS = ("float32", "bfloat16", "bfloat16 O2", "float16 O2")
"""Parameters and all else in one dtype; or the network in half precision, by AMP, and in float16 with a loss scale."""


def normal(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def labels(count: int) -> Any:
    return (np.arange(count) * 7 % 10).astype(np.int32)


class Block(nn.Cell):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.shortcut = None
        if stride != 1 or channels != out:
            self.shortcut = nn.SequentialCell(
                nn.Conv2d(channels, out, 1, stride, pad_mode="valid"), nn.BatchNorm2d(out)
            )

    def construct(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet18(nn.Cell):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        sizes = [(1, 1, 1), (1, 1, 1), (1, 2, 2), (2, 2, 1), (2, 4, 2), (4, 4, 1), (4, 8, 2), (8, 8, 1)]
        self.blocks = nn.SequentialCell(*[Block(a * width, b * width, stride) for a, b, stride in sizes])
        self.head = nn.Dense(8 * width, 10)

    def construct(self, x: Any) -> Any:
        return self.head(self.blocks(self.relu(self.bn(self.conv(x)))).mean((2, 3)))


class Encoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.head = nn.Dense(32, 10)

    def construct(self, x: Any) -> Any:
        return self.head(self.layer(x).mean(1))


class Recurrent(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(50, 16)
        self.lstm = nn.LSTM(16, 16, batch_first=True)
        self.head = nn.Dense(16, 10)

    def construct(self, x: Any) -> Any:
        return self.head(self.lstm(self.table(x))[0][:, -1])


def mlp() -> Any:
    return nn.SequentialCell(nn.Dense(20, 32), nn.ReLU(), nn.Dense(32, 10)), normal(8, 20)


def lenet() -> Any:
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="pad", padding=2, has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(400, 120),
        nn.ReLU(),
        nn.Dense(120, 84),
        nn.ReLU(),
        nn.Dense(84, 10),
    )
    return net, normal(4, 1, 28, 28)


def resnet18() -> Any:
    return ResNet18(8), normal(2, 3, 32, 32)


def transformer() -> Any:
    return Encoder(), normal(2, 16, 32)


def lstm() -> Any:
    return Recurrent(), np.random.default_rng(0).integers(0, 50, (4, 6)).astype(np.int32)


NETWORKS: dict[str, Callable[[], Any]] = {
    "MLP": mlp,
    "LeNet-5": lenet,
    "ResNet-18": resnet18,
    "Transformer layer": transformer,
    "LSTM": lstm,
}


def training(name: str, precision: str) -> Callable[[], Tensor]:
    """Return one step of a network's training, where new tensors are put now: a function that gives the loss.

    Args:
        name: of the network, one of ``NETWORKS``.
        precision: one of ``PRECISIONS``.
    """
    ms.set_seed(1)
    net, data = NETWORKS[name]()
    dtype, _, level = precision.partition(" ")
    half = getattr(ms, dtype)
    if not level:
        for parameter in net.get_parameters():
            parameter.set_dtype(half)
    x = Tensor(data) if level or data.dtype.kind == "i" else Tensor(data, half)
    y = Tensor(labels(len(data)))
    loss, optimizer = nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 1e-3)
    if dtype == "float16":
        scale = amp.DynamicLossScaleManager(1024, 2, 1000)  # its first scale, 2**24, skips the first steps
        step = amp.build_train_network(net, optimizer, loss, level, loss_scale_manager=scale)
        return lambda: first(step(x, y))
    if level:
        amp.auto_mixed_precision(net, level, half)
    net.set_train()
    gradients = value_and_grad(lambda: loss(net(x), y), None, net.trainable_params())

    def train() -> Tensor:
        value, result = gradients()
        optimizer(result)
        return value

    return train


def first(result: Any) -> Tensor:
    """Return the loss: a step with a loss scale gives the overflow flag and the scale, too."""
    loss: Tensor = result[0] if isinstance(result, tuple) else result
    return loss
