"""Networks and Primitives whose MINDIR files MindSpore 2.10 wrote, and a program that runs MINDIR files there.

In an environment that has MindSpore, into tests/engine/compile/recorded/mindir.*:

    python tests/engine/compile/mindir_cases.py record
    python tests/engine/compile/mindir_cases.py run FOLDER

The first exports the NETWORKS and the PRIMITIVES anew. The second computes each x.mindir of a folder on the arrays of
x.in.npz and writes the result to x.out.npz, or the error to x.error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":  # MindSpore itself in place of the engine
    import mindspore

    sys.modules["hookscope"] = ModuleType("hookscope")
    sys.modules["hookscope.engine"] = mindspore
    sys.modules["hookscope.engine.experimental"] = mindspore.experimental
    sys.path.insert(0, str(Path(__file__).parents[1]))

from recorded import filled, wave

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

FOLDER = Path(__file__).parent / "recorded"


# ---- Networks


class LeNet(nn.Cell):
    """LeNet-5 with a fourth of its features, on images of 20 x 20."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(2, 4, 5, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16, 12)
        self.fc2 = nn.Dense(12, 5)

    def construct(self, x: Any) -> Any:
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc2(self.relu(self.fc1(x)))


class Block(nn.Cell):
    def __init__(self, channels: int, features: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, features, 3, stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(features)
        self.conv2 = nn.Conv2d(features, features, 3, 1, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(features)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or channels != features:
            self.down = nn.SequentialCell(nn.Conv2d(channels, features, 1, stride), nn.BatchNorm2d(features))

    def construct(self, x: Any) -> Any:
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.down is not None:
            x = self.down(x)
        return self.relu(y + x)


class ResNet(nn.Cell):
    """ResNet-18 is [2, 2, 2, 2] with a width of 64."""

    def __init__(self, layers: list[int], width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, pad_mode="pad", padding=3)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(kernel_size=3, stride=2, pad_mode="same")
        blocks = []
        channels = width
        for index, count in enumerate(layers):
            for number in range(count):
                blocks.append(Block(channels, width << index, 2 if index and not number else 1))
                channels = width << index
        self.blocks = nn.SequentialCell(blocks)
        self.mean = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten()
        self.fc = nn.Dense(channels, 5)

    def construct(self, x: Any) -> Any:
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(self.flatten(self.mean(self.blocks(x))))


class Attention(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.q = nn.Dense(4, 4)
        self.norm = nn.LayerNorm((4,))

    def construct(self, ids: Any) -> Any:
        x = self.table(ids)
        q = self.q(x)
        weights = ops.softmax(ops.matmul(q, x.transpose(0, 2, 1)) / 2.0, -1)
        return self.norm(ops.matmul(weights, x) + x)


class Windows(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.means = nn.AvgPool2d(3, 2, "same")
        self.maxima = nn.MaxPool2d(3, 2, "pad", 1)
        self.padded = nn.AvgPool2d(3, 1, "pad", 1)
        self.last = nn.MaxPool2d(2, 1, "same")

    def construct(self, x: Any) -> Any:
        return self.last(self.padded(self.maxima(self.means(x))))


class Many(nn.Cell):
    def construct(self, x: Any, y: Any) -> Any:
        z = ops.concat((x, y), 1)[:, 1:]
        low = ops.clamp(x * 2, -0.5, 0.5)
        return (
            ops.where(x > 0, x, -y),
            [low, ops.exp(z).sum(1), z.mean((0,))],
            x.max(),
            3,
            ops.gelu(y),
            ops.maximum(x, 0.1).astype(ms.float16),
            ops.argmax(x, 1),
            ops.floor_mod(x, 0.7),
            x[0, 1:],
            (2 - y) / 4,
        )


NETWORKS: dict[str, tuple[Callable[[], Any], Callable[[], list[Any]]]] = {
    "mlp": (
        lambda: nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 5), nn.Tanh(), nn.Dense(5, 3), nn.Softmax()),
        lambda: [wave(4, 6)],
    ),
    "lenet": (LeNet, lambda: [wave(2, 1, 20, 20)]),
    "resnet": (lambda: ResNet([1, 1], 2), lambda: [wave(2, 3, 16, 16)]),
    "attention": (Attention, lambda: [Tensor(np.array([[1, 7, 3], [0, 9, 2]], np.int32))]),
    "windows": (Windows, lambda: [wave(1, 2, 9, 9)]),
    "many": (Many, lambda: [wave(2, 3), wave(2, 3, k=2)]),
}
"""By name: what makes the network, and its inputs."""


def in_prediction(cell: Any, by: float = 0.6) -> Any:
    """Fill the parameters of a cell, and set it to prediction."""
    filled(cell, by)
    for p in cell.get_parameters():
        if "variance" in p.name:
            p.set_data(Tensor(np.abs(p.asnumpy()) + np.float32(0.5)))
    return cell.set_train(False)


def network(name: str) -> Any:
    """Return the network, set to prediction."""
    return in_prediction(NETWORKS[name][0]())


def leaves(result: Any) -> list[Any]:
    """Return the arrays in a nested result."""
    if isinstance(result, dict):
        return leaves(list(result.values()))
    if isinstance(result, tuple | list):
        return [x for part in result for x in leaves(part)]
    return [np.asarray(result.asnumpy() if isinstance(result, Tensor) else result)]


# ---- Primitives: how each is made, the shapes of float32 inputs, and constants behind them

_ONES = (
    "Abs ACos Asin Asinh Atan Atanh Ceil Cos Cosh Erf Erfc Exp Expm1 Floor IsFinite IsInf IsNan Lgamma Log Log1p Neg"
)
_MORE = "Reciprocal ReLU Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh Trunc Acosh Flatten GeLU"
_TWOS = "Add Atan2 Div Equal FloorDiv GreaterEqual Greater LessEqual Less Maximum Minimum Mul NotEqual Pow FloorMod Sub"
_INTS = "BitwiseAnd BitwiseOr BitwiseXor"
_BOOLS = "LogicalAnd LogicalOr LogicalXor"
Row = tuple[Callable[[], Any], list[Any], tuple[Any, ...]]


def _floats(*shape: int) -> Any:
    return np.abs(np.sin(np.arange(int(np.prod(shape)), dtype=np.float32) + 1)).reshape(shape) * np.float32(0.9)


def _class(name: str) -> Callable[[], Any]:
    return lambda: getattr(ops, name)()


def rows() -> dict[str, Row]:
    """Return the rows that the recording exports, by the Primitive's name."""
    x, ints, truths = _floats(2, 3), np.arange(6, dtype=np.int32).reshape(2, 3), np.array([[True, False, True]] * 2)
    image, channels = _floats(1, 2, 5, 5), _floats(2)
    results: dict[str, Row] = {name: (_class(name), [x], ()) for name in (*_ONES.split(), *_MORE.split())}
    results |= {name: (_class(name), [x, x], ()) for name in _TWOS.split()}
    results |= {name: (_class(name), [ints, ints], ()) for name in _INTS.split()}
    results |= {name: (_class(name), [truths, truths], ()) for name in _BOOLS.split()}
    results |= {name: (_class(name), [x], ((1,),)) for name in ("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin")}
    return results | {
        "Acosh": (_class("Acosh"), [x + 1], ()),
        "ArgMaxWithValue": (lambda: ops.ArgMaxWithValue(1, False), [x], ()),
        "ArgMinWithValue": (lambda: ops.ArgMinWithValue(1, False), [x], ()),
        "Argmax": (lambda: ops.Argmax(1, ms.int64), [x], ()),
        "Argmin": (lambda: ops.Argmin(1, ms.int64), [x], ()),
        "AvgPool": (lambda: ops.AvgPool(2, 1, "valid"), [image], ()),
        "BatchMatMul": (lambda: ops.BatchMatMul(False, True), [_floats(2, 2, 3), _floats(2, 4, 3)], ()),
        "BatchNorm": (lambda: ops.BatchNorm(False, 1e-5), [image, *[channels] * 4], ()),
        "BiasAdd": (_class("BiasAdd"), [x, _floats(3)], ()),
        "BroadcastTo": (lambda: ops.BroadcastTo((4, 2, 3)), [x], ()),
        "Cast": (_class("Cast"), [x], (ms.float16,)),
        "Conv2D": (lambda: ops.Conv2D(3, (2, 2), pad_mode="pad", pad=1), [image, _floats(3, 2, 2, 2)], ()),
        "Conv3D": (
            lambda: ops.Conv3D(3, (2, 2, 2), pad_mode="pad", pad=1, stride=(1, 1, 1), dilation=(1, 1, 1)),
            [_floats(1, 2, 4, 4, 4), _floats(3, 2, 2, 2, 2)],
            (),
        ),
        "CumProd": (_class("CumProd"), [x], (1,)),
        "CumSum": (_class("CumSum"), [x], (1,)),
        "Gather": (_class("Gather"), [x, ints[0]], (1,)),
        "LayerNorm": (lambda: ops.LayerNorm(1, 1), [x, _floats(3), _floats(3)], ()),
        "LogSoftmax": (lambda: ops.LogSoftmax(1), [x], ()),
        "LogicalNot": (_class("LogicalNot"), [truths], ()),
        "MatMul": (lambda: ops.MatMul(False, True), [x, x], ()),
        "MatMulExt": (lambda: ops.matmul, [_floats(2, 2, 3), _floats(3, 4)], ()),
        "MaxPool": (lambda: ops.MaxPool(2, 1, "valid"), [image], ()),
        "PadV3": (_class("PadV3"), [image], ((1, 1, 0, 2), Tensor(0.5, ms.float32))),
        "PadV3 reflect": (lambda: ops.PadV3("reflect"), [image], ((1, 1, 0, 2),)),
        "ReduceAll": (_class("ReduceAll"), [truths], ((1,),)),
        "ReduceAny": (_class("ReduceAny"), [truths], ((1,),)),
        "ReduceProd": (_class("ReduceProd"), [x], ((1,),)),
        "Reshape": (_class("Reshape"), [x], ((3, 2),)),
        "ReverseV2": (lambda: ops.ReverseV2((0,)), [x], ()),
        "Round": (_class("Round"), [x], ()),
        "Select": (_class("Select"), [truths, x, x], ()),
        "SiLU": (lambda: ops.silu, [x], ()),
        "Softmax": (lambda: ops.Softmax((1,)), [x], ()),
        "StridedSlice": (_class("StridedSlice"), [x], ((0, 1), (2, 3), (1, 1))),
        "Transpose": (_class("Transpose"), [x], ((1, 0),)),
    }


class Called(nn.Cell):
    """A cell that calls a function on its inputs, followed by constants."""

    def __init__(self, call: Any, constants: tuple[Any, ...]) -> None:
        super().__init__()
        self.call = call
        self.constants = constants

    def construct(self, *inputs: Any) -> Any:
        return self.call(*inputs, *self.constants)


# ---- With MindSpore


def facts_of(model: Any) -> dict[str, list[Any]]:
    """Return the steps of a message by Primitive: kind, inputs (a constant's kind, or ""), attributes."""
    constants = {n.output[0]: n.attribute[0].type for n in model.graph.node if n.op_type == "Constant"}
    primitives = {f"REF::{p.name}": p for p in model.primitives}
    results: dict[str, list[Any]] = {}
    for node in model.graph.node:
        if node.op_type != "Constant":
            p = primitives[node.op_type]
            results.setdefault(p.op_type, []).append(
                {
                    "kind": p.prim_type,
                    "inputs": [constants.get(name, "") for name in node.input],
                    "attributes": {a.name: a.type for a in p.attribute},
                }
            )
    return results


def record() -> None:
    """Export the networks and the Primitives; store the files with their inputs and outputs."""
    from mindspore.train.mind_ir_pb2 import ModelProto

    record_arrays: dict[str, Any] = {}
    facts: dict[str, list[Any]] = {}
    files: list[bytes] = []
    for name, (_, make_inputs) in NETWORKS.items():
        cell, inputs = network(name), make_inputs()
        ms.export(cell, *inputs, file_name=name, file_format="MINDIR")
        content = Path(f"{name}.mindir").read_bytes()
        os.unlink(f"{name}.mindir")
        record_arrays[f"{name} file"] = np.frombuffer(content, np.uint8)
        files.append(content)
        for index, array in enumerate(leaves(cell(*inputs))):
            record_arrays[f"{name} {index}"] = array
        if name in ("mlp", "lenet"):
            cell.compile(*inputs)
            record_arrays[f"{name} dump"] = np.frombuffer(cell.get_func_graph_proto(), np.uint8)
    np.savez_compressed(FOLDER / "mindir.npz", **record_arrays)
    for make, arrays, constants in rows().values():
        ms.export(Called(make(), constants), *map(Tensor, arrays), file_name="one", file_format="MINDIR")
        files.append(Path("one.mindir").read_bytes())
        os.unlink("one.mindir")
    for content in files:
        for name, steps in facts_of(ModelProto.FromString(content)).items():
            for step in steps:
                if step not in facts.setdefault(name, []):
                    facts[name].append(step)
    lines = [f"{json.dumps(name)}: {json.dumps(facts[name])}" for name in sorted(facts)]
    (FOLDER / "mindir.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def run(folder: str) -> None:
    """Compute the files of a folder."""
    for file in sorted(Path(folder).glob("*.mindir")):
        with np.load(file.with_suffix(".in.npz")) as arrays:
            inputs = [Tensor(arrays[name]) for name in arrays.files]
        try:
            outputs = leaves(nn.GraphCell(ms.load(str(file)))(*inputs))
            np.savez(file.with_suffix(".out.npz"), *outputs)
        except Exception as error:  # MindSpore raises all kinds; the test reports it
            file.with_suffix(".error").write_text(str(error))


if __name__ == "__main__":
    folder = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else ""
    with tempfile.TemporaryDirectory() as elsewhere:  # MindSpore writes its dumps there
        os.chdir(elsewhere)
        run(folder) if folder else record()
