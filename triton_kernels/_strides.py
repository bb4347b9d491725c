"""How operands lie in memory, as few axes with strides: with these a kernel broadcasts without a copy."""

from __future__ import annotations

from collections.abc import Sequence


def merge_axes(shape: Sequence[int], strides: Sequence[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
    """Sizes and strides after neighbouring axes that lie alike in all operands are made one.

    `strides` has a tuple for each operand. Axes come outermost first, as they do in `shape`.
    """
    sizes: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        if sizes and all(outer[-1] == operand[axis] * size for outer, operand in zip(merged, strides, strict=True)):
            sizes[-1] *= size
            for outer, operand in zip(merged, strides, strict=True):
                outer[-1] = operand[axis]
        else:
            sizes.append(size)
            for outer, operand in zip(merged, strides, strict=True):
                outer.append(operand[axis])
    if not sizes:
        return [1], [[0] for _ in strides]
    return sizes, merged


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that all of them broadcast to; None where they do not fit."""
    axes = max(map(len, shapes))
    found = []
    for sizes in zip(*[(1,) * (axes - len(shape)) + shape for shape in shapes], strict=True):
        longer = {size for size in sizes if size != 1}
        if len(longer) > 1:
            return None
        found.append(longer.pop() if longer else 1)
    return tuple(found)


def memory_order(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The axes as they lie in memory, the outermost first; those of length 1 do not matter and stay in their place."""
    order = list(range(len(shape)))
    places = [axis for axis in order if shape[axis] != 1]
    for place, axis in zip(places, sorted(places, key=lambda axis: (-abs(strides[axis]), axis)), strict=True):
        order[place] = axis
    return order
