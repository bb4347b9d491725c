"""Tracing: one run on real values in which each operator call is recorded.

During a trace, tensors hold ``TracedArray``s. An array that reaches an operator is therefore either a known value (an
argument, an external tensor, the output of another node, a constant) or was computed outside the operators. The latter
is a graph break (a *leak*), as is reading the numbers of a value: the run continues and its result is correct, but it
yields no plan.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from ...base.code_origin import is_engine, user_line
from ...tape import taps
from ...tape.tape import GradientComputation, active_observers, state
from ...tensors import random
from ...tensors.operator import ARRAY_FUNCTIONS, OPERATORS, Operator
from ...tensors.tensor import Tensor
from ...tensors.views import ViewOperator
from ..graph import (
    ArrayFunction,
    Binding,
    Draw,
    EagerCall,
    GradientCall,
    Graph,
    OperatorCall,
    Value,
    draws_in,
    operands_of,
    replace_values,
    values_in,
)
from ..guards.arguments import is_bare
from ..sizes import Size
from ..traced_array import TRACED, TracedDeviceArray, array_types, plain, traced_over
from .lengths import Length, Lengths, without_lengths
from .shape_rules import INNER, shapes_of

__all__ = ["Tracer"]

_ROOM = str(Path(__file__).parents[1])


_turn: dict[str, Tracer] = {}
"""The active tracer. A lock is not used, since an interrupt could leave it acquired."""


class DrawNumber(int):
    """The seed or the counter of a draw; computing with it is a graph break."""

    tracer: Tracer
    draw: Draw


def _computing(name: str) -> Callable[..., Any]:
    function = getattr(int, name)

    def method(self: DrawNumber, *others: Any) -> Any:
        self.tracer.leak("it computes with the position of a random number in the stream")
        return function(int(self), *others)

    return method


for _name in (
    "add",
    "radd",
    "sub",
    "rsub",
    "mul",
    "rmul",
    "floordiv",
    "mod",
    "rmod",
    "and",
    "rand",
    "or",
    "ror",
    "xor",
    "rxor",
    "lshift",
    "rshift",
    "neg",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "bool",
):
    setattr(DrawNumber, f"__{_name}__", _computing(f"__{_name}__"))
DrawNumber.__hash__ = int.__hash__  # type: ignore[method-assign]


class Tracer(taps.Tap):
    """One trace. It is a tap only so that operators take the path on which each call is observable.

    Args:
        expands: returns whether the vjp rule of an operator is traced operator by operator.
        lengths: the symbolic dimensions; None if all shapes are fixed.
    """

    def __init__(
        self, expands: Callable[[Operator], bool] = lambda operator: False, lengths: Lengths | None = None
    ) -> None:
        self.graph = Graph()
        self.expands = expands
        self.lengths = lengths
        self.functions = TracedFunctions(self)
        self.reason = ""  # the reason of the first graph break; ``line`` is its source line
        self.line = ""
        self.inner: set[Value] = set()  # values whose shape is unknown under symbolic dimensions
        self.reshaped: set[Value] = set()  # reshaped views, under symbolic dimensions
        # Source of each view operator's output, and whether the output is a part of it, under symbolic dimensions.
        self._sources: dict[Value, tuple[Value, bool]] = {}
        self._copied: set[Value] = set()  # outputs among these that do not share elements
        self._counts: list[Any] = []  # sizes of the draws, in order
        self._next = 0  # number of the next draw, which may repeat an earlier one
        self._draw_at: dict[tuple[int, int], int] = {}  # draw numbers by stream position
        self._left: dict[int, Value] = {}  # values that external tensors hold at this point of a plan
        self.made: list[weakref.ref[Any]] = []
        self._types = array_types()
        self._device: type | None = None  # the type that the operators compute with, TracedArray or TracedDeviceArray
        self.waits = False  # whether the function may be waiting for another thread
        self._outer = state.tracer
        self._is_over = threading.Event()
        self.outside: dict[int, tuple[Tensor, Any, Any]] = {}  # tensors, their arrays, and the placeholders they hold

    def owner(self) -> None:
        """Do nothing: a tracer is not notified like other taps."""

    # Begin and end

    def begin(self, patience: float = 0.0) -> bool:
        """Start tracing the operators of this thread.

        Only one thread traces at a time, and none while another one computes gradients, because the arrays of shared
        tensors are replaced during a trace.

        Args:
            patience: maximum number of seconds to wait for other threads.

        Returns:
            whether the trace began; if not, it need not be ended.
        """
        until = monotonic() + patience
        while not self._begins():
            if monotonic() >= until:
                return False
            sleep(1e-4)
        return True

    def _begins(self) -> bool:
        if _turn.setdefault("now", self) is not self:
            return False
        self._is_over.clear()  # after an earlier try
        state.tracer = self
        active_observers.append(self)
        taps.operator_taps.append(self)
        if any(
            isinstance(observer, GradientComputation) and observer.thread != threading.get_ident()
            for observer in tuple(active_observers)
        ):
            self.end()
            return False
        return True

    def end(self) -> None:
        """Stop tracing. It is idempotent: a call that an interrupt cut short is repeated."""
        state.tracer = self._outer
        for observers in (active_observers, taps.operator_taps):
            if self in observers:
                observers.remove(self)
        if _turn.get("now") is self:
            del _turn["now"]
        self._is_over.set()

    def wait_for_trace(self) -> bool:
        """Wait, in another thread, for the end of the trace, unless the traced function may be waiting for that thread.

        Returns:
            whether the trace is over.
        """
        while state.tracer is not self and not self.waits and not self._is_over.wait(0.01):
            pass
        return self._is_over.is_set()

    # Recording

    def leak(self, reason: str) -> None:
        """Note a graph break; the first reason is kept, with the user's line that led to it."""
        if not self.reason and state.tracer is self:
            self.reason, self.line = reason, user_line()

    def leak_numbers(self, what: str) -> None:
        """Note a graph break because the numbers of a traced array are read.

        Args:
            what: the NumPy function that reads them.
        """
        if not self.reason and state.tracer is self:
            self.leak(_how_numbers_are_read(what))

    def traced(self, array: Any, value: Value) -> Any:
        """Return a placeholder array for a value, valid during the trace."""
        placeholder = traced_over(array, value, self)
        self.made.append(weakref.ref(placeholder))
        return placeholder

    def constant(self, array: Any) -> Any:
        """Return a placeholder for an array that does not depend on the plan's inputs."""
        if self.reason or type(array) not in self._types:
            return array
        value = Value(array.shape, array.dtype, "constant")
        self.graph.constants[value] = array
        return self.traced(array, value)

    def fill(self, function: Callable[..., Any], attrs: dict[str, Any]) -> Any:
        """Return an array that a function makes from lengths and numbers; under symbolic dimensions it is a node."""
        if self.lengths is not None and depends_on_lengths(self._values((attrs,))):
            return self.compute(function, (), attrs)
        return self.constant(function(**_plain(attrs)))

    def renamed(self, array: Any) -> Any:
        """Return a second placeholder of the same value, which the tape distinguishes."""
        return self.traced(array.plain_array.view(), array.value)

    def draw_numbers(self, draw: Callable[[int], tuple[int, int]], count: Any) -> tuple[int, int]:
        """Draw, and return the marked seed and counter."""
        size = _plain(count)
        position = draw(size)
        count = count.size if type(count) is Length else count
        number, self._next = self._next, self._next + 1
        if number == len(self._counts):
            self._counts.append(count)
        elif self._counts[number] != count:
            self.leak("a repeated run draws a different number of random numbers")
        self._draw_at[position] = number
        self._draw_at[position[0], position[1] + size] = number + 1
        return self.mark_draw(number, position, count)

    def mark_draw(self, number: int, position: tuple[int, int], count: Any = 0) -> tuple[int, int]:
        """Mark the seed and the counter of an earlier draw, given its number."""
        marked = []
        for is_seed, number_drawn in zip((True, False), position, strict=True):
            draw_number = DrawNumber(number_drawn)
            draw_number.tracer, draw_number.draw = self, Draw(count, is_seed, number)
            marked.append(draw_number)
        return marked[0], marked[1]

    def set_position(self, position: tuple[int, int]) -> None:
        """Move the random stream back to an earlier position of the run."""
        self._draw_at.setdefault(random.position(), self._next)
        if position in self._draw_at:
            self._next = self._draw_at[position]
        else:
            self.leak("the position in the stream of random numbers is set")

    def hashes(self, tensor: Tensor) -> None:
        """Note that a tensor is hashed. Its hash is its address, which differs between the arguments of two calls.

        Args:
            tensor: the tensor; an external one may be hashed, since it is the same in each call of a plan.
        """
        is_same = type(tensor) is not Tensor or not is_bare(tensor)
        if is_same or any(external is tensor for external, _ in self.graph.externals):
            return
        if not is_engine(sys._getframe(2).f_code.co_filename):
            self.leak("the hash of a tensor is read")

    def rebinds(self, tensor: Tensor) -> None:
        """Note that a tensor, and all that share its elements, will be rebound.

        A reshaped view shares elements or not depending on its strides, which may differ for other dimensions.
        """
        if not self.reshaped:
            return
        root = tensor if tensor._view is None else tensor._view.root
        arrays = [t._array for t in (tensor, root) if t is not None]
        if any(type(array) in TRACED and array.value in self.reshaped for array in arrays):
            assert self.lengths is not None
            self.lengths.pin_all()

    def plain(self, value: Any) -> Any:
        """Return a value with this run's numbers in place of symbolic dimensions, without a guard."""
        return _plain(value)

    def roots_of(self, value: Value) -> set[Value]:
        """Return the sources with which a value shares no elements now, but might for other dimensions."""
        roots: set[Value] = set()
        was_copied = was_part = False
        while value in self._sources:
            was_copied = was_copied or value in self._copied
            value, is_part = self._sources[value]
            was_part = was_part or is_part
            if was_copied and was_part:
                roots.add(value)
        return roots

    def reshapes_part(self, source: Tensor, root: Tensor, result: Tensor, shares: bool) -> None:
        """Note that a view was reshaped: whether the result shares elements may differ for other dimensions.

        Args:
            source: the view.
            root: its root tensor.
            result: the reshaped tensor.
            shares: whether it shares elements now.
        """
        if self.lengths is None:
            return
        for length in (*source._array.shape, *root._array.shape):
            if type(length) is Length:
                number: Any = length
                bool(number == 1)  # a guard: strides of axes of length one do not matter
        self.reshaped.update(t._array.value for t in (source, root, result) if type(t._array) in TRACED)
        if not shares and type(result._array) in TRACED:
            self._copied.add(result._array.value)

    def ends_where_it_drew(self) -> bool:
        """Return whether the random stream is behind the last draw, and each draw belongs to a node."""
        draw_numbers = {draw.number for node in self.graph.nodes for draw in draws_in(operands_of(node))}
        return self._next == len(self._counts) == len(draw_numbers)

    def apply(self, operator: Operator, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Compute an operator's forward on arrays and record it."""
        plain_inputs = tuple([_plain(x) for x in inputs])
        with TracePause():
            output = operator._compute(plain_inputs, _plain(attrs))
        if operator.shape_from_values or (operator.name == "getitem" and _has_mask(attrs["index"])):
            self.leak(f"the output shape of '{operator.name}' depends on the numbers in its inputs")
        return self._add_step(operator, inputs, plain_inputs, attrs, output)

    def compute(
        self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any], is_check: bool = False
    ) -> Any:
        """Call a function that is not in the operator table and record it."""
        plain_inputs = tuple([_plain(x) for x in inputs])
        with TracePause():
            output = function(*plain_inputs, **_plain(attrs))
        if is_check:
            output = ()
        return self._add_step(ArrayFunction(function, is_check), inputs, plain_inputs, attrs, output)

    def holds(self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """Return whether a predicate on numbers holds; the plan is guarded by it."""
        with TracePause():
            holds = bool(function(*[_plain(x) for x in inputs], **_plain(attrs)))
        if not holds or any(isinstance(node, EagerCall) for node in self.graph.nodes):  # changes are not undone
            self.leak("an operator's steps depend on the numbers in its inputs")
        elif not self.reason:
            self.compute(_refused, (function, *inputs), attrs, is_check=True)
        return holds

    def array_function(self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """Record a NumPy call of the engine's own code and return its result; NotImplemented for other callers."""
        if self.reason or state.tracer is not self:
            return NotImplemented
        frame: Any = sys._getframe(1)
        while frame.f_code.co_filename.startswith(_ROOM):
            frame = frame.f_back
        if not is_engine(frame.f_code.co_filename):
            return NotImplemented
        return self.compute(function, inputs, attrs)

    def _add_step(
        self,
        operator: Operator | ArrayFunction,
        inputs: tuple[Any, ...],
        plain_inputs: tuple[Any, ...],
        attrs: dict[str, Any],
        output: Any,
    ) -> Any:
        if self.reason:
            return output
        operands = self._values((*inputs, attrs))
        if self.reason:
            return output
        self._bind()
        packed = type(output) is tuple
        arrays = output if packed else (output,)
        sizes = self._sizes(operator, inputs, attrs, operands, arrays)
        wrapped = [self._output(x, inputs, plain_inputs, shape) for x, shape in zip(arrays, sizes, strict=True)]
        values = tuple([x.value if type(x) in TRACED else None for x in wrapped])
        if self.lengths is not None and isinstance(operator, ViewOperator) and values[0] is not None:
            self._sources[values[0]] = operands[0], operator.name in ("getitem", "slice_axis")
        node = OperatorCall(operator, tuple(operands[:-1]), operands[-1], values, packed, user_line())
        self.graph.nodes.append(node)
        return tuple(wrapped) if packed else wrapped[0]

    def _sizes(
        self,
        operator: Operator | ArrayFunction,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
        operands: list[Any],
        made: Any,
    ) -> list[Any]:
        """Return the symbolic shapes of a step's outputs; without a shape rule the input dimensions are pinned."""
        nothing: list[Any] = [None] * len(made)
        if self.lengths is None:
            return nothing
        if not self.inner.isdisjoint(values_in(operands)):
            self.lengths.pin_all()
            return nothing
        if not depends_on_lengths(operands):
            return nothing
        shapes = shapes_of(operator, inputs, attrs, [getattr(x, "shape", None) for x in made])
        if shapes is None:
            for value in values_in(operands):
                for size in value.sizes or ():
                    self.lengths.pin(size)
            without_lengths((inputs, attrs))
            return nothing
        return [shape if shape is INNER else self._checked_shape(shape) for shape in shapes]

    def _checked_shape(self, shape: tuple[Any, ...]) -> tuple[int | Size, ...]:
        assert self.lengths is not None
        sizes = tuple([n.size if type(n) is Length else n for n in shape])
        for size in sizes:
            self.lengths.no_broadcast(size)
        return sizes

    def _output(
        self, output: Any, inputs: tuple[Any, ...], plain_inputs: tuple[Any, ...], sizes: tuple[int | Size, ...] | None
    ) -> Any:
        if isinstance(output, np.generic):
            output = np.asarray(output)
        if type(output) not in self._types:
            return output
        for operand, x in zip(inputs, plain_inputs, strict=True):
            if x is output and type(operand) in TRACED:
                return operand  # a kernel may return an input itself
        value = Value(output.shape, output.dtype, sizes=None if sizes is INNER else sizes)
        if sizes is INNER:
            self.inner.add(value)
        return self.traced(output, value)

    def derive(
        self,
        operator: Operator,
        functions: Any,
        tracked: set[int],
        g: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> list[tuple[Any, Any]]:
        """Compute ``Operator.gradients`` and record it, as one node or operator by operator."""
        from ...tensors.operator import TENSOR_FUNCTIONS

        if functions.wraps:
            return operator.gradients(functions, tracked, g, output, inputs, attrs)
        if self.expands(operator) and not self.reason:
            wrapped: Any = tuple([None if x is None else Tensor._wrap(x) for x in g]) if type(g) is tuple else None
            tensors = wrapped or Tensor._wrap(g)
            pairs = operator.gradients(TENSOR_FUNCTIONS, tracked, tensors, output, inputs, attrs)
            return [(x, gx._array) for x, gx in pairs]
        plain_inputs = tuple([_plain(x) for x in inputs])
        needed_indices = tuple([index for index, x in enumerate(inputs) if id(x) in tracked])
        with TracePause():
            pairs = operator.gradients(
                ARRAY_FUNCTIONS,
                {id(plain_inputs[index]) for index in needed_indices},
                _plain(g),
                _plain(output),
                plain_inputs,
                _plain(attrs),
            )
        # The same array may occur twice, so identity is ambiguous; the pairs come in the order of the inputs.
        remaining = list(needed_indices)
        indices = []
        for x, _ in pairs:
            index = next(candidate for candidate in remaining if plain_inputs[candidate] is x)
            remaining.remove(index)
            indices.append(index)
        if self.reason:
            return [(inputs[index], gx) for index, (_, gx) in zip(indices, pairs, strict=True)]
        known_g, known_output, known_attrs, *known_inputs = self._values((g, output, attrs, *inputs))
        if self.reason:
            return [(inputs[index], gx) for index, (_, gx) in zip(indices, pairs, strict=True)]
        self._bind()
        gradients = []
        for index, (_, gx) in zip(indices, pairs, strict=True):  # a gradient has the shape of its input
            sizes = known_inputs[index].sizes
            if known_inputs[index] in self.inner:
                assert self.lengths is not None
                self.lengths.pin_all()
            if known_inputs[index].shape != gx.shape:
                self.leak(f"a gradient of '{operator.name}' has a different shape than its input")
            gradients.append(self.traced(gx, Value(gx.shape, gx.dtype, sizes=sizes)))
        self.graph.nodes.append(
            GradientCall(
                operator,
                needed_indices,
                known_g,
                known_output,
                tuple(known_inputs),
                known_attrs,
                tuple([x.value for x in gradients]),
                tuple(indices),
                user_line(),
            )
        )
        return [(inputs[index], gx) for index, gx in zip(indices, gradients, strict=True)]

    def eager_call(self, function: Callable[..., Any], tensors: Iterable[Tensor], *arguments: Any) -> Any:
        """Run an engine function eagerly and record it as one node.

        Args:
            function: called with ``arguments``.
            tensors: the external tensors that it reads and rebinds.
            arguments: plain values, and tensors that hold traced arrays.
        """
        arguments = without_lengths(arguments)
        operands = self._values(tuple(arguments))
        tensors_bound = list(tensors)
        if not self._left:
            self._left = {id(t): value for t, value in self.graph.externals}
        written = []
        for t in {id(t): t for t in tensors_bound}.values():
            if id(t) in self._left and (value := self._value_of(t)) is not self._left[id(t)]:
                written.append((t, value))
        self._bind({id(t) for t in tensors_bound})
        plain_arguments = replace_values(arguments, (Tensor,), lambda t: Tensor._wrap(plain(t._array)))
        traced = [t._array for t in tensors_bound]
        for t in tensors_bound:
            t._array = plain(t._array)
        arrays_before = [t._array for t in tensors_bound]
        with TracePause():
            result = function(*plain_arguments)
        if self.reason:
            return result
        changed, outputs = [], []
        for t, previous, placeholder in zip(tensors_bound, arrays_before, traced, strict=True):
            if t._array is previous:
                t._array = placeholder
                continue
            value = Value(t._array.shape, t._array.dtype)
            t._array = self.traced(t._array, value)
            changed.append(t)
            outputs.append(value)
        self._left |= {id(t): value for t, value in (*written, *zip(changed, outputs, strict=True))}
        node = EagerCall(function, tuple(operands), tuple(changed), tuple(outputs), tuple(written), user_line())
        self.graph.nodes.append(node)
        return result

    def _bind(self, by_itself: set[int] | None = None) -> None:
        """Record the values that external tensors hold, after the first step that cannot be undone.

        If a step raises, these tensors are left as the eager run leaves them.

        Args:
            by_itself: identities of the tensors that such a step binds itself; None before another step.
        """
        if by_itself is None and not self._left:
            return
        for t, _, placeholder in self.outside.values():
            value = t._array.value if type(t._array) in TRACED else None
            if value not in (None, self._left.get(id(t), placeholder.value)) and id(t) not in (by_itself or ()):
                self._left[id(t)] = value
                self.graph.nodes.append(Binding(t, value, user_line()))

    def _values(self, values: tuple[Any, ...]) -> list[Any]:
        """Return the values with Values in place of arrays and Draws in place of drawn numbers."""
        kinds = (*self._types, *TRACED, DrawNumber, Length, Tensor)
        return [replace_values(value, kinds, self._operand) for value in values]

    def _operand(self, operand: Any) -> Any:
        array = operand._array if isinstance(operand, Tensor) else operand
        if type(array) in TRACED:
            if self._device is None:
                self._device = type(array)
                self.graph.is_on_gpu = self._device is TracedDeviceArray
            elif type(array) is not self._device:
                self.leak("it computes with arrays of two devices")
        return self._value_of(operand)

    def _value_of(self, operand: Any) -> Any:
        if type(operand) is DrawNumber:
            return operand.draw
        if type(operand) is Length:
            return operand.size if operand.lengths is self.lengths else operand.number
        array = operand._array if isinstance(operand, Tensor) else operand
        if type(array) in TRACED and array.value is not None and array.tracer is self:
            return array.value
        self.leak("an array is used that no operator computed from the inputs")
        return None


def _refused(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> None:
    """Raise ValueError unless a predicate holds for the numbers; the plan then refuses them."""
    if not function(*arrays, **attrs):
        raise ValueError(f"{function.__name__} does not hold")


def _plain(value: Any) -> Any:
    """Return a value with plain arrays in place of traced ones, and ints in place of drawn numbers and lengths."""
    return replace_values(value, (*TRACED, DrawNumber, Length), _plain_value)


def _plain_value(value: Any) -> Any:
    return value.number if type(value) is Length else int(value) if type(value) is DrawNumber else plain(value)


def depends_on_lengths(operands: Any) -> bool:
    """Return whether the operands of a step contain Sizes, or values with symbolic shapes."""
    sizes: list[Any] = []
    replace_values(operands, (Size,), sizes.append)
    return bool(sizes) or any(value.sizes is not None for value in values_in(operands))


def _has_mask(index: Any) -> bool:
    """Return whether an index contains a non-constant boolean array."""
    parts: Any = index if isinstance(index, tuple) else (index,)
    arrays: list[Any] = [part for part in parts if isinstance(part, array_types())]
    return any(array.dtype.kind == "b" and not _is_constant(array) for array in arrays)


def _is_constant(array: Any) -> bool:
    return type(array) in TRACED and array.value is not None and bool(array.value.origin == "constant")


class TracedFunctions:
    """Operators by name on arrays, for the sums of the backward pass."""

    wraps = False

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operator = OPERATORS[name]
        return lambda *inputs, **attrs: self._tracer.apply(operator, inputs, attrs)


class TracePause:
    """Context in which operators run on plain arrays, unobserved.

    The code inside is one step of the plan, which calls it again unchanged.
    """

    __slots__ = ("_before", "_watcher")

    def __enter__(self) -> None:
        self._before, self._watcher = state.tracer, sys.getprofile()
        state.tracer = None
        sys.setprofile(None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, position: object) -> None:
        sys.setprofile(self._watcher)
        state.tracer = self._before
        if error is not None and state.tracer is not None:
            # If the function catches the error, its control flow depends on the numbers.
            state.tracer.leak("an operator fails, and the function catches the error")


def _how_numbers_are_read(what: str) -> str:
    """Return a message that names the engine function, called by the user, that reads numbers of a tensor.

    Args:
        what: the NumPy function that read them in the end.
    """
    frame: Any = sys._getframe(1)
    inner_frame: Any = None
    while frame is not None and is_engine(frame.f_code.co_filename):
        inner_frame, frame = frame, frame.f_back
    if inner_frame is None or inner_frame.f_code.co_filename.startswith(_ROOM):
        return f"the numbers of a tensor are read ({what})"
    name = inner_frame.f_code.co_name
    if name in _WAYS_TO_READ:
        return _WAYS_TO_READ[name]
    if name in ("__call__", "construct", "method"):
        receiver = inner_frame.f_locals.get("self")
        if name == "method" and not isinstance(receiver, Operator):  # a tensor method that wraps a function
            name = getattr(inner_frame.f_locals.get("function"), "__name__", "an operator")
        else:
            name = receiver.name if isinstance(receiver, Operator) else type(receiver).__name__
    name = name.removeprefix("_").removesuffix("_of_tensor")  # a form that exists only as a method
    return f"{name}() reads the numbers of a tensor"


_WAYS_TO_READ = {
    "__bool__": "a branch is taken on a tensor's value",
    "__float__": "float() reads the number of a tensor",
    "__int__": "int() reads the number of a tensor",
    "__complex__": "complex() reads the number of a tensor",
    "__index__": "the number of a tensor is used as an index or a length",
    "__array__": "NumPy reads the numbers of a tensor",
    "__contains__": "'in' reads the numbers of a tensor",
    "__repr__": "a tensor becomes text, which shows its numbers",
    "__str__": "a tensor becomes text, which shows its numbers",
    "__format__": "a tensor becomes text, which shows its numbers",
}
