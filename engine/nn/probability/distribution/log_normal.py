"""The distribution of exp of a normal value."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import AtCall, ParamLike, parameter
from ..bijector import Exp
from .normal import Normal
from .transformed_distribution import TransformedDistribution

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The distribution of values whose log is normal, with mean ``loc`` and standard deviation ``scale``.

    Args:
        loc: the mean of the log: a number, list, array or Tensor; None: given at each call.
        scale: the standard deviation of the log, above 0: a number, list, array or Tensor; None: given at each
            call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``scale`` is not above 0.
    """

    _dist_type = "LogNormal"
    _labels = ("loc", "scale")
    loc = parameter("loc", "The mean of the log.")
    scale = parameter("scale", "The standard deviation of the log.")

    def __init__(
        self,
        loc: ParamLike = None,
        scale: ParamLike = None,
        seed: int = 0,
        dtype: DType = float32,
        name: str = "LogNormal",
    ) -> None:
        super().__init__(Exp(), Normal(loc, scale, seed=seed, dtype=dtype), seed, name)
        self._reset_parameters()
        self._add_parameters(loc=loc, scale=scale)

    def _get_dist_args(self, loc: AtCall = None, scale: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(loc, scale)

    def _mean(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.exp(loc + 0.5 * ops.square(scale))

    def _mode(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.exp(loc - ops.square(scale))

    def _var(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return ops.expm1(ops.square(scale)) * ops.exp(2.0 * loc + ops.square(scale))

    def _entropy(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        loc, scale = self._check_param_type(loc, scale)
        return loc + 0.5 + ops.log(scale) + 0.5 * math.log(2.0 * math.pi)

    def _cdf(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        positive = self._check_value(value, "value") > 0.0
        inside = ops.where(positive, value, ops.ones_like(value))
        probability = super()._cdf(inside, *self._check_param_type(loc, scale))
        return ops.where(positive, probability, ops.zeros_like(probability))

    def _log_prob(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return super()._log_prob(value, *self._check_param_type(loc, scale))

    def _kl_loss(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: AtCall = None, scale_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        return self.distribution("kl_loss", "Normal", loc_b, scale_b, loc_a, scale_a)

    def _cross_entropy(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: AtCall = None, scale_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        return self._entropy(loc_a, scale_a) + self._kl_loss(dist, loc_b, scale_b, loc_a, scale_a)

    def _sample(self, shape: tuple[int, ...] = (), loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return super()._sample(self._check_shape(shape), *self._check_param_type(loc, scale))
