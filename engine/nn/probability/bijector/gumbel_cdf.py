"""The cumulative function of Gumbel's distribution."""

from __future__ import annotations

from .... import ops
from ....tensors.tensor import Tensor
from .._parameters import ParamLike, above_zero, parameter
from .bijector import Bijector

__all__ = ["GumbelCDF"]


class GumbelCDF(Bijector):
    """The cumulative function of Gumbel's distribution: exp(-exp(-(x - loc) / scale)).

    Args:
        loc: the position of the largest slope, a floating number, list, array or Tensor.
        scale: the width, above 0, of the dtype of ``loc``.
        name: the name in messages.

    Raises:
        TypeError: a parameter is not floating, or the two differ in dtype.
        ValueError: ``scale`` is not above 0.
    """

    _labels = ("loc", "scale")
    loc = parameter("loc", "The position of the largest slope.")
    scale = parameter("scale", "The width.")

    def __init__(self, loc: ParamLike = 0.0, scale: ParamLike = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param={**locals(), "param_dict": {"loc": loc, "scale": scale}})
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        above_zero(self._scale, "scale")

    def _forward(self, x: Tensor) -> Tensor:
        x, loc, scale = self._with(x, self.loc, self.scale)
        return ops.exp(-ops.exp(-((x - loc) / scale)))

    def _inverse(self, y: Tensor) -> Tensor:
        y, loc, scale = self._with(y, self.loc, self.scale)
        return loc - scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        x, loc, scale = self._with(x, self.loc, self.scale)
        z = (x - loc) / scale
        return -z - ops.exp(-z) - ops.log(scale)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        y, scale = self._with(y, self.scale)
        return ops.log(scale / (-1.0 * y * ops.log(y)))
