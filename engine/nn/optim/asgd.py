"""ASGD: the average of the parameters over the steps."""

from __future__ import annotations

from typing import Any

from ...core.parameter import ParameterTuple
from ...cpu import updates
from ...cpu.array_module import array_module
from .optimizer import Optimizer, opt_init_args_register, take

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Averaged stochastic gradient descent (Polyak and Juditsky 1992); the averages are in ``ax``."""

    @opt_init_args_register
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for argument, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            if not isinstance(value, float):
                raise TypeError(f"For 'ASGD', '{argument}' must be a float, but got {type(value).__name__}")
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self.mu = ParameterTuple([self.scalar_state(f"mu_{p.name}") for p in self.parameters])
        self.eta = ParameterTuple([self.scalar_state(f"eta_{p.name}", 0.0) for p in self.parameters])
        self.ax = self.state_like_parameters("ax_")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int) -> Any:
        average = self.ax[place]
        eta = rate if step == 1 else float(self.eta[place]._array)
        new, averaged, next_eta, next_mu = updates.asgd(
            value, average._array, gradient, rate, eta, float(self.mu[place]._array),
            self.lambd, self.alpha, self.t0, step,
        )  # fmt: skip
        average._rebind(averaged)
        xp = array_module(value)
        take(self.eta[place], xp.asarray(next_eta))
        take(self.mu[place], xp.asarray(next_mu))
        return new
