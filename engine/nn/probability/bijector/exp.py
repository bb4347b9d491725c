"""The exponential function."""

from __future__ import annotations

from .power_transform import PowerTransform

__all__ = ["Exp"]


class Exp(PowerTransform):
    """The exponential function exp(x), with the inverse log(y).

    Args:
        name: the name in messages.
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(name=name)

    def extend_repr(self) -> str:
        return "exp"
