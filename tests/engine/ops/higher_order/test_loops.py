"""``ops.WhileLoop``, ``ForiLoop`` and ``Scan`` are Python's loops; the answers are MindSpore 2.10's."""

from __future__ import annotations

import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, ops


def test_each_loop_gives_what_its_rounds_give() -> None:
    assert ops.WhileLoop()(lambda value: value < 5, lambda value: value + 1, 1) == 5
    assert ops.WhileLoop()(lambda value: value < 5, lambda value: value + 1, 7) == 7
    assert ops.ForiLoop()(0, 4, lambda i, value: i + value, 0) == 6
    assert ops.ForiLoop()(Tensor(1), Tensor(4), lambda i, value: i * value, 1, unroll=False) == 6
    assert ops.Scan()(lambda carry, x: (carry + x, carry + x), 0, [1, 2, 3, 4]) == (10, [1, 3, 6, 10])
    assert ops.Scan()(lambda carry, x: (carry, x), 0, (), None) == (0, [])
    assert ops.Scan()(lambda carry, x: (carry + 1, x), 0, None, 3) == (3, [None, None, None])
    assert ops.operations.WhileLoop is ops.WhileLoop and repr(ops.Scan()) == "Prim[Scan]"


def test_gradients_pass_through_each_round() -> None:
    x = Tensor([1.0, 2.0])
    assert ms.grad(lambda x: ops.ForiLoop()(0, 3, lambda i, y: y * x, x).sum())(x).asnumpy().tolist() == [4.0, 32.0]
    scan = ms.grad(lambda x: ops.Scan()(lambda y, _: (y * x, y), x, None, 2)[0].sum())
    assert scan(x).asnumpy().tolist() == [3.0, 12.0]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ops.WhileLoop()(1, lambda v: v, 2), "For 'WhileLoop', 'cond_func' must be a function, but got int"),
        (lambda: ops.ForiLoop()(0, 4, 1, 0), "For 'ForiLoop', 'loop_func' must be a function, but got int"),
        (lambda: ops.ForiLoop()("a", 4, max, 0), "For 'ForiLoop', 'lower' must be an int or a Tensor, but got str"),
        (
            lambda: ops.Scan()(max, 0, 3),
            "For 'Scan', 'xs' must be a list or tuple, or None beside an int 'length', but got int and 'length' None",
        ),
    ],
)
def test_what_a_loop_cannot_take_is_a_type_error(call, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value) == text


def test_a_round_that_fails_is_a_value_error_with_its_cause() -> None:
    for call in (
        lambda: ops.WhileLoop()(lambda value: value < 3, lambda value: 1 // 0, 2),
        lambda: ops.ForiLoop()(0, 4, lambda i, value: i // 0, 0),
        lambda: ops.Scan()(lambda carry, x: (1 // 0, x), 0, [1, 2]),
    ):
        with pytest.raises(ValueError, match=r"a round failed: ZeroDivisionError") as raised:
            call()
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(ValueError, match=r"a round failed: TypeError: cannot unpack"):
        ops.Scan()(lambda carry, x: carry, 0, [1, 2])  # type: ignore[arg-type,return-value]
