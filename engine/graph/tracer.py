"""Tracing: one run on real values, in which each step of the operator table is written down.

The tensors hold ``TracedArray``s meanwhile, so that an array that comes into an operator is either a value that is
known (an argument, a tensor from outside, what another step made, a constant) or one that somebody made of numbers that
the plan could not follow. In the second case, and whenever the numbers of a value are read, the trace has a *leak*: the
run goes on and its result is right, but no plan is made of it.
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

from ..base.code_origin import is_engine, user_line
from ..tape import taps
from ..tape.tape import Asking, attention, state
from ..tensors import random
from ..tensors.operator import ARRAY_FUNCTIONS, OPERATORS, Operator
from ..tensors.tensor import Tensor
from ..tensors.views import ViewOperator
from .arguments import is_bare
from .graph import Apply, Beside, Bind, Derive, Draw, Graph, Value, Whole, draws_in, replace_values, values_in
from .lengths import Length, Lengths, whole
from .plan import operands_of
from .shapes import INNER, shapes_of
from .sizes import Size
from .traced_array import TRACED, TracedDeviceArray, array_types, plain, traced_over

__all__ = ["Tracer"]

_ROOM = str(Path(__file__).parent)


_turn: dict[str, Tracer] = {}
"""The tracer whose turn it is now. It is no lock, which an interrupt could leave shut."""


class Drawn(int):
    """The seed or the counter of a draw; whoever computes with it makes the trace leak."""

    tracer: Tracer
    draw: Draw


def _computing(name: str) -> Callable[..., Any]:
    function = getattr(int, name)

    def method(self: Drawn, *others: Any) -> Any:
        self.tracer.leak("a random number's place in the stream is computed with")
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
    setattr(Drawn, f"__{_name}__", _computing(f"__{_name}__"))
Drawn.__hash__ = int.__hash__  # type: ignore[method-assign]


class Tracer(taps.Tap):
    """One trace. It is among the taps only so that operators take the way on which each of them can be seen.

    Args:
        expands: tells of an operator whether its vjp rule is written down operator by operator.
        lengths: those that are left open; None where all are as they are in this run.
    """

    def __init__(
        self, expands: Callable[[Operator], bool] = lambda operator: False, lengths: Lengths | None = None
    ) -> None:
        self.graph = Graph()
        self.expands = expands
        self.lengths = lengths
        self.functions = TracedFunctions(self)
        self.why = ""  # the reason and the line of the first leak
        self.line = ""
        self.inner: set[Value] = set()  # of a shape that is not known where lengths are open
        self.reshaped: set[Value] = set()  # where lengths are open
        self._sources: dict[Value, tuple[Value, bool]] = {}  # of what operators made that may share elements, then
        self._copied: set[Value] = set()  # of that what shares none
        self._counts: list[Any] = []  # of the draws, in their order
        self._next = 0  # the number of the next draw, which may have been made before
        self._draw_at: dict[tuple[int, int], int] = {}  # by the place in the stream
        self._left: dict[int, Value] = {}  # what tensors from outside hold in a plan by now
        self.made: list[weakref.ref[Any]] = []
        self._types = array_types()
        self._device: type | None = None  # TracedArray or TracedDeviceArray, whichever the operators compute with
        self.waits = False  # whether it may be that the function waits for another thread
        self._outer = state.tracer
        self._is_over = threading.Event()
        self.outside: dict[int, tuple[Tensor, Any, Any]] = {}  # tensors, their arrays, and what they hold

    def owner(self) -> None:
        """Nothing is told to it as to a tap."""

    # From when to when it is told

    def begin(self, patience: float = 0.0) -> bool:
        """From now on this thread's operators are told to the tracer.

        Only one thread traces at a time, and none while another one computes gradients: the arrays of tensors that both
        know are others as long as the trace is on.

        Args:
            patience: for how many seconds to wait for a moment in which no other thread does.

        Returns:
            whether it has begun; if not, there is nothing to end.
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
        self._is_over.clear()  # of a try before
        state.tracer = self
        attention.append(self)
        taps.operator_taps.append(self)
        if any(isinstance(one, Asking) and one.thread != threading.get_ident() for one in tuple(attention)):
            self.end()
            return False
        return True

    def end(self) -> None:
        """No longer, whether or not it has begun, or ended; what an interrupt cut short is done by another call."""
        state.tracer = self._outer
        for told in (attention, taps.operator_taps):
            if self in told:
                told.remove(self)
        if _turn.get("now") is self:
            del _turn["now"]
        self._is_over.set()

    def give_way(self) -> bool:
        """Wait, in another thread, for the end of the trace, but not where its function may be waiting for that one.

        Returns:
            whether the trace is over.
        """
        while state.tracer is not self and not self.waits and not self._is_over.wait(0.01):
            pass
        return self._is_over.is_set()

    # What it is told

    def leak(self, why: str) -> None:
        """No plan can be made: the first reason is kept, with the line of the user's that led to it."""
        if not self.why and state.tracer is self:
            self.why, self.line = why, user_line()

    def leak_numbers(self, what: str) -> None:
        """The numbers of a traced array are read: no plan can be made.

        Args:
            what: the function of NumPy's that reads them.
        """
        if not self.why and state.tracer is self:
            self.leak(_how_numbers_are_read(what))

    def traced(self, array: Any, value: Value) -> Any:
        """An array that stands for a value while the trace lasts."""
        made = traced_over(array, value, self)
        self.made.append(weakref.ref(made))
        return made

    def constant(self, array: Any) -> Any:
        """An array that does not depend on the plan's inputs."""
        if self.why or type(array) not in self._types:
            return array
        value = Value(array.shape, array.dtype, "constant")
        self.graph.constants[value] = array
        return self.traced(array, value)

    def filled(self, function: Callable[..., Any], attrs: dict[str, Any]) -> Any:
        """An array that a function makes of lengths and numbers: a step, if lengths are open."""
        if self.lengths is not None and depends_on_lengths(self._known((attrs,))):
            return self.compute(function, (), attrs)
        return self.constant(function(**_bare(attrs)))

    def renamed(self, array: Any) -> Any:
        """The same numbers under another name on the tape."""
        return self.traced(array.whole.view(), array.value)

    def drawn(self, draw: Callable[[int], tuple[int, int]], count: Any) -> tuple[int, int]:
        """Draw, and mark the seed and the counter."""
        drawn = _bare(count)
        place = draw(drawn)
        count = count.size if type(count) is Length else count
        number, self._next = self._next, self._next + 1
        if number == len(self._counts):
            self._counts.append(count)
        elif self._counts[number] != count:
            self.leak("other random numbers are drawn where it draws again")
        self._draw_at[place] = number
        self._draw_at[place[0], place[1] + drawn] = number + 1
        return self.given(number, place, count)

    def given(self, number: int, place: tuple[int, int], count: Any = 0) -> tuple[int, int]:
        """Mark the seed and the counter of a draw that was made before, of this number."""
        marked = []
        for is_seed, figure in zip((True, False), place, strict=True):
            one = Drawn(figure)
            one.tracer, one.draw = self, Draw(count, is_seed, number)
            marked.append(one)
        return marked[0], marked[1]

    def gone_to(self, place: tuple[int, int]) -> None:
        """Draw again from a place on where the run was before."""
        self._draw_at.setdefault(random.position(), self._next)
        if place in self._draw_at:
            self._next = self._draw_at[place]
        else:
            self.leak("the stream of random numbers is set to another place")

    def hashes(self, tensor: Tensor) -> None:
        """Notice that a tensor is hashed: its hash is its address, and another call's argument has another one.

        Args:
            tensor: one from outside is the same in each call of a plan, and may be hashed.
        """
        is_same = type(tensor) is not Tensor or not is_bare(tensor)
        if is_same or any(one is tensor for one, _ in self.graph.externals):
            return
        if not is_engine(sys._getframe(2).f_code.co_filename):
            self.leak("the hash of a tensor is read")

    def rebinds(self, tensor: Tensor) -> None:
        """A tensor is about to get another array, and all that share its elements.

        Whether a reshaped part shares them is up to its strides, which may be others for other lengths.
        """
        if not self.reshaped:
            return
        root = tensor if tensor._view is None else tensor._view.root
        held = [t._array for t in (tensor, root) if t is not None]
        if any(type(array) in TRACED and array.value in self.reshaped for array in held):
            assert self.lengths is not None
            self.lengths.pin_all()

    def bare(self, value: Any) -> Any:
        """Return a value with this run's numbers in the place of open lengths; no guard is made of it."""
        return _bare(value)

    def roots_of(self, value: Value) -> set[Value]:
        """Return what a value was made of with which it shares nothing now, but might for other lengths: of a part."""
        found: set[Value] = set()
        was_copied = was_part = False
        while value in self._sources:
            was_copied = was_copied or value in self._copied
            value, is_part = self._sources[value]
            was_part = was_part or is_part
            if was_copied and was_part:
                found.add(value)
        return found

    def reshapes_part(self, source: Tensor, root: Tensor, result: Tensor, shares: bool) -> None:
        """A view was reshaped: for other lengths the result might share its elements where it does not now, or not.

        Args:
            source: the view.
            root: the tensor that it is of.
            result: the reshaped tensor.
            shares: whether it shares now.
        """
        if self.lengths is None:
            return
        for length in (*source._array.shape, *root._array.shape):
            if type(length) is Length:
                number: Any = length
                bool(number == 1)  # a guard: strides of axes of one element do not matter
        self.reshaped.update(t._array.value for t in (source, root, result) if type(t._array) in TRACED)
        if not shares and type(result._array) in TRACED:
            self._copied.add(result._array.value)

    def ends_where_it_drew(self) -> bool:
        """Whether the stream stands behind the last draw, and each draw is a step's."""
        drawn = {draw.number for node in self.graph.nodes for draw in draws_in(operands_of(node))}
        return self._next == len(self._counts) == len(drawn)

    def apply(self, operator: Operator, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """An operator's forward on arrays, written down."""
        bare = tuple([_bare(x) for x in inputs])
        with Untraced():
            output = operator._compute(bare, _bare(attrs))
        if operator.shape_from_values or (operator.name == "getitem" and _has_mask(attrs["index"])):
            self.leak(f"the shape of what '{operator.name}' gives depends on the numbers in its inputs")
        return self._noted(operator, inputs, bare, attrs, output)

    def compute(
        self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any], is_check: bool = False
    ) -> Any:
        """What a function beside the table gives, written down."""
        bare = tuple([_bare(x) for x in inputs])
        with Untraced():
            output = function(*bare, **_bare(attrs))
        if is_check:
            output = ()
        return self._noted(Beside(function, is_check), inputs, bare, attrs, output)

    def usual(self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> bool:
        """Whether a function of numbers holds; the plan is for numbers of which it does."""
        with Untraced():
            holds = bool(function(*[_bare(x) for x in inputs], **_bare(attrs)))
        if not holds or any(isinstance(node, Whole) for node in self.graph.nodes):  # what has changed stays changed
            self.leak("what an operator does depends on the numbers in its inputs")
        elif not self.why:
            self.compute(_refused, (function, *inputs), attrs, is_check=True)
        return holds

    def beside(self, function: Callable[..., Any], inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
        """What a function of NumPy's gives to the engine's own code, written down; NotImplemented for others' code."""
        if self.why or state.tracer is not self:
            return NotImplemented
        frame: Any = sys._getframe(1)
        while frame.f_code.co_filename.startswith(_ROOM):
            frame = frame.f_back
        if not is_engine(frame.f_code.co_filename):
            return NotImplemented
        return self.compute(function, inputs, attrs)

    def _noted(
        self,
        operator: Operator | Beside,
        inputs: tuple[Any, ...],
        bare: tuple[Any, ...],
        attrs: dict[str, Any],
        output: Any,
    ) -> Any:
        if self.why:
            return output
        known = self._known((*inputs, attrs))
        if self.why:
            return output
        self._bind()
        packed = type(output) is tuple
        made = output if packed else (output,)
        sizes = self._sizes(operator, inputs, attrs, known, made)
        wrapped = [self._output(x, inputs, bare, of) for x, of in zip(made, sizes, strict=True)]
        values = tuple([x.value if type(x) in TRACED else None for x in wrapped])
        if self.lengths is not None and isinstance(operator, ViewOperator) and values[0] is not None:
            self._sources[values[0]] = known[0], operator.name in ("getitem", "slice_axis")
        node = Apply(operator, tuple(known[:-1]), known[-1], values, packed, user_line())
        self.graph.nodes.append(node)
        return tuple(wrapped) if packed else wrapped[0]

    def _sizes(
        self, operator: Operator | Beside, inputs: tuple[Any, ...], attrs: dict[str, Any], known: list[Any], made: Any
    ) -> list[Any]:
        """The shapes of what a step gives as expressions; where no rule tells, the plan is for those of its inputs."""
        nothing: list[Any] = [None] * len(made)
        if self.lengths is None:
            return nothing
        if not self.inner.isdisjoint(values_in(known)):
            self.lengths.pin_all()
            return nothing
        if not depends_on_lengths(known):
            return nothing
        found = shapes_of(operator, inputs, attrs, [getattr(x, "shape", None) for x in made])
        if found is None:
            for value in values_in(known):
                for size in value.sizes or ():
                    self.lengths.pin(size)
            whole((inputs, attrs))
            return nothing
        return [shape if shape is INNER else self._followed(shape) for shape in found]

    def _followed(self, shape: tuple[Any, ...]) -> tuple[int | Size, ...]:
        assert self.lengths is not None
        sizes = tuple([n.size if type(n) is Length else n for n in shape])
        for size in sizes:
            self.lengths.no_broadcast(size)
        return sizes

    def _output(
        self, output: Any, inputs: tuple[Any, ...], bare: tuple[Any, ...], sizes: tuple[int | Size, ...] | None
    ) -> Any:
        if isinstance(output, np.generic):
            output = np.asarray(output)
        if type(output) not in self._types:
            return output
        for given, x in zip(inputs, bare, strict=True):
            if x is output and type(given) in TRACED:
                return given  # a kernel may hand back an input itself
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
        """What ``Operator.gradients`` gives, written down: as one step, or operator by operator."""
        from ..tensors.operator import TENSOR_FUNCTIONS

        if functions.wraps:
            return operator.gradients(functions, tracked, g, output, inputs, attrs)
        if self.expands(operator) and not self.why:
            given: Any = tuple([None if x is None else Tensor._wrap(x) for x in g]) if type(g) is tuple else None
            tensors = given or Tensor._wrap(g)
            pairs = operator.gradients(TENSOR_FUNCTIONS, tracked, tensors, output, inputs, attrs)
            return [(x, gx._array) for x, gx in pairs]
        bare = tuple([_bare(x) for x in inputs])
        needs = tuple([place for place, x in enumerate(inputs) if id(x) in tracked])
        with Untraced():
            pairs = operator.gradients(
                ARRAY_FUNCTIONS, {id(bare[place]) for place in needs}, _bare(g), _bare(output), bare, _bare(attrs)
            )
        # By identity the same array may be in two places; the pairs come in the order of the inputs.
        left = list(needs)
        places = []
        for x, _ in pairs:
            place = next(p for p in left if bare[p] is x)
            left.remove(place)
            places.append(place)
        if self.why:
            return [(inputs[place], gx) for place, (_, gx) in zip(places, pairs, strict=True)]
        known_g, known_output, known_attrs, *known = self._known((g, output, attrs, *inputs))
        if self.why:
            return [(inputs[place], gx) for place, (_, gx) in zip(places, pairs, strict=True)]
        self._bind()
        found = []
        for place, (_, gx) in zip(places, pairs, strict=True):  # a gradient has the shape of what it is the gradient of
            sizes = known[place].sizes
            if known[place] in self.inner:
                assert self.lengths is not None
                self.lengths.pin_all()
            if known[place].shape != gx.shape:
                self.leak(f"a gradient of '{operator.name}' has another shape than its input")
            found.append(self.traced(gx, Value(gx.shape, gx.dtype, sizes=sizes)))
        self.graph.nodes.append(
            Derive(
                operator,
                needs,
                known_g,
                known_output,
                tuple(known),
                known_attrs,
                tuple([x.value for x in found]),
                tuple(places),
                user_line(),
            )
        )
        return [(inputs[place], gx) for place, gx in zip(places, found, strict=True)]

    def whole(self, function: Callable[..., Any], tensors: Iterable[Tensor], *arguments: Any) -> Any:
        """Run a function of the engine as it runs eagerly, as one step.

        Args:
            function: called with ``arguments``.
            tensors: what it reads and binds anew, from outside.
            arguments: plain values, and tensors that hold traced arrays.
        """
        arguments = whole(arguments)
        known = self._known(tuple(arguments))
        held = list(tensors)
        if not self._left:
            self._left = {id(t): value for t, value in self.graph.externals}
        written = []
        for t in {id(t): t for t in held}.values():
            if id(t) in self._left and (value := self._value_of(t)) is not self._left[id(t)]:
                written.append((t, value))
        self._bind({id(t) for t in held})
        given = replace_values(arguments, (Tensor,), lambda t: Tensor._wrap(plain(t._array)))
        traced = [t._array for t in held]
        for t in held:
            t._array = plain(t._array)
        before = [t._array for t in held]
        with Untraced():
            result = function(*given)
        if self.why:
            return result
        changed, outputs = [], []
        for t, old, was in zip(held, before, traced, strict=True):
            if t._array is old:
                t._array = was
                continue
            value = Value(t._array.shape, t._array.dtype)
            t._array = self.traced(t._array, value)
            changed.append(t)
            outputs.append(value)
        self._left |= {id(t): value for t, value in (*written, *zip(changed, outputs, strict=True))}
        node = Whole(function, tuple(known), tuple(changed), tuple(outputs), tuple(written), user_line())
        self.graph.nodes.append(node)
        return result

    def _bind(self, by_itself: set[int] | None = None) -> None:
        """From the first step that cannot be undone on, note what tensors that were there before hold by now.

        Where a step raises, they are left as the eager run leaves them.

        Args:
            by_itself: identities of the tensors that such a step binds itself; None before another step.
        """
        if by_itself is None and not self._left:
            return
        for t, _, over in self.outside.values():
            value = t._array.value if type(t._array) in TRACED else None
            if value not in (None, self._left.get(id(t), over.value)) and id(t) not in (by_itself or ()):
                self._left[id(t)] = value
                self.graph.nodes.append(Bind(t, value, user_line()))

    def _known(self, values: tuple[Any, ...]) -> list[Any]:
        """The values with Values in the place of arrays and Draws in that of drawn numbers."""
        kinds = (*self._types, *TRACED, Drawn, Length, Tensor)
        return [replace_values(value, kinds, self._operand) for value in values]

    def _operand(self, found: Any) -> Any:
        array = found._array if isinstance(found, Tensor) else found
        if type(array) in TRACED:
            if self._device is None:
                self._device = type(array)
                self.graph.is_on_gpu = self._device is TracedDeviceArray
            elif type(array) is not self._device:
                self.leak("it computes with arrays of two devices")
        return self._value_of(found)

    def _value_of(self, found: Any) -> Any:
        if type(found) is Drawn:
            return found.draw
        if type(found) is Length:
            return found.size if found.lengths is self.lengths else found.number
        array = found._array if isinstance(found, Tensor) else found
        if type(array) in TRACED and array.value is not None and array.tracer is self:
            return array.value
        self.leak("an array is used that no operator of the table made of the inputs")
        return None


def _refused(function: Callable[..., Any], *arrays: Any, **attrs: Any) -> None:
    """Let a plan be refused by numbers that it is not for."""
    if not function(*arrays, **attrs):
        raise ValueError(f"{function.__name__} does not hold")


def _bare(value: Any) -> Any:
    """Plain arrays in the place of traced ones, and plain numbers in that of drawn ones and of lengths."""
    return replace_values(value, (*TRACED, Drawn, Length), _bare_one)


def _bare_one(value: Any) -> Any:
    return value.number if type(value) is Length else int(value) if type(value) is Drawn else plain(value)


def depends_on_lengths(known: Any) -> bool:
    """Whether there are Sizes in what a step computes with, or values of such shapes."""
    found: list[Any] = []
    replace_values(known, (Size,), found.append)
    return bool(found) or any(value.sizes is not None for value in values_in(known))


def _has_mask(index: Any) -> bool:
    """Whether an index has an array of bools in it."""
    parts: Any = index if isinstance(index, tuple) else (index,)
    arrays: list[Any] = [part for part in parts if isinstance(part, array_types())]
    return any(array.dtype.kind == "b" and not _is_constant(array) for array in arrays)


def _is_constant(array: Any) -> bool:
    return type(array) in TRACED and array.value is not None and bool(array.value.of == "constant")


class TracedFunctions:
    """The operators by name on arrays, as the walk back adds up with them."""

    wraps = False

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operator = OPERATORS[name]
        return lambda *inputs, **attrs: self._tracer.apply(operator, inputs, attrs)


class Untraced:
    """Inside the block operators run on plain arrays, and nobody is told of them or of what is called.

    What runs here is one step of the plan, which calls it again as it is.
    """

    __slots__ = ("_before", "_watcher")

    def __enter__(self) -> None:
        self._before, self._watcher = state.tracer, sys.getprofile()
        state.tracer = None
        sys.setprofile(None)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, place: object) -> None:
        sys.setprofile(self._watcher)
        state.tracer = self._before
        if error is not None and state.tracer is not None:
            # If the function catches it, it goes on in a way that depends on the numbers that came.
            state.tracer.leak("a step fails, and the function goes on")


def _how_numbers_are_read(what: str) -> str:
    """What of the engine's the user called that reads numbers of a tensor, in the user's words.

    Args:
        what: the function of NumPy's that read them in the end.
    """
    frame: Any = sys._getframe(1)
    inner: Any = None
    while frame is not None and is_engine(frame.f_code.co_filename):
        inner, frame = frame, frame.f_back
    if inner is None or inner.f_code.co_filename.startswith(_ROOM):
        return f"the numbers of a tensor are read ({what})"
    name = inner.f_code.co_name
    if name in _WAYS_TO_READ:
        return _WAYS_TO_READ[name]
    if name in ("__call__", "construct", "method"):
        called = inner.f_locals.get("self")
        if name == "method" and not isinstance(called, Operator):  # of a tensor, around a function
            name = getattr(inner.f_locals.get("function"), "__name__", "an operator")
        else:
            name = called.name if isinstance(called, Operator) else type(called).__name__
    name = name.removeprefix("_").removesuffix("_of_tensor")  # of a form that is a method alone
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
