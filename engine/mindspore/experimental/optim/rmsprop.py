"""RMSprop with PyTorch's names."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from .optimizer import Group, Optimizer, Rate

__all__ = ["RMSprop"]


class RMSprop(Optimizer):
    """RMSprop (Hinton 2012): s = alpha * s + (1 - alpha) * g * g; p = p - lr * g / (sqrt(s) + eps).

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        alpha: the decay rate of s, at least 0.
        eps: added to the root in the denominator, above 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        momentum: the fraction of a step that is repeated in the next, at least 0.
        centered: subtract the square of a running mean of g from s (Graves 2013).
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr, above=True)
        self._check("alpha", alpha)
        self._check("eps", eps, above=True)
        self._check("momentum", momentum)
        self._check("weight_decay", weight_decay)
        settings = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self._keep("mean_grad")
        self._keep("mean_square")
        self._keep("moment")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        mean = self.mean_grad[index] if group["centered"] else None
        states = (mean, self.mean_square[index], self.moment[index])
        settings = (group["alpha"], group["momentum"], group["eps"])
        return updated_by(updates.rmsprop_pytorch, value, states, gradient, rate, *settings)
