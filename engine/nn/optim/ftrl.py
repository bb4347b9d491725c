"""FTRL: follow the regularized leader."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...tensors.parameter import Parameter
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, updated_by

__all__ = ["FTRL"]


class FTRL(Optimizer):
    """Follow the regularized leader (McMahan et al. 2013, algorithm 1).

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        initial_accum: the initial sum of squared gradients, at least 0.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        lr_power: the power of that sum that scales the steps, a float of at most 0; -0.5 is the root.
        l1: the weight of the sum of absolute values, which makes parameters 0; at least 0.
        l2: the weight of the sum of squares; at least 0.
        use_locking: stored, otherwise unused; an update is never written by two threads here.
        loss_scale: the gradients are divided by it; above 0.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, ``lr_power`` is not a float, or another number is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """

    _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        initial_accum: float = 0.1,
        learning_rate: Rate = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self._check_number(initial_accum, "initial_accum", 0.0)
        self._check_number(l1, "l1", 0.0)
        self._check_number(l2, "l2", 0.0)
        self._check_bool(use_locking, "use_locking")
        if not isinstance(lr_power, float):
            raise TypeError(f"For 'FTRL', 'lr_power' must be a float, but got {type(lr_power).__name__}")
        if lr_power > 0:
            raise ValueError(f"For 'FTRL', 'lr_power' must be at most 0, but got {lr_power}")
        self.lr_power, self.l1, self.l2 = lr_power, l1, l2
        self.moments = self.state_like_parameters("moments", initial_accum)
        self.linear = self.state_like_parameters("linear")

    def decays(self, parameter: Parameter) -> bool:
        """Return True: weight decay applies to all parameters, whatever their names, as in MindSpore.

        Args:
            parameter: one of the parameters without groups.
        """
        return True

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states = self.moments[index], self.linear[index]
        return updated_by(updates.ftrl, value, states, gradient, rate, self.l1, self.l2, self.lr_power)
