"""Further reductions and running ones: norms, joint moments, sums without NaN, counts, products, differences."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...base.argument_checks import check_not_negative, check_type
from ...base.surfaces import alias, declare, prim, renamed
from ...base.types import DTypeLike, Functions, Ints, Number, Value
from ...cpu.array_module import array_module
from ...cpu.widening import in_single
from ...tensors.dtype import float32, int32, int64, numpy_dtype
from ...tensors.operator import Operator
from ...tensors.tensor import Tensor
from ...tensors.unrecorded import constant
from ..arguments import Axis, along, axes_of, check_axes, check_tensor, int_of, one_axis
from ..elementwise import arithmetic, comparison
from ..elementwise.comparison import where
from ..shapes.broadcasting import as_dtype, as_floats, as_single, cast_operator, in_dtype, through_single
from ..shapes.reshape import broadcast_to, concat, flip, reshape, transpose
from . import reduction
from .reduction import cumsum, mean, reduce_max, reduce_min, reduce_sum, std, sum, var, widened

__all__ = [
    "accumulate_n", "addn", "amax", "amin", "aminmax", "cdist", "clip_by_global_norm", "clip_by_norm", "count_nonzero",
    "cov", "cumprod", "diff", "diff_ext", "dist", "logcumsumexp", "nanmean", "nansum", "numel", "pdist", "ptp",
    "renorm", "std_mean", "trapz", "var_mean", "vector_norm"
]  # fmt: skip


@declare(primitive=(prim("AddN"), prim("AccumulateNV2")))
def addn(x: Sequence[Tensor]) -> Tensor:
    """Return the sum of several Tensors of one shape and dtype: ``x[0] + x[1] + ...``.

    Args:
        x: a tuple or list of Tensors, one at least.

    Returns:
        A Tensor of that shape and dtype.

    Raises:
        TypeError: ``x`` is not a tuple or list, an entry is not a Tensor, or their dtypes differ.
        ValueError: it is empty, or their shapes differ.
    """
    check_type(x, list | tuple, "addn", "x", "a tuple or list of Tensors")
    if not x:
        raise ValueError("For 'addn', 'x' must not be empty")
    parts = [check_tensor(part, "addn", "x") for part in x]
    for part in parts[1:]:
        if part.shape != parts[0].shape:
            raise ValueError(f"For 'addn', the shapes in 'x' must be equal, but got {parts[0].shape} and {part.shape}")
        if part.dtype != parts[0].dtype:
            raise TypeError(f"For 'addn', the dtypes in 'x' must be equal, but got {parts[0].dtype} and {part.dtype}")
    dtype = parts[0]._array.dtype
    total: Tensor = as_single(parts[0]) if len(parts) > 2 and dtype.itemsize == 2 else parts[0]
    for part in parts[1:]:
        total = arithmetic.add(total, part)
    result: Tensor = as_dtype(total, dtype)
    return result


accumulate_n = addn


@declare(primitive=prim("SquareSumAll"))
def _square_sums(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return the sum of the squares of each of two Tensors.

    Args:
        x: a Tensor.
        y: a Tensor of any shape.

    Returns:
        two Tensors without axes: sum(x ** 2) and sum(y ** 2).
    """
    return reduce_sum(arithmetic.square(x)), reduce_sum(arithmetic.square(y))


def numel(input: Tensor) -> int:
    """Return the number of elements.

    Args:
        input: a Tensor.

    Returns:
        An int.

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    return check_tensor(input, "numel").size


def _extreme(name: str, function: Callable[..., Tensor], worst: str) -> Callable[..., Tensor]:
    def found(
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

    found.__name__ = found.__qualname__ = name
    found.__doc__ = f"""The {worst} element over axes.

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
        TypeError: ``input`` is no Tensor, or an axis is no int.
        ValueError: an axis is out of range or named twice, or ``where`` without ``initial``.
    """
    declare(
        mint=renamed(axis="dim", keepdims="keepdim", without=("initial", "where"), defaults={"axis": ()}),
        numpy=[renamed(surface, input="a", defaults={"where": True}) for surface in (name, name[1:])],
    )(found)
    return found


amax = declare(method=True)(_extreme("amax", reduce_max, "largest"))
amin = declare(method=True)(_extreme("amin", reduce_min, "smallest"))


def _extreme_of_tensor(
    name: str, pair: Callable[..., Any], single: Callable[..., Any], whole: Callable[..., Any]
) -> Callable[..., Any]:
    """Return ``max`` or ``min`` of a tensor: values in MindSpore's form, values and positions in PyTorch's."""

    def found(input: Tensor, *args: Any, **kwargs: Any) -> Tensor | tuple[Tensor, Tensor]:
        if args and isinstance(args[0], Tensor):
            raise TypeError(f"For 'Tensor.{name}', 'axis' must be an int or a tuple of ints, but got Tensor")
        is_positional = len(args) > 0 and not kwargs and isinstance(args[0], int)
        if is_positional or "dim" in kwargs or "keepdim" in kwargs:
            names = {"dim": "axis", "keepdim": "keepdims"}
            return pair(input, *args, **{names.get(key, key): value for key, value in kwargs.items()})
        return ours(input, *args, **kwargs)

    def ours(
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
            return pair(input, axis, keepdims)[0] if isinstance(axis, int) else whole(input, axis, keepdims)
        return single(input, axis, keepdims, initial=initial, where=None if where is True else where)

    found.__name__ = found.__qualname__ = ours.__qualname__ = name
    found.__doc__ = f"""The {name}imum over axes, as ``{name}(axis=None, keepdims=False, *, initial=None, where=True)``.

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
        TypeError: an axis is no int.
        ValueError: an axis is out of range, or ``where`` without ``initial``.
    """
    return found


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


@declare(
    mint=renamed(x="input", axis="dim", without=("keep_dims", "dtype"), defaults={"axis": None, "dtype": int64}),
    numpy=renamed(keep_dims="keepdims", without=("dtype",), defaults={"axis": None}),
)
def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype: DTypeLike = int32) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` and None are all of them.
        keep_dims: whether the axes stay, with length 1.
        dtype: the dtype of the counts.

    Returns:
        A Tensor of ``dtype``.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return cast_operator(
        sum(comparison.ne(check_tensor(x, "count_nonzero", "x"), 0), axis, keep_dims), dtype=numpy_dtype(dtype)
    )


@declare(primitive=prim("CountNonZero", dims=None))
def _count_nonzero_along(x: Tensor, dims: Axis) -> Tensor:
    """Return how many elements over axes are not 0.

    Args:
        x: a Tensor.
        dims: the axis or axes, in [-ndim, ndim); None is all of them.

    Returns:
        An Int32 Tensor.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return count_nonzero(x, () if dims is None else dims)


@declare(method="count_nonzero")
def _count_nonzero_of_tensor(
    x: Tensor, axis: Axis = (), keepdims: bool = False, dtype: DTypeLike | None = None
) -> Tensor:
    """Return how many elements over axes are not 0; NaN counts as not 0.

    Args:
        x: the Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` and None are all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype of the counts; None is Int32.

    Returns:
        A Tensor of ``dtype``.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return count_nonzero(x, axis, keepdims, dtype or int32)


@declare(method=True, mint=renamed(axis="dim", keepdims="keepdim"))
def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the sum of the elements over axes, with NaN counted as 0.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to add and return in, for floats as integers only to return in; None is that of ``sum``.

    Returns:
        A Tensor, 0 where all elements are NaN.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = check_tensor(input, "nansum")
    values = where(comparison.isnan(x), 0.0, x) if x._array.dtype.kind in "fV" else x
    if dtype is not None and values is not x and numpy_dtype(dtype).kind in "iu":
        return as_dtype(sum(values, axis, keepdims), numpy_dtype(dtype))  # the fractions count
    return sum(values, axis, keepdims, dtype=dtype)


@declare(method=True)
def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None) -> Tensor:
    """Return the mean of those elements over axes that are not NaN.

    Args:
        input: a floating Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first, an integer one at the end; None leaves that of ``input``.

    Returns:
        A Tensor, NaN where all elements are.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    x = check_tensor(input, "nanmean")
    if dtype is not None and x._array.dtype.kind in "fV" and numpy_dtype(dtype).kind in "iu":
        return as_dtype(nanmean(x, axis, keepdims), numpy_dtype(dtype))
    x = in_dtype(x, dtype)
    is_number = cast_operator(comparison.logical_not(comparison.isnan(x)), dtype=x._array.dtype)
    return nansum(x, axis, keepdims) / reduce_sum(is_number, axis, keepdims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def std_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over axes.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        ddof: the sum of squares is divided by n - ``ddof``: 0 for the deviation of the elements, 1 (True) without bias.
        keepdims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the deviations and the means.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(primitive=prim("ReduceStd", axis=(), unbiased=True, keep_dims=False))
def _reduce_std(x: Tensor, axis: Axis, unbiased: bool, keep_dims: bool) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean over axes.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); ``()`` is all of them.
        unbiased: whether the sum of squares is divided by n - 1 instead of n.
        keep_dims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the deviations and the means.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return std_mean(x, tuple(axis) if isinstance(axis, list) else axis, int(unbiased), keep_dims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def var_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean over axes.

    Args:
        input: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        ddof: the sum of squares is divided by n - ``ddof``: 0 for the variance of the elements, 1 (True) without bias.
        keepdims: whether the axes stay, with length 1.

    Returns:
        two Tensors: the variances and the means.

    Raises:
        TypeError: ``input`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(method=True)
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Return the covariance matrix of the rows: sum of w (x_i - mean_i) (x_j - mean_j) / (sum of w - c), as in NumPy.

    Args:
        input: a matrix with a variable in each row and an observation in each column; a vector is one variable.
            Integers and half precision become Float32.
        correction: c, subtracted from the number of observations: 1 gives no bias, 0 the covariance of these alone.
        fweights: how many times each observation counts: a vector of ints.
        aweights: the weight of each observation: a vector of numbers that are not negative.

    Returns:
        A symmetric matrix with a row for each variable; a Tensor without axes for one variable.

    Raises:
        TypeError: ``input`` is not a Tensor.
        ValueError: it has more than 2 axes, or weights of another length.
    """
    x = check_tensor(input, "cov")
    if x.ndim > 2:
        raise ValueError(f"For 'cov', 'input' must have at most 2 axes, but got shape {x.shape}")
    rows = reshape(x, (1, x.size)) if x.ndim < 2 else x
    rows = as_single(as_floats(rows))
    dtype = rows._array.dtype
    weights = Tensor(np.ones(rows.shape[1], dtype))
    for factor in (fweights, aweights):
        if factor is not None:
            weights = weights * as_dtype(factor, dtype)
    total = reduce_sum(weights)
    centered = rows - reduce_sum(rows * weights, 1, True) / total
    subtracted: Any = correction
    if aweights is not None:
        subtracted = correction * (reduce_sum(weights * as_dtype(aweights, dtype)) / total)
    covariance = (centered * weights) @ centered.T / arithmetic.maximum(total - subtracted, 0.0)
    return reshape(covariance, ()) if rows.shape[0] == 1 else covariance


@declare(mint=renamed("linalg.vector_norm", axis="dim", keepdims="keepdim"))
@through_single
def vector_norm(
    x: Tensor, ord: float = 2, axis: Axis = None, keepdims: bool = False, *, dtype: DTypeLike | None = None
) -> Tensor:
    """Return the ``ord``-norm of vectors: (sum of abs(x) ** ord) ** (1 / ord).

    Args:
        x: a Tensor; integers become Float32.
        ord: which norm, any number; inf is the largest and -inf the smallest absolute value, 0 the number of elements
            not 0.
        axis: the axis or axes of the vectors, in [-ndim, ndim); None is all of them.
        keepdims: whether the axes stay, with length 1.
        dtype: the dtype to convert to first; None leaves that of ``x``.

    Returns:
        A real Tensor of the norms.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: ``ord`` is not a number, or an axis is out of range or repeated.
    """
    vectors = in_dtype(check_tensor(x, "vector_norm", "x"), dtype)
    if isinstance(ord, bool) or not isinstance(ord, int | float):
        raise ValueError(f"For 'vector_norm', 'ord' must be a number, but got {ord!r}")
    vectors = as_floats(vectors)
    if ord == 2 and vectors._array.dtype.kind != "c":
        return arithmetic.sqrt(reduce_sum(arithmetic.square(vectors), axis, keepdims))
    size = arithmetic.abs(vectors)
    if math.isinf(ord):
        return _extreme_of(size, axis, keepdims, reduction.max if ord > 0 else reduction.min)
    if ord == 0:
        return reduce_sum(cast_operator(comparison.ne(size, 0), dtype=size._array.dtype), axis, keepdims)
    if ord == 1:
        return reduce_sum(size, axis, keepdims)
    return arithmetic.pow(reduce_sum(arithmetic.pow(size, float(ord)), axis, keepdims), 1.0 / ord)


def _extreme_of(size: Tensor, axis: Axis, keepdims: bool, extreme: Callable[..., tuple[Tensor, Tensor]]) -> Tensor:
    """Return the extreme over axes. As in MindSpore's norms, the first of several that tie gets the gradient."""
    axes = axes_of(axis, size.ndim, "vector_norm") or tuple(range(size.ndim))
    if not axes:
        return size
    remaining = tuple(i for i in range(size.ndim) if i not in axes)
    rows = transpose(size, (*remaining, *sorted(axes)))
    result = extreme(reshape(rows, (*rows.shape[: len(remaining)], math.prod(rows.shape[len(remaining) :]))), -1)[0]
    return reshape(result, tuple(1 if i in axes else n for i, n in enumerate(size.shape))) if keepdims else result


@declare(primitive=prim("LpNorm", "axis", p=2, keep_dims=False, epsilon=1e-12))
@through_single
def _lp_norm(x: Tensor, axis: Axis, p: int, keep_dims: bool, epsilon: float) -> Tensor:
    """Return the ``p``-norm over axes, but at least ``epsilon``.

    Args:
        x: a Tensor.
        axis: the axis or axes, in [-ndim, ndim); None is all of them.
        p: which norm.
        keep_dims: whether the axes stay, with length 1.
        epsilon: the least value that is returned.

    Returns:
        A Tensor of the norms.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    return arithmetic.maximum(vector_norm(x, p, axis, keep_dims), epsilon)


@declare(primitive=prim("EuclideanNorm", keep_dims=False))
@through_single
def _euclidean_norm(x: Tensor, axes: Tensor | Axis = (), *, keep_dims: bool) -> Tensor:
    """Return the square root of the sum of squares over axes.

    Args:
        x: a Tensor.
        axes: the axis or axes, in [-ndim, ndim), a Tensor of integers or ints; ``()`` is all of them.
        keep_dims: whether the axes stay, with length 1.

    Returns:
        A Tensor of the norms, of the dtype of ``x``.

    Raises:
        TypeError: ``x`` is not a Tensor, or an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    norm_axes = tuple(int(i) for i in axes.asnumpy().ravel()) if isinstance(axes, Tensor) else axes
    return cast_operator(vector_norm(x, 2, norm_axes, keep_dims), dtype=x._array.dtype)


@declare(primitive=prim("L2Normalize", axis=0, epsilon=1e-4))
@through_single
def _l2_normalize(x: Tensor, axis: Ints, epsilon: float) -> Tensor:
    """Return vectors divided by their length: x / sqrt(max(sum of x ** 2, epsilon)).

    Args:
        x: a Tensor.
        axis: the axis or axes of the vectors, in [-ndim, ndim).
        epsilon: the least value of a squared length.

    Returns:
        A Tensor of the shape of ``x``.

    Raises:
        TypeError: an axis is not an int.
        ValueError: an axis is out of range or repeated.
    """
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    return x / arithmetic.sqrt(arithmetic.maximum(reduce_sum(arithmetic.square(x), axes, True), epsilon))


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


@through_single
def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the distance of two Tensors: the ``p``-norm of ``input - other``, all elements taken as one vector.

    Args:
        input: a Tensor.
        other: a Tensor that broadcasts with it.
        p: which norm, any number; see ``vector_norm``.

    Returns:
        A Tensor without axes.

    Raises:
        TypeError: neither is a Tensor.
        ValueError: the shapes do not broadcast.
    """
    return vector_norm(arithmetic.sub(input, other), p)


@declare(primitive=prim("Cdist", p=2.0))
@through_single
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Return the ``p``-norm distance of each row of ``x1`` from each row of ``x2``.

    Args:
        x1: a Tensor (..., P, M).
        x2: a Tensor (..., R, M); the leading axes broadcast.
        p: which norm, from 0 on; inf is the largest difference.

    Returns:
        A Tensor (..., P, R).

    Raises:
        TypeError: ``x1`` or ``x2`` is not a Tensor.
        ValueError: ``p`` is negative, or the shapes do not fit.
    """
    first, second = check_axes(x1, 2, "cdist", "x1"), check_axes(x2, 2, "cdist", "x2")
    check_not_negative(p, "cdist", "p")
    rows = reshape(first, (*first.shape[:-1], 1, first.shape[-1]))
    columns = reshape(second, (*second.shape[:-2], 1, *second.shape[-2:]))
    return _distance(rows - columns, p, -1)


def _distance(apart: Tensor, p: float, axis: int) -> Tensor:
    """Return a norm whose gradient is 0, not NaN, where the distance is 0."""
    if p != 2:
        return vector_norm(apart, p, axis)
    square_sum = reduce_sum(arithmetic.square(apart), axis)
    zero = comparison.eq(square_sum, 0)
    return where(zero, 0.0, arithmetic.sqrt(where(zero, 1.0, square_sum)))


@declare(primitive=prim("Pdist", p=2.0))
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the ``p``-norm distance of each two rows, in the order (0, 1), (0, 2), ..., (1, 2), ...

    Args:
        input: a Tensor (..., N, M).
        p: which norm, any number; inf is the largest difference.

    Returns:
        A Tensor (..., N (N - 1) / 2).

    Raises:
        TypeError: ``input`` is not a Tensor.
    """
    rows, columns = np.triu_indices(check_axes(input, 2, "pdist").shape[-2], 1)
    first, second = (input[..., Tensor(i), :] for i in (rows, columns))
    return _distance(first - second, p, -1)


@declare(method=True)
@through_single
def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Tensor:
    """Return each entry along one axis, scaled by maxnorm / (norm + 1e-7) if its ``p``-norm is above ``maxnorm``.

    Args:
        input: a Tensor.
        p: which norm.
        axis: the axis whose entries are scaled, in [-ndim, ndim); the norms are taken over the others.
        maxnorm: the largest norm that an entry may keep.

    Returns:
        A Tensor of the shape of ``input``.

    Raises:
        TypeError: ``input`` is not a Tensor, or ``axis`` is not an int.
        ValueError: ``axis`` is out of range.
    """
    x = check_tensor(input, "renorm")
    at = one_axis(axis, x.ndim, "renorm")
    axes = tuple(i for i in range(x.ndim) if i != at)
    size = vector_norm(x, p, axes, True)
    return x * where(comparison.gt(size, maxnorm), maxnorm / (size + 1e-7), 1.0)


@declare(primitive=prim("Renorm", "p", "dim", "maxnorm"))
@through_single
def _renorm_along(input_x: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Return ``renorm`` under the argument names of its class.

    Args:
        input_x: a Tensor.
        p: which norm.
        dim: the axis whose entries are scaled.
        maxnorm: the largest norm that an entry may keep.

    Returns:
        A Tensor of the shape and dtype of ``input_x``.

    Raises:
        TypeError: ``input_x`` is not a Tensor, or ``dim`` is not an int.
        ValueError: ``dim`` is out of range.
    """
    return renorm(input_x, p, dim, maxnorm)


@through_single
def clip_by_norm(
    x: Tensor | Sequence[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor | Sequence[Tensor]:
    """Return a Tensor, or several, scaled by min(max_norm / (norm + 1e-6), 1), with the norm of all of them together.

    Args:
        x: a Tensor, or a list or tuple of them.
        max_norm: the largest norm that they may keep.
        norm_type: which norm, any number; inf is the largest absolute value.
        error_if_nonfinite: whether a norm that is NaN or infinite is an error.

    Returns:
        new Tensors of the same dtypes, in the form of ``x``.

    Raises:
        TypeError: an entry is not a Tensor.
        RuntimeError: the norm is not finite, with ``error_if_nonfinite``.
    """
    parts: list[Any] = list(x) if isinstance(x, list | tuple) else [x]
    sizes = [vector_norm(check_tensor(part, "clip_by_norm", "x"), norm_type) for part in parts]
    total = vector_norm(concat([reshape(s, (1,)) for s in sizes]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"For 'clip_by_norm', the norm of 'x' must be finite, but it is {total.item()}")
    scale = arithmetic.minimum(max_norm / (total + 1e-6), 1.0)
    results = [cast_operator(part * scale, dtype=part._array.dtype) for part in parts]
    return type(x)(results) if isinstance(x, list | tuple) else results[0]


@through_single
def clip_by_global_norm(x: Sequence[Tensor], clip_norm: float = 1.0, use_norm: None = None) -> tuple[Tensor, ...]:
    """Return tensors scaled by clip_norm / max(norm, clip_norm), with the 2-norm of all of them together.

    Args:
        x: a tuple or list of Tensors.
        clip_norm: the largest norm that they may keep, above 0.
        use_norm: must be None, as in MindSpore.

    Returns:
        A tuple of new Tensors of the same dtypes.

    Raises:
        TypeError: ``x`` is not a tuple or list.
        ValueError: ``clip_norm`` is not positive.
        NotImplementedError: ``use_norm`` is given.
    """
    if use_norm is not None:
        raise NotImplementedError("For 'clip_by_global_norm', 'use_norm' must be None, as in MindSpore")
    check_type(x, list | tuple, "clip_by_global_norm", "x", "a tuple or list")
    if clip_norm <= 0:
        raise ValueError(f"For 'clip_by_global_norm', 'clip_norm' must be positive, but got {clip_norm}")
    squares = [reduce_sum(arithmetic.square(as_dtype(part, float32.numpy))) for part in x]
    total = arithmetic.sqrt(addn(squares))
    scale = clip_norm / arithmetic.maximum(total, float(clip_norm))
    return tuple([cast_operator(part * scale, dtype=part._array.dtype) for part in x])


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
