"""Images of the package ``pillow``: which transforms give one where they get one, as MindSpore's do."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from .files import ToPIL

__all__ = ["NAMES", "keeping_pictures"]

NAMES = (
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue", "AdjustSaturation", "AutoContrast", "CenterCrop",
    "Equalize", "FiveCrop", "Grayscale", "Invert", "Pad", "Perspective", "RandomAffine", "RandomColor",
    "RandomColorAdjust", "RandomCrop", "RandomGrayscale", "RandomHorizontalFlip", "RandomLighting",
    "RandomPerspective", "RandomResizedCrop", "RandomRotation", "RandomSharpness", "RandomVerticalFlip", "Resize",
    "TenCrop",
)  # fmt: skip
"""The classes whose results are such images."""
_NOT = ("RandomAutoContrast", "RandomEqualize", "RandomInvert")
"""Classes that are made of those, and give arrays all the same."""


def keeping_pictures(transform: type[Any]) -> type[Any]:
    """The class, whose calls give images of ``pillow`` from now on where they get one.

    Args:
        transform: the class of a transform.
    """
    call = transform.__call__

    @wraps(call)
    def with_pictures(self: Any, *values: Any) -> Any:
        found = call(self, *values)
        if type(self).__name__ in _NOT or not any(map(_is_picture, values)):
            return found
        return tuple(map(_as_picture, found)) if isinstance(found, tuple) else _as_picture(found)

    transform.__call__ = with_pictures
    return transform


def _is_picture(value: object) -> bool:
    return hasattr(value, "getbands")


def _as_picture(value: Any) -> Any:
    return value if _is_picture(value) else ToPIL()(np.asarray(value))
