"""One training step of a network, and what of it is kept: names, loss, outputs, gradients, parameters, buffers.

Weights and inputs are made by integers alone, or by a sine, so that they are the same numbers everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

PROGRAMS: dict[str, Callable[[], dict[str, Any]]] = {}


def program(make: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    """Count a function among the programs; what it returns is compared, name by name."""
    assert make.__name__ not in PROGRAMS
    PROGRAMS[make.__name__] = make
    return make


def values(i: int, name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return numbers in [-1, 1] that follow from the index, scaled as weights are; of one axis, about 1 or about 0."""
    size = int(np.prod(shape))
    k = np.arange(size, dtype=np.int64)
    v = ((37 * k + 11 * k * k + 13 * i) % 211) / 105 - 1
    if len(shape) > 1:
        v = v * 1.5 / np.sqrt(size / shape[0])
    elif name.endswith(("bias", "beta", "mean")):
        v = 0.1 * v
    else:
        v = 1 + 0.2 * v
    return v.astype(np.float32).reshape(shape)


def filled(net: nn.Cell) -> nn.Cell:
    for i, (name, p) in enumerate(net.parameters_and_names()):
        if p.dtype == ms.float32:
            p.set_data(Tensor(values(i, name, p.shape)))
    return net


def wave(*shape: int, k: float = 0.0) -> Tensor:
    """Return sin(k), sin(k + 0.37), ..., each with something of its square."""
    x = np.arange(int(np.prod(shape)))
    return Tensor((np.sin(0.37 * x + k) + 0.5 * np.cos(0.0131 * x * x)).astype(np.float32).reshape(shape))


def integers(*shape: int, below: int, k: int = 1, dtype: Any = np.int32) -> Tensor:
    """Return numbers from 0 to below - 1."""
    x = np.arange(int(np.prod(shape)), dtype=np.int64)
    return Tensor(((x * x * 3 + 5 * x + k) % 1009 % below).astype(dtype).reshape(shape))


def state(net: nn.Cell) -> dict[str, Any]:
    """Return the names of all parameters in order, and their values."""
    results: dict[str, Any] = {"names": [f"{p.name} {p.requires_grad}" for p in net.get_parameters()]}
    return results | {f"parameter {name}": p for name, p in net.parameters_and_names()}


def trained(net: nn.Cell, forward: Callable[..., Any], optimizer: nn.Optimizer, *inputs: Any) -> dict[str, Any]:
    """Take one step by the gradients of the first result of `forward`; the others are only recorded."""
    weights = optimizer.parameters
    step = ms.value_and_grad(forward, None, weights, has_aux=True)
    (loss, *outputs), gradients = step(*inputs)
    results = {"loss": loss} | {f"output {i}": item for i, item in enumerate(outputs)}
    results |= {f"gradient {p.name}": g for p, g in zip(weights, gradients, strict=True)}
    results = {name: item.asnumpy().copy() if isinstance(item, Tensor) else item for name, item in results.items()}
    optimizer(gradients)
    return results | state(net)


def arrays(results: dict[str, Any]) -> dict[str, np.ndarray]:
    """Return a program's results, as arrays."""
    return {name: item.asnumpy() if isinstance(item, Tensor) else np.array(item) for name, item in results.items()}
