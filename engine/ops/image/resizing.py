"""Resizing of images, signals and volumes: the nearest element, the mean of an area, or a linear or cubic line."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_bool, check_one_of, check_size, check_type
from ...base.surfaces import declare, prim
from ...base.types import Array, Ints, Shape
from ...tensors.backend import to_device
from ...tensors.dtype import float32, int32
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant_array
from ..arguments import check_tensor, ints_of
from ..linalg.matmul import weighted_sums
from ..neural.adaptive_pooling import edges_of
from ..neural.convolution import ints_for

__all__ = ["interpolate", "upsample"]

_MODES = {
    3: ("nearest", "linear", "area", "nearest-exact"),
    4: ("nearest", "bilinear", "bicubic", "area", "nearest-exact"),
    5: ("nearest", "trilinear", "area", "nearest-exact"),
}


def _cubic(t: float, a: float) -> list[float]:
    """Return the weights of four neighbors at distance t after the second (Keys 1981)."""

    def near(d: float) -> float:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: float) -> float:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _resizing(
    length: int, size: int, mode: str, align_corners: bool, scale: float | None, centers: bool = True
) -> Array:
    """Return the matrix (length, wanted) that resizes one axis; ``centers``: element i is at i + 0.5, else at i."""
    weights = np.zeros((length, size))
    ratio = 1 / scale if scale else length / size
    if align_corners:
        ratio = (length - 1) / (size - 1) if size > 1 else 0.0
    if mode == "area":
        for index, (start, stop) in enumerate(edges_of(length, size)):
            weights[start:stop, index] = 1 / (stop - start)
        return weights
    for index in range(size):
        if mode.startswith("nearest"):
            at = index * ratio if mode == "nearest" else (index + 0.5) * ratio
            # With aligned corners the nearest one, halves upwards; otherwise the one that it is in.
            weights[min(math.floor(at + 0.5 if align_corners else at), length - 1), index] = 1
            continue
        at = index * ratio if align_corners or not centers else (index + 0.5) * ratio - 0.5
        if mode == "bicubic":
            # As in MindSpore: a = -0.5 if elements are at their centers, without elements outside; otherwise -0.75,
            # with the edge repeated.
            first, repeats_edge = math.floor(at), align_corners or not centers
            for step, weight in enumerate(_cubic(at - first, -0.75 if repeats_edge else -0.5)):
                source = first - 1 + step
                if repeats_edge or 0 <= source < length:
                    weights[min(max(source, 0), length - 1), index] += weight
            weights[:, index] /= weights[:, index].sum()
        else:
            at = max(at, 0.0)
            first = min(int(at), length - 1)
            weights[first, index] += 1 - (at - first)
            weights[min(first + 1, length - 1), index] += at - first
    return weights


@declare(mint=("nn.functional.interpolate", "nn.functional.upsample"))
def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Return (N, C, ...) resized to ``size``, or by ``scale_factor``.

    Args:
        input: a tensor (N, C, L), (N, C, H, W) or (N, C, D, H, W); of floating numbers unless the mode is a nearest
            one.
        size: the lengths of the result after N and C, an int for all or one for each; or None.
        scale_factor: their factors, a number for all or one for each, if ``size`` is None. A length is rounded down.
        mode: "nearest" (element floor(i * scale)), "nearest-exact" (floor((i + 0.5) * scale)), "area" (the mean of the
            area of an element), and by the number of axes "linear", "bilinear", "bicubic" (Keys 1981), "trilinear".
        align_corners: whether the centers of the corners keep their positions, otherwise an element is at its center,
            i + 0.5; only with the linear and cubic modes. None is False.
        recompute_scale_factor: whether the scale is taken from the lengths, not from ``scale_factor``.

    Returns:
        A tensor of the same dtype.

    Raises:
        TypeError: ``input`` is not a Tensor, or holds integers with a mode that makes fractions.
        ValueError: an unknown mode, not one of ``size`` and ``scale_factor``, or settings that the mode does not have.
    """
    x = check_tensor(input, "interpolate")
    modes = _MODES.get(x.ndim)
    if modes is None or mode not in modes:
        raise ValueError(
            f"For 'interpolate', 'mode' must be one of {modes or 'those for 3, 4 or 5 axes'} for an input of shape "
            f"{x.shape}, but got {mode!r}"
        )
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(f"For 'interpolate', 'align_corners' cannot be set with mode {mode!r}")
    if (size is None) == (scale_factor is None):
        raise ValueError("For 'interpolate', one of 'size' and 'scale_factor' must be given, and not both")
    if size is not None and recompute_scale_factor:
        raise ValueError("For 'interpolate', 'recompute_scale_factor' cannot be set with 'size'")
    if x._array.dtype.kind not in "fV" and not mode.startswith("nearest"):
        raise TypeError(f"For 'interpolate', 'input' must hold floating numbers with mode {mode!r}, but got {x.dtype}")
    axes = x.ndim - 2
    scales: list[float | None] = [None] * axes
    if size is not None:
        lengths = ints_for(size, axes, "interpolate", "size")
        check_size(lengths, "interpolate", "size")
    else:
        factors: Sequence[Any] = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * axes
        if len(factors) != axes or not all(isinstance(s, int | float) and 0 < s < math.inf for s in factors):
            raise ValueError(f"For 'interpolate', 'scale_factor' must be positive numbers, but got {scale_factor!r}")
        lengths = tuple(math.floor(n * s) for n, s in zip(x.shape[2:], factors, strict=True))
        check_size(lengths, "interpolate", "scale_factor")
        if not recompute_scale_factor:
            scales = [float(s) for s in factors]
    return _resize(x, lengths, mode, bool(align_corners), scales)


def _resize(
    x: Tensor, size: Sequence[int], mode: str, align_corners: bool, scales: Sequence[float | None], centers: bool = True
) -> Tensor:
    for axis, (length, target, scale) in enumerate(zip(x.shape[2:], size, scales, strict=True)):
        if length == target and mode != "bicubic":
            continue
        weights = _resizing(length, target, mode, align_corners, scale, centers)
        x = weighted_sums(x, weights=constant_array(to_device(weights)), axis=axis + 2)
    return x


upsample = interpolate


def _size(value: Shape) -> tuple[int, ...]:
    return ints_of(value, "interpolate", "size")


def _resized(name: str, mode: str, lines: str) -> Callable[..., Tensor]:
    """Return a function that resizes images; ``lines`` describes the values between the elements."""

    def run(x: Tensor, size: Shape, align_corners: bool, half_pixel_centers: bool) -> Tensor:
        if align_corners and half_pixel_centers:
            raise ValueError(f"For '{name}', 'half_pixel_centers' must be False with align_corners, but both are True")
        lengths = _size(size)
        if check_tensor(x, name, "x").ndim != 4 or len(lengths) != 2 or min(lengths) < 1:
            raise ValueError(
                f"For '{name}', 'x' must have 4 axes and 'size' two lengths above 0, but got {x.shape} and {lengths}"
            )
        check_size(lengths, name, "size")
        exact = "nearest-exact" if mode == "nearest" and half_pixel_centers else mode
        return _resize(x, lengths, exact, align_corners, (None, None), half_pixel_centers)

    run.__doc__ = f"""(N, C, H, W) resized to ``size``, {lines}.

    Args:
        x: a tensor (N, C, H, W) of floating numbers.
        size: H and W of the result, two ints.
        align_corners: whether the centers of the corners stay where they are.
        half_pixel_centers: whether an element is at its center, i + 0.5; not together with ``align_corners``. Without
            both an element is at i, and element 0 stays where it is.

    Returns:
        A tensor (N, C, *size) of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: the wrong number of axes or lengths, a length below 1, or both settings.
    """
    return run


_ALIGNED = {"align_corners": False, "half_pixel_centers": False}
declare(primitive=prim("ResizeBicubic", **_ALIGNED))(_resized("ResizeBicubic", "bicubic", "along cubic lines"))
declare(primitive=prim("ResizeBilinearV2", **_ALIGNED))(
    _resized("ResizeBilinearV2", "bilinear", "along lines between neighbors")
)
declare(primitive=(prim("ResizeNearestNeighbor", "size", **_ALIGNED), prim("ResizeNearestNeighborV2", **_ALIGNED)))(
    _resized("ResizeNearestNeighbor", "nearest", "each element the nearest one")
)


@declare(primitive=prim("ResizeLinear1D", coordinate_transformation_mode="align_corners"))
def _resize_linear(x: Tensor, size: Shape, coordinate_transformation_mode: str) -> Tensor:
    """Return (N, C, L) resized to ``size`` along lines between neighbors.

    Args:
        x: a tensor (N, C, L) of floating numbers.
        size: L of the result.
        coordinate_transformation_mode: "align_corners" (the centers of the corners keep their positions) or
            "half_pixel" (an element is at its center, i + 0.5).

    Returns:
        A tensor (N, C, size) of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: the wrong number of axes, or an unknown mode.
    """
    if coordinate_transformation_mode not in ("align_corners", "half_pixel"):
        raise ValueError(
            f"For 'ResizeLinear1D', 'coordinate_transformation_mode' must be 'align_corners' or 'half_pixel', "
            f"but got {coordinate_transformation_mode!r}"
        )
    return interpolate(x, _size(size), None, "linear", coordinate_transformation_mode == "align_corners")


@declare(primitive=prim("UpsampleNearest3D"))
def _upsample_nearest(x: Tensor, output_size: Shape | None = None, scales: Sequence[float] | None = None) -> Tensor:
    """Return (N, C, D, H, W) resized, each element the nearest one.

    Args:
        x: a tensor (N, C, D, H, W).
        output_size: D, H and W of the result, or None if ``scales`` is given.
        scales: their factors, or None if ``output_size`` is given.

    Returns:
        A tensor (N, C, D', H', W') of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: the wrong number of axes, or not one of ``output_size`` and ``scales``.
    """
    return _upsampled("nearest", x, output_size, scales, None)


@declare(primitive=prim("UpsampleTrilinear3D", align_corners=False))
def _upsample_trilinear(
    x: Tensor, output_size: Shape | None = None, scales: Sequence[float] | None = None, *, align_corners: bool
) -> Tensor:
    """Return (N, C, D, H, W) resized along lines between neighbors.

    Args:
        x: a tensor (N, C, D, H, W) of floating numbers.
        output_size: D, H and W of the result, or None if ``scales`` is given.
        scales: their factors, or None if ``output_size`` is given.
        align_corners: whether the centers of the corners keep their positions.

    Returns:
        A tensor (N, C, D', H', W') of the same dtype.

    Raises:
        TypeError: ``x`` is not a Tensor.
        ValueError: the wrong number of axes, or not one of ``output_size`` and ``scales``.
    """
    return _upsampled("trilinear", x, output_size, scales, align_corners)


def _upsampled(
    mode: str, x: Tensor, output_size: Shape | None, scales: Sequence[float] | None, align_corners: bool | None
) -> Tensor:
    factors = tuple(scales) if scales is not None else None
    size = None if output_size is None else _size(output_size)
    return interpolate(x, size, factors, mode, align_corners, True if factors else None)


def _check_images(name: str, images: Tensor, **pairs: Tensor) -> None:
    """Check images (N, H, W, C), and tensors of two numbers: ``size`` in Int32, others in Float32."""
    if check_tensor(images, name, "images").ndim != 4:
        raise ValueError(f"For '{name}', 'images' must have 4 axes (N, H, W, C), but got shape {images.shape}")
    for argument, pair in pairs.items():
        expected = int32 if argument == "size" else float32
        if check_tensor(pair, name, argument).shape != (2,):
            raise ValueError(f"For '{name}', '{argument}' must have the shape (2,), but got {pair.shape}")
        if pair.dtype != expected:
            raise TypeError(f"For '{name}', '{argument}' must be of {expected}, but got {pair.dtype}")
        if argument != "translation" and min(pair.tolist()) <= 0:
            raise ValueError(f"For '{name}', '{argument}' must be above 0, but got {pair.tolist()}")
        if argument == "size":
            check_size(pair.tolist(), name, argument)


@declare(primitive=prim("ResizeArea", align_corners=False))
def _resize_area(images: Tensor, size: Tensor, align_corners: bool) -> Tensor:
    """Return (N, H, W, C) resized: each element is the mean of its area, in which pixels may count in part.

    Args:
        images: a tensor (N, H, W, C) of real numbers.
        size: H and W of the result, an Int32 tensor of two.
        align_corners: whether an element covers (H - 1) / (size - 1) pixels instead of H / size.

    Returns:
        A Float32 tensor (N, *size, C).

    Raises:
        TypeError: an argument that is not a Tensor or of the wrong dtype, or ``align_corners`` is not a bool.
        ValueError: the wrong number of axes or lengths, or a length that is not above 0.
    """
    check_bool(align_corners, "ResizeArea", "align_corners")
    _check_images("ResizeArea", images, size=size)
    x = images.astype(float32)
    for axis, target in enumerate(size.tolist(), 1):
        length = x.shape[axis]
        part = (length - 1) / (target - 1) if align_corners and target > 1 else length / target
        weights = np.zeros((length, target))
        for index in range(target):
            begin, end = index * part, (index + 1) * part
            for pixel in range(math.floor(begin), max(math.ceil(end), math.floor(begin) + 1)):
                overlap = min(end, pixel + 1) - max(begin, pixel)
                weights[min(pixel, length - 1), index] += overlap / part if part else 1.0
        x = weighted_sums(x, weights=constant_array(to_device(weights)), axis=axis)
    return x


def _lanczos(x: Array, radius: float) -> Array:
    return np.where(np.abs(x) > radius, 0.0, np.sinc(x) * np.sinc(x / radius))


def _of_cubic(x: Array, near: Sequence[float], far: Sequence[float]) -> Array:
    x = np.abs(x)
    return np.where(x < 1, np.polyval(near, x), np.where(x < 2, np.polyval(far, x), 0.0))


# The radius of each kernel, and its weight at a distance.
_KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, lambda x: _lanczos(x, 1.0)),
    "lanczos3": (3.0, lambda x: _lanczos(x, 3.0)),
    "lanczos5": (5.0, lambda x: _lanczos(x, 5.0)),
    "gaussian": (1.5, lambda x: np.where(np.abs(x) < 1.5, np.exp(-2.0 * x * x), 0.0)),
    "box": (0.5, lambda x: (np.abs(x) < 0.5) + 0.5 * (np.abs(x) == 0.5)),
    "triangle": (1.0, lambda x: np.maximum(1.0 - np.abs(x), 0.0)),
    "keyscubic": (2.0, lambda x: _of_cubic(x, (1.5, -2.5, 0.0, 1.0), (-0.5, 2.5, -4.0, 2.0))),
    "mitchellcubic": (2.0, lambda x: _of_cubic(x, (7 / 6, -2.0, 0.0, 8 / 9), (-7 / 18, 2.0, -10 / 3, 16 / 9))),
}


@declare(primitive=prim("ScaleAndTranslate", kernel_type="lanczos3", antialias=True))
def _scale_and_translate(
    images: Tensor, size: Tensor, scale: Tensor, translation: Tensor, kernel_type: str, antialias: bool
) -> Tensor:
    """Return (N, H, W, C) scaled, then moved: a point x goes to scale * x + translation; pixel i is at i + 0.5.

    Args:
        images: a tensor (N, H, W, C) of real numbers.
        size: H and W of the result, an Int32 tensor of two.
        scale: the factors along H and W, a Float32 tensor of two.
        translation: the shift after that, likewise, in pixels of the result.
        kernel_type: the weights of pixels by their distance: "lanczos1", "lanczos3", "lanczos5", "gaussian" (its
            deviation 0.5), "box", "triangle", "keyscubic" (Keys 1981) or "mitchellcubic" (Mitchell 1988). Weights are
            scaled to a sum of 1.
        antialias: whether the kernel widens by as much as the image gets smaller.

    Returns:
        A Float32 tensor (N, *size, C); 0 for elements from outside of the image.

    Raises:
        TypeError: an argument that is not a Tensor or of the wrong dtype, or ``antialias`` is not a bool.
        ValueError: an unsupported ``kernel_type`` or number of axes or lengths, or a size or factor that is not above
            0.
    """
    name = "ScaleAndTranslate"
    check_one_of(check_type(kernel_type, str, name, "kernel_type"), tuple(_KERNELS), name, "kernel_type")
    check_bool(antialias, name, "antialias")
    _check_images(name, images, size=size, scale=scale, translation=translation)
    radius, kernel = _KERNELS[kernel_type]
    x = images.astype(float32)
    for axis, (target, factor, shift) in enumerate(
        zip(size.tolist(), scale.tolist(), translation.tolist(), strict=True), 1
    ):
        length = x.shape[axis]
        wide = max(1 / factor, 1.0) if antialias else 1.0
        weights = np.zeros((length, target))
        for index in range(target):
            at = (index + 0.5 - shift) / factor
            if not 0 <= at <= length:
                continue
            # Within the radius, but at least the outermost pixel.
            first = min(max(math.ceil(at - radius * wide - 0.5), 0), length - 1)
            last = min(max(math.floor(at + radius * wide - 0.5), 0), length - 1)
            kernel_weights = kernel((np.arange(first, last + 1) + 0.5 - at) / wide)
            weights[first : last + 1, index] = (
                kernel_weights / kernel_weights.sum() if abs(kernel_weights.sum()) > 1e-35 else kernel_weights
            )
        x = weighted_sums(x, weights=constant_array(to_device(weights)), axis=axis)
    return x


@declare(primitive=prim("ResizeV2", coordinate_transformation_mode="half_pixel", mode="nearest"))
def _resize_by_sizes(
    x: Tensor, roi: Tensor, scales: Tensor, sizes: Tensor, *, coordinate_transformation_mode: str, mode: str
) -> Tensor:
    """Return images resized to ``sizes``.

    Args:
        x: a tensor (N, C, H, W); with "nearest" and "linear" H is 1.
        roi: not used, as in MindSpore.
        scales: not used, likewise.
        sizes: the shape of the result, four integers: N, C, height and width; with "nearest" and "linear" height is 1.
        coordinate_transformation_mode: "half_pixel" (an element is at its center) or "align_corners" (the corners stay
            where they are; not with "nearest").
        mode: "nearest", "linear" or "cubic".

    Returns:
        A tensor of shape ``sizes`` and of the dtype of ``x``.

    Raises:
        TypeError: ``x``, ``roi``, ``scales`` or ``sizes`` is not a Tensor.
        ValueError: an unknown mode, or shapes that do not fit.
    """
    name = "ResizeV2"
    for argument, tensor in (("x", x), ("roi", roi), ("scales", scales), ("sizes", sizes)):
        check_tensor(tensor, name, argument)
    check_one_of(mode, ("nearest", "linear", "cubic"), name, "mode")
    check_one_of(
        coordinate_transformation_mode, ("half_pixel", "align_corners"), name, "coordinate_transformation_mode"
    )
    is_aligned = coordinate_transformation_mode == "align_corners"
    if mode == "nearest" and is_aligned:
        raise ValueError(f"For '{name}', 'coordinate_transformation_mode' must be 'half_pixel' with mode 'nearest'")
    shape = ints_of(sizes, name, "sizes")
    if x.ndim != 4 or len(shape) != 4 or shape[:2] != x.shape[:2] or min(shape) < 1:
        raise ValueError(f"For '{name}', 'sizes' must be (N, C, height, width) for 'x', but got {shape} and {x.shape}")
    check_size(shape[2:], name, "sizes")
    if mode != "cubic" and (shape[2] != 1 or x.shape[2] != 1):
        raise ValueError(f"For '{name}', height must be 1 with mode {mode!r}, but got {shape} and {x.shape}")
    if mode != "cubic":
        kind = {"nearest": "nearest", "linear": "bilinear"}[mode]
        return _resize(x, shape[2:], kind, is_aligned, (None, None))
    for axis, (length, target) in enumerate(zip(x.shape[2:], shape[2:], strict=True)):
        x = weighted_sums(x, weights=to_device(_cubic_lines(length, target, is_aligned)), axis=axis + 2)
    return x


def _cubic_lines(length: int, size: int, align_corners: bool) -> Array:
    """Return the matrix (length, wanted) of cubic interpolation with a = -0.75, the edges repeated."""
    weights = np.zeros((length, size))
    for index in range(size):
        if align_corners:
            at = index * (length - 1) / (size - 1) if size > 1 else 0.0
        else:
            at = (index + 0.5) * length / size - 0.5
        for step, weight in enumerate(_cubic(at - math.floor(at), -0.75)):
            weights[min(max(math.floor(at) - 1 + step, 0), length - 1), index] += weight
    return weights
