"""The walk back while a tap watches: the same additions in the same order, plus a look at each cell's gradients.

Each watched cell call is a region of the tape. When the walk reaches its end, the gradients of its outputs are whole,
since whatever used them came later: they *arrive*. While the walk is inside, every contribution to one of the region's
inputs is also summed aside; when the walk leaves, those sums are what the cell itself sent on, apart from what other
users of the same value sent. The main sums are never touched, so the bits stay.
"""

from __future__ import annotations

from typing import Any

from . import taps
from .recording import Recording, Region, accumulate, node_backward
from .tensor import Tensor

__all__ = ["watched_backward"]


def watched_backward(recording: Recording, gradients: dict[int, Any], functions: Any) -> None:
    """Walk the nodes of ``recording`` backwards, telling the taps what arrives at and leaves each region."""
    marks = list(recording.marks)
    inside: list[Region] = []
    for index in range(len(recording.nodes), -1, -1):
        while marks and marks[-1][0] == index:
            _, region, ended = marks.pop()
            if ended:
                _enter(region, gradients, inside)
            else:
                _leave(region, inside)
        if index == 0:
            break
        node = recording.nodes[index - 1]
        for array, gradient in node_backward(node, gradients, functions, recording.tracked, recording.hooked):
            key = id(array)
            accumulate(gradients, key, gradient, functions)
            for region in inside:
                if key in region.arrived:
                    accumulate(region.arrived, key, gradient, functions)


def _enter(region: Region, gradients: dict[int, Any], inside: list[Region]) -> None:
    arriving = tuple([_shown(gradients.get(id(array))) for array in region.outputs])
    region.entered = any(g is not None for g in arriving)
    if not region.entered:
        return
    # A value that passes through unchanged leaves with the gradient it arrived with.
    outputs = {id(array) for array in region.outputs}
    region.arrived = {id(a): gradients.get(id(a)) if id(a) in outputs else None for a in region.inputs}
    inside.append(region)
    taps.tell_backward("backward_enter", region.call, arriving)


def _leave(region: Region, inside: list[Region]) -> None:
    if not region.entered:
        return
    inside.remove(region)
    leaving = tuple([_shown(region.arrived[id(array)]) for array in region.inputs])
    taps.tell_backward("backward_exit", region.call, leaving)
    region.arrived = {}


def _shown(gradient: Any) -> Tensor | None:
    if gradient is None:
        return None
    # A tensor of its own around the same array: what a tap keeps must not follow later edits of the walk's tensor.
    return Tensor._wrap(gradient._array if isinstance(gradient, Tensor) else gradient)
