"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

from .... import ops
from ....core.dtype import DType, float32
from ....core.tensor import Tensor
from .._parameters import FLOATING, above_zero, check_dtype
from .distribution import Distribution

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's distribution with ``df`` degrees of freedom around ``mean``, stretched by ``sd``.

    As in MindSpore, it has ``log_prob`` and ``prob`` alone.

    Raises:
        TypeError: ``dtype`` is not floating.
        ValueError: ``df`` or ``sd`` is not above 0.
    """

    def __init__(
        self,
        df: Any = None,
        mean: Any = None,
        sd: Any = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "StudentT",
    ) -> None:
        param = {**locals(), "param_dict": {"df": df, "mean": mean, "sd": sd}}
        check_dtype(dtype, FLOATING, "StudentT")
        super().__init__(seed, dtype, name, param)
        self._df_value = self._add_parameter(df, "df")
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        above_zero(self._sd_value, "sd")
        above_zero(self._df_value, "df")

    def _log_prob(self, value: Tensor, df: Any = None, mean: Any = None, sd: Any = None) -> Tensor:
        value, (df, mean, sd) = self._at(value, df, mean, sd)
        shape = -0.5 * (df + 1.0) * ops.log1p(ops.square((value - mean) / sd) / df)
        total = ops.log(ops.abs(sd)) + 0.5 * ops.log(df) + 0.5 * math.log(math.pi)
        return shape - (total + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1.0)))
