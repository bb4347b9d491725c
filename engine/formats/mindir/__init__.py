"""MindSpore's MINDIR files: a writer for MindSpore 2.10, and a reader."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ...base.atomic_write import write_file
from ...base.quoting import escape
from ...compile.graph import Graph
from ...nn.func_graph import FuncGraph
from .messages import mind_ir
from .reading import graph_of_message
from .writing import message_of

__all__ = ["read", "write"]

_MOST_BYTES = 2**31 - 1
"""Maximum size of a protobuf message."""


def write(
    graph: Graph, path: str, input_names: list[str], name: str, custom_func: Callable[[Any], Any] | None = None
) -> None:
    """Write a graph as a MINDIR file, and create the parent folders.

    Args:
        graph: the graph of a run without gradients.
        path: the file.
        input_names: names of the graph's arguments, in order.
        name: name of the graph.
        custom_func: called with the message before it is written.

    Raises:
        RuntimeError: a node has no form in the format; the text names it and the line.
        ValueError: more than 2 GiB of parameters.
        OSError: the file cannot be written.
    """
    message = message_of(graph, input_names, name)
    if custom_func is not None:
        custom_func(message)
    content = message.SerializeToString()
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    write_file(path, lambda file: file.write(content), "export")


def read(path: str) -> FuncGraph:
    """Read a MINDIR file written by ``write`` or MindSpore's ``export``.

    Args:
        path: the file.

    Returns:
        the graph; called with tensors, it computes with our operators.

    Raises:
        RuntimeError: the file is not a MINDIR file, is inconsistent, or has an unsupported step.
        OSError: it cannot be read.
    """
    from google.protobuf.message import DecodeError

    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise RuntimeError(f"For 'load', the file '{escape(path)}' cannot be read: it has more than 2 GiB")
        content = file.read()
    try:
        message = mind_ir()["Model"].FromString(content)
    except (DecodeError, UnicodeDecodeError):  # pure-Python protobuf raises the latter for text that is not UTF-8
        raise RuntimeError(
            f"For 'load', the file '{escape(path)}' cannot be read: it is not a MINDIR file, or is damaged"
        ) from None
    return graph_of_message(message, path)
