"""The cell around a graph that was read from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..base.argument_checks import check_type
from ..base.quoting import escape
from ..tensors.tensor import Tensor
from .cell import Cell
from .func_graph import FuncGraph

__all__ = ["GraphCell"]


class GraphCell(Cell):
    """A graph that ``load`` read, as a cell: its parameters are the cell's, and a call computes it.

    Takes the inputs of the exported network; returns a tensor, or a tuple of them. Operators like those of any other
    cell compute it, so gradients, hooks and breakpoints on operators work.

    Args:
        graph: the result of ``load``.
        params_init: new values for parameters, by name; names that the graph does not have are ignored.
        obf_random_seed: must be None: obfuscated graphs are not supported.

    Raises:
        TypeError: ``graph`` is not a FuncGraph, or ``params_init`` is not a dictionary of names and tensors.
        ValueError: a value has a different shape or dtype than its parameter.
        NotImplementedError: an ``obf_random_seed``.
    """

    def __init__(
        self, graph: FuncGraph, params_init: Mapping[str, Tensor] | None = None, obf_random_seed: int | None = None
    ) -> None:
        super().__init__()
        if obf_random_seed is not None:
            raise NotImplementedError("For 'GraphCell', 'obf_random_seed' is not covered: export the network as it is")
        check_type(graph, FuncGraph, "GraphCell", "graph", "a result of load()")
        check_type(params_init, dict | None, "GraphCell", "params_init", "a dict")
        self.graph = graph
        values = params_init or {}
        for name, value in values.items():
            check_type(name, str, "GraphCell", "params_init", "a dict whose keys are str")
            check_type(value, Tensor, "GraphCell", "params_init", "a dict whose values are Tensors or Parameters")
            target = graph.parameters.get(name)
            if target is not None and (target.shape != value.shape or target.dtype != value.dtype):
                raise ValueError(
                    f"For 'GraphCell', 'params_init' must have for '{escape(name)}' a {target.dtype} of shape "
                    f"{target.shape}, but got a {value.dtype} of shape {value.shape}"
                )
        for name, parameter in graph.parameters.items():
            if name in values:
                parameter.set_data(values[name])
            attribute = name
            while hasattr(self, attribute):  # a parameter of a file may be named "construct"
                attribute += "_"
            self.insert_param_to_cell(attribute, parameter, check_name_contain_dot=False)

    def construct(self, *inputs: Any) -> Any:
        return self.graph(*inputs)
