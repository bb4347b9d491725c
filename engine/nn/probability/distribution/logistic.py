"""The logistic distribution."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero, parameter
from .distribution import Distribution

__all__ = ["Logistic"]


class Logistic(Distribution):
    """The logistic distribution, whose cumulative function is the sigmoid of (x - loc) / scale.

    Args:
        loc: the mean: a number, list, array or Tensor; None: given at each call.
        scale: the width, above 0: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``scale`` is not above 0.
    """

    _dist_type = "Logistic"
    _labels = ("location", "scale")
    loc = parameter("loc", "The mean.")
    scale = parameter("scale", "The width.")

    def __init__(
        self,
        loc: ParamLike = None,
        scale: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "Logistic",
    ) -> None:
        self._define("Logistic", locals(), FLOATING, loc=None, scale=above_zero)

    def _get_dist_args(self, loc: AtCall = None, scale: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(loc, scale)

    def _mean(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return self._check_param_type(loc, scale)[0]

    def _mode(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return self._check_param_type(loc, scale)[0]

    def _sd(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return self._check_param_type(loc, scale)[1] * (math.pi / math.sqrt(3.0))

    def _entropy(self, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return ops.log(self._check_param_type(loc, scale)[1]) + 2.0

    def _z(self, value: Tensor, loc: AtCall, scale: AtCall) -> tuple[Any, Any]:
        value, (loc, scale) = self._at(value, loc, scale)
        return (value - loc) / scale, scale

    def _log_prob(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        z, scale = self._z(value, loc, scale)
        return -z - 2.0 * ops.softplus(-z) - ops.log(scale)

    def _cdf(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return ops.sigmoid(self._z(value, loc, scale)[0])

    def _log_cdf(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return -ops.softplus(-self._z(value, loc, scale)[0])

    def _survival_function(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return ops.sigmoid(-self._z(value, loc, scale)[0])

    def _log_survival(self, value: Tensor, loc: AtCall = None, scale: AtCall = None) -> Tensor:
        return -ops.softplus(self._z(value, loc, scale)[0])

    def _sample(self, shape: tuple[int, ...] = (), loc: AtCall = None, scale: AtCall = None) -> Tensor:
        shape = self._check_shape(shape)
        loc, scale = self._check_param_type(loc, scale)
        sample = self._uniform(shape + loc.shape)
        return ((ops.log(sample) - ops.log1p(-sample)) * scale + loc).astype(self.dtype)
