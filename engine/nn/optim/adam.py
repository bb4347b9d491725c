"""Adam, and its variants with the same steps: AdamOffload, LazyAdam."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base.argument_checks import check_bool
from ...base.types import Array
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...ops.legacy.updates import adam
from ...tensors.backend import many_at_once
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, take, updated_by

__all__ = ["Adam", "AdamOffload", "LazyAdam"]


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015), in the form that corrects the learning rate.

    m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    lr_t = learning_rate * sqrt(1 - beta2**t) / (1 - beta1**t); p = p - lr_t * m / (sqrt(v) + eps).

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        beta1: the decay factor of m, a float between 0 and 1.
        beta2: the decay factor of v, a float between 0 and 1.
        eps: added to the root in the denominator, above 0.
        use_locking: stored, otherwise unused; an update is never written by two threads here.
        use_nesterov: step by beta1 * m + (1 - beta1) * g (Dozat 2016) instead of m.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.
        loss_scale: the gradients are divided by it; above 0.
        use_amsgrad: divide by the largest v so far (Reddi et al. 2018).
        **kwargs: ``use_lazy`` and ``use_offload``, bools: stored, otherwise unused, they give the same steps.

    Raises:
        TypeError: ``params`` holds no parameters, an argument is of the wrong kind, or its name is unknown.
        ValueError: ``params`` is empty, a number is outside its range, or two of ``use_amsgrad``, ``use_lazy`` and
            ``use_offload`` are set.
    """

    _shape_of_powers: tuple[int, ...] = ()
    _keeps_numbers = _prepares_late = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Decay = 0.0,
        loss_scale: float = 1.0,
        use_amsgrad: bool = False,
        **kwargs: Any,
    ) -> None:
        allowed = ("use_lazy", "use_offload")
        for key in kwargs:
            if key not in allowed:
                raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{key}'")
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        flags = {"use_locking": use_locking, "use_nesterov": use_nesterov, "use_amsgrad": use_amsgrad, **kwargs}
        for argument, value in flags.items():
            check_bool(value, type(self).__name__, argument)
        self._check_adam(beta1, beta2, eps)
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.beta1_power = self.scalar_state("beta1_power", 1.0, self._shape_of_powers)
        self.beta2_power = self.scalar_state("beta2_power", 1.0, self._shape_of_powers)
        self.moment1 = self.state_like_parameters("moment1")
        self.moment2 = self.state_like_parameters("moment2")
        if all(kwargs.get(flag) for flag in allowed):
            raise ValueError("For 'Adam', 'use_lazy' and 'use_offload' cannot both be True")
        if use_amsgrad and any(kwargs.values()):
            raise ValueError("For 'Adam', 'use_amsgrad' cannot be set with 'use_lazy' or 'use_offload'")
        self.use_nesterov, self.use_amsgrad = use_nesterov, use_amsgrad
        if use_amsgrad:
            self.vhat = self.state_like_parameters("vhat")

    def before_step(self, step: Number) -> None:
        for power, beta in ((self.beta1_power, self.beta1), (self.beta2_power, self.beta2)):
            take(power, power._array * np.float32(beta))

    def _powers(self) -> list[Number]:
        """Return the powers of both betas, which are state: training continues with them from a checkpoint."""
        return [self._number(power) for power in (self.beta1_power, self.beta2_power)]

    def _corrects_late(self) -> bool:
        """Return whether a kernel over many tensors corrects the rate."""
        return many_at_once() is not None and not self.use_amsgrad

    def _corrected(self, rates: list[Number]) -> list[Number]:
        value = self.parameters[0]._array
        if type(value) is np.ndarray or self._corrects_late():
            return rates
        powers = self._powers()
        distinct = {id(rate): rate for rate in rates}
        once = {key: updates.rate_by_powers(value, rate, *powers) for key, rate in distinct.items()}
        return [once[id(rate)] for rate in rates]

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states, corrected = [self.moment1[index], self.moment2[index]], rate
        settings = (self.beta1, self.beta2, self.eps, self.use_nesterov)
        if type(value) is np.ndarray:
            corrected = updates.corrected_rate(rate, *self._powers())
        elif self._corrects_late():
            return updated_by(updates.adam_by_powers, value, states, gradient, rate, *self._powers(), *settings)
        if self.use_amsgrad:
            states.append(self.vhat[index])
            return updated_by(updates.amsgrad, value, states, gradient, corrected, *settings)
        keywords = {"beta1": self.beta1, "beta2": self.beta2, "eps": self.eps, "use_nesterov": self.use_nesterov}
        return updated_by(adam.on_arrays, value, states, gradient, lr_t=corrected, **keywords)


class _WithoutAmsgrad(Adam):
    _shape_of_powers = (1,)

    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        use_locking: bool = False,
        use_nesterov: bool = False,
        weight_decay: Decay = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(params, learning_rate, beta1, beta2, eps, use_locking, use_nesterov, weight_decay, loss_scale)


class AdamOffload(_WithoutAmsgrad):
    """``Adam``, which MindSpore computes on the host; here an update runs where the parameters are.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        beta1: the decay factor of the first moment, a float between 0 and 1.
        beta2: the decay factor of the second moment, a float between 0 and 1.
        eps: added to the root in the denominator, above 0.
        use_locking: stored, otherwise unused.
        use_nesterov: step by beta1 * m + (1 - beta1) * g instead of m.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """


class LazyAdam(_WithoutAmsgrad):
    """``Adam``; for the dense gradients that this engine has, the lazy form makes the same steps.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        beta1: the decay factor of the first moment, a float between 0 and 1.
        beta2: the decay factor of the second moment, a float between 0 and 1.
        eps: added to the root in the denominator, above 0.
        use_locking: stored, otherwise unused.
        use_nesterov: step by beta1 * m + (1 - beta1) * g instead of m.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.
        loss_scale: the gradients are divided by it; above 0.

    Raises:
        TypeError: ``params`` holds no parameters, or an argument is of the wrong kind.
        ValueError: ``params`` is empty, or a number is outside its range.
    """
