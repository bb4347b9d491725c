"""Magics that `%load_ext hookscope` registers: `HookscopeMagics` (`%%cell` and the like) and `RanksMagics`.

`options` parses their lines, `cell_body` runs the body of a `%%cell`, and `last_call` finds the input of `%bprop`.
"""

from __future__ import annotations

from .cell_magics import HookscopeMagics
from .rank_magics import RanksMagics

__all__ = ["HookscopeMagics", "RanksMagics"]
