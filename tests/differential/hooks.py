"""Nested cells with hooks of every kind that see, change, come and go; what each saw, in order, and the gradients."""

from __future__ import annotations

import numpy as np

from tests.differential.cases import Case
from tests.differential.writing import HEAD, WRITES_DOWN, Writer

HELPERS = (
    WRITES_DOWN
    + """
def changed(v, by):
    if isinstance(v, (tuple, list)):
        return type(v)(changed(one, by) for one in v)
    if isinstance(v, dict):
        return {key: changed(one, by) for key, one in v.items()}
    return v * by if hasattr(v, "asnumpy") else v

def answer(v, how):
    if how == "changed":
        return None if isinstance(v, tuple) and None in [one for one in v if one is None] else changed(v, 1.5)
    if how == "bare":
        return v[0] * 0.5 if isinstance(v, tuple) and len(v) == 1 and hasattr(v[0], "asnumpy") else None
    if how == "short":
        return v[:-1] if isinstance(v, tuple) and len(v) > 1 else None
    if how == "listed":
        return list(v) if isinstance(v, tuple) else None
    if how == "same":
        return v
    return None

HANDLES = {}

def hook(name, how, place):
    def called(*given):
        cell = None if name.startswith(("tensor", "parameter", "operator")) else given[0]
        given = given if cell is None else given[1:]
        saw(name, *given)
        if how.startswith("removes") and how[8:] in HANDLES:
            HANDLES.pop(how[8:]).remove()
        if how == "adds" and cell is not None:
            cell.register_forward_hook(lambda cell, inputs, output: saw("added by " + name, output))
            cell.register_backward_hook(lambda cell, grad_input, grad_output: saw("also by " + name, grad_output))
        return answer(given[place], how)
    return called

def pre_with_names(name, how):
    def called(cell, args, kwargs):
        saw(name, args, kwargs)
        if how == "none":
            return None
        return (args, kwargs) if how == "same" else (changed(args, 1.5), changed(kwargs, 0.5))
    return called

def trained(opt, found):
    weights = [p for p in opt.parameters]
    before = [p + 0 for p in weights]
    opt(found[1])
    return found, before, [p + 0 for p in weights]

def watch(tensor, called, removed=False):
    try:
        handle = tensor.register_hook(called)
        if removed:
            handle.remove()
    except RuntimeError:  # there, where nothing asks for its gradient
        pass

"""
)

OPERATIONS = (
    "{a} * 2.0",
    "{a} + 1.0",
    "-{a}",
    "ops.cos({a})",
    "{a} * {b}",
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {a}",
    "ops.sin({a})",
    "ops.maximum({a}, {b})",
    "ops.concat(({a}, {b}))[:2]",
    "{a}[Tensor([1, 0])]",
    "{a} / (1.0 + {b} * {b})",
    "ops.stop_gradient({a}) * {b}",
    "Tensor(np.array([0.5, -1.5], np.float32)) + {a}",
    "{a}.sum() * {b}",
)
WEIGHTED = ("{a} * self.w", "self.w + {a}", "{a} * self.w + {b}", "ops.cos(self.w) * {a}", "self.w * self.w")
# Forms of a cell's inputs and outputs: "" is one tensor each.
TAKES = {"": 12, "pair": 4, "number": 2, "named": 2, "default": 1, "tuple": 1, "list": 1, "labels": 1}
GIVES = {"": 14, "tuple": 3, "list": 1, "dict": 1, "nested": 1, "single": 1}
KINDS = ("forward_pre", "forward", "backward_pre", "backward")
PLACE_OF_ANSWER = {"forward_pre": 0, "forward": 1, "backward_pre": 0, "backward": 0}
ANSWERS = {"none": 60, "changed": 20, "bare": 6, "same": 10, "short": 1, "listed": 1}
# A gradient; `net` and `forward` are the differentiated functions, `xs` the inputs, `ws` the requested weights.
GRADIENTS = {
    "ms.value_and_grad(forward, None, ws)(*xs)": 12,
    "ms.grad(forward, None, ws)(*xs)": 3,
    "ms.grad(forward, 0)(*xs)": 3,
    "ms.grad(forward, (0, 1))(*xs)": 3,
    "ms.value_and_grad(forward, (0, 1), ws)(*xs)": 4,
    "ms.grad(forward, 1, ws)(*xs)": 1,
    "ms.grad(net, 0)(*xs)": 2,
    "ms.grad(net, None, ws)(*xs)": 2,
    "ops.GradOperation(get_by_list=True)(forward, ws)(*xs)": 2,
    "ops.GradOperation(get_all=True)(net)(*xs)": 2,
    "ops.GradOperation(get_all=True, get_by_list=True)(net, ws)(*xs)": 2,
    "ms.vjp(forward, *xs)[1](Tensor(2.0))": 1,
    "ms.vjp(forward, *xs, weights=ws)[1](Tensor(2.0))": 1,
    "ms.grad(forward, (1, 0))(*xs)": 1,
    "ms.grad(forward, (0, 1), ws, return_ids=True)(*xs)": 1,
    "ms.value_and_grad(aux, (0, 1), ws, has_aux=True)(*xs)": 2,
    "ms.value_and_grad(aux, None, ws, has_aux=True)(*xs)": 2,
    "ms.grad(lambda x, y: forward(x * 2.0, x + y), None, ws)(*xs)": 2,
    "ms.grad(lambda x, y: forward(x, y) + forward(y, x), 0, ws)(*xs)": 1,
    "trained(opt, ms.value_and_grad(forward, None, ws)(*xs))": 4,
    "trained(opt, ms.value_and_grad(forward, None, opt.parameters)(*xs))": 1,
}


class _Writer(Writer):
    """Writer of classes of cells, each below its children, and of the use of the outermost."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.count = 0
        self.paths: list[str] = []
        self.weighted: list[str] = []
        self.hooks = 0

    def how(self) -> str:
        return self.pick(ANSWERS)

    def cell(self, depth: int, path: str, takes: str, gives: str) -> str:
        """Write a class and those of its children; return its name."""
        name = f"C{self.count}"
        self.count += 1
        self.paths.append(path)
        children = []
        if depth:
            for child in "abc"[: int(self.rng.integers(1, 4))]:
                how = self.pick(TAKES), self.pick(GIVES)
                children.append(
                    (
                        child,
                        *how,
                        self.cell(depth - int(self.rng.integers(1, 3)) if depth > 1 else 0, f"{path}.{child}", *how),
                    )
                )
        weighted = self.chance(0.7 if not children else 0.3)
        if weighted:
            self.weighted.append(path)
        self.lines += [f"    class {name}(nn.Cell):", "        def __init__(self):", "            super().__init__()"]
        if weighted:
            shape = "[2.0]" if self.chance(0.2) else "[1.5, -0.5]"
            frozen = ", requires_grad=False" if self.chance(0.1) else ""
            self.lines.append(f"            self.w = Parameter(Tensor(np.array({shape}, np.float32)), 'w'{frozen})")
        self.lines += [f"            self.{child} = {kind}()" for child, _, _, kind in children]
        if self.chance(0.03):
            self.lines.append("            self.recompute()")
        if self.chance(0.01):
            self.lines.append("            self.to_float(ms.float16)")
        signatures = {"pair": "x, y", "number": "x, k", "named": "x, *, y", "default": "x, y=None", "labels": "x, n"}
        self.lines.append(f"        def construct(self, {signatures.get(takes, 'x')}):")
        names = ["x"]
        if takes in ("pair", "named"):
            names.append("y")
        if takes == "number":
            self.write("x = x * k")
        if takes == "labels":
            self.write("x = x * n.astype(ms.float32)")
        if takes in ("tuple", "list"):
            self.write("x, y = x")
            names.append("y")
        self.body(names, children, weighted)
        last = names[-1]
        other = str(self.rng.choice(names))
        results = {
            "tuple": f"({last}, {other})",
            "list": f"[{last}, {other}]",
            "single": f"({last},)",
            "dict": f"{{'p': {last}, 'q': {other}}}",
            "nested": f"({last}, ({other}, {last}))",
        }
        self.write(f"return {results.get(gives, last)}")
        return name

    def write(self, line: str) -> None:
        self.lines.append(f"            {line}")

    def body(self, names: list[str], children: list[tuple[str, str, str, str]], weighted: bool) -> None:
        calls = [child for child in children for _ in range(int(self.rng.choice([0, 1, 2], p=[0.1, 0.85, 0.05])))]
        others = [WEIGHTED[i] for i in self.rng.integers(0, len(WEIGHTED), int(weighted))]
        others += [OPERATIONS[i] for i in self.rng.integers(0, len(OPERATIONS), int(self.rng.integers(0, 3)))]
        todo: list[tuple[str, str, str, str] | str] = [*calls, *others]
        for index in self.rng.permutation(len(todo)):
            subject = todo[index]
            recent = names[-2:]
            a, b = str(self.rng.choice(recent)), str(self.rng.choice(names))
            new = f"v{len(names)}"
            if isinstance(subject, str):
                self.write(f"{new} = {subject.format(a=a, b=b)}")
            else:
                self.call(subject, new, a, b)
            names.append(new)
            if self.chance(0.08):
                removed = ", True" if self.chance(0.1) else ""
                self.write(f"watch({new}, hook('tensor {self.next()}', {self.how()!r}, 0){removed})")
            if self.chance(0.04):
                self.write(f"{new} = ops.HookBackward(hook('operator {self.next()}', {self.how()!r}, 0))({new})")

    def call(self, child: tuple[str, str, str, str], new: str, a: str, b: str) -> None:
        name, takes, gives, _ = child
        signatures = {
            "pair": f"{a}, {b}",
            "number": f"{a}, 2.0",
            "named": f"{a}, y={b}",
            "tuple": f"({a}, {b})",
            "list": f"[{a}, {b}]",
            "labels": f"{a}, Tensor(np.array([1, 2], np.int32))",
        }
        parts = {"tuple": "[0]", "list": "[1]", "dict": "['p']", "nested": "[1][0]", "single": "[0]"}
        called = f"ms.recompute(self.{name}, " if self.chance(0.01) else f"self.{name}("
        self.write(f"{new} = {called}{signatures.get(takes, a)}){parts.get(gives, '')}")

    def next(self) -> int:
        self.hooks += 1
        return self.hooks

    def register(self) -> None:
        """Register hooks of cells and parameters, saved in h1, h2, ... if they are removed later."""
        for path in self.paths:
            for kind in KINDS:
                for _ in range(int(self.rng.choice([0, 1, 2], p=[0.45, 0.45, 0.1]))):
                    self.hook(path, kind)
        if self.chance(0.3):
            self.lines += [
                "    for p in net.get_parameters():",
                "        if p.requires_grad:",
                f"            p.register_hook(hook('parameter ' + p.name, {self.how()!r}, 0))",
            ]

    def hook(self, path: str, kind: str) -> None:
        number, how = self.next(), self.how()
        if number > 1 and self.chance(0.02):
            how = f"removes h{int(self.rng.integers(1, number))}"
        elif self.chance(0.01):
            how = "adds"
        if kind.startswith("forward") and how == "listed":  # lists as inputs and outputs come with the cells
            how = "none"
        code = f"hook('{kind} {number} {path}', {how!r}, {PLACE_OF_ANSWER[kind]})"
        settings = ""
        if kind.startswith("forward") and self.chance(0.15):
            settings += ", with_kwargs=True"
            code = f"hook('{kind} {number} {path}', {how!r}, 2)"
            if kind == "forward_pre":
                code = f"pre_with_names('{kind} {number} {path}', {how!r})"
        settings += ", prepend=True" if kind.startswith("forward") and self.chance(0.1) else ""
        self.lines.append(f"    h{number} = HANDLES['h{number}'] = {path}.register_{kind}_hook({code}{settings})")


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw cells, hooks on them, and one or two gradients."""
    writer = _Writer(rng)
    lines = writer.lines
    depth = int(rng.choice([0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 4]))
    root = writer.cell(depth, "net", "pair", writer.pick({"": 8, "tuple": 1}))
    lines += ["    HANDLES.clear()", f"    net = {root}()"]
    owners = [path for path in writer.paths if path in writer.weighted]
    if len(owners) > 1 and writer.chance(0.1):
        first, second = (owners[int(i)] for i in rng.choice(len(owners), 2, replace=False))
        lines.append(f"    {first}.w = {second}.w")
    if writer.chance(0.2):
        lines.append("    net.set_grad()")
    writer.register()
    registered = [line.split()[0] for line in lines if line.startswith("    h") and "register" in line]
    lines += ["    def forward(x, y):"]
    if writer.chance(0.02):
        lines.append("        with ms.saved_tensors_hooks(lambda t: t, lambda t: t):")
    lines += [
        "        " + "    " * ("with" in lines[-1]) + "return total(net(x, y))",
        "    def aux(x, y):",
        "        return forward(x, y), x * y",
        "    xs = (x0, x1)",
    ]
    lines.append("    ws = net.trainable_params()" + ("[:1]" if writer.chance(0.15) else ""))
    lines.append("    opt = nn.SGD(ws, 0.5) if ws else None")
    for step in range(int(rng.choice([1, 1, 2, 3]))):
        if step:
            lines += [f"    {h}.remove()" for h in registered if writer.chance(0.3)]
            for _ in range(int(rng.choice([0, 0, 1, 2]))):
                writer.hook(writer.one(writer.paths), writer.one(KINDS))
        if writer.chance(0.1):
            lines.append("    saw('out', net(*xs))")
        lines.append(f"    saw('gradients', {writer.pick(GRADIENTS)})")
    lines.append("    return LOG")
    source = HELPERS + HEAD + "\n".join([*lines, ""])
    inputs = [np.array(rng.normal(size=2), np.float32) for _ in range(2)]
    return Case("hooks", source, inputs, ["float32"] * 2, gradient=False, helpers=(HELPERS + HEAD).count("\n"))
