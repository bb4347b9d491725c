"""Laplace's distribution."""

from __future__ import annotations

from .... import ops
from ....tensors.dtype import DType, float32
from ....tensors.tensor import Tensor
from .._parameters import FLOATING, AtCall, ParamLike, above_zero
from .distribution import Distribution

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace's distribution, with the density exp(-abs(x - mean) / sd) / (2 * sd).

    As in MindSpore, it has only ``log_prob`` and ``prob``.

    Args:
        mean: the mean: a number, list, array or Tensor; None: given at each call.
        sd: the scale, above 0 (the standard deviation is sqrt(2) times as much): a number, list, array or Tensor;
            None: given at each call.
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
        name: str = "Laplace",
    ) -> None:
        self._define("Laplace", locals(), FLOATING, mean=None, sd=above_zero)

    def _log_prob(self, value: Tensor, mean: AtCall = None, sd: AtCall = None) -> Tensor:
        value, (mean, sd) = self._at(value, mean, sd)
        return -1.0 * ops.abs((value - mean) / sd) - ops.log(2.0 * sd)
