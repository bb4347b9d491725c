"""Momentum: steps along a decaying sum of the gradients."""

from __future__ import annotations

from ...base.argument_checks import check_bool, check_type
from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...tensors.tensor import Tensor
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["Momentum"]


class Momentum(Optimizer):
    """Momentum (Polyak 1964): v = momentum * v + g; p = p - lr * v, or p - lr * (g + momentum * v) in Nesterov's form.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: lr: a number, one for each step, or a LearningRateSchedule.
        momentum: the decay factor of v, a float of at least 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.
        loss_scale: the gradients are divided by it; above 0.
        use_nesterov: use Nesterov's form.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = _prepares_late = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate,
        momentum: float,
        weight_decay: Decay = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_type(momentum, float | Tensor, "Momentum", "momentum", "a float")
        self._check_number(momentum, "momentum", 0.0)
        check_bool(use_nesterov, "Momentum", "use_nesterov")
        self.momentum = self.scalar_state("momentum", float(momentum))
        self.use_nesterov = use_nesterov
        self.moments = self.state_like_parameters("moments")

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states, factor = (self.moments[index],), self._number(self.momentum)
        return updated_by(updates.momentum, value, states, gradient, rate, factor, self.use_nesterov)
