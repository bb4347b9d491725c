"""Programs of 5 to 40 lines: operators, views, assignments to parts, loops, conditions on values, lists and numbers.

Their results are compared, and the gradients by their floating inputs. Shapes and kinds of elements are tracked while
lines are drawn, so that most programs run.
"""

from __future__ import annotations

import numpy as np

from tests.differential.cases import Array, Case
from tests.differential.writing import Writer

Shape = tuple[int, ...]

HELPERS = """def run(ms, x0, x1, x2, x3, x4):
    ops, Tensor, mint = ms.ops, ms.Tensor, ms.mint
"""
INPUTS = (("float32", (2, 3)), ("float32", (2, 3)), ("float32", (3,)), ("int32", (2, 3)), ("float32", (2, 1)))
NUMBERS = ("2", "0.5", "-1.5", "3", "1", "0", "-2", "1e-3", "True", "2.0", "100")
# By what the operands must be: "f" floating, "i" whole, "b" bool, "n" any number. {a} and {b} broadcast; {n} a number.
SAME = {
    "f": (
        "ops.sin({a})",
        "ops.cos({a})",
        "ops.exp(-{a} * {a})",
        "ops.sqrt(ops.abs({a}) + 0.5)",
        "ops.relu({a})",
        "{a}.abs()",
        "-{a}",
        "ops.square({a})",
        "1.0 / (1.0 + {a} * {a})",
        "ops.log(ops.abs({a}) + 1.0)",
        "ops.atan({a})",
        "{a}.clamp(-1.0, 1.0)",
        "ops.clamp({a}, min=0.0)",
        "ops.leaky_relu({a}, 0.1)",
        "{a}.copy()",
        "ops.cumsum({a}, 0)",
        "{a}.cumsum(-1)",
        "ops.stop_gradient({a})",
        "{a} ** 2",
        "2 ** {a}.clamp(-2, 2)",
        "ops.softmax({a}, -1)",
        "ops.zeros_like({a})",
        "ops.ones_like({a})",
        "{a} - {a}.mean()",
        "{a} / 3",
        "3 - {a}",
        "ops.flip({a}, (0,))",
        "{a}.expand_as({a})",
        "ops.sort({a})[0]",
        "{a}.contiguous()",
        "ops.maximum({a}, {n})",
        "{a}.view({a}.shape)",
        "mint.nn.functional.relu({a})",
        "mint.sin({a})",
    ),
    "n": (
        "{a} + {n}",
        "{a} * {n}",
        "{n} - {a}",
        "{a} - {n}",
        "{n} * {a}",
        "+{a}",
        "{a} + {a}",
        "{a} * {a}",
        "abs({a})",
        "ops.minimum({a}, {n})",
        "ops.where({a} > {n}, {a}, {a} * 2)",
        "{a}.masked_fill({a} > 1, 0)",
    ),
    "i": (
        "{a} // 2",
        "{a} % 3",
        "{a} * 2",
        "-{a}",
        "{a} // -3",
        "{a} % -2",
        "{a} ** 2",
        "{a} & 3",
        "{a} | 1",
        "{a} ^ 2",
    ),
}
BROADCAST = (
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "ops.maximum({a}, {b})",
    "ops.minimum({a}, {b})",
    "ops.add({a}, {b})",
    "ops.where({a} > {b}, {a}, {b})",
    "mint.mul({a}, {b})",
    "ops.sub({a}, {b})",
    "{a} + {b} * {n}",
    "{a} * 2 - {b}",
)
BROADCAST_FLOATING = (
    "{a} / (1 + {b} * {b})",
    "ops.div({a}, {b} * {b} + 1)",
    "ops.atan2({a}, {b} * {b} + 1)",
    "{a} + 0.25 * ({b} - {a})",
    "ops.pow(ops.abs({a}) + 0.5, {b}.clamp(-2, 2))",
    "ops.hypot({a}, {b})",
)
COMPARED = ("{a} > {b}", "{a} <= {b}", "{a} == {b}", "{a} != {b}", "{a} > {n}", "{n} >= {a}", "{a} < 0")
REDUCED = (
    "{a}.sum({k})",
    "{a}.mean({k})",
    "ops.sum({a}, {k})",
    "ops.mean({a}, {k})",
    "{a}.max(axis={k})",
    "{a}.min(axis={k})",
    "ops.amax({a}, {k})",
    "ops.reduce_sum({a}, {k})",
    "{a}.prod({k})",
    "mint.sum({a}, {k})",
    "ops.amin({a}, {k})",
    "ops.logsumexp({a}, {k})",
    "ops.norm({a}, dim={k})",
    "{a}.std({k})",
    "{a}.var({k})",
)
# The methods that write a line, and how often.
LINES = {
    "same": 8,
    "broadcast": 8,
    "reduce": 3,
    "part": 5,
    "assign": 6,
    "shape": 5,
    "cast": 2,
    "augment": 4,
    "condition": 2,
    "loop": 2,
    "contain": 2,
    "compare": 2,
    "join": 2,
    "multiply": 1,
}
MASKED = (
    "{a} * {m}",
    "ops.where({m}, {a}, 0.5)",
    "ops.concat(({a}[{m}], {a}.reshape(-1))).sum()",
    "ops.masked_fill({a}, {m}, 2.0)",
    "ops.masked_select({a}, {m} | True).sum()",
)
TESTS = (
    "{a}.sum() > 0",
    "{a}.max() < {n}",
    "float({a}.mean()) > 0.1",
    "({a} > 0).any()",
    "({a} > 0).all()",
    "len({a}.shape) > 1",
    "int({a}.sum()) % 2",
    "{a}.min().item() < 0",
)
CONTAINED = (
    "sum([{a}, {b}])",
    "({a}, {b})[1]",
    "[{a}, {b}, {a}][-1]",
    "dict(p={a}, q={b})['q']",
    "max([{a}, {b}], key=lambda t: float(t.sum()))",
    "[t * 2 for t in ({a}, {b})][0]",
    "list(map(ops.sin, [{a}, {b}]))[1]",
    "ops.addn([{a}, {b}])",
)
PARTS = (
    "0",
    "-1",
    "1",
    "0:1",
    "1:",
    ":2",
    "::2",
    "...",
    "None",
    ":",
    "[0, 1]",
    "[1]",
    "-2:",
    "0:0",
    "[1, 0, 1]",
    "Tensor([1, 0])",
    "True",
    "slice(None, 1)",
    "[True, False]",
    "2",
    "-3",
)
DTYPES = {"float32": 10, "float64": 3, "float16": 2, "int32": 3, "int64": 2, "bool": 1}
WIDTHS = ("bool", "int32", "int64", "float16", "float32", "float64")


class _Writer(Writer):
    """Writer of lines, with the shape and the dtype of each named tensor."""

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.known: dict[str, Array] = {}
        self.count = 0
        self.indent = "    "

    def write(self, line: str) -> None:
        self.lines.append(self.indent + line)

    def new(self, text: str, value: Array) -> str:
        """Return a line that names a value."""
        name = f"v{self.count}"
        self.count += 1
        self.write(f"{name} = {text}")
        self.known[name] = value
        return name

    def number(self) -> str:
        return self.one(NUMBERS)

    def some(self, kinds: str = "fib", ndim: int = 0) -> str | None:
        """Return a name of a tensor; the newest more often."""
        fit = [name for name, value in self.known.items() if value.dtype.kind in kinds and value.ndim >= ndim]
        return None if not fit else fit[-1 - min(int(self.rng.exponential(2.0)), len(fit) - 1)]

    def line(self) -> None:
        """Add one more line, or a few that belong together."""
        getattr(self, self.pick(LINES))()

    def same(self) -> None:
        kind = self.pick({"f": 6, "n": 4, "i": 1})
        name = self.some({"f": "f", "n": "fi", "i": "i"}[kind], 1)
        if name:
            a = self.known[name]
            if kind == "n" or kind == "i":
                text = self.one(SAME[kind])
                number = self.number() if a.dtype.kind == "f" else self.one(("2", "3", "-1", "1"))
                self.new(text.format(a=name, n=number), a)
            else:
                self.new(self.one(SAME["f"]).format(a=name, n=self.number()), a)

    def pair(self, kinds: str) -> tuple[str, str, Array] | None:
        a, b = self.some(kinds), self.some(kinds)
        if a is None or b is None:
            return None
        try:
            shape = np.broadcast_shapes(self.known[a].shape, self.known[b].shape)
        except ValueError:
            return None
        if int(np.prod(shape)) > 200:
            return None
        wider = max(self.known[a].dtype.name, self.known[b].dtype.name, key=WIDTHS.index)
        return a, b, np.zeros(shape, wider)

    def broadcast(self) -> None:
        floating = self.chance(0.3)
        result = self.pair("f" if floating else "fi")
        if result:
            a, b, value = result
            text = self.one(BROADCAST_FLOATING if floating else BROADCAST)
            self.new(text.format(a=a, b=b, n=self.number() if value.dtype.kind == "f" else "2"), value)

    def compare(self) -> None:
        result = self.pair("fi")
        if result:
            a, b, value = result
            text = self.one(COMPARED)
            shape = value.shape if "{b}" in text else self.known[a].shape
            mask = self.new(text.format(a=a, b=b, n=self.number()), np.zeros(shape, bool))
            chosen = self.some("f")
            if chosen and self.known[chosen].shape == shape:
                self.new(self.one(MASKED).format(a=chosen, m=mask), self.known[chosen])
                if self.lines[-1].endswith(".sum()"):
                    self.known[f"v{self.count - 1}"] = np.zeros((), self.known[chosen].dtype)

    def reduce(self) -> None:
        name = self.some("f", 1)
        if name:
            a = self.known[name]
            axis = int(self.rng.integers(-a.ndim, a.ndim))
            if a.shape[axis] > 1:
                self.new(self.one(REDUCED).format(a=name, k=axis), a.sum(axis))

    def index(self, a: Array) -> tuple[str, Array] | None:
        text = ", ".join(self.one(PARTS) for _ in range(int(self.rng.choice([1, 1, 1, 2, 2, 3]))))
        if text.count("[") + text.count("Tensor") > 1:
            return None
        try:
            return text, np.asarray(eval(f"a[{text.replace('Tensor(', '(').replace('([1, 0])', '[1, 0]')}]", {"a": a}))
        except (IndexError, ValueError):
            return None

    def part(self) -> None:
        name = self.some("fi", 1)
        result = self.index(self.known[name]) if name else None
        if name and result and 0 < result[1].size < 100:
            self.new(f"{name}[{result[0]}]", result[1])

    def assign(self) -> None:
        name = self.some("fi", 1)
        if not name:
            return
        a = self.known[name]
        # A tensor of its own: there, a part shares its elements with the whole.
        name = self.new(f"{name} * 1" if self.chance(0.7) else f"{name}.copy()", a)
        for _ in range(int(self.rng.integers(1, 4))):
            self.assign_once(name, a)

    def assign_once(self, name: str, a: Array) -> None:
        if self.chance(0.15) and a.dtype.kind == "f":
            self.write(f"{name}[{name} > {self.number()}] = {self.number()}")
            return
        result = self.index(a)
        if not result:
            return
        text, part = result
        if not set(text.split(", ")) - {"...", "True", "None"}:  # MindSpore merges elements of broadcast arrays
            return
        fitting = [item for item, value in self.known.items() if self.fits(value, part) and item != name]
        # A value of its own: after x[...] = y the two share their elements there.
        argument = f"{self.one(fitting)} * 1" if fitting and self.chance(0.6) else self.number()
        how = self.pick({"=": 8, "+=": 2})
        self.write(f"{name}[{text}] {how} {argument}")

    def fits(self, value: Array, part: Array) -> bool:
        try:
            return value.dtype.kind == part.dtype.kind and np.broadcast_shapes(value.shape, part.shape) == part.shape
        except ValueError:
            return False

    def shape(self) -> None:
        name = self.some("fi", 1)
        if not name:
            return
        a = self.known[name]
        choices = {
            "{a}.reshape(-1)": a.reshape(-1),
            "{a}.T": a.T,
            "{a}.unsqueeze(0)": a[None],
            "{a}.expand_dims(-1)": a[..., None],
            "ops.tile({a}, (2,))": np.tile(a, 2),
            "{a}.flatten()": a.reshape(-1),
            "ops.flip({a}, (-1,))": a,
            "{a}.swapaxes(0, -1)": a.swapaxes(0, -1),
            "{a}.view(-1)": a.reshape(-1),
            "ops.stack([{a}, {a}])": np.stack([a, a]),
            "{a}.broadcast_to((2, *{a}.shape))": np.broadcast_to(a, (2, *a.shape)),
            "{a}.squeeze()": a.squeeze(),
            "ops.transpose({a}, tuple(range({a}.ndim))[::-1])": a.T,
            "ops.split({a}, 1)[0]": a[:1],
            "ops.unbind({a})[0]": a[0],
            "{a}.movedim(0, -1)": np.moveaxis(a, 0, -1),
            "{a}.repeat_interleave(2, 0)": a.repeat(2, 0),
            "ops.chunk({a}, 2)[0]": a[: -(-a.shape[0] // 2)],
            "{a}.select(0, 0)": a[0],
            "{a}.narrow(0, 0, 1)": a[:1],
        }
        if a.shape[-1] > 1:
            choices["{a}.diff()"] = np.diff(a)
        text = self.one(list(choices))
        if choices[text].size < 100 and choices[text].ndim < 5:
            self.new(text.format(a=name), choices[text])

    def cast(self) -> None:
        name = self.some("fib")
        if name:
            dtype = self.pick(DTYPES)
            text = self.one((f"{name}.astype(ms.{dtype})", f"{name}.to(ms.{dtype})", f"ops.cast({name}, ms.{dtype})"))
            self.new(text, self.known[name].astype(dtype))

    def augment(self) -> None:
        result = self.pair("f")
        if result:
            a, b, value = result
            if a != b and value.shape == self.known[a].shape and value.dtype == self.known[a].dtype:
                argument = b if self.chance(0.7) else self.number()
                self.write(
                    f"{a} {self.pick({'+=': 4, '-=': 2, '*=': 2, '/=': 1})} " + (argument if argument != "0" else "2")
                )

    def condition(self) -> None:
        name, other = self.some("f"), self.some("f")
        if name and other:
            test = self.one(TESTS)
            self.write(f"if {test.format(a=name, n=self.number())}:")
            self.write(f"    {other} = {other} * 2")
            self.write("else:")
            self.write(f"    {other} = {self.one(('ops.sin({a})', '{a} - 1', '-{a}')).format(a=other)}")

    def loop(self) -> None:
        name, other = self.some("f", 1), self.some("f")
        if not name or not other:
            return
        a = self.known[name]
        if self.chance(0.4):
            total = self.new("0", np.zeros(a.shape[1:], a.dtype))
            self.write(f"for row in {name}:")
            self.write(f"    {total} = {total} * 0.5 + row")
        elif self.chance(0.5):
            text = self.new(f"{name} * 1", a)
            self.write(f"for i in range({int(self.rng.integers(1, 4))}):")
            self.write(f"    {text} = ops.sin({text}) + i")
        else:
            text = self.new(f"{name} * 1", a)
            self.write(f"for i in range({a.shape[0]}):")
            self.write(f"    {text}[i] = {text}[i] * i + {text}[i - 1]")

    def contain(self) -> None:
        name = self.some("f")
        if not name:
            return
        a = self.known[name]
        alike = [item for item, value in self.known.items() if value.shape == a.shape and value.dtype == a.dtype]
        other = alike[int(self.rng.integers(len(alike)))]
        text = self.one(CONTAINED)
        self.new(text.format(a=name, b=other), a)

    def join(self) -> None:
        name = self.some("fi", 1)
        if not name:
            return
        a = self.known[name]
        alike = [item for item, value in self.known.items() if value.shape == a.shape and value.dtype == a.dtype]
        other = alike[int(self.rng.integers(len(alike)))]
        axis = int(self.rng.integers(-a.ndim, a.ndim))
        if a.size < 50:
            text = self.one(("ops.concat(({a}, {b}), {k})", "ops.cat([{a}, {b}], {k})", "mint.cat(({a}, {b}), {k})"))
            self.new(text.format(a=name, b=other, k=axis), np.concatenate((a, a), axis))

    def multiply(self) -> None:
        name = self.some("f", 2)
        if name and self.known[name].dtype == np.float32:
            a = self.known[name]
            self.new(
                self.one(("{a} @ {a}.swapaxes(-1, -2)", "ops.matmul({a}, {a}.swapaxes(-2, -1))")).format(a=name),
                a @ a.swapaxes(-1, -2),
            )


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw a program."""
    writer = _Writer(rng)
    for index, (dtype, shape) in enumerate(INPUTS):
        writer.known[f"x{index}"] = np.zeros(shape, dtype)
    length = int(rng.integers(5, 41))
    while len(writer.lines) < length:
        writer.line()
    names = list(writer.known)
    argument = names[-4:] + ([names[int(rng.integers(len(names)))]] if writer.chance(0.5) else [])
    source = HELPERS + "\n".join([*writer.lines, f"    return {', '.join(argument)}", ""])
    inputs = [
        np.asarray(
            np.round(rng.normal(size=shape) * 4) / 2 if writer.chance(0.2) else rng.normal(size=shape) * 2
        ).astype(dtype)
        for dtype, shape in INPUTS
    ]
    return Case("programs", source, inputs, [dtype for dtype, _ in INPUTS], helpers=HELPERS.count("\n"))
