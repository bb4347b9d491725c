"""The notebooks of the random sessions, and the expected results of their runs.

A run trains a network of three lines of arithmetic; the expected results come from the same arithmetic in NumPy, with
the confirmed edits, each at its place.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

INPUT = (1.0, 2.0, 4.0)
BPROP = ("slope = dout * 3", "extra = dout * 0", "total = slope + extra", "return (total,)")
NETWORKS = """\
import asyncio
import time
import mindspore as ms
import numpy as np
from mindspore import nn, ops

class Add(nn.Cell):
    def construct(self, x):
        return x + 1

class Mul(nn.Cell):
    def construct(self, x):
        return x * 3

    def bprop(self, x, out, dout):
        slope = dout * 3
        extra = dout * 0
        total = slope + extra
        return (total,)

class Red(nn.Cell):
    def __init__(self):
        super().__init__()
        self.add = Add()
        self.mul = Mul()

    def construct(self, x):
        return self.mul(self.add(x))

class Blue(Red):
    pass

red, blue = Red(), Blue()
x = ms.Tensor(np.array([1, 2, 4], np.float32))

def go(net, steps, delay=0.0, bad=-1):
    witness.run += 1
    for step in range(steps):
        witness.step = step
        kept = []
        def forward(x):
            kept.append(net(x))
            return kept[-1].sum()
        slope = ms.grad(forward)(x * float("nan") if step == bad else x)
        out, dx = kept[0].asnumpy().tolist(), slope.asnumpy().tolist()
        witness.went(net=type(net).__name__, bad=step == bad, out=out, dx=dx)
        time.sleep(delay)
"""
# Most run for a moment; the last two long enough for many actions meanwhile, and for a save in the middle.
RUNS = (
    "go({net}, 2)",
    "await asyncio.sleep(0.01)\ngo({net}, 3, 0.02)",
    "%%cell {net}\ngo({net}, 3)",
    "%%cell {net}\ngo({net}, 20, 0.02)",
    "%%cell\ngo({net}, 2)",
    "%%cell {net} --check all\ngo({net}, 3)",
    "%%cell {net} --step\ngo({net}, 2)",
    "%%cell {net} --step -o dbg\ngo({net}, 2)",
    "%%cell {net} -b mul:forward -b 'add:backward'\ngo({net}, 2)",
    "%%cell {net} --stop-on nan\ngo({net}, 3, 0.01, bad=1)",
    "%%cell {net} -b mul:bprop -w mul\nfor _ in range(2):\n    go({net}, 1)",
    "go({net}, 60, 0.05)",
    "%%cell {net}\ngo({net}, 60, 0.05)",
    "%%cell {net}\ngo({net}, 300, 0.05)",
)
OPENS = ("%cell red", "%cell blue")


def cells(rng: random.Random) -> list[str]:
    """Return a notebook: the networks, panels for one or both of them, and some runs."""
    opens = rng.sample(OPENS, rng.choice((1, 1, 2)))
    runs = [run(rng) for _ in range(rng.randint(4, 6))]
    return [NETWORKS, *opens, *runs]


def run(rng: random.Random) -> str:
    """Return the source of one cell that runs a network."""
    weights = [1.0 if "60" in text or "300" in text else 3.0 for text in RUNS]
    return rng.choices(RUNS, weights)[0].format(net=rng.choice(("red", "red", "blue")))


@dataclass(frozen=True)
class Edit:
    """One edit that the panel has confirmed: at a moment of a cell, or at a line of its bprop.

    Attributes:
        ran: whether the line's operator had run by then: the edit comes before its value gets its name.
    """

    path: str
    moment: str
    line: str
    name: str
    expression: str
    ran: bool = False


@dataclass(frozen=True)
class Numbers:
    """The numbers of one step of a run."""

    out: list[float]
    dx: list[float]

    def agrees(self, out: Sequence[float], dx: Sequence[float]) -> bool:
        """Return whether the run gave just these: all are small integers, or NaN."""
        return np.array_equal(self.out, out, equal_nan=True) and np.array_equal(self.dx, dx, equal_nan=True)


def possible_edits(rng: random.Random, moment: str, line: str) -> list[tuple[str, str]]:
    """Return one edit or several that can be made at a stop; NAME and EXPRESSION of each."""
    numbers = rng.sample(range(2, 10), 3)
    at_cells = {
        "forward_pre": ("inputs[0]", "inputs[0] + {}"),
        "forward": ("output", "output + {}"),
        "backward_pre": ("grad_output[0]", "grad_output[0] * {}"),
        "backward": ("grad_input[0]", "grad_input[0] * {}"),
    }
    if moment in at_cells:
        name, expression = at_cells[moment]
        return [(name, expression.format(number)) for number in numbers[: rng.choice((1, 1, 2))]]
    # Names that the bprop has not made yet are among them: it will give them another value.
    names = rng.sample(("slope", "extra", "total", "dout"), rng.randint(1, 3))
    texts = [rng.choice(("dout * 0 + {}", "dout * {}")).format(number) for number in numbers]
    return list(zip(names, texts, strict=False))


def expected(edits: Sequence[Edit], bad: bool) -> Numbers:
    """Return the numbers of a step in which these edits were made, in this order."""

    def passing(path: str, moment: str, name: str, value: np.ndarray) -> np.ndarray:
        for edit in edits:
            if (edit.path, edit.moment) == (path, moment):
                value = _evaluate(edit.expression, {name: [value] if "[" in edit.name else value})
        return value

    def forward(path: str, value: np.ndarray) -> np.ndarray:
        value = passing(path, "forward_pre", "inputs", value)
        if not path:
            value = forward("mul", forward("add", value))
        else:
            value = value + 1 if path == "add" else value * 3
        return passing(path, "forward", "output", value)

    def backward(path: str, value: np.ndarray) -> np.ndarray:
        value = passing(path, "backward_pre", "grad_output", value)
        if not path:
            value = backward("add", backward("mul", value))
        elif path == "mul":
            value = _bprop(value, [edit for edit in edits if edit.moment == "bprop"])
        return passing(path, "backward", "grad_input", value)

    inputs = np.array(INPUT, np.float32) * np.float32("nan" if bad else 1)
    out, dx = forward("", inputs), backward("", np.ones(3, np.float32))
    return Numbers([float(value) for value in out], [float(value) for value in dx])


def _bprop(dout: np.ndarray, edits: Sequence[Edit]) -> np.ndarray:
    scope: dict[str, object] = {"dout": dout}

    def edit(line: str, ran: bool) -> None:
        for item in edits:
            if (item.line, item.ran) == (line, ran):
                scope[item.name] = _evaluate(item.expression, scope)

    for line in BPROP:
        edit(line, ran=False)
        name, _, expression = line.partition(" = ")
        if expression:
            value = _evaluate(expression, scope)
            edit(line, ran=True)
            scope[name] = value
    return np.asarray(scope["total"])


def _evaluate(expression: str, scope: dict[str, object]) -> np.ndarray:
    assert re.fullmatch(r"[\w\[\] *+]+", expression), expression
    return np.asarray(eval(expression, {}, scope), np.float32)
