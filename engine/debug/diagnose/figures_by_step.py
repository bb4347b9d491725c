"""Figures of a training by step, for display."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from ..record.scalars import Scalars

__all__ = ["History"]

Series = deque[tuple[int, float]]

_MAX_STEPS = 1_000


def _series() -> Series:
    return deque(maxlen=_MAX_STEPS)


@dataclass(eq=False)
class History:
    """The newest values by step, oldest first: pairs of a step and a number, at most 1,000 of each; and the scalars.

    Attributes:
        losses: the loss of each gradient call for parameters, if it is one number.
        gradient_norms: the norm of each parameter's gradient, by the parameter's path.
        update_ratios: the norm of each change divided by that of the parameter before; omitted if that was 0.
        scalars: the losses of the complete run, learning rates, and what was logged, thinned out to a bounded size.
    """

    losses: Series = field(default_factory=_series)
    gradient_norms: dict[str, Series] = field(default_factory=dict)
    update_ratios: dict[str, Series] = field(default_factory=dict)
    scalars: Scalars = field(default_factory=Scalars)

    def add_loss(self, step: int, loss: float, weights: Hashable, subject: Callable[[], str]) -> None:
        """Add a loss; ``subject`` returns the common path of the weights that it is differentiated for."""
        self.losses.append((step, loss))
        self.scalars.add_loss(weights, subject, step, loss)

    def add_gradient(self, name: str, step: int, norm: float) -> None:
        """Add the norm of a gradient."""
        self.gradient_norms.setdefault(name, _series()).append((step, norm))

    def add_update(self, name: str, step: int, ratio: float) -> None:
        """Add the ratio of an update."""
        self.update_ratios.setdefault(name, _series()).append((step, ratio))
