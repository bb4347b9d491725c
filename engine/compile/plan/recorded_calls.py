"""Calls inside an active recording: values from a plan, gradients from a second plan or node by node.

The function is traced inside a recording of its own, whose leaves are all its tensors. The tape of that recording is
compiled to a function, the *steps*, which records the same nodes with the arrays of another call.

If the active recording runs one backward pass on arrays, the call is one node on its tape (``Call``). When gradients
first reach that node, its values are recomputed and the backward pass through the steps is traced. From then on the
plan of the call returns the values that this backward pass reads, and the backward pass is a plan, too. The node
returns the gradients of its leaves as separate parts, so that sums are accumulated in the order of eager mode.

Otherwise (a gradient of a gradient, hooks on leaves, ``vjp``) the steps are recorded on the active recordings. The
same happens before the backward pass if hooks were registered in the meantime.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...autograd.backward import step_back
from ...autograd.sums import Sums
from ...tape.tape import CompositeNode, Recording, no_recording, record, state
from ...tensors.nested import tensors_in
from ...tensors.operator import ARRAY_FUNCTIONS, Operator
from ...tensors.tensor import Tensor
from ..graph import Draw, Graph, Value, draws_in, operands_of, replace_values, values_in
from ..passes.optimization import optimized
from ..trace.tracer import Drawn, Tracer
from ..traced_array import TracedArray, plain
from .plan import Failed, Plan

__all__ = ["Followed", "Following", "can_follow"]

_MOST_WAYS = 4
"""Maximum number of planned backward passes; each is for one set of outputs with gradients and of tracked inputs."""


def can_follow() -> bool:
    """Return whether all active recordings record nodes exactly as operators emit them."""
    return all(type(recording) is Recording for recording in state.recordings)


class Followed:
    """A function that runs in a recording of its own.

    Args:
        function: the function.
        tensors: its tensors: those among the arguments, then the external ones.

    Attributes:
        leaves: the arrays of the tensors at the start.
        recording: the recording of the run.
        returned: the arrays of the tensors in the result.
        left: the arrays of the tensors at the end.
    """

    def __init__(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> None:
        self.function = function
        self.tensors = tensors

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function and return its result."""
        self.leaves = [t._array for t in self.tensors]
        with no_recording(), Recording(self.leaves) as self.recording:
            result = self.function(*args, **kwargs)
        self.returned = [t._array for t in tensors_in(result)]
        self.left = [t._array for t in self.tensors]
        return result

    @property
    def is_plain(self) -> bool:
        """True if the tape holds operators alone: no hook reads a value and no function is called again."""
        tape = self.recording
        if tape.renamings or tape.hooks or tape.marks:
            return False
        return all(isinstance(operator, Operator) for operator, *_ in tape.nodes)


class Following:
    """Planned calls of one argument kind, recorded on the active recordings.

    Args:
        followed: the function's run.
        graph: its trace.
        places: for each distinct tensor among the arguments, its index among all of them.

    Raises:
        LookupError: an array on the tape is unknown.

    Attributes:
        plan: plan of a call that is recorded as one node.
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
        """Return a plan that also returns some values and the draws; if alone, only these, from the leaves."""
        graph = copy.copy(self._graph)
        graph.nodes = [copy.copy(node) for node in graph.nodes]
        graph.constants, graph.seen = dict(graph.constants), set(graph.seen)
        result, draws = graph.result, self.steps.drawn
        if alone:
            graph.arguments, graph.externals, graph.effects, result = self._leaves, [], [], None
            graph.drawn = list(draws)
        graph.result = (result, tuple(given_out), tuple(draws.values()))
        return Plan(optimized(graph))

    def call(self, arrays: list[Any], tensors: Sequence[Tensor]) -> Any:
        """Compute a call and record it on the active recordings.

        Args:
            arrays: the arrays of the tensors among the arguments, in order.
            tensors: those tensors.

        Returns:
            the function's result.

        Raises:
            Failed: a kernel raised; nothing was recorded.
        """
        steps = self.steps
        leaves = [*[arrays[index] for index in self._places], *[t._array for t in self._outside]]
        (recording, *other_recordings) = state.recordings
        if other_recordings or not recording.releases_unread or recording.hooks:
            self._put = self._put or self._plan(steps.wanted)
            result, values, draws = self._put.run(arrays, tensors)
            outputs = steps.tell(record, leaves, [t._array for t in values], draws)
            for index, tensor in self._returned(result):
                tensor._array = outputs[index]
            return result
        result, saved, draws = self.plan.run(arrays, tensors)
        outputs = [t._array if isinstance(t, Tensor) else None for t in steps.outputs]
        for index, tensor in self._returned(result):
            if steps.is_further[index]:  # a second output of the same value
                tensor._array = tensor._array.view()
            outputs[index] = tensor._array
        call = Call(self, leaves, [t._array for t in saved], draws)
        self._follow(recording, call, [leaves[index] for index in steps.inputs], outputs)
        return result

    def _returned(self, result: Any) -> list[tuple[int, Tensor]]:
        """Return the tensors in a result that the tape may track, with their indices among the outputs."""
        tensors = tensors_in(result)
        return [
            (index, tensors[output])
            for index, output in enumerate(self.steps.outputs)
            if not isinstance(output, Tensor)
        ]

    def _follow(self, recording: Recording, call: Call, inputs: list[Any], outputs: list[Any]) -> None:
        """Record the call like ``record``, but track each output by the inputs that it depends on."""
        tracked = [id(array) in recording.tracked for array in inputs]
        if any(tracked):
            recording.nodes.append((call, tuple(inputs), tuple(outputs), {}))
            recording.has_placeholders = True  # the inner values
        for output, depends in zip(outputs, self.steps.depends, strict=True):
            if any(tracked[index] for index in depends):
                recording.tracked.add(id(output))
            elif recording.other_arguments:
                recording.track_other_arguments(tuple([inputs[index] for index in depends]), output)

    # Backward pass

    def back(
        self,
        call: Call,
        functions: Any,
        tracked: set[int],
        gradient: tuple[Any, ...],
        inputs: tuple[Any, ...],
        output: tuple[Any, ...],
    ) -> list[tuple[Any, Any]]:
        """Return the gradients of a call's inputs as separate parts, in the order of eager mode."""
        followed = tuple([id(array) in tracked for array in inputs])
        key = tuple([g is not None for g in gradient]), followed
        is_usual = functions is ARRAY_FUNCTIONS and all(
            g is None or (type(g) is np.ndarray and g.dtype == x.dtype) for g, x in zip(gradient, output, strict=True)
        )
        way = self._ways.get(key) if is_usual else None
        parts = None if way is None else way.run(call, gradient)
        if way is not None and parts is not None:
            return [(inputs[index], part) for index, part in zip(way.to, parts, strict=True)]
        arrays = self._values_of(call)
        if is_usual and key not in self._ways and len(self._ways) < _MOST_WAYS:
            pairs = self._traced_back(key, call, arrays, gradient)
        else:
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            pairs = _walked(
                nodes, outputs, gradient, [call.leaves[index] for index in self.steps.inputs], followed, functions
            )
        return [(inputs[index], part) for index, part in pairs]

    def _values_of(self, call: Call) -> list[Any]:
        """Recompute the wanted values of a call from its saved arrays."""
        self._alone = self._alone or self._plan(self.steps.wanted, alone=True)
        _, values, _ = self._alone.run([*call.leaves, *call.draws], ())
        return [t._array for t in values]

    def steps_of(self, call: Call, outputs: Sequence[Any]) -> list[Any]:
        """Return the nodes that an eager run records, with the outputs of the call substituted."""
        nodes, recomputed = self.steps.nodes(call.leaves, self._values_of(call), call.draws)
        names = {id(array): output for array, output in zip(recomputed, outputs, strict=True)}

        def named(value: Any) -> Any:
            return tuple(map(named, value)) if type(value) is tuple else names.get(id(value), value)

        return [(operator, named(inputs), named(output), attrs) for operator, inputs, output, attrs in nodes]

    def _traced_back(self, key: Any, call: Call, arrays: list[Any], gradient: tuple[Any, ...]) -> list[tuple[int, Any]]:
        """Run the backward pass and make a plan of it, if possible."""
        tracer = Tracer()
        sources: dict[Value, tuple[str, int]] = {}

        def traced(kind: str, given: Sequence[Any]) -> list[Any]:
            placeholders: dict[int, Any] = {}
            for index, array in enumerate(given):
                if array is not None and id(array) not in placeholders:
                    value = Value(array.shape, array.dtype, "argument")
                    sources[value] = kind, index
                    placeholders[id(array)] = tracer.traced(array, value)
            return [None if array is None else placeholders[id(array)] for array in given]

        leaves, values, incoming = traced("leaf", call.leaves), traced("value", arrays), traced("gradient", gradient)
        if not tracer.begin():  # another thread is tracing
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            inputs = [call.leaves[index] for index in self.steps.inputs]
            return _walked(nodes, outputs, gradient, inputs, key[1], ARRAY_FUNCTIONS)
        try:
            draws = [tracer.given(number, pair) for number, pair in zip(self.steps.drawn, call.draws, strict=True)]
            nodes, outputs = self.steps.nodes(leaves, values, draws)
            inputs = [leaves[index] for index in self.steps.inputs]
            pairs = _walked(nodes, outputs, tuple(incoming), inputs, key[1], tracer.functions)
        finally:
            tracer.end()
        parts = [part for _, part in pairs]
        is_complete = not tracer.why and all(type(part) is TracedArray and part.value is not None for part in parts)
        self._ways[key] = None
        if is_complete:
            graph = tracer.graph
            graph.arguments, graph.drawn = list(sources), list(self.steps.drawn)
            graph.result = tuple([part.value for part in parts])
            graph = optimized(graph)
            used_values = {value for node in graph.nodes for value in values_in(operands_of(node))} | graph.given_out()
            graph.arguments = [value for value in graph.arguments if value in used_values]
            self._ways[key] = self._way(graph, [sources[value] for value in graph.arguments], [to for to, _ in pairs])
        for reference in tracer.made:
            array = reference()
            if array is not None:
                array.tracer = None
        return [(to, plain(part)) for to, part in pairs]

    def _way(self, graph: Graph, sources: list[tuple[str, int]], to: list[int]) -> _WayBack:
        """Make a plan of a backward pass; later calls save the values that it reads."""
        values_read = [self.steps.wanted[index] for kind, index in sources if kind == "value"]
        self._needs = tuple(dict.fromkeys((*self._needs, *values_read)))
        self.plan = self._plan(self._needs)
        saved = {value: index for index, value in enumerate(self._needs)}
        sources = [(kind, saved[self.steps.wanted[index]] if kind == "value" else index) for kind, index in sources]
        return _WayBack(Plan(graph), sources, to)


class _WayBack(NamedTuple):
    """A backward pass as a plan.

    Attributes:
        plan: returns the parts of the gradients.
        sources: for each argument of the plan, its kind (a leaf, a value saved by a call, an incoming gradient) and its
            index.
        to: for each part, the index of its input.
    """

    plan: Plan
    sources: list[tuple[str, int]]
    to: list[int]

    def run(self, call: Call, gradient: tuple[Any, ...]) -> list[Any] | None:
        """Return the parts; None if the call did not save a value that is read, or a kernel refuses the numbers."""
        groups = {"leaf": call.leaves, "value": call.saved, "gradient": gradient}
        if any(kind == "value" and index >= len(call.saved) for kind, index in self.sources):
            return None
        try:
            parts = self.plan.run([*[groups[kind][index] for kind, index in self.sources], *call.draws], ())
        except Failed:  # the pass node by node raises the error
            return None
        return [part._array for part in parts]


class Call(CompositeNode):
    """A call as one node on a tape.

    Args:
        following: computes the backward pass.
        leaves: the arrays of the function's tensors.
        saved: the values that its plan saved for the backward pass.
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
        """Return the gradients of the tracked inputs as separate parts."""
        return self.following.back(self, functions, tracked, gradient, inputs, output)

    def steps(self, output: tuple[Any, ...]) -> list[Any]:
        """Return the nodes that an eager run records."""
        return self.following.steps_of(self, output)


class _Parts(Sums):
    """Gradients of a backward pass; the gradients of leaves are kept as separate parts, in order of arrival."""

    def __init__(self, leaves: dict[int, int], functions: Any) -> None:
        dict.__init__(self)
        self.functions = functions
        self.parts = {}
        self.leaves = leaves
        self.came: list[tuple[int, Any]] = []

    def add(self, key: int, gradient: Any) -> bool:
        """Keep a gradient if it belongs to a leaf, and return whether it does."""
        index = self.leaves.get(key)
        if index is not None:
            self.came.append((index, gradient))
        return index is not None


def _walked(
    nodes: list[Any],
    outputs: Sequence[Any],
    gradient: tuple[Any, ...],
    inputs: list[Any],
    followed: tuple[bool, ...],
    functions: Any,
) -> list[tuple[int, Any]]:
    """Run the backward pass of a call's steps; return pairs of an input index and a part of its gradient."""
    tracked = {id(array) for array, is_followed in zip(inputs, followed, strict=True) if is_followed}
    parts = _Parts({id(array): index for index, array in reversed(list(enumerate(inputs)))}, functions)
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
    """The tape of a call, compiled to a function.

    Args:
        followed: the traced run.
        graph: its trace.

    Raises:
        LookupError: an array on the tape is unknown.

    Attributes:
        source: the source text of the function.
        tell: the function; its arguments are a callback for each step, the arrays of the leaves, those of the wanted
            values, and the draws; it returns the arrays of the outputs.
        wanted: the values on the tape other than leaves and constants.
        drawn: all draws of the call by number, including those that are not on the tape.
        inputs: the indices of the leaves that are on the tape.
        outputs: the values that the tape may track from then on: an index among the tensors in the result, or a rebound
            external tensor.
        is_further: for each output, whether it is a second array of a value.
        depends: for each output, the positions in ``inputs`` of the leaves that it depends on.
    """

    def __init__(self, followed: Followed, graph: Graph) -> None:
        self.wanted: list[Value] = []
        found_draws = [draw for node in graph.nodes for draw in draws_in(operands_of(node))]
        self.drawn = {d.number: (Draw(d.count, True, d.number), Draw(d.count, False, d.number)) for d in found_draws}
        self._constants = graph.constants
        self._globals: dict[str, Any] = {}
        self._names: dict[int, str] = {}  # array names by identity
        self._first: dict[Value, str] = {}  # the first name of each value
        self._lines: list[str] = []
        for leaf in followed.leaves:
            self._first.setdefault(leaf.value, self._names.setdefault(id(leaf), f"x{len(self._names)}"))
        leaf_names = "".join(f"{self._names[id(leaf)]}, " for leaf in followed.leaves)
        for operator, inputs, output, attrs in followed.recording.nodes:
            step = ", ".join(map(self._expression, (inputs, output, attrs)))
            self._lines.append(f"told({self._hold(operator)}, {step})")
        self._see_ends(followed, graph)
        wanted_names = "".join(f"{self._first[value]}, " for value in self.wanted)
        draw_names = "".join(f"d{number}, " for number in self.drawn)
        head = [
            f"({names}) = {source}"
            for names, source in ((leaf_names, "x"), (wanted_names, "v"), (draw_names, "d"))
            if names
        ]
        self.source = "def tell(told, x, v, d):\n" + "".join(f"    {line}\n" for line in (*head, *self._lines))
        # As in a plan, the text consists of numbered names alone.
        exec(compile(self.source, "<steps>", "exec"), self._globals)
        self.tell: Callable[..., Any] = self._globals["tell"]

    def nodes(self, leaves: list[Any], values: list[Any], draws: Sequence[Any]) -> tuple[list[Any], Any]:
        """Return the steps as nodes, and the arrays of the outputs."""
        recorded_nodes: list[Any] = []
        outputs = self.tell(lambda *node: recorded_nodes.append(node), leaves, values, draws)
        return recorded_nodes, outputs

    def _see_ends(self, followed: Followed, graph: Graph) -> None:
        """Determine the inputs and outputs."""
        used_ids: set[int] = set()
        produced: set[int] = set()
        ancestors: dict[int, set[int]] = {
            id(leaf): {index} for index, leaf in reversed(list(enumerate(followed.leaves)))
        }
        for _, inputs, output, _ in followed.recording.nodes:
            used_ids.update(map(id, inputs))
            for array in output if type(output) is tuple else (output,):
                produced.add(id(array))
                ancestors[id(array)] = set().union(*[ancestors.get(id(x), ()) for x in inputs])
        leaves = {id(leaf): index for index, leaf in reversed(list(enumerate(followed.leaves)))}
        self.inputs = [index for key, index in leaves.items() if key in used_ids]
        numbers = {index: number for number, index in enumerate(self.inputs)}
        returned = enumerate(followed.returned)
        ends: list[tuple[Any, Any]] = [(index, array) for index, array in returned if id(array) in produced]
        effect_ids = {id(tensor) for tensor, _ in graph.effects}
        for tensor, array in zip(followed.tensors, followed.left, strict=True):
            if id(tensor) in effect_ids and id(array) in produced:
                if self._names[id(array)] != self._first[array.value]:
                    raise LookupError("a tensor is left with a further name of a value")
                ends.append((tensor, array))
        self.outputs = [end for end, _ in ends]
        self.is_further = [self._names[id(array)] != self._first[array.value] for _, array in ends]
        self.depends = [[numbers[index] for index in sorted(ancestors[id(array)])] for _, array in ends]
        self._lines.append(f"return ({''.join(f'{self._names[id(array)]}, ' for _, array in ends)})")

    def _expression(self, value: Any) -> str:
        """Return the source text of an operand, an output or the attributes of a step."""
        kind = type(value)
        if kind is TracedArray:
            return self._name(value)
        if kind is Drawn:
            return f"d{value.draw.number}[{0 if value.draw.is_seed else 1}]"
        variables: list[Any] = []
        replace_values(value, (TracedArray, Drawn, np.ndarray), variables.append)
        if not variables:
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
        elif value in self._first:  # a second array of this value, which the tape distinguishes
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
