"""Documentation that the classes of a family share: arguments are explained once, at their common base."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeVar

__all__ = ["explained_by"]

C = TypeVar("C", bound=type)
_ENTRY = re.compile(r"^    \*{0,2}(\w+): ")


def explained_by(base: type) -> Callable[[C], C]:
    """Complete a class's documentation with its base's entries for the arguments that the class has.

    Args:
        base: a class whose documentation has ``Args:`` and ``Raises:``; the class's own entries have precedence.

    Returns:
        The decorator of the class.
    """

    def explained(cls: C) -> C:
        of_base, of_class = _sections(base), _sections(cls)
        entries = of_base.get("Args", {}) | of_class.get("Args", {})
        documented = [name for name in inspect.signature(cls).parameters if name in entries]
        parts = [inspect.cleandoc(cls.__doc__ or "").partition("\n\nArgs:")[0].partition("\n\nRaises:")[0]]
        if documented:
            parts.append("Args:\n" + "\n".join(entries[name] for name in documented))
        if raised := of_class.get("Raises") or of_base.get("Raises"):
            parts.append("Raises:\n" + "\n".join(raised.values()))
        cls.__doc__ = "\n\n".join(parts)
        return cls

    return explained


def _sections(cls: type) -> dict[str, dict[str, str]]:
    """Return the entries of each section of a class's documentation, by their first words."""
    sections: dict[str, dict[str, str]] = {}
    entries: dict[str, str] | None = None
    name = ""
    for line in inspect.cleandoc(cls.__doc__ or "").splitlines():
        if line in ("Args:", "Raises:"):
            entries = sections.setdefault(line[:-1], {})
        elif not line.startswith("    "):
            entries = None
        elif entries is not None:
            if begun := _ENTRY.match(line):
                name = begun[1]
            entries[name] = f"{entries[name]}\n{line}" if not begun else line
    return sections
