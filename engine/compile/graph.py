"""Graphs: values, and the nodes that produce them, in execution order. Plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .sizes import Size

__all__ = [
    "ArgumentRef",
    "ArrayFunction",
    "Binding",
    "Draw",
    "EagerCall",
    "FusedLoop",
    "GradientCall",
    "Graph",
    "Node",
    "OperatorCall",
    "SharedResult",
    "Store",
    "Value",
    "ViewRef",
    "draws_in",
    "has_effect",
    "is_check",
    "operands_of",
    "put_instead",
    "replace_values",
    "values_in",
]


class Value:
    """One array of a run, identified by this object, with its shape and dtype.

    Args:
        shape: the length of each axis in the traced run.
        dtype: the NumPy element type.
        origin: where it comes from if no node produces it: "argument", "external" or "constant", else "".
        sizes: the shape as expressions of the symbolic dimensions; None if there are none.

    Attributes:
        layout: memory layout of an argument or an external tensor, see ``layout_of``.
    """

    __slots__ = ("dtype", "layout", "origin", "shape", "sizes")

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        origin: str = "",
        sizes: tuple[int | Size, ...] | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.origin = origin
        self.layout: bool | tuple[int, ...] = True
        self.sizes = sizes if sizes is not None and any(isinstance(size, Size) for size in sizes) else None

    def __repr__(self) -> str:
        return f"<{self.origin or 'value'} {self.dtype}{list(self.shape)}>"


@dataclass(eq=False, slots=True)
class Draw:
    """Placeholder among attributes for the seed or the counter of one draw from the engine's random stream.

    Args:
        count: how many numbers are drawn, an int or a Size.
        is_seed: whether it is the seed, not the counter.
        number: number of the draw in the run, shared by its seed and its counter.
    """

    count: Any
    is_seed: bool
    number: int


@dataclass(eq=False, slots=True)
class ArgumentRef:
    """Placeholder for a tensor among the arguments that a function returns or changes.

    Args:
        index: its index.
    """

    index: int


@dataclass(eq=False, slots=True)
class SharedResult:
    """Placeholder in a result for a new tensor that occurs several times, or that has views in the result.

    Args:
        value: its numbers.
    """

    value: Value


@dataclass(eq=False, slots=True)
class ViewRef:
    """Placeholder in a result for a view of a tensor that outlives the call.

    Args:
        base: the tensor: an ArgumentRef, a SharedResult, or an external tensor itself.
        steps: derivation of the view (``views.Steps``), with Values in place of arrays.
        value: its numbers.
        is_part: whether writing to the tensor changes the view; if not, the view keeps these numbers even if the tensor
            has changed, and there is one step.
    """

    base: Any
    steps: tuple[Any, ...]
    value: Value
    is_part: bool


@dataclass(eq=False, slots=True)
class ArrayFunction:
    """Stand-in for an operator: a function on arrays that is not in the operator table.

    Args:
        kernel: the function on arrays.
        is_check: whether it only raises for invalid numbers.
    """

    kernel: Callable[..., Any]
    is_check: bool
    scalar: ClassVar[None] = None  # it is not elementwise

    @property
    def name(self) -> str:
        """Name of the function."""
        return str(self.kernel.__name__)


@dataclass(eq=False, slots=True)
class OperatorCall:
    """Forward call of an operator. Inputs and attributes contain Values for arrays, Draws and Sizes.

    Args:
        operator: the entry of the table, or an ArrayFunction.
        inputs: its operands.
        attrs: its attributes by name.
        outputs: the values that it produces, None for results that are not arrays.
        packed: whether it returns a tuple.
        where: the user's line.
    """

    operator: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Any, ...]
    packed: bool
    where: str = ""


@dataclass(eq=False, slots=True)
class GradientCall:
    """Call of an operator's vjp rule.

    Args:
        operator: the entry of the table.
        needs: indices of the inputs whose gradients are requested.
        gradient: the incoming gradient, a tuple for several outputs.
        output: the operator's output.
        inputs: its operands.
        attrs: its attributes by name.
        outputs: the gradients, in the order of ``input_indices``.
        input_indices: indices of the inputs that got a gradient.
        where: the user's line.
    """

    operator: Any
    needs: tuple[int, ...]
    gradient: Any
    output: Any
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    outputs: tuple[Value, ...]
    input_indices: tuple[int, ...]
    where: str = ""


@dataclass(eq=False, slots=True)
class EagerCall:
    """Call of an engine function that runs eagerly on tensors: an optimizer's step.

    Args:
        function: the function.
        arguments: its arguments, with Values in place of tensors.
        changed: external tensors that it rebinds.
        outputs: the values of their arrays afterwards.
        before: of those tensors the ones that had changed before, with their values at that point.
        where: the user's line.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    changed: tuple[Any, ...]
    outputs: tuple[Value, ...]
    before: tuple[tuple[Any, Value], ...] = ()
    where: str = ""


@dataclass(eq=False, slots=True)
class Binding:
    """Binding of an external tensor at this point instead of at the end, since a nearby step cannot be undone.

    Args:
        tensor: an external tensor, or an ArgumentRef.
        value: its value from here on.
        where: the user's line.
    """

    tensor: Any
    value: Value
    where: str = ""
    outputs: ClassVar[tuple[Value, ...]] = ()


@dataclass(eq=False, slots=True)
class FusedLoop:
    """Elementwise operators over one shape, and sums of their results: one loop (see ``fusion``).

    ``steps`` compute the elements of the outputs from those of the inputs (``scalar_programs.Program``). An input has
    at most the axes in which it varies, with lengths above 1.

    Args:
        shape: the length of each of the loop's axes.
        steps: the computation on each element.
        inputs: the values that it reads.
        varies: for each input, the axes of the loop in which it varies.
        outputs: the values that it produces.
        stores: for each output, its definition.
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
    """Definition of a loop's output: a step's elements, or their sums or extremes over axes.

    Args:
        step: the number of the step.
        axes: the axes of the reduction; None without one.
        is_mean: whether the sum is divided by the number of summands.
        extreme: "max" or "min" instead of a sum, only on a GPU; "" for a sum.
    """

    step: int
    axes: tuple[int, ...] | None = None
    is_mean: bool = False
    extreme: str = ""


Node = OperatorCall | GradientCall | EagerCall | Binding | FusedLoop


@dataclass(eq=False, slots=True)
class Graph:
    """A traced graph.

    Attributes:
        arguments: values of the tensors among the arguments, in their order.
        externals: tensors that the code reads from cells, closures and globals, with their values at the start.
        constants: arrays made during the run that do not come from tensors.
        nodes: the nodes, in execution order.
        shape_reads: values whose shapes or dtypes were read, so that the code may have computed with them.
        effects: external tensors, or ArgumentRefs, and the value that each holds afterwards.
        result: the function's result, with Values in place of new tensors. A tensor among the arguments is an
            ArgumentRef, an external tensor is itself; see also ``SharedResult`` and ``ViewRef``.
        is_on_gpu: whether the arrays are CuPy's.
        draw_numbers: numbers of the draws whose seed and counter are passed as further arguments, each as a pair.
        lengths: argument index and axis of each symbolic dimension, by its number.
    """

    arguments: list[Value] = field(default_factory=list)
    externals: list[tuple[Any, Value]] = field(default_factory=list)
    constants: dict[Value, Any] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    shape_reads: set[Value] = field(default_factory=set)
    effects: list[tuple[Any, Value]] = field(default_factory=list)
    result: Any = None
    is_on_gpu: bool = False
    draw_numbers: list[int] = field(default_factory=list)
    lengths: list[tuple[int, int]] = field(default_factory=list)

    def final_values(self) -> set[Value]:
        """Return the values that tensors hold after a run. Each needs its own array, its identity on the tape."""
        bound_values = [node.value for node in self.nodes if isinstance(node, Binding)]
        return {value for _, value in self.effects}.union(bound_values, values_in(self.result))


def draws_in(value: Any) -> list[Draw]:
    """Return the Draws in an operand, in attributes or in a structure of them.

    Args:
        value: the operand or the structure.
    """
    draws: list[Draw] = []
    replace_values(value, (Draw,), draws.append)
    return draws


def is_check(node: Node) -> bool:
    """Return whether a node only raises for invalid numbers.

    Args:
        node: the node.
    """
    return isinstance(node, OperatorCall) and isinstance(node.operator, ArrayFunction) and node.operator.is_check


def has_effect(node: Node) -> bool:
    """Return whether a node is needed without its results: it has an effect, checks, or advances the random stream.

    Args:
        node: the node.
    """
    if isinstance(node, EagerCall | Binding) or is_check(node):
        return True
    return bool(draws_in(operands_of(node)))


def operands_of(node: Node) -> Any:
    """Return the operands of a node: a structure that contains Values.

    Args:
        node: the node.
    """
    if isinstance(node, OperatorCall):
        return node.inputs, node.attrs
    if isinstance(node, GradientCall):
        return node.gradient, node.output, node.inputs, node.attrs
    if isinstance(node, Binding):
        return node.value
    return node.inputs if isinstance(node, FusedLoop) else (node.arguments, [value for _, value in node.before])


def values_in(value: Any) -> Iterator[Value]:
    """Yield the Values in an operand, in attributes or in a structure of them.

    Args:
        value: the operand or the structure.
    """
    if type(value) is Value:
        yield value
    elif type(value) is SharedResult:
        yield value.value
    elif type(value) is ViewRef:
        yield from values_in((value.base, value.steps, *([] if value.is_part else [value.value])))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from values_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from values_in(part)
    elif type(value) is slice:
        yield from values_in((value.start, value.stop, value.step))


def replace_values(value: Any, kinds: tuple[type, ...], by: Callable[[Any], Any]) -> Any:
    """Return a structure of tuples, lists, dictionaries and slices with objects of some types replaced.

    Args:
        value: the structure.
        kinds: the types, which are matched exactly.
        by: returns the replacement of an object.
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
    """Replace the values that a node computes with.

    Args:
        node: the node, which is changed.
        instead: the replacement of each value.
    """

    def put(value: Any) -> Any:
        return replace_values(value, (Value,), lambda operand: instead.get(operand, operand))

    if isinstance(node, Binding):
        node.value = put(node.value)
        return
    if isinstance(node, EagerCall):
        node.arguments = put(node.arguments)
        node.before = tuple([(tensor, put(value)) for tensor, value in node.before])
        return
    node.inputs = put(node.inputs)
    if isinstance(node, GradientCall):
        node.gradient, node.output = put(node.gradient), put(node.output)
    if isinstance(node, OperatorCall | GradientCall):
        node.attrs = put(node.attrs)
