"""A plan: a graph written as one Python function without loops, calls or checks that the trace has settled.

Each step is a line that calls the very kernel that ran, so a plan gives the bits that the eager run gives; what is not
needed any more is let go of after its last use.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.float_warnings import restore, silence
from ..cpu import compiling
from ..tensors import random
from ..tensors.operator import ARRAY_FUNCTIONS, COMPLEX, NEGATED, TIMES_OTHER, Operator, explained, fitted
from ..tensors.tensor import Tensor
from ..tensors.views import link, seen_by_steps
from .graph import (
    Apply,
    Beside,
    Bind,
    Derive,
    Draw,
    Fused,
    Given,
    Graph,
    Made,
    Node,
    Seen,
    Value,
    Whole,
    replace_values,
    values_in,
)
from .loops import is_free, loop, written_over
from .sizes import Size, text, variables_in

__all__ = ["Failed", "Plan", "operands_of"]


class Failed(Exception):  # noqa: N818  # it carries the error, which is raised or told otherwise
    """A step of a plan raised.

    Args:
        error: what it raised.
        has_changed: whether a tensor from outside had been changed by then.
    """

    def __init__(self, error: Exception, has_changed: bool) -> None:
        super().__init__(str(error))
        self.error = error
        self.has_changed = has_changed


class Plan:
    """What runs a graph.

    Args:
        graph: after the passes.

    Attributes:
        source: the function's text.
        draws: whether it draws random numbers.
        graph: as given.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        writer = _Writer(graph)
        with compiling.told_together("loops", sum(isinstance(node, Fused) for node in graph.nodes)):
            self.source = writer.text()
        self.draws = bool(writer.drawn)
        names = writer.globals
        # The text is made here of the graph's numbered names alone; nothing of the user's stands in it.
        exec(compile(self.source, "<plan>", "exec"), names)
        self._run: types.FunctionType = names["plan"]
        self._calls, self._names = writer.calls, writer.names

    def run(self, arrays: list[Any], tensors: Sequence[Tensor]) -> Any:
        """Compute.

        Args:
            arrays: of the tensors among the arguments, in order.
            tensors: those tensors.

        Returns:
            what the function returns; the tensors from outside that it binds anew are bound.

        Raises:
            Failed: a step raised.
        """
        before = silence()
        begun: list[bool] = []
        try:
            return self._run(begun, tensors, *arrays)
        except Exception as error:
            raise Failed(self._told(error) if begun else error, bool(begun)) from error
        finally:
            restore(before)

    def _told(self, error: Exception) -> Exception:
        """The error of a kernel as the operator tells it."""
        place = error.__traceback__
        while place is not None and place.tb_frame.f_code is not self._run.__code__:
            place = place.tb_next
        if place is None or not isinstance(error, ValueError | TypeError | IndexError | AttributeError):
            return error
        node = self._calls.get(place.tb_lineno)
        if node is None or isinstance(node.operator, Beside):
            return error
        known = {**self._run.__globals__, **place.tb_frame.f_locals}
        return explained(node.operator, error, replace_values(node.inputs, (Value,), lambda x: known[self._names[x]]))


_BEFORE = 2
"""The number of a plan's first line after its head."""


class _Writer:
    """Writes a graph as Python."""

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
            "seen": seen_by_steps,
            "linked": link,
            "is_free": is_free,
        }
        self._held = 0
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.drawn: set[int] = set()
        self.lengths: set[int] = set()  # the open ones that are used
        self.outside: dict[Value, Tensor] = {}
        self.made: dict[Made, str] = {}
        self.calls: dict[int, Apply] = {}  # the operators, by the number of the line that calls a kernel

    def text(self) -> str:
        graph = self.graph
        given = []
        for place, value in enumerate(graph.arguments):  # a tensor that is passed twice has one value
            given.append(f"w{place}" if value in self.names else f"v{len(self.names)}")
            self.names.setdefault(value, given[-1])
        parameters = ", ".join([*given, *[f"d{number}" for number in graph.drawn]])
        for value, array in graph.constants.items():
            self.names[value] = self.hold("c", array)
        last = self._last_uses()
        self.outside = {value: tensor for tensor, value in graph.externals}
        for place, node in enumerate(graph.nodes):
            if isinstance(node, Whole | Bind):
                changed = set(map(id, node.changed if isinstance(node, Whole) else (node.tensor,)))
                for value in [value for value, tensor in self.outside.items() if id(tensor) in changed]:
                    self._load(value)
            for value in values_in(operands_of(node)):
                self._load(value)
            self._node(node, last.get(place, ()))
            gone = [self.names[value] for value in last.get(place, ()) if self.names[value][0] == "v"]
            if gone:
                self.lines.append(f"del {', '.join(gone)}")
        given_out = dict.fromkeys((*[value for _, value in graph.effects], *values_in(graph.result)))
        bound = {_who(node.tensor): node.value for node in graph.nodes if isinstance(node, Bind)}
        for value in given_out:
            self._load(value)
            self._own(value)
        for tensor, value in graph.effects:
            if bound.get(_who(tensor)) is not value:
                self.lines.append(f"{self._structure(tensor)}._rebind({self.names[value]})")
        result = self._structure(graph.result)
        self.lines.append(f"return {result}")
        for number in sorted(self.lengths, reverse=True):
            place, axis = graph.lengths[number]
            self.lines.insert(0, f"n{number} = {given[place]}.shape[{axis}]")
        return f"def plan(begun, given, {parameters}):\n" + "".join(f"    {line}\n" for line in self.lines)

    def _load(self, value: Value) -> None:
        """Read a tensor from outside, at the first use of its value: until then nothing holds its array but itself."""
        tensor = self.outside.pop(value, None)
        if tensor is not None:
            self.lines.append(f"{self._name(value)} = {self.hold('t', tensor)}._array")

    def _own(self, value: Value) -> None:
        """Make of a constant that a tensor is to hold an array of this call's own."""
        if value in self.graph.constants and self.names[value][0] == "c":
            self.lines.append(f"own{len(self.lines)} = {self.names[value]}.view()")
            self.names[value] = f"own{len(self.lines) - 1}"

    def _last_uses(self) -> dict[int, list[Value]]:
        found: dict[int, list[Value]] = {}
        seen = self.graph.given_out() | set(self.graph.constants)
        for place in range(len(self.graph.nodes) - 1, -1, -1):
            node = self.graph.nodes[place]
            for value in dict.fromkeys((*values_in(operands_of(node)), *values_in(node.outputs))):
                if value not in seen:
                    seen.add(value)
                    found.setdefault(place, []).append(value)
        return found

    def hold(self, letter: str, thing: Any) -> str:
        """A global name for an object."""
        self._held += 1
        name = f"{letter}{self._held}"
        self.globals[name] = thing
        return name

    def _name(self, value: Value) -> str:
        name = self.names.get(value)
        if name is None:
            name = self.names[value] = f"v{len(self.names)}"
        return name

    def operand(self, value: Any) -> str:
        """An operand or attribute as an expression."""
        if type(value) is Value:
            return self._name(value)
        if type(value) is Size:
            self.lengths |= variables_in(value)
            return text(value)
        if type(value) is Draw:
            if value.number not in self.drawn and value.number not in self.graph.drawn:
                self.drawn.add(value.number)
                self.lines.append(f"d{value.number} = draw({self.operand(value.count)})")
            return f"d{value.number}[{0 if value.is_seed else 1}]"
        if value is None or type(value) in (bool, int) or (type(value) is float and value - value == 0):
            return f"({value!r})" if type(value) is not bool and value is not None and value < 0 else repr(value)
        if not any(True for _ in _moving(value)):
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

    def _seen(self, view: Seen) -> str:
        if view.is_part:
            return f"seen({self._structure(view.of)}, {self.operand(view.steps)})"
        ((operator, attrs),) = view.steps
        made = f"tensor({self._name(view.value)})"
        return f"linked({self._structure(view.of)}, {made}, {self.hold('k', operator)}, {self.operand(attrs)}, False)"

    def _node(self, node: Node, spent: Sequence[Value]) -> None:
        if isinstance(node, Apply):
            self._apply(node)
        elif isinstance(node, Derive):
            self._derive(node)
        elif isinstance(node, Fused):
            outputs = "".join(f"{self._name(value)}, " for value in node.outputs)
            inputs = ", ".join(self.operand(value) for value in node.inputs)
            over = None if self.graph.is_on_gpu else written_over(node, spent)
            if over is not None:
                name = self._name(over)
                self.lines.append(f"over = {name} if is_free({name}) else None")
                inputs += ", into=over"
            self.lines.append(f"{outputs}= {self.hold('loop', loop(node, self.graph.is_on_gpu))}({inputs})")
            if over is not None:
                self.lines.append("del over")
        elif isinstance(node, Bind):
            self._own(node.value)
            self.lines += ["begun.append(True)", f"{self._structure(node.tensor)}._rebind({self._name(node.value)})"]
        else:
            self._whole(node)

    def _apply(self, node: Apply) -> None:
        # On a GPU shapes and layouts decide which kernel it is, at each call.
        by_arrays = self.graph.is_on_gpu and isinstance(node.operator, Operator)
        kernel = self.hold("f", node.operator.on_arrays if by_arrays else node.operator.kernel)
        call = f"{kernel}({', '.join(self.operand(x) for x in node.inputs)}{self.attributes(node.attrs)})"
        if not node.inputs and node.attrs:
            call = call.replace("(, ", "(", 1)
        if not node.packed:
            (output,) = node.outputs
            if output in self.names:  # the kernel hands back what it got
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

    def _derive(self, node: Derive) -> None:
        operator: Operator = node.operator
        g, inputs = self.operand(node.gradient), [self.operand(x) for x in node.inputs]
        output = self.operand(node.output)
        call = f"(F, {g}, {output}{''.join(f', {x}' for x in inputs)}{self.attributes(node.attrs)})"
        values = list(values_in((node.gradient, node.output, node.inputs)))
        if operator.analytic and any(value.dtype in COMPLEX for value in values):
            self._by_gradients(node, g, output, inputs)
        elif operator.joint_vjp is not None:
            needs = tuple([place in node.needs for place in range(len(node.inputs))])
            rule = self.hold("r", operator.joint_vjp)
            self.lines.append(f"_ = {rule}(F, {self.hold('k', list(needs))}, {call[4:]}")
            for place, made in zip(node.given, node.outputs, strict=True):
                name = self._name(made)
                self.lines.append(f"{name} = _[{place}]")
                self._fit(name, inputs[place])
            self.lines.append("del _")
        else:
            for place, made in zip(node.given, node.outputs, strict=True):
                name = self._name(made)
                if not self._by_slope(node, place, name, g, inputs):
                    rule = self.hold("r", operator.vjps[place])
                    self.lines.append(f"{name} = {rule}{call}")
                    self._fit(name, inputs[place])

    def _fit(self, name: str, x: str) -> None:
        self.lines.append(f"if type({name}) is not ndarray or {name}.dtype is not {x}.dtype:")
        self.lines.append(f"    {name} = fitted({name}, {x}, F)")

    def _by_slope(self, node: Derive, place: int, name: str, g: str, inputs: list[str]) -> bool:
        """The basic operators' rules, as the walk writes them out."""
        slopes, gradient = node.operator.slopes, node.gradient
        if slopes is None or gradient.dtype != np.float32 or not gradient.shape:
            return False
        x = node.inputs[place]
        if type(x) is not Value or x.dtype != np.float32:
            return False
        if place and slopes[1] == NEGATED:
            found = f"-{g}"
        elif slopes[place] == TIMES_OTHER:
            found = f"{g} * {inputs[1 - place]}"
        else:
            found = g
        if (x.sizes or x.shape) != (gradient.sizes or gradient.shape):
            found = f"F.sum_to({found}, shape={self.operand(x.sizes or x.shape)})"
        self.lines.append(f"{name} = {found}")
        return True

    def _by_gradients(self, node: Derive, g: str, output: str, inputs: list[str]) -> None:
        rule = self.hold("r", node.operator.gradients)
        tracked = "{" + ", ".join(f"id({inputs[place]})" for place in node.needs) + "}"
        given = "(" + "".join(f"{x}, " for x in inputs) + ")"
        attrs = "{" + ", ".join(f"{key!r}: {self.operand(value)}" for key, value in node.attrs.items()) + "}"
        self.lines.append(f"_ = {rule}(F, {tracked}, {g}, {output}, {given}, {attrs})")
        for place, made in enumerate(node.outputs):
            self.lines.append(f"{self._name(made)} = _[{place}][1]")
        self.lines.append("del _")

    def _whole(self, node: Whole) -> None:
        call = f"{self.hold('w', node.function)}({', '.join(self._structure(x) for x in node.arguments)})"
        self.lines.append("begun.append(True)")
        self.lines += [f"{self.hold('t', tensor)}._rebind({self._name(value)})" for tensor, value in node.before]
        self.lines.append(call)
        for tensor, value in zip(node.changed, node.outputs, strict=True):
            self.lines.append(f"{self._name(value)} = {self.hold('t', tensor)}._array")

    def _structure(self, value: Any) -> str:
        """What the function returned, with a new tensor for each value."""
        if type(value) is Value:
            return f"tensor({self._name(value)})"
        if type(value) in (Draw, Size):
            return self.operand(value)
        if type(value) is Given:
            return f"given[{value.place}]"
        if isinstance(value, Tensor):
            return self.hold("t", value)
        if type(value) is Made:
            if value not in self.made:
                self.made[value] = f"r{len(self.made)}"
                self.lines.append(f"{self.made[value]} = tensor({self._name(value.value)})")
            return self.made[value]
        if type(value) is Seen:
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


def _who(tensor: Any) -> Any:
    """What a tensor that a plan binds anew is known by."""
    return ("given", tensor.place) if type(tensor) is Given else id(tensor)


def operands_of(node: Node) -> Any:
    """What a node computes with: a structure with Values in it."""
    if isinstance(node, Apply):
        return node.inputs, node.attrs
    if isinstance(node, Derive):
        return node.gradient, node.output, node.inputs, node.attrs
    if isinstance(node, Bind):
        return node.value
    return node.inputs if isinstance(node, Fused) else (node.arguments, [value for _, value in node.before])


def _moving(value: Any) -> Any:
    """The Values, Draws and Sizes in an operand."""
    found: list[Any] = []
    replace_values(value, (Value, Draw, Size), found.append)
    return found
