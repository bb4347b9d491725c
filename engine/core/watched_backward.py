"""The backward pass while a tap watches: the same additions in the same order, plus a look at each cell's gradients.

Each watched cell call is a region of the tape. When the walk reaches its end, the gradients of its outputs are whole,
since whatever used them came later: they *arrive*. While the walk is inside, every contribution to one of the region's
inputs is also summed aside; when the walk leaves, those sums are what the cell itself sent on, apart from what other
users of the same value sent. The main sums are never touched, so the bits stay.

Unless a tap replaces gradients. A hook's mark would have summed what leaves the cell by itself and added it, whole, to
what had come before; so the sums as they stood where the region was entered are kept, by reference, and in that case
only they are what the gradients that leave are added to.

In a gradient of a gradient, a hook's mark would also have given what is inside the cell values of its own on the tape
around, on which this walk is recorded. So where gradients were replaced, they are renamed there, afterwards: in the
nodes of the call, and in those that the walk through it left. The walk over that tape joins the names at the region's
ends, as the two marks would.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from . import taps
from .nested import Sparse, tensors_in
from .operator import Operator
from .recording import Recording, Region, Repeating, accumulate, node_backward, state
from .silence import restore, silence
from .tensor import Tensor

__all__ = ["watched_backward"]


def watched_backward(recording: Recording, gradients: dict[int, Any], functions: Any) -> None:
    """Walk the nodes of ``recording`` backwards, telling the taps what arrives at and leaves each region."""
    walk = _Walk(recording, gradients, functions)
    marks = list(recording.marks)
    inside = walk.inside
    nodes, tracked, hooked = recording.nodes, recording.tracked, recording.hooked
    plain = not (functions.wraps or hooked)
    before = None
    try:
        for index in range(len(nodes), -1, -1):
            while marks and marks[-1][0] == index:
                if before is not None:  # code of the user's may run
                    restore(before)
                    before = None
                _, region, ended = marks.pop()
                if ended:
                    walk.enter(region)
                else:
                    walk.leave(region)
            if index == 0:
                break
            node = operator, inputs, output, attrs = nodes[index - 1]
            pairs: Iterable[tuple[Any, Any]]
            if plain and isinstance(operator, Operator) and type(output) is not tuple and not taps.operator_taps:
                # What ``node_backward`` comes to, written out: most nodes come here.
                gradient = gradients.pop(id(output), None)
                if gradient is None:
                    continue
                if before is None:
                    before = silence()
                pairs = operator.gradients(functions, tracked, gradient, output, inputs, attrs)
            else:
                if before is not None:
                    restore(before)
                    before = None
                pairs = node_backward(node, gradients, functions, tracked, hooked)
            for array, gradient in pairs:
                key = id(array)
                held = gradients.get(key)
                accumulate(gradients, key, gradient, functions)
                for region in inside:
                    arrived = region.arrived
                    if key not in arrived:
                        continue
                    if held is not None and arrived[key] is held:  # the same parts so far: one addition serves both
                        arrived[key] = gradients[key]
                    else:
                        accumulate(arrived, key, gradient, functions)
    finally:
        if before is not None:
            restore(before)


class _Walk:
    """One walk: its sums, and the regions that it is inside of, the outermost first."""

    def __init__(self, recording: Recording, gradients: dict[int, Any], functions: Any) -> None:
        self.recording = recording
        self.gradients = gradients
        self.functions = functions
        self.targets = set(gradients)
        self.inside: list[Region] = []
        # In a recomputed cell the sums of values from outside are kept elsewhere: each part of them is passed on.
        self.passed: list[tuple[Any, Any]] | None = getattr(gradients, "passed", None)

    def enter(self, region: Region) -> None:
        """The walk is where the call ended."""
        gradients = self.gradients
        own = region.inner_outputs
        take = gradients.pop if own else gradients.get  # what has an inner name too is added to that
        arriving = tuple([_shown(take(id(array), None)) for array in region.outputs])
        region.entered = any(g is not None for g in arriving)
        if not region.entered:
            return
        # A value that passes through unchanged leaves with the gradient it arrived with.
        outputs = {id(array) for array in region.outputs}
        region.arrived = {id(a): gradients.get(id(a)) if id(a) in outputs else None for a in region.inputs}
        region.before = [
            (sums, {key: None if key in outputs else sums.get(key) for key in region.arrived if whole or key in sums})
            for sums, whole in ((gradients, True), *((around.arrived, False) for around in self.inside))
        ]
        region.passed = len(self.passed or ())
        told = self._tell("backward_enter", region, arriving)
        region.edited = told is not arriving
        for array, old, new in zip(region.outputs, arriving, told, strict=True) if region.edited or own else ():
            key = id(array)
            if key in own and new is not None:
                accumulate(gradients, id(own[key]), self._value(new), self.functions)
            elif new is not old and new is not None and key in self.recording.tracked:
                for sums in (region.arrived, *(around.arrived for around in self.inside)):
                    if key in sums:
                        sums[key] = self._value(new)
                gradients[key] = self._value(new)
        region.outside = [(r, s, len(r.nodes)) for r, s in region.around if any(r is one for one in state.recordings)]
        self.inside.append(region)

    def leave(self, region: Region) -> None:
        """The walk is where the call began."""
        own = {key: self.gradients.pop(id(inner), None) for key, inner in region.inner_inputs.items()}
        if region.entered:
            self.inside.remove(region)
            leaving = tuple([_shown(own.get(id(a)) if id(a) in own else region.arrived[id(a)]) for a in region.inputs])
            ends = [len(recording.nodes) for recording, _, _ in region.outside]
            told = self._tell("backward_exit", region, leaving)
            if region.edited or told is not leaving:
                views: dict[int, Any] = {}
                for (recording, sibling, start), end in zip(region.outside, ends, strict=True):
                    _give_own_names(recording, sibling, start, end, views)
                if not own:
                    self._add_up_as_a_hook_does(region, leaving, told)
            for array, new in zip(region.inputs, told, strict=True):
                if id(array) in own:
                    own[id(array)] = None if new is None else self._value(new)
            region.arrived, region.before, region.outside = {}, [], []
        for key, gradient in own.items():
            if gradient is not None:
                accumulate(self.gradients, key, gradient, self.functions)
                for around in self.inside:
                    if key in around.arrived:
                        accumulate(around.arrived, key, gradient, self.functions)

    def _tell(self, method: str, region: Region, gradients: Any) -> Any:
        call = region.call
        if method == "backward_enter":
            if not region.order:
                region.order = call.orders = call.orders + 1
            region.walks += 1
        call.order, call.walk, call.why_not = region.order, region.walks, functools.partial(self._why_not, region)
        try:
            return taps.tell_backward(method, call, gradients)
        finally:
            call.why_not = str  # else the tape would hold itself

    def _value(self, gradient: Tensor) -> Any:
        return gradient if self.functions.wraps else gradient._array

    def _add_up_as_a_hook_does(self, region: Region, leaving: Any, told: Any) -> None:
        marked = _in_marks(region.call)
        for place, (array, old, new) in enumerate(zip(region.inputs, leaving, told, strict=True)):
            key = id(array)
            if key not in self.recording.tracked or (new is old and place not in marked):
                continue
            if self.passed is not None:
                kept = [pair for pair in self.passed[region.passed :] if pair[0] is not array]
                self.passed[region.passed :] = kept
            for sums, before in region.before:
                if key not in before:
                    continue
                if before[key] is None and sums is self.gradients:
                    sums.pop(key, None)
                else:
                    sums[key] = before[key]
                if new is not None:
                    accumulate(sums, key, self._value(new), self.functions)

    def _why_not(self, region: Region) -> str:
        """Why what a tap returned for this region's gradients could not count as what a hook returned."""
        inputs = [id(array) for array in region.inputs if id(array) in self.recording.tracked]
        outputs = [id(array) for array in region.outputs]
        if len(set(inputs)) < len(inputs):
            return "the cell got one tensor in two places, whose gradients only a hook can tell apart"
        if len(set(outputs)) < len(outputs):
            return "the cell returned one tensor in two places, whose gradients only a hook can tell apart"
        if region.order > 1 and not (region.inner_inputs or region.inner_outputs):
            return "in a gradient of a gradient it can be replaced only where it was in the first one: use a hook"
        for key in set(inputs).intersection(outputs):
            if region.around:
                return "the cell returned its very input, and only a hook can tell its gradient from other users'"
            users = sum(key == id(x) for node in self.recording.nodes[region.end :] for x in node[1])
            if users + (key in self.targets) > 1:
                return "the cell returned its very input, and only a hook can tell its gradient from other users'"
        return ""


def _give_own_names(recording: Recording, region: Region, start: int, end: int, views: dict[int, Any]) -> None:
    """Rename what is inside the cell on a tape around: in the nodes of its call, and in those from start to end.

    ``views`` are the new names, the same ones on every tape.
    """
    if region.inner_inputs or region.inner_outputs:
        return
    marked = _in_marks(region.call)
    inputs = [array for place, array in enumerate(region.inputs) if place in marked]
    region.inner_inputs = {id(a): views.setdefault(id(a), a.view()) for a in inputs if id(a) in recording.tracked}
    region.inner_outputs = {
        id(a): views.setdefault(id(a), a.view()) for a in region.outputs if id(a) in recording.tracked
    }
    names = region.inner_inputs | region.inner_outputs
    recording.tracked.update(id(array) for array in names.values())

    def renamed(value: Any) -> Any:
        return tuple([names.get(id(x), x) for x in value]) if type(value) is tuple else names.get(id(value), value)

    nodes = recording.nodes
    for index in (*range(region.start, region.end), *range(start, end)):
        operator, used, made, attrs = nodes[index]
        nodes[index] = (operator, renamed(used), renamed(made), attrs)
        if isinstance(operator, Repeating):
            operator.rename(names)
    begin, ended = (i for i, mark in enumerate(recording.marks) if mark[1] is region)
    for _, inner, _ in recording.marks[begin + 1 : ended]:
        inner.inputs, inner.outputs = list(renamed(tuple(inner.inputs))), list(renamed(tuple(inner.outputs)))


def _in_marks(call: Any) -> set[int]:
    """The places of those tensors among the arguments that a hook's mark would be on, in the order of all of them."""
    found: set[int] = set()
    place = 0
    for argument in call.args:
        if isinstance(argument, Tensor | Sparse):
            found.add(place)
            place += 1
        else:
            place += len(tensors_in(argument))
    return found


def _shown(gradient: Any) -> Tensor | None:
    if gradient is None:
        return None
    # A tensor of its own around the same array: what a tap keeps must not follow later edits of the walk's tensor.
    return Tensor._wrap(gradient._array if isinstance(gradient, Tensor) else gradient)
