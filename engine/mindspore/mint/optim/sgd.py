"""SGD of ``mint``: that of ``experimental`` with less state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ....base.types import Array
from ....cpu.optim import updates
from ....cpu.optim.updates import is_on_gpu
from ....nn.optim.parameter_updates import New, updated_by
from ....tensors.tensor import Tensor
from ...experimental.optim.optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p - lr * v, or p - lr * (g + momentum * v) in Nesterov's form.

    In a Parameter's first step v is g (Sutskever et al. 2013).

    Args:
        params: the Parameters to train, or a list of dictionaries, one per parameter group, with ``params`` and that
            group's settings.
        lr: the learning rate, from 0 on: a number or a Tensor of one.
        momentum: the fraction of v that is kept, from 0 on; 0 stores no v.
        dampening: the fraction of the gradient that is left out of v.
        weight_decay: the L2 penalty: this multiple of a Parameter is added to its gradient, from 0 on.
        nesterov: whether to take Nesterov's form; needs ``momentum`` above 0 and ``dampening`` 0.
        maximize: whether to ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` are not Parameters, or a setting is not a number.
        ValueError: no Parameters, a Parameter in two groups, or a setting out of range.
    """

    _steps = "step_t"
    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr)
        self._check("momentum", momentum)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "nesterov": nesterov, "maximize": maximize})
        self._keep("momentum_buf")
        self.step_t = self._counter("step_t")

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: dict[str, Any]) -> New:
        if not group["momentum"]:
            return updated_by(updates.descent, value, (), gradient, rate)
        if is_on_gpu(step):
            settings = (group["momentum"], group["dampening"], group["nesterov"], step)
            return updated_by(updates.sgd_by_step, value, (self.momentum_buf[index], None), gradient, rate, *settings)
        options = (group["momentum"], group["dampening"], group["nesterov"], step == 1)
        return updated_by(updates.sgd, value, (self.momentum_buf[index],), gradient, rate, *options)
