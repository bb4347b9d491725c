"""The uniform distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.parameter import Parameter
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, parameter
from .distribution import Distribution

__all__ = ["Uniform"]


class Uniform(Distribution):
    """The uniform distribution from ``low`` to ``high``.

    Args:
        low: the lower end: a number, list, array or Tensor; None: given at each call.
        high: the upper end: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``low`` is not below ``high``.
    """

    _dist_type = "Uniform"
    _labels = ("low", "high")
    low = parameter("low", "The lower end.")
    high = parameter("high", "The upper end.")

    def __init__(
        self,
        low: ParamLike = None,
        high: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Uniform",
    ) -> None:
        self._define("Uniform", locals(), FLOATING, low=None, high=None)
        if self.low is None or self.high is None or isinstance(low, Parameter) or isinstance(high, Parameter):
            return
        if not (self.low.asnumpy() < self.high.asnumpy()).all():
            raise ValueError(f"For 'Uniform', 'low' must be less than 'high', but got {low} and {high}")

    def _get_dist_args(self, low: AtCall = None, high: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(low, high)

    def _range(self, low: AtCall = None, high: AtCall = None) -> Tensor:
        low, high = self._check_param_type(low, high)
        return high - low

    def _mean(self, low: AtCall = None, high: AtCall = None) -> Tensor:
        low, high = self._check_param_type(low, high)
        return (low + high) / 2.0

    def _var(self, low: AtCall = None, high: AtCall = None) -> Tensor:
        return ops.square(self._range(low, high)) / 12.0

    def _entropy(self, low: AtCall = None, high: AtCall = None) -> Tensor:
        return ops.log(self._range(low, high))

    def _prob(self, value: Tensor, low: AtCall = None, high: AtCall = None) -> Tensor:
        value, (low, high) = self._at(value, low, high)
        density = 1.0 / (high - low)
        return ops.where(ops.logical_and(value >= low, value <= high), density, ops.zeros_like(density))

    def _cdf(self, value: Tensor, low: AtCall = None, high: AtCall = None) -> Tensor:
        value, (low, high) = self._at(value, low, high)
        return ops.clamp((value - low) / (high - low), 0.0, 1.0)

    def _kl_loss(self, dist: str, low_b: Tensor, high_b: Tensor, low: AtCall = None, high: AtCall = None) -> Tensor:
        self._check_name(dist)
        low_b, high_b = self._of_other(low_b=low_b, high_b=high_b)
        low, high = self._check_param_type(low, high)
        divergence = ops.log(high_b - low_b) - ops.log(high - low)
        covered = ops.logical_and(low_b <= low, high <= high_b)
        return ops.where(covered, divergence, ops.full_like(divergence, math.inf))

    def _cross_entropy(
        self, dist: str, low_b: Tensor, high_b: Tensor, low: AtCall = None, high: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        return self._entropy(low, high) + self._kl_loss(dist, low_b, high_b, low, high)

    def _sample(self, shape: tuple[int, ...] = (), low: AtCall = None, high: AtCall = None) -> Tensor:
        shape = self._check_shape(shape)
        low, high = self._check_param_type(low, high)
        sample = ops.rand(*(shape + low.shape), seed=self._stream())
        return ((high - low) * sample + low).astype(self.dtype)
