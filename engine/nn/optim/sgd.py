"""SGD with momentum, as MindSpore's ``nn.SGD``."""

from __future__ import annotations

import numpy as np

from ...base.argument_checks import check_bool
from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number, is_on_gpu
from ...tensors.tensor import Tensor
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["SGD"]


class SGD(Optimizer):
    """Gradient descent with momentum (Sutskever et al. 2013): v = momentum * v + (1 - dampening) * g; p = p - lr * v.

    In the first step v is g. Nesterov's form is p - lr * (g + momentum * v); without momentum it is p - lr * g.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: lr: a number, one for each step, or a LearningRateSchedule.
        momentum: the decay factor of v, at least 0.
        dampening: the share of g that is not added to v, at least 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0.
        nesterov: use Nesterov's form, which needs ``momentum`` above 0 and ``dampening`` 0.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: ``params`` holds no parameters, ``weight_decay`` is a cell, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, a number is outside its range, or ``nesterov`` without its requirements.
    """

    _keeps_numbers = _prepares_late = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: Decay = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(dampening, "dampening", 0.0)
        check_bool(nesterov, "SGD", "nesterov")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        if self.dynamic_weight_decay:
            raise TypeError("For 'SGD', 'weight_decay' must be a number, not a cell; use Momentum or Adam")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.dampening, self.nesterov = float(dampening), nesterov
        self.accum = self.state_like_parameters("accum")
        self.stat = self.state_like_parameters("stat", "ones")

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        if is_on_gpu(value):
            factor, states = self._number(self.momentum), (self.accum[index], self.stat[index])
            settings = (factor, self.dampening, self.nesterov, step)
            return updated_by(updates.sgd_by_step, value, states, gradient, rate, *settings)
        momentum = float(self.momentum._array)
        if not momentum:
            return updates.descent(value, gradient, rate)
        if step == 1:  # stored in checkpoints, as in MindSpore
            self.stat[index].assign_value(Tensor(np.zeros_like(self.stat[index].asnumpy())))
        settings = (momentum, self.dampening, self.nesterov, step == 1)
        return updated_by(updates.sgd, value, (self.accum[index],), gradient, rate, *settings)
