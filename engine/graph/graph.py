"""What a traced function is: values, and the steps that make them, in the order in which they ran. Plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .sizes import Size

__all__ = [
    "Apply",
    "Beside",
    "Bind",
    "Derive",
    "Draw",
    "Fused",
    "Given",
    "Graph",
    "Made",
    "Node",
    "Seen",
    "Store",
    "Value",
    "Whole",
    "draws_in",
    "is_check",
    "put_instead",
    "replace_values",
    "values_in",
]


class Value:
    """One array of a run: what it is known by, its shape and its dtype.

    Args:
        shape: the length of each axis in the traced run.
        dtype: the NumPy element type.
        of: where it comes from if no node makes it: "argument", "external" or "constant", else "".
        sizes: the length of each axis as an expression of the lengths that are left open; None where it has none.

    Attributes:
        layout: of an argument or a tensor from outside, how its elements lie, see ``layout_of``.
    """

    __slots__ = ("dtype", "layout", "of", "shape", "sizes")

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], of: str = "", sizes: tuple[int | Size, ...] | None = None
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.of = of
        self.layout: bool | tuple[int, ...] = True
        self.sizes = sizes if sizes is not None and any(isinstance(size, Size) for size in sizes) else None

    def __repr__(self) -> str:
        return f"<{self.of or 'value'} {self.dtype}{list(self.shape)}>"


@dataclass(eq=False, slots=True)
class Draw:
    """Stands among attributes for the seed or the counter of one draw from the engine's stream of random numbers.

    Args:
        count: how many numbers are drawn, an int or a Size.
        is_seed: whether it is the seed, not the counter.
        number: of the draw in the run; its seed and its counter have the same.
    """

    count: Any
    is_seed: bool
    number: int


@dataclass(eq=False, slots=True)
class Given:
    """Stands for a tensor among the arguments where a function returns or changes it.

    Args:
        place: which one.
    """

    place: int


@dataclass(eq=False, slots=True)
class Made:
    """Stands in a result for a new tensor that is there several times, or that others there are views of.

    Args:
        value: its numbers.
    """

    value: Value


@dataclass(eq=False, slots=True)
class Seen:
    """Stands in a result for a view of a tensor that outlives the call.

    Args:
        of: the tensor: a Given, a Made, or one from outside itself.
        steps: how the view comes from it (``views.Steps``), with Values in the place of arrays.
        value: its numbers.
        is_part: whether writing to the tensor changes the view; if not, it has these numbers also where the tensor has
            others by now, and there is one step.
    """

    of: Any
    steps: tuple[Any, ...]
    value: Value
    is_part: bool


@dataclass(eq=False, slots=True)
class Beside:
    """Stands for an operator where something is computed of numbers beside the table.

    Args:
        kernel: the function on arrays.
        is_check: whether it only raises where numbers are not allowed.
    """

    kernel: Callable[..., Any]
    is_check: bool
    scalar: ClassVar[None] = None  # it is no loop over elements

    @property
    def name(self) -> str:
        """The function's name."""
        return str(self.kernel.__name__)


@dataclass(eq=False, slots=True)
class Apply:
    """An operator's forward. Inputs and attributes hold Values for arrays, Draws for random numbers, Sizes for lengths.

    Args:
        operator: the entry of the table, or a Beside.
        inputs: its operands.
        attrs: its attributes by name.
        outputs: the values that it makes, None for what is no array.
        packed: whether it gives a tuple.
        where: the user's line.
    """

    operator: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Any, ...]
    packed: bool
    where: str = ""


@dataclass(eq=False, slots=True)
class Derive:
    """An operator's vjp rule.

    Args:
        operator: the entry of the table.
        needs: the places of the inputs that gradients are wanted for.
        gradient: what arrives at the output, a tuple where there are several.
        output: what the operator gave.
        inputs: its operands.
        attrs: its attributes by name.
        outputs: the gradients, in the order of ``given``.
        given: the places of the inputs that a gradient was given for.
        where: the user's line.
    """

    operator: Any
    needs: tuple[int, ...]
    gradient: Any
    output: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Value, ...]
    given: tuple[int, ...]
    where: str = ""


@dataclass(eq=False, slots=True)
class Whole:
    """A function of the engine that runs as it does eagerly, on tensors: an optimizer's step.

    Args:
        function: what is called.
        arguments: its arguments, with Values in the place of tensors.
        changed: tensors from outside that it binds anew.
        outputs: the values of their arrays after it.
        before: of those tensors that the function has changed before, each with its value by then.
        where: the user's line.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    changed: tuple[Any, ...]
    outputs: tuple[Value, ...]
    before: tuple[tuple[Any, Value], ...] = ()
    where: str = ""


@dataclass(eq=False, slots=True)
class Bind:
    """A tensor from outside gets a value, here and not at the end, because a step before or after cannot be undone.

    Args:
        tensor: from outside, or a Given.
        value: what it holds from here on.
        where: the user's line.
    """

    tensor: Any
    value: Value
    where: str = ""
    outputs: ClassVar[tuple[Value, ...]] = ()


@dataclass(eq=False, slots=True)
class Fused:
    """Elementwise operators over one shape, and sums of what they give: one loop (see ``fusion``).

    Elements are what ``steps`` make of those of the inputs (``scalars.Program``). An input has no more than the axes in
    which it varies, of a length above 1.

    Args:
        shape: the length of each of the loop's axes.
        steps: what is computed of each element.
        inputs: the values that it reads.
        varies: of each input, in which of the loop's axes it varies.
        outputs: the values that it makes.
        stores: of each output, what it is.
        where: the user's line.
    """

    shape: tuple[int, ...]
    steps: tuple[Any, ...]
    inputs: tuple[Value, ...]
    varies: tuple[tuple[bool, ...], ...]
    outputs: tuple[Value, ...]
    stores: tuple[Store, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Store:
    """What an output of a loop is: a step's elements, or their sums or extremes over axes.

    Args:
        step: the number of the step.
        axes: those that are summed over; None where nothing is.
        is_mean: whether the sum is divided by how many were added.
        extreme: "max" or "min" in the place of a sum, on a GPU alone; "" of a sum.
    """

    step: int
    axes: tuple[int, ...] | None = None
    is_mean: bool = False
    extreme: str = ""


Node = Apply | Derive | Whole | Bind | Fused


@dataclass(eq=False, slots=True)
class Graph:
    """A trace.

    Attributes:
        arguments: values of the tensors among the arguments, in their order.
        externals: tensors that the code reads from cells, closures and globals, with their values at the start.
        constants: arrays made in the run of what no tensor holds.
        nodes: the steps.
        seen: values whose shapes and dtypes somebody asked for, and so may have computed with.
        effects: tensors from outside, or Givens, and the value that each holds afterwards.
        result: what the function returned, with Values in the place of new tensors. One that it was given is a Given,
            or, if it comes from outside, the tensor itself; see also ``Made`` and ``Seen``.
        is_on_gpu: whether the arrays are CuPy's.
        drawn: numbers of draws whose seed and counter are given as further arguments, each as a pair.
        lengths: of each length that is left open, by its number, the argument and the axis.
    """

    arguments: list[Value] = field(default_factory=list)
    externals: list[tuple[Any, Value]] = field(default_factory=list)
    constants: dict[Value, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    seen: set[Value] = field(default_factory=set)
    effects: list[tuple[Any, Value]] = field(default_factory=list)
    result: Any = None
    is_on_gpu: bool = False
    drawn: list[int] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)

    def given_out(self) -> set[Value]:
        """The values that tensors hold after a run. Each must be an array of its own: by that the tape knows it."""
        bound = [node.value for node in self.nodes if isinstance(node, Bind)]
        return {value for _, value in self.effects}.union(bound, values_in(self.result))


def draws_in(value: Any) -> list[Draw]:
    """The Draws in an operand, in attributes or in a structure of them.

    Args:
        value: the operand or the structure.
    """
    found: list[Draw] = []
    replace_values(value, (Draw,), found.append)
    return found


def is_check(node: Node) -> bool:
    """Whether a step only raises where numbers are not allowed.

    Args:
        node: the step.
    """
    return isinstance(node, Apply) and isinstance(node.operator, Beside) and node.operator.is_check


def values_in(value: Any) -> Iterator[Value]:
    """The Values in an operand, in attributes or in a structure of them.

    Args:
        value: the operand or the structure.
    """
    if type(value) is Value:
        yield value
    elif type(value) is Made:
        yield value.value
    elif type(value) is Seen:
        yield from values_in((value.of, value.steps, *([] if value.is_part else [value.value])))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from values_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from values_in(part)
    elif type(value) is slice:
        yield from values_in((value.start, value.stop, value.step))


def replace_values(value: Any, kinds: tuple[type, ...], by: Callable[[Any], Any]) -> Any:
    """A structure of tuples, lists, dictionaries and slices with objects of some types replaced.

    Args:
        value: the structure.
        kinds: the types, of which an object must be exactly one.
        by: gives what takes an object's place.
    """
    if type(value) in kinds:
        return by(value)
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([replace_values(part, kinds, by) for part in value])
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind(*[replace_values(part, kinds, by) for part in value])
    if isinstance(value, dict):
        return kind((key, replace_values(part, kinds, by)) for key, part in value.items())
    if kind is slice:
        return slice(*[replace_values(part, kinds, by) for part in (value.start, value.stop, value.step)])
    return value


def put_instead(node: Node, instead: dict[Value, Value]) -> None:
    """Let a node compute with other values.

    Args:
        node: it is changed.
        instead: of values those that take their places.
    """

    def put(value: Any) -> Any:
        return replace_values(value, (Value,), lambda one: instead.get(one, one))

    if isinstance(node, Bind):
        node.value = put(node.value)
        return
    if isinstance(node, Whole):
        node.arguments = put(node.arguments)
        node.before = tuple([(tensor, put(value)) for tensor, value in node.before])
        return
    node.inputs = put(node.inputs)
    if isinstance(node, Derive):
        node.gradient, node.output = put(node.gradient), put(node.output)
    if isinstance(node, Apply | Derive):
        node.attrs = put(node.attrs)
