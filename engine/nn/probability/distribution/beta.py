"""The beta distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from ...layers.special import DiGamma, LBeta
from .._parameters import FLOATING, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Beta"]


class Beta(Distribution):
    """The beta distribution, with a density proportional to x**(concentration1 - 1) * (1 - x)**(concentration0 - 1).

    Args:
        concentration1: the exponent of x plus 1, above 0: a list, array or Tensor; None: given at each call.
        concentration0: the exponent of 1 - x plus 1, above 0: a list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is a float (as in MindSpore).
        ValueError: a parameter is not above 0.
    """

    _dist_type = "Beta"
    _labels = ("concentration1", "concentration0")
    concentration1 = parameter("concentration1", "The weight of 1.")
    concentration0 = parameter("concentration0", "The weight of 0.")

    def __init__(
        self,
        concentration1: ParamLike = None,
        concentration0: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Beta",
    ) -> None:
        self._define("Beta", locals(), FLOATING, (float,), concentration1=above_zero, concentration0=above_zero)
        self.digamma, self.lbeta = DiGamma(), LBeta()

    def _get_dist_args(self, concentration1: AtCall = None, concentration0: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(concentration1, concentration0)

    def _mean(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        alpha, beta = self._check_param_type(concentration1, concentration0)
        return alpha / (alpha + beta)

    def _var(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        alpha, beta = self._check_param_type(concentration1, concentration0)
        return alpha * beta / (ops.square(alpha + beta) * (alpha + beta + 1.0))

    def _mode(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        alpha, beta = self._check_param_type(concentration1, concentration0)
        mode = (alpha - 1.0) / (alpha + beta - 2.0)
        return ops.where(ops.logical_and(alpha > 1.0, beta > 1.0), mode, ops.full_like(mode, math.nan))

    def _entropy(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        alpha, beta = self._check_param_type(concentration1, concentration0)
        slopes = (alpha - 1.0) * self.digamma(alpha) + (beta - 1.0) * self.digamma(beta)
        return self.lbeta(alpha, beta) - slopes + (alpha + beta - 2.0) * self.digamma(alpha + beta)

    def _log_prob(self, value: Tensor, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        value, (alpha, beta) = self._at(value, concentration1, concentration0)
        return (alpha - 1.0) * ops.log(value) + (beta - 1.0) * ops.log1p(-value) - self.lbeta(alpha, beta)

    def _kl_loss(
        self,
        dist: str,
        concentration1_b: Tensor,
        concentration0_b: Tensor,
        concentration1_a: AtCall = None,
        concentration0_a: AtCall = None,
    ) -> Tensor:
        self._check_name(dist)
        alpha_b, beta_b = self._of_other(concentration1_b=concentration1_b, concentration0_b=concentration0_b)
        alpha, beta = self._check_param_type(concentration1_a, concentration0_a)
        slopes = self.digamma(alpha) * (alpha_b - alpha) + self.digamma(beta) * (beta_b - beta)
        total = self.digamma(alpha + beta) * (alpha_b + beta_b - alpha - beta)
        return self.lbeta(alpha_b, beta_b) - self.lbeta(alpha, beta) - slopes + total

    def _cross_entropy(
        self,
        dist: str,
        concentration1_b: Tensor,
        concentration0_b: Tensor,
        concentration1_a: AtCall = None,
        concentration0_a: AtCall = None,
    ) -> Tensor:
        self._check_name(dist)
        return self._entropy(concentration1_a, concentration0_a) + self._kl_loss(
            dist, concentration1_b, concentration0_b, concentration1_a, concentration0_a
        )

    def _sample(
        self, shape: tuple[int, ...] = (), concentration1: AtCall = None, concentration0: AtCall = None
    ) -> Tensor:
        shape = self._check_shape(shape)
        alpha, beta = self._check_param_type(concentration1, concentration0)
        first = ops.gamma(shape, alpha, ops.ones_like(alpha), self._stream())
        second = ops.gamma(shape, beta, ops.ones_like(beta), self._stream())
        return (first / (first + second)).astype(self.dtype)
