"""NaN and infinities: each is found where it began, by what is known of the origin of its array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..record.capture import cell_name
from ..record.statistics import any_nonfinite, statistics
from .checks.formulas import detail_of
from .conditions import Hit
from .conditions.values import FiguresSeen
from .producer import OUTSIDE, Producer
from .provenance import Incoming, Provenance

if TYPE_CHECKING:
    from ..events import Events
    from .condition_pauses import ConditionPauses
    from .findings import Found
    from .selection import LookedFor

__all__ = ["Finiteness"]


class Finiteness:
    """Looks at what is no captured value, and keeps what was made and never shown.

    Args:
        looked_for: the conditions.
        found: where hits are kept.
        pauses: pauses for them.
        provenance: knows what made what.
        events: told of conditions that fail.
    """

    def __init__(
        self, looked_for: LookedFor, found: Found, pauses: ConditionPauses, provenance: Provenance, events: Events
    ) -> None:
        self._events = events
        self._looked_for = looked_for
        self._found = found
        self._pauses = pauses
        self._provenance = provenance

    @property
    def wanted(self) -> bool:
        """Whether NaN or infinities are looked for."""
        return bool(self._looked_for.nonfinite)

    def with_origin(self, hit: Hit, array: Any) -> tuple[Hit, str | None]:
        """A hit that says where what is not finite in an array began; and the path of that, where it is known."""
        origin = self._provenance.behind(array)
        if isinstance(origin, Producer):
            return hit._replace(producer=origin), origin.path
        if isinstance(origin, Incoming):
            path = hit.path if origin.path == OUTSIDE else origin.path
            return hit._replace(message=f"{hit.message}; {origin.message}"), path
        return hit, None

    def is_mask(self, array: Any) -> bool:
        """Whether the infinities of an array are those of a mask."""
        return self._provenance.is_mask(array)

    def look(self, array: Any, path: str, subject: str, what: str, step: int) -> None:
        """Look at a loss, a gradient or a parameter; ``what`` it is in messages."""
        if not any_nonfinite(array):
            return
        seen = FiguresSeen(statistics(array))
        for condition in self._looked_for.nonfinite:
            detail = detail_of(condition, seen, self._events)
            if detail is not None:
                name = condition.name
                hit = Hit(condition, path, subject, step, f"{name} in {what} ({detail})")
                hit, origin = self.with_origin(hit, array)
                if self._found.keep(hit, origin) and not self._pauses.paused_for(name):
                    self._pauses.pause(hit)

    def updated(self, path: str, name: str, array: Any, step: int, was_finite: bool) -> None:
        """An update left a parameter with a NaN or an infinity."""
        if not was_finite:
            self._provenance.inherit(array)
        elif any_nonfinite(array):
            self._provenance.inherit(array, Incoming(path, f"the update made it of a finite gradient of {name}"))
            self.look(array, path, name, f"{name} after its update", step)

    def keep_what_stayed_inside(self) -> None:
        """Keep the NaNs and infinities that operators made, and that no captured value has shown: x / inf is 0."""
        for producer in self._provenance.made():
            # What runs outside the network is its user's own affair until it comes in.
            known = any(self._found.has(condition.name, producer.path) for condition in self._looked_for.nonfinite)
            if known or producer.path == OUTSIDE:
                continue
            seen = FiguresSeen(producer.output)
            for condition in self._looked_for.nonfinite:
                if detail_of(condition, seen, self._events) is not None:
                    subject = f"{cell_name(producer.path)}#{producer.call}"
                    hit = Hit(condition, producer.path, subject, producer.step, str(producer), producer=producer)
                    self._found.keep(hit)
                    break
