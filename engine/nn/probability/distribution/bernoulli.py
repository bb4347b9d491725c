"""Bernoulli's distribution."""

from __future__ import annotations

import numpy as np

from .... import ops
from ....tensors.dtype import DType, int32
from ....tensors.tensor import Tensor
from .._parameters import NUMBERS, AtCall, ParamLike, inside_unit, parameter
from .distribution import Distribution

__all__ = ["Bernoulli"]


class Bernoulli(Distribution):
    """Bernoulli's distribution: 1 with probability ``probs``, and 0 otherwise.

    Args:
        probs: the probability of 1, between 0 and 1: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples: a floating or an integer dtype.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not a dtype of numbers, or a parameter is not a number, list, array or Tensor.
        ValueError: ``probs`` is not between 0 and 1, without the ends.
    """

    _dist_type = "Bernoulli"
    _labels = ("probs",)
    probs = parameter("probs", "The probability of 1.")

    def __init__(
        self, probs: ParamLike = None, seed: int | None = None, dtype: DType = int32, name: str = "Bernoulli"
    ) -> None:
        self._define("Bernoulli", locals(), NUMBERS, probs=inside_unit)

    def _get_dist_args(self, probs1: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(probs1)

    def _mean(self, probs1: AtCall = None) -> Tensor:
        return self._check_param_type(probs1)

    def _mode(self, probs1: AtCall = None) -> Tensor:
        return (self._check_param_type(probs1) > 0.5).astype(self.dtype)

    def _var(self, probs1: AtCall = None) -> Tensor:
        p = self._check_param_type(probs1)
        return p * (1.0 - p)

    def _entropy(self, probs1: AtCall = None) -> Tensor:
        p = self._check_param_type(probs1)
        return -((1.0 - p) * ops.log(1.0 - p)) - p * ops.log(p)

    def _log_prob(self, value: Tensor, probs1: AtCall = None) -> Tensor:
        value, p = self._counted(value, probs1)
        eps = float(np.finfo(p._array.dtype).eps)
        p = ops.clamp(p, eps, 1.0 - eps)
        return ops.log(p) * value + ops.log(1.0 - p) * (1.0 - value)

    def _cdf(self, value: Tensor, probs1: AtCall = None) -> Tensor:
        value, p = self._counted(value, probs1)
        value = ops.floor(value)
        below = ops.where(value < 0.0, ops.zeros_like(p), 1.0 - p)
        return ops.where(value < 1.0, below, ops.ones_like(below))

    def _kl_loss(self, dist: str, probs1_b: Tensor, probs1: AtCall = None) -> Tensor:
        self._check_name(dist)
        b, a = self._of_other(probs1_b=probs1_b), self._check_param_type(probs1)
        return a * ops.log(a / b) + (1.0 - a) * ops.log((1.0 - a) / (1.0 - b))

    def _cross_entropy(self, dist: str, probs1_b: Tensor, probs1: AtCall = None) -> Tensor:
        self._check_name(dist)
        return self._entropy(probs1) + self._kl_loss(dist, probs1_b, probs1)

    def _sample(self, shape: tuple[int, ...] = (), probs1: AtCall = None) -> Tensor:
        shape, p = self._check_shape(shape), self._check_param_type(probs1)
        return (ops.rand(*(shape + p.shape), seed=self._stream()) < p).astype(self.dtype)
