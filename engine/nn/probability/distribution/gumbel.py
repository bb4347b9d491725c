"""Gumbel's distribution."""

from __future__ import annotations

import math

import numpy as np

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, check_dtype, parameter
from ..bijector import GumbelCDF, Invert
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel's distribution of maxima, whose cumulative function is exp(-exp(-(x - loc) / scale)).

    Args:
        loc: the mode, a number, list, array or Tensor; given only here, not at calls.
        scale: the width, above 0, a number, list, array or Tensor; given only here, not at calls.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` or a parameter is not floating.
        ValueError: ``scale`` is not above 0.
    """

    _dist_type = "Gumbel"
    _labels = ("loc", "scale")
    loc = parameter("loc", "The mode.")
    scale = parameter("scale", "The width.")

    def __init__(
        self, loc: ParamLike, scale: ParamLike, seed: int = 0, dtype: DType = float32, name: str = "Gumbel"
    ) -> None:
        check_dtype(dtype, FLOATING, "Gumbel")
        cdf = GumbelCDF(loc, scale)
        super().__init__(Invert(cdf), Uniform(0.0, 1.0, dtype=dtype), seed, name)
        self._reset_parameters()
        self._add_parameters(loc=loc, scale=scale)
        self._gumbel_bijector = cdf

    def _get_dist_args(self, loc: AtCall = None, scale: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(loc, scale)

    def _both(self) -> tuple[Tensor, Tensor]:
        return self._check_param_type(None, None)

    def _mean(self) -> Tensor:
        loc, scale = self._both()
        return loc + scale * np.euler_gamma

    def _mode(self) -> Tensor:
        return self._both()[0]

    def _sd(self) -> Tensor:
        return self._both()[1] * (math.pi / math.sqrt(6.0))

    def _entropy(self) -> Tensor:
        return 1.0 + ops.log(self._both()[1]) + np.euler_gamma

    def _log_prob(self, value: Tensor) -> Tensor:
        value, (loc, scale) = self._at(value, None, None)
        z = (value - loc) / scale
        return -(z + ops.exp(-z)) - ops.log(scale)

    def _cdf(self, value: Tensor) -> Tensor:
        return self._gumbel_bijector("forward", self._check_value(value, "value").astype(self.dtype))

    def _kl_loss(self, dist: str, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        self._check_name(dist)
        loc_b, scale_b = self._of_other(loc_b=loc_b, scale_b=scale_b)
        loc, scale = self._both()
        ratio = scale / scale_b
        difference = ops.expm1((loc_b - loc) / scale_b + ops.lgamma(ratio + 1.0))
        return -ops.log(ratio) + np.euler_gamma * (ratio - 1.0) + (loc - loc_b) / scale_b + difference

    def _cross_entropy(self, dist: str, loc_b: Tensor, scale_b: Tensor) -> Tensor:
        self._check_name(dist)
        return self._entropy() + self._kl_loss(dist, loc_b, scale_b)

    def _sample(self, shape: tuple[int, ...] = ()) -> Tensor:
        shape = self._check_shape(shape) + (self._broadcast_shape or ())
        return self.bijector("forward", self._uniform(shape).astype(self.dtype))
