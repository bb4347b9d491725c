"""The inner half of ``threads``: parts of one kernel, taken by several threads without the interpreter's lock.

All that threads share is an array of eight int64, the *board*:

    STATE   the number of the job in the upper half, in the lower half how many of its parts nobody has taken yet
    WORK    the address of what does parts: function(first, stop, arguments)
    ARGUMENTS   the address of its arguments
    DONE    how many parts of the job are done
    ASLEEP  how many helpers are waiting to be woken
    OVER    not 0: helpers are to leave

A part is taken by counting STATE down in one step. Who succeeds has read WORK and ARGUMENTS of that very job, because
they are only written while no part is untaken or unfinished. The thread that brought the job takes parts like all
others, and so never depends on a helper that sleeps or was not given a core.
"""

from __future__ import annotations

from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..compiling import on_disk

__all__ = ["ASLEEP", "BOARD", "OVER", "help_out", "launch", "wake"]

_STATE, _WORK, _ARGUMENTS, _DONE, ASLEEP, OVER = range(6)
_MASK = 0xFFFFFFFF

_long, _bytes = ir.IntType(64), ir.IntType(8).as_pointer()
BOARD = types.Array(types.int64, 1, "C")


def _entry(context: Any, builder: Any, board: Any, kind: Any, place: Any) -> Any:
    data = cgutils.create_struct_proxy(kind)(context, builder, value=board).data
    return builder.gep(data, [place])


@intrinsic
def _load(_typing: Any, board: Any, _place: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.load_atomic(at, "seq_cst", 8)

    return types.int64(board, types.int64), generate


@intrinsic
def _store(_typing: Any, board: Any, _place: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        builder.store_atomic(values[2], at, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(board, types.int64, types.int64), generate


@intrinsic
def _add(_typing: Any, board: Any, _place: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.atomic_rmw("add", at, values[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), generate


@intrinsic
def _replace(_typing: Any, board: Any, _place: Any, old: Any, new: Any) -> Any:
    """Put ``new`` where ``old`` is, in one step; whether it was there."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = _entry(context, builder, values[0], signature.args[0], values[1])
        return builder.extract_value(builder.cmpxchg(at, values[2], values[3], "seq_cst", "seq_cst"), 1)

    return types.boolean(board, types.int64, types.int64, types.int64), generate


@intrinsic
def _call(_typing: Any, work: Any, first: Any, stop: Any, arguments: Any) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [_long, _long, _bytes]).as_pointer()

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        function = builder.inttoptr(values[0], kind)
        builder.call(function, [values[1], values[2], builder.inttoptr(values[3], _bytes)])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64, types.int64), generate


_part_of_others = numba.njit(nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)


@_part_of_others
def _take_parts(board: Any) -> int:
    """Do parts of the job that is on the board until none is left; how many."""
    count = 0
    while True:
        state = _load(board, _STATE)
        if state & _MASK == 0:
            return count
        work, arguments = _load(board, _WORK), _load(board, _ARGUMENTS)
        if _replace(board, _STATE, state, state - 1):
            part = (state & _MASK) - 1
            _call(work, part, part + 1, arguments)
            _add(board, _DONE, 1)
            count += 1


@_part_of_others
def _do(board: Any, parts: int, work: int, arguments: int) -> None:
    """Bring a job, and return when it is done."""
    _store(board, _WORK, work)
    _store(board, _ARGUMENTS, arguments)
    _store(board, _DONE, 0)
    number = (_load(board, _STATE) >> 32) + 1
    _store(board, _STATE, (number << 32) | parts)
    _take_parts(board)
    while _load(board, _DONE) < parts:
        pass


@on_disk(types.boolean(BOARD, types.int64))
def help_out(board: Any, turns: int) -> bool:
    """Do parts of all jobs that come, until none has come for so many looks; False when helpers are to leave."""
    left = turns
    while left > 0:
        left = turns if _take_parts(board) else left - 1
    _add(board, ASLEEP, 1)
    return _load(board, OVER) == 0


@on_disk(types.int64(BOARD))
def wake(board: Any) -> int:
    """How many helpers have gone to sleep since the last call, which the caller now wakes."""
    while True:
        asleep = _load(board, ASLEEP)
        if _replace(board, ASLEEP, asleep, 0):
            return asleep


def _add_own(to: Any, compiled: Any, name: str) -> None:
    """Add a compiled kernel to a library, under a name of its own, with functions that nobody else can call or replace.

    Numba would leave them common to all libraries. Of several with one name the process runs the first that it meets:
    the kernel's as it was before it was made part of this library if it was compiled here, that of whatever was found
    on disk before otherwise. They are optimized apart, and need not round alike.
    """
    module = binding.parse_assembly(compiled.library.get_llvm_str())
    for function in module.functions:
        if function.name == compiled.fndesc.mangled_name:
            function.name, function.linkage = name, "external"
            function.add_function_attribute("noinline")  # else there were two, the second not called
        elif not function.is_declaration and not function.name.startswith("NRT_"):
            function.linkage = "internal"
    to.add_llvm_module(module)


def _parts_function(context: Any, builder: Any, compiled: Any, arguments: Any) -> Any:
    """``function(first, stop, arguments)``, which calls a compiled kernel with what lies at the address."""
    name = builder.function.name + ".kernel"
    _add_own(context.active_code_library, compiled, name)
    kind = ir.FunctionType(ir.VoidType(), [_long, _long, _bytes])
    function = ir.Function(builder.module, kind, compiled.fndesc.mangled_name + ".parts")
    function.linkage = "internal"
    inside = ir.IRBuilder(function.append_basic_block())
    packed = inside.bitcast(function.args[2], arguments.as_pointer())
    values = [
        inside.load(inside.gep(packed, [ir.Constant(ir.IntType(32), 0), ir.Constant(ir.IntType(32), place)]))
        for place in range(len(arguments.elements))
    ]
    kernel = context.declare_function(builder.module, compiled.fndesc)
    kernel.name = name
    context.call_conv.call_function(
        inside, kernel, types.void, compiled.signature.args, [function.args[0], function.args[1], *values]
    )
    inside.ret_void()
    return function


@intrinsic
def launch(typing: Any, board: Any, parts: Any, kernel: Any, arguments: Any) -> Any:
    """Do all parts of a kernel, on this thread and on those that look at the board."""
    compiled = kernel.dispatcher.get_compile_result(types.void(types.int64, types.int64, *arguments.types))
    doing = _do.get_compile_result(types.void(BOARD, types.int64, types.int64, types.int64))

    def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        context.active_code_library.add_linking_library(doing.library)
        elements = cgutils.unpack_tuple(builder, values[3], len(arguments.types))
        kind = ir.LiteralStructType([element.type for element in elements])
        packed = cgutils.alloca_once(builder, kind)
        for place, element in enumerate(elements):
            builder.store(element, cgutils.gep_inbounds(builder, packed, 0, place))
        function = _parts_function(context, builder, compiled, kind)
        context.call_conv.call_function(
            builder, context.declare_function(builder.module, doing.fndesc), types.void, doing.signature.args,
            [values[0], values[1], builder.ptrtoint(function, _long), builder.ptrtoint(packed, _long)],
        )  # fmt: skip
        return context.get_dummy_value()

    return types.void(board, types.int64, kernel, arguments), generate
