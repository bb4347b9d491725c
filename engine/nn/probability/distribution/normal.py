"""The normal distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero
from .distribution import Distribution

__all__ = ["Normal"]


class Normal(Distribution):
    """The normal distribution with ``mean`` and standard deviation ``sd``.

    Args:
        mean: the mean: a number, list, array or Tensor; None: given at each call.
        sd: the standard deviation, above 0: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``sd`` is not above 0.
    """

    _dist_type = "Normal"
    _labels = ("mean", "standard deviation")

    def __init__(
        self,
        mean: ParamLike = None,
        sd: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Normal",
    ) -> None:
        self._define("Normal", locals(), FLOATING, mean=None, sd=above_zero)

    def _get_dist_args(self, mean: AtCall = None, sd: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(mean, sd)

    def _mean(self, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        return self._check_param_type(mean, sd)[0]

    def _mode(self, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        return self._check_param_type(mean, sd)[0]

    def _sd(self, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        return self._check_param_type(mean, sd)[1]

    def _entropy(self, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + ops.log(self._check_param_type(mean, sd)[1])

    def _log_prob(self, value: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        return -0.5 * ops.square((value - mean) / sd) - (0.5 * math.log(2.0 * math.pi) + ops.log(sd))

    def _cdf(self, value: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        return 0.5 * (1.0 + ops.erf((value - mean) / (sd * math.sqrt(2.0))))

    def _kl_loss(self, dist: str, mean_b: Tensor, sd_b: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        self._check_name(dist)
        mean_b, sd_b = self._of_other(mean_b=mean_b, sd_b=sd_b)
        mean, sd = self._check_param_type(mean, sd)
        log_ratio = ops.log(sd) - ops.log(sd_b)
        return 0.5 * ops.square(mean / sd_b - mean_b / sd_b) + 0.5 * ops.expm1(2.0 * log_ratio) - log_ratio

    def _cross_entropy(self, dist: str, mean_b: Tensor, sd_b: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        self._check_name(dist)
        return self._entropy(mean, sd) + self._kl_loss(dist, mean_b, sd_b, mean, sd)

    def _sample(self, shape: tuple[int, ...] = (), mean: AtCall = None, sd: AtCall = None) -> Tensor:
        shape = self._check_shape(shape)
        mean, sd = self._check_param_type(mean, sd)
        sample = ops.standard_normal(shape + mean.shape, self._stream())
        return (sample * sd + mean).astype(self.dtype)
