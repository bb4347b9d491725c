"""Functions of ``ops``, ``mint``, ``numpy`` and methods of a Tensor, arguments at random by their recorded names."""

from __future__ import annotations

import ast
import functools
from typing import Any

import numpy as np

from tests.differential.cases import Array, Case
from tests.engine.recorded_signatures import recorded

ROOMS = ("ops.", "mint.", "mint.nn.functional.", "mint.special.", "mint.linalg.", "numpy.", "Tensor.")
# Random numbers, memory without values, files, devices, compilation, or a function as argument.
LEFT_OUT = (
    "rand",
    "bernoulli",
    "dropout",
    "multinomial",
    "normal",
    "uniform",
    "gamma",
    "poisson",
    "laplace",
    "empty",
    "shuffle",
    "choice",
    "gumbel",
    "print",
    "assign",
    "grad",
    "vmap",
    "jac",
    "jvp",
    "vjp",
    "custom",
    "while_loop",
    "scan",
    "cond_op",
    "fori_loop",
    "depend",
    "tensor_dump",
    "from_numpy",
    "asnumpy",
    "data_ptr",
    "storage",
    "register",
    "hook",
    "move_to",
    "init_data",
    "offload",
    "_",
    "cuda",
    "to_",
    "fill_",
    "copy_",
    "all_",
    "broadcast_object",
    "distributed",
    "optim",
    "sampl",
    "ihash",
    "id",
    "clone_from",
    "set_",
    "load",
    "flush",
    "value",
    "resize_",
    "new_empty",
    "exponential",
    "log_normal",
    "cauchy",
    "geometric",
    "random",
    "eps_",
    "pin_memory",
    "wait",
    "stream",
    "is_pinned",
    "partial",
    "derivative",
    "jet",
    "rrelu",
    "view_as",
    "fold",
    "type",
    "tolist",
    "recompute",
    "shard",
    "stop",
    "backward",
    "retain",
    "requires",
    "constexpr",
    "rank",
    "world_size",
    "process_group",
    "initialized",
    "backend",
    "get_vm",
)
DTYPES = {
    "float32": 50,
    "float16": 10,
    "float64": 8,
    "bfloat16": 5,
    "int32": 8,
    "int64": 6,
    "bool": 4,
    "uint8": 3,
    "int8": 3,
    "complex64": 3,
    "int16": 2,
    "uint16": 1,
    "uint32": 1,
    "uint64": 1,
    "complex128": 1,
}
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 1e-30, 100.0, -100.0])
AXES = ("axis", "dim", "dim0", "dim1", "axis0", "axis1", "axis2", "start_dim", "end_dim", "dims")
INDICES = ("indices", "index", "segment_ids", "labels", "target_index", "input_indices")
COUNTS = (
    "k",
    "n",
    "num_segments",
    "repeats",
    "sections",
    "chunks",
    "diagonal",
    "offset",
    "depth",
    "num_classes",
    "p",
    "ord",
    "q",
    "size",
    "shifts",
    "groups",
    "upscale_factor",
    "split_size_or_sections",
)
WORDS: dict[str, tuple[str | None, ...]] = {
    "reduction": ("mean", "sum", "none"),
    "approximate": ("none", "tanh"),
    "rounding_mode": (None, "floor", "trunc"),
    "indexing": ("xy", "ij"),
    "mode": ("constant", "reflect", "nearest", "bilinear"),
    "side": ("left", "right"),
}


@functools.cache
def functions(only: str) -> list[tuple[str, ast.arguments]]:
    """Return the names that are tried, with their arguments."""
    results = []
    for name, arguments in sorted(recorded().items()):
        room, _, last = name.rpartition(".")
        fits = f"{room}." in ROOMS and last.islower() and name.startswith(only)
        if fits and not any(last.startswith(word) or (len(word) > 3 and word in last) for word in LEFT_OUT):
            results.append((name, arguments))
    if not results:
        raise SystemExit(f"no function begins with {only!r}")
    return results


def draw(rng: np.random.Generator, only: str) -> Case:
    """Draw a call of one function."""
    name, arguments = functions(only)[int(rng.integers(len(functions(only))))]
    maker = Arguments(rng)
    texts = maker.of(arguments, name.startswith("Tensor."))
    function = f"x0.{name[7:]}" if name.startswith("Tensor.") else f"ms.{name}"
    names = ", ".join(f"x{i}" for i in range(len(maker.inputs)))
    source = f"def run(ms, {names}):\n    return {function}({', '.join(texts)})\n"
    return Case(name, source, maker.inputs, maker.dtypes)


class Arguments:
    """Arguments of one call; tensors share a dtype and shapes that broadcast, most of the time."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.inputs: list[Array] = []
        self.dtypes: list[str] = []
        ndim = int(rng.choice([0, 1, 2, 2, 3, 3, 4]))
        self.shape = tuple(int(n) for n in rng.choice([1, 2, 3, 4, 5], ndim))
        size = rng.random()
        if size < 0.03 and ndim:
            self.shape = (0, *self.shape[1:])
        elif size < 0.04 and ndim:  # long sums
            self.shape = (int(rng.choice([300, 5000, 40000])), *self.shape[1:2])
        weights = np.array(list(DTYPES.values())) / sum(DTYPES.values())
        self.dtype = str(rng.choice(list(DTYPES), p=weights))
        self.special = rng.random() < 0.2
        self.positive = rng.random() < 0.3

    def of(self, arguments: ast.arguments, method: bool) -> list[str]:
        texts = []
        if method:
            self.tensor(self.dtype, self.shape)
        parameters = [*arguments.posonlyargs, *arguments.args]
        defaults: list[Any] = [None] * (len(parameters) - len(arguments.defaults)) + list(arguments.defaults)
        by_place = True
        for parameter, default in zip(parameters, defaults, strict=True):
            if parameter.arg == "self":
                continue
            value = self.value(parameter.arg, default)
            by_place = by_place and value is not None
            if value is not None:
                texts.append(value if by_place else f"{parameter.arg}={value}")
        for parameter, argument in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            value = self.value(parameter.arg, argument)
            if value is not None:
                texts.append(f"{parameter.arg}={value}")
        return texts

    def value(self, name: str, default: ast.expr | None) -> str | None:
        """Return one argument as Python writes it; None where it is left out."""
        rng = self.rng
        if default is not None and rng.random() < 0.5:
            return None
        if name in AXES:
            return self.axis()
        if name in WORDS:
            return repr(WORDS[name][int(rng.integers(len(WORDS[name])))])
        if name == "dtype":
            return "ms." + str(rng.choice(["float32", "float16", "float64", "int32", "int64"]))
        if name in ("shape", "output_size", "kernel_size", "size", "input_size"):
            return repr(tuple(int(n) for n in rng.integers(1, 4, int(rng.integers(1, 4)))))
        if name in ("dims", "perm", "input_perm", "axes"):
            return repr(tuple(int(n) for n in rng.permutation(max(len(self.shape), 1))))
        if name in COUNTS:
            return repr(int(rng.integers(-1, 4)))
        if name in INDICES:
            return self.tensor(str(rng.choice(["int32", "int64"])), self.shape[: int(rng.integers(1, 3))], indices=True)
        if name in ("condition", "mask"):
            return self.tensor("bool", self.near())
        if name in ("tensors", "inputs"):
            return f"[{self.tensor(self.dtype, self.shape)}, {self.tensor(self.dtype, self.shape)}]"
        plain = default.value if isinstance(default, ast.Constant) else default
        if isinstance(plain, bool):
            return repr(bool(rng.random() < 0.5))
        if isinstance(plain, int):
            return repr(int(rng.integers(-1, 4)))
        if isinstance(plain, float):
            return repr(float(np.round(rng.normal(), 2)))
        if default is not None:
            return None
        if self.inputs and rng.random() < 0.1:
            return repr([0, 1, 2, -1, 0.5, 2.5, True][int(rng.integers(7))])
        other = str(rng.choice(list(DTYPES))) if self.inputs and rng.random() < 0.1 else self.dtype
        return self.tensor(other, self.near() if self.inputs else self.shape)

    def axis(self) -> str:
        ndim = max(len(self.shape), 1)
        if self.rng.random() < 0.1:
            return repr(tuple({int(i) for i in self.rng.integers(0, ndim, 2)}))
        return repr(int(self.rng.integers(-ndim, ndim + (self.rng.random() < 0.05))))

    def near(self) -> tuple[int, ...]:
        """Return the shape, or one that broadcasts with it, or another."""
        drawn = self.rng.random()
        if drawn < 0.6:
            return self.shape
        if drawn < 0.9:
            rest = self.shape[int(self.rng.integers(0, len(self.shape) + 1)) :]
            return tuple(1 if self.rng.random() < 0.3 else n for n in rest)
        return self.shape[::-1]

    def tensor(self, dtype: str, shape: tuple[int, ...], indices: bool = False) -> str:
        rng = self.rng
        values = rng.normal(size=shape) * (1 if rng.random() < 0.7 else 5)
        if self.positive:
            values = np.abs(values) + 0.1
        if self.special and dtype.startswith(("float", "bfloat", "complex")):
            values = np.where(rng.random(shape) < 0.3, rng.choice(SPECIAL, shape), values)
        if indices:
            values = rng.integers(0, max(shape[:1] or (1,)) or 1, shape).astype(float)
        elif dtype.startswith("int"):
            values = np.trunc(values * 4)
        elif dtype.startswith("uint"):
            values = np.trunc(np.abs(values) * 4)
        return self.given(values + 1j * rng.normal(size=shape) if dtype.startswith("complex") else values, dtype)

    def given(self, values: Array, dtype: str) -> str:
        """Return one more input: some of them by way of a tensor of other strides."""
        array = np.asarray(values > 0 if dtype == "bool" else values)
        array = array.astype("float32" if dtype == "bfloat16" else dtype)
        chance = self.rng.random()
        how = ""
        if chance < 0.06 and array.ndim > 1:
            array, how = np.ascontiguousarray(array.T), ".T"
        elif chance < 0.1 and array.ndim:
            array, how = np.concatenate([array[:1], array]), "[1:]"
        self.inputs.append(array)
        self.dtypes.append(dtype)
        return f"x{len(self.inputs) - 1}{how}"
