"""Whole networks: onnxruntime computes the network's results from the exported file, and so does the file read back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_runs import Array, run_by_onnxruntime

import hookscope.engine as ms
from hookscope.engine import Tensor, grad, nn, ops
from hookscope.engine.tensors.nested import tensors_in

OF_THE_LARGEST = 3e-6
"""Sums of some hundred numbers in another order, layer after layer; measured, the worst is 4e-7."""


def normal(*shape: int, seed: int = 0) -> Tensor:
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def mlp() -> tuple[nn.Cell, list[Tensor]]:
    layers = [nn.Dense(7, 9), nn.ReLU(), nn.BatchNorm1d(9), nn.Dropout(p=0.5), nn.Dense(9, 4), nn.Softmax()]
    return nn.SequentialCell(*layers), [normal(3, 7)]


class LeNet5(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, pad_mode="valid"), nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.fc1, self.fc2, self.fc3 = nn.Dense(256, 120), nn.Dense(120, 84), nn.Dense(84, 10)
        self.pool, self.flatten = nn.MaxPool2d(2, 2), nn.Flatten()

    def construct(self, image: Tensor) -> Tensor:
        x = self.pool(ops.relu(self.conv1(image)))
        x = self.flatten(self.pool(ops.relu(self.conv2(x))))
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))


class Block(nn.Cell):
    def __init__(self, channels: int, out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, out, 3, stride)
        self.bn1 = nn.BatchNorm2d(out)
        self.conv2 = nn.Conv2d(out, out, 3)
        self.bn2 = nn.BatchNorm2d(out)
        self.down = None
        if stride != 1 or channels != out:
            self.down = nn.SequentialCell(nn.Conv2d(channels, out, 1, stride), nn.BatchNorm2d(out))

    def construct(self, x: Tensor) -> Tensor:
        y = self.bn2(self.conv2(ops.relu(self.bn1(self.conv1(x)))))
        return ops.relu(y + (x if self.down is None else self.down(x)))


class ResNet18(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16)
        widths = [
            (16, 16, 1),
            (16, 16, 1),
            (16, 32, 2),
            (32, 32, 1),
            (32, 64, 2),
            (64, 64, 1),
            (64, 128, 2),
            (128, 128, 1),
        ]
        self.blocks = nn.SequentialCell(*[Block(*width) for width in widths])
        self.fc = nn.Dense(128, 10)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc(self.blocks(ops.relu(self.bn1(self.conv1(x)))).mean((2, 3)))


class Encoder(nn.Cell):
    def __init__(self, norm_first: bool, activation: str) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, activation=activation, batch_first=True, norm_first=norm_first)
        self.encoder, self.fc = nn.TransformerEncoder(layer, 2), nn.Dense(32, 10)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc(self.encoder(x).mean(1))


class Recurrent(nn.Cell):
    """With its states, and a length for each sample."""

    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__()
        self.layer = kind(5, 4, batch_first=True, **options)
        self.fc = nn.Dense(8 if options.get("bidirectional") else 4, 3)

    def construct(self, x: Tensor, state: Any, lengths: Any = None) -> Any:
        y, last = self.layer(x, state, lengths)
        return self.fc(y), last


class Transposed(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Conv2dTranspose(3, 4, 3, 2, pad_mode="pad", padding=1)
        self.norm, self.gate = nn.BatchNorm2d(4), nn.PReLU(4)
        self.down = nn.Conv2d(4, 8, 3, group=4, dilation=2)
        self.pool = nn.AvgPool2d(2, 2)

    def construct(self, x: Tensor) -> Tensor:
        return self.pool(ops.leaky_relu(self.down(self.gate(self.norm(self.up(x))))))


def in_half() -> tuple[nn.Cell, list[Tensor]]:
    net = nn.SequentialCell(nn.Dense(7, 9), nn.GELU(), nn.LayerNorm((9,)), nn.Dense(9, 4, activation="tanh"))
    return net.to_float(ms.float16), [normal(3, 7)]


NETWORKS: dict[str, Callable[[], tuple[nn.Cell, list[Any]]]] = {
    "MLP": mlp,
    "LeNet-5": lambda: (LeNet5(), [normal(4, 1, 28, 28)]),
    "ResNet-18": lambda: (ResNet18(), [normal(2, 3, 16, 16)]),
    "Transformer encoder": lambda: (Encoder(False, "relu"), [normal(2, 9, 32)]),
    "Transformer encoder, norm first": lambda: (Encoder(True, "gelu"), [normal(2, 9, 32)]),
    "LSTM": lambda: (Recurrent(nn.LSTM), [normal(3, 6, 5), (normal(1, 3, 4), normal(1, 3, 4))]),
    "LSTM, two ways and layers": lambda: (
        Recurrent(nn.LSTM, bidirectional=True, num_layers=2),
        [normal(3, 6, 5), (normal(4, 3, 4), normal(4, 3, 4))],
    ),
    "GRU": lambda: (Recurrent(nn.GRU, bidirectional=True), [normal(3, 6, 5), normal(2, 3, 4)]),
    "RNN": lambda: (Recurrent(nn.RNN), [normal(3, 6, 5), normal(1, 3, 4)]),
    "transposed convolution": lambda: (Transposed(), [normal(2, 3, 7, 6)]),
    "half precision": in_half,
}


def shake(net: nn.Cell) -> nn.Cell:
    """Change parameters from their first values, so that each one affects the result."""
    for number, parameter in enumerate(net.get_parameters()):
        numbers = np.random.default_rng(number)
        x = numbers.uniform(0.5, 1.5, parameter.shape)
        if parameter.ndim > 1:
            x = numbers.standard_normal(parameter.shape) / np.sqrt(np.prod(parameter.shape[1:]))
        parameter.set_data(Tensor(x.astype(np.float32)))
    return net


def assert_equal(actual: list[Array], want: list[Tensor], tolerance: float) -> None:
    assert [x.shape for x in actual] == [x.shape for x in want]
    for mine, theirs in zip(want, actual, strict=True):
        expected = mine.asnumpy()
        assert theirs.dtype == expected.dtype
        assert np.abs(theirs - expected).max() <= tolerance * np.abs(expected).max()


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_is_in_onnxruntime_what_it_is_here(name: str, tmp_path: Path) -> None:
    net, inputs = NETWORKS[name]()
    shake(net)
    net.set_train()
    path = tmp_path / "net.onnx"
    ms.export(net, *inputs, file_name=str(path), file_format="ONNX")
    assert net.training and all(cell.training for _, cell in net.cells_and_names())
    net.set_train(False)
    expected, arrays = tensors_in(net(*inputs)), tensors_in(inputs)
    tolerance = 1e-3 if name == "half precision" else OF_THE_LARGEST
    assert_equal(run_by_onnxruntime(path, [x.asnumpy() for x in arrays]), expected, tolerance)
    again = nn.GraphCell(ms.load(str(path)))
    assert_equal([x.asnumpy() for x in tensors_in(again(*arrays))], expected, tolerance)


def test_parameters_are_initializers_of_their_names_and_inputs_those_of_construct(tmp_path: Path) -> None:
    net, inputs = NETWORKS["LeNet-5"]()
    ms.export(net, *inputs, file_name=str(tmp_path / "net"), file_format="ONNX")
    graph = onnx.load(tmp_path / "net.onnx").graph
    assert [item.name for item in graph.input] == ["image"]
    assert sorted(item.name for item in graph.initializer) == sorted(p.name for p in net.get_parameters())
    for entry in graph.initializer:
        np.testing.assert_array_equal(onnx.numpy_helper.to_array(entry), net.parameters_dict()[entry.name].asnumpy())


@pytest.mark.parametrize("name", ["LeNet-5", "Transformer encoder", "LSTM"])
def test_a_graph_that_was_read_can_leave_again(name: str, tmp_path: Path) -> None:
    net, inputs = NETWORKS[name]()
    net.set_train(False)
    ms.export(net, *inputs, file_name=str(tmp_path / "first"), file_format="ONNX")
    arrays = tensors_in(inputs)
    ms.export(
        nn.GraphCell(ms.load(str(tmp_path / "first.onnx"))),
        *arrays,
        file_name=str(tmp_path / "second"),
        file_format="ONNX",
    )
    first, second = (onnx.load(tmp_path / f"{item}.onnx").graph for item in ("first", "second"))
    for part in ("input", "output", "initializer"):
        assert {item.name for item in getattr(first, part)} == {item.name for item in getattr(second, part)}
    result = run_by_onnxruntime(tmp_path / "second.onnx", [x.asnumpy() for x in arrays])
    assert_equal(result, tensors_in(net(*inputs)), OF_THE_LARGEST)


def test_every_node_and_constant_of_a_file_is_used(tmp_path: Path) -> None:
    net, inputs = NETWORKS["LSTM, two ways and layers"]()
    ms.export(net, *inputs, file_name=str(tmp_path / "net"), file_format="ONNX")
    graph = onnx.load(tmp_path / "net.onnx").graph
    used = {name for node in graph.node for name in node.input} | {item.name for item in graph.output}
    assert all(used.intersection(node.output) for node in graph.node)
    assert {item.name for item in graph.initializer} <= used


def test_a_graph_that_was_read_has_gradients_and_learns(tmp_path: Path) -> None:
    net, inputs = NETWORKS["Transformer encoder"]()
    net.set_train(False)
    ms.export(net, *inputs, file_name=str(tmp_path / "net"), file_format="ONNX")
    again = nn.GraphCell(ms.load(str(tmp_path / "net.onnx")))
    held, others = net.parameters_dict(), again.parameters_dict()
    assert set(held) == set(others)

    def slopes(cell: nn.Cell, names: list[str]) -> list[Array]:
        weights = [cell.parameters_dict()[name] for name in names]
        return [g.asnumpy() for g in grad(lambda x: cell(x).square().sum(), None, weights)(*inputs)]

    names = sorted(held)
    for mine, theirs in zip(slopes(net, names), slopes(again, names), strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-4, atol=1e-5 * np.abs(mine).max())
    before = again(*inputs).square().sum().asnumpy()
    step = nn.TrainOneStepCell(
        nn.WithLossCell(again, lambda y, _: y.square().sum()), nn.SGD(again.trainable_params(), 1e-3)
    )
    step(*inputs, Tensor(0))
    assert again(*inputs).square().sum().asnumpy() < before
