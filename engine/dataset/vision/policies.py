"""Random selection from lists of transforms, also from published augmentation policies."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_positive_int, check_type
from ...base.types import Array
from ..config import current_random
from ..transforms import Transform, probability
from ._pixels import ImageTransform, chance, fill_of, of_bytes
from ._published import POLICIES
from .basic import Inter
from .colors import (
    AdjustBrightness,
    AdjustContrast,
    AdjustSaturation,
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
)
from .filters import AdjustSharpness
from .warping import Affine, Rotate

__all__ = [
    "AutoAugment",
    "AutoAugmentPolicy",
    "RandAugment",
    "RandomSelectSubpolicy",
    "TrivialAugmentWide",
    "UniformAugment",
]


class RandomSelectSubpolicy:
    """Applies one of several lists of transforms, each transform with its probability.

    Args:
        policy: lists of pairs of a transform and its probability.

    Raises:
        TypeError: not lists of pairs of functions and numbers.
        ValueError: an empty list, or a probability outside of 0 to 1.
    """

    def __init__(self, policy: list[list[tuple[Callable[..., Any], float]]]) -> None:
        caller = "RandomSelectSubpolicy"
        check_type(policy, list, caller, "policy", "a list of lists", show=repr)
        if not policy:
            raise ValueError(f"For '{caller}', 'policy' must not be empty")
        for subpolicy in policy:
            if not check_type(subpolicy, list, caller, "policy", "a list of lists", show=repr):
                raise ValueError(f"For '{caller}', a list in 'policy' must not be empty")
            for pair in subpolicy:
                if not isinstance(pair, tuple) or len(pair) != 2 or not callable(pair[0]):
                    raise TypeError(
                        f"For '{caller}', 'policy' must have pairs of a function and a number, but got {pair!r}"
                    )
                probability(caller, pair[1])
        self.policy = policy

    def __call__(self, *values: Any) -> Any:
        for transform, prob in self.policy[int(current_random().integers(len(self.policy)))]:
            if chance(prob):
                result = transform(*values)
                values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class UniformAugment:
    """Applies some transforms of a list, drawn uniformly, each with probability 1/2.

    Args:
        transforms: a list of functions.
        num_ops: the number of transforms to draw.

    Raises:
        TypeError: not a list of functions, or not an int.
        ValueError: an int below 1 or above the number of functions.
    """

    def __init__(self, transforms: list[Callable[..., Any]], num_ops: int = 2) -> None:
        caller = "UniformAugment"
        check_type(transforms, list, caller, "transforms", "a list of functions", show=repr)
        if not all(callable(function) for function in transforms):
            raise TypeError(f"For '{caller}', 'transforms' must be a list of functions, but got {transforms!r}")
        check_positive_int(num_ops, caller, "num_ops", show=repr)
        if num_ops > len(transforms):
            raise ValueError(f"For '{caller}', 'num_ops' must not be above {len(transforms)}, but got {num_ops}")
        self.transforms, self.count = transforms, num_ops

    def __call__(self, *values: Any) -> Any:
        for index in current_random().choice(len(self.transforms), self.count, replace=False):
            if chance(0.5):
                result = self.transforms[index](*values)
                values = result if isinstance(result, tuple) else (result,)
        return values[0] if len(values) == 1 else values


class _Augment(ImageTransform):
    """Named transforms of a strength, as in the papers on augmentation."""

    def __init__(self, interpolation: Inter, fill_value: int | tuple[int, ...]) -> None:
        caller = type(self).__name__
        self.way = check_type(interpolation, Inter, caller, "interpolation", "an Inter", show=repr)
        self.fill = fill_of(caller, fill_value)
        Rotate(0, self.way)  # rejects an unsupported mode

    def transform(self, image: Array, name: str, strength: float) -> Array:
        """Apply a transform of this strength to the image."""
        across = {"ShearX": (0, strength), "ShearY": (1, strength)}
        if name in across:
            angles = [0.0, 0.0]
            angles[across[name][0]] = float(np.rad2deg(np.arctan(strength)))
            return Affine(0, (0, 0), 1, angles, self.way, self.fill).changed(image)
        if name in ("TranslateX", "TranslateY"):
            move = (strength / image.shape[1], 0) if name == "TranslateX" else (0, strength / image.shape[0])
            return Affine(0, np.clip(move, -1, 1).tolist(), 1, 0, self.way, self.fill).changed(image)
        plain: dict[str, Callable[[], Transform]] = {
            "Identity": lambda: AdjustBrightness(1),
            "Rotate": lambda: Rotate(strength, self.way, fill_value=self.fill),
            "Brightness": lambda: AdjustBrightness(1 + strength),
            "Color": lambda: AdjustSaturation(1 + strength),
            "Contrast": lambda: AdjustContrast(1 + strength),
            "Sharpness": lambda: AdjustSharpness(1 + strength),
            "Posterize": lambda: Posterize(int(strength)),
            "Solarize": lambda: Solarize(min(strength, 255)),
            "AutoContrast": AutoContrast,
            "Equalize": Equalize,
            "Invert": Invert,
        }
        return plain[name]().changed(image)


_SIGNED = {"ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast", "Sharpness"}


def _strengths(shape: Sequence[int], bins: int, wide: bool) -> dict[str, Array]:
    """Return the strengths of RandAugment, or the wider ones of TrivialAugment, in ascending order."""
    steps = np.arange(bins)
    bits = 8 - np.rint(steps / ((bins - 1) / (6 if wide else 4)) if bins > 1 else steps)
    moves = (32.0, 32.0) if wide else (150.0 / 331.0 * shape[1], 150.0 / 331.0 * shape[0])
    shear, turn, tone = (0.99, 135.0, 0.99) if wide else (0.3, 30.0, 0.9)
    ends = {
        "ShearX": shear,
        "ShearY": shear,
        "TranslateX": moves[0],
        "TranslateY": moves[1],
        "Rotate": turn,
        "Brightness": tone,
        "Color": tone,
        "Contrast": tone,
        "Sharpness": tone,
    }
    return {
        "Identity": np.zeros(bins),
        **{name: np.linspace(0, end, bins) for name, end in ends.items()},
        "Posterize": bits,
        "Solarize": np.linspace(255, 0, bins),
        "AutoContrast": np.zeros(bins),
        "Equalize": np.zeros(bins),
    }


def _with_sign(name: str, strength: float) -> float:
    return -strength if name in _SIGNED and chance(0.5) else strength


class RandAugment(_Augment):
    """Applies some of 14 transforms, drawn uniformly, all of one strength (Cubuk et al., 2019).

    Args:
        num_ops: the number of transforms in sequence.
        magnitude: the strength, from 0 to below ``num_magnitude_bins``.
        num_magnitude_bins: the number of strengths, at least 2.
        interpolation: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image (H, W, 3) of UInt8.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: int | tuple[int, ...] = 0,
    ) -> None:
        super().__init__(interpolation, fill_value)
        self.count = check_positive_int(num_ops, "RandAugment", "num_ops", show=repr)
        self.bins = _bins("RandAugment", num_magnitude_bins)
        if isinstance(magnitude, bool) or not isinstance(magnitude, int):
            raise TypeError(f"For 'RandAugment', 'magnitude' must be an int, but got {magnitude!r}")
        if not 0 <= magnitude < self.bins:
            raise ValueError(f"For 'RandAugment', 'magnitude' must be from 0 to {self.bins - 1}, but got {magnitude}")
        self.magnitude = magnitude

    def changed(self, value: Array) -> Array:
        image = of_bytes("RandAugment", value)
        strengths = _strengths(image.shape, self.bins, False)
        for _ in range(self.count):
            name = list(strengths)[int(current_random().integers(len(strengths)))]
            image = self.transform(image, name, _with_sign(name, float(strengths[name][self.magnitude])))
        return image


def _bins(caller: str, number: Any) -> int:
    if check_positive_int(number, caller, "num_magnitude_bins", show=repr) < 2:
        raise ValueError(f"For '{caller}', 'num_magnitude_bins' must be at least 2, but got {number}")
    return int(number)


class TrivialAugmentWide(_Augment):
    """Applies one of 14 transforms of a random strength (Müller and Hutter, 2021).

    Args:
        num_magnitude_bins: the number of strengths, at least 2.
        interpolation: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image (H, W, 3) of UInt8.
    """

    def __init__(
        self, num_magnitude_bins: int = 31, interpolation: Inter = Inter.NEAREST, fill_value: int | tuple[int, ...] = 0
    ) -> None:
        super().__init__(interpolation, fill_value)
        self.bins = _bins("TrivialAugmentWide", num_magnitude_bins)

    def changed(self, value: Array) -> Array:
        image = of_bytes("TrivialAugmentWide", value)
        strengths = _strengths(image.shape, self.bins, True)
        name = list(strengths)[int(current_random().integers(len(strengths)))]
        strength = float(strengths[name][int(current_random().integers(self.bins))])
        return self.transform(image, name, _with_sign(name, strength))


class AutoAugmentPolicy(enum.StrEnum):
    """Collections of images with a published policy."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


Choice = tuple[str, float, int]
"""A transform: its name, its probability, and its strength from 0 to 9."""


def policy_of(name: str) -> list[tuple[Choice, Choice]]:
    """Return the 25 pairs of transforms of a published policy."""
    pairs = []
    for line in POLICIES[name].split("; "):
        fields = line.split()
        first, second = ((fields[at], float(fields[at + 1]), int(fields[at + 2])) for at in (0, 3))
        pairs.append((first, second))
    return pairs


class AutoAugment(_Augment):
    """Applies one of 25 pairs of transforms, each with its probability (Cubuk et al., 2018).

    Args:
        policy: the collection of images for which the pairs were found.
        interpolation: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image (H, W, 3) of UInt8.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: int | tuple[int, ...] = 0,
    ) -> None:
        super().__init__(interpolation, fill_value)
        check_type(policy, AutoAugmentPolicy, "AutoAugment", "policy", "an AutoAugmentPolicy", show=repr)
        self.pairs = policy_of(policy.value)

    def changed(self, value: Array) -> Array:
        image = of_bytes("AutoAugment", value)
        strengths = _strengths(image.shape, 10, False) | {"Invert": np.zeros(10)}
        for name, share, strength in self.pairs[int(current_random().integers(len(self.pairs)))]:
            if chance(share):
                image = self.transform(image, name, _with_sign(name, float(strengths[name][strength])))
        return image
