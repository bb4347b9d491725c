"""Memory layout of operands as few axes with strides, with which a kernel broadcasts without a copy."""

from __future__ import annotations

from collections.abc import Sequence


def merge_axes(shape: Sequence[int], strides: Sequence[tuple[int, ...]]) -> tuple[list[int], list[list[int]]]:
    """Return sizes and strides after merging adjacent axes with compatible strides in all operands.

    `strides` has a tuple for each operand. Axes are ordered outermost first, as in `shape`.
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
    """Return the shape that all of them broadcast to; None if they do not broadcast."""
    axes = max(map(len, shapes))
    lengths = []
    for sizes in zip(*[(1,) * (axes - len(shape)) + shape for shape in shapes], strict=True):
        longer = {size for size in sizes if size != 1}
        if len(longer) > 1:
            return None
        lengths.append(longer.pop() if longer else 1)
    return tuple(lengths)


def memory_order(shape: Sequence[int], strides: Sequence[int]) -> list[int]:
    """Return the axes in memory order, outermost first; axes of length 1 are irrelevant and keep their position."""
    order = list(range(len(shape)))
    positions = [axis for axis in order if shape[axis] != 1]
    for position, axis in zip(positions, sorted(positions, key=lambda axis: (-abs(strides[axis]), axis)), strict=True):
        order[position] = axis
    return order
