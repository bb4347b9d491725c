"""One traced run of a function: its reads and writes as a graph, or the reason why it yields no plan."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from operator import index
from typing import Any

from ...tensors.nested import tensors_in
from ...tensors.tensor import Tensor
from ...tensors.views import View
from ..graph import Bind, Given, Graph, Made, Seen, Value, replace_values
from ..guards.arguments import has_views, is_bare, sharing_with
from ..guards.guards import Holding
from ..guards.inspection import Reads
from ..guards.object_kinds import is_leaf
from ..passes.optimization import expands_at
from ..traced_array import TRACED, array_types, layout_of, plain
from .calls import AsksForTypes, Calls
from .lengths import Length, Lengths, whole
from .tracer import Tracer

__all__ = ["ALSO_READ", "Trace", "Unfollowed"]

ALSO_READ = "an argument is one of the tensors that it reads from elsewhere"
_PATIENCE = 5.0
"""Seconds that a call at O1 waits for its trace: an eager run instead would have other bits."""
_MOST_INTERRUPTS = 8
"""Maximum number of interrupts at the end of a trace; each needs a key press, and the end takes some milliseconds."""


class Trace:
    """One traced run.

    Args:
        reads: the values that the function's code can read.
        arguments: the tensors among the arguments.
        level: "O0" or "O1", see ``Compiled``.
        containers: identities of the lists and dictionaries among the arguments.
        lengths: the symbolic dimensions of the arguments.

    Attributes:
        graph: the recorded graph.
        arguments: the distinct tensors among the arguments.
        externals: the external tensors.
        keeps_lengths: whether code kept a symbolic dimension beyond the run.
        is_undone: whether the run raised and must be repeated with fixed shapes.
        why: the reason why no plan can be made, or "".
        line: the user's line that led to that.
        unknown: functions that ran without having been inspected.
        has_begun: whether the function was called.
    """

    def __init__(
        self,
        reads: Reads,
        arguments: list[Tensor],
        level: str = "O0",
        containers: frozenset[int] = frozenset(),
        lengths: Lengths | None = None,
    ) -> None:
        self.tracer = Tracer(expands_at(level), lengths)
        self.keeps_lengths = self.is_undone = False
        self._found = reads.found
        self.graph: Graph = self.tracer.graph
        self.unknown: list[Any] = []
        self.has_begun = False
        self._patience = _PATIENCE if level == "O1" else 0.0
        self._calls = Calls(reads, self.tracer, lengths is not None)
        self.arguments = list({id(t): t for t in arguments}.values())
        argument_ids = {id(t) for t in arguments}
        self.externals = [t for t in reads.tensors if id(t) not in argument_ids]
        self._before = self.tracer.outside
        # Views and roots of these tensors, with their state before the run.
        self._sharing: list[tuple[Tensor, Any, Any, Any]] = []
        self._places = arguments
        self._returned: dict[int, Any] = {}
        self._times: Counter[int] = Counter()  # occurrences of a tensor in the result, those of its views included
        self._several: dict[int, Made] = {}
        self._containers = reads.found.containers() | containers
        if not containers.isdisjoint(reads.found.containers()):
            self.tracer.why = "an argument is one of the lists or dictionaries that it reads from elsewhere"
        if any(id(t) in argument_ids and type(t) is Tensor and is_bare(t) for t in reads.tensors):
            self.tracer.why = ALSO_READ

    @property
    def why(self) -> str:
        """Reason why no plan can be made, or ""."""
        return self.tracer.why

    @property
    def line(self) -> str:
        """User's line that led to that reason."""
        return self.tracer.line

    def run(
        self, function: Callable[..., Any], args: Any, kwargs: Any, undoes: bool = False, undoes_leak: bool = False
    ) -> Any:
        """Call the function and return its eager result.

        The function is not called while another thread traces or computes gradients.

        Args:
            function: the function.
            args: its arguments.
            kwargs: its keyword arguments.
            undoes: whether external tensors are restored afterwards.
            undoes_leak: whether they are restored if no plan can be made.
        """
        lengths, leaves_as_before = self.tracer.lengths, undoes
        reference_count = sys.getrefcount(lengths)
        late_error: BaseException | None = None
        try:
            self.has_begun = self.tracer.begin(self._patience)
            if not self.has_begun:
                return None
            self._enter()
            self._calls.start()
            result = function(*args, **kwargs)
            if not self._calls.is_on():
                self.tracer.why = self.why or "an interrupt came"
            self._calls.stop()
            self.unknown = [function_run for functions in self._calls.unknown.values() for function_run in functions]
            self._note_result(result)
            leaves_as_before = undoes or (undoes_leak and bool(self.why))
        except BaseException as error:
            # Code may have met a Length in place of an int: an error that no eager call raises must stay hidden.
            self.is_undone = lengths is not None and self._may_run_again(error)
            leaves_as_before = undoes or self.is_undone
            raise
        finally:
            for _ in range(_MOST_INTERRUPTS):
                try:
                    self._leave(leaves_as_before)
                    break
                except BaseException as error:  # a late interrupt is raised once the state is restored
                    late_error = error
            if late_error is not None:
                raise late_error
        if lengths is not None:
            result = lengths.settled(result)
            # Each Length references them all, so that a search is rarely needed.
            self.keeps_lengths = sys.getrefcount(lengths) > reference_count and lengths.left()
        return result

    def _may_run_again(self, error: BaseException) -> bool:
        """Return whether a run that raised left all Python values unchanged."""
        return isinstance(error, AsksForTypes) or (isinstance(error, Exception) and Holding(self._found).hold())

    def _enter(self) -> None:
        """Replace the arrays of the tensors by traced ones."""
        values: dict[int, Value] = {}
        traced: dict[int, Any] = {}
        lengths = self.tracer.lengths
        sizes: dict[int, Any] = {}
        if lengths is not None:
            self.graph.lengths = lengths.places
            for position, t in enumerate(self._places):
                sizes.setdefault(id(t), lengths.shape_of(position))
        for origin, tensors in (("argument", self.arguments), ("external", self.externals)):
            for t in tensors:
                array = t._array
                if id(array) not in values:
                    values[id(array)] = Value(array.shape, array.dtype, origin, sizes.get(id(t)))
                    values[id(array)].layout = layout_of(array)
                    traced[id(array)] = self.tracer.traced(array, values[id(array)])
                elif origin == "external" and values[id(array)].of == "argument":
                    self.tracer.why = ALSO_READ
                self._before[id(t)] = (t, array, traced[id(array)])
        sharing = {id(tensor): tensor for t, _, _ in self._before.values() for tensor in sharing_with(t)}
        self._sharing = [(tensor, tensor._array, tensor._view, tensor._views) for tensor in sharing.values()]
        self.graph.arguments = [values[id(t._array)] for t in self._places]
        self.graph.externals = [(t, values[id(t._array)]) for t in self.externals]
        for t, _, placeholder in self._before.values():
            t._array = placeholder

    def _note_result(self, result: Any) -> None:
        tracer = self.tracer
        for t, _, placeholder in self._before.values():
            if t._array is not placeholder:
                value = t._array.value if type(t._array) in TRACED else None
                if value is None or has_views(t):
                    tracer.why = tracer.why or "a tensor is changed in a way that a plan does not follow"
                else:
                    self.graph.effects.append((self._outside(t), value))
        for node in self.graph.nodes:
            if isinstance(node, Bind):
                node.tensor = self._outside(node.tensor)
        if not tracer.ends_where_it_drew():
            tracer.why = tracer.why or "the stream of random numbers is left at another place"
        tensors = tensors_in(result)
        self._returned = {id(t): t for t in tensors}
        self._times = Counter(map(id, tensors))
        self._times.update([id(t._view.root) for t in self._returned.values() if t._view is not None])
        has_leaked = bool(tracer.why)
        self.graph.result = self._structure(result)
        if tracer.why and not has_leaked:
            tracer.line = self._calls.line
        if tracer.lengths is not None:
            self._note_layouts(tracer.lengths)

    def _note_layouts(self, lengths: Lengths) -> None:
        """Pin the dimensions if two tensors outlive the call and one may be a view of the other.

        A reshape returns a view or not depending on strides, which may differ for other dimensions.
        """
        outside = {placeholder.value for _, _, placeholder in self._before.values()}
        tensors = [t for t in self._returned.values() if isinstance(t, Tensor) and type(t._array) in TRACED]
        for tensor in tensors:
            other_values = outside | {t._array.value for t in tensors if t is not tensor}
            if tensor._view is None and not other_values.isdisjoint(self.tracer.roots_of(tensor._array.value)):
                lengths.pin_all()

    def _structure(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, list | dict):
            if id(value) in self._returned or id(value) in self._containers:
                self.tracer.why = self.tracer.why or f"it returns a {kind.__name__} twice, or one that it was given"
            self._returned[id(value)] = value
        if kind is tuple or kind is list:
            return kind([self._structure(part) for part in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*[self._structure(part) for part in value])
        if kind is dict:
            value = {index(key) if type(key) is Length else key: part for key, part in value.items()}
            if not all(map(is_leaf, value)):
                self.tracer.why = self.tracer.why or "it returns a dictionary with keys that are no plain values"
            return {key: self._structure(part) for key, part in value.items()}
        if kind is Length:
            return value.size
        if not is_leaf(value):
            self.tracer.why = self.tracer.why or f"it returns a {kind.__name__}"
        return value

    def _outside(self, tensor: Tensor) -> Any:
        """Return a reference to a tensor that existed before the call."""
        position = next((position for position, argument in enumerate(self._places) if argument is tensor), None)
        return tensor if position is None else Given(position)

    def _tensor(self, tensor: Tensor) -> Any:
        tracer = self.tracer
        if id(tensor) in self._before:
            return self._outside(tensor)
        value = tensor._array.value if type(tensor._array) in TRACED else None
        if type(tensor) is not Tensor:
            tracer.why = tracer.why or f"it returns a {type(tensor).__name__}"
        elif not is_bare(tensor):
            tracer.why = tracer.why or "it returns a new tensor that has attributes or hooks"
        elif value is None:
            tracer.why = tracer.why or "it returns numbers that no operator of the table made of the inputs"
        else:
            root = None if tensor._view is None else tensor._view.root
            outlives = root is not None and (id(root) in self._before or self._times[id(root)] > 1)
            if root is not None and (outlives or not _lies_in_rows(tensor, tracer)):
                return self._seen(tensor, root, value)
            if root is not None and type(root._array) not in TRACED:
                tracer.why = tracer.why or "it returns a view of another tensor that outlives it"
            return value if self._times[id(tensor)] == 1 else self._made(tensor, value)
        return None

    def _made(self, tensor: Tensor, value: Value) -> Made:
        return self._several.setdefault(id(tensor), Made(value))

    def _seen(self, tensor: Tensor, root: Tensor, value: Value) -> Any:
        """Return a view of a tensor that outlives the call, as steps that derive it from that tensor."""
        view: Any = tensor._view
        root_value: Any = root._array.value if type(root._array) in TRACED else None
        kinds = (*array_types(), *TRACED)
        steps = replace_values(view.chain, kinds, lambda one: getattr(one, "value", None) or one)
        arrays: list[Any] = []
        replace_values(steps, kinds, arrays.append)
        shares = (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
        follows = shares and (view.is_part or len(steps) == 1) and not arrays and root_value is not None
        if not follows or self._times[id(tensor)] > 1:
            self.tracer.why = self.tracer.why or "it returns a view of another tensor that outlives it"
        if value in self.tracer.reshaped and self.tracer.lengths is not None:
            self.tracer.lengths.pin_all()  # for other dimensions it might not share elements
        source = self._outside(root) if id(root) in self._before else self._made(root, root_value)
        steps = replace_values(steps, (Length,), lambda length: length.size)
        return Seen(source, steps, value, view.is_part)

    def _leave(self, undoes: bool) -> None:
        """Restore the plain array of each tensor. It may be called again after an interrupt cut it short."""
        self._calls.stop()
        for t, array, placeholder in self._before.values():
            t._array = array if t._array is placeholder or undoes else plain(t._array)
        for t, array, view, views in self._sharing if undoes else ():
            t._array = array
            if t._view is not view or t._views is not views:
                t._view, t._views = view, views
        t = array = placeholder = view = views = None  # type: ignore[assignment]  # else they keep traced arrays alive
        self._before.clear()
        self._sharing.clear()
        for returned in self._returned.values():
            if isinstance(returned, Tensor):
                _make_bare(returned)
                root = None if returned._view is None else returned._view.root
                for related in (root, *[view() for view in (returned if root is None else root)._views or ()]):
                    if related is not None:
                        _make_bare(related)
        placeholders = [reference() for reference in self.tracer.made]
        alive = [array for array in placeholders if array is not None]
        del placeholders
        for array in alive:
            array.tracer = None
        if self.tracer.lengths is not None:
            self.tracer.lengths.end()
            for array in alive:
                array.lengths = None
            for returned in self._returned.values():  # the attributes and shapes recorded in a view
                while isinstance(returned, Tensor | View) and (
                    returned := returned._view if isinstance(returned, Tensor) else returned.parent
                ):
                    returned.attrs, returned.shape, returned.of_root = whole(
                        (returned.attrs, returned.shape, returned.of_root)
                    )
        if alive:
            _bare_tensors(alive)
        self.tracer.end()


def _lies_in_rows(tensor: Tensor, tracer: Tracer) -> bool:
    """Return whether a view is contiguous, for all values of the symbolic dimensions."""
    if tracer.lengths is None:
        return tensor.is_contiguous()
    steps = () if tensor._view is None else tensor._view.steps
    return all(operator.name in ("reshape", "stop_gradient") for operator, _ in steps)


class Unfollowed:
    """An eager run that detects observable effects other than its values.

    Args:
        reads: the values that the function's code can read.

    Attributes:
        why: the first such effect, or "".
        unknown: functions that ran without having been inspected.
    """

    def __init__(self, reads: Reads) -> None:
        self.why = ""
        self.unknown: list[Any] = []
        self.waits = False  # as in a tracer
        self._calls = Calls(reads, self)

    def __call__(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Run a function and return its result."""
        try:
            self._calls.start()
            result = function(*args, **kwargs)
            if not self._calls.is_on():
                self.leak("an interrupt came")
        finally:
            self._calls.stop()
        self.unknown = [unknown for functions in self._calls.unknown.values() for unknown in functions]
        return result

    def leak(self, why: str) -> None:
        """Note an observable effect; the first reason is kept."""
        self.why = self.why or why


def _make_bare(tensor: Tensor) -> None:
    tensor._array = plain(tensor._array)


def _bare_tensors(arrays: list[Any]) -> None:
    """Restore the plain arrays of the tensors that hold these, wherever the function stored them."""
    import gc

    for tensor in gc.get_referrers(*arrays):  # visits every object: some tens of milliseconds
        if isinstance(tensor, Tensor):
            _make_bare(tensor)
