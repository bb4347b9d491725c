"""Graphs of one operator, and models run by onnxruntime, for the ONNX tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

from hookscope.engine.compile.graph import Graph, OperatorCall, Value, replace_values
from hookscope.engine.tensors.operator import OPERATORS

__all__ = ["Array", "graph_of_one", "run_by_onnxruntime"]

Array = np.ndarray[Any, Any]


def graph_of_one(name: str, operands: tuple[Any, ...], attrs: dict[str, Any]) -> tuple[Graph, list[Array]]:
    """Return a graph of one step, with arrays as inputs and those among the attributes as constants; and the arrays."""
    graph, arrays = Graph(), []

    def value(array: Any, of: str = "") -> Value:
        return Value(array.shape, array.dtype, of)

    def constant(array: Array) -> Value:
        result = value(array, "constant")
        graph.constants[result] = array
        return result

    inputs: list[Any] = []
    for operand in operands:
        if isinstance(operand, np.ndarray):
            arrays.append(operand)
            graph.arguments.append(value(operand, "argument"))
            inputs.append(graph.arguments[-1])
        else:
            inputs.append(operand)
    output = OPERATORS[name].on_arrays(*operands, **attrs)
    outputs = tuple([value(item) for item in (output if isinstance(output, tuple) else (output,))])
    known = replace_values(attrs, (np.ndarray,), constant)
    graph.nodes.append(
        OperatorCall(OPERATORS[name], tuple(inputs), known, outputs, isinstance(output, tuple), "here.py:1")
    )
    graph.result = outputs[0]
    return graph, arrays


def run_by_onnxruntime(model: bytes | Path, arrays: list[Array]) -> list[Array]:
    """Return the outputs of a model on the CPU, in one thread, with all optimizations."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_inputs()]
    results: list[Array] = session.run(None, dict(zip(names, arrays, strict=True)))
    return results
