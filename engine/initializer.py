"""Initialisers: how a parameter gets its first values (``mindspore.common.initializer``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import random
from .backend import to_device
from .dtype import DType, float32, numpy_dtype
from .tensor import Tensor

__all__ = [
    "Constant", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal", "TruncatedNormal",
    "Uniform", "XavierNormal", "XavierUniform", "Zero", "initializer",
]  # fmt: skip

Array = np.ndarray[Any, Any]


class Initializer:
    """Base of every initialiser: ``values(shape)`` gives float32 or float64 numbers."""

    def values(self, shape: tuple[int, ...]) -> Array:
        """The first values for a parameter of this shape."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'values'")


class Constant(Initializer):
    """Every element is ``value``."""

    def __init__(self, value: float) -> None:
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Array:
        return np.full(shape, self.value)


class Zero(Constant):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__(0)


class One(Constant):
    """Ones."""

    def __init__(self) -> None:
        super().__init__(1)


class Identity(Initializer):
    """The identity matrix; only for two axes."""

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) != 2:
            raise ValueError(f"For 'Identity', the shape must have 2 axes, but got {shape}")
        return np.eye(*shape)


class Normal(Initializer):
    """The normal distribution with deviation ``sigma`` around ``mean``."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        self.sigma, self.mean = sigma, mean

    def values(self, shape: tuple[int, ...]) -> Array:
        return random.normal(shape) * np.float32(self.sigma) + np.float32(self.mean)


class TruncatedNormal(Initializer):
    """The normal distribution, with what falls outside ``mean + sigma * [a, b]`` drawn again."""

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        if a >= b:
            raise ValueError(f"For 'TruncatedNormal', 'a' must be below 'b', but got a={a}, b={b}")
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def values(self, shape: tuple[int, ...]) -> Array:
        drawn = random.normal(shape).reshape(-1)
        outside = np.flatnonzero((drawn < self.a) | (drawn > self.b))
        while outside.size:
            drawn[outside] = random.normal((outside.size,))
            outside = outside[(drawn[outside] < self.a) | (drawn[outside] > self.b)]
        return drawn.reshape(shape) * np.float32(self.sigma) + np.float32(self.mean)


class Uniform(Initializer):
    """Evenly spread over [-scale, scale)."""

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def values(self, shape: tuple[int, ...]) -> Array:
        return (random.uniform(shape) * 2 - 1) * np.float32(self.scale)


class XavierUniform(Initializer):
    """Glorot and Bengio 2010: uniform with bound gain * sqrt(6 / (fan_in + fan_out))."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = _fans(shape, "XavierUniform")
        return Uniform(self.gain * math.sqrt(6.0 / (fan_in + fan_out))).values(shape)


class XavierNormal(Initializer):
    """Glorot and Bengio 2010: normal with deviation gain * sqrt(2 / (fan_in + fan_out))."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = _fans(shape, "XavierNormal")
        return Normal(self.gain * math.sqrt(2.0 / (fan_in + fan_out))).values(shape)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"For '{type(self).__name__}', 'mode' must be 'fan_in' or 'fan_out', but got {mode!r}")
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._gain = _gain(nonlinearity, negative_slope)

    def deviation(self, shape: tuple[int, ...]) -> float:
        """He et al. 2015: gain / sqrt(fan)."""
        fan_in, fan_out = _fans(shape, type(self).__name__)
        return self._gain / math.sqrt(fan_in if self.mode == "fan_in" else fan_out)


class HeUniform(_He):
    """He et al. 2015: uniform with the deviation gain / sqrt(fan)."""

    def values(self, shape: tuple[int, ...]) -> Array:
        return Uniform(math.sqrt(3.0) * self.deviation(shape)).values(shape)


class HeNormal(_He):
    """He et al. 2015: normal with the deviation gain / sqrt(fan)."""

    def values(self, shape: tuple[int, ...]) -> Array:
        return Normal(self.deviation(shape)).values(shape)


class Orthogonal(Initializer):
    """Saxe et al. 2014: rows or columns orthogonal, from the QR decomposition of a normal matrix."""

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) < 2:
            raise ValueError(f"For 'Orthogonal', the shape must have at least 2 axes, but got {shape}")
        rows, columns = shape[0], int(np.prod(shape[1:]))
        flat = random.normal((max(rows, columns), min(rows, columns)))
        q, r = np.linalg.qr(flat)
        q = q * np.sign(np.diag(r))
        return (q.T if rows < columns else q).reshape(shape) * self.gain


_GAINS = {
    "sigmoid": 1.0,
    "linear": 1.0,
    "conv1d": 1.0,
    "conv2d": 1.0,
    "conv3d": 1.0,
    "tanh": 5.0 / 3.0,
    "relu": math.sqrt(2.0),
}


def _gain(nonlinearity: str, negative_slope: float) -> float:
    """The factor that keeps the variance through a nonlinearity (He et al. 2015, section 2.2)."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + negative_slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"'nonlinearity' must be 'leaky_relu' or one of {sorted(_GAINS)}, but got {nonlinearity!r}")
    return _GAINS[nonlinearity]


def _fans(shape: tuple[int, ...], who: str) -> tuple[int, int]:
    """How many inputs an output unit sees and the other way round, for (out, in, *kernel) weights."""
    if len(shape) < 2:
        raise ValueError(f"For '{who}', the shape must have at least 2 axes to have fans, but got {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


_ALIASES: dict[str, type[Initializer]] = {
    "zero": Zero,
    "zeros": Zero,
    "one": One,
    "ones": One,
    "normal": Normal,
    "truncatednormal": TruncatedNormal,
    "truncated_normal": TruncatedNormal,
    "uniform": Uniform,
    "xavieruniform": XavierUniform,
    "xavier_uniform": XavierUniform,
    "xaviernormal": XavierNormal,
    "xavier_normal": XavierNormal,
    "heuniform": HeUniform,
    "he_uniform": HeUniform,
    "henormal": HeNormal,
    "he_normal": HeNormal,
    "orthogonal": Orthogonal,
    "identity": Identity,
}


def initializer(init: Any, shape: int | Sequence[int] | None = None, dtype: DType = float32) -> Tensor:
    """A tensor with first values.

    Args:
        init: an initialiser, its name ("normal", "zeros", "he_uniform", ...), a number, or a tensor.
        shape: the shape; that of ``init`` if it is a tensor.
        dtype: the element type.

    Raises:
        ValueError: an unknown name, a negative axis, or a tensor of another shape.
        TypeError: ``init`` is nothing of these.
    """
    if isinstance(shape, int):
        shape = (shape,)
    wanted = None if shape is None else tuple(int(n) for n in shape)
    if isinstance(init, Tensor):
        if wanted is not None and wanted != init.shape:
            raise ValueError(f"For 'initializer', 'shape' {wanted} is not the shape {init.shape} of the tensor 'init'")
        return Tensor(init, dtype)
    if wanted is None or any(n < 0 for n in wanted):
        raise ValueError(f"For 'initializer', 'shape' must be axes that are not negative, but got {shape}")
    if isinstance(init, str):
        named = _ALIASES.get(init.lower())
        if named is None:
            raise ValueError(f"For 'initializer', 'init' must be one of {sorted(_ALIASES)}, but got {init!r}")
        init = named()
    elif isinstance(init, int | float) and not isinstance(init, bool):
        init = Constant(init)
    if not isinstance(init, Initializer):
        raise TypeError(
            f"For 'initializer', 'init' must be an Initializer, a name, a number or a Tensor, "
            f"but got {type(init).__name__}"
        )
    return Tensor._wrap(to_device(init.values(wanted).astype(numpy_dtype(dtype))))
