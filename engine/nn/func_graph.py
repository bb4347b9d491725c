"""A graph read from a file: its inputs, parameters and computation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..base.quoting import escape
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor

__all__ = ["FuncGraph"]


@dataclass(eq=False)
class FuncGraph:
    """Result of ``load`` and argument of ``nn.GraphCell``.

    Args:
        name: the graph's name in its file.
        input_names: the names of its inputs, in order.
        parameters: the parameters by name.
        run: called with the parameters by name and the inputs, which are tensors; returns a tensor or a tuple of them.
    """

    name: str
    input_names: list[str]
    parameters: dict[str, Parameter]
    run: Callable[[Mapping[str, Tensor], tuple[Tensor, ...]], Any]

    def __call__(self, *inputs: Tensor) -> Any:
        """Compute the graph.

        Args:
            *inputs: one tensor for each of ``input_names``.

        Returns:
            a tensor, or a tuple of them.

        Raises:
            RuntimeError: the wrong number of inputs, as in MindSpore.
            TypeError: an input is not a Tensor.
        """
        if len(inputs) != len(self.input_names):
            names = ", ".join(map(escape, self.input_names))
            raise RuntimeError(
                f"the graph '{self.name}' takes {len(self.input_names)} inputs ({names}), but got {len(inputs)}"
            )
        for name, x in zip(self.input_names, inputs, strict=True):
            if not isinstance(x, Tensor):
                got = type(x).__name__
                raise TypeError(f"For the graph '{self.name}', '{escape(name)}' must be a Tensor, but got {got}")
        return self.run(self.parameters, inputs)
