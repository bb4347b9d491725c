"""Softplus function."""

from __future__ import annotations

from .... import ops
from ....tensors.tensor import Tensor
from ...layers.activation import LogSigmoid
from .._parameters import ParamLike, parameter
from .bijector import Bijector

__all__ = ["Softplus"]


class Softplus(Bijector):
    """The smooth approximation log(1 + exp(sharpness * x)) / sharpness of max(0, x).

    Args:
        sharpness: the sharpness of the bend, a floating number, list, array or Tensor.
        name: the name in messages.

    Raises:
        TypeError: ``sharpness`` is not floating.
    """

    _labels = ("sharpness",)
    sharpness = parameter("sharpness", "The sharpness of the bend.")

    def __init__(self, sharpness: ParamLike = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param={**locals(), "param_dict": {"sharpness": sharpness}})
        self._sharpness = self._add_parameter(sharpness, "sharpness")
        self.log_sigmoid = LogSigmoid()

    def _forward(self, x: Tensor) -> Tensor:
        x, sharpness = self._with(x, self.sharpness)
        return ops.softplus(sharpness * x) / sharpness

    def _inverse(self, y: Tensor) -> Tensor:
        y, sharpness = self._with(y, self.sharpness)
        scaled = sharpness * y
        return (scaled + ops.log(-ops.expm1(-scaled))) / sharpness

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        x, sharpness = self._with(x, self.sharpness)
        return self.log_sigmoid(sharpness * x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        y, sharpness = self._with(y, self.sharpness)
        return -ops.log(-ops.expm1(-sharpness * y))
