"""Inverse of a bijector."""

from __future__ import annotations

from ....base.argument_checks import check_type
from ....tensors.tensor import Tensor
from .bijector import Bijector

__all__ = ["Invert"]


class Invert(Bijector):
    """The inverse of ``bijector``: its forward is that one's inverse.

    Args:
        bijector: the bijector to invert.
        name: the name in messages; by default "Invert" and the name of ``bijector``.

    Raises:
        TypeError: ``bijector`` is not a Bijector.
    """

    def __init__(self, bijector: Bijector, name: str = "") -> None:
        check_type(bijector, Bijector, "Invert", "bijector")
        name = name or "Invert" + bijector.name
        super().__init__(
            bijector.is_constant_jacobian,
            bijector.is_injective,
            name,
            bijector.dtype,
            {"bijector": bijector, "name": name},
        )
        self._bijector = bijector
        self._batch_shape, self._is_scalar_batch = bijector.batch_shape, bijector.is_scalar_batch

    @property
    def bijector(self) -> Bijector:
        """The inverted bijector."""
        return self._bijector

    def _forward(self, x: Tensor) -> Tensor:
        return self.bijector("inverse", x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.bijector("forward", y)

    def _forward_log_jacobian(self, x: Tensor) -> Tensor:
        return self.bijector("inverse_log_jacobian", x)

    def _inverse_log_jacobian(self, y: Tensor) -> Tensor:
        return self.bijector("forward_log_jacobian", y)
