"""The beta distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from ...layers.special import DiGamma, LBeta
from .._parameters import FLOATING, AtCall, Given, above_zero, check_dtype
from .distribution import Distribution

__all__ = ["Beta"]


class Beta(Distribution):
    """The beta distribution, whose density is in proportion to x**(concentration1 - 1) * (1 - x)**(concentration0 - 1).

    Args:
        concentration1: the exponent of x plus 1, above 0: a list, array or Tensor; without it, given at each call.
        concentration0: the exponent of 1 - x plus 1, above 0: a list, array or Tensor; without it, given at each call.
        seed: of its samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: of its samples and densities: float16, float32 or float64.
        name: for messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is a float (as in MindSpore).
        ValueError: a parameter is not above 0.
    """

    _dist_type = "Beta"
    _labels = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: Given = None,
        concentration0: Given = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Beta",
    ) -> None:
        param = {**locals(), "param_dict": {"concentration1": concentration1, "concentration0": concentration0}}
        check_dtype(dtype, FLOATING, "Beta")
        for argument, value in param["param_dict"].items():
            if isinstance(value, float):
                raise TypeError(f"For 'Beta', '{argument}' must be a list, an array or a Tensor, but got {value}")
        super().__init__(seed, dtype, name, param)
        self._concentration1 = self._add_parameter(concentration1, "concentration1")
        self._concentration0 = self._add_parameter(concentration0, "concentration0")
        above_zero(self._concentration1, "concentration1")
        above_zero(self._concentration0, "concentration0")
        self.digamma, self.lbeta = DiGamma(), LBeta()

    @property
    def concentration1(self) -> Tensor | None:
        """The weight of 1."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor | None:
        """The weight of 0."""
        return self._concentration0

    def _get_dist_args(self, concentration1: AtCall = None, concentration0: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(concentration1, concentration0)

    def _mean(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        one, zero = self._check_param_type(concentration1, concentration0)
        return one / (one + zero)

    def _var(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        one, zero = self._check_param_type(concentration1, concentration0)
        return one * zero / (ops.square(one + zero) * (one + zero + 1.0))

    def _mode(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        one, zero = self._check_param_type(concentration1, concentration0)
        found = (one - 1.0) / (one + zero - 2.0)
        return ops.where(ops.logical_and(one > 1.0, zero > 1.0), found, ops.full_like(found, math.nan))

    def _entropy(self, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        one, zero = self._check_param_type(concentration1, concentration0)
        slopes = (one - 1.0) * self.digamma(one) + (zero - 1.0) * self.digamma(zero)
        return self.lbeta(one, zero) - slopes + (one + zero - 2.0) * self.digamma(one + zero)

    def _log_prob(self, value: Tensor, concentration1: AtCall = None, concentration0: AtCall = None) -> Tensor:
        value, (one, zero) = self._at(value, concentration1, concentration0)
        return (one - 1.0) * ops.log(value) + (zero - 1.0) * ops.log1p(-value) - self.lbeta(one, zero)

    def _kl_loss(
        self,
        dist: str,
        concentration1_b: Tensor,
        concentration0_b: Tensor,
        concentration1_a: AtCall = None,
        concentration0_a: AtCall = None,
    ) -> Tensor:
        self._check_name(dist)
        one_b, zero_b = self._of_other(concentration1_b=concentration1_b, concentration0_b=concentration0_b)
        one, zero = self._check_param_type(concentration1_a, concentration0_a)
        slopes = self.digamma(one) * (one_b - one) + self.digamma(zero) * (zero_b - zero)
        total = self.digamma(one + zero) * (one_b + zero_b - one - zero)
        return self.lbeta(one_b, zero_b) - self.lbeta(one, zero) - slopes + total

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
        one, zero = self._check_param_type(concentration1, concentration0)
        first = ops.gamma(shape, one, ops.ones_like(one), self._stream())
        second = ops.gamma(shape, zero, ops.ones_like(zero), self._stream())
        return (first / (first + second)).astype(self.dtype)
