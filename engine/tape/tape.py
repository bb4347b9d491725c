"""The tape: what happened between the start and the end of a request for gradients.

The one idea: arrays are immutable, so **an array object is a value**, and ``id(array)`` names it. A recording is a
flat list of nodes ``(operator, inputs, output, attrs)`` in execution order, holding arrays, never tensors; because the
nodes keep their arrays alive, no id is used twice. An in-place operation on a tensor rebinds the tensor to a new array
and is one more node. Nothing else is needed: no flag on tensors, no graph, no version counter.

Recordings nest. An operation is put on every open recording that follows one of its inputs. The backward pass over a
recording happens after it was closed; if another one is still open around it, the walk computes with tensors, whose
operations that outer recording follows, and so second and higher derivatives come about. With none open, the walk
computes with bare arrays: no wrapping, no recording.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base.types import Array

__all__ = [
    "LARGE",
    "Asking",
    "Differentiable",
    "Recording",
    "Region",
    "Renaming",
    "Repeating",
    "Several",
    "Spared",
    "Sums",
    "accumulate",
    "attention",
    "is_done_each_time",
    "no_recording",
    "record",
    "recording_active",
    "run_hook",
    "state",
    "whole",
]

attention: list[object] = []
"""What operators have to look at beside their arrays: open recordings, taps that watch operators, scopes of precision,
of all threads. While there is nothing, an operator looks here alone."""


class _State(threading.local):
    """Of each thread: the open recordings, outermost first (a tuple, replaced as a whole)."""

    recordings: tuple[Recording, ...] = ()
    left: list[Callable[[], None]] | None = None
    """Of the walk that is under way: what its hooks leave to be done at its end."""
    refused = False
    """Whether the user's code has said that no gradients are wanted."""
    tracer: Any = None
    """Of a function that is being traced (``engine.graph``): who writes down what operators do."""


state = _State()


def is_done_each_time(what: str) -> None:
    """Tell the trace that is on, if one is, that a plan would not do what is done here.

    Args:
        what: what is called, and what a plan would not do, such as "print_() is called, and a plan would not print".
    """
    if state.tracer is not None:
        state.tracer.leak(what)


class Differentiable:
    """What the first entry of a node can do."""

    runs_without_gradient = False
    """Whether it is called where no gradient arrives, too."""
    unread: tuple[int, ...] = ()
    """Places of inputs, and -1, -2, ... for outputs, of which the gradient needs no more than shape and dtype."""
    slopes: tuple[int, int] | None = None
    """What the gradient is multiplied with for each of two operands, where the walk back does that itself."""

    def backward(
        self,
        functions: Any,
        tracked: set[int],
        gradient: Any,
        output: Any,
        inputs: tuple[Any, ...],
        attrs: dict[str, Any],
    ) -> Iterable[tuple[Array, Any]]:
        """Pairs of an input array and a gradient that reaches it."""
        raise NotImplementedError


class Repeating:
    """The first entry of a node that runs a function again; of the arguments it holds those that the node does not."""

    def rename(self, names: dict[int, Array]) -> None:
        """Give values that it holds the names that they have on the tape from now on."""
        raise NotImplementedError


class Several(Differentiable):
    """The first entry of a node that stands for several steps."""

    def steps(self, output: tuple[Array, ...]) -> list[Node]:
        """Nodes that can take its place.

        Args:
            output: the node's.
        """
        raise NotImplementedError


Node = tuple[Any, tuple[Any, ...], Any, dict[str, Any]]


class Renaming(Differentiable):
    """The first entry of a node that gives values further names, for hooks to see the gradients that pass.

    Its inputs and outputs are tuples of the same length, entry by entry the same values.
    """

    def changed(self, gradients: tuple[Any, ...], wraps: bool) -> tuple[Any, ...]:
        """The gradients of the outputs after the hooks; arrays, or tensors if ``wraps``, None where none arrived."""
        raise NotImplementedError


class Region:
    """What one watched cell call recorded: the arrays that entered it and the arrays that left it.

    The others are of the backward pass, see ``watched_backward``.
    """

    __slots__ = (
        "around",
        "arrived",
        "before",
        "call",
        "edited",
        "end",
        "entered",
        "inner_inputs",
        "inner_outputs",
        "inputs",
        "order",
        "outputs",
        "outside",
        "start",
        "walks",
    )

    def __init__(self, call: Any, inputs: list[Array], start: int) -> None:
        self.call = call
        self.inputs = inputs
        self.outputs: list[Array] = []
        self.arrived: dict[int, Any] = {}
        self.before: list[tuple[dict[int, Any], dict[int, Any]]] = []
        self.start = start  # its nodes are those from here ...
        self.end = start  # ... to there
        self.around: tuple[tuple[Recording, Region], ...] = ()  # the same call in the recordings outside this one
        self.outside: list[tuple[Recording, Region, int]] = []
        self.inner_inputs: dict[int, Array] = {}
        self.inner_outputs: dict[int, Array] = {}
        self.entered = False
        self.edited = False
        self.order = 0
        self.walks = 0

    def passes_a_value_through(self) -> bool:
        """Whether the cell returned one of its very inputs."""
        return any(array is one for array in self.outputs for one in self.inputs)


class Spared(weakref.ref[Any]):
    """Stands in a node for an array that no rule reads: its shape and dtype, and itself for as long as it lives.

    When the array is gone, this is what the value is known by. Where ``kept`` is set, rules do read it, and the array
    can be made again (``offloading``).
    """

    __slots__ = ("dtype", "kept", "key", "ndim", "recording", "shape", "size")

    def __new__(cls, array: Array, recording: weakref.ref[Recording]) -> Spared:
        return super().__new__(cls, array, _gone)

    def __init__(self, array: Array, recording: weakref.ref[Recording]) -> None:
        super().__init__(array, _gone)  # type: ignore[call-arg]
        self.shape, self.dtype, self.ndim, self.size = array.shape, array.dtype, array.ndim, array.size
        self.key = id(array)
        self.recording = recording
        self.kept: Any = None

    def found(self) -> Array | None:
        """The array, or the one that was made again of it; None where neither lives."""
        array: Array | None = self()
        return array if array is not None or self.kept is None else self.kept.living()


def _gone(spared: Any) -> None:
    """An array is gone, and its id may become another one's."""
    recording = spared.recording()
    if recording is not None:
        recording.tracked.discard(spared.key)
        recording.spared.pop(spared.key, None)
        if spared.key in recording.hooked:  # of a tensor that holds another array by now
            recording.hooked[id(spared)] = recording.hooked.pop(spared.key)


def whole(inputs: tuple[Any, ...], output: Any) -> tuple[tuple[Any, ...], Any]:
    """A node's inputs and output with the arrays themselves; None in the place of one that is gone."""

    def found(value: Any) -> Any:
        return value.found() if type(value) is Spared else value

    return tuple(map(found, inputs)), tuple(map(found, output)) if type(output) is tuple else found(output)


LARGE = 1 << 14
"""Elements from which on the tape lets an array go that no rule reads."""


class Asking:
    """Stands in ``attention`` while a thread asks for gradients, from before it reads the leaves' arrays."""

    __slots__ = ("thread",)

    def __init__(self) -> None:
        self.thread = threading.get_ident()


class Recording(Asking):
    """One request for gradients: the nodes, the ids of the arrays that depend on its leaves, and hooks on values.

    ``marks`` are where watched cell calls began and ended: ``(number of nodes by then, region, ended)``. ``renamings``
    are the first entries of nodes that give further names.

    Args:
        leaves: the values whose gradients are asked for.
        beside: other arguments of what is differentiated. They and what is computed from them are not followed, but a
            cell that gets one beside a followed value shows its hooks the gradient of both. Held weakly.
        spares: whether large arrays that no rule reads are let go of: where the walk is to be the only one, and on
            arrays.
    """

    __slots__ = (
        "__weakref__",
        "beside",
        "hooked",
        "leaves",
        "let_go",
        "marks",
        "nodes",
        "offloaded",
        "renamings",
        "spared",
        "spares",
        "tracked",
    )
    offloaded: Any
    """What is kept elsewhere, see ``offloading``; there once something is."""

    def __init__(self, leaves: Iterable[Array], beside: Iterable[Array] = (), spares: bool = False) -> None:
        self.thread = threading.get_ident()
        self.leaves = list(leaves)
        self.nodes: list[Node] = []
        self.tracked = {id(array) for array in self.leaves}
        self.hooked: dict[int, Any] = {}
        self.marks: list[tuple[int, Region, bool]] = []
        self.renamings: list[Renaming] = []
        self.beside = {id(array): weakref.ref(array) for array in beside}
        self.spares = spares
        self.spared: dict[int, Spared] = {}  # by the id of an array that lives
        self.let_go = False

    def __enter__(self) -> Recording:
        attention.append(self)
        state.recordings = (*state.recordings, self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        state.recordings = tuple(r for r in state.recordings if r is not self)
        attention.remove(self)

    def follow(self, operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
        """Append a node and track what it made."""
        if self.spares and operator.unread:
            inputs, output = self._without_unread(operator.unread, inputs, output)
        self.nodes.append((operator, inputs, output, attrs))
        if type(output) is tuple:
            self.tracked.update(map(id, output))
        else:
            self.tracked.add(id(output))

    def _without_unread(
        self, unread: tuple[int, ...], inputs: tuple[Any, ...], output: Any
    ) -> tuple[tuple[Any, ...], Any]:
        """What a node holds of its inputs and output, where large arrays are spared that no rule reads."""
        for place in unread:
            if place >= 0:
                if place < len(inputs):
                    spared = self.spared.get(id(inputs[place]))
                    if spared is not None:
                        inputs = (*inputs[:place], spared, *inputs[place + 1 :])
                continue
            made = output[-1 - place] if type(output) is tuple else output
            if type(made) is not np.ndarray or made.size < LARGE:
                continue
            self.tracked.add(id(made))
            self.let_go = True
            spared = self.spared[id(made)] = Spared(made, weakref.ref(self))
            output = (*output[: -1 - place], spared, *output[-place:]) if type(output) is tuple else spared
        return inputs, output

    def put_back(self) -> None:
        """Before the walk: put arrays that live, because others hold them, into the nodes again."""
        if not self.let_go:
            return
        if self.hooked:
            self._spread()

        def whole(value: Any) -> Any:
            array = value.found() if type(value) is Spared else None
            return value if array is None else array

        for place, (operator, inputs, output, attrs) in enumerate(self.nodes):
            made = tuple(map(whole, output)) if type(output) is tuple else whole(output)
            self.nodes[place] = (operator, tuple(map(whole, inputs)), made, attrs)
        if hasattr(self, "offloaded"):
            self.nodes = self.offloaded.returning(self.nodes)

    def _spread(self) -> None:
        """Before a walk whose hooks look at values: put the steps in the place of each node that stands for several.

        Then each gradient is whole where it is in an eager walk, and hooks are called in its order.
        """
        nodes: list[Node] = []
        starts = [0]
        for node in self.nodes:
            if isinstance(node[0], Several):
                for step in node[0].steps(node[2]):
                    if any(id(x) in self.tracked for x in step[1]):
                        nodes.append(step)
                        self.tracked.update(map(id, step[2]) if type(step[2]) is tuple else (id(step[2]),))
            else:
                nodes.append(node)
            starts.append(len(nodes))
        self.nodes[:] = nodes
        for _, region, ended in self.marks:
            if ended:
                region.start, region.end = starts[region.start], starts[region.end]
        self.marks = [(starts[number], region, ended) for number, region, ended in self.marks]

    def pass_by(self, inputs: tuple[Any, ...], output: Any) -> None:
        """An operation on values that are not followed: what it makes of values beside is beside, too."""
        for array in inputs:
            if self.is_beside(array):
                for made in output if type(output) is tuple else (output,):
                    self.beside[id(made)] = weakref.ref(made)
                return

    def is_beside(self, array: Any) -> bool:
        """Whether it is one of the other arguments, or was computed from them alone."""
        held = self.beside.get(id(array))
        return held is not None and held() is array  # else another one has the id by now


def run_hook(hooked: dict[int, Callable[[Any], Any]], array: Array, gradient: Any) -> Any:
    """Return the gradient of an array as its hook, if there is one, leaves it."""
    hook = hooked.get(id(array))
    return gradient if hook is None or gradient is None else hook(gradient)


def accumulate(gradients: dict[int, Any], key: int, gradient: Any, functions: Any) -> None:
    """Add a gradient to those that reached the same array before."""
    if isinstance(gradients, Sums) and gradients.add(key, gradient):
        return
    held = gradients.get(key)
    gradients[key] = gradient if held is None else functions.add(held, gradient)


Part = list[Any]
"""The name under which a part of a gradient came, the part, the sum of it and all that came before, and its number."""


class Sums(dict[int, Any]):
    """The gradients of a walk over a tape on which values have several names, because hooks look at them.

    Without the hooks all that reaches such a value would be added up in the order in which it comes. So it is here,
    under whichever name it comes: a hook is shown the sum of what came under its own, and where it changes nothing
    these parts keep their places. What it changes is one part, which comes where the hook ran.

    Args:
        recording: the tape.
        leaves: values whose parts are wanted one by one (``parts_of``), named further or not.
        functions: the operators to add with.
    """

    def __init__(self, recording: Recording, leaves: Iterable[Array], functions: Any) -> None:
        super().__init__()
        self.functions = functions
        self.added = 0  # of all values
        self.parts: dict[int, list[Part]] = {id(array): [] for array in leaves}  # of each name, shared by its names
        self.renamings: list[Node] = []  # held, so that a name is no other array's before the walk is at its end
        marks = iter([*recording.marks, (len(recording.nodes) + 1, None, False)])
        begins, region, ended = next(marks)
        for index, node in enumerate((*recording.nodes, None)):
            while region is not None and begins == index:
                for name, inner in (region.inner_outputs if ended else region.inner_inputs).items():
                    self._share(*((id(inner), name) if ended else (name, id(inner))))
                begins, region, ended = next(marks)
            if node is not None and isinstance(node[0], Renaming):
                self.renamings.append(node)
                for x, renamed in zip(*node[1:3], strict=True):
                    if id(renamed) in recording.tracked:
                        self._share(id(x), id(renamed))

    def _share(self, name: int, further: int) -> None:
        self.parts[further] = self.parts.setdefault(name, [])

    def add(self, key: int, gradient: Any) -> bool:
        """Add to a value that has parts; whether it has."""
        parts = self.parts.get(key)
        if parts is None:
            return False
        self.added += 1
        parts.append([key, gradient, self.functions.add(parts[-1][2], gradient) if parts else gradient, self.added])
        return True

    def get(self, key: int, default: Any = None) -> Any:
        """The sum of what came under a name, as of a dictionary."""
        parts = self.parts.get(key)
        if parts is None:
            return super().get(key, default)
        mine = self.parts_of(key)
        if not mine:
            return default
        if len(mine) == len(parts):
            return mine[-1][2]
        total = mine[0][1]
        for part in mine[1:]:
            total = self.functions.add(total, part[1])
        return total

    def pop(self, key: int, default: Any = None) -> Any:
        """``get``, and nothing is left under the name."""
        if key not in self.parts:
            return super().pop(key, default)
        found = self.get(key, default)
        self.put_back(key, [])
        return found

    def __getitem__(self, key: int) -> Any:
        return self.get(key) if key in self.parts else super().__getitem__(key)

    def __setitem__(self, key: int, gradient: Any) -> None:
        if key in self.parts:
            self.put_back(key, [])
            self.add(key, gradient)
        else:
            super().__setitem__(key, gradient)

    def __contains__(self, key: object) -> bool:
        parts = self.parts.get(key)  # type: ignore[call-overload]  # a dictionary asks for what may be no int
        return super().__contains__(key) if parts is None else any(part[0] == key for part in parts)

    def parts_of(self, key: int) -> list[Part]:
        """What came under a name so far, to be put back."""
        return [part for part in self.parts[key] if part[0] == key]

    def put_back(self, key: int, kept: list[Part]) -> None:
        """Leave under a name only those of its parts that are in ``kept``."""
        parts = self.parts[key]
        left = [part for part in parts if part[0] != key or any(part is one for one in kept)]
        for place, part in enumerate(left):
            if part is not parts[place]:  # what came before it is no longer the same
                part[2] = self.functions.add(left[place - 1][2], part[1]) if place else part[1]
        parts[:] = left

    def pass_on(
        self,
        node: Renaming,
        inputs: tuple[Array, ...],
        outputs: tuple[Array, ...],
        tracked: set[int],
        hooked: dict[int, Callable[[Any], Any]],
    ) -> list[tuple[Array, Any]]:
        """Take what came for the outputs to the inputs: what the hooks left as it was part by part.

        Returns:
            pairs of an input and a part, which are added already.
        """
        came = tuple([self.get(id(array)) for array in outputs])
        arrays = [_bare(g) for g in came]
        if all(g is None for g in came) and not node.runs_without_gradient:
            return []
        gradients = tuple([run_hook(hooked, array, g) for array, g in zip(outputs, came, strict=True)])
        gradients = node.changed(gradients, self.functions.wraps)
        same: dict[int, int] = {}
        pairs: list[tuple[int, Any]] = []
        for x, renamed, array, new in zip(inputs, outputs, arrays, gradients, strict=True):
            if id(renamed) not in self.parts:
                continue
            if id(x) not in tracked:  # a value beside: its gradient was for the hooks alone
                self.put_back(id(renamed), [])
                continue
            if _bare(new) is array:
                same[id(renamed)] = id(x)
                continue
            self.put_back(id(renamed), [])
            if new is not None:
                self.add(id(x), new)
                pairs.append((id(x), new))
        arrays_of = {id(x): x for x in inputs}
        return [(arrays_of[key], gradient) for key, gradient in (*pairs, *self.rename(same))]

    def rename(self, names: dict[int, int]) -> list[tuple[int, Any]]:
        """Let what came under each of these names have come under another one of the same value.

        Returns:
            pairs of the other name and a part, in the order in which the parts came.
        """
        pairs = []
        for parts in {id(self.parts[name]): self.parts[name] for name in names}.values():
            for part in parts:
                if part[0] in names:
                    part[0] = names[part[0]]
                    pairs.append((part[0], part[1]))
        return pairs


def _bare(gradient: Any) -> Any:
    """The array of a gradient, which may be a tensor: hooks may rebind it."""
    return getattr(gradient, "_array", gradient)


def recording_active() -> bool:
    """Whether gradients have been asked for in this thread."""
    return bool(state.recordings)


def record(operator: Differentiable, inputs: tuple[Any, ...], output: Any, attrs: dict[str, Any]) -> None:
    """Put an operation on each open recording that follows one of its inputs."""
    for recording in state.recordings:
        tracked = recording.tracked
        for array in inputs:
            if id(array) in tracked:
                recording.follow(operator, inputs, output, attrs)
                break
        else:
            if recording.beside:
                recording.pass_by(inputs, output)


@contextmanager
def no_recording() -> Iterator[None]:
    """Nothing is recorded in this thread inside the block."""
    saved = state.recordings
    state.recordings = ()
    try:
        yield
    finally:
        state.recordings = saved


@contextmanager
def no_gradients() -> Iterator[None]:
    """``_no_grad``: nothing is recorded in this thread inside the block, and ``grad`` refuses, as in MindSpore."""
    before = state.refused
    state.refused = True
    try:
        with no_recording():
            yield
    finally:
        state.refused = before
