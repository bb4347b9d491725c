"""A session of plain data with the attributes and methods of a DebugSession that a panel uses, without an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from hookscope.engine.debug import (
    CONDITIONS,
    Condition,
    Event,
    EvictedCapture,
    Finding,
    Findings,
    History,
    Hit,
    Muted,
    PausePoint,
)
from hookscope.engine.debug.diagnose.conditions import parse_conditions
from hookscope.engine.debug.diagnose.coverage import Coverage
from hookscope.engine.debug.diagnose.cures import Cure
from hookscope.engine.debug.parameter_edits import ParameterEdits
from hookscope.engine.debug.record.statistics import Statistics
from hookscope.engine.debug.stop.pause import OperatorRecord


class PlainTensor:
    """An array with the two attributes that a view reads."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.dtype = array.dtype


def plain_statistics(array: np.ndarray) -> Statistics:
    """Return the statistics of a finite float array, computed by NumPy."""
    finite = array[np.isfinite(array)]
    counts, _ = np.histogram(finite, 64)
    return Statistics(
        count=array.size,
        shape=array.shape,
        dtype=str(array.dtype),
        minimum=float(finite.min()),
        maximum=float(finite.max()),
        mean=float(finite.mean()),
        std=float(finite.std()),
        norm=float(np.linalg.norm(finite)),
        zeros=int((array == 0).sum()),
        nan=int(np.isnan(array).sum()),
        positive_inf=int(np.isposinf(array).sum()),
        negative_inf=int(np.isneginf(array).sum()),
        histogram=counts,
    )


@dataclass
class PlainCapture:
    index: int
    path: str
    value: PlainTensor
    direction: str = "forward"
    slot: str = "output"
    origin: str = "tap"
    step: int = 1
    call: int = 0
    context: str = ""
    hits: list[str] = field(default_factory=list)
    computed: int = 0
    _known: tuple[object, SimpleNamespace] | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value._array.shape

    @property
    def dtype(self) -> object:
        return self.value.dtype

    @property
    def key(self) -> str:
        return f"{self.path}#{self.call} {self.direction} {self.slot}"

    def statistics(self) -> Statistics:
        if self._known is None or self._known[0] is not self.value:
            self.computed += 1
            self._known = self.value, plain_statistics(self.value._array)
        return self._known[1]


class PlainParameter:
    """A parameter's row that an edit can change."""

    def __init__(self, session: PlainSession, name: str) -> None:
        self.row = next(row for row in session.rows if row.name == name)

    @property
    def _array(self) -> np.ndarray:
        return self.row.array

    def _rebind(self, array: np.ndarray) -> None:
        self.row.array, self.row.statistics = array, plain_statistics(array)


class PlainParameters:
    """The parameters of a session for its edits."""

    def __init__(self, session: PlainSession) -> None:
        self.session = session

    def find(self, name: str) -> PlainParameter:
        return PlainParameter(self.session, name)

    def busy(self) -> None:
        return None

    def put(self, parameter: PlainParameter, array: np.ndarray) -> None:
        parameter._rebind(array)
        self.session.emit("changed")


class PlainRing(list[PlainCapture]):
    """Captures with their values, preceded by rows of evicted ones."""

    name = "plain"
    replacements = 0
    max_bytes, max_captures = 256 << 20, 20_000

    def __init__(self) -> None:
        super().__init__()
        self.without_value: list[EvictedCapture] = []
        self.said: list[str] = []

    @property
    def given_up(self) -> int:
        return len(self.without_value)

    def rows(self) -> list[Any]:
        return [*self.without_value, *self]

    def notes(self) -> list[str]:
        return self.said

    def give_up(self, count: int, figures: bool = True) -> None:
        """Evict the values of the oldest captures."""
        for capture in self[:count]:
            self.without_value.append(
                EvictedCapture(
                    capture.index,
                    capture.step,
                    capture.path,
                    "Block",
                    capture.call,
                    capture.direction,
                    capture.slot,
                    capture.origin,
                    capture.context,
                    capture.hits,
                    capture.statistics() if figures else None,
                    capture.shape,
                    capture.dtype,
                )
            )
        del self[:count]
        self.said = [f"The values of the {self.given_up} oldest were given up."]


class PlainPaths:
    """The paths of a session's cells; the cells have no attributes."""

    def __init__(self, nodes: list[SimpleNamespace]) -> None:
        self._nodes = nodes
        self.cell: Callable[[str], object] = lambda path: None

    def __iter__(self) -> Iterator[tuple[str, object]]:
        return iter([(node.path, SimpleNamespace(_cells={}, _params={})) for node in self._nodes])


def plain_node(path: str, depth: int, kind: str, **more: Any) -> SimpleNamespace:
    values = {
        "path": path,
        "name": path.rpartition(".")[2] or kind,
        "type": kind,
        "depth": depth,
        "parameters": 6,
        "training": True,
        "has_bprop": False,
        "hooks": {},
        "attached": set(),
        "shape": "2x3",
    }
    return SimpleNamespace(**{**values, **more})


class Net:
    """A stand-in for a network: a panel shows only its type's name."""


class PlainSession:
    """The part of a DebugSession that a panel shows, without an engine."""

    def __init__(self) -> None:
        self.roots: list[object] = [Net()]
        self.faults: list[tuple[str, BaseException]] = []
        self.known_cures: dict[str, list[Cure]] = {}
        self.captures = PlainRing()
        self.breakpoints: list[Any] = []
        self.coverage = Coverage(0, 0)
        self.checks = SimpleNamespace(conditions={}, pausing=set(), coverage=lambda: self.coverage)
        self.hits: list[Any] = []
        self.found: list[Finding] = []
        self.muted: list[Muted] = []
        self.attached = False
        self.name = "session"
        self.runs_eagerly = ""
        self.aborting = False
        self.paused: Any = None
        self.shown: Any = None
        self.failure: Any = None
        self.no_pauses: str | None = None
        self.step_bprop = False
        self.looks: list[tuple[Any, ...]] = []
        self.skipped_pauses: list[Any] = []
        self.gradient_checks: dict[str, Any] = {}
        self.observers: list[Callable[[Event], None]] = []
        self.commands: list[str] = []
        self.just_my_code = True
        self.running = False
        self.aborting = False
        self.trees_made = 0
        self.nodes = [
            plain_node("", 0, "Net"),
            plain_node("block", 1, "Block"),
            plain_node("block.relu", 2, "LeakyReLU", has_bprop=True, parameters=0),
        ]
        weight = np.array([[1.0, -2.0], [3.0, 4.0]])
        self.rows = [
            SimpleNamespace(
                name="block.weight",
                shape=(2, 2),
                dtype=weight.dtype,
                requires_grad=True,
                size=4,
                array=weight,
                gradient=None,
                statistics=plain_statistics(weight),
                gradient_norm=None,
                update_ratio=None,
                cells=(),
            )
        ]
        self.paths = PlainPaths(self.nodes)
        self.step = 0
        self.history = History()
        self.parameter_edits = ParameterEdits(PlainParameters(self))

    def report_fault(self, subject: str, error: BaseException) -> bool:
        self.faults.append((subject, error))
        return True

    def tree(self) -> list[Any]:
        self.trees_made += 1
        return self.nodes

    def parameters(self) -> list[Any]:
        return self.rows

    def hooks(self) -> list[Any]:
        return []

    def node(self, path: str) -> Any:
        nodes = [node for node in self.nodes if node.path == path]
        if not nodes:
            raise ValueError(f"no cell {path!r}; the nearest is 'block'")
        return nodes[0]

    def attach(self) -> None:
        self.attached = True
        self.emit("attached")

    def attach_hook(self, path: str, kind: str) -> None:
        self.node(path).attached.add(kind)
        self.node(path).hooks[kind] = 1
        self.emit("changed")

    def detach_hook(self, path: str, kind: str) -> None:
        self.node(path).attached.discard(kind)
        self.node(path).hooks[kind] = 0
        self.emit("changed")

    def add_breakpoint(self, stop: Any) -> None:
        self.breakpoints.append(stop)
        self.emit("changed")

    def remove_breakpoint(self, stop: Any) -> None:
        self.breakpoints.remove(stop)
        self.emit("changed")

    @property
    def conditions(self) -> list[Condition]:
        return list(self.checks.conditions.values())

    def add_condition(self, text: str, pause: bool = False) -> None:
        for condition in parse_conditions((text,)):
            self.checks.conditions[condition.name] = condition
            (self.checks.pausing.add if pause else self.checks.pausing.discard)(condition.name)
        self.emit("changed")

    def remove_condition(self, name: str) -> None:
        del self.checks.conditions[name]
        self.checks.pausing.discard(name)
        self.emit("changed")

    def findings(self) -> Findings:
        return Findings(self.found)

    def cures(self, finding: Finding) -> list[Cure]:
        return self.known_cures.get(finding.condition, [])

    def find(self, condition: str, path: str, capture: PlainCapture | None = None, **more: Any) -> Finding:
        """Add a finding and a hit of a condition, at a capture or elsewhere."""
        subject = "loss" if capture is None else capture.key
        message = f"{condition} in {subject} (2 of 6 elements)"
        step = 1 if capture is None else capture.step
        certainty = CONDITIONS[condition].certainty
        values = {"first_step": step, "last_step": step, "certainty": certainty, **more}
        self.found.append(Finding(condition, path, subject, message, CONDITIONS[condition].advice, **values))
        self.hits.append(Hit(CONDITIONS[condition], path, subject, step, message, capture))
        return self.found[-1]

    def set_train(self, path: str, mode: bool) -> None:
        self.node(path).training = mode
        self.emit("changed")

    def set_requires_grad(self, name: str, value: bool) -> None:
        next(row for row in self.rows if row.name == name).requires_grad = value
        self.emit("changed")

    def set_capture_bounds(self, max_bytes: int | None = None, max_captures: int | None = None) -> None:
        self.captures.max_bytes = max_bytes or self.captures.max_bytes
        self.captures.max_captures = max_captures or self.captures.max_captures
        self.emit("changed")

    def clear_findings(self) -> None:
        self.found.clear()
        self.hits.clear()
        self.emit("changed")

    def mute(self, condition: str, path: str, reason: str = "") -> None:
        self.muted.append(Muted(condition, path, reason))
        self.found = [finding for finding in self.found if (finding.condition, finding.path) != (condition, path)]
        self.emit("changed")

    def unmute(self, condition: str, path: str) -> None:
        self.muted = [mute for mute in self.muted if mute[:2] != (condition, path)]
        self.emit("changed")

    def run_to_line(self, line: int) -> None:
        self.resume(f"run to {line}")

    def resume(self, command: str = "continue") -> None:
        self.commands.append(command)
        self.paused = self.shown = None

    def abort(self) -> None:
        self.aborting = True

    def step_back(self) -> None:
        self.looks.append(("step_back",))
        self.shown = replace(self.paused, kind="past", reason="1 line back", line=self.paused.line - 1, back=1)

    def step_forward(self) -> None:
        self.looks.append(("step_forward",))
        self.shown = self.paused

    def show_operator(self, index: int) -> None:
        self.looks.append(("show_operator", index))
        operator = self.paused.operators[index]
        self.shown = replace(self.paused, kind="past", reason=f"operator {operator.name}", operator=operator)

    def show_frame(self, index: int) -> None:
        self.looks.append(("show_frame", index))
        frame = self.shown.frames[index]
        self.shown = replace(self.shown, function=frame.code.co_name, locals=frame.variables(), frame=index)

    def post_mortem(self) -> None:
        self.shown = self.failure.point()

    def evaluate(self, expression: str) -> object:
        return eval(expression, {}, dict(self.shown.locals))

    def observe(self, callback: Callable[[Event], None]) -> Callable[[], None]:
        self.observers.append(callback)
        return lambda: self.observers.remove(callback)

    def emit(self, event: Event) -> None:
        for callback in list(self.observers):
            callback(event)

    notify = emit

    def capture(self, path: str = "block", **more: Any) -> PlainCapture:
        """Record one value, as a running network does."""
        index = self.captures[-1].index + 1 if self.captures else 0
        array = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        self.captures.append(PlainCapture(index, path, PlainTensor(array), **more))
        self.emit("captured")
        return self.captures[-1]

    def pause(self, **more: Any) -> None:
        values = {
            "kind": "bprop",
            "reason": "A breakpoint stops every bprop of block.relu.",
            "path": "block.relu",
            "moment": "bprop",
            "filename": "cell.py",
            "function": "bprop",
            "first_line": 10,
            "lines": ["def bprop(self, x, out, dout):\n", "    return (dout,)\n"],
            "line": 11,
            "locals": {"x": PlainTensor(np.ones((2, 2))), "n": 3},
            "changed": {"n"},
            "operators": [OperatorRecord("Mul", (PlainTensor(np.ones(2)), 2), None)],
            "stack": ["bprop, line 11"],
            "exception": None,
        }
        self.paused = self.shown = PausePoint(**{**values, **more})
        self.emit("paused")


class FakeClock:
    """A clock that moves only on request."""

    now = 0.0

    def __call__(self) -> float:
        return self.now
