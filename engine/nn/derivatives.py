"""Layers of products with a Jacobian."""

from __future__ import annotations

from typing import Any

from ..core.grad import jvp, vjp
from .cell import Cell

__all__ = ["Jvp", "Vjp"]


class Jvp(Cell):
    """The output of a function and its derivative along given directions: ``(*inputs, v)``."""

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        return jvp(self.fn, inputs[0] if len(inputs) == 1 else tuple(inputs), v)


class Vjp(Cell):
    """The output of a function and the gradients for a gradient that arrives: ``(*inputs, v)``."""

    def __init__(self, fn: Any) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        out, back = vjp(self.fn, *inputs)
        found = back(*v) if isinstance(v, tuple) else back(v)
        return out, found[0] if isinstance(found, tuple) and len(found) == 1 else found
