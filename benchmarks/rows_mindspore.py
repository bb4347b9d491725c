"""The rows of ``training.py`` in MindSpore's names: MindSpore itself runs them, and Hookscope in its place."""

from __future__ import annotations

from typing import Any

import mindspore as ms  # type: ignore[import-not-found, unused-ignore]  # MindSpore's, or Hookscope under its name
import numpy as np
from mindspore import Tensor, nn  # type: ignore[import-not-found, unused-ignore]
from rows_common import Step, labels, normal, weights  # type: ignore[import-not-found, unused-ignore]

TORCH_NAMES = ((".gamma", ".weight"), (".beta", ".bias"), (".dense", ".linear"))


def _training(net: Any, inputs: Any, targets: Any, adam: bool = False) -> Step:
    for parameter in net.trainable_params():
        name = parameter.name
        for mine, torchs in TORCH_NAMES:
            name = name.replace(mine, torchs)
        parameter.set_data(Tensor(weights(name, parameter.shape)))
    net.set_train()
    parameters = net.trainable_params()
    optimizer = nn.Adam(parameters, 1e-3) if adam else nn.Momentum(parameters, 0.01, 0.9)
    x, y, criterion = Tensor(inputs), Tensor(targets, ms.int32), nn.CrossEntropyLoss()
    gradients = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, parameters)

    def run() -> Any:
        loss, found = gradients(x, y)
        optimizer(found)
        return loss

    return Step(run, lambda loss: float(loss.asnumpy()), net)


def add() -> Step:
    x, y = Tensor(normal(4)), Tensor(normal(4))
    return Step(lambda: x + y, lambda out: float(out.asnumpy().sum()))


def small_operators() -> Step:
    x = Tensor(normal(4))
    w, b = Tensor(np.full(4, 0.5, np.float32)), Tensor(np.ones(4, np.float32))

    def chain(x: Any) -> Any:
        y = x
        for _ in range(25):
            y = (y * w + b - x) * w
        return y.sum()

    gradient = ms.grad(chain)
    return Step(lambda: gradient(x), lambda g: float(g.asnumpy().sum()))


def mlp() -> Step:
    net = nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))
    return _training(net, normal(64, 784), labels(64))


def lenet() -> Step:
    net = nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="pad", padding=2, has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Flatten(), nn.Dense(400, 120), nn.ReLU(), nn.Dense(120, 84), nn.ReLU(), nn.Dense(84, 10),
    )  # fmt: skip
    return _training(net, normal(64, 1, 28, 28), labels(64))


def _conv3x3(channels: int, out: int, stride: int = 1) -> Any:
    return nn.Conv2d(channels, out, 3, stride, pad_mode="pad", padding=1)


class _Block(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = _conv3x3(channels, out, stride)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = _conv3x3(out, out)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels != out:
            shortcut = nn.Conv2d(channels, out, 1, stride, pad_mode="valid")
            self.downsample = nn.SequentialCell(shortcut, nn.BatchNorm2d(out))

    def construct(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


class _ResNet18(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = _conv3x3(3, 64)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        plan = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2),
                (512, 512, 1)]  # fmt: skip
        self.count = len(plan)
        for place, sizes in enumerate(plan):
            setattr(self, f"block{place}", _Block(*sizes))
        self.fc = nn.Dense(512, 10)

    def construct(self, x: Any) -> Any:
        x = self.relu(self.bn1(self.conv1(x)))
        for place in range(self.count):
            x = getattr(self, f"block{place}")(x)
        return self.fc(x.mean((2, 3)))


def resnet18() -> Step:
    return _training(_ResNet18(), normal(32, 3, 32, 32), labels(32))


class _Encoder(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.fc = nn.Dense(256, 10)

    def construct(self, x: Any) -> Any:
        return self.fc(self.encoder(x).mean(1))


def transformer() -> Step:
    return _training(_Encoder(), normal(8, 128, 256), labels(8), adam=True)


class _Recurrent(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.fc = nn.Dense(128, 10)

    def construct(self, x: Any) -> Any:
        return self.fc(self.lstm(x)[0][:, -1])


def lstm() -> Step:
    return _training(_Recurrent(), normal(32, 64, 128), labels(32), adam=True)


ROWS = {
    "add": add, "small_operators": small_operators, "mlp": mlp, "lenet": lenet, "resnet18": resnet18,
    "transformer": transformer, "lstm": lstm,
}  # fmt: skip
