"""What the rows of all peers share: data and first weights, made by NumPy from names, so that they are equal."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any

half = ""
"""The half precision, by name, that networks are trained with beside float32; "" for float32 alone."""
device = "cpu"
"""Where PyTorch's networks are put."""


def weights(name: str, shape: tuple[int, ...]) -> Array:
    """First values of a parameter, by the name that PyTorch gives it."""
    if name.startswith(("norm", "bn")) or ".norm" in name or ".bn" in name or "downsample.1" in name:
        return np.full(shape, 1.0 if name.endswith("weight") else 0.0, np.float32)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else shape[0]
    return (random.standard_normal(shape) / fan_in**0.5).astype(np.float32)


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def labels(count: int, classes: int = 10) -> Array:
    return np.random.default_rng(1).integers(0, classes, count)


class Step:
    """One row, ready: ``run`` is what is timed, the call gives the loss of a run as well (None where there is none).

    ``net`` is the network that it trains, if it trains one, and ``kept()`` the arrays that it begins a step with:
    parameters, states of the optimizer, data.
    """

    def __init__(
        self,
        run: Callable[[], Any],
        loss: Callable[[Any], float] | None = None,
        net: Any = None,
        kept: Callable[[], list[Any]] = list,
    ) -> None:
        self.run, self.loss, self.net, self.kept = run, loss, net, kept

    def __call__(self) -> float | None:
        result = self.run()
        return None if self.loss is None else self.loss(result)
