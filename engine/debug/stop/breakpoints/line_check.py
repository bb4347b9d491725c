"""Check of a breakpoint at a line of a file: whether the line has code."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator

from ....base.quoting import quoted
from ..points import lines_with_code
from .breakpoint import Breakpoint

__all__ = ["check_line", "known_files"]


def check_line(stop: Breakpoint) -> None:
    """Check that a breakpoint is at a line with code; a module that is not imported yet cannot be checked.

    Raises:
        ValueError: there is no such file, or no code at this line.
    """
    files = list(known_files(stop))
    if not files and os.path.isabs(stop.filename) and not os.path.exists(stop.filename):
        raise ValueError(f"breakpoint {quoted(str(stop))}: there is no file {stop.filename}")
    lines = set().union(*(_lines_of(file) for file in files))
    if lines and stop.line not in lines:
        after = min((line for line in lines if line > stop.line), default=None)
        nearest = f"; the next line with code is {after}" if after else f"; the last line with code is {max(lines)}"
        raise ValueError(f"breakpoint {quoted(str(stop))}: line {stop.line} has no code{nearest}")


def known_files(stop: Breakpoint) -> Iterator[str]:
    """Yield the known files that the breakpoint may mean."""
    names = {stop.filename, *linecache.cache}
    names |= {file for module in tuple(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    return (name for name in names if stop.may_stand_in(name) and linecache.getlines(name))


def _lines_of(filename: str) -> frozenset[int]:
    try:
        code = compile("".join(linecache.getlines(filename)), filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # a notebook's cell with magics or a top-level await
        return frozenset()
    return lines_with_code(code)
