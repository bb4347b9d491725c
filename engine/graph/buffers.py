"""A group of elementwise operators step by step, into arrays that are used again: by NumPy for who has no Numba, by
CuPy for who has no Triton."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..cpu.array_module import special_module
from .graph import Fused
from .scalars import Step

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


def with_buffers(node: Fused, xp: Any = np) -> Callable[..., tuple[Any, ...]]:
    """What computes a group.

    Args:
        node: the group.
        xp: the library of its arrays.

    Returns:
        A function of the inputs' arrays that gives a tuple of the outputs'.
    """
    stored = {store.step for store in node.stores}
    last: dict[int, list[int]] = {}
    seen = set(stored)
    for place in range(len(node.steps) - 1, -1, -1):
        name, _, *operands = node.steps[place]
        for operand in () if name in ("input", "const") else operands:
            if operand not in seen:
                seen.add(operand)
                last.setdefault(place, []).append(operand)
    shapes = [tuple([n if yes else 1 for n, yes in zip(node.shape, varies, strict=True)]) for varies in node.varies]

    def run(*arrays: Any) -> tuple[Any, ...]:
        free: dict[Any, list[Any]] = {}
        found: list[Any] = []
        for place, step in enumerate(node.steps):
            name, dtype, *operands = step
            if name == "input":
                found.append(arrays[operands[0]].reshape(shapes[operands[0]]))
            elif name == "const":
                found.append(dtype.type(operands[0]))
            else:
                given = [found[operand] for operand in operands]
                shape = np.broadcast_shapes(*[x.shape for x in given])
                waiting = free.get((shape, dtype))
                found.append(_computed(step, given, waiting.pop() if waiting else xp.empty(shape, dtype), xp))
            for operand in last.get(place, ()):
                if node.steps[operand][0] not in ("input", "const"):
                    free.setdefault((found[operand].shape, node.steps[operand][1]), []).append(found[operand])
                    found[operand] = None
        return tuple([_stored(node, place, found, xp) for place in range(len(node.stores))])

    return run


def _computed(step: Step, given: list[Any], target: Any, xp: Any) -> Any:
    name: str = step[0]
    if name == "where":
        condition, x, y = given
        xp.copyto(target, y)
        xp.copyto(target, x, where=condition)
    elif name == "cast":
        xp.copyto(target, given[0], casting="unsafe")
    elif name in ("erf", "erfc"):
        getattr(special_module(target), name)(given[0], out=target)
    else:
        getattr(xp, _NAMES.get(name, name))(*given, out=target)
    return target


def _stored(node: Fused, place: int, found: list[Any], xp: Any) -> Any:
    store, output = node.stores[place], node.outputs[place]
    elements = found[store.step]
    made_here = node.steps[store.step][0] not in ("input", "const")
    if store.axes is None and made_here and elements.shape == output.shape:
        return elements
    whole = xp.broadcast_to(xp.asarray(elements), node.shape)
    if store.axes is None:
        return whole.reshape(output.shape).copy()
    reduced = whole.mean(axis=store.axes) if store.is_mean else whole.sum(axis=store.axes, dtype=output.dtype)
    return xp.asarray(reduced, output.dtype).reshape(output.shape)
