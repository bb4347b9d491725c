"""Random programs of views and writes: the same elements are shared by whoever runs them, and as in NumPy.

    python -m tests.engine.view_programs --programs 20000 --seed 7 --jobs 2

A program is the text of a network's ``construct`` and the same in NumPy: chains of views, writes into them, in-place
operators, results of operators, calls of cells that write into what they are given, with hooks, a ``bprop`` or
recompute. Its outputs must have the same bits plainly, watched in five ways, by plans at O0 and O1, and inside a
gradient, and they must be NumPy's; gradients must have the same bits plainly and watched, and be NumPy's differences.
With ``HOOKSCOPE_NUMBA=0`` plans at O1 have nothing to compile, which takes seconds for each program.

A computed tensor lies row by row, as in MindSpore (docs/differences.md), so NumPy is asked for ``order="C"``.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession

START = """
from hookscope.engine import nn, ops

class Writes(nn.Cell):
    def construct(self, x):
        x.mul_(0.5)
        x[..., 0:1] = -1.5
        return x * 2.0

class Turns(nn.Cell):
    def construct(self, x):
        return ops.transpose(x, tuple(reversed(range(x.ndim))))

class Returns(nn.Cell):
    def construct(self, x):
        return x

class Flattens(nn.Cell):
    def construct(self, x):
        y = x * 1.0
        z = ops.transpose(y, tuple(reversed(range(y.ndim))))
        flat = z.reshape((-1,))
        y.mul_(0.25)
        return flat

class Parts(nn.Cell):
    def construct(self, x):
        y = ops.transpose(x * 0.5, tuple(reversed(range(x.ndim))))
        return y[..., 0:1], y[0:1]

class Flat(nn.Cell):
    def construct(self, x):
        flat = x.reshape((-1,))
        return flat * 0.5

class Doubles(nn.Cell):
    def construct(self, x):
        return x * 2.0

    def bprop(self, x, out, dout):
        return dout * 2.0

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.writes, self.turns, self.returns, self.flat, self.doubles = Writes(), Turns(), Returns(), Flat(), Doubles()
        self.flattens, self.hooked, self.hooked_turn = Flattens(), Writes(), Turns()
        for cell in (self.hooked, self.hooked_turn):
            cell.register_backward_hook(lambda cell, gradients, arrived: None)
            cell.register_forward_hook(lambda cell, args, output: None)
            cell.register_backward_pre_hook(lambda cell, arrived: None)
        self.again = Flat()
        self.again.recompute()
        self.parts, self.parts_again = Parts(), Parts()
        self.parts_again.recompute()
        self.flattens_again = Flattens()
        self.flattens_again.recompute()

    def construct(self, x):
"""

NUMPY = {
    "writes": "_writes(v{})",
    "hooked": "_writes(v{})",
    "turns": "v{}.T",
    "hooked_turn": "v{}.T",
    "returns": "v{}",
    "flat": "np.multiply(v{}.reshape(-1), F(0.5), order='C')",
    "again": "np.multiply(v{}.reshape(-1), F(0.5), order='C')",
    "doubles": "np.multiply(v{}, F(2.0), order='C')",
    "flattens": "_flattens(v{})",
    "flattens_again": "_flattens(v{})",
}


def _writes(x: Any) -> Any:
    x *= x.dtype.type(0.5)
    x[..., 0:1] = -1.5
    return np.multiply(x, x.dtype.type(2.0), order="C")


def _flattens(x: Any) -> Any:
    y = np.array(x, order="C")
    flat = y.T.reshape(-1)
    y *= y.dtype.type(0.25)
    return flat


def _parts(x: Any) -> Any:
    y = np.multiply(x, x.dtype.type(0.5), order="C").T
    return y[..., 0:1], y[0:1]


def _diagonal(x: Any) -> Any:
    part = x.diagonal()
    part.flags.writeable = x.flags.writeable
    return part


_NAMES = {"np": np, "_writes": _writes, "_flattens": _flattens, "_parts": _parts, "_diagonal": _diagonal}


@dataclass
class Program:
    """A program's text.

    Attributes:
        lines: of ``construct``.
        numpy: the same in NumPy.
        kept: the numbers of the variables that it returns.
        shape: of its input.
        seed: of its input's numbers.
    """

    shape: tuple[int, ...]
    seed: int
    lines: list[str] = field(default_factory=list)
    numpy: list[str] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)

    def text(self) -> str:
        """Return the source of the network."""
        outputs = [f"v{n}, v{n}.sum(), v{n}.reshape((-1,)).sum(), (v{n} * v{n}).sum()" for n in self.kept]
        total = " + ".join(f"(v{n} * v{n}).sum() + v{n}.sum()" for n in self.kept)
        body = [*self.lines, f"return ({total}, {', '.join(outputs)})"]
        return START + "".join(f"        {line}\n" for line in body)

    def numpy_text(self) -> str:
        """Return the source of the model."""
        outputs = [f"v{n}, v{n}.sum(), v{n}.reshape((-1,)).sum(), (v{n} * v{n}).sum()" for n in self.kept]
        total = " + ".join(f"(v{n} * v{n}).sum() + v{n}.sum()" for n in self.kept)
        return "def model(x):\n" + "".join(
            f"    {line}\n" for line in [*self.numpy, f"return ({total}, {', '.join(outputs)})"]
        )

    def input(self) -> np.ndarray[Any, Any]:
        """Return the numbers that it starts with."""
        numbers = np.random.default_rng(self.seed)
        if self.is_exact:
            return (numbers.integers(-8, 9, self.shape) / 4).astype(np.float32)
        return numbers.uniform(-2, 2, self.shape).astype(np.float32)

    @property
    def is_exact(self) -> bool:
        """True if its numbers have so few digits that sums are exact in any order, since O1 adds in another one."""
        return self.seed % 2 == 0


def _model(text: str, dtype: Any) -> Callable[[Any], Any]:
    names: dict[str, Any] = {**_NAMES, "F": dtype}
    exec(compile(text, "<model>", "exec"), names)
    result: Callable[[Any], Any] = names["model"]
    return result


class _Writer:
    """Writer of one program; each line is run in NumPy at once, which determines the shapes."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        shape = self.random.choice([(4, 4), (2, 6), (3, 5), (4, 1), (2, 3, 4), (2, 2, 2), (8,), (1, 4), (3, 3), (1, 1)])
        self.program = Program(shape, seed)
        self.names: dict[str, Any] = {**_NAMES, "F": np.float32, "x": self.program.input()}
        self.count = 0

    def write(self) -> Program:
        """Return a program of five to fourteen lines."""
        self._add("x * 1.0", "np.multiply(x, F(1.0), order='C')")
        for _ in range(self.random.randint(4, 13)):
            try:
                self.random.choices((self._view, self._write_line, self._compute, self._call), (5, 4, 1, 1.5))[0]()
            except (_NotNowError, IndexError):
                continue
        numbers = [n for n in range(self.count) if self._value(n).size]
        self.program.kept = sorted(self.random.sample(numbers, min(len(numbers), 3)))
        return self.program

    def _value(self, number: int) -> Any:
        return self.names[f"v{number}"]

    def _run(self, line: str, numpy: str) -> None:
        exec(numpy, self.names)
        self.program.lines.append(line)
        self.program.numpy.append(numpy)

    def _add(self, engine: str, numpy: str) -> None:
        self._run(f"v{self.count} = {engine}", f"v{self.count} = {numpy}")
        self.count += 1

    def _pick(self, writable: bool = False) -> tuple[int, Any]:
        number = self.random.randrange(max(0, self.count - 5), self.count)
        value = self._value(number)
        if writable and not value.flags.writeable:
            raise _NotNowError
        return number, value

    def _index(self, shape: tuple[int, ...]) -> str:
        parts = []
        for length in shape[: self.random.randint(1, max(1, len(shape)))]:
            start = self.random.randrange(length) if length else 0
            stop = self.random.randint(start, length)
            part = f"{start}:{max(stop, start + 1)}"
            some = (f"{start}", f"{start - length}", ":", part, "::2", "1::2", f"{start}:", "...")
            parts.append(self.random.choice(some if length else (":",)))
        if parts.count("...") > 1 or not parts:
            parts = ["..."]
        if self.random.random() < 0.1:
            parts.insert(0, "None")
        return ", ".join(parts)

    def _view(self) -> None:
        n, value = self._pick()
        kind = self.random.choice(
            (
                "T",
                "transpose",
                "reshape",
                "reshape",
                "reshape",
                "flat",
                "index",
                "index",
                "index",
                "expand",
                "squeeze",
                "diagonal",
                "split",
                "broadcast",
                "contiguous",
                "copy",
                "swap",
                "stop",
                "narrow",
                "alias",
            )
        )
        if kind == "T" and value.ndim == 2:
            self._add(f"v{n}.T", f"v{n}.T")
        elif kind == "transpose" and value.ndim > 1:
            axes = tuple(self.random.sample(range(value.ndim), value.ndim))
            self._add(f"ops.transpose(v{n}, {axes})", f"v{n}.transpose({axes})")
        elif kind == "swap" and value.ndim > 1:
            self._add(f"v{n}.swapaxes(0, -1)", f"v{n}.swapaxes(0, -1)")
        elif kind == "reshape":
            shape = self._shape(value.size)
            self._add(f"v{n}.{self.random.choice(('reshape', 'view'))}({shape})", f"v{n}.reshape({shape})")
        elif kind == "flat":
            self._add(f"v{n}.{self.random.choice(('flatten()', 'reshape(-1)', 'view(-1)'))}", f"v{n}.reshape(-1)")
        elif kind == "index" and value.ndim:
            index = self._index(value.shape)
            source = f"v{n}[{index}]" if "..." in index else f"v{n}[{index}, ...]"
            self._add(f"v{n}[{index}]", source)
        elif kind == "expand":
            axis = self.random.randint(0, value.ndim)
            self._add(f"v{n}.expand_dims({axis})", f"np.expand_dims(v{n}, {axis})")
        elif kind == "squeeze" and 1 in value.shape:
            axis = value.shape.index(1)
            self._add(f"v{n}.squeeze({axis})", f"v{n}.squeeze({axis})")
        elif kind == "diagonal" and value.ndim == 2:
            self._add(f"v{n}.diagonal()", f"_diagonal(v{n})")
        elif kind == "split" and value.ndim and value.shape[0] > 1:
            self._add(f"ops.split(v{n}, 1)[1]", f"v{n}[1:2]")
        elif kind == "narrow" and value.ndim and value.shape[-1] > 1:
            self._add(f"v{n}.narrow({value.ndim - 1}, 0, 1)", f"v{n}[..., 0:1]")
        elif kind == "broadcast" and value.ndim < 3:
            shape = (2, *value.shape)
            self._add(f"v{n}.broadcast_to({shape})", f"np.broadcast_to(v{n}, {shape})")
        elif kind == "contiguous" and value.ndim:
            self._add(f"v{n}.contiguous()", f"v{n} if v{n}.flags.c_contiguous else v{n}.copy()")
        elif kind == "copy":
            self._add(f"v{n}.copy()", f"v{n}.copy()")
        elif kind == "alias":
            self._add(f"ops.stop_gradient(v{n}) * 0.0 + v{n}", f"np.multiply(v{n}, F(1.0), order='C')")

    def _shape(self, size: int) -> tuple[int, ...]:
        shape: list[int] = []
        rest = size
        for _ in range(self.random.randint(0, 2)):
            divisors = [d for d in (1, 2, 3, 4, 6) if rest and rest % d == 0]
            shape.append(self.random.choice(divisors) if divisors else 0)
            rest = rest // shape[-1] if shape[-1] else 0
        shape.insert(self.random.randint(0, len(shape)), rest)
        return tuple(shape)

    def _write_line(self) -> None:
        n, value = self._pick(writable=True)
        number = self.random.choice(("0.5", "1.5", "-2.0", "0.25"))
        kinds = ("mul", "add", "zero", "put", "put", "put", "put tensor", "add tensor", "copy", "fill")
        kind = self.random.choice(kinds)
        if kind == "mul":
            self._run(f"v{n}.mul_({number})", f"v{n} *= F({number})")
        elif kind == "add":
            self._run(f"v{n}.add_({number})", f"v{n} += F({number})")
        elif kind == "zero":
            self._run(f"v{n}.zero_()", f"v{n}[...] = 0")
        elif kind == "fill":
            self._run(f"v{n}.fill_({number})", f"v{n}[...] = F({number})")
        elif kind == "put" and value.ndim:
            index = self._index(value.shape)
            self._run(f"v{n}[{index}] = {number}", f"v{n}[{index}] = F({number})")
        else:
            others = [k for k in range(self.count) if self._value(k).shape == value.shape]
            if not others:
                raise _NotNowError
            k = self.random.choice(others)
            if kind == "put tensor" and value.ndim:
                self._run(f"v{n}[...] = v{k}", f"v{n}[...] = v{k}")
            elif kind == "add tensor":
                self._run(f"v{n}.add_(v{k})", f"v{n} += v{k}")
            elif kind == "copy":
                self._run(f"v{n}.copy_(v{k})", f"v{n}[...] = v{k}")

    def _compute(self) -> None:
        n, value = self._pick()
        others = [k for k in range(self.count) if self._value(k).shape == value.shape and k != n]
        if others and self.random.random() < 0.6:
            k = self.random.choice(others)
            name, sign = self.random.choice((("add", "+"), ("subtract", "-"), ("multiply", "*")))
            self._add(f"v{n} {sign} v{k}", f"np.{name}(v{n}, v{k}, order='C')")
        else:
            self._add(f"v{n} * 0.5", f"np.multiply(v{n}, F(0.5), order='C')")

    def _call(self) -> None:
        name = self.random.choice((*NUMPY, "parts", "parts_again"))
        n, value = self._pick(writable=name in ("writes", "hooked"))
        if not value.ndim:
            raise _NotNowError
        if name.startswith("parts"):
            names = f"v{self.count}, v{self.count + 1}"
            self._run(f"{names} = self.{name}(v{n})", f"{names} = _parts(v{n})")
            self.count += 2
            return
        self._add(f"self.{name}(v{n})", NUMPY[name].format(n))


class _NotNowError(Exception):
    """The drawn line does not fit the existing variables."""


def written(seed: int) -> Program:
    """Return the program of a seed."""
    return _Writer(seed).write()


def _bits(value: Any) -> list[tuple[Any, ...]]:
    arrays = [t.asnumpy() for t in value]
    return [(a.shape, a.dtype, a.tobytes()) for a in arrays]


def _watched(net: nn.Cell) -> Iterator[tuple[str, DebugSession]]:
    yield "watched", DebugSession(net)
    yield "watched with all conditions", DebugSession(net, conditions=["all"])
    session = DebugSession(net)
    session.add_breakpoint("turns if maximum > 1e30")
    session.add_breakpoint("ops.reshape if maximum > 1e30")
    yield "watched with a breakpoint", session
    session = DebugSession(net)
    for path in ("writes", "turns", "flat", "doubles", "flattens", "again"):
        for kind in ("forward_pre", "forward", "backward_pre", "backward"):
            session.attach_hook(path, kind)
    yield "watched with hooks", session
    session = DebugSession(net, conditions=["all"], every=1)
    session.add_watch("*:all")
    yield "watched with a watch", session


def faults_of(program: Program) -> list[str]:
    """Run a program in all ways.

    Args:
        program: what to run.

    Returns:
        what differed, a line each.
    """
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(program.text(), "<program>", "exec"), names)
    net = names["Net"]()
    x = program.input()
    expected = _model(program.numpy_text(), np.float32)(x.copy())
    results: list[str] = []

    def run(call: Callable[[Tensor], Any]) -> list[Any]:
        return list(call(Tensor(x.copy())))

    plain = run(net)
    for n, (result, reference) in enumerate(zip(plain, expected, strict=True)):
        exactly = n % 4 == 1 or program.is_exact
        same = np.array_equal if exactly else np.allclose
        if not same(result.asnumpy(), np.float32(reference)) or result.shape != np.shape(reference):
            results.append(f"output {n}: {result.asnumpy().tolist()}, NumPy {np.asarray(reference).tolist()}")
    bits = _bits(plain)

    def compare(how: str, outputs: list[Any], of: list[Any] = bits) -> None:
        for n, (item, other) in enumerate(zip(_bits(outputs), of, strict=True)):
            if item != other:
                results.append(f"{how}: output {n} differs: {outputs[n].asnumpy().tolist()}")

    def loss(x: Tensor) -> Any:
        outputs = net(x)
        return outputs[0], outputs

    def gradient(x: Tensor) -> list[Any]:
        (_, outputs), g = ms.value_and_grad(loss, has_aux=True)(x)
        return [*outputs, g]

    plain_gradient = run(gradient)
    compare("inside a gradient", plain_gradient[:-1])
    of_gradient = _bits(plain_gradient)
    for how, session in _watched(net):
        with session:
            compare(how, run(net))
            compare(f"inside a gradient, {how}", run(gradient), of_gradient)
    for level in ("O0", "O1") if program.is_exact else ("O0",):
        planned = ms.jit(lambda x: net(x), jit_level=level)
        for call in ("first", "second", "third"):
            compare(f"jit {level}, {call} call", run(planned))
        planned = ms.jit(gradient, jit_level=level)
        for call in ("first", "second"):
            compare(f"jit {level} of a gradient, {call} call", run(planned), of_gradient)
    results += _gradient_faults(program, x, plain_gradient[-1].asnumpy())
    return results


def _gradient_faults(program: Program, x: Any, gradient: Any) -> list[str]:
    model, h = _model(program.numpy_text(), np.float64), 1e-5
    expected = np.zeros(x.shape)
    for index in np.ndindex(*x.shape):
        sides = []
        for step in (h, -h):
            moved = x.astype(np.float64)
            moved[index] += step
            sides.append(model(moved)[0])
        expected[index] = (sides[0] - sides[1]) / (2 * h)
    scale = 1 + np.abs(expected).max()
    if np.abs(gradient - expected).max() > 1e-3 * scale:
        return [f"the gradient is {gradient.tolist()}, by differences {expected.tolist()}"]
    return []


def _tried(seed: int) -> tuple[int, list[str]]:
    try:
        return seed, faults_of(written(seed))
    except Exception as error:  # failures are the findings
        return seed, [f"{type(error).__name__}: {error}"]


def main() -> None:
    """Run programs and print those that fail."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    failed = 0
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        seeds = range(options.seed * 1_000_000, options.seed * 1_000_000 + options.programs)
        for seed, result in pool.map(_tried, seeds, chunksize=20):
            if result:
                failed += 1
                if failed <= 10:
                    print(f"--- seed {seed}")
                    print("\n".join(written(seed).lines), written(seed).kept, written(seed).shape)
                    print("\n".join(result[:6]))
    print(f"{options.programs} programs, {failed} failed")


if __name__ == "__main__":
    main()
