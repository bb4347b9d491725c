"""Primitive classes: configured when made, then the functions of the same operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hookscope.engine import Parameter, Tensor, int32, ops
from hookscope.engine.surfaces import PRIMITIVES

X = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3) - 2.0)
ROWS = Tensor(np.array([1, 0], np.int32))

# The primitive and its inputs, and what it gives.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], tuple[Any, ...], Any]] = [
    ("ReduceSum", (), {"keep_dims": True}, (X, 1), [[-3.0], [6.0]]),
    ("ReduceAll", (), {}, (X > -3,), True),
    ("Argmax", (), {"axis": 1}, (X,), [2, 2]),
    ("CumSum", (), {"exclusive": True}, (X, 1), [[0.0, -2.0, -3.0], [0.0, 1.0, 3.0]]),
    ("CumSum", (), {"reverse": True}, (X, 1), [[-3.0, -1.0, 0.0], [6.0, 5.0, 3.0]]),
    ("CumProd", (), {"exclusive": True}, (X, 1), [[1.0, -2.0, 2.0], [1.0, 1.0, 2.0]]),
    ("Gather", (), {}, (X, ROWS, 0), [[1.0, 2.0, 3.0], [-2.0, -1.0, 0.0]]),
    ("OneHot", (), {}, (ROWS, 2, Tensor(1.0), Tensor(0.0)), [[0.0, 1.0], [1.0, 0.0]]),
    ("Pad", (((0, 0), (1, 0)),), {}, (X,), [[0.0, -2.0, -1.0, 0.0], [0.0, 1.0, 2.0, 3.0]]),
    ("StridedSlice", (), {"shrink_axis_mask": 1}, (X, (1, 0), (2, 3), (1, 2)), [1.0, 3.0]),
    ("DivNoNan", (), {}, (Tensor([1.0, 2.0]), Tensor([0.0, 4.0])), [0.0, 0.5]),
    ("MulNoNan", (), {}, (Tensor([np.inf, 2.0]), Tensor([0.0, 4.0])), [0.0, 8.0]),
    ("InTopK", (1,), {}, (X, Tensor(np.array([2, 0], np.int32))), [True, False]),
    ("UnsortedSegmentSum", (), {}, (X, Tensor(np.array([0, 0], np.int32)), 1), [[-1.0, 1.0, 3.0]]),
    ("ScatterNd", (), {}, (Tensor([[1], [1]]), Tensor([1.0, 2.0]), (3,)), [0.0, 3.0, 0.0]),
    ("MatMul", (), {"transpose_b": True}, (X, X), [[5.0, -4.0], [-4.0, 14.0]]),
    ("AddN", (), {}, ((X, X),), [[-4.0, -2.0, 0.0], [2.0, 4.0, 6.0]]),
    ("Shape", (), {}, (X,), (2, 3)),
    ("TupleToArray", (), {}, ((1, 2),), [1, 2]),
    ("Eye", (), {}, (2, 2, int32), [[1, 0], [0, 1]]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings", "named", "inputs", "want"), CASES)
def test_a_primitive_computes_with_its_settings(
    name: str, settings: tuple[Any, ...], named: dict[str, Any], inputs: tuple[Any, ...], want: Any
) -> None:
    got = getattr(ops, name)(*settings, **named)(*inputs)
    assert (got.tolist() if isinstance(got, Tensor) else got) == want


def test_every_primitive_class_can_be_told_apart_and_printed() -> None:
    found = {name: one for name, one in vars(ops.operations).items() if isinstance(one, type)}
    classes = {name: one for name, one in found.items() if issubclass(one, ops.Primitive) and one.name}
    assert set(PRIMITIVES) <= set(classes)
    for name, made in classes.items():
        primitive = made(**{key: 1 for key, _ in made._parameters})
        assert repr(primitive).startswith(f"Prim[{name}]") and primitive.name == name


def test_depth_moves_to_space_and_back() -> None:
    x = Tensor(np.arange(8.0, dtype=np.float32).reshape(1, 8, 1, 1))
    spread = ops.DepthToSpace(2)(x)
    assert spread.shape == (1, 2, 2, 2)
    assert ops.SpaceToDepth(2)(spread).tolist() == x.tolist()


def test_scatter_changes_the_parameter_that_it_is_given() -> None:
    weight = Parameter(Tensor([1.0, 2.0, 3.0]), name="w")
    returned = ops.ScatterAdd()(weight, Tensor(np.array([0, 0], np.int32)), Tensor([5.0, 6.0]))
    assert weight.tolist() == [12.0, 2.0, 3.0] == returned.tolist()


def test_a_primitive_of_the_users_own_keeps_its_arguments() -> None:
    class Scale(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor: float, bias: float = 1.0) -> None:
            self.doubled = factor * 2

    made = Scale(3.0)
    assert (made.name, made.factor, made.bias, made.doubled) == ("Scale", 3.0, 1.0, 6.0)
