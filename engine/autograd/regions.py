"""Regions: the calls of watched cells, as parts of a tape that a backward pass goes through.

When the backward pass reaches the end of a region, the gradients of its outputs are complete, since all their uses came
later: they *arrive*. Inside the region, every contribution to one of its inputs is also summed separately. At the start
of the region those sums are the cell's own contribution, without that of other users of the same value. The main sums
are never modified, so results are bitwise the same.

The exception is a tap that replaces gradients. A hook's mark would have summed the gradient that leaves the cell
separately and added it as one term to the earlier sum. So the sums at the entry of the region are kept, by reference,
and in that case the leaving gradients are added to them alone.

In a gradient of a gradient, a hook's mark would also have given the values inside the cell separate names on the
enclosing tape, on which this backward pass is recorded. So if gradients were replaced, they are renamed there
afterwards: in the nodes of the call, and in those that the backward pass through it recorded. The backward pass over
that tape joins the names at the region's ends, as the two marks would.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, cast

from ..base.types import Array
from ..tape import taps
from ..tape.tape import ArrayPlaceholder, RecomputeNode, Recording, Region, state
from ..tensors.nested import direct_places
from ..tensors.tensor import Tensor
from .sums import Sums, accumulate, sum_of

__all__ = ["Regions"]


class Regions:
    """The regions that a backward pass goes through: notifies the taps at their ends, and adds inside them.

    Args:
        recording: the tape.
        gradients: the sums of the backward pass, with the gradients that arrive at the outputs.
        functions: the operators the rules compute with, on arrays or on tensors.
    """

    def __init__(self, recording: Recording, gradients: dict[int, Any], functions: Any) -> None:
        self.recording = recording
        self.gradients = gradients
        self.functions = functions
        self.targets = {key for key in (*gradients, *getattr(gradients, "parts", ())) if key in gradients}
        self.inside: list[Region] = []
        """The open ones, the outermost first."""

    def events(self) -> list[tuple[int, Callable[[], None]]]:
        """Return the ends of the regions: how many nodes remain there, and the call to make."""
        return [
            (position, functools.partial(self.enter if is_end else self.leave, region))
            for position, region, is_end in self.recording.marks
        ]

    def add(self, pairs: Iterable[tuple[Array, Any]], is_added: bool = False) -> None:
        """Add a node's gradients to the sums of their arrays, and to the separate sums of the open regions.

        Args:
            pairs: arrays and their gradients.
            is_added: whether the main sums have them already.
        """
        gradients, functions = self.gradients, self.functions
        inside = self.inside
        has_names = isinstance(gradients, Sums)
        for array, gradient in pairs:
            key = id(array)
            shared = []
            if has_names:
                if not is_added:
                    accumulate(gradients, key, gradient, functions)
            else:
                previous = gradients.get(key)
                if previous is None:
                    gradients[key] = gradient
                else:
                    # If a cell's sum consists of the same parts so far, one addition serves both.
                    shared = [region.arrived for region in inside if region.arrived.get(key) is previous]
                    gradients[key] = total = sum_of(previous, gradient, functions, len(shared))
                    for arrived in shared:
                        arrived[key] = total
            for region in inside:
                arrived = region.arrived
                if key in arrived and not any(arrived is sums for sums in shared):
                    accumulate(arrived, key, gradient, functions)

    def enter(self, region: Region) -> None:
        """Enter a region, at the end of its call."""
        gradients = self.gradients
        inner = region.inner_outputs
        arriving = tuple([_shown(gradients.get(id(array))) for array in region.outputs])
        region.entered = any(g is not None for g in arriving)
        if not region.entered:
            return
        # A value that passes through unchanged leaves with the gradient that arrived.
        outputs = {id(array) for array in region.outputs}
        region.arrived = {id(a): gradients.get(id(a)) if id(a) in outputs else None for a in region.inputs}
        region.before = [
            (sums, {key: _standing(sums, key, key in outputs) for key in region.arrived if always or key in sums})
            for sums, always in ((gradients, True), *((enclosing.arrived, False) for enclosing in self.inside))
        ]
        result = self._notify("backward_enter", region, arriving)
        region.edited = result is not arriving
        for array, old, new in zip(region.outputs, arriving, result, strict=True) if region.edited or inner else ():
            key = id(array)
            if key in inner:  # add to the inner name if there is one
                self._renamed(key, id(inner[key]), old, new)
            elif new is not old and new is not None and key in self.recording.tracked:
                for sums in (region.arrived, *(enclosing.arrived for enclosing in self.inside)):
                    if key in sums:
                        sums[key] = self._value(new)
                gradients[key] = self._value(new)
        region.outside = [
            (r, s, len(r.nodes)) for r, s in region.around if any(r is recording for recording in state.recordings)
        ]
        self.inside.append(region)

    def leave(self, region: Region) -> None:
        """Leave a region, at the start of its call."""
        own = {key: id(inner) for key, inner in region.inner_inputs.items()}
        passed: list[tuple[int, Any]] = []
        if region.entered:
            self.inside.remove(region)
            arrived, gradients = region.arrived, self.gradients
            leaving = tuple(
                [_shown(gradients.get(own[id(a)]) if id(a) in own else arrived[id(a)]) for a in region.inputs]
            )
            ends = [len(recording.nodes) for recording, _, _ in region.outside]
            result = self._notify("backward_exit", region, leaving)
            if region.edited or result is not leaving:
                views: dict[int, Any] = {}
                for (recording, sibling, start), end in zip(region.outside, ends, strict=True):
                    _give_own_names(recording, sibling, start, end, views)
                if not own:
                    self._add_up_as_a_hook_does(region, leaving, result)
            for array, old, new in zip(region.inputs, leaving, result, strict=True):
                if id(array) in own and new is not old:
                    passed += self._renamed(own.pop(id(array)), id(array), old, new)
            region.arrived, region.before, region.outside = {}, [], []
        if own:
            sums: Any = self.gradients
            passed += sums.rename({inner: key for key, inner in own.items()})
        for key, gradient in passed:
            for enclosing in self.inside:
                if key in enclosing.arrived:
                    accumulate(enclosing.arrived, key, gradient, self.functions)

    def _renamed(self, name: int, other: int, old: Tensor | None, new: Tensor | None) -> list[tuple[int, Any]]:
        """Move the sum under one name of a value to another: its parts, or a tap's replacement."""
        sums: Any = self.gradients  # `Sums`, since there are several names
        if new is old:
            return cast("list[tuple[int, Any]]", sums.rename({name: other}))
        sums.put_back(name, [])
        if new is None:
            return []
        accumulate(sums, other, self._value(new), self.functions)
        return [(other, self._value(new))]

    def _notify(self, method: str, region: Region, gradients: Any) -> Any:
        call = region.call
        if method == "backward_enter":
            if not region.order:
                region.order = call.orders = call.orders + 1
            region.walks += 1
        call.order, call.pass_number, call.refusal_reason = (
            region.order,
            region.walks,
            functools.partial(self._why_not, region),
        )
        try:
            return taps.notify_backward(method, call, gradients)
        finally:
            call.refusal_reason = str  # else the tape would reference itself

    def _value(self, gradient: Tensor) -> Any:
        return gradient if self.functions.wraps else gradient._array

    def _add_up_as_a_hook_does(self, region: Region, leaving: Any, told: Any) -> None:
        for array, old, new in zip(region.inputs, leaving, told, strict=True):
            key = id(array)
            if key not in self.recording.tracked or new is old:
                continue
            for sums, sums_before in region.before:
                if key not in sums_before:
                    continue
                _put_back(sums, key, sums_before[key])
                if new is not None:
                    accumulate(sums, key, self._value(new), self.functions)

    def _why_not(self, region: Region) -> str:
        """Return the reason why a tap cannot replace this region's gradients as a hook could, "" if it can."""
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


def _standing(sums: dict[int, Any], key: int, none: bool) -> Any:
    """Return the sum for a value so far, for ``_put_back``; ``none``: nothing."""
    if isinstance(sums, Sums) and key in sums.parts:
        return [] if none else sums.parts_of(key)
    return None if none else sums.get(key)


def _put_back(sums: dict[int, Any], key: int, before: Any) -> None:
    if isinstance(sums, Sums) and key in sums.parts:
        sums.put_back(key, before)
    elif before is None:
        sums.pop(key, None)
    else:
        sums[key] = before


def _give_own_names(recording: Recording, region: Region, start: int, end: int, views: dict[int, Any]) -> None:
    """Rename the values inside the cell on an enclosing tape: in the nodes of its call, and in those from start to end.

    ``views`` are the new names, the same on every tape.
    """
    if region.inner_inputs or region.inner_outputs:
        return
    marked = direct_places(region.call.args)  # those that a hook's mark would be on
    inputs = [array for position, array in enumerate(region.inputs) if position in marked]
    region.inner_inputs = {id(a): views.setdefault(id(a), a.view()) for a in inputs if id(a) in recording.tracked}
    region.inner_outputs = {
        id(a): views.setdefault(id(a), a.view()) for a in region.outputs if id(a) in recording.tracked
    }
    names = region.inner_inputs | region.inner_outputs
    recording.tracked.update(id(array) for array in names.values())

    def renamed(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(renamed, value))
        return names.get(id(value.array() if type(value) is ArrayPlaceholder else value), value)

    nodes = recording.nodes
    for index in (*range(region.start, region.end), *range(start, end)):
        operator, used, outputs, attrs = nodes[index]
        nodes[index] = (operator, renamed(used), renamed(outputs), attrs)
        if isinstance(operator, RecomputeNode):
            operator.rename(names)
    begin, ended = (i for i, mark in enumerate(recording.marks) if mark[1] is region)
    for _, inner, _ in recording.marks[begin + 1 : ended]:
        inner.inputs, inner.outputs = list(renamed(tuple(inner.inputs))), list(renamed(tuple(inner.outputs)))


def _shown(gradient: Any) -> Tensor | None:
    if gradient is None:
        return None
    # A separate tensor of the same array: a tensor kept by a tap must not follow later edits.
    return Tensor._wrap(gradient._array if isinstance(gradient, Tensor) else gradient)
