"""The compiled part of ``threads``: parts of one kernel, taken by several threads without the interpreter's lock.

Threads share only an array of eight int64, the *board*:

    STATE   the number of the job in the upper half, the number of its parts that no thread has taken in the lower half
    WORK    the address of the function that computes parts: function(first, stop, arguments)
    ARGUMENTS   the address of its arguments
    DONE    how many parts of the job are done
    ASLEEP  how many helpers are waiting to be woken
    OVER    not 0: helpers must return
    FAILED  the number of the error of a part of the job; 0 if there is none

A thread takes a part by decrementing STATE atomically. If it succeeds, it has read WORK and ARGUMENTS of that very job,
because they are written only while no part is untaken or unfinished. The thread that submitted the job takes parts like
all others, and so never depends on a helper that sleeps or has no core.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ._building import function

__all__ = ["ASLEEP", "BOARD", "OVER", "do", "help_out", "wake"]

_STATE, _WORK, _ARGUMENTS, _DONE, ASLEEP, OVER, _FAILED = range(7)
_MASK = 0xFFFFFFFF

_long = ir.IntType(64)
BOARD = types.Array(types.int64, 1, "C")


def _entry(context: Any, builder: Any, board: Any, kind: Any, index: Any) -> Any:
    data = cgutils.create_struct_proxy(kind)(context, builder, value=board).data
    return builder.gep(data, [index])


@intrinsic
def _load(_typing: Any, board: Any, _index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.load_atomic(at, "seq_cst", 8)

    return types.int64(board, types.int64), generate


@intrinsic
def _store(_typing: Any, board: Any, _index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        builder.store_atomic(values[2], at, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), generate


@intrinsic
def _add(_typing: Any, board: Any, _index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.atomic_rmw("add", at, values[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), generate


@intrinsic
def _replace(_typing: Any, board: Any, _index: Any, old: Any, new: Any) -> Any:
    """Replace ``old`` by ``new`` atomically; return whether it was there."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.extract_value(builder.cmpxchg(at, values[2], values[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(board, types.int64, types.int64, types.int64), generate


@intrinsic
def _call(_typing: Any, work: Any, first: Any, stop: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(_long, [_long, _long, _long]).as_pointer()

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return builder.call(builder.inttoptr(values[0], kind), values[1:])

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


_part_of_others = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)


@_part_of_others
def _take_parts(board: Any) -> int:
    """Compute parts of the job on the board until none is left; return their number."""
    count = 0
    while True:
        state = _load(board, _STATE)
        if state & _MASK == 0:
            return count
        work, arguments = _load(board, _WORK), _load(board, _ARGUMENTS)
        if _replace(board, _STATE, state, state - 1):
            part = (state & _MASK) - 1
            failed = _call(work, part, part + 1, arguments)
            if failed != 0:
                _store(board, _FAILED, failed)
            _add(board, _DONE, 1)
            count += 1


@_part_of_others
def do(board: Any, parts: int, work: int, arguments: int) -> int:
    """Submit a job, and return when it is done: 0, or the number of an error."""
    _store(board, _WORK, work)
    _store(board, _ARGUMENTS, arguments)
    _store(board, _DONE, 0)
    _store(board, _FAILED, 0)
    number = (_load(board, _STATE) >> 32) + 1
    _store(board, _STATE, (number << 32) | parts)
    _take_parts(board)
    while _load(board, _DONE) < parts:
        pass
    return _load(board, _FAILED)


@function(types.boolean(BOARD, types.int64))
def help_out(board: Any, turns: int) -> bool:
    """Compute parts of all jobs until ``turns`` checks found none; return False when helpers must return."""
    left = turns
    while left > 0:
        left = turns if _take_parts(board) else left - 1
    _add(board, ASLEEP, 1)
    return _load(board, OVER) == 0


@function(types.int64(BOARD))
def wake(board: Any) -> int:
    """Return the number of helpers that fell asleep since the last call, which the caller now wakes."""
    while True:
        asleep = _load(board, ASLEEP)
        if _replace(board, ASLEEP, asleep, 0):
            return asleep
