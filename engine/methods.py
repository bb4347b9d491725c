"""The methods and Python operators of Tensor: rows over the functions of ``ops``, bound once at import.

MindSpore's methods take their arguments under two sets of names, its own (axis, keepdims) and PyTorch's (dim,
keepdim); ``_method`` makes a function accept both. Where the two forms of a method differ otherwise, the method is
written out here.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ops, random
from .backend import to_host
from .cpu.array_module import array_module
from .dtype import DType, bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, numpy_dtype, uint8
from .operator import Operator
from .ops.drawing import integers
from .ops.gathering import put
from .ops.sorting import unique_sorted
from .surfaces import IN_PLACE, METHODS
from .tensor import Tensor

__all__ = ["bind"]

Method = Callable[..., Any]

_SYNONYMS = (
    ("axis", "dim", "dims"), ("keepdims", "keepdim", "keep_dims"), ("ddof", "correction"), ("dims", "reps", "axis"),
    ("axis0", "dim0"), ("axis1", "dim1"), ("other", "y", "x2", "tensor2", "value", "divisor"),
    ("indices", "index", "input_indices"), ("split_size_or_sections", "split_size"), ("exponent", "other"),
    ("offset", "diagonal"),
)  # fmt: skip


def _parameters(function: Method) -> tuple[str, ...] | None:
    code = getattr(function, "__code__", None)
    return None if code is None else code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _method(function: Method) -> Method:
    """A function of ``ops`` as a method that takes each argument also under its other names."""
    names = _parameters(function)
    if names is None or not {name for group in _SYNONYMS for name in group}.intersection(names[1:]):
        return function
    own = frozenset(names)

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if kwargs and not own.issuperset(kwargs):
            kwargs = {key if key in own else _renamed(key, own): value for key, value in kwargs.items()}
        return function(self, *args, **kwargs)

    method.__name__, method.__doc__ = function.__name__, function.__doc__
    return method


def _renamed(key: str, own: frozenset[str]) -> str:
    for group in _SYNONYMS:
        if key in group:
            for name in group:
                if name in own:
                    return name
    return key


def _in_place(name: str, function: Method) -> Method:
    """A method that gives the tensor the values of ``function``'s result, in its own shape and dtype."""

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return _taken(self, function(self, *args, **kwargs), name)

    method.__name__, method.__doc__ = name, f"In place: {function.__doc__}"
    return method


def _taken(self: Tensor, result: Any, name: str) -> Tensor:
    """Rebind: the array that others may hold stays as it is, and gradients pass through the new one."""
    if result.shape != self.shape:
        raise ValueError(f"For 'Tensor.{name}', the result must keep the shape {self.shape}, but has {result.shape}")
    cast = ops.cast(result, self.dtype)
    self._rebind((ops.identity(cast) if cast._array is self._array else cast)._array)
    return self


def _reflected(function: Method) -> Method:
    return lambda self, other: function(other, self)


# Methods with two forms


def _sum(self: Tensor, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None) -> Tensor:
    """The sum over ``axis``."""
    if isinstance(dtype, bool):  # the form sum(dim, keepdim)
        dtype, keepdims = None, dtype
    total = ops.sum(self, axis, keepdims, dtype=dtype)
    return total if initial is None else total + initial


def _mean(self: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The mean over ``axis``."""
    return ops.mean(self if dtype is None else ops.cast(self, dtype), axis, keepdims)


def _extreme(name: str, pair: Method, single: Method, whole: Method) -> Method:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        if "dim" in kwargs or "keepdim" in kwargs or (args and "return_indices" not in kwargs and not kwargs
                                                      and isinstance(args[0], int)):  # fmt: skip
            return pair(self, *args, **{{"dim": "axis", "keepdim": "keepdims"}.get(k, k): v for k, v in kwargs.items()})
        return both(self, *args, **kwargs)

    def both(
        self: Tensor,
        axis: Any = None,
        keepdims: bool = False,
        *,
        initial: Any = None,
        where: Any = True,
        return_indices: bool = False,
    ) -> Any:
        if return_indices:
            return pair(self, axis, keepdims)
        if initial is None and where is True:
            return whole(self, axis, keepdims)
        return single(self, axis, keepdims, initial=initial, where=None if where is True else where)

    method.__name__, method.__doc__ = name, f"The {name}imum; with ``dim`` (or an int) also where it is."
    return method


def _reshape(self: Tensor, *shape: Any) -> Any:
    """The elements in another shape."""
    return ops.reshape(self, shape[0] if len(shape) == 1 else shape)


def _view(self: Tensor, *shape: Any) -> Any:
    """The elements in another shape, or their bytes as another dtype."""
    if len(shape) == 1 and isinstance(shape[0], DType):
        return Tensor._wrap(self._array.view(numpy_dtype(shape[0])))
    return _reshape(self, *shape)


def _transpose(self: Tensor, *axes: Any) -> Any:
    """The axes in another order, or two of them exchanged; reversed without any."""
    if not axes:
        return ops.transpose(self)
    if len(axes) == 2 and self.ndim != 2 and isinstance(axes[0], int):
        return ops.swapaxes(self, *axes)
    if len(axes) == 2 and isinstance(axes[0], int) and sorted(n % 2 for n in axes) != [0, 1]:
        return ops.swapaxes(self, *axes)
    return ops.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes)


def _permute(self: Tensor, *axis: Any) -> Any:
    """The axes in another order."""
    return ops.transpose(self, axis[0] if len(axis) == 1 and not isinstance(axis[0], int) else axis)


def _squeeze(self: Tensor, *axis: Any) -> Any:
    """Without the axes of length 1."""
    return ops.squeeze(self, axis[0] if len(axis) == 1 else axis or None)


def _flatten(self: Tensor, order: Any = "C", *dims: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    """The axes from ``start_dim`` to ``end_dim`` as one."""
    if isinstance(order, int):
        start_dim, order, end_dim = order, "C", dims[0] if dims else end_dim
    if order == "C" and self.ndim == 0:
        return _reshape(self, 1)
    return ops.flatten(self, order, start_dim=start_dim, end_dim=end_dim)


def _all(function: Method) -> Method:
    def method(self: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
        return function(self, axis, keepdims)

    method.__doc__ = function.__doc__
    return method


def _repeat(self: Tensor, *repeats: Any) -> Any:
    """The whole tensor repeated along each axis."""
    times = repeats[0] if len(repeats) == 1 and not isinstance(repeats[0], int) else repeats
    if len(times) < self.ndim:
        raise ValueError(
            f"For 'Tensor.repeat', 'repeats' must have at least {self.ndim} entries, but got {tuple(times)}"
        )
    return ops.tile(self, tuple(times))


def _repeat_interleave(self: Tensor, repeats: Any, dim: Any = None, *, output_size: Any = None) -> Any:
    """Each element ``repeats`` times."""
    return ops.repeat_interleave(self, repeats, dim)


def _gather(self: Tensor, first: Any = None, second: Any = None, batch_dims: int = 0, **named: Any) -> Any:
    """``gather(dim, index)`` picks element by element, ``gather(input_indices, axis)`` whole entries."""
    if "dim" in named or "index" in named or isinstance(first, int):
        return ops.gather_elements(self, named.get("dim", first), named.get("index", second))
    return ops.gather(self, named.get("input_indices", first), named.get("axis", second), batch_dims)


def _scatter(
    self: Tensor, dim: Any = 0, index: Any = None, src: Any = None, *, reduce: Any = None, **named: Any
) -> Any:
    """``src`` (or a number) put at ``index`` along ``dim``."""
    return ops.scatter(self, named.get("axis", dim), index, named.get("value", src), reduce)


def _scatter_add(self: Tensor, *args: Any, **named: Any) -> Any:
    """``scatter_add(dim, index, src)`` adds along an axis, ``scatter_add(indices, updates)`` to whole positions."""
    if len(args) == 3 or "dim" in named:
        values = {**dict(zip(("dim", "index", "src"), args, strict=False)), **named}
        return ops.tensor_scatter_elements(self, values["index"], values["src"], values["dim"], "add")
    return ops.tensor_scatter_add(self, *args, **named)


def _index_add(self: Tensor, *args: Any, **named: Any) -> Any:
    """``index_add(dim, index, source, alpha=)`` or ``index_add(indices, y, axis)``."""
    if {"dim", "source", "alpha"}.intersection(named) or (args and isinstance(args[0], int)):
        values = {**dict(zip(("dim", "index", "source"), args, strict=False)), **named}
        source, alpha = values["source"], values.get("alpha", 1)
        return ops.index_add(self, values["index"], source if alpha == 1 else source * alpha, values["dim"])
    return ops.index_add(self, *args, **named)


def _index_copy(self: Tensor, dim: int, index: Any, tensor: Any) -> Any:
    """The entries ``index`` along ``dim`` replaced by those of ``tensor``."""
    return put(self, tensor, (slice(None),) * (dim % self.ndim) + (index._array,))


def _put(self: Tensor, index: Any, source: Any, accumulate: bool = False) -> Any:
    """``source`` at the places ``index`` of the flattened tensor."""
    flat = put(ops.ravel(self), ops.reshape(source, index.shape), (index._array,), "add" if accumulate else "update")
    return ops.reshape(flat, self.shape)


def _sort(self: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order, and where they were."""
    return ops.sort(self, axis, descending)


def _argsort(self: Tensor, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Where the elements in order are."""
    return ops.argsort(self, axis, descending)


def _median(self: Tensor, axis: Any = None, keepdims: bool = False) -> Any:
    """The median along an axis, the last one by default, and where it is."""
    return ops.median(self, -1 if axis is None else axis, keepdims)


def _prod(self: Tensor, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The product over ``axis``."""
    return ops.prod(self, axis, keepdims, dtype)


def _cumsum(self: Tensor, axis: Any = None, dtype: Any = None) -> Any:
    """Running sums along ``axis``, of the flattened tensor without it."""
    return ops.cumsum(ops.ravel(self), 0, dtype) if axis is None else ops.cumsum(self, axis, dtype)


def _count_nonzero(self: Tensor, axis: Any = (), keepdims: bool = False, dtype: Any = None) -> Any:
    """How many elements are not 0."""
    return ops.count_nonzero(self, () if axis is None else axis, keepdims, dtype or int32)


def _select(self: Tensor, first: Any = None, second: Any = None, **named: Any) -> Any:
    """``select(dim, index)`` is one entry; ``select(condition, y)`` is self where the condition holds."""
    if isinstance(first, int) or "dim" in named:
        at = int(named.get("dim", first)) % self.ndim
        return self[(slice(None),) * at + (int(named.get("index", second)),)]
    return ops.select(named.get("condition", first), self, named.get("y", second))


def _take(self: Tensor, indices: Any = None, axis: Any = None, mode: str = "clip", *, index: Any = None) -> Any:
    """The elements (entries along ``axis``) ``indices``."""
    return ops.take(self, indices if index is None else index, axis, mode)


def _unique(self: Tensor, *args: Any, **named: Any) -> Any:
    """Each value once, in order; on demand places and counts."""
    return unique_sorted(self, *args, **named)


def _searchsorted(self: Tensor, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where ``v`` belongs in this sorted tensor."""
    values = v if isinstance(v, Tensor) else Tensor(v)
    return ops.searchsorted(self, values, side=side, sorter=sorter, out_int32=True)


def _to(self: Tensor, *args: Any, **named: Any) -> Any:
    """The values as another dtype, on another device, or as those of another tensor."""
    found = self
    for wanted in (*args, *named.values()):
        if isinstance(wanted, Tensor):
            found = ops.cast(found, wanted.dtype)
        elif isinstance(wanted, str):
            found = _move_to(found, wanted.partition(":")[0])
        elif wanted is not None and not isinstance(wanted, builtins.bool):
            found = ops.cast(found, wanted)
    return found


def _type(self: Tensor, dtype: Any = None) -> Any:
    """The name of the dtype, or the values as another one."""
    return f"{self.dtype}" if dtype is None else ops.cast(self, dtype)


def _astype(self: Tensor, dtype: Any, copy: builtins.bool = True) -> Any:
    """The elements as another dtype."""
    cast = ops.cast(self, dtype)
    return ops.identity(cast) if copy and cast is self else cast


def _set_dtype(self: Tensor, dtype: Any) -> DType:
    """Change the dtype of this tensor; the new one."""
    self._rebind(ops.cast(self, dtype)._array)
    return self.dtype


def _copy(self: Tensor) -> Tensor:
    """The same values, a new tensor."""
    return ops.identity(self)  # type: ignore[no-any-return]


def _move_to(self: Tensor, to: str, blocking: builtins.bool = True) -> Tensor:
    """The same values on "CPU" or "GPU".

    Raises:
        ValueError: another place.
    """
    wanted = str(to).upper()
    if wanted == "CPU":
        return Tensor._wrap(to_host(self._array))
    if wanted == "GPU":
        import cupy

        return Tensor._wrap(cupy.asarray(self._array))
    raise ValueError(f"For 'Tensor.move_to', 'to' must be 'CPU' or 'GPU', but got {to!r}")


def _new(value: Any) -> Method:
    def method(self: Tensor, size: Any, *args: Any, dtype: Any = None, **named: Any) -> Any:
        filled, rest = (value, args) if value is not None else (named.pop("fill_value", *args[:1]), args[1:])
        return ops.full(size, filled, dtype=dtype or (rest[0] if rest else None) or self.dtype)

    method.__doc__ = "A new tensor in this one's dtype."
    return method


def _invert(self: Tensor) -> Any:
    return (ops.logical_not if self.dtype is bool_ else ops.bitwise_not)(self)


def _resize(self: Tensor, *new_shape: Any) -> Any:
    """The first elements in another shape, filled up with 0."""
    wanted = new_shape[0] if len(new_shape) == 1 and not isinstance(new_shape[0], int) else new_shape
    count, flat = math.prod(wanted), ops.ravel(self)
    if count > self.size:
        flat = ops.pad(flat, (0, count - self.size))
    return ops.reshape(flat[:count], wanted)


def _diagonal(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The diagonals of two axes."""
    return ops.diagonal(self, offset, axis1, axis2)


def _trace(self: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sums of the diagonals."""
    return ops.sum(ops.diagonal(self, offset, axis1, axis2), -1, dtype=dtype or self.dtype)


def _stride(self: Tensor, dim: int | None = None) -> Any:
    """Elements from one to the next along each axis (or ``dim``)."""
    steps = [n // self.itemsize for n in self._array.strides]
    return steps if dim is None else steps[dim]


def _qr(self: Tensor, some: builtins.bool = True) -> Any:
    """An orthogonal and an upper triangular matrix."""
    return ops.qr(self, "reduced" if some else "complete")


def _softmax(self: Tensor, axis: int = -1, dtype: Any = None) -> Any:
    """exp(self) / sum(exp(self)) along ``axis``."""
    return ops.softmax(self, axis, dtype=dtype)


def _itemset(self: Tensor, *args: Any) -> Tensor:
    """A tensor with one element replaced."""
    place = np.unravel_index(args[0], self.shape) if len(args) == 2 and isinstance(args[0], int) else args[0]
    changed = _copy(self)
    changed[place if len(args) == 2 else (0,) * self.ndim] = args[-1]
    return changed


def _fill_diagonal(self: Tensor, fill_value: Any, wrap: builtins.bool = False) -> Any:
    """The tensor with ``fill_value`` on its diagonal."""
    xp = array_module(self._array)
    length = self.shape[0] if wrap and self.ndim == 2 else min(self.shape)
    if wrap and self.ndim == 2:
        places = xp.arange(0, self.size, self.shape[1] + 1)
        return ops.reshape(put(ops.ravel(self), fill_value, (places,)), self.shape)
    return put(self, fill_value, (xp.arange(length),) * self.ndim)


def _copied(self: Tensor, src: Any, non_blocking: builtins.bool = False) -> Any:
    """The values of ``src``, spread over this tensor's shape."""
    given = ops.cast(src if isinstance(src, Tensor) else Tensor(src), self.dtype)
    return ops.broadcast_to(given, self.shape) if given.shape != self.shape else given


def _filled(self: Tensor, value: Any) -> Any:
    """``value`` everywhere."""
    return ops.full_like(self, value) if not isinstance(value, Tensor) else _copied(self, value)


def _drawn(draw: Callable[..., Any]) -> Method:
    def method(self: Tensor, *args: Any, generator: Any = None, **named: Any) -> Any:
        return Tensor(np.asarray(draw(self, *args, **named)), self.dtype)

    return method


def _random(self: Tensor, from_: int = 0, to: int | None = None) -> Any:
    most = 2**24 if self.dtype.is_floating_point else int(np.iinfo(self._array.dtype).max)
    return integers(int(from_), most if to is None else int(to), self.shape)


def _unfold(self: Tensor, *args: Any, **named: Any) -> Any:
    return ops.unfold(self, *args, **named)


def _requires_grad(self: Tensor, requires_grad: builtins.bool = True) -> Tensor:
    """Kept for readers: gradients are asked for by ``grad``, of what they are asked for."""
    self.__dict__["requires_grad"] = requires_grad
    return self


def _sum_to_size(self: Tensor, *size: Any) -> Any:
    """Summed over the axes in which ``size`` is 1 or missing."""
    wanted = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    if len(wanted) > self.ndim or any(n not in (1, m) for n, m in zip(wanted[::-1], self.shape[::-1], strict=False)):
        raise ValueError(f"For 'Tensor.sum_to_size', {self.shape} cannot be summed to {tuple(wanted)}")
    from .ops.arithmetic import _sum_to_operator

    return _sum_to_operator(self, shape=tuple(wanted))


def _choose(self: Tensor, choices: Any, mode: str = "clip") -> Any:
    """For each element the entry of ``choices`` that it numbers."""
    rows = ops.stack([ops.broadcast_to(c if isinstance(c, Tensor) else Tensor(c), self.shape) for c in choices])
    return ops.gather_elements(rows, 0, ops.expand_dims(ops.clamp(self, 0, len(choices) - 1), 0))[0]


def _only_settings(name: str, instead: str) -> Method:
    def method(self: Tensor, *args: Any, **named: Any) -> Any:
        raise NotImplementedError(f"Tensor.{name} is not covered by hookscope: {instead}")

    return method


def _itself(self: Tensor, *args: Any, **named: Any) -> Tensor:
    """The tensor itself."""
    return self


def _init_data(self: Tensor, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
    """The tensor itself: ``init`` fills a tensor when it is made, so nothing is left to be done.

    Raises:
        TypeError: the tensor was made without ``init``.
    """
    if not self.has_init:
        raise TypeError("For 'Tensor.init_data', the tensor must have been made with 'init'")
    return self


def _same(self: Tensor, const_arg: builtins.bool = True) -> Tensor:
    """Keep the flag."""
    self.const_arg = const_arg
    return self


_METHODS: dict[str, Any] = {
    "H": property(lambda self: ops.adjoint(self)),
    "T": property(lambda self: ops.transpose(self)),
    "mH": property(lambda self: ops.adjoint(self)),
    "mT": property(lambda self: ops.swapaxes(self, -1, -2)),
    "__abs__": ops.abs,
    "__add__": ops.add,
    "__and__": ops.bitwise_and,
    "__eq__": ops.eq,
    "__floordiv__": ops.floor_divide,
    "__ge__": ops.ge,
    "__getitem__": ops.getitem,
    "__gt__": ops.gt,
    "__invert__": _invert,
    "__le__": ops.le,
    "__lt__": ops.lt,
    "__matmul__": ops.matmul,
    "__mod__": ops.remainder,
    "__mul__": ops.mul,
    "__ne__": ops.ne,
    "__neg__": ops.neg,
    "__or__": ops.bitwise_or,
    "__pos__": ops.identity,
    "__pow__": ops.pow,
    "__radd__": _reflected(ops.add),
    "__rand__": _reflected(ops.bitwise_and),
    "__rfloordiv__": _reflected(ops.floor_divide),
    "__rmatmul__": _reflected(ops.matmul),
    "__rmod__": _reflected(ops.remainder),
    "__rmul__": _reflected(ops.mul),
    "__round__": lambda self, digits=0: ops.round(self, decimals=digits),
    "__ror__": _reflected(ops.bitwise_or),
    "__rpow__": _reflected(ops.pow),
    "__rsub__": _reflected(ops.sub),
    "__rtruediv__": _reflected(ops.div),
    "__rxor__": _reflected(ops.bitwise_xor),
    "__sub__": ops.sub,
    "__truediv__": ops.div,
    "__xor__": ops.bitwise_xor,
    "all": _all(ops.all),
    "allclose": lambda self, other, rtol=1e-05, atol=1e-08, equal_nan=False: builtins.bool(
        ops.isclose(self, other, rtol, atol, equal_nan)._array.all()
    ),
    "any": _all(ops.any),
    "argmax_with_value": lambda self, axis=0, keep_dims=False: ops.max(self, axis, keep_dims)[::-1],
    "argmin_with_value": lambda self, axis=0, keep_dims=False: ops.min(self, axis, keep_dims)[::-1],
    "argsort": _argsort,
    "astype": _astype,
    "bernoulli": lambda self, *, generator=None: ops.bernoulli_ext(self),
    "bfloat16": lambda self: ops.cast(self, bfloat16),
    "bool": lambda self: ops.cast(self, bool_),
    "byte": lambda self: ops.cast(self, uint8),
    "choose": _choose,
    "clone": _copy,
    "contiguous": lambda self: (
        Tensor._wrap(np.ascontiguousarray(self._array))
        if isinstance(self._array, np.ndarray) and not self._array.flags.c_contiguous
        else self
    ),
    "copy": _copy,
    "count_nonzero": _count_nonzero,
    "cumsum": _cumsum,
    "data_ptr": lambda self: self._array.ctypes.data,
    "diagonal": _diagonal,
    "double": lambda self: ops.cast(self, float64),
    "element_size": lambda self: self.itemsize,
    "equal": ops.eq,
    "fill": lambda self, value: ops.full_like(self, value),
    "fill_diagonal": _fill_diagonal,
    "fills": lambda self, value: ops.full_like(self, value),
    "flatten": _flatten,
    "float": lambda self: ops.cast(self, float32),
    "flush_from_cache": lambda self: None,
    "gather": _gather,
    "half": lambda self: ops.cast(self, float16),
    "index_add": _index_add,
    "init_data": _init_data,
    "int": lambda self: ops.cast(self, int32),
    "is_contiguous": lambda self: builtins.bool(self._array.flags.c_contiguous),
    "is_signed": lambda self: self._array.dtype.kind not in "bu",
    "itemset": _itemset,
    "log_normal": lambda self, mean=1.0, std=2.0: ops.cast(
        ops.exp(ops.normal(self.shape, float(mean), float(std))), self.dtype
    ),
    "long": lambda self: ops.cast(self, int64),
    "max": _extreme("max", ops.max, ops.amax, ops.reduce_max),
    "mean": _mean,
    "median": _median,
    "min": _extreme("min", ops.min, ops.amin, ops.reduce_min),
    "move_to": _move_to,
    "ndimension": lambda self: self.ndim,
    "nelement": lambda self: self.size,
    "new_empty": _new(0),
    "new_full": _new(None),
    "new_ones": _new(1),
    "new_zeros": _new(0),
    "permute": _permute,
    "prod": _prod,
    "qr": _qr,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    "requires_grad_": _requires_grad,
    "reshape": _reshape,
    "reshape_as": ops.view_as,
    "resize": _resize,
    "scatter": _scatter,
    "scatter_add": _scatter_add,
    "searchsorted": _searchsorted,
    "select": _select,
    "set_const_arg": _same,
    "set_dtype": _set_dtype,
    "short": lambda self: ops.cast(self, int16),
    "char": lambda self: ops.cast(self, int8),
    "soft_shrink": lambda self, lambd=0.5: ops.softshrink(self, lambd),
    "softmax": _softmax,
    "sort": _sort,
    "squeeze": _squeeze,
    "storage_offset": lambda self: 0,
    "stride": _stride,
    "sum": _sum,
    "sum_to_size": _sum_to_size,
    "take": _take,
    "to": _to,
    "to_dlpack": lambda self: self._array.__dlpack__(),
    "trace": _trace,
    "transpose": _transpose,
    "type": _type,
    "unfold": _unfold,
    "uniform": lambda self, from_=0.0, to=1.0, generator=None: ops.cast(
        ops.uniform(self.shape, float(from_), float(to)), self.dtype
    ),
    "unique": _unique,
    "value": _itself,
    "view": _view,
    "where": lambda self, condition, y: ops.where(condition, self, y),
}

_IN_PLACE: dict[str, Any] = {
    
    
    
    "index_add_": _index_add,
    "index_copy_": _index_copy, "scatter_": _scatter,
    "scatter_add_": _scatter_add, "fill_": _filled, "fill_diagonal_": _fill_diagonal, "copy_": _copied, "put_": _put,
    "zero_": lambda self: ops.zeros_like(self),
    "normal_": _drawn(lambda self, mean=0, std=1: random.normal(self.shape) * float(std) + float(mean)),
    "uniform_": _drawn(
        lambda self, from_=0, to=1: random.uniform(self.shape) * (float(to) - float(from_)) + float(from_)
    ),
    "random_": _drawn(_random),
    "bernoulli_": _drawn(lambda self, p=0.5: random.uniform(self.shape) < to_host(Tensor(p)._array)),
    "exponential_": _drawn(lambda self, lambd=1: -np.log1p(-random.uniform(self.shape)) / float(lambd)),
}  # fmt: skip

_ABSENT = {
    "to_coo": "use a dense tensor; sparse tensors are not there",
    "to_csr": "use a dense tensor; sparse tensors are not there",
    "offload": "arrays stay where they are; use Tensor.move_to",
    "pin_memory": "arrays are ordinary memory; use the tensor as it is",
}


def bind() -> None:
    """Put the methods on Tensor."""
    for name, function in {**_METHODS, **METHODS}.items():
        if isinstance(function, Operator) and name.startswith("__"):
            function = function.as_method()  # Python passes no names
        elif not isinstance(function, property):
            function = _method(function)
        setattr(Tensor, name, function)
    for name, function in {**_IN_PLACE, **IN_PLACE}.items():
        setattr(Tensor, name, _in_place(name, _method(function)))
    for name, instead in _ABSENT.items():
        setattr(Tensor, name, _only_settings(name, instead))
