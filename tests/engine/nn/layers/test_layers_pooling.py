"""Pooling and padding layers against numbers recorded from MindSpore 2.10."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from recorded import check, gradients, wave

from hookscope.engine import Tensor, grad, nn, ops, set_seed


def samples(axes: int, count: int = 2) -> Tensor:
    """Return different positions of windows for each sample, channel and axis."""
    return Tensor(((0.61 * np.arange(1, 2 * count * axes + 1)) % 1).astype(np.float32).reshape(count, 2, axes))


def fractional(kind: Any, lengths: tuple[int, ...], kernel: Any, keywords: dict[str, Any]) -> Any:
    """Return the largest elements and their indices for two samples with two channels."""
    return kind(kernel, return_indices=True, _random_samples=samples(len(lengths)), **keywords)(wave(2, 2, *lengths))


CASES: dict[str, Callable[[], Any]] = {
    "MaxPool1d": lambda: nn.MaxPool1d(3, 2)(wave(2, 3, 9)),
    "MaxPool1d same": lambda: nn.MaxPool1d(3, 2, pad_mode="same")(wave(2, 3, 8)),
    "MaxPool1d indices": lambda: nn.MaxPool1d(3, 2, pad_mode="pad", padding=1, return_indices=True)(wave(2, 3, 9)),
    "AvgPool1d": lambda: nn.AvgPool1d(3, 2)(wave(2, 3, 9)),
    "AvgPool1d pad": lambda: nn.AvgPool1d(3, 2, pad_mode="pad", padding=1, count_include_pad=False)(wave(2, 3, 9)),
    "AvgPool1d same": lambda: nn.AvgPool1d(3, 2, pad_mode="same")(wave(2, 3, 8)),
    "MaxPool3d": lambda: nn.MaxPool3d(2, 2)(wave(1, 2, 4, 5, 4)),
    "MaxPool3d pad": lambda: nn.MaxPool3d(3, 2, pad_mode="pad", padding=1)(wave(1, 2, 4, 5, 4)),
    "MaxPool3d indices": lambda: nn.MaxPool3d(2, 2, pad_mode="pad", return_indices=True)(wave(1, 2, 4, 5, 4)),
    "AvgPool3d": lambda: nn.AvgPool3d(2, 2)(wave(1, 2, 4, 5, 4)),
    "AvgPool3d pad": lambda: nn.AvgPool3d(3, 2, pad_mode="pad", padding=1)(wave(1, 2, 4, 5, 4)),
    "AvgPool3d divisor": lambda: nn.AvgPool3d(2, 1, divisor_override=3)(wave(1, 2, 3, 3, 3)),
    "AdaptiveAvgPool1d": lambda: nn.AdaptiveAvgPool1d(3)(wave(2, 3, 7) if 0 else wave(2, 3, 9)),
    "AdaptiveAvgPool3d": lambda: nn.AdaptiveAvgPool3d((2, None, 3))(wave(1, 2, 4, 5, 4)),
    "AdaptiveMaxPool1d": lambda: nn.AdaptiveMaxPool1d(3)(wave(2, 3, 9)),
    "AdaptiveMaxPool3d": lambda: nn.AdaptiveMaxPool3d((2, 3, 2), True)(wave(1, 2, 4, 5, 4)),
    "LPPool1d": lambda: nn.LPPool1d(2.0, 3, 2)(wave(2, 3, 9)),
    "LPPool2d": lambda: nn.LPPool2d(3.0, (2, 3), 1)(ops.abs(wave(1, 2, 5, 6))),
    "MaxUnpool1d": lambda: nn.MaxUnpool1d(2, 2)(
        *nn.MaxPool1d(2, 2, pad_mode="pad", return_indices=True)(wave(2, 3, 8))
    ),
    "MaxUnpool3d": lambda: nn.MaxUnpool3d(2, 2)(
        *nn.MaxPool3d(2, 2, pad_mode="pad", return_indices=True)(wave(1, 2, 4, 4, 4))
    ),
    "MaxPool2d grad": lambda: gradients(nn.MaxPool2d(3, 2, "same"), wave(1, 2, 5, 6)),
    "AvgPool3d grad": lambda: gradients(nn.AvgPool3d(2, 1), wave(1, 2, 3, 3, 3)),
    "MaxPool1d grad": lambda: gradients(nn.MaxPool1d(3, 2), wave(2, 3, 9)),
    "ReflectionPad1d": lambda: nn.ReflectionPad1d((2, 1))(wave(1, 2, 4)),
    "ReflectionPad3d": lambda: nn.ReflectionPad3d((1, 1, 0, 1, 1, 0))(wave(1, 1, 3, 3, 3)),
    "ReplicationPad1d": lambda: nn.ReplicationPad1d(2)(wave(1, 2, 4)),
    "ReplicationPad3d": lambda: nn.ReplicationPad3d(1)(wave(1, 1, 2, 3, 2)),
    "ZeroPad2d": lambda: nn.ZeroPad2d((1, 0, 2, 1))(wave(1, 1, 3, 3)),
    "ZeroPad2d negative": lambda: nn.ZeroPad2d((-1, 0, 2, -1))(wave(1, 1, 3, 3)),
    "ConstantPad2d": lambda: nn.ConstantPad2d((1, 1, 0, 2), 0.5)(wave(1, 1, 3, 3)),
    "ConstantPad3d": lambda: nn.ConstantPad3d((1, 1, 0, 1, 1, 0), 0.5)(wave(1, 1, 2, 3, 3)),
    **{
        f"FractionalMaxPool2d {kernel} {keywords}": partial(
            fractional, nn.FractionalMaxPool2d, (7, 8), kernel, keywords
        )
        for kernel in (2, (3, 2))
        for keywords in ({"output_size": (3, 4)}, {"output_size": 3}, {"output_ratio": 0.6})
    },
    **{
        f"FractionalMaxPool3d {kernel} {keywords}": partial(
            fractional, nn.FractionalMaxPool3d, (5, 6, 7), kernel, keywords
        )
        for kernel in (2, (1, 3, 2))
        for keywords in ({"output_size": (2, 3, 4)}, {"output_ratio": (0.5, 0.4, 0.6)})
    },
    "FractionalMaxPool2d of one sample": lambda: nn.FractionalMaxPool2d(2, 3, _random_samples=samples(2, 1))(
        wave(2, 7, 8)
    ),
    "FractionalMaxPool3d grad": lambda: gradients(
        nn.FractionalMaxPool3d(2, 3, _random_samples=samples(3)), wave(2, 2, 5, 6, 7)
    ),
    "Pad reflect": lambda: nn.Pad(((0, 0), (1, 2)), "REFLECT")(wave(2, 4)),
}
REFUSED: list[tuple[str, Any, type[Exception], str]] = [
    ("MaxPool1d bad kernel", lambda: nn.MaxPool1d(0), ValueError, "'kernel_size'"),
    ("MaxPool1d bad mode", lambda: nn.MaxPool1d(2, 2, "full"), ValueError, "'pad_mode'"),
    ("MaxPool2d bad kernel type", lambda: nn.MaxPool2d("a"), TypeError, "'kernel_size'"),
    ("MaxPool2d bad rank", lambda: nn.MaxPool2d(2)(wave(4)), ValueError, "4 axes"),
    ("AvgPool2d bad padding", lambda: nn.AvgPool2d(3, 1, pad_mode="valid", padding=1), ValueError, "'padding'"),
    ("AvgPool3d bad divisor", lambda: nn.AvgPool3d(2, 1, divisor_override=0), ValueError, "'divisor_override'"),
    ("MaxPool3d bad stride", lambda: nn.MaxPool3d(2, 0), ValueError, "'stride'"),
    ("adaptive three", lambda: ops.adaptive_avg_pool2d(wave(1, 1, 4, 4), (2, 2, 2)), TypeError, "a tuple of 2 ints"),
    ("adaptive bool", lambda: ops.adaptive_avg_pool2d(wave(1, 1, 4, 4), (2, True)), TypeError, "a tuple of 2 ints"),
    ("adaptive halves", lambda: ops.adaptive_max_pool2d(wave(1, 1, 4, 4), (2, 1.5)), TypeError, "a tuple of 2 ints"),
    ("AdaptiveAvgPool1d bad", lambda: nn.AdaptiveAvgPool1d(0)(wave(1, 2, 6)), ValueError, "'output_size'"),
    ("LPPool1d bad", lambda: nn.LPPool1d("a", 3)(wave(2, 3, 9)), TypeError, "'norm_type'"),
    ("FractionalMaxPool2d no size", lambda: nn.FractionalMaxPool2d(2)(wave(1, 1, 7, 8)), ValueError, "must be given"),
    ("FractionalMaxPool2d too large", lambda: nn.FractionalMaxPool2d(5, 6)(wave(1, 1, 7, 8)), ValueError, "do not fit"),
    (
        "FractionalMaxPool2d bad samples",
        lambda: nn.FractionalMaxPool2d(2, 3, _random_samples=samples(3))(wave(2, 2, 7, 8)),
        ValueError,
        r"'_random_samples' must have the shape \(2, 2, 2\), but got \(2, 2, 3\)",
    ),
    (
        "FractionalMaxPool3d bad samples",
        lambda: nn.FractionalMaxPool3d(2, 3, _random_samples=samples(3) + 1)(wave(2, 2, 5, 6, 7)),
        ValueError,
        r"'_random_samples' must be floating-point numbers in \[0, 1\)",
    ),
    ("Pad bad mode", lambda: nn.Pad(((0, 0), (1, 2)), "WRAP"), ValueError, "'mode'"),
    ("ReflectionPad1d bad", lambda: nn.ReflectionPad1d((5, 1))(wave(1, 2, 4)), ValueError, "'padding'"),
    ("ReflectionPad2d bad len", lambda: nn.ReflectionPad2d((1, 2, 3)), ValueError, "'padding'"),
    ("ReflectionPad2d bad type", lambda: nn.ReflectionPad2d(1.5), TypeError, "'padding'"),
    ("ReflectionPad2d negative", lambda: nn.ReflectionPad2d((-1, 1, 1, 1)), ValueError, "'padding'"),
    ("ConstantPad2d bad", lambda: nn.ConstantPad2d("a", 0), TypeError, "'padding'"),
]


@pytest.mark.parametrize("name", CASES)
def test_a_layer_gives_the_numbers_of_mindspore(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize(("make", "error", "names"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_a_layer_names_what_is_wrong_with_its_argument(make: Any, error: type[Exception], names: str) -> None:
    with pytest.raises(error, match=names):
        make()


def test_the_gradient_of_fractional_pooling_goes_to_the_largest_of_each_window() -> None:
    x, layer = wave(2, 2, 7, 8), nn.FractionalMaxPool2d(3, 4, return_indices=True, _random_samples=samples(2))
    values, indices = layer(x)
    weights = wave(*values.shape, k=0.4)
    want = np.zeros((4, 56))
    for plane, own, weight in zip(
        want, indices.asnumpy().reshape(4, -1), weights.asnumpy().reshape(4, -1), strict=True
    ):
        np.add.at(plane, own, weight)
    assert any(len(set(own)) < 16 for own in indices.asnumpy().reshape(4, -1))  # windows overlap
    result = grad(lambda t: (layer(t)[0] * weights).sum())(x).asnumpy()
    np.testing.assert_allclose(result.reshape(4, 56), want, rtol=1e-6, atol=1e-7)


def test_fractional_windows_are_drawn_for_each_sample_and_channel_and_the_seed_repeats_them() -> None:
    layer = nn.FractionalMaxPool3d(2, 4, return_indices=True)
    x = Tensor(np.tile(np.arange(729.0, dtype=np.float32).reshape(9, 9, 9), (3, 2, 1, 1, 1)))

    def drawn() -> list[tuple[int, ...]]:
        set_seed(4)
        return [tuple(plane) for plane in layer(x)[1].asnumpy().reshape(6, -1)]

    assert drawn() == drawn() and len(set(drawn())) > 1
