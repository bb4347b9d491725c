"""What the experimental Adam and its relatives share: their state and the checks of their arguments."""

from __future__ import annotations

from typing import Any

from .optimizer import Optimizer

__all__ = ["Betas", "Moments"]


Betas = tuple[float, float]


class Moments(Optimizer):
    """What every Adam has: a moving average of the gradient, and one of its square."""

    def _start(self, *names: str) -> None:
        for name in names:
            if "step" in name:
                self._steps = name
                setattr(self, name, self._counter(name))
            else:
                self._keep(name)

    def _check_all(self, lr: Any, betas: Betas, eps: float, weight_decay: float, above: bool = True) -> None:
        self._check("lr", lr, above)
        for place, beta in enumerate(betas):
            self._check(f"betas[{place}]", beta, below=1)
        self._check("eps", eps, above)
        self._check("weight_decay", weight_decay)
