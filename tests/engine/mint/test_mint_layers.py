"""mint's layers against their formulas in float64: values, first parameters, gradients, and how they are shown."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, mint

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(8)
X = np.array([-7.0, -3.0, -1.5, -0.25, 0.0, 0.25, 1.0, 2.9, 3.0, 8.0])
SPATIAL = RNG.standard_normal((4, 3, 2, 5)) * 3 + 1


def close(found: Any, want: Any, dtype: Any = np.float64) -> None:
    assert (found.shape, found.asnumpy().dtype) == (np.shape(want), dtype)
    tolerance = {"rtol": 1e-9, "atol": 1e-12} if dtype is np.float64 else {"rtol": 2e-5, "atol": 2e-6}
    np.testing.assert_allclose(found.asnumpy(), want, **tolerance)


def assert_slope(layer: Any, formula: Any, x: Array) -> None:
    """The gradient of the weighed sum along three ways, by central differences of the formula."""
    rng = np.random.default_rng(1)
    weights = rng.standard_normal(np.shape(formula(x)))
    found = ms.grad(lambda x: (layer(x) * Tensor(weights)).sum())(Tensor(x)).asnumpy()
    for _ in range(3):
        way = rng.standard_normal(x.shape)
        ends = [(formula(x + step * way) * weights).sum() for step in (1e-6, -1e-6)]
        assert float((found * way).sum()) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-6)


SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
ACTIVATIONS = {
    "Mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "SELU": lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)),
    "Hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "Hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "Hardshrink": lambda x: np.where(np.abs(x) > 0.5, x, 0),
    "Identity": lambda x: x,
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_its_formula(name: str, dtype: Any) -> None:
    layer, formula = getattr(mint.nn, name)(), ACTIVATIONS[name]
    for x in (X, X.reshape(2, 5), X[4], X[:0], np.array([np.nan, 1.0])):
        close(layer(Tensor(x.astype(dtype))), formula(x), dtype)
    assert_slope(layer, formula, X[[0, 2, 3, 5, 6, 9]])  # no bend


def test_identity_takes_the_arguments_of_any_layer_and_hands_on_anything() -> None:
    layer = mint.nn.Identity(54, unused=True)
    x = Tensor(X)
    assert layer(x) is x and layer((1, x)) == (1, x)


def normalized(x: Array, axes: tuple[int, ...], eps: float = 1e-5) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize(("affine", "bias"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize(("shape", "axes"), [(5, (3,)), ((5,), (3,)), ((2, 5), (2, 3)), ((3, 2, 5), (1, 2, 3))])
def test_layer_norm_is_its_formula(shape: Any, axes: tuple[int, ...], affine: bool, bias: bool) -> None:
    layer = mint.nn.LayerNorm(shape, 0.1, affine, bias, dtype=ms.float64)
    lengths = (shape,) if isinstance(shape, int) else shape
    close(layer(Tensor(SPATIAL)), normalized(SPATIAL, axes, 0.1))  # it begins with ones and zeros
    held = {p.name: p for p in layer.get_parameters()}
    assert set(held) == {"weight", "bias"} - (set() if affine and bias else {"bias"} if affine else {"weight", "bias"})
    values = {name: RNG.standard_normal(lengths) for name in held}
    for name, parameter in held.items():
        assert (parameter.shape, parameter.dtype) == (lengths, ms.float64)
        parameter.set_data(Tensor(values[name]))

    def formula(x: Array) -> Array:
        return normalized(x, axes, 0.1) * values.get("weight", 1) + values.get("bias", 0)

    close(layer(Tensor(SPATIAL)), formula(SPATIAL))
    assert_slope(layer, formula, SPATIAL)


@pytest.mark.parametrize("shape", [(6, 3), (4, 3, 5), (2, 3, 2, 4), (2, 3, 2, 2, 2)])
def test_sync_batch_norm_of_one_process_is_batch_norm(shape: tuple[int, ...]) -> None:
    x = RNG.standard_normal(shape) * 2 + 1
    axes = (0, *range(2, x.ndim))
    layer = mint.nn.SyncBatchNorm(3, eps=0.01, momentum=0.25, process_group="world", dtype=ms.float64)
    layer.set_train()
    close(layer(Tensor(x)), normalized(x, axes, 0.01))
    mean, variance = 0.25 * x.mean(axes), 0.75 + 0.25 * x.var(axes, ddof=1)
    close(layer.running_mean, mean)
    close(layer.running_var, variance)
    layer.set_train(False)
    around = (1, 3, *(1,) * (x.ndim - 2))
    close(layer(Tensor(x)), (x - mean.reshape(around)) / np.sqrt(variance.reshape(around) + 0.01))


def test_an_embedding_gives_rows_and_its_gradient_leaves_out_the_padding() -> None:
    table = RNG.standard_normal((5, 3))
    layer = mint.nn.Embedding(5, 3, padding_idx=-2, _weight=Tensor(table), dtype=ms.float64)
    places = np.array([[0, 3], [4, 0]])
    for dtype in (ms.int32, ms.int64):
        close(layer(Tensor(places, dtype)), table[places])
    weights = RNG.standard_normal((2, 2, 3))
    found = ms.grad(lambda: (layer(Tensor(places)) * Tensor(weights)).sum(), None, layer.trainable_params())()
    want = np.zeros((5, 3))
    np.add.at(want, places, weights)
    want[3] = 0
    close(found[0], want)


def test_an_embedding_begins_with_the_normal_distribution_and_a_row_of_zeros() -> None:
    ms.set_seed(2)
    values = mint.nn.Embedding(400, 50, padding_idx=7).weight.asnumpy()
    assert (values[7] == 0).all()
    others = np.delete(values, 7, 0)
    assert abs(others.std() - 1) < 0.02 and abs(others.mean()) < 5 / math.sqrt(others.size)


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", ["Dropout", "Dropout2d"])
def test_dropout_drops_that_share_and_scales_the_rest(name: str, p: float) -> None:
    ms.set_seed(4)
    layer = getattr(mint.nn, name)(p).set_train()
    x = RNG.uniform(1, 2, (50, 40, 3, 2))
    found = layer(Tensor(x)).asnumpy()
    kept = found != 0
    np.testing.assert_allclose(found[kept], (x / max(1 - p, 1e-9))[kept], rtol=1e-12)
    units = kept if name == "Dropout" else kept[:, :, 0, 0]
    if name == "Dropout2d":  # whole channels
        assert (kept == units[:, :, None, None]).all()
    assert abs(units.mean() - (1 - p)) <= 5 * math.sqrt(p * (1 - p) / units.size)
    layer.set_train(False)
    np.testing.assert_array_equal(layer(Tensor(x)).asnumpy(), x)


@pytest.mark.parametrize("name", ["Dropout", "Dropout2d"])
def test_dropout_in_place_changes_its_input(name: str) -> None:
    x = Tensor(np.ones((1, 30, 2, 2)))
    layer = getattr(mint.nn, name)(0.5, inplace=True).set_train()
    assert layer(x) is x and set(x.asnumpy().ravel().tolist()) == {0.0, 2.0}
    for p in (-0.1, 1.1):
        with pytest.raises(ValueError, match=f"For 'mint.nn.{name}', 'p' must be from 0 to 1, but got {p}"):
            getattr(mint.nn, name)(p)


NUMPY_MODES = {"Constant": "constant", "Zero": "constant", "Reflection": "reflect", "Replication": "edge"}


@pytest.mark.parametrize("kind", NUMPY_MODES)
@pytest.mark.parametrize(("axes", "ends"), [(1, 1), (1, (2, 0)), (2, 1), (2, (1, 2, 0, 1)), (3, (1, 0, 1, 1, 0, 1))])
def test_padding_is_numpys(kind: str, axes: int, ends: Any) -> None:
    x = RNG.standard_normal((2, 3, 3, 4, 5)[: axes + 2])
    arguments = (ends, 2.5) if kind == "Constant" else (ends,)
    pairs = [(ends, ends)] * axes if isinstance(ends, int) else list(zip(ends[::2], ends[1::2], strict=True))[::-1]
    more = {"constant_values": 2.5} if kind == "Constant" else {}
    want = np.pad(x, [(0, 0), (0, 0), *pairs], NUMPY_MODES[kind], **more)
    close(getattr(mint.nn, f"{kind}Pad{axes}d")(*arguments)(Tensor(x)), want)


SHOWN = {
    "Linear(input_features=3, output_features=4, has_bias=False)": lambda: mint.nn.Linear(3, 4, bias=False),
    "Linear(input_features=3, output_features=4, has_bias=True)": lambda: mint.nn.Linear(3, 4),
    "Conv2d(3, 4, kernel_size=(3, 3), stride=(2, 2))": lambda: mint.nn.Conv2d(3, 4, 3, 2),
    "Conv1d(2, 4, kernel_size=(3,), stride=(1,))": lambda: mint.nn.Conv1d(2, 4, 3),
    "BatchNorm2d(num_features=3, eps=0.1, momentum=None, affine=False, track_running_stats=True)": lambda: (
        mint.nn.BatchNorm2d(3, 0.1, None, affine=False)
    ),
    "SyncBatchNorm(num_features=3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=False)": lambda: (
        mint.nn.SyncBatchNorm(3, track_running_stats=False)
    ),
    "ZeroPad2d(padding=(1, 1, 1, 1))": lambda: mint.nn.ZeroPad2d(1),
    "ConstantPad1d(padding=(2, 0))": lambda: mint.nn.ConstantPad1d((2, 0), 1.0),
}


@pytest.mark.parametrize("text", SHOWN)
def test_a_layer_is_shown_with_its_settings(text: str) -> None:
    assert repr(SHOWN[text]()) == text


# Functions


@pytest.mark.parametrize(
    ("x", "y", "more"),
    [
        ([1.0, 2.0], [1.0, 2.0], {}),
        ([1.0, 2.0], [1.0, 2.0001], {}),
        ([1.0, 2.0], [1.0, 2.0001], {"rtol": 1e-3}),
        ([0.0, 2.0], [1e-7, 2.0], {"atol": 1e-6}),
        ([np.nan], [np.nan], {}),
        ([np.nan], [np.nan], {"equal_nan": True}),
        ([np.inf, -np.inf], [np.inf, -np.inf], {}),
        ([np.inf], [-np.inf], {}),
        ([[1.0], [1.0]], [1.0, 1.0], {}),
        ([100.0], [101.0], {"rtol": 0.00995}),  # relative to the second, not to the first
        ([101.0], [100.0], {"rtol": 0.00995}),
        ([], [], {}),
    ],
)
def test_allclose_is_numpys(x: Any, y: Any, more: Any) -> None:
    found = mint.allclose(Tensor(x, ms.float64), Tensor(y, ms.float64), **more)
    assert found is bool(np.allclose(x, y, **more))


@pytest.mark.parametrize("size", [(), (3,), (2, 0, 4), ((2, 3),), ([4],)])
def test_an_empty_tensor_has_its_shape_and_dtype(size: Any) -> None:
    shape = tuple(size[0]) if size and not isinstance(size[0], int) else size
    assert (mint.empty(*size).shape, mint.empty(*size).dtype) == (shape, ms.float32)
    made = mint.empty(*size, dtype=ms.int8)
    assert made.dtype == ms.int8 and made.asnumpy().tolist() == np.zeros(shape).tolist()


COUNT = 20000
LIKE = Tensor(np.zeros(COUNT, np.float32))
DRAWN: dict[str, tuple[Any, float, float]] = {  # the draw from a generator or none, mean, deviation
    "randn": (lambda g: mint.randn(COUNT, generator=g), 0.0, 1.0),
    "bernoulli": (lambda g: mint.bernoulli(LIKE + 0.3, generator=g), 0.3, math.sqrt(0.21)),
    "rand_like": (lambda g: mint.rand_like(LIKE), 0.5, 12**-0.5),
    "randn_like": (lambda g: mint.randn_like(LIKE), 0.0, 1.0),
    "randint_like": (lambda g: mint.randint_like(LIKE, 12), 5.5, math.sqrt(143 / 12)),
    "randint_like from": (lambda g: mint.randint_like(LIKE, -2, 10), 3.5, math.sqrt(143 / 12)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_numbers_have_their_distribution(name: str) -> None:
    draw, mean, deviation = DRAWN[name]
    ms.set_seed(9)
    found = draw(None).asnumpy()
    assert found.shape == (COUNT,)
    assert abs(found.mean() - mean) < 5 * deviation / math.sqrt(COUNT) and abs(found.std() / deviation - 1) < 0.03
    ms.set_seed(9)
    np.testing.assert_array_equal(draw(None).asnumpy(), found)
    if name in ("randn", "bernoulli"):
        one, other = (draw(ms.Generator().manual_seed(6)).asnumpy() for _ in range(2))
        np.testing.assert_array_equal(one, other)
        assert (one != found).any()
    if name == "randn":  # the share within one deviation
        assert abs((np.abs(found) < 1).mean() - 0.6827) < 0.02
    if name.startswith("randint"):
        assert set(found.tolist()) == set(range(int(found.min()), int(found.min()) + 12))


@pytest.mark.parametrize("name", ["rand_like", "randn_like", "randint_like"])
def test_numbers_like_a_tensor_have_its_shape_and_dtype(name: str) -> None:
    more = (5,) if name == "randint_like" else ()
    x = Tensor(np.zeros((2, 3)), ms.float64)
    made = getattr(mint, name)(x, *more)
    assert (made.shape, made.dtype) == ((2, 3), ms.float64)
    assert getattr(mint, name)(x, *more, dtype=ms.float16).dtype == ms.float16


def test_a_probability_of_0_or_1_leaves_nothing_to_chance() -> None:
    found = mint.bernoulli(Tensor([[0.0, 1.0], [1.0, 0.0]], ms.float16))
    assert (found.dtype, found.tolist()) == (ms.float16, [[0.0, 1.0], [1.0, 0.0]])
