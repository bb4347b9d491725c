"""The newest of what passed: the shapes of each cell's output, and the gradient of each parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookscope.engine.tensors.tensor import Tensor

from .capture import pick_slot

if TYPE_CHECKING:
    from hookscope.engine.tensors.parameter import Parameter

__all__ = ["Newest"]


class Newest:
    """Told of outputs and of gradients, it knows the last of each.

    Attributes:
        shapes: of the tensors in a cell's last output, by the cell's path, in the order in which cells first ran.
        gradients: by the id of the parameter.
        before_update: what the parameter was when that gradient came, by the same.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[tuple[int, ...], ...]] = {}
        self.gradients: dict[int, Tensor] = {}
        self.before_update: dict[int, Any] = {}

    def output(self, path: str, output: Any) -> None:
        """A cell has computed."""
        self.shapes[path] = (
            (output._array.shape,)
            if isinstance(output, Tensor)
            else tuple([t.shape for _, t in pick_slot("", output, Tensor)])
        )

    def shape_texts(self) -> dict[str, str]:
        """The shapes as people read them, by the cell's path."""
        return {
            path: ", ".join("x".join(map(str, shape)) or "()" for shape in shapes)
            for path, shapes in tuple(self.shapes.items())
        }

    def came(self, pairs: list[tuple[Parameter, Tensor]]) -> None:
        """Gradients of parameters came."""
        for parameter, gradient in pairs:
            self.gradients[id(parameter)] = Tensor._wrap(gradient._array)
            self.before_update[id(parameter)] = parameter._array

    def edited(self, parameter: Parameter, array: Any) -> None:
        """A person puts another array into a parameter: that is no update."""
        if id(parameter) in self.before_update:
            self.before_update[id(parameter)] = array
