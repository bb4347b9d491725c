"""Figures of a training by step, for display."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

__all__ = ["History"]

Series = deque[tuple[int, float]]

_MAX_STEPS = 1_000


def _series() -> Series:
    return deque(maxlen=_MAX_STEPS)


@dataclass(eq=False)
class History:
    """The newest values by step, oldest first: pairs of a step and a number, at most 1,000 of each.

    Attributes:
        losses: the loss of each gradient call for parameters, if it is one number.
        gradient_norms: the norm of each parameter's gradient, by the parameter's path.
        update_ratios: the norm of each change divided by that of the parameter before; omitted if that was 0.
    """

    losses: Series = field(default_factory=_series)
    gradient_norms: dict[str, Series] = field(default_factory=dict)
    update_ratios: dict[str, Series] = field(default_factory=dict)

    def add_gradient(self, name: str, step: int, norm: float) -> None:
        """Add the norm of a gradient."""
        self.gradient_norms.setdefault(name, _series()).append((step, norm))

    def add_update(self, name: str, step: int, ratio: float) -> None:
        """Add the ratio of an update."""
        self.update_ratios.setdefault(name, _series()).append((step, ratio))
