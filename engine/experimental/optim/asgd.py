"""ASGD with PyTorch's names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.parameter import Parameter
from ...core.tensor import Tensor
from ...cpu import updates
from ...cpu.array_module import array_module
from ...nn.optim.optimizer import take
from .optimizer import Optimizer

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """Polyak and Juditsky 1992: SGD whose rate shrinks; ``ax`` is the average of the parameter from step ``t0`` on."""

    _steps = "step_t"

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0.0, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr, above=True)
        self._check("weight_decay", weight_decay)
        for name, number in (("lambd", lambd), ("t0", t0)):
            if not isinstance(number, float):
                raise TypeError(f"For 'ASGD', '{name}' must be a float, but got {type(number).__name__}")
        settings = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0}
        super().__init__(params, {**settings, "weight_decay": weight_decay, "maximize": maximize})
        self.mu: list[Parameter] = []
        self.eta: list[Parameter] = []
        self._begin(self.parameters)
        self._keep("ax")
        self.step_t = self._counter("step_t")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        super().add_param_group(param_group)
        if self._kept:
            self._begin(param_group["params"])

    def _begin(self, parameters: Iterable[Parameter]) -> None:
        for one in parameters:
            self.mu.append(Parameter(Tensor(1.0), f"mu_{one.name}"))
            self.eta.append(Parameter(Tensor(0.0), f"eta_{one.name}"))

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        average = self.ax[place]
        eta = rate if step == 1 else float(self.eta[place]._array)
        new, averaged, next_eta, next_mu = updates.asgd(
            value, average._array, gradient, rate, eta, float(self.mu[place]._array),
            group["lambd"], group["alpha"], group["t0"], step,
        )  # fmt: skip
        average._rebind(averaged)
        xp = array_module(value)
        take(self.eta[place], xp.asarray(next_eta))
        take(self.mu[place], xp.asarray(next_mu))
        return new
