"""Color transforms of images: brightness, contrast, hue, saturation, histograms, color spaces; and random ones."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_int, check_type
from ...base.types import Array
from ..config import current_random
from ..transforms import Sometimes, probability
from ._devices import OnDevice
from ._pixels import ImageTransform, color, drawn, factor, gray_of, luma_of, mixed, of_bytes, picture, rounded, span

__all__ = [
    "AdjustBrightness",
    "AdjustContrast",
    "AdjustGamma",
    "AdjustHue",
    "AdjustSaturation",
    "AutoContrast",
    "ConvertColor",
    "ConvertMode",
    "Equalize",
    "HsvToRgb",
    "Invert",
    "Posterize",
    "RandomAutoContrast",
    "RandomColor",
    "RandomColorAdjust",
    "RandomEqualize",
    "RandomGrayscale",
    "RandomInvert",
    "RandomLighting",
    "RandomPosterize",
    "RandomSolarize",
    "RgbToHsv",
    "Solarize",
]


class AdjustBrightness(OnDevice, ImageTransform):
    """Multiplies the image by a factor.

    Args:
        brightness_factor: 0 is black, 1 leaves the image unchanged.

    Raises:
        TypeError: not a number.
        ValueError: a negative number.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(self, brightness_factor: float) -> None:
        self.factor = factor("AdjustBrightness", "brightness_factor", brightness_factor)

    def changed(self, value: Array) -> Array:
        image = picture("AdjustBrightness", value)
        return rounded(image.astype(np.float32) * np.float32(self.factor), image.dtype)


class AdjustContrast(OnDevice, ImageTransform):
    """Multiplies the image's distance to its mean brightness by a factor.

    Args:
        contrast_factor: 0 is gray, 1 leaves the image unchanged.

    Raises:
        TypeError: not a number.
        ValueError: a negative number.
        RuntimeError: when called, an input other than an image (H, W, 3).
    """

    keeps_pictures = True

    def __init__(self, contrast_factor: float) -> None:
        self.factor = factor("AdjustContrast", "contrast_factor", contrast_factor)

    def changed(self, value: Array) -> Array:
        image = color("AdjustContrast", value)
        mean = float(gray_of(image).astype(np.float64).mean())
        return mixed(image, np.floor(mean + 0.5) if image.dtype.kind in "iu" else mean, self.factor)


class AdjustGamma(ImageTransform):
    """Computes gain * image ** gamma, for an image from 0 to 1; ints range from 0 to 255.

    Args:
        gamma: above 1 makes shadows darker, below 1 lighter.
        gain: the factor.

    Raises:
        TypeError: not a number.
        ValueError: a negative ``gamma``.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = factor("AdjustGamma", "gamma", gamma)
        self.gain = factor("AdjustGamma", "gain", gain, -np.inf, np.inf)

    def changed(self, value: Array) -> Array:
        image = picture("AdjustGamma", value)
        if image.dtype.kind == "f":
            return np.clip(image**self.gamma * self.gain, 0, 1).astype(image.dtype)
        shares = np.arange(256) / 255.0
        table = np.clip(shares**self.gamma * self.gain * (256 - 1e-3), 0, 255)
        return np.asarray(table.astype(np.uint8)[image])


class AdjustHue(OnDevice, ImageTransform):
    """Rotates hues on the color circle.

    Args:
        hue_factor: the fraction of the circle, from -0.5 to 0.5.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
        RuntimeError: when called, an input other than an image (H, W, 3) of UInt8 or floats.
    """

    keeps_pictures = True

    def __init__(self, hue_factor: float) -> None:
        self.factor = factor("AdjustHue", "hue_factor", hue_factor, -0.5, 0.5)

    def changed(self, value: Array) -> Array:
        return turned(color("AdjustHue", value), self.factor)


def turned(image: Array, share: float) -> Array:
    """Rotate hues by a fraction of the color circle."""
    if image.dtype == np.uint8:
        hue, saturation, bright = _hsv_of_bytes(image)
        hue = (hue + int(share * 255)) % 256
        return _bytes_of_hsv(hue, saturation, bright)
    hsv = _hsv(image.astype(np.float64))
    hsv[..., 0] = (hsv[..., 0] + share) % 1
    return _rgb(hsv).astype(image.dtype)


def _hsv_of_bytes(image: Array) -> tuple[Array, Array, Array]:
    """Return hue, saturation and value, each from 0 to 255, in OpenCV's integer arithmetic."""
    red, green, blue = (image[..., channel].astype(np.int64) for channel in range(3))
    bright = np.maximum(np.maximum(red, green), blue)
    chroma = bright - np.minimum(np.minimum(red, green), blue)
    counts = np.arange(1, 256)
    by_value = np.concatenate([[0], np.rint((255 << 12) / counts)]).astype(np.int64)
    by_spread = np.concatenate([[0], np.rint((256 << 12) / (6.0 * counts))]).astype(np.int64)
    saturation = (chroma * by_value[bright] + (1 << 11)) >> 12
    hue = np.where(
        bright == red, green - blue, np.where(bright == green, blue - red + 2 * chroma, red - green + 4 * chroma)
    )
    hue = (hue * by_spread[chroma] + (1 << 11)) >> 12
    return np.where(hue < 0, hue + 256, hue), saturation, bright


def _bytes_of_hsv(hue: Array, saturation: Array, bright: Array) -> Array:
    turn = hue.astype(np.float32) * np.float32(6 / 255)
    share, value = saturation.astype(np.float32) / np.float32(255), bright.astype(np.float32) / np.float32(255)
    return rounded(_from_sectors(turn, share, value) * 255, np.dtype(np.uint8))


def _from_sectors(turn: Array, share: Array, value: Array) -> Array:
    """Return red, green and blue of a hue in sixths of the circle."""
    sector = np.floor(turn).astype(np.int64) % 6
    fraction = turn - np.floor(turn)
    low, falling, rising = value * (1 - share), value * (1 - share * fraction), value * (1 - share * (1 - fraction))
    parts = np.stack([value, low, falling, rising])
    order = np.array([[0, 3, 1], [2, 0, 1], [1, 0, 3], [1, 2, 0], [3, 1, 0], [0, 1, 2]])
    return np.stack([np.take_along_axis(parts, order[sector, channel][None], 0)[0] for channel in range(3)], axis=-1)


def _hsv(image: Array) -> Array:
    """Return hue, saturation and value, each from 0 to 1, of an image (..., 3) in the same range."""
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    bright, dark = image.max(-1), image.min(-1)
    chroma = bright - dark
    safe = np.where(chroma == 0, 1, chroma)
    share = np.where(chroma == 0, 0, chroma / np.where(bright == 0, 1, bright))
    red_left, green_left, blue_left = ((bright - channel) / safe for channel in (red, green, blue))
    hue = np.where(
        bright == red,
        blue_left - green_left,
        np.where(bright == green, 2 + red_left - blue_left, 4 + green_left - red_left),
    )
    return np.stack([np.where(chroma == 0, 0, hue / 6 % 1), share, bright], axis=-1)


def _rgb(image: Array) -> Array:
    return _from_sectors(image[..., 0] * 6, image[..., 1], image[..., 2])


class _Space(ImageTransform):
    """A transform of the channels of an image or of several."""

    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = check_bool(is_hwc, type(self).__name__, "is_hwc", show=repr)

    def changed(self, value: Array) -> Array:
        caller, axis = type(self).__name__, -1 if self.is_hwc else -3
        if value.ndim not in (3, 4):
            raise TypeError(f"For '{caller}', an image must have 3 axes, and several 4, but got {value.shape}")
        if value.shape[axis] != 3:
            raise TypeError(f"For '{caller}', the image must have 3 channels along axis {axis}, but got {value.shape}")
        return np.moveaxis(self.channels(np.moveaxis(value.astype(np.float64), axis, -1)), -1, axis)

    def channels(self, image: Array) -> Array:
        """Return the image with transformed channels (its last axis)."""
        raise NotImplementedError


class RgbToHsv(_Space):
    """Converts red, green and blue from 0 to 1 to hue, saturation and value from 0 to 1, in float64.

    Args:
        is_hwc: channels are the last axis; False: the third last.

    Raises:
        TypeError: not a bool; when called, the wrong shape.
    """

    def channels(self, image: Array) -> Array:
        return _hsv(image)


class HsvToRgb(_Space):
    """Converts hue, saturation and value from 0 to 1 to red, green and blue from 0 to 1, in float64.

    Args:
        is_hwc: channels are the last axis; False: the third last.

    Raises:
        TypeError: not a bool; when called, the wrong shape.
    """

    def channels(self, image: Array) -> Array:
        return _rgb(image)


class AdjustSaturation(OnDevice, ImageTransform):
    """Multiplies the image's distance to its gray by a factor.

    Args:
        saturation_factor: 0 is gray, 1 leaves the image unchanged.

    Raises:
        TypeError: not a number.
        ValueError: a negative number.
        RuntimeError: when called, an input other than an image (H, W, 3).
    """

    keeps_pictures = True

    def __init__(self, saturation_factor: float) -> None:
        self.factor = factor("AdjustSaturation", "saturation_factor", saturation_factor)

    def changed(self, value: Array) -> Array:
        image = color("AdjustSaturation", value)
        return mixed(image, gray_of(image)[:, :, None], self.factor)


class AutoContrast(OnDevice, ImageTransform):
    """Stretches each channel so that its darkest value becomes 0 and its lightest 255.

    Args:
        cutoff: the percentage of pixels to ignore at both ends, from 0 to below 50.
        ignore: values to ignore, an int or several.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        RuntimeError: when called, an input other than an image of UInt8.
    """

    keeps_pictures = True

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None) -> None:
        caller = type(self).__name__
        self.cutoff = factor(caller, "cutoff", cutoff)
        if self.cutoff >= 50:
            raise ValueError(f"For '{caller}', 'cutoff' must be below 50, but got {cutoff}")
        self.ignore = [] if ignore is None else [ignore] if isinstance(ignore, int) else list(ignore)
        for value in self.ignore:
            if not 0 <= check_int(value, caller, "ignore", show=repr) <= 255:
                raise ValueError(f"For '{caller}', 'ignore' must be from 0 to 255, but got {value}")

    def changed(self, value: Array) -> Array:
        return _by_channel(of_bytes(type(self).__name__, value), self._table)

    def _table(self, counts: Array) -> Array:
        counts[self.ignore] = 0
        if self.cutoff:
            excess = int(counts.sum() * self.cutoff // 100)
            for order in (range(256), range(255, -1, -1)):
                remaining = excess
                for index in order:
                    removed = min(remaining, counts[index])
                    counts[index] -= removed
                    remaining -= removed
                    if remaining <= 0:
                        break
        occurring = np.flatnonzero(counts)
        low, high = (int(occurring[0]), int(occurring[-1])) if occurring.size else (0, 0)
        values = np.arange(256, dtype=np.float32)
        if high <= low:
            return values
        scale = np.float32(255 / (high - low))
        return np.clip(np.trunc(values * scale - low * scale), 0, 255)


def _by_channel(image: Array, table: Any) -> Array:
    """Map each channel through a lookup table that a function computes from its histogram."""
    channels = image.reshape(*image.shape[:2], -1)
    mapped = [
        np.asarray(table(np.bincount(channel.reshape(-1), minlength=256)))[channel]
        for channel in np.moveaxis(channels, -1, 0)
    ]
    return np.stack(mapped, axis=-1).astype(np.uint8).reshape(image.shape)


class Equalize(OnDevice, ImageTransform):
    """Equalizes the histogram of each channel.

    Raises:
        RuntimeError: when called, an input other than an image of UInt8.
    """

    keeps_pictures = True

    def changed(self, value: Array) -> Array:
        return _by_channel(of_bytes(type(self).__name__, value), self._table)

    def _table(self, counts: Array) -> Array:
        first = int(np.flatnonzero(counts)[0])
        above = counts.sum() - counts[first]
        if not above:
            return np.arange(256)
        sums = np.cumsum(counts) - counts[first]
        return np.rint(np.maximum(sums, 0) * np.float32(255 / above))


class Invert(OnDevice, ImageTransform):
    """Computes 255 minus the image.

    Raises:
        RuntimeError: when called, an input other than an image (H, W, C).
    """

    keeps_pictures = True

    def changed(self, value: Array) -> Array:
        if value.ndim != 3:
            raise RuntimeError(f"For 'Invert', an image must be (H, W, C), but got {value.shape}")
        return rounded(255 - value.astype(np.float64), value.dtype)


class Posterize(OnDevice, ImageTransform):
    """Keeps the uppermost bits of each value.

    Args:
        bits: the number of bits, from 0 to 8.

    Raises:
        TypeError: not an int.
        ValueError: an int outside its range.
        RuntimeError: when called, an input other than an image of UInt8.
    """

    def __init__(self, bits: int) -> None:
        if not 0 <= check_int(bits, "Posterize", "bits", show=repr) <= 8:
            raise ValueError(f"For 'Posterize', 'bits' must be from 0 to 8, but got {bits}")
        self.bits = bits

    def changed(self, value: Array) -> Array:
        return of_bytes("Posterize", value) & np.uint8(256 - 2 ** (8 - self.bits))


class Solarize(OnDevice, ImageTransform):
    """Inverts the values within a range.

    Args:
        threshold: the two ends of the range; a single number is its start, with 255 as its end.

    Raises:
        TypeError: not numbers.
        ValueError: numbers outside of 0 to 255, or in descending order.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(self, threshold: float | Sequence[float]) -> None:
        bounds = threshold if isinstance(threshold, list | tuple) else (threshold, 255)
        self.low, self.high = span("Solarize", "threshold", bounds, 0, 255)

    def changed(self, value: Array) -> Array:
        return _solarized(picture("Solarize", value), self.low, self.high)


def _solarized(image: Array, low: float, high: float) -> Array:
    return np.where((image >= low) & (image <= high), np.asarray(255, image.dtype) - image, image).astype(image.dtype)


class ConvertMode(enum.IntEnum):
    """Conversions of ``ConvertColor``: the order of channels before and after."""

    COLOR_BGR2BGRA = 0
    COLOR_RGB2RGBA = 0
    COLOR_BGRA2BGR = 1
    COLOR_RGBA2RGB = 1
    COLOR_BGR2RGBA = 2
    COLOR_RGB2BGRA = 2
    COLOR_RGBA2BGR = 3
    COLOR_BGRA2RGB = 3
    COLOR_BGR2RGB = 4
    COLOR_RGB2BGR = 4
    COLOR_BGRA2RGBA = 5
    COLOR_RGBA2BGRA = 5
    COLOR_BGR2GRAY = 6
    COLOR_RGB2GRAY = 7
    COLOR_GRAY2BGR = 8
    COLOR_GRAY2RGB = 8
    COLOR_GRAY2BGRA = 9
    COLOR_GRAY2RGBA = 9
    COLOR_BGRA2GRAY = 10
    COLOR_RGBA2GRAY = 11


# For each conversion the possible channels, and the selected ones; 3 is the alpha channel, 255 if missing.
_CHANNELS: dict[int, tuple[tuple[int, ...], list[int]]] = {
    0: ((3,), [0, 1, 2, 3]),
    1: ((3, 4), [0, 1, 2]),
    2: ((3,), [2, 1, 0, 3]),
    3: ((3, 4), [2, 1, 0]),
    4: ((3,), [2, 1, 0]),
    5: ((4,), [2, 1, 0, 3]),
    6: ((3, 4), [2, 1, 0]),
    7: ((3, 4), [0, 1, 2]),
    8: ((1,), [0, 0, 0]),
    9: ((1,), [0, 0, 0, 3]),
    10: ((3, 4), [2, 1, 0]),
    11: ((3, 4), [0, 1, 2]),
}


class ConvertColor(OnDevice, ImageTransform):
    """Reorders channels, with or without an alpha channel, or converts to gray.

    Args:
        convert_mode: the conversion.

    Raises:
        TypeError: no ``ConvertMode``.
        RuntimeError: when called, the wrong number of channels.
    """

    def __init__(self, convert_mode: ConvertMode) -> None:
        self.mode = check_type(convert_mode, ConvertMode, "ConvertColor", "convert_mode", "a ConvertMode", show=repr)

    def changed(self, value: Array) -> Array:
        allowed, order = _CHANNELS[int(self.mode)]
        image = value[:, :, None] if value.ndim == 2 else value
        if image.ndim != 3 or image.shape[2] not in allowed:
            raise RuntimeError(f"For 'ConvertColor', {self.mode.name} takes {allowed} channels, but got {value.shape}")
        if self.mode in (6, 7, 10, 11):
            return gray_of(image[:, :, order])
        if 3 in order and image.shape[2] < 4:
            opaque = np.full((*image.shape[:2], 4), 255 if image.dtype.kind in "iu" else 1, image.dtype)
            opaque[:, :, : image.shape[2]] = image
            image = opaque
        return np.ascontiguousarray(image[:, :, order])


class RandomInvert(Sometimes, Invert):
    """Computes 255 minus the image, with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    keeps_pictures = False


class RandomEqualize(Sometimes, Equalize):
    """Equalizes each channel, with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    keeps_pictures = False


class RandomAutoContrast(Sometimes, AutoContrast):
    """Stretches each channel as ``AutoContrast``, with probability ``prob``.

    Args:
        cutoff: the percentage of pixels to ignore at both ends, from 0 to below 50.
        ignore: values to ignore, an int or several.
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
    """

    keeps_pictures = False

    def __init__(self, cutoff: float = 0.0, ignore: int | Sequence[int] | None = None, prob: float = 0.5) -> None:
        AutoContrast.__init__(self, cutoff, ignore)
        self.prob = probability("RandomAutoContrast", prob)


class RandomGrayscale(Sometimes, ImageTransform):
    """Replaces all channels by the brightness of a color image, with probability ``prob``.

    Args:
        prob: the probability, from 0 to 1.

    Raises:
        TypeError: not a number.
        ValueError: a number out of range.
    """

    keeps_pictures = True

    def __init__(self, prob: float = 0.1) -> None:
        super().__init__(prob)

    def changed(self, value: Array) -> Array:
        image = color("RandomGrayscale", value)
        return np.repeat(luma_of(image)[:, :, None], 3, axis=2)


class RandomPosterize(ImageTransform):
    """Keeps a random number of uppermost bits of each value.

    Args:
        bits: the range of the number, two ints from 1 to 8, or one for both.

    Raises:
        TypeError: not ints.
        ValueError: ints outside their range, or in descending order.
        RuntimeError: when called, an input other than an image of UInt8.
    """

    def __init__(self, bits: int | Sequence[int] = (8, 8)) -> None:
        bounds = (bits, bits) if isinstance(bits, int) else tuple(bits)
        for bound in bounds:
            check_int(bound, "RandomPosterize", "bits", show=repr)
        self.low, self.high = map(int, span("RandomPosterize", "bits", bounds, 1, 8))

    def changed(self, value: Array) -> Array:
        return Posterize(int(current_random().integers(self.low, self.high + 1))).changed(value)


class RandomSolarize(ImageTransform):
    """Inverts the values within a random range.

    Args:
        threshold: the bounds, from 0 to 255, between which both ends are drawn.

    Raises:
        TypeError: not numbers.
        ValueError: numbers outside of 0 to 255, or in descending order.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(self, threshold: Sequence[int] = (0, 255)) -> None:
        self.low, self.high = span("RandomSolarize", "threshold", threshold, 0, 255)

    def changed(self, value: Array) -> Array:
        low, high = sorted(current_random().integers(int(self.low), int(self.high) + 1, 2).tolist())
        # If both ends are the same, all values from there on are inverted, as in MindSpore.
        return _solarized(picture("RandomSolarize", value), low, 255 if low == high else high)


class RandomColor(ImageTransform):
    """Multiplies the image's distance to its gray by a random factor.

    Args:
        degrees: the range of the factor.

    Raises:
        TypeError: not numbers.
        ValueError: negative numbers, or in descending order.
        RuntimeError: when called, an input other than an image (H, W, 3).
    """

    keeps_pictures = True

    def __init__(self, degrees: Sequence[float] = (0.1, 1.9)) -> None:
        self.degrees = span("RandomColor", "degrees", degrees)

    def changed(self, value: Array) -> Array:
        return AdjustSaturation(drawn(*self.degrees)).changed(value)


class RandomColorAdjust(ImageTransform):
    """Changes brightness, contrast, saturation and hue by random factors, in random order.

    Args:
        brightness: the range of the factor; a number x means max(0, 1 - x) to 1 + x.
        contrast: the same for contrast.
        saturation: the same for saturation.
        hue: the range of the rotation within -0.5 to 0.5; a number x means -x to x.

    Raises:
        TypeError: not numbers.
        ValueError: numbers outside their range, or in descending order.
        RuntimeError: when called, an input other than an image (H, W, 3).
    """

    keeps_pictures = True

    def __init__(
        self,
        brightness: float | Sequence[float] = (1, 1),
        contrast: float | Sequence[float] = (1, 1),
        saturation: float | Sequence[float] = (1, 1),
        hue: float | Sequence[float] = (0, 0),
    ) -> None:
        self.ranges: list[tuple[type[Any], tuple[float, float]]] = []
        for kind, name, limits in (
            (AdjustBrightness, "brightness", brightness),
            (AdjustContrast, "contrast", contrast),
            (AdjustSaturation, "saturation", saturation),
            (AdjustHue, "hue", hue),
        ):
            turn = name == "hue"
            if isinstance(limits, int | float):
                spread = factor("RandomColorAdjust", name, limits, 0, 0.5 if turn else np.inf)
                limits = (-spread, spread) if turn else (max(0, 1 - spread), 1 + spread)
            self.ranges.append((kind, span("RandomColorAdjust", name, limits, *((-0.5, 0.5) if turn else ()))))

    def changed(self, value: Array) -> Array:
        image = color("RandomColorAdjust", value)
        for index in current_random().permutation(len(self.ranges)):
            kind, limits = self.ranges[index]
            if limits != ((0, 0) if kind is AdjustHue else (1, 1)):
                image = kind(drawn(*limits)).changed(image)
        return image


# The principal components of the colors of ImageNet (Krizhevsky et al., 2012), and their variation.
_COMPONENTS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
_SPREADS = np.array([0.2175, 0.0188, 0.0045])


class RandomLighting(ImageTransform):
    """Adds noise along the principal components of the colors of ImageNet.

    Args:
        alpha: the standard deviation of the noise of each component.

    Raises:
        TypeError: not a number.
        ValueError: a negative number.
        RuntimeError: when called, an input other than an image (H, W, 3).
    """

    keeps_pictures = True

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = factor("RandomLighting", "alpha", alpha)

    def changed(self, value: Array) -> Array:
        image = color("RandomLighting", value)
        noise = current_random().normal(0, self.alpha, 3)
        return rounded(image + _COMPONENTS @ (noise * _SPREADS) * 255, image.dtype)
