"""ReLU and its gradient."""

from __future__ import annotations

from typing import Any

from ..library.loops import choose, elementwise, f32

__all__ = ["relu", "relu_grad"]


@elementwise
def relu(x: Any, _y: Any, _number: Any) -> Any:
    return choose(x < f32(0), f32(0), x)  # NaN stays


@elementwise
def relu_grad(y: Any, g: Any, _number: Any) -> Any:
    return choose(y > f32(0), g, f32(0))
