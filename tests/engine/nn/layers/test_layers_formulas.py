"""Layers that MindSpore has no CPU kernel for, against their formulas in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from recorded import filled

from hookscope.engine import Tensor, grad, nn

Array = np.ndarray[Any, Any]


def normal(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("affine", [True, False])
def test_instance_norm_normalizes_each_channel_of_each_sample(axes: int, affine: bool) -> None:
    x = normal(2, 3, *(4, 3, 5)[:axes])
    layer = getattr(nn, f"InstanceNorm{axes}d")(3, eps=1e-3, affine=affine)
    if affine:
        filled(layer)
    wide, indices = x.astype(np.float64), tuple(range(2, 2 + axes))
    want = wide - wide.mean(indices, keepdims=True)
    want /= np.sqrt(wide.var(indices, keepdims=True) + 1e-3)
    if affine:
        scale, shift = (p.asnumpy().reshape(3, *[1] * axes) for p in (layer.gamma, layer.beta))
        want = want * scale + shift
    np.testing.assert_allclose(layer(Tensor(x)).asnumpy(), want, rtol=2e-5, atol=2e-5)
    # The output does not change when a number is added to a channel: the gradient of its elements adds up to 0.
    weights = Tensor(normal(*x.shape, seed=1))
    result = grad(lambda x: (layer(x) * weights).sum())(Tensor(x)).asnumpy()
    assert abs(result).max() > 0.1
    np.testing.assert_allclose(result.sum(indices), 0, atol=1e-4)


def similarity(a: Array, b: Array, size: int, sigma: float, most: float, k1: float, k2: float) -> tuple[Array, Array]:
    """Return each channel's similarity, and contrast and structure, by Gaussian windows inside (Wang et al. 2004)."""
    line = np.exp(-((np.arange(size) - (size - 1) // 2) ** 2) / (2 * sigma**2))  # MindSpore's middle of an even one
    window = np.outer(line, line) / line.sum() ** 2

    def over(x: Array) -> Array:
        parts = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (size, size), (2, 3))
        return np.einsum("nchwij,ij->nchw", parts, window)

    first, second = over(a), over(b)
    spread_a, spread_b = over(a.astype(np.float64) ** 2) - first**2, over(b.astype(np.float64) ** 2) - second**2
    both = over(a.astype(np.float64) * b) - first * second
    c1, c2 = (k1 * most) ** 2, (k2 * most) ** 2
    light = (2 * first * second + c1) / (first**2 + second**2 + c1)
    contrast = (2 * both + c2) / (spread_a + spread_b + c2)
    return (light * contrast).mean((2, 3)), contrast.mean((2, 3))


@pytest.mark.parametrize(("size", "sigma", "most"), [(11, 1.5, 1.0), (5, 0.8, 255.0), (4, 1.0, 2.0)])
def test_ssim_is_the_formula_of_its_paper(size: int, sigma: float, most: float) -> None:
    a, b = (abs(normal(2, 3, 14, 16, seed=s)) * most / 4 for s in (0, 1))
    result = nn.SSIM(max_val=most, filter_size=size, filter_sigma=sigma)(Tensor(a), Tensor(b)).asnumpy()
    want = similarity(a, b, size, sigma, most, 0.01, 0.03)[0].mean(1)
    np.testing.assert_allclose(result, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(nn.SSIM(most)(Tensor(a), Tensor(a)).asnumpy(), [1, 1], rtol=1e-5)


def halved(x: Array) -> Array:
    """Return the mean of each 2 x 2 pixels; a last row or column that has no partner is left out."""
    n, c, h, w = x.shape
    return x[:, :, : h // 2 * 2, : w // 2 * 2].reshape(n, c, h // 2, 2, w // 2, 2).mean((3, 5))


@pytest.mark.parametrize(
    ("size", "powers", "most"), [(5, (0.3, 0.2, 0.5), 1.0), (3, (0.6, 0.4), 4.0), (4, (1.0,), 1.0)]
)
def test_msssim_is_the_product_over_scales_of_its_paper(size: int, powers: tuple[float, ...], most: float) -> None:
    a = abs(normal(2, 3, 23, 26)) * most / 4
    b = abs(a + normal(2, 3, 23, 26, seed=1) * most / 20)
    want, first, second = np.ones((2, 3)), a.astype(np.float64), b.astype(np.float64)
    for level, power in enumerate(powers):
        full, contrast = similarity(first, second, size, 1.2, most, 0.02, 0.05)
        want *= (full if level == len(powers) - 1 else contrast) ** power
        first, second = halved(first), halved(second)
    layer = nn.MSSSIM(most, powers, size, 1.2, 0.02, 0.05)
    np.testing.assert_allclose(layer(Tensor(a), Tensor(b)).asnumpy(), want.mean(1), rtol=1e-4)
    np.testing.assert_allclose(layer(Tensor(a), Tensor(a)).asnumpy(), [1, 1], rtol=1e-5)
    assert not layer.trainable_params()


def test_a_scale_whose_contrast_is_inverted_counts_as_0() -> None:
    a = normal(1, 1, 16, 16)
    assert nn.MSSSIM(power_factors=(0.5, 0.5), filter_size=5)(Tensor(a), Tensor(-a)).tolist() == [0.0]


@pytest.mark.parametrize("dtype", [np.uint8, np.int16])
def test_images_of_integers_are_compared_as_fractions_of_the_largest(dtype: Any) -> None:
    most = np.iinfo(dtype).max
    a, b = ((abs(normal(2, 1, 12, 12, seed=s)) * most / 5).astype(dtype) for s in (0, 1))
    tensors, exact = (Tensor(a), Tensor(b)), (a.astype(np.float64), b.astype(np.float64))
    want = 20 * np.log10(most / np.sqrt(((exact[0] - exact[1]) ** 2).mean((1, 2, 3))))
    np.testing.assert_allclose(nn.PSNR(most)(*tensors).asnumpy(), want, rtol=1e-5)
    want = np.maximum(similarity(*exact, 5, 1.5, most, 0.01, 0.03)[0].mean(1), 0)
    np.testing.assert_allclose(nn.MSSSIM(most, (1.0,), 5)(*tensors).asnumpy(), want, rtol=1e-3, atol=1e-5)
    with pytest.raises(TypeError, match=f"For 'SSIM', the images must hold floating-point.* {tensors[0].dtype}"):
        nn.SSIM(most)(*tensors)
    with pytest.raises(TypeError, match="For 'PSNR', the images must have one dtype"):
        nn.PSNR(most)(tensors[0], Tensor(exact[1]))


def test_psnr_is_the_formula() -> None:
    a, b = normal(2, 1, 3, 4), normal(2, 1, 3, 4, seed=1)
    want = [10 * math.log10(4 / ((p.astype(np.float64) - q) ** 2).mean()) for p, q in zip(a, b, strict=True)]
    np.testing.assert_allclose(nn.PSNR(2.0)(Tensor(a), Tensor(b)).asnumpy(), want, rtol=1e-5)


def test_an_embedding_lookup_scales_long_rows_down() -> None:
    layer = filled(nn.EmbeddingLookup(4, 3, max_norm=0.65))
    table = layer.embedding_table.asnumpy()
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    assert (lengths > 0.65).sum() == 3
    want = np.where(lengths > 0.65, table / lengths * 0.65, table)
    rows = np.array([[0, 2], [3, 1]], np.int32)
    np.testing.assert_allclose(layer(Tensor(rows)).asnumpy(), want[rows], rtol=1e-5)


@pytest.mark.parametrize(("how", "joined"), [("SUM", np.sum), ("MAX", np.max), ("MEAN", np.mean)])
def test_fields_are_looked_up_weighted_and_joined(how: str, joined: Any) -> None:
    layer = filled(nn.MultiFieldEmbeddingLookup(10, 2, field_size=2, operator=how, target="DEVICE"))
    rows, fields = [2, 4, 6, 1], [0, 1, 1, 0]
    weights = np.array([1.0, 0.5, 2.0, 3.0], np.float32)
    result = layer(*(Tensor(np.array([x])) for x in (np.int32(rows), weights, np.int32(fields)))).asnumpy()
    table = layer.embedding_table.asnumpy()
    scaled = table[rows] * weights[:, None]
    want = [joined(scaled[[i for i, f in enumerate(fields) if f == field]], axis=0) for field in (0, 1)]
    np.testing.assert_allclose(result[0], want, rtol=1e-5)
