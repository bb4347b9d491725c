"""Adagrad with PyTorch's names, and a learning rate that decays."""

from __future__ import annotations

from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from .optimizer import Group, Optimizer, Rate

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """Adagrad (Duchi et al. 2011): a = a + g * g; p = p - lr / (1 + (step - 1) * lr_decay) * g / (sqrt(a) + eps).

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, above 0.
        lr_decay: the decay of the learning rate, at least 0.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        initial_accumulator_value: the initial value of a, at least 0.
        eps: added to the root in the denominator, above 0.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` is empty, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is out of range.
    """

    _steps = "step_t"
    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Params,
        lr: Rate = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr, above=True)
        self._check("lr_decay", lr_decay)
        self._check("weight_decay", weight_decay)
        self._check("initial_accumulator_value", initial_accumulator_value)
        self._check("eps", eps, above=True)
        settings = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        first = initial_accumulator_value
        super().__init__(params, {**settings, "initial_accumulator_value": first, "maximize": maximize})
        self._keep("accum", first)
        self.step_t = self._counter("step_t")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        decayed_rate = rate / (1 + (step - 1) * group["lr_decay"])
        return updated_by(updates.adagrad, value, (self.accum[index],), gradient, decayed_rate, group["eps"])
