"""The rows of ``training.py`` in MindSpore's names, which run on MindSpore itself and on Hookscope."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mindspore as ms  # type: ignore[import-not-found, unused-ignore]  # MindSpore's, or Hookscope under its name
import numpy as np
import rows_common  # type: ignore[import-not-found, unused-ignore]
from mindspore import Tensor, nn  # type: ignore[import-not-found, unused-ignore]
from mindspore.common.initializer import Normal, TruncatedNormal, initializer  # type: ignore[import-not-found, unused-ignore]
from rows_common import Step, labels, normal, weights  # type: ignore[import-not-found, unused-ignore]

TORCH_NAMES = ((".gamma", ".weight"), (".beta", ".bias"), (".dense", ".linear"))


Wrap = Callable[[Any], Any] | None
"""``jit``, by which MindSpore compiles a function to a graph; None: no graph."""


def _training(wrap: Wrap, net: Any, inputs: Any, targets: Any, adam: bool = False) -> Step:
    for parameter in net.trainable_params():
        name = parameter.name
        for own_name, torch_name in TORCH_NAMES:
            name = name.replace(own_name, torch_name)
        parameter.set_data(Tensor(weights(name, parameter.shape)))
    net.set_train()
    if rows_common.half:
        net = ms.amp.auto_mixed_precision(net, "auto", getattr(ms, rows_common.half))
    parameters = net.trainable_params()
    optimizer = nn.Adam(parameters, 1e-3) if adam else nn.Momentum(parameters, 0.01, 0.9)
    x, y, criterion = Tensor(inputs), Tensor(targets, ms.int32), nn.CrossEntropyLoss()

    def loss_of(x: Any, y: Any) -> Any:  # a graph takes no lambda here
        return criterion(net(x), y)

    gradients = ms.value_and_grad(loss_of, None, parameters)

    def step(x: Any, y: Any) -> Any:
        loss, gradient_values = gradients(x, y)
        optimizer(gradient_values)
        return loss

    def state() -> list[Any]:
        own = [value for value in vars(optimizer).values() if isinstance(value, Tensor)]
        tensors = (*net.get_parameters(), *optimizer.get_parameters(), *own, x, y)
        return [each.asnumpy() for each in {id(each): each for each in tensors}.values()]

    run = step if wrap is None else wrap(step)
    return Step(lambda: run(x, y), lambda loss: float(loss.asnumpy()), net, state)


def add(wrap: Wrap) -> Step:
    x, y = Tensor(normal(4)), Tensor(normal(4))
    if wrap is not None:

        def sum_of(x: Any, y: Any) -> Any:
            return x + y

        in_graph = wrap(sum_of)
        return Step(lambda: in_graph(x, y), lambda out: float(out.asnumpy().sum()))
    return Step(lambda: x + y, lambda out: float(out.asnumpy().sum()))


def small_operators(wrap: Wrap) -> Step:
    x = Tensor(normal(4))
    w, b = Tensor(np.full(4, 0.5, np.float32)), Tensor(np.ones(4, np.float32))

    def chain(x: Any) -> Any:
        y = x
        for _ in range(25):
            y = (y * w + b - x) * w
        return y.sum()

    gradient = ms.grad(chain)
    if wrap is not None:
        of_chain = gradient

        def gradient_in_graph(x: Any) -> Any:
            return of_chain(x)

        gradient = wrap(gradient_in_graph)
    return Step(lambda: gradient(x), lambda g: float(g.asnumpy().sum()))


def mlp(wrap: Wrap) -> Step:
    net = nn.SequentialCell(nn.Dense(784, 512), nn.ReLU(), nn.Dense(512, 512), nn.ReLU(), nn.Dense(512, 10))
    return _training(wrap, net, normal(64, 784), labels(64))


def lenet(wrap: Wrap) -> Step:
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
    return _training(wrap, net, normal(64, 1, 28, 28), labels(64), adam=True)


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
        plan = [
            (64, 64, 1),
            (64, 64, 1),
            (64, 128, 2),
            (128, 128, 1),
            (128, 256, 2),
            (256, 256, 1),
            (256, 512, 2),
            (512, 512, 1),
        ]
        self.count = len(plan)
        for index, sizes in enumerate(plan):
            setattr(self, f"block{index}", _Block(*sizes))
        self.fc = nn.Dense(512, 10)

    def construct(self, x: Any) -> Any:
        x = self.relu(self.bn1(self.conv1(x)))
        for index in range(self.count):
            x = getattr(self, f"block{index}")(x)
        return self.fc(x.mean((2, 3)))


def resnet18(wrap: Wrap) -> Step:
    return _training(wrap, _ResNet18(), normal(32, 3, 32, 32), labels(32))


class _Encoder(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.fc = nn.Dense(256, 10)

    def construct(self, x: Any) -> Any:
        return self.fc(self.encoder(x).mean(1))


def transformer(wrap: Wrap) -> Step:
    return _training(wrap, _Encoder(), normal(8, 128, 256), labels(8), adam=True)


class _Recurrent(nn.Cell):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.fc = nn.Dense(128, 10)

    def construct(self, x: Any) -> Any:
        return self.fc(self.lstm(x)[0][:, -1])


def lstm(wrap: Wrap) -> Step:
    return _training(wrap, _Recurrent(), normal(32, 64, 128), labels(32), adam=True)


def dense(_wrap: Wrap) -> Step:
    return Step(lambda: nn.Dense(4096, 4096))


def _first(rule: Any) -> Step:
    # In MindSpore an initializer's values come with the first look at them.
    return Step(lambda: initializer(rule, (4096, 4096), ms.float32).init_data())


def first_normal(_wrap: Wrap) -> Step:
    return _first(Normal())


def first_truncated(_wrap: Wrap) -> Step:
    return _first(TruncatedNormal())


def rows(wrap: Wrap = None) -> dict[str, Callable[[], Step]]:
    """Return the rows, by name; rows that make parameters are not compiled."""
    training_rows = (add, small_operators, mlp, lenet, resnet18, transformer, lstm)
    if wrap is not None:
        return {row.__name__: partial(row, wrap) for row in training_rows}
    return {row.__name__: partial(row, None) for row in (*training_rows, dense, first_normal, first_truncated)}
