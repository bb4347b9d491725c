"""State and argument checks of the experimental Adam family."""

from __future__ import annotations

from typing import Any

from ....cpu.optim.updates import is_on_gpu
from .optimizer import Optimizer, Rate

__all__ = ["Betas", "Moments"]


Betas = tuple[float, float]


class Moments(Optimizer):
    """Base of the Adam family: a moving average of the gradient, and one of its square.

    Args:
        params: the parameters to train, or groups of them.
        defaults: default settings of the groups.
    """

    _steps = "step_t"
    _keeps_numbers = _prepares_late = True

    def after_step(self) -> None:
        """Forget the powers of the step; see ``Optimizer.after_step``."""
        self.__dict__.pop("_powers", None)

    def _power(self, beta: float, step: Any) -> Any:
        """Return beta**step; for a step on a GPU, computed once in double precision."""
        if not is_on_gpu(step):
            return beta**step
        powers: dict[Any, Any] = self.__dict__.setdefault("_powers", {})
        if (beta, id(step)) not in powers:
            powers[beta, id(step)] = (
                float(beta) ** step.astype("float64"),
                step,
            )  # the tuple keeps the step, and with it its id
        return powers[beta, id(step)][0]

    def _start(self, *names: str) -> None:
        for name in names:
            if name == self._steps:
                setattr(self, name, self._counter(name))
            else:
                self._keep(name)

    def _check_all(self, lr: Rate, betas: Betas, eps: float, weight_decay: float, above: bool = True) -> None:
        self._check("lr", lr, above)
        for index, beta in enumerate(betas):
            self._check(f"betas[{index}]", beta, below=1)
        self._check("eps", eps, above)
        self._check("weight_decay", weight_decay)
