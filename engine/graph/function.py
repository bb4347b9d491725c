"""A function that is traced when it is called, and computed by a plan where one holds.

Each call looks among the plans for its kind of arguments (``_key``) for one whose guards hold. Where there is none the
call is traced: it runs, on its real arguments, as it does eagerly, and if its trace has no leak the next such call
finds a plan. Where a trace leaks, calls run eagerly from then on, and one warning says which line and why.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np

from ..core import backend, modes, precision, random, taps
from ..core.file_labels import place_of, shown_name
from ..core.hooks import hooks_enabled
from ..core.nested import tensors_in
from ..core.parameter import Parameter
from ..core.recording import state
from ..core.tensor import Tensor
from ..core.views import View
from .calls import AsksForTypes, Calls
from .following import Followed, Following, can_follow
from .graph import Bind, Given, Graph, Made, Seen, Value, Whole, replace_values
from .holding import Holding
from .lengths import Length, Lengths, whole
from .passes import expands_at, optimized
from .plan import Failed, Plan
from .reads import Reads, is_engine, is_leaf
from .sizes import LEAST
from .traced_array import TRACED, array_types, plain, type_of
from .tracer import Tracer

__all__ = ["MOST_PLANS", "Compiled"]

MOST_PLANS = 16
"""Plans that a function may have; calls that would need another one run eagerly."""
_ALSO_READ = "an argument is one of the tensors that it reads from elsewhere"
_PATIENCE = 5.0
"""Seconds that a call at O1 waits to be traced: an eager one in its place would have other bits."""
_MOST_TRIES = 3
"""Traces of one kind of arguments that may fail because the code was not known or changed what it reads."""
_MOST_INTERRUPTS = 8
"""Interrupts of the end of a trace after which it is given up; each takes a press of keys, and it some milliseconds."""


class Compiled:
    """A function with its plans.

    Args:
        function: what is called.
        name: what messages call it.
        fullgraph: whether a call of which no plan can be made is an error.
        level: what the passes may do: "O0" keeps each bit, "O1" makes loops of elementwise operators; "" stands for the
            level of the context.
        opens: gives of a call's arguments which lengths are left open, as ``_key`` takes it; None where none are.

    Attributes:
        plans: the plans by kind of arguments.
        counts: how many calls were traced, replayed and run eagerly; of the last, how many because a kernel refused the
            numbers that a plan gave it.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, fullgraph: bool = False, level: str = "O0",
        opens: Callable[[Any, Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.function = function
        self._opens = opens
        self._fixed: set[Any] = set()  # kinds of arguments whose lengths cannot be left open
        self.name = name
        self.fullgraph = fullgraph
        self._level = level
        self.plans: dict[Any, list[Guarded]] = {}
        self._last: Guarded | None = None  # of the last call, if that gave tensors like any other, each once
        self.counts = {"traced": 0, "replayed": 0, "eager": 0, "refused": 0}
        self.told: set[str] = set()
        self._hooks: frozenset[int] = frozenset()  # of sessions, that were found in it
        self._also: list[Any] = []  # functions that ran and were not found by looking through the code
        self._given_up: dict[Any, int] = {}
        self._begun: set[Any] = set()  # kinds of arguments that came inside a recording
        self._also_read: set[int] = set()  # identities of arguments that the code reads from elsewhere, too

    @property
    def level(self) -> str:
        """What the passes may do: "O0" or "O1"."""
        return self._level or modes.level

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, by a plan where one holds."""
        if watched() or (taps.operator_taps and not _others_are_over()):
            return self._eagerly(args, kwargs)
        if taps.hooking and not taps.hooking.isdisjoint(self._hooks):
            return self._eagerly_told(args, kwargs)
        if state.recordings:
            return self._followed(args, kwargs)
        given = [x._array for x in args if type(x) is Tensor and type(x._array) not in TRACED and _is_bare(x)]
        is_usual = not kwargs and len(given) == len(args) == len(set(map(id, given)))
        if is_usual and self._last is not None and self._last.takes(given):
            return self._replayed(self._last, args, given, args, kwargs)
        key, tensors, axes = self._kind(args, kwargs)
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.holds(arrays) and _containers((args, kwargs)).isdisjoint(guarded.containers):
                self._last = guarded if is_usual else None
                return self._replayed(guarded, tensors, arrays, args, kwargs)
        return self._traced(key, tensors, axes, args, kwargs)

    def _kind(self, args: Any, kwargs: Any) -> tuple[Any, list[Tensor], list[tuple[int, ...]]]:
        """What the plans of such a call are kept under, its tensors, and of each the axes whose lengths are open."""
        tensors: list[Tensor] = []
        told = None if self._opens is None else self._opens(args, kwargs)
        if told is not None and backend.device_target() == "CPU":  # elsewhere a plan is for the shapes that it has
            axes: list[tuple[int, ...]] = []
            key = _key((args, kwargs), tensors, [], told, axes)
            if any(axes) and key not in self._fixed:
                return key, tensors, axes
            tensors = []
        return _key((args, kwargs), tensors, []), tensors, []

    def _replayed(self, guarded: Guarded, tensors: Sequence[Tensor], arrays: list[Any], args: Any, kwargs: Any) -> Any:
        if (guarded.changed or guarded.written) and guarded.changes_under(tensors):
            return self._eagerly(args, kwargs)
        place = random.position() if guarded.plan.draws else None
        try:
            result = guarded.run(arrays, tensors)
        except Failed as failed:
            if failed.has_changed:
                raise failed.error from None
            # What the numbers made a kernel refuse is told as the eager run tells it.
            if place is not None:
                random.go_to(place)
            self.counts["refused"] += 1
            return self._eagerly(args, kwargs)
        self.counts["replayed"] += 1
        return result

    def _traced(
        self, key: Any, tensors: list[Tensor], axes: list[tuple[int, ...]], args: Any, kwargs: Any, undoes: bool = False
    ) -> Any:
        if self._has_given_up(key):
            return None if undoes else self._eagerly(args, kwargs)
        if sum(map(len, self.plans.values())) >= MOST_PLANS:
            self._tell(f"it has {MOST_PLANS} plans already, and none of them is for this call")
            return None if undoes else self._eagerly(args, kwargs)
        if not self._also_read.isdisjoint(map(id, tensors)):
            return self._without_plan(_ALSO_READ, args, kwargs, undoes)
        roots = [self.function, *_parts((args, kwargs)), *self._also]
        reads = Reads(roots)
        if reads.hooks:
            self._hooks |= reads.hooks
            return None if undoes else self._eagerly_told(args, kwargs)
        if reads.problem:
            self._give_up(key, reads.problem, "")
            return None if undoes else self._eagerly(args, kwargs)
        place = random.position()
        lengths = Lengths([t._array.shape for t in tensors], axes) if any(axes) else None
        if lengths is not None and reads.leads_to(type):  # which tells a length from an int
            return self._without_lengths(key, args, kwargs, undoes)
        trace: Any = Trace(reads, tensors, "O0" if lengths else self.level, _containers((args, kwargs)), lengths)
        if trace.why:  # calls with other arguments may have a plan
            self._also_read |= {id(t) for t in tensors} & {id(t) for t in reads.tensors}
            return self._without_plan(trace.why, args, kwargs, undoes)
        try:
            result = trace.run(self.function, args, kwargs, undoes, self.fullgraph)
        except (Exception, AsksForTypes):
            if not trace.is_undone:
                raise
            trace = None
        if trace is None:
            random.go_to(place)
            return self._without_lengths(key, args, kwargs, undoes)
        if not trace.has_begun:
            return None if undoes else self._eagerly(args, kwargs)
        if trace.why and self.fullgraph:
            random.go_to(place)
        if trace.why and attended():  # by somebody who began meanwhile, and has read numbers
            if self.fullgraph and not undoes:
                return self._eagerly(args, kwargs)
        elif trace.unknown:
            self._also += trace.unknown
            self._given_up[key] = tries = self._given_up.get(key, 0) + 1
            if trace.why and self.fullgraph:  # what the run did is undone
                if tries == _MOST_TRIES:
                    self._give_up(key, trace.why, trace.line)
                return self._traced(key, tensors, axes, args, kwargs, undoes)
        elif trace.why:
            self._give_up(key, trace.why, trace.line)
        elif not Holding(reads.found).hold():
            self._given_up[key] = tries = self._given_up.get(key, 0) + 1
            if tries == _MOST_TRIES:
                self._give_up(key, "it changes a value of Python that it reads", "")
        elif self._kind(args, kwargs)[0] != key:
            self._give_up(key, "it changes its arguments", "")
        elif lengths is not None and (trace.keeps_lengths or self._is_pinned(key, lengths)):
            self._fixed.add(key)  # the next call is traced with the lengths that it has
            self.plans.pop(key, None)
        else:
            if reads.is_first:
                reads = Reads(roots)
            plan = Plan(optimized(trace.graph, self.level))
            self.plans.setdefault(key, []).append(Guarded(reads, plan, tensors, lengths))
            self.counts["traced"] += 1
            return result
        self.counts["eager"] += 1
        return result

    def _without_plan(self, why: str, args: Any, kwargs: Any, undoes: bool) -> Any:
        """Run eagerly for a reason that is this call's alone."""
        if self.fullgraph:
            raise RuntimeError(self._sentence(why))
        self._tell(why)
        return None if undoes else self._eagerly(args, kwargs)

    def _followed(self, args: Any, kwargs: Any) -> Any:
        """A call inside recordings, which may follow its values."""
        tensors: list[Tensor] = []
        key = "followed", _key((args, kwargs), tensors, [])
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.holds(arrays) and _containers((args, kwargs)).isdisjoint(guarded.containers):
                return self._replayed(guarded, tensors, arrays, args, kwargs)
        if not can_follow() or self._has_given_up(key) or sum(map(len, self.plans.values())) >= MOST_PLANS:
            return self._eagerly(args, kwargs)
        if key not in self._begun:  # a first call may compile kernels, which would take long while calls are looked at
            self._begun |= {key} if len(self._begun) < MOST_PLANS else set()
            return self._eagerly(args, kwargs)
        roots = [self.function, *_parts((args, kwargs)), *self._also]
        reads = Reads(roots)
        if reads.hooks:
            self._hooks |= reads.hooks
            return self._eagerly_told(args, kwargs)
        if reads.problem:
            self._given_up[key] = _MOST_TRIES
            return self._eagerly(args, kwargs)
        # The run itself is eager, and what it has on the tape is as it has to be. Only where nothing of it but its
        # values can be noticed is it made again, to be traced, and undone.
        run = Unfollowed(reads)
        result = run(self.function, args, kwargs)
        self._also += run.unknown
        is_as_before = _key((args, kwargs), [], []) == key[1] and Holding(reads.found).hold()
        if run.why or not is_as_before or run.unknown:
            self._given_up[key] = _MOST_TRIES if run.why and not run.unknown else self._given_up.get(key, 0) + 1
            self.counts["eager"] += 1
            return result
        reads = Reads(roots) if reads.is_first else reads
        made = self._plan_to_follow(reads, tensors, args, kwargs)
        if made is None:
            self._given_up[key] = self._given_up.get(key, 0) + 1  # another thread may have had its turn
        else:
            self.plans.setdefault(key, []).append(made)
        self.counts["eager" if made is None else "traced"] += 1
        return result

    def _plan_to_follow(self, reads: Reads, tensors: list[Tensor], args: Any, kwargs: Any) -> Guarded | None:
        """A plan, at level O0, and the way back; None where there is none. The run that is made for it is undone."""
        place = random.position()
        trace = Trace(reads, tensors, containers=_containers((args, kwargs)))
        if trace.why:
            return None
        followed = Followed(self.function, [*trace.arguments, *trace.externals])
        try:
            trace.run(followed, args, kwargs, undoes=True)
        except Exception:  # the run before did not raise, so this one is not to be told of
            return None
        finally:
            random.go_to(place)
        if not trace.has_begun:
            return None
        graph = trace.graph
        others: list[Any] = [node for node in graph.nodes if isinstance(node, Whole | Bind)]
        replace_values((graph.result, graph.effects), (Given, Made, Seen), others.append)
        replace_values(graph.result, (Tensor, Parameter), others.append)
        if trace.why or trace.unknown or others or graph.is_on_gpu:
            return None
        if not followed.is_plain or not Holding(reads.found).hold():
            return None
        places = [next(place for place, t in enumerate(tensors) if t is one) for one in trace.arguments]
        try:
            following = Following(followed, graph, places)
        except LookupError:
            return None
        return Guarded(reads, following.plan, tensors, following=following)

    def _has_given_up(self, key: Any) -> bool:
        return self._given_up.get(key, 0) >= _MOST_TRIES or len(self._given_up) >= MOST_PLANS

    def _is_pinned(self, key: Any, lengths: Lengths) -> bool:
        """Whether a plan would be for one combination of lengths, as those are that there are of the kind, if any."""
        kept = self.plans.get(key, [])
        return bool(kept) and not lengths.are_open and not any(one.is_open for one in kept)

    def _without_lengths(self, key: Any, args: Any, kwargs: Any, undoes: bool) -> Any:
        """Trace a call with the lengths that it has, and those of its kind from then on."""
        self._fixed.add(key)
        key, tensors, axes = self._kind(args, kwargs)
        return self._traced(key, tensors, axes, args, kwargs, undoes)

    def _eagerly(self, args: Any, kwargs: Any) -> Any:
        self.counts["eager"] += 1
        return self.function(*args, **kwargs)

    def _eagerly_told(self, args: Any, kwargs: Any) -> Any:
        with taps.unplanned(self.name, self.level):
            return self._eagerly(args, kwargs)

    def prepare(self, *args: Any, **kwargs: Any) -> None:
        """Make a plan for these arguments, as their first call does, and undo what that did."""
        place = random.position()
        key, tensors, axes = self._kind(args, kwargs)
        if not any(guarded.holds([t._array for t in tensors]) for guarded in self.plans.get(key, ())):
            try:
                self._traced(key, tensors, axes, args, kwargs, undoes=True)
            finally:
                random.go_to(place)

    def __reduce__(self) -> Any:
        return type(None), ()  # a copy of what it is kept with has no plans

    def __repr__(self) -> str:
        calls = ", ".join(f"{count} {how}" for how, count in self.counts.items() if count and how != "refused")
        return f"<{self.name}: plans {len(self.sources)}, calls {calls or 'none'}>"

    @property
    def sources(self) -> list[str]:
        """The text of each plan."""
        return [guarded.plan.source for some in self.plans.values() for guarded in some]

    def _give_up(self, key: Any, why: str, line: str) -> None:
        self._given_up[key] = _MOST_TRIES
        if self.fullgraph:
            raise RuntimeError(self._sentence(why, line))
        self._tell(why, line)

    def _sentence(self, why: str, line: str = "") -> str:
        return f"no plan can be made of '{self.name}': {why}{f' ({place_of(line)})' if line else ''}"

    def _tell(self, why: str, line: str = "") -> None:
        if why in self.told:
            return
        self.told.add(why)
        frame: Any = sys._getframe()
        while frame.f_back is not None and is_engine(frame.f_code.co_filename):
            frame = frame.f_back
        names, file = frame.f_globals, frame.f_code.co_filename
        # By ``warn`` a cell of a notebook would be named as the file that it is compiled as.
        warnings.warn_explicit(
            f"{self._sentence(why, line)}; it runs eagerly",
            UserWarning,
            shown_name(file),
            frame.f_lineno,
            module=names.get("__name__", file),
            registry=names.setdefault("__warningregistry__", {}),
        )


def attended() -> bool:
    """Whether somebody watches, a gradient is asked for around a call, or a trace is on."""
    return bool(state.recordings) or watched()


def watched() -> bool:
    """Whether a call has to run eagerly: somebody watches, or a trace is on."""
    if taps.cell_taps or state.tracer is not None:
        return True
    return any(type(tap) is not Tracer for tap in taps.operator_taps)  # but for the traces of other threads


def _others_are_over() -> bool:
    """Wait for the traces of other threads; whether they are over, and not waiting for this thread themselves."""
    return all(tap.give_way() for tap in tuple(taps.operator_taps) if type(tap) is Tracer)


def _around() -> tuple[Any, ...]:
    """What of the engine's own state decides what operators do."""
    return backend.device_target(), precision.current(), hooks_enabled(), state.refused, modes.level


class Guarded:
    """A plan and what must hold for it to be used.

    Args:
        reads: the Python values that the code reads.
        plan: the plan.
        tensors: those among the arguments.
        lengths: those that are left open; None where the shapes are to be what they were.
        following: what computes calls inside open recordings, if it is for these.
    """

    __slots__ = (
        "around", "changed", "containers", "dtypes", "fits", "following", "holding", "is_open", "plan", "roots", "run",
        "shapes", "types", "written",
    )  # fmt: skip

    def __init__(
        self, reads: Reads, plan: Plan, tensors: Sequence[Tensor], lengths: Lengths | None = None,
        following: Following | None = None,
    ) -> None:  # fmt: skip
        self.plan = plan
        self.following = following
        self.run: Callable[..., Any] = plan.run if following is None else following.call
        self.roots = reads.roots  # while they live, no other object has an identity by which plans are kept
        self.holding = Holding(reads.found, plan.graph.externals)
        self.containers = reads.found.containers()
        self.around = _around()
        given = plan.graph.arguments[: len(tensors)]
        self.shapes = [value.shape for value in given]
        self.dtypes = [value.dtype for value in given]
        self.types = [type(t._array) for t in tensors]
        self.fits = None if lengths is None else lengths.fits([value.sizes or value.shape for value in given])
        self.is_open = lengths is not None and lengths.are_open
        wholes = [node for node in plan.graph.nodes if isinstance(node, Whole)]
        effects = [t for t, _ in plan.graph.effects]
        effects += [node.tensor for node in plan.graph.nodes if isinstance(node, Bind)]
        changed = [t for t in effects if type(t) is not Given] + [t for node in wholes for t in node.changed]
        self.changed = frozenset(map(id, changed))
        self.written = [t.place for t in effects if type(t) is Given]

    def changes_under(self, tensors: Sequence[Tensor]) -> bool:
        """Whether an argument is a view of a tensor that the plan changes, or one that it changes has to do with views.

        The one would change half-way, the other changes more than itself.
        """
        views = [t._view for t in tensors if t._view is not None]
        if any(id(view.root) in self.changed for view in views):
            return True
        return any(_has_views(tensors[place]) for place in self.written)

    def takes(self, arrays: list[Any]) -> bool:
        """Whether it is for a call with tensors alone, none of them twice, that hold these arrays."""
        return (
            (self.fits is not None or [x.shape for x in arrays] == self.shapes)
            and [x.dtype for x in arrays] == self.dtypes
            and [type(x) for x in arrays] == self.types
            and self.holds(arrays)
        )

    def holds(self, arrays: list[Any]) -> bool:
        """Whether all is as it was, for arguments of the same kind that hold these arrays."""
        if self.fits is not None and not self.fits(*[x.shape for x in arrays]):
            return False
        return self.around == _around() and self.holding.hold(arrays)


def _has_views(tensor: Tensor) -> bool:
    """Whether a tensor is a view, or others are views of it."""
    return tensor._view is not None or any(one() is not None for one in tensor._views or ())


def _key(value: Any, tensors: list[Tensor], lists: list[Any], told: Any = None, axes: Any = None) -> Any:
    """What plans are kept under: the structure of the arguments, their plain values, the tensors' shapes and dtypes.

    Args:
        value: an argument, or a structure of them.
        tensors: gets the tensors in it.
        lists: gets the lists and dictionaries in it.
        told: of a tensor its axes whose lengths are left open, None where none are; of a structure one that is alike.
        axes: gets of each tensor the axes whose lengths are open; 0 and 1 are not, by which shapes broadcast.
    """
    kind = type(value)
    if kind is Tensor:
        for place, other in enumerate(tensors):
            if other is value or other._array is value._array:
                tensors.append(value)
                if axes is not None:
                    axes.append(())
                return place, other is value
        tensors.append(value)
        array = value._array
        shape: Any = array.shape
        of_arrays = type_of(array)
        if axes is not None:
            # On a GPU a plan is for its shapes; what was told of another structure says nothing.
            may = told if isinstance(told, tuple) and of_arrays is np.ndarray else ()
            axes.append(tuple([n for n in may if type(n) is int and n < len(shape) and shape[n] >= LEAST]))
            shape = tuple([None if axis in axes[-1] else n for axis, n in enumerate(shape)])
        return kind, shape, array.dtype, of_arrays, None if _is_bare(value) else _Itself(value)
    if kind is float or kind is complex:
        return kind, repr(value)
    if kind in _PLAIN or value is None:
        return kind, value
    if kind is list or kind is dict:
        for place, other in enumerate(lists):
            if other is value:
                return kind, place
        lists.append(value)
    if kind is tuple or kind is list:
        parts = told if isinstance(told, tuple | list) and len(told) == len(value) else (None,) * len(value)
        return kind, tuple([_key(part, tensors, lists, of, axes) for part, of in zip(value, parts, strict=True)])
    if kind is dict:
        of_keys = told if isinstance(told, dict) else {}
        return kind, tuple(
            [
                (_key(key, tensors, lists, None, axes), _key(part, tensors, lists, of_keys.get(key), axes))
                for key, part in value.items()
            ]
        )
    if kind is frozenset:  # in its order, which equal ones need not share
        return kind, tuple([_key(part, tensors, lists, None, axes) for part in value])
    if kind is slice or kind is range:
        return kind, tuple([_key(part, tensors, lists, None, axes) for part in (value.start, value.stop, value.step)])
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    return kind, _Itself(value)


class _Itself:
    """Equal to what stands for the same object, which it holds: no other one comes to have its identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is _Itself and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def _containers(value: Any) -> frozenset[int]:
    """The identities of the lists and dictionaries in the arguments."""
    if isinstance(value, tuple | list):
        parts: Any = value
    elif isinstance(value, dict):
        parts = value.values()
    else:
        return frozenset()
    own = () if isinstance(value, tuple) else (id(value),)
    return frozenset(own).union(*map(_containers, parts))


_PLAIN = (str, int, bool, bytes)


def _is_bare(tensor: Tensor) -> bool:
    """Whether a tensor is like any other of its shape and dtype: no hook, no attribute that a user gave it."""
    held = tensor.__dict__
    return not held or held.keys() <= _OF_ANY_TENSOR


_OF_ANY_TENSOR = frozenset(("const_arg", "_view", "_views"))


def _parts(value: Any) -> list[Any]:
    """What is in the arguments, but for what is part of what plans are kept under: containers and bare tensors."""
    kind = type(value)
    if kind is tuple or kind is list:
        return [one for part in value for one in _parts(part)]
    if kind is dict:
        return [one for item in value.items() for part in item for one in _parts(part)]
    return [] if kind is Tensor and _is_bare(value) else [value]


class Unfollowed:
    """An eager run of which is found out whether more than its values could be noticed.

    Args:
        reads: what the function's code can read.

    Attributes:
        why: what else could be, or "".
        unknown: functions that ran and were not looked through.
    """

    def __init__(self, reads: Reads) -> None:
        self.why = ""
        self.unknown: list[Any] = []
        self.waits = False  # what a tracer has
        self._calls = Calls(reads.codes, self)

    def __call__(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Run a function; returns what it returns."""
        try:
            self._calls.start()
            result = function(*args, **kwargs)
            if not self._calls.is_on():
                self.leak("an interrupt came")
        finally:
            self._calls.stop()
        self.unknown = list(self._calls.unknown.values())
        return result

    def leak(self, why: str) -> None:
        """More could be noticed: the first reason is kept."""
        self.why = self.why or why


class Trace:
    """One traced run.

    Args:
        reads: what the function's code can read.
        arguments: the tensors among the arguments.
        level: "O0" or "O1", see ``Compiled``.
        containers: identities of the lists and dictionaries among the arguments.
        lengths: those of the arguments that are left open.

    Attributes:
        graph: what was written down.
        arguments: the tensors among the arguments, each once.
        externals: those from outside.
        keeps_lengths: whether code kept an open length beyond the run.
        is_undone: whether the run ended with an error and is to be another one, with the lengths that there are.
        why: why no plan can be made of it, or "".
        line: the user's line that led to that.
        unknown: functions that ran and were not looked through.
        has_begun: whether the function was called.
    """

    def __init__(
        self, reads: Reads, arguments: list[Tensor], level: str = "O0", containers: frozenset[int] = frozenset(),
        lengths: Lengths | None = None,
    ) -> None:  # fmt: skip
        self.tracer = Tracer(expands_at(level), lengths)
        self.keeps_lengths = self.is_undone = False
        self._found = reads.found
        self.graph: Graph = self.tracer.graph
        self.unknown: list[Any] = []
        self.has_begun = False
        self._patience = _PATIENCE if level == "O1" else 0.0
        self._calls = Calls(reads.codes, self.tracer, lengths is not None)
        self.arguments = list({id(t): t for t in arguments}.values())
        among = {id(t) for t in arguments}
        self.externals = [t for t in reads.tensors if id(t) not in among]
        self._before = self.tracer.outside
        self._places = arguments
        self._returned: dict[int, Any] = {}
        self._times: Counter[int] = Counter()  # how often a tensor is in the result, or the tensor that it is a view of
        self._several: dict[int, Made] = {}
        self._containers = reads.found.containers() | containers
        if not containers.isdisjoint(reads.found.containers()):
            self.tracer.why = "an argument is one of the lists or dictionaries that it reads from elsewhere"
        if any(id(t) in among and type(t) is Tensor and _is_bare(t) for t in reads.tensors):
            self.tracer.why = _ALSO_READ

    @property
    def why(self) -> str:
        """Why no plan can be made of it, or ""."""
        return self.tracer.why

    @property
    def line(self) -> str:
        """The user's line that led to that."""
        return self.tracer.line

    def run(
        self, function: Callable[..., Any], args: Any, kwargs: Any, undoes: bool = False, undoes_leak: bool = False
    ) -> Any:
        """Call the function; its result is the eager one.

        Nothing is called where another thread traces or computes gradients just now.

        Args:
            function: what is called.
            args: its arguments.
            kwargs: its keyword arguments.
            undoes: whether tensors from outside are afterwards what they were.
            undoes_leak: whether they are where no plan can be made.
        """
        lengths, leaves_as_before = self.tracer.lengths, undoes
        held = sys.getrefcount(lengths)
        late: BaseException | None = None
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
            self.unknown = list(self._calls.unknown.values())
            self._note_result(result)
            leaves_as_before = undoes or (undoes_leak and bool(self.why))
        except BaseException as error:
            # Code may have met a length in the place of an int: what no eager call raises is not to be seen.
            self.is_undone = lengths is not None and self._may_run_again(error)
            leaves_as_before = undoes or self.is_undone
            raise
        finally:
            for _ in range(_MOST_INTERRUPTS):
                try:
                    self._leave(leaves_as_before)
                    break
                except BaseException as error:  # an interrupt that comes meanwhile comes when all is as it was
                    late = error
            if late is not None:
                raise late
        if lengths is not None:
            result = lengths.settled(result)
            # Each length holds them all, so that most of the time nobody has to look for one.
            self.keeps_lengths = sys.getrefcount(lengths) > held and lengths.left()
        return result

    def _may_run_again(self, error: BaseException) -> bool:
        """Whether nothing of Python has changed by a run that ended with an error."""
        return isinstance(error, AsksForTypes) or (isinstance(error, Exception) and Holding(self._found).hold())

    def _enter(self) -> None:
        """Let the tensors hold traced arrays."""
        values: dict[int, Value] = {}
        traced: dict[int, Any] = {}
        lengths = self.tracer.lengths
        sizes: dict[int, Any] = {}
        if lengths is not None:
            self.graph.lengths = lengths.places
            for place, t in enumerate(self._places):
                sizes.setdefault(id(t), lengths.shape_of(place))
        for of, tensors in (("argument", self.arguments), ("external", self.externals)):
            for t in tensors:
                array = t._array
                if id(array) not in values:
                    values[id(array)] = Value(array.shape, array.dtype, of, sizes.get(id(t)))
                    traced[id(array)] = self.tracer.traced(array, values[id(array)])
                elif of == "external" and values[id(array)].of == "argument":
                    self.tracer.why = _ALSO_READ
                self._before[id(t)] = (t, array, traced[id(array)])
        self.graph.arguments = [values[id(t._array)] for t in self._places]
        self.graph.externals = [(t, values[id(t._array)]) for t in self.externals]
        for t, _, over in self._before.values():
            t._array = over

    def _note_result(self, result: Any) -> None:
        tracer = self.tracer
        for t, _, over in self._before.values():
            if t._array is not over:
                found = t._array.value if type(t._array) in TRACED else None
                if found is None or _has_views(t):
                    tracer.why = tracer.why or "a tensor is changed in a way that a plan does not follow"
                else:
                    self.graph.effects.append((self._outside(t), found))
        for node in self.graph.nodes:
            if isinstance(node, Bind):
                node.tensor = self._outside(node.tensor)
        if not tracer.ends_where_it_drew():
            tracer.why = tracer.why or "the stream of random numbers is left at another place"
        tensors = tensors_in(result)
        self._returned = {id(t): t for t in tensors}
        self._times = Counter(map(id, tensors))
        self._times.update([id(t._view.root) for t in self._returned.values() if t._view is not None])
        self.graph.result = self._structure(result)
        if tracer.lengths is not None:
            self._note_layouts(tracer.lengths)

    def _note_layouts(self, lengths: Lengths) -> None:
        """Let the plan be for these lengths where two tensors outlive the call of which one may be a view of the other.

        Whether what was reshaped is one is up to the layout, and that may be another one for other lengths.
        """
        outside = {over.value for _, _, over in self._before.values()}
        tensors = [t for t in self._returned.values() if isinstance(t, Tensor) and type(t._array) in TRACED]
        for one in tensors:
            others = outside | {t._array.value for t in tensors if t is not one}
            if one._view is None and not others.isdisjoint(self.tracer.roots_of(one._array.value)):
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
        """What stands for a tensor that was there before the call."""
        place = next((place for place, one in enumerate(self._places) if one is tensor), None)
        return tensor if place is None else Given(place)

    def _tensor(self, tensor: Tensor) -> Any:
        tracer = self.tracer
        if id(tensor) in self._before:
            return self._outside(tensor)
        value = tensor._array.value if type(tensor._array) in TRACED else None
        if type(tensor) is not Tensor:
            tracer.why = tracer.why or f"it returns a {type(tensor).__name__}"
        elif value is None:
            tracer.why = tracer.why or "it returns numbers that no operator of the table made of the inputs"
        else:
            root = None if tensor._view is None else tensor._view.root
            if root is not None and (id(root) in self._before or self._times[id(root)] > 1):
                return self._seen(tensor, root, value)
            if root is not None and type(root._array) not in TRACED:
                tracer.why = tracer.why or "it returns a view of another tensor that outlives it"
            return value if self._times[id(tensor)] == 1 else self._made(tensor, value)
        return None

    def _made(self, tensor: Tensor, value: Value) -> Made:
        return self._several.setdefault(id(tensor), Made(value))

    def _seen(self, tensor: Tensor, root: Tensor, value: Value) -> Any:
        """A view of a tensor that outlives the call, made again of that tensor."""
        view: Any = tensor._view
        found: Any = root._array.value if type(root._array) in TRACED else None
        kinds = (*array_types(), *TRACED)
        steps = replace_values(view.steps, kinds, lambda one: getattr(one, "value", None) or one)
        arrays: list[Any] = []
        replace_values(steps, kinds, arrays.append)
        shares = (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
        follows = shares and (view.is_part or len(steps) == 1) and not arrays and found is not None
        if not follows or self._times[id(tensor)] > 1:
            self.tracer.why = self.tracer.why or "it returns a view of another tensor that outlives it"
        of = self._outside(root) if id(root) in self._before else self._made(root, found)
        steps = replace_values(steps, (Length,), lambda length: length.size)
        return Seen(of, steps, value, view.is_part)

    def _leave(self, undoes: bool) -> None:
        """Give every tensor its plain array back. It may be called again where an interrupt has cut it short."""
        self._calls.stop()
        for t, array, over in self._before.values():
            t._array = array if t._array is over or undoes else plain(t._array)
        t = array = over = None  # type: ignore[assignment]  # or they would keep traced arrays alive
        self._before.clear()
        for one in self._returned.values():
            if isinstance(one, Tensor):
                _make_bare(one)
                root = None if one._view is None else one._view.root
                for other in (root, *[view() for view in (one if root is None else root)._views or ()]):
                    if other is not None:
                        _make_bare(other)
        made = [reference() for reference in self.tracer.made]
        alive = [array for array in made if array is not None]
        del made
        for array in alive:
            array.tracer = None
        if self.tracer.lengths is not None:
            self.tracer.lengths.end()
            for array in alive:
                array.lengths = None
            for one in self._returned.values():  # what a view knows of itself
                while isinstance(one, Tensor | View) and (one := one._view if isinstance(one, Tensor) else one.before):
                    one.attrs, one.shape, one.of_root = whole((one.attrs, one.shape, one.of_root))
        if alive:
            _bare_tensors(alive)
        self.tracer.end()


def _make_bare(tensor: Tensor) -> None:
    tensor._array = plain(tensor._array)


def _bare_tensors(arrays: list[Any]) -> None:
    """Give the tensors that hold these arrays their plain ones, wherever the function has put them."""
    import gc

    for tensor in gc.get_referrers(*arrays):  # looks at every object there is: some tens of milliseconds
        if isinstance(tensor, Tensor):
            _make_bare(tensor)


def graph_of(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Graph:
    """The graph of one call, to look at or to write to a file.

    Args:
        function: a function or a cell.
        *args: its arguments.
        **kwargs: its keyword arguments.

    Returns:
        the graph of this run, without what its result does not need.

    Raises:
        RuntimeError: it computes with the numbers of a tensor outside the operators; the text names the line. Or
            another thread computes gradients meanwhile.
    """
    _others_are_over()
    tensors: list[Tensor] = []
    _key((args, kwargs), tensors, [])
    trace = Trace(Reads([function, *_parts((args, kwargs))]), tensors)
    trace.run(function, args, kwargs)
    held = [t for t, _ in trace.graph.effects if type(t) is Given]
    replace_values(trace.graph.result, (Given, Tensor, Parameter), held.append)
    if held:
        trace.tracer.why = trace.why or "it returns or changes a tensor that it was given"
    why = trace.why if trace.has_begun else "another thread traces or computes gradients"
    if why:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise RuntimeError(f"'{name}' has no graph: {why}{f' ({place_of(trace.line)})' if trace.line else ''}")
    graph = trace.graph
    graph.result = replace_values(graph.result, (Made, Seen), lambda one: one.value)
    return optimized(graph)
