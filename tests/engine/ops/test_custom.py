"""ops.Custom: an operator that a Python function on NumPy arrays computes. The answers are MindSpore 2.10's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops

x, y = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0, 6.0], [7.0, 9.0]])


def same(a: Any, *_: Any) -> Any:
    return a


def product(a: Any, b: Any) -> Any:
    return a * b + 1


def both(a: Any, b: Any) -> Any:
    return a + b, a - b


@pytest.mark.parametrize("declaration", [(same, same), ((2, 2), ms.float32), ([2, 2], ms.float32)])
def test_the_function_computes_on_arrays(declaration: tuple[Any, Any]) -> None:
    out = ops.Custom(product, *declaration, func_type="pyfunc")(x, y)
    assert out.dtype is ms.float32 and out.asnumpy().tolist() == [[6, 13], [22, 37]]


def test_shapes_come_as_lists_and_a_number_as_it_is() -> None:
    records: list[Any] = []
    op = ops.Custom(lambda a, k: a.sum(0) * k, lambda a, k: records.append((a, k)) or (2,), lambda a, k: a)
    assert op(x, 3).asnumpy().tolist() == [12, 18] and records == [([2, 2], [])]


def test_several_outputs_are_a_tuple() -> None:
    op = ops.Custom(both, lambda a, b: (a, b), lambda a, b: (a, b))
    total, difference = op(x, y)
    assert total.asnumpy().tolist() == [[6, 8], [10, 13]] and difference.asnumpy().tolist() == [[-4, -4], [-4, -5]]


def test_bprop_gives_the_gradients() -> None:
    op = ops.Custom(product, same, same, bprop=lambda a, b, out, dout: (dout * b, dout * a * 10))
    by_x, by_y = ms.grad(lambda a, b: op(a, b).sum(), (0, 1))(x, y)
    assert by_x.asnumpy().tolist() == y.asnumpy().tolist() and by_y.asnumpy().tolist() == [[10, 20], [30, 40]]


def test_bprop_of_several_outputs_gets_a_tuple_with_zeros_for_what_was_not_used() -> None:
    records: list[Any] = []

    def bprop(a: Tensor, b: Tensor, out: Any, dout: Any) -> Any:
        records.append((out[1].asnumpy().tolist(), dout[1].asnumpy().tolist()))
        return dout[0] + dout[1], dout[0] - dout[1]

    op = ops.Custom(both, lambda a, b: (a, b), lambda a, b: (a, b), bprop=bprop)
    by_x, by_y = ms.grad(lambda a, b: op(a, b)[0].sum(), (0, 1))(x, y)
    assert (by_x.asnumpy() == 1).all() and (by_y.asnumpy() == 1).all()
    assert records == [([[-4, -4], [-4, -5]], [[0, 0], [0, 0]])]


def test_it_works_in_a_cell_and_the_function_may_write_into_its_arrays() -> None:
    def function(a: Any) -> Any:
        a[0] = 9
        return a

    class Net(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.op = ops.Custom(function, same, same)

        def construct(self, a: Tensor) -> Tensor:
            return self.op(a) * 2

    assert Net()(x).asnumpy().tolist() == [[18, 18], [6, 8]] and x.asnumpy().tolist() == [[1, 2], [3, 4]]


def test_it_is_a_primitive() -> None:
    op = ops.Custom(product, same, same)
    assert isinstance(op, ops.Primitive) and (op.name, op.func, op.func_type) == ("Custom", product, "pyfunc")
    assert op.add_prim_attr("primitive_target", "CPU").attrs["func_name"] == "product"
    assert ops.operations.Custom is ops.Custom


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ops.Custom(3, same, same), TypeError, "'func' must be a function, but got int"),
        (lambda: ops.Custom(product), TypeError, "'out_shape' must be"),
        (lambda: ops.Custom(product, 3, same), TypeError, "'out_shape' must be"),
        (lambda: ops.Custom(product, same, 3), TypeError, "'out_dtype' must be"),
        (lambda: ops.Custom(product, same, same, bprop=3), TypeError, "'bprop' must be a function, but got int"),
        (lambda: ops.Custom(product, same, same, "julia"), ValueError, "'func_type' must be"),
        (lambda: ops.Custom(product, same, same, "akg"), NotImplementedError, "'akg' is not covered"),
        (lambda: ops.Custom("add.so:add", same, same, "aot"), NotImplementedError, "func_type='pyfunc'"),
        (lambda: ops.Custom(np.sum, same, same)(x), RuntimeError, r"shape \(\), but 'out_shape' is \(2, 2\)"),
        (lambda: ops.Custom(np.argsort, same, same)(x), RuntimeError, "of int64, but 'out_dtype' is Float32"),
        (lambda: ops.Custom(lambda a: None, same, same)(x), RuntimeError, "returned nothing, but 'out_dtype' is"),
        (
            lambda: ops.Custom(both, lambda a, b: (a,), lambda a, b: (a,))(x, y),
            RuntimeError,
            "'both' returned 2 outputs, but 'out_shape' has 1 and 'out_dtype' 1",
        ),
        (lambda: ms.grad(ops.Custom(np.sin, same, same))(x), RuntimeError, "no gradient of 'sin': give 'bprop'"),
        (
            lambda: ms.grad(ops.Custom(product, same, same, bprop=lambda *a: a[-1]), (0, 1))(x, y),
            RuntimeError,
            "'bprop' returned 1 gradients for 2 inputs",
        ),
    ],
)
def test_wrong_use_is_one_clear_error(make: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        make()
