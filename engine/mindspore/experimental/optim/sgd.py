"""SGD with PyTorch's names, as in ``mindspore.experimental``."""

from __future__ import annotations

import math
from typing import Any

from ....base.argument_checks import check_bool
from ....base.types import Array
from ....cpu.optim import updates
from ....cpu.optim.updates import is_on_gpu
from ....nn.optim.optimizer import Params
from ....nn.optim.parameter_updates import New, updated_by
from .optimizer import Group, Optimizer, Rate

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent with momentum (Sutskever et al. 2013): v = momentum * v + (1 - dampening) * g; p = p - lr * v.

    In the first step v is g. Nesterov's form is p - lr * (g + momentum * v); without momentum it is p - lr * g.

    Args:
        params: the parameters to train, or groups of them: dictionaries with ``params`` and their settings.
        lr: the learning rate, a number or a Tensor of one, at least 0.
        momentum: the fraction of v that is kept, at least 0.
        dampening: the fraction of g that is left out of v.
        weight_decay: this multiple of a parameter is added to its gradient, at least 0.
        nesterov: use Nesterov's form, which needs ``momentum`` above 0 and ``dampening`` 0.
        maximize: ascend the gradient instead of descending.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, a number is out of range, or ``nesterov`` lacks what it needs.
    """

    _keeps_numbers = _prepares_late = True

    def __init__(
        self,
        params: Params,
        lr: Rate,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        self._check("lr", lr)
        self._check("momentum", momentum)
        for name, flag in (("nesterov", nesterov), ("maximize", maximize)):
            check_bool(flag, "SGD", name)
        settings = {"lr": lr, "momentum": float(momentum), "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "nesterov": nesterov, "maximize": maximize, "grad_centralization": False})
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                f"For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, but got {momentum} and {dampening}"
            )
        self._keep("accum")
        self._keep("stat", "ones")

    def add_param_group(self, param_group: Group) -> None:
        """Add a group as ``Optimizer.add_param_group``, and check ``dampening``."""
        if isinstance(param_group, dict):
            param_group.setdefault("dampening", self.defaults["dampening"])
            self._check("dampening", param_group["dampening"], least=-math.inf)
            param_group["dampening"] = float(param_group["dampening"])
        super().add_param_group(param_group)

    def updated(self, index: int, value: Array, gradient: Array, rate: Any, step: Any, group: Group) -> New:
        if not group["momentum"]:
            return updated_by(updates.descent, value, (), gradient, rate)
        first = self.stat[index]
        if is_on_gpu(value):
            settings = (group["momentum"], group["dampening"], group["nesterov"])
            return updated_by(updates.sgd_by_stat, value, (self.accum[index], first), gradient, rate, *settings)
        starts = bool(first._array.reshape(-1)[:1].any())
        settings = (group["momentum"], group["dampening"], group["nesterov"])
        new = updated_by(updates.sgd, value, (self.accum[index],), gradient, rate, *settings, starts)
        if starts:
            first._rebind(first._array * first._array.dtype.type(0))
        return new
