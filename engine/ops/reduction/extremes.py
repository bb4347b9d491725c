"""Extremes along axes: amax, amin, aminmax, and their positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...base.surfaces import declare, renamed
from ...base.types import Number
from ...tensors.tensor import Tensor
from ..arguments import Axis, check_tensor
from ..elementwise import arithmetic, comparison
from ..shapes.broadcasting import cast_operator
from . import reduction
from .reduction import reduce_max, reduce_min

__all__ = ["amax", "amin", "aminmax", "ptp"]


def _extreme(name: str, function: Callable[..., Tensor], worst: str) -> Callable[..., Tensor]:
    def extreme(
        input: Tensor,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: Number | None = None,
        where: Tensor | bool | None = None,
    ) -> Tensor:
        x = check_tensor(input, name)
        if where is not None and where is not True:
            if initial is None:
                raise ValueError(f"For '{name}', 'initial' must be given where 'where' is")
            x = cast_operator(comparison.where(where, x, initial), dtype=x._array.dtype)
        result = function(x, axis, keepdims)
        if initial is None:
            return result
        return cast_operator(
            (arithmetic.maximum if name == "amax" else arithmetic.minimum)(result, initial), dtype=x._array.dtype
        )

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"""The {worst} element over axes.

    Of several that are it, each gets an equal share of the gradient. NaN where one is among them.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None and () are all of them.
        keepdims: whether the axes stay, with length 1.
        initial: a number that counts as one more element of each.
        where: bools that broadcast with ``input``; elements where they are False are left out.

    Returns:
        a Tensor of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or named twice, or ``where`` without ``initial``.
    """
    declare(
        mint=renamed(axis="dim", keepdims="keepdim", without=("initial", "where"), defaults={"axis": ()}),
        numpy=[renamed(surface, input="a", defaults={"where": True}) for surface in (name, name[1:])],
    )(extreme)
    return extreme


amax = declare(method=True)(_extreme("amax", reduce_max, "largest"))

amin = declare(method=True)(_extreme("amin", reduce_min, "smallest"))


def _extreme_of_tensor(
    name: str, pair: Callable[..., Any], single: Callable[..., Any], over_all: Callable[..., Any]
) -> Callable[..., Any]:
    """Return ``max`` or ``min`` of a tensor: values in MindSpore's form, values and positions in PyTorch's."""

    def entry(input: Tensor, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
        if args and isinstance(args[0], Tensor):
            raise TypeError(f"For 'Tensor.{name}', 'axis' must be an int or a tuple of ints, but got Tensor")
        is_positional = len(args) > 0 and not kwargs and isinstance(args[0], int)
        if is_positional or "dim" in kwargs or "keepdim" in kwargs:
            names = {"dim": "axis", "keepdim": "keepdims"}
            return pair(input, *args, **{names.get(key, key): value for key, value in kwargs.items()})
        return method(input, *args, **kwargs)

    def method(
        input: Tensor,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: Number | None = None,
        where: Tensor | bool = True,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        if return_indices:
            return pair(input, axis, keepdims)
        if initial is None and where is True:
            # Along one axis the first that ties gets the gradient, along several all do, as in MindSpore.
            return pair(input, axis, keepdims)[0] if isinstance(axis, int) else over_all(input, axis, keepdims)
        return single(input, axis, keepdims, initial=initial, where=None if where is True else where)

    entry.__name__ = entry.__qualname__ = method.__qualname__ = name
    entry.__doc__ = f"""The {name}imum over axes, as ``{name}(axis=None, keepdims=False, *, initial=None, where=True)``.

    Or in PyTorch's form ``{name}(dim, keepdim=False)``, where the first argument is an int by place or one goes by
    these names: then also where it is, as with ``return_indices``.

    Args:
        input: the Tensor.
        *args: ``axis`` and ``keepdims``, or ``dim`` and ``keepdim``, by place.
        **kwargs: the arguments by name: ``axis`` or ``dim``, the axis or axes (None is all of them); ``keepdims`` or
            ``keepdim``, whether they stay with length 1; ``initial``, a number that counts as one more element;
            ``where``, bools that leave elements out; ``return_indices``, whether to return the places too.

    Returns:
        a Tensor of the dtype of ``input``; or that and an Int64 Tensor of the places.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range, or ``where`` without ``initial``.
    """
    return entry


declare(method=True)(_extreme_of_tensor("max", reduction.max, amax, reduce_max))

declare(method=True)(_extreme_of_tensor("min", reduction.min, amin, reduce_min))


@declare(method=True)
def aminmax(input: Tensor, *, axis: int | None = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest and the largest element over one axis, or over all.

    Along one axis the first of several that tie gets the gradient; over all axes they share it.

    Args:
        input: a Tensor.
        axis: the axis, in [-ndim, ndim); None is all of them.
        keepdims: whether the axis stays, with length 1.

    Returns:
        two Tensors of the dtype of ``input``: the minima and the maxima.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    if axis is None or not check_tensor(input, "aminmax").ndim:
        return reduce_min(input, axis, keepdims), reduce_max(input, axis, keepdims)
    return reduction.min(input, axis, keepdims)[0], reduction.max(input, axis, keepdims)[0]


@declare(method=True, numpy=renamed(input="x"))
def ptp(input: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Return the range: the largest less the smallest element over axes.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.

    Returns:
        A Tensor of the dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return reduce_max(input, axis, keepdims) - reduce_min(input, axis, keepdims)
