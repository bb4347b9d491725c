"""The functions of ``mindspore.mint`` whose form differs from that of ``ops`` in more than names of arguments.

The others are declared where the functions are (``mint=`` in ``ops``).
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from .. import ops
from ..core.dtype import int64
from ..core.tensor import Tensor
from ..ops.arguments import axes_of

__all__ = [
    "allclose", "argmin", "argsort", "bernoulli", "clone", "cummin", "diag", "dot", "empty", "empty_like",
    "flatten", "index_add", "log_softmax", "max", "mean", "median", "meshgrid", "min", "norm", "normal", "ones",
    "pow", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "randperm", "repeat_interleave",
    "scatter_add", "select", "sort", "squeeze", "take", "topk", "vdot", "where", "zeros",
]  # fmt: skip


def pow(input: Any, exponent: Any) -> Tensor:
    """input to the power of the exponent; of integers with a negative one 0, but for 1 and -1.

    Raises:
        TypeError: a tensor of integers to the power of a negative int.
    """
    whole = input._array.dtype.kind in "biu" if isinstance(input, Tensor) else isinstance(input, int)
    if not isinstance(exponent, Tensor):
        if whole and isinstance(exponent, int) and exponent < 0:
            raise TypeError(f"For 'mint.pow', integers have no power of {exponent}: they would be fractions")
    elif whole and exponent._array.dtype.kind == "i":
        found = ops.pow(input, ops.abs(exponent))
        alone = ops.equal(ops.abs(input), 1)
        return ops.where(ops.logical_or(ops.greater_equal(exponent, 0), alone), found, ops.zeros_like(found))
    return ops.pow(input, exponent)


def dot(input: Tensor, other: Tensor) -> Tensor:
    """The product of two vectors.

    Raises:
        ValueError: one has not one axis.
    """
    if input.ndim != 1 or other.ndim != 1:
        raise ValueError(f"For 'mint.dot', both must have one axis, but got shapes {input.shape} and {other.shape}")
    return ops.matmul(input, other)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The product of two vectors, the first conjugated."""
    return dot(ops.conj(input) if input._array.dtype.kind == "c" else input, other)


# Reductions


def mean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean along axes."""
    return ops.mean(_as(input, dtype), dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """The place of the smallest along an axis, or of all, as Int64."""
    return ops.argmin(input, dim, keepdim).astype(int64)


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
    # By its place: of several that are the extreme one alone gets the gradient.
    places = (ops.argmax if name == "max" else ops.argmin)(input, dim, True).astype(int64)
    values = ops.gather_elements(input, dim, places) if input.ndim else ops.reshape(input, ())
    return (values, places) if keepdim else (squeeze(values, dim), squeeze(places, dim))


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The lower median of all; with ``dim`` (values, places) along it."""
    return ops.median(ops.reshape(input, (-1,)), 0)[0] if dim is None else ops.median(input, dim, keepdim)


def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The p-norm of all elements, or along axes."""
    return ops.vector_norm(input, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether each pair is close."""
    return bool(ops.all(ops.isclose(input, other, rtol, atol, equal_nan)))


# Order


def sort(input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """(sorted values, places as Int64) along an axis; equal ones keep their order."""
    values, places = ops.sort(input, dim, descending)
    return values, places.astype(int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The places of the sorted values, as Int64; equal ones keep their order."""
    return ops.argsort(input, dim, descending).astype(int64)


def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The ``k`` largest (or smallest) along an axis and their places as Int64, in order."""
    values, places = ops.topk(input, k, dim, largest, sorted)
    return values, places.astype(int64)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """(smallest so far, places as Int64) along an axis."""
    values, places = ops.cummin(input, dim)
    return values, places.astype(int64)


# Shape


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Without axes of length 1; an axis of another length stays."""
    if dim is None:
        return ops.squeeze(input)
    axes = axes_of(dim if isinstance(dim, int) else tuple(dim), input.ndim, "squeeze") or ()
    alone = tuple(axis for axis in axes if input.shape[axis] == 1)
    return ops.squeeze(input, alone) if alone else ops.reshape(input, input.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Axes as one."""
    return ops.flatten(input, start_dim=start_dim, end_dim=end_dim)


def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of a grid; the first tensor runs along the first axis."""
    return ops.meshgrid(*tensors, indexing="ij" if indexing is None else indexing)


def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as a diagonal, or the diagonal of a matrix."""
    if input.ndim == 2:
        return ops.diagonal(input, diagonal)
    place = builtins.abs(diagonal)
    square = ops.diag(input)
    if not place:
        return square
    before, behind = (place, 0) if diagonal > 0 else (0, place)
    return ops.pad(square, (before, behind, behind, before))


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each element several times."""
    found = ops.repeat_interleave(input, repeats, dim)
    if output_size is not None and found.shape[dim or 0] != output_size:
        raise ValueError(
            f"For 'mint.repeat_interleave', 'output_size' must be the length {found.shape[dim or 0]} of the result, "
            f"but got {output_size}"
        )
    return found


# Choosing


def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """``input`` where the condition holds, else ``other``; the condition alone gives the places where it holds."""
    if input is None and other is None:
        return ops.nonzero(condition, as_tuple=True)
    return ops.where(condition, input, other)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """``src`` added at places along an axis."""
    return ops.tensor_scatter_elements(input, index, src, dim, "add")


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """Slices of ``source`` added at places along an axis."""
    own = ops.reshape(input, input.shape)  # ops.index_add gives a Parameter the sum
    return ops.index_add(own, index, source if alpha == 1 else source * alpha, dim)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One slice along an axis."""
    return input[(slice(None),) * (dim % input.ndim) + (index,)]


def take(input: Tensor, index: Tensor) -> Tensor:
    """Elements by their places in the flattened tensor."""
    return ops.reshape(input, (-1,))[index]


# Nonlinear


def log_softmax(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """The logarithm of softmax."""
    return ops.log_softmax(_as(input, dtype), -1 if dim is None else dim)


# Making


def zeros(*size: Any, dtype: Any = None) -> Tensor:
    """Zeros of a shape."""
    return ops.zeros(_shape(size), dtype)


def ones(*size: Any, dtype: Any = None) -> Tensor:
    """Ones of a shape."""
    return ops.ones(_shape(size), dtype)


def empty(*size: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of a shape; its values are zeros, which no program may count on."""
    return zeros(*size, dtype=dtype)


def empty_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of another's shape; its values are zeros, which no program may count on."""
    return ops.zeros_like(input, dtype=dtype)


def clone(input: Tensor) -> Tensor:
    """A copy that gradients pass."""
    return input.clone()


def _shape(size: tuple[Any, ...]) -> Any:
    return size[0] if len(size) == 1 and isinstance(size[0], tuple | list) else size


def _as(tensor: Tensor, dtype: Any) -> Tensor:
    return tensor if dtype is None else tensor.astype(dtype)


def rand(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Evenly spread over [0, 1)."""
    return ops.rand(*_shape(size), dtype=dtype, seed=_seed(generator))


def randn(*size: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """Of the normal distribution."""
    return ops.randn(*_shape(size), dtype=dtype, seed=_seed(generator))


def rand_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Evenly spread over [0, 1), in another's shape."""
    return ops.rand_like(input, dtype=dtype)


def randn_like(input: Tensor, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Of the normal distribution, in another's shape."""
    return ops.randn_like(input, dtype=dtype)


def randint(*args: Any, generator: Any = None, dtype: Any = None, device: Any = None) -> Tensor:
    """randint(high, size) or randint(low, high, size): ints from ``low`` (or 0) below ``high``."""
    low, high, size = (0, *args) if len(args) == 2 else args
    return ops.randint(low, high, size, _seed(generator), dtype=dtype)


def randint_like(input: Tensor, *args: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """randint_like(input, high) or (input, low, high)."""
    low, high = (0, *args) if len(args) == 1 else args
    return ops.randint_like(input, low, high, dtype=dtype)


def randperm(n: int, *, generator: Any = None, dtype: Any = None) -> Tensor:
    """The numbers from 0 below ``n`` in random order."""
    order = ops.argsort(ops.rand(n, seed=_seed(generator)))
    return order.astype(int64 if dtype is None else dtype)


def normal(mean: Any = 0.0, std: Any = 1.0, size: Any = None, generator: Any = None) -> Tensor:
    """Of the normal distribution with these means and deviations."""
    if size is None:
        size = next((one.shape for one in (mean, std) if isinstance(one, Tensor)), ())
    return ops.randn(*size, seed=_seed(generator)) * std + mean


def bernoulli(input: Tensor, *, generator: Any = None) -> Tensor:
    """1 with the probability that is in the input, else 0."""
    return (ops.rand(*input.shape, seed=_seed(generator)) < input).astype(input.dtype)


def _seed(generator: Any) -> int | None:
    """A seed drawn from a generator; None for the engine's own stream."""
    if generator is None:
        return None
    seed, place = generator.draw(1)
    return int((seed * 1000003 + place) % 2**31)  # another one for each draw of the generator
