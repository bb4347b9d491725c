"""What the experimental Adam and its relatives share: their state and the checks of their arguments."""

from __future__ import annotations

from .optimizer import Optimizer, Rate

__all__ = ["Betas", "Moments"]


Betas = tuple[float, float]


class Moments(Optimizer):
    """What every Adam has: a moving average of the gradient, and one of its square.

    Args:
        params: the parameters to change, or groups of them.
        defaults: settings of the groups that have none of their own.
    """

    _steps = "step_t"

    def _start(self, *names: str) -> None:
        for name in names:
            if name == self._steps:
                setattr(self, name, self._counter(name))
            else:
                self._keep(name)

    def _check_all(self, lr: Rate, betas: Betas, eps: float, weight_decay: float, above: bool = True) -> None:
        self._check("lr", lr, above)
        for place, beta in enumerate(betas):
            self._check(f"betas[{place}]", beta, below=1)
        self._check("eps", eps, above)
        self._check("weight_decay", weight_decay)
