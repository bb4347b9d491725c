"""Initializers of parameters (``mindspore.common.initializer``)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from ..base.argument_checks import check_above_zero, check_int, check_one_of, check_type
from ..base.module_names import name_methods
from ..base.types import DTypeLike
from . import random
from .backend import to_device
from .dtype import float32, numpy_dtype
from .tensor import Tensor

__all__ = [
    "Constant",
    "Dirac",
    "HeNormal",
    "HeUniform",
    "Identity",
    "Initializer",
    "Normal",
    "One",
    "Orthogonal",
    "Sparse",
    "TruncatedNormal",
    "Uniform",
    "VarianceScaling",
    "XavierNormal",
    "XavierUniform",
    "Zero",
    "initializer",
]

Array = np.ndarray[Any, Any]


class Initializer:
    """Base of every initializer: a user's subclass defines ``_initialize(arr)``, which fills an array.

    Args:
        **kwargs: stored as ``_kwargs``, otherwise unused.
    """

    _seed: int | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    @property
    def seed(self) -> tuple[int, int]:
        """Two numbers that determine the random numbers; after setting an int, the values of a shape are reproducible.

        Without one they come from the engine's stream (``set_seed``). None removes the seed.
        """
        if self._seed is not None:
            return self._seed + 1, 0
        return (random.get_seed() or 0,) * 2

    @seed.setter
    def seed(self, value: int | None) -> None:
        self._seed = None if value is None else check_int(value, type(self).__name__, "seed")

    def _drawn(self, shape: tuple[int, ...]) -> Array:
        """Return ``values``, drawn with its own seed if there is one."""
        if self._seed is None:
            return self.values(shape)
        position = random.position()
        random.go_to((self._seed, 0))
        try:
            return self.values(shape)
        finally:
            random.go_to(position)

    def __call__(self, arr: Array) -> Any:
        """Fill an array with initial values.

        Args:
            arr: a ``numpy.ndarray``, which is written to.

        Returns:
            the result of ``_initialize``, None for the built-in initializers.

        Raises:
            NotImplementedError: the subclass does not define it.
            ValueError: the initializer has no values for this shape.
        """
        return self._initialize(arr)

    def _initialize(self, arr: Array) -> Any:
        if type(self).values is Initializer.values:
            raise NotImplementedError(f"{type(self).__name__} does not define '_initialize'")
        arr[...] = self._drawn(arr.shape)

    def values(self, shape: tuple[int, ...]) -> Array:
        """Return the initial values of a Parameter.

        Args:
            shape: its shape.

        Returns:
            an array of that shape, of float32 or float64.

        Raises:
            NotImplementedError: the subclass does not define it.
            ValueError: the initializer has no values for this shape.
        """
        filled = np.zeros(shape, np.float32)
        self._initialize(filled)
        return filled


class Constant(Initializer):
    """All elements are the same number.

    Args:
        value: the number.
    """

    def __init__(self, value: float) -> None:
        self.value = value

    def values(self, shape: tuple[int, ...]) -> Array:
        return _filled(shape, self.value, np.dtype(np.float64))


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
    """The normal distribution.

    Args:
        sigma: its standard deviation.
        mean: its mean.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        self.sigma, self.mean = sigma, mean

    def values(self, shape: tuple[int, ...]) -> Array:
        return random.normal(shape, deviation=self.sigma, mean=self.mean)


class TruncatedNormal(Initializer):
    """The normal distribution within the bounds [a, b], which are absolute numbers, not deviations from the mean.

    Args:
        sigma: the standard deviation, before truncation.
        mean: the mean, before truncation.
        a: the lower bound.
        b: the upper bound.

    Raises:
        ValueError: ``a`` is not below ``b``, or ``sigma`` is not above 0.
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        if a >= b:
            raise ValueError(f"For 'TruncatedNormal', 'a' must be below 'b', but got a={a}, b={b}")
        if sigma <= 0:
            raise ValueError(f"For 'TruncatedNormal', 'sigma' must be above 0, but got {sigma}")
        self.sigma, self.mean, self.a, self.b = sigma, mean, a, b

    def values(self, shape: tuple[int, ...]) -> Array:
        special = import_module("scipy.special")
        low, high = (self.a - self.mean) / self.sigma, (self.b - self.mean) / self.sigma
        side = -1 if low > 0 else 1  # ndtr is precise in the lower tail only
        first, last = special.ndtr([side * low, side * high])
        deviations = side * special.ndtri(first + random.uniform(shape).astype(np.float64) * (last - first))
        return np.clip(deviations * self.sigma + self.mean, self.a, self.b).astype(np.float32)


class Uniform(Initializer):
    """The uniform distribution over [-scale, scale).

    Args:
        scale: the bound.
    """

    def __init__(self, scale: float = 0.07) -> None:
        self.scale = scale

    def values(self, shape: tuple[int, ...]) -> Array:
        return random.uniform(shape, bound=self.scale)


class XavierUniform(Initializer):
    """Uniform with the bound gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010); for two axes or more.

    Args:
        gain: the factor, by the nonlinearity that follows.
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = _fans(shape, "XavierUniform")
        return Uniform(self.gain * math.sqrt(6.0 / (fan_in + fan_out))).values(shape)


class XavierNormal(Initializer):
    """Normal with the deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010); for two axes or more.

    Args:
        gain: the factor, by the nonlinearity that follows.
    """

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = _fans(shape, "XavierNormal")
        return Normal(self.gain * math.sqrt(2.0 / (fan_in + fan_out))).values(shape)


class _He(Initializer):
    def __init__(self, negative_slope: float = 0.0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> None:
        check_one_of(mode, ("fan_in", "fan_out"), type(self).__name__, "mode")
        self.negative_slope, self.mode, self.nonlinearity = negative_slope, mode, nonlinearity
        self._gain = _gain(nonlinearity, negative_slope)

    def deviation(self, shape: tuple[int, ...]) -> float:
        """Return the deviation gain / sqrt(fan) (He et al. 2015)."""
        fan_in, fan_out = _fans(shape, type(self).__name__)
        return self._gain / math.sqrt(fan_in if self.mode == "fan_in" else fan_out)


class HeUniform(_He):
    """Uniform with the deviation gain / sqrt(fan), so with the bound sqrt(3) times that (He et al. 2015).

    Args:
        negative_slope: of the leaky ReLU that follows; its gain is sqrt(2 / (1 + negative_slope ** 2)).
        mode: "fan_in" or "fan_out": which fan.
        nonlinearity: the following function, which determines the gain: "leaky_relu", "relu", "tanh", "sigmoid",
            "linear" or a convolution.

    Raises:
        ValueError: an unknown ``mode`` or ``nonlinearity``.
    """

    def values(self, shape: tuple[int, ...]) -> Array:
        return Uniform(math.sqrt(3.0) * self.deviation(shape)).values(shape)


class HeNormal(_He):
    """Normal with the deviation gain / sqrt(fan) (He et al. 2015).

    Args:
        negative_slope: of the leaky ReLU that follows; its gain is sqrt(2 / (1 + negative_slope ** 2)).
        mode: "fan_in" or "fan_out": which fan.
        nonlinearity: the following function, which determines the gain: "leaky_relu", "relu", "tanh", "sigmoid",
            "linear" or a convolution.

    Raises:
        ValueError: an unknown ``mode`` or ``nonlinearity``.
    """

    def values(self, shape: tuple[int, ...]) -> Array:
        return Normal(self.deviation(shape)).values(shape)


class Orthogonal(Initializer):
    """Orthogonal rows or columns, by the QR decomposition of a normal matrix (Saxe et al. 2014); for two axes or more.

    All axes after the first are treated as one.

    Args:
        gain: the factor of all elements.
    """

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


class Dirac(Initializer):
    """Kernels (out, in, ...) that copy the first channels of each group: a 1 in the middle; for 3 to 5 axes.

    Args:
        groups: how many groups the output channels are divided into; it must divide their number.

    Raises:
        ValueError: ``groups`` is not an int above 0.
    """

    def __init__(self, groups: int = 1) -> None:
        if isinstance(groups, bool) or not isinstance(groups, int) or groups <= 0:
            raise ValueError(f"For 'Dirac', 'groups' must be an int above 0, but got {groups!r}")
        self.groups = groups

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"For 'Dirac', the shape must have 3, 4 or 5 axes, but got {shape}")
        if shape[0] % self.groups:
            raise ValueError(f"For 'Dirac', 'groups' {self.groups} must divide the first length of {shape}")
        kernels = np.zeros(shape)
        per_group = shape[0] // self.groups
        middle = tuple(n // 2 for n in shape[2:])
        for group in range(self.groups):
            for channel in range(min(per_group, shape[1])):
                kernels[(group * per_group + channel, channel, *middle)] = 1
        return kernels


class Sparse(Initializer):
    """Normal, with the same fraction of each column set to 0 (Martens 2010); for matrices.

    Args:
        sparsity: the fraction of zeros, from 0 to 1.
        sigma: the standard deviation of the others.
    """

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        self.sparsity, self.sigma = sparsity, sigma

    def values(self, shape: tuple[int, ...]) -> Array:
        if len(shape) != 2:
            raise ValueError(f"For 'Sparse', the shape must have 2 axes, but got {shape}")
        values = random.normal(shape, deviation=self.sigma)
        zeros = math.ceil(self.sparsity * shape[0])
        order = random.uniform(shape).argsort(axis=0)[:zeros]
        np.put_along_axis(values, order, 0, axis=0)
        return values


class VarianceScaling(Initializer):
    """Values of the variance scale / n, where n is the number of inputs or outputs of a unit; for two axes or more.

    Args:
        scale: the factor, above 0.
        mode: the meaning of n: "fan_in", "fan_out" or "fan_avg", their mean.
        distribution: "truncated_normal" (cut off at two deviations), "untruncated_normal" or "uniform".

    Raises:
        ValueError: ``scale`` is not above 0, or an unknown ``mode`` or ``distribution``.
    """

    def __init__(self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal") -> None:
        check_above_zero(scale, "VarianceScaling", "scale")
        if mode not in ("fan_in", "fan_out", "fan_avg"):
            raise ValueError(f"For 'VarianceScaling', 'mode' must be 'fan_in', 'fan_out' or 'fan_avg', got {mode!r}")
        if distribution not in ("uniform", "truncated_normal", "untruncated_normal"):
            raise ValueError(
                f"For 'VarianceScaling', 'distribution' must be 'uniform', 'truncated_normal' or 'untruncated_normal', "
                f"but got {distribution!r}"
            )
        self.scale, self.mode, self.distribution = scale, mode, distribution

    def values(self, shape: tuple[int, ...]) -> Array:
        fan_in, fan_out = _fans(shape, "VarianceScaling")
        count = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, count)
        if self.distribution == "uniform":
            return Uniform(math.sqrt(3 * variance)).values(shape)
        if self.distribution == "untruncated_normal":
            return Normal(math.sqrt(variance)).values(shape)
        # The deviation of the normal distribution cut off at two deviations.
        sigma = math.sqrt(variance) / 0.87962566103423978
        return TruncatedNormal(sigma, a=-2 * sigma, b=2 * sigma).values(shape)


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
    """Return the factor that keeps the variance through a nonlinearity (He et al. 2015, section 2.2)."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1.0 + negative_slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"'nonlinearity' must be 'leaky_relu' or one of {sorted(_GAINS)}, but got {nonlinearity!r}")
    return _GAINS[nonlinearity]


def _fans(shape: tuple[int, ...], caller: str) -> tuple[int, int]:
    """Return the number of inputs of an output unit and the converse, for (out, in, *kernel) weights."""
    if len(shape) < 2:
        raise ValueError(f"For '{caller}', the shape must have at least 2 axes to have fans, but got {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_fan_in_and_fan_out(shape: Sequence[int]) -> tuple[int, int]:
    """Return fan-in and fan-out; a private name that many programs use.

    Args:
        shape: the shape of weights (out, in, *kernel).

    Returns:
        both numbers.

    Raises:
        ValueError: fewer than two axes.
    """
    return _fans(tuple(shape), "_calculate_fan_in_and_fan_out")


def _calculate_correct_fan(shape: Sequence[int], mode: str) -> int:
    """Return one result of ``_calculate_fan_in_and_fan_out``, by the name "fan_in" or "fan_out"."""
    check_one_of(mode, ("fan_in", "fan_out"), "_calculate_correct_fan", "mode")
    return _fans(tuple(shape), "_calculate_correct_fan")[mode == "fan_out"]


def _calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor of a nonlinearity; ``param`` is the slope of "leaky_relu", 0.01 by default."""
    return _gain(nonlinearity, 0.01 if param is None else param)


def _assignment(arr: Array, num: Any) -> Array:
    """Fill an array with a number, or with the values of another one, and return it; as ``_initialize`` does."""
    arr[...] = num
    return arr


def _filled(shape: tuple[int, ...], value: Any, dtype: np.dtype[Any]) -> Array:
    # The operating system allocates zero pages on first use.
    return np.zeros(shape, dtype) if isinstance(value, int) and value == 0 else np.full(shape, value, dtype)


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
    "dirac": Dirac,
    "variancescaling": VarianceScaling,
    "variance_scaling": VarianceScaling,
}

skipping = False
"""Whether parameters are created without drawing their initial values (``nn.utils.no_init_parameters``)."""


InitLike: TypeAlias = Initializer | str | float | Tensor
"""Source of a parameter's initial values: an initializer, its name, a number, or a tensor."""


def initializer(init: InitLike, shape: int | Sequence[int] | None = None, dtype: DTypeLike = float32) -> Tensor:
    """Return a Tensor with initial values.

    Args:
        init: an Initializer, its name ("normal", "zeros", "he_uniform", ...), a number for all elements, or a Tensor.
        shape: the shape; that of ``init`` if it is a Tensor.
        dtype: the element type.

    Returns:
        the Tensor.

    Raises:
        ValueError: an unknown name, a length that is not an int or is below 1, no shape, or a Tensor of the wrong
            shape.
        TypeError: ``init`` is none of these.
    """
    if isinstance(shape, int):
        shape = (shape,)
    if shape is not None and not all(isinstance(n, int | np.integer) for n in shape):
        raise ValueError(f"For 'initializer', 'shape' must hold ints, but got {shape!r}")
    requested_shape = None if shape is None else tuple(int(n) for n in shape)
    if isinstance(init, Tensor):
        if requested_shape is not None and requested_shape != init.shape:
            raise ValueError(
                f"For 'initializer', 'shape' {requested_shape} is not the shape {init.shape} of the tensor 'init'"
            )
        return Tensor(init, dtype)
    if requested_shape is None or any(n < 1 for n in requested_shape):
        raise ValueError(f"For 'initializer', 'shape' must be axes above 0, but got {shape}")
    return first_values(init, requested_shape, dtype)


def first_values(init: InitLike, shape: tuple[int, ...], dtype: DTypeLike) -> Tensor:
    """Return a Tensor with initial values; a length may be 0, and then nothing is drawn.

    Args:
        init: an Initializer, its name, or a number for all elements.
        shape: the shape.
        dtype: the element type.

    Raises:
        ValueError: an unknown name.
        TypeError: ``init`` is none of these.
    """
    if isinstance(init, str):
        initializer_class = _ALIASES.get(init.lower())
        if initializer_class is None:
            raise ValueError(f"For 'initializer', 'init' must be one of {sorted(_ALIASES)}, but got {init!r}")
        init = initializer_class()
    elif isinstance(init, int | float) and not isinstance(init, bool):
        init = Constant(init)
    rule: Initializer = check_type(
        init, Initializer, "initializer", "init", "an Initializer, a name, a number or a Tensor"
    )
    kind = numpy_dtype(dtype)
    if skipping or 0 in shape:
        values = np.zeros(shape, kind)
    elif isinstance(rule, Constant) and type(rule).values is Constant.values:
        values = _filled(shape, rule.value, kind)
    else:
        values = rule._drawn(shape).astype(kind, copy=False)
    tensor = Tensor._wrap(to_device(values))
    tensor.has_init = True
    tensor._drawn = not isinstance(rule, Constant | Dirac | Identity)
    return tensor


name_methods(globals())
