"""A plan for each call: what an operator does with arrays of one kind, worked out once and found by one look-up.

A kernel's entry is a function that plans: it is given what the arrays are (`Operand`: shape, strides, dtype, but no
numbers), says which arrays it makes and which kernels it starts on which of them, and returns what the operator gives;
or None where it does not suit. What a call needs of it after that is a look-up under shapes, strides, dtypes,
alignments and attributes, memory for the outputs, and for each kernel one call of Triton's C launcher.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from hookscope.triton_kernels._launch import Array, address_of, compiled_kernel, interpret, interpreting, starter

Given: TypeAlias = "Operand | Number | bool | None"
"""One input of a call, as planning sees it."""

MAX_PLANS = 20_000
"""So many plans are kept; then all are let go of, as of a program that never has the same shapes twice."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An array of a call, or a view of one: all that a plan may depend on.

    Attributes:
        place: which of the call's arrays it lies in: the inputs come first, then what the plan makes.
        shape: its lengths.
        strides: in elements.
        dtype: NumPy's.
        offset: of its first element from that of the array, in elements.
        aligned: whether the array's address divides by 16.
    """

    place: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    offset: int = 0
    aligned: bool = True

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def is_aligned(self) -> bool:
        """Whether its first element's address divides by 16, which Triton compiles in."""
        return self.aligned and self.offset * self.itemsize % 16 == 0

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements lie in C order without gaps."""
        return self.strides == contiguous_strides(self.shape) or _lies_so(self.shape, self.strides)

    def transposed(self, axes: Sequence[int]) -> Operand:
        """The view with its axes in another order."""
        return replace(
            self, shape=tuple([self.shape[axis] for axis in axes]), strides=tuple([self.strides[axis] for axis in axes])
        )

    def reshaped(self, *shape: int) -> Operand:
        """The view of other axes, one length of which may be -1.

        Raises:
            ValueError: it does not lie in C order without gaps, or the sizes differ.
        """
        if -1 in shape:
            known = -math.prod(shape)
            shape = tuple([self.size // known if length == -1 else length for length in shape])
        if not self.is_contiguous or math.prod(shape) != self.size:
            raise ValueError(f"an operand of shape {self.shape} and strides {self.strides} is not seen as {shape}")
        return replace(self, shape=shape, strides=contiguous_strides(shape))

    def part(self, axis: int, start: int, length: int) -> Operand:
        """The view of `length` places from `start` along an axis."""
        axis %= self.ndim
        shape = (*self.shape[:axis], length, *self.shape[axis + 1 :])
        return replace(self, shape=shape, offset=self.offset + start * self.strides[axis])

    def broadcast(self, shape: tuple[int, ...]) -> Operand:
        """The view repeated to a shape that its own broadcasts to."""
        missing = len(shape) - self.ndim
        repeated = [0 if size == 1 else stride for size, stride in zip(self.shape, self.strides, strict=True)]
        return replace(self, shape=shape, strides=(*(0,) * missing, *repeated))


class UnsuitedError(Exception):
    """What is raised deep in a plan where a kernel does not suit the operands: another way is taken then."""


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number among the inputs, another one at each call: `example` tells its type and its width alone."""

    place: int
    example: int | float


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operator on the GPU.

    Attributes:
        plan: `plan(call, *inputs, **attrs)` asks `call` for arrays and launches, and returns an Operand, a tuple of
            them (None where an output is None), or None where it does not suit these inputs.
        varying: attributes that are other numbers at every call, as a seed is; `plan` is given a `Number` for each.
    """

    plan: Callable[..., Any]
    varying: frozenset[str] = frozenset()


@dataclass(slots=True)
class Step:
    """One start of a kernel within a plan."""

    kernel: Any
    programs: int
    arrays: tuple[Operand | None, ...]
    scalars: tuple[int | float | Number, ...]
    constants: dict[str, Any]
    compiled: Any = None

    def compile(self, num_warps: int, num_stages: int, contracts: bool) -> None:
        arrays = [None if x is None else (x.dtype, x.is_aligned) for x in self.arrays]
        scalars = [x.example if isinstance(x, Number) else x for x in self.scalars]
        self.compiled = compiled_kernel(self.kernel, arrays, scalars, self.constants, num_warps, num_stages, contracts)


class Planner:
    """What a kernel's entry asks for arrays and launches while it plans one call."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.makes: list[tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...] | None]] = []
        self.steps: list[Step] = []

    def empty(self, shape: Sequence[int], dtype: Any, order: Sequence[int] | None = None) -> Operand:
        """A new array, in C order, or with `order`, its axes from the outermost in memory to the innermost, in that."""
        lengths = tuple(shape)
        place = self.inputs + len(self.makes)
        if order is None or list(order) == sorted(order):
            self.makes.append((lengths, np.dtype(dtype), None))
            return Operand(place, lengths, contiguous_strides(lengths), np.dtype(dtype))
        inner = tuple([lengths[axis] for axis in order])
        back = tuple([list(order).index(axis) for axis in range(len(order))])
        self.makes.append((inner, np.dtype(dtype), back))
        return Operand(place, inner, contiguous_strides(inner), np.dtype(dtype)).transposed(back)

    def launch(
        self,
        kernel: Any,
        programs: int,
        arrays: Sequence[Operand | None],
        scalars: Sequence[int | float | Number],
        constants: Mapping[str, Hashable],
        num_warps: int = 4,
        num_stages: int = 2,
        contracts: bool = True,
    ) -> None:
        """Start `programs` programs of `kernel`, which takes the arrays, then the scalars, then the constants.

        `contracts` lets a product and the sum with it be rounded once; it is always the same for one kernel.
        """
        step = Step(kernel, programs, tuple(arrays), tuple(scalars), dict(constants))
        if not interpreting():
            step.compile(num_warps, num_stages, contracts)
        self.steps.append(step)

    def contiguous(self, x: Operand) -> Operand:
        """The operand itself, or where it lies otherwise a copy in C order."""
        if x.is_contiguous:
            return x
        from hookscope.triton_kernels import _copy

        copy = self.empty(x.shape, x.dtype)
        _copy.copy(self, x, copy)
        return copy


class Plan:
    """What runs one call; called with the operator's inputs and attributes, it gives the operator's outputs.

    Args:
        planner: what was asked for.
        gives: the outputs: an Operand, or a tuple of them and None.
        varying: the attributes that the kernels are given, in the order of their places.
        attributes: all that the operator has, by name.

    Attributes:
        steps: the starts of kernels, in their order.
        run: what a call is: a function that is written at the first one; in Triton's interpreter, which needs none, a
            walk over the steps.
    """

    __slots__ = ("_attributes", "_gives", "_makes", "_names", "_varying", "run", "steps")

    def __init__(
        self, planner: Planner, gives: Any, varying: Sequence[str] = (), attributes: Sequence[str] = ()
    ) -> None:
        self.steps, self._makes = tuple(planner.steps), tuple(planner.makes)
        self._varying, self._attributes = tuple(varying), tuple(attributes)
        inputs = [f"x_{place}" for place in range(planner.inputs - len(varying))]
        made = [f"made_{number}" for number in range(len(planner.makes))]
        self._names = [*inputs, *varying, *made]  # of what is at each place
        self._gives: int | tuple[int | None, ...] = (
            tuple([x and x.place for x in gives]) if isinstance(gives, tuple) else gives.place
        )
        self.run: Callable[..., Any] = self._interpret if interpreting() else self._run_first

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        return self.run(*inputs, **attrs)

    def _run_first(self, *inputs: Any, **attrs: Any) -> Any:
        """Load the kernels' binaries, and write the function that later calls are."""
        names: dict[str, Any] = {"cupy": sys.modules["cupy"]}
        text = self._text(names)
        for number, step in enumerate(self.steps):
            names[f"start_{number}"] = starter(step.compiled)
        exec(compile(text, "<plan of kernels>", "exec"), names)
        self.run = names["run"]
        return self.run(*inputs, **attrs)

    def _text(self, names: dict[str, Any]) -> str:
        """The function of a call: outputs, addresses and starts, without loops; what it calls by name is put there."""
        inputs = self._names[: len(self._names) - len(self._makes) - len(self._varying)]
        keywords = [f"{name}=None" for name in self._attributes]
        lines = [f"def run({', '.join([*inputs, *(['*'] if keywords else []), *keywords])}):"]
        for number, (shape, dtype, back) in enumerate(self._makes):
            names[f"dtype_{number}"] = dtype
            turned = "" if back is None else f".transpose({back})"
            lines.append(f"    made_{number} = cupy.empty({shape}, dtype_{number}){turned}")
        used = sorted({x.place for step in self.steps for x in step.arrays if x is not None})
        lines += [f"    at_{place} = {self._names[place]}.data.ptr" for place in used]
        lines.append("    stream = cupy.cuda.get_current_stream().ptr")
        for number, step in enumerate(self.steps):
            arguments = [
                "None" if x is None else f"at_{x.place}" + (f" + {x.offset * x.itemsize}" if x.offset else "")
                for x in step.arrays
            ]
            for place, value in enumerate((*step.scalars, *step.constants.values())):
                if isinstance(value, Number):
                    arguments.append(self._names[value.place])
                else:
                    names[f"value_{number}_{place}"] = value
                    arguments.append(f"value_{number}_{place}")
            lines.append(f"    start_{number}({step.programs}, stream, ({', '.join(arguments)},))")
        given = self._gives if isinstance(self._gives, tuple) else (self._gives,)
        found = ", ".join(["None" if at is None else self._names[at] for at in given])
        lines.append(f"    return ({found},)" if isinstance(self._gives, tuple) else f"    return {found}")
        return "\n".join([*lines, ""])

    def _interpret(self, *inputs: Any, **attrs: Any) -> Any:
        xp = _module_of(inputs)
        arrays = [*inputs, *[attrs[name] for name in self._varying]]
        for shape, dtype, back in self._makes:
            made = xp.empty(shape, dtype)
            arrays.append(made if back is None else made.transpose(back))
        for step in self.steps:
            found = [
                None if x is None else (address_of(arrays[x.place]) + x.offset * x.itemsize, x.dtype)
                for x in step.arrays
            ]
            numbers = [arrays[x.place] if isinstance(x, Number) else x for x in step.scalars]
            interpret(step.kernel, step.programs, found, numbers, step.constants)
        if isinstance(self._gives, int):
            return arrays[self._gives]
        return tuple([None if at is None else arrays[at] for at in self._gives])


_plans: dict[Hashable, Plan | None] = {}


def plan_for(name: str, kernel: Kernel, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Plan | None:
    """The plan of an operator for such inputs, made when they are first seen; None where its kernel does not suit them.

    Args:
        name: the operator's.
        kernel: its entry.
        inputs: arrays of CuPy's (of NumPy's where Triton interprets), Python numbers and None.
        attrs: hashable values; unhashable ones suit no kernel.
    """
    key: list[Any] = [name]
    for x in inputs:
        kind = type(x)
        if kind is float or x is None:
            key.append(kind)
        elif kind is int:
            key.append(-(2**31) <= x < 2**31 and int)
        elif kind is bool:
            key.append(x)
        else:
            try:  # of CuPy's, strides are slow to make
                key += (x.shape, x._c_contiguous or x.strides, x.dtype, x.data.ptr & 15)
            except AttributeError:
                if type(x) is not np.ndarray:
                    return None
                key += (x.shape, x.strides, x.dtype, address_of(x) & 15)
    if attrs:
        varying = kernel.varying
        for attribute, value in attrs.items():
            if attribute not in varying:
                key += (attribute, value)
            elif type(value) is float or type(value) is int:
                key += (attribute, type(value), -(2**31) <= value < 2**31)
            else:
                return None  # in an array it would have to be waited for
    if (cupy := sys.modules.get("cupy")) is not None:
        key.append(cupy.cuda.device.get_device_id())
    found = tuple(key)
    try:
        return _plans[found]
    except KeyError:
        plan = _plan(kernel, inputs, attrs)
    except TypeError:
        return None
    if len(_plans) >= MAX_PLANS:
        _plans.clear()
    _plans[found] = plan
    return plan


def forget() -> None:
    """Let go of all plans, as when a choice that they were made by has changed."""
    _plans.clear()


def _plan(kernel: Kernel, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Plan | None:
    varying = tuple([name for name in attrs if name in kernel.varying])
    planner = Planner(len(inputs) + len(varying))
    given = [as_given(place, x) for place, x in enumerate(inputs)]
    numbers = {name: Number(len(inputs) + at, attrs[name]) for at, name in enumerate(varying)}
    try:
        gives = kernel.plan(planner, *given, **{**attrs, **numbers})
    except UnsuitedError:
        return None
    return None if gives is None else Plan(planner, gives, varying, tuple(attrs))


def as_given(place: int, x: Any) -> Given:
    """One of a call's inputs as planning sees it."""
    if x is None or isinstance(x, bool):
        return x
    if isinstance(x, int | float):
        return Number(place, x)
    return Operand(place, x.shape, element_strides(x), x.dtype, 0, address_of(x) & 15 == 0)


_FLOATS = frozenset({"float16", "bfloat16", "float32"})
_is_float: dict[np.dtype[Any], bool] = {}  # a dtype's name is slow to make


def is_float(x: Given) -> TypeGuard[Operand]:
    """Whether the input is an array, not empty, of a dtype that the kernels take."""
    if not isinstance(x, Operand):
        return False
    known = _is_float.get(x.dtype)
    if known is None:
        known = _is_float[x.dtype] = x.dtype.name in _FLOATS
    return known and x.size > 0


def are_floats(*inputs: Given) -> bool:
    """Whether there are inputs, and all are non-empty arrays of one dtype that the kernels take."""
    return len({x.dtype for x in inputs if is_float(x)}) == 1 and all(map(is_float, inputs))


def _module_of(inputs: tuple[Any, ...]) -> Any:
    for x in inputs:
        if x is not None and type(x).__module__.partition(".")[0] == "cupy":
            return sys.modules["cupy"]
    return np


def element_strides(array: Array) -> tuple[int, ...]:
    """Strides counted in elements, as a kernel adds them to a pointer."""
    itemsize = array.itemsize
    return tuple([stride // itemsize for stride in array.strides])


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Of an array of this shape in C order, in elements."""
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def _lies_so(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether the strides are those of C order but where an axis of length 1 makes any do."""
    in_order = contiguous_strides(shape)
    return all(size == 1 or one == other for size, one, other in zip(shape, strides, in_order, strict=True))
