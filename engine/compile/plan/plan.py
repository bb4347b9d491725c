"""Plans: a graph compiled to one Python function, without the loops, calls and checks that the trace has resolved.

Each line of it calls the very kernel that the eager run calls, so a plan returns the bits of the eager run. Values are
released after their last use.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.float_warnings import restore, silence
from ...cpu import compiling
from ...tensors import random
from ...tensors.operator import ARRAY_FUNCTIONS, COMPLEX, NEGATED, TIMES_OTHER, Operator, explained, fitted
from ...tensors.tensor import Tensor
from ...tensors.views import apply_steps, link
from ..graph import (
    ArgumentRef,
    ArrayFunction,
    Binding,
    Draw,
    EagerCall,
    FusedLoop,
    GradientCall,
    Graph,
    Node,
    OperatorCall,
    SharedResult,
    Value,
    ViewRef,
    operands_of,
    replace_values,
    values_in,
)
from ..loops.cpu_loops import is_free, loop, written_over
from ..sizes import Size, text, variables_in

__all__ = ["Plan", "PlanError"]


class PlanError(Exception):
    """Error of a plan's step.

    Args:
        error: the exception that the step raised.
        has_changed: whether an external tensor had been changed by then.
    """

    def __init__(self, error: Exception, has_changed: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.has_changed = has_changed


class Plan:
    """An executable graph.

    Args:
        graph: the graph, after the passes.

    Attributes:
        source: the source text of the function.
        draws: whether it draws random numbers.
        graph: the graph, after the passes.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        writer = _Writer(graph)
        with compiling.joint_notice("loops", sum(isinstance(node, FusedLoop) for node in graph.nodes)):
            self.source = writer.text()
        self.draws = bool(writer.assigned_draws)
        names = writer.globals
        # The text consists of the graph's numbered names alone; it contains no text of the user's.
        exec(compile(self.source, "<plan>", "exec"), names)
        self._run: types.FunctionType = names["plan"]
        self._calls, self._names = writer.calls, writer.names

    def run(self, arrays: list[Any], tensors: Sequence[Tensor]) -> Any:
        """Compute the result and rebind the external tensors.

        Args:
            arrays: the arrays of the tensors among the arguments, in order.
            tensors: those tensors.

        Returns:
            the function's result.

        Raises:
            PlanError: a step raised.
        """
        float_settings = silence()
        begun: list[bool] = []
        try:
            return self._run(begun, tensors, *arrays)
        except Exception as error:
            raise PlanError(self._explained(error) if begun else error, bool(begun)) from error
        finally:
            restore(float_settings)

    def _explained(self, error: Exception) -> Exception:
        """Return a kernel's error with the operator's explanation."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code is not self._run.__code__:
            traceback = traceback.tb_next
        if traceback is None or not isinstance(error, ValueError | TypeError | IndexError | AttributeError):
            return error
        node = self._calls.get(traceback.tb_lineno)
        if node is None or isinstance(node.operator, ArrayFunction):
            return error
        variables = {**self._run.__globals__, **traceback.tb_frame.f_locals}
        return explained(
            node.operator, error, replace_values(node.inputs, (Value,), lambda x: variables[self._names[x]])
        )


_BEFORE = 2
"""Line number of the first line of a plan's body."""


class _Writer:
    """Writer of a graph's Python source."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        xp = sys.modules["cupy"] if graph.is_on_gpu else np
        self.globals: dict[str, Any] = {
            "F": ARRAY_FUNCTIONS,
            "ndarray": xp.ndarray,
            "asarray": xp.asarray,
            "fitted": fitted,
            "draw": random.draw,
            "tensor": Tensor._wrap,
            "seen": apply_steps,
            "linked": link,
            "is_free": is_free,
        }
        self._global_count = 0
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.assigned_draws: set[int] = set()
        self.lengths: set[int] = set()  # the symbolic dimensions in use
        self.outside: dict[Value, Tensor] = {}
        self.made: dict[SharedResult, str] = {}
        self.calls: dict[int, OperatorCall] = {}  # operators by the line number of their kernel call

    def text(self) -> str:
        graph = self.graph
        argument_names = []
        for index, value in enumerate(graph.arguments):  # a tensor that is passed twice has one value
            argument_names.append(f"w{index}" if value in self.names else f"v{len(self.names)}")
            self.names.setdefault(value, argument_names[-1])
        parameters = ", ".join([*argument_names, *[f"d{number}" for number in graph.draw_numbers]])
        for value, array in graph.constants.items():
            self.names[value] = self.hold("c", array)
        last_uses = self._last_uses()
        self.outside = {value: tensor for tensor, value in graph.externals}
        for index, node in enumerate(graph.nodes):
            if isinstance(node, EagerCall | Binding):
                changed = set(map(id, node.changed if isinstance(node, EagerCall) else (node.tensor,)))
                for value in [value for value, tensor in self.outside.items() if id(tensor) in changed]:
                    self._load(value)
            for value in values_in(operands_of(node)):
                self._load(value)
            self._node(node, last_uses.get(index, ()))
            released = [self.names[value] for value in last_uses.get(index, ()) if self.names[value][0] == "v"]
            if released:
                self.lines.append(f"del {', '.join(released)}")
        final_values = dict.fromkeys((*[value for _, value in graph.effects], *values_in(graph.result)))
        bindings = {_tensor_key(node.tensor): node.value for node in graph.nodes if isinstance(node, Binding)}
        for value in final_values:
            self._load(value)
            self._copy_constant(value)
        for tensor, value in graph.effects:
            if bindings.get(_tensor_key(tensor)) is not value:
                self.lines.append(f"{self._structure(tensor)}._rebind({self.names[value]})")
        result = self._structure(graph.result)
        self.lines.append(f"return {result}")
        for number in sorted(self.lengths, reverse=True):
            index, axis = graph.lengths[number]
            self.lines.insert(0, f"n{number} = {argument_names[index]}.shape[{axis}]")
        return f"def plan(begun, given, {parameters}):\n" + "".join(f"    {line}\n" for line in self.lines)

    def _load(self, value: Value) -> None:
        """Read an external tensor at the first use of its value; until then only the tensor references its array."""
        tensor = self.outside.pop(value, None)
        if tensor is not None:
            self.lines.append(f"{self._name(value)} = {self.hold('t', tensor)}._array")

    def _copy_constant(self, value: Value) -> None:
        """Replace a constant that a tensor will hold by a view that belongs to this call."""
        if value in self.graph.constants and self.names[value][0] == "c":
            self.lines.append(f"own{len(self.lines)} = {self.names[value]}.view()")
            self.names[value] = f"own{len(self.lines) - 1}"

    def _last_uses(self) -> dict[int, list[Value]]:
        uses: dict[int, list[Value]] = {}
        used_values = self.graph.final_values() | set(self.graph.constants)
        for index in range(len(self.graph.nodes) - 1, -1, -1):
            node = self.graph.nodes[index]
            for value in dict.fromkeys((*values_in(operands_of(node)), *values_in(node.outputs))):
                if value not in used_values:
                    used_values.add(value)
                    uses.setdefault(index, []).append(value)
        return uses

    def hold(self, letter: str, obj: Any) -> str:
        """Return a global name for an object."""
        self._global_count += 1
        name = f"{letter}{self._global_count}"
        self.globals[name] = obj
        return name

    def _name(self, value: Value) -> str:
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = f"v{len(self.names)}"
        return name

    def operand(self, value: Any) -> str:
        """Return an operand or attribute as an expression."""
        if type(value) is Value:
            return self._name(value)
        if type(value) is Size:
            self.lengths |= variables_in(value)
            return text(value)
        if type(value) is Draw:
            if value.number not in self.assigned_draws and value.number not in self.graph.draw_numbers:
                self.assigned_draws.add(value.number)
                self.lines.append(f"d{value.number} = draw({self.operand(value.count)})")
            return f"d{value.number}[{0 if value.is_seed else 1}]"
        if value is None or type(value) in (bool, int) or (type(value) is float and value - value == 0):
            return f"({value!r})" if type(value) is not bool and value is not None and value < 0 else repr(value)
        if not any(True for _ in _variables_in(value)):
            return self.hold("k", value)
        if isinstance(value, slice):
            return f"slice({self.operand(value.start)}, {self.operand(value.stop)}, {self.operand(value.step)})"
        if type(value) is tuple:
            return "(" + "".join(f"{self.operand(part)}, " for part in value) + ")"
        if type(value) is list:
            return "[" + ", ".join(self.operand(part) for part in value) + "]"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.hold('k', key)}: {self.operand(part)}" for key, part in value.items()) + "}"
        raise TypeError(f"an operand of type {type(value).__name__} holds values")

    def attributes(self, attrs: dict[str, Any]) -> str:
        return "".join(f", {key}={self.operand(value)}" for key, value in attrs.items())

    def _seen(self, view: ViewRef) -> str:
        if view.is_part:
            return f"seen({self._structure(view.base)}, {self.operand(view.steps)})"
        ((operator, attrs),) = view.steps
        source = f"tensor({self._name(view.value)})"
        return (
            f"linked({self._structure(view.base)}, {source}, {self.hold('k', operator)}, {self.operand(attrs)}, False)"
        )

    def _node(self, node: Node, last_uses: Sequence[Value]) -> None:
        if isinstance(node, OperatorCall):
            self._apply(node)
        elif isinstance(node, GradientCall):
            self._derive(node)
        elif isinstance(node, FusedLoop):
            outputs = "".join(f"{self._name(value)}, " for value in node.outputs)
            inputs = ", ".join(self.operand(value) for value in node.inputs)
            reused = None if self.graph.is_on_gpu else written_over(node, last_uses)
            if reused is not None:
                name = self._name(reused)
                self.lines.append(f"over = {name} if is_free({name}) else None")
                inputs += ", into=over"
            self.lines.append(f"{outputs}= {self.hold('loop', loop(node, self.graph.is_on_gpu))}({inputs})")
            if reused is not None:
                self.lines.append("del over")
        elif isinstance(node, Binding):
            self._copy_constant(node.value)
            self.lines += ["begun.append(True)", f"{self._structure(node.tensor)}._rebind({self._name(node.value)})"]
        else:
            self._call_eagerly(node)

    def _apply(self, node: OperatorCall) -> None:
        # On a GPU, shapes and layouts select the kernel at each call.
        by_arrays = self.graph.is_on_gpu and isinstance(node.operator, Operator)
        kernel = self.hold("f", node.operator.on_arrays if by_arrays else node.operator.kernel)
        call = f"{kernel}({', '.join(self.operand(x) for x in node.inputs)}{self.attributes(node.attrs)})"
        if not node.inputs and node.attrs:
            call = call.replace("(, ", "(", 1)
        if not node.packed:
            (output,) = node.outputs
            if output in self.names:  # the kernel returns its input
                return
            name = self._name(output)
            self.calls[len(self.lines) + _BEFORE] = node
            self.lines.append(f"{name} = {call}" if output.shape else f"{name} = asarray({call})")
            return
        names = []
        for output in node.outputs:
            names.append("_" if output is None or output in self.names else self._name(output))
        self.calls[len(self.lines) + _BEFORE] = node
        self.lines.append(f"{', '.join(names)}, = {call}" if names else call)
        for name, output in zip(names, node.outputs, strict=True):
            if name != "_" and not output.shape:
                self.lines.append(f"{name} = asarray({name})")

    def _derive(self, node: GradientCall) -> None:
        operator: Operator = node.operator
        g, inputs = self.operand(node.gradient), [self.operand(x) for x in node.inputs]
        output = self.operand(node.output)
        call = f"(F, {g}, {output}{''.join(f', {x}' for x in inputs)}{self.attributes(node.attrs)})"
        values = list(values_in((node.gradient, node.output, node.inputs)))
        if operator.analytic and any(value.dtype in COMPLEX for value in values):
            self._by_gradients(node, g, output, inputs)
        elif operator.joint_vjp is not None:
            needs = tuple([index in node.needs for index in range(len(node.inputs))])
            rule = self.hold("r", operator.joint_vjp)
            self.lines.append(f"_ = {rule}(F, {self.hold('k', list(needs))}, {call[4:]}")
            for index, output_value in zip(node.input_indices, node.outputs, strict=True):
                name = self._name(output_value)
                self.lines.append(f"{name} = _[{index}]")
                self._fit(name, inputs[index])
            self.lines.append("del _")
        else:
            for index, output_value in zip(node.input_indices, node.outputs, strict=True):
                name = self._name(output_value)
                if not self._by_slope(node, index, name, g, inputs):
                    rule = self.hold("r", operator.vjps[index])
                    self.lines.append(f"{name} = {rule}{call}")
                    self._fit(name, inputs[index])

    def _fit(self, name: str, x: str) -> None:
        self.lines.append(f"if type({name}) is not ndarray or {name}.dtype is not {x}.dtype:")
        self.lines.append(f"    {name} = fitted({name}, {x}, F)")

    def _by_slope(self, node: GradientCall, index: int, name: str, g: str, inputs: list[str]) -> bool:
        """Write a basic operator's gradient rule inline, as the backward pass computes it; return whether it is one."""
        slopes, gradient = node.operator.slopes, node.gradient
        if slopes is None or gradient.dtype != np.float32 or not gradient.shape:
            return False
        x = node.inputs[index]
        if type(x) is not Value or x.dtype != np.float32:
            return False
        if index and slopes[1] == NEGATED:
            product = f"-{g}"
        elif slopes[index] == TIMES_OTHER:
            product = f"{g} * {inputs[1 - index]}"
        else:
            product = g
        if (x.sizes or x.shape) != (gradient.sizes or gradient.shape):
            product = f"F.sum_to({product}, shape={self.operand(x.sizes or x.shape)})"
        self.lines.append(f"{name} = {product}")
        return True

    def _by_gradients(self, node: GradientCall, g: str, output: str, inputs: list[str]) -> None:
        rule = self.hold("r", node.operator.gradients)
        tracked = "{" + ", ".join(f"id({inputs[index]})" for index in node.needs) + "}"
        input_tuple = "(" + "".join(f"{x}, " for x in inputs) + ")"
        attrs = "{" + ", ".join(f"{key!r}: {self.operand(value)}" for key, value in node.attrs.items()) + "}"
        self.lines.append(f"_ = {rule}(F, {tracked}, {g}, {output}, {input_tuple}, {attrs})")
        for index, output_value in enumerate(node.outputs):
            self.lines.append(f"{self._name(output_value)} = _[{index}][1]")
        self.lines.append("del _")

    def _call_eagerly(self, node: EagerCall) -> None:
        call = f"{self.hold('w', node.function)}({', '.join(self._structure(x) for x in node.arguments)})"
        self.lines.append("begun.append(True)")
        self.lines += [f"{self.hold('t', tensor)}._rebind({self._name(value)})" for tensor, value in node.before]
        self.lines.append(call)
        for tensor, value in zip(node.changed, node.outputs, strict=True):
            self.lines.append(f"{self._name(value)} = {self.hold('t', tensor)}._array")

    def _structure(self, value: Any) -> str:
        """Return the function's result as an expression, with a new tensor for each value."""
        if type(value) is Value:
            return f"tensor({self._name(value)})"
        if type(value) in (Draw, Size):
            return self.operand(value)
        if type(value) is ArgumentRef:
            return f"given[{value.index}]"
        if isinstance(value, Tensor):
            return self.hold("t", value)
        if type(value) is SharedResult:
            if value not in self.made:
                self.made[value] = f"r{len(self.made)}"
                self.lines.append(f"{self.made[value]} = tensor({self._name(value.value)})")
            return self.made[value]
        if type(value) is ViewRef:
            return self._seen(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.hold('k', type(value))}({', '.join(self._structure(part) for part in value)})"
        if type(value) is tuple:
            return "(" + "".join(f"{self._structure(part)}, " for part in value) + ")"
        if type(value) is list:
            return "[" + ", ".join(self._structure(part) for part in value) + "]"
        if type(value) is dict:
            return (
                "{" + ", ".join(f"{self.hold('k', key)}: {self._structure(part)}" for key, part in value.items()) + "}"
            )
        return self.hold("k", value)


def _tensor_key(tensor: Any) -> Any:
    """Return the key of a tensor that a plan rebinds."""
    return ("given", tensor.index) if type(tensor) is ArgumentRef else id(tensor)


def _variables_in(value: Any) -> Any:
    """Return the Values, Draws and Sizes in an operand."""
    operands: list[Any] = []
    replace_values(value, (Value, Draw, Size), operands.append)
    return operands
