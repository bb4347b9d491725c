"""ASGD: the average of the parameters over the steps."""

from __future__ import annotations

from ...base.types import Array
from ...cpu.array_module import array_module
from ...cpu.optim import updates
from ...cpu.optim.updates import Number
from ...tensors.parameter import Parameter, ParameterTuple
from .optimizer import Decay, Optimizer, Params, Rate, opt_init_args_register
from .parameter_updates import New, number_of, take

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the averages of the parameters are in ``ax``.

    p = p * (1 - lambd * eta) - eta * g, where eta in step t is learning_rate / (1 + lambd * learning_rate * t)**alpha;
    the average begins with step ``t0``.

    Args:
        params: the parameters to update, or groups of them, as for ``Optimizer``.
        learning_rate: a number, one for each step, or a LearningRateSchedule.
        lambd: the decay of the parameter and of eta, a float.
        alpha: the exponent of the decay of eta, a float.
        t0: the first step of the average, a float; 1e6 by default.
        weight_decay: this multiple of a parameter is added to its gradient: a number, at least 0, or a cell of the
            step.

    Raises:
        TypeError: ``params`` holds no parameters, or ``lambd``, ``alpha`` or ``t0`` is not a float.
        ValueError: ``params`` is empty, or the learning rate or weight decay is negative.
    """

    _one_success = _keeps_numbers = True

    @opt_init_args_register
    def __init__(
        self,
        params: Params,
        learning_rate: Rate = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Decay = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for argument, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            if not isinstance(value, float):
                raise TypeError(f"For 'ASGD', '{argument}' must be a float, but got {type(value).__name__}")
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu = ParameterTuple([self.scalar_state(f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([self.scalar_state(f"eta_{p.name}", 0.0) for p in self.parameters])
        self.ax = self.state_like_parameters("ax_")

    def updated(self, index: int, value: Array, gradient: Array, rate: Number, step: Number) -> New:
        states = self.ax[index], self.eta[index], self.mu[index]
        return averaged_step(value, states, gradient, rate, step, (self.lambd, self.alpha, self.t0))


def averaged_step(
    value: Array,
    states: tuple[Parameter, Parameter, Parameter],
    gradient: Array,
    rate: Number,
    step: Number,
    settings: tuple[float, float, float],
) -> Array:
    """Return the new value of a step of ASGD, and update the average, eta and mu of the parameter.

    Args:
        value: the parameter's array.
        states: its average, its own rate eta, and mu, the share of the new value in the average.
        gradient: the parameter's gradient.
        rate: the learning rate, the initial value of eta.
        step: the number of this step, from 1.
        settings: ``lambd``, ``alpha`` and ``t0``.
    """
    average, eta, mu = states
    xp, stays = array_module(value), updates.is_on_gpu(step)
    now, share = number_of(eta, stays), number_of(mu, stays)
    now = xp.where(step == 1, rate, now) if stays else rate if step == 1 else now
    new, averaged, next_eta, next_mu = updates.asgd(value, average._array, gradient, rate, now, share, *settings, step)
    average._rebind(averaged)
    take(eta, xp.asarray(next_eta))
    take(mu, xp.asarray(next_mu))
    return new
