"""Data and first weights of the rows of all peers, made by NumPy from names, so that they are equal."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any

half = ""
"""Name of the half precision in mixed precision training; "" for float32 alone."""
device = "cpu"
"""Device of PyTorch's networks."""


def weights(name: str, shape: tuple[int, ...]) -> Array:
    """Return the first values of a parameter, by its name in PyTorch."""
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
    """One prepared row: ``run`` is the timed function; a call also returns the run's loss (None for rows without one).

    ``net`` is the trained network, if there is one; ``state()`` returns the arrays at the start of a step: parameters,
    states of the optimizer, data.
    """

    def __init__(
        self,
        run: Callable[[], Any],
        loss: Callable[[Any], float] | None = None,
        net: Any = None,
        state: Callable[[], list[Any]] = list,
    ) -> None:
        self.run, self.loss, self.net, self.state = run, loss, net, state

    def __call__(self) -> float | None:
        result = self.run()
        return None if self.loss is None else self.loss(result)
