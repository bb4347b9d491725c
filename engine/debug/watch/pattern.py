"""Which cells to watch: ``PATTERN[:forward|backward|all]``.

PATTERN is matched on the dotted path as file names are (``fnmatch``: ``*``, ``?``, ``[...]``; ``*`` also
crosses dots). An empty pattern is every leaf cell; ``.`` is the root alone, whose own path is empty. A cell
with its own ``bprop`` counts as a leaf, since gradients do not visit the cells inside it; so does one that holds
parameters itself, since it computes beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from ...base.nearest_name import suggestion
from ...base.quoting import quoted
from ..argument_checks import checked_text

__all__ = ["DIRECTIONS", "ROOT", "Watch", "check_matches", "known", "matches"]

_T = TypeVar("_T")

DIRECTIONS = ("forward", "backward", "all")
ROOT = "."


@dataclass(frozen=True)
class Watch:
    """One watch: a pattern of paths and a direction."""

    pattern: str
    direction: str = "all"

    @classmethod
    def parse(cls, text: str) -> Watch:
        """Read ``PATTERN[:forward|backward|all]``.

        Raises:
            TypeError: it is no text.
            ValueError: an unknown direction, or a text that is too long.
        """
        pattern, colon, direction = checked_text("watch", text).strip().partition(":")
        if not colon:
            return cls(pattern)
        if direction not in DIRECTIONS:
            allowed = "the part after ':' must be forward, backward or all"
            raise ValueError(f"watch {quoted(text)}: {allowed}, got {quoted(direction)}")
        return cls(pattern, direction)

    def covers(self, path: str, leaf: bool, direction: str) -> bool:
        """Whether values of this cell in this direction are wanted."""
        if self.direction not in ("all", direction):
            return False
        return leaf if self.pattern == "" else matches(self.pattern, path)


def matches(pattern: str, path: str) -> bool:
    """Whether a pattern that is not empty matches a cell's path."""
    return path == "" if pattern == ROOT else fnmatchcase(path, pattern)


def check_matches(pattern: str, paths: Sequence[str], what: str) -> None:
    """See that a pattern matches one of the paths.

    Raises:
        ValueError: it matches none; the text names the nearest path.
    """
    if pattern and not any(matches(pattern, path) for path in paths):
        raise ValueError(f"{what} {quoted(pattern)} matches no cell{suggestion(pattern, [p or ROOT for p in paths])}")


def known(wanted: _T, there: Sequence[_T], what: str, text: Callable[[_T], str]) -> _T:
    """Return ``wanted``, which is one of those that are there; ``what`` they are, as ``text`` writes them.

    Raises:
        ValueError: it is none of them; the text names the nearest.
    """
    if wanted not in there:
        near = suggestion(text(wanted), map(text, there))
        raise ValueError(f"no {what} {quoted(text(wanted))} in this session{near}")
    return wanted
