"""Calls with which ``gpu_check`` checks each Triton kernel, and their counterparts in PyTorch.

A case is an operator of the table with inputs and attributes. Its reference is the operator's own kernel on the same
numbers in float64; it must move at least the bytes of its inputs and outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hookscope.engine.cpu.neural import cross_entropy, layer_norm, softmax
from hookscope.engine.tensors.operator import OPERATORS

__all__ = ["TORCH", "Case", "cases"]


@dataclass(frozen=True)
class Case:
    """One call of an operator.

    Attributes:
        name: the operator.
        inputs: arrays of the device, numbers and None.
        attrs: the operator's attributes.
        operations: the number of multiplications and additions, if they limit its speed; 0 if memory does.
        label: a label that distinguishes it from other cases of the operator.
    """

    name: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any] = field(default_factory=dict)
    operations: float = 0.0
    label: str = ""

    @property
    def title(self) -> str:
        return f"{self.name} {self.label}".strip()

    @property
    def input_bytes(self) -> int:
        """Bytes of its arrays, each read once."""
        return sum([math.prod(x.shape) * x.dtype.itemsize for x in self.inputs if hasattr(x, "dtype")])


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

    def causal(self, length: int) -> Any:
        """Return a mask to add to scores, which hides later positions from each row."""
        hidden = np.triu(np.full((length, length), -np.inf, np.float32), 1)
        return self.cupy.asarray(hidden.astype(self.dtype))

    def mask(self, *shape: int) -> Any:
        return self.cupy.asarray(self.random.random(shape) < 0.5)


def cases(cupy: Any, dtype: Any, size: int, seed: int) -> Iterator[Case]:
    """Yield every kernel's cases, on matrices of ``size`` rows and columns or about as many elements."""
    make = Maker(cupy, dtype, seed)
    yield from _elementwise(make, size)
    yield from _rows(make, size)
    yield from _products(make, size)
    yield from _drawn(make, size)
    yield from _reductions(make, size)
    yield from _images(make, size)
    yield from _sequences(make, size)
    yield from _picked(make, size)


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
    x, y = make.normal(size, size), make.normal(size, size)
    for name in ("softmax", "log_softmax"):
        yield Case(name, (x,), {"axis": 1})
        yield Case(f"{name}_grad", (y, getattr(softmax, name)(x, 1)), {"axis": 1})
    gamma, beta = make.positive(size), make.normal(size)
    yield Case("layer_norm", (x, gamma, beta), {"begin_norm_axis": 1, "epsilon": 1e-5})
    _, mean, rstd = layer_norm.layer_norm(x, gamma, beta, 1, 1e-5)
    yield Case("layer_norm_grad", (y, x, gamma, mean, rstd), {"begin_norm_axis": 1})
    yield Case("rms_norm", (x, gamma), {"epsilon": 1e-5})
    _, of_squares = OPERATORS["rms_norm"].kernel(x, gamma, epsilon=1e-5)
    yield Case("rms_norm_grad", (y, x, gamma, of_squares), {"epsilon": 1e-5})
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
    rates = {"lr_t": 1e-3, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "use_nesterov": False}
    yield Case("adam", (x, make.normal(size, size), make.positive(size, size), make.normal(size, size)), rates)


def _reductions(make: Maker, size: int) -> Iterator[Case]:
    x, mask = make.normal(size, size), make.mask(size, size)
    for name in ("sum", "mean", "amax", "amin"):
        for axis in ((1,), (0,), (0, 1)):
            yield Case(name, (x,), {"axis": axis, "keepdims": False}, label=f"over {axis}")
    yield Case("prod", (make.positive(size, 8),), {"axis": (1,), "keepdims": False})
    for name in ("all", "any"):
        yield Case(name, (mask,), {"axis": (1,), "keepdims": False})
    for name in ("argmax", "argmin", "max_along", "min_along"):
        yield Case(name, (x,), {"axis": 1, "keepdims": False})
    yield Case("sum_to", (x,), {"shape": (size,)}, label="a row")
    yield Case("count_other_than", (make.integers(3, size),), {"other_than": 1, "dtype": np.dtype(np.float32)})


def _images(make: Maker, size: int) -> Iterator[Case]:
    """Yield the cases of a layer of a residual network and its neighbors, in both memory orders."""
    samples, channels, side = max(1, size // 64), min(64, max(8, size // 8)), min(56, max(7, size // 4))
    shape, kernels = (samples, channels, side, side), (channels, channels, 3, 3)
    operations = 2.0 * math.prod(shape) * channels * 9
    weight, bias = make.normal(*kernels, scale=channels**-0.5 / 3), make.normal(channels)
    channel = make.normal(channels)
    settings = {"stride": (1, 1), "pads": (1, 1, 1, 1), "dilation": (1, 1), "group": 1}
    positive = make.positive(channels)
    for label in ("", "channels last"):
        x, g = (_laid(make, shape, label) for _ in range(2))
        yield Case("conv2d", (x, weight), settings, operations, label)
        yield Case("conv2d_bias", (x, weight, bias), settings, operations, label)
        yield Case("conv2d_input_grad", (g, weight), {"shape": shape, **settings}, operations, label)
        yield Case("conv2d_weight_grad", (g, x), {"kernel": (3, 3), **settings}, operations, label)
        yield Case("batch_norm", (x, positive, channel), {"epsilon": 1e-5}, label=label)
        mean, var = (make.cupy.asarray(numbers.astype(np.float32)) for numbers in _moments(x))
        yield Case("batch_norm_grad", (g, x, positive, mean, var), {"epsilon": 1e-5}, label=label)
        yield Case("affine_of_channels", (x, mean, positive, channel), label=label)
        window = {"kernel": (3, 3), "stride": (2, 2), "pads": (1, 1, 1, 1)}
        wide = {**window, "dilation": (1, 1)}
        yield from _pooled(x, g, shape, window, wide, "2d", label)
    running = {"momentum": 0.1, "count": math.prod(shape) // channels}
    yield Case("running_statistics", (channel, positive, mean, var), running)
    shape = (max(1, size // 512), channels, 8, 8, 8)
    window = {"kernel": (2, 2, 2), "stride": (2, 2, 2), "pads": (0,) * 6}
    x, g = make.normal(*shape), make.normal(*shape)
    yield from _pooled(x, g, shape, window, {**window, "dilation": (1, 1, 1)}, "3d", "")


def _laid(make: Maker, shape: tuple[int, ...], label: str) -> Any:
    n, c, h, w = shape
    return make.normal(n, h, w, c).transpose(0, 3, 1, 2) if label else make.normal(*shape)


def _moments(x: Any) -> tuple[Any, Any]:
    wide = x.get().astype(np.float64)
    return wide.mean((0, 2, 3)), wide.var((0, 2, 3))


def _pooled(
    x: Any, g: Any, shape: tuple[int, ...], window: dict[str, Any], wide: dict[str, Any], axes: str, label: str
) -> Iterator[Case]:
    best, indices = OPERATORS[f"max_pool{axes}"].kernel(x, **wide)
    gradient = g[tuple([slice(0, length) for length in best.shape])]
    yield Case(f"max_pool{axes}", (x,), wide, label=label)
    yield Case(f"max_pool{axes}_grad", (gradient, indices), {"shape": shape, **wide}, label=label)
    yield Case(f"max_pool{axes}_pick", (x, indices), wide, label=label)
    yield Case(f"avg_pool{axes}", (x,), window, label=label)
    yield Case(f"avg_pool{axes}_grad", (gradient,), {"shape": shape, **window}, label=label)


def _sequences(make: Maker, size: int) -> Iterator[Case]:
    length, width = min(2048, max(9, size // 4)), 64
    for batch, heads, masked in ((max(1, size // 2048), 16, False), (1, 2, True)):
        q, k, v, g = (make.normal(batch, heads, length, width) for _ in range(4))
        mask = make.causal(length) if masked else None
        settings = {"scale": width**-0.5}
        operations = 4.0 * batch * heads * length * length * width
        label = "masked" if masked else ""
        y, sums = OPERATORS["attention"].kernel(q, k, v, mask, **settings)
        yield Case("attention", (q, k, v, mask), settings, operations, label)
        yield Case("attention_grad", (g, y, sums, q, k, v, mask), settings, 2.5 * operations, label)
        yield Case("attention_weights", (q, k, mask), settings, operations / 2, label)
    steps, samples, high = min(64, max(3, size // 16)), min(32, max(3, size // 8)), min(128, max(5, size // 8))
    for kind, gates in (("lstm", 4), ("gru", 3)):
        x, h0 = make.normal(steps, samples, high), make.normal(samples, high)
        c0 = make.normal(samples, high) if kind == "lstm" else None
        weights = [make.normal(gates * high, high, scale=high**-0.5) for _ in range(2)]
        biases = [make.normal(gates * high, scale=high**-0.5) for _ in range(2)]
        inputs, settings = (x, h0, c0, *weights, *biases, None), {"kind": kind, "reverse": False}
        operations = 4.0 * steps * samples * gates * high * high
        outputs = OPERATORS["recurrent"].kernel(*inputs, **settings)
        yield Case("recurrent", inputs, settings, operations, kind)
        gradients = (make.normal(steps, samples, high), make.normal(samples, high), c0)
        yield Case(
            "recurrent_grad", (*gradients, *inputs, *outputs[3:]), {**settings, "with_x": True}, 2 * operations, kind
        )


def _picked(make: Maker, size: int) -> Iterator[Case]:
    table, numbers = make.normal(size, 256), make.integers(size, size)
    yield Case("rows_picked", (table, numbers))
    order = make.cupy.asarray(np.argsort(numbers.get(), kind="stable"))
    yield Case("rows_added", (make.normal(size, 256), numbers, order), {"rows": size})


TORCH: dict[str, Callable[..., Any]] = {
    "neg": lambda torch, x: -x,
    "exp": lambda torch, x: x.exp(),
    "log": lambda torch, x: x.log(),
    "sqrt": lambda torch, x: x.sqrt(),
    "rsqrt": lambda torch, x: x.rsqrt(),
    "tanh": lambda torch, x: x.tanh(),
    "sigmoid": lambda torch, x: x.sigmoid(),
    "relu": lambda torch, x: x.relu(),
    "abs": lambda torch, x: x.abs(),
    "silu": lambda torch, x: torch.nn.functional.silu(x),
    "square": lambda torch, x: x.square(),
    "add": lambda torch, x, y: x + y,
    "sub": lambda torch, x, y: x - y,
    "mul": lambda torch, x, y: x * y,
    "div": lambda torch, x, y: x / y,
    "pow": lambda torch, x, y: x**y,
    "maximum": lambda torch, x, y: torch.maximum(x, y),
    "minimum": lambda torch, x, y: torch.minimum(x, y),
    "gelu": lambda torch, x, approximate: torch.nn.functional.gelu(x, approximate=approximate),
    "softmax": lambda torch, x, axis: x.softmax(axis),
    "log_softmax": lambda torch, x, axis: x.log_softmax(axis),
    "layer_norm": lambda torch, x, gamma, beta, begin_norm_axis, epsilon: torch.nn.functional.layer_norm(
        x, x.shape[begin_norm_axis:], gamma, beta, epsilon
    ),
    "sparse_softmax_cross_entropy": lambda torch, logits, labels, ignore_index: torch.nn.functional.cross_entropy(
        logits, labels, reduction="none", ignore_index=ignore_index
    ),
    "matmul": lambda torch, a, b, transpose_a, transpose_b: (a.mT if transpose_a else a) @ (b.mT if transpose_b else b),
    "linear": lambda torch, x, weight, bias, activation: (
        torch.nn.functional.gelu(torch.nn.functional.linear(x, weight, bias))
        if activation
        else torch.nn.functional.linear(x, weight, bias)
    ),
    "dropout": lambda torch, x, p, seed, offset: torch.nn.functional.dropout(x, p),
}
"""The counterpart of each operator for which PyTorch has one function."""
