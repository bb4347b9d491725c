"""Fused groups computed step by step into reused buffers: by NumPy without Numba, by CuPy without Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...cpu.array_module import special_module
from ..graph import FusedLoop
from .scalar_programs import Step

__all__ = ["with_buffers"]

_NAMES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "true_divide",
    "pow": "power",
    "neg": "negative",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "max": "maximum",
    "min": "minimum",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
}


def with_buffers(node: FusedLoop, xp: Any = np) -> Callable[..., tuple[Any, ...]]:
    """Return the function that computes a group.

    Args:
        node: the group.
        xp: the array library, NumPy or CuPy.

    Returns:
        A function of the inputs' arrays that returns a tuple of the outputs' arrays.
    """
    stored = {store.step for store in node.stores}
    last_uses: dict[int, list[int]] = {}
    used_steps = set(stored)
    for index in range(len(node.steps) - 1, -1, -1):
        name, _, *operands = node.steps[index]
        for operand in () if name in ("input", "const") else operands:
            if operand not in used_steps:
                used_steps.add(operand)
                last_uses.setdefault(index, []).append(operand)
    shapes = [
        tuple([n if is_varying else 1 for n, is_varying in zip(node.shape, varies, strict=True)])
        for varies in node.varies
    ]

    def run(*arrays: Any) -> tuple[Any, ...]:
        free: dict[Any, list[Any]] = {}
        values: list[Any] = []
        for index, step in enumerate(node.steps):
            name, dtype, *operands = step
            if name == "input":
                values.append(arrays[operands[0]].reshape(shapes[operands[0]]))
            elif name == "const":
                values.append(dtype.type(operands[0]))
            else:
                operand_arrays = [values[operand] for operand in operands]
                shape = np.broadcast_shapes(*[x.shape for x in operand_arrays])
                free_buffers = free.get((shape, dtype))
                values.append(
                    _compute(step, operand_arrays, free_buffers.pop() if free_buffers else xp.empty(shape, dtype), xp)
                )
            for operand in last_uses.get(index, ()):
                if node.steps[operand][0] not in ("input", "const"):
                    free.setdefault((values[operand].shape, node.steps[operand][1]), []).append(values[operand])
                    values[operand] = None
        return tuple([_output_of(node, index, values, xp) for index in range(len(node.stores))])

    return run


def _compute(step: Step, operands: list[Any], target: Any, xp: Any) -> Any:
    name: str = step[0]
    if name == "where":
        condition, x, y = operands
        xp.copyto(target, y)
        xp.copyto(target, x, where=condition)
    elif name == "cast":
        xp.copyto(target, operands[0], casting="unsafe")
    elif name in ("erf", "erfc"):
        getattr(special_module(target), name)(operands[0], out=target)
    else:
        getattr(xp, _NAMES.get(name, name))(*operands, out=target)
    return target


def _output_of(node: FusedLoop, index: int, results: list[Any], xp: Any) -> Any:
    store, output = node.stores[index], node.outputs[index]
    elements = results[store.step]
    is_computed = node.steps[store.step][0] not in ("input", "const")
    if store.axes is None and is_computed and elements.shape == output.shape:
        return elements
    broadcast = xp.broadcast_to(xp.asarray(elements), node.shape)
    if store.axes is None:
        return broadcast.reshape(output.shape).copy()
    reduced = broadcast.mean(axis=store.axes) if store.is_mean else broadcast.sum(axis=store.axes, dtype=output.dtype)
    return xp.asarray(reduced, output.dtype).reshape(output.shape)
