"""GradOperation, vmap, Jacobians and derivatives of higher order. Results as MindSpore 2.10 gives them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, nn, ops
from hookscope.engine.ops import GradOperation

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])
A = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


class Weighted(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.w, self.v = Parameter(Tensor([5.0, 6.0])), Parameter(Tensor([1.0, 1.0]))

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        return x * y * self.w


def product(x: Tensor, y: Tensor) -> Tensor:
    return x * y


def lists(value: Any) -> Any:
    return value.tolist() if isinstance(value, Tensor) else [lists(v) for v in value]


# GradOperation


def test_the_flags_choose_what_comes_back() -> None:
    net = Weighted()
    weights = net.trainable_params()
    assert lists(GradOperation()(product)(X, Y)) == [3.0, 4.0]
    assert lists(GradOperation(get_all=True)(product)(X, Y)) == [[3.0, 4.0], [1.0, 2.0]]
    assert lists(GradOperation(get_all=True)(lambda x: x * x)(X)) == [[2.0, 4.0]]
    # As in MindSpore, tensors in tuples, lists and dictionaries have no gradient there.
    assert lists(GradOperation(get_all=True)(lambda x, y: x * y[0])(X, (Y, Y))) == [[3.0, 4.0]]
    assert lists(GradOperation(get_all=True)(lambda x, y: x * y["a"])(X, {"a": Y})) == [[3.0, 4.0]]
    assert lists(GradOperation(get_by_list=True)(net, weights)(X, Y)) == [[3.0, 8.0], [0.0, 0.0]]
    assert lists(GradOperation(get_by_list=True)(net, net.w)(X, Y)) == [3.0, 8.0]
    assert lists(GradOperation(True, True)(net, weights)(X, Y)) == [
        [[15.0, 24.0], [5.0, 12.0]],
        [[3.0, 8.0], [0.0, 0.0]],
    ]


def test_sens_is_the_last_argument_or_named() -> None:
    sens = Tensor([10.0, 1.0])
    assert lists(GradOperation(sens_param=True)(product)(X, Y, sens)) == [30.0, 4.0]
    assert lists(GradOperation(get_all=True, sens_param=True)(product)(X, Y, sens=sens)) == [[30.0, 4.0], [10.0, 2.0]]


def test_sens_has_the_outputs_shape() -> None:
    with pytest.raises(RuntimeError, match=r"must have the output's shape \(2,\), but got \(\)"):
        GradOperation(sens_param=True)(product)(X, Y, 2.0)


def test_arguments_that_are_no_tensors_have_no_place() -> None:
    assert lists(GradOperation(get_all=True)(lambda x, n: x * n)(X, 3)) == [[3.0, 3.0]]


@pytest.mark.parametrize("name", ["get_all", "get_by_list", "sens_param"])
def test_a_flag_is_a_bool(name: str) -> None:
    with pytest.raises(TypeError, match=f"'{name}' must be a bool, but got int"):
        GradOperation(**{name: 1})


# vmap


@pytest.mark.parametrize(
    ("function", "axes", "out", "args", "expected"),
    [
        (lambda a: a.sum(), 0, 0, (A,), [3.0, 12.0]),
        (lambda a: a.sum(), 1, 0, (A,), [3.0, 5.0, 7.0]),
        (lambda a: a.sum(), -1, 0, (A,), [3.0, 5.0, 7.0]),
        (lambda a: a * 2.0, 0, 1, (A,), [[0.0, 6.0], [2.0, 8.0], [4.0, 10.0]]),
        (lambda a, b: a * b, (0, None), 0, (A, 2.0), [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]),
        (lambda a, bc: a + bc[0] * bc[1], (0, (0, None)), 0, (A, (A, 1.0)), [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]),
        (lambda a, b: (a, b), (0, None), (0, None), (A, Y), [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]], [3.0, 4.0]]),
        (lambda a: 3.0, 0, 0, (A,), [3.0, 3.0]),
        (ms.vmap(lambda a: a + 1.0), 0, 0, (A,), [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    ],
)
def test_vmap_cuts_and_stacks(function: Any, axes: Any, out: Any, args: Any, expected: Any) -> None:
    assert lists(ms.vmap(function, axes, out)(*args)) == expected


def test_vmap_and_grad_go_together() -> None:
    squares = lambda a: (a * a).sum()  # noqa: E731
    assert lists(ms.vmap(ms.grad(squares))(A)) == (A * 2.0).tolist()
    assert lists(ms.grad(lambda a: ms.vmap(squares)(a).sum())(A)) == (A * 2.0).tolist()


def test_a_cell_list_gets_a_slice_for_each_cell() -> None:
    cells = nn.CellList([nn.Dense(3, 1, "ones", "zeros"), nn.Dense(3, 1, "zeros", "zeros")])
    assert lists(ms.vmap(cells)(A)) == [[3.0], [0.0]]
    assert lists(ms.vmap(cells, None)(Tensor([1.0, 1.0, 1.0]))) == [[3.0], [0.0]]


@pytest.mark.parametrize(
    ("function", "axes", "out", "args", "text"),
    [
        (product, (0, 0), 0, (A, X[:1]), r"must have one size, but got \[1, 2\]"),
        (product, 3, 0, (A, A), "axis 3 in 'in_axes' is out of bounds for 2 axes"),
        (product, (0,), 0, (A, A), "'in_axes' has 1 entries for 2 values"),
        (product, (0, 0), 0, (A, 2.0), "only a Tensor can be mapped along axis 0, but got float"),
        (product, 0, 5, (A, A), "axis 5 in 'out_axes' is out of bounds for 2 axes"),
        (product, "x", 0, (A, A), "an axis in 'in_axes' must be an int or None, but got 'x'"),
        (product, None, 0, (A, A), "'in_axes' must not be None alone"),
    ],
)
def test_vmap_refuses(function: Any, axes: Any, out: Any, args: Any, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        ms.vmap(function, axes, out)(*args)


# Jacobians


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_jacobians_have_the_outputs_shape_and_then_the_inputs(jacobian: Any) -> None:
    eye = np.eye(2)
    of_x, of_y = np.diag([3.0, 4.0]), np.diag([1.0, 2.0])
    assert lists(jacobian(product)(X, Y)) == of_x.tolist()
    assert lists(jacobian(product, (0, 1))(X, Y)) == [of_x.tolist(), of_y.tolist()]
    assert lists(jacobian(lambda x, y: (x * y, x + y))(X, Y)) == [of_x.tolist(), eye.tolist()]
    assert lists(jacobian(lambda x, y: (x * y, x + y), (0, 1))(X, Y)) == [
        [of_x.tolist(), of_y.tolist()],
        [eye.tolist(), eye.tolist()],
    ]
    assert jacobian(lambda a: ops.matmul(a, a.T))(A).shape == (2, 2, 2, 3)
    assert lists(jacobian(jacobian(lambda x: x * x * x))(X))[1][1][1] == 12.0


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_an_infinite_element_leaves_the_rows_and_columns_of_others(jacobian: Any) -> None:
    # MindSpore 2.10 gives these numbers; the square of 1e30 is infinite in float32.
    x = Tensor(np.array([1e30, 1.0], np.float32))
    np.testing.assert_allclose(jacobian(lambda x: x * x)(x).asnumpy(), [[2e30, 0.0], [0.0, 2.0]], rtol=1e-6)
    far = jacobian(lambda x: x + x * Tensor([0.0, 1.0]))(Tensor(np.array([np.inf, 1.0], np.float32)))
    np.testing.assert_array_equal(far.asnumpy(), [[1.0, 0.0], [0.0, 2.0]])


@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_a_jacobian_with_aux(jacobian: Any) -> None:
    result, aux = jacobian(lambda x, y: (x * y, x + 1.0), has_aux=True)(X, Y)
    assert (lists(result), lists(aux)) == (np.diag([3.0, 4.0]).tolist(), [2.0, 3.0])


@pytest.mark.parametrize(
    ("position", "error"), [((0, 0), ValueError), (-1, ValueError), (5, ValueError), ("a", TypeError)]
)
@pytest.mark.parametrize("jacobian", [ms.jacrev, ms.jacfwd])
def test_a_jacobian_refuses_positions(jacobian: Any, position: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="'grad_position' must be"):
        jacobian(product, position)(X, Y)


# Derivatives along curves


def test_derivatives_of_any_order() -> None:
    point = np.array([0.3, 0.7])
    for order, expected in ((1, np.cos(point)), (2, -np.sin(point)), (3, -np.cos(point))):
        value, derived = ops.derivative(ops.sin, Tensor(point), order)
        np.testing.assert_allclose(value.asnumpy(), np.sin(point), rtol=1e-12)
        np.testing.assert_allclose(derived.asnumpy(), expected, rtol=1e-12)
    assert [lists(v) for v in ops.derivative(product, (X, Y), 2)] == [[3.0, 8.0], [2.0, 2.0]]


def test_a_jet_is_the_output_and_all_derivatives() -> None:
    # The figures are MindSpore 2.10's for sin(x) * x.
    value, series = ops.jet(lambda x: ops.sin(x) * x, X, Tensor([[1.0, 1.0], [2.0, 0.0], [0.0, 3.0]]))
    np.testing.assert_allclose(value.asnumpy(), [0.841470957, 1.81859481], rtol=1e-6)
    expected = [[1.38177323, 0.0770037174], [3.00268006, -2.65088844], [-1.62991369, -1.66458726]]
    np.testing.assert_allclose(series.asnumpy(), expected, rtol=2e-5)


def test_linearize_is_the_output_and_the_linear_map() -> None:
    value, linear = ops.linearize(product, (X, Y))
    assert (lists(value), lists(linear((Y, X)))) == ([3.0, 8.0], [10.0, 20.0])
    value, linear = ops.linearize(lambda x: x * x * x, X)
    assert (lists(value), lists(linear((Y,)))) == ([1.0, 8.0], [9.0, 48.0])  # 3 x ** 2 times y


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: ops.jet(product, X, 3), TypeError),
        (lambda: ops.jet(product, X, Tensor([[1.0]])), ValueError),
        (lambda: ops.jet(product, (X, Y), (X,)), ValueError),
        (lambda: ops.derivative(product, X, 0), ValueError),
        (lambda: ops.derivative(product, X, 1.5), TypeError),
        (lambda: ops.linearize(product, 3), TypeError),
    ],
)
def test_derivatives_refuse(action: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        action()
