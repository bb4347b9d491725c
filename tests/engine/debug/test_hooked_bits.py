"""Hooks that return None change no bit: random networks with and without them, compared byte for byte.

Without hooks the parts of a gradient are added in the order in which they come; if a hook only looks, none of
them may be summed separately. Therefore the networks are full of values that several cells use.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.autograd import offloading
from hookscope.engine.debug import DebugSession

WIDTH, SEEDS = 6, range(40)


class Point(nn.Cell):
    """A point of the network where a hook may look at a tensor."""

    def __init__(self, look: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.look = look

    def construct(self, x: Tensor) -> Tensor:
        y = self.look(x)
        return ops.sin(y) * y + x * 0.5


def unlooked(x: Tensor) -> Tensor:
    return x


def tensor_hook(x: Tensor) -> Tensor:
    x.register_hook(lambda g: None)
    return x


def hook_backward(x: Tensor) -> Tensor:
    result: Tensor = ops.HookBackward(lambda g: None)(x)
    return result


class Residual(nn.Cell):
    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


class Twice(nn.Cell):
    """A shared cell, whose input is used again."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return x * self.inner(self.inner(x) + x)


class Tied(nn.Cell):
    """One parameter in three places."""

    def __init__(self, weight: Parameter) -> None:
        super().__init__()
        self.weight = weight

    def construct(self, x: Tensor) -> Tensor:
        return ops.matmul(ops.tanh(ops.matmul(x, self.weight)), self.weight.T) * self.weight[0]


class Two(nn.Cell):
    """Two inputs, used in turn."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        c = a * 0.7 + b
        return ops.sin(a) * c, self.inner(b) + c * b


class Same(nn.Cell):
    """One tensor as both inputs of a cell, and both outputs."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.two = Two(inner)

    def construct(self, x: Tensor) -> Tensor:
        a, b = self.two(x, x)
        return a * x + b * a


class Looked(nn.Cell):
    """A cell that uses the input of its inner cell in another way as well."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.around = Around(inner)

    def construct(self, x: Tensor) -> Tensor:
        self.around.outside = x
        return self.around(x) + ops.cos(x)


class Around(nn.Cell):
    outside: Any = None

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return (x * 0.3 + self.outside) * self.inner(x) + self.outside * x


class Attention(nn.Cell):
    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 2, dropout=dropout, batch_first=dropout > 0)

    def construct(self, x: Tensor) -> Tensor:
        return x + self.attention(x, x, x)[0]


def network(seed: int, look: Callable[[Tensor], Tensor] = unlooked) -> nn.Cell:
    """Return a random network from (3, 4, WIDTH) to the same shape."""
    ms.set_seed(seed)
    rng = random.Random(seed)
    shared = Parameter(np.random.default_rng(seed).standard_normal((WIDTH, WIDTH)).astype(np.float32) / 2, "shared")
    cells: list[nn.Cell] = []

    def cell(depth: int) -> nn.Cell:
        leaves: list[Callable[[], nn.Cell]] = [
            lambda: nn.Dense(WIDTH, WIDTH),
            lambda: nn.LayerNorm((WIDTH,)),
            nn.Tanh,
            nn.Identity,
            lambda: Point(look),
            lambda: Tied(shared),
            lambda: Attention(rng.choice((0.0, 0.2))),
            lambda: nn.Dropout(p=0.1),
        ]
        nodes: list[Callable[[], nn.Cell]] = [
            lambda: Residual(cell(depth - 1)),
            lambda: Twice(cell(depth - 1)),
            lambda: Same(cell(depth - 1)),
            lambda: Looked(cell(depth - 1)),
            lambda: nn.SequentialCell([cell(depth - 1) for _ in range(rng.randint(2, 3))]),
        ]
        if cells and rng.random() < 0.15:
            return rng.choice(cells)
        result = rng.choice(nodes if depth else leaves)()
        if depth == 1 and rng.random() < 0.2:
            result.recompute()
        cells.append(result)
        return result

    return nn.SequentialCell([Residual(cell(3)), cell(2)]).set_train()


def bits(net: nn.Cell, of: Callable[[Any, Any], Any]) -> list[bytes]:
    ms.set_seed(5)
    x = Tensor(np.random.default_rng(1).standard_normal((3, 4, WIDTH)).astype(np.float32))
    return [t.asnumpy().tobytes() for t in of(net, x)]


def gradients(net: nn.Cell, x: Tensor) -> list[Tensor]:
    value, (of_input, of_weights) = ms.value_and_grad(lambda x: ops.square(net(x)).mean(), 0, net.trainable_params())(x)
    return [value, of_input, *of_weights]


def second(net: nn.Cell, x: Tensor) -> list[Tensor]:
    """Return the gradient of the gradient's square."""
    inner = ms.grad(lambda x: ops.sin(net(x)).mean())
    of_input, of_weights = ms.grad(lambda x: ops.square(inner(x)).sum(), 0, net.trainable_params())(x)
    return [of_input, *of_weights]


@contextmanager
def backward(net: nn.Cell) -> Iterator[None]:
    for _, cell in net.cells_and_names():
        cell.register_backward_hook(lambda *_: None)
    yield


@contextmanager
def pre(net: nn.Cell) -> Iterator[None]:
    for _, cell in net.cells_and_names():
        cell.register_backward_pre_hook(lambda *_: None)
    yield


@contextmanager
def all_kinds(net: nn.Cell) -> Iterator[None]:
    with backward(net), pre(net):
        for _, cell in net.cells_and_names():
            cell.register_forward_pre_hook(lambda *_: None)
            cell.register_forward_hook(lambda *_: None)
        for parameter in net.trainable_params():
            parameter.register_hook(lambda g: None)
        yield


@contextmanager
def returning_them(net: nn.Cell) -> Iterator[None]:
    for _, cell in net.cells_and_names():
        cell.register_backward_hook(lambda cell, grad_input, grad_output: grad_input)
        cell.register_backward_pre_hook(lambda cell, grad_output: grad_output)
    yield


@contextmanager
def some(net: nn.Cell) -> Iterator[None]:
    for index, (_, cell) in enumerate(net.cells_and_names()):
        if index % 3 == 0:
            cell.register_backward_hook(lambda *_: None)
        elif index % 3 == 1:
            cell.register_backward_pre_hook(lambda *_: None)
    yield


@contextmanager
def watched(net: nn.Cell) -> Iterator[None]:
    session = DebugSession(net, watch=["*"], max_captures=200)
    try:
        yield
    finally:
        session.detach()


@contextmanager
def watched_with_hooks(net: nn.Cell) -> Iterator[None]:
    with all_kinds(net), watched(net):
        yield


@contextmanager
def offloaded_with_hooks(net: nn.Cell) -> Iterator[None]:
    """Offload each array: on the way back it is a new array, at an address that others had before."""
    min_bytes, offloading.MIN_BYTES = offloading.MIN_BYTES, 1
    net.offload()
    try:
        with some(net):
            yield
    finally:
        offloading.MIN_BYTES = min_bytes


WAYS = [backward, pre, all_kinds, returning_them, some, watched, watched_with_hooks, offloaded_with_hooks]


def different_seeds(
    seeds: range, of: Callable[[Any, Any], Any], way: Callable[[nn.Cell], Any], **settings: Any
) -> list[int]:
    """Return the seeds of the networks whose gradients have different bits this way."""
    results = []
    for seed in seeds:
        expected = bits(network(seed), of)
        net = network(seed, **settings)
        with way(net):
            if bits(net, of) != expected:
                results.append(seed)
    return results


@pytest.mark.parametrize("way", WAYS)
def test_hooks_that_only_look_change_no_bit(way: Callable[[nn.Cell], Any]) -> None:
    assert different_seeds(SEEDS, gradients, way) == []


@pytest.mark.parametrize("look", [tensor_hook, hook_backward])
@pytest.mark.parametrize("way", [lambda net: nullcontext(), all_kinds, watched])
def test_hooks_on_tensors_that_only_look_change_no_bit(
    look: Callable[[Tensor], Tensor], way: Callable[[nn.Cell], Any]
) -> None:
    assert different_seeds(SEEDS, gradients, way, look=look) == []


@pytest.mark.parametrize("way", WAYS)
def test_hooks_that_only_look_change_no_bit_of_a_gradient_of_a_gradient(way: Callable[[nn.Cell], Any]) -> None:
    assert different_seeds(SEEDS[:12], second, way) == []
