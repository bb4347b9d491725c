"""The cures that a session has offered: one that was done stays the same one, so that it can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cures import Cure
    from .findings import Finding

__all__ = ["OfferedCures"]


class OfferedCures:
    """Cures by the condition and the path of the finding, and their own name."""

    def __init__(self) -> None:
        self._known: dict[tuple[tuple[str, str], str], Cure] = {}

    def of(
        self, finding: Finding, names: Sequence[str], make: Callable[[Finding, Sequence[str]], list[Cure]]
    ) -> list[Cure]:
        """The cures of these names that there are for a finding now; ``make`` makes those that are not done."""
        place = finding.condition, finding.path
        for cure in make(finding, [name for name in names if not self._is_done(place, name)]):
            self._known[place, cure.name] = cure
        return [self._known[place, name] for name in names if (place, name) in self._known]

    def _is_done(self, place: tuple[str, str], name: str) -> bool:
        """Whether this is done, or has seen something; what is not done is seen anew each time."""
        cure = self._known.get((place, name))
        if cure is not None and not cure.outcome:
            del self._known[place, name]
        return cure is not None and bool(cure.outcome)
