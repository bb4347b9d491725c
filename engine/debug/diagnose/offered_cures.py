"""Fixes that a session has offered: an applied fix stays the same object, so that it can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cures import Cure
    from .findings import Finding

__all__ = ["OfferedCures"]


class OfferedCures:
    """Offered fixes by the condition and the path of the finding, and their own name."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], str], Cure] = {}

    def of(
        self, finding: Finding, names: Sequence[str], make: Callable[[Finding, Sequence[str]], list[Cure]]
    ) -> list[Cure]:
        """Return the fixes of these names for a finding; ``make`` creates those that are not applied."""
        key = finding.condition, finding.path
        for cure in make(finding, [name for name in names if not self._is_done(key, name)]):
            self._known[key, cure.name] = cure
        return [self._known[key, name] for name in names if (key, name) in self._known]

    def _is_done(self, key: tuple[str, str], name: str) -> bool:
        """Return whether a fix is applied or has a result; others are created again each time."""
        cure = self._known.get((key, name))
        if cure is not None and not cure.outcome:
            del self._known[key, name]
        return cure is not None and bool(cure.outcome)
