"""Layers against formulas and loops in float64, their modes, and what their constructors refuse."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import window_references as windows

import hookscope.engine as ms
from hookscope.engine import Parameter, Tensor, grad, nn, ops

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


def set_values(layer: nn.Cell, **values: Array) -> nn.Cell:
    for name, value in values.items():
        getattr(layer, name).set_data(Tensor(value))
    return layer


# Convolution


def same_pads(length: int, window: int, stride: int, dilation: int) -> tuple[int, int]:
    """Return MindSpore's pads of "same": ceil(length / stride) windows, the odd element of padding at the end."""
    total = max(0, (math.ceil(length / stride) - 1) * stride + dilation * (window - 1) + 1 - length)
    return total // 2, total - total // 2


@pytest.mark.parametrize(
    ("mode", "stride", "dilation", "group"),
    list(itertools.product(["same", "valid", "pad"], [1, (2, 3)], [1, (2, 1)], [1, 2])),
)
def test_conv2d_is_the_loop_over_windows(mode: str, stride: Any, dilation: Any, group: int) -> None:
    x, weight, bias = normal(2, 4, 6, 7), normal(6, 4 // group, 3, 2, seed=1), normal(6, seed=2)
    padding = (1, 0, 2, 1) if mode == "pad" else 0
    layer = nn.Conv2d(4, 6, (3, 2), stride, mode, padding, dilation, group, has_bias=True, dtype=ms.float64)
    set_values(layer, weight=weight, bias=bias)
    strides, dilations = ((v, v) if isinstance(v, int) else v for v in (stride, dilation))
    pads = (0, 0, 0, 0)
    if mode == "pad":
        pads = padding
    elif mode == "same":
        pads = (*same_pads(6, 3, strides[0], dilations[0]), *same_pads(7, 2, strides[1], dilations[1]))
    want = windows.conv2d(x, weight, strides, pads, dilations, group) + bias[:, None, None]
    result = layer(Tensor(x)).asnumpy()
    assert result.shape == want.shape
    np.testing.assert_allclose(result, want, rtol=1e-10, atol=1e-10)


def test_conv2d_by_default_keeps_height_and_width_and_has_no_bias() -> None:
    layer = nn.Conv2d(1, 2, 3)
    assert layer.bias is None
    assert layer(Tensor(normal(1, 1, 5, 4).astype(np.float32))).shape == (1, 2, 5, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"in_channels": 0}, ValueError, "'in_channels' must be above 0, but got 0"),
        ({"in_channels": 1.5}, TypeError, "'in_channels' must be an int, but got float"),
        ({"kernel_size": "3"}, TypeError, "'kernel_size' must be an int or a tuple of two ints, but got '3'"),
        ({"kernel_size": 0}, ValueError, "'kernel_size' must be at least 1, but got 0"),
        ({"stride": 0}, ValueError, "'stride' must be at least 1"),
        ({"dilation": (1, 2, 3)}, TypeError, "'dilation' must be an int or a tuple of 2 ints"),
        ({"pad_mode": "full"}, ValueError, "'pad_mode' must be 'same', 'valid' or 'pad', but got 'full'"),
        ({"padding": 1}, ValueError, "'padding' must be 0 with pad_mode 'same', but got 1"),
        ({"pad_mode": "pad", "padding": -1}, ValueError, "'padding' must be an int or 4 ints that are not negative"),
        ({"group": 3}, ValueError, "'group' 3 must divide 'in_channels' 2"),
        ({"has_bias": 1}, TypeError, "'has_bias' must be a bool, but got int"),
        ({"data_format": "NHWC"}, ValueError, "'data_format' must be 'NCHW', but got 'NHWC'"),
    ],
)
def test_conv2d_refuses(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=f"For 'Conv2d', {text}"):
        nn.Conv2d(**{"in_channels": 2, "out_channels": 2, "kernel_size": 3, **arguments})


def test_conv2d_refuses_inputs_that_do_not_fit() -> None:
    layer = nn.Conv2d(2, 2, 3, pad_mode="valid")
    with pytest.raises(RuntimeError, match="'input' has 3 channels, but 'weight' of shape .* takes 2"):
        layer(Tensor(normal(1, 3, 5, 5)))
    with pytest.raises(ValueError, match=r"a window of \(3, 3\) does not fit into an input of shape \(1, 2, 2, 5\)"):
        layer(Tensor(normal(1, 2, 2, 5)))
    with pytest.raises(ValueError, match="must have 4 axes"):
        layer(Tensor(normal(2, 5, 5)))


# Pooling


@pytest.mark.parametrize(
    ("kernel", "stride", "mode"), list(itertools.product([2, (3, 2)], [1, (2, 3)], ["same", "valid"]))
)
def test_pooling_is_the_loop_over_windows(kernel: Any, stride: Any, mode: str) -> None:
    x = normal(2, 3, 6, 7)
    kernels, strides = ((v, v) if isinstance(v, int) else v for v in (kernel, stride))
    pads = (0, 0, 0, 0)
    if mode == "same":
        pads = (*same_pads(6, kernels[0], strides[0], 1), *same_pads(7, kernels[1], strides[1], 1))
    largest = nn.MaxPool2d(kernel, stride, mode)(Tensor(x)).asnumpy()
    np.testing.assert_array_equal(largest, windows.max_pool2d(x, kernels, strides, pads))
    if mode == "valid":
        mean = nn.AvgPool2d(kernel, stride, mode)(Tensor(x)).asnumpy()
        np.testing.assert_allclose(mean, windows.avg_pool2d(x, kernels, strides, pads), rtol=1e-12)


def test_max_pool_sends_the_gradient_to_the_first_of_equal_elements_and_keeps_nan() -> None:
    ones = Tensor(np.ones((1, 1, 2, 2), np.float32))
    assert grad(nn.MaxPool2d(2, 2))(ones).tolist() == [[[[1.0, 0.0], [0.0, 0.0]]]]
    with_nan = Tensor(np.array([[[[1.0, np.nan], [2.0, 3.0]]]]))
    assert np.isnan(nn.MaxPool2d(2, 2)(with_nan).asnumpy()).all()


def test_max_pool_of_numbers_below_zero_does_not_see_the_padding() -> None:
    assert nn.MaxPool2d(2, 1, "same")(Tensor(-np.ones((1, 1, 2, 2)))).tolist() == [[[[-1.0, -1.0], [-1.0, -1.0]]]]


def test_adaptive_avg_pool_has_windows_that_overlap_where_they_do_not_divide() -> None:
    x = normal(1, 2, 4, 6)
    result = nn.AdaptiveAvgPool2d((2, 3))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(result, x.reshape(1, 2, 2, 2, 3, 2).mean((3, 5)), rtol=1e-12)
    uneven = nn.AdaptiveAvgPool2d((3, None))(Tensor(x)).asnumpy()
    np.testing.assert_allclose(uneven, np.stack([x[:, :, i : i + 2].mean(2) for i in range(3)], 2), rtol=1e-12)


@pytest.mark.parametrize("layer", [nn.MaxPool2d(2), nn.AvgPool2d(2), nn.AdaptiveAvgPool2d(1)])
def test_pooling_wants_four_axes(layer: nn.Cell) -> None:
    with pytest.raises(ValueError, match=r"the input must have 4 axes \(N, C, H, W\), but got shape \(2, 3\)"):
        layer(Tensor(normal(2, 3)))


# Normalisation


def test_batch_norm_in_training_uses_the_batch_and_moves_the_statistics() -> None:
    x, gamma, beta = normal(5, 3, 2, 4) * 2 + 1, normal(3, seed=1), normal(3, seed=2)
    layer = set_values(nn.BatchNorm2d(3, eps=1e-3, momentum=0.7, dtype=ms.float64), gamma=gamma, beta=beta).set_train()
    result = layer(Tensor(x)).asnumpy()
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    shape = (1, 3, 1, 1)
    want = (x - mean.reshape(shape)) / np.sqrt(var + 1e-3).reshape(shape) * gamma.reshape(shape) + beta.reshape(shape)
    np.testing.assert_allclose(result, want, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(layer.moving_mean.asnumpy(), 0.3 * mean, rtol=1e-10)
    np.testing.assert_allclose(layer.moving_variance.asnumpy(), 0.7 + 0.3 * x.var((0, 2, 3), ddof=1), rtol=1e-10)


def test_batch_norm_in_predict_mode_uses_and_keeps_the_statistics() -> None:
    x, mean, var = normal(4, 3), normal(3, seed=1), np.abs(normal(3, seed=2))
    layer = set_values(nn.BatchNorm1d(3, dtype=ms.float64), moving_mean=mean, moving_variance=var)
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), (x - mean) / np.sqrt(var + 1e-5), rtol=1e-10)
    np.testing.assert_array_equal(layer.moving_mean.asnumpy(), mean)


def test_use_batch_statistics_overrules_the_mode() -> None:
    x = Tensor(normal(4, 3))
    by_batch = nn.BatchNorm1d(3, use_batch_statistics=True, dtype=ms.float64)
    np.testing.assert_allclose(by_batch(x).asnumpy().mean(0), 0, atol=1e-12)
    fixed = nn.BatchNorm1d(3, use_batch_statistics=False, dtype=ms.float64).set_train()
    np.testing.assert_allclose(fixed(x).asnumpy(), normal(4, 3) / np.sqrt(1 + 1e-5), rtol=1e-10)


def test_moving_the_statistics_is_no_part_of_the_gradient() -> None:
    layer = nn.BatchNorm1d(2).set_train()
    _, of_weights = grad(layer, 0, list(layer.get_parameters()))(Tensor(normal(4, 2).astype(np.float32)))
    assert dict(zip([p.name for p in layer.get_parameters()], [g.tolist() for g in of_weights], strict=True))[
        "mean"
    ] == [0.0, 0.0]


def test_batch_norm_refuses() -> None:
    with pytest.raises(ValueError, match=r"'momentum' must be in \[0, 1\], but got 1.5"):
        nn.BatchNorm2d(3, momentum=1.5)
    with pytest.raises(ValueError, match=r"For 'BatchNorm2d', the input must have 4 axes, but got shape \(2, 3\)"):
        nn.BatchNorm2d(3)(Tensor(normal(2, 3)))
    with pytest.raises(ValueError, match="'running_mean' must have one number for each channel"):
        nn.BatchNorm1d(3)(Tensor(normal(2, 4)))


@pytest.mark.parametrize(("shape", "begin"), [((4,), -1), ((3, 4), 1), ((2, 3, 4), 0)])
def test_layer_norm_is_its_formula(shape: tuple[int, ...], begin: int) -> None:
    x, gamma, beta = normal(2, 3, 4) * 3, normal(*shape, seed=1), normal(*shape, seed=2)
    layer = nn.LayerNorm(shape, begin_norm_axis=begin, begin_params_axis=begin, epsilon=1e-3, dtype=ms.float64)
    set_values(layer, gamma=gamma, beta=beta)
    axes = tuple(range(begin % 3, 3))
    want = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-3) * gamma + beta
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), want, rtol=1e-10, atol=1e-10)


def test_layer_norm_may_normalize_more_axes_than_its_parameters_have() -> None:
    x, gamma = normal(2, 3, 4), normal(4, seed=1)
    layer = set_values(nn.LayerNorm((4,), begin_norm_axis=1, epsilon=1e-3, dtype=ms.float64), gamma=gamma)
    want = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-3) * gamma
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), want, rtol=1e-10, atol=1e-10)


def test_layer_norm_refuses() -> None:
    with pytest.raises(TypeError, match="'normalized_shape' must be a tuple or list, but got int"):
        nn.LayerNorm(3)
    with pytest.raises(ValueError, match="'normalized_shape' must not be empty"):
        nn.LayerNorm(())
    with pytest.raises(ValueError, match=r"'normalized_shape' \(3,\) must be the end of the input's shape \(2, 4\)"):
        ops.layer_norm(Tensor(normal(2, 4)), (3,))


# Dropout


def test_a_dropout_mask_is_repeated_by_the_seed_and_differs_from_call_to_call() -> None:
    layer, x = nn.Dropout(p=0.5).set_train(), ops.ones((1000,))

    def two_masks() -> list[Any]:
        ms.set_seed(11)
        return [layer(x).tolist(), layer(x).tolist()]

    first, second = two_masks()
    assert [first, second] == two_masks()
    assert first != second
    ms.set_seed(12)
    assert layer(x).tolist() != first


def test_dropout_keeps_the_mean_and_drops_its_share() -> None:
    ms.set_seed(0)
    dropped = nn.Dropout(p=0.25).set_train()(ops.ones((20000,))).asnumpy()
    assert set(np.unique(dropped)) == {np.float32(0.0), np.float32(4 / 3)}
    # Five standard deviations of a share of 0.25 in 20,000 draws.
    assert abs((dropped == 0).mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / 20000)


def test_dropout_in_predict_mode_or_of_nothing_is_the_input() -> None:
    x = ops.ones((8,))
    assert nn.Dropout(p=0.9)(x) is x
    assert nn.Dropout(p=0.0).set_train()(x) is x


def test_the_gradient_of_dropout_has_the_same_mask() -> None:
    ms.set_seed(1)
    value, gradient = ms.value_and_grad(nn.Dropout(p=0.5).set_train())(ops.ones((50,)))
    np.testing.assert_array_equal(value.asnumpy(), gradient.asnumpy())


@pytest.mark.parametrize(
    ("kind", "shape", "channels"),
    [
        (nn.Dropout1d, (60, 50, 3), (60, 50)),
        (nn.Dropout1d, (3000, 4), (3000,)),  # one sample
        (nn.Dropout2d, (60, 50, 2, 3), (60, 50)),
        (nn.Dropout3d, (60, 50, 2, 1, 3), (60, 50)),
    ],
)
def test_dropout_of_channels_drops_them_whole_and_keeps_the_mean(kind: Any, shape: Any, channels: Any) -> None:
    ms.set_seed(2)
    x = Tensor(np.random.default_rng(0).uniform(1, 2, shape).astype(np.float32))
    layer = kind(p=0.25).set_train()
    dropped, gradient = ms.value_and_grad(layer)(x)
    factors = (dropped.asnumpy() / x.asnumpy()).reshape(*channels, -1)
    np.testing.assert_allclose(factors, np.broadcast_to(factors[..., :1], factors.shape), rtol=1e-6)
    mask = factors[..., 0] == 0
    np.testing.assert_allclose(factors[..., 0][~mask], 4 / 3, rtol=1e-6)
    # Five standard deviations of a share of 0.25 in 3,000 draws.
    assert abs(mask.mean() - 0.25) < 5 * math.sqrt(0.25 * 0.75 / mask.size)
    np.testing.assert_allclose(gradient.asnumpy().reshape(factors.shape), factors, rtol=1e-6)
    assert layer.set_train(False)(x) is x and kind(0.0).set_train()(x) is x
    assert not kind(1.0).set_train()(x).asnumpy().any()


@pytest.mark.parametrize("kind", [nn.Dropout1d, nn.Dropout2d, nn.Dropout3d])
def test_dropout_of_channels_refuses(kind: Any) -> None:
    for p, error in ((1.5, ValueError), (-0.1, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match=f"For '{kind.__name__}', 'p' must be"):
            kind(p)
    with pytest.raises(ValueError, match=f"For '{kind.__name__}', the input must have"):
        kind().set_train()(ops.ones((2,)))


@pytest.mark.parametrize(("p", "error"), [(1.0, ValueError), (-0.1, ValueError), ("a", TypeError), (True, TypeError)])
def test_dropout_refuses(p: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="For 'Dropout', 'p' must be"):
        nn.Dropout(p=p)


# Dense, Embedding and the small ones


def test_dense_is_a_product_with_the_transposed_weight() -> None:
    x, weight, bias = normal(2, 5, 3), normal(4, 3, seed=1), normal(4, seed=2)
    layer = set_values(nn.Dense(3, 4, dtype=ms.float64), weight=weight, bias=bias)
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), x @ weight.T + bias, rtol=1e-12)


def test_dense_takes_an_activation_by_name_or_as_a_cell() -> None:
    x = Tensor([[-1.0, 1.0]])
    for activation in ("relu", nn.ReLU()):
        layer = nn.Dense(2, 1, weight_init=Tensor([[1.0, -1.0]]), has_bias=False, activation=activation)
        assert layer(x).tolist() == [[0.0]]
    with pytest.raises(KeyError, match="'activation' must be one of .* but got 'no such'"):
        nn.Dense(2, 1, activation="no such")
    with pytest.raises(TypeError, match="'activation' must be a Cell or the name of one, but got int"):
        nn.Dense(2, 1, activation=3)


def test_dense_starts_within_its_bound() -> None:
    ms.set_seed(0)
    layer = nn.Dense(100, 50)
    for parameter in layer.get_parameters():
        assert 0.08 < np.abs(parameter.asnumpy()).max() <= 0.1


def test_dense_refuses() -> None:
    with pytest.raises(ValueError, match=r"'weight_init' must have the shape \(1, 2\), but got \(2, 1\)"):
        nn.Dense(2, 1, weight_init=Tensor([[1.0], [1.0]]))
    with pytest.raises(ValueError, match=r"For 'Dense', the last axis of the input must be 2, but got shape \(1, 3\)"):
        nn.Dense(2, 1)(Tensor(normal(1, 3)))


def test_embedding_takes_rows_and_adds_up_the_gradients_of_a_row_used_twice() -> None:
    table = normal(5, 2).astype(np.float32)
    layer, ids = nn.Embedding(5, 2, embedding_table=Tensor(table)), Tensor([[1, 3], [3, 3]])
    np.testing.assert_array_equal(layer(ids).asnumpy(), table[[[1, 3], [3, 3]]])
    of_table = grad(layer, None, layer.embedding_table)(ids).asnumpy()
    np.testing.assert_array_equal(of_table[:, 0], [0, 1, 0, 3, 0])


def test_embedding_by_one_hot_rows_is_the_same() -> None:
    table, ids = Tensor(normal(5, 2).astype(np.float32)), Tensor([[1, 3], [3, 0]])
    results = [nn.Embedding(5, 2, one_hot, table)(ids).asnumpy() for one_hot in (False, True)]
    np.testing.assert_allclose(results[0], results[1], rtol=1e-6)


def test_embeddings_padding_row_starts_as_zeros() -> None:
    layer = nn.Embedding(3, 2, padding_idx=1)
    assert layer.embedding_table[1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"'padding_idx' must be in \[0, 3\), but got 3"):
        nn.Embedding(3, 2, padding_idx=3)


def test_flatten_and_identity() -> None:
    x = Tensor(normal(2, 3, 4))
    assert nn.Flatten()(x).shape == (2, 12)
    assert nn.Flatten(0, 1)(x).shape == (6, 4)
    assert nn.Identity()(x) is x


ACTIVATIONS: list[tuple[nn.Cell, Any]] = [
    (nn.ReLU(), lambda v: max(v, 0.0)),
    (nn.ReLU6(), lambda v: min(max(v, 0.0), 6.0)),
    (nn.Sigmoid(), lambda v: 1 / (1 + math.exp(-v))),
    (nn.Tanh(), math.tanh),
    (nn.SiLU(), lambda v: v / (1 + math.exp(-v))),
    (nn.GELU(), lambda v: 0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3)))),
    (nn.GELU(False), lambda v: 0.5 * v * (1 + math.erf(v / math.sqrt(2)))),
    (nn.LeakyReLU(0.1), lambda v: v if v > 0 else 0.1 * v),
    (nn.ELU(), lambda v: v if v > 0 else math.expm1(v)),
    (nn.HSigmoid(), lambda v: min(max((v + 3) / 6, 0.0), 1.0)),
    (nn.HSwish(), lambda v: v * min(max((v + 3) / 6, 0.0), 1.0)),
    (nn.Softplus(), lambda v: math.log1p(math.exp(v))),
]


@pytest.mark.parametrize(("layer", "formula"), ACTIVATIONS, ids=lambda v: repr(v) if isinstance(v, nn.Cell) else "")
def test_activations_and_their_slopes(layer: nn.Cell, formula: Any) -> None:
    x = np.array([-7.1, -3.3, -1.2, -0.4, 0.3, 1.1, 2.9, 6.7])
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), [formula(v) for v in x], rtol=1e-9, atol=1e-12)
    slopes = [(formula(v + 1e-6) - formula(v - 1e-6)) / 2e-6 for v in x]
    np.testing.assert_allclose(grad(layer)(Tensor(x)).asnumpy(), slopes, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("layer", [nn.ReLU(), nn.ReLU6(), nn.HSwish()])
def test_the_slope_at_zero_is_mindspores(layer: nn.Cell) -> None:
    assert grad(layer)(Tensor([0.0])).item() == (0.5 if isinstance(layer, nn.HSwish) else 0.0)


def test_softmax_layers_add_up_to_one_along_their_axis() -> None:
    x = Tensor(normal(3, 4))
    np.testing.assert_allclose(nn.Softmax(0)(x).asnumpy().sum(0), 1.0)
    np.testing.assert_allclose(np.exp(nn.LogSoftmax()(x).asnumpy()).sum(-1), 1.0)


def test_softmax_does_not_overflow() -> None:
    assert nn.Softmax()(Tensor([1000.0, 1000.0])).tolist() == [0.5, 0.5]
    assert nn.LogSoftmax()(Tensor([1000.0, -1000.0])).tolist() == [0.0, -2000.0]
    np.testing.assert_allclose(nn.Softplus()(Tensor([1000.0, -1000.0])).asnumpy(), [1000.0, 0.0])


def test_a_layer_may_own_parameters_of_its_own_making() -> None:
    class Scale(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.factor = Parameter(Tensor([2.0]))

        def construct(self, x: Tensor) -> Tensor:
            return x * self.factor

    net = nn.SequentialCell(Scale(), Scale())
    assert [g.tolist() for g in grad(net, None, net.trainable_params())(Tensor([3.0]))] == [[6.0], [6.0]]
