"""The right half of the normal distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero
from .distribution import Distribution

__all__ = ["HalfNormal"]


class HalfNormal(Distribution):
    """The density of a normal distribution, doubled and truncated below 0. As in MindSpore, it has only ``prob``.

    Args:
        mean: the center of the normal distribution: a number, list, array or Tensor; None: given at each call.
        sd: its standard deviation, above 0: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self,
        mean: ParamLike = None,
        sd: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "HalfNormal",
    ) -> None:
        self._define("HalfNormal", locals(), FLOATING, mean=None, sd=above_zero)

    def _prob(self, value: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        density = math.sqrt(2.0 / math.pi) / sd * ops.exp(-0.5 * ops.square((value - mean) / sd))
        return density * (value >= 0.0).astype(self.dtype)
