"""Examiner: checks conditions on captured values, and on the observations of watchers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookscope.engine.tape import taps

from ..record.statistics import Statistics
from ..watch.roots import has_parameters
from .checks.formulas import detail_of, report
from .conditions import Condition, Hit, tried
from .streaks import Streaks

if TYPE_CHECKING:
    from ..events import Events
    from ..record.capture import Capture
    from ..watch.visits import Visit
    from .condition_pauses import ConditionPauses
    from .findings import HitStore
    from .finiteness import Finiteness
    from .roles import Roles
    from .selection import ConditionSelection

__all__ = ["Examiner"]

# A gradient explodes late if its norm is this much larger than usual, a mean in which the newest has this weight.
_LARGER, _NEWEST = 10.0, 0.1
# After its first ones, every so many steps are part of the mean.
_EVERY = 8


class Examiner:
    """Checker of the conditions, which records their hits.

    Args:
        selection: the checked conditions.
        hit_store: receives the hits.
        pauses: pauses for hits.
        finiteness: knows the origins of non-finite values.
        roles: knows which cells a run trains.
        events: reports conditions that fail.

    Attributes:
        conditions: the checked conditions, by name.
        unchecked: the checks that were not made, each with the reason, by condition and cell.
    """

    SUBJECT = "trying the conditions on a value"  # in reports of faults

    def __init__(
        self,
        selection: ConditionSelection,
        hit_store: HitStore,
        pauses: ConditionPauses,
        finiteness: Finiteness,
        roles: Roles,
        events: Events,
    ) -> None:
        self.conditions = selection.conditions
        self._selection = selection
        self._hit_store = hit_store
        self._pauses = pauses
        self._finiteness = finiteness
        self._roles = roles
        self._events = events
        self._streaks = Streaks()
        self.unchecked: dict[tuple[str, str], str] = {}
        self._first_gradient: Statistics | None = None
        self._first_is_direct = False  # whether it is that of a call outside of all others
        self._spread_origins: dict[
            str, tuple[str, int]
        ] = {}  # by spreading condition: the first path, and the last step
        self._pending: list[tuple[Hit, Capture]] = []  # until a cell with parameters runs
        # By the key of a gradient: how often it was seen, and a running mean of its norm.
        self._usual_norms: dict[str, tuple[int, float]] = {}
        # By condition and place: the last step in which a call did not fulfil it.
        self._exceptions: dict[tuple[str, str, str], int] = {}

    def run_began(self) -> None:
        """Begin a run: a gradient call for weights, or a call of a root."""
        self._pending.clear()

    def end_session(self) -> None:
        """End the session: keep conditions that held in every one of fewer steps than they require."""
        for hit in self._streaks.end():
            self._hit_store.keep(hit)

    def wants(self, *kinds: type[Any]) -> bool:
        """Return whether a condition on one of these classes of observations is checked."""
        return self._selection.includes(*kinds)

    def observe(self, observation: Any, path: str, subject: str, step: int) -> None:
        """Check the conditions on an observation of a parameter, the loss or a cell."""
        self._selection.observed.add(type(observation))
        for condition in self._selection.about(type(observation)):
            detail = detail_of(condition, observation, self._events)
            hit = None if detail is None else Hit.of(condition, path, subject, step, detail)
            if self._streaks.add(condition, subject, hit) and hit is not None and self._hit_store.keep(hit):
                self._pauses.pause(hit)
            elif hit is None and self._hit_store.has(condition.name, path) and getattr(observation, "is_over", False):
                self._hit_store.withdraw(condition.name, path, subject)

    def leave_unchecked(self, name: str, where: str, reason: str) -> None:
        """Say once that a condition is not checked in a cell, and why."""
        if (name, where) not in self.unchecked:
            self.unchecked[name, where] = f"{name} in {where}, since {reason}"
            self._events.say(f"{name} is not checked in {where}: {reason}")

    def _failed(self, condition: Condition, error: Exception) -> None:
        report(condition, error, self._events)

    def examine(self, capture: Capture, visit: Visit) -> list[Hit]:
        """Check the conditions on a captured value; return the hits to pause for."""
        selection = self._selection
        if not selection.values:
            return []
        if capture.direction == "forward":
            if not capture.context:
                self._first_gradient = None
        elif selection.against_first and self._is_first_gradient(capture, visit):
            self._first_gradient, self._first_is_direct = capture.figures(), not visit.depth
        applicable, key = selection.at(capture), ""
        if not self._roles.trains(capture.path):
            applicable = [condition for condition in applicable if not condition.of_training]
        hits = tried(capture, applicable, self._first_gradient, visit.names, self._failed)
        hits_by_name = {hit.condition.name: hit for hit in hits} if hits else {}
        for condition in applicable:
            if condition.in_a_row > 1:
                key = key or capture.key
                hit = hits_by_name.get(condition.name)
                if condition.every_call:
                    is_trained = capture.direction == "backward" or bool(taps.outer_recordings())
                    if hit is None and is_trained and self._hit_store.has(condition.name, capture.path):
                        self._hit_store.withdraw(condition.name, capture.path, key)  # zeros that have passed
                    if self._is_excepted(condition, capture, hit):
                        hit = None
                if condition.at_first_once and self._is_usual(condition, key, capture, hit is not None):
                    hit = None
                without_value = None if hit is None else hit._replace(capture=None)
                if not self._streaks.add(condition, key, without_value):
                    hits_by_name.pop(condition.name, None)
        if not (hits_by_name or self._pending):
            return []
        released: list[tuple[Hit, Capture]] = []
        if self._pending and capture.direction == "forward" and has_parameters(visit.cell):
            released, self._pending = self._pending, []
        self._pending += [(hit, capture) for hit in hits_by_name.values() if hit.condition.inside]
        reported = [*released, *((hit, capture) for hit in hits_by_name.values() if not hit.condition.inside)]
        return [hit for hit, source in reported if self._keep_hit(hit, source)]

    def _is_usual(self, condition: Condition, key: str, capture: Capture, is_hit: bool) -> bool:
        """Return whether a gradient is about as large as it was in the steps before, and was not reported then.

        Late in a training the gradient that it is compared with may become small, as that of a head that has learned.
        """
        count, usual = self._usual_norms.get(key, (0, 0.0))
        if not is_hit and count >= condition.in_a_row and capture.step % _EVERY:
            return False  # the mean needs no more of them
        norm = capture.figures().norm
        is_usual = count >= condition.in_a_row and norm < _LARGER * usual
        if not is_hit:
            self._usual_norms[key] = count + 1, norm if not count else usual + (norm - usual) * _NEWEST
        return is_usual and not self._hit_store.has(condition.name, capture.path)

    def _is_excepted(self, condition: Condition, capture: Capture, hit: Hit | None) -> bool:
        """Return whether another call of the cell in this or the last step did not fulfil a condition."""
        location = condition.name, capture.path, f"{capture.direction} {capture.slot}"
        if hit is None:
            self._exceptions[location] = capture.step
            return False
        return self._exceptions.get(location, -2) >= capture.step - 1

    def _is_first_gradient(self, capture: Capture, visit: Visit) -> bool:
        """Return whether a gradient is the first of its backward pass.

        It replaces a single number (a loss scale), and that of a cell that the loss calls directly, as for a penalty of
        its outputs: the gradient inside of the network is the one to compare with.
        """
        first_gradient = self._first_gradient
        if first_gradient is None or (first_gradient.count == 1 and capture.array.size > 1):
            return True
        return self._first_is_direct and bool(visit.depth)

    def _keep_hit(self, hit: Hit, capture: Capture) -> bool:
        """Keep a hit of a value; return whether to pause for it."""
        name, origin = hit.condition.name, None
        if hit.condition.masks_are_meant and self._finiteness.is_mask(capture.array):
            return False
        if hit.condition.nonfinite:
            hit, origin = self._finiteness.with_origin(hit, capture.array)
        if hit.condition.spreads and origin is None:
            first_path, last_step = self._spread_origins.get(name, (hit.path, -1))
            origin = first_path if hit.step - last_step <= 1 else hit.path
            self._spread_origins[name] = (origin, hit.step)
        if self._finiteness.holds(hit, origin, capture.array, capture.direction == "backward"):
            return False
        if not self._hit_store.keep(hit, origin):
            return False
        capture.hits.append(name)
        return self._pauses.is_due(hit, capture.direction)
