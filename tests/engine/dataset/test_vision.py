"""Transforms of images against what MindSpore 2.10 made of the same pixels, and random ones by what they draw.

Recorded by ``PYTHONPATH=tests/engine/dataset python tests/engine/recorded.py tests/engine/dataset/test_vision.py``.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from recorded import FOLDER, arrays, check

from hookscope.engine import dataset as ds

vision, transforms = ds.vision, ds.transforms
Inter, Border, Mode = vision.Inter, vision.Border, vision.ConvertMode


def pixels(height: int = 5, width: int = 6, channels: int = 3, more: int = 0) -> Any:
    """Return bytes that look like noise, the same in every run."""
    count = np.arange(height * width * channels)
    return ((count * 37 + 11 + more) ** 2 // 7 % 256).astype(np.uint8).reshape(height, width, channels)


U, A, G = pixels(), pixels(channels=4), pixels(channels=1)[:, :, 0]
F = U.astype(np.float32)
F01 = (F / 255).astype(np.float32)
HSV = F01
LARGE = pixels(32, 32)
B = np.array([[1, 1, 3, 2], [0, 2, 2, 3]], np.float32)


def boxes() -> Any:
    return B.copy()  # MindSpore writes into its input


def picture() -> Any:
    return Image.fromarray(U)


CASES: dict[str, Callable[[], Any]] = {
    "AdjustBrightness(1.7)(U)": lambda: vision.AdjustBrightness(1.7)(U),
    "AdjustBrightness(0.0)(U)": lambda: vision.AdjustBrightness(0.0)(U),
    "AdjustBrightness(0.5)(F)": lambda: vision.AdjustBrightness(0.5)(F),
    "AdjustBrightness(1.5)(G)": lambda: vision.AdjustBrightness(1.5)(G),
    "AdjustContrast(1.7)(U)": lambda: vision.AdjustContrast(1.7)(U),
    "AdjustContrast(0.3)(U)": lambda: vision.AdjustContrast(0.3)(U),
    "AdjustContrast(0.0)(U)": lambda: vision.AdjustContrast(0.0)(U),
    "AdjustContrast(0.3)(F)": lambda: vision.AdjustContrast(0.3)(F),
    "AdjustGamma(0.7)(U)": lambda: vision.AdjustGamma(0.7)(U),
    "AdjustGamma(2.0, 1.3)(U)": lambda: vision.AdjustGamma(2.0, 1.3)(U),
    "AdjustGamma(0.7)(F)": lambda: vision.AdjustGamma(0.7)(F),
    "AdjustGamma(0.7)(G)": lambda: vision.AdjustGamma(0.7)(G),
    "AdjustHue(0.3)(U)": lambda: vision.AdjustHue(0.3)(U),
    "AdjustHue(-0.2)(U)": lambda: vision.AdjustHue(-0.2)(U),
    "AdjustHue(0.0)(U)": lambda: vision.AdjustHue(0.0)(U),
    "AdjustSaturation(1.8)(U)": lambda: vision.AdjustSaturation(1.8)(U),
    "AdjustSaturation(0.0)(U)": lambda: vision.AdjustSaturation(0.0)(U),
    "AdjustSaturation(0.4)(U)": lambda: vision.AdjustSaturation(0.4)(U),
    "AdjustSaturation(0.4)(F)": lambda: vision.AdjustSaturation(0.4)(F),
    "AdjustSharpness(0.0)(U)": lambda: vision.AdjustSharpness(0.0)(U),
    "AdjustSharpness(2.5)(U)": lambda: vision.AdjustSharpness(2.5)(U),
    "AdjustSharpness(0.4)(F)": lambda: vision.AdjustSharpness(0.4)(F),
    "AdjustSharpness(0.4)(G)": lambda: vision.AdjustSharpness(0.4)(G),
    "AdjustSharpness(2.0)(np.zeros((2,2,3),np.uint8)+3)": lambda: vision.AdjustSharpness(2.0)(
        np.zeros((2, 2, 3), np.uint8) + 3
    ),
    "AutoContrast()(U)": lambda: vision.AutoContrast()(U),
    "AutoContrast(10.0, [10, 20])(U)": lambda: vision.AutoContrast(10.0, [10, 20])(U),
    "AutoContrast(5.0, 7)(U)": lambda: vision.AutoContrast(5.0, 7)(U),
    "AutoContrast()(G)": lambda: vision.AutoContrast()(G),
    "AutoContrast()(np.full((3,3,3),9,np.uint8))": lambda: vision.AutoContrast()(np.full((3, 3, 3), 9, np.uint8)),
    "ConvertColor(Mode.COLOR_BGR2BGRA)(U)": lambda: vision.ConvertColor(Mode.COLOR_BGR2BGRA)(U),
    "ConvertColor(Mode.COLOR_RGB2BGR)(U)": lambda: vision.ConvertColor(Mode.COLOR_RGB2BGR)(U),
    "ConvertColor(Mode.COLOR_RGB2GRAY)(U)": lambda: vision.ConvertColor(Mode.COLOR_RGB2GRAY)(U),
    "ConvertColor(Mode.COLOR_BGR2GRAY)(U)": lambda: vision.ConvertColor(Mode.COLOR_BGR2GRAY)(U),
    "ConvertColor(Mode.COLOR_RGB2BGRA)(U)": lambda: vision.ConvertColor(Mode.COLOR_RGB2BGRA)(U),
    "ConvertColor(Mode.COLOR_RGBA2BGR)(A)": lambda: vision.ConvertColor(Mode.COLOR_RGBA2BGR)(A),
    "ConvertColor(Mode.COLOR_RGBA2RGB)(A)": lambda: vision.ConvertColor(Mode.COLOR_RGBA2RGB)(A),
    "ConvertColor(Mode.COLOR_RGBA2BGRA)(A)": lambda: vision.ConvertColor(Mode.COLOR_RGBA2BGRA)(A),
    "ConvertColor(Mode.COLOR_RGBA2GRAY)(A)": lambda: vision.ConvertColor(Mode.COLOR_RGBA2GRAY)(A),
    "ConvertColor(Mode.COLOR_BGRA2GRAY)(A)": lambda: vision.ConvertColor(Mode.COLOR_BGRA2GRAY)(A),
    "ConvertColor(Mode.COLOR_GRAY2RGB)(G)": lambda: vision.ConvertColor(Mode.COLOR_GRAY2RGB)(G),
    "ConvertColor(Mode.COLOR_GRAY2RGBA)(G)": lambda: vision.ConvertColor(Mode.COLOR_GRAY2RGBA)(G),
    "ConvertColor(Mode.COLOR_GRAY2RGB)(G[:, :, None])": lambda: vision.ConvertColor(Mode.COLOR_GRAY2RGB)(G[:, :, None]),
    "ConvertColor(Mode.COLOR_RGB2GRAY)(F)": lambda: vision.ConvertColor(Mode.COLOR_RGB2GRAY)(F),
    "ConvertColor(Mode.COLOR_RGBA2RGB)(U)": lambda: vision.ConvertColor(Mode.COLOR_RGBA2RGB)(U),
    "Equalize()(U)": lambda: vision.Equalize()(U),
    "Equalize()(G)": lambda: vision.Equalize()(G),
    "Equalize()(np.full((3,3,3),9,np.uint8))": lambda: vision.Equalize()(np.full((3, 3, 3), 9, np.uint8)),
    "Erase(1, 1, 2, 3)(U)": lambda: vision.Erase(1, 1, 2, 3)(U),
    "Erase(1, 1, 2, 3, 7.0)(U)": lambda: vision.Erase(1, 1, 2, 3, 7.0)(U),
    "Erase(1, 1, 2, 3, (1, 2, 3))(U)": lambda: vision.Erase(1, 1, 2, 3, (1, 2, 3))(U),
    "Erase(1, 1, 2, 3)(F)": lambda: vision.Erase(1, 1, 2, 3)(F),
    "FiveCrop(2)(picture())": lambda: vision.FiveCrop(2)(picture()),
    "FiveCrop((2, 3))(picture())": lambda: vision.FiveCrop((2, 3))(picture()),
    "TenCrop(2)(picture())": lambda: vision.TenCrop(2)(picture()),
    "TenCrop((2, 3), True)(picture())": lambda: vision.TenCrop((2, 3), True)(picture()),
    "GaussianBlur(3)(U)": lambda: vision.GaussianBlur(3)(U),
    "GaussianBlur((3, 5), (0.7, 1.2))(U)": lambda: vision.GaussianBlur((3, 5), (0.7, 1.2))(U),
    "GaussianBlur(3, 2.0)(F)": lambda: vision.GaussianBlur(3, 2.0)(F),
    "GaussianBlur(5, 1.0)(G)": lambda: vision.GaussianBlur(5, 1.0)(G),
    "HsvToRgb(True)(HSV)": lambda: vision.HsvToRgb(True)(HSV),
    "HsvToRgb()(HSV.transpose(2, 0, 1))": lambda: vision.HsvToRgb()(HSV.transpose(2, 0, 1)),
    "RgbToHsv(True)(F01)": lambda: vision.RgbToHsv(True)(F01),
    "RgbToHsv()(F01.transpose(2, 0, 1))": lambda: vision.RgbToHsv()(F01.transpose(2, 0, 1)),
    "RgbToHsv(True)(U)": lambda: vision.RgbToHsv(True)(U),
    "RgbToHsv(True)(np.stack([F01, F01]))": lambda: vision.RgbToHsv(True)(np.stack([F01, F01])),
    "Invert()(U)": lambda: vision.Invert()(U),
    "Invert()(F)": lambda: vision.Invert()(F),
    "LinearTransformation(np.eye(12) * 2, np.arange(12.))(F01[:2, :2].transpose(2, 0, 1))": lambda: (
        vision.LinearTransformation(np.eye(12) * 2, np.arange(12.0))(F01[:2, :2].transpose(2, 0, 1))
    ),
    'NormalizePad([100., 110, 120.0], [2., 3, 4], "float32", False)(U.transpose(2, 0, 1))': lambda: vision.NormalizePad(
        [100.0, 110, 120.0], [2.0, 3, 4], "float32", False
    )(U.transpose(2, 0, 1)),
    "PadToSize(8)(U)": lambda: vision.PadToSize(8)(U),
    "PadToSize([8, 9], 1)(U)": lambda: vision.PadToSize([8, 9], 1)(U),
    "PadToSize([8, 9], [1, 2], (1, 2, 3))(U)": lambda: vision.PadToSize([8, 9], [1, 2], (1, 2, 3))(U),
    "PadToSize(8, None, 0, Border.EDGE)(U)": lambda: vision.PadToSize(8, None, 0, Border.EDGE)(U),
    "PadToSize(8, None, 0, Border.REFLECT)(U)": lambda: vision.PadToSize(8, None, 0, Border.REFLECT)(U),
    "PadToSize(8, None, 0, Border.SYMMETRIC)(U)": lambda: vision.PadToSize(8, None, 0, Border.SYMMETRIC)(U),
    "PadToSize(8)(G)": lambda: vision.PadToSize(8)(G),
    "Posterize(3)(U)": lambda: vision.Posterize(3)(U),
    "Posterize(8)(U)": lambda: vision.Posterize(8)(U),
    "Posterize(0)(U)": lambda: vision.Posterize(0)(U),
    "Posterize(3)(G)": lambda: vision.Posterize(3)(G),
    "Solarize(100)(U)": lambda: vision.Solarize(100)(U),
    "Solarize((50, 150))(U)": lambda: vision.Solarize((50, 150))(U),
    "Solarize(100)(F)": lambda: vision.Solarize(100)(F),
    "Solarize(100)(G)": lambda: vision.Solarize(100)(G),
    "SlicePatches(2, 2)(U)": lambda: vision.SlicePatches(2, 2)(U),
    "SlicePatches(2, 4, SliceMode.DROP)(U)": lambda: vision.SlicePatches(2, 4, vision.SliceMode.DROP)(U),
    "SlicePatches(2, 4, SliceMode.PAD, 9)(U)": lambda: vision.SlicePatches(2, 4, vision.SliceMode.PAD, 9)(U),
    "SlicePatches()(G)": lambda: vision.SlicePatches()(G),
    "Rotate(90)(U)": lambda: vision.Rotate(90)(U),
    "Rotate(30)(U)": lambda: vision.Rotate(30)(U),
    "Rotate(30, Inter.BILINEAR)(U)": lambda: vision.Rotate(30, Inter.BILINEAR)(U),
    "Rotate(-45, Inter.NEAREST, True)(U)": lambda: vision.Rotate(-45, Inter.NEAREST, True)(U),
    "Rotate(30, Inter.NEAREST, False, (0, 0), 9)(U)": lambda: vision.Rotate(30, Inter.NEAREST, False, (0, 0), 9)(U),
    "Rotate(180)(G)": lambda: vision.Rotate(180)(G),
    "Rotate(90)(U[:4, :4])": lambda: vision.Rotate(90)(U[:4, :4]),
    "Affine(0, [0.2, 0.4], 1.0, 0)(U)": lambda: vision.Affine(0, [0.2, 0.4], 1.0, 0)(U),
    "Affine(30, [0.0, 0.0], 1.0, 0)(U)": lambda: vision.Affine(30, [0.0, 0.0], 1.0, 0)(U),
    "Affine(30, [0.0, 0.2], 1.5, [10, 20], Inter.BILINEAR, (1, 2, 3))(U)": lambda: vision.Affine(
        30, [0.0, 0.2], 1.5, [10, 20], Inter.BILINEAR, (1, 2, 3)
    )(U),
    "Affine(15, [-0.2, 0.2], 0.8, 10, Inter.NEAREST, 7)(U)": lambda: vision.Affine(
        15, [-0.2, 0.2], 0.8, 10, Inter.NEAREST, 7
    )(U),
    "Perspective([[0, 0], [5, 0], [5, 4], [0, 4]], [[0, 0], [5, 0], [5, 4], [0, 4]])(U)": lambda: vision.Perspective(
        [[0, 0], [5, 0], [5, 4], [0, 4]], [[0, 0], [5, 0], [5, 4], [0, 4]]
    )(U),
    "Perspective([[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 1], [5, 0], [4, 4], [0, 3]])(U)": lambda: vision.Perspective(
        [[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 1], [5, 0], [4, 4], [0, 3]]
    )(U),
    "Perspective([[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 1], [5, 0], [4, 4], [0, 3]], Inter.NEAREST)(U)": lambda: (
        vision.Perspective([[0, 0], [5, 0], [5, 4], [0, 4]], [[1, 1], [5, 0], [4, 4], [0, 3]], Inter.NEAREST)(U)
    ),
    "Resize((7, 9), Inter.NEAREST)(U)": lambda: vision.Resize((7, 9), Inter.NEAREST)(U),
    "Resize((3, 4), Inter.LINEAR)(U)": lambda: vision.Resize((3, 4), Inter.LINEAR)(U),
    "Resize((3, 4), Inter.CUBIC)(U)": lambda: vision.Resize((3, 4), Inter.CUBIC)(U),
    "Resize((3, 4), Inter.AREA)(U)": lambda: vision.Resize((3, 4), Inter.AREA)(U),
    "Resize((7, 9), Inter.AREA)(U)": lambda: vision.Resize((7, 9), Inter.AREA)(U),
    "Resize((3, 4), Inter.PILCUBIC)(U)": lambda: vision.Resize((3, 4), Inter.PILCUBIC)(U),
    "Resize((7, 9), Inter.PILCUBIC)(U)": lambda: vision.Resize((7, 9), Inter.PILCUBIC)(U),
    "Resize((7, 9), Inter.CUBIC)(F)": lambda: vision.Resize((7, 9), Inter.CUBIC)(F),
    "Resize((3, 4), Inter.AREA)(F)": lambda: vision.Resize((3, 4), Inter.AREA)(F),
    "Resize(3, Inter.AREA)(G)": lambda: vision.Resize(3, Inter.AREA)(G),
    "ResizeWithBBox(10, Inter.NEAREST)(U, boxes())": lambda: vision.ResizeWithBBox(10, Inter.NEAREST)(U, boxes()),
    "RandomHorizontalFlipWithBBox(1.0)(U, boxes())": lambda: vision.RandomHorizontalFlipWithBBox(1.0)(U, boxes()),
    "RandomVerticalFlipWithBBox(1.0)(U, boxes())": lambda: vision.RandomVerticalFlipWithBBox(1.0)(U, boxes()),
    "RandomHorizontalFlipWithBBox(0.0)(U, boxes())": lambda: vision.RandomHorizontalFlipWithBBox(0.0)(U, boxes()),
    "RandomCropWithBBox((5, 6))(U, boxes())": lambda: vision.RandomCropWithBBox((5, 6))(U, boxes()),
    "RandomInvert(1.0)(U)": lambda: vision.RandomInvert(1.0)(U),
    "RandomEqualize(1.0)(U)": lambda: vision.RandomEqualize(1.0)(U),
    "RandomAutoContrast(prob=1.0)(U)": lambda: vision.RandomAutoContrast(prob=1.0)(U),
    "RandomAdjustSharpness(2.0, 1.0)(U)": lambda: vision.RandomAdjustSharpness(2.0, 1.0)(U),
    "RandomPosterize(3)(U)": lambda: vision.RandomPosterize(3)(U),
    "RandomPosterize((3, 3))(U)": lambda: vision.RandomPosterize((3, 3))(U),
    "RandomSolarize((100, 100))(U)": lambda: vision.RandomSolarize((100, 100))(U),
    "RandomColor((0.5, 0.5))(U)": lambda: vision.RandomColor((0.5, 0.5))(U),
    "RandomSharpness((0.5, 0.5))(U)": lambda: vision.RandomSharpness((0.5, 0.5))(U),
    "RandomColorAdjust((1.5, 1.5), (1, 1), (1, 1), (0, 0))(U)": lambda: vision.RandomColorAdjust(
        (1.5, 1.5), (1, 1), (1, 1), (0, 0)
    )(U),
    "RandomColorAdjust((1, 1), (1.5, 1.5), (1, 1), (0, 0))(U)": lambda: vision.RandomColorAdjust(
        (1, 1), (1.5, 1.5), (1, 1), (0, 0)
    )(U),
    "RandomColorAdjust((1, 1), (1, 1), (0.5, 0.5), (0, 0))(U)": lambda: vision.RandomColorAdjust(
        (1, 1), (1, 1), (0.5, 0.5), (0, 0)
    )(U),
    "RandomColorAdjust((1, 1), (1, 1), (1, 1), (0.2, 0.2))(U)": lambda: vision.RandomColorAdjust(
        (1, 1), (1, 1), (1, 1), (0.2, 0.2)
    )(U),
    "RandomLighting(0.0)(U)": lambda: vision.RandomLighting(0.0)(U),
    "RandomRotation((30, 30))(U)": lambda: vision.RandomRotation((30, 30))(U),
    "RandomRotation((30, 30), Inter.BILINEAR, True)(U)": lambda: vision.RandomRotation((30, 30), Inter.BILINEAR, True)(
        U
    ),
    "RandomAffine((30, 30), None, (1.5, 1.5))(U)": lambda: vision.RandomAffine((30, 30), None, (1.5, 1.5))(U),
    "RandomAffine((0, 0), (0.0, 0.0), (1.0, 1.0), (10, 10))(U)": lambda: vision.RandomAffine(
        (0, 0), (0.0, 0.0), (1.0, 1.0), (10, 10)
    )(U),
    "RandomErasing(0.0)(F01)": lambda: vision.RandomErasing(0.0)(F01),
    "RandomResize((3, 4))(U[:3, :4])": lambda: vision.RandomResize((3, 4))(U[:3, :4]),
    "ToNumpy()(picture())": lambda: vision.ToNumpy()(picture()),
    "ToTensor()(picture())": lambda: vision.ToTensor()(picture()),
    "RandomSelectSubpolicy([[(Invert(), 1.0), (HorizontalFlip(), 0.0)]])(U)": lambda: vision.RandomSelectSubpolicy(
        [[(vision.Invert(), 1.0), (vision.HorizontalFlip(), 0.0)]]
    )(U),
    "BoundingBoxAugment(Invert(), 1.0)(U, boxes())": lambda: vision.BoundingBoxAugment(vision.Invert(), 1.0)(
        U, boxes()
    ),
    "BoundingBoxAugment(Invert(), 0.0)(U, boxes())": lambda: vision.BoundingBoxAugment(vision.Invert(), 0.0)(
        U, boxes()
    ),
    "Resize((7, 32))(U)": lambda: vision.Resize((7, 32))(U),
    "Resize((7, 32), Inter.CUBIC)(U)": lambda: vision.Resize((7, 32), Inter.CUBIC)(U),
    "Resize((7, 32), Inter.AREA)(U)": lambda: vision.Resize((7, 32), Inter.AREA)(U),
    "ResizedCrop(1, 1, 3, 4, (5, 6), Inter.NEAREST)(U)": lambda: vision.ResizedCrop(1, 1, 3, 4, (5, 6), Inter.NEAREST)(
        U
    ),
    "ResizeWithBBox((7, 32))(U, boxes())": lambda: vision.ResizeWithBBox((7, 32))(U, boxes()),
    "Rotate(30, Inter.BILINEAR, True, None, 9)(U)": lambda: vision.Rotate(30, Inter.BILINEAR, True, None, 9)(U),
    "ResizedCrop(1, 1, 3, 4, (3, 32))(U)": lambda: vision.ResizedCrop(1, 1, 3, 4, (3, 32))(U),
    "AutoContrast()(LARGE)": lambda: vision.AutoContrast()(LARGE),
    "Equalize()(LARGE)": lambda: vision.Equalize()(LARGE),
    "AdjustHue(0.1)(LARGE)": lambda: vision.AdjustHue(0.1)(LARGE),
    "GaussianBlur(7, 1.5)(LARGE)": lambda: vision.GaussianBlur(7, 1.5)(LARGE),
    "AdjustSharpness(1.7)(LARGE)": lambda: vision.AdjustSharpness(1.7)(LARGE),
    "Rotate(37, Inter.BILINEAR)(LARGE)": lambda: vision.Rotate(37, Inter.BILINEAR)(LARGE),
    "Affine(20, [0.1, -0.1], 0.9, [5, 7], Inter.BILINEAR, 3)(LARGE)": lambda: vision.Affine(
        20, [0.1, -0.1], 0.9, [5, 7], Inter.BILINEAR, 3
    )(LARGE),
    "Perspective([[0, 0], [31, 0], [31, 31], [0, 31]], [[2, 1], [30, 3], [28, 29], [1, 30]])(LARGE)": lambda: (
        vision.Perspective([[0, 0], [31, 0], [31, 31], [0, 31]], [[2, 1], [30, 3], [28, 29], [1, 30]])(LARGE)
    ),
    "Resize((16, 64), Inter.BILINEAR)(LARGE)": lambda: vision.Resize((16, 64), Inter.BILINEAR)(LARGE),
    "Resize((16, 64), Inter.PILCUBIC)(LARGE)": lambda: vision.Resize((16, 64), Inter.PILCUBIC)(LARGE),
    "Resize((16, 16), Inter.AREA)(LARGE)": lambda: vision.Resize((16, 16), Inter.AREA)(LARGE),
    "AdjustContrast(1.3)(LARGE)": lambda: vision.AdjustContrast(1.3)(LARGE),
    "AdjustSaturation(1.3)(LARGE)": lambda: vision.AdjustSaturation(1.3)(LARGE),
    "Grayscale(3)(Image.fromarray(LARGE))": lambda: vision.Grayscale(3)(Image.fromarray(LARGE)),
    "AdjustGamma(1.4, 1.1)(LARGE)": lambda: vision.AdjustGamma(1.4, 1.1)(LARGE),
}


# OpenCV's rounding here depends on the processor's instructions, and on whether a row fills its registers.
ROUNDED = {
    "Resize((7, 32))(U)",
    "Resize((7, 32), Inter.CUBIC)(U)",
    "ResizeWithBBox((7, 32))(U, boxes())",
    "AdjustHue(0.1)(LARGE)",
    "AdjustSharpness(1.7)(LARGE)",
    "Resize((16, 64), Inter.PILCUBIC)(LARGE)",
    "AdjustContrast(1.3)(LARGE)",
    "AdjustSaturation(1.3)(LARGE)",
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in ROUNDED])
def test_images_become_what_mindspore_makes_of_them(name: str) -> None:
    check(__file__, name, CASES[name])


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_images_become_what_mindspore_makes_of_them_up_to_rounding(name: str) -> None:
    with np.load(FOLDER / "test_vision.npz") as archive:
        want = [archive[f"{name} {i}"] for i in range(int(archive[f"{name} count"]))]
    for first, second in zip(arrays(CASES[name]()), want, strict=True):
        assert first.dtype == second.dtype and first.shape == second.shape
        assert np.abs(first.astype(float) - second).max() <= 1


def test_colors_turn_without_bounds_on_the_color_circle() -> None:
    turned = vision.AdjustHue(0.2)(F01)
    hue = [vision.RgbToHsv(True)(variant) for variant in (F01, turned)]
    apart = (hue[1][..., 0] - hue[0][..., 0] - 0.2) % 1
    assert np.minimum(apart, 1 - apart).max() < 1e-5
    assert np.abs(hue[1][..., 1:] - hue[0][..., 1:]).max() < 1e-5


def test_what_mindspore_writes_to_the_wrong_channels_is_written_to_the_right_ones() -> None:
    padded = vision.NormalizePad([100.0, 110.0, 120.0], [2.0, 3.0, 4.0], "float16")(U)
    expected = np.pad((F - [100, 110, 120]) / [2, 3, 4], [(0, 0), (0, 0), (0, 1)])
    assert padded.dtype == np.float16 and np.abs(padded - expected).max() < 0.02
    assert vision.Rotate(45, fill_value=(9, 8, 7))(U)[0, 0].tolist() == [9, 8, 7]


def many(transform: Any, *values: Any, times: int = 300) -> list[Any]:
    """Return a transform's results for values, many times, from one stream of random numbers."""
    with ds.config.iteration(np.random.default_rng(3), 0):
        return [transform(*values) for _ in range(times)]


GRAY = np.full((8, 8, 3), 100, np.uint8)
SPOT = np.zeros((9, 9, 3), np.uint8)
SPOT[4, 4] = 200


@pytest.mark.parametrize(
    ("random", "plain", "share"),
    [
        (vision.RandomInvert(0.3), vision.Invert(), 0.3),
        (vision.RandomEqualize(0.7), vision.Equalize(), 0.7),
        (vision.RandomAutoContrast(prob=0.4), vision.AutoContrast(), 0.4),
        (vision.RandomAdjustSharpness(2.0, 0.6), vision.AdjustSharpness(2.0), 0.6),
        (vision.RandomGrayscale(0.2), vision.Grayscale(3), 0.2),
        (vision.RandomErasing(0.5, (0.02, 0.02), (1, 1), 1), None, 0.5),
        (vision.RandomPerspective(0.9, 0.35), None, 0.35),
    ],
)
def test_what_is_made_with_a_probability_is_made_as_often(random: Any, plain: Any, share: float) -> None:
    image = LARGE // 2 + 20  # not of all values, so that each transform changes it
    samples = many(random, image, times=600)
    unchanged = [np.array_equal(item, image) for item in samples]
    assert abs(1 - np.mean(unchanged) - share) < 0.08  # four standard deviations
    if plain is not None:
        assert all(
            np.array_equal(first, plain(image)) for first, second in zip(samples, unchanged, strict=True) if not second
        )


def test_a_random_brightness_is_drawn_evenly_from_its_range() -> None:
    factors = (
        np.array([sample[0, 0, 0] for sample in many(vision.RandomColorAdjust(brightness=(0.5, 1.5)), GRAY)]) / 100
    )
    assert 0.5 <= factors.min() < 0.55 and 1.45 < factors.max() <= 1.5 and abs(factors.mean() - 1) < 0.07
    around = np.array([sample[0, 0, 0] for sample in many(vision.RandomColorAdjust(brightness=0.2), GRAY)]) / 100
    assert 0.8 <= around.min() < 0.82 and 1.18 < around.max() <= 1.2


def test_random_saturation_sharpness_and_bits_are_those_of_their_range() -> None:
    colors = [vision.RandomColor((0.5, 0.5)), vision.AdjustSaturation(0.5)]
    assert np.array_equal(*(color(U) for color in colors))
    gray = many(vision.RandomColor((0.0, 1.0)), U)
    apart = np.array([item.astype(int).max(-1) - item.astype(int).min(-1) for item in gray])
    assert apart.max(0).max() > 0.9 * np.ptp(U.astype(int), axis=-1).max() and apart.mean() < np.ptp(U, axis=-1).mean()
    peaks = {int(sample[4, 4, 0]) for sample in many(vision.RandomSharpness((0.0, 1.0)), SPOT)}
    assert min(peaks) >= round(200 * 5 / 13) and max(peaks) <= 200 and len(peaks) > 50
    bits = many(vision.RandomPosterize((2, 4)), U)
    counts = [sum(np.array_equal(bit, vision.Posterize(n)(U)) for bit in bits) for n in (2, 3, 4)]
    assert sum(counts) == 300 and min(counts) > 70


def test_a_random_range_of_values_is_inverted() -> None:
    for sample in many(vision.RandomSolarize((50, 200)), U, times=50):
        changed = U[sample != U]
        low, high = changed.min(initial=255), changed.max(initial=0)
        between = (low <= U) & (high >= U)
        assert low >= 50 and np.array_equal(sample, np.where(between, 255 - U, U))


def test_random_light_has_the_spread_that_is_asked_for() -> None:
    assert np.array_equal(vision.RandomLighting(0.0)(U), U)
    shifts = (
        np.array([sample[0, 0] for sample in many(vision.RandomLighting(0.1), GRAY.astype(np.float32), times=2000)])
        - 100
    )
    # Each channel varies by the components of the colors of ImageNet (Krizhevsky et al., 2012), alpha as it is.
    spread = (
        0.1
        * 255
        * np.linalg.norm(
            np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
            * [0.2175, 0.0188, 0.0045],
            axis=1,
        )
    )
    assert np.allclose(shifts.std(0), spread, rtol=0.08) and np.abs(shifts.mean(0)).max() < 0.5


def test_a_random_angle_is_drawn_evenly() -> None:
    line = np.zeros((33, 33), np.uint8)
    line[16, 16:] = 255
    samples = many(vision.RandomRotation(90), line)
    angles = []
    for item in samples:
        rows, columns = np.nonzero(item)
        angles.append(np.rad2deg(np.arctan2(16 - rows.mean(), columns.mean() - 16)))
    assert -93 < min(angles) < -80 and 80 < max(angles) < 93 and abs(np.mean(angles)) < 12
    assert np.array_equal(vision.RandomRotation((30, 30))(U), vision.Rotate(30)(U))


def test_a_random_affine_map_moves_within_its_range() -> None:
    samples = many(vision.RandomAffine(0, (-0.3, 0.3, 0.0, 0.0)), np.pad(SPOT, [(6, 6), (6, 6), (0, 0)]))
    indices = np.array([np.argwhere(item[:, :, 0])[0] for item in samples]) - 10
    assert set(indices[:, 0]) == {0} and set(indices[:, 1]) == set(range(-6, 7))
    assert np.array_equal(vision.RandomAffine((30, 30), None, (1.5, 1.5))(U), vision.Affine(30, [0, 0], 1.5, 0)(U))


def test_random_parts_have_the_shape_and_share_that_are_asked_for() -> None:
    ramp = np.stack(np.meshgrid(np.arange(40), np.arange(60), indexing="ij"), -1).astype(np.float32)
    for element in many(vision.RandomResizedCrop(12, (0.25, 0.5), (0.5, 2.0)), ramp, times=100):
        steps = [element[5, 5, 0] - element[4, 5, 0], element[5, 5, 1] - element[5, 4, 1]]
        tall, wide = (round(float(step) * 12) for step in steps)
        assert 0.22 < tall * wide / 2400 < 0.53 and 0.45 < wide / tall < 2.2
    pair = vision.RandomResizedCrop(5)
    assert all(np.array_equal(first + 100, second) for first, second in many(pair, ramp, ramp + 100, times=20))
    erased = many(vision.RandomErasing(1.0, (0.1, 0.2), (1, 1), 7), np.ones((3, 20, 20)), times=100)
    shares = [np.mean(item == 7) for item in erased]
    assert min(shares) > 0.08 and max(shares) < 0.22 and np.ptp(shares) > 0.05
    noise = vision.RandomErasing(1.0, (0.3, 0.3), (1, 1), "random")(np.ones((3, 40, 40)))
    assert abs(noise[noise != 1].mean()) < 0.15 and abs(noise[noise != 1].std() - 1) < 0.1
    cut = many(vision.CutOut(4, 2), np.ones((16, 16, 3), np.uint8))
    holes = [int((item[:, :, 0] == 0).sum()) for item in cut]
    assert max(holes) == 32 and 4 <= min(holes) < 24
    assert vision.CutOut(4, 1, False)(np.ones((3, 16, 16), np.uint8)).shape == (3, 16, 16)
    ways = {sample.tobytes() for sample in many(vision.RandomResize((9, 11)), U)}
    modes = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC, Inter.AREA)
    assert ways == {vision.Resize((9, 11), way)(U).tobytes() for way in modes}


def test_batches_are_mixed_as_their_labels_say() -> None:
    images = np.stack([np.full((6, 8, 1), 50 * i, np.uint8) for i in range(4)])
    labels = np.eye(4, dtype=np.float32)
    value = np.array([0, 50, 100, 150])
    for mixed, shares in many(vision.MixUpBatch(0.5), images, labels, times=50):
        assert mixed.dtype == np.uint8 and np.allclose(shares.sum(1), 1)
        assert np.abs(mixed[:, 0, 0, 0] - shares @ value).max() <= 0.51
    cut = vision.CutMixBatch(vision.ImageBatchFormat.NHWC, 1.0)
    for mixed, shares in many(cut, images, labels, times=50):
        assert np.allclose(mixed.mean((1, 2, 3)), shares @ value, atol=1e-3)
        assert all(len(np.unique(item)) <= 2 for item in mixed)
    planes = vision.CutMixBatch(vision.ImageBatchFormat.NCHW, 1.0, 0.0)(images.transpose(0, 3, 1, 2), labels)
    assert np.array_equal(planes[0], images.transpose(0, 3, 1, 2)) and np.array_equal(planes[1], labels)
    for mixed, shares in many(vision.MixUp(4, 0.4), images.astype(float), labels, times=20):
        assert np.allclose(mixed[:, 0, 0, 0], shares @ value) and np.allclose(shares[0, [0, 1]].sum(), 1)
        assert len(np.unique(shares.diagonal())) == 4 and mixed.dtype == shares.dtype == np.float64
    before = vision.MixUp(4, 0.4, is_single=False)
    first, _ = before(images, labels)
    second, shares = before(images + 1, labels[::-1])
    assert np.allclose(first, images) and np.allclose(shares[0, 3] + shares[0, 0], 1)
    assert second[0, 0, 0, 0] == pytest.approx(shares[0, 3])
    for wrong in ((images,), (images[0], labels), (images, labels[:2])):
        with pytest.raises(RuntimeError, match="For 'MixUpBatch', there must be"):
            vision.MixUpBatch()(*wrong)
    with pytest.raises(ValueError, match="For 'MixUp', there must be 3 images in a batch, but got 4"):
        vision.MixUp(3, 0.4)(images, labels)
    mixed, shares = vision.MixUp(1, 0.4)(images, labels)
    assert np.allclose(mixed[:, 0, 0, 0], shares @ value) and len(np.unique(shares.diagonal())) == 1
    shapes = [item.shape for item in vision.MixUp(2, 0.4, False)(images[0], labels[:1])]
    assert shapes == [(2, 6, 8, 1), (2, 4)]


def test_boxes_go_with_their_part_of_the_image() -> None:
    image = np.zeros((20, 30, 3), np.uint8)
    image[5:9, 10:16] = 255
    box = np.array([[10, 5, 6, 4]], np.float32)

    def lit(result: Any) -> list[int]:
        rows, columns = np.nonzero(result[:, :, 0] > 127)
        return [columns.min(), rows.min(), np.ptp(columns) + 1, np.ptp(rows) + 1] if rows.size else [0, 0, 0, 0]

    for transform in (
        vision.RandomHorizontalFlipWithBBox(0.5),
        vision.RandomVerticalFlipWithBBox(0.5),
        vision.RandomCropWithBBox((12, 18)),
        vision.RandomCropWithBBox((30, 40), 3, True),
    ):
        samples = many(transform, image, box, times=40)
        assert len({item[0].tobytes() for item in samples}) > 1
        assert all(lit(item[0]) == item[1][0].tolist() for item in samples)
    for result, moved in many(vision.RandomResizedCropWithBBox((40, 60), (0.6, 1.0)), image, box, times=40):
        assert result.shape == (40, 60, 3) and np.abs(np.array(lit(result)) - moved[0]).max() <= 2.5
    for result, moved in many(vision.RandomResizeWithBBox((40, 60)), image, box, times=10):
        assert result.shape == (40, 60, 3) and moved.tolist() == [[20, 10, 12, 8]]
    assert box.tolist() == [[10, 5, 6, 4]]  # what came is not written into
    inverted, _ = vision.BoundingBoxAugment(vision.Invert(), 1.0)(image, box)
    assert not inverted.any()
    with pytest.raises(TypeError, match="'transform' must be a function"):
        vision.BoundingBoxAugment(3)


def test_policies_draw_from_their_lists() -> None:
    both = [[(vision.Invert(), 1.0), (vision.VerticalFlip(), 0.0)], [(vision.HorizontalFlip(), 1.0)]]
    samples = [sample.tobytes() for sample in many(vision.RandomSelectSubpolicy(both), U)]
    counts = [samples.count(variant.tobytes()) for variant in (255 - U, np.ascontiguousarray(U[:, ::-1]))]
    assert sum(counts) == 300 and min(counts) > 110
    uniform = many(vision.UniformAugment([vision.Invert(), vision.HorizontalFlip()], 1), U)
    counts = [[item.tobytes() for item in uniform].count(variant.tobytes()) for variant in (U, 255 - U)]
    assert 120 < counts[0] < 180 and 45 < counts[1] < 105
    for wrong, error in (
        (3, TypeError),
        ([], ValueError),
        ([[]], ValueError),
        ([[(vision.Invert(), 2.0)]], ValueError),
    ):
        with pytest.raises(error, match="'RandomSelectSubpolicy'"):
            vision.RandomSelectSubpolicy(wrong)
    with pytest.raises(ValueError, match="'num_ops' must not be above 1, but got 2"):
        vision.UniformAugment([vision.Invert()])


@pytest.mark.parametrize("kind", [vision.RandAugment, vision.TrivialAugmentWide, vision.AutoAugment])
def test_strong_augmentation_keeps_the_form_of_an_image_and_draws_many(kind: Any) -> None:
    samples = many(kind(), LARGE, times=100)
    assert {(item.shape, item.dtype.name) for item in samples} == {((32, 32, 3), "uint8")}
    assert len({item.tobytes() for item in samples}) > 12
    with pytest.raises(RuntimeError, match="must be of uint8"):
        kind()(F)


@pytest.mark.parametrize("policy", list(vision.AutoAugmentPolicy))
def test_a_published_policy_makes_its_pairs_as_often_as_they_are_probable(policy: Any) -> None:
    augment = vision.AutoAugment(policy)
    assert len(augment.pairs) == 25
    assert all(0 <= share <= 1 and 0 <= strength < 10 for pair in augment.pairs for _, share, strength in pair)
    small = pixels(20, 20) // 2 + 20
    changed = np.mean([not np.array_equal(sample, small) for sample in many(augment, small, times=600)])
    none = np.mean([(1 - pair[0][1]) * (1 - pair[1][1]) for pair in augment.pairs])
    assert abs(1 - none - changed) < 0.1  # some transforms of the strength 0 change nothing


def test_the_first_pairs_of_the_policies_are_those_of_the_paper() -> None:
    first = [vision.AutoAugment(policy).pairs[0] for policy in vision.AutoAugmentPolicy]
    assert first == [
        (("Posterize", 0.4, 8), ("Rotate", 0.6, 9)),
        (("Invert", 0.1, 0), ("Contrast", 0.2, 6)),
        (("ShearX", 0.9, 4), ("Invert", 0.2, 0)),
    ]
    only = vision.AutoAugment()
    only.pairs = [(("Posterize", 1.0, 8), ("Invert", 1.0, 0))]
    assert np.array_equal(only(U), 255 - vision.Posterize(4)(U))  # 8 - round(8 * 4 / 9) bits
    only.pairs = [(("Solarize", 1.0, 5), ("Equalize", 0.0, 0))]
    assert np.array_equal(only(U), vision.Solarize(255 - 255 * 5 / 9)(U))
    with pytest.raises(TypeError, match="'policy' must be an AutoAugmentPolicy"):
        vision.AutoAugment("imagenet")


def test_no_strength_leaves_most_of_an_image() -> None:
    still = many(vision.RandAugment(1, 0, 31), LARGE, times=200)
    same = np.mean([np.array_equal(item, LARGE) for item in still])
    assert 0.7 < same < 0.95  # all of the 14 but AutoContrast and Equalize change nothing
    with pytest.raises(ValueError, match="'magnitude' must be from 0 to 30, but got 31"):
        vision.RandAugment(magnitude=31)


def test_images_go_into_files_and_come_back(tmp_path: Path) -> None:
    file = str(tmp_path / "image.png")
    vision.write_png(file, U)
    assert np.array_equal(vision.read_image(file), U)
    assert np.array_equal(vision.read_image(file, vision.ImageReadMode.GRAYSCALE)[:, :, 0], vision.Grayscale()(U))
    data = vision.read_file(file)
    assert data.dtype == np.uint8 and np.array_equal(vision.Decode()(data), U)
    assert np.array_equal(np.asarray(vision.Decode(True)(data.tobytes())), U)
    assert np.array_equal(vision.ToNumpy()(vision.ToPIL()(U)), U) and vision.ToPIL()(G).size == (6, 5)
    smooth = np.repeat(np.arange(0, 240, 10, np.uint8)[:, None], 24, 1)
    vision.write_jpeg(file, smooth, 95)
    assert np.abs(vision.read_image(file)[:, :, 0].astype(int) - smooth).max() < 8
    full = Image.open(io.BytesIO(vision.encode_png(LARGE, 9).tobytes()))
    assert np.array_equal(np.asarray(full), LARGE)
    assert (vision.get_image_num_channels(U), vision.get_image_num_channels(G)) == (3, 1)
    assert vision.get_image_size(U) == vision.get_image_size(picture()) == [5, 6]
    part = vision.RandomCropDecodeResize((4, 4), (1.0, 1.0), (1.2, 1.2))(data)
    assert np.array_equal(part, vision.Resize((4, 4))(U))
    with pytest.raises(RuntimeError, match="Pillow cannot decode these"):
        vision.Decode()(np.zeros(9, np.uint8))
    with pytest.raises(TypeError, match="must be an array with one axis"):
        vision.Decode()(U)
    with pytest.raises(RuntimeError, match="cannot be read"):
        vision.read_file(str(tmp_path / "none"))
    for wrong, error in (
        (lambda: vision.encode_png(U, 10), ValueError),
        (lambda: vision.encode_jpeg(F), RuntimeError),
        (lambda: vision.encode_jpeg([1]), TypeError),
        (lambda: vision.write_file(file, F), RuntimeError),
    ):
        with pytest.raises(error, match="^For '"):
            wrong()


def test_what_is_not_covered_names_another_way(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DecodeVideo", "read_video"):
        with pytest.raises(NotImplementedError, match=f"mindspore.dataset.vision.{name} is not covered by hookscope: "):
            getattr(vision, name)()
    with pytest.raises(NotImplementedError, match="is not covered by hookscope: use"):
        vision.Rotate(3, Inter.BICUBIC)
    monkeypatch.setitem(__import__("sys").modules, "PIL.Image", None)
    with pytest.raises(ImportError, match="the package 'pillow' is needed: pip install pillow"):
        vision.ToPIL()(U)


REFUSED: list[tuple[Callable[[], Any], type[Exception]]] = [
    (lambda: vision.AdjustBrightness(-1), ValueError),
    (lambda: vision.AdjustContrast(0.3)(G), RuntimeError),
    (lambda: vision.AdjustGamma(-1), ValueError),
    (lambda: vision.AdjustHue(0.6), ValueError),
    (lambda: vision.AutoContrast()(F), RuntimeError),
    (lambda: vision.AutoContrast(50.0), ValueError),
    (lambda: vision.ConvertColor(Mode.COLOR_RGB2GRAY)(G), RuntimeError),
    (lambda: vision.ConvertColor(3), TypeError),
    (lambda: vision.Equalize()(F), RuntimeError),
    (lambda: vision.Erase(1, 1, 20, 3)(U), RuntimeError),
    (lambda: vision.Erase(-1, 1, 2, 3), ValueError),
    (lambda: vision.Erase(1, 1, 0, 3), ValueError),
    (lambda: vision.Erase(1, 1, 2, 3, 300), ValueError),
    (lambda: vision.FiveCrop(20)(picture()), ValueError),
    (lambda: vision.GaussianBlur(2), ValueError),
    (lambda: vision.GaussianBlur(3, -1.0), ValueError),
    (lambda: vision.RgbToHsv(True)(G), TypeError),
    (lambda: vision.Invert()(G), RuntimeError),
    (lambda: vision.LinearTransformation(np.eye(3), np.arange(4.0)), ValueError),
    (lambda: vision.LinearTransformation(np.eye(12), np.arange(12.0))(F01), ValueError),
    (lambda: vision.NormalizePad([100.0], [2.0], "int8"), ValueError),
    (lambda: vision.PadToSize(2)(U), RuntimeError),
    (lambda: vision.PadToSize(8, 7)(U), RuntimeError),
    (lambda: vision.Posterize(9), ValueError),
    (lambda: vision.Posterize(3)(F), RuntimeError),
    (lambda: vision.Solarize((150, 50)), ValueError),
    (lambda: vision.Solarize(-1), ValueError),
    (lambda: vision.SlicePatches(9, 2)(U), RuntimeError),
    (lambda: vision.Affine(0, [0.2, 4], 1.0, 0), ValueError),
    (lambda: vision.RandomHorizontalFlipWithBBox(1.0)(U, boxes()[:, :3]), RuntimeError),
    (lambda: vision.RandomHorizontalFlipWithBBox(1.0)(U, boxes() * 10), RuntimeError),
    (lambda: vision.RandomHorizontalFlipWithBBox(1.0)(U), RuntimeError),
    (lambda: vision.AdjustBrightness("a"), TypeError),
]


@pytest.mark.parametrize(("make", "error"), REFUSED)
def test_what_mindspore_refuses_of_images_is_refused(make: Callable[[], Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="^For '") as raised:
        make()
    assert "\n" not in str(raised.value)


def test_a_transform_runs_on_the_cpu_and_says_so_of_another_device() -> None:
    crop = vision.Crop((0, 0), (5, 5))
    assert crop.device("CPU") is crop and crop.device()(U).shape[:2] == (5, 5)
    assert vision.Decode().device("CPU") is not None
    with pytest.raises(NotImplementedError, match=r"vision.Crop.device\('Ascend'\) is not covered by hookscope"):
        crop.device("Ascend")
    for wrong, error in (("GPU", ValueError), (3, TypeError)):
        with pytest.raises(error, match="For 'Crop.device', 'device_target' must be"):
            crop.device(wrong)


def test_a_pil_image_stays_one_where_mindspore_s_does() -> None:
    image = pytest.importorskip("PIL.Image").fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3))
    keep = (vision.FiveCrop(4), vision.TenCrop(4))
    assert all(part.size == (4, 4) for transform in keep for part in transform(image))
    for transform, size, mode in (
        (vision.Resize((5, 6)), (6, 5), "RGB"),
        (vision.Grayscale(), (8, 8), "L"),
        (vision.Pad(1), (10, 10), "RGB"),
        (vision.RandomHorizontalFlip(1.0), (8, 8), "RGB"),
        (vision.RandomCrop(4), (4, 4), "RGB"),
    ):
        result = transform(image)
        assert (result.size, result.mode) == (size, mode)
    flipped = np.asarray(vision.RandomHorizontalFlip(1.0)(image))
    np.testing.assert_array_equal(flipped, np.asarray(image)[:, ::-1])
    assert all(type(variant(image)) is np.ndarray for variant in (vision.HorizontalFlip(), vision.RandomInvert(1.0)))


@pytest.mark.parametrize("name", ["CenterCrop(2)", "HWC2CHW()", "HorizontalFlip()", "Rescale(1.0, 0.0)", "ToTensor()"])
@pytest.mark.parametrize("value", ["a", 3, [1]])
def test_what_is_no_image_is_a_type_error(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match="an image must be a NumPy array or an image of PIL, but got"):
        eval(f"ds.vision.{name}", {"ds": ds})(value)


@pytest.mark.parametrize("name", ["Pad(1)", "RandomCrop(2)", "Normalize([0.0], [1.0])", "Resize(2)", "Crop((0, 0), 2)"])
def test_an_array_without_rows_and_columns_is_no_image(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"an image must have rows and columns, but got \(3,\)"):
        eval(f"ds.vision.{name}", {"ds": ds})(np.ones(3))


@pytest.mark.parametrize("name", ["Resize([1, 2, 3])", "Normalize(3, 4)", "Rescale('a', 1)"])
def test_a_transform_of_the_wrong_kind_of_number_is_a_type_error(name: str) -> None:
    with pytest.raises(TypeError, match=f"For '{name[:3]}"):
        eval(f"ds.vision.{name}", {"ds": ds})
