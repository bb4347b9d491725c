"""Convolutions, pooling, Fourier transforms and CTC: settings that do not fit are named; results by definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, float32, ops

X = Tensor(np.ones((1, 2, 4, 4), np.float32))
BACK = Tensor(np.ones((1, 3, 2, 2), np.float32))
WEIGHT = Tensor(np.ones((3, 2, 3, 3), np.float32))
LINE, KERNELS = Tensor(np.ones((1, 2, 6), np.float32)), Tensor(np.ones((3, 2, 3), np.float32))
IMAGE = Tensor(np.arange(16.0, dtype=np.float32).reshape(1, 1, 4, 4))
PAIR = Tensor(np.full((3, 2, 2), math.log(0.5), np.float32))
EVEN = Tensor(np.full((3, 1, 2), math.log(0.5), np.float32))


def ctc(targets: list[Any], lengths: list[int], log_probs: Tensor = EVEN, **how: Any) -> tuple[Tensor, Tensor]:
    steps = [log_probs.shape[0]] * log_probs.shape[1]
    return ops.ctc_loss(log_probs, Tensor(np.array(targets, np.int32)), Tensor(steps), Tensor(lengths), **how)


REFUSED: list[tuple[str, Callable[[], Any], type[Exception], str]] = [
    ("channels", lambda: ops.Conv2D(5, 3)(X, WEIGHT), RuntimeError, r"'out_channel' 5 and 'kernel_size' \(3, 3\)"),
    ("kernel", lambda: ops.Conv2D(3, 2)(X, WEIGHT), RuntimeError, r"'out_channel' 3 and 'kernel_size' \(2, 2\)"),
    ("mode", lambda: ops.Conv2D(3, 3, mode=0)(X, WEIGHT), ValueError, "'mode' must be 1, a cross-corr.*but got 0"),
    ("mode back", lambda: ops.Conv2DTranspose(2, 3, mode=0)(BACK, WEIGHT), ValueError, "'mode' must be 1"),
    ("size", lambda: ops.Conv2DTranspose(2, 3)(BACK, WEIGHT, (1, 2, 9, 9)), ValueError, r"'input_size' \(9, 9\)"),
    ("pad mode", lambda: ops.Conv2DTranspose(2, 3, pad_mode="full")(BACK, WEIGHT), ValueError, "'pad_mode' must be"),
    ("pad unused", lambda: ops.Conv2DTranspose(2, 3, pad=1)(BACK, WEIGHT), ValueError, "'padding' must be 0"),
    ("sides", lambda: ops.conv1d(LINE, KERNELS, pad_mode="pad", padding=(1, 2, 3)), ValueError, "one or two ints"),
    (
        "ratio",
        lambda: ops.fractional_max_pool2d(IMAGE, 2, output_ratio=(1.5, 0.5)),
        ValueError,
        "'output_ratio' must be a float or 2 floats between 0 and 1",
    ),
    ("shift", lambda: ops.fftshift(IMAGE, 5), ValueError, r"For 'fftshift', 'axis' must be in \[-4, 4\), but got 5"),
    ("frequencies of none", lambda: ops.fftfreq(0), ValueError, "'n' must be at least 1, but got 0"),
    ("frequencies at once", lambda: ops.rfftfreq(4, 0.0), ValueError, "'d' must not be 0"),
    ("lengths", lambda: ops.fftn(IMAGE, s=(1, 1, 1, 1, 1)), ValueError, "'s' and 'dim' must have one length"),
    ("no label", lambda: ctc([[5]], [1]), ValueError, r"'targets' must be classes in \[0, 2\), but got \[5\]"),
    ("blank behind", lambda: ctc([[1]], [1], blank=2), ValueError, "'blank' 2 must be a class of 'log_probs'"),
    ("blank before", lambda: ctc([[1]], [1], blank=-1), ValueError, "'blank' -1 must be a class of 'log_probs'"),
    ("no samples", lambda: ctc([[1]], [1], EVEN[0]), ValueError, r"of 'log_probs' of shape \(1, 2\)"),
    ("too few in all", lambda: ctc([1, 1], [1, 2], PAIR), ValueError, r"'target_lengths' \[1 2\] do not fit 'targets'"),
    ("one less than none", lambda: ctc([1], [2, -1], PAIR), ValueError, r"'target_lengths' \[ 2 -1\] do not fit"),
    ("a kernel of 4 axes", lambda: ops.conv1d(LINE, WEIGHT), ValueError, r"must have 3 axes, but got .*\(3, 2, 3, 3\)"),
    ("an image of lines", lambda: ops.conv1d(X, KERNELS), ValueError, r"must have 3 axes, but got .*\(1, 2, 4, 4\)"),
    ("too few labels", lambda: ctc([[1]], [2]), ValueError, r"'target_lengths' \[2\] do not fit 'targets'"),
    ("less than none", lambda: ctc([[1]], [-1]), ValueError, r"'target_lengths' \[-1\] do not fit"),
]


@pytest.mark.parametrize(("make", "error", "text"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_a_setting_that_does_not_fit_is_named(make: Callable[[], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


def test_conv1d_takes_different_padding_before_and_behind() -> None:
    rng = np.random.default_rng(3)
    x, weight = rng.standard_normal((1, 2, 6)), rng.standard_normal((3, 2, 3))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2)))
    want = np.stack([np.einsum("ncl,kcl->nk", padded[:, :, i : i + 3], weight) for i in range(7)], axis=-1)
    result = ops.conv1d(Tensor(x), Tensor(weight), pad_mode="pad", padding=(1, 2))
    np.testing.assert_allclose(result.asnumpy(), want, rtol=1e-12)


def test_ctc_by_the_sum_over_all_paths() -> None:
    rng = np.random.default_rng(4)
    scores = rng.standard_normal((4, 1, 3))
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(3), repeat=4):
        merged = [c for c, before in zip(path, (None, *path), strict=False) if c != before]
        if [c for c in merged if c != 0] == [2, 1]:
            total += math.prod(probabilities[t, 0, c] for t, c in enumerate(path))
    loss, _ = ctc([[2, 1, -7]], [2], Tensor(np.log(probabilities)), reduction="none")
    np.testing.assert_allclose(loss.asnumpy(), [-math.log(total)], rtol=1e-12)


def test_what_cannot_be_the_beginning_of_the_labels_has_the_probability_0() -> None:
    # Recorded from MindSpore 2.10.
    loss, paths = ctc([[1]], [1])
    want = [
        [-0.6931472, -0.6931472, -np.inf],
        [-1.3862944, -0.6931472, -1.3862944],
        [-2.0794415, -0.9808292, -0.9808292],
    ]
    np.testing.assert_allclose(float(loss), 0.287682, rtol=1e-5)
    np.testing.assert_allclose(paths.asnumpy(), [want], rtol=1e-6)
    assert paths.dtype is float32


def test_the_ones_of_two_axes_are_those_of_several() -> None:
    x = np.random.default_rng(5).standard_normal((3, 4, 5))
    np.testing.assert_allclose(ops.fft2(Tensor(x)).asnumpy(), np.fft.fft2(x), rtol=1e-9, atol=1e-12)
    result = ops.rfft2(Tensor(x), (2, 6), (0, 1))
    np.testing.assert_allclose(result.asnumpy(), np.fft.rfft2(x, (2, 6), (0, 1)), atol=1e-12)
    assert "dim: the two axes" in (ops.irfft2.__doc__ or "")
