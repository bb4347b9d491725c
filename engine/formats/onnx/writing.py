"""Writer of ONNX files: parameters become initializers, operators are written by their converters."""

from __future__ import annotations

import os
from importlib import metadata
from typing import Any

import numpy as np

from ...base.atomic_write import write_file
from ...base.file_labels import line_label
from ...base.quoting import escape
from ...compile.graph import ArrayFunction, Graph, Node, OperatorCall, Value, draws_in, operands_of, values_in
from ...tensors.backend import to_host
from ...tensors.parameter import Parameter
from . import elementwise, gradients, indexing, layers, reductions, shapes  # noqa: F401  # each module registers its converters
from .draft import Draft, UnsupportedError
from .versions import IR_VERSION, OPSET

__all__ = ["model_of", "write"]

_MOST_BYTES = 2**31 - 1
"""Maximum size of a protobuf message."""


def write(graph: Graph, path: str, input_names: list[str], name: str) -> None:
    """Write a graph, or raise and leave everything unchanged.

    Args:
        graph: a graph of forward nodes only.
        path: an absolute path; its folders are created.
        input_names: a name for each of the graph's arguments.
        name: the graph's name.

    Raises:
        RuntimeError: a node has no form in ONNX, or the file would be larger than 2 GiB.
        ImportError: ``onnx`` is not installed.
        OSError: the file cannot be written.
    """
    content = model_of(graph, input_names, name).SerializeToString(deterministic=True)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Like MindSpore's files, it is read-only and readable by its owner only.
    write_file(path, lambda file: file.write(content), "export", mode=0o400)


def model_of(graph: Graph, input_names: list[str], name: str) -> Any:
    """Return the graph as ONNX's message, accepted by ONNX's checker.

    Args:
        graph: a graph of forward nodes only.
        input_names: a name for each of the graph's arguments.
        name: the graph's name.

    Returns:
        the package's ModelProto.

    Raises:
        RuntimeError: a node has no form in ONNX.
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
        helper.make_tensor_value_info(draft.enter(value, input_name), draft.code(value.dtype), value.shape)
        for value, input_name in zip(graph.arguments, input_names, strict=True)
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
    nodes = _used(draft.nodes, {output.name for output in outputs})
    onnx_graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    model = helper.make_model(
        onnx_graph,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="hookscope",
        producer_version=metadata.version("hookscope"),
    )
    draft.onnx.checker.check_model(model, full_check=True)
    return model


def _write_nodes(draft: Draft, graph: Graph, name: str) -> None:
    used = set(values_in(graph.result))
    for node in graph.nodes:
        used.update(values_in(operands_of(node)))
    for node in graph.nodes:
        is_used = tuple([value in used for value in node.outputs])
        try:
            if not isinstance(node, OperatorCall):
                raise UnsupportedError("gradients and updates of parameters stay here: export the network alone")
            if isinstance(node.operator, ArrayFunction):
                if node.operator.is_check:
                    continue  # runtimes check the numbers themselves
                raise UnsupportedError(
                    "it is computed beside the operators, as a loss counts its labels: export the network without it"
                )
            if _draws(node):
                raise UnsupportedError("it draws random numbers: leave it out, as set_train(False) does with Dropout")
            draft.write(node, is_used)
        except UnsupportedError as error:
            raise RuntimeError(f"For 'export', {_step(node)} in '{name}' cannot be written: {error}") from None


def _draws(node: OperatorCall) -> bool:
    return bool(draws_in((node.inputs, node.attrs)))


def _step(node: Node) -> str:
    subject = "an optimizer's step" if not hasattr(node, "operator") else f"the operator '{node.operator.name}'"
    return f"{subject} ({line_label(node.where)})" if node.where else subject


def _outputs(draft: Draft, results: list[Value]) -> list[Any]:
    """Add the graph's outputs, named as such; values that are inputs, constants or returned twice get an Identity."""
    makers = {name: node for node in draft.nodes if node.op_type != "Constant" for name in node.output}
    renamed: dict[str, str] = {}
    infos = []
    for number, value in enumerate(results):
        name = draft.unique("output" if len(results) == 1 else f"output_{number}")
        edge = draft.edge(value)
        if edge.name in makers and edge.name not in renamed:
            renamed[edge.name] = name
        else:
            draft.nodes.append(draft.onnx.helper.make_node("Identity", [edge.name], [name], name=name))
        infos.append(draft.onnx.helper.make_tensor_value_info(name, draft.code(value.dtype), value.shape))
    for node in draft.nodes:
        for names in (node.input, node.output):
            for i, value_name in enumerate(names):
                if value_name in renamed:
                    names[i] = renamed[value_name]
    return infos


def _used(nodes: list[Any], wanted: set[str]) -> list[Any]:
    """Return the nodes that the outputs depend on; converters may add unused constants."""
    used = []
    for node in reversed(nodes):
        if wanted.intersection(node.output):
            used.append(node)
            wanted.update(node.input)
    return used[::-1]


def _described(tensor: Any) -> str:
    return f"the parameter '{escape(tensor.name)}'" if isinstance(tensor, Parameter) else "a tensor from outside"
