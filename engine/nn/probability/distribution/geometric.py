"""The geometric distribution."""

from __future__ import annotations

from typing import Any

from .... import ops
from ....core.dtype import DType, int32
from ....core.tensor import Tensor
from .._parameters import NUMBERS, check_dtype, inside_unit
from .distribution import Distribution

__all__ = ["Geometric"]


class Geometric(Distribution):
    """The count of failures before the first success, which has probability ``probs``.

    Raises:
        TypeError: ``dtype`` is no dtype of numbers.
        ValueError: ``probs`` is not between 0 and 1, without the ends.
    """

    _dist_type = "Geometric"
    _labels = ("probs",)

    def __init__(
        self, probs: Any = None, seed: int | None = None, dtype: DType = int32, name: str = "Geometric"
    ) -> None:
        param = {**locals(), "param_dict": {"probs": probs}}
        check_dtype(dtype, NUMBERS, "Geometric")
        super().__init__(seed, dtype, name, param)
        self._probs = self._add_parameter(probs, "probs")
        inside_unit(self._probs, "probs")

    @property
    def probs(self) -> Any:
        """The probability of a success."""
        return self._probs

    def _get_dist_args(self, probs1: Any = None) -> Any:
        return self._or_default(probs1)

    def _mean(self, probs1: Any = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (1.0 - p) / p

    def _mode(self, probs1: Any = None) -> Tensor:
        return ops.zeros_like(self._check_param_type(probs1)).astype(self.dtype)

    def _var(self, probs1: Any = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (1.0 - p) / ops.square(p)

    def _entropy(self, probs1: Any = None) -> Tensor:
        p = self._check_param_type(probs1)
        return (-(1.0 - p) * ops.log(1.0 - p) - p * ops.log(p)) / p

    def _prob(self, value: Tensor, probs1: Any = None) -> Tensor:
        value, p = self._counted(value, probs1)
        value = ops.floor(value)
        found = ops.exp(ops.log(1.0 - p) * value + ops.log(p))
        return ops.where(value < 0.0, ops.zeros_like(found), found)

    def _cdf(self, value: Tensor, probs1: Any = None) -> Tensor:
        value, p = self._counted(value, probs1)
        value = ops.floor(value)
        found = 1.0 - ops.pow(1.0 - p, value + 1.0)
        return ops.where(value < 0.0, ops.zeros_like(found), found)

    def _kl_loss(self, dist: str, probs1_b: Tensor, probs1: Any = None) -> Tensor:
        self._check_name(dist)
        b, a = self._of_other(probs1_b=probs1_b), self._check_param_type(probs1)
        return ops.log(a / b) + (1.0 - a) / a * ops.log((1.0 - a) / (1.0 - b))

    def _cross_entropy(self, dist: str, probs1_b: Any, probs1: Any = None) -> Any:
        self._check_name(dist)
        return self._entropy(probs1) + self._kl_loss(dist, probs1_b, probs1)

    def _sample(self, shape: Any = (), probs1: Any = None) -> Tensor:
        shape, p = self._check_shape(shape), self._check_param_type(probs1)
        return ops.floor(ops.log(self._uniform(shape + p.shape)) / ops.log(1.0 - p)).astype(self.dtype)
