"""Orders of the axes of images: (N, H, W, C) and (N, C, H, W)."""

from __future__ import annotations

from ...base.argument_checks import check_one_of
from ...base.surfaces import declare, prim
from ...base.types import Array
from ...cpu.array_module import array_module
from ...tensors.tensor import Tensor
from ..arguments import check_integers
from .subscripts import getitem_operator

__all__: list[str] = []


def _axis_positions(x: Tensor, src_format: str, dst_format: str, name: str) -> Array:
    """Return the position in the old order of each axis of the new order."""
    for argument, order in (("src_format", src_format), ("dst_format", dst_format)):
        check_one_of(order, ("NHWC", "NCHW"), name, argument)
    return array_module(x._array).asarray([src_format.index(axis) for axis in dst_format])


@declare(primitive=prim("DataFormatDimMap", src_format="NHWC", dst_format="NCHW"))
def _data_format_dim_map(input_x: Tensor, *, src_format: str, dst_format: str) -> Tensor:
    """Return the position in ``src_format`` of the axes that are at given positions in ``dst_format``.

    Args:
        input_x: positions of axes, integers of any shape; they count modulo 4.
        src_format: "NHWC" or "NCHW".
        dst_format: likewise.

    Returns:
        A tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor of integers.
        ValueError: an unknown format.
    """
    x = check_integers(input_x, "DataFormatDimMap", "input_x")
    positions = _axis_positions(x, src_format, dst_format, "DataFormatDimMap")
    return Tensor._wrap(positions[x._array % 4].astype(x._array.dtype))


@declare(primitive=prim("DataFormatVecPermute", src_format="NHWC", dst_format="NCHW"))
def _data_format_vec_permute(input_x: Tensor, *, src_format: str, dst_format: str) -> Tensor:
    """Return the values of the axes in one order, in the other order.

    Args:
        input_x: integers (4,) or (4, 2), a row for each axis in the order ``src_format``.
        src_format: "NHWC" or "NCHW".
        dst_format: likewise.

    Returns:
        A tensor of the shape and dtype of ``input_x``, its rows in the order ``dst_format``.

    Raises:
        TypeError: ``input_x`` is not a Tensor of integers.
        ValueError: the wrong shape or format.
    """
    x = check_integers(input_x, "DataFormatVecPermute", "input_x")
    if x.shape not in ((4,), (4, 2)):
        raise ValueError(f"For 'DataFormatVecPermute', 'input_x' must have the shape (4,) or (4, 2), but got {x.shape}")
    return getitem_operator(x, index=_axis_positions(x, src_format, dst_format, "DataFormatVecPermute"))
