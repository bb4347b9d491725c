"""One step of Adam on arrays."""

from __future__ import annotations

from hookscope.engine.cpu.array_module import Array, array_module
from hookscope.engine.cpu.widening import narrow, widen

__all__ = ["adam"]


def adam(
    param: Array,
    m: Array,
    v: Array,
    grad: Array,
    lr_t: float,
    beta1: float,
    beta2: float,
    eps: float,
    use_nesterov: bool,
) -> tuple[Array, Array, Array]:
    """Return the new parameter and moments of a step of MindSpore's `nn.Adam`; `lr_t` is the bias-corrected rate."""
    xp = array_module(param)
    g = widen(grad)
    new_m = beta1 * widen(m) + (1.0 - beta1) * g
    new_v = beta2 * widen(v) + (1.0 - beta2) * g * g
    step = beta1 * new_m + (1.0 - beta1) * g if use_nesterov else new_m
    new_param = widen(param) - lr_t * step / (xp.sqrt(new_v) + eps)
    return narrow(new_param, param), narrow(new_m, m), narrow(new_v, v)
