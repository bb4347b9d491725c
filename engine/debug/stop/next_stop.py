"""Where a thread stops next, after a command that let a paused run go on.

After a command at a cell, "into" stops at the next moment of any cell (or the first line of a custom bprop), "cell" too
but for that line, "over" at the next one that is not inside the cell, "out" at the next one of the cells around it, and
"operator" at the next operator.
"""

from __future__ import annotations

import threading

__all__ = ["NextStop"]

_ANY_DEPTH = 1 << 30
_NO_DEPTH = -1


class NextStop(threading.local):
    """What the last command asked of this thread.

    Attributes:
        to_depth: to which depth of calls the next moment of a cell is a stop.
        in_bprop: whether the first line of a custom bprop is one.
        at_operator: whether the next operator is one.
    """

    to_depth = _NO_DEPTH
    in_bprop = False
    at_operator = False

    def obey(self, command: str, depth: int) -> None:
        """A command came at a cell of this depth."""
        to_depth = {"into": _ANY_DEPTH, "cell": _ANY_DEPTH, "over": depth, "out": depth - 1}
        self.to_depth = to_depth.get(command, _NO_DEPTH)
        self.in_bprop = command == "into"
        self.at_operator = command == "operator"

    def at_any_cell(self) -> None:
        """The next moment of any cell is a stop."""
        self.to_depth = _ANY_DEPTH
