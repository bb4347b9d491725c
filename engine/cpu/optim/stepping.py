"""Update rules with a compiled form: a step over many tensors in one call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..array_module import Array
from ..compiling import address, is_on, kernels
from ..threads import share
from . import updates
from .adam import adam

__all__ = ["FORMS", "Form", "can_step", "step"]

_LEAST = 1 << 13
"""Elements of all tensors together from which the compiled form is faster."""

Numbers = tuple[float, ...]
Form = Callable[..., tuple[str, Numbers] | None]
"""From a rule's arguments after the gradient to a kernel's name and numbers; None for forms without a kernel."""


def _momentum(lr: float, factor: float, nesterov: bool) -> tuple[str, Numbers] | None:
    return "momentum", (lr, factor, 1.0, nesterov)


def _sgd(lr: float, factor: float, dampening: float, nesterov: bool, first: Any) -> tuple[str, Numbers] | None:
    return ("momentum", (lr, factor, 1.0 - dampening, nesterov)) if first is False else None


def _adam(lr_t: float, beta1: float, beta2: float, eps: float, use_nesterov: bool) -> tuple[str, Numbers] | None:
    return "adam", (lr_t, beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps, 1.0, 1.0, 0.0, use_nesterov)


def _adam_weight_decay(lr: float, beta1: float, beta2: float, eps: float, decay: float) -> tuple[str, Numbers] | None:
    return "adam", (lr, beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps, 1.0, 1.0, decay, False)


def _adamw(
    lr: float, power1: float, power2: float, beta1: float, beta2: float, eps: float, decay: float
) -> tuple[str, Numbers] | None:
    root, keep, rate = 1.0 / math.sqrt(1.0 - power2), 1.0 - lr * decay, lr / (1.0 - power1)
    return "adam", (rate, beta1, 1.0 - beta1, beta2, 1.0 - beta2, eps, root, keep, 0.0, False)


FORMS: dict[Callable[..., Any], Form] = {
    updates.momentum: _momentum,
    updates.sgd: _sgd,
    adam: _adam,
    updates.adam_weight_decay: _adam_weight_decay,
    updates.adamw: _adamw,
}


def can_step(rows: Sequence[Sequence[Array]]) -> bool:
    """Return whether the compiled form supports these arrays: in each row a gradient, a parameter and its states."""
    if not is_on() or sum([row[0].size for row in rows]) < _LEAST:
        return False
    for row in rows:
        for x in row:
            if type(x) is not np.ndarray or x.dtype != np.float32 or x.shape != row[0].shape:
                return False
            if not (x.flags.c_contiguous and x.flags.aligned):
                return False
    return True


def step(kernel: str, rows: Sequence[tuple[Array, Sequence[tuple[Array, Array]]]], numbers: Sequence[Numbers]) -> None:
    """Compute and write the results of a step.

    Args:
        kernel: the name of one of ``compiled.optim.updates``.
        rows: for each tensor its gradient, and pairs of an array and the destination of its new value, which
            may be the same array: the parameter, then its states.
        numbers: for each tensor the numbers of the kernel.
    """
    compiled = kernels("updates")
    blocks = _blocks(tuple([gradient.size for gradient, _ in rows]), compiled.BLOCK)
    tensors = np.array([[address(g), *[address(x) for pair in pairs for x in pair]] for g, pairs in rows], np.int64)
    share(getattr(compiled, kernel), len(blocks), blocks, tensors, np.array(numbers, np.float32))


@cache
def _blocks(sizes: tuple[int, ...], most: int) -> Array:
    blocks = [
        (index, start, min(most, size - start)) for index, size in enumerate(sizes) for start in range(0, size, most)
    ]
    return np.array(blocks, np.int64).reshape(-1, 3)
