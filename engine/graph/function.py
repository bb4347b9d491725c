"""A function that is traced when it is called, and computed by a plan where one holds.

Each call looks among the plans for its kind of arguments (``key_of``) for one whose guards hold. Where there is none
the call is traced: it runs, on its real arguments, as it does eagerly, and if its trace has no leak the next such call
finds a plan. Where a trace leaks, calls run eagerly from then on, and one warning says which line and why.
"""

from __future__ import annotations

import random as python_random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..base import modes
from ..base.file_labels import place_of, warn_user
from ..tape import taps
from ..tape.tape import state
from ..tensors import backend, random
from ..tensors.parameter import Parameter
from ..tensors.tensor import Tensor
from .arguments import containers_in, is_bare, key_of, parts_of
from .calls import AsksForTypes
from .following import Followed, Following, can_follow
from .graph import Bind, Given, Graph, Made, Seen, Whole, replace_values
from .guarded import Guarded
from .holding import Holding
from .lengths import Lengths
from .passes import optimized
from .plan import Failed, Plan
from .reads import Reads
from .trace import ALSO_READ, Trace, Unfollowed
from .traced_array import TRACED
from .tracer import Tracer

__all__ = ["MOST_PLANS", "Compiled"]

MOST_PLANS = 16
"""Plans that a function may have; calls that would need another one run eagerly."""
_MOST_TRIES = 3
"""Traces of one kind of arguments that may fail because the code was not known or changed what it reads."""


class Compiled:
    """A function with its plans.

    Args:
        function: what is called.
        name: what messages call it.
        fullgraph: whether a call of which no plan can be made is an error.
        level: what the passes may do: "O0" keeps each bit, "O1" makes loops of elementwise operators; "" stands for the
            level of the context.
        opens: gives of a call's arguments which lengths are left open, as ``key_of`` takes it; None where none are.

    Attributes:
        plans: the plans by kind of arguments.
        counts: how many calls were traced, replayed and run eagerly; of the last, how many because a kernel refused the
            numbers that a plan gave it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        fullgraph: bool = False,
        level: str = "O0",
        opens: Callable[[Any, Any], Any] | None = None,
    ) -> None:
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

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the function, by a plan where one holds."""
        if watched() or (taps.operator_taps and not _others_are_over()):
            return self._eagerly(args, kwargs)
        if taps.hooking and not taps.hooking.isdisjoint(self._hooks):
            return self._eagerly_told(args, kwargs)
        if state.recordings:
            return self._followed(args, kwargs)
        given = [x._array for x in args if type(x) is Tensor and type(x._array) not in TRACED and is_bare(x)]
        is_usual = not kwargs and len(given) == len(args) == len(set(map(id, given)))
        if is_usual and self._last is not None and self._last.holds(given) and not self._last.meets(args):
            return self._replayed(self._last, args, given, args, kwargs)
        key, tensors, axes = self._kind(args, kwargs)
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.holds(arrays) and not guarded.shares(tensors, (args, kwargs)):
                self._last = guarded if is_usual else None
                return self._replayed(guarded, tensors, arrays, args, kwargs)
        return self._traced(key, tensors, axes, args, kwargs)

    def _kind(self, args: Any, kwargs: Any) -> tuple[Any, list[Tensor], list[tuple[int, ...]]]:
        """What the plans of such a call are kept under, its tensors, and of each the axes whose lengths are open."""
        tensors: list[Tensor] = []
        told = None if self._opens is None else self._opens(args, kwargs)
        if told is not None and backend.device_target() == "CPU":  # elsewhere a plan is for the shapes that it has
            axes: list[tuple[int, ...]] = []
            key = key_of((args, kwargs), tensors, [], told, axes)
            if any(axes) and key not in self._fixed:
                return key, tensors, axes
            tensors = []
        return key_of((args, kwargs), tensors, []), tensors, []

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
        reads = self._reads(args, kwargs)
        if shared := [t for t in tensors if id(t) in self._also_read]:
            return self._without_plan(ALSO_READ, reads.line_to(shared[0]), args, kwargs, undoes)
        if reads.hooks:
            return None if undoes else self._eagerly_told(args, kwargs)
        if reads.problem:
            self._give_up(key, reads.problem, reads.line)
            return None if undoes else self._eagerly(args, kwargs)
        place = random.position()
        lengths = Lengths([t._array.shape for t in tensors], axes) if any(axes) else None
        if lengths is not None and reads.leads_to(type):  # which tells a length from an int
            return self._without_lengths(key, args, kwargs, undoes)
        trace: Any = Trace(reads, tensors, "O0" if lengths else self.level, containers_in((args, kwargs)), lengths)
        if trace.why:  # calls with other arguments may have a plan
            shared = [t for t in tensors if any(t is one for one in reads.tensors)]
            self._also_read |= set(map(id, shared))
            line = reads.line_to(shared[0]) if shared else ""
            return self._without_plan(trace.why, line, args, kwargs, undoes)
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
                self._give_up(key, "it changes a value of Python that it reads", reads.line_of_change())
        elif self._kind(args, kwargs)[0] != key:
            self._give_up(key, "it changes its arguments", "")
        elif lengths is not None and (trace.keeps_lengths or self._is_pinned(key, lengths)):
            self._fixed.add(key)  # the next call is traced with the lengths that it has
            self.plans.pop(key, None)
        else:
            if reads.is_first:
                reads = Reads(reads.roots)
            plan = Plan(optimized(trace.graph, self.level))
            self.plans.setdefault(key, []).append(Guarded(reads, plan, tensors, lengths))
            self.counts["traced"] += 1
            return result
        self.counts["eager"] += 1
        return result

    def _without_plan(self, why: str, line: str, args: Any, kwargs: Any, undoes: bool) -> Any:
        """Run eagerly for a reason that is this call's alone."""
        if self.fullgraph:
            raise RuntimeError(self._sentence(why, line))
        self._tell(why, line)
        return None if undoes else self._eagerly(args, kwargs)

    def _followed(self, args: Any, kwargs: Any) -> Any:
        """A call inside recordings, which may follow its values."""
        tensors: list[Tensor] = []
        key = "followed", key_of((args, kwargs), tensors, [])
        arrays = [t._array for t in tensors]
        for guarded in self.plans.get(key, ()):
            if guarded.holds(arrays) and not guarded.shares(tensors, (args, kwargs)):
                return self._replayed(guarded, tensors, arrays, args, kwargs)
        if not can_follow() or self._has_given_up(key) or sum(map(len, self.plans.values())) >= MOST_PLANS:
            return self._eagerly(args, kwargs)
        if key not in self._begun:  # a first call may compile kernels, which would take long while calls are looked at
            self._begun |= {key} if len(self._begun) < MOST_PLANS else set()
            return self._eagerly(args, kwargs)
        reads = self._reads(args, kwargs)
        if reads.hooks:
            return self._eagerly_told(args, kwargs)
        if reads.problem:
            self._given_up[key] = _MOST_TRIES
            return self._eagerly(args, kwargs)
        # The run itself is eager, and what it has on the tape is as it has to be. Only where nothing of it but its
        # values can be noticed is it made again, to be traced, and undone.
        run = Unfollowed(reads)
        result = run(self.function, args, kwargs)
        self._also += run.unknown
        is_as_before = key_of((args, kwargs), [], []) == key[1] and Holding(reads.found).hold()
        if run.why or not is_as_before or run.unknown:
            self._given_up[key] = _MOST_TRIES if run.why and not run.unknown else self._given_up.get(key, 0) + 1
            self.counts["eager"] += 1
            return result
        reads = Reads(reads.roots) if reads.is_first else reads
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
        trace = Trace(reads, tensors, containers=containers_in((args, kwargs)))
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

    def _reads(self, args: Any, kwargs: Any) -> Reads:
        """What the code of a call can read; hooks of sessions in there make it run eagerly from then on."""
        reads = Reads([self.function, *parts_of((args, kwargs)), *self._also])
        self._hooks |= reads.hooks
        return reads

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

    def prepare(self, /, *args: Any, **kwargs: Any) -> None:
        """Make a plan for these arguments, as their first call does, and undo what that did."""
        for _ in range(_MOST_TRIES):  # as many calls would try: one may show code that was not known
            key, tensors, axes = self._kind(args, kwargs)
            arrays = [t._array for t in tensors]
            if self._has_given_up(key) or any(guarded.holds(arrays) for guarded in self.plans.get(key, ())):
                break
            told = len(self.told)
            with _streams_kept():
                self._traced(key, tensors, axes, args, kwargs, undoes=True)
            if len(self.told) > told:
                break

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
        warn_user(f"{self._sentence(why, line)}; it runs eagerly")


@contextmanager
def _streams_kept() -> Iterator[None]:
    """Leave the streams of random numbers, NumPy's and Python's too, where they are."""
    place, of_numpy, of_python = random.position(), np.random.get_state(), python_random.getstate()
    try:
        yield
    finally:
        random.go_to(place)
        np.random.set_state(of_numpy)
        python_random.setstate(of_python)


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
    key_of((args, kwargs), tensors, [])
    trace = Trace(Reads([function, *parts_of((args, kwargs))]), tensors)
    with taps.unwatched():  # which would see a run that is none of the program's, and read its numbers
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
