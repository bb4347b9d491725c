# ruff: noqa: E501  # the pieces of programs are on long lines
"""Random programs that read lengths of axes in all of Python's ways, called with inputs of symbolic dimensions.

    python -m tests.engine.compile.shape_programs --programs 5000 --seed 7

A program is the ``construct`` of a network. It is called with inputs of many shapes, eagerly and by plans, and after
each call these must be the same: the result with its types and bits (or the class of the error), all parameters, an
attribute that it sets, and the position in the stream of random numbers. A failure prints the program.
"""

from __future__ import annotations

import argparse
import copy
import functools
import linecache
import math
import random as python_random
import warnings
from collections import Counter
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.compile import cells
from hookscope.engine.tensors import random

NUMBERS = """
x.shape[0]; x.shape[-2]; y.shape[0]; x.size; len(x); x.ndim; sum(x.shape); np.prod(x.shape); math.prod(x.shape)
math.sqrt(x.shape[0]); x.shape[0] // 2; x.shape[0] % 3; x.shape[0] / 2; x.shape[0] ** 2; max(x.shape); x.numel()
min(x.shape[0], y.shape[0]); x.shape[0] * 2 - 1; x.shape[0] - y.shape[0]; abs(x.shape[0] - 4); -x.shape[0]; x.nbytes
int(x.shape[0] == y.shape[0]); divmod(x.shape[0], 2)[1]; round(x.shape[0] / 3, 2); len(range(x.shape[0]))
sorted(x.shape)[0]; x.shape.index(4); x.shape.count(4); {4: 1.5, 5: 2.5}.get(x.shape[0], 0.5); {(4, 4): 3}.get(x.shape, 1)
float(x.shape[0]); int(f"{x.shape[0]}1"); len(str(x.shape)); x.shape[0] & 3; x.shape[0] << 1; hash(x.shape[0]) % 7
math.gcd(x.shape[0], 6); (x.shape[0] > 3) + 1; x.shape[0] or 7; bool(x.shape[0] - 4); float(np.array(x.shape).sum())
int(np.mean(x.shape)); functools.reduce(lambda a, b: a * b, x.shape); sum(d for d in x.shape if d > 3)
any(d == 5 for d in x.shape) + 0; x.shape[0].bit_length(); x.shape[0].real; (lambda n: n + 1)(x.shape[0])
next(iter(x.shape)); tuple(reversed(x.shape))[1]; math.ceil(x.shape[0] / 2); math.floor(x.shape[0]); copy.copy(x.shape[0])
len(x.shape[0] * [1]); len("ab" * x.shape[0]); pow(x.shape[0], 2, 5); 1 if isinstance(x.shape[0], int) else 9
1 if x.shape[0] in (4, 6) else 2; 1 if x.shape == (4, 4) else 2; 1 if x.shape < (5,) else 2; 1 if 2 < x.shape[0] <= 5 else 2
np.int64(2) * x.shape[0]; float(np.float32(0.5) * x.shape[0]); x.shape[0] * True; x.shape[0] * 1.5; 7 // x.shape[0]
7 % x.shape[0]; x.shape[0] == 4.0; x.shape[0] != y.shape[0]; len(x) > len(y); dict(zip("ab", x.shape))["a"]; [*x.shape][0]
x.shape[0].__add__(1); np.zeros(x.shape[0]).size; (x.shape[0] + y.shape[0]) % 4; x.shape[0] * y.shape[0] // 2
"""
OTHERS = """
f"{x.shape}"; f"{x.shape[0]:04d}"; "%d-%s" % (x.shape[0], x.shape[-1]); "{}".format(x.shape[0]); x.shape[:1]; x.shape
x.shape + (1,); list(x.shape); set(x.shape) == {4}; type(x.shape[0]) is int; str(type(x.shape[0])); repr(x.shape[0] * 10)
x.shape[0].__class__.__name__; {"n": x.shape[0]}; (x.shape[0], {x.shape[0]: x.size}); copy.deepcopy([x.shape])
"""
TENSORS = """
ops.relu(x); x ** 2; x[: x.shape[0] - 1]; x[1:]; x[: x.shape[0] // 2 + 1]; x[-2:]; x[::2]; x[::-1]; x.reshape(-1, 4)
x[:, 1:3].tile((1, 2)); x.reshape(x.shape[0], 2, 2).reshape(x.shape[0], -1); x.reshape(x.shape[0] * 2, 2).reshape(-1, 4)
x.reshape(4, -1).swapaxes(0, 1); x.swapaxes(0, 1).swapaxes(0, 1); ops.concat((x, y), 0); ops.concat((x, x), 0)
ops.stack((x, x), 0).sum(0); ops.stack((x, x), 0).reshape(-1, 4); x.expand_dims(1).squeeze(1); x.sum(axis=0) * x
x.mean(axis=0, keep_dims=True) + x; x - x.max(axis=0); ops.softmax(x, 0); x @ ops.ones((4, 4), ms.float32)
ops.matmul(x, x.swapaxes(0, 1)) @ x; ops.zeros(x.shape, ms.float32) + x; ops.ones((x.shape[0], 4), ms.float32) * x
ops.full((x.shape[0], 1), 0.5) * x; x + ops.arange(x.shape[0]).expand_dims(1); ops.ones_like(x) + x; ops.tile(x, (2, 1))
ops.broadcast_to(x.expand_dims(0), (2, *x.shape))[1]; ops.repeat_interleave(x, 2, 0); ops.cumsum(x, 0); ops.flip(x, (0,))
ops.split(x, 2, 1)[0].tile((1, 2)); ops.chunk(x, 2, 0)[0]; ops.where(x > 0, x, 0.1 * x); x.masked_fill(x > 1, 1.0)
ops.dropout(x, 0.3); self.dense(x); self.norm(x); self.scale(x); self.drop(x); ops.gather(x, at, 0); x[at]; x[0:1] + x
x[x.shape[0] - 1] + x; x[-1] * x; ops.roll(x, 1, 0); x.astype(ms.float16).astype(ms.float32); x.view(x.shape[0], 4)
ops.tril(x); ops.triu(x, 1); x.flatten().reshape(x.shape); ops.norm(x, dim=0, keepdim=True) + x; x.var(axis=0) + x
sum([x[i] for i in range(x.shape[0])]) + x; x + y[: x.shape[0]] if y.shape[0] >= x.shape[0] else x; written(x)
x * y if x.shape == y.shape else x; x * y[:1]; ops.einsum("ij,kj->ik", x, x) @ x; ops.ones(len(x)).expand_dims(1) * x
ops.zeros_like(x[:1]) + x; ops.logsumexp(x, 0) + x; ops.unsqueeze(x, 0).sum(0); x * x.shape[0]; x / (x.shape[0] + 0.5)
written_through(x); written_through(x[: y.shape[0]]); written_through(x.T).T; Tensor(x.shape).sum() * x; x * ops.size(x)
"""


def _pieces(text: str) -> list[str]:
    return [piece.strip() for line in text.splitlines() for piece in line.split("; ") if piece.strip()]


def written(x: Tensor) -> Tensor:
    """Write to a tensor in place."""
    y = x * 1.0
    y[0] = 0.5
    y[:, 1] = y[:, 0]
    return y


def written_through(x: Tensor) -> Tensor:
    """Write to a tensor under other shapes, which share its elements or not."""
    y = x * 1.0
    flat = y[:, :3].reshape(-1)
    flat[0] = 0.25
    y.reshape(-1)[1] = 0.75
    return y * flat.sum()


def source_of(seed: int) -> str:
    """Return the text of a program."""
    chance = python_random.Random(seed)
    numbers, others, tensors = _pieces(NUMBERS), _pieces(OTHERS), _pieces(TENSORS)
    lines = ["def construct(self, x, y, at):", "    kept = []"]
    for _ in range(chance.randint(1, 5)):
        number, tensor = chance.choice(numbers), chance.choice(tensors)
        lines += chance.choice(
            [
                [f"    x = {tensor}"],
                [f"    x = {tensor}"],
                [f"    x = x {chance.choice('+-*')} ({number})"],
                [f"    kept.append({number})"],
                [f"    kept.append({chance.choice(others)})"],
                [
                    f"    if {number} {chance.choice(['>', '<', '==', '>=', '% 2 =='])} {chance.randint(0, 9)}:",
                    f"        x = {tensor}",
                ],
                ["    n, *rest = x.shape", "    x = x * n"],
                [
                    "    try:",
                    "        x = x.reshape(x.shape[0] // 2, 2, 4).reshape(-1, 4)",
                    "    except ValueError:",
                    "        x = x * 2",
                ],
                ["    for i in range(x.shape[0] // 2):", "        x = x + i"],
                ["    self.left = x.shape[0]"],
                ["    while x.shape[0] > 6:", "        x = x[: x.shape[0] // 2]"],
            ]
        )
    lines.append(chance.choice(["    return x * 1.0", "    return x * 1.0, kept", "    return x.sum(), x.shape, kept"]))
    return "\n".join(lines) + "\n"


def network(seed: int) -> tuple[nn.Cell, str]:
    """Return a network whose ``construct`` is a program, and its text."""
    source, name = source_of(seed), f"<shapes {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names: dict[str, Any] = {
        "np": np,
        "ms": ms,
        "ops": ops,
        "math": math,
        "functools": functools,
        "copy": copy,
        "written": written,
        "written_through": written_through,
        "Tensor": Tensor,
    }
    exec(compile(source, name, "exec"), names)

    class Network(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.dense, self.norm, self.scale = nn.Dense(4, 4), nn.BatchNorm1d(4), nn.LayerNorm((4,))
            self.drop = nn.Dropout(p=0.3)
            self.left: Any = 0

        construct = names["construct"]

    return Network(), source


def plain_value(value: Any) -> Any:
    """Return a value with the types and the bits of all its parts."""
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return "tensor", array.shape, array.dtype, array.tobytes()
    if isinstance(value, tuple | list):
        return type(value).__name__, [plain_value(part) for part in value]
    if isinstance(value, dict):
        return "dict", [(plain_value(key), plain_value(part)) for key, part in value.items()]
    return type(value).__name__, repr(value)


def outcome(net: nn.Cell, function: Any, inputs: tuple[Tensor, ...]) -> Any:
    """Return a call's result or error, and the state after it."""
    net.left = 0
    try:
        result = plain_value(function(*inputs))
    except Exception as error:
        return type(error).__name__
    parameters = [p.asnumpy().tobytes() for p in net.get_parameters()]
    return result, parameters, plain_value(net.left), random.position()


def run(seed: int, counts: Counter[str]) -> str:
    """Return the first call in which a plan and the eager call differ; "" if there is none."""
    chance, numbers = python_random.Random(-1 - seed), np.random.default_rng(seed)
    net, source = network(seed)
    net.set_train(chance.random() < 0.7)
    net.set_inputs(
        *[
            Tensor(shape=shape, dtype=kind)
            for shape, kind in (([None, 4], ms.float32), ([None, 4], ms.float32), ([None], ms.int32))
        ]
    )
    function: Any = net
    if chance.random() < 0.4:
        has_aux = "return x * 1.0\n" not in source
        function = ms.value_and_grad(net, (0, 1), tuple(net.trainable_params()), has_aux)
    for call in range(8):
        n, m = chance.randint(1, 9), chance.randint(1, 9)
        m = n if chance.random() < 0.4 else m
        inputs = (
            Tensor(numbers.standard_normal((n, 4)).astype(np.float32)),
            Tensor(numbers.standard_normal((m, 4)).astype(np.float32)),
            Tensor(numbers.integers(0, min(n, 4), 3).astype(np.int32)),
        )
        position, parameters = random.position(), [(p, p.asnumpy()) for p in net.get_parameters()]
        ms.set_context(mode=ms.PYNATIVE_MODE)
        expected = outcome(net, function, inputs)
        for parameter, array in parameters:
            parameter.set_data(Tensor(array))
        random.go_to(position)
        ms.set_context(mode=ms.GRAPH_MODE)
        actual = outcome(net, function, inputs)
        if actual != expected:
            return f"seed {seed}, call {call} with lengths {n} and {m}\n{source}\n{str(expected)[:500]}\n{str(actual)[:500]}"
    for compiled in cells.plans_of(net):
        counts.update(compiled.counts)
        counts["plans"] += len(compiled.sources)
    return ""


def run_all(seeds: range, counts: Counter[str]) -> list[str]:
    """Yield the fault of each program, or ""."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [difference for seed in seeds if (difference := run(seed, counts))]
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def main() -> None:
    """Run programs and print a summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts = Counter[str]()
    wrong = run_all(range(options.seed, options.seed + options.programs), counts)
    print("\n".join(wrong[:3]))
    print(f"{options.programs} programs: {dict(counts)}; wrong answers: {len(wrong)}")


if __name__ == "__main__":
    main()
