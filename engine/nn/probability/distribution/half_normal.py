"""The right half of the normal distribution."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ....core.dtype import DType, float32
from ....core.tensor import Tensor
from .._parameters import FLOATING, above_zero, check_dtype
from .distribution import Distribution

__all__ = ["HalfNormal"]


class HalfNormal(Distribution):
    """The density of a normal distribution, doubled and cut off below 0. As in MindSpore, it has ``prob`` alone.

    Raises:
        TypeError: ``dtype`` is not floating.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "HalfNormal",
    ) -> None:
        param = {**locals(), "param_dict": {"mean": mean, "sd": sd}}
        check_dtype(dtype, FLOATING, "HalfNormal")
        super().__init__(seed, dtype, name, param)
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        above_zero(self._sd_value, "sd")

    def _prob(self, value: Tensor, mean: Any = None, sd: Any = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        density = math.sqrt(2.0 / math.pi) / sd * ops.exp(-0.5 * ops.square((value - mean) / sd))
        return density * (value >= 0.0).astype(self.dtype)
