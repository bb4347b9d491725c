"""Rotation, shear, translation and perspective of images: each pixel of the result is sampled from the image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_type
from ...base.types import Array
from ..config import current_random
from ..transforms import Sometimes, probability
from ._devices import OnDevice
from ._pixels import ImageTransform, drawn, factor, fill_of, picture, rounded, span
from .basic import Inter

__all__ = ["Affine", "Perspective", "RandomAffine", "RandomPerspective", "RandomRotation", "Rotate"]

Fill = int | tuple[int, ...]


def _way(caller: str, argument: str, way: Any) -> Inter:
    """Return one of the two interpolation modes.

    Raises:
        TypeError: no Inter.
        NotImplementedError: an unknown mode.
    """
    check_type(way, Inter, caller, argument, "an Inter", show=repr)
    if way not in (Inter.NEAREST, Inter.BILINEAR):
        raise NotImplementedError(
            f"vision.{caller} with Inter.{way.name} is not covered by hookscope: use BILINEAR or NEAREST"
        )
    return way


def _sample(image: Array, x: Array, y: Array, way: Inter, fill: Sequence[float]) -> Array:
    """Sample the image at coordinates x, y, in 1/32 of a pixel for BILINEAR; ``fill`` outside the image."""
    layers = image if image.ndim == 3 else image[:, :, None]
    height, width, channels = layers.shape
    ground = np.resize(np.asarray(fill, np.float64), channels)

    def at(columns: Array, rows: Array) -> Array:
        inside = (columns >= 0) & (columns < width) & (rows >= 0) & (rows < height)
        pixels = layers[np.where(inside, rows, 0), np.where(inside, columns, 0)].astype(np.float64)
        return np.where(inside[..., None], pixels, ground)

    if way is Inter.NEAREST:
        result = at(x, y)
    else:
        column, row = x >> 5, y >> 5
        across, down = ((coordinate & 31)[..., None] / 32 for coordinate in (x, y))
        result = (
            at(column, row) * (1 - across) * (1 - down)
            + at(column + 1, row) * across * (1 - down)
            + at(column, row + 1) * (1 - across) * down
            + at(column + 1, row + 1) * across * down
        )
        if image.dtype.kind in "iu":
            result = np.floor(result + 0.5)
    return rounded(result, image.dtype).reshape(*x.shape, *image.shape[2:])


def _warped(image: Array, matrix: Array, size: tuple[int, int], way: Inter, fill: Sequence[float]) -> Array:
    """Warp the image by an affine map (2, 3) of its coordinates, rounded as OpenCV rounds them."""
    back = np.linalg.inv(np.vstack([matrix, [0, 0, 1]]))[:2]
    rows, columns = (np.arange(n) for n in size)
    half, shift = (512, 10) if way is Inter.NEAREST else (16, 5)
    coordinates = [
        (
            np.rint(((row_of_map[1] * rows) + row_of_map[2]) * 1024).astype(np.int64)[:, None]
            + half
            + np.rint(row_of_map[0] * columns * 1024).astype(np.int64)
        )
        >> shift
        for row_of_map in back
    ]
    return _sample(image, coordinates[0], coordinates[1], way, fill)


def _rotation(degrees: float, center: tuple[float, float]) -> Array:
    """Return the affine map of a counterclockwise rotation, with rows growing downward."""
    angle = np.deg2rad(degrees)
    cosine, sine = np.cos(angle), np.sin(angle)
    x, y = center
    return np.array([[cosine, sine, (1 - cosine) * x - sine * y], [-sine, cosine, sine * x + (1 - cosine) * y]])


class Rotate(OnDevice, ImageTransform):
    """Rotates the image counterclockwise.

    Args:
        degrees: the angle.
        resample: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        expand: enlarge the result to contain the whole image, rotated around its center.
        center: the center (x, y) of the rotation; by default the middle of the image.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(
        self,
        degrees: float,
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Fill = 0,
    ) -> None:
        caller = type(self).__name__
        self.degrees = factor(caller, "degrees", degrees, -np.inf, np.inf)
        self.way = _way(caller, "resample", resample)
        self.expand = check_bool(expand, caller, "expand", show=repr)
        self.center = None if center is None else _two(caller, "center", center)
        self.fill = fill_of(caller, fill_value)

    def changed(self, value: Array) -> Array:
        return self.turned(value, self.degrees)

    def turned(self, value: Array, degrees: float) -> Array:
        """Return the image rotated by an angle in degrees."""
        height, width = picture(type(self).__name__, value).shape[:2]
        center = self.center or ((width - 1) / 2, (height - 1) / 2)
        matrix, size = _rotation(degrees, center), (height, width)
        if self.expand:
            cosine, sine = abs(np.cos(np.deg2rad(degrees))), abs(np.sin(np.deg2rad(degrees)))
            wide, tall = width * cosine + height * sine, height * cosine + width * sine
            matrix = _rotation(degrees, ((width - 1) / 2, (height - 1) / 2))
            matrix[:, 2] += ((wide - width) / 2, (tall - height) / 2)
            size = (round(tall), round(wide))
        return _warped(value, matrix, size, self.way, self.fill)


def _two(caller: str, argument: str, value: Any) -> tuple[float, float]:
    check_type(value, list | tuple, caller, argument, "two numbers", show=repr)
    if len(value) != 2:
        raise ValueError(f"For '{caller}', '{argument}' must be two numbers, but got {value!r}")
    first, second = (factor(caller, argument, number, -np.inf, np.inf) for number in value)
    return first, second


def _around(caller: str, argument: str, value: Any) -> tuple[float, float]:
    """Return a range; a number x means -x to x."""
    if isinstance(value, list | tuple):
        return span(caller, argument, value, -np.inf, np.inf)
    most = factor(caller, argument, value, 0, np.inf)
    return -most, most


class RandomRotation(Rotate):
    """Rotates the image counterclockwise by a random angle.

    Args:
        degrees: the range of the angle; a number x means -x to x.
        resample: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        expand: enlarge the result to contain the whole image, rotated around its center.
        center: the center (x, y) of the rotation; by default the middle of the image.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        expand: bool = False,
        center: tuple[float, float] | None = None,
        fill_value: Fill = 0,
    ) -> None:
        super().__init__(0, resample, expand, center, fill_value)
        self.range = _around("RandomRotation", "degrees", degrees)

    def changed(self, value: Array) -> Array:
        return self.turned(value, drawn(*self.range))


def _affine(
    shape: Sequence[int], degrees: float, move: tuple[float, float], scale: float, shear: tuple[float, float]
) -> Array:
    """Return the affine map that rotates clockwise around the center, shears and scales, and then translates."""
    angle, first, second = np.deg2rad(degrees), np.deg2rad(shear[0]), np.deg2rad(shear[1])
    parts = (
        np.array(
            [
                [
                    np.cos(angle - second) / np.cos(second),
                    -np.cos(angle - second) * np.tan(first) / np.cos(second) - np.sin(angle),
                ],
                [
                    np.sin(angle - second) / np.cos(second),
                    -np.sin(angle - second) * np.tan(first) / np.cos(second) + np.cos(angle),
                ],
            ]
        )
        * scale
    )
    middle = np.array([(shape[1] - 1) / 2, (shape[0] - 1) / 2])
    return np.column_stack([parts, middle + move - parts @ middle])


class Affine(OnDevice, ImageTransform):
    """Rotates the image clockwise around its center, shears, scales and translates it.

    Args:
        degrees: the angle of rotation.
        translate: the translation as fractions of its width and its height, from -1 to 1.
        scale: the factor, above 0.
        shear: the angles along the width and the height in degrees, or one along the width.
        resample: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    def __init__(
        self,
        degrees: float,
        translate: Sequence[float],
        scale: float,
        shear: float | Sequence[float],
        resample: Inter = Inter.NEAREST,
        fill_value: Fill = 0,
    ) -> None:
        self.degrees = factor("Affine", "degrees", degrees, -np.inf, np.inf)
        self.translate = _two("Affine", "translate", translate)
        for fraction in self.translate:
            factor("Affine", "translate", fraction, -1, 1)
        self.scale = _above_zero("Affine", scale)
        self.shear = _two("Affine", "shear", shear if isinstance(shear, list | tuple) else (shear, 0))
        self.way, self.fill = _way("Affine", "resample", resample), fill_of("Affine", fill_value)

    def changed(self, value: Array) -> Array:
        height, width = picture("Affine", value).shape[:2]
        move = self.translate[0] * width, self.translate[1] * height
        matrix = _affine(value.shape, self.degrees, move, self.scale, self.shear)
        return _warped(value, matrix, (height, width), self.way, self.fill)


def _above_zero(caller: str, scale: Any) -> float:
    number = factor(caller, "scale", scale)
    if not number:
        raise ValueError(f"For '{caller}', 'scale' must be above 0, but got {scale}")
    return number


class RandomAffine(ImageTransform):
    """Rotates the image around its center, shears, scales and translates it at random.

    Args:
        degrees: the range of the angle; a number x means -x to x.
        translate: the ranges of the translation as fractions of width and height, each from -1 to 1: two numbers for
            both, or two for each; by default none.
        scale: the range of the factor; by default 1.
        shear: the range of the angle of shearing along the width, or that and the one along the height; a number x
            means -x to x; by default none.
        resample: ``Inter.NEAREST`` or ``Inter.BILINEAR``.
        fill_value: the value outside the image, from 0 to 255, or one for each of three channels.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        resample: Inter = Inter.NEAREST,
        fill_value: Fill = 0,
    ) -> None:
        caller = "RandomAffine"
        self.degrees = _around(caller, "degrees", degrees)
        ranges = (0, 0, 0, 0) if translate is None else tuple(check_type(translate, list | tuple, caller, "translate"))
        if len(ranges) not in (2, 4):
            raise ValueError(f"For '{caller}', 'translate' must be two or four numbers, but got {translate!r}")
        ranges = ranges if len(ranges) == 4 else (*ranges, 0, 0)
        self.translate = [span(caller, "translate", ranges[at : at + 2], -1, 1) for at in (0, 2)]
        self.scale = (1.0, 1.0) if scale is None else span(caller, "scale", scale, 1e-9)
        if isinstance(shear, list | tuple) and len(shear) == 4:
            self.shear = [span(caller, "shear", shear[at : at + 2], -360, 360) for at in (0, 2)]
        else:
            self.shear = [_around(caller, "shear", 0 if shear is None else shear), (0.0, 0.0)]
        self.way, self.fill = _way(caller, "resample", resample), fill_of(caller, fill_value)

    def changed(self, value: Array) -> Array:
        height, width = picture("RandomAffine", value).shape[:2]
        across, down = (drawn(*limits) for limits in self.translate)
        shear = drawn(*self.shear[0]), drawn(*self.shear[1])
        matrix = _affine(value.shape, drawn(*self.degrees), (across * width, down * height), drawn(*self.scale), shear)
        return _warped(value, matrix, (height, width), self.way, self.fill)


Corners = Sequence[Sequence[float]]


def _homography(start: Corners, end: Corners) -> Array:
    """Return the homography that maps four points to four others."""
    rows, right = [], []
    for (x, y), (u, v) in zip(start, end, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(np.array(rows, float), np.array(right, float)), 1).reshape(3, 3)


def _project(image: Array, start: Corners, end: Corners, way: Inter) -> Array:
    height, width = image.shape[:2]
    back = np.linalg.inv(_homography(start, end))
    y, x = np.mgrid[:height, :width]
    across, down, depth = (terms[0] * x + terms[1] * y + terms[2] for terms in back)
    depth = np.where(depth == 0, np.inf, depth)
    parts = 1 if way is Inter.NEAREST else 32
    coordinates = [np.rint(terms / depth * parts).astype(np.int64) for terms in (across, down)]
    return _sample(image, coordinates[0], coordinates[1], way, (0, 0, 0))


class Perspective(OnDevice, ImageTransform):
    """Maps four points of the image to four others by a change of perspective.

    Args:
        start_points: four points (x, y) of the image.
        end_points: their positions in the result.
        interpolation: ``Inter.BILINEAR`` or ``Inter.NEAREST``.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: the wrong number of points.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(self, start_points: Corners, end_points: Corners, interpolation: Inter = Inter.BILINEAR) -> None:
        for name, points in (("start_points", start_points), ("end_points", end_points)):
            check_type(points, list | tuple, "Perspective", name, "four points", show=repr)
            if len(points) != 4:
                raise ValueError(f"For 'Perspective', '{name}' must be four points, but got {points!r}")
            for point in points:
                _two("Perspective", name, point)
        self.start, self.end = start_points, end_points
        self.way = _way("Perspective", "interpolation", interpolation)

    def changed(self, value: Array) -> Array:
        return _project(picture("Perspective", value), self.start, self.end, self.way)


class RandomPerspective(Sometimes, ImageTransform):
    """Changes the perspective of the image at random, with probability ``prob``.

    Args:
        distortion_scale: the maximum displacement of its corners, as a fraction of half of its width and height.
        prob: the probability, from 0 to 1.
        interpolation: ``Inter.BILINEAR`` or ``Inter.NEAREST``; ``Inter.BICUBIC`` uses the former.

    Raises:
        TypeError: an argument of the wrong type.
        ValueError: a number out of range.
        NotImplementedError: an unsupported interpolation mode.
        RuntimeError: when called, an input other than an image.
    """

    keeps_pictures = True

    def __init__(self, distortion_scale: float = 0.5, prob: float = 0.5, interpolation: Inter = Inter.BICUBIC) -> None:
        self.scale = factor("RandomPerspective", "distortion_scale", distortion_scale, 0, 1)
        self.prob = probability("RandomPerspective", prob)
        mode = Inter.BILINEAR if interpolation is Inter.BICUBIC else interpolation
        self.way = _way("RandomPerspective", "interpolation", mode)

    def changed(self, value: Array) -> Array:
        height, width = picture("RandomPerspective", value).shape[:2]
        start = [(0, 0), (width - 1, 0), (width - 1, height - 1), (0, height - 1)]
        most = int(self.scale * width / 2), int(self.scale * height / 2)
        for _ in range(10):
            inward = [[int(current_random().integers(n + 1)) for n in most] for _ in start]
            end = [
                (x + (dx if x == 0 else -dx), y + (dy if y == 0 else -dy))
                for (x, y), (dx, dy) in zip(start, inward, strict=True)
            ]
            try:
                return _project(value, start, end, self.way)
            except np.linalg.LinAlgError:  # three corners on one line: the image has no area
                continue
        return value
