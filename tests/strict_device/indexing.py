"""Reading and writing elements, as ``cupy/_core/_routines_indexing.pyx`` does it.

Indices out of range wrap around, silently. An index of arrays returns a copy. A mask makes the host wait, even for an
assignment. Several writes to one element come in no order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .counts import copied, launched, synchronized
from .facts import SCATTERED

if TYPE_CHECKING:
    from .arrays import ndarray

__all__ = ["fill", "put", "put_flat", "scatter", "take", "taken"]

_anyhow = np.random.Generator(np.random.PCG64())  # no seed: what depends on the order is to show


class _Index:
    """An index in NumPy's form, and the arrays in it."""

    def __init__(self, array: ndarray, index: Any) -> None:
        from .arrays import ndarray

        parts = list(index) if isinstance(index, tuple) else [index]
        results = [_part(part) for part in parts]
        self.arrays = [part for part in results if isinstance(part, ndarray)]
        self.masks = [part for part in self.arrays if part.dtype.kind == "b"]
        self.parts = tuple(_wrapped_around(array._values.shape, results))


def _part(part: Any) -> Any:
    from .arrays import ndarray

    if part is None or part is Ellipsis or isinstance(part, ndarray):
        return part
    if isinstance(part, slice):
        for edge in (part.start, part.stop, part.step):
            if isinstance(edge, ndarray):
                raise TypeError("slice indices must be integers or None or have an __index__ method")
        return part
    if np.isscalar(part) and not isinstance(part, bool | np.bool_ | str):
        return part
    return _on_device(part)


def _on_device(values: Any, dtype: Any = None) -> ndarray:
    """Return data of the host as an array of the device."""
    from .modules import CUPY

    array: ndarray = CUPY.array(values, dtype)
    if isinstance(values, list | tuple) and array.size == 0 and dtype is None:
        array = array.astype(np.int32)
    return array


def _wrapped_around(shape: tuple[int, ...], parts: list[Any]) -> list[Any]:
    from .arrays import ndarray

    def axes(part: Any) -> int:
        if part is None or part is Ellipsis:
            return 0
        return part.ndim if isinstance(part, ndarray) and part.dtype.kind == "b" else 1

    count = sum(map(axes, parts))
    if count > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {count} were indexed")
    axis, results = 0, []
    for part in parts:
        if isinstance(part, ndarray) and part.dtype.kind in "iu":
            size = shape[axis]
            if size == 0 and part.size:
                raise IndexError("cannot do a non-empty take from an empty axes.")
            results.append(part._values.astype(np.int64) % max(size, 1))
        elif isinstance(part, ndarray):
            if part.dtype.kind != "b":
                raise IndexError(
                    f"arrays used as indices must be of integer or boolean type. (actual: {part.dtype.type})"
                )
            results.append(part._values)
        else:
            results.append(part)
        axis += len(shape) - count if part is Ellipsis else axes(part)
    return results


def _count(name: str, index: _Index, shape: tuple[int, ...]) -> None:
    """Count the kernels and waits of an index of arrays, without the last that moves the elements."""
    for mask in index.masks:
        launched(name)  # the sums of counts
        copied(name, "host", 4)
        if len(index.arrays) > 1 or mask.shape != shape:
            launched(name)  # once more of the mask as large as the array, or the places of the elements
    if len(index.arrays) > 1:
        launched(name, 1 + len(index.arrays))  # zeros, and a sum for each array of indices


def taken(array: ndarray, index: Any) -> Any:
    """Return ``array[index]``."""
    from .arrays import wrapped

    result = _Index(array, index)
    values = array._values[result.parts]
    if not result.arrays:
        if not isinstance(values, np.ndarray):
            values = array._values[(*result.parts, ...)]
        return array._view(values)
    _count("ndarray.__getitem__", result, array.shape)
    launched("ndarray.__getitem__")
    return wrapped(np.ascontiguousarray(values).reshape(np.shape(values)))


def put(array: ndarray, index: Any, value: Any) -> None:
    """Compute ``array[index] = value``."""
    _write(array, index, value, "update")


def scatter(name: str, array: ndarray, index: Any, value: Any) -> None:
    """Compute ``ufunc.at`` of CuPy: atomic, so in no order, and for few dtypes."""
    if name not in SCATTERED:
        raise NotImplementedError(f"`cupy_{name}.at` is not supported yet")
    _write(array, index, value, name)


def _write(array: ndarray, index: Any, value: Any, how: str) -> None:
    from .arrays import converted, ndarray
    from .modules import CUPY

    name = "ndarray.__setitem__" if how == "update" else f"{how}.at"
    result = _Index(array, index)
    if not result.arrays:
        view = array._view(_values_at(array._values, result.parts))
        if how != "update":
            getattr(CUPY, how)(view, value, view)
        elif isinstance(value, ndarray):
            CUPY.copyto(view, _without_leading_ones(value, view.ndim), casting="unsafe")
        else:
            fill(view, value)
        return
    if not isinstance(value, ndarray):
        value = _on_device(value, array.dtype)
    elif value.dtype != array.dtype:
        launched(name)
    if how != "update" and not result.masks and array.dtype not in SCATTERED[how]:
        kinds = ", ".join(sorted(map(str, SCATTERED[how])))
        raise TypeError(f"cupy.{how}.at only supports {kinds} as data type")
    _count(name, result, array.shape)
    indices = np.arange(array.size).reshape(array.shape)[result.parts]
    values = np.broadcast_to(converted(_squeezed(value._values, indices.ndim), array.dtype), indices.shape)
    launched(name)
    order = _anyhow.permutation(indices.size)
    flat = array._values.reshape(-1)  # a copy if the array is not contiguous
    if how == "update":
        flat[indices.reshape(-1)[order]] = values.reshape(-1)[order]
    else:
        with np.errstate(all="ignore"):
            getattr(np, how).at(flat, indices.reshape(-1)[order], values.reshape(-1)[order])
    if not np.may_share_memory(flat, array._values):
        array._values[...] = flat.reshape(array.shape)


def _values_at(values: Any, parts: tuple[Any, ...]) -> Any:
    result = values[parts]
    return result if isinstance(result, np.ndarray) else values[(*parts, ...)]


def _squeezed(values: Any, ndim: int) -> Any:
    while values.ndim > ndim and values.shape[0] == 1:
        values = values[0]
    return values


def _without_leading_ones(array: ndarray, ndim: int) -> ndarray:
    return array._view(_squeezed(array._values, ndim))


def fill(array: ndarray, value: Any) -> None:
    """Set all elements to one value; an array of the host or of the device must have one element."""
    from .arrays import converted, ndarray, values_of

    if isinstance(value, np.ndarray):
        if value.shape != ():
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        value = value.item()
    launched("ndarray.fill")
    values = values_of(value)
    if isinstance(value, ndarray) or isinstance(values, np.generic):
        values = converted(np.asarray(values), array.dtype)
    elif isinstance(values, complex) and array.dtype.kind != "c":
        raise TypeError("can't convert complex to float")
    with np.errstate(all="ignore"):
        array._values[...] = values


def take(array: ndarray, indices: Any, axis: Any, out: Any) -> ndarray:
    """Return ``array.take``: indices of the host are copied."""
    from .arrays import ndarray, wrapped

    if not np.isscalar(indices) and not isinstance(indices, ndarray):
        indices = _on_device(indices, int)
    positions = np.asarray(indices._values if isinstance(indices, ndarray) else indices)
    if positions.dtype.kind not in "iu":
        raise TypeError(f"indices must be of an integer type, not {positions.dtype}")
    launched("take")
    size = array.size if axis is None else array.shape[axis] if array.ndim else 1
    if size == 0 and positions.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    values = np.take(array._values, positions.astype(np.int64) % max(size, 1), axis)
    if out is None:
        return wrapped(values)
    if out.dtype != array.dtype:
        raise TypeError("Output dtype mismatch")
    out._values[...] = values
    return out  # type: ignore[no-any-return]


def put_flat(array: ndarray, indices: Any, values: Any, mode: str) -> None:
    """Compute ``array.put``."""
    from .arrays import ndarray

    if mode not in ("raise", "wrap", "clip"):
        raise ValueError("clipmode not understood")
    indices, values = (
        inputs if isinstance(inputs, ndarray) else _on_device(inputs, dtype)
        for inputs, dtype in ((indices, None), (values, array.dtype))
    )
    launched("ndarray.put")
    if mode == "raise":
        synchronized("ndarray.put")
    positions = indices._values.reshape(-1)
    order = _anyhow.permutation(positions.size)
    np.put(array._values, positions[order], np.resize(values._values, positions.shape)[order], mode)  # type: ignore[call-overload]
