"""The rows of ``training.py`` in PyTorch, eager or compiled: the forward pass with its gradient, the update."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import rows_common  # type: ignore[import-not-found, unused-ignore]
import torch  # type: ignore[import-not-found, unused-ignore]  # the peer's interpreter has it
from rows_common import Step, labels, normal, weights  # type: ignore[import-not-found, unused-ignore]
from torch import nn  # type: ignore[import-not-found, unused-ignore]

Wrap = Callable[[Any], Any]
"""``torch.compile``, or a function that returns its argument unchanged."""


def _training(wrap: Wrap, net: Any, inputs: Any, targets: Any, adam: bool = False) -> Step:
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            parameter.copy_(torch.from_numpy(weights(name, tuple(parameter.shape))))
    net.train().to(rows_common.device)
    half = getattr(torch, rows_common.half or "bfloat16")
    mixed = torch.autocast(rows_common.device, half, enabled=bool(rows_common.half))
    parameters = list(net.parameters())
    optimizer = torch.optim.Adam(parameters, 1e-3) if adam else torch.optim.SGD(parameters, 0.01, momentum=0.9)
    x, y = (torch.from_numpy(array).to(rows_common.device) for array in (inputs, targets))
    criterion = nn.CrossEntropyLoss()
    forward, step = wrap(lambda x, y: criterion(net(x), y)), wrap(optimizer.step)

    def run() -> Any:
        with mixed:
            loss = forward(x, y)
        loss.backward()
        step()
        optimizer.zero_grad()
        return loss

    return Step(run, lambda loss: float(loss.detach()), net)


def add(wrap: Wrap) -> Step:
    x, y = torch.from_numpy(normal(4)), torch.from_numpy(normal(4))
    if wrap is _as_it_is:
        return Step(lambda: x + y, lambda out: float(out.sum()))
    sum_of = wrap(lambda x, y: x + y)
    return Step(lambda: sum_of(x, y), lambda out: float(out.sum()))


def small_operators(wrap: Wrap) -> Step:
    x = torch.from_numpy(normal(4)).requires_grad_()
    w, b = torch.full((4,), 0.5), torch.ones(4)

    def chain(x: Any) -> Any:
        y = x
        for _ in range(25):
            y = (y * w + b - x) * w
        return y.sum()

    wrapped = wrap(chain)
    return Step(lambda: torch.autograd.grad(wrapped(x), x)[0], lambda g: float(g.sum()))


def mlp(wrap: Wrap) -> Step:
    net = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return _training(wrap, net, normal(64, 784), labels(64))


def lenet(wrap: Wrap) -> Step:
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
    return _training(wrap, net, normal(64, 1, 28, 28), labels(64), adam=True)


class _Block(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU()
        self.downsample = None
        if stride != 1 or channels != out:
            self.downsample = nn.Sequential(nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x: Any) -> Any:
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(y + (x if self.downsample is None else self.downsample(x)))


def resnet18(wrap: Wrap) -> Step:
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
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(3, 64, 3, padding=1, bias=False))
    net.add_module("bn1", nn.BatchNorm2d(64))
    net.add_module("relu", nn.ReLU())
    for index, sizes in enumerate(plan):
        net.add_module(f"block{index}", _Block(*sizes))
    net.add_module("pool", nn.AdaptiveAvgPool2d(1))
    net.add_module("flatten", nn.Flatten())
    net.add_module("fc", nn.Linear(512, 10))
    return _training(wrap, net, normal(32, 3, 32, 32), labels(32))


class _Encoder(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 4)
        self.fc = nn.Linear(256, 10)

    def forward(self, x: Any) -> Any:
        return self.fc(self.encoder(x).mean(1))


def transformer(wrap: Wrap) -> Step:
    return _training(wrap, _Encoder(), normal(8, 128, 256), labels(8), adam=True)


class _Recurrent(nn.Module):  # type: ignore[misc, unused-ignore]
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.fc = nn.Linear(128, 10)

    def forward(self, x: Any) -> Any:
        return self.fc(self.lstm(x)[0][:, -1])


def lstm(wrap: Wrap) -> Step:
    return _training(wrap, _Recurrent(), normal(32, 64, 128), labels(32), adam=True)


def dense(_wrap: Wrap) -> Step:
    return Step(lambda: nn.Linear(4096, 4096))


def first_normal(_wrap: Wrap) -> Step:
    return Step(lambda: nn.init.normal_(torch.empty(4096, 4096)))


def first_truncated(_wrap: Wrap) -> Step:
    return Step(lambda: nn.init.trunc_normal_(torch.empty(4096, 4096)))


def _as_it_is(function: Any) -> Any:
    return function


def rows(is_compiled: bool) -> dict[str, Callable[[], Step]]:
    """Return the rows, by name; rows that make parameters are not compiled."""
    training_rows = (add, small_operators, mlp, lenet, resnet18, transformer, lstm)
    if is_compiled:
        return {row.__name__: partial(row, torch.compile) for row in training_rows}
    return {row.__name__: partial(row, _as_it_is) for row in (*training_rows, dense, first_normal, first_truncated)}
