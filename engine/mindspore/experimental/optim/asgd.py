"""ASGD with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....nn.optim.asgd import averaged_step
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New
from .optimizer import Group, Optimizer, Rate

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged gradient descent (Polyak and Juditsky 1992), whose rate shrinks; ``ax`` has the averages from ``t0`` on.

    p = p * (1 - lambd * eta) - eta * g, where eta after step t is lr / (1 + lambd * lr * t)**alpha.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        lambd: the decay of the parameter and of eta, a float.
        alpha: the power by which eta falls.
        t0: the first step of the average, a float.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _steps = "step_t"
    _keeps_numbers = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr, above=True)
        self._check("weight_decay", weight_decay)
        for name, number in (("lambd", lambd), ("t0", t0)):
            if not isinstance(number, float):
                raise TypeError(f"For 'ASGD', '{name}' must be a float, but got {type(number).__name__}")
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self._keep("mu", 1.0, scalar=True)
        self._keep("eta", 0.0, scalar=True)
        self._keep("ax")
        self.step_t = self._counter("step_t")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        states, settings = (
            (self.ax[index], self.eta[index], self.mu[index]),
            (group["lambd"], group["alpha"], group["t0"]),
        )
        return averaged_step(value, states, gradient, rate, step, settings)
