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
from ..tape.tape import ArrayPlaceholder, RecomputeNode, Recording, Region, map_values, state
from ..tensors.nested import direct_positions
from ..tensors.tensor import Tensor
from .sums import Sums, accumulate, keys_of_sums, sum_of

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
        self.targets = keys_of_sums(gradients)
        self.open_regions: list[Region] = []
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
        open_regions = self.open_regions
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
                    shared = [region.sums for region in open_regions if region.sums.get(key) is previous]
                    gradients[key] = total = sum_of(previous, gradient, functions, len(shared))
                    for region_sums in shared:
                        region_sums[key] = total
            for region in open_regions:
                region_sums = region.sums
                if key in region_sums and not any(region_sums is sums for sums in shared):
                    accumulate(region_sums, key, gradient, functions)

    def enter(self, region: Region) -> None:
        """Enter a region, at the end of its call."""
        gradients = self.gradients
        inner = region.inner_outputs
        grad_output = tuple([_as_new_tensor(gradients.get(id(array))) for array in region.outputs])
        region.is_entered = any(g is not None for g in grad_output)
        if not region.is_entered:
            return
        # A value that passes through unchanged leaves with the gradient that arrived.
        outputs = {id(array) for array in region.outputs}
        region.sums = {id(a): gradients.get(id(a)) if id(a) in outputs else None for a in region.inputs}
        region.sums_before = [
            (sums, {key: _sum_so_far(sums, key, key in outputs) for key in region.sums if always or key in sums})
            for sums, always in ((gradients, True), *((enclosing.sums, False) for enclosing in self.open_regions))
        ]
        result = self._notify("backward_enter", region, grad_output)
        region.is_replaced = result is not grad_output
        triples = zip(region.outputs, grad_output, result, strict=True)
        for array, old, new in triples if region.is_replaced or inner else ():
            key = id(array)
            if key in inner:  # add to the inner name if there is one
                self._move_sum(key, id(inner[key]), old, new)
            elif new is not old and new is not None and key in self.recording.tracked:
                for sums in (region.sums, *(enclosing.sums for enclosing in self.open_regions)):
                    if key in sums:
                        sums[key] = self._value(new)
                gradients[key] = self._value(new)
        region.open_outer_regions = [
            (recording, outer, len(recording.nodes))
            for recording, outer in region.outer_regions
            if any(recording is current for current in state.recordings)
        ]
        self.open_regions.append(region)

    def leave(self, region: Region) -> None:
        """Leave a region, at the start of its call."""
        inner_names = {key: id(inner) for key, inner in region.inner_inputs.items()}
        moved_parts: list[tuple[int, Any]] = []
        if region.is_entered:
            self.open_regions.remove(region)
            region_sums, gradients = region.sums, self.gradients
            keys = map(id, region.inputs)
            parts = [gradients.get(inner_names[key]) if key in inner_names else region_sums[key] for key in keys]
            grad_input = tuple(map(_as_new_tensor, parts))
            ends = [len(recording.nodes) for recording, _, _ in region.open_outer_regions]
            result = self._notify("backward_exit", region, grad_input)
            if region.is_replaced or result is not grad_input:
                views: dict[int, Any] = {}
                for (recording, sibling, start), end in zip(region.open_outer_regions, ends, strict=True):
                    _rename_inner_values(recording, sibling, start, end, views)
                if not inner_names:
                    self._add_as_hook_would(region, grad_input, result)
            for array, old, new in zip(region.inputs, grad_input, result, strict=True):
                if id(array) in inner_names and new is not old:
                    moved_parts += self._move_sum(inner_names.pop(id(array)), id(array), old, new)
            region.sums, region.sums_before, region.open_outer_regions = {}, [], []
        if inner_names:
            sums: Any = self.gradients
            moved_parts += sums.rename({inner: key for key, inner in inner_names.items()})
        for key, gradient in moved_parts:
            for enclosing in self.open_regions:
                if key in enclosing.sums:
                    accumulate(enclosing.sums, key, gradient, self.functions)

    def _move_sum(self, name: int, new_name: int, old: Tensor | None, new: Tensor | None) -> list[tuple[int, Any]]:
        """Move the sum under one name of a value to another: its parts, or a tap's replacement."""
        sums: Any = self.gradients  # `Sums`, since there are several names
        if new is old:
            return cast("list[tuple[int, Any]]", sums.rename({name: new_name}))
        sums.restore_parts(name, [])
        if new is None:
            return []
        accumulate(sums, new_name, self._value(new), self.functions)
        return [(new_name, self._value(new))]

    def _notify(self, method: str, region: Region, gradients: Any) -> Any:
        call = region.call
        if method == "backward_enter":
            if not region.order:
                region.order = call.orders = call.orders + 1
            region.pass_count += 1
        call.order, call.pass_number = region.order, region.pass_count
        call.refusal_reason = functools.partial(self._refusal_reason, region)
        try:
            return taps.notify_backward(method, call, gradients)
        finally:
            call.refusal_reason = str  # else the tape would reference itself

    def _value(self, gradient: Tensor) -> Any:
        return gradient if self.functions.wraps else gradient._array

    def _add_as_hook_would(self, region: Region, grad_input: Any, result: Any) -> None:
        for array, old, new in zip(region.inputs, grad_input, result, strict=True):
            key = id(array)
            if key not in self.recording.tracked or new is old:
                continue
            for sums, sums_before in region.sums_before:
                if key not in sums_before:
                    continue
                _reset_sum(sums, key, sums_before[key])
                if new is not None:
                    accumulate(sums, key, self._value(new), self.functions)

    def _refusal_reason(self, region: Region) -> str:
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
            if region.outer_regions:
                return "the cell returned its very input, and only a hook can tell its gradient from other users'"
            users = sum(key == id(x) for node in self.recording.nodes[region.end :] for x in node[1])
            if users + (key in self.targets) > 1:
                return "the cell returned its very input, and only a hook can tell its gradient from other users'"
        return ""


def _sum_so_far(sums: dict[int, Any], key: int, is_empty: bool) -> Any:
    """Return the sum for a value so far, for ``_reset_sum``; nothing with ``is_empty``."""
    if isinstance(sums, Sums) and key in sums.parts:
        return [] if is_empty else sums.parts_of(key)
    return None if is_empty else sums.get(key)


def _reset_sum(sums: dict[int, Any], key: int, before: Any) -> None:
    if isinstance(sums, Sums) and key in sums.parts:
        sums.restore_parts(key, before)
    elif before is None:
        sums.pop(key, None)
    else:
        sums[key] = before


def _rename_inner_values(recording: Recording, region: Region, start: int, end: int, views: dict[int, Any]) -> None:
    """Rename the values inside the cell on an enclosing tape: in the nodes of its call, and in those from start to end.

    ``views`` are the new names, the same on every tape.
    """
    if region.inner_inputs or region.inner_outputs:
        return
    marked_positions = direct_positions(region.call.args)  # those that a hook's mark would be on
    inputs = [array for position, array in enumerate(region.inputs) if position in marked_positions]
    region.inner_inputs = {id(a): views.setdefault(id(a), a.view()) for a in inputs if id(a) in recording.tracked}
    region.inner_outputs = {
        id(a): views.setdefault(id(a), a.view()) for a in region.outputs if id(a) in recording.tracked
    }
    names = region.inner_inputs | region.inner_outputs
    recording.tracked.update(id(array) for array in names.values())

    def renamed(value: Any) -> Any:
        return names.get(id(value.array() if type(value) is ArrayPlaceholder else value), value)

    nodes = recording.nodes
    for index in (*range(region.start, region.end), *range(start, end)):
        operator, operands, output, attrs = nodes[index]
        nodes[index] = (operator, *map_values(renamed, operands, output), attrs)
        if isinstance(operator, RecomputeNode):
            operator.rename(names)
    begin, ended = (i for i, mark in enumerate(recording.marks) if mark[1] is region)
    for _, inner, _ in recording.marks[begin + 1 : ended]:
        inner.inputs, inner.outputs = list(map(renamed, inner.inputs)), list(map(renamed, inner.outputs))


def _as_new_tensor(gradient: Any) -> Tensor | None:
    if gradient is None:
        return None
    # A separate tensor of the same array: a tensor kept by a tap must not follow later edits.
    return Tensor._wrap(gradient._array if isinstance(gradient, Tensor) else gradient)
