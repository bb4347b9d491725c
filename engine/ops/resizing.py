"""Resizing of images, signals and volumes: the nearest element, the mean of an area, or a linear or cubic line."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.backend import to_device
from ..core.surfaces import declare, prim
from ..core.tensor import Tensor
from .adaptive_pooling import edges_of
from .arguments import check_tensor
from .convolution import ints_for
from .linalg import matmul
from .shape import swapaxes

__all__ = ["interpolate", "upsample"]

_MODES = {
    3: ("nearest", "linear", "area", "nearest-exact"),
    4: ("nearest", "bilinear", "bicubic", "area", "nearest-exact"),
    5: ("nearest", "trilinear", "area", "nearest-exact"),
}


def _cubic(t: float, a: float) -> list[float]:
    """The weights of four neighbours at distance t behind the second (Keys 1981)."""

    def near(d: float) -> float:
        return ((a + 2) * d - (a + 3)) * d * d + 1

    def far(d: float) -> float:
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def _resizing(length: int, wanted: int, mode: str, align_corners: bool, scale: float | None) -> Any:
    """The matrix (length, wanted) that resizes one axis."""
    weights = np.zeros((length, wanted))
    ratio = 1 / scale if scale else length / wanted
    if align_corners:
        ratio = (length - 1) / (wanted - 1) if wanted > 1 else 0.0
    if mode == "area":
        for place, (start, stop) in enumerate(edges_of(length, wanted)):
            weights[start:stop, place] = 1 / (stop - start)
        return weights
    for place in range(wanted):
        if mode.startswith("nearest"):
            at = place * ratio if mode == "nearest" else (place + 0.5) * ratio
            weights[min(math.floor(at), length - 1), place] = 1
            continue
        at = place * ratio if align_corners else (place + 0.5) * ratio - 0.5
        if mode == "bicubic":
            # As in MindSpore: with aligned corners a = -0.75 and the edge repeated, else a = -0.5 and what is outside
            # left out.
            first = math.floor(at)
            for step, weight in enumerate(_cubic(at - first, -0.75 if align_corners else -0.5)):
                source = first - 1 + step
                if align_corners or 0 <= source < length:
                    weights[min(max(source, 0), length - 1), place] += weight
            weights[:, place] /= weights[:, place].sum()
        else:
            at = max(at, 0.0)
            first = min(int(at), length - 1)
            weights[first, place] += 1 - (at - first)
            weights[min(first + 1, length - 1), place] += at - first
    return weights


@declare(mint=("nn.functional.interpolate", "nn.functional.upsample"))
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """(N, C, ...) resized to ``size``, or by ``scale_factor``.

    Args:
        mode: "nearest", "nearest-exact", "area", and by the number of axes "linear", "bilinear", "bicubic",
            "trilinear".
        align_corners: whether the corners stay where they are; only with the linear and cubic modes.
        recompute_scale_factor: take the scale from the lengths, not from ``scale_factor``.

    Raises:
        TypeError: ``input`` is no Tensor.
        ValueError: another mode, or not one of ``size`` and ``scale_factor``.
    """
    x = check_tensor(input, "interpolate")
    allowed = _MODES.get(x.ndim)
    if allowed is None or mode not in allowed:
        raise ValueError(
            f"For 'interpolate', 'mode' must be one of {allowed or 'those for 3, 4 or 5 axes'} for an input of shape "
            f"{x.shape}, but got {mode!r}"
        )
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(f"For 'interpolate', 'align_corners' cannot be set with mode {mode!r}")
    if (size is None) == (scale_factor is None):
        raise ValueError("For 'interpolate', one of 'size' and 'scale_factor' must be given, and not both")
    axes = x.ndim - 2
    scales: list[float | None] = [None] * axes
    if size is not None:
        wanted = ints_for(size, axes, "interpolate", "size")
    else:
        given = scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * axes
        if len(given) != axes or not all(isinstance(s, int | float) and s > 0 for s in given):
            raise ValueError(f"For 'interpolate', 'scale_factor' must be positive numbers, but got {scale_factor!r}")
        wanted = tuple(math.floor(n * s) for n, s in zip(x.shape[2:], given, strict=True))
        if not recompute_scale_factor:
            scales = [float(s) for s in given]
    last = x.ndim - 1
    for axis, (length, target, scale) in enumerate(zip(x.shape[2:], wanted, scales, strict=True)):
        if length == target and mode != "bicubic":
            continue
        weights = _resizing(length, target, mode, bool(align_corners), scale).astype(x._array.dtype)
        matrix = Tensor._wrap(to_device(weights))
        x = swapaxes(matmul(swapaxes(x, axis + 2, last), matrix), axis + 2, last)
    return x


upsample = interpolate


def _size(value: Any) -> tuple[int, ...]:
    return tuple(value.tolist() if isinstance(value, Tensor) else value)


def _resized(mode: str) -> Callable[..., Tensor]:
    def run(x: Tensor, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Tensor:
        if mode != "nearest" and not align_corners and not half_pixel_centers:
            raise NotImplementedError(
                f"resizing ({mode}) without align_corners and half_pixel_centers is not covered; "
                "ops.interpolate has both forms"
            )
        if mode == "nearest" and align_corners:
            raise NotImplementedError("resizing (nearest) with align_corners is not covered; use ops.interpolate")
        return interpolate(x, _size(size), None, mode, None if mode == "nearest" else align_corners)

    return run


_ALIGNED = {"align_corners": False, "half_pixel_centers": False}
declare(primitive=prim("ResizeBicubic", **_ALIGNED))(_resized("bicubic"))
declare(primitive=prim("ResizeBilinearV2", **_ALIGNED))(_resized("bilinear"))
declare(primitive=(prim("ResizeNearestNeighbor", "size", **_ALIGNED), prim("ResizeNearestNeighborV2", **_ALIGNED)))(
    _resized("nearest")
)


@declare(primitive=prim("ResizeLinear1D", coordinate_transformation_mode="align_corners"))
def _resize_linear(x: Tensor, size: Any, coordinate_transformation_mode: str) -> Tensor:
    """(N, C, L) resized to ``size`` along lines between neighbors."""
    return interpolate(x, _size(size), None, "linear", coordinate_transformation_mode == "align_corners")


def _upsampled(mode: str) -> Callable[..., Tensor]:
    def run(x: Tensor, output_size: Any = None, scales: Any = None, *, align_corners: bool | None = None) -> Tensor:
        given = tuple(scales) if scales is not None else None
        size = None if output_size is None else _size(output_size)
        return interpolate(x, size, given, mode, align_corners, True if given else None)

    return run


declare(primitive=prim("UpsampleNearest3D"))(_upsampled("nearest"))
declare(primitive=prim("UpsampleTrilinear3D", align_corners=False))(_upsampled("trilinear"))
