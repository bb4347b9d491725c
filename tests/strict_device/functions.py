"""CuPy's functions: NumPy's of the same name, held to CuPy's parameters and to arrays of the device.

The functions written here differ from NumPy's: they make arrays, take data of the host, wait for the host, start more
than one kernel, or have other dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import facts, reductions, sorting
from .arrays import converted, lifted, ndarray, values_of, wrapped
from .counts import copied, launched
from .memory import poisoned
from .ufuncs import Ufunc

__all__ = ["RULES", "Function"]

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
"""By their names, with the module in front where that is not ``cupy`` itself."""

# Number of kernels of a call, if it is not one. From the functions' sources in CuPy 14, or the number of
# passes that a library's algorithm needs; "views" start none.
LAUNCHES = {
    "einsum": 2,
    "tensordot": 2,
    "tril": 2,
    "triu": 2,
    "eye": 2,
    "identity": 2,
    "diag": 2,
    "isclose": 1,
    "pad": 3,
    "roll": 2,
    "nanmean": 4,
    "linspace": 3,
    "median": 2 + sorting.PASSES,
    "percentile": 3 + sorting.PASSES,
    "quantile": 3 + sorting.PASSES,
    "in1d": 4,
    "isin": 4,
    "cross": 6,
    "gradient": 4,
    "interp": 2,
    "allclose": 2,
    "array_equal": 2,
    "fft.fft": 2,
    "fft.ifft": 2,
    "trapz": 3,
    "cov": 5,
    "histogram": 3,
    "polygamma": 4,
    "nanvar": 4,
    "nanstd": 5,
    "average": 4,
    "meshgrid": 0,
    "unravel_index": 3,
    "linalg.svd": 4,
    "linalg.qr": 5,
    "linalg.inv": 4,
    "linalg.eigh": 3,
    "linalg.solve": 4,
    "linalg.cholesky": 3,
    "linalg.slogdet": 6,
    "linalg.det": 7,
    "linalg.norm": 3,
    "linalg.lstsq": 8,
    "linalg.pinv": 8,
    "linalg.matrix_power": 2,
}
VIEWS = {
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "can_cast",
    "diagonal",
    "expand_dims",
    "finfo",
    "flip",
    "fliplr",
    "flipud",
    "iinfo",
    "iscomplexobj",
    "isrealobj",
    "isscalar",
    "issubdtype",
    "matrix_transpose",
    "may_share_memory",
    "min_scalar_type",
    "moveaxis",
    "ndim",
    "promote_types",
    "ravel",
    "real",
    "imag",
    "reshape",
    "result_type",
    "rollaxis",
    "rot90",
    "shape",
    "shares_memory",
    "size",
    "split",
    "array_split",
    "hsplit",
    "vsplit",
    "dsplit",
    "squeeze",
    "swapaxes",
    "transpose",
    "permute_dims",
    "sliding_window_view",
    "lib.stride_tricks.as_strided",
    "unstack",
}
WAITS = {
    "argwhere": 1,
    "flatnonzero": 1,
    "extract": 1,
    "compress": 1,
    "trim_zeros": 1,
    "union1d": 1,
    "intersect1d": 1,
    "setdiff1d": 1,
    "setxor1d": 1,
    "histogram": 1,
    "linalg.lstsq": 1,
    "unique_all": 1,
    "unique_counts": 1,
    "unique_inverse": 1,
    "unique_values": 1,
}
METHODS = (
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "max",
    "min",
    "any",
    "all",
    "argmax",
    "argmin",
    "ptp",
    "cumsum",
    "cumprod",
    "take",
    "nonzero",
    "put",
    "argsort",
    "argpartition",
    "trace",
)
MOVING = {
    "concatenate",
    "stack",
    "vstack",
    "hstack",
    "dstack",
    "column_stack",
    "where",
    "tile",
    "roll",
    "flip",
    "pad",
    "tril",
    "triu",
    "diag",
    "select",
    "choose",
    "append",
    "delete",
    "insert",
    "meshgrid",
    "diagflat",
    "place",
    "rot90",
    "extract",
    "compress",
    "copyto",
    "block",
    "vander",
    "trim_zeros",
    "resize",
}


class Function:
    """One function; ``compute`` gets values, but a function of ``RULES`` gets arrays."""

    __module__ = "cupy"

    def __init__(self, name: str, parameters: list[str] | None, compute: Rule | None) -> None:
        self.__name__ = name
        self._signature = facts.signature(parameters) if parameters is not None else None
        self._compute = compute

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.__name__
        if self._signature is not None:
            try:
                self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"cupy.{name}(): {error}") from None
        if name in RULES:
            return RULES[name](*args, **kwargs)
        if self._compute is None:
            raise NotImplementedError(f"the strict device cannot stand in for cupy.{name}")
        return _by_numpy(name, self._compute, args, kwargs)


def written(name: str) -> Callable[[Rule], Rule]:
    def note(function: Rule) -> Rule:
        RULES[name] = function
        return function

    return note


def _by_numpy(name: str, compute: Rule, args: Any, kwargs: Any) -> Any:
    arrays = [*_arrays(args), *_arrays(kwargs.values())]
    bare = [_lowered(name, x) for x in args], {key: _lowered(name, x) for key, x in kwargs.items()}
    half = (
        name not in VIEWS
        and name not in MOVING
        and next((x.dtype for x in arrays if x.dtype in reductions.HALVES), None)
    )
    if half:
        _refuse_halves(name, half)
        bare = [_widened(x) for x in bare[0]], {key: _widened(x) for key, x in bare[1].items() if key != "out"}
    with np.errstate(all="ignore"):
        result = compute(*bare[0], **bare[1])
    out = kwargs.get("out")
    if isinstance(out, ndarray):
        if half:
            out._values[...] = converted(np.asarray(result), out.dtype)
        launched(name, LAUNCHES.get(name, 1))
        return out
    if name in VIEWS:
        return _viewed(result, arrays)
    for _ in range(WAITS.get(name, 0)):
        copied(name, "host", 8)
    launched(name, LAUNCHES.get(name, 1))
    return lifted(_narrowed(result, arrays, half) if half else result)


def _refuse_halves(name: str, half: np.dtype[Any]) -> None:
    if name.startswith("linalg."):
        raise TypeError(f"{half} is unsupported in linalg")


def _arrays(values: Any) -> list[ndarray]:
    results = []
    for x in values:
        if isinstance(x, ndarray):
            results.append(x)
        elif isinstance(x, tuple | list):
            results += _arrays(x)
    return results


def _lowered(name: str, x: Any) -> Any:
    if isinstance(x, ndarray):
        return x._values
    if isinstance(x, np.ndarray) or type(x).__name__ in ("Tensor", "Parameter"):
        raise TypeError(f"Unsupported type {type(x)}  [cupy.{name}]")
    if type(x) in (tuple, list):
        return type(x)(_lowered(name, item) for item in x)
    return x


def _widened(x: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype in reductions.HALVES:
        return x.astype(np.float32)
    return type(x)(map(_widened, x)) if type(x) in (tuple, list) else x


def _narrowed(result: Any, arrays: list[ndarray], half: np.dtype[Any]) -> Any:
    """Return to half precision the values that are wide only because of the computation."""
    if isinstance(result, tuple):
        return tuple([_narrowed(item, arrays, half) for item in result])
    others = [x.dtype for x in arrays if x.dtype not in reductions.HALVES and x.dtype.kind in "fcV"]
    return converted(np.asarray(result), half) if not others and np.asarray(result).dtype == np.float32 else result


def _viewed(result: Any, arrays: list[ndarray]) -> Any:
    if isinstance(result, np.ndarray):
        base = next((x for x in arrays if np.may_share_memory(x._values, result)), None)
        if base is not None:
            return base._view(result)
        launched("reshape", 1 if arrays and result.size else 0)
        return wrapped(result)
    if isinstance(result, tuple | list) and any(isinstance(x, np.ndarray) for x in result):
        return type(result)(_viewed(x, arrays) for x in result)
    return result


# Making arrays


def _device_array(name: str, obj: Any, dtype: Any, order: Any, copy: bool | None) -> ndarray:
    if isinstance(obj, ndarray):
        same = dtype is None or np.dtype(dtype) == obj.dtype
        lies = order in (None, "K", "A") or (obj.flags.c_contiguous if order == "C" else obj.flags.f_contiguous)
        if not copy and same and lies:
            return obj
        return obj.astype(obj.dtype if dtype is None else dtype, order=order or "K")
    if type(obj) in (tuple, list) and _arrays(obj):
        if len(_arrays(obj)) != len(_flat(obj)):
            raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")
        launched(name)
        result = np.array(_lowered(name, obj))
        return wrapped(result if dtype is None else converted(result, np.dtype(dtype)))
    if type(obj).__name__ in ("Tensor", "Parameter"):
        raise TypeError(f"Unsupported type {type(obj)}  [cupy.{name}]")
    values = np.array(obj, dtype, order=order or "K")
    if values.dtype.kind not in "biufcV" or (values.dtype.kind == "V" and values.dtype != facts.BFLOAT16):
        raise ValueError(f"Unsupported dtype {values.dtype}")
    copied(name, "device", values.nbytes)
    return wrapped(values)


def _flat(obj: Any) -> list[Any]:
    return [item for x in obj for item in _flat(x)] if type(obj) in (tuple, list) else [obj]


@written("array")
def _array(
    obj: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    array = _device_array("array", obj, dtype, order, copy)
    return array.reshape((1,) * (ndmin - array.ndim) + array.shape) if array.ndim < ndmin else array


@written("asarray")
def _asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> ndarray:
    return _device_array("asarray", a, dtype, order, copy)


RULES["asanyarray"] = _asarray


@written("ascontiguousarray")
def _ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    return _device_array("ascontiguousarray", a, dtype, "C", None)


@written("asfortranarray")
def _asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    return _device_array("asfortranarray", a, dtype, "F", None)


@written("asnumpy")
def _asnumpy(a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True) -> Any:
    return a.get() if isinstance(a, ndarray) else np.asarray(a)


@written("copy")
def _copy(a: Any, order: Any = "K") -> ndarray:
    return _array(a) if not isinstance(a, ndarray) else a.copy(order)


@written("empty")
def _empty(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
    return wrapped(poisoned(shape, dtype, order))


def _like(a: ndarray, dtype: Any, order: Any, shape: Any) -> ndarray:
    values_of(a)
    laid_out = np.empty_like(a._values, dtype, order, shape=shape)
    return wrapped(
        np.lib.stride_tricks.as_strided(poisoned(laid_out.shape, laid_out.dtype), laid_out.shape, laid_out.strides)
    )


@written("empty_like")
def _empty_like(prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> ndarray:
    return _like(prototype, dtype, order, shape)


def _filled(name: str, value: int) -> None:
    @written(name)
    def make(shape: Any, dtype: Any = float, order: str = "C") -> ndarray:
        launched(name)
        return wrapped(np.full(shape, value, dtype, order))

    @written(f"{name}_like")
    def like(a: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None) -> ndarray:
        array = _like(a, dtype, order, shape)
        launched(f"{name}_like")
        array._values[...] = value
        return array


_filled("zeros", 0)
_filled("ones", 1)


@written("full")
def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> ndarray:
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, ndarray) else np.array(fill_value).dtype
    array = _empty(shape, dtype, order)
    _copyto(array, fill_value, "unsafe")
    return array


@written("full_like")
def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    array = _like(a, dtype, order, shape)
    _copyto(array, fill_value, "unsafe")
    return array


@written("copyto")
def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    values = values_of(src)
    if isinstance(src, ndarray | np.generic) and not np.can_cast(src.dtype, dst.dtype, casting):
        raise TypeError(f"Cannot cast array data from {src.dtype} to {dst.dtype} according to the rule '{casting}'")
    launched("copyto")
    values = converted(np.asarray(values), dst.dtype)
    while values.ndim > dst.ndim and values.shape[0] == 1:
        values = values[0]
    np.copyto(dst._values, values.copy(), where=True if where is None else values_of(where))


@written("arange")
def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    for edge in (start, stop, step):
        if isinstance(edge, ndarray):
            edge.item()  # its size is computed by the host
    launched("arange")
    return wrapped(
        np.arange(*[_host(x) for x in (start, stop, step)] if stop is not None else (0, start, step), dtype=dtype)
    )


def _host(x: Any) -> Any:
    return x._values[()] if isinstance(x, ndarray) else x


# Reductions and what else is a method


def _by_method(name: str) -> None:
    def call(a: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(a, name)(*args, **kwargs)  # AttributeError for other objects, as in CuPy

    RULES[name] = call


for _name in METHODS:
    _by_method(_name)
RULES["amax"], RULES["amin"] = RULES["max"], RULES["min"]


@written("sort")
def _sort(a: Any, axis: Any = -1, kind: Any = None) -> ndarray:
    new: ndarray = a.flatten() if axis is None else a.copy()
    new.sort(-1 if axis is None else axis)
    return new


@written("partition")
def _partition(a: Any, kth: Any, axis: Any = -1) -> ndarray:
    return _sort(a, axis)


@written("lexsort")
def _lexsort(keys: Any) -> ndarray:
    return sorting.lexsort(keys if isinstance(keys, ndarray) else _array(keys))


@written("searchsorted")
def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    if not isinstance(a, ndarray):
        raise NotImplementedError("Only int or ndarray are supported for a")
    values = values_of(v)
    launched("searchsorted")
    return wrapped(
        np.searchsorted(a._values, values, side, None if sorter is None else sorter._values).astype(np.int64)
    )


# Elements


_INNER = {
    name: Ufunc(name, facts.INNER[name], compute)
    for name, compute in {
        "where": np.where,
        "clip": np.clip,
        "round": np.round,
        "copy": np.copy,
        "nan_to_num": lambda x, nan, high, low: np.nan_to_num(x, nan=nan, posinf=high, neginf=low),
    }.items()
}


@written("where")
def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        if x is not None or y is not None:
            raise ValueError("Must provide both 'x' and 'y' or neither.")
        return condition.nonzero()
    return _INNER["where"](condition.astype("?", copy=False), x, y)


@written("clip")
def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Any:
    """Clip as ``ndarray.clip``: a missing bound is the dtype's own, if CuPy has one."""
    if a_min is None and a_max is None:
        raise ValueError("array_clip: must set either max or min")
    bounds: tuple[Any, Any] = (None, None)
    if a.dtype.kind == "f":
        bounds = (a.dtype.type(-np.inf), a.dtype.type(np.inf))
    elif a.dtype.kind in "iu":
        bounds = (np.iinfo(a.dtype).min, np.iinfo(a.dtype).max)
    a_min, a_max = bounds[0] if a_min is None else a_min, bounds[1] if a_max is None else a_max
    return _INNER["clip"](a, a_min, a_max, out=out)


@written("round")
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    return _INNER["round"](a, decimals, out=out)


RULES["around"] = _round


@written("nan_to_num")
def _nan_to_num(x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    out = _empty_like(x) if copy else x
    real = np.finfo(x._values.real.dtype) if x.dtype.kind in "fc" else np.finfo(np.float32)
    high, low = real.max if posinf is None else posinf, real.min if neginf is None else neginf
    if x.dtype.kind in "biu":
        nan, high, low = 0, 0, 0
    return _INNER["nan_to_num"](x, *[x._values.real.dtype.type(variant) for variant in (nan, high, low)], out=out)


@written("take_along_axis")
def _take_along_axis(a: Any, indices: Any, axis: Any = -1) -> Any:
    if indices.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is None:
        a, axis = a.ravel(), 0
    if a.ndim != indices.ndim:
        raise ValueError("`indices` and `a` must have the same number of dimensions")
    return a[_along(a, indices, axis)]


@written("put_along_axis")
def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    arr[_along(arr, indices, axis)] = values


def _along(a: Any, indices: Any, axis: int) -> tuple[Any, ...]:
    shapes = [(1,) * i + (-1,) + (1,) * (a.ndim - i - 1) for i in range(a.ndim)]
    return tuple([indices if i == axis % a.ndim else _arange(n).reshape(shapes[i]) for i, n in enumerate(a.shape)])


@written("bincount")
def _bincount(x: Any, weights: Any = None, minlength: Any = None) -> ndarray:
    """Return counts, or sums of weights in float64 in no order; the host has to read how many there are."""
    values = values_of(x)
    if values.ndim != 1 or values.dtype.kind not in "biu":
        raise TypeError(f"Cannot cast array data from {values.dtype} to int64 according to the rule 'safe'")
    launched("bincount", 5)
    copied("bincount", "host", 1)
    copied("bincount", "host", 8)
    if weights is None:
        return wrapped(np.bincount(values, minlength=minlength or 0).astype(np.int64))
    order = np.random.Generator(np.random.PCG64()).permutation(values.size)
    return wrapped(np.bincount(values[order], values_of(weights)[order].astype(np.float64), minlength or 0))


@written("repeat")
def _repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    return a.repeat(repeats, axis)  # type: ignore[no-any-return]


@written("isclose")
def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> ndarray:
    x, y = _asarray(a), _asarray(b)
    launched("isclose")
    kinds = [np.float32 if z.dtype in reductions.HALVES else z.dtype for z in (x, y)]
    with np.errstate(all="ignore"):
        return wrapped(np.isclose(x._values.astype(kinds[0]), y._values.astype(kinds[1]), rtol, atol, equal_nan))


@written("unique")
def _unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: Any = None,
    *,
    equal_nan: bool = True,
) -> Any:
    if ar.dtype == facts.BFLOAT16:
        sorting.sort(ar.flatten(), 0)
    launched("unique", 6 + sorting.PASSES)
    copied("unique", "host", 8)
    return lifted(np.unique(ar._values, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan))


@written("broadcast_to")
def _broadcast_to(array: Any, shape: Any, subok: Any = None) -> ndarray:
    if not isinstance(array, ndarray):
        raise TypeError(f"Argument 'array' has incorrect type (expected cupy.ndarray, got {type(array).__name__})")
    return array._view(np.broadcast_to(array._values, shape))


@written("broadcast_arrays")
def _broadcast_arrays(*args: Any) -> tuple[ndarray, ...]:
    shape = np.broadcast_shapes(*[x.shape for x in args])
    return tuple([_broadcast_to(x, shape) for x in args])


@written("may_share_memory")
def _may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    return bool(np.may_share_memory(a._values, b._values))


RULES["shares_memory"] = _may_share_memory


@written("result_type")
def _result_type(*args: Any) -> Any:
    return np.result_type(*[x._values if isinstance(x, ndarray) else x for x in args])
