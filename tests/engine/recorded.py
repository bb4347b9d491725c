"""Inputs that need no file, and digests of results: so that numbers recorded from MindSpore 2.10 fit on a line.

A digest is the shape of a result, the sum of its elements times cos(0), cos(1), ..., and its first element.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import hookscope.engine as ms
from hookscope.engine import Tensor, nn

Digest = tuple[tuple[int, ...], float, float]


def wave(*shape: int, k: float = 0.0) -> Tensor:
    """sin(k), sin(k + 0.37), ..."""
    return Tensor(np.sin(0.37 * np.arange(int(np.prod(shape))) + k).astype(np.float32).reshape(shape))


def filled(cell: Any, by: float = 0.6) -> Any:
    """The cell, its i-th parameter by * sin(i), by * sin(i + 0.7), ..."""
    for i, p in enumerate(cell.get_parameters()):
        values = by * np.sin(0.7 * np.arange(int(np.prod(p.shape))) + i)
        p.set_data(Tensor(values.astype(np.float32).reshape(p.shape)))
    return cell


def flat(result: Any) -> list[Any]:
    """The tensors of nested results."""
    if isinstance(result, tuple | list):
        return [x for part in result for x in flat(part)]
    return [] if result is None else [result]


def digest(value: Any) -> Digest:
    array = np.asarray(value.asnumpy() if isinstance(value, Tensor) else value, np.float64)
    weights = np.cos(np.arange(array.size)).reshape(array.shape)
    return array.shape, float((array * weights).sum()), float(array.ravel()[0])


def weighed(result: Any) -> Tensor:
    """The sum of all elements times cos(0), cos(1), ..."""
    total: Any = 0
    for one in flat(result):
        if one.dtype == ms.float32:
            total = total + (one * Tensor(np.cos(np.arange(one.size)).astype(np.float32).reshape(one.shape))).sum()
    return total


def gradients(cell: Any, *inputs: Tensor) -> list[Any]:
    """The gradient of the weighed sum by the first input; and the sizes of those by the parameters, added up."""
    weights = cell.trainable_params() if isinstance(cell, nn.Cell) else []
    if not weights:
        return [ms.grad(lambda *x: weighed(cell(*x)), 0)(*inputs)]
    by_input, by_weights = ms.grad(lambda *x: weighed(cell(*x)), 0, weights)(*inputs)
    return [by_input, sum(abs(digest(g)[1]) for g in by_weights)]


def parsed(text: str) -> list[Digest]:
    found = []
    for part in text.split(";"):
        shape, total, first = part.split()
        found.append((tuple(int(n) for n in shape.split("x")) if shape != "-" else (), float(total), float(first)))
    return found


def check(make: Callable[[], Any], want: str) -> None:
    """The digests of what is made are those recorded, of which five digits after the point are kept."""
    got = [digest(one) for one in flat(make())]
    assert [shape for shape, _, _ in got] == [shape for shape, _, _ in parsed(want)]
    for one, other in zip(got, parsed(want), strict=True):
        np.testing.assert_allclose(one[1:], other[1:], rtol=2e-4, atol=3e-5)
