"""A graph as an ONNX file: parameters are initializers, operators what their converters make of them."""

from __future__ import annotations

import os
from importlib import metadata
from typing import Any

import numpy as np

from ...base.atomic_write import write_file
from ...base.file_labels import place_of
from ...base.quoting import shown
from ...tensors.backend import to_host
from ...tensors.parameter import Parameter
from ..graph import Apply, Beside, Graph, Node, Value, draws_in, values_in
from ..plan import operands_of
from . import elementwise, gradients, indexing, layers, reductions, shapes  # noqa: F401  # each enters its converters
from .draft import Draft, UnsupportedError
from .versions import IR_VERSION, OPSET

__all__ = ["model_of", "write"]

_MOST_BYTES = 2**31 - 1
"""The size that a protobuf message can have."""


def write(graph: Graph, path: str, input_names: list[str], name: str) -> None:
    """Write a graph, or raise and leave everything as it was.

    Args:
        graph: forward steps only.
        path: an absolute path; its folders are made.
        input_names: a name for each of the graph's arguments.
        name: the graph's name.

    Raises:
        RuntimeError: a step has no form in ONNX, or the file would be larger than 2 GiB.
        ImportError: ``onnx`` is not installed.
        OSError: the file cannot be written.
    """
    content = model_of(graph, input_names, name).SerializeToString(deterministic=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Like MindSpore's, it can be read by its owner, and changed by nobody.
    write_file(path, lambda file: file.write(content), "export", mode=0o400)


def model_of(graph: Graph, input_names: list[str], name: str) -> Any:
    """The graph as ONNX's message, which its checker has taken.

    Args:
        graph: forward steps only.
        input_names: a name for each of the graph's arguments.
        name: the graph's name.

    Returns:
        the package's ModelProto.

    Raises:
        RuntimeError: a step has no form in ONNX.
    """
    try:
        return _model_of(graph, input_names, name)
    except UnsupportedError as error:
        raise RuntimeError(f"For 'export', '{name}' cannot be written: {error}") from None


def _model_of(graph: Graph, input_names: list[str], name: str) -> Any:
    draft = Draft()
    helper = draft.onnx.helper
    if graph.effects:
        raise RuntimeError(
            f"For 'export', {_described(graph.effects[0][0])} is written in '{name}': an ONNX graph keeps no state; "
            "compute without writing, as set_train(False) makes most layers do"
        )
    if sum(value.dtype.itemsize * int(np.prod(value.shape)) for _, value in graph.externals) > _MOST_BYTES:
        raise RuntimeError(f"For 'export', '{name}' holds more than the 2 GiB that an ONNX file can")
    inputs = [
        helper.make_tensor_value_info(draft.enter(value, given), draft.code(value.dtype), value.shape)
        for value, given in zip(graph.arguments, input_names, strict=True)
    ]
    initializers = []
    for tensor, value in graph.externals:
        array = np.ascontiguousarray(to_host(tensor._array)).reshape(value.shape)
        if isinstance(tensor, Parameter):
            initializers.append(draft.onnx.numpy_helper.from_array(array, draft.enter(value, tensor.name)))
        else:
            draft.enter_constant(value, array)
    for value, array in graph.constants.items():
        draft.enter_constant(value, to_host(array))
    _write_nodes(draft, graph, name)
    outputs = _outputs(draft, list(values_in(graph.result)))
    nodes = _used(draft.nodes, {one.name for one in outputs})
    made = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="hookscope",
        producer_version=metadata.version("hookscope"),
    )
    draft.onnx.checker.check_model(model, full_check=True)
    return model


def _write_nodes(draft: Draft, graph: Graph, name: str) -> None:
    read = set(values_in(graph.result))
    for node in graph.nodes:
        read.update(values_in(operands_of(node)))
    for node in graph.nodes:
        wanted = tuple([value in read for value in node.outputs])
        try:
            if not isinstance(node, Apply):
                raise UnsupportedError("gradients and updates of parameters stay here: export the network alone")
            if isinstance(node.operator, Beside):
                if node.operator.is_check:
                    continue  # runtimes say by themselves which numbers they do not take
                raise UnsupportedError(
                    "it is computed beside the operators, as a loss counts its labels: export the network without it"
                )
            if _draws(node):
                raise UnsupportedError("it draws random numbers: leave it out, as set_train(False) does with Dropout")
            draft.write(node, wanted)
        except UnsupportedError as error:
            raise RuntimeError(f"For 'export', {_step(node)} in '{name}' cannot be written: {error}") from None


def _draws(node: Apply) -> bool:
    return bool(draws_in((node.inputs, node.attrs)))


def _step(node: Node) -> str:
    what = "an optimizer's step" if not hasattr(node, "operator") else f"the operator '{node.operator.name}'"
    return f"{what} ({place_of(node.where)})" if node.where else what


def _outputs(draft: Draft, results: list[Value]) -> list[Any]:
    """The graph's outputs, whose names say that they are; a value that has a name already, or is given twice, is
    handed on by an Identity."""
    made = {name: node for node in draft.nodes if node.op_type != "Constant" for name in node.output}
    renamed: dict[str, str] = {}
    infos = []
    for place, value in enumerate(results):
        name = draft.unique("output" if len(results) == 1 else f"output_{place}")
        edge = draft.edge(value)
        if edge.name in made and edge.name not in renamed:
            renamed[edge.name] = name
        else:
            draft.nodes.append(draft.onnx.helper.make_node("Identity", [edge.name], [name], name=name))
        infos.append(draft.onnx.helper.make_tensor_value_info(name, draft.code(value.dtype), value.shape))
    for node in draft.nodes:
        for names in (node.input, node.output):
            for i, one in enumerate(names):
                if one in renamed:
                    names[i] = renamed[one]
    return infos


def _used(nodes: list[Any], wanted: set[str]) -> list[Any]:
    """The nodes that the outputs need: converters may make a constant that nobody takes."""
    kept = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(node.input)
    return kept[::-1]


def _described(tensor: Any) -> str:
    return f"the parameter '{shown(tensor.name)}'" if isinstance(tensor, Parameter) else "a tensor from outside"
