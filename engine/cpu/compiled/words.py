"""Comparing words of memory with those of a table, which ``engine/graph/words.py`` writes."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from ..compiling import on_disk
from .loops import i64

__all__ = ["unchanged", "versions"]


@intrinsic
def _word(_typing: Any, address: Any) -> Any:
    """The 64 bits at an address."""

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


@on_disk(types.boolean(i64, i64, i64, i64, i64))
def unchanged(table: int, first: int, second: int, third: int, fourth: int) -> bool:
    """Whether all is as the table says, and no tensor's array is one of four objects.

    The table: how many words and tensors; the words' addresses; what they are; and for each tensor the address of its
    array's address, the array's type, dtype and number of axes, the length of each axis and the stride of each.
    """
    words, tensors = _word(table), _word(table + 8)
    addresses, wanted = table + 16, table + 16 + 8 * words
    for i in range(words):
        if _word(_word(addresses + 8 * i)) != _word(wanted + 8 * i):
            return False
    at = wanted + 8 * words
    for _ in range(tensors):
        array = _word(_word(at))
        if array in (first, second, third, fourth):
            return False
        if _word(array + 8) != _word(at + 8):
            return False
        axes = _word(at + 24)
        if _word(array + 56) != _word(at + 16) or _word(array + 24) & 0xFFFFFFFF != axes:
            return False
        lengths, strides = _word(array + 32), _word(array + 40)
        at += 32
        for i in range(axes):
            if _word(lengths + 8 * i) != _word(at + 8 * i):
                return False
            if _word(strides + 8 * i) != _word(at + 8 * (axes + i)):
                return False
        at += 16 * axes
    return True


@on_disk(types.none(i64, i64, i64))
def versions(addresses: int, into: int, count: int) -> None:
    """Copy the words at ``count`` addresses."""
    for i in range(count):
        _put(into + 8 * i, _word(_word(addresses + 8 * i)))
