"""Activation layers, and their names as ``Dense`` takes them."""

from __future__ import annotations

from typing import Any

from .. import ops
from ..tensor import Tensor
from .cell import Cell

__all__ = [
    "ELU", "GELU", "HSigmoid", "HSwish", "LeakyReLU", "LogSoftmax", "ReLU", "ReLU6", "SiLU", "Sigmoid", "Softmax",
    "Softplus", "Tanh", "get_activation",
]  # fmt: skip


class ReLU(Cell):
    """max(x, 0)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class Sigmoid(Cell):
    """1 / (1 + exp(-x))."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)  # type: ignore[no-any-return]


class Tanh(Cell):
    """The hyperbolic tangent."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)  # type: ignore[no-any-return]


class SiLU(Cell):
    """x * sigmoid(x)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)  # type: ignore[no-any-return]


class GELU(Cell):
    """The Gaussian error linear unit, in its tanh form by default as in MindSpore."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, "tanh" if self.approximate else "none")


class LeakyReLU(Cell):
    """x where it is positive, alpha * x elsewhere."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class ELU(Cell):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


class HSigmoid(Cell):
    """min(max((x + 3) / 6, 0), 1)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardsigmoid(x)


class HSwish(Cell):
    """x * hsigmoid(x)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardswish(x)


class Softplus(Cell):
    """log(1 + exp(x))."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.softplus(x)


class Softmax(Cell):
    """exp(x) / sum(exp(x)) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.axis)


class LogSoftmax(Cell):
    """log(softmax(x)) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.axis)


_BY_NAME: dict[str, type[Cell]] = {
    "softmax": Softmax,
    "logsoftmax": LogSoftmax,
    "relu": ReLU,
    "relu6": ReLU6,
    "tanh": Tanh,
    "gelu": GELU,
    "elu": ELU,
    "sigmoid": Sigmoid,
    "silu": SiLU,
    "leakyrelu": LeakyReLU,
    "hswish": HSwish,
    "hsigmoid": HSigmoid,
    "softplus": Softplus,
}


def get_activation(name: Any, prim_name: str | None = None) -> Any:
    """An activation layer by its name; None and cells are returned as they are.

    Raises:
        KeyError: an unknown name.
        TypeError: neither a name, a callable nor None.
    """
    if name is None:
        return None
    if isinstance(name, str):
        if name not in _BY_NAME:
            raise KeyError(f"'activation' must be one of {sorted(_BY_NAME)}, but got {name!r}")
        return _BY_NAME[name]()
    if not callable(name):
        raise TypeError(f"'activation' must be a Cell or the name of one, but got {type(name).__name__}")
    return name
