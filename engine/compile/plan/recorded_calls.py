"""Calls inside an active recording: values from a plan, gradients from a second plan or node by node.

The function is traced inside a recording of its own, whose leaves are all its tensors. The tape of that recording is
compiled to a function, the *steps*, which records the same nodes with the arrays of another call.

If the active recording runs one backward pass on arrays, the call is one node on its tape (``CallNode``). When
gradients first reach that node, its values are recomputed and the backward pass through the steps is traced. From then
on the plan of the call returns the values that this backward pass reads, and the backward pass is a plan, too. The node
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
from ..trace.tracer import DrawNumber, Tracer
from ..traced_array import TracedArray, plain
from .plan import Plan, PlanError

__all__ = ["PlannedCall", "RecordedRun", "can_plan_calls"]

_MOST_BACKWARD_PLANS = 4
"""Maximum number of planned backward passes; each is for one set of outputs with gradients and of tracked inputs."""


def can_plan_calls() -> bool:
    """Return whether all active recordings record nodes exactly as operators emit them."""
    return all(type(recording) is Recording for recording in state.recordings)


class RecordedRun:
    """A function that runs in a recording of its own.

    Args:
        function: the function.
        tensors: its tensors: those among the arguments, then the external ones.

    Attributes:
        leaves: the arrays of the tensors at the start.
        recording: the recording of the run.
        results: the arrays of the tensors in the result.
        final_arrays: the arrays of the tensors at the end.
    """

    def __init__(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> None:
        self.function = function
        self.tensors = tensors

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the function and return its result."""
        self.leaves = [t._array for t in self.tensors]
        with no_recording(), Recording(self.leaves) as self.recording:
            result = self.function(*args, **kwargs)
        self.result_arrays = [t._array for t in tensors_in(result)]
        self.final_arrays = [t._array for t in self.tensors]
        return result

    @property
    def is_plain(self) -> bool:
        """True if the tape holds operators alone: no hook reads a value and no function is called again."""
        tape = self.recording
        if tape.renamings or tape.hooks or tape.marks:
            return False
        return all(isinstance(operator, Operator) for operator, *_ in tape.nodes)


class PlannedCall:
    """Planned calls of one argument kind, recorded on the active recordings.

    Args:
        recorded_run: the function's run.
        graph: its trace.
        argument_indices: for each distinct tensor among the arguments, its index among all of them.

    Raises:
        LookupError: an array on the tape is unknown.

    Attributes:
        plan: plan of a call that is recorded as one node.
    """

    def __init__(self, recorded_run: RecordedRun, graph: Graph, argument_indices: Sequence[int]) -> None:
        self.steps = _Steps(recorded_run, graph)
        self._graph = graph
        self._leaves = [array.value for array in recorded_run.leaves]
        self._argument_indices = argument_indices
        self._externals = [tensor for tensor, _ in graph.externals]
        self._backward_plans: dict[Any, _BackwardPlan | None] = {}
        self._saved_values: tuple[Value, ...] = ()
        self._plan_of_all_values: Plan | None = None
        self._plan_from_leaves: Plan | None = None
        self.plan = self._plan(())

    def _plan(self, extra_results: Sequence[Value], from_leaves: bool = False) -> Plan:
        """Return a plan that also returns some values and the draws; if alone, only these, from the leaves."""
        graph = copy.copy(self._graph)
        graph.nodes = [copy.copy(node) for node in graph.nodes]
        graph.constants, graph.shape_reads = dict(graph.constants), set(graph.shape_reads)
        result, draws = graph.result, self.steps.draws
        if from_leaves:
            graph.arguments, graph.externals, graph.effects, result = self._leaves, [], [], None
            graph.draw_numbers = list(draws)
        graph.result = (result, tuple(extra_results), tuple(draws.values()))
        return Plan(optimized(graph))

    def call(self, arrays: list[Any], tensors: Sequence[Tensor]) -> Any:
        """Compute a call and record it on the active recordings.

        Args:
            arrays: the arrays of the tensors among the arguments, in order.
            tensors: those tensors.

        Returns:
            the function's result.

        Raises:
            PlanError: a kernel raised; nothing was recorded.
        """
        steps = self.steps
        leaves = [*[arrays[index] for index in self._argument_indices], *[t._array for t in self._externals]]
        (recording, *other_recordings) = state.recordings
        if other_recordings or not recording.uses_placeholders or recording.hooks:
            self._plan_of_all_values = self._plan_of_all_values or self._plan(steps.inner_values)
            result, values, draws = self._plan_of_all_values.run(arrays, tensors)
            outputs = steps.replay(record, leaves, [t._array for t in values], draws)
            for index, tensor in self._result_tensors(result):
                tensor._array = outputs[index]
            return result
        result, saved, draws = self.plan.run(arrays, tensors)
        outputs = [t._array if isinstance(t, Tensor) else None for t in steps.outputs]
        for index, tensor in self._result_tensors(result):
            if steps.is_second_array[index]:  # a second output of the same value
                tensor._array = tensor._array.view()
            outputs[index] = tensor._array
        call = CallNode(self, leaves, [t._array for t in saved], draws)
        self._record(recording, call, [leaves[index] for index in steps.inputs], outputs)
        return result

    def _result_tensors(self, result: Any) -> list[tuple[int, Tensor]]:
        """Return the tensors in a result that the tape may track, with their indices among the outputs."""
        tensors = tensors_in(result)
        return [
            (index, tensors[output])
            for index, output in enumerate(self.steps.outputs)
            if not isinstance(output, Tensor)
        ]

    def _record(self, recording: Recording, call: CallNode, inputs: list[Any], outputs: list[Any]) -> None:
        """Record the call like ``record``, but track each output by the inputs that it depends on."""
        tracked = [id(array) in recording.tracked for array in inputs]
        if any(tracked):
            recording.nodes.append((call, tuple(inputs), tuple(outputs), {}))
            recording.has_placeholders = True  # the inner values
        for output, dependencies in zip(outputs, self.steps.dependencies, strict=True):
            if any(tracked[index] for index in dependencies):
                recording.tracked.add(id(output))
            elif recording.other_arguments:
                recording.track_other_arguments(tuple([inputs[index] for index in dependencies]), output)

    # Backward pass

    def back(
        self,
        call: CallNode,
        functions: Any,
        tracked: set[int],
        gradient: tuple[Any, ...],
        inputs: tuple[Any, ...],
        output: tuple[Any, ...],
    ) -> list[tuple[Any, Any]]:
        """Return the gradients of a call's inputs as separate parts, in the order of eager mode."""
        recorded_run = tuple([id(array) in tracked for array in inputs])
        key = tuple([g is not None for g in gradient]), recorded_run
        is_usual = functions is ARRAY_FUNCTIONS and all(
            g is None or (type(g) is np.ndarray and g.dtype == x.dtype) for g, x in zip(gradient, output, strict=True)
        )
        backward_plan = self._backward_plans.get(key) if is_usual else None
        parts = None if backward_plan is None else backward_plan.run(call, gradient)
        if backward_plan is not None and parts is not None:
            return [(inputs[index], part) for index, part in zip(backward_plan.to, parts, strict=True)]
        arrays = self._values_of(call)
        if is_usual and key not in self._backward_plans and len(self._backward_plans) < _MOST_BACKWARD_PLANS:
            pairs = self._trace_backward(key, call, arrays, gradient)
        else:
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            pairs = _backward_pass(
                nodes, outputs, gradient, [call.leaves[index] for index in self.steps.inputs], recorded_run, functions
            )
        return [(inputs[index], part) for index, part in pairs]

    def _values_of(self, call: CallNode) -> list[Any]:
        """Recompute the wanted values of a call from its saved arrays."""
        self._plan_from_leaves = self._plan_from_leaves or self._plan(self.steps.inner_values, from_leaves=True)
        _, values, _ = self._plan_from_leaves.run([*call.leaves, *call.draws], ())
        return [t._array for t in values]

    def steps_of(self, call: CallNode, outputs: Sequence[Any]) -> list[Any]:
        """Return the nodes that an eager run records, with the outputs of the call substituted."""
        nodes, recomputed = self.steps.nodes(call.leaves, self._values_of(call), call.draws)
        names = {id(array): output for array, output in zip(recomputed, outputs, strict=True)}

        def substituted(value: Any) -> Any:
            return tuple(map(substituted, value)) if type(value) is tuple else names.get(id(value), value)

        return [
            (operator, substituted(inputs), substituted(output), attrs) for operator, inputs, output, attrs in nodes
        ]

    def _trace_backward(
        self, key: Any, call: CallNode, arrays: list[Any], gradient: tuple[Any, ...]
    ) -> list[tuple[int, Any]]:
        """Run the backward pass and make a plan of it, if possible."""
        tracer = Tracer()
        sources: dict[Value, tuple[str, int]] = {}

        def traced(kind: str, originals: Sequence[Any]) -> list[Any]:
            placeholders: dict[int, Any] = {}
            for index, array in enumerate(originals):
                if array is not None and id(array) not in placeholders:
                    value = Value(array.shape, array.dtype, "argument")
                    sources[value] = kind, index
                    placeholders[id(array)] = tracer.traced(array, value)
            return [None if array is None else placeholders[id(array)] for array in originals]

        leaves, values, incoming = traced("leaf", call.leaves), traced("value", arrays), traced("gradient", gradient)
        if not tracer.begin():  # another thread is tracing
            nodes, outputs = self.steps.nodes(call.leaves, arrays, call.draws)
            inputs = [call.leaves[index] for index in self.steps.inputs]
            return _backward_pass(nodes, outputs, gradient, inputs, key[1], ARRAY_FUNCTIONS)
        try:
            draws = [tracer.mark_draw(number, pair) for number, pair in zip(self.steps.draws, call.draws, strict=True)]
            nodes, outputs = self.steps.nodes(leaves, values, draws)
            inputs = [leaves[index] for index in self.steps.inputs]
            pairs = _backward_pass(nodes, outputs, tuple(incoming), inputs, key[1], tracer.functions)
        finally:
            tracer.end()
        parts = [part for _, part in pairs]
        is_complete = not tracer.reason and all(type(part) is TracedArray and part.value is not None for part in parts)
        self._backward_plans[key] = None
        if is_complete:
            graph = tracer.graph
            graph.arguments, graph.draw_numbers = list(sources), list(self.steps.draws)
            graph.result = tuple([part.value for part in parts])
            graph = optimized(graph)
            used_values = {
                value for node in graph.nodes for value in values_in(operands_of(node))
            } | graph.final_values()
            graph.arguments = [value for value in graph.arguments if value in used_values]
            self._backward_plans[key] = self._backward_plan(
                graph, [sources[value] for value in graph.arguments], [to for to, _ in pairs]
            )
        for reference in tracer.made:
            array = reference()
            if array is not None:
                array.tracer = None
        return [(to, plain(part)) for to, part in pairs]

    def _backward_plan(self, graph: Graph, sources: list[tuple[str, int]], to: list[int]) -> _BackwardPlan:
        """Make a plan of a backward pass; later calls save the values that it reads."""
        values_read = [self.steps.inner_values[index] for kind, index in sources if kind == "value"]
        self._saved_values = tuple(dict.fromkeys((*self._saved_values, *values_read)))
        self.plan = self._plan(self._saved_values)
        saved = {value: index for index, value in enumerate(self._saved_values)}
        sources = [
            (kind, saved[self.steps.inner_values[index]] if kind == "value" else index) for kind, index in sources
        ]
        return _BackwardPlan(Plan(graph), sources, to)


class _BackwardPlan(NamedTuple):
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

    def run(self, call: CallNode, gradient: tuple[Any, ...]) -> list[Any] | None:
        """Return the parts; None if the call did not save a value that is read, or a kernel refuses the numbers."""
        groups = {"leaf": call.leaves, "value": call.saved, "gradient": gradient}
        if any(kind == "value" and index >= len(call.saved) for kind, index in self.sources):
            return None
        try:
            parts = self.plan.run([*[groups[kind][index] for kind, index in self.sources], *call.draws], ())
        except PlanError:  # the pass node by node raises the error
            return None
        return [part._array for part in parts]


class CallNode(CompositeNode):
    """A call as one node on a tape.

    Args:
        planned_call: computes the backward pass.
        leaves: the arrays of the function's tensors.
        saved: the values that its plan saved for the backward pass.
        draws: the seeds and counters of its random numbers.
    """

    name = "jit"

    def __init__(self, planned_call: PlannedCall, leaves: list[Any], saved: list[Any], draws: tuple[Any, ...]) -> None:
        self.planned_call = planned_call
        self.leaves = leaves
        self.saved = saved
        self.draws = draws

    def backward(
        self, functions: Any, tracked: set[int], gradient: Any, output: Any, inputs: tuple[Any, ...], attrs: Any
    ) -> list[tuple[Any, Any]]:
        """Return the gradients of the tracked inputs as separate parts."""
        return self.planned_call.back(self, functions, tracked, gradient, inputs, output)

    def steps(self, output: tuple[Any, ...]) -> list[Any]:
        """Return the nodes that an eager run records."""
        return self.planned_call.steps_of(self, output)


class _Parts(Sums):
    """Gradients of a backward pass; the gradients of leaves are kept as separate parts, in order of arrival."""

    def __init__(self, leaves: dict[int, int], functions: Any) -> None:
        dict.__init__(self)
        self.functions = functions
        self.parts = {}
        self.leaves = leaves
        self.arrivals: list[tuple[int, Any]] = []

    def add(self, key: int, gradient: Any) -> bool:
        """Keep a gradient if it belongs to a leaf, and return whether it does."""
        index = self.leaves.get(key)
        if index is not None:
            self.arrivals.append((index, gradient))
        return index is not None


def _backward_pass(
    nodes: list[Any],
    outputs: Sequence[Any],
    gradient: tuple[Any, ...],
    inputs: list[Any],
    recorded_run: tuple[bool, ...],
    functions: Any,
) -> list[tuple[int, Any]]:
    """Run the backward pass of a call's steps; return pairs of an input index and a part of its gradient."""
    tracked = {id(array) for array, is_followed in zip(inputs, recorded_run, strict=True) if is_followed}
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
    return parts.arrivals


class _Steps:
    """The tape of a call, compiled to a function.

    Args:
        recorded_run: the traced run.
        graph: its trace.

    Raises:
        LookupError: an array on the tape is unknown.

    Attributes:
        source: the source text of the function.
        replay: the function; its arguments are a callback for each step, the arrays of the leaves, those of the wanted
            values, and the draws; it returns the arrays of the outputs.
        inner_values: the values on the tape other than leaves and constants.
        draws: all draws of the call by number, including those that are not on the tape.
        inputs: the indices of the leaves that are on the tape.
        outputs: the values that the tape may track from then on: an index among the tensors in the result, or a rebound
            external tensor.
        is_second_array: for each output, whether it is a second array of a value.
        dependencies: for each output, the positions in ``inputs`` of the leaves that it depends on.
    """

    def __init__(self, recorded_run: RecordedRun, graph: Graph) -> None:
        self.inner_values: list[Value] = []
        found_draws = [draw for node in graph.nodes for draw in draws_in(operands_of(node))]
        self.draws = {d.number: (Draw(d.count, True, d.number), Draw(d.count, False, d.number)) for d in found_draws}
        self._constants = graph.constants
        self._globals: dict[str, Any] = {}
        self._names: dict[int, str] = {}  # array names by identity
        self._first: dict[Value, str] = {}  # the first name of each value
        self._lines: list[str] = []
        for leaf in recorded_run.leaves:
            self._first.setdefault(leaf.value, self._names.setdefault(id(leaf), f"x{len(self._names)}"))
        leaf_names = "".join(f"{self._names[id(leaf)]}, " for leaf in recorded_run.leaves)
        for operator, inputs, output, attrs in recorded_run.recording.nodes:
            step = ", ".join(map(self._expression, (inputs, output, attrs)))
            self._lines.append(f"record({self._global_name(operator)}, {step})")
        self._find_ends(recorded_run, graph)
        inner_names = "".join(f"{self._first[value]}, " for value in self.inner_values)
        draw_names = "".join(f"d{number}, " for number in self.draws)
        head = [
            f"({names}) = {source}"
            for names, source in ((leaf_names, "x"), (inner_names, "v"), (draw_names, "d"))
            if names
        ]
        self.source = "def replay(record, x, v, d):\n" + "".join(f"    {line}\n" for line in (*head, *self._lines))
        # As in a plan, the text consists of numbered names alone.
        exec(compile(self.source, "<steps>", "exec"), self._globals)
        self.replay: Callable[..., Any] = self._globals["replay"]

    def nodes(self, leaves: list[Any], values: list[Any], draws: Sequence[Any]) -> tuple[list[Any], Any]:
        """Return the steps as nodes, and the arrays of the outputs."""
        recorded_nodes: list[Any] = []
        outputs = self.replay(lambda *node: recorded_nodes.append(node), leaves, values, draws)
        return recorded_nodes, outputs

    def _find_ends(self, recorded_run: RecordedRun, graph: Graph) -> None:
        """Determine the inputs and outputs."""
        used_ids: set[int] = set()
        produced: set[int] = set()
        ancestors: dict[int, set[int]] = {
            id(leaf): {index} for index, leaf in reversed(list(enumerate(recorded_run.leaves)))
        }
        for _, inputs, output, _ in recorded_run.recording.nodes:
            used_ids.update(map(id, inputs))
            for array in output if type(output) is tuple else (output,):
                produced.add(id(array))
                ancestors[id(array)] = set().union(*[ancestors.get(id(x), ()) for x in inputs])
        leaves = {id(leaf): index for index, leaf in reversed(list(enumerate(recorded_run.leaves)))}
        self.inputs = [index for key, index in leaves.items() if key in used_ids]
        numbers = {index: number for number, index in enumerate(self.inputs)}
        results = enumerate(recorded_run.result_arrays)
        ends: list[tuple[Any, Any]] = [(index, array) for index, array in results if id(array) in produced]
        effect_ids = {id(tensor) for tensor, _ in graph.effects}
        for tensor, array in zip(recorded_run.tensors, recorded_run.final_arrays, strict=True):
            if id(tensor) in effect_ids and id(array) in produced:
                if self._names[id(array)] != self._first[array.value]:
                    raise LookupError("a tensor is left with a further name of a value")
                ends.append((tensor, array))
        self.outputs = [end for end, _ in ends]
        self.is_second_array = [self._names[id(array)] != self._first[array.value] for _, array in ends]
        self.dependencies = [[numbers[index] for index in sorted(ancestors[id(array)])] for _, array in ends]
        self._lines.append(f"return ({''.join(f'{self._names[id(array)]}, ' for _, array in ends)})")

    def _expression(self, value: Any) -> str:
        """Return the source text of an operand, an output or the attributes of a step."""
        kind = type(value)
        if kind is TracedArray:
            return self._name(value)
        if kind is DrawNumber:
            return f"d{value.draw.number}[{0 if value.draw.is_seed else 1}]"
        variables: list[Any] = []
        replace_values(value, (TracedArray, DrawNumber, np.ndarray), variables.append)
        if not variables:
            is_number = kind is bool or kind is int or value is None
            return f"({value!r})" if is_number else self._global_name(value)
        if kind is tuple:
            return f"({''.join(f'{self._expression(part)}, ' for part in value)})"
        if kind is list:
            return f"[{', '.join(map(self._expression, value))}]"
        if kind is dict:
            return (
                f"{{{', '.join(f'{self._global_name(key)}: {self._expression(part)}' for key, part in value.items())}}}"
            )
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
            name = self._first[value] = self._global_name(self._constants[value])
        elif value in self._first:  # a second array of this value, which the tape distinguishes
            name = f"n{len(self._names)}"
            self._lines.append(f"{name} = {self._first[value]}.view()")
        else:
            name = self._first[value] = f"v{len(self._names)}"
            self.inner_values.append(value)
        self._names[id(array)] = name
        return name

    def _global_name(self, obj: Any) -> str:
        name = f"k{len(self._globals)}"
        self._globals[name] = obj
        return name
