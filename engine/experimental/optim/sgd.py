"""SGD with PyTorch's names, as in ``mindspore.experimental``."""

from __future__ import annotations

import math
from typing import Any

from ...cpu import updates
from .optimizer import Optimizer

__all__ = ["SGD"]


class SGD(Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    def __init__(
        self, params: Any, lr: Any, momentum: float = 0, dampening: float = 0, weight_decay: float = 0.0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        self._check("lr", lr)
        self._check("momentum", momentum)
        for name, flag in (("nesterov", nesterov), ("maximize", maximize)):
            if not isinstance(flag, bool):
                raise TypeError(f"For 'SGD', '{name}' must be a bool, but got {type(flag).__name__}")
        settings = {"lr": lr, "momentum": float(momentum), "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(
            params, {**settings, "nesterov": nesterov, "maximize": maximize, "grad_centralization": False}
        )
        for group in self.param_groups:
            self._check("dampening", group["dampening"], least=-math.inf)
            group["dampening"] = float(group["dampening"])
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError(
                "For 'SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0, "
                f"but got {momentum} and {dampening}"
            )
        self._keep("accum")
        self._keep("stat", "ones")

    def updated(self, place: int, value: Any, gradient: Any, rate: float, step: int, group: dict[str, Any]) -> Any:
        if not group["momentum"]:
            return updates.descent(value, gradient, rate)
        kept, first = self.accum[place], self.stat[place]
        starts = bool(first._array.reshape(-1)[:1].any())
        new, sums = updates.sgd(
            value, kept._array, gradient, rate, group["momentum"], group["dampening"], group["nesterov"], starts
        )
        kept._rebind(sums)
        if starts:
            first._rebind(first._array * first._array.dtype.type(0))
        return new
