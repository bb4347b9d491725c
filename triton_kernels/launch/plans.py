"""Plans: the work of an operator on arrays of one kind, determined once and found by one lookup.

A kernel's entry is a planning function. It receives descriptions of the arrays (`Operand`: shape, strides, dtype, but
no values), declares the arrays that it allocates and the kernels that it launches on them, and returns the operator's
outputs, or None if it does not support the inputs. A later call needs only a lookup by shapes, strides, dtypes,
alignments and attributes, memory for the outputs, and for each kernel one call of Triton's C launcher.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeGuard

import numpy as np

from hookscope.triton_kernels.launch.launcher import (
    Array,
    address_of,
    compiled_kernel,
    interpret,
    interpreting,
    starter,
)

Input: TypeAlias = "Operand | Number | bool | None"
"""One input of a call during planning."""

MAX_PLANS = 20_000
"""Maximum number of cached plans; then all are evicted, as for a program whose shapes never repeat."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An array of a call, or a view of one: everything that a plan may depend on.

    Attributes:
        index: the index of its array: the inputs come first, then the arrays that the plan allocates.
        shape: the lengths of its axes.
        strides: in elements.
        dtype: the NumPy dtype.
        offset: the offset of its first element in the array, in elements.
        aligned: whether the array's address is divisible by 16.
    """

    index: int
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
        """Whether its first element's address is divisible by 16, which Triton compiles in."""
        return self.aligned and self.offset * self.itemsize % 16 == 0

    @property
    def is_contiguous(self) -> bool:
        """Whether its elements are in C order without gaps."""
        return self.strides == contiguous_strides(self.shape) or _lies_so(self.shape, self.strides)

    def transposed(self, axes: Sequence[int]) -> Operand:
        """Return the view with permuted axes."""
        return replace(
            self, shape=tuple([self.shape[axis] for axis in axes]), strides=tuple([self.strides[axis] for axis in axes])
        )

    def reshaped(self, *shape: int) -> Operand:
        """Return the view with a different shape, one length of which may be -1.

        Raises:
            ValueError: the operand is not contiguous in C order, or the sizes differ.
        """
        if -1 in shape:
            product = -math.prod(shape)
            shape = tuple([self.size // product if length == -1 else length for length in shape])
        if not self.is_contiguous or math.prod(shape) != self.size:
            raise ValueError(f"an operand of shape {self.shape} and strides {self.strides} is not seen as {shape}")
        return replace(self, shape=shape, strides=contiguous_strides(shape))

    def part(self, axis: int, start: int, length: int) -> Operand:
        """Return the view of `length` indices from `start` along an axis."""
        axis %= self.ndim
        shape = (*self.shape[:axis], length, *self.shape[axis + 1 :])
        return replace(self, shape=shape, offset=self.offset + start * self.strides[axis])

    def broadcast(self, shape: tuple[int, ...]) -> Operand:
        """Return the view broadcast to a shape."""
        missing = len(shape) - self.ndim
        repeated = [0 if size == 1 else stride for size, stride in zip(self.shape, self.strides, strict=True)]
        return replace(self, shape=shape, strides=(*(0,) * missing, *repeated))


class UnsuitedError(Exception):
    """Raised within planning if a kernel does not support the operands; the caller then uses another implementation."""


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number among the inputs, which varies between calls: only the type and width of `example` matter."""

    index: int
    example: int | float


@dataclass(frozen=True, slots=True)
class Kernel:
    """One operator on the GPU.

    Attributes:
        plan: `plan(call, *inputs, **attrs)` requests arrays and launches from `call`, and returns an Operand, a tuple
            of them (None for an output that is None), or None if it does not support these inputs.
        varying: attributes that vary between calls, as a seed does; `plan` receives a `Number` for each.
    """

    plan: Callable[..., Any]
    varying: frozenset[str] = frozenset()


@dataclass(slots=True)
class Step:
    """One launch of a kernel within a plan."""

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
    """Record of the arrays and launches that a kernel's entry requests while it plans one call."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.makes: list[tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...] | None]] = []
        self.steps: list[Step] = []

    def empty(self, shape: Sequence[int], dtype: Any, order: Sequence[int] | None = None) -> Operand:
        """Request a new array, in C order, or in memory `order`: its axes from outermost to innermost."""
        lengths = tuple(shape)
        index = self.inputs + len(self.makes)
        if order is None or list(order) == sorted(order):
            self.makes.append((lengths, np.dtype(dtype), None))
            return Operand(index, lengths, contiguous_strides(lengths), np.dtype(dtype))
        inner = tuple([lengths[axis] for axis in order])
        inverse = tuple([list(order).index(axis) for axis in range(len(order))])
        self.makes.append((inner, np.dtype(dtype), inverse))
        return Operand(index, inner, contiguous_strides(inner), np.dtype(dtype)).transposed(inverse)

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
        """Plan a launch of `programs` programs of `kernel` with the arrays, then the scalars, then the constants.

        `contracts` allows a product and its sum to be rounded once; it must be the same for all launches of a kernel.
        """
        step = Step(kernel, programs, tuple(arrays), tuple(scalars), dict(constants))
        if not interpreting():
            step.compile(num_warps, num_stages, contracts)
        self.steps.append(step)

    def contiguous(self, x: Operand) -> Operand:
        """Return the operand itself, or a copy in C order if it is not contiguous."""
        if x.is_contiguous:
            return x
        from hookscope.triton_kernels.library import array_copy

        copy = self.empty(x.shape, x.dtype)
        array_copy.copy(self, x, copy)
        return copy


class Plan:
    """Executable plan of a call: it takes the operator's inputs and attributes, and returns its outputs.

    Args:
        planner: the recorded requests.
        gives: the outputs: an Operand, or a tuple of them and None.
        varying: the attributes that are passed to kernels, in order of their indices.
        attributes: the names of all attributes of the operator.

    Attributes:
        steps: the launches of kernels, in order.
        run: the implementation of a call: a function generated at the first call; in Triton's interpreter, a loop over
            the steps.
    """

    __slots__ = ("_attributes", "_gives", "_makes", "_names", "_varying", "run", "steps")

    def __init__(
        self, planner: Planner, gives: Any, varying: Sequence[str] = (), attributes: Sequence[str] = ()
    ) -> None:
        self.steps, self._makes = tuple(planner.steps), tuple(planner.makes)
        self._varying, self._attributes = tuple(varying), tuple(attributes)
        inputs = [f"x_{index}" for index in range(planner.inputs - len(varying))]
        outputs = [f"made_{number}" for number in range(len(planner.makes))]
        self._names = [*inputs, *varying, *outputs]  # by index
        self._gives: int | tuple[int | None, ...] = (
            tuple([x and x.index for x in gives]) if isinstance(gives, tuple) else gives.index
        )
        self.run: Callable[..., Any] = self._interpret if interpreting() else self._run_first

    def __call__(self, *inputs: Any, **attrs: Any) -> Any:
        return self.run(*inputs, **attrs)

    def _run_first(self, *inputs: Any, **attrs: Any) -> Any:
        """Load the kernels' binaries, and generate the function for later calls."""
        names: dict[str, Any] = {"cupy": sys.modules["cupy"]}
        text = self._text(names)
        for number, step in enumerate(self.steps):
            names[f"start_{number}"] = starter(step.compiled)
        exec(compile(text, "<plan of kernels>", "exec"), names)
        self.run = names["run"]
        return self.run(*inputs, **attrs)

    def _text(self, names: dict[str, Any]) -> str:
        """Return the source of a call: allocations, addresses and launches, unrolled; put its globals into `names`."""
        inputs = self._names[: len(self._names) - len(self._makes) - len(self._varying)]
        keywords = [f"{name}=None" for name in self._attributes]
        lines = [f"def run({', '.join([*inputs, *(['*'] if keywords else []), *keywords])}):"]
        for number, (shape, dtype, back) in enumerate(self._makes):
            names[f"dtype_{number}"] = dtype
            transposition = "" if back is None else f".transpose({back})"
            lines.append(f"    made_{number} = cupy.empty({shape}, dtype_{number}){transposition}")
        indices = sorted({x.index for step in self.steps for x in step.arrays if x is not None})
        lines += [f"    at_{index} = {self._names[index]}.data.ptr" for index in indices]
        lines.append("    stream = cupy.cuda.get_current_stream().ptr")
        for number, step in enumerate(self.steps):
            arguments = [
                "None" if x is None else f"at_{x.index}" + (f" + {x.offset * x.itemsize}" if x.offset else "")
                for x in step.arrays
            ]
            for index, value in enumerate((*step.scalars, *step.constants.values())):
                if isinstance(value, Number):
                    arguments.append(self._names[value.index])
                else:
                    names[f"value_{number}_{index}"] = value
                    arguments.append(f"value_{number}_{index}")
            lines.append(f"    start_{number}({step.programs}, stream, ({', '.join(arguments)},))")
        outputs = self._gives if isinstance(self._gives, tuple) else (self._gives,)
        listing = ", ".join(["None" if output is None else self._names[output] for output in outputs])
        lines.append(f"    return ({listing},)" if isinstance(self._gives, tuple) else f"    return {listing}")
        return "\n".join([*lines, ""])

    def _interpret(self, *inputs: Any, **attrs: Any) -> Any:
        xp = _module_of(inputs)
        arrays = [*inputs, *[attrs[name] for name in self._varying]]
        for shape, dtype, back in self._makes:
            new_array = xp.empty(shape, dtype)
            arrays.append(new_array if back is None else new_array.transpose(back))
        for step in self.steps:
            addresses = [
                None if x is None else (address_of(arrays[x.index]) + x.offset * x.itemsize, x.dtype)
                for x in step.arrays
            ]
            numbers = [arrays[x.index] if isinstance(x, Number) else x for x in step.scalars]
            interpret(step.kernel, step.programs, addresses, numbers, step.constants)
        if isinstance(self._gives, int):
            return arrays[self._gives]
        return tuple([None if output is None else arrays[output] for output in self._gives])


_plans: dict[Hashable, Plan | None] = {}


def plan_for(name: str, kernel: Kernel, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Plan | None:
    """Return the plan of an operator for such inputs, made on first use; None if its kernel does not support them.

    Args:
        name: the operator's name.
        kernel: the operator's kernel.
        inputs: arrays of CuPy (of NumPy if Triton interprets), Python numbers and None.
        attrs: hashable values; no kernel supports unhashable ones.
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
            try:  # CuPy creates strides slowly
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
                return None  # reading an array would synchronize
    if (cupy := sys.modules.get("cupy")) is not None:
        key.append(cupy.cuda.device.get_device_id())
    lookup_key = tuple(key)
    try:
        return _plans[lookup_key]
    except KeyError:
        plan = _plan(kernel, inputs, attrs)
    except TypeError:
        return None
    if len(_plans) >= MAX_PLANS:
        _plans.clear()
    _plans[lookup_key] = plan
    return plan


def forget() -> None:
    """Clear all plans, for example after a change of a choice that they depend on."""
    _plans.clear()


def _plan(kernel: Kernel, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Plan | None:
    varying = tuple([name for name in attrs if name in kernel.varying])
    planner = Planner(len(inputs) + len(varying))
    operands = [as_input(position, x) for position, x in enumerate(inputs)]
    numbers = {name: Number(len(inputs) + index, attrs[name]) for index, name in enumerate(varying)}
    try:
        gives = kernel.plan(planner, *operands, **{**attrs, **numbers})
    except UnsuitedError:
        return None
    return None if gives is None else Plan(planner, gives, varying, tuple(attrs))


def as_input(index: int, x: Any) -> Input:
    """Return one of a call's inputs as planning sees it."""
    if x is None or isinstance(x, bool):
        return x
    if isinstance(x, int | float):
        return Number(index, x)
    return Operand(index, x.shape, element_strides(x), x.dtype, 0, address_of(x) & 15 == 0)


_FLOATS = frozenset({"float16", "bfloat16", "float32"})
_is_float: dict[np.dtype[Any], bool] = {}  # a dtype's name is slow to compute


def is_float(x: Input) -> TypeGuard[Operand]:
    """Return whether the input is a nonempty array of a dtype that the kernels support."""
    if not isinstance(x, Operand):
        return False
    supported = _is_float.get(x.dtype)
    if supported is None:
        supported = _is_float[x.dtype] = x.dtype.name in _FLOATS
    return supported and x.size > 0


def are_floats(*inputs: Input) -> bool:
    """Return whether there are inputs, and all are nonempty arrays of one dtype that the kernels support."""
    return len({x.dtype for x in inputs if is_float(x)}) == 1 and all(map(is_float, inputs))


def _module_of(inputs: tuple[Any, ...]) -> Any:
    for x in inputs:
        if x is not None and type(x).__module__.partition(".")[0] == "cupy":
            return sys.modules["cupy"]
    return np


def element_strides(array: Array) -> tuple[int, ...]:
    """Return strides counted in elements, as a kernel adds them to a pointer."""
    itemsize = array.itemsize
    return tuple([stride // itemsize for stride in array.strides])


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides in elements of an array of this shape in C order."""
    strides, stride = [], 1
    for size in reversed(shape):
        strides.append(stride)
        stride *= size
    return tuple(reversed(strides))


def _lies_so(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Return whether the strides are those of C order, ignoring axes of length 1."""
    c_order = contiguous_strides(shape)
    return all(size == 1 or stride == expected for size, stride, expected in zip(shape, strides, c_order, strict=True))
