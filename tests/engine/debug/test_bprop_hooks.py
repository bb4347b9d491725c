"""Forward hooks that look and edit at cells with a ``bprop``: the same bits plain, watched and compiled, also nested,
shared, inherited and recomputed; a ``bprop`` never sees a hook's replacement of an output.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.debug import DebugSession

WIDTH = 4


class Curved(nn.Cell):
    """A wave whose slope is computed from the output: a hook's edit would change it if it reached the bprop."""

    def construct(self, x: Tensor) -> Tensor:
        return ops.tanh(x)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * (1.0 - out * out),)


class Inherited(Curved):
    def construct(self, x: Tensor) -> Tensor:
        return super().construct(x * 0.5)

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (super().bprop(x, out, dout)[0] * 0.5,)


class Scaled(nn.Cell):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self.w = Parameter(np.random.default_rng(seed).standard_normal(WIDTH).astype(np.float32), "w")
        self.internal_params = [self.w]

    def construct(self, x: Tensor) -> Tensor:
        return x * self.w

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> Any:
        return (dout * self.w,), {self.w: dout * x}


class Around(nn.Cell):
    """A bprop around another cell, which runs in it without a separate gradient."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Tensor) -> Tensor:
        return self.inner(x) + x

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * out,)


def scale(cell: nn.Cell, inputs: Any, output: Tensor) -> Tensor:
    return output * 1.5 + inputs[0]


def write(cell: nn.Cell, inputs: Any, output: Tensor) -> None:
    output.mul_(0.5)
    output[0] = 0.25


def look(cell: nn.Cell, inputs: Any, output: Tensor) -> None:
    return None


def network(seed: int) -> nn.Cell:
    """Return a random chain of such cells, with random hooks on them."""
    rng = random.Random(seed)
    ms.set_seed(seed)
    cells: list[nn.Cell] = []

    def cell(depth: int) -> nn.Cell:
        kinds: list[Callable[[], nn.Cell]] = [Curved, Inherited, lambda: Scaled(seed), lambda: nn.Dense(WIDTH, WIDTH)]
        if depth:
            kinds += [lambda: Around(cell(depth - 1)), lambda: nn.SequentialCell(cell(depth - 1), cell(depth - 1))]
        if cells and rng.random() < 0.2:
            return rng.choice(cells)
        result = rng.choice(kinds)()
        for hook in rng.sample((scale, write, look), rng.choice((0, 1, 1, 2))):
            result.register_forward_hook(hook)
        if rng.random() < 0.3:
            result.register_backward_hook(lambda cell, into, out: (into[0] * 2.0,))
        if rng.random() < 0.2:
            result.recompute()
        cells.append(result)
        return result

    return nn.SequentialCell([cell(2) for _ in range(3)])


def step(net: nn.Cell, wrap: Callable[[Any], Any] = lambda function: function) -> list[bytes]:
    x = Tensor(np.random.default_rng(1).standard_normal((3, WIDTH)).astype(np.float32))
    both = wrap(lambda x: ms.value_and_grad(lambda x: ops.square(net(x)).mean(), 0, net.trainable_params())(x))
    forward = wrap(lambda x: net(x))
    value, (of_x, of_weights) = both(x)
    parts = [value, of_x, *of_weights, forward(x), *both(x)[1][1], forward(x)]
    return [t.asnumpy().tobytes() for t in parts]


@pytest.mark.parametrize("seed", range(60))
def test_forward_hooks_of_bprops_have_the_same_bits_plain_watched_and_compiled(seed: int) -> None:
    plain = step(network(seed))
    net = network(seed)
    session = DebugSession(net, watch=["*"], max_captures=200)
    assert step(net) == plain
    session.detach()
    assert step(network(seed), ms.jit) == plain
    try:
        ms.set_context(mode=ms.GRAPH_MODE)
        assert step(network(seed)) == plain
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def test_a_forward_hook_edits_what_leaves_a_recomputed_cell_with_a_bprop_once() -> None:
    log: list[list[float]] = []
    net = nn.SequentialCell(nn.Dense(2, 2), Curved())
    net.recompute()
    net[1].register_forward_hook(lambda cell, inputs, output: (log.append(output.tolist()), output * 2.0)[1])
    x = Tensor([[0.5, 1.0]])
    expected = 2.0 * ops.tanh(net[0](x))
    assert net(x).tolist() == expected.tolist()
    slope = ms.grad(net)(x)
    reference = ms.grad(lambda x: 2.0 * ops.tanh(net[0](x)))(x)
    np.testing.assert_allclose(slope.asnumpy(), reference.asnumpy(), rtol=1e-6)


def test_a_hook_may_take_itself_or_the_next_off() -> None:
    net, seen = Curved(), []

    def first(cell: nn.Cell, inputs: Any, output: Tensor) -> None:
        seen.append("first")
        handles[0].remove()
        handles[1].remove()

    handles = [net.register_forward_hook(first), net.register_forward_hook(lambda *_: seen.append("second"))]
    net.register_forward_hook(lambda *_: seen.append("third"))
    x = Tensor([0.5])
    ms.grad(net)(x)
    net(x)
    assert seen == ["first", "second", "third", "third"]
