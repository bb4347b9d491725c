"""ProximalAdagrad: Adagrad's step, then shrinkage towards 0."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["ProximalAdagrad"]


class ProximalAdagrad(Optimizer):
    """Proximal Adagrad (Duchi and Singer 2009): Adagrad's step q = p - lr * g / sqrt(a), then shrinkage towards 0.

    a = a + g * g; with r = lr / sqrt(a), p = sign(q) / (1 + r * l2) * max(abs(q) - r * l1, 0).

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        accum: the initial value of a, at least 0.
        learning_rate: lr: a number, one for each step, or a LearningRateSchedule.
        l1: the weight of the sum of absolute values, which makes parameters 0; at least 0.
        l2: the weight of the sum of squares; at least 0.
        use_locking: stored, otherwise unused; an update is never written by two threads here.
        loss_scale: the gradients are divided by it; above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or a number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        accum: float = 0.1,
        learning_rate: Rate = 0.001,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for argument, number in (("accum", accum), ("l1", l1), ("l2", l2)):
            self._check_number(number, argument, 0.0)
        self._check_bool(use_locking, "use_locking")
        self.l1, self.l2 = l1, l2
        self.accum = self.state_like_parameters("accum", accum)

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        return updated_by(updates.proximal_adagrad, value, (self.accum[index],), gradient, rate, self.l1, self.l2)
