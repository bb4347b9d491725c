"""The functions of ``mindspore.mint``: those of ``ops``, with the names and defaults of arguments that PyTorch has.

What is the same in ``ops`` is taken from there; here is what differs.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..tensor import Tensor

__all__ = [
    "all", "allclose", "amax", "amin", "any", "argmin", "argsort", "bernoulli", "cat", "chunk", "clone",
    "concat", "count_nonzero", "cummax", "cummin", "cumsum", "diag", "diff", "div", "divide", "empty", "empty_like",
    "flatten", "gather", "index_add", "index_select", "kthvalue", "log_softmax", "max", "mean", "median", "meshgrid",
    "min", "mv", "nansum", "narrow", "norm", "normal", "ones", "permute", "prod", "rand", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "randperm", "repeat_interleave", "scatter", "scatter_add", "select",
    "softmax", "sort", "split", "squeeze", "stack", "std", "std_mean", "sum", "swapaxes", "take", "transpose",
    "unbind", "unsqueeze", "var", "var_mean", "vdot", "where", "zeros",
]  # fmt: skip


# Arithmetic


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """input / other, rounded "floor" or "trunc" if wished."""
    if rounding_mode is None:
        return ops.div(input, other)
    if rounding_mode == "floor":
        return ops.floor_divide(input, other)
    if rounding_mode != "trunc":
        raise ValueError(f"For 'mint.div', 'rounding_mode' must be None, 'floor' or 'trunc', but got {rounding_mode!r}")
    both = ops.div(input, other)
    whole = ops.trunc(both)
    result = input.dtype if isinstance(input, Tensor) else other.dtype
    return whole if result.is_floating_point else whole.astype(result)


divide = div


def vdot(input: Tensor, other: Tensor) -> Any:
    """The product of two vectors, the first conjugated."""
    return ops.dot(ops.conj(input) if input._array.dtype.kind == "c" else input, other)


def mv(input: Tensor, vec: Tensor) -> Any:
    """A matrix times a vector."""
    return ops.mv(input, vec)


# Reductions


def sum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum along axes."""
    return ops.sum(input, dim, keepdim, dtype=dtype)


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The mean along axes."""
    return ops.mean(input if dtype is None else input.astype(dtype), dim, keepdim)


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The product along an axis."""
    return ops.prod(input, dim, keepdim, dtype)


def all(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether all elements along axes are true."""
    return ops.all(input, dim, keepdim)


def any(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Whether an element along axes is true."""
    return ops.any(input, dim, keepdim)


def amax(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The largest along axes."""
    return ops.amax(input, dim if dim != () else None, keepdim)


def amin(input: Tensor, dim: Any = (), keepdim: bool = False) -> Any:
    """The smallest along axes."""
    return ops.amin(input, dim if dim != () else None, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the smallest along an axis, or of all."""
    return ops.argmin(input, dim, keepdim)


def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum along axes without NaN."""
    return ops.nansum(input, dim, keepdim, dtype=dtype)


def count_nonzero(input: Tensor, dim: Any = None) -> Any:
    """How many elements along axes are not 0."""
    from ..dtype import int64

    return ops.count_nonzero(input, () if dim is None else dim, dtype=int64)


def var(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """The variance along axes, divided by the count less ``correction``."""
    return ops.var(input, dim, correction, keepdim)


def std(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """The deviation along axes, divided by the count less ``correction``."""
    return ops.std(input, dim, correction, keepdim)


def var_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """(variance, mean)."""
    return ops.var_mean(input, dim, correction, keepdim)


def std_mean(input: Tensor, dim: Any = None, *, correction: int = 1, keepdim: bool = False) -> Any:
    """(deviation, mean)."""
    return ops.std_mean(input, dim, correction, keepdim)


def max(input: Tensor, *args: Any, dim: int | None = None, keepdim: bool = False, other: Any = None) -> Any:
    """max(input): the largest; max(input, dim, keepdim): (values, places); max(input, other): of each pair."""
    return _extreme("max", ops.maximum, input, args, dim, keepdim, other)


def min(input: Tensor, *args: Any, dim: int | None = None, keepdim: bool = False, other: Any = None) -> Any:
    """min(input): the smallest; min(input, dim, keepdim): (values, places); min(input, other): of each pair."""
    return _extreme("min", ops.minimum, input, args, dim, keepdim, other)


def _extreme(name: str, pairwise: Any, input: Tensor, args: Any, dim: Any, keepdim: bool, other: Any) -> Any:
    if args and isinstance(args[0], Tensor):
        other, args = args[0], args[1:]
    if other is not None:
        return pairwise(input, other)
    if args:
        dim, keepdim = args[0], args[1] if len(args) > 1 else keepdim
    if dim is None:
        return (ops.amax if name == "max" else ops.amin)(input)
    return getattr(ops, name)(input, dim, keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all; with ``dim`` (values, places) along it."""
    return ops.median(ops.reshape(input, (-1,)), 0)[0] if dim is None else ops.median(input, dim, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of all elements, or along axes."""
    from .linalg import vector_norm

    return vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether each pair is close."""
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)))


# Order


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """(sorted values, places) along an axis; equal ones keep their order."""
    return ops.sort(input, dim, descending)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The places of the sorted values; equal ones keep their order."""
    return ops.sort(input, dim, descending)[1]


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """(value, place) of the k-th smallest along an axis."""
    return ops.kthvalue(input, k, dim, keepdim)


def cummax(input: Tensor, dim: int) -> Any:
    """(largest so far, places) along an axis."""
    return ops.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> Any:
    """(smallest so far, places) along an axis."""
    return ops.cummin(input, dim)


def cumsum(input: Tensor, dim: int, dtype: Any = None) -> Any:
    """The sum so far along an axis."""
    return ops.cumsum(input, dim, dtype)


def diff(input: Tensor, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Differences of neighbours along an axis."""
    return ops.diff(input, n, dim, prepend, append)


# Shape


def cat(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    """Tensors one behind the other along an axis."""
    return ops.cat(tensors, dim)


concat = cat


def stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    """Tensors along a new axis."""
    return ops.stack(tensors, dim)


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> Any:
    """Pieces along an axis."""
    return ops.split(tensor, split_size_or_sections, dim)


def chunk(input: Tensor, chunks: int, dim: int = 0) -> Any:
    """So many pieces along an axis."""
    return ops.chunk(input, chunks, dim)


def unbind(input: Tensor, dim: int = 0) -> Any:
    """The slices along an axis."""
    return ops.unbind(input, dim)


def squeeze(input: Tensor, dim: Any = None) -> Any:
    """Without axes of length 1; an axis of another length stays."""
    if dim is None:
        return ops.squeeze(input)
    axes = dim if isinstance(dim, tuple | list) else (dim,)
    alone = tuple(axis for axis in axes if input.shape[axis] == 1)
    return ops.squeeze(input, alone) if alone else ops.reshape(input, input.shape)


def unsqueeze(input: Tensor, dim: int) -> Any:
    """With a new axis of length 1."""
    return ops.unsqueeze(input, dim)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Any:
    """Axes as one."""
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def transpose(input: Tensor, dim0: int, dim1: int) -> Any:
    """Two axes exchanged."""
    return ops.swapaxes(input, dim0, dim1)


def swapaxes(input: Tensor, axis0: int, axis1: int) -> Any:
    """Two axes exchanged."""
    return ops.swapaxes(input, axis0, axis1)


def permute(input: Tensor, dims: Any) -> Any:
    """Axes in another order."""
    return ops.permute(input, dims)


def meshgrid(*tensors: Any, indexing: str | None = None) -> Any:
    """The coordinates of a grid; the first tensor runs along the first axis."""
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Any:
    """A vector as a diagonal, or the diagonal of a matrix."""
    if input.ndim == 2:
        return ops.diagonal(input, diagonal)
    place = builtins.abs(diagonal)
    square = ops.diag(input)
    if not place:
        return square
    before, behind = (place, 0) if diagonal > 0 else (0, place)
    return ops.pad(square, (before, behind, behind, before))


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Any:
    """Each element several times."""
    return ops.repeat_interleave(input, repeats, dim)


# Choosing


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, else ``other``; the condition alone gives the places where it holds."""
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def gather(input: Tensor, dim: int, index: Tensor) -> Any:
    """Elements by their places along an axis."""
    return ops.gather_elements(input, dim, index)


def scatter(input: Tensor, dim: int, index: Tensor, src: Any) -> Any:
    """``src`` put at places along an axis."""
    return ops.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Any:
    """``src`` added at places along an axis."""
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Any:
    """Slices of ``source`` added at places along an axis."""
    return ops.index_add(input, index, source if alpha == 1 else source * alpha, dim)


def index_select(input: Tensor, dim: int, index: Tensor) -> Any:
    """Slices by their places along an axis."""
    return ops.index_select(input, dim, index)


def select(input: Tensor, dim: int, index: int) -> Any:
    """One slice along an axis."""
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


def narrow(input: Tensor, dim: int, start: int, length: int) -> Any:
    """A stretch of an axis."""
    return ops.narrow(input, dim, start, length)


def take(input: Tensor, index: Tensor) -> Any:
    """Elements by their places in the flattened tensor."""
    return ops.reshape(input, (-1,))[index]


# Nonlinear


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Any:
    """exp, divided by its sum along an axis."""
    return ops.softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Any:
    """The logarithm of softmax."""
    return ops.log_softmax(input if dtype is None else input.astype(dtype), -1 if dim is None else dim)


# Making


def zeros(*size: Any, dtype: Any = None) -> Any:
    """Zeros of a shape."""
    return ops.zeros(_shape(size), dtype)


def ones(*size: Any, dtype: Any = None) -> Any:
    """Ones of a shape."""
    return ops.ones(_shape(size), dtype)


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of a shape; its values are zeros, which no program may count on."""
    return zeros(*size, dtype=dtype)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Any:
    """A tensor of another's shape; its values are zeros, which no program may count on."""
    return ops.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Any:
    """A copy that gradients pass."""
    return input.clone()


def _shape(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size


def _dtype(tensor: Any, dtype: Any) -> Any:
    return tensor if dtype is None else tensor.astype(dtype)


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Evenly spread over [0, 1)."""
    return ops.rand(*_shape(size), dtype=dtype, seed=_seed(generator))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """Of the normal distribution."""
    return ops.randn(*_shape(size), dtype=dtype, seed=_seed(generator))


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Any:
    """Evenly spread over [0, 1), in another's shape."""
    return ops.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Any:
    """Of the normal distribution, in another's shape."""
    return ops.randn_like(input, dtype=dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Any:
    """randint(high, size) or randint(low, high, size): ints from ``low`` (or 0) below ``high``."""
    low, high, size = (0, *args) if len(args) == 2 else args
    return ops.randint(low, high, size, _seed(generator), dtype=dtype)


def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Any:
    """randint_like(input, high) or (input, low, high)."""
    low, high = (0, *args) if len(args) == 1 else args
    return ops.randint_like(input, low, high, dtype=dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = None) -> Any:
    """The numbers from 0 below ``n`` in random order."""
    from ..dtype import int64

    order = ops.argsort(ops.rand(n, seed=_seed(generator)))
    return order.astype(int64 if dtype is None else dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Any:
    """Of the normal distribution with these means and deviations."""
    if size is None:
        size = next((one.shape for one in (mean, std) if isinstance(one, Tensor)), ())
    return ops.randn(*size, seed=_seed(generator)) * std + mean


def bernoulli(input: Tensor, *, generator: Any = None) -> Any:
    """1 with the probability that is in the input, else 0."""
    return (ops.rand(*input.shape, seed=_seed(generator)) < input).astype(input.dtype)


def _seed(generator: Any) -> int | None:
    """A seed drawn from a generator; None for the engine's own stream."""
    if generator is None:
        return None
    seed, place = generator.draw(1)
    return int((seed * 1000003 + place) % 2**31)  # another one for each draw of the generator
