"""The gamma distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from ...layers.special import DiGamma
from .._parameters import FLOATING, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Gamma"]


class Gamma(Distribution):
    """The gamma distribution, with a density proportional to x**(concentration - 1) * exp(-rate * x).

    Args:
        concentration: the shape, above 0: a list, array or Tensor; None: given at each call.
        rate: one over the scale, above 0: a list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is a plain number (as in MindSpore).
        ValueError: a parameter is not above 0.
    """

    _dist_type = "Gamma"
    _labels = ("concentration", "rate")
    concentration = parameter("concentration", "The shape of the density.")
    rate = parameter("rate", "One over the scale.")

    def __init__(
        self,
        concentration: ParamLike = None,
        rate: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Gamma",
    ) -> None:
        self._define("Gamma", locals(), FLOATING, (int, float), concentration=above_zero, rate=above_zero)
        self.digamma = DiGamma()

    def _get_dist_args(self, concentration: AtCall = None, rate: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(concentration, rate)

    def _mean(self, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        concentration, rate = self._check_param_type(concentration, rate)
        return concentration / rate

    def _var(self, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        concentration, rate = self._check_param_type(concentration, rate)
        return concentration / ops.square(rate)

    def _sd(self, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        concentration, rate = self._check_param_type(concentration, rate)
        return ops.sqrt(concentration) / rate

    def _mode(self, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        concentration, rate = self._check_param_type(concentration, rate)
        mode = (concentration - 1.0) / rate
        return ops.where(concentration > 1.0, mode, ops.full_like(mode, math.nan))

    def _entropy(self, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        a, rate = self._check_param_type(concentration, rate)
        return a - ops.log(rate) + ops.lgamma(a) + (1.0 - a) * self.digamma(a)

    def _log_prob(self, value: Tensor, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        value, (a, rate) = self._at(value, concentration, rate)
        return (a - 1.0) * ops.log(value) - rate * value - (ops.lgamma(a) - a * ops.log(rate))

    def _cdf(self, value: Tensor, concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        value, (concentration, rate) = self._at(value, concentration, rate)
        return ops.igamma(concentration, rate * value)

    def _kl_loss(
        self, dist: str, concentration_b: Tensor, rate_b: Tensor, concentration_a: AtCall = None, rate_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        b, rate_b = self._of_other(concentration_b=concentration_b, rate_b=rate_b)
        a, rate_a = self._check_param_type(concentration_a, rate_a)
        logs = b * ops.log(rate_a) - b * ops.log(rate_b)
        return (a - b) * self.digamma(a) + ops.lgamma(b) - ops.lgamma(a) + logs + a * (rate_b / rate_a - 1.0)

    def _cross_entropy(
        self, dist: str, concentration_b: Tensor, rate_b: Tensor, concentration_a: AtCall = None, rate_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        return self._entropy(concentration_a, rate_a) + self._kl_loss(
            dist, concentration_b, rate_b, concentration_a, rate_a
        )

    def _sample(self, shape: tuple[int, ...] = (), concentration: AtCall = None, rate: AtCall = None) -> Tensor:
        shape = self._check_shape(shape)
        concentration, rate = self._check_param_type(concentration, rate)
        return ops.gamma(shape, concentration, rate, self._stream()).astype(self.dtype)
