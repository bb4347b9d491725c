"""Comparison of words of memory with those of a table, which ``engine/compile/guards/memory_words.py`` writes."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from ._building import function
from .library.loops import helper, i64

__all__ = ["unchanged", "versions"]


@intrinsic
def _word(_typing: Any, address: Any) -> Any:
    """Return the 64 bits at an address."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.load(builder.inttoptr(values[0], kind.as_pointer()))

    return types.int64(types.int64), generate


@intrinsic
def _put(_typing: Any, address: Any, value: Any) -> Any:
    """Write 64 bits to an address."""

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        builder.store(values[1], builder.inttoptr(values[0], context.get_value_type(types.int64).as_pointer()))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64), generate


@helper
def _after_form(array: int, at: int) -> int:
    """Return the end of the form at ``at``, if it is the array's; 0 if not."""
    if _word(array + 8) != _word(at) or _word(array + 56) != _word(at + 8):
        return 0
    axes, by_rows = _word(at + 16), _word(at + 24)
    at += 32
    if _word(array + 64) & 1 != by_rows:
        return 0
    if axes < 0:
        return at
    if _word(array + 24) & 0xFFFFFFFF != axes:
        return 0
    for offset in range(32, 40 if by_rows else 48, 8):
        lengths = _word(array + offset)
        for i in range(axes):
            if _word(lengths + 8 * i) != _word(at + 8 * i):
                return 0
        at += 8 * axes
    return at


@function(types.boolean(i64, i64, i64, i64, i64))
def unchanged(table: int, first: int, second: int, third: int, fourth: int) -> bool:
    """Return whether all is as the table says, for a call with up to four arrays, none of which is a tensor's.

    The table: the numbers of words, tensors and arrays of the call; the words' addresses; their values; for each
    tensor the address of its array's address, and the form of that; and the forms of the call's arrays. A form is type,
    dtype, number of axes, whether the elements lie row by row, the length of each axis, and the stride of each if they
    do not; no lengths and -1 where any will do.
    """
    words, tensors, count = _word(table), _word(table + 8), _word(table + 16)
    arrays = (first, second, third, fourth)
    addresses, expected = table + 24, table + 24 + 8 * words
    for i in range(words):
        if _word(_word(addresses + 8 * i)) != _word(expected + 8 * i):
            return False
    at = expected + 8 * words
    for _ in range(tensors):
        array = _word(_word(at))
        if array in arrays:
            return False
        at = _after_form(array, at + 8)
        if at == 0:
            return False
    for offset in range(4):
        array = arrays[offset]
        if offset >= count:
            if array != 0:
                return False
            continue
        if array == 0:
            return False
        at = _after_form(array, at)
        if at == 0:
            return False
    return True


@function(types.none(i64, i64, i64))
def versions(addresses: int, into: int, count: int) -> None:
    """Copy the words at ``count`` addresses."""
    for i in range(count):
        _put(into + 8 * i, _word(_word(addresses + 8 * i)))
