"""Affine function."""

from __future__ import annotations

from .... import ops
from ....tensors.tensor import Tensor
from .._parameters import ParamLike, parameter
from .bijector import Bijector

__all__ = ["ScalarAffine"]


class ScalarAffine(Bijector):
    """The affine function scale * x + shift.

    Args:
        scale: the slope, a floating number, list, array or Tensor.
        shift: the value at 0, of the dtype of ``scale``.
        name: the name in messages.

    Raises:
        TypeError: a parameter is not floating, or the two differ in dtype.
    """

    _labels = ("scale", "shift")
    scale = parameter("scale", "The slope.")
    shift = parameter("shift", "The value at 0.")

    def __init__(self, scale: ParamLike = 1.0, shift: ParamLike = 0.0, name: str = "ScalarAffine") -> None:
        param = {**locals(), "param_dict": {"scale": scale, "shift": shift}}
        super().__init__(True, True, name, None, param)
        self._scale = self._add_parameter(scale, "scale")
        self._shift = self._add_parameter(shift, "shift")

    def _forward(self, x: Tensor) -> Tensor:
        x, scale, shift = self._with(x, self.scale, self.shift)
        return scale * x + shift

    def _inverse(self, y: Tensor) -> Tensor:
        y, scale, shift = self._with(y, self.scale, self.shift)
        return (y - shift) / scale

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return ops.log(ops.abs(self._with(x, self.scale)[1]))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return -ops.log(ops.abs(self._with(y, self.scale)[1]))
