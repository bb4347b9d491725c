"""Initialisers: their distributions, their names, and that a seed repeats them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor
from hookscope.engine.tensors.initializer import (
    Constant,
    Dirac,
    HeNormal,
    HeUniform,
    Identity,
    Initializer,
    Normal,
    One,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    Zero,
    initializer,
)

SHAPE = (300, 200)
COUNT = 300 * 200


def drawn(init: Any, shape: tuple[int, ...] = SHAPE) -> Any:
    ms.set_seed(5)
    return initializer(init, shape, ms.float64).asnumpy()


@pytest.mark.parametrize(
    ("init", "value"), [(Zero(), 0.0), (One(), 1.0), (Constant(2.5), 2.5), (0.25, 0.25), (3, 3.0), ("zeros", 0.0)]
)
def test_constants(init: Any, value: float) -> None:
    np.testing.assert_array_equal(drawn(init, (2, 3)), np.full((2, 3), value))


@pytest.mark.parametrize("value", [0, -0.0, 0.1, 1e-9, 7, 2.9, math.inf])
@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64])
def test_a_constant_is_rounded_once_to_the_dtype(value: float, dtype: Any) -> None:
    output = initializer(value, (3,), dtype)
    expected = Tensor(np.full((3,), value, np.float64)).astype(dtype)
    assert output.dtype == dtype
    assert output.asnumpy().tobytes() == expected.asnumpy().tobytes()


@pytest.mark.parametrize(
    ("init", "bound"),
    [
        (Uniform(0.3), 0.3),
        (XavierUniform(2.0), 2.0 * math.sqrt(6 / 500)),
        (HeUniform(math.sqrt(5)), 1 / math.sqrt(200)),
        (HeUniform(mode="fan_out", nonlinearity="relu"), math.sqrt(6 / 300)),
    ],
)
def test_uniform_ones_fill_their_interval_evenly(init: Initializer, bound: float) -> None:
    values = drawn(init)
    assert np.abs(values).max() <= bound * (1 + 1e-6)
    assert np.abs(values).max() > 0.999 * bound
    # A uniform number has the deviation bound / sqrt(3); the mean of COUNT of them that over sqrt(COUNT).
    assert abs(values.mean()) < 5 * bound / math.sqrt(3 * COUNT)
    assert abs(values.std() * math.sqrt(3) / bound - 1) < 0.02


@pytest.mark.parametrize(
    ("init", "deviation", "mean"),
    [
        (Normal(0.5, 2.0), 0.5, 2.0),
        (XavierNormal(), math.sqrt(2 / 500), 0.0),
        (HeNormal(), math.sqrt(2 / 200), 0.0),
        (HeNormal(mode="fan_out", nonlinearity="tanh"), 5 / 3 / math.sqrt(300), 0.0),
    ],
)
def test_normal_ones_have_their_deviation(init: Initializer, deviation: float, mean: float) -> None:
    values = drawn(init)
    assert abs(values.mean() - mean) < 5 * deviation / math.sqrt(COUNT)
    assert abs(values.std() / deviation - 1) < 5 / math.sqrt(2 * COUNT)
    assert 0.67 < (np.abs(values - mean) < deviation).mean() < 0.70


def test_fans_count_the_places_of_a_kernel() -> None:
    assert np.abs(drawn(XavierUniform(), (8, 4, 3, 3))).max() <= math.sqrt(6 / (4 * 9 + 8 * 9))


@pytest.mark.parametrize(
    ("sigma", "mean", "a", "b", "expected", "deviation"),
    [  # by the published formulas of the mean and the variance; drawn by MindSpore 2.10 too
        (0.5, 0.5, -1.0, 1.0, 0.35861, 0.39247),
        (1.0, 3.0, -2.0, 2.0, 1.47487, 0.44612),
        (1.0, -3.0, -2.0, 2.0, -1.47487, 0.44612),
        (2.0, 0.0, -2.0, 2.0, 0.0, 1.07942),
        (0.02, 0.0, -2.0, 2.0, 0.0, 0.02),
        (0.1, 0.0, 3.0, 4.0, 3.003326, 0.003322),  # 30 deviations away
    ],
)
def test_the_bounds_of_a_truncated_normal_are_numbers_not_deviations(
    sigma: float, mean: float, a: float, b: float, expected: float, deviation: float
) -> None:
    values = drawn(TruncatedNormal(sigma, mean, a, b))
    assert a <= values.min() and values.max() <= b
    assert abs(values.mean() - expected) < 5 * deviation / math.sqrt(COUNT)
    assert abs(values.std() - deviation) < 0.02 * deviation


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 2, 2)])
def test_an_orthogonal_matrix_has_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    matrix = drawn(Orthogonal(2.0), shape).reshape(shape[0], -1)
    product = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-5)


def test_identity() -> None:
    np.testing.assert_array_equal(drawn(Identity(), (2, 3)), np.eye(2, 3))
    with pytest.raises(ValueError, match=r"For 'Identity', the shape must have 2 axes, but got \(2,\)"):
        drawn(Identity(), (2,))


@pytest.mark.parametrize("name", ["normal", "uniform", "he_uniform", "HeNormal", "xavier_uniform", "truncatedNormal"])
def test_a_seed_repeats_the_values_and_two_draws_differ(name: str) -> None:
    ms.set_seed(3)
    first = [initializer(name, (4, 4)).tolist() for _ in range(2)]
    ms.set_seed(3)
    second = [initializer(name, (4, 4)).tolist() for _ in range(2)]
    assert first == second
    assert first[0] != first[1]


def test_the_seed_is_kept_and_checked() -> None:
    ms.set_seed(17)
    assert ms.get_seed() == 17
    with pytest.raises(TypeError, match="'seed' must be an int, but got float"):
        ms.set_seed(1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'seed' must not be negative, but got -1"):
        ms.set_seed(-1)
    assert ms.get_seed() == 17


def test_set_seed_sets_numpys_global_seed_too() -> None:
    ms.set_seed(17)
    first = np.random.rand()  # the global generator is under test
    ms.set_seed(17)
    assert np.random.rand() == first
    ms.set_seed(2**32 + 17)  # NumPy's has 32 bits
    assert np.random.rand() == first


def test_dtype_and_shape_are_those_asked_for() -> None:
    output = initializer("ones", 3, ms.float16)
    assert (output.shape, output.dtype) == ((3,), ms.float16)
    assert initializer(Tensor([1, 2]), (2,), ms.float32).dtype is ms.float32


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("no such", (2,)), ValueError, "'init' must be one of .* but got 'no such'"),
        ((None, (2,)), TypeError, "'init' must be an Initializer, a name, a number or a Tensor, but got NoneType"),
        (("ones", (-1,)), ValueError, r"'shape' must be axes above 0, but got \(-1,\)"),
        (("ones",), ValueError, "'shape' must be axes above 0, but got None"),
        ((Tensor([1.0]), (2,)), ValueError, r"'shape' \(2,\) is not the shape \(1,\) of the tensor 'init'"),
        (("he_uniform", (2,)), ValueError, r"For 'HeUniform', the shape must have at least 2 axes to have fans"),
    ],
)
def test_initializer_refuses(arguments: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        initializer(*arguments)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: HeUniform(mode="in"), "'mode' must be 'fan_in' or 'fan_out', but got 'in'"),
        (lambda: HeUniform(nonlinearity="no"), "'nonlinearity' must be 'leaky_relu' or one of"),
        (lambda: TruncatedNormal(0), "'sigma' must be above 0, but got 0"),
        (lambda: TruncatedNormal(a=1.0, b=1.0), "'a' must be below 'b', but got a=1.0, b=1.0"),
    ],
)
def test_initialisers_refuse(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_an_initializer_of_ones_own_fills_an_array() -> None:
    class Rows(Initializer):
        def __init__(self, first: int = 0) -> None:
            super().__init__(first=first)
            self.first = first

        def _initialize(self, arr: Any) -> None:
            arr[:] = np.arange(self.first, self.first + arr.size).reshape(arr.shape)

    assert initializer(Rows(2), (2, 2), ms.int32).tolist() == [[2, 3], [4, 5]]
    assert ms.nn.Dense(2, 2, weight_init=Rows()).weight.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert Tensor(shape=(2,), dtype=ms.float16, init=Rows()).tolist() == [0.0, 1.0]
    array = np.zeros((2, 2))
    Rows(4)(array)
    Normal(0.0, 7.0)(array[0])
    assert array.tolist() == [[7.0, 7.0], [6.0, 7.0]]
    assert Rows(3)._kwargs == {"first": 3}
    with pytest.raises(NotImplementedError, match="Initializer does not define '_initialize'"):
        initializer(Initializer(), (2,))


def test_an_initialiser_of_ones_own() -> None:
    class Rows(Initializer):
        def values(self, shape: tuple[int, ...]) -> Any:
            return np.arange(math.prod(shape), dtype=np.float64).reshape(shape)

    assert initializer(Rows(), (2, 2)).tolist() == [[0.0, 1.0], [2.0, 3.0]]


# Indices of the ones in MindSpore 2.10.
DIRAC = [
    (1, (4, 2, 3), [(0, 0, 1), (1, 1, 1)]),
    (1, (4, 3, 2, 3), [(0, 0, 1, 1), (1, 1, 1, 1), (2, 2, 1, 1)]),
    (1, (2, 4, 3, 3, 1), [(0, 0, 1, 1, 0), (1, 1, 1, 1, 0)]),
    (2, (4, 2, 3), [(0, 0, 1), (1, 1, 1), (2, 0, 1), (3, 1, 1)]),
    (2, (2, 4, 3, 3, 1), [(0, 0, 1, 1, 0), (1, 0, 1, 1, 0)]),
]


@pytest.mark.parametrize(("groups", "shape", "ones"), DIRAC)
def test_dirac_is_one_in_the_middle_of_the_first_channels(groups: int, shape: Any, ones: Any) -> None:
    want = np.zeros(shape)
    for index in ones:
        want[index] = 1
    np.testing.assert_array_equal(drawn(Dirac(groups), shape), want)


@pytest.mark.parametrize("rate", [0.0, 0.25, 0.333, 1.0])
def test_sparse_sets_the_same_share_of_each_column_to_0(rate: float) -> None:
    values = drawn(Sparse(rate, 0.5))
    zeros = values == 0
    assert (zeros.sum(0) == math.ceil(rate * SHAPE[0])).all()
    rest = values[~zeros]
    if rate < 1:
        assert abs(rest.std() - 0.5) < 0.02 and abs(rest.mean()) < 5 * 0.5 / math.sqrt(rest.size)
        assert np.abs(rest).max() > 1.5
    if 0 < rate < 1:  # other rows in each column
        assert len({tuple(column) for column in zeros.T}) == SHAPE[1]


@pytest.mark.parametrize(("mode", "count"), [("fan_in", 200), ("fan_out", 300), ("fan_avg", 250)])
@pytest.mark.parametrize(
    ("distribution", "most"),  # the largest number in deviations
    [("uniform", math.sqrt(3)), ("truncated_normal", 2 / 0.87962566103423978), ("untruncated_normal", 6.0)],
)
def test_variance_scaling_has_its_variance(mode: str, count: int, distribution: str, most: float) -> None:
    values = drawn(VarianceScaling(2.0, mode, distribution))
    deviation = math.sqrt(2.0 / count)
    assert abs(values.std() / deviation - 1) < 0.02 and abs(values.mean()) < 5 * deviation / math.sqrt(COUNT)
    assert 0.7 * most < np.abs(values).max() / deviation <= most * (1 + 1e-6)
    kernel = drawn(VarianceScaling(1.0, mode, distribution), (40, 30, 5, 5))  # of a convolution
    inner = {"fan_in": 750, "fan_out": 1000, "fan_avg": 875}[mode]
    assert abs(kernel.std() * math.sqrt(inner) - 1) < 0.03


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Dirac(0), "'groups' must be an int above 0, but got 0"),
        (lambda: Dirac(True), "'groups' must be an int above 0, but got True"),
        (lambda: drawn(Dirac(), (3, 3)), r"the shape must have 3, 4 or 5 axes, but got \(3, 3\)"),
        (lambda: drawn(Dirac(2), (3, 3, 1)), r"'groups' 2 must divide the first length of \(3, 3, 1\)"),
        (lambda: drawn(Sparse(0.5), (3, 3, 1)), r"the shape must have 2 axes, but got \(3, 3, 1\)"),
        (lambda: VarianceScaling(0.0), "'scale' must be above 0, but got 0.0"),
        (lambda: VarianceScaling(mode="in"), "'mode' must be 'fan_in', 'fan_out' or 'fan_avg', got 'in'"),
        (lambda: VarianceScaling(distribution="x"), "'distribution' must be .* but got 'x'"),
    ],
)
def test_initializers_of_shapes_refuse(make: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        make()


def test_the_private_helpers_that_programs_use_give_mindspores_numbers() -> None:
    from hookscope.engine.tensors import initializer as init

    fans = init._calculate_fan_in_and_fan_out
    assert [fans((2, 3)), fans((2, 3, 4, 5)), fans([4, 3, 2])] == [(3, 2), (60, 40), (6, 8)]
    assert [init._calculate_correct_fan((3, 4), mode) for mode in ("fan_in", "fan_out")] == [4, 3]
    gains = [("relu", 0), ("leaky_relu", None), ("leaky_relu", 0.1), ("tanh", 0.1)]
    assert [init._calculate_gain(*gain) for gain in gains] == [
        1.4142135623730951,
        1.4141428569978354,
        1.4071950894605838,
        1.6666666666666667,
    ]
    array = np.zeros((2, 2), np.float32)
    assert init._assignment(array, np.eye(2)) is array and array.tolist() == [[1, 0], [0, 1]]
    for shape in ((2,), ()):
        with pytest.raises(ValueError, match="the shape must have at least 2 axes to have fans"):
            fans(shape)
    with pytest.raises(ValueError, match="'mode' must be 'fan_in' or 'fan_out', but got 'x'"):
        init._calculate_correct_fan((3, 4), "x")


def test_an_initializer_with_a_seed_gives_the_same_values_each_time_and_moves_no_other() -> None:
    ms.set_seed(3)
    rule = Normal(1.0)
    assert rule.seed == (3, 3)
    rule.seed = 5
    assert rule.seed == (6, 0)  # as in MindSpore
    before = initializer(Normal(1.0), (3,)).asnumpy()
    ms.set_seed(3)
    first, second = initializer(rule, (2, 3)).asnumpy(), initializer(rule, (2, 3)).asnumpy()
    array = np.zeros((2, 3), np.float32)
    rule(array)
    assert (first == second).all() and (first == array).all() and len(set(first.reshape(-1))) == 6
    assert (initializer(Normal(1.0), (3,)).asnumpy() == before).all()
    rule.seed = None
    assert (initializer(rule, (2, 3)).asnumpy() != first).any()
    with pytest.raises(TypeError, match="For 'Normal', 'seed' must be an int"):
        rule.seed = "a"  # type: ignore[assignment]


@pytest.mark.parametrize("shape", [(0,), (2, 0), (-1,)])
def test_a_shape_without_elements_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="'shape' must be axes above 0, but got"):
        ms.common.initializer.initializer("ones", shape)
