"""What ``gpu_check`` calls each Triton kernel with, and the same in PyTorch.

A case is an operator of the table with inputs and attributes. Its reference is the operator's own kernel on the same
numbers in float64; the least bytes that it must move are those of its inputs and outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["TORCH", "Case", "cases", "least_bytes"]


@dataclass(frozen=True)
class Case:
    """One call.

    Attributes:
        name: the operator's.
        inputs: arrays of the device, numbers and None.
        attrs: its attributes.
        operations: multiplications and additions that it cannot do without, where they are what it takes; 0 where the
            memory is.
        label: what tells it from other cases of its operator.
    """

    name: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    operations: float = 0.0
    label: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} {self.label}".strip()


class Maker:
    """Random arrays of one dtype on the device."""

    def __init__(self, cupy: Any, dtype: Any, seed: int) -> None:
        self.cupy, self.dtype = cupy, np.dtype(dtype)
        self.random = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0) -> Any:
        numbers = self.random.standard_normal(shape, np.float32) * np.float32(scale)
        return self.cupy.asarray(numbers.astype(self.dtype))

    def positive(self, *shape: int) -> Any:
        numbers = abs(self.random.standard_normal(shape, np.float32)) + np.float32(0.25)
        return self.cupy.asarray(numbers.astype(self.dtype))

    def integers(self, high: int, *shape: int) -> Any:
        return self.cupy.asarray(self.random.integers(0, high, shape, np.int64))

    def mask(self, *shape: int) -> Any:
        return self.cupy.asarray(self.random.random(shape) < 0.5)


def cases(cupy: Any, dtype: Any, size: int, seed: int) -> Iterator[Case]:
    """Every kernel's, on matrices of ``size`` rows and columns or about as many elements."""
    make = Maker(cupy, dtype, seed)
    yield from _elementwise(make, size)
    yield from _rows(make, size)
    yield from _products(make, size)
    yield from _drawn(make, size)


def _elementwise(make: Maker, size: int) -> Iterator[Case]:
    x, y, positive = make.normal(size, size), make.normal(size, size), make.positive(size, size)
    for name in ("neg", "exp", "tanh", "sigmoid", "relu", "silu", "abs", "square"):
        yield Case(name, (x,))
    for name in ("log", "sqrt", "rsqrt"):
        yield Case(name, (positive,))
    for name in ("add", "sub", "mul", "maximum", "minimum"):
        yield Case(name, (x, y))
    yield Case("div", (x, positive))
    yield Case("pow", (positive, y))
    yield Case("add", (x, make.normal(size)), label="row")
    yield Case("add", (x, make.normal(size, 1)), label="column")
    yield Case("mul", (x, 0.5), label="number")
    yield Case("add", (x, y.T), label="transposed")
    for name in ("relu_grad", "sigmoid_grad", "tanh_grad", "silu_grad"):
        yield Case(name, (x, y))
    for form in ("none", "tanh"):
        yield Case("gelu", (x,), {"approximate": form}, label=form)
        yield Case("gelu_grad", (x, y), {"approximate": form}, label=form)


def _rows(make: Maker, size: int) -> Iterator[Case]:
    from hookscope.engine.cpu import cross_entropy, layer_norm, softmax

    x, y = make.normal(size, size), make.normal(size, size)
    for name in ("softmax", "log_softmax"):
        yield Case(name, (x,), {"axis": 1})
        yield Case(f"{name}_grad", (y, getattr(softmax, name)(x, 1)), {"axis": 1})
    gamma, beta = make.positive(size), make.normal(size)
    yield Case("layer_norm", (x, gamma, beta), {"begin_norm_axis": 1, "epsilon": 1e-5})
    _, mean, rstd = layer_norm.layer_norm(x, gamma, beta, 1, 1e-5)
    yield Case("layer_norm_grad", (y, x, gamma, mean, rstd), {"begin_norm_axis": 1})
    labels, g = make.integers(size, size), make.normal(size)
    yield Case("sparse_softmax_cross_entropy", (x, labels), {"ignore_index": 0})
    _, lse = cross_entropy.sparse_softmax_cross_entropy(x, labels, 0)
    yield Case("sparse_softmax_cross_entropy_grad", (g, x, labels, lse), {"ignore_index": 0})


def _products(make: Maker, size: int) -> Iterator[Case]:
    x, y = make.normal(size, size), make.normal(size, size, scale=size**-0.5)  # products of rows stay near 1
    operations = 2.0 * size**3
    for label, attrs in (("NN", (False, False)), ("NT", (False, True)), ("TN", (True, False))):
        yield Case("matmul", (x, y), {"transpose_a": attrs[0], "transpose_b": attrs[1]}, operations, label)
    row = make.normal(size)
    for activation in (None, "gelu"):
        yield Case("linear", (x, y, row), {"activation": activation}, operations, activation or "")
    heads, side = 16, max(size // 16, 3)
    a, b = make.normal(heads, side, side), make.normal(heads, side, side, scale=side**-0.5)
    yield Case("matmul", (a, b), {"transpose_a": False, "transpose_b": False}, 2.0 * heads * side**3, "batched")


def _drawn(make: Maker, size: int) -> Iterator[Case]:
    x = make.normal(size, size)
    for name in ("dropout", "dropout_kept"):
        yield Case(name, (x,), {"p": 0.25, "seed": 42, "offset": 2**33})


TORCH: dict[str, Callable[..., Any]] = {
    "neg": lambda torch, x: -x, "exp": lambda torch, x: x.exp(), "log": lambda torch, x: x.log(),
    "sqrt": lambda torch, x: x.sqrt(), "rsqrt": lambda torch, x: x.rsqrt(), "tanh": lambda torch, x: x.tanh(),
    "sigmoid": lambda torch, x: x.sigmoid(), "relu": lambda torch, x: x.relu(), "abs": lambda torch, x: x.abs(),
    "silu": lambda torch, x: torch.nn.functional.silu(x), "square": lambda torch, x: x.square(),
    "add": lambda torch, x, y: x + y, "sub": lambda torch, x, y: x - y, "mul": lambda torch, x, y: x * y,
    "div": lambda torch, x, y: x / y, "pow": lambda torch, x, y: x**y,
    "maximum": lambda torch, x, y: torch.maximum(x, y), "minimum": lambda torch, x, y: torch.minimum(x, y),
    "gelu": lambda torch, x, approximate: torch.nn.functional.gelu(x, approximate=approximate),
    "softmax": lambda torch, x, axis: x.softmax(axis), "log_softmax": lambda torch, x, axis: x.log_softmax(axis),
    "layer_norm": lambda torch, x, gamma, beta, begin_norm_axis, epsilon: torch.nn.functional.layer_norm(
        x, x.shape[begin_norm_axis:], gamma, beta, epsilon),
    "sparse_softmax_cross_entropy": lambda torch, logits, labels, ignore_index: torch.nn.functional.cross_entropy(
        logits, labels, reduction="none", ignore_index=ignore_index),
    "matmul": lambda torch, a, b, transpose_a, transpose_b: (
        (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)),
    "linear": lambda torch, x, weight, bias, activation: (
        torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias)) if activation else
        torch.nn.functional.linear(x, weight, bias)),
    "dropout": lambda torch, x, p, seed, offset: torch.nn.functional.dropout(x, p),
}  # fmt: skip
"""The same as an operator, where PyTorch has one function for it."""


def least_bytes(case: Case, outputs: tuple[Any, ...]) -> int:
    """The bytes of the inputs and outputs, each moved once."""
    arrays = [x for x in (*case.inputs, *outputs) if hasattr(x, "dtype")]
    return sum([math.prod(x.shape) * x.dtype.itemsize for x in arrays])
