"""Memory orders in which the same numbers may lie, and how a kernel is held against them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hookscope.engine.cpu import threads


def samples_last(x: Any) -> Any:
    """Return the same numbers as convolutions hand them on: (N, C, ...) is a view of memory (C, ..., N)."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)


def spread(x: Any) -> Any:
    """Return a copy with gaps between its elements."""
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), 7, x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def shifted(x: Any) -> Any:
    """Return a copy at odd addresses."""
    return np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape)


ORDERS: dict[str, Callable[[Any], Any]] = {
    "numpy's": np.ascontiguousarray,
    "samples last": samples_last,
    "columns first": np.asfortranarray,
    "backwards": lambda x: np.ascontiguousarray(x[::-1])[::-1],
    "with gaps": spread,
    "at odd addresses": shifted,
}


def assert_same_bits(kernel: Callable[..., Any], *arrays: Any) -> Any:
    """Return the kernel's results, which are the same for 1, 2 and 4 threads and in any memory order of the arrays.

    Each array may lie in another order than the others.
    """
    expected = _several(kernel(*arrays))
    try:
        for count in (1, 2, 4):
            threads.set_number(count)
            for index, order in enumerate(ORDERS.values()):
                others = list(ORDERS.values())[index - 1 :] + list(ORDERS.values())
                for layout in ([order] * len(arrays), [order, *others]):
                    inputs = [make(x) if x.ndim > 1 else x for make, x in zip(layout, arrays, strict=False)]
                    for result, reference in zip(_several(kernel(*inputs)), expected, strict=True):
                        bits = f"u{reference.itemsize}"
                        np.testing.assert_array_equal(result.view(bits), reference.view(bits))
    finally:
        threads.set_number(None)
    return kernel(*arrays)


def _several(result: Any) -> list[Any]:
    return [np.ascontiguousarray(x) for x in (result if isinstance(result, tuple) else (result,))]
