"""Laplace's distribution."""

from __future__ import annotations

from typing import Any

from .... import ops
from ....core.dtype import DType, float32
from ....core.tensor import Tensor
from .._parameters import FLOATING, above_zero, check_dtype
from .distribution import Distribution

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace's distribution with ``mean`` and scale ``sd``. As in MindSpore, it has ``log_prob`` and ``prob`` alone.

    Raises:
        TypeError: ``dtype`` is not floating.
        ValueError: ``sd`` is not above 0.
    """

    def __init__(
        self, mean: Any = None, sd: Any = None, seed: int | None = None, dtype: DType = float32, name: str = "Laplace"
    ) -> None:
        param = {**locals(), "param_dict": {"mean": mean, "sd": sd}}
        check_dtype(dtype, FLOATING, "Laplace")
        super().__init__(seed, dtype, name, param)
        self._mean_value = self._add_parameter(mean, "mean")
        self._sd_value = self._add_parameter(sd, "sd")
        above_zero(self._sd_value, "sd")

    def _log_prob(self, value: Tensor, mean: Any = None, sd: Any = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        return -1.0 * ops.abs((value - mean) / sd) - ops.log(2.0 * sd)
