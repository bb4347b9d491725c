"""One traced run of a function: what it read and wrote as a graph, or why no plan can be made of it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from operator import index
from typing import Any

from ..tensors.nested import tensors_in
from ..tensors.tensor import Tensor
from ..tensors.views import View
from .arguments import has_views, is_bare, sharing_with
from .calls import AsksForTypes, Calls
from .graph import Bind, Given, Graph, Made, Seen, Value, replace_values
from .holding import Holding
from .lengths import Length, Lengths, whole
from .passes import expands_at
from .reads import Reads, is_leaf
from .traced_array import TRACED, array_types, layout_of, plain
from .tracer import Tracer

__all__ = ["ALSO_READ", "Trace", "Unfollowed"]

ALSO_READ = "an argument is one of the tensors that it reads from elsewhere"
_PATIENCE = 5.0
"""Seconds that a call at O1 waits to be traced: an eager one in its place would have other bits."""
_MOST_INTERRUPTS = 8
"""Interrupts of the end of a trace after which it is given up; each takes a press of keys, and it some milliseconds."""


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
        among = {id(t) for t in arguments}
        self.externals = [t for t in reads.tensors if id(t) not in among]
        self._before = self.tracer.outside
        self._sharing: list[tuple[Tensor, Any, Any, Any]] = []  # what shares elements with these, as it was
        self._places = arguments
        self._returned: dict[int, Any] = {}
        self._times: Counter[int] = Counter()  # how often a tensor is in the result, or the tensor that it is a view of
        self._several: dict[int, Made] = {}
        self._containers = reads.found.containers() | containers
        if not containers.isdisjoint(reads.found.containers()):
            self.tracer.why = "an argument is one of the lists or dictionaries that it reads from elsewhere"
        if any(id(t) in among and type(t) is Tensor and is_bare(t) for t in reads.tensors):
            self.tracer.why = ALSO_READ

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
            self.unknown = [one for functions in self._calls.unknown.values() for one in functions]
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
                    values[id(array)].layout = layout_of(array)
                    traced[id(array)] = self.tracer.traced(array, values[id(array)])
                elif of == "external" and values[id(array)].of == "argument":
                    self.tracer.why = ALSO_READ
                self._before[id(t)] = (t, array, traced[id(array)])
        sharing = {id(one): one for t, _, _ in self._before.values() for one in sharing_with(t)}
        self._sharing = [(one, one._array, one._view, one._views) for one in sharing.values()]
        self.graph.arguments = [values[id(t._array)] for t in self._places]
        self.graph.externals = [(t, values[id(t._array)]) for t in self.externals]
        for t, _, over in self._before.values():
            t._array = over

    def _note_result(self, result: Any) -> None:
        tracer = self.tracer
        for t, _, over in self._before.values():
            if t._array is not over:
                found = t._array.value if type(t._array) in TRACED else None
                if found is None or has_views(t):
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
        has_leaked = bool(tracer.why)
        self.graph.result = self._structure(result)
        if tracer.why and not has_leaked:
            tracer.line = self._calls.line
        if tracer.lengths is not None:
            self._note_layouts(tracer.lengths)

    def _note_layouts(self, lengths: Lengths) -> None:
        """Let the plan be for these lengths where two tensors outlive the call of which one may be a view of the other.

        Whether a reshaped view is one is up to its strides, and those may be others for other lengths.
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
        """A view of a tensor that outlives the call, made again of that tensor."""
        view: Any = tensor._view
        found: Any = root._array.value if type(root._array) in TRACED else None
        kinds = (*array_types(), *TRACED)
        steps = replace_values(view.chain, kinds, lambda one: getattr(one, "value", None) or one)
        arrays: list[Any] = []
        replace_values(steps, kinds, arrays.append)
        shares = (tensor._array.shape, root._array.shape) == (view.shape, view.of_root)
        follows = shares and (view.is_part or len(steps) == 1) and not arrays and found is not None
        if not follows or self._times[id(tensor)] > 1:
            self.tracer.why = self.tracer.why or "it returns a view of another tensor that outlives it"
        if value in self.tracer.reshaped and self.tracer.lengths is not None:
            self.tracer.lengths.pin_all()  # for others it might share nothing
        of = self._outside(root) if id(root) in self._before else self._made(root, found)
        steps = replace_values(steps, (Length,), lambda length: length.size)
        return Seen(of, steps, value, view.is_part)

    def _leave(self, undoes: bool) -> None:
        """Give every tensor its plain array back. It may be called again where an interrupt has cut it short."""
        self._calls.stop()
        for t, array, over in self._before.values():
            t._array = array if t._array is over or undoes else plain(t._array)
        for t, array, view, views in self._sharing if undoes else ():
            t._array = array
            if t._view is not view or t._views is not views:
                t._view, t._views = view, views
        t = array = over = view = views = None  # type: ignore[assignment]  # or they would keep traced arrays alive
        self._before.clear()
        self._sharing.clear()
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


def _lies_in_rows(tensor: Tensor, tracer: Tracer) -> bool:
    """Whether a view is laid out as a computed tensor would be, for all lengths that are open."""
    if tracer.lengths is None:
        return tensor.is_contiguous()
    steps = () if tensor._view is None else tensor._view.steps
    return all(operator.name in ("reshape", "stop_gradient") for operator, _ in steps)


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
        self._calls = Calls(reads, self)

    def __call__(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Run a function; returns what it returns."""
        try:
            self._calls.start()
            result = function(*args, **kwargs)
            if not self._calls.is_on():
                self.leak("an interrupt came")
        finally:
            self._calls.stop()
        self.unknown = [one for functions in self._calls.unknown.values() for one in functions]
        return result

    def leak(self, why: str) -> None:
        """More could be noticed: the first reason is kept."""
        self.why = self.why or why


def _make_bare(tensor: Tensor) -> None:
    tensor._array = plain(tensor._array)


def _bare_tensors(arrays: list[Any]) -> None:
    """Give the tensors that hold these arrays their plain ones, wherever the function has put them."""
    import gc

    for tensor in gc.get_referrers(*arrays):  # looks at every object there is: some tens of milliseconds
        if isinstance(tensor, Tensor):
            _make_bare(tensor)
