"""More reductions and running ones: norms, moments together, sums without NaN, counts, products, differences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.dtype import float32, int32, int64, numpy_dtype
from ..core.operator import Operator
from ..core.surfaces import declare, prim, renamed
from ..core.tensor import Tensor
from ..cpu.array_module import array_module
from . import arithmetic, comparison, reduction
from .arguments import Axis, along, check_tensor, one_axis
from .comparison import where
from .elementwise import as_dtype, cast_operator
from .reduction import cumsum, mean, reduce_max, reduce_min, reduce_sum, std, sum, var
from .shape import concat, flip, reshape

__all__ = [
    "accumulate_n", "addn", "amax", "amin", "aminmax", "cdist", "clip_by_global_norm", "clip_by_norm", "count_nonzero",
    "cov", "cumprod", "diff", "diff_ext", "dist", "logcumsumexp", "nanmean", "nansum", "numel", "pdist", "ptp",
    "renorm", "std_mean", "trapz", "var_mean", "vector_norm",
]  # fmt: skip


@declare(primitive=(prim("AddN"), prim("AccumulateNV2")))
def addn(x: Any) -> Tensor:
    """The sum of the tensors in a tuple or list.

    Raises:
        TypeError: no tuple or list, or an entry that is no Tensor.
        ValueError: an empty one.
    """
    if not isinstance(x, list | tuple):
        raise TypeError(f"For 'addn', 'x' must be a tuple or list of Tensors, but got {type(x).__name__}")
    if not x:
        raise ValueError("For 'addn', 'x' must not be empty")
    total = check_tensor(x[0], "addn", "x")
    for one in x[1:]:
        total = arithmetic.add(total, check_tensor(one, "addn", "x"))
    return total


accumulate_n = addn


declare(primitive=prim("SquareSumAll"))(
    lambda x, y: (reduce_sum(arithmetic.square(x)), reduce_sum(arithmetic.square(y)))
)


def numel(input: Tensor) -> int:
    """The number of elements."""
    return check_tensor(input, "numel").size


def _extreme(name: str, function: Any, worst: str) -> Any:
    def found(
        input: Tensor, axis: Axis = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
    ) -> Tensor:
        x = check_tensor(input, name)
        if where is not None:
            if initial is None:
                raise ValueError(f"For '{name}', 'initial' must be given where 'where' is")
            x = comparison.where(where, x, initial)
        result = function(x, axis, keepdims)
        if initial is None:
            return result
        return cast_operator(
            (arithmetic.maximum if name == "amax" else arithmetic.minimum)(result, initial), dtype=x._array.dtype
        )

    found.__name__ = found.__qualname__ = name
    found.__doc__ = f"The {worst} element over ``axis``, of those where ``where`` holds and of ``initial``."
    declare(
        mint=renamed(axis="dim", keepdims="keepdim", without=("initial", "where")),
        numpy=[renamed(one, input="a") for one in (name, name[1:])],
    )(found)
    return found


amax = declare(method=True)(_extreme("amax", reduce_max, "largest"))
amin = declare(method=True)(_extreme("amin", reduce_min, "smallest"))


def _extreme_of_tensor(name: str, pair: Any, single: Any, whole: Any) -> Any:
    """``max`` or ``min`` of a tensor: values in MindSpore's form, values and places in PyTorch's."""

    def found(input: Tensor, *args: Any, **kwargs: Any) -> Any:
        theirs = len(args) > 0 and not kwargs and isinstance(args[0], int)
        if theirs or "dim" in kwargs or "keepdim" in kwargs:
            names = {"dim": "axis", "keepdim": "keepdims"}
            return pair(input, *args, **{names.get(key, key): value for key, value in kwargs.items()})
        return ours(input, *args, **kwargs)

    def ours(
        input: Tensor,
        axis: Axis = None,
        keepdims: bool = False,
        *,
        initial: Any = None,
        where: Any = True,
        return_indices: bool = False,
    ) -> Any:
        if return_indices:
            return pair(input, axis, keepdims)
        if initial is None and where is True:
            # Of one axis the first that ties gets the gradient, of several all, as in MindSpore.
            return pair(input, axis, keepdims)[0] if isinstance(axis, int) else whole(input, axis, keepdims)
        return single(input, axis, keepdims, initial=initial, where=None if where is True else where)

    found.__name__ = found.__qualname__ = name
    found.__doc__ = f"The {name}imum; with ``dim`` (or an int) also where it is."
    return found


declare(method=True)(_extreme_of_tensor("max", reduction.max, amax, reduce_max))
declare(method=True)(_extreme_of_tensor("min", reduction.min, amin, reduce_min))


@declare(method=True)
def aminmax(input: Tensor, *, axis: int | None = 0, keepdims: bool = False) -> tuple[Any, Any]:
    """The smallest and the largest element over ``axis``."""
    return reduce_min(input, axis, keepdims), reduce_max(input, axis, keepdims)


@declare(method=True, numpy=renamed(input="x"))
def ptp(input: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest less the smallest element over ``axis``."""
    return reduce_max(input, axis, keepdims) - reduce_min(input, axis, keepdims)


@declare(
    mint=renamed(x="input", axis="dim", without=("keep_dims", "dtype"), defaults={"dtype": int64}),
    numpy=renamed(keep_dims="keepdims", without=("dtype",)),
)
def count_nonzero(x: Tensor, axis: Axis = (), keep_dims: bool = False, dtype: Any = int32) -> Any:
    """How many elements over ``axis`` are not 0."""
    return cast_operator(
        sum(comparison.ne(check_tensor(x, "count_nonzero", "x"), 0), axis, keep_dims), dtype=numpy_dtype(dtype)
    )


@declare(primitive=prim("CountNonZero", dims=None))
def _count_nonzero_along(x: Tensor, dims: Axis) -> Tensor:
    """How many elements over ``dims`` are not 0."""
    return count_nonzero(x, () if dims is None else dims)


@declare(method="count_nonzero")
def _count_nonzero_of_tensor(x: Tensor, axis: Axis = (), keepdims: bool = False, dtype: Any = None) -> Tensor:
    """How many elements over ``axis`` are not 0; Int32 without ``dtype``."""
    return count_nonzero(x, axis, keepdims, dtype or int32)


@declare(method=True, mint=renamed(axis="dim", keepdims="keepdim"))
def nansum(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The sum of what is not NaN."""
    x = check_tensor(input, "nansum")
    kept = where(comparison.isnan(x), 0.0, x) if x._array.dtype.kind == "f" else x
    return sum(kept, axis, keepdims, dtype=dtype)


@declare(method=True)
def nanmean(input: Tensor, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The mean of what is not NaN."""
    x = check_tensor(input, "nanmean")
    x = x if dtype is None else as_dtype(x, numpy_dtype(dtype))
    there = cast_operator(comparison.logical_not(comparison.isnan(x)), dtype=x._array.dtype)
    return nansum(x, axis, keepdims) / reduce_sum(there, axis, keepdims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def std_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Any, Any]:
    """``std`` and ``mean``."""
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(primitive=prim("ReduceStd", axis=(), unbiased=True, keep_dims=False))
def _reduce_std(x: Tensor, axis: Axis, unbiased: bool, keep_dims: bool) -> tuple[Tensor, Tensor]:
    """The standard deviation, ``unbiased`` divided by n - 1, and the mean."""
    return std_mean(x, tuple(axis) if isinstance(axis, list) else axis, int(unbiased), keep_dims)


@declare(mint=renamed(axis="dim", ddof="correction", keepdims="keepdim", keyword=("ddof",), defaults={"ddof": 1}))
def var_mean(input: Tensor, axis: Axis = None, ddof: int | bool = 0, keepdims: bool = False) -> tuple[Any, Any]:
    """``var`` and ``mean``."""
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@declare(method=True)
def cov(input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None) -> Any:
    """The covariances of the rows; weights count an observation several times or weigh it."""
    x = check_tensor(input, "cov")
    if x.ndim > 2:
        raise ValueError(f"For 'cov', 'input' must have at most 2 axes, but got shape {x.shape}")
    rows = reshape(x, (1, x.size)) if x.ndim < 2 else x
    rows = as_dtype(rows, float32.numpy) if rows._array.dtype.kind in "biu" else rows
    dtype = rows._array.dtype
    weights = Tensor(np.ones(rows.shape[1], dtype))
    for given in (fweights, aweights):
        if given is not None:
            weights = weights * as_dtype(given, dtype)
    total = reduce_sum(weights)
    apart = rows - reduce_sum(rows * weights, 1, True) / total
    lost: Any = correction
    if aweights is not None:
        lost = correction * (reduce_sum(weights * as_dtype(aweights, dtype)) / total)
    found = (apart * weights) @ apart.T / arithmetic.maximum(total - lost, 0.0)
    return reshape(found, ()) if x.ndim < 2 else found


@declare(mint=renamed("linalg.vector_norm", axis="dim", keepdims="keepdim"))
def vector_norm(x: Tensor, ord: Any = 2, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """The ``ord``-norm of vectors: (sum of abs(x)**ord)**(1/ord); inf, -inf and 0 as limits."""
    given = check_tensor(x, "vector_norm", "x")
    if dtype is not None:
        given = as_dtype(given, numpy_dtype(dtype))
    if isinstance(ord, bool) or not isinstance(ord, int | float):
        raise ValueError(f"For 'vector_norm', 'ord' must be a number, but got {ord!r}")
    if given._array.dtype.kind in "biu":
        given = as_dtype(given, float32.numpy)
    if ord == 2 and given._array.dtype.kind != "c":
        return arithmetic.sqrt(reduce_sum(arithmetic.square(given), axis, keepdims))
    size = arithmetic.abs(given)
    if ord == math.inf:
        return reduce_max(size, axis, keepdims)
    if ord == -math.inf:
        return reduce_min(size, axis, keepdims)
    if ord == 0:
        return reduce_sum(cast_operator(comparison.ne(size, 0), dtype=size._array.dtype), axis, keepdims)
    if ord == 1:
        return reduce_sum(size, axis, keepdims)
    return arithmetic.pow(reduce_sum(arithmetic.pow(size, float(ord)), axis, keepdims), 1.0 / ord)


@declare(primitive=prim("LpNorm", "axis", p=2, keep_dims=False, epsilon=1e-12))
def _lp_norm(x: Tensor, axis: Axis, p: int, keep_dims: bool, epsilon: float) -> Tensor:
    """The ``p``-norm over ``axis``; ``epsilon`` where it is less."""
    return arithmetic.maximum(vector_norm(x, p, axis, keep_dims), epsilon)


@declare(primitive=prim("EuclideanNorm", keep_dims=False))
def _euclidean_norm(x: Tensor, axis: Axis = (), *, keep_dims: bool) -> Tensor:
    """The square root of the sum of squares over ``axis``."""
    return vector_norm(x, 2, axis, keep_dims)


@declare(primitive=prim("L2Normalize", axis=0, epsilon=1e-4))
def _l2_normalize(x: Tensor, axis: Any, epsilon: float) -> Tensor:
    """``x`` over its 2-norm along ``axis``, whose square counts as ``epsilon`` at least."""
    axes = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    return x / arithmetic.sqrt(arithmetic.maximum(reduce_sum(arithmetic.square(x), axes, True), epsilon))


def _cumprod_rule(F: Any, g: Any, out: Any, x: Any, axis: int) -> Any:
    """By division; where an element is 0, term by term."""
    bare = x._array if isinstance(x, Tensor) else x
    if not (bare == 0).any():
        back = F.flip(F.cumsum(F.flip(g * out, axes=(axis,)), axis=axis), axes=(axis,))
        return back / x
    length = x.shape[axis]
    xp = array_module(bare)
    moved = F.transpose(x, axes=_last(x.ndim, axis))
    own = xp.eye(length, dtype=bool)
    upto = xp.tril(xp.ones((length, length), bool))
    # factor[..., j, i, k]: element k where it belongs to the product up to i and is not j itself.
    spread = F.broadcast_to(F.reshape(moved, shape=(*moved.shape[:-1], 1, 1, length)),
                            shape=(*moved.shape[:-1], length, length, length))  # fmt: skip
    kept = xp.broadcast_to(upto[None] & ~own[:, None], spread.shape)
    others = F.prod(F.where(kept, spread, spread * 0 + 1), axis=(spread.ndim - 1,), keepdims=False)
    arriving = F.reshape(F.transpose(g, axes=_last(x.ndim, axis)), shape=(*moved.shape[:-1], 1, length))
    terms = F.where(xp.broadcast_to(upto.T, others.shape), others * arriving, others * 0)
    summed = F.sum(terms, axis=(terms.ndim - 1,), keepdims=False)
    return F.transpose(summed, axes=tuple(int(i) for i in np.argsort(_last(x.ndim, axis))))


def _last(ndim: int, axis: int) -> tuple[int, ...]:
    return (*(i for i in range(ndim) if i != axis), axis)


_cumprod = Operator("cumprod", lambda x, axis: x.cumprod(axis=axis, dtype=x.dtype), (_cumprod_rule,))


@declare(method=True, mint=True)
def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Running products along ``dim``."""
    x = (
        check_tensor(input, "cumprod")
        if dtype is None
        else as_dtype(check_tensor(input, "cumprod"), numpy_dtype(dtype))
    )
    if dtype is None and x._array.dtype.kind in "biu":
        x = as_dtype(x, int64.numpy)
    return _cumprod(x, axis=one_axis(dim, x.ndim, "cumprod")) if x.ndim else reshape(x, ())


def _logcumsumexp_kernel(x: Any, axis: int) -> Any:
    xp = array_module(x)
    if xp is not np:  # CuPy has no accumulate
        return xp.asarray(_logcumsumexp_kernel(x.get(), axis))
    return np.moveaxis(np.logaddexp.accumulate(np.moveaxis(x, axis, 0), axis=0), 0, axis)


def _logcumsumexp_rule(F: Any, g: Any, out: Any, x: Any, axis: int) -> Any:
    back = F.flip(F.cumsum(F.flip(g * F.exp(-out), axes=(axis,)), axis=axis), axes=(axis,))
    return back * F.exp(x)


_logcumsumexp = Operator("logcumsumexp", _logcumsumexp_kernel, (_logcumsumexp_rule,))


@declare(method=True)
def logcumsumexp(input: Tensor, axis: int) -> Any:
    """log of the running sums of exp(input) along ``axis``, without overflow."""
    x = check_tensor(input, "logcumsumexp")
    if x._array.dtype.kind != "f":
        raise TypeError(f"For 'logcumsumexp', 'input' must hold floats, but got {x.dtype}")
    return _logcumsumexp(x, axis=one_axis(axis, x.ndim, "logcumsumexp"))


@declare(method=True, mint=renamed(x="input", axis="dim"), numpy=renamed(x="a"))
def diff(x: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The ``n``-th difference of neighbours along ``axis``, after joining ``prepend`` and ``append`` on.

    Raises:
        RuntimeError: a 0-d tensor.
        TypeError: ``n`` is no int.
    """
    if check_tensor(x, "diff", "x").ndim == 0:
        raise RuntimeError("For 'diff', 'x' must have at least 1 axis, but got a 0-d tensor")
    at = one_axis(axis, x.ndim, "diff")
    parts = [prepend, x, append]
    joined = [p if isinstance(p, Tensor) else Tensor(p) for p in parts if p is not None]
    whole = concat(joined, at) if len(joined) > 1 else x
    for _ in range(n):
        length = whole.shape[at]
        upper, lower = (whole[along(whole, at, slice(*cut))] for cut in ((1, None), (0, max(length - 1, 0))))
        whole = comparison.logical_xor(upper, lower) if whole._array.dtype.kind == "b" else upper - lower
    return whole


diff_ext = diff


def trapz(y: Tensor, x: Tensor | None = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral along ``dim`` by the trapezoidal rule, at the places ``x`` or ``dx`` apart."""
    at = one_axis(dim, check_tensor(y, "trapz", "y").ndim, "trapz")
    if y._array.dtype.kind in "biu":
        y = as_dtype(y, float32.numpy)
    step: Any = dx
    if x is not None:
        step = diff(x, axis=at if x.ndim == y.ndim else 0)
        if x.ndim == 1:
            step = reshape(step, (-1,) + (1,) * (y.ndim - at - 1))
    left, right = y[along(y, at, slice(None, -1))], y[along(y, at, slice(1, None))]
    return reduce_sum((left + right) * step * 0.5, at)


def dist(input: Tensor, other: Tensor, p: float = 2) -> Any:
    """The p-norm of the difference."""
    return vector_norm(arithmetic.sub(input, other), p)


@declare(primitive=prim("Cdist", p=2.0), mint=True)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Any:
    """The p-norm distance of each row of ``x1`` from each row of ``x2``."""
    first, second = check_tensor(x1, "cdist", "x1"), check_tensor(x2, "cdist", "x2")
    rows = reshape(first, (*first.shape[:-1], 1, first.shape[-1]))
    columns = reshape(second, (*second.shape[:-2], 1, *second.shape[-2:]))
    return _distance(rows - columns, p, -1)


def _distance(apart: Any, p: float, axis: int) -> Any:
    """A norm whose gradient is 0, not NaN, where the distance is 0."""
    if p != 2:
        return vector_norm(apart, p, axis)
    squared = reduce_sum(arithmetic.square(apart), axis)
    zero = comparison.eq(squared, 0)
    return where(zero, 0.0, arithmetic.sqrt(where(zero, 1.0, squared)))


@declare(primitive=prim("Pdist", p=2.0))
def pdist(input: Tensor, p: float = 2.0) -> Any:
    """The p-norm distance of each two rows."""
    rows, columns = np.triu_indices(check_tensor(input, "pdist").shape[-2], 1)
    first, second = (input[..., Tensor(i), :] for i in (rows, columns))
    return _distance(first - second, p, -1)


@declare(method=True)
def renorm(input: Tensor, p: float, axis: int, maxnorm: float) -> Any:
    """Each entry along ``axis`` scaled down where its p-norm is above ``maxnorm``."""
    x = check_tensor(input, "renorm")
    at = one_axis(axis, x.ndim, "renorm")
    others = tuple(i for i in range(x.ndim) if i != at)
    size = vector_norm(x, p, others, True)
    return x * where(comparison.gt(size, maxnorm), maxnorm / (size + 1e-7), 1.0)


declare(primitive=prim("Renorm", "p", "dim", "maxnorm"))(lambda x, p, dim, maxnorm: renorm(x, p, dim, maxnorm))


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """A tensor, or tensors, scaled so that their common norm is at most ``max_norm``.

    Raises:
        RuntimeError: the norm is not finite, with ``error_if_nonfinite``.
    """
    parts = x if isinstance(x, list | tuple) else [x]
    sizes = [vector_norm(check_tensor(part, "clip_by_norm", "x"), norm_type) for part in parts]
    total = vector_norm(concat([reshape(s, (1,)) for s in sizes]), norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(f"For 'clip_by_norm', the norm of 'x' must be finite, but it is {total.item()}")
    scale = arithmetic.minimum(max_norm / (total + 1e-6), 1.0)
    scaled = [cast_operator(part * scale, dtype=part._array.dtype) for part in parts]
    return type(x)(scaled) if isinstance(x, list | tuple) else scaled[0]


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> Any:
    """Tensors scaled so that the norm of all of them together is at most ``clip_norm``.

    Raises:
        TypeError: no tuple or list.
        ValueError: ``clip_norm`` is not positive.
        NotImplementedError: ``use_norm`` is given.
    """
    if use_norm is not None:
        raise NotImplementedError("For 'clip_by_global_norm', 'use_norm' must be None, as in MindSpore")
    if not isinstance(x, list | tuple):
        raise TypeError(f"For 'clip_by_global_norm', 'x' must be a tuple or list, but got {type(x).__name__}")
    if clip_norm <= 0:
        raise ValueError(f"For 'clip_by_global_norm', 'clip_norm' must be positive, but got {clip_norm}")
    squares = [reduce_sum(arithmetic.square(as_dtype(part, float32.numpy))) for part in x]
    total = arithmetic.sqrt(addn(squares))
    scale = clip_norm / arithmetic.maximum(total, float(clip_norm))
    return tuple([cast_operator(part * scale, dtype=part._array.dtype) for part in x])


# Running classes, which may leave the element itself out ("exclusive") or begin at the end ("reverse")


def _running(function: Any, first: Any, x: Tensor, axis: Any, exclusive: bool, reverse: bool, name: str) -> Tensor:
    """``function`` along ``axis``; ``first`` is what it gives of no element."""
    at = one_axis(int(axis), x.ndim, name)
    found = function(flip(x, at) if reverse else x, at)
    if exclusive and found.size:
        edge = (*found.shape[:at], 1, *found.shape[at + 1 :])
        empty = Tensor._wrap(array_module(found._array).full(edge, first, found._array.dtype))
        found = concat([empty, found[along(found, at, slice(0, found.shape[at] - 1))]], at)
    return flip(found, at) if reverse else found


@declare(primitive=prim("CumSum", exclusive=False, reverse=False))
def _running_sum(x: Tensor, axis: Any, exclusive: bool, reverse: bool) -> Tensor:
    """Running sums along ``axis``."""
    return _running(cumsum, 0, x, axis, exclusive, reverse, "CumSum")


@declare(primitive=prim("CumProd", exclusive=False, reverse=False))
def _running_product(x: Tensor, axis: Any, exclusive: bool, reverse: bool) -> Tensor:
    """Running products along ``axis``."""
    return _running(lambda x, at: cumprod(x, at, x.dtype), 1, x, axis, exclusive, reverse, "CumProd")


@declare(primitive=prim("CumulativeLogsumexp", exclusive=False, reverse=False))
def _running_logsumexp(x: Tensor, axis: Any, exclusive: bool, reverse: bool) -> Tensor:
    """log of the running sums of exp(x) along ``axis``; the lowest number of the dtype stands for log(0)."""
    lowest = np.finfo(x._array.dtype).min if x._array.dtype.kind == "f" else None
    return _running(logcumsumexp, lowest, x, axis, exclusive, reverse, "CumulativeLogsumexp")
