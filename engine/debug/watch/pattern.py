"""Watch patterns: ``PATTERN[:forward|backward|all]``.

PATTERN is matched against the dotted path as file names are (``fnmatch``: ``*``, ``?``, ``[...]``; ``*`` also matches
dots). An empty pattern is every leaf cell; ``.``, or ``(root)`` as it is displayed, is the root alone, with the empty
path. A cell with its own ``bprop`` counts as a leaf, since gradients do not visit its inner cells; so does a cell that
has parameters itself, since it computes with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TypeVar

from ...base.nearest_name import suggestion
from ...base.quoting import quoted
from ..argument_checks import checked_text

__all__ = ["DIRECTIONS", "ROOT", "ROOT_NAME", "Watch", "check_matches", "matches", "member"]

_T = TypeVar("_T")

DIRECTIONS = ("forward", "backward", "all")
ROOT = "."
ROOT_NAME = "(root)"
"""The root where paths are displayed."""


@dataclass(frozen=True)
class Watch:
    """A pattern of paths and a direction."""

    pattern: str
    direction: str = "all"

    @classmethod
    def parse(cls, text: str) -> Watch:
        """Parse ``PATTERN[:forward|backward|all]``.

        Raises:
            TypeError: the argument is not a str.
            ValueError: an unknown direction, or a text that is too long.
        """
        pattern, colon, direction = checked_text("watch", text).strip().partition(":")
        pattern = ROOT if pattern == ROOT_NAME else pattern
        if not colon:
            return cls(pattern)
        if direction not in DIRECTIONS:
            allowed = "the part after ':' must be forward, backward or all"
            raise ValueError(f"watch {quoted(text)}: {allowed}, got {quoted(direction)}")
        return cls(pattern, direction)

    def covers(self, path: str, leaf: bool, direction: str) -> bool:
        """Return whether the watch covers values of this cell in this direction."""
        if self.direction not in ("all", direction):
            return False
        return leaf if self.pattern == "" else matches(self.pattern, path)


def matches(pattern: str, path: str) -> bool:
    """Return whether a pattern that is not empty matches a cell's path."""
    return path == "" if pattern == ROOT else fnmatchcase(path, pattern)


def check_matches(pattern: str, paths: Sequence[str], what: str) -> None:
    """Check that a pattern matches one of the paths.

    Raises:
        ValueError: it matches none; the message names the nearest path.
    """
    if pattern and not any(matches(pattern, path) for path in paths):
        raise ValueError(
            f"{what} {quoted(pattern)} matches no cell{suggestion(pattern, [name or ROOT for name in paths])}"
        )


def member(item: _T, items: Sequence[_T], what: str, text: Callable[[_T], str]) -> _T:
    """Return ``item`` if it is in ``items``; errors name it as a ``what``, written by ``text``.

    Raises:
        ValueError: it is not among them; the message names the nearest.
    """
    if item not in items:
        nearest = suggestion(text(item), map(text, items))
        raise ValueError(f"no {what} {quoted(text(item))} in this session{nearest}")
    return item
