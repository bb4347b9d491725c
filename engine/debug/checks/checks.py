"""What a session does about conditions: who looks, when, and what happens where one holds.

Values are looked at where they are captured. What is about parameters and the loss is told at the end of a gradient
call (``training``), what is about data, losses, modes, bprops and optimizers by watchers with taps of their own, and
while NaN or Inf are looked for, another tap follows each operator (``provenance``). Taps are attached only while a
condition needs them.
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
from ..conditions.values import FiguresSeen, Seen
from ..pausing.points import point_at_stop
from ..stepping.stepper import Stop
from ..stepping.user_code import frame_to_show
from ..watch import suggestion
from ..weakly import weakly
from .data_checks import InputWatch, SamplesWatch
from .findings import Found, Muted
from .loss_checks import LossWatch
from .network_checks import BpropWatch, ModeWatch, StructureWatch
from .optimizer_checks import OptimizerWatch
from .producer import OUTSIDE, Producer
from .provenance import Incoming, Origin, Provenance
from .training import Training
from .use_checks import UseWatch
from .watcher import Watched, Watcher

if TYPE_CHECKING:
    from hookscope.engine.nn import Optimizer
    from hookscope.engine.parameter import Parameter

    from ..captures.capture import Capture
    from ..session import DebugSession

__all__ = ["Checks"]

WATCHERS: tuple[type[Watcher], ...] = (
    InputWatch, SamplesWatch, LossWatch, UseWatch, OptimizerWatch, ModeWatch, StructureWatch, BpropWatch,
)  # fmt: skip
"""All that look at a run by taps of their own."""


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
        self.training = Training(
            session.paths, self._ran, self.wanted, lambda: bool(self._nonfinite), self.look, self._broken_parameter
        )
        place_of = weakly(session.place_of)

        def own_run() -> bool:
            return self._session.own_run

        self.provenance = Provenance(place_of, weakly(session.place_of_bprop), self._step, own_run, self._produced)
        paths = session.paths
        watched = Watched(
            self.look, paths, lambda: paths.roots, paths.path_of, place_of, self._here, self._step, own_run,
            weakly(session.say),
        )  # fmt: skip
        self._watchers = [watcher(watched) for watcher in WATCHERS]
        self.taps = (self.provenance, *self._watchers)
        for tap in self.taps:
            tap.owner = weakref.ref(session)
        self._about: dict[type[Any], list[Condition]] = {}
        self._values: list[Condition] = []
        self._nonfinite: list[Condition] = []
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

    def _here(self) -> str:
        return self._session.innermost

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

    def wanted(self, *kinds: type[Any]) -> bool:
        """Whether a condition about one of these is looked for."""
        return any(kind in self._about for kind in kinds)

    def _changed(self) -> None:
        self._since = self._session.step, self._session.captured
        self._about = {}
        for condition in self.conditions.values():
            for kind in condition.seen:
                self._about.setdefault(kind, []).append(condition)
        self._values = self._about.get(Seen, [])
        self._nonfinite = [condition for condition in self._values if condition.nonfinite]
        if self._values:
            self._session.captures.on_give_up = self.found.forget
        if self._session.attached:
            self.attach()

    def wrong_optimizer(self) -> tuple[Optimizer | None, set[int]]:
        """The optimizer that held other parameters than the network's, and what gradients were asked for, by id."""
        watch = next(one for one in self._watchers if isinstance(one, OptimizerWatch))
        return None if watch.wrong is None else watch.wrong(), watch.asked

    def clear(self) -> None:
        """Forget what was found so far."""
        self.found.clear()
        self.provenance.made()

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
        (taps.attach if self._nonfinite else taps.detach)(self.provenance)
        for watcher in self._watchers:
            (taps.attach if self.wanted(*watcher.shows) else taps.detach)(watcher)

    def detach(self) -> None:
        """The session ends: judge what waits for more steps, and take the taps off."""
        for tap in self.taps:
            taps.detach(tap)
        self._keep_what_stayed_inside()
        self.training.settle()
        for watcher in self._watchers:
            watcher.ended()
        for streak in self._streaks.values():
            # Whatever held in each of the few steps that there were.
            if streak.hit is not None and streak.looks == streak.held < streak.hit.condition.in_a_row:
                self._keep(streak.hit._replace(capture=None))
        self._streaks.clear()

    # What the observer tells

    def step_began(self) -> None:
        """A root cell is called."""
        self._keep_what_stayed_inside()
        self._paused_for.clear()
        self._held_back.clear()
        self.training.step_began()
        for watcher in self._watchers:
            watcher.step_began()

    def differentiated(self, values: list[Tensor], pairs: list[tuple[Parameter, Tensor | None]]) -> None:
        """A gradient call with weights has ended."""
        step = self._session.step
        if self._nonfinite:
            for value in values:
                self._look_at_finiteness(value._array, "", "loss", "the loss", step)
            for path, name, gradient in self.training.named(pairs):
                self._look_at_finiteness(gradient._array, path, name, f"the gradient of {name}", step)
        self.training.differentiated(values, pairs, step)

    def value(self, capture: Capture, names: Callable[[], Mapping[str, object]]) -> list[Hit]:
        """Look at a captured value; returns the hits to pause for."""
        if not self._values:
            return []
        if capture.direction == "forward":
            if not capture.context:
                self._arrived = None
        elif self._is_first_gradient(capture) and any(one.against_first for one in self._values):
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

    def _is_first_gradient(self, capture: Capture) -> bool:
        """Whether it is the first of its walk; one number, such as a loss scale, stands in until there are several."""
        arrived = self._arrived
        return arrived is None or (arrived.count == 1 and capture.array.size > 1)

    def look(self, seen: Any, path: str, subject: str, step: int) -> None:
        """Try the conditions that are about such a thing on what is seen of a parameter, the loss or a cell."""
        for condition in self._about.get(type(seen), ()):
            detail = condition.formula(seen, condition.threshold)
            message = f"{condition.name} in {subject} ({detail})"
            hit = None if detail is None else Hit(condition, path, subject, step, message)
            if self._in_a_row(condition, subject, hit) and hit is not None and self._keep(hit):
                self._pause(hit)

    # Where one holds

    def _value_held(self, hit: Hit, capture: Capture) -> bool:
        """Keep a hit about a value; returns whether to pause for it."""
        name, origin = hit.condition.name, None
        if hit.condition.masks_are_meant and self.provenance.is_mask(capture.array):
            return False
        if hit.condition.nonfinite:
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
        seen = FiguresSeen(statistics(array))
        for condition in self._nonfinite:
            detail = condition.formula(seen, condition.threshold)
            if detail is not None:
                name = condition.name
                hit = Hit(condition, path, subject, step, f"{name} in {what} ({detail})")
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
        made = values.get("output") if "gradients" not in values else values["gradients"]
        seen = [FiguresSeen(statistics(tensor)) for tensor in tensors_in(made)]
        holding = [
            condition
            for condition in self._nonfinite
            if condition.name in self.pausing
            and not self.found.is_muted(condition.name, producer.path)
            and any(condition.formula(one, condition.threshold) for one in seen)
        ]
        if holding:
            self._paused_for |= {(condition.name, producer.direction) for condition in self._nonfinite}
            self._pause_at(frame, str(producer), producer.path, "operator", values)

    def _keep_what_stayed_inside(self) -> None:
        """Keep the NaNs and infinities that operators made, and that no captured value has shown: x / inf is 0."""
        for producer in self.provenance.made():
            # What runs outside the network is its user's own affair until it comes in.
            known = any(self.found.has(condition.name, producer.path) for condition in self._nonfinite)
            if known or producer.path == OUTSIDE:
                continue
            seen = FiguresSeen(producer.output)
            for condition in self._nonfinite:
                if condition.formula(seen, condition.threshold) is not None:
                    subject = f"{cell_name(producer.path)}#{producer.call}"
                    self._keep(Hit(condition, producer.path, subject, producer.step, str(producer), producer=producer))
                    break

    def _in_a_row(self, condition: Condition, subject: str, hit: Hit | None) -> bool:
        """Count a look; whether the condition has held often enough by now."""
        if condition.in_a_row == 1:
            return hit is not None
        streak = self._streaks.get((condition.name, subject))
        if streak is None:
            streak = self._streaks[condition.name, subject] = _Streak()
        return streak.look(hit)

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
