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
from ..graph import ArgumentRef, Binding, Graph, SharedResult, Value, ViewRef, replace_values
from ..guards.arguments import has_views, is_bare, sharing_with
from ..guards.guards import Guards
from ..guards.inspection import Inspection
from ..guards.object_kinds import is_leaf
from ..passes.optimization import expands_at
from ..traced_array import TRACED, array_types, layout_of, plain
from .calls import Calls, TypeInquiry
from .lengths import Length, Lengths, without_lengths
from .tracer import Tracer

__all__ = ["ALSO_READ", "EffectProbe", "Trace"]

ALSO_READ = "an argument is one of the tensors that it reads from elsewhere"
_PATIENCE = 5.0
"""Seconds that a call at O1 waits for its trace: an eager run instead would have other bits."""
_MOST_INTERRUPTS = 8
"""Maximum number of interrupts at the end of a trace; each needs a key press, and the end takes some milliseconds."""


class Trace:
    """One traced run.

    Args:
        inspection: the values that the function's code can read.
        arguments: the tensors among the arguments.
        level: "O0" or "O1", see ``CompiledFunction``.
        containers: identities of the lists and dictionaries among the arguments.
        lengths: the symbolic dimensions of the arguments.

    Attributes:
        graph: the recorded graph.
        arguments: the distinct tensors among the arguments.
        externals: the external tensors.
        keeps_lengths: whether code kept a symbolic dimension beyond the run.
        is_undone: whether the run raised and must be repeated with fixed shapes.
        reason: the reason why no plan can be made, or "".
        line: the user's line that led to that.
        unknown: functions that ran without having been inspected.
        has_started: whether the function was called.
    """

    def __init__(
        self,
        inspection: Inspection,
        arguments: list[Tensor],
        level: str = "O0",
        containers: frozenset[int] = frozenset(),
        lengths: Lengths | None = None,
    ) -> None:
        self.tracer = Tracer(expands_at(level), lengths)
        self.keeps_lengths = self.is_undone = False
        self._snapshot = inspection.snapshot
        self.graph: Graph = self.tracer.graph
        self.unknown: list[Any] = []
        self.has_started = False
        self._patience = _PATIENCE if level == "O1" else 0.0
        self._calls = Calls(inspection, self.tracer, lengths is not None)
        self.arguments = list({id(t): t for t in arguments}.values())
        argument_ids = {id(t) for t in arguments}
        self.externals = [t for t in inspection.tensors if id(t) not in argument_ids]
        self._replaced = self.tracer.outside
        # Views and roots of these tensors, with their state before the run.
        self._sharing: list[tuple[Tensor, Any, Any, Any]] = []
        self._positions = arguments
        self._result_parts: dict[int, Any] = {}
        self._occurrences: Counter[int] = (
            Counter()
        )  # occurrences of a tensor in the result, those of its views included
        self._shared_results: dict[int, SharedResult] = {}
        self._containers = inspection.snapshot.containers() | containers
        if not containers.isdisjoint(inspection.snapshot.containers()):
            self.tracer.reason = "an argument is one of the lists or dictionaries that it reads from elsewhere"
        if any(id(t) in argument_ids and type(t) is Tensor and is_bare(t) for t in inspection.tensors):
            self.tracer.reason = ALSO_READ

    @property
    def reason(self) -> str:
        """Reason why no plan can be made, or ""."""
        return self.tracer.reason

    @property
    def line(self) -> str:
        """User's line that led to that reason."""
        return self.tracer.line

    def run(
        self, function: Callable[..., Any], args: Any, kwargs: Any, undo: bool = False, undo_leak: bool = False
    ) -> Any:
        """Call the function and return its eager result.

        The function is not called while another thread traces or computes gradients.

        Args:
            function: the function.
            args: its arguments.
            kwargs: its keyword arguments.
            undo: whether external tensors are restored afterwards.
            undo_leak: whether they are restored if no plan can be made.
        """
        lengths, restores = self.tracer.lengths, undo
        reference_count = sys.getrefcount(lengths)
        late_error: BaseException | None = None
        try:
            self.has_started = self.tracer.begin(self._patience)
            if not self.has_started:
                return None
            self._enter()
            self._calls.start()
            result = function(*args, **kwargs)
            if not self._calls.is_on():
                self.tracer.reason = self.reason or "an interrupt came"
            self._calls.stop()
            self.unknown = [function_run for functions in self._calls.unknown.values() for function_run in functions]
            self._note_result(result)
            restores = undo or (undo_leak and bool(self.reason))
        except BaseException as error:
            # Code may have met a Length in place of an int: an error that no eager call raises must stay hidden.
            self.is_undone = lengths is not None and self._can_run_again(error)
            restores = undo or self.is_undone
            raise
        finally:
            for _ in range(_MOST_INTERRUPTS):
                try:
                    self._leave(restores)
                    break
                except BaseException as error:  # a late interrupt is raised once the state is restored
                    late_error = error
            if late_error is not None:
                raise late_error
        if lengths is not None:
            result = lengths.settle(result)
            # Each Length references them all, so that a search is rarely needed.
            self.keeps_lengths = sys.getrefcount(lengths) > reference_count and lengths.remain()
        return result

    def _can_run_again(self, error: BaseException) -> bool:
        """Return whether a run that raised left all Python values unchanged."""
        return isinstance(error, TypeInquiry) or (isinstance(error, Exception) and Guards(self._snapshot).hold())

    def _enter(self) -> None:
        """Replace the arrays of the tensors by traced ones."""
        values: dict[int, Value] = {}
        traced: dict[int, Any] = {}
        lengths = self.tracer.lengths
        sizes: dict[int, Any] = {}
        if lengths is not None:
            self.graph.lengths = lengths.axes
            for position, t in enumerate(self._positions):
                sizes.setdefault(id(t), lengths.shape_of(position))
        for origin, tensors in (("argument", self.arguments), ("external", self.externals)):
            for t in tensors:
                array = t._array
                if id(array) not in values:
                    values[id(array)] = Value(array.shape, array.dtype, origin, sizes.get(id(t)))
                    values[id(array)].layout = layout_of(array)
                    traced[id(array)] = self.tracer.traced(array, values[id(array)])
                elif origin == "external" and values[id(array)].origin == "argument":
                    self.tracer.reason = ALSO_READ
                self._replaced[id(t)] = (t, array, traced[id(array)])
        sharing = {id(tensor): tensor for t, _, _ in self._replaced.values() for tensor in sharing_with(t)}
        self._sharing = [(tensor, tensor._array, tensor._view, tensor._views) for tensor in sharing.values()]
        self.graph.arguments = [values[id(t._array)] for t in self._positions]
        self.graph.externals = [(t, values[id(t._array)]) for t in self.externals]
        for t, _, placeholder in self._replaced.values():
            t._array = placeholder

    def _note_result(self, result: Any) -> None:
        tracer = self.tracer
        for t, _, placeholder in self._replaced.values():
            if t._array is not placeholder:
                value = t._array.value if type(t._array) in TRACED else None
                if value is None or has_views(t):
                    tracer.reason = tracer.reason or "a tensor is changed in a way that a plan does not follow"
                else:
                    self.graph.effects.append((self._reference(t), value))
        for node in self.graph.nodes:
            if isinstance(node, Binding):
                node.tensor = self._reference(node.tensor)
        if not tracer.ends_where_it_drew():
            tracer.reason = tracer.reason or "the position in the stream of random numbers is changed"
        tensors = tensors_in(result)
        self._result_parts = {id(t): t for t in tensors}
        self._occurrences = Counter(map(id, tensors))
        self._occurrences.update([id(t._view.root) for t in self._result_parts.values() if t._view is not None])
        has_leaked = bool(tracer.reason)
        self.graph.result = self._structure(result)
        if tracer.reason and not has_leaked:
            tracer.line = self._calls.line
        if tracer.lengths is not None:
            self._note_layouts(tracer.lengths)

    def _note_layouts(self, lengths: Lengths) -> None:
        """Pin the dimensions if two tensors outlive the call and one may be a view of the other.

        A reshape returns a view or not depending on strides, which may differ for other dimensions.
        """
        outside = {placeholder.value for _, _, placeholder in self._replaced.values()}
        tensors = [t for t in self._result_parts.values() if isinstance(t, Tensor) and type(t._array) in TRACED]
        for tensor in tensors:
            other_values = outside | {t._array.value for t in tensors if t is not tensor}
            if tensor._view is None and not other_values.isdisjoint(self.tracer.roots_of(tensor._array.value)):
                lengths.pin_all()

    def _structure(self, value: Any) -> Any:
        kind = type(value)
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, list | dict):
            if id(value) in self._result_parts or id(value) in self._containers:
                self.tracer.reason = (
                    self.tracer.reason or f"it returns a {kind.__name__} twice, or one that it was given"
                )
            self._result_parts[id(value)] = value
        if kind is tuple or kind is list:
            return kind([self._structure(part) for part in value])
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return kind(*[self._structure(part) for part in value])
        if kind is dict:
            value = {index(key) if type(key) is Length else key: part for key, part in value.items()}
            if not all(map(is_leaf, value)):
                self.tracer.reason = self.tracer.reason or "it returns a dictionary with keys that are not plain values"
            return {key: self._structure(part) for key, part in value.items()}
        if kind is Length:
            return value.size
        if not is_leaf(value):
            self.tracer.reason = self.tracer.reason or f"it returns a {kind.__name__}"
        return value

    def _reference(self, tensor: Tensor) -> Any:
        """Return a reference to a tensor that existed before the call."""
        position = next((position for position, argument in enumerate(self._positions) if argument is tensor), None)
        return tensor if position is None else ArgumentRef(position)

    def _tensor(self, tensor: Tensor) -> Any:
        tracer = self.tracer
        if id(tensor) in self._replaced:
            return self._reference(tensor)
        value = tensor._array.value if type(tensor._array) in TRACED else None
        if type(tensor) is not Tensor:
            tracer.reason = tracer.reason or f"it returns a {type(tensor).__name__}"
        elif not is_bare(tensor):
            tracer.reason = tracer.reason or "it returns a new tensor that has attributes or hooks"
        elif value is None:
            tracer.reason = tracer.reason or "it returns numbers that no operator computed from the inputs"
        else:
            root = None if tensor._view is None else tensor._view.root
            outlives = root is not None and (id(root) in self._replaced or self._occurrences[id(root)] > 1)
            if root is not None and (outlives or not _lies_in_rows(tensor, tracer)):
                return self._view_ref(tensor, root, value)
            if root is not None and type(root._array) not in TRACED:
                tracer.reason = tracer.reason or "it returns a view of another tensor that outlives it"
            return value if self._occurrences[id(tensor)] == 1 else self._shared_result(tensor, value)
        return None

    def _shared_result(self, tensor: Tensor, value: Value) -> SharedResult:
        return self._shared_results.setdefault(id(tensor), SharedResult(value))

    def _view_ref(self, tensor: Tensor, root: Tensor, value: Value) -> Any:
        """Return a view of a tensor that outlives the call, as steps that derive it from that tensor."""
        view: Any = tensor._view
        root_value: Any = root._array.value if type(root._array) in TRACED else None
        kinds = (*array_types(), *TRACED)
        steps = replace_values(view.chain, kinds, lambda array: getattr(array, "value", None) or array)
        arrays: list[Any] = []
        replace_values(steps, kinds, arrays.append)
        shares = (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
        is_derivable = shares and (view.is_part or len(steps) == 1) and not arrays and root_value is not None
        if not is_derivable or self._occurrences[id(tensor)] > 1:
            self.tracer.reason = self.tracer.reason or "it returns a view of another tensor that outlives it"
        if value in self.tracer.reshaped and self.tracer.lengths is not None:
            self.tracer.lengths.pin_all()  # for other dimensions it might not share elements
        source = self._reference(root) if id(root) in self._replaced else self._shared_result(root, root_value)
        steps = replace_values(steps, (Length,), lambda length: length.size)
        return ViewRef(source, steps, value, view.is_part)

    def _leave(self, undo: bool) -> None:
        """Restore the plain array of each tensor. It may be called again after an interrupt cut it short."""
        self._calls.stop()
        for t, array, placeholder in self._replaced.values():
            t._array = array if t._array is placeholder or undo else plain(t._array)
        for t, array, view, views in self._sharing if undo else ():
            t._array = array
            if t._view is not view or t._views is not views:
                t._view, t._views = view, views
        t = array = placeholder = view = views = None  # type: ignore[assignment]  # else they keep traced arrays alive
        self._replaced.clear()
        self._sharing.clear()
        for returned in self._result_parts.values():
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
            for returned in self._result_parts.values():  # the attributes and shapes recorded in a view
                while isinstance(returned, Tensor | View) and (
                    returned := returned._view if isinstance(returned, Tensor) else returned.parent
                ):
                    returned.attrs, returned.shape, returned.of_root = without_lengths(
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


class EffectProbe:
    """An eager run that detects observable effects other than its values.

    Args:
        inspection: the values that the function's code can read.

    Attributes:
        reason: the first such effect, or "".
        unknown: functions that ran without having been inspected.
    """

    def __init__(self, inspection: Inspection) -> None:
        self.reason = ""
        self.unknown: list[Any] = []
        self.waits = False  # as in a tracer
        self._calls = Calls(inspection, self)

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

    def leak(self, reason: str) -> None:
        """Note an observable effect; the first reason is kept."""
        self.reason = self.reason or reason


def _make_bare(tensor: Tensor) -> None:
    tensor._array = plain(tensor._array)


def _bare_tensors(arrays: list[Any]) -> None:
    """Restore the plain arrays of the tensors that hold these, wherever the function stored them."""
    import gc

    for tensor in gc.get_referrers(*arrays):  # visits every object: some tens of milliseconds
        if isinstance(tensor, Tensor):
            _make_bare(tensor)
