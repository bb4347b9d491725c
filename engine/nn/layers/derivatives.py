"""Layers of products with a Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd.grad import jvp, vjp
from ..cell import Cell

__all__ = ["Jvp", "Vjp"]


class Jvp(Cell):
    """The output of a function, and its derivative along given directions (the Jacobian times ``v``).

    The call takes the inputs and last ``v``, the directions: a Tensor of the input's shape, or a tuple of one for each
    of several inputs. It returns the pair (output, derivative), both of the output's shape.

    Args:
        fn: the function or cell.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        return jvp(self.fn, inputs[0] if len(inputs) == 1 else tuple(inputs), v)


class Vjp(Cell):
    """The output of a function, and the gradients of its inputs for an output gradient (``v`` times the Jacobian).

    The call takes the inputs and last ``v``, of the output's shape (a tuple for several outputs). It returns the pair
    (output, gradients): one Tensor for one input, a tuple for several.

    Args:
        fn: the function or cell.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__()
        self.fn = fn

    def construct(self, *args: Any) -> Any:
        *inputs, v = args
        out, back = vjp(self.fn, *inputs)
        gradients = back(*v) if isinstance(v, tuple) else back(v)
        return out, gradients[0] if isinstance(gradients, tuple) and len(gradients) == 1 else gradients
