"""Bytecode of a function: its stores on arguments, loaded names, and collections that it creates itself."""

from __future__ import annotations

import dis
import itertools
from collections.abc import Iterator
from types import CodeType

__all__ = ["codes", "created_collections", "depth_of_store", "loaded_name"]


def depth_of_store(instructions: list[dis.Instruction], index: int, first: str | None) -> int | None:
    """Return the number of attributes between a method's first argument and a store: 0 for ``self.a = x``.

    It is 1 for ``self.a.b = x``, and None for a store on anything else.
    """
    name = instructions[index].argval
    load = index - 1
    if instructions[load].opname == "SWAP":  # in ``a.b += c``, a is loaded and copied before b is read
        copies = (
            position
            for position in range(load, 0, -1)
            if instructions[position].opname == "COPY" and instructions[position + 1].argval == name
        )
        load = next(copies, 1) - 1
    end = load
    if any(instruction.is_jump_target for instruction in instructions[load + 1 : index + 1]):  # (a or b).c = d
        return None
    while instructions[load].opname == "LOAD_ATTR" and instructions[load].argval != "__class__":
        load -= 1
    loaded = instructions[load].argval
    is_first = first is not None and (loaded[-1] if isinstance(loaded, tuple) else loaded) == first
    return end - load if is_first and instructions[load].opname.startswith(("LOAD_FAST", "LOAD_DEREF")) else None


def loaded_name(instruction: dis.Instruction) -> str:
    """Return the local name that an instruction loads; "" for any other instruction."""
    return str(instruction.argval) if instruction.opname in ("LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW") else ""


def created_collections(code: CodeType, instructions: list[dis.Instruction]) -> set[str]:
    """Return the local names that only ever refer to a list, a dictionary or a set that the code itself creates."""
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    collections: set[str] = set()
    others = {"", *code.co_varnames[:count]}
    for previous, instruction in itertools.pairwise(instructions):
        if instruction.opname.startswith("STORE_FAST"):
            names = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
            is_made = instruction.opname == "STORE_FAST" and previous.opname in ("BUILD_LIST", "BUILD_MAP", "BUILD_SET")
            (collections if is_made and not instruction.is_jump_target else others).update(names)
    return collections - others


def codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)
