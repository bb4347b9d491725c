"""``export``, ``load`` and ``nn.GraphCell``: arguments, files, what stays as it was, errors."""

from __future__ import annotations

import copy
import os
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession


def inputs(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense, self.norm, self.drop = nn.Dense(3, 2), nn.BatchNorm1d(2), nn.Dropout(p=0.5)

    def construct(self, x: Tensor, y: Any = 1.0) -> Tensor:
        return self.drop(self.norm(self.dense(x))) * y


X = inputs(4, 3)


def exported(net: Any, *arguments: Any, name: str = "net", **options: Any) -> Any:
    ms.export(net, *arguments, file_name=name, file_format="ONNX", **options)
    return onnx.load(f"{name}.onnx")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# Files


@pytest.mark.parametrize(
    ("name", "file"), [("net", "net.onnx"), ("net.onnx", "net.onnx"), ("a.b/c-1@x", "a.b/c-1@x.onnx")]
)
def test_the_suffix_and_the_folders_are_made_where_they_are_missing(name: str, file: str) -> None:
    assert ms.export(Net(), X, file_name=name, file_format="ONNX") is None
    assert os.listdir(os.path.dirname(file) or ".") == [os.path.basename(file)]
    assert stat.S_IMODE(os.stat(file).st_mode) == 0o400  # as MindSpore's


@pytest.mark.parametrize("file_format", ["ONNX", "MINDIR"])
def test_a_network_that_is_watched_is_exported_as_if_it_were_not_and_nothing_of_it_is_seen(file_format: str) -> None:
    net = Net()
    ms.export(net, X, file_name="plain", file_format=file_format)
    with DebugSession(net, conditions=["all"]) as session:
        ms.export(net, X, file_name="watched", file_format=file_format)
    suffix = file_format.lower()
    assert Path(f"watched.{suffix}").read_bytes() == Path(f"plain.{suffix}").read_bytes()
    assert session.captured == 0 and session.faults == ()


def test_a_file_is_replaced_whole_or_stays_and_no_folder_is_left() -> None:
    exported(Net(), X)
    before = Path("net.onnx").read_bytes()

    class Odd(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.lgamma(x)

    for name in ("net", "deep/er/net"):
        with pytest.raises(RuntimeError, match="'lgamma' .* cannot be written"):
            ms.export(Odd(), X, file_name=name, file_format="ONNX")
    assert Path("net.onnx").read_bytes() == before
    assert os.listdir() == ["net.onnx"]
    exported(nn.Dense(3, 3), X)
    assert Path("net.onnx").read_bytes() != before


def test_equal_networks_make_equal_files_of_pinned_versions() -> None:
    net = Net()
    first, second = exported(net, X, name="a"), exported(net, X, name="b")
    assert Path("a.onnx").read_bytes() == Path("b.onnx").read_bytes()
    assert (first.ir_version, [(item.domain, item.version) for item in first.opset_import]) == (9, [("", 20)])
    assert (first.producer_name, first.graph.name, second.graph.name) == ("hookscope", "Net", "Net")


# Inputs


def test_inputs_are_named_as_construct_names_them_and_numbers_are_constants() -> None:
    class Several(nn.Cell):
        def construct(self, a: Tensor, pair: Any, *more: Any, scale: float = 2.0) -> Any:
            return a * pair[0] + pair[1] * more[0], {"x": a * scale}

    graph = exported(Several(), X, (X, X), X).graph
    assert [item.name for item in graph.input] == ["a", "pair_0", "pair_1", "more_0"]
    assert [item.name for item in graph.output] == ["output_0", "output_1"]
    assert not graph.initializer
    assert [item.name for item in exported(Net(), X, 3.0).graph.input] == ["x"]


def test_names_that_meet_are_told_apart() -> None:
    class Meeting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.p = Parameter(Tensor([2.0]), name="x")

        def construct(self, x: Tensor, output: Tensor) -> Tensor:
            return x * self.p + output

    graph = exported(Meeting(), X, X).graph
    assert [variant.name for variant in (*graph.input, *graph.initializer, *graph.output)] == [
        "x",
        "output",
        "x_1",
        "output_1",
    ]
    again = nn.GraphCell(ms.load("net.onnx"))
    np.testing.assert_allclose(again(X, X).asnumpy(), X.asnumpy() * 3)


def test_an_input_that_comes_back_or_is_given_twice_is_handed_on() -> None:
    class Same(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            copy = ops.deepcopy(x)
            return x, x, x[1:], ops.relu(x), x.reshape(3, 4), copy, copy * 2, ops.zeros((2,), ms.float32)

    exported(Same(), X)
    result = nn.GraphCell(ms.load("net.onnx"))(X)
    for value, reference in zip(result, Same()(X), strict=True):
        np.testing.assert_array_equal(value.asnumpy(), reference.asnumpy())


def test_the_network_predicts_in_the_file_and_is_as_it_was_afterwards() -> None:
    net = Net()
    net.set_train()
    net.drop.set_train(False)
    arrays = [p.asnumpy() for p in net.get_parameters()]
    ms.set_seed(3)
    graph = exported(net, X).graph
    drawn = ops.rand(2).asnumpy()
    ms.set_seed(3)
    np.testing.assert_array_equal(ops.rand(2).asnumpy(), drawn)
    assert [cell.training for _, cell in net.cells_and_names()] == [True, True, True, False]
    for before, p in zip(arrays, net.get_parameters(), strict=True):
        np.testing.assert_array_equal(before, p.asnumpy())
    assert "BatchNormalization" in [node.op_type for node in graph.node]


def test_a_function_is_no_network_for_onnx() -> None:
    with pytest.raises(ValueError, match="For 'export', 'net' must be a Cell for ONNX, but got function"):
        ms.export(lambda x: x, X, file_name="net", file_format="ONNX")


# Errors


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        (ValueError, "'file_format' must be 'ONNX' or 'MINDIR', but got 'TF'", {"file_format": "TF"}),
        (ValueError, "'file_format' must be 'ONNX' or 'MINDIR', but got 'onnx'", {"file_format": "onnx"}),
        (NotImplementedError, "the format 'AIR' is for Ascend devices: use 'ONNX' or 'MINDIR'", {"file_format": "AIR"}),
        (TypeError, "'file_name' must be a str, but got int", {"file_name": 3}),
        (ValueError, r"'file_name' must be made of letters, digits and @_-.:/\, but got ''", {"file_name": ""}),
        (ValueError, r"'file_name' must be made of letters, digits and @_-.:/\, but got 'a b'", {"file_name": "a b"}),
        (NotImplementedError, "'enc_key' is not covered: keep the file on an encrypted disk", {"enc_key": b"0" * 16}),
        (NotImplementedError, "'dataset' is not covered: preprocess outside the network", {"dataset": [1]}),
        (NotImplementedError, "'incremental' is not covered: export the whole network", {"incremental": True}),
        (ValueError, "'custom_func' must be left out for ONNX: it is for MINDIR", {"custom_func": print}),
        (TypeError, "there is no argument 'opset'", {"opset": 11}),
    ],
)
def test_wrong_arguments_are_one_clear_error(kind: type[Exception], text: str, options: dict[str, Any]) -> None:
    with pytest.raises(kind) as raised:
        ms.export(Net(), X, **{"file_name": "net", "file_format": "ONNX", **options})
    assert str(raised.value) == f"For 'export', {text}"
    assert not os.listdir()


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ((), "the inputs do not fit: missing a required argument: 'x'"),
        ((X, X, X), "the inputs do not fit: too many positional arguments"),
        (("a",), "'x' must be a Tensor, a number or a tuple, list or dict of them, but got str"),
        ((X.asnumpy(),), "'x' must be a Tensor, a number or a tuple, list or dict of them, but got ndarray"),
        ((Tensor(shape=[None, 3], dtype=ms.float32),), "'x' must be a Tensor with values, but got a placeholder"),
    ],
)
def test_wrong_inputs_are_one_clear_error(inputs: tuple[Any, ...], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        ms.export(Net(), *inputs, file_name="net", file_format="ONNX")
    assert str(raised.value) == f"For 'export', {text}"
    assert not os.listdir()


def test_what_draws_random_numbers_says_so_and_where() -> None:
    class Noisy(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return ops.dropout(x, 0.5, training=True)

    with pytest.raises(RuntimeError) as raised:
        exported(Noisy(), X)
    text, why = str(raised.value), "it draws random numbers: leave it out, as set_train(False) does with Dropout"
    assert text.startswith("For 'export', the operator 'dropout' (") and "test_export.py:" in text
    assert text.endswith(f"in 'Noisy' cannot be written: {why}")


def test_what_writes_a_parameter_says_so_and_leaves_it() -> None:
    class Counting(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.count = Parameter(Tensor([0.0]), name="count")

        def construct(self, x: Tensor) -> Tensor:
            ops.assign(self.count, self.count + 1)
            return x * self.count

    net = Counting()
    with pytest.raises(
        RuntimeError, match="For 'export', the parameter 'count' is written in 'Counting': an ONNX graph"
    ):
        exported(net, X)
    np.testing.assert_array_equal(net.count.asnumpy(), [0.0])


def test_a_network_that_no_message_can_hold_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    net = nn.Dense(3, 2)
    monkeypatch.setattr("hookscope.engine.formats.onnx.writing._MOST_BYTES", 32)
    exported(net, X)
    monkeypatch.setattr("hookscope.engine.formats.onnx.writing._MOST_BYTES", 31)
    with pytest.raises(RuntimeError, match="For 'export', 'Dense' holds more than the 2 GiB that an ONNX file can"):
        exported(net, X)


def test_a_loss_that_counts_beside_the_operators_says_so() -> None:
    labels = Tensor(np.array([0, 1, 2, 0], np.int32))
    with pytest.raises(RuntimeError, match="computed beside the operators, as a loss counts its labels: export"):
        exported(nn.WithLossCell(nn.Dense(3, 3), nn.CrossEntropyLoss()), X, labels)


def test_what_gives_no_tensor_or_computes_with_its_numbers_says_so() -> None:
    class Nothing(nn.Cell):
        def construct(self, x: Tensor) -> Any:
            return 3

    class Branching(nn.Cell):
        def construct(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(ValueError, match="For 'export', 'Nothing' must return a Tensor, or several, but returned none"):
        exported(Nothing(), X)
    with pytest.raises(RuntimeError, match=r"'Branching' has no graph: .*test_export.py:\d+"):
        exported(Branching(), X)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    exported(Net(), X)
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (lambda: exported(Net(), X, name="other"), lambda: ms.load("net.onnx")):
        with pytest.raises(
            ImportError, match=r"the package 'onnx' is needed for ONNX files: pip install 'hookscope\[onnx\]'"
        ):
            call()
    assert os.listdir() == ["net.onnx"]


# Loading


@pytest.mark.parametrize(
    ("kind", "text", "name", "options"),
    [
        (ValueError, "'file_name' must be a str, but got int", 3, {}),
        (ValueError, "'file_name' must end in '.mindir' or '.onnx', but got 'net.ckpt'", "net.ckpt", {}),
        (ValueError, "the file 'gone.onnx' does not exist", "gone.onnx", {}),
        (
            NotImplementedError,
            "'dec_key' is not covered: keep the file on an encrypted disk",
            "net.onnx",
            {"dec_key": b"0"},
        ),
        (TypeError, "there is no argument 'obf'", "net.onnx", {"obf": 1}),
    ],
)
def test_a_wrong_call_of_load_is_one_clear_error(kind: type[Exception], text: str, name: Any, options: Any) -> None:
    with pytest.raises(kind) as raised:
        ms.load(name, **options)
    assert str(raised.value) == f"For 'load', {text}"


def save_model(*nodes: Any, opset: int = 20, initializers: Any = (), **options: Any) -> None:
    helper = onnx.helper
    info = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 2]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "made", info[:1], info[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    Path("made.onnx").write_bytes(model.SerializeToString())


def test_broken_and_foreign_files_are_one_clear_error() -> None:
    node = onnx.helper.make_node
    Path("made.onnx").write_bytes(b"no model at all")
    with pytest.raises(RuntimeError, match=r"For 'load', the file '.*made.onnx' is not an ONNX file"):
        ms.load("made.onnx")
    save_model(node("Add", ["x", "nowhere"], ["y"]))
    with pytest.raises(RuntimeError, match=r"For 'load', the file '.*made.onnx' is broken: .*nowhere"):
        ms.load("made.onnx")
    save_model(node("Hardmax", ["x"], ["y"]))
    with pytest.raises(
        RuntimeError, match="holds the operator 'Hardmax', which is not read here: onnxruntime runs such"
    ):
        ms.load("made.onnx")
    save_model(node("Relu", ["x"], ["y"]), opset=13)
    with pytest.raises(RuntimeError, match="must be of opset 20 and of no other domain, but has ai.onnx 13"):
        ms.load("made.onnx")


def test_numbers_outside_the_file_are_never_read() -> None:
    Path("secret").write_bytes(np.ones(4, np.float32).tobytes())
    tensor = onnx.TensorProto(name="w", dims=[2, 2], data_type=onnx.TensorProto.FLOAT)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="secret")
    node = onnx.helper.make_node
    for nodes, initializers in (
        ([node("Add", ["x", "w"], ["y"])], [tensor]),
        ([node("Constant", [], ["w"], value=tensor), node("Add", ["x", "w"], ["y"])], []),
    ):
        save_model(*nodes, initializers=initializers)
        with pytest.raises(RuntimeError, match="keeps numbers in other files, which are not read: save it in one"):
            ms.load("made.onnx")


def test_a_name_in_a_file_cannot_move_the_cursor_or_take_a_methods_place() -> None:
    node = onnx.helper.make_node
    weights = [onnx.numpy_helper.from_array(np.ones((2, 2), np.float32), name) for name in ("construct", "graph")]
    save_model(node("Add", ["x", "construct"], ["a"]), node("Mul", ["a", "graph"], ["y"]), initializers=weights)
    net = nn.GraphCell(ms.load("made.onnx"))
    np.testing.assert_array_equal(net(ops.zeros((2, 2), ms.float32)).asnumpy(), np.ones((2, 2)))
    assert list(net.parameters_dict()) == ["construct", "graph"]
    save_model(node("Re\x1b[2Jlu", ["x"], ["y"]))
    with pytest.raises(RuntimeError) as raised:
        ms.load("made.onnx")
    assert "\x1b" not in str(raised.value)


# GraphCell


def test_a_graph_cell_has_the_graphs_parameters_and_takes_values_for_them() -> None:
    net = Net()
    net.set_train(False)
    exported(net, X)
    graph = ms.load("net.onnx")
    cell = nn.GraphCell(graph, {"dense.weight": Tensor(np.zeros((2, 3), np.float32)), "not there": X})
    assert set(cell.parameters_dict()) == {p.name for p in net.get_parameters()}
    net.dense.weight.set_data(Tensor(np.zeros((2, 3), np.float32)))
    np.testing.assert_array_equal(cell(X).asnumpy(), net(X).asnumpy())
    twin = copy.deepcopy(cell)
    twin.parameters_dict()["dense.weight"].set_data(Tensor(np.ones((2, 3), np.float32)))
    np.testing.assert_array_equal(cell(X).asnumpy(), net(X).asnumpy())
    assert (twin(X).asnumpy() != net(X).asnumpy()).any()


@pytest.mark.parametrize(
    ("kind", "text", "options"),
    [
        (TypeError, "'params_init' must be a dict, but got list", {"params_init": [1]}),
        (TypeError, "'params_init' must be a dict whose keys are str, but got int", {"params_init": {1: X}}),
        (
            TypeError,
            "'params_init' must be a dict whose values are Tensors or Parameters, but got int",
            {"params_init": {"a": 1}},
        ),
        (
            ValueError,
            "'params_init' must have for 'dense.bias' a Float32 of shape (2,), but got a Float32 of shape (4, 3)",
            {"params_init": {"dense.bias": X}},
        ),
        (NotImplementedError, "'obf_random_seed' is not covered: export the network as it is", {"obf_random_seed": 3}),
    ],
)
def test_a_wrong_graph_cell_is_one_clear_error(kind: type[Exception], text: str, options: dict[str, Any]) -> None:
    exported(Net(), X)
    with pytest.raises(kind) as raised:
        nn.GraphCell(ms.load("net.onnx"), **options)
    assert str(raised.value) == f"For 'GraphCell', {text}"


def test_a_graph_cell_is_made_of_a_graph_and_called_with_its_inputs() -> None:
    with pytest.raises(TypeError, match=r"For 'GraphCell', 'graph' must be a result of load\(\), but got Net"):
        nn.GraphCell(Net())  # type: ignore[arg-type]
    exported(Net(), X)
    cell = nn.GraphCell(ms.load("net.onnx"))
    with pytest.raises(RuntimeError, match=r"the graph 'Net' takes 1 inputs \(x\), but got 2"):
        cell(X, X)
    with pytest.raises(TypeError, match="For the graph 'Net', 'x' must be a Tensor, but got float"):
        cell(1.0)
