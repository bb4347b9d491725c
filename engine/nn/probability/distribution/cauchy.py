"""Cauchy's distribution."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Cauchy's distribution around ``loc`` with half width ``scale``. It has no mean and no variance.

    Args:
        loc: the median and mode: a number, list, array or Tensor; None: given at each call.
        scale: half of the width at half of the height, above 0: a number, list, array or Tensor; None: given at
            each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``scale`` is not above 0; or the mean, ``sd`` or ``var`` is requested.
    """

    _dist_type = "Cauchy"
    _labels = ("location", "scale")
    loc = parameter("loc", "The median.")
    scale = parameter("scale", "Half of the width at half of the height.")

    def __init__(
        self,
        loc: ParamLike = None,
        scale: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Cauchy",
    ) -> None:
        self._define("Cauchy", locals(), FLOATING, loc=None, scale=above_zero)

    def _get_dist_args(self, loc: AtCall = None, scale: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(loc, scale)

    def _mode(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return self._check_param_type(loc, scale)[0]

    def _mean(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError("The mean of Cauchy's distribution is undefined; 'mode' is its median")

    def _sd(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError("The standard deviation of Cauchy's distribution is undefined")

    def _var(self, *args: Any, **kwargs: Any) -> Tensor:
        raise ValueError("The variance of Cauchy's distribution is undefined")

    def _entropy(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return ops.log(self._check_param_type(loc, scale)[1]) + math.log(4.0 * math.pi)

    def _log_prob(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        value, (loc, scale) = self._at(value, loc, scale)
        return -ops.log1p(ops.square((value - loc) / scale)) - ops.log(math.pi * scale)

    def _cdf(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        value, (loc, scale) = self._at(value, loc, scale)
        return ops.atan((value - loc) / scale) / math.pi + 0.5

    def _log_cdf(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        value, (loc, scale) = self._at(value, loc, scale)
        return ops.log1p(2.0 * ops.atan((value - loc) / scale) / math.pi) - math.log(2.0)

    def _kl_loss(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: AtCall = None, scale_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        loc_b, scale_b = self._of_other(loc_b=loc_b, scale_b=scale_b)
        loc_a, scale_a = self._check_param_type(loc_a, scale_a)
        total = ops.log(ops.square(scale_a + scale_b) + ops.square(loc_a - loc_b))
        return total - math.log(4.0) - ops.log(scale_a) - ops.log(scale_b)

    def _cross_entropy(
        self, dist: str, loc_b: Tensor, scale_b: Tensor, loc_a: AtCall = None, scale_a: AtCall = None
    ) -> Tensor:
        self._check_name(dist)
        return self._entropy(loc_a, scale_a) + self._kl_loss(dist, loc_b, scale_b, loc_a, scale_a)

    def _sample(self, shape: tuple[int, ...] = (), loc: AtCall = None, scale: AtCall = None) -> Tensor:
        shape = self._check_shape(shape)
        loc, scale = self._check_param_type(loc, scale)
        sample = self._uniform(shape + loc.shape)
        return (loc + scale * ops.tan(math.pi * (sample - 0.5))).astype(self.dtype)
