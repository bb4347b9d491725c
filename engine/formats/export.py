"""``export`` writes a network with all its steps to a file, ``load`` reads such a file for ``nn.GraphCell``.

A format is a package here with two functions. ``write(graph, path, input_names, name)`` creates the file,
with its missing folders, or raises and creates none. ``read(path)`` returns a ``FuncGraph``, or raises
RuntimeError.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ..base.quoting import escape
from ..cpu.array_module import array_module
from ..nn.cell import Cell
from ..nn.func_graph import FuncGraph
from ..nn.graph_cell import GraphCell
from ..ops.higher_order.control import deepcopy
from ..tape import taps
from ..tensors import random
from ..tensors.nested import Sparse, replaced, tensors_in
from ..tensors.placeholder import Placeholder
from ..tensors.tensor import Tensor
from .save_checkpoint import check_key

if TYPE_CHECKING:
    from ..compile.graph import Graph

__all__ = ["export", "load"]


class _Format(NamedTuple):
    suffix: str
    module: str  # below this package
    predicts: bool  # whether the network is exported in the mode of ``set_train(False)``, else in its current one


_FORMATS = {"ONNX": _Format(".onnx", "onnx", True), "MINDIR": _Format(".mindir", "mindir", False)}
_NAME = re.compile(r"[0-9a-zA-Z@_\-.:/\\]+")
"""The allowed characters of a file's name, as in MindSpore."""


def export(net: Cell | Callable[..., Any], *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Write a network, its steps and its parameters, to a file that other programs can run.

    The network is run on the inputs, and the operators that ran are written. Side effects of the run, such as on
    running statistics, are undone. Shapes are those of the inputs.

    Args:
        net: a cell; for MINDIR also a function.
        *inputs: the arguments of the call: tensors, numbers, and tuples, lists and dictionaries of them. Each tensor is
            an input of the graph, named as in ``construct``; a number is a constant.
        file_name: the path, of letters, digits and ``@_-.:/\\``; a missing suffix of the format is added, and missing
            folders are created.
        file_format: "ONNX" (``.onnx``): the network in the mode of ``set_train(False)``, after which its mode is
            restored. "MINDIR" (``.mindir``): the network in its current mode.
        **kwargs: ``custom_func`` for MINDIR: called with the file's message before it is written. ``enc_key``,
            ``enc_mode``, ``dataset`` and ``incremental`` are rejected.

    Raises:
        TypeError: inputs that ``net`` does not take, or of the wrong kind; ``file_name`` is not a str; an unknown
            argument.
        ValueError: an unknown format, a name with other characters, a function instead of a cell.
        RuntimeError: the network computes with the numbers of a tensor outside the operators, or an operator has no
            form in this format; the text names the line.
        NotImplementedError: the format AIR, or a rejected argument.
        ImportError: the package that writes the format is not installed.
        OSError: the file cannot be written; it is unchanged.
    """
    form = _checked_format(file_format)
    path = _checked_name(file_name, form)
    options = _checked_options(kwargs, file_format)
    if form.predicts and not isinstance(net, Cell):
        raise ValueError(f"For 'export', 'net' must be a Cell for {file_format}, but got {type(net).__name__}")
    if not callable(net):
        raise TypeError(f"For 'export', 'net' must be a Cell or a function, but got {type(net).__name__}")
    names = _input_names(net, inputs)
    writer = import_module(f".{form.module}", __package__)
    name = type(net).__name__ if isinstance(net, Cell) else getattr(net, "__name__", type(net).__name__)
    with _in_mode(net, form.predicts):
        graph = _traced(net, inputs, name)
    writer.write(graph, path, names, name, **options)


def load(file_name: str, **kwargs: Any) -> FuncGraph:
    """Read a graph that ``export`` wrote.

    Args:
        file_name: a path that ends in ``.mindir`` or ``.onnx``.
        **kwargs: ``dec_key`` and ``dec_mode`` are rejected: files are not encrypted.

    Returns:
        an argument for ``nn.GraphCell``.

    Raises:
        ValueError: ``file_name`` is not a str, has the wrong suffix, or the file does not exist.
        RuntimeError: the file is corrupt, or contains an unsupported step.
        TypeError: an unknown argument.
        NotImplementedError: a ``dec_key``.
        ImportError: the package that reads the format is not installed.
    """
    check_key(kwargs.pop("dec_key", None), "dec_key", "load")
    kwargs.pop("dec_mode", None)
    for name in kwargs:
        raise TypeError(f"For 'load', there is no argument '{escape(name)}'")
    if not isinstance(file_name, str):
        raise ValueError(f"For 'load', 'file_name' must be a str, but got {type(file_name).__name__}")
    for form in _FORMATS.values():
        if file_name.endswith(form.suffix):
            break
    else:
        raise ValueError(f"For 'load', 'file_name' must end in '.mindir' or '.onnx', but got '{escape(file_name)}'")
    if "\0" in file_name or not os.path.isfile(file_name):
        raise ValueError(f"For 'load', the file '{escape(file_name)}' does not exist")
    graph: FuncGraph = import_module(f".{form.module}", __package__).read(os.path.realpath(file_name))
    return graph


# Arguments


def _checked_format(file_format: object) -> _Format:
    if file_format == "AIR":
        raise NotImplementedError("For 'export', the format 'AIR' is for Ascend devices: use 'ONNX' or 'MINDIR'")
    if not isinstance(file_format, str) or file_format not in _FORMATS:
        raise ValueError(f"For 'export', 'file_format' must be 'ONNX' or 'MINDIR', but got {file_format!r}")
    return _FORMATS[file_format]


def _checked_name(file_name: object, form: _Format) -> str:
    if not isinstance(file_name, str | os.PathLike) or not isinstance(path := os.fspath(file_name), str):
        raise TypeError(f"For 'export', 'file_name' must be a str, but got {type(file_name).__name__}")
    if not _NAME.fullmatch(path):
        raise ValueError(f"For 'export', 'file_name' must be made of letters, digits and @_-.:/\\, but got {path!r}")
    return os.path.realpath(path if path.endswith(form.suffix) else path + form.suffix)


def _checked_options(kwargs: dict[str, Any], file_format: str) -> dict[str, Any]:
    """Return the options of the writer."""
    options = {name: value for name, value in kwargs.items() if value is not None and value is not False}
    check_key(options.pop("enc_key", None), "enc_key", "export")
    options.pop("enc_mode", None)
    for name, alternative in (
        ("dataset", "preprocess outside the network"),
        ("incremental", "export the whole network"),
    ):
        if name in options:
            raise NotImplementedError(f"For 'export', '{name}' is not covered: {alternative}")
    for name in options:
        if name != "custom_func":
            raise TypeError(f"For 'export', there is no argument '{escape(name)}'")
    if options and file_format != "MINDIR":
        raise ValueError(f"For 'export', 'custom_func' must be left out for {file_format}: it is for MINDIR")
    if options and not callable(options["custom_func"]):
        kind = type(options["custom_func"]).__name__
        raise TypeError(f"For 'export', 'custom_func' must be a function, but got {kind}")
    return options


def _input_names(net: Any, inputs: tuple[Any, ...]) -> list[str]:
    """Return the names of the input tensors: those of the arguments, numbered if one holds several."""
    if isinstance(net, GraphCell) and len(inputs) == len(net.graph.input_names):
        return [
            name
            for parameter_name, x in zip(net.graph.input_names, inputs, strict=True)
            for name in _names_in(parameter_name, x)
        ]
    function = net.construct if isinstance(net, Cell) else net
    try:
        bound = inspect.signature(function).bind(*inputs).arguments
    except TypeError as error:
        raise TypeError(f"For 'export', the inputs do not fit: {error}") from None
    return [name for argument, value in bound.items() for name in _names_in(argument, value)]


def _names_in(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Tensor):
        if isinstance(value, Placeholder):
            raise TypeError(f"For 'export', '{name}' must be a Tensor with values, but got a placeholder")
        yield name
    elif isinstance(value, tuple | list):
        for index, part in enumerate(value):
            yield from _names_in(f"{name}_{index}", part)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _names_in(f"{name}_{key}", part)
    elif value is not None and not isinstance(value, bool | int | float):
        sparse = "; give its parts and make it within the network" if isinstance(value, Sparse) else ""
        raise TypeError(
            f"For 'export', '{name}' must be a Tensor, a number or a tuple, list or dict of them, "
            f"but got {type(value).__name__}{sparse}"
        )


# The run


@contextmanager
def _in_mode(net: Any, predicts: bool) -> Iterator[None]:
    """Set the requested mode of the network inside the block."""
    modes = [(cell, cell.training) for _, cell in net.cells_and_names()] if predicts else []
    try:
        if predicts:
            net.set_train(False)
        yield
    finally:
        for cell, mode in modes:
            if cell.training is not mode:
                cell.set_train(mode)


def _traced(net: Any, inputs: tuple[Any, ...], name: str) -> Graph:
    """Return the graph of a call without changing the network or the random number stream."""
    from ..compile.function import graph_of
    from ..compile.graph import OperatorCall, Value, replace_values, values_in
    from ..compile.guards.inspection import Inspection
    from ..compile.passes.optimization import without_dead_code

    def separate_inputs() -> Any:
        """Return the inputs as separate tensors, including repeated arguments and parameters."""
        return replaced(inputs, [Tensor._wrap(array_module(t._array).array(t._array)) for t in tensors_in(inputs)])

    parameters = list(net.get_parameters()) if isinstance(net, Cell) else []
    saved = [(t, t._array) for t in (*parameters, *Inspection([net]).tensors)]
    position = random.position()

    def restore() -> None:
        random.go_to(position)
        for tensor, array in saved:
            if tensor._array is not array:
                tensor._array = array

    def apart(*args: Any) -> Any:
        """Return the results as separate tensors: a graph may return an input or a view of it."""
        result = net(*args)
        return replaced(result, [deepcopy(t) for t in tensors_in(result)])

    apart.__qualname__ = name
    try:
        with taps.mute_taps():
            net(*separate_inputs())  # imports and compilation on first use are kept out of the trace
        restore()
        graph = graph_of(apart, *separate_inputs())
    finally:
        restore()
    results = set(values_in(graph.result))
    if not results:
        raise ValueError(f"For 'export', '{name}' must return a Tensor, or several, but returned none")
    # In a file a value may be an input and an output, so the copies are removed again.
    copies = {
        node.outputs[0]: node.inputs[0]
        for node in graph.nodes
        if isinstance(node, OperatorCall) and node.operator.name == "deepcopy" and node.outputs[0] in results
    }
    graph.result = replace_values(graph.result, (Value,), lambda value: copies.get(value, value))
    return without_dead_code(graph)
