"""Lists and tuples with tensors in them where a tensor could stand: a gradient or an error, never a lost gradient.

Values, gradients and kinds of errors are those of MindSpore 2.10, unless a test says otherwise.
"""

# ruff: noqa: RUF005  # + is under test, not unpacking
from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
import hookscope.engine.numpy as mnp
from hookscope.engine import Parameter, Tensor, grad, mint, ops

X = Tensor(np.array([1.0, 2.0, 3.0], np.float32))
MASK = Tensor([True, False])

OPERANDS: list[tuple[str, Callable[[Tensor], Any], list[float], list[float]]] = [
    ("x + list", lambda x: x[:2] + [x[0], x[1]], [2, 4], [2, 2, 0]),
    ("x + tuple", lambda x: x[:2] + (x[0], x[1]), [2, 4], [2, 2, 0]),
    ("list + x", lambda x: [x[0], x[1]] + x[:2], [2, 4], [2, 2, 0]),
    ("x + rows", lambda x: x[:2] + [x[:2], x[1:]], [2, 4, 3, 5], [3, 4, 1]),
    ("x + mixed", lambda x: x[:2] + [x[0], 3.0], [2, 5], [2, 1, 0]),
    ("x + numbers", lambda x: x[:2] + [1, 2], [2, 4], [1, 1, 0]),
    ("x - list", lambda x: x[:2] - [x[1], x[2]], [-1, -1], [1, 0, -1]),
    ("tuple - x", lambda x: (x[1], x[2]) - x[:2], [1, 1], [-1, 0, 1]),
    ("x // list", lambda x: x[:2] // [x[0], x[1]], [1, 1], [0, 0, 0]),
    ("list // x", lambda x: [x[0], x[1]] // x[:2], [1, 1], [0, 0, 0]),
    ("list ** x", lambda x: [x[0], x[1]] ** x[:2], [1, 4], [1, 4 + 4 * np.log(2), 0]),
    ("numbers ** x", lambda x: (1.0, 2.0) ** x[:2], [1, 4], [0, 4 * np.log(2), 0]),
    ("x.add", lambda x: x[:2].add([x[0], x[1]]), [2, 4], [2, 2, 0]),
    ("x.sub", lambda x: x[:2].sub((x[1], x[2])), [-1, -1], [1, 0, -1]),
    # MindSpore's `numpy` gives these gradients of the tensor alone: see docs/differences.md.
    ("numpy.add", lambda x: mnp.add([x[0] * 2, x[1]], x[:2]), [3, 4], [3, 2, 0]),
    ("numpy.where", lambda x: mnp.where(MASK, [x[0] * 2, x[1]], x[:2]), [2, 2], [2, 1, 0]),
    ("numpy.sum", lambda x: mnp.sum([x[0] * 2, x[1]]), [4], [2, 1, 0]),
    ("numpy.array", lambda x: mnp.array([x[0] * 2, [x[1]][0]]), [2, 2], [2, 1, 0]),
    ("numpy.array of a tensor", lambda x: mnp.array(x), [1, 2, 3], [1, 1, 1]),
    ("numpy.asfarray", lambda x: mnp.asfarray(x, ms.float64), [1, 2, 3], [1, 1, 1]),
    ("cast", lambda x: ops.cast([x[0] * 2, x[1]], ms.float16), [2, 2], [2, 1, 0]),
    ("numpy.full", lambda x: mnp.full((2, 2), [x[0] * 2, x[1]]), [2, 2, 2, 2], [4, 2, 0]),
    ("tuple_to_array", lambda x: ops.tuple_to_array((x[0] * 2, x[1])), [2, 2], [2, 1, 0]),
    ("copy_", lambda x: (x[:2] * 1).copy_([x[0] * 2, x[1]]), [2, 2], [2, 1, 0]),
    ("deepcopy", lambda x: ops.deepcopy(x) * x, [1, 4, 9], [2, 4, 6]),
    ("copy.deepcopy", lambda x: copy.deepcopy(x) * x, [1, 4, 9], [2, 4, 6]),
]


@pytest.mark.parametrize(("name", "function", "value", "gradient"), OPERANDS, ids=[row[0] for row in OPERANDS])
def test_the_gradient_reaches_the_tensors_in_a_list(
    name: str, function: Callable[[Tensor], Any], value: list[float], gradient: list[float]
) -> None:
    assert function(X).asnumpy().ravel().tolist() == value
    result, slope = ms.value_and_grad(lambda x: ops.cast(function(x), ms.float32).sum())(X)
    assert float(result) == sum(value)
    np.testing.assert_allclose(slope.asnumpy(), gradient, rtol=1e-6)


ASSIGNED: list[tuple[str, tuple[int, ...], Any, Callable[[Tensor], Any], list[float]]] = [
    ("slice", (2,), slice(None), lambda x: [x[0] * 2, x[1]], [2, 1, 0]),
    ("tuple", (2,), slice(None), lambda x: (x[0] * 2, x[1]), [2, 1, 0]),
    ("int", (2, 2), 0, lambda x: [x[0] * 2, x[1]], [2, 1, 0]),
    ("tensor index", (2, 2), Tensor([0, 1]), lambda x: [x[0] * 2, x[1]], [4, 2, 0]),
    ("list index", (2, 2), [0, 1], lambda x: [x[0] * 2, x[1]], [4, 2, 0]),
    ("tuple index", (2, 2), (slice(0, 1), 0), lambda x: [x[0] * 2], [2, 0, 0]),
    ("ellipsis", (2,), ..., lambda x: [x[0] * 2, x[1]], [2, 1, 0]),
    ("mixed", (2,), slice(None), lambda x: [x[0] * 2, 3.0], [2, 0, 0]),
    ("rows", (2, 2), slice(None), lambda x: [x[:2] * 2, x[1:]], [2, 3, 1]),
    # MindSpore loses this one.
    ("nested", (2, 2), slice(None), lambda x: [[x[0], 1.0], [x[1] * 3, x[2]]], [1, 3, 1]),
    # MindSpore fails here.
    ("mask", (2, 2), MASK, lambda x: [x[0] * 2, x[1]], [2, 1, 0]),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize(("name", "shape", "index", "value", "gradient"), ASSIGNED, ids=[row[0] for row in ASSIGNED])
def test_the_gradient_of_an_assignment_reaches_the_tensors_in_a_list(
    name: str, shape: Any, index: Any, value: Callable[[Tensor], Any], gradient: list[float], dtype: Any
) -> None:
    def function(x: Tensor) -> Tensor:
        y = Tensor(np.zeros(shape, dtype)) + x[0].astype(Tensor(np.zeros(1, dtype)).dtype) * 0
        y[index] = value(x)
        return y.sum()

    assert grad(function)(X).tolist() == gradient


REFUSED: list[tuple[str, Callable[[Tensor], Any]]] = [
    *((f"x {sign} list", eval(f"lambda x: x[:2] {sign} [x[0], x[1]]")) for sign in ("*", "/", "%", "**", "<", "@")),
    *((f"list {sign} x", eval(f"lambda x: (x[0], x[1]) {sign} x[:2]")) for sign in ("*", "/", "%", ">=")),
    *((f"ops.{f.__name__}", lambda x, f=f: f(x[:2], [x[0], x[1]])) for f in (ops.add, ops.sub, ops.mul, ops.maximum)),
    *((f"ops.{f.__name__} first", lambda x, f=f: f([x[0], x[1]], x[:2])) for f in (ops.add, ops.pow, ops.atan2)),
    *((f"ops.{f.__name__}", lambda x, f=f: f([x, x])) for f in (ops.cos, ops.exp, ops.relu, ops.neg, ops.isnan)),
    ("mint.mul", lambda x: mint.mul(x[:2], [x[0], x[1]])),
    ("mint.sin", lambda x: mint.sin([x, x])),
    ("x.mul", lambda x: x[:2].mul([x[0], x[1]])),
    ("ops.where", lambda x: ops.where(MASK, [x[0], x[1]], x[:2])),
    ("ops.where, other", lambda x: ops.where(MASK, x[:2], (x[0], x[1]))),
    ("mint.where", lambda x: mint.where(MASK, [x[0], x[1]], x[:2])),
    ("x.where", lambda x: x[:2].where(MASK, [x[0], x[1]])),
    ("ops.select", lambda x: ops.select(MASK, [x[0], x[1]], x[:2])),
    ("ops.clamp", lambda x: ops.clamp(x[:2], [x[0], x[1]])),
    ("ops.masked_fill", lambda x: ops.masked_fill(x[:2], MASK, [x[0], x[1]])),
    ("ops.sum", lambda x: ops.sum([x[0], x[1]])),
    ("ops.matmul", lambda x: ops.matmul([x[0], x[1]], x[:2])),
    ("ops.assign", lambda x: ops.assign(Parameter(Tensor([0.0, 0.0]), "variable"), [x[0], x[1]])),
]


@pytest.mark.parametrize(("name", "function"), REFUSED, ids=[row[0] for row in REFUSED])
def test_where_mindspore_takes_no_list_it_is_refused(name: str, function: Callable[[Tensor], Any]) -> None:
    with pytest.raises(TypeError, match="must be .*, but got (list|tuple)"):
        function(X)


def test_the_gradient_of_copysign_and_repeat_interleave_reaches_the_tensors_in_a_list() -> None:
    assert grad(lambda x: ops.copysign([x[0] * 2, x[1]], X[:2]).sum())(X).tolist() == [2.0, 1.0, 0.0]
    assert grad(lambda x: ops.repeat_interleave([x[0] * 2, x[1]], 2).sum())(X).tolist() == [4.0, 2.0, 0.0]
