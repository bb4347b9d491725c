"""Next stop of a thread, after a command that resumed a paused run.

After a command at a cell, the next stop is what comes first of a line of the user's code (``stepping.stepper``) and:

- into, cell: the next moment of any cell ("cell" stops at no line);
- over: the next moment outside the cell;
- out: the next moment of an enclosing cell;
- operator: the next operator, and no line.
"""

from __future__ import annotations

import threading

__all__ = ["NextStop"]

_ANY_DEPTH = 1 << 30
_NO_DEPTH = -1


class NextStop(threading.local):
    """The next stop of this thread by the last command.

    Attributes:
        to_depth: the depth of calls up to which the next moment of a cell is a stop.
        at_operator: whether the next operator is a stop.
    """

    to_depth = _NO_DEPTH
    at_operator = False

    def obey(self, command: str, depth: int) -> None:
        """Apply a command at a cell of this depth."""
        to_depth = {"into": _ANY_DEPTH, "cell": _ANY_DEPTH, "over": depth, "out": depth - 1}
        self.to_depth = to_depth.get(command, _NO_DEPTH)
        self.at_operator = command == "operator"
