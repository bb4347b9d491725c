"""Cells with a ``bprop`` and ``_Function``s within functions, and every way to ask for gradients of these.

The arguments of each ``bprop`` are compared beside the gradients.
"""

from __future__ import annotations

import numpy as np

from tests.differential.cases import Case
from tests.differential.writing import HEAD, WRITES_DOWN, Writer

# An output of a cell from x, y and the weight; a gradient of an input from these, the output and what arrives at it.
OUTPUTS = (
    "{x} * {y}",
    "ops.sin({x}) + {y}",
    "{x} * {x} - {y}",
    "{x} * 2.0",
    "{w} * {x}",
    "{w} * {y} + {x}",
    "ops.stop_gradient({x}) * {y}",
    "{x}",
    "ops.concat(({x}, {y}))",
    "{x} / (1.0 + {y} * {y})",
)
GRADIENTS = {
    "{d} * {x}": 8,
    "{d} * 2.0": 8,
    "{d}": 8,
    "{x} * {y}": 3,
    "ops.cos({x}) * {d}": 3,
    "{w} * {d}": 3,
    "None": 4,
    "{d} * {o}": 3,
    "ops.zeros_like({x})": 2,
    "0.0": 1,
    "2.5": 1,
    "({d} * 3.0).astype(ms.float16)": 1,
    "({d} * 3.0).astype(ms.float64)": 1,
    "{d}.sum()": 1,
    "ops.ones((2, 2), ms.float32)": 1,
    "{d}[:1]": 1,
    "{d}.reshape((2, 1))": 1,
    "({d} + 1.0, {d})": 1,
    "'text'": 1,
    "({d} * 3.0).astype(ms.int32)": 1,
}
RETURNS = {
    "({all},)": 100,
    "[{all}]": 6,
    "{first}": 6,
    "({first},)": 4,
    "({all}, {first})": 4,
    "None": 1,
    "()": 1,
    "(({all},), {weights})": 12,
    "(({all},), ({weighted},))": 2,
    "({all}, {weighted})": 8,
    "{weights}": 1,
}
# A function's operations on a and b, beside calls of its cells.
STEPS = (
    "ops.sin({a})",
    "{a} * {b}",
    "{a} + {b}",
    "{a} * 2.0",
    "{a} - 1.0",
    "ops.stop_gradient({a}) * {b}",
    "{a} * {a}",
    "{a}[Tensor([1, 0])]",
    "{a} * net.w",
    "{a}.astype(ms.float16).astype(ms.float32)",
    "ops.maximum({a}, {b})",
    "ops.where({a} > 0, {a}, {b})",
)
# The whole of a gradient; `f` is a function of two tensors, `p` one that gives a pair, `ws` weights.
ASKED = {
    "ms.grad(f)(*xs)": 4,
    "ms.grad(f, 1)(*xs)": 2,
    "ms.grad(f, (0, 1))(*xs)": 4,
    "ms.grad(f, (1, 0))(*xs)": 2,
    "ms.grad(f, (0,))(*xs)": 1,
    "ms.grad(f, None, ws)(*xs)": 6,
    "ms.grad(f, None, net.w)(*xs)": 2,
    "ms.grad(f, None, ws[-1:])(*xs)": 2,
    "ms.grad(f, 1, tuple(ws))(*xs)": 1,
    "ms.value_and_grad(lambda x, y: (f(x, y), (x, y)), (0, 1), ws, has_aux=True)(*xs)": 2,
    "ms.value_and_grad(lambda x, y: (f(x, y), f(y, x)), 0)(*xs)": 2,
    "ms.grad(lambda x, y: f(x, y) * f(y, x), (0, 1), ws)(*xs)": 2,
    "ms.grad(lambda x, y: f(ops.stop_gradient(x), y), (0, 1))(*xs)": 1,
    "ms.vjp(v, *xs, weights=ws, has_aux=False)[1](xs[0])": 1,
    "ms.grad(f, 0, ws)(*xs)": 3,
    "ms.grad(f, (0, 1), ws)(*xs)": 3,
    "ms.grad(f, (0, 1), ws, return_ids=True)(*xs)": 2,
    "ms.grad(f, 0, None, return_ids=True)(*xs)": 1,
    "ms.grad(p, 0, has_aux=True)(*xs)": 2,
    "ms.grad(p, (0, 1), ws, has_aux=True)(*xs)": 2,
    "ms.grad(p, (0, 1))(*xs)": 2,
    "ms.value_and_grad(f, 0)(*xs)": 2,
    "ms.value_and_grad(f, None, ws)(*xs)": 4,
    "ms.value_and_grad(f, (0, 1), ws)(*xs)": 2,
    "ms.value_and_grad(p, (0, 1), ws, has_aux=True)(*xs)": 2,
    "ms.value_and_grad(p, 1)(*xs)": 1,
    "ms.value_and_grad(f, (0, 1), ws, return_ids=True)(*xs)": 1,
    "ops.GradOperation()(f)(*xs)": 2,
    "ops.GradOperation(get_all=True)(f)(*xs)": 3,
    "ops.GradOperation(get_all=True)(p)(*xs)": 2,
    "ops.GradOperation(get_by_list=True)(f, ws)(*xs)": 3,
    "ops.GradOperation(get_all=True, get_by_list=True)(f, ws)(*xs)": 3,
    "ops.GradOperation(sens_param=True)(v)(*xs, Tensor(np.array([0.5, 3.0], np.float32)))": 2,
    "ops.GradOperation(get_all=True, sens_param=True)(v)(*xs, Tensor(np.array([0.5, 3.0], np.float32)))": 2,
    "ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)(v, ws)(*xs, xs[0])": 2,
    "ms.vjp(v, *xs)[1](xs[1])": 2,
    "ms.vjp(v, *xs)[0]": 1,
    "ms.vjp(v, *xs, weights=ws)[1](xs[1])": 2,
    "ms.vjp(f, *xs)[1](Tensor(2.0))": 2,
    "ms.vjp(q, *xs)[1]((xs[0], xs[1]))": 1,
    "ms.vjp(q, *xs)[1](xs[0], xs[1])": 1,
    "ms.vjp(q, *xs, has_aux=True)[1](xs[1])": 2,
    "ms.vjp(q, *xs, has_aux=True)[2]": 1,
    "ms.grad(lambda x, y: total(ms.grad(f, (0, 1))(x, y)), (0, 1))(*xs)": 4,
    "ms.grad(lambda x, y: total(ms.grad(f, 0)(x, y)), 1)(*xs)": 2,
    "ms.grad(lambda x, y: total(ms.grad(f, None, ws)(x, y)), 0)(*xs)": 2,
    "ms.grad(lambda x, y: total(ms.grad(f, 0)(x, y)), None, ws)(*xs)": 2,
    "ops.GradOperation(get_all=True)(lambda x, y: total(ops.GradOperation(get_all=True)(f)(x, y)))(*xs)": 2,
    "ms.grad(lambda x: ms.grad(lambda y: f(x, y))(x * 2.0).sum())(xs[0])": 2,
    "ms.grad(lambda x: total(ms.grad(lambda x: total(ms.grad(f)(x, x0)))(x)))(xs[1])": 1,
    "ms.get_grad(ms.grad(f, (0, 1), ws, return_ids=True)(*xs), 1)": 1,
    "ms.get_grad(ms.grad(f, (0, 1), ws, return_ids=True)(*xs), net.w)": 1,
    "ms.grad(net, (0, 1))(*xs)": 3,
    "ms.grad(net, None, ws)(*xs)": 3,
    "ms.grad(lambda p: total(p[0] * p[1]))((v(*xs), xs[0]))": 1,
    "ms.grad(lambda x, k: total(v(x, x * k)))(xs[0], 3.0)": 1,
    "ms.grad(f, 2)(*xs)": 1,
    "ms.grad(f, ())(*xs)": 1,
    "ms.grad(f, (0, 0))(*xs)": 1,
    "ms.grad(f, -1)(*xs)": 1,
    "ms.grad(f, None)(*xs)": 1,
}


# Of a function of operators alone, as MindSpore compiles it.
TRANSFORMED = (
    "ms.jvp(f, (x0, x1), (x1, x0))",
    "ms.jvp(g, (x0, x1), (x1, x0))",
    "ms.jvp(g, (x0, x1), (x1, x0), has_aux=True)",
    "ms.jacfwd(f)(x0, x1)",
    "ms.jacfwd(f, (0, 1))(x0, x1)",
    "ms.jacfwd(g, 1, has_aux=True)(x0, x1)",
    "ms.jacrev(f)(x0, x1)",
    "ms.jacrev(f, (0, 1))(x0, x1)",
    "ms.jacrev(g, 1, has_aux=True)(x0, x1)",
    "ms.vmap(f)(x0, x1)",
    "ms.vmap(f, (0, None))(x0, x1)",
    "ms.vmap(f, (None, 0), -1)(m, m)",
    "ms.vmap(g, (0, 1), (0, 1))(m, m)",
    "ms.vmap(f, 1, 1)(m, m)",
    "ms.jacfwd(ms.jacrev(f))(x0, x1)",
)


class _Writer(Writer):
    """Writer of cells and functions with their own gradients, of their network, and of the requested gradients."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.calls: list[str] = []

    def own(self, number: int) -> None:
        """Write a cell with a bprop."""
        pair = self.chance(0.5)
        names = ["x", "y"][: 1 + pair]
        further = {"k=2.0": 15, "n": 10, "": 75}
        declared = names + [item for item in [self.pick(further)] if item]
        labels = "n" in declared
        x, y = names[0], names[-1]
        weighted, internal = self.chance(0.5), False
        w = "self.w" if weighted else "2.0"
        self.lines += [f"    class Own{number}(nn.Cell):", "        def __init__(self):"]
        self.write("super().__init__()")
        if weighted:
            self.write("self.w = Parameter(Tensor(np.array([1.5, -0.5], np.float32)), 'w')")
            internal = self.chance(0.5)
            if internal:
                self.write("self.internal_params = [self.w]")
            if self.chance(0.1):
                self.write("self.w.requires_grad = False")
        self.lines.append(f"        def construct(self, {', '.join(declared)}):")
        two = self.chance(0.25)
        results = [self.one(OUTPUTS[:6]).format(x=x, y=y, w=w) for _ in range(1 + two)]
        if labels:
            self.write("x = x * n.astype(ms.float32)")
        self.write(f"return {', '.join(results)}")
        plain = [name.partition("=")[0] for name in declared]
        self.lines.append(f"        def bprop(self, {', '.join(plain)}, out, dout):")
        self.write(f"saw('bprop {number}', ({', '.join(plain)}), out, dout)")
        if two:
            self.write("out, dout = out[0], dout[0] + dout[1]" if self.chance(0.8) else "out, dout = out[1], dout[1]")
        slots = [self.gradient(name, y if name == "x" else x, w) for name in names]
        slots += [self.one(("None", "ops.zeros_like(n)")) if item == "n" else "None" for item in plain[len(names) :]]
        weights = "{self.w: " + self.gradient("self.w", x, w) + "}" if weighted else "{}"
        returned = self.pick(RETURNS if weighted else {key: n for key, n in RETURNS.items() if "weight" not in key})
        if internal and self.chance(0.85):
            returned = "(({all},), {weights})"
        self.write(
            "return "
            + returned.format(
                all=", ".join(slots), first=slots[0], weights=weights, weighted=self.gradient("self.w", x, w)
            )
        )
        argument = ("{a}, {b}" if pair else "{a}") + (", Tensor(np.array([1, 2], np.int32))" if labels else "")
        called = f"ms.recompute(net.own{number}, " if self.chance(0.03) else f"net.own{number}("
        self.calls.append(f"{called}{argument})" + ("[1]" if two else ""))

    def gradient(self, x: str, y: str, w: str) -> str:
        usual = {key: n for key, n in GRADIENTS.items() if n > 1}
        return self.pick(GRADIENTS if self.chance(0.03) else usual).format(d="dout", o="out", x=x, y=y, w=w)

    def function(self, number: int) -> None:
        """Write a _Function."""
        pair, two = self.chance(0.5), self.chance(0.25)
        names = ["x", "y"][: 1 + pair]
        x, y = names[0], names[-1]
        self.lines += [f"    class Function{number}(ms.common._Function):", "        @staticmethod"]
        numbered = self.chance(0.15)
        self.lines.append(f"        def forward(ctx, {', '.join(names)}{', k' * numbered}):")
        saved = self.chance(0.8)
        if saved:
            self.write(f"ctx.save_for_backward({', '.join(names)})")
        if numbered:
            self.write("ctx.k = k")
            self.write("x = x * k")
        if self.chance(0.1):
            self.write("ctx.set_materialize_grads(False)")
        results = [self.one(OUTPUTS[:4] + OUTPUTS[7:9]).format(x=x, y=y, w="2.0") for _ in range(1 + two)]
        self.write(f"out = {', '.join(results)}")
        if self.chance(0.1):
            self.write("ctx.mark_non_differentiable(" + ("out[1])" if two else "out)"))
        self.write("return out")
        self.lines += ["        @staticmethod", "        def backward(ctx, *douts):"]
        self.write(f"saw('backward {number}', douts)")
        if saved:
            self.write(f"{', '.join(names)}{',' * (len(names) == 1)} = ctx.saved_tensors")
        else:
            self.write(f"{' = '.join(names)} = x1")
        self.write("dout = douts[0]" if self.chance(0.9) else "dout = douts[-1]")
        self.write("if dout is None:")
        self.write("    dout = x0")
        if numbered:
            self.write("dout = dout * ctx.k")
        if self.chance(0.2):
            self.write("if not ctx.needs_input_grad[0]:")
            self.write("    return " + ", ".join(["None"] * (len(names) + numbered)))
        usual = {key: n for key, n in GRADIENTS.items() if n > 1 and "{o}" not in key}
        drawn = GRADIENTS if self.chance(0.03) else usual
        slots = [self.pick(drawn).format(d="dout", o="dout", x=name, y=x, w="2.0") for name in names]
        returned = {"{all}": 40, "({all},)": 40, "[{all}]": 2, "({all}, {first})": 2, "{first}": 3, "None": 1, "()": 1}
        slots += ["None"] * numbered
        self.write("return " + self.pick(returned).format(all=", ".join(slots), first=slots[0]))
        argument = ("{a}, {b}" if pair else "{a}") + ", 2.0" * numbered
        self.calls.append(f"Function{number}.apply({argument})" + ("[0]" if two else ""))

    def write(self, line: str) -> None:
        self.lines.append(f"            {line}")


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw some ways to compute, a function of them, and one or two gradients; or a transformation of operators."""
    writer = _Writer(rng)
    if writer.chance(0.03):
        return _transformed(writer)
    lines = writer.lines
    owned = int(rng.choice([0, 1, 1, 1, 2]))
    for number in range(owned):
        writer.own(number)
    for number in range(int(rng.choice([0, 0, 1, 1, 2]))):
        writer.function(number)
    lines += ["    class Net(nn.Cell):", "        def __init__(self):", "            super().__init__()"]
    writer.write("self.w = Parameter(Tensor(np.array([2.0, 0.5], np.float32)), 'w')")
    for number in range(owned):
        writer.write(f"self.own{number} = Own{number}()")
    lines.append("        def construct(self, x, y):")
    writer.write("net = self")
    names = ["x", "y"]
    todo = [*writer.calls, *(writer.one(STEPS) for _ in range(int(rng.integers(0, 4))))]
    for index in rng.permutation(len(todo)):
        new = f"v{len(names)}"
        writer.write(f"{new} = " + todo[index].format(a=writer.one(names[-2:]), b=writer.one(names)))
        names.append(new)
    writer.write(f"return {names[-1]}")
    lines += ["    net = Net()"]
    if writer.chance(0.1):
        lines.append("    net.set_grad()")
    if not owned and writer.chance(0.15):
        lines.append("    net.recompute()")
    for number in range(owned):
        for kind, inputs in (("forward_pre", "cell, x"), ("backward_pre", "cell, g"), ("backward", "cell, g, h")):
            if writer.chance(0.1):
                arguments = inputs.removeprefix("cell, ")
                hook = f"lambda {inputs}: saw('{kind} {number}', {arguments})"
                lines.append(f"    net.own{number}.register_{kind}_hook({hook})")
    lines += [
        "    def v(x, y):",
        "        return net(x, y)",
        "    def q(x, y):",
        "        return net(x, y), y * x",
        "    def f(x, y):",
        "        with ms.saved_tensors_hooks(lambda t: t, lambda t: t):" if writer.chance(0.03) else "        if True:",
        "            return total(net(x, y))",
        "    def p(x, y):",
        "        return total(net(x, y)), x * y",
        "    xs = (x0, x1)",
        "    ws = net.trainable_params()",
    ]
    requests = [f"    saw('gradients', {writer.pick(ASKED)})" for _ in range(int(rng.choice([1, 1, 1, 2])))]
    if writer.chance(0.1) and not any("return_ids" in line for line in requests):
        lines.append("    net.w.requires_grad = False")
    lines += requests
    lines.append("    return LOG")
    source = WRITES_DOWN + HEAD + "\n".join([*lines, ""])
    return _case(rng, "bprops", source)


def _transformed(writer: _Writer) -> Case:
    """Return a function of operators, and one transformation of it."""
    names = ["x", "y"]
    lines = ["def f(x, y):"]
    for _ in range(int(writer.rng.integers(1, 5))):
        new = f"v{len(names)}"
        step = writer.one([item for item in STEPS if "net" not in item and "Tensor" not in item])
        lines.append(f"    {new} = " + step.format(a=writer.one(names[-2:]), b=writer.one(names)))
        names.append(new)
    lines += [f"    return {names[-1]}", "", "def g(x, y):", "    return f(x, y), x * y", ""]
    text = "\n".join(lines).replace("ops.", "OPS.").replace("ms.", "MS.")
    value = writer.one(TRANSFORMED)
    run = HEAD + "    global OPS, MS\n    OPS, MS = ops, ms\n"
    run += "    m = Tensor(np.array([[0.5, 1.5], [-1.0, 2.0]], np.float32))\n"
    run += f"    saw('gradients', {value})\n    return LOG\n"
    name = value.partition("(")[0].replace("ms.", "bprops.")
    return _case(writer.rng, name, f"{WRITES_DOWN}{text}\n{run}")


def _case(rng: np.random.Generator, group: str, source: str) -> Case:
    inputs = [np.array(rng.normal(size=2), np.float32) for _ in range(2)]
    return Case(group, source, inputs, ["float32"] * 2, gradient=False, helpers=WRITES_DOWN.count("\n"))
