"""Poisson's distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import NUMBERS, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Poisson"]


class Poisson(Distribution):
    """Poisson's distribution of counts: k has the probability rate**k * exp(-rate) / k!.

    Args:
        rate: the mean, above 0: a list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples: a floating or an integer dtype.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not a dtype of numbers, or ``rate`` a plain number (as in MindSpore).
        ValueError: ``rate`` is not above 0.
    """

    _dist_type = "Poisson"
    _labels = ("rate",)
    rate = parameter("rate", "The mean.")

    def __init__(
        self, rate: ParamLike = None, seed: int | None = None, dtype: DType = float32, name: str = "Poisson"
    ) -> None:
        self._define("Poisson", locals(), NUMBERS, (int, float), rate=above_zero)

    def _get_dist_args(self, rate: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(rate)

    def _mean(self, rate: AtCall = None) -> Tensor:
        return self._check_param_type(rate)

    def _mode(self, rate: AtCall = None) -> Tensor:
        return ops.floor(self._check_param_type(rate))

    def _var(self, rate: AtCall = None) -> Tensor:
        return self._check_param_type(rate)

    def _log_prob(self, value: Tensor, rate: AtCall = None) -> Tensor:
        value, rate = self._counted(value, rate)
        count = ops.where(value < 0.0, ops.zeros_like(value), value)
        log_probability = ops.log(rate) * count - ops.lgamma(count + 1.0) - rate
        return ops.where(value < 0.0, ops.full_like(log_probability, -math.inf), log_probability)

    def _cdf(self, value: Tensor, rate: AtCall = None) -> Tensor:
        value, rate = self._counted(value, rate)
        count = ops.where(value < 0.0, ops.zeros_like(value), value)
        probability = 1.0 - ops.igamma(1.0 + count, rate)
        return ops.where(value < 0.0, ops.zeros_like(probability), probability)

    def _sample(self, shape: tuple[int, ...] = (), rate: AtCall = None) -> Tensor:
        shape, rate = self._check_shape(shape), self._check_param_type(rate)
        return ops.poisson(shape + rate.shape, rate, self._stream()).astype(self.dtype)
