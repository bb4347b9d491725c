"""Activation layers, and their names as ``Dense`` takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ops
from ..core.backend import to_device
from ..core.dtype import DType, float32
from ..core.initializer import initializer
from ..core.parameter import Parameter
from ..core.tensor import Tensor
from ._checks import check_positive_int
from .cell import Cell

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "FastGelu", "HShrink", "HSigmoid", "HSwish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "LogSoftmaxExt", "Mish", "PReLU", "PReLUExt", "RReLU", "ReLU", "ReLU6", "SeLU", "SiLU", "Sigmoid",
    "SoftShrink", "Softmax", "Softmax2d", "Softmin", "Softplus", "Softsign", "Tanh", "Tanhshrink", "Threshold",
    "get_activation",
]  # fmt: skip


class ReLU(Cell):
    """max(x, 0)."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


def _plain(name: str, function: Any, doc: str) -> Any:
    """A layer without arguments: the name, the function it calls, what it computes."""

    def construct(self: Cell, x: Tensor) -> Tensor:
        return function(x)

    return type(name, (Cell,), {"__doc__": doc, "__module__": __name__, "construct": construct})


ReLU6 = _plain("ReLU6", ops.relu6, "min(max(x, 0), 6).")
Sigmoid = _plain("Sigmoid", ops.sigmoid, "1 / (1 + exp(-x)).")
Tanh = _plain("Tanh", ops.tanh, "The hyperbolic tangent.")
SiLU = _plain("SiLU", ops.silu, "x * sigmoid(x).")
HSigmoid = _plain("HSigmoid", ops.hardsigmoid, "min(max((x + 3) / 6, 0), 1).")
HSwish = _plain("HSwish", ops.hardswish, "x * hsigmoid(x).")
SeLU = _plain("SeLU", ops.selu, "scale * elu(x, alpha) (Klambauer et al. 2017).")
Softsign = _plain("Softsign", ops.softsign, "x / (1 + |x|).")
Softplus = _plain("Softplus", ops.softplus, "log(1 + exp(x)).")
Tanhshrink = _plain("Tanhshrink", ops.tanhshrink, "x - tanh(x).")
LogSigmoid = _plain("LogSigmoid", ops.logsigmoid, "log(sigmoid(x)).")
Mish = _plain("Mish", ops.mish, "x * tanh(softplus(x)).")
FastGelu = _plain("FastGelu", ops.fast_gelu, "x * sigmoid(1.702 * x).")


class GELU(Cell):
    """The Gaussian error linear unit, in its tanh form by default as in MindSpore."""

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        if not isinstance(approximate, bool):
            raise TypeError(f"For 'GELU', 'approximate' must be a bool, but got {type(approximate).__name__}")
        self.approximate = approximate

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, "tanh" if self.approximate else "none")


class LeakyReLU(Cell):
    """x where it is positive, alpha * x elsewhere."""

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        _check_number(alpha, "LeakyReLU", "alpha")
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


class CELU(Cell):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1))."""

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class HShrink(Cell):
    """x where |x| is above ``lambd``, 0 elsewhere."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class SoftShrink(Cell):
    """x moved towards 0 by ``lambd``, and 0 where it is nearer than that."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return ops.softshrink(input, self.lambd)


class Hardtanh(Cell):
    """min(max(x, min_val), max_val)."""

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        if min_val > max_val:
            raise ValueError(f"For 'Hardtanh', 'min_val' must not be above 'max_val', but got {min_val} and {max_val}")
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """x where it is above ``threshold``, ``value`` elsewhere."""

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.threshold(input_x, self.threshold, self.value)


class RReLU(Cell):
    """x where it is positive, elsewhere x times a slope drawn for each element, as in MindSpore in both modes."""

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        for argument, value in (("lower", lower), ("upper", upper)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise TypeError(f"For 'RReLU', '{argument}' must be a number, but got {type(value).__name__}")
        if lower > upper:
            raise ValueError(f"For 'RReLU', 'lower' must not be above 'upper', but got {lower} and {upper}")
        self.lower, self.upper = lower, upper

    def construct(self, x: Tensor) -> Tensor:
        return ops.rrelu(x, self.lower, self.upper)


class PReLU(Cell):
    """x where it is positive, a * x elsewhere, with a trained ``a`` for all or for each channel.

    Args:
        channel: 1, or the number of channels.
        w: the first value of ``a``: a number, a list of them or a Tensor.
    """

    def __init__(self, channel: int = 1, w: Any = 0.25) -> None:
        super().__init__()
        check_positive_int(channel, "PReLU", "channel")
        if isinstance(w, Tensor):
            first = w
        elif isinstance(w, int | float | list | np.generic) and not isinstance(w, bool):
            values = np.broadcast_to(np.asarray(w, np.float32), (channel,) if not isinstance(w, list) else (len(w),))
            first = Tensor._wrap(to_device(values.copy()))
        else:
            raise TypeError(f"For 'PReLU', 'w' must be a number, a list or a Tensor, but got {type(w).__name__}")
        if first.shape != (channel,):
            raise ValueError(f"For 'PReLU', 'w' must have {channel} numbers, but got shape {first.shape}")
        self.w = Parameter(first, "a")

    def construct(self, x: Tensor) -> Tensor:
        return ops.prelu(x, self.w)


class PReLUExt(Cell):
    """``PReLU`` with PyTorch's arguments."""

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: DType | None = None) -> None:
        super().__init__()
        self.weight = Parameter(initializer(init, (num_parameters,), dtype or float32), "weight")

    def construct(self, input: Tensor) -> Tensor:
        return ops.prelu(input, self.weight)


class GLU(Cell):
    """The first half along ``axis`` times the sigmoid of the second."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.axis)


class Softmax(Cell):
    """exp(x) / sum(exp(x)) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        _check_axis(axis, "Softmax")
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.axis)


class Softmax2d(Cell):
    """``Softmax`` over the channels of (N, C, H, W) or (C, H, W)."""

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ValueError(f"For 'Softmax2d', the input must have 3 or 4 axes, but got shape {x.shape}")
        return ops.softmax(x, -3)


class Softmin(Cell):
    """``Softmax`` of -x."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmin(x, self.axis)


class LogSoftmax(Cell):
    """log(softmax(x)) along ``axis``."""

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        _check_axis(axis, "LogSoftmax")
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.axis)


class LogSoftmaxExt(Cell):
    """``LogSoftmax`` with PyTorch's argument; without it the axis is 0 for 0, 1 and 3 axes, else 1."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        dim = (0 if x.ndim in (0, 1, 3) else 1) if self.dim is None else self.dim
        return ops.log_softmax(x, dim)


def _check_number(value: Any, layer: str, argument: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"For '{layer}', '{argument}' must be a number, but got {type(value).__name__}")


def _check_axis(value: Any, layer: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | tuple | list):
        raise TypeError(f"For '{layer}', 'axis' must be an int, but got {type(value).__name__}")


_BY_NAME: dict[str, type[Cell]] = {
    "softmax": Softmax, "softmax2d": Softmax2d, "softmin": Softmin, "logsoftmax": LogSoftmax,
    "logsoftmaxExt": LogSoftmaxExt, "relu": ReLU, "relu6": ReLU6, "rrelu": RReLU, "silu": SiLU, "tanh": Tanh,
    "gelu": GELU, "fast_gelu": FastGelu, "elu": ELU, "sigmoid": Sigmoid, "softsign": Softsign, "prelu": PReLU,
    "preluExt": PReLUExt, "leakyrelu": LeakyReLU, "hswish": HSwish, "hsigmoid": HSigmoid, "logsigmoid": LogSigmoid,
    "softshrink": SoftShrink, "hshrink": HShrink, "tanhshrink": Tanhshrink, "hardtanh": Hardtanh, "mish": Mish,
    "threshold": Threshold, "softplus": Softplus,
}  # fmt: skip


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
