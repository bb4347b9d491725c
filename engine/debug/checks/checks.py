"""What a session does about conditions: who looks, when, and what happens where one holds.

Values are looked at where they are captured. What is about parameters and the loss is told at the end of a gradient
call (``training``), what is about modes and bprops by taps of their own (``network_checks``), and while NaN or Inf are
looked for, another tap follows each operator (``provenance``). Taps are attached only while a condition needs them.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, Any

from hookscope.engine import taps
from hookscope.engine.nested import tensors_in
from hookscope.engine.tensor import Tensor

from ..captures.capture import cell_name
from ..captures.statistics import Statistics, any_nonfinite, statistics
from ..conditions import CONDITIONS, Condition, Hit, examine
from ..pausing.points import point_at_stop
from ..stepping.stepper import Stop
from ..stepping.user_code import frame_to_show
from ..watch import suggestion
from ..weakly import weakly
from .findings import Found, Muted
from .network_checks import BpropWatch, ModeWatch
from .producer import OUTSIDE, Producer
from .provenance import Incoming, Origin, Provenance
from .training import Training

if TYPE_CHECKING:
    from hookscope.engine.parameter import Parameter

    from ..captures.capture import Capture
    from ..session import DebugSession

__all__ = ["Checks"]


class Checks:
    """The conditions of a session and what they found.

    Args:
        session: the session.
        look_for: conditions to look for.
        stop_on: conditions to look for and to pause at.
    """

    def __init__(self, session: DebugSession, look_for: Iterable[Condition], stop_on: Iterable[Condition]) -> None:
        self._session: DebugSession = weakref.proxy(session)
        self.conditions: dict[str, Condition] = {}
        self.pausing: set[str] = set()
        self._since = 0, 0
        self.found = Found()
        self.training = Training(session.paths, self._ran, self.wanted, self.look, self._broken_parameter)
        place_of = weakly(session.place_of)
        self.provenance = Provenance(
            place_of, weakly(session.place_of_bprop), self._step, lambda: self._session.own_run, self._produced
        )
        self._modes = ModeWatch(place_of, self.look, self._step)
        self._bprops = BpropWatch(session.paths.path_of, self.look, self._step, weakly(session.say))
        self.taps = (self.provenance, self._modes, self._bprops)
        for tap in self.taps:
            tap.owner = weakref.ref(session)
        self._values: list[Condition] = []
        self._arrived: Statistics | None = None
        self._paused_for: set[tuple[str, str]] = set()  # (spreading condition, direction) in this step
        self._began: dict[str, tuple[str, int]] = {}  # by spreading condition: where it was first seen, and last when
        self._streaks: dict[tuple[str, str], _Streak] = {}
        self._held_back: list[tuple[Hit, Capture]] = []  # until a cell with parameters comes
        for condition in look_for:
            self.add(condition)
        for condition in stop_on:
            self.add(condition, pause=True)

    def _step(self) -> int:
        return self._session.step

    def _ran(self, path: str) -> bool:
        return path in self._session.shapes

    # Which conditions

    def add(self, condition: Condition, pause: bool = False) -> None:
        """Look for a condition from now on; one of this name is replaced."""
        self.conditions[condition.name] = condition
        (self.pausing.add if pause else self.pausing.discard)(condition.name)
        self._changed()

    def remove(self, name: str) -> None:
        """Look for it no more."""
        del self.conditions[name]
        self.pausing.discard(name)
        self._changed()

    def looked_at(self) -> tuple[int, int]:
        """How many steps and captures there were since the conditions are those that are looked for now."""
        steps, captures = self._since
        return self._session.step - steps, self._session.captured - captures

    def wanted(self, name: str) -> bool:
        """Whether a condition is looked for."""
        return name in self.conditions

    def _changed(self) -> None:
        self._since = self._session.step, self._session.captured
        self._values = [condition for condition in self.conditions.values() if condition.about == "values"]
        if self._values:
            self._session.captures.on_give_up = self.found.forget
        if self._session.attached:
            self.attach()

    def mute(self, name: str, path: str) -> None:
        """Neither find nor pause at a condition in the cell at this path.

        Raises:
            ValueError: an unknown condition or cell.
        """
        known = {**CONDITIONS, **self.conditions}
        if name not in known:
            raise ValueError(f"mute: no condition {name!r}{suggestion(name, known)}")
        paths = [path for path, _ in self._session.paths]
        found = [finding.path for finding in self.found.findings()]  # perhaps of what ran in no cell of the session
        if path not in paths and path not in found and not self._session.takes_roots:
            raise ValueError(f"mute: no cell {path!r} in this session{suggestion(path, paths)}")
        self.found.mute(name, path)

    def unmute(self, name: str, path: str) -> None:
        """Find it, and pause at it, again.

        Raises:
            ValueError: it is not muted.
        """
        if not self.found.is_muted(name, path):
            muted = ", ".join(f"{one.condition} in {cell_name(one.path)}" for one in self.found.muted)
            raise ValueError(f"unmute: {name} in {cell_name(path)} is not muted; muted: {muted or 'nothing'}")
        self.found.muted.remove(Muted(name, path))

    # Taps

    def attach(self) -> None:
        """Attach the taps that are needed, and only those."""
        for tap, names in (
            (self.provenance, ("nan", "inf")), (self._modes, ("wrong_mode",)), (self._bprops, ("wrong_bprop",)),
        ):  # fmt: skip
            (taps.attach if any(map(self.wanted, names)) else taps.detach)(tap)

    def detach(self) -> None:
        """The session ends: judge what waits for more steps, and take the taps off."""
        for tap in self.taps:
            taps.detach(tap)
        self.training.settle()
        self._modes.ended()
        for streak in self._streaks.values():
            # Whatever held in each of the few steps that there were.
            if streak.hit is not None and streak.looks == streak.held < streak.hit.condition.in_a_row:
                self._keep(streak.hit._replace(capture=None))
        self._streaks.clear()

    # What the observer tells

    def step_began(self) -> None:
        """A root cell is called."""
        self._paused_for.clear()
        self._held_back.clear()
        self.training.step_began()

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        step = self._session.step
        if self.wanted("nan") or self.wanted("inf"):
            for value in values:
                self._look_at_finiteness(value._array, "", "loss", "the loss", step)
            for path, name, gradient in self.training.named(pairs):
                self._look_at_finiteness(gradient._array, path, name, f"the gradient of {name}", step)
        if self.conditions:
            self.training.differentiated(values, pairs, step)

    def value(self, capture: Capture, names: Callable[[], Mapping[str, object]]) -> list[Hit]:
        """Look at a captured value; returns the hits to pause for."""
        if not self._values:
            return []
        if capture.direction == "forward":
            if not capture.context:
                self._arrived = None
        elif self._arrived is None and capture.array.size > 1 and self._needs_arrived():
            self._arrived = capture.statistics()
        hits = examine(capture, self._values, self._arrived, names, self._session.say)
        held = {hit.condition.name: hit for hit in hits}
        for condition in self._values:
            if condition.in_a_row > 1 and condition.looks_at(capture):
                hit = held.get(condition.name)
                if not self._in_a_row(condition, capture.key, None if hit is None else hit._replace(capture=None)):
                    held.pop(condition.name, None)
        later: list[tuple[Hit, Capture]] = []
        if self._held_back and capture.direction == "forward" and _has_parameters(names()["cell"]):
            later, self._held_back = self._held_back, []
        self._held_back += [(hit, capture) for hit in held.values() if hit.condition.inside]
        told = [*later, *((hit, capture) for hit in held.values() if not hit.condition.inside)]
        return [hit for hit, of in told if self._value_held(hit, of)]

    def look(self, names: Iterable[str], seen: Any, path: str, subject: str, step: int) -> None:
        """Try the conditions of these names on what is seen of a parameter, the loss or a cell."""
        for name in names:
            condition = self.conditions.get(name)
            if condition is None:
                continue
            detail = condition.formula(seen, condition.threshold)
            hit = None if detail is None else Hit(condition, path, subject, step, f"{name} in {subject} ({detail})")
            if self._in_a_row(condition, subject, hit) and hit is not None and self._keep(hit):
                self._pause(hit)

    # Where one holds

    def _value_held(self, hit: Hit, capture: Capture) -> bool:
        """Keep a hit about a value; returns whether to pause for it."""
        name, origin = hit.condition.name, None
        if name in ("nan", "inf"):
            if name == "inf" and self.provenance.is_mask(capture.array):
                return False
            hit, origin = self._with_origin(hit, self.provenance.behind(capture.array))
        if hit.condition.spreads and origin is None:
            first, last = self._began.get(name, (hit.path, -1))
            origin = first if hit.step - last <= 1 else hit.path
            self._began[name] = (origin, hit.step)
        if not self._keep(hit, origin):
            return False
        capture.hits.append(name)
        if name not in self.pausing:
            return False
        if hit.condition.spreads:
            if (name, capture.direction) in self._paused_for:
                return False
            self._paused_for.add((name, capture.direction))
        return True

    def _with_origin(self, hit: Hit, origin: Origin | None) -> tuple[Hit, str | None]:
        if isinstance(origin, Producer):
            return hit._replace(producer=origin), origin.path
        if isinstance(origin, Incoming):
            path = hit.path if origin.path == OUTSIDE else origin.path
            return hit._replace(message=f"{hit.message}; {origin.message}"), path
        return hit, None

    def _look_at_finiteness(self, array: Any, path: str, subject: str, what: str, step: int) -> None:
        if not any_nonfinite(array):
            return
        figures = statistics(array)
        for name, number in (("nan", figures.nan), ("inf", figures.positive_inf + figures.negative_inf)):
            if number and self.wanted(name):
                message = f"{name} in {what} ({number} of {figures.count} elements)"
                hit = Hit(self.conditions[name], path, subject, step, message)
                hit, origin = self._with_origin(hit, self.provenance.behind(array))
                if self._keep(hit, origin) and not {(name, "forward"), (name, "backward")} & self._paused_for:
                    self._pause(hit)

    def _broken_parameter(self, path: str, name: str, array: Any, step: int, was_finite: bool) -> None:
        if not was_finite:
            self.provenance.inherit(array)
        elif any_nonfinite(array):
            self.provenance.inherit(array, Incoming(path, f"the update made it of a finite gradient of {name}"))
            self._look_at_finiteness(array, path, name, f"{name} after its update", step)

    def _produced(self, producer: Producer, frame: FrameType | None, values: dict[str, object]) -> None:
        """An operator made a NaN or an infinity, or a NaN of the infinity that another one made: pause right there."""
        wanted = [what for what in ("nan", "inf") if what in self.pausing]
        if not any(self._holds(what, values) for what in wanted if not self.found.is_muted(what, producer.path)):
            return
        self._paused_for |= {(what, producer.direction) for what in ("nan", "inf")}
        self._pause_at(frame, str(producer), producer.path, "operator", values)

    @staticmethod
    def _holds(what: str, values: Mapping[str, object]) -> bool:
        shown = values.get("output") if "gradients" not in values else values["gradients"]
        for tensor in tensors_in(shown):
            figures = statistics(tensor)
            if figures.nan if what == "nan" else figures.positive_inf + figures.negative_inf:
                return True
        return False

    def _in_a_row(self, condition: Condition, subject: str, hit: Hit | None) -> bool:
        """Count a look; whether the condition has held often enough by now."""
        if condition.in_a_row == 1:
            return hit is not None
        streak = self._streaks.get((condition.name, subject))
        if streak is None:
            streak = self._streaks[condition.name, subject] = _Streak()
        return streak.look(hit)

    def _needs_arrived(self) -> bool:
        return self.wanted("vanishing_gradient") or self.wanted("exploding_gradient")

    def _keep(self, hit: Hit, origin: str | None = None) -> bool:
        """Keep a hit, unless it is muted where it began."""
        if self.found.is_muted(hit.condition.name, hit.path if origin is None else origin):
            return False
        self.found.keep(hit, origin)
        self.found.forget(self._session.captures.oldest_index)
        return True

    def _pause(self, hit: Hit) -> None:
        if hit.condition.name in self.pausing:
            self._pause_at(None, hit.message, hit.path, "", {})

    def _pause_at(
        self, frame: FrameType | None, reason: str, path: str, moment: str, values: Mapping[str, object]
    ) -> None:
        session = self._session
        if session.paused is not None or not session.can_stop():
            return
        frame = frame or frame_to_show(sys._getframe(1))
        point = point_at_stop(Stop(frame, frame.f_lineno), "condition", reason, path, moment, dict(values))
        session.pause_or_abort(point)


class _Streak:
    """How often in a row a condition has held for one subject, of how many looks in all."""

    __slots__ = ("held", "hit", "looks")

    def __init__(self) -> None:
        self.held = self.looks = 0
        self.hit: Hit | None = None

    def look(self, hit: Hit | None) -> bool:
        self.looks += 1
        self.held = 0 if hit is None else self.held + 1
        self.hit = hit
        return hit is not None and self.held >= hit.condition.in_a_row


def _has_parameters(cell: Any) -> bool:
    return next(iter(cell.get_parameters()), None) is not None
