"""The source of random programs: networks that are trained, as lines of one statement each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

__all__ = ["Line", "Source", "value_of"]


@dataclass
class Line:
    """A statement: its text, and whether an edit may stand before it; for a call, the cell and the names."""

    text: str
    indent: int
    function: str
    names: tuple[str, ...] = ()
    editable: bool = True
    looped: bool = False
    call: tuple[str, tuple[str, ...], tuple[str, ...]] | None = None


def value_of(rng: random.Random, *names: str) -> str:
    """Return an expression of these names, of their shape."""
    a, b = rng.choice(names), rng.choice(names)
    c = rng.choice((0.5, 1.25, -0.75, 2.0))
    return rng.choice(
        (f"{a} * {c} + {b}", f"{a} * {b} * 0.5", f"ms.ops.tanh({a}) + {b} * {c}", f"ms.ops.sin({a} * {c})")
    )


class Source:
    """A random program as lines."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.lines: list[Line] = []
        self.functions: list[str] = []
        self.cells: dict[str, tuple[int, int, bool]] = {}  # inputs, outputs, whether it has a bprop
        self._function = ""
        self._names: tuple[str, ...] = ()
        self._closure()
        self._helper()
        kinds = [self._with_bprop(number) for number in range(rng.randint(1, 2))]
        kinds += [self._plain(number) for number in range(rng.randint(1, 2))]
        self._net(kinds)

    def _add(self, text: str, indent: int, **options: Any) -> None:
        self.lines.append(Line(text, indent, self._function, self._names, **options))

    def _define(self, head: str, indent: int, function: str, names: tuple[str, ...], nonlocals: str = "") -> None:
        self._add(head, indent, editable=bool(self._function) and indent > 1)
        self._outer = (self._function, self._names)
        self._function, self._names = function, names
        if nonlocals:
            self._add(f"nonlocal {nonlocals}", indent + 1, editable=False)
        self.functions.append(function)
        self._add(f"turn = next(turns[{function!r}])", indent + 1, editable=False)  # no call to step into

    def _end(self) -> None:
        self._function, self._names = self._outer

    def _value(self, *names: str) -> str:
        return value_of(self.rng, *names)

    def _closure(self) -> None:
        self._add("def make():", 0, editable=False)
        self._add("factor = FACTOR", 1, editable=False)
        self._define("def shared(z):", 1, "shared", ("z", "p", "factor"), "factor")
        self._add(f"p = {self._value('z', 'factor')}", 2)
        self._add("return p * factor", 2)
        self._function, self._names = "", ()
        self._add("def look(): return factor", 1, editable=False)
        self._add("def put(value):", 1, editable=False)
        self._add("nonlocal factor", 2, editable=False)
        self._add("factor = value", 2, editable=False)
        self._add("return shared, look, put", 1, editable=False)
        self._add("shared, look, put = make()", 0, editable=False)

    def _helper(self) -> None:
        self._define("def helper(z):", 0, "helper", ("z", "q", "r"))
        self._add(f"q = {self._value('z')}", 1)
        self._add(f"r = {self._value('z', 'q')}", 1)
        self._add("return q + r", 1)
        self._function, self._names = "", ()

    def _with_bprop(self, number: int) -> str:
        rng, name = self.rng, f"Own{number}"
        inputs, outputs = rng.randint(1, 2), rng.randint(1, 2)
        xs = tuple(f"x{i}" for i in range(inputs))
        self._add(f"class {name}(nn.Cell):", 0, editable=False)
        self._define(f"def construct(self, {', '.join(xs)}):", 1, f"{name}.construct", (*xs, "t"))
        self._add(f"t = {self._value(*xs)}", 2)
        if rng.random() < 0.3:
            self._add("session.pause()", 2)
        self._add("return " + ", ".join([self._value("t", *xs) for _ in range(outputs)]), 2)
        self._function, self._names = "", ()
        ds = tuple(f"d{i}" for i in range(outputs))
        known = [*xs, *ds]
        names = (*xs, *ds, "v0", "v1", "v2", "v3", "v4", "common")
        self._define(f"def bprop(self, {', '.join(xs)}, out, dout):", 1, f"{name}.bprop", names)
        self._add(f"{', '.join(ds)} = dout" if outputs > 1 else "d0 = dout", 2)
        for index in range(5):
            text = self._value(*known)
            kind = rng.choice(("plain", "plain", "helper", "shared", "loop", "inner"))
            if kind == "loop":
                self._add(f"v{index} = {text}", 2)
                self._add(f"for i in range({rng.randint(1, 3)}):", 2, editable=False)
                self._add(f"v{index} = {self._value(f'v{index}', *known)}", 3, looped=True)
                if rng.random() < 0.5:
                    self._add(f"v{index} = v{index} * 0.5", 3, looped=True)
            elif kind == "inner" and "common" not in known:
                self._add(f"common = {text}", 2)
                self._define("def inner(z):", 2, f"{name}.inner", ("z", "w", "common"), "common")
                self._add(f"w = {self._value('z', 'common')}", 3)
                self._add(f"common = {self._value('w', 'common')}", 3)
                self._add("return w + common", 3)
                self._end()
                self._add(f"v{index} = inner({rng.choice(known)})", 2)
                known.append("common")
            else:
                self._add(f"v{index} = {text}" if kind in ("plain", "inner") else f"v{index} = {kind}({text})", 2)
            known.append(f"v{index}")
        if rng.random() < 0.3:
            known.remove("v0")
            self._add("del v0", 2)
        gradients = [self._value(*known) for _ in xs]
        for x, gradient in zip(xs, gradients, strict=True):
            self._add(f"g{x} = {gradient}", 2)
        self._names = (*names, *(f"g{x}" for x in xs))
        self._add("return " + ", ".join(f"g{x}" for x in xs) + ("," if inputs == 1 else ""), 2)
        self._function, self._names = "", ()
        self.cells[name] = inputs, outputs, True
        return name

    def _plain(self, number: int) -> str:
        name = f"Plain{number}"
        self._add(f"class {name}(nn.Cell):", 0, editable=False)
        self._add("def __init__(self):", 1, editable=False)
        self._add("super().__init__()", 2, editable=False)
        self._add(f"self.w = weight({self.rng.randint(0, 99)})", 2, editable=False)
        self._define("def construct(self, x0):", 1, f"{name}.construct", ("x0", "t", "u"))
        self._add(f"t = {self._value('x0')} + self.w", 2)
        self._add("u = t * 2.0 if self.training else t * 0.5", 2)
        if self.rng.random() < 0.5:
            self._add("session.pause()", 2)
        self._add("return ms.ops.tanh(t * x0) + u", 2)
        self._function, self._names = "", ()
        self.cells[name] = 1, 1, False
        return name

    def _net(self, kinds: list[str]) -> None:
        rng = self.rng
        self.members = {f"c{i}": rng.choice(kinds) for i in range(rng.randint(1, 3))}
        self.members |= {f"k{i}": kind for i, kind in enumerate(kinds)}
        self._add("class Net(nn.Cell):", 0, editable=False)
        self._add("def __init__(self):", 1, editable=False)
        self._add("super().__init__()", 2, editable=False)
        for member, kind in self.members.items():
            self._add(f"self.{member} = {kind}()", 2, editable=False)
        self._add("self.tail = nn.Tanh()", 2, editable=False)
        self._define("def construct(self, x):", 1, "Net.construct", ("x",))
        known = ["x"]
        calls = [*self.members, *rng.sample(list(self.members), 1)]
        rng.shuffle(calls)
        self.calls: dict[str, list[int]] = {}
        for number, member in enumerate(calls):
            inputs, outputs, _ = self.cells[self.members[member]]
            arguments = tuple(f"a{number}{i}" for i in range(inputs))
            for name in (
                arguments
            ):  # a value of its own for each position: a value in two positions cannot have its gradient set
                self._add(f"{name} = {self._value(*known)}", 2)
            results = tuple(f"h{number}{i}" for i in range(outputs))
            self.calls.setdefault(member, []).append(len(self.lines))
            text = f"{', '.join(results)} = self.{member}({', '.join(arguments)})"
            self._add(text, 2, call=(member, arguments, results))
            known += results
            self._names = (*self._names, *arguments, *results)
            if rng.random() < 0.2:
                self._add("session.pause()", 2)
        self._add("return self.tail(" + " + ".join(known[1:]) + ")", 2)
        self._function, self._names = "", ()

    def text(self) -> str:
        """Return the program as it is debugged: one line a statement."""
        return "\n".join("    " * line.indent + line.text for line in self.lines) + "\n"
