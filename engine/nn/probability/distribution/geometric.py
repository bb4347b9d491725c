"""The geometric distribution."""

from __future__ import annotations

from .... import ops
from ....tensors.dtype import DType, int32
from ....tensors.tensor import Tensor
from .._parameters import NUMBERS, AtCall, ParamLike, inside_unit, parameter
from .distribution import Distribution

__all__ = ["Geometric"]


class Geometric(Distribution):
    """The count of failures before the first success, which has probability ``probs``.

    Args:
        probs: the probability of a success, between 0 and 1: a number, list, array or Tensor; None: given at
            each call.
        seed: the seed of samples, an int of at least 0; with 0 or None they come from the engine's stream of random
            numbers.
        dtype: the dtype of samples: a floating or an integer dtype.
        name: the name in messages and print.

    Raises:
        TypeError: ``dtype`` is not a dtype of numbers, or a parameter is not a number, list, array or Tensor.
        ValueError: ``probs`` is not between 0 and 1, without the ends.
    """

    _dist_type = "Geometric"
    _labels = ("probs",)
    probs = parameter("probs", "The probability of a success.")

    def __init__(
        self, probs: ParamLike = None, seed: int | None = None, dtype: DType = int32, name: str = "Geometric"
    ) -> None:
        self._define("Geometric", locals(), NUMBERS, probs=inside_unit)

    def _get_dist_args(self, probs1: AtCall = None) -> tuple[Tensor, ...]:
        return self._or_default(probs1)

    def _mean(self, probs1: AtCall = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (1.0 - p) / p

    def _mode(self, probs1: AtCall = None) -> Tensor:
        return ops.zeros_like(self._check_param_type(probs1)).astype(self.dtype)

    def _var(self, probs1: AtCall = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (1.0 - p) / ops.square(p)

    def _entropy(self, probs1: AtCall = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (-(1.0 - p) * ops.log(1.0 - p) - p * ops.log(p)) / p

    def _prob(self, value: Tensor, probs1: AtCall = None) -> Tensor:
        value, p = self._counted(value, probs1)
        value = ops.floor(value)
        probability = ops.exp(ops.log(1.0 - p) * value + ops.log(p))
        return ops.where(value < 0.0, ops.zeros_like(probability), probability)

    def _cdf(self, value: Tensor, probs1: AtCall = None) -> Tensor:
        value, p = self._counted(value, probs1)
        value = ops.floor(value)
        probability = 1.0 - ops.pow(1.0 - p, value + 1.0)
        return ops.where(value < 0.0, ops.zeros_like(probability), probability)

    def _kl_loss(self, dist: str, probs1_b: Tensor, probs1: AtCall = None) -> Tensor:
        self._check_name(dist)
        b, a = self._of_other(probs1_b=probs1_b), self._check_param_type(probs1)
        return ops.log(a / b) + (1.0 - a) / a * ops.log((1.0 - a) / (1.0 - b))

    def _cross_entropy(self, dist: str, probs1_b: Tensor, probs1: AtCall = None) -> Tensor:
        self._check_name(dist)
        return self._entropy(probs1) + self._kl_loss(dist, probs1_b, probs1)

    def _sample(self, shape: tuple[int, ...] = (), probs1: AtCall = None) -> Tensor:
        shape, p = self._check_shape(shape), self._check_param_type(probs1)
        return ops.floor(ops.log(self._uniform(shape + p.shape)) / ops.log(1.0 - p)).astype(self.dtype)
