"""Scatter and segments: gradients of products where a factor is 0, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops


def test_a_product_of_a_segment_has_the_gradient_of_the_others_also_where_one_is_zero() -> None:
    ids = Tensor([0, 0, 1, 1, 2, 2, 2], ms.int32)
    x = Tensor([2.0, 0.0, 1.0, 3.0, 0.0, 0.0, 5.0])
    result = ms.grad(lambda v: ops.unsorted_segment_prod(v, ids, 3).sum())(x)
    assert result.tolist() == [0, 2, 3, 1, 0, 0, 0]  # the first four recorded from MindSpore 2.10


def test_a_product_with_updates_has_the_gradient_of_the_others_also_where_one_is_zero() -> None:
    index = Tensor([[0], [0], [2]], ms.int32)

    def scaled(x: Tensor, updates: Tensor) -> Tensor:
        return ops.tensor_scatter_mul(x, index, updates)

    of_x, of_updates = ms.grad(lambda *v: scaled(*v).sum(), (0, 1))(Tensor([2.0, 4.0, 0.0]), Tensor([0.0, 3.0, 7.0]))
    assert of_x.tolist() == [0, 1, 7]
    assert of_updates.tolist() == [6, 0, 0]


X = np.arange(6, dtype=np.float32).reshape(2, 3)
WHERE = Tensor([[0, 0, 0]], ms.int32)
ROW = Tensor([[9.0, 9.0, 9.0]])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: x.scatter(0, WHERE, ROW, foo=1), TypeError, "For 'Tensor.scatter', there is no argument 'foo'"),
        (lambda x: x.scatter(0), TypeError, "'index' must be given"),
        (lambda x: x.scatter_add(dim=0, index=WHERE, source=ROW), TypeError, "there is no argument 'source'"),
        (lambda x: x.index_add(dim=0, index=WHERE[0], source=ROW, beta=2), TypeError, "no argument 'beta'"),
        (lambda x: x[0].fill_diagonal(3.0), ValueError, "must have 2 axes"),
        (lambda x: ops.zeros((2, 3, 3)).fill_diagonal(3.0), ValueError, "or more of one length"),
        (lambda x: ops.inplace_update(x, ROW, (0, 1)), ValueError, "'v' must have 2 rows"),
        (lambda x: ops.inplace_update(x, ROW, (5,)), RuntimeError, r"indices must be in \[-2, 2\), but got 5..5"),
        (lambda x: ops.index_put(x, (Tensor([7]),), Tensor([1.0])), RuntimeError, "'index_put', indices must be"),
        (lambda x: x.put_(Tensor([6]), Tensor([1.0])), RuntimeError, r"For 'put_', indices must be in \[-6, 6\)"),
        (lambda x: x.index_copy_(0, Tensor([2]), ROW), RuntimeError, "For 'index_copy_', indices must be in"),
        (lambda x: ops.unsorted_segment_sum(x, Tensor([0, 5]), 2), RuntimeError, r"indices must be in \[-2, 2\)"),
        (lambda x: ops.unsorted_segment_sum(x, Tensor([0, 1]), 2.5), TypeError, "'num_segments' must be an int"),
        *(
            (
                lambda x, n=count: ops.unsorted_segment_sum(x, Tensor([0, 0]), n),
                ValueError,
                f"For 'unsorted_segment_sum', 'num_segments' must be positive, but got {count}",
            )
            for count in (0, -1)
        ),
        (lambda x: ops.unsorted_segment_max(x, Tensor([0, 1, 1]), 2), ValueError, "must be the beginning of"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        call(Tensor(X))


INTEGERS, FRACTIONS = Tensor([[1, 2, 3], [4, 5, 6]], ms.int32), Tensor([[0.5, 0.5, 0.5]])
ROWS = Tensor([0], ms.int32)
HOWS = ("add", "sub", "mul", "div", "max", "min", "update")
LOSING: list[tuple[Any, str]] = [
    *(
        (
            lambda how=how: getattr(ops, f"tensor_scatter_{how}")(INTEGERS, ROWS[:, None], FRACTIONS),
            f"'tensor_scatter_{how}', 'updates' must be Int32 as 'input_x' is",
        )
        for how in HOWS
    ),
    *(
        (
            lambda how=how: getattr(ops, f"scatter_{how}")(ms.Parameter(INTEGERS), ROWS, FRACTIONS),
            f"'scatter_{how}', 'updates' must be Int32 as 'input_x' is",
        )
        for how in HOWS
    ),
    *(
        (
            lambda how=how: getattr(ops, f"ScatterNd{how.capitalize()}")()(
                ms.Parameter(INTEGERS), ROWS[:, None], FRACTIONS
            ),
            f"'scatter_nd_{how}', 'updates' must be Int32 as 'input_x' is",
        )
        for how in HOWS
    ),
    (lambda: ops.TensorScatterElements()(INTEGERS, WHERE, FRACTIONS), "'tensor_scatter_elements', 'updates' must be"),
    (lambda: ops.scatter(INTEGERS, 0, WHERE, FRACTIONS), "'scatter', 'src' must be Int32 as 'input' is"),
    (lambda: INTEGERS.scatter_add(0, WHERE, FRACTIONS), "'tensor_scatter_elements', 'updates' must be Int32"),
    (lambda: ops.index_add(ms.Parameter(INTEGERS), ROWS, FRACTIONS, 0), "'index_add', 'y' must be Int32 as 'x' is"),
]


@pytest.mark.parametrize(("call", "message"), LOSING)
def test_fractions_are_not_put_among_integers(call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=f"^For {message}.*, but got Float32; cast one of them$"):
        call()
    assert INTEGERS.tolist() == [[1, 2, 3], [4, 5, 6]]


def test_integers_are_put_among_fractions() -> None:
    result = ops.tensor_scatter_add(Tensor([[0.5, 1.5]]), Tensor([[0]]), Tensor([[1, 2]], ms.int32))
    assert result.tolist() == [[1.5, 3.5]]
