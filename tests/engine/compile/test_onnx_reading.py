"""Files from elsewhere: each node in the forms that are read gives onnxruntime's result, others are refused."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_runs import Array, run_by_onnxruntime

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.formats.onnx import read

NUMBERS = np.random.default_rng(11)


def normal(*shape: int) -> Array:
    return NUMBERS.standard_normal(shape).astype(np.float32)


def ints(*numbers: int) -> Array:
    return np.array(numbers, np.int64)


def file_of(path: Path, kind: str, inputs: list[Any], outputs: int = 1, **attributes: Any) -> list[Array]:
    """Write one node: arrays of floats are inputs, integers constants, None is left out. Return the inputs."""
    nodes, infos, names, arrays = [], [], [], []
    for index, array in enumerate(inputs):
        name = f"x{index}" if array is not None else ""
        names.append(name)
        if array is None:
            continue
        if array.dtype.kind == "f":
            infos.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape))
            arrays.append(array)
        else:
            value = onnx.numpy_helper.from_array(array, name)
            nodes.append(helper.make_node("Constant", [], [name], value=value))
    results = [f"y{i}" for i in range(outputs)]
    nodes.append(helper.make_node(kind, names, results, **attributes))
    graph = helper.make_graph(nodes, "one", infos, [helper.make_empty_tensor_value_info(result) for result in results])
    graph = onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    )
    path.write_bytes(graph.SerializeToString())
    return arrays


CASES: list[tuple[str, list[Any], dict[str, Any]]] = [
    ("ReduceSum", [normal(2, 3)], {}),
    ("ReduceSum", [normal(2, 3)], {"keepdims": 0}),
    ("ReduceSum", [normal(2, 3), ints()], {"noop_with_empty_axes": 1}),
    ("ReduceMax", [normal(2, 3, 4), ints(-1, 0)], {}),
    ("ReduceLogSumExp", [normal(2, 3) * 100, ints(1)], {}),
    ("ReduceLogSumExp", [normal(2, 3)], {"keepdims": 0}),
    ("ArgMax", [normal(3, 4)], {}),
    ("ArgMin", [normal(3, 4)], {"axis": -1, "keepdims": 0}),
    ("Slice", [normal(4, 5), ints(1, -3), ints(100, -1)], {}),
    ("Slice", [normal(4, 5), ints(-1), ints(-100), ints(1), ints(-2)], {}),
    ("Slice", [normal(4, 5), ints(3), ints(-4), ints(0), ints(-1)], {}),
    ("Reshape", [normal(4, 6), ints(0, -1, 2)], {}),
    ("Reshape", [normal(4, 6), ints(-1)], {}),
    ("Transpose", [normal(2, 3, 4)], {}),
    ("Expand", [normal(3, 1), ints(2, 1, 4)], {}),
    ("Split", [normal(4, 6), ints(1, 3)], {"outputs": 2}),
    ("Split", [normal(4, 6), ints(1, 3, 2)], {"axis": -1, "outputs": 3}),
    ("Gemm", [normal(3, 4), normal(4, 5)], {}),
    ("Gemm", [normal(3, 4), normal(5, 4), normal(5)], {"transB": 1}),
    ("Gemm", [normal(3, 4), normal(5, 4), normal(3, 1)], {"transB": 1, "alpha": 0.5, "beta": 3.0}),
    ("Gemm", [normal(4, 3), normal(5, 4), normal(3, 5)], {"transA": 1, "transB": 1}),
    ("Gather", [normal(4, 5), ints(1, -1, 0)], {}),
    ("Gather", [normal(4, 5), np.array([[1, 2], [3, -4]])], {"axis": -1}),
    ("GatherND", [normal(4, 5, 2), np.array([[1, 2], [-1, 0]])], {}),
    ("GatherElements", [normal(4, 5), np.array([[1, 2], [3, 0]])], {"axis": 1}),
    ("GatherElements", [normal(4, 5), np.array([[1, 2], [3, 0]])], {}),
    ("ScatterElements", [normal(4, 5), np.array([[1, 2], [3, 0]]), normal(2, 2)], {}),
    ("ScatterElements", [normal(4, 5), np.array([[1, 2], [3, 0]]), normal(2, 2)], {"axis": 1}),
    ("ScatterElements", [normal(4, 5), np.array([[1, 2], [1, 2]]), normal(2, 2)], {"axis": 0, "reduction": "add"}),
    ("ScatterElements", [normal(4, 5), np.array([[1, 2], [1, 2]]), normal(2, 2)], {"axis": 0, "reduction": "max"}),
    ("Pad", [normal(2, 3), ints(1, 0, 0, 2)], {}),
    ("CumSum", [normal(3, 4), np.array(-1)], {}),
    ("TopK", [normal(3, 4), ints(2)], {"outputs": 2}),
    ("TopK", [normal(3, 4), ints(2)], {"axis": 0, "largest": 0, "outputs": 2}),
    ("Max", [normal(3), normal(2, 3), normal(2, 1)], {}),
    ("Min", [normal(3)], {}),
    ("Einsum", [normal(2, 3), normal(3, 4)], {"equation": "ij, jk -> ik"}),
    ("Conv", [normal(1, 2, 5, 6), normal(4, 2, 3, 2), normal(4)], {}),
    ("Conv", [normal(1, 2, 5, 6), normal(4, 1, 3, 2)], {"group": 2, "pads": [0, 1, 2, 0], "strides": [2, 1]}),
    ("ConvTranspose", [normal(1, 2, 5, 6), normal(2, 2, 3, 2), normal(4)], {"group": 2, "pads": [0, 1, 2, 0]}),
    ("ConvTranspose", [normal(1, 2, 3, 3), normal(2, 3, 3, 2)], {"strides": [2, 3], "output_padding": [1, 2]}),
    ("MaxPool", [normal(1, 2, 5, 6)], {"kernel_shape": [2, 3]}),
    ("AveragePool", [normal(1, 2, 5, 6)], {"kernel_shape": [2, 3], "strides": [1, 2]}),
    ("AveragePool", [normal(1, 2, 3, 4, 4)], {"kernel_shape": [2, 2, 3], "pads": [1] * 6, "count_include_pad": 1}),
    ("BatchNormalization", [normal(2, 3, 4), normal(3), normal(3), normal(3), np.abs(normal(3))], {}),
    ("LayerNormalization", [normal(2, 3, 4), normal(4)], {}),
    ("LayerNormalization", [normal(2, 3, 4), normal(3, 4), normal(3, 4)], {"axis": 1, "epsilon": 0.1}),
    ("Softmax", [normal(2, 3, 4)], {}),
    ("LogSoftmax", [normal(2, 3, 4)], {"axis": 0}),
    ("Gelu", [normal(5)], {}),
    ("LSTM", [normal(3, 2, 4), normal(1, 20, 4), normal(1, 20, 5)], {"hidden_size": 5, "outputs": 3}),
    (
        "LSTM",
        [normal(3, 2, 4), normal(1, 20, 4), normal(1, 20, 5), normal(1, 40), np.array([2, 3], np.int32)],
        {"hidden_size": 5, "outputs": 3, "direction": "reverse"},
    ),
    (
        "GRU",
        [normal(3, 2, 4), normal(1, 15, 4), normal(1, 15, 5), normal(1, 30), None, normal(1, 2, 5)],
        {"hidden_size": 5, "outputs": 2, "linear_before_reset": 1},
    ),
    ("RNN", [normal(3, 2, 4), normal(1, 5, 4), normal(1, 5, 5)], {"hidden_size": 5, "outputs": 2}),
]


@pytest.mark.parametrize(("kind", "inputs", "how"), CASES, ids=[f"{i}-{case[0]}" for i, case in enumerate(CASES)])
def test_a_node_is_computed_as_by_onnxruntime(
    kind: str, inputs: list[Any], how: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "one.onnx"
    arrays = file_of(path, kind, inputs, **how)
    function = read(str(path))
    actual = function(*[Tensor(x) for x in arrays])
    expected = run_by_onnxruntime(path, arrays)
    for mine, theirs in zip(actual if isinstance(actual, tuple) else (actual,), expected, strict=True):
        assert mine.asnumpy().dtype == theirs.dtype
        np.testing.assert_allclose(mine.asnumpy(), theirs, rtol=1e-5, atol=2e-6)


REFUSED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("Split", [normal(4)], {"outputs": 2, "num_outputs": 2}, "Split without lengths"),
    ("ArgMax", [normal(4)], {"select_last_index": 1}, "ArgMax or ArgMin with select_last_index"),
    ("CumSum", [normal(4), np.array(0)], {"reverse": 1}, "CumSum, exclusive or reverse,"),
    ("Pad", [normal(4), ints(1, 1)], {"mode": "edge"}, "Pad of an unsupported mode or of axes"),
    ("Pad", [normal(4), ints(-1, 1)], {}, "Pad that takes away"),
    ("GatherND", [normal(2, 3), np.array([[1], [2]])], {"batch_dims": 1}, "GatherND with batch_dims"),
    ("Einsum", [normal(2, 3), normal(3, 4)], {"equation": "ij,jk"}, "Einsum without '->'"),
    ("Conv", [normal(1, 2, 5), normal(4, 2, 3)], {}, "of windows of 1 axes"),
    ("MaxPool", [normal(1, 2, 5, 5)], {"kernel_shape": [2, 2], "ceil_mode": 1}, "auto_pad or ceil_mode"),
    ("Conv", [normal(1, 2, 5, 5), normal(4, 2, 3, 3)], {"auto_pad": "VALID"}, "auto_pad or ceil_mode"),
    ("AveragePool", [normal(1, 2, 5, 5)], {"kernel_shape": [3, 3], "pads": [1] * 4}, "that counts no borders"),
    ("ConvTranspose", [normal(1, 2, 5, 6), normal(2, 2, 3, 2)], {"output_shape": [9, 9]}, "with output_shape"),
    ("GRU", [normal(3, 2, 4), normal(1, 15, 4), normal(1, 15, 5)], {"hidden_size": 5}, "without linear_before_reset"),
    (
        "RNN",
        [normal(3, 2, 4), normal(1, 5, 4), normal(1, 5, 5)],
        {"hidden_size": 5, "activations": ["Affine"]},
        "RNN with activations but Tanh or Relu",
    ),
    (
        "LSTM",
        [normal(3, 2, 4), normal(2, 20, 4), normal(2, 20, 5)],
        {"hidden_size": 5, "direction": "bidirectional"},
        "of recurrent layers in both directions at once",
    ),
    (
        "LSTM",
        [normal(3, 2, 4), normal(1, 20, 4), normal(1, 20, 5)],
        {"hidden_size": 5, "clip": 1.0},
        "of recurrent layers with clip",
    ),
    (
        "LSTM",
        [normal(3, 2, 4), normal(1, 20, 4), normal(1, 20, 5), None, None, None, None, normal(1, 15)],
        {"hidden_size": 5},
        "LSTM with peepholes",
    ),
]


@pytest.mark.parametrize(("kind", "inputs", "how", "text"), REFUSED, ids=[case[3] for case in REFUSED])
def test_another_form_of_a_node_is_one_clear_error(
    kind: str, inputs: list[Any], how: dict[str, Any], text: str, tmp_path: Path
) -> None:
    path = tmp_path / "one.onnx"
    arrays = file_of(path, kind, inputs, **how)
    with pytest.raises(RuntimeError, match=f"the ONNX operator .*{text}.* is not computed here"):
        nn.GraphCell(read(str(path)))(*[Tensor(x) for x in arrays])


def test_a_file_with_broken_bytes_is_refused_or_computes(tmp_path: Path) -> None:
    """Refusals are RuntimeErrors; a changed number is valid, and a changed shape may not fit."""
    path = tmp_path / "one.onnx"
    net = nn.SequentialCell(nn.Dense(3, 4), nn.ReLU(), nn.LayerNorm((4,)), nn.Dense(4, 2))
    x = Tensor(normal(2, 3))
    ms.export(net, x, file_name=str(path), file_format="ONNX")
    content_before = path.read_bytes()
    numbers = np.random.default_rng(6)
    refused: list[str] = []
    for _ in range(300):
        content = bytearray(content_before)
        index = int(numbers.integers(len(content)))
        match numbers.integers(3):
            case 0:
                content[index] = int(numbers.integers(256))
            case 1:
                del content[index : index + int(numbers.integers(1, 9))]
            case _:
                content[index:index] = numbers.bytes(3)
        path.chmod(0o600)
        path.write_bytes(content)
        try:
            function = read(str(path))
        except RuntimeError as error:
            refused.append(str(error))
            continue
        with contextlib.suppress(RuntimeError, ValueError, TypeError):
            function(x)
    assert 100 < len(refused) < 300
    assert all(text.startswith("For 'load', the file '") and "\n" not in text for text in refused)


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "one.onnx"
    file_of(path, "Relu", [normal(3)])
    path.write_bytes(path.read_bytes().replace(b"one", b"o\xffe"))
    with pytest.raises(RuntimeError, match="is broken: a name is not UTF-8"):
        read(str(path))
