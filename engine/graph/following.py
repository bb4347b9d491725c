"""Calls that an open recording follows: the values by a plan, and the way back by another one, or step by step.

The function is traced inside a recording of its own, whose leaves are all its tensors. What that has on its tape is
written down as a function, the *steps*, which tells the same steps of a call's own arrays.

Where the recording that is open will be walked back once and on arrays, the call is one node on it (``Call``). When
gradients come to it for the first time, its values are computed again and the steps are walked back under a tracer;
from then on the plan of the call gives out what that walk reads, and the walk is a plan, too. What reaches a leaf
leaves the node part by part, so that sums are added up in the order of an eager walk.

Otherwise (a gradient of a gradient, hooks on leaves, ``vjp``) the steps are put on the open recordings themselves. So
they are before the walk where hooks have come in the meantime.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..autograd.steps import step_back
from ..tape.tape import Recording, Several, Sums, no_recording, record, state
from ..tensors.nested import tensors_in
from ..tensors.operator import ARRAY_FUNCTIONS, Operator
from ..tensors.tensor import Tensor
from .graph import Draw, Graph, Value, draws_in, replace_values, values_in
from .passes import optimized
from .plan import Failed, Plan, operands_of
from .traced_array import TracedArray, plain
from .tracer import Drawn, Tracer

__all__ = ["Followed", "Following", "can_follow"]

_MOST_WAYS = 4
"""Ways back that have a plan; which one it is depends on which outputs gradients come to, and what they are for."""


def can_follow() -> bool:
    """Whether the recordings that are open take steps as an operator gives them, and no other way."""
    return all(type(recording) is Recording for recording in state.recordings)


class Followed:
    """A function that runs in a recording of its own.

    Args:
        function: the function.
        tensors: its tensors: those among the arguments, then those from outside.

    Attributes:
        leaves: the arrays of the tensors at the start.
        recording: what was recorded.
        returned: the arrays of the tensors in the result.
        left: the arrays of the tensors at the end.
    """

    def __init__(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> None:
        self.function = function
        self.tensors = tensors

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it; returns what the function returns."""
        self.leaves = [t._array for t in self.tensors]
        with no_recording(), Recording(self.leaves) as self.recording:
            result = self.function(*args, **kwargs)
        self.returned = [t._array for t in tensors_in(result)]
        self.left = [t._array for t in self.tensors]
        return result

    @property
    def is_plain(self) -> bool:
        """Whether operators alone are on the tape: no hook looks at a value, and no function is to be called again."""
        tape = self.recording
        if tape.renamings or tape.hooked or tape.marks:
            return False
        return all(isinstance(operator, Operator) for operator, *_ in tape.nodes)


class Following:
    """What computes calls of one kind, and puts them on the open recordings.

    Args:
        followed: the function's run.
        graph: its trace.
        places: of each tensor among the arguments, each once, its place among them all.

    Raises:
        LookupError: an array on the tape is not known.

    Attributes:
        plan: of a call that is one node.
    """

    def __init__(self, followed: Followed, graph: Graph, places: Sequence[int]) -> None:
        self.steps = _Steps(followed, graph)
        self._graph = graph
        self._leaves = [array.value for array in followed.leaves]
        self._places = places
        self._outside = [tensor for tensor, _ in graph.externals]
        self._ways: dict[Any, _WayBack | None] = {}
        self._needs: tuple[Value, ...] = ()
        self._put: Plan | None = None
        self._alone: Plan | None = None
        self.plan = self._plan(())

    def _plan(self, given_out: Sequence[Value], alone: bool = False) -> Plan:
        """A plan that gives out some values and the draws too; or these alone, of the leaves' arrays and the draws."""
        graph = copy.copy(self._graph)
        graph.nodes = [copy.copy(node) for node in graph.nodes]
        graph.constants, graph.seen = dict(graph.constants), set(graph.seen)
        result, drawn = graph.result, self.steps.drawn
        if alone:
            graph.arguments, graph.externals, graph.effects, result = self._leaves, [], [], None
            graph.drawn = list(drawn)
        graph.result = (result, tuple(given_out), tuple(drawn.values()))
        return Plan(optimized(graph))

    def call(self, arrays: list[Any], tensors: Sequence[Tensor]) -> Any:
        """Compute a call and put it on the open recordings.

        Args:
            arrays: of the tensors among the arguments, in order.
            tensors: those tensors.

        Returns:
            what the function returns.

        Raises:
            Failed: a kernel raised; nothing is on the recordings.
        """
        steps = self.steps
        leaves = [*[arrays[place] for place in self._places], *[t._array for t in self._outside]]
        (recording, *more) = state.recordings
        if more or not recording.spares or recording.hooked:
            self._put = self._put or self._plan(steps.wanted)
            result, values, draws = self._put.run(arrays, tensors)
            outputs = steps.tell(record, leaves, [t._array for t in values], draws)
            for place, tensor in self._returned(result):
                tensor._array = outputs[place]
            return result
        result, saved, draws = self.plan.run(arrays, tensors)
        outputs = [t._array if isinstance(t, Tensor) else None for t in steps.outputs]
        for place, tensor in self._returned(result):
            if steps.is_further[place]:  # than another one of the same value
                tensor._array = tensor._array.view()
            outputs[place] = tensor._array
        call = Call(self, leaves, [t._array for t in saved], draws)
        self._follow(recording, call, [leaves[place] for place in steps.inputs], outputs)
        return result

    def _returned(self, result: Any) -> list[tuple[int, Tensor]]:
        """The tensors in a result that the tape may follow, with their places among the outputs."""
        tensors = tensors_in(result)
        return [(place, tensors[one]) for place, one in enumerate(self.steps.outputs) if not isinstance(one, Tensor)]

    def _follow(self, recording: Recording, call: Call, inputs: list[Any], outputs: list[Any]) -> None:
        """What ``record`` does, for each output by the inputs that it depends on."""
        tracked = [id(array) in recording.tracked for array in inputs]
        if any(tracked):
            recording.nodes.append((call, tuple(inputs), tuple(outputs), {}))
            recording.let_go = True  # of the values within
        for output, depends in zip(outputs, self.steps.depends, strict=True):
            if any(tracked[place] for place in depends):
                recording.tracked.add(id(output))
            elif recording.beside:
                recording.pass_by(tuple([inputs[place] for place in depends]), output)

    # The way back

    def back(
        self,
        call: Call,
        functions: Any,
        tracked: set[int],
        gradient: tuple[Any, ...],
        inputs: tuple[Any, ...],
        output: tuple[Any, ...],
    ) -> list[tuple[Any, Any]]:
        """The gradients that reach the inputs of a call, part by part, in the order of an eager walk."""
        followed = tuple([id(array) in tracked for array in inputs])
        key = tuple([g is not None for g in gradient]), followed
        is_usual = functions is ARRAY_FUNCTIONS and all(
            g is None or (type(g) is np.ndarray and g.dtype == x.dtype) for g, x in zip(gradient, output, strict=True)
        )
        way = self._ways.get(key) if is_usual else None
        found = None if way is None else way.run(call, gradient)
        if way is not None and found is not None:
            return [(inputs[place], part) for place, part in zip(way.to, found, strict=True)]
        arrays = self._values_of(call)
        if is_usual and key not in self._ways and len(self._ways) < _MOST_WAYS:
            pairs = self._traced_back(key, call, arrays, gradient)
        else:
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            pairs = _walked(nodes, outputs, gradient, [call.leaves[p] for p in self.steps.inputs], followed, functions)
        return [(inputs[place], part) for place, part in pairs]

    def _values_of(self, call: Call) -> list[Any]:
        """The wanted values of a call, computed again of what it had."""
        self._alone = self._alone or self._plan(self.steps.wanted, alone=True)
        _, values, _ = self._alone.run([*call.leaves, *call.draws], ())
        return [t._array for t in values]

    def steps_of(self, call: Call, outputs: Sequence[Any]) -> list[Any]:
        """The nodes that an eager run puts on the tape, with the outputs that the call has there."""
        nodes, again = self.steps.nodes(call.leaves, self._values_of(call), call.draws)
        names = {id(array): output for array, output in zip(again, outputs, strict=True)}

        def named(value: Any) -> Any:
            return tuple(map(named, value)) if type(value) is tuple else names.get(id(value), value)

        return [(operator, named(inputs), named(output), attrs) for operator, inputs, output, attrs in nodes]

    def _traced_back(self, key: Any, call: Call, arrays: list[Any], gradient: tuple[Any, ...]) -> list[tuple[int, Any]]:
        """Walk back and make a plan of the walk, if there is one."""
        tracer = Tracer()
        sources: dict[Value, tuple[str, int]] = {}

        def traced(kind: str, given: Sequence[Any]) -> list[Any]:
            made: dict[int, Any] = {}
            for place, array in enumerate(given):
                if array is not None and id(array) not in made:
                    value = Value(array.shape, array.dtype, "argument")
                    sources[value] = kind, place
                    made[id(array)] = tracer.traced(array, value)
            return [None if array is None else made[id(array)] for array in given]

        leaves, values, came = traced("leaf", call.leaves), traced("value", arrays), traced("gradient", gradient)
        if not tracer.begin():  # it is another thread's turn
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            inputs = [call.leaves[place] for place in self.steps.inputs]
            return _walked(nodes, outputs, gradient, inputs, key[1], ARRAY_FUNCTIONS)
        try:
            draws = [tracer.given(number, pair) for number, pair in zip(self.steps.drawn, call.draws, strict=True)]
            nodes, outputs = self.steps.nodes(leaves, values, draws)
            inputs = [leaves[place] for place in self.steps.inputs]
            pairs = _walked(nodes, outputs, tuple(came), inputs, key[1], tracer.functions)
        finally:
            tracer.end()
        parts = [part for _, part in pairs]
        is_known = not tracer.why and all(type(part) is TracedArray and part.value is not None for part in parts)
        self._ways[key] = None
        if is_known:
            graph = tracer.graph
            graph.arguments, graph.drawn = list(sources), list(self.steps.drawn)
            graph.result = tuple([part.value for part in parts])
            graph = optimized(graph)
            used = {value for node in graph.nodes for value in values_in(operands_of(node))} | graph.given_out()
            graph.arguments = [value for value in graph.arguments if value in used]
            self._ways[key] = self._way(graph, [sources[value] for value in graph.arguments], [to for to, _ in pairs])
        for reference in tracer.made:
            array = reference()
            if array is not None:
                array.tracer = None
        return [(to, plain(part)) for to, part in pairs]

    def _way(self, graph: Graph, sources: list[tuple[str, int]], to: list[int]) -> _WayBack:
        """A plan of a walk back; calls give out from now on what it reads."""
        read = [self.steps.wanted[place] for kind, place in sources if kind == "value"]
        self._needs = tuple(dict.fromkeys((*self._needs, *read)))
        self.plan = self._plan(self._needs)
        saved = {value: place for place, value in enumerate(self._needs)}
        sources = [(kind, saved[self.steps.wanted[p]] if kind == "value" else p) for kind, p in sources]
        return _WayBack(Plan(graph), sources, to)


class _WayBack(NamedTuple):
    """A walk back as a plan.

    Attributes:
        plan: it gives the parts of the gradients.
        sources: for each argument of the plan, whether it is a leaf, a value that a call saved or a gradient that came,
            and which.
        to: for each part, to which input it goes.
    """

    plan: Plan
    sources: list[tuple[str, int]]
    to: list[int]

    def run(self, call: Call, gradient: tuple[Any, ...]) -> list[Any] | None:
        """The parts; None where the call has not saved what is read, or a kernel refuses the numbers."""
        of = {"leaf": call.leaves, "value": call.saved, "gradient": gradient}
        if any(kind == "value" and place >= len(call.saved) for kind, place in self.sources):
            return None
        try:
            parts = self.plan.run([*[of[kind][place] for kind, place in self.sources], *call.draws], ())
        except Failed:  # walked step by step, it says why
            return None
        return [part._array for part in parts]


class Call(Several):
    """A call on a tape.

    Args:
        following: knows the way back.
        leaves: the arrays of the function's tensors.
        saved: what its plan gave out for the way back.
        draws: the seeds and counters of its random numbers.
    """

    name = "jit"

    def __init__(self, following: Following, leaves: list[Any], saved: list[Any], draws: tuple[Any, ...]) -> None:
        self.following = following
        self.leaves = leaves
        self.saved = saved
        self.draws = draws

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Any, Any]]:
        """The gradients of the inputs that are followed, part by part."""
        return self.following.back(self, functions, tracked, gradient, inputs, output)

    def steps(self, output: tuple[Any, ...]) -> list[Any]:
        """What an eager run puts on the tape."""
        return self.following.steps_of(self, output)


class _Parts(Sums):
    """Gradients of a walk, of which those of the leaves are kept part by part, in the order in which they come."""

    def __init__(self, leaves: dict[int, int], functions: Any) -> None:
        dict.__init__(self)
        self.functions = functions
        self.parts = {}
        self.leaves = leaves
        self.came: list[tuple[int, Any]] = []

    def add(self, key: int, gradient: Any) -> bool:
        """Keep what comes to a leaf; whether it is one."""
        place = self.leaves.get(key)
        if place is not None:
            self.came.append((place, gradient))
        return place is not None


def _walked(
    nodes: list[Any],
    outputs: Sequence[Any],
    gradient: tuple[Any, ...],
    inputs: list[Any],
    followed: tuple[bool, ...],
    functions: Any,
) -> list[tuple[int, Any]]:
    """Walk back over the steps of a call; returns pairs of an input's place and a part of its gradient."""
    tracked = {id(array) for array, is_followed in zip(inputs, followed, strict=True) if is_followed}
    parts = _Parts({id(array): place for place, array in reversed(list(enumerate(inputs)))}, functions)
    for _, operands, output, _ in nodes:
        if any(id(x) in tracked for x in operands):
            tracked.update(map(id, output) if type(output) is tuple else (id(output),))
    for array, g in zip(outputs, gradient, strict=True):
        if g is not None:
            dict.__setitem__(parts, id(array), g)
    for node in reversed(nodes):
        if any(id(x) in tracked for x in node[1]):
            step_back(node, parts, functions, tracked, {})
    return parts.came


class _Steps:
    """The steps of a call on the tape, as a function.

    Args:
        followed: the traced run.
        graph: its trace.

    Raises:
        LookupError: an array on the tape is not known.

    Attributes:
        source: the text of the function.
        tell: it: called with what is told of each step, the arrays of the leaves, of the wanted values and the draws;
            returns the arrays of the outputs.
        wanted: the values on the tape, without the leaves and what is constant.
        drawn: the draws of the call by their numbers, also of what is not on the tape.
        inputs: the places of the leaves on the tape.
        outputs: what the tape may follow from then on: a place among the tensors in the result, or a tensor from
            outside that is bound anew.
        is_further: of each whether it is a further name of a value.
        depends: of each the places among ``inputs`` on which it depends.
    """

    def __init__(self, followed: Followed, graph: Graph) -> None:
        self.wanted: list[Value] = []
        found = [draw for node in graph.nodes for draw in draws_in(operands_of(node))]
        self.drawn = {d.number: (Draw(d.count, True, d.number), Draw(d.count, False, d.number)) for d in found}
        self._constants = graph.constants
        self._globals: dict[str, Any] = {}
        self._names: dict[int, str] = {}  # of arrays, by their identity
        self._first: dict[Value, str] = {}  # the name under which a value was met first
        self._lines: list[str] = []
        for leaf in followed.leaves:
            self._first.setdefault(leaf.value, self._names.setdefault(id(leaf), f"x{len(self._names)}"))
        leaves = "".join(f"{self._names[id(leaf)]}, " for leaf in followed.leaves)
        for operator, inputs, output, attrs in followed.recording.nodes:
            step = ", ".join(map(self._expression, (inputs, output, attrs)))
            self._lines.append(f"told({self._hold(operator)}, {step})")
        self._see_ends(followed, graph)
        wanted = "".join(f"{self._first[value]}, " for value in self.wanted)
        drawn = "".join(f"d{number}, " for number in self.drawn)
        head = [f"({names}) = {given}" for names, given in ((leaves, "x"), (wanted, "v"), (drawn, "d")) if names]
        self.source = "def tell(told, x, v, d):\n" + "".join(f"    {line}\n" for line in (*head, *self._lines))
        # As of a plan, the text is made here of numbered names alone.
        exec(compile(self.source, "<steps>", "exec"), self._globals)
        self.tell: Callable[..., Any] = self._globals["tell"]

    def nodes(self, leaves: list[Any], values: list[Any], draws: Sequence[Any]) -> tuple[list[Any], Any]:
        """The steps as nodes, and the arrays of the outputs."""
        found: list[Any] = []
        outputs = self.tell(lambda *node: found.append(node), leaves, values, draws)
        return found, outputs

    def _see_ends(self, followed: Followed, graph: Graph) -> None:
        """Find out inputs and outputs."""
        used: set[int] = set()
        made: set[int] = set()
        on: dict[int, set[int]] = {id(leaf): {place} for place, leaf in reversed(list(enumerate(followed.leaves)))}
        for _, inputs, output, _ in followed.recording.nodes:
            used.update(map(id, inputs))
            for array in output if type(output) is tuple else (output,):
                made.add(id(array))
                on[id(array)] = set().union(*[on.get(id(x), ()) for x in inputs])
        leaves = {id(leaf): place for place, leaf in reversed(list(enumerate(followed.leaves)))}
        self.inputs = [place for key, place in leaves.items() if key in used]
        places = {place: number for number, place in enumerate(self.inputs)}
        returned = enumerate(followed.returned)
        ends: list[tuple[Any, Any]] = [(place, array) for place, array in returned if id(array) in made]
        bound = {id(tensor) for tensor, _ in graph.effects}
        for tensor, array in zip(followed.tensors, followed.left, strict=True):
            if id(tensor) in bound and id(array) in made:
                if self._names[id(array)] != self._first[array.value]:
                    raise LookupError("a tensor is left with a further name of a value")
                ends.append((tensor, array))
        self.outputs = [end for end, _ in ends]
        self.is_further = [self._names[id(array)] != self._first[array.value] for _, array in ends]
        self.depends = [[places[place] for place in sorted(on[id(array)])] for _, array in ends]
        self._lines.append(f"return ({''.join(f'{self._names[id(array)]}, ' for _, array in ends)})")

    def _expression(self, value: Any) -> str:
        """An operand, an output or attributes of a step."""
        kind = type(value)
        if kind is TracedArray:
            return self._name(value)
        if kind is Drawn:
            return f"d{value.draw.number}[{0 if value.draw.is_seed else 1}]"
        moving: list[Any] = []
        replace_values(value, (TracedArray, Drawn, np.ndarray), moving.append)
        if not moving:
            is_number = kind is bool or kind is int or value is None
            return f"({value!r})" if is_number else self._hold(value)
        if kind is tuple:
            return f"({''.join(f'{self._expression(part)}, ' for part in value)})"
        if kind is list:
            return f"[{', '.join(map(self._expression, value))}]"
        if kind is dict:
            return f"{{{', '.join(f'{self._hold(key)}: {self._expression(part)}' for key, part in value.items())}}}"
        if kind is slice:
            return f"slice({', '.join(map(self._expression, (value.start, value.stop, value.step)))})"
        raise LookupError(f"a {kind.__name__} on the tape is not known")

    def _name(self, array: TracedArray) -> str:
        name = self._names.get(id(array))
        if name is not None:
            return name
        value = array.value
        if value is None:
            raise LookupError("an array on the tape is not known")
        if value in self._constants:
            name = self._first[value] = self._hold(self._constants[value])
        elif value in self._first:  # a further name, by which the tape tells the two apart
            name = f"n{len(self._names)}"
            self._lines.append(f"{name} = {self._first[value]}.view()")
        else:
            name = self._first[value] = f"v{len(self._names)}"
            self.wanted.append(value)
        self._names[id(array)] = name
        return name

    def _hold(self, thing: Any) -> str:
        name = f"k{len(self._globals)}"
        self._globals[name] = thing
        return name
