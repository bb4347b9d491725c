"""``mindspore.mint.optim``: optimizers with PyTorch's names and defaults; called with the gradients."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dtype import int32
from ..nn.cell import Cell
from ..parameter import Parameter
from ..recording import no_recording
from ..tensor import Tensor

__all__ = ["SGD", "Adam", "AdamW", "FusedAdamW"]


class _Optimizer(Cell):
    """Groups of parameters with their settings; a step makes new arrays and rebinds the parameters to them."""

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        who = f"For 'mint.optim.{type(self).__name__}'"
        if isinstance(params, Tensor) or not isinstance(params, Iterable):
            raise TypeError(f"{who}, 'params' must be a list of Parameters, but got {type(params).__name__}")
        given = list(params)
        if not given:
            raise ValueError(f"{who}, 'params' is empty: there is nothing to train")
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        self.defaults = dict(defaults)
        self.param_groups: list[dict[str, Any]] = []
        for group in groups:
            if unknown := set(group) - {"params", *defaults}:
                raise ValueError(f"{who}, a group cannot have {sorted(unknown)}; it may have {sorted(defaults)}")
            settings = {**defaults, **group, "params": list(group["params"])}
            for one in settings["params"]:
                if not isinstance(one, Parameter):
                    raise TypeError(f"{who}, 'params' must hold Parameters, but got {type(one).__name__}")
            _check(who, settings)
            self.param_groups.append(settings)
        self.parameters = [one for group in self.param_groups for one in group["params"]]
        self.state_step = Parameter(Tensor([0], int32), "state_step", requires_grad=False)
        self._kept: list[dict[str, Any]] = [{} for _ in self.parameters]

    def construct(self, gradients: Any) -> bool:
        """Change the parameters by their gradients, given in the same order.

        Raises:
            ValueError: another number of gradients, or one of another shape.
        """
        given = (gradients,) if isinstance(gradients, Tensor) else tuple(gradients)
        if len(given) != len(self.parameters):
            who = type(self).__name__
            wanted = len(self.parameters)
            raise ValueError(f"For 'mint.optim.{who}', there must be {wanted} gradients, but got {len(given)}")
        step = int(self.state_step._array[0]) + 1
        with no_recording(), np.errstate(all="ignore"):
            place = 0
            for group in self.param_groups:
                for parameter in group["params"]:
                    gradient = given[place]._array
                    if gradient.shape != parameter.shape:
                        raise ValueError(f"the gradient of '{parameter.name}' has the shape {gradient.shape}")
                    value = parameter._array
                    signed = -gradient if group["maximize"] else gradient
                    new = self.updated(group, value, signed.astype(value.dtype, copy=False), self._kept[place], step)
                    parameter._rebind(new.astype(value.dtype, copy=False))
                    place += 1
            self.state_step._rebind(self.state_step._array + np.int32(1))
        return True

    def updated(self, group: dict[str, Any], value: Any, gradient: Any, kept: dict[str, Any], step: int) -> Any:
        """The parameter's new array; ``kept`` is what the optimizer remembers of it."""
        raise NotImplementedError(f"{type(self).__name__} does not define 'updated'")


def _check(who: str, settings: dict[str, Any]) -> None:
    for name in ("lr", "eps", "weight_decay", "momentum"):
        value = settings.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float | Tensor):
            raise TypeError(f"{who}, '{name}' must be a number, but got {value!r}")
        if float(value) < 0:
            raise ValueError(f"{who}, '{name}' must not be negative, but got {value}")
    for beta in settings.get("betas", ()):
        if not 0 <= beta < 1:
            raise ValueError(f"{who}, 'betas' must be from 0 to below 1, but got {settings['betas']}")


class SGD(_Optimizer):
    """v = momentum * v + (1 - dampening) * g; p = p - lr * v, or p - lr * (g + momentum * v) with Nesterov's form."""

    def __init__(
        self, params: Any, lr: float, momentum: float = 0, dampening: float = 0, weight_decay: float = 0,
        nesterov: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("For 'mint.optim.SGD', 'nesterov' needs 'momentum' above 0 and 'dampening' 0")
        settings = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "nesterov": nesterov, "maximize": maximize})

    def updated(self, group: dict[str, Any], value: Any, gradient: Any, kept: dict[str, Any], step: int) -> Any:
        if group["weight_decay"]:
            gradient = gradient + value * group["weight_decay"]
        if group["momentum"]:
            before = kept.get("v")
            new = gradient if before is None else before * group["momentum"] + gradient * (1 - group["dampening"])
            kept["v"] = new
            gradient = gradient + new * group["momentum"] if group["nesterov"] else new
        return value - gradient * float(group["lr"])


class Adam(_Optimizer):
    """Kingma and Ba 2015, both moments corrected: p = p - lr * m_hat / (sqrt(v_hat) + eps)."""

    apart = False

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.0, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        settings = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**settings, "amsgrad": amsgrad, "maximize": maximize})

    def updated(self, group: dict[str, Any], value: Any, gradient: Any, kept: dict[str, Any], step: int) -> Any:
        rate, decay = float(group["lr"]), group["weight_decay"]
        if decay:
            if self.apart:
                value = value * (1 - rate * decay)
            else:
                gradient = gradient + value * decay
        (beta1, beta2), eps = group["betas"], group["eps"]
        m = kept["m"] = kept.get("m", 0) * beta1 + gradient * (1 - beta1)
        v = kept["v"] = kept.get("v", 0) * beta2 + gradient * gradient * (1 - beta2)
        if group["amsgrad"]:
            v = kept["most"] = np.maximum(kept["most"], v) if "most" in kept else v
        return value - m * (rate / (1 - beta1**step)) / (v**0.5 / math.sqrt(1 - beta2**step) + eps)


class AdamW(Adam):
    """Adam with decay apart from the gradient (Loshchilov and Hutter 2019)."""

    apart = True

    def __init__(
        self, params: Any, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0.01, amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class FusedAdamW(AdamW):
    """The same as AdamW; there is one kind of it here."""
