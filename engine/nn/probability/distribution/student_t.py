"""Student's t distribution."""

from __future__ import annotations

import math

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero
from .distribution import Distribution

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution with ``df`` degrees of freedom around ``mean``, scaled by ``sd``.

    As in MindSpore, it has only ``log_prob`` and ``prob``.

    Args:
        df: the degrees of freedom, above 0: a number, list, array or Tensor; None: given at each call.
        mean: the center: a number, list, array or Tensor; None: given at each call.
        sd: the scale, above 0: a number, list, array or Tensor; None: given at each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples and densities: float16, float32 or float64.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not floating, or a parameter is not a number, list, array or Tensor.
        ValueError: ``df`` or ``sd`` is not above 0.
    """

    def __init__(
        self,
        df: ParamLike = None,
        mean: ParamLike = None,
        sd: ParamLike = None,
        seed: int | None = None,
        dtype: DType = float32,
        name: str = "StudentT",
    ) -> None:
        self._define("StudentT", locals(), FLOATING, df=None, mean=None, sd=above_zero)
        above_zero(self.default_parameters[0], "df")

    def _log_prob(self, value: Tensor, df: AtCall = None, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        value, (df, mean, sd) = self._at(value, df, mean, sd)
        shape = -0.5 * (df + 1.0) * ops.log1p(ops.square((value - mean) / sd) / df)
        total = ops.log(ops.abs(sd)) + 0.5 * ops.log(df) + 0.5 * math.log(math.pi)
        return shape - (total + ops.lgamma(0.5 * df) - ops.lgamma(0.5 * (df + 1.0)))
