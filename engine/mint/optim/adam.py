"""Adam of ``mint``: both moments are corrected, as in its paper."""

from __future__ import annotations

from typing import Any

from ...experimental.optim._moments import Betas
from .adamw import AdamW

__all__ = ["Adam"]


class Adam(AdamW):
    """Kingma and Ba 2015, both moments corrected: p = p - lr * m_hat / (sqrt(v_hat) + eps)."""

    _decays_apart = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Betas = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0,
        amsgrad: bool = False, *, maximize: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)
