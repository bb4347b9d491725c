"""Functions that are traced when they are called and replayed from a plan.

Each call searches the plans of its argument kind (``key_of``) for one whose guards hold. Without a match the call is
traced: it runs eagerly on its real arguments, and if the trace has no graph break, the next such call finds a plan.
After a graph break, calls run eagerly, and one warning names the line and the reason.
"""

from __future__ import annotations

import random as python_random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import modes
from ..base.file_labels import line_label, warn_user
from ..tape import taps
from ..tape.tape import state
from ..tensors import backend, random
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .graph import ArgumentRef, Binding, EagerCall, Graph, SharedResult, ViewRef, replace_values
from .guards.arguments import containers_in, is_bare, key_of, parts_of
from .guards.guards import Guards
from .guards.inspection import Inspection
from .passes.optimization import optimized
from .plan.guarded_plan import GuardedPlan
from .plan.plan import Plan, PlanError
from .plan.recorded_calls import PlannedCall, RecordedRun, can_plan_calls
from .trace.calls import TypeInquiry
from .trace.lengths import Lengths
from .trace.traced_run import ALSO_READ, EffectProbe, Trace
from .trace.tracer import Tracer
from .traced_array import TRACED

__all__ = ["MOST_PLANS", "CompiledFunction"]

MOST_PLANS = 16
"""Maximum number of plans of a function; calls that would need another plan run eagerly."""
_MOST_TRIES = 3
"""Failed traces allowed for one argument kind, if the code was unknown or changes values that it reads."""


class CompiledFunction:
    """A function with its plans.

    Args:
        function: the function to call.
        name: its name in messages.
        fullgraph: whether a call for which no plan can be made is an error.
        level: permission of the passes: "O0" keeps each bit, "O1" makes loops of elementwise operators; "" means the
            level of the context.
        symbolic_axes: returns the symbolic dimensions of a call's arguments, in the form of ``key_of``; None if there
            are none.

    Attributes:
        plans: the plans by argument kind.
        counts: numbers of calls traced, replayed and run eagerly; "refused" counts the eager calls in which a kernel
            refused the numbers that a plan passed to it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        fullgraph: bool = False,
        level: str = "O0",
        symbolic_axes: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.function = function
        self._symbolic_axes = symbolic_axes
        self._fixed_kinds: set[Any] = set()  # argument kinds whose dimensions cannot be symbolic
        self.name = name
        self.fullgraph = fullgraph
        self._level = level
        self.plans: dict[Any, list[GuardedPlan]] = {}
        self._last: GuardedPlan | None = None  # plan of the last call, if that passed only plain, distinct tensors
        self.counts = {"traced": 0, "replayed": 0, "eager": 0, "refused": 0}
        self.warned_reasons: set[str] = set()
        self._hooks: frozenset[int] = frozenset()  # session hooks found in the function
        self._roots: list[Any] = []  # functions that ran but were not found by inspecting the code
        self._failures: dict[Any, int] = {}
        self._recorded_kinds: set[Any] = set()  # argument kinds seen inside a recording
        self._outside_arguments: set[int] = set()  # identities of arguments that the code also reads from elsewhere

    @property
    def level(self) -> str:
        """Optimization level of the passes: "O0" or "O1"."""
        return self._level or modes.level

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function, from a plan if its guards hold."""
        if is_watched() or (taps.operator_taps and not _wait_for_traces()):
            return self._eagerly(args, kwargs)
        if taps.hooking and not taps.hooking.isdisjoint(self._hooks):
            return self._eagerly_unplanned(args, kwargs)
        if state.recordings:
            return self._call_in_recording(args, kwargs)
        bare_arrays = [x._array for x in args if type(x) is Tensor and type(x._array) not in TRACED and is_bare(x)]
        is_usual = not kwargs and len(bare_arrays) == len(args) == len(set(map(id, bare_arrays)))
        if is_usual and self._last is not None and self._last.hold(bare_arrays) and not self._last.meets(args):
            return self._replay(self._last, args, bare_arrays, args, kwargs)
        key, tensors, axes = self._kind(args, kwargs)
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.hold(arrays) and not guarded.shares(tensors, (args, kwargs)):
                self._last = guarded if is_usual else None
                return self._replay(guarded, tensors, arrays, args, kwargs)
        return self._trace(key, tensors, axes, args, kwargs)

    def _kind(self, args: Any, kwargs: Any) -> tuple[Any, list[Tensor], list[tuple[int, ...]]]:
        """Return the key of the plans for such a call, its tensors, and the symbolic axes of each tensor."""
        tensors: list[Tensor] = []
        symbolic = None if self._symbolic_axes is None else self._symbolic_axes(args, kwargs)
        if symbolic is not None and backend.device_target() == "CPU":  # on other devices a plan has fixed shapes
            axes: list[tuple[int, ...]] = []
            key = key_of((args, kwargs), tensors, [], symbolic, axes)
            if any(axes) and key not in self._fixed_kinds:
                return key, tensors, axes
            tensors = []
        return key_of((args, kwargs), tensors, []), tensors, []

    def _replay(
        self, guarded: GuardedPlan, tensors: Sequence[Tensor], arrays: list[Any], args: Any, kwargs: Any
    ) -> Any:
        if (guarded.changed_tensors or guarded.changed_arguments) and guarded.changes_under(tensors):
            return self._eagerly(args, kwargs)
        position = random.position() if guarded.plan.draws else None
        try:
            result = guarded.run(arrays, tensors)
        except PlanError as failure:
            if failure.has_changed:
                raise failure.error from None
            # A kernel refused these numbers: the eager run raises its usual error.
            if position is not None:
                random.go_to(position)
            self.counts["refused"] += 1
            return self._eagerly(args, kwargs)
        self.counts["replayed"] += 1
        return result

    def _trace(
        self, key: Any, tensors: list[Tensor], axes: list[tuple[int, ...]], args: Any, kwargs: Any, undo: bool = False
    ) -> Any:
        if self._has_failed(key):
            return None if undo else self._eagerly(args, kwargs)
        if sum(map(len, self.plans.values())) >= MOST_PLANS:
            self._warn(f"it has {MOST_PLANS} plans already, and none of them is for this call")
            return None if undo else self._eagerly(args, kwargs)
        inspection = self._reads(args, kwargs)
        if outside_tensors := [t for t in tensors if id(t) in self._outside_arguments]:
            return self._without_plan(ALSO_READ, inspection.line_to(outside_tensors[0]), args, kwargs, undo)
        if inspection.hooks:
            return None if undo else self._eagerly_unplanned(args, kwargs)
        if inspection.problem:
            self._reject(key, inspection.problem, inspection.line)
            return None if undo else self._eagerly(args, kwargs)
        position = random.position()
        lengths = Lengths([t._array.shape for t in tensors], axes) if any(axes) else None
        if lengths is not None and inspection.leads_to(type):  # type() distinguishes a Length from an int
            return self._without_lengths(key, args, kwargs, undo)
        trace: Any = Trace(inspection, tensors, "O0" if lengths else self.level, containers_in((args, kwargs)), lengths)
        if trace.reason:  # calls with other arguments may have a plan
            outside_tensors = [t for t in tensors if any(t is read for read in inspection.tensors)]
            self._outside_arguments |= set(map(id, outside_tensors))
            line = inspection.line_to(outside_tensors[0]) if outside_tensors else ""
            return self._without_plan(trace.reason, line, args, kwargs, undo)
        try:
            result = trace.run(self.function, args, kwargs, undo, self.fullgraph)
        except (Exception, TypeInquiry):
            if not trace.is_undone:
                raise
            trace = None
        if trace is None:
            random.go_to(position)
            return self._without_lengths(key, args, kwargs, undo)
        if not trace.has_started:
            return None if undo else self._eagerly(args, kwargs)
        if trace.reason and self.fullgraph:
            random.go_to(position)
        if trace.reason and is_observed():  # by an observer that began meanwhile and has read numbers
            if self.fullgraph and not undo:
                return self._eagerly(args, kwargs)
        elif trace.unknown:
            self._roots += trace.unknown
            self._failures[key] = tries = self._failures.get(key, 0) + 1
            if trace.reason and self.fullgraph:  # the run's effects are undone
                if tries == _MOST_TRIES:
                    self._reject(key, trace.reason, trace.line)
                return self._trace(key, tensors, axes, args, kwargs, undo)
        elif trace.reason:
            self._reject(key, trace.reason, trace.line)
        elif not Guards(inspection.snapshot).hold():
            self._failures[key] = tries = self._failures.get(key, 0) + 1
            if tries == _MOST_TRIES:
                self._reject(key, "it changes a value of Python that it reads", inspection.line_of_change())
        elif self._kind(args, kwargs)[0] != key:
            self._reject(key, "it changes its arguments", "")
        elif lengths is not None and (trace.keeps_lengths or self._is_pinned(key, lengths)):
            self._fixed_kinds.add(key)  # the next call is traced with fixed shapes
            self.plans.pop(key, None)
        else:
            if inspection.precedes_first_call:
                inspection = Inspection(inspection.roots)
            plan = Plan(optimized(trace.graph, self.level))
            self.plans.setdefault(key, []).append(GuardedPlan(inspection, plan, tensors, lengths))
            self.counts["traced"] += 1
            return result
        self.counts["eager"] += 1
        return result

    def _without_plan(self, reason: str, line: str, args: Any, kwargs: Any, undo: bool) -> Any:
        """Run eagerly for a reason that applies to this call alone."""
        if self.fullgraph:
            raise RuntimeError(self._sentence(reason, line))
        self._warn(reason, line)
        return None if undo else self._eagerly(args, kwargs)

    def _call_in_recording(self, args: Any, kwargs: Any) -> Any:
        """Call the function inside recordings that may track its values."""
        tensors: list[Tensor] = []
        key = "followed", key_of((args, kwargs), tensors, [])
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.hold(arrays) and not guarded.shares(tensors, (args, kwargs)):
                return self._replay(guarded, tensors, arrays, args, kwargs)
        if not can_plan_calls() or self._has_failed(key) or sum(map(len, self.plans.values())) >= MOST_PLANS:
            return self._eagerly(args, kwargs)
        if key not in self._recorded_kinds:  # a first call may compile kernels, which is slow while calls are traced
            self._recorded_kinds |= {key} if len(self._recorded_kinds) < MOST_PLANS else set()
            return self._eagerly(args, kwargs)
        inspection = self._reads(args, kwargs)
        if inspection.hooks:
            return self._eagerly_unplanned(args, kwargs)
        if inspection.problem:
            self._failures[key] = _MOST_TRIES
            return self._eagerly(args, kwargs)
        # The run is eager, so its tape is correct. It is traced in a second run, which is undone, and only if the
        # function has no observable effect but its values.
        run = EffectProbe(inspection)
        result = run(self.function, args, kwargs)
        self._roots += run.unknown
        is_as_before = key_of((args, kwargs), [], []) == key[1] and Guards(inspection.snapshot).hold()
        if run.reason or not is_as_before or run.unknown:
            self._failures[key] = _MOST_TRIES if run.reason and not run.unknown else self._failures.get(key, 0) + 1
            self.counts["eager"] += 1
            return result
        inspection = Inspection(inspection.roots) if inspection.precedes_first_call else inspection
        guarded_plan = self._recorded_plan(inspection, tensors, args, kwargs)
        if guarded_plan is None:
            self._failures[key] = self._failures.get(key, 0) + 1  # another thread may be tracing
        else:
            self.plans.setdefault(key, []).append(guarded_plan)
        self.counts["eager" if guarded_plan is None else "traced"] += 1
        return result

    def _recorded_plan(
        self, inspection: Inspection, tensors: list[Tensor], args: Any, kwargs: Any
    ) -> GuardedPlan | None:
        """Return a plan at level O0 with its backward pass, or None. The run that makes it is undone."""
        index = random.position()
        trace = Trace(inspection, tensors, containers=containers_in((args, kwargs)))
        if trace.reason:
            return None
        recorded_run = RecordedRun(self.function, [*trace.arguments, *trace.externals])
        try:
            trace.run(recorded_run, args, kwargs, undo=True)
        except Exception:  # the run before did not raise, so this error is not reported
            return None
        finally:
            random.go_to(index)
        if not trace.has_started:
            return None
        graph = trace.graph
        unsupported_parts: list[Any] = [node for node in graph.nodes if isinstance(node, EagerCall | Binding)]
        replace_values((graph.result, graph.effects), (ArgumentRef, SharedResult, ViewRef), unsupported_parts.append)
        replace_values(graph.result, (Tensor, Parameter), unsupported_parts.append)
        if trace.reason or trace.unknown or unsupported_parts or graph.is_on_gpu:
            return None
        if not recorded_run.is_plain or not Guards(inspection.snapshot).hold():
            return None
        indices = [
            next(index for index, tensor in enumerate(tensors) if tensor is argument) for argument in trace.arguments
        ]
        try:
            planned_call = PlannedCall(recorded_run, graph, indices)
        except LookupError:
            return None
        return GuardedPlan(inspection, planned_call.plan, tensors, planned_call=planned_call)

    def _reads(self, args: Any, kwargs: Any) -> Inspection:
        """Return the values that the code of a call can read; session hooks among them make later calls eager."""
        inspection = Inspection([self.function, *parts_of((args, kwargs)), *self._roots])
        self._hooks |= inspection.hooks
        return inspection

    def _has_failed(self, key: Any) -> bool:
        return self._failures.get(key, 0) >= _MOST_TRIES or len(self._failures) >= MOST_PLANS

    def _is_pinned(self, key: Any, lengths: Lengths) -> bool:
        """Return whether a plan would be for one combination of dimensions, like all existing plans of this kind."""
        plans = self.plans.get(key, [])
        return bool(plans) and not lengths.are_open and not any(guarded.is_open for guarded in plans)

    def _without_lengths(self, key: Any, args: Any, kwargs: Any, undo: bool) -> Any:
        """Trace this call, and later calls of its kind, with fixed shapes."""
        self._fixed_kinds.add(key)
        key, tensors, axes = self._kind(args, kwargs)
        return self._trace(key, tensors, axes, args, kwargs, undo)

    def _eagerly(self, args: Any, kwargs: Any) -> Any:
        self.counts["eager"] += 1
        return self.function(*args, **kwargs)

    def _eagerly_unplanned(self, args: Any, kwargs: Any) -> Any:
        with taps.eager_call(self.name, self.level):
            return self._eagerly(args, kwargs)

    def prepare(self, /, *args: Any, **kwargs: Any) -> None:
        """Make a plan for these arguments, as their first call does, and undo the effects of that call."""
        for _ in range(_MOST_TRIES):  # as often as calls would try: a try may reveal unknown code
            key, tensors, axes = self._kind(args, kwargs)
            arrays = [t._array for t in tensors]
            if self._has_failed(key) or any(guarded.hold(arrays) for guarded in self.plans.get(key, ())):
                break
            reason_count = len(self.warned_reasons)
            with _preserved_streams():
                self._trace(key, tensors, axes, args, kwargs, undo=True)
            if len(self.warned_reasons) > reason_count:
                break

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of its owner has no plans

    def __repr__(self) -> str:
        calls = ", ".join(f"{count} {key}" for key, count in self.counts.items() if count and key != "refused")
        return f"<{self.name}: plans {len(self.sources)}, calls {calls or 'none'}>"

    @property
    def sources(self) -> list[str]:
        """Source text of each plan."""
        return [guarded.plan.source for plans in self.plans.values() for guarded in plans]

    def _reject(self, key: Any, reason: str, line: str) -> None:
        self._failures[key] = _MOST_TRIES
        if self.fullgraph:
            raise RuntimeError(self._sentence(reason, line))
        self._warn(reason, line)

    def _sentence(self, reason: str, line: str = "") -> str:
        return f"no plan can be made of '{self.name}': {reason}{f' ({line_label(line)})' if line else ''}"

    def _warn(self, reason: str, line: str = "") -> None:
        if reason in self.warned_reasons:
            return
        self.warned_reasons.add(reason)
        warn_user(f"{self._sentence(reason, line)}; it runs eagerly")


@contextmanager
def _preserved_streams() -> Iterator[None]:
    """Restore the random streams afterwards, NumPy's and Python's included."""
    position, numpy_state, python_state = random.position(), np.random.get_state(), python_random.getstate()
    try:
        yield
    finally:
        random.go_to(position)
        np.random.set_state(numpy_state)
        python_random.setstate(python_state)


def is_observed() -> bool:
    """Return whether an observer, a recording or a trace is active."""
    return bool(state.recordings) or is_watched()


def is_watched() -> bool:
    """Return whether a call must run eagerly because an observer or a trace is active."""
    if taps.cell_taps or state.tracer is not None:
        return True
    return any(type(tap) is not Tracer for tap in taps.operator_taps)  # traces of other threads do not count


def _wait_for_traces() -> bool:
    """Wait for the traces of other threads; return whether they ended and do not wait for this thread themselves."""
    return all(tap.wait_for_trace() for tap in tuple(taps.operator_taps) if type(tap) is Tracer)


def graph_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Graph:
    """Return the graph of one call, for display or export.

    Args:
        function: a function or a cell.
        *args: its arguments.
        **kwargs: its keyword arguments.

    Returns:
        the graph of this run, without nodes that its result does not need.

    Raises:
        RuntimeError: the function computes with the numbers of a tensor outside the operators; the text names the line.
            Or another thread computes gradients meanwhile.
    """
    _wait_for_traces()
    tensors: list[Tensor] = []
    key_of((args, kwargs), tensors, [])
    trace = Trace(Inspection([function, *parts_of((args, kwargs))]), tensors)
    with taps.mute_taps():  # observers would see a run that is not the program's, and read its numbers
        trace.run(function, args, kwargs)
    tensors_before = [t for t, _ in trace.graph.effects if type(t) is ArgumentRef]
    replace_values(trace.graph.result, (ArgumentRef, Tensor, Parameter), tensors_before.append)
    if tensors_before:
        trace.tracer.reason = trace.reason or "it returns or changes a tensor that it was given"
    reason = trace.reason if trace.has_started else "another thread traces or computes gradients"
    if reason:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise RuntimeError(f"'{name}' has no graph: {reason}{f' ({line_label(trace.line)})' if trace.line else ''}")
    graph = trace.graph
    graph.result = replace_values(graph.result, (SharedResult, ViewRef), lambda ref: ref.value)
    return optimized(graph)
