"""Every operator of the table: its values, its gradient and its second derivative, as arrays and as tensors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hypothesis_numpy
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from operator_samples import ROWS, Sample

from hookscope.engine import Tensor, grad, ops, vjp
from hookscope.engine.operator import OPERATORS
from hookscope.engine.recording import Recording

Array = np.ndarray[Any, Any]
CASES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, row in ROWS.items()
    for number, sample in enumerate(row.samples)
]
each_sample = pytest.mark.parametrize(("name", "sample"), CASES)


def first(output: Any) -> Any:
    """The output that has a gradient; the others are what the backward pass keeps."""
    return output[0] if isinstance(output, tuple) else output


def places_of(sample: Sample) -> list[int]:
    # bfloat16, which is not NumPy's own, has the kind "V".
    return [i for i, x in enumerate(sample.operands) if isinstance(x, np.ndarray) and x.dtype.kind in "fV"]


def function_of(name: str, sample: Sample) -> Callable[..., Any]:
    """The operator as a function of its differentiable operands alone."""
    places = places_of(sample)

    def function(*tensors: Tensor) -> Any:
        operands = [Tensor(x) if isinstance(x, np.ndarray) else x for x in sample.operands]
        for place, tensor in zip(places, tensors, strict=True):
            operands[place] = tensor
        return first(OPERATORS[name](*operands, **sample.attrs))

    return function


def inputs_of(sample: Sample) -> list[Array]:
    return [sample.operands[place] for place in places_of(sample)]


def gradient_arriving(output: Any) -> Array:
    return np.random.default_rng(5).standard_normal(output.shape)


def gradients(function: Callable[..., Any], arrays: list[Array], as_tensors: bool = False) -> list[Array]:
    """The gradients for a fixed gradient that arrives, computed on bare arrays or on tensors."""
    output, back = vjp(function, *map(Tensor, arrays))
    arriving = Tensor(gradient_arriving(output).astype(output.asnumpy().dtype))
    if not as_tensors:
        return [g.asnumpy() for g in back(arriving)]
    with Recording([]):
        return [g.asnumpy() for g in back(arriving)]


def differences(function: Callable[[list[Array]], float], arrays: list[Array], step: float = 1e-6) -> list[Array]:
    """Central differences of a function of arrays with respect to every element of them."""
    found = []
    for which, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for place in np.ndindex(array.shape):
            values = []
            for sign in (1, -1):
                moved = [x.copy() for x in arrays]
                moved[which][place] += sign * step
                values.append(function(moved))
            slope[place] = (values[0] - values[1]) / (2 * step)
        found.append(slope)
    return found


def assert_all_close(got: list[Array], want: list[Array], tolerance: float = 1e-6) -> None:
    assert [g.shape for g in got] == [w.shape for w in want]
    for g, w in zip(got, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


def test_every_operator_with_a_gradient_has_samples() -> None:
    with_gradient = {name for name, operator in OPERATORS.items() if operator.vjps or operator.joint_vjp}
    assert with_gradient == set(ROWS)


@each_sample
def test_forward_is_what_the_reference_computes(name: str, sample: Sample) -> None:
    kept = [x.copy() if isinstance(x, np.ndarray) else x for x in sample.operands]
    got = function_of(name, sample)(*map(Tensor, inputs_of(sample)))
    want = np.asarray(ROWS[name].reference(*sample.operands, **sample.attrs))
    assert got.shape == want.shape
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-9, atol=1e-9)
    for before, now in zip(kept, sample.operands, strict=True):
        assert np.array_equal(before, now), "an operator changed its input"


@each_sample
def test_gradient_is_that_of_central_differences(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)

    def along(moved: list[Array]) -> float:
        output = function(*map(Tensor, moved))
        return float((output.asnumpy() * gradient_arriving(output)).sum())

    assert_all_close(gradients(function, arrays), differences(along, arrays))


@each_sample
def test_gradient_is_the_same_computed_on_tensors(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)
    assert_all_close(gradients(function, arrays, as_tensors=True), gradients(function, arrays), 1e-12)


@each_sample
def test_second_derivative_is_that_of_differences_of_the_first(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)
    numbers = np.random.default_rng(6)
    directions = [numbers.standard_normal(x.shape) for x in arrays]

    def along(moved: list[Array]) -> float:
        return sum(float((g * d).sum()) for g, d in zip(gradients(function, moved), directions, strict=True))

    def recorded(*tensors: Tensor) -> Any:
        output, back = vjp(function, *tensors)
        found = back(Tensor(gradient_arriving(output)))
        return sum(((g * Tensor(d)).sum() for g, d in zip(found, directions, strict=True)), start=Tensor(0.0))

    got = vjp(recorded, *map(Tensor, arrays))[1](Tensor(1.0))
    assert_all_close([g.asnumpy() for g in got], differences(along, arrays), 2e-6)


@each_sample
def test_non_contiguous_inputs_give_the_same(name: str, sample: Sample) -> None:
    def spread(array: Array) -> Array:
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array

    strided = Sample(tuple(spread(x) if isinstance(x, np.ndarray) else x for x in sample.operands), sample.attrs)
    tensors = [Tensor._wrap(x) for x in inputs_of(strided)]
    got = function_of(name, strided)(*tensors).asnumpy()
    want = function_of(name, sample)(*map(Tensor, inputs_of(sample))).asnumpy()
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("wanted", [np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)], ids=str)
@pytest.mark.parametrize(("name", "sample"), [case for case in CASES if case.values[0] != "cast"])
def test_results_and_gradients_keep_the_dtype(name: str, sample: Sample, wanted: np.dtype[Any]) -> None:

    def narrow(x: Any) -> Any:
        return x.astype(wanted) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x

    arrays = [narrow(x) for x in inputs_of(sample)]
    function = function_of(name, Sample(tuple(narrow(x) for x in sample.operands), sample.attrs))
    assert function(*map(Tensor, arrays)).asnumpy().dtype == wanted
    for as_tensors in (False, True):
        assert [g.dtype for g in gradients(function, arrays, as_tensors)] == [wanted] * len(arrays)


broadcast_pairs = hypothesis_numpy.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)


@settings(deadline=None, max_examples=60)
@given(pair=broadcast_pairs)
def test_a_broadcast_operand_gets_the_sum_over_the_axes_it_was_spread_along(pair: Any) -> None:
    (a, b), full = pair.input_shapes, pair.result_shape
    x, y = (Tensor(np.random.default_rng(i).standard_normal(shape)) for i, shape in enumerate((a, b)))
    _, back = vjp(ops.mul, x, y)
    arriving = np.random.default_rng(3).standard_normal(full)
    of_x, of_y = back(Tensor(arriving))
    for tensor, found, other in ((x, of_x, y), (y, of_y, x)):
        product = np.broadcast_to(arriving * other.asnumpy(), full)
        want = np.zeros(tensor.shape)
        offset = len(full) - tensor.ndim
        for place in itertools.product(*map(range, full)):
            own = tuple(0 if n == 1 else i for i, n in zip(place[offset:], tensor.shape, strict=True))
            want[own] += product[place]
        np.testing.assert_allclose(found.asnumpy(), want, atol=1e-12)


def test_ties_of_maximum_share_the_gradient() -> None:
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([1.0, 5.0, 2.0])
    of_x, of_y = grad(ops.maximum, (0, 1))(x, y)
    assert of_x.tolist() == [0.5, 0.0, 1.0]
    assert of_y.tolist() == [0.5, 1.0, 0.0]


def test_ties_of_the_largest_element_share_the_gradient() -> None:
    assert grad(lambda x: x.max())(Tensor([2.0, 1.0, 2.0])).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.parametrize(
    ("values", "gradient"),
    [([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]), ([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]), ([0.0, 0.0, 4.0], [0.0, 0.0, 0.0])],
)
def test_the_gradient_of_a_product_is_that_of_the_others_also_where_an_element_is_zero(
    values: list[float], gradient: list[float]
) -> None:
    assert grad(ops.prod)(Tensor(values)).tolist() == gradient


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_what_is_masked_gets_zero_also_of_a_gradient_that_is_no_number(wrong: float) -> None:
    arriving = Tensor(np.full((1, 1, 1, 1), wrong, np.float32))
    corner = Tensor(np.array([[[[-1.0, 5.0], [-2.0, -3.0]]]], np.float32))
    (of_pool,) = vjp(lambda x: ops.max_pool2d(x, 2), corner)[1](arriving)
    np.testing.assert_array_equal(of_pool.asnumpy().ravel(), [0.0, wrong, 0.0, 0.0])
    (of_relu,) = vjp(ops.relu, corner)[1](Tensor(np.full(corner.shape, wrong, np.float32)))
    np.testing.assert_array_equal(of_relu.asnumpy().ravel(), [0.0, wrong, 0.0, 0.0])


def test_relu_lets_nan_through() -> None:
    assert np.isnan(ops.relu(Tensor([float("nan")])).asnumpy()).all()


def test_an_operator_name_is_taken_once() -> None:
    from hookscope.engine.operator import Operator

    with pytest.raises(ValueError, match="the operator table has an entry 'add' already"):
        Operator("add", np.add)
