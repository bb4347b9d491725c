"""How operands lie in memory, as few axes with strides: with these a kernel broadcasts without a copy."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.triton_kernels._launch import Array, element_strides


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


def broadcast_strides(operand: Array, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides of `operand`, in elements, as an array of `shape`: 0 along every axis it is repeated on."""
    own = element_strides(operand)
    missing = len(shape) - operand.ndim
    repeated = (0 if size == 1 else stride for size, stride in zip(operand.shape, own, strict=True))
    return (0,) * missing + tuple(repeated)
