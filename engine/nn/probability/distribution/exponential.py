"""The exponential distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Exponential"]


class Exponential(Distribution):
    """The exponential distribution, with the density rate * exp(-rate * x) for x from 0 on.

    Args:
        rate: one over the mean, above 0: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``rate`` is not above 0.
    """

    _dist_type = "Exponential"
    _labels = ("rate",)
    rate = parameter("rate", "One over the mean.")

    def __init__(
        self, rate: ParamLike = None, seed: int | None = None, dtype: DType = float32, name: str = "Exponential"
    ) -> None:
        self._define("Exponential", locals(), FLOATING, rate=above_zero)

    def _get_dist_args(self, rate: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(rate)

    def _mean(self, rate: AtCall = None) -> Tensor:
        return 1.0 / self._check_param_type(rate)

    def _mode(self, rate: AtCall = None) -> Tensor:
        return ops.zeros_like(self._check_param_type(rate)).astype(self.dtype)

    def _sd(self, rate: AtCall = None) -> Tensor:
        return 1.0 / self._check_param_type(rate)

    def _entropy(self, rate: AtCall = None) -> Tensor:
        return 1.0 - ops.log(self._check_param_type(rate))

    def _log_prob(self, value: Tensor, rate: AtCall = None) -> Tensor:
        value, rate = self._at(value, rate)
        result = ops.log(rate) - rate * value
        return ops.where(value < 0.0, ops.full_like(result, -math.inf), result)

    def _cdf(self, value: Tensor, rate: AtCall = None) -> Tensor:
        return -ops.expm1(self._log_survival(value, rate))

    def _log_survival(self, value: Tensor, rate: AtCall = None) -> Tensor:
        value, rate = self._at(value, rate)
        result = -1.0 * rate * value
        return ops.where(value < 0.0, ops.zeros_like(result), result)

    def _kl_loss(self, dist: str, rate_b: Tensor, rate: AtCall = None) -> Tensor:
        self._check_name(dist)
        rate_b, rate = self._of_other(rate_b=rate_b), self._check_param_type(rate)
        return ops.log(rate) - ops.log(rate_b) + rate_b / rate - 1.0

    def _cross_entropy(self, dist: str, rate_b: Tensor, rate: AtCall = None) -> Tensor:
        self._check_name(dist)
        return self._entropy(rate) + self._kl_loss(dist, rate_b, rate)

    def _sample(self, shape: tuple[int, ...] = (), rate: AtCall = None) -> Tensor:
        shape, rate = self._check_shape(shape), self._check_param_type(rate)
        return (-ops.log(self._uniform(shape + rate.shape)) / rate).astype(self.dtype)
