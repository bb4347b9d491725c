"""Every operator of the table: its values, its gradient and its second derivative, as arrays and as tensors."""

from __future__ import annotations

import importlib
import itertools
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as hypothesis_numpy
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings, strategies
from operator_samples import ROWS as FIRST_ROWS
from operator_samples import Row, Sample, sum_to

from hookscope.engine import Tensor, grad, mint, ops, vjp
from hookscope.engine.ops.shapes.broadcasting import Binary, Unary
from hookscope.engine.tape.tape import Recording
from hookscope.engine.tensors.dtype import promote
from hookscope.engine.tensors.operator import OPERATORS

Array = np.ndarray[Any, Any]
OTHER_MODULES = sorted(path.stem for path in Path(__file__).parent.glob("operator_samples_*.py"))
ROWS: dict[str, Row] = dict(FIRST_ROWS)
for module in OTHER_MODULES:
    ROWS.update(importlib.import_module(module).ROWS)
CASES = [
    pytest.param(name, sample, id=f"{name}-{number}")
    for name, row in ROWS.items()
    for number, sample in enumerate(row.samples)
]


def has_gradient(name: str) -> bool:
    entry = OPERATORS[name]
    return bool(entry.vjps or entry.joint_vjp) and not (ROWS[name].complex or ROWS[name].refused)


each_sample = pytest.mark.parametrize(("name", "sample"), CASES)
WITH_GRADIENT = [case for case in CASES if has_gradient(str(case.values[0]))]
each_sample_with_gradient = pytest.mark.parametrize(("name", "sample"), WITH_GRADIENT)
WORST: dict[str, float] = defaultdict(float)
"""The worst relative error of each check; operator_matrix.py prints it."""


def first(output: Any) -> Any:
    """Return the output that has a gradient; the others are what the backward pass keeps."""
    return output[0] if isinstance(output, tuple) else output


def places_of(sample: Sample) -> list[int]:
    # bfloat16, which is not NumPy's own, has the kind "V".
    return [i for i, x in enumerate(sample.operands) if isinstance(x, np.ndarray) and x.dtype.kind in "fV"]


def function_of(name: str, sample: Sample) -> Callable[..., Any]:
    """Return the operator as a function of its differentiable operands alone."""
    indices = places_of(sample)

    def function(*tensors: Tensor) -> Any:
        operands = [Tensor(x) if isinstance(x, np.ndarray) else x for x in sample.operands]
        for index, tensor in zip(indices, tensors, strict=True):
            operands[index] = tensor
        return first(OPERATORS[name](*operands, **sample.attrs))

    return function


def inputs_of(sample: Sample) -> list[Array]:
    return [sample.operands[index] for index in places_of(sample)]


def gradient_arriving(output: Any) -> Array:
    return np.random.default_rng(5).standard_normal(output.shape)


def gradients(function: Callable[..., Any], arrays: list[Array], as_tensors: bool = False) -> list[Array]:
    """Return the gradients for a fixed gradient that arrives, computed on bare arrays or on tensors."""
    output, back = vjp(function, *map(Tensor, arrays))
    arriving = Tensor(gradient_arriving(output).astype(output.asnumpy().dtype))
    if not as_tensors:
        return [g.asnumpy() for g in back(arriving)]
    with Recording([]):
        return [g.asnumpy() for g in back(arriving)]


def differences(function: Callable[[list[Array]], float], arrays: list[Array], step: float = 1e-6) -> list[Array]:
    """Return central differences of a function of arrays with respect to every element of them."""
    results = []
    for which, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for index in np.ndindex(array.shape):
            values = []
            for sign in (1, -1):
                moved = [x.copy() for x in arrays]
                moved[which][index] += sign * step
                values.append(function(moved))
            slope[index] = (values[0] - values[1]) / (2 * step)
        results.append(slope)
    return results


def assert_all_close(check: str, actual: list[Array], want: list[Array], tolerance: float = 1e-6) -> None:
    assert [g.shape for g in actual] == [w.shape for w in want]
    for g, w in zip(actual, want, strict=True):
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)
        if g.size and g.dtype.kind in "fc":
            apart = np.nan_to_num(np.abs(g - w) / np.maximum(np.abs(w), 1.0), posinf=0.0)
            WORST[check] = max(WORST[check], float(apart.max()))


# One process has no peer to send to and to receive from: ranks/checks_collectives.py tests them.
OF_SEVERAL_RANKS = {"send", "receive"}


def test_every_operator_has_samples() -> None:
    assert set(OPERATORS) - OF_SEVERAL_RANKS == set(ROWS)


@each_sample
def test_forward_is_what_the_reference_computes(name: str, sample: Sample) -> None:
    copies = [x.copy() if isinstance(x, np.ndarray) else x for x in sample.operands]
    result = function_of(name, sample)(*map(Tensor, inputs_of(sample)))
    want = np.asarray(ROWS[name].reference(*sample.operands, **sample.attrs))
    assert_all_close("forward", [result.asnumpy()], [want], 1e-9)
    for before, now in zip(copies, sample.operands, strict=True):
        np.testing.assert_array_equal(before, now, "an operator changed its input")


@each_sample_with_gradient
def test_gradient_is_that_of_central_differences(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)

    def along(moved: list[Array]) -> float:
        output = function(*map(Tensor, moved))
        return float((output.asnumpy() * gradient_arriving(output)).sum())

    result, want = gradients(function, arrays), differences(along, arrays)
    if ROWS[name].symmetric:
        want = [(w + w.swapaxes(-1, -2)) / 2 for w in want]
    assert_all_close("gradient", result, want)


@each_sample_with_gradient
def test_gradient_is_the_same_computed_on_tensors(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)
    result = gradients(function, arrays, as_tensors=True)
    assert_all_close("gradient on tensors", result, gradients(function, arrays), 1e-12)


@each_sample_with_gradient
def test_second_derivative_is_that_of_differences_of_the_first(name: str, sample: Sample) -> None:
    function, arrays = function_of(name, sample), inputs_of(sample)
    numbers = np.random.default_rng(6)
    directions = [numbers.standard_normal(x.shape) for x in arrays]

    def along(moved: list[Array]) -> float:
        return sum(float((g * d).sum()) for g, d in zip(gradients(function, moved), directions, strict=True))

    def recorded(*tensors: Tensor) -> Any:
        output, back = vjp(function, *tensors)
        results = back(Tensor(gradient_arriving(output)))
        return sum(((g * Tensor(d)).sum() for g, d in zip(results, directions, strict=True)), start=Tensor(0.0))

    total, back = vjp(recorded, *map(Tensor, arrays))
    result = back(Tensor(1.0, total.dtype))
    want = differences(along, arrays)
    results = [g.asnumpy() for g in result]
    if ROWS[name].symmetric:
        want, results = ([(w + w.swapaxes(-1, -2)) / 2 for w in each] for each in (want, results))
    assert_all_close("second derivative", results, want, 2e-6)


@each_sample
def test_non_contiguous_inputs_give_the_same(name: str, sample: Sample) -> None:
    def spread(array: Array) -> Array:
        return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array

    strided = Sample(tuple(spread(x) if isinstance(x, np.ndarray) else x for x in sample.operands), sample.attrs)
    tensors = [Tensor._wrap(x) for x in inputs_of(strided)]
    result = function_of(name, strided)(*tensors).asnumpy()
    want = function_of(name, sample)(*map(Tensor, inputs_of(sample))).asnumpy()
    assert_all_close("not contiguous", [result], [want], 1e-12)


DTYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


@pytest.mark.parametrize(("name", "sample"), [case for case in WITH_GRADIENT if case.values[0] != "cast"])
def test_results_and_gradients_keep_the_dtype(name: str, sample: Sample) -> None:
    for dtype in DTYPES:

        def narrow(x: Any, dtype: np.dtype[Any] = dtype) -> Any:
            return x.astype(dtype) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x

        arrays = [narrow(x) for x in inputs_of(sample)]
        function = function_of(name, Sample(tuple(narrow(x) for x in sample.operands), sample.attrs))
        assert function(*map(Tensor, arrays)).asnumpy().dtype == dtype
        for as_tensors in (False, True):
            assert [g.dtype for g in gradients(function, arrays, as_tensors)] == [dtype] * len(arrays)


COUPLED = sorted(name for name, entry in OPERATORS.items() if isinstance(entry, Binary))
SINGLE = sorted(name for name, entry in OPERATORS.items() if isinstance(entry, Unary) and has_gradient(name))


def operand(name: str, which: int, shape: tuple[int, ...], seed: int) -> Array:
    """Return numbers of a kind that the operator takes, from its samples, in another shape."""
    pool = np.concatenate([np.ravel(s.operands[which]) for s in ROWS[name].samples])
    return np.asarray(np.random.default_rng(seed).choice(pool, shape))


@pytest.mark.parametrize("name", SINGLE)
@settings(deadline=None, max_examples=8)
@given(shape=hypothesis_numpy.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
def test_an_elementwise_operator_treats_each_element_by_itself_in_every_shape(name: str, shape: Any) -> None:
    x = operand(name, 0, shape, 1)
    result, flat = OPERATORS[name](Tensor(x)), OPERATORS[name](Tensor(x.ravel()))
    assert result.shape == shape
    np.testing.assert_array_equal(result.asnumpy().ravel(), flat.asnumpy())


@pytest.mark.parametrize("name", COUPLED)
@settings(deadline=None, max_examples=8)
@given(pair=hypothesis_numpy.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_side=0))
def test_operands_broadcast_and_get_the_gradient_summed_back(name: str, pair: Any) -> None:
    (a, b), full = pair.input_shapes, pair.result_shape
    x, y = operand(name, 0, a, 2), operand(name, 1, b, 3)
    result = OPERATORS[name](Tensor(x), Tensor(y))
    assert result.shape == full
    wide = [np.broadcast_to(v, full).copy() for v in (x, y)]
    np.testing.assert_array_equal(result.asnumpy(), OPERATORS[name](*map(Tensor, wide)).asnumpy())
    if has_gradient(name) and name not in ("igamma", "igammac"):
        arriving = Tensor(np.random.default_rng(4).standard_normal(full))
        narrow = vjp(OPERATORS[name], Tensor(x), Tensor(y))[1](arriving)
        spread = vjp(OPERATORS[name], *map(Tensor, wide))[1](arriving)
        for actual, each, shape in zip(narrow, spread, (a, b), strict=True):
            np.testing.assert_allclose(actual.asnumpy(), sum_to(each.asnumpy(), shape), rtol=1e-9, atol=1e-9)


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": np.add.reduce,
    "mean": np.mean,
    "amax": np.maximum.reduce,
    "amin": np.minimum.reduce,
    "prod": np.multiply.reduce,
    "all": np.logical_and.reduce,
    "any": np.logical_or.reduce,
}


@settings(deadline=None, max_examples=60)
@given(data=strategies.data())
def test_reductions_of_any_axes_of_any_shape_are_numpys(data: Any) -> None:
    shape = data.draw(hypothesis_numpy.array_shapes(min_dims=0, max_dims=4, max_side=3))
    axes = data.draw(strategies.lists(strategies.integers(0, len(shape) - 1), unique=True)) if shape else []
    x = np.random.default_rng(7).standard_normal(shape)
    for name, reference in REDUCTIONS.items():
        for keep in (False, True):
            result = OPERATORS[name](Tensor(x), axis=tuple(axes) or None, keepdims=keep).asnumpy()
            want = np.asarray(reference(x, axis=tuple(axes) or None, keepdims=keep))
            np.testing.assert_allclose(result, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", SINGLE)
def test_what_is_no_number_stays_none(name: str) -> None:
    # But its sign is 0, as in MindSpore.
    result = OPERATORS[name](Tensor(np.array([np.nan, 0.5])))
    beside = bool(np.isnan(OPERATORS[name](Tensor([0.5])).asnumpy()[0]))
    assert np.isnan(result.asnumpy()).tolist() == [name != "sign", beside]


LIMITS = {
    "exp": (np.inf, 0.0),
    "log": (np.inf, np.nan),
    "sqrt": (np.inf, np.nan),
    "tanh": (1.0, -1.0),
    "erf": (1.0, -1.0),
    "sigmoid": (1.0, 0.0),
    "relu": (np.inf, 0.0),
    "atan": (np.pi / 2, -np.pi / 2),
    "reciprocal": (0.0, 0.0),
    "square": (np.inf, np.inf),
    "abs": (np.inf, np.inf),
    "neg": (-np.inf, np.inf),
    "sin": (np.nan, np.nan),
    "rsqrt": (0.0, np.nan),
    "lgamma": (np.inf, np.inf),
    "silu": (np.inf, 0.0),
    "sign": (1.0, -1.0),
    "asinh": (np.inf, -np.inf),
    "expm1": (np.inf, -1.0),
    "cosh": (np.inf, np.inf),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_infinities_give_the_limits(name: str, kind: Any) -> None:
    result = OPERATORS[name](Tensor(np.array([np.inf, -np.inf], kind))).asnumpy()
    if name == "silu":
        result = result[:1]
    np.testing.assert_allclose(result, np.array(LIMITS[name], kind)[: result.size], rtol=1e-6)


KINDS = (np.bool_, np.uint8, np.int32, np.int64, np.float16, np.float32, np.float64)


@pytest.mark.parametrize("name", COUPLED)
def test_two_dtypes_meet_by_one_rule(name: str) -> None:
    """Arithmetic gives the promoted dtype, a comparison bools, or the operator says that it does not take them."""
    for first, second in itertools.product(KINDS, (np.int8, np.int64, np.float16, np.float32)):
        x, y = np.ones(2, first), np.ones(2, second)
        expected = promote(x.dtype, y.dtype)
        try:
            result = OPERATORS[name](Tensor(x), Tensor(y)).asnumpy().dtype
        except TypeError:
            assert expected.kind != "f" or name.startswith("bitwise") or name in ("gcd", "lcm"), (
                "floats are always taken"
            )
            continue
        if OPERATORS[name].integers_to_float and expected.kind in "biu":
            expected = np.dtype(np.float32)
        assert result in (expected, np.dtype(bool)), (first, second)


def test_gradients_of_a_fourier_transform_are_central_differences() -> None:
    def power(x: Tensor) -> Tensor:
        spectrum = ops.rfft(x * x)
        back = ops.irfft(spectrum * 2.0, x.shape[-1]) + ops.real(ops.ifft(ops.conj(ops.fft(x))))
        return back * back * back + ops.angle(ops.polar(x, x * 0.3)).sum()

    x = np.random.default_rng(8).uniform(0.5, 2.0, (2, 5))
    want = differences(lambda moved: float(power(Tensor(moved[0])).sum().item()), [x], 1e-5)
    np.testing.assert_allclose(grad(power)(Tensor(x)).asnumpy(), want[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "pick"),
    [("qr", lambda out: out[1]), ("svd", lambda out: out[1] @ out[2].swapaxes(-1, -2)), ("slogdet", lambda o: o[0])],
)
@pytest.mark.parametrize("shape", [(3, 3), (4, 2)])
def test_the_other_outputs_of_a_decomposition_have_gradients_too(name: str, pick: Any, shape: Any) -> None:
    if name == "slogdet" and shape[0] != shape[1]:
        shape = (2, 3, 3)

    def function(x: Tensor) -> Tensor:
        out = pick(OPERATORS[name](x))
        return out * Tensor(np.random.default_rng(2).standard_normal(out.shape))

    u, _, v = np.linalg.svd(np.random.default_rng(3).standard_normal(shape), full_matrices=False)
    x = (u * np.arange(1.0, u.shape[-1] + 1)) @ v
    want = differences(lambda moved: float(function(Tensor(moved[0])).sum().item()), [x])
    np.testing.assert_allclose(grad(function)(Tensor(x)).asnumpy(), want[0], rtol=1e-6, atol=1e-6)


def test_ties_of_maximum_and_minimum_share_the_gradient() -> None:
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([1.0, 5.0, 2.0])
    for function, sign in ((ops.maximum, 1.0), (ops.minimum, -1.0)):
        of_x, of_y = grad(lambda x, y, f=function, s=sign: s * f(s * x, s * y), (0, 1))(x, y)
        assert of_x.tolist() == [0.5, 0.0, 1.0]
        assert of_y.tolist() == [0.5, 1.0, 0.0]


TIED = np.array([[1, 3, 3], [2, 2, 2]], np.float32)
FIRST, SHARED = [[0, 1, 0], [1, 0, 0]], [[0, 1 / 2, 1 / 2], [1 / 3, 1 / 3, 1 / 3]]


@pytest.mark.parametrize(
    ("function", "want"),
    [
        (lambda x: ops.max(x, 1)[0], FIRST),
        (lambda x: -ops.min(-x, 1)[0], FIRST),
        (lambda x: ops.max(x, -1, True)[0], FIRST),
        (lambda x: ops.ArgMaxWithValue(1)(x)[1], FIRST),
        (lambda x: -ops.ArgMinWithValue(1, True)(-x)[1], FIRST),
        (lambda x: x.max(axis=1), FIRST),
        (lambda x: -(-x).min(axis=1), FIRST),
        (lambda x: x.max(axis=1, return_indices=True)[0], FIRST),
        (lambda x: mint.max(x, 1)[0], FIRST),
        (lambda x: ops.amax(x, 1), SHARED),
        (lambda x: -ops.amin(-x, 1), SHARED),
        (lambda x: x.amax(1), SHARED),
        (lambda x: ops.ReduceMax()(x, 1), SHARED),
        (lambda x: -ops.ReduceMin()(-x, 1), SHARED),
        (lambda x: ops.max(x)[0], [[0, 1 / 2, 1 / 2], [0, 0, 0]]),
        (lambda x: x.max(), [[0, 1 / 2, 1 / 2], [0, 0, 0]]),
    ],
)
def test_ties_get_the_gradient_that_mindspore_gives_them(function: Any, want: Any) -> None:
    """Recorded from MindSpore 2.10 (those of a minimum as of the negative)."""
    np.testing.assert_allclose(grad(lambda x: function(x).sum())(Tensor(TIED)).asnumpy(), want, rtol=1e-6)


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
    from hookscope.engine.tensors.operator import Operator

    with pytest.raises(ValueError, match="the operator table has an entry 'add' already"):
        Operator("add", np.add)
