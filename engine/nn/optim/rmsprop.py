"""RMSProp: steps divided by the root of a running mean of the squared gradient."""

from __future__ import annotations

from ...base.argument_checks import check_bool
from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["RMSProp"]


class RMSProp(Optimizer):
    """RMSProp (Hinton 2012): steps divided by the root of a running mean of the squared gradient.

    s = decay * s + (1 - decay) * g * g; v = momentum * v + lr * g / sqrt(s + epsilon); p = p - v. As in MindSpore, s
    starts at 1.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: lr: a number, one for each step, or a LearningRateSchedule.
        decay: the decay factor of s, at least 0.
        momentum: the decay factor of v, at least 0.
        epsilon: added under the root, above 0.
        use_locking: stored, otherwise unused; an update is never written by two threads here.
        centered: subtract the square of a running mean of g from s (Graves 2013).
        loss_scale: the gradients are divided by it; above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(decay, "decay", 0.0)
        self._check_number(momentum, "momentum", 0.0)
        self._check_number(epsilon, "epsilon", 0.0, above=True)
        for argument, value in (("use_locking", use_locking), ("centered", centered)):
            check_bool(value, "RMSProp", argument)
        self.decay, self.momentum, self.epsilon, self.centered = decay, momentum, epsilon, centered
        if centered:
            self.mg = self.state_like_parameters("mean_grad")
        self.ms = self.state_like_parameters("mean_square", "ones")
        self.moment = self.state_like_parameters("moment")

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states = self.mg[index] if self.centered else None, self.ms[index], self.moment[index]
        return updated_by(updates.rmsprop, value, states, gradient, rate, self.decay, self.momentum, self.epsilon)
