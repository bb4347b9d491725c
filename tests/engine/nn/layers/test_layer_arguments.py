"""Arguments that layers and losses refuse, as MindSpore does, since they could only compute something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, grad, mint, nn, set_seed

X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) / 3)
IMAGE = Tensor(np.ones((1, 1, 3, 3), np.float32))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: nn.Softmax((0, 1)), ValueError, "'axis' must be one axis"),
        (lambda: nn.LogSoftmax([0, 1]), ValueError, "'axis' must be one axis"),
        (lambda: nn.HShrink("a"), TypeError, "'lambd' must be a number, but got str"),
        (lambda: nn.SoftShrink("a"), TypeError, "'lambd' must be a number, but got str"),
        (lambda: nn.LeakyReLU("a"), TypeError, "For 'LeakyReLU', 'alpha' must be a number, but got str"),
        (lambda: nn.MaxPool2d(2, data_format="NHWC"), ValueError, "For 'MaxPool2d', 'data_format' must be 'NCHW'"),
        (lambda: nn.AvgPool2d(2, data_format="NHWC"), ValueError, "'data_format' must be 'NCHW', but got 'NHWC'"),
        (lambda: nn.CosineEmbeddingLoss("0.5"), TypeError, "'margin' must be a number, but got str"),
        (lambda: nn.CosineEmbeddingLoss(2.0), ValueError, r"'margin' must be in \[-1, 1\], but got 2.0"),
        (lambda: nn.HingeEmbeddingLoss("a"), TypeError, "'margin' must be a number, but got str"),
        (lambda: nn.HuberLoss(delta="a"), TypeError, "'delta' must be a number, but got str"),
        (lambda: nn.HuberLoss(delta=0.0), ValueError, "'delta' must be above 0, but got 0.0"),
        (lambda: nn.CrossEntropyLoss(3), TypeError, "'weight' must be a Tensor, but got int"),
        (lambda: nn.CrossEntropyLoss(ignore_index="a"), TypeError, "'ignore_index' must be an int, but got str"),
        (lambda: nn.CrossEntropyLoss(label_smoothing=2.0), ValueError, r"'label_smoothing' must be in \[0, 1\]"),
        (lambda: nn.NLLLoss(label_smoothing=2.0), ValueError, r"'label_smoothing' must be in \[0, 1\]"),
        (lambda: nn.NLLLoss(3), TypeError, "'weight' must be a Tensor, but got int"),
        (lambda: nn.Pad(((1, 1), (-1, 1))), ValueError, "'paddings' must not be negative"),
        (lambda: nn.Moments(keep_dims=3), TypeError, "'keep_dims' must be a bool, but got int"),
        (lambda: nn.MatMul(3), TypeError, "'transpose_x1' must be a bool, but got int"),
        (lambda: nn.MSSSIM(filter_size=1.5), TypeError, "'filter_size' must be an int, but got float"),
        (lambda: nn.SSIM(filter_size=3.0), TypeError, "'filter_size' must be an int, but got float"),
        (lambda: nn.SSIM(k1="a"), TypeError, "'k1' must be a number, but got str"),
        (lambda: nn.MSSSIM(power_factors=3), TypeError, "'power_factors' must be a tuple or list, but got int"),
        (lambda: nn.MSSSIM(power_factors=("a",)), TypeError, "'power_factors' must be a number, but got str"),
        (lambda: nn.MSSSIM(filter_sigma=0.0), ValueError, "For 'MSSSIM', 'filter_sigma' must be above 0"),
        (lambda: nn.SSIM(max_val=0.0), ValueError, "For 'SSIM', 'max_val' must be above 0"),
        (lambda: nn.MSSSIM(max_val=-1.0), ValueError, "For 'MSSSIM', 'max_val' must be above 0"),
        (lambda: nn.PSNR(max_val="a"), TypeError, "For 'PSNR', 'max_val' must be a number, but got str"),
        (lambda: nn.L1Regularizer("a"), TypeError, "'scale' must be a number, but got str"),
        (lambda: nn.L1Regularizer(True), TypeError, "'scale' must be a number, but got bool"),
        (lambda: nn.EmbeddingExt(3, 2, sparse=True), ValueError, "'sparse' and 'scale_grad_by_freq' must be False"),
        (lambda: nn.EmbeddingExt(3, 2, scale_grad_by_freq=True), ValueError, "'scale_grad_by_freq' must be False"),
        (lambda: nn.Dense(2, 3, activation=nn.ReLU), TypeError, "'activation' must be a Cell or the name of one"),
        (lambda: nn.Conv2d(3, 2, (3,)), TypeError, "'kernel_size' must be an int or a tuple of 2 ints"),
        (lambda: nn.Conv2d(3, 2, 3, stride=(1, 1, 1)), TypeError, "'stride' must be an int or a tuple of 2 ints"),
        (lambda: nn.Conv2dTranspose(3, 2, 3, dilation=(1,)), TypeError, "'dilation' must be an int or a tuple"),
        (lambda: nn.Conv3d(3, 2, (1, 2)), ValueError, "'kernel_size' must be an int or a tuple of 3 ints"),
        (lambda: nn.Conv1d(3, 2, (3,)), TypeError, "For 'Conv1d', 'kernel_size' must be an int, but got tuple"),
        (lambda: nn.Conv1dTranspose(3, 2, 3, (1,)), TypeError, "'stride' must be an int, but got tuple"),
        (lambda: nn.Conv1d(3, 2, 3, 1, "pad", (1,)), TypeError, "'padding' must be an int, but got tuple"),
        (lambda: nn.Conv2d(3, 2, 3, pad_mode=1), TypeError, "'pad_mode' must be a str, but got int"),
        (lambda: nn.Conv2d(3, 2, 3, pad_mode="pad", padding="a"), TypeError, "'padding' must be an int or a tuple"),
        (lambda: nn.Conv2d(3, 2, 3, pad_mode="pad", padding=(1, 1)), ValueError, "must be an int or 4 ints"),
        (lambda: nn.Conv3d(3, 2, 3, pad_mode="pad", padding=(1, 1, 1)), ValueError, "must be an int or 6 ints"),
        (lambda: nn.Conv1d(1, 1, 2, weight_init=Tensor([[[[1.0]]]])), ValueError, "'weight_init' must have 3 axes"),
        (lambda: nn.MaxPool2d(2, ceil_mode=True), ValueError, "must keep their defaults unless 'pad_mode' is 'pad'"),
        (lambda: nn.MaxPool1d(2, return_indices=True), ValueError, "must keep their defaults"),
        (lambda: nn.MaxPool3d(2, dilation=2, pad_mode="same"), ValueError, "must keep their defaults"),
        (lambda: nn.AdaptiveAvgPool1d(0), ValueError, "For 'AdaptiveAvgPool1d', 'output_size' must be above 0"),
        (lambda: nn.AdaptiveMaxPool1d("a"), TypeError, "'output_size' must be an int, but got str"),
        (lambda: nn.BatchNorm2d(2, use_batch_statistics=3), ValueError, "must be a bool or None, but got 3"),
        (lambda: nn.LayerNorm((3,), begin_norm_axis=2)(X), RuntimeError, r"'begin_norm_axis' must be in \[-2, 2\)"),
        (lambda: nn.Dropout(keep_prob=1), TypeError, "'keep_prob' must be a float, but got int"),
        (lambda: nn.Dropout2d(p=1), TypeError, "For 'Dropout2d', 'p' must be a float, but got int"),
        (lambda: nn.Embedding(3, 2, use_one_hot="a"), TypeError, "'use_one_hot' must be a bool, but got str"),
        (lambda: nn.BiDense(2, 3, 2)(X, X), ValueError, r"the last axis of 'input1' must have the length 2"),
        (lambda: nn.BiDense(3, 2, 2)(X, X), ValueError, r"the last axis of 'input2' must have the length 2"),
        (lambda: nn.LSTMCell(3, 2)(X, [X, X]), TypeError, "'hx' must be a tuple of two Tensors, but got list"),
        (lambda: nn.LossBase()(X, X), NotImplementedError, "For 'LossBase', the method 'construct' is not defined"),
        (lambda: nn.SmoothL1Loss(beta="a"), TypeError, "'beta' must be a number, but got str"),
        (lambda: nn.MultiClassDiceLoss(activation="zz"), ValueError, "'activation' must be one of"),
        (
            lambda: nn.SoftmaxCrossEntropyWithLogits(sparse=True)(X, X[:, 0]),
            TypeError,
            "'labels' must be integers where 'sparse' is True, but got Float32",
        ),
        (
            lambda: nn.Conv2dTranspose(1, 1, 2, pad_mode="pad", output_padding=3),
            ValueError,
            "'output_padding' must be below 'stride' or 'dilation'",
        ),
    ],
)
def test_a_layer_refuses_what_it_cannot_heed(make: Callable[[], nn.Cell], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("make", "allowed", "refused", "error"),
    [
        (lambda x: nn.EmbeddingExt(4, 2, x), (-4, -1, 0, 3), (-5, 4), ValueError),
        (lambda x: nn.L1Regularizer(x), (1e-9, 1), (0, 0.0, -0.5, float("inf"), float("nan")), ValueError),
        (lambda x: nn.Hardtanh(0.5, x), (0.5, 2.0), (0.25,), ValueError),
        (lambda x: nn.MultiMarginLoss(p=x), (1, 2), (True, 1.0, "1"), TypeError),
        (lambda x: nn.MultiMarginLoss(p=x), (1, 2), (0, 3), ValueError),
        (lambda x: nn.MultiMarginLoss(margin=x), (1, 0.5), ("1", None), TypeError),
        (lambda x: nn.RNN(2, 3, 2, dropout=x), (0.0, 0.5), (1.0, -0.5), ValueError),
        *(
            (
                lambda x, index=position: nn.Unfold(*([1, 2, 2, 1] if i != index else x for i in range(3))),
                ([1, 3, 2, 1], (1, 2, 3, 1)),
                ([1, 2, 1], [1, 2, 2, 1, 1], [2, 2, 2, 1], [1, 2, 2, 2], [0, 2, 2, 1]),
                ValueError,
            )
            for position in range(3)
        ),
        (lambda x: nn.Unfold([1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], x), ("valid", "SAME"), ("pad", 3), ValueError),
    ],
)
def test_a_number_may_be_the_end_of_its_range_and_not_beyond(
    make: Callable[[Any], Any], allowed: Any, refused: Any, error: type[Exception]
) -> None:
    for value in allowed:
        make(value)
    for value in refused:
        with pytest.raises(error, match=re.escape(str(value))) as raised:
            make(value)
        assert raised.type is error


@pytest.mark.parametrize(("kind", "arguments"), [(nn.BatchNorm2d, (3,)), (nn.Conv2d, (3, 3, 1)), (nn.MaxPool2d, (2,))])
def test_another_order_of_axes_is_named(kind: Any, arguments: tuple[int, ...]) -> None:
    kind(*arguments, data_format="NCHW")
    with pytest.raises(ValueError, match=f"For '{kind.__name__}', 'data_format' must be 'NCHW', but got 'NHWC'"):
        kind(*arguments, data_format="NHWC")


NORMS: dict[str, tuple[Callable[..., nn.Cell], str, str]] = {
    **{
        f"{kind.__name__} {argument}": (lambda k=kind, **keywords: k(3, **keywords), kind.__name__, argument)
        for kind in (
            nn.BatchNorm1d,
            nn.BatchNorm2d,
            nn.SyncBatchNorm,
            nn.InstanceNorm1d,
            nn.InstanceNorm2d,
            nn.InstanceNorm3d,
        )
        for argument in ("eps", "momentum")
    },
    "BatchNorm3d eps": (lambda **keywords: nn.BatchNorm3d(3, **keywords), "BatchNorm2d", "eps"),
    "LayerNorm": (lambda **keywords: nn.LayerNorm((3,), **keywords), "LayerNorm", "epsilon"),
    "LayerNormExt": (lambda **keywords: nn.LayerNormExt((3,), **keywords), "LayerNormExt", "eps"),
    "GroupNorm": (lambda **keywords: nn.GroupNorm(1, 3, **keywords), "GroupNorm", "eps"),
    **{
        f"mint {kind.__name__} {argument}": (
            lambda k=kind, **keywords: k(3, **keywords),
            f"mint.nn.{kind.__name__}",
            argument,
        )
        for kind in (mint.nn.BatchNorm1d, mint.nn.BatchNorm2d, mint.nn.BatchNorm3d, mint.nn.SyncBatchNorm)
        for argument in ("eps", "momentum")
    },
    "mint LayerNorm": (lambda **keywords: mint.nn.LayerNorm(3, **keywords), "mint.nn.LayerNorm", "eps"),
    "mint GroupNorm": (lambda **keywords: mint.nn.GroupNorm(1, 3, **keywords), "mint.nn.GroupNorm", "eps"),
    **{f"LRN {argument}": (nn.LRN, "LRN", argument) for argument in ("bias", "alpha", "beta")},
}


@pytest.mark.parametrize("case", NORMS)
def test_a_normalization_takes_only_numbers_for_its_numbers(case: str) -> None:
    make, name, argument = NORMS[case]
    for value in ("a", [1e-5], True, Tensor(1e-5), 1j):
        kind = type(value).__name__
        with pytest.raises(TypeError, match=f"For '{name}', '{argument}' must be a number, but got {kind}"):
            make(**{argument: value})
    if "eps" in argument:
        for value in (-1e-5, float("nan")):
            with pytest.raises(ValueError, match=f"For '{name}', '{argument}' must be 0 or above, but got {value}"):
                make(**{argument: value})
    make(**{argument: 1}), make(**{argument: np.float32(0.5)})


@pytest.mark.parametrize("axis", ["begin_norm_axis", "begin_params_axis"])
def test_an_axis_of_layer_norm_is_an_int(axis: str) -> None:
    with pytest.raises(TypeError, match=f"For 'LayerNorm', '{axis}' must be an int, but got str"):
        nn.LayerNorm((3,), **{axis: "a"})


@pytest.mark.parametrize(
    ("layer", "inputs", "text"),
    [
        (nn.Roll(1, 5), (X,), r"'axis' must be in \[-2, 2\), but got 5"),
        (nn.Tril(), (Tensor([1.0]),), r"'x' must have 2 axes or more, but got shape \(1,\)"),
        (nn.Triu(), (Tensor([1.0]),), r"'x' must have 2 axes or more, but got shape \(1,\)"),
        (nn.Unflatten(5, (3, 1)), (X,), r"'axis' must be in \[-2, 2\), but got 5"),
        (
            nn.MatrixSetDiag(),
            (Tensor(np.zeros((3, 3), np.float32)), Tensor([1.0])),
            r"'diagonal' must have the shape \(3,\), but got \(1,\)",
        ),
        (
            nn.MultiClassDiceLoss(Tensor(np.ones((2, 1), np.float32)), activation=None),
            (X, X),
            r"'weights' must have a row for each of 3 classes, but got shape \(2, 1\)",
        ),
        (nn.MicroBatchInterleaved(nn.ReLU(), 3), (X,), r"'interleave_num' 3 must divide .* shape \(2, 3\)"),
    ],
)
def test_a_call_refuses_what_does_not_fit(layer: nn.Cell, inputs: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        layer(*inputs)


def test_one_axis_may_come_as_a_tuple() -> None:
    x = X.asnumpy()
    expected = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    np.testing.assert_allclose(nn.Softmax((1,))(X).asnumpy(), expected, rtol=1e-6)


def test_image_gradients_end_with_0_also_beside_infinity() -> None:
    images = np.zeros((1, 1, 2, 2), np.float32)
    images[0, 0, 1, 1] = np.inf
    dy, dx = nn.ImageGradients()(Tensor(images))
    assert dy.asnumpy().tolist() == [[[[0.0, np.inf], [0.0, 0.0]]]]
    assert dx.asnumpy().tolist() == [[[[0.0, 0.0], [np.inf, 0.0]]]]


@pytest.mark.parametrize("layer", [nn.DropoutExt(0.5, inplace=True), nn.Dropout2dExt(0.5, inplace=True)])
def test_a_dropout_in_place_changes_its_input(layer: nn.Cell) -> None:
    set_seed(0)
    layer.set_train()
    x = Tensor(np.ones((4, 8, 5), np.float32))
    result = layer(x)
    assert set(np.unique(result.asnumpy())) == {0.0, 2.0}
    np.testing.assert_array_equal(x.asnumpy(), result.asnumpy())


def test_a_dropout_in_place_lets_the_gradient_through() -> None:
    layer = nn.DropoutExt(0.5, inplace=True).set_train()
    records: list[Tensor] = []

    def forward(x: Tensor) -> Tensor:
        y = x * 1.0
        layer(y)
        records.append(y)
        return (y * y).sum()

    result = grad(forward)(Tensor(np.full((8, 8), 3.0, np.float32)))
    mask = records[0].asnumpy() / 3.0  # 0 or 2
    assert set(np.unique(mask)) == {0.0, 2.0}
    np.testing.assert_allclose(result.asnumpy(), 2 * 3.0 * mask**2)


def test_a_convolution_along_one_axis_takes_a_weight_of_three_axes() -> None:
    layer = nn.Conv1d(1, 1, 2, pad_mode="valid", weight_init=Tensor([[[1.0, 10.0]]]))
    assert layer.weight.shape == (1, 1, 1, 2)
    np.testing.assert_array_equal(layer(Tensor([[[1.0, 2.0, 3.0]]])).asnumpy(), [[[21, 32]]])


def test_class_numbers_of_a_focal_loss_may_be_floats() -> None:
    x = Tensor(np.array([[2.524, 1.282, -2.855], [-0.546, 2.996, -0.225]], np.float32))
    result = nn.FocalLoss()(x, Tensor([[1.0], [2.0]]))
    np.testing.assert_allclose(result.asnumpy(), nn.FocalLoss()(x, Tensor([[1], [2]])).asnumpy())
    np.testing.assert_allclose(result.asnumpy(), 1.97573, rtol=1e-3)


def test_an_identity_takes_the_arguments_of_the_layer_in_whose_place_it_stands() -> None:
    np.testing.assert_array_equal(nn.Identity(3, bias=True)(X).asnumpy(), X.asnumpy())
