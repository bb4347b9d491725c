"""Products, logarithms of sums and differences along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import DTypeLike, Functions, Value
from ...cpu.array_module import array_module
from ...cpu.widening import in_single
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import along, check_tensor, int_of, one_axis
from ..elementwise import comparison
from ..shapes.broadcasting import as_floats
from ..shapes.concatenation import concat
from ..shapes.reshape import broadcast_to, flip, reshape
from .reduction import cumsum, reduce_sum, widened

__all__ = ["cumprod", "diff", "diff_ext", "logcumsumexp", "trapz"]


def _cumprod_rule(F: Functions, g: Value, out: Value, x: Any, axis: int) -> Any:
    """Return the gradient by division, or term by term if an element is 0."""
    bare = x._array if isinstance(x, Tensor) else x
    if not (bare == 0).any():
        reverse_sums = F.flip(F.cumsum(F.flip(g * out, axes=(axis,)), axis=axis), axes=(axis,))
        return reverse_sums / x
    length = x.shape[axis]
    xp = array_module(bare)
    lines = F.transpose(x, axes=_last(x.ndim, axis))
    diagonal = xp.eye(length, dtype=bool)
    upto = xp.tril(xp.ones((length, length), bool))
    # factor[..., j, i, k]: element k if it belongs to the product up to i and is not j itself.
    factors = F.broadcast_to(
        F.reshape(lines, shape=(*lines.shape[:-1], 1, 1, length)), shape=(*lines.shape[:-1], length, length, length)
    )
    mask = xp.broadcast_to(upto[None] & ~diagonal[:, None], factors.shape)
    products = F.prod(F.where(mask, factors, F.zeros_like(factors) + 1), axis=(factors.ndim - 1,), keepdims=False)
    gradients = F.reshape(F.transpose(g, axes=_last(x.ndim, axis)), shape=(*lines.shape[:-1], 1, length))
    terms = F.where(xp.broadcast_to(upto.T, products.shape), products * gradients, F.zeros_like(products))
    result = F.sum(terms, axis=(terms.ndim - 1,), keepdims=False)
    return F.transpose(result, axes=tuple(int(i) for i in np.argsort(_last(x.ndim, axis))))


def _last(ndim: int, axis: int) -> tuple[int, ...]:
    return (*(i for i in range(ndim) if i != axis), axis)


_cumprod = Operator("cumprod", in_single(lambda x, axis: x.cumprod(axis=axis, dtype=x.dtype)), (_cumprod_rule,))


@declare(method=True, mint=True)
def cumprod(input: Tensor, dim: int, dtype: DTypeLike | None = None) -> Tensor:
    """Return the product of the elements so far along one axis.

    Args:
        input: a Tensor.
        dim: the axis, in [-ndim, ndim).
        dtype: the dtype to multiply and return in; None keeps a floating one and makes integers and bools Int64.

    Returns:
        A Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    x = widened(check_tensor(input, "cumprod"), dtype)
    return _cumprod(x, axis=one_axis(dim, x.ndim, "cumprod")) if x.ndim else reshape(x, ())


@in_single
def _logcumsumexp_kernel(x: Any, axis: int) -> Any:
    xp = array_module(x)
    if xp is not np:  # CuPy has no accumulate
        return xp.asarray(_logcumsumexp_kernel(x.get(), axis))
    return np.moveaxis(np.logaddexp.accumulate(np.moveaxis(x, axis, 0), axis=0), 0, axis)


def _logcumsumexp_rule(F: Functions, g: Value, out: Value, x: Value, axis: int) -> Any:
    reverse_sums = F.flip(F.cumsum(F.flip(g * F.exp(-out), axes=(axis,)), axis=axis), axes=(axis,))
    return reverse_sums * F.exp(x)


_logcumsumexp = Operator("logcumsumexp", _logcumsumexp_kernel, (_logcumsumexp_rule,))


@declare(method=True)
def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """Return the logarithm of the sum of exp(input) so far along one axis, without overflow.

    Args:
        input: a floating Tensor.
        axis: the axis, in [-ndim, ndim).

    Returns:
        A Tensor of the shape and dtype of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor of floats, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_tensor(input, "logcumsumexp")
    if x._array.dtype.kind != "f":
        raise TypeError(f"For 'logcumsumexp', 'input' must hold floats, but got {x.dtype}")
    if not x.ndim:
        raise ValueError("For 'logcumsumexp', 'input' must have at least 1 axis, but got shape ()")
    return _logcumsumexp(x, axis=one_axis(axis, x.ndim, "logcumsumexp"))


@declare(method=True, mint=renamed(x="input", axis="dim"), numpy=renamed(x="a"))
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Return the ``n``-th difference of neighbors along one axis: x[i + 1] - x[i]; for bools whether they differ.

    Args:
        x: a Tensor of at least one axis.
        n: the order of the difference; with 0 ``x`` with ``prepend`` and ``append``.
        axis: the axis, in [-ndim, ndim).
        prepend: a Tensor, or a value convertible to one, that is put before ``x`` along ``axis`` first; a number once
            for each line.
        append: likewise after it.

    Returns:
        A Tensor that is shorter by ``n`` along ``axis``.

    Raises:
        RuntimeError: ``x`` has no axes.
        TypeError: ``x`` is not a Tensor, or ``axis`` or ``n`` is not an int.
        ValueError: ``axis`` is out of range, or ``prepend`` or ``append`` does not fit.
    """
    if check_tensor(x, "diff", "x").ndim == 0:
        raise RuntimeError("For 'diff', 'x' must have at least 1 axis, but got a 0-d tensor")
    at = one_axis(axis, x.ndim, "diff")
    parts = [prepend, x, append]
    pieces = [p if isinstance(p, Tensor) else Tensor(p) for p in parts if p is not None]
    line = (*x.shape[:at], 1, *x.shape[at + 1 :])
    pieces = [p if p.ndim else broadcast_to(p, line) for p in pieces]
    result = concat(pieces, at) if len(pieces) > 1 else x
    for _ in range(int_of(n, "diff", "n")):
        length = result.shape[at]
        if not length:  # the differences are empty too
            break
        upper, lower = (result[along(result, at, slice(*bounds))] for bounds in ((1, None), (0, max(length - 1, 0))))
        result = comparison.logical_xor(upper, lower) if result._array.dtype.kind == "b" else upper - lower
    return result


diff_ext = alias(diff, renamed("diff_ext", x="input", axis="dim"))


def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """Return the integral along one axis by the trapezoidal rule: sum of (y[i] + y[i + 1]) / 2 * (x[i + 1] - x[i]).

    Args:
        y: the values; integers become Float32.
        x: the positions of the values: a vector for the axis, or a Tensor of the shape of ``y``.
        dx: the distance between neighbors, if ``x`` is not given.
        dim: the axis, in [-ndim, ndim).

    Returns:
        A Tensor without that axis.

    Raises:
        TypeError: ``y`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range, or ``x`` does not fit.
    """
    at = one_axis(dim, check_tensor(y, "trapz", "y").ndim, "trapz")
    y = as_floats(y)
    step: Any = dx
    if x is not None:
        step = diff(check_tensor(x, "trapz", "x"), axis=at if x.ndim == y.ndim else 0)
        if x.ndim == 1:
            step = reshape(step, (-1,) + (1,) * (y.ndim - at - 1))
    left, right = y[along(y, at, slice(None, -1))], y[along(y, at, slice(1, None))]
    return reduce_sum((left + right) * step * 0.5, at)


# Running classes, which may exclude the element itself ("exclusive") or begin at the end ("reverse")


def _running(
    function: Callable[..., Tensor],
    first: float | None,
    x: Tensor,
    axis: int | Tensor,
    exclusive: bool,
    reverse: bool,
    name: str,
) -> Tensor:
    """Return ``function`` along ``axis``; ``first`` is its value for no elements."""
    at = one_axis(int(axis), x.ndim, name)
    result = function(flip(x, at) if reverse else x, at)
    if exclusive and result.size:
        edge = (*result.shape[:at], 1, *result.shape[at + 1 :])
        empty = constant(array_module(result._array).full(edge, first, result._array.dtype))
        result = concat([empty, result[along(result, at, slice(0, result.shape[at] - 1))]], at)
    return flip(result, at) if reverse else result


@declare(primitive=prim("CumSum", exclusive=False, reverse=False))
def _running_sum(x: Tensor, axis: int | Tensor, exclusive: bool, reverse: bool) -> Tensor:
    """Return the sum of the elements so far along one axis.

    Args:
        x: a Tensor.
        axis: the axis, in [-ndim, ndim): an int or a Tensor of one.
        exclusive: whether each element itself is left out, so that the first sum is 0.
        reverse: whether to begin at the end of the axis.

    Returns:
        A Tensor of the shape of ``x``.

    Raises:
        ValueError: ``axis`` is out of range.
    """
    return _running(cumsum, 0, x, axis, exclusive, reverse, "CumSum")


@declare(primitive=prim("CumProd", exclusive=False, reverse=False))
def _running_product(x: Tensor, axis: int | Tensor, exclusive: bool, reverse: bool) -> Tensor:
    """Return the product of the elements so far along one axis.

    Args:
        x: a Tensor.
        axis: the axis, in [-ndim, ndim): an int or a Tensor of one.
        exclusive: whether each element itself is left out, so that the first product is 1.
        reverse: whether to begin at the end of the axis.

    Returns:
        A Tensor of the shape and dtype of ``x``.

    Raises:
        ValueError: ``axis`` is out of range.
    """
    return _running(lambda x, at: cumprod(x, at, x.dtype), 1, x, axis, exclusive, reverse, "CumProd")


@declare(primitive=prim("CumulativeLogsumexp", exclusive=False, reverse=False))
def _running_logsumexp(x: Tensor, axis: int | Tensor, exclusive: bool, reverse: bool) -> Tensor:
    """Return the logarithm of the sum of exp(x) so far along one axis, without overflow.

    Args:
        x: a floating Tensor.
        axis: the axis, in [-ndim, ndim): an int or a Tensor of one.
        exclusive: whether each element itself is left out; log(0) is then the lowest number of the dtype.
        reverse: whether to begin at the end of the axis.

    Returns:
        A Tensor of the shape and dtype of ``x``.

    Raises:
        TypeError: ``x`` does not hold floats.
        ValueError: ``axis`` is out of range.
    """
    lowest = np.finfo(x._array.dtype).min if x._array.dtype.kind == "f" else None
    return _running(logcumsumexp, lowest, x, axis, exclusive, reverse, "CumulativeLogsumexp")
