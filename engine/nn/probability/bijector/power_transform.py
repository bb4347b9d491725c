"""The power transform."""

from __future__ import annotations

from typing import Any

from .... import ops
from ....tensors.tensor import Tensor
from .._parameters import ParamLike, parameter
from .bijector import Bijector

__all__ = ["PowerTransform"]


class PowerTransform(Bijector):
    """The power (1 + x * power)**(1 / power), and exp(x) if ``power`` is 0.

    Args:
        power: a floating number, list, array or Tensor, at least 0.
        name: the name in messages.

    Raises:
        TypeError: ``power`` is not floating.
        ValueError: ``power`` is negative.
    """

    _labels = ("power",)
    power = parameter("power", "The power.")

    def __init__(self, power: ParamLike = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name, param={**locals(), "param_dict": {"power": power}})
        self._power = self._add_parameter(power, "power")
        if not (self._power.asnumpy() >= 0).all():
            raise ValueError(f"For '{name}', 'power' must not be negative, but got {power}")

    def _parts(self, value: Tensor) -> tuple[Any, Any, Any]:
        """Return the value and the power broadcast, zeros of the power replaced by 1, and a mask of these zeros."""
        value, power = self._with(value, self.power)
        unit = ops.ones_like(value + power)
        value, power = value * unit, power * unit
        zero = power == 0.0
        return value, ops.where(zero, unit, power), zero

    def _forward(self, x: Tensor) -> Tensor:
        x, power, zero = self._parts(x)
        return ops.exp(ops.where(zero, x, ops.log1p(ops.where(zero, ops.zeros_like(x), x * power)) / power))

    def _inverse(self, y: Tensor) -> Tensor:
        y, power, zero = self._parts(y)
        return ops.where(zero, ops.log(y), ops.expm1(ops.log(y) * power) / power)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        x, power, zero = self._parts(x)
        inside = ops.where(zero, ops.zeros_like(x), x * power)
        return ops.where(zero, x, (1.0 / power - 1.0) * ops.log1p(inside))

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        y, power = self._with(y, self.power)
        return (power - 1.0) * ops.log(y)
