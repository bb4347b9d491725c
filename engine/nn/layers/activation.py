"""Activation layers, and their names for ``Dense``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops
from ...base.argument_checks import check_bool, check_number, check_positive_int, check_type
from ...tensors.backend import to_device
from ...tensors.dtype import DType, float32
from ...tensors.initializer import initializer
from ...tensors.parameter import Parameter
from ...tensors.tensor import Tensor
from ..cell import Cell

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "FastGelu",
    "HShrink",
    "HSigmoid",
    "HSwish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "LogSoftmaxExt",
    "Mish",
    "PReLU",
    "PReLUExt",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SeLU",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "get_activation",
]


class ReLU(Cell):
    """max(x, 0), element by element; NaN stays NaN.

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(x)


class ReLU6(Cell):
    """min(max(x, 0), 6) (Krizhevsky 2010).

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu6(x)


class Sigmoid(Cell):
    """1 / (1 + exp(-x)); integers become float32.

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and, if floating, dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.sigmoid(x)


class Tanh(Cell):
    """The hyperbolic tangent; integers become float32.

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and, if floating, dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)


class SiLU(Cell):
    """x * sigmoid(x) (Elfwing et al. 2018).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.silu(x)


class HSigmoid(Cell):
    """min(max((x + 3) / 6, 0), 1) (Howard et al. 2019).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardsigmoid(x)


class HSwish(Cell):
    """x * min(max((x + 3) / 6, 0), 1) (Howard et al. 2019).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardswish(x)


class SeLU(Cell):
    """scale * x where x is positive, scale * alpha * (exp(x) - 1) elsewhere (Klambauer et al. 2017).

    Here alpha = 1.6733 and scale = 1.0507. Takes ``x``, a floating Tensor of any shape, and returns one of the same
    shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.selu(x)


class Softsign(Cell):
    """x / (1 + |x|).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.softsign(x)


class Softplus(Cell):
    """log(1 + exp(x)); x itself where it is above 20.

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.softplus(x)


class Tanhshrink(Cell):
    """x - tanh(x).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanhshrink(x)


class LogSigmoid(Cell):
    """log(sigmoid(x)), computed without overflow.

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.logsigmoid(x)


class Mish(Cell):
    """x * tanh(log(1 + exp(x))) (Misra 2019).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.mish(x)


class FastGelu(Cell):
    """x * sigmoid(1.702 * x), an approximation of ``GELU`` (Hendrycks and Gimpel 2016).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.
    """

    def construct(self, x: Tensor) -> Tensor:
        return ops.fast_gelu(x)


class GELU(Cell):
    """The Gaussian error linear unit x * P(X <= x), X standard normal (Hendrycks and Gimpel 2016).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        approximate: whether to compute 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))), the default as in
            MindSpore; False computes it exactly, with erf.

    Raises:
        TypeError: ``approximate`` is not a bool.
    """

    def __init__(self, approximate: bool = True) -> None:
        super().__init__()
        self.approximate = check_bool(approximate, "GELU", "approximate")

    def construct(self, x: Tensor) -> Tensor:
        return ops.gelu(x, "tanh" if self.approximate else "none")


class LeakyReLU(Cell):
    """x where it is positive, alpha * x elsewhere.

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        alpha: the slope below 0.

    Raises:
        TypeError: ``alpha`` is not a number.
    """

    def __init__(self, alpha: float = 0.2) -> None:
        super().__init__()
        self.alpha = check_number(alpha, "LeakyReLU", "alpha")

    def construct(self, x: Tensor) -> Tensor:
        return ops.leaky_relu(x, self.alpha)


class ELU(Cell):
    """x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2016).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        alpha: minus the limit for x towards minus infinity.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.elu(x, self.alpha)


class CELU(Cell):
    """max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) (Barron 2017).

    Takes ``x``, a floating Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        alpha: minus the limit for x towards minus infinity; not 0, for which the call raises ValueError.
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self.alpha = alpha

    def construct(self, x: Tensor) -> Tensor:
        return ops.celu(x, self.alpha)


class HShrink(Cell):
    """x where |x| is above ``lambd``, 0 elsewhere.

    Takes ``input``, a Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        lambd: half the width of the interval around 0 that becomes 0.

    Raises:
        TypeError: ``lambd`` is not a number.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        check_type(lambd, int | float, "HShrink", "lambd", "a number")  # MindSpore takes a bool too
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return ops.hardshrink(input, self.lambd)


class SoftShrink(Cell):
    """x - lambd where x is above ``lambd``, x + lambd where it is below -lambd, 0 between.

    Takes ``input``, a Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        lambd: the distance by which values move towards 0.

    Raises:
        TypeError: ``lambd`` is not a number.
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        check_type(lambd, int | float, "SoftShrink", "lambd", "a number")  # MindSpore takes a bool too
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return ops.softshrink(input, self.lambd)


class Hardtanh(Cell):
    """min(max(x, min_val), max_val).

    Takes ``x``, a Tensor of any shape, and returns one of the same shape and dtype.

    Args:
        min_val: the least value of the output, an int or a float.
        max_val: the largest value of the output, an int or a float.

    Raises:
        ValueError: ``min_val`` is above ``max_val``.
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0) -> None:
        super().__init__()
        for argument, limit in (("min_val", min_val), ("max_val", max_val)):
            check_number(limit, "Hardtanh", argument)
        if min_val > max_val:
            raise ValueError(f"For 'Hardtanh', 'min_val' must not be above 'max_val', but got {min_val} and {max_val}")
        self.min_val, self.max_val = min_val, max_val

    def construct(self, x: Tensor) -> Tensor:
        return ops.hardtanh(x, self.min_val, self.max_val)


class Threshold(Cell):
    """x where it is above ``threshold``, ``value`` elsewhere.

    Takes ``input_x``, a Tensor of any shape, and returns one of the same shape.

    Args:
        threshold: the number that x is compared with; the call raises TypeError for anything else.
        value: replaces elements that are not above ``threshold``.
    """

    def __init__(self, threshold: float, value: float) -> None:
        super().__init__()
        self.threshold, self.value = threshold, value

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.threshold(input_x, self.threshold, self.value)


class RReLU(Cell):
    """x where it is positive, elsewhere x times a slope drawn for each element (Xu et al. 2015).

    Slopes are drawn both in training and in predict mode, as in MindSpore. Takes ``x``, a floating Tensor of any
    shape, and returns one of the same shape and dtype.

    Args:
        lower: the least slope.
        upper: the largest slope; slopes are uniform in between.

    Raises:
        TypeError: a bound is not a number.
        ValueError: ``lower`` is above ``upper``.
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> None:
        super().__init__()
        for argument, value in (("lower", lower), ("upper", upper)):
            check_number(value, "RReLU", argument)
        if lower > upper:
            raise ValueError(f"For 'RReLU', 'lower' must not be above 'upper', but got {lower} and {upper}")
        self.lower, self.upper = lower, upper

    def construct(self, x: Tensor) -> Tensor:
        return ops.rrelu(x, self.lower, self.upper)


class PReLU(Cell):
    """x where it is positive, w * x elsewhere, with a trained ``w`` (He et al. 2015).

    Takes ``x``, a floating Tensor with the channels on axis 1, and returns one of the same shape and dtype.

    Args:
        channel: the number of slopes in ``w``: 1 for all channels, or the number of channels.
        w: the initial value of the parameter: a number for every channel, a list of ``channel`` numbers, or a Tensor
            (channel,).

    Raises:
        TypeError: ``channel`` is not an int, or ``w`` is none of these.
        ValueError: ``channel`` is not above 0, or ``w`` has the wrong number of entries.
    """

    def __init__(self, channel: int = 1, w: float | Sequence[float] | Tensor = 0.25) -> None:
        super().__init__()
        check_positive_int(channel, "PReLU", "channel")
        if isinstance(w, Tensor):
            initial = w
        elif isinstance(w, int | float | list | np.generic) and not isinstance(w, bool):
            values = np.broadcast_to(np.asarray(w, np.float32), (channel,) if not isinstance(w, list) else (len(w),))
            initial = Tensor._wrap(to_device(values.copy()))
        else:
            raise TypeError(f"For 'PReLU', 'w' must be a number, a list or a Tensor, but got {type(w).__name__}")
        if initial.shape != (channel,):
            raise ValueError(f"For 'PReLU', 'w' must have {channel} numbers, but got shape {initial.shape}")
        self.w = Parameter(initial, "a")

    def construct(self, x: Tensor) -> Tensor:
        return ops.prelu(x, self.w)


class PReLUExt(Cell):
    """``PReLU`` with PyTorch's arguments; its parameter is ``weight``.

    Takes ``input``, a floating Tensor with the channels on axis 1, and returns one of the same shape and dtype.

    Args:
        num_parameters: the number of slopes: 1, or the number of channels.
        init: the initial value of every slope.
        dtype: element type of the parameter; None is float32.
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: DType | None = None) -> None:
        super().__init__()
        self.weight = Parameter(initializer(init, (num_parameters,), dtype or float32), "weight")

    def construct(self, input: Tensor) -> Tensor:
        return ops.prelu(input, self.weight)


class GLU(Cell):
    """a * sigmoid(b), where a and b are the two halves of x along ``axis`` (Dauphin et al. 2017).

    Takes ``x`` and returns a Tensor whose ``axis`` is half as long.

    Args:
        axis: the axis that is split; if its length is odd, the call raises ValueError.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.glu(x, self.axis)


class Softmax(Cell):
    """exp(x) / sum(exp(x)) along ``axis``, computed without overflow.

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.

    Args:
        axis: the axis along which the results add up to 1: an int, or a tuple or list of one.

    Raises:
        TypeError: ``axis`` is neither an int nor a tuple or list.
        ValueError: ``axis`` does not have exactly one entry.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        _check_axis(axis, "Softmax")
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmax(x, self.axis)


class Softmax2d(Cell):
    """``Softmax`` over the channels.

    Takes ``x`` (N, C, H, W) or (C, H, W) and returns a Tensor of the same shape and dtype; at each pixel the channels
    add up to 1. The call raises ValueError for the wrong number of axes.
    """

    def construct(self, x: Tensor) -> Tensor:
        if x.ndim not in (3, 4):
            raise ValueError(f"For 'Softmax2d', the input must have 3 or 4 axes, but got shape {x.shape}")
        return ops.softmax(x, -3)


class Softmin(Cell):
    """exp(-x) / sum(exp(-x)) along ``axis``.

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.

    Args:
        axis: the axis along which the results add up to 1.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.softmin(x, self.axis)


class LogSoftmax(Cell):
    """log(softmax(x)) along ``axis``, computed without overflow.

    Takes ``x``, a floating Tensor, and returns one of the same shape and dtype.

    Args:
        axis: the axis along which the probabilities add up to 1: an int, or a tuple or list of one.

    Raises:
        TypeError: ``axis`` is neither an int nor a tuple or list.
        ValueError: ``axis`` does not have exactly one entry.
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        _check_axis(axis, "LogSoftmax")
        self.axis = axis

    def construct(self, x: Tensor) -> Tensor:
        return ops.log_softmax(x, self.axis)


class LogSoftmaxExt(Cell):
    """``LogSoftmax`` with PyTorch's argument.

    Takes ``input``, a floating Tensor, and returns one of the same shape and dtype.

    Args:
        dim: the axis along which the probabilities add up to 1; None is axis 0 for an input with 0, 1 or 3 axes, else
            1.
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, x: Tensor) -> Tensor:
        ndim = check_type(x, Tensor, "LogSoftmaxExt", "x").ndim
        dim = (0 if ndim in (0, 1, 3) else 1) if self.dim is None else self.dim
        return ops.log_softmax(x, dim)


def _check_axis(value: object, layer: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | tuple | list):
        raise TypeError(f"For '{layer}', 'axis' must be an int, but got {type(value).__name__}")
    if not isinstance(value, int) and len(value) != 1:
        raise ValueError(f"For '{layer}', 'axis' must be one axis, but got {value!r}")


_LAYERS: tuple[type[Cell], ...] = (
    Softmax,
    Softmax2d,
    Softmin,
    LogSoftmax,
    ReLU,
    ReLU6,
    RReLU,
    SiLU,
    Tanh,
    GELU,
    ELU,
    Sigmoid,
    Softsign,
    PReLU,
    LeakyReLU,
    HSwish,
    HSigmoid,
    LogSigmoid,
    SoftShrink,
    HShrink,
    Tanhshrink,
    Hardtanh,
    Mish,
    Threshold,
    Softplus,
)
_BY_NAME: dict[str, type[Cell]] = {layer.__name__.lower(): layer for layer in _LAYERS} | {
    "fast_gelu": FastGelu,
    "logsoftmaxExt": LogSoftmaxExt,
    "preluExt": PReLUExt,
}


def get_activation(name: Callable[..., Any] | str | None, prim_name: str | None = None) -> Any:
    """Return an activation layer by its name, with its default arguments.

    Args:
        name: a name such as "relu", "leakyrelu" or "softmax"; a cell or another callable, which is returned;
            or None.
        prim_name: accepted as in MindSpore, without effect.

    Returns:
        A new cell, the argument itself, or None for None.

    Raises:
        KeyError: an unknown name; the text lists the known ones.
        TypeError: ``name`` is neither a str, a callable nor None, or is the name of a layer that needs arguments
            ("threshold").
    """
    if name is None:
        return None
    if isinstance(name, str):
        if name not in _BY_NAME:
            raise KeyError(f"'activation' must be one of {sorted(_BY_NAME)}, but got {name!r}")
        return _BY_NAME[name]()
    if not callable(name) or isinstance(name, type):
        raise TypeError(f"'activation' must be a Cell or the name of one, but got {type(name).__name__}")
    return name
