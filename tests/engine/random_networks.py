"""Random networks in training: watched with everything, watched, and planned they have the bits that they have plainly.

    python -m tests.engine.random_networks --networks 500 --seed 7 --jobs 2 [--torch 100]

A network is a list of blocks, drawn by a seed, and is trained for three steps in each way. Losses, outputs, gradients,
parameters and buffers must be the same bit for bit. With ``--torch`` that many networks, of blocks that PyTorch has,
are given the same weights there, and the gradients of one step must agree.
"""

from __future__ import annotations

import argparse
import random
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from multiprocessing import get_context
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.debug import DebugSession

BATCH, WIDTH, CLASSES, STEPS = 4, 12, 3, 3


class Block(nn.Cell):
    """One step of a network: (BATCH, WIDTH) to the same. ``torch`` is the same function there, of tensors by name."""

    has_twin = True

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        """Return PyTorch's output for an input and this block's parameters."""
        raise NotImplementedError


class DenseBlock(Block):
    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.name_of = chosen.choice(("relu", "tanh", "gelu", "sigmoid"))
        self.dense = nn.Dense(WIDTH, WIDTH)
        kinds = {"relu": nn.ReLU, "tanh": nn.Tanh, "gelu": lambda: nn.GELU(False), "sigmoid": nn.Sigmoid}
        self.act = kinds[self.name_of]()

    def construct(self, x: Tensor) -> Tensor:
        return self.act(self.dense(x))

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        y = torch.nn.functional.linear(x, w["dense.weight"], w["dense.bias"])
        return torch.nn.functional.gelu(y) if self.name_of == "gelu" else getattr(torch, self.name_of)(y)


class ConvBlock(Block):
    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.kernel = chosen.choice((1, 3))
        self.conv = nn.Conv2d(3, 3, self.kernel, pad_mode="pad", padding=self.kernel // 2, has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        return ops.relu(self.conv(x.reshape((BATCH, 3, 2, 2)))).reshape((BATCH, WIDTH))

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        y = x.reshape(BATCH, 3, 2, 2)
        y = torch.nn.functional.conv2d(y, w["conv.weight"], w["conv.bias"], padding=self.kernel // 2)
        return torch.relu(y).reshape(BATCH, WIDTH)


class NormBlock(Block):
    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.is_batch = chosen.random() < 0.5
        self.norm = nn.BatchNorm1d(WIDTH) if self.is_batch else nn.LayerNorm((WIDTH,), epsilon=1e-5)

    def construct(self, x: Tensor) -> Tensor:
        return self.norm(x)

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        of = torch.nn.functional
        if self.is_batch:
            return of.batch_norm(x, None, None, w["norm.gamma"], w["norm.beta"], training=True)
        return of.layer_norm(x, (WIDTH,), w["norm.gamma"], w["norm.beta"])


class AttentionBlock(Block):
    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.query, self.key, self.value = nn.Dense(4, 4), nn.Dense(4, 4), nn.Dense(4, 4)

    def construct(self, x: Tensor) -> Tensor:
        tokens = x.reshape((BATCH, 3, 4))
        weights = ops.softmax(ops.matmul(self.query(tokens), self.key(tokens).swapaxes(-1, -2)) * 0.5, -1)
        return (tokens + ops.matmul(weights, self.value(tokens))).reshape((BATCH, WIDTH))

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        tokens = x.reshape(BATCH, 3, 4)
        linear = torch.nn.functional.linear
        q, k, v = [linear(tokens, w[f"{name}.weight"], w[f"{name}.bias"]) for name in ("query", "key", "value")]
        return (tokens + torch.softmax(q @ k.transpose(-1, -2) * 0.5, -1) @ v).reshape(BATCH, WIDTH)


class RecurrentBlock(Block):
    has_twin = False

    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.layer = chosen.choice((nn.LSTM, nn.GRU, nn.RNN))(4, 4, batch_first=True)

    def construct(self, x: Tensor) -> Tensor:
        return self.layer(x.reshape((BATCH, 3, 4)))[0].reshape((BATCH, WIDTH))


class WritingBlock(Block):
    """Block that writes into views of its results."""

    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.dense = nn.Dense(WIDTH, WIDTH)
        self.by = chosen.choice((0.5, 1.5))

    def construct(self, x: Tensor) -> Tensor:
        y = self.dense(x)
        turned = y.T
        turned[0:2].mul_(self.by)
        turned[2] = x[:, 0] * 2.0
        flat = turned.reshape((-1,))
        y[:, 3] = 0.25
        return y + flat.reshape((WIDTH, BATCH)).T

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        y = torch.nn.functional.linear(x, w["dense.weight"], w["dense.bias"]).clone()
        turned = y.T
        turned[0:2].mul_(self.by)
        turned[2] = x[:, 0] * 2.0
        flat = turned.reshape(-1)
        y[:, 3] = 0.25
        return y + flat.reshape(WIDTH, BATCH).T


class BpropBlock(Block):
    has_twin = False

    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.by = chosen.choice((0.5, 2.0))

    def construct(self, x: Tensor) -> Tensor:
        return ops.sin(x) * 2.0

    def bprop(self, x: Tensor, out: Tensor, dout: Tensor) -> tuple[Tensor]:
        return (dout * ops.cos(x) * self.by + out * 0.01,)


class EditedBlock(DenseBlock):
    """Block with hooks that change values."""

    has_twin = False

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.dense.register_forward_pre_hook(lambda cell, args: (args[0] * 1.25,))
        self.dense.register_forward_hook(lambda cell, args, output: output + args[0] * 0.1)
        self.act.register_backward_hook(lambda cell, grad_input, grad_output: (grad_input[0] * 0.5,))
        self.act.register_backward_pre_hook(lambda cell, grad_output: None)


class HalfBlock(DenseBlock):
    has_twin = False

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.dense.to_float(ms.float16)


class AgainBlock(DenseBlock):
    """Block that is computed again in the backward pass."""

    def __init__(self, chosen: random.Random) -> None:
        super().__init__(chosen)
        self.dense.recompute()
        self.drop = nn.Dropout(p=0.25) if chosen.random() < 0.5 else None
        self.has_twin = self.drop is None
        if self.drop is not None:
            self.drop.recompute()

    def construct(self, x: Tensor) -> Tensor:
        y = super().construct(x)
        return y if self.drop is None else self.drop(y)


class PairCell(nn.Cell):
    """Cell of two inputs, or of a list of two."""

    def construct(self, x: Any, y: Tensor | None = None) -> Tensor:
        x, y = x if y is None else (x, y)
        return ops.sin(x) * y + y * y * 0.25


class PairWithBprop(PairCell):
    """Cell with the gradient of ``PairCell``."""

    def bprop(self, x: Any, y: Any, out: Tensor, dout: Tensor) -> tuple[Any, Any]:
        first, second = x if y is None else (x, y)
        both = [dout * ops.cos(first) * second, dout * (ops.sin(first) + second * 0.5)]
        return (both, None) if y is None else (both[0], both[1])


class PairBlock(Block):
    """Block that passes one tensor twice, or a tensor and a view of it, to a cell that is one node on the tape."""

    def __init__(self, chosen: random.Random) -> None:
        super().__init__()
        self.pair = chosen.choice((PairCell, PairWithBprop))()
        if type(self.pair) is PairCell:
            self.pair.recompute()
        self.form = chosen.choice(("twice", "listed", "view", "turned"))

    def construct(self, x: Tensor) -> Tensor:
        y = x * 0.5
        if self.form == "listed":
            return self.pair([y, y])
        return self.pair(y, {"twice": y, "view": y[:], "turned": y.T.T}[self.form])

    def torch(self, x: Any, w: dict[str, Any]) -> Any:
        import torch

        y = x * 0.5
        return torch.sin(y) * y + y * y * 0.25


KINDS = (
    DenseBlock,
    ConvBlock,
    NormBlock,
    AttentionBlock,
    RecurrentBlock,
    WritingBlock,
    BpropBlock,
    EditedBlock,
    HalfBlock,
    AgainBlock,
    PairBlock,
)
TWINS = tuple([kind for kind in KINDS if kind.has_twin])


class Network(nn.Cell):
    """Blocks in a row, some of them twice, some with a residual."""

    def __init__(self, seed: int, kinds: tuple[type[Block], ...]) -> None:
        super().__init__()
        chosen = random.Random(seed)
        blocks = [chosen.choice(kinds)(chosen) for _ in range(chosen.randint(2, 5))]
        self.blocks = nn.CellList(blocks)
        self.order = [*range(len(blocks)), *([chosen.randrange(len(blocks))] if chosen.random() < 0.4 else [])]
        self.residual = [chosen.random() < 0.4 for _ in self.order]
        self.head = nn.Dense(WIDTH, CLASSES)

    def construct(self, x: Tensor) -> Tensor:
        for index, residual in zip(self.order, self.residual, strict=True):
            y = self.blocks[index](x)
            x = x + y if residual else y
        return self.head(x)


class Training:
    """One network with its data and optimizers, made of a seed.

    Args:
        seed: decides all of it.
        kinds: blocks to draw from.
    """

    def __init__(self, seed: int, kinds: tuple[type[Block], ...] = KINDS) -> None:
        ms.set_seed(seed)
        np.random.seed(seed % 2**32)
        self.net = Network(seed, kinds).set_train()
        numbers = np.random.default_rng(seed)
        inputs = numbers.normal(size=(STEPS, BATCH, WIDTH)).astype(np.float32)
        labels = numbers.integers(0, CLASSES, (STEPS, BATCH))
        self.batches = [(Tensor(x), Tensor(y)) for x, y in zip(inputs, labels, strict=True)]
        parameters = self.net.trainable_params()
        chosen = random.Random(seed + 1)
        if chosen.random() < 0.3 and len(parameters) > 3:
            parts = [parameters[:2], parameters[2:]]
        else:
            parts = [parameters]
        self.parameters = parameters
        self.parts = parts
        make: list[Callable[[Any], Any]] = [
            lambda p: nn.SGD(p, 0.05),
            lambda p: nn.Adam(p, 0.01),
            lambda p: nn.Momentum(p, 0.05, 0.9),
            lambda p: nn.AdamWeightDecay(p, 0.01),
        ]
        self.optimizers = [chosen.choice(make)(part) for part in parts]

    def forward(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return loss and logits."""
        logits = self.net(x)
        return ops.cross_entropy(logits, y), logits

    def run(self, planned: bool = False) -> list[bytes]:
        """Train, and return the bits of all that came out."""
        step: Any = ms.value_and_grad(self.forward, None, self.parameters, has_aux=True)
        if planned:
            step = ms.jit(step)
        results = []
        for x, y in self.batches:
            (loss, logits), gradients = step(x, y)
            results += [loss, logits, *gradients]
            iterator = iter(gradients)
            for optimizer, part in zip(self.optimizers, self.parts, strict=True):
                optimizer(tuple([next(iterator) for _ in part]))
        results += list(self.net.get_parameters())
        return [t.asnumpy().tobytes() for t in results]


@contextmanager
def _watched(net: nn.Cell, all_events: bool) -> Iterator[DebugSession]:
    session = DebugSession(net, conditions=["all"] if all_events else ())
    if all_events:
        session.add_watch("*:all")
        session.add_breakpoint("head if maximum > 1e30")
        session.add_breakpoint("ops.matmul:backward if maximum > 1e30")
    with session:
        yield session


def faults_of(seed: int) -> list[str]:
    """Train a network in all ways and return what differs, a line each.

    Args:
        seed: of the network.
    """
    plain = Training(seed).run()
    ways: dict[str, Callable[[Training], Any]] = {
        "watched with everything": lambda item: _watched(item.net, True),
        "watched": lambda item: _watched(item.net, False),
        "planned": lambda item: nullcontext(),
    }
    results = []
    for how, context in ways.items():
        training = Training(seed)
        with warnings.catch_warnings(), context(training):
            warnings.simplefilter("ignore")  # what no plan can be made of runs eagerly, and says so
            bits = training.run(planned=how == "planned")
        differ = [index for index, (item, other) in enumerate(zip(bits, plain, strict=True)) if item != other]
        if differ or len(bits) != len(plain):
            results.append(f"{how}: {len(differ)} of {len(plain)} differ, the first is {differ[:1]}")
    return results


def largest_difference_from_torch(seed: int) -> float:
    """Return the largest difference of a gradient from PyTorch's, as a share of that gradient's largest element.

    Args:
        seed: of a network of blocks that PyTorch has.
    """
    import torch

    training = Training(seed, TWINS)
    net = training.net
    if not all(block.has_twin for block in net.blocks):
        return 0.0
    x, y = training.batches[0]
    arguments = {p.name: torch.tensor(p.asnumpy(), requires_grad=True) for p in training.parameters}
    value = torch.tensor(x.asnumpy())
    for index, residual in zip(net.order, net.residual, strict=True):
        prefix = f"blocks.{index}."
        own = {name.removeprefix(prefix): w for name, w in arguments.items() if name.startswith(prefix)}
        out = net.blocks[index].torch(value, own)
        value = value + out if residual else out
    logits = torch.nn.functional.linear(value, arguments["head.weight"], arguments["head.bias"])
    torch.nn.functional.cross_entropy(logits, torch.tensor(y.asnumpy())).backward()
    _, gradients = ms.value_and_grad(training.forward, None, training.parameters, has_aux=True)(x, y)
    worst = 0.0
    for parameter, gradient in zip(training.parameters, gradients, strict=True):
        reference: Any = arguments[parameter.name].grad
        expected = np.zeros(parameter.shape) if reference is None else reference.numpy()
        scale = max(np.abs(expected).max(), 1e-3)
        worst = max(worst, float(np.abs(gradient.asnumpy() - expected).max() / scale))
    return worst


def _tried(seed: int) -> tuple[int, list[str]]:
    try:
        return seed, faults_of(seed)
    except Exception as error:  # failures are the findings
        return seed, [f"{type(error).__name__}: {error}"]


def main() -> None:
    """Train networks and print those that differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--torch", type=int, default=0, help="networks whose gradients are compared with PyTorch's")
    options = parser.parse_args()
    first, failed = options.seed * 100_000, 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        for seed, result in pool.map(_tried, range(first, first + options.networks), chunksize=5):
            failed += bool(result)
            if result:
                print(f"seed {seed}: {'; '.join(result)}", flush=True)
    print(f"{options.networks} networks, {failed} differ")
    if options.torch:
        worst = max((largest_difference_from_torch(seed), seed) for seed in range(first, first + options.torch))
        print(f"{options.torch} networks beside PyTorch: largest relative difference {worst[0]:.2g} (seed {worst[1]})")


if __name__ == "__main__":
    main()
