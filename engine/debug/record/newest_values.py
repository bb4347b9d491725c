"""Newest values: the shapes of each cell's output, and the gradient of each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.tensor import Tensor

from .capture import pick_slot

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["NewestValues"]


class NewestValues:
    """Newest outputs and gradients.

    Attributes:
        shapes: the shapes of the tensors in a cell's last output, by path, in the order in which cells first ran.
        gradients: the gradients by the id of the parameter.
        before_update: the parameter's array when its gradient was computed, by the id of the parameter.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.gradients: dict[int, Tensor] = {}
        self.before_update: dict[int, Any] = {}

    def output(self, path: str, output: Any) -> None:
        """Record the output of a cell."""
        self.shapes[path] = (
            (output._array.shape,)
            if isinstance(output, Tensor)
            else tuple([tensor.shape for _, tensor in pick_slot("", output, Tensor)])
        )

    def shape_texts(self) -> dict[str, str]:
        """Return the shapes for display, by path."""
        return {
            path: ", ".join("x".join(map(str, shape)) or "()" for shape in shapes)
            for path, shapes in tuple(self.shapes.items())
        }

    def add_gradients(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Record gradients of parameters."""
        for parameter, gradient in pairs:
            self.gradients[id(parameter)] = Tensor._wrap(gradient._array)
            self.before_update[id(parameter)] = parameter._array

    def set_parameter(self, parameter: Parameter, array: Any) -> None:
        """Record a manual edit of a parameter, which is not an update."""
        if id(parameter) in self.before_update:
            self.before_update[id(parameter)] = array
