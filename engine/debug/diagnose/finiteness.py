"""NaN and infinities: each is reported at its origin, which is known by the identity of its array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..record.capture import cell_name
from ..record.statistics import any_nonfinite, statistics
from .checks.formulas import detail_of
from .conditions import Hit
from .conditions.values import FiguresObservation
from .producer import OUTSIDE, Producer
from .provenance import Incoming, Provenance

if TYPE_CHECKING:
    from ..events import Events
    from .condition_pauses import ConditionPauses
    from .findings import HitStore
    from .overflows import Overflows
    from .selection import ConditionSelection

__all__ = ["Finiteness"]


class Finiteness:
    """Check of values that are not captured, and record of non-finite values that no capture shows.

    Args:
        selection: the checked conditions.
        hit_store: receives the hits.
        pauses: pauses for hits.
        provenance: knows the producers of arrays.
        overflows: holds back infinities that a loss scale explains.
        events: reports conditions that fail.
    """

    def __init__(
        self,
        selection: ConditionSelection,
        hit_store: HitStore,
        pauses: ConditionPauses,
        provenance: Provenance,
        overflows: Overflows,
        events: Events,
    ) -> None:
        self._overflows = overflows
        self._events = events
        self._selection = selection
        self._hit_store = hit_store
        self._pauses = pauses
        self._provenance = provenance

    @property
    def is_active(self) -> bool:
        """True if NaN or infinities are checked for."""
        return bool(self._selection.nonfinite)

    def with_origin(self, hit: Hit, array: Any) -> tuple[Hit, str | None]:
        """Return the hit with the origin of an array's non-finite values, and the origin's path; None if unknown."""
        origin = self._provenance.origin_of(array)
        if isinstance(origin, Producer):
            return hit._replace(producer=origin), origin.path
        if isinstance(origin, Incoming):
            path = hit.path if origin.path == OUTSIDE else origin.path
            return hit._replace(message=f"{hit.message}; {origin.message}"), path
        return hit, None

    def holds(self, hit: Hit, origin: str | None, array: Any, backward: bool) -> bool:
        """Return whether a hit is held back, since a loss scale may explain it."""
        return self._overflows.hold(hit, origin, str(array.dtype), backward)

    def is_mask(self, array: Any) -> bool:
        """Return whether the infinities of an array are those of a mask."""
        return self._provenance.is_mask(array)

    def check(self, array: Any, path: str, subject: str, what: str, step: int, backward: bool = False) -> None:
        """Check a loss, a gradient or a parameter, which messages call ``what``; the first two are ``backward``."""
        if not any_nonfinite(array):
            return
        observation = FiguresObservation(statistics(array))
        for condition in self._selection.nonfinite:
            detail = detail_of(condition, observation, self._events)
            if detail is not None:
                name = condition.name
                hit = Hit(condition, path, subject, step, f"{name} in {what} ({detail})")
                hit, origin = self.with_origin(hit, array)
                if self.holds(hit, origin, array, backward):
                    continue
                if self._hit_store.keep(hit, origin) and not self._pauses.paused_for(name):
                    self._pauses.pause(hit)

    def updated(self, path: str, name: str, array: Any, step: int, was_finite: bool) -> None:
        """Handle an update that left a parameter with a NaN or an infinity."""
        if not was_finite:
            self._provenance.inherit(array)
        elif any_nonfinite(array):
            self._provenance.inherit(array, Incoming(path, f"the update made it of a finite gradient of {name}"))
            self.check(array, path, name, f"{name} after its update", step)

    def report_hidden(self) -> None:
        """Report producers of NaN and infinities that no captured value has shown, as x / inf is 0."""
        for producer in self._provenance.take_new():
            # Operators outside the network are the user's own concern until their values enter a cell.
            is_reported = any(
                self._hit_store.has(condition.name, producer.path) for condition in self._selection.nonfinite
            )
            if is_reported or producer.path == OUTSIDE:
                continue
            observation = FiguresObservation(producer.output)
            for condition in self._selection.nonfinite:
                if detail_of(condition, observation, self._events) is not None:
                    subject = f"{cell_name(producer.path)}#{producer.call}"
                    hit = Hit(condition, producer.path, subject, producer.step, str(producer), producer=producer)
                    if not self._overflows.hold(hit, None, producer.output.dtype, producer.direction == "backward"):
                        self._hit_store.keep(hit)
                    break
