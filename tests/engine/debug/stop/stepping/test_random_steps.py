"""Random programs that are stepped by random commands, against an independent model of where each step must stop.

The model is a trace of the program without a debugger: the lines with the frames on the stack. "over" stops at the next
line of the frame or of a caller, "out" at that of a caller, "into" at any.
"""

from __future__ import annotations

import linecache
import os
import random
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from debug_networks import tensor

from hookscope.engine import nn
from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.stop.pause import PausePoint

PROGRAMS = 400 if os.environ.get("HOOKSCOPE_ALL_CASES") else 25
Event = tuple[int, tuple[int, ...]]  # a line, and the numbers of the frames, outermost first


def program(rng: random.Random) -> str:
    """Return the source of a program: functions and cells that call those before them, and ``main``."""
    callables: list[str] = []
    lines: list[str] = []
    for index in range(rng.randint(2, 5)):
        if rng.random() < 0.5:
            lines += [f"class Cell{index}(nn.Cell):", "    def construct(self, x):"]
            lines += ["        " + line for line in _body(rng, callables)] + ["        return x", ""]
            lines += [f"cell{index} = Cell{index}()", ""]
            callables.append(f"cell{index}")
        else:
            lines += [f"def function{index}(x):"]
            lines += ["    " + line for line in _body(rng, callables)] + ["    return x", ""]
            callables.append(f"function{index}")
    lines += ["def main(x):", "    start()", *["    " + line for line in _body(rng, callables, 4)], "    return x", ""]
    return "\n".join(lines)


def _body(rng: random.Random, callables: list[str], count: int = 0, depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(count or rng.randint(1, 2)):
        called = rng.choice(callables) if callables else "ops.tanh"
        kind = rng.randrange(10 if depth < 2 else 4)
        inner = ["    " + line for line in (_body(rng, callables, 0, depth + 1) if kind > 3 else ())]
        lines += {
            0: ["x = x * 1.5"],
            1: [f"x = {called}(x)"],
            2: [f"x = {called}({called}(x))"],
            3: [f"x = sum([{called}(x) for _ in range(2)])"],
            4: ["for i in range(2):", *inner],
            5: ["if float(x.sum()) > 0:", *inner, "else:", "    x = x + 1"],
            6: ["try:", *inner, "finally:", "    x = x + 1"],
            7: ["def values():", *inner_of_generator(rng, called), "for v in values():", "    x = x + v * 0.1"],
            8: [f"x = (lambda y: {called}(y))(x)"],
            9: ["with context():", *inner],
        }[kind]
    return lines


def inner_of_generator(rng: random.Random, called: str) -> list[str]:
    return ["    for _ in range(2):", f"        y = {called}(x)", "        yield y"]


SCOPE = """
from contextlib import contextmanager
from hookscope.engine import nn, ops

@contextmanager
def context():
    a = 1
    yield a
    a = 2

"""


def load(source: str, filename: str, start: Any) -> Any:
    """Run a program's definitions as the user's code in a file; return its ``main``."""
    text = SCOPE + source
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    scope: dict[str, Any] = {"start": start, "__name__": "program"}
    exec(compile(text, filename, "exec"), scope)
    return scope["main"]


def trace_of(main: Any, filename: str, x: Any) -> tuple[list[Event], bytes]:
    """Return the lines that ``main`` runs after ``start``, by a trace function, and its result."""
    events: list[Event] = []
    numbers: dict[FrameType, int] = {}
    last_lines: dict[FrameType, int] = {}

    def chain(frame: FrameType | None) -> tuple[int, ...]:
        frames = []
        while frame is not None:
            is_comprehension = frame.f_code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>")
            if frame.f_code.co_filename == filename and not is_comprehension:
                frames.append(numbers.setdefault(frame, len(numbers)))
            frame = frame.f_back
        return tuple(reversed(frames))

    def traced(frame: FrameType, event: str, arg: Any) -> Any:
        # From Python 3.12 on, a trace function hears of the line of a comprehension at each of its turns.
        is_turn = last_lines.get(frame) == frame.f_lineno
        if event == "line" and not is_turn and frame.f_code.co_name not in ("<listcomp>", "<setcomp>", "<dictcomp>"):
            last_lines[frame] = frame.f_lineno
            events.append((frame.f_lineno, chain(frame)))
        return traced

    before = sys.gettrace()
    sys.settrace(lambda frame, event, arg: traced if frame.f_code.co_filename == filename else None)
    try:
        result = main(x)
    finally:
        sys.settrace(before)
    return events[1:], result.asnumpy().tobytes()  # the first is the line of start()


def next_event(events: list[Event], index: int, command: str) -> int | None:
    """Return the index of the line at which a command must stop; None if the program ends before."""
    chain = events[index][1]
    targets = set(chain[:-1] if command == "out" else chain)
    for position in range(index + 1, len(events)):
        if command == "into" or events[position][1][-1] in targets:
            return position
    return None


class Person:
    """A pauser that steps at random, and compares each stop with the model."""

    def __init__(self, rng: random.Random, events: list[Event]) -> None:
        self.rng = rng
        self.events = events
        self.expected: int | None = None
        self.begun = False
        self.stops = 0
        self.session: DebugSession

    def unavailable(self) -> None:
        return None

    def wait(self, until: Any) -> None:
        point = self.session.paused
        assert isinstance(point, PausePoint)
        if point.filename == __file__ and self.begun:  # the program has ended
            self.session.resume("continue")
            return
        self.stops += 1
        command = self.rng.choice(["over", "over", "into", "into", "out"])
        if not self.begun:
            self.begun = True
            # In main, before its first line after start(): as if at a line of this frame.
            main = self.events[0][1][:1]
            self.expected = next_event([(0, main), *self.events], 0, command)
            self.expected = None if self.expected is None else self.expected - 1
        else:
            assert self.expected is not None, f"stopped at line {point.line}, after the last expected stop"
            assert point.line == self.events[self.expected][0], (
                f"stopped at line {point.line}, expected {self.events[self.expected][0]}"
            )
            self.expected = next_event(self.events, self.expected, command)
        if self.stops == 40:
            self.expected, command = None, "continue"
        self.session.resume(command)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_each_step_stops_where_the_model_says_and_the_result_is_the_same(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    source = program(rng)
    filename = str(tmp_path / "program.py")
    x = tensor(0.5, -1.0)
    events, alone = trace_of(load(source, filename, lambda: None), filename, x)
    person = Person(rng, events)
    session = person.session = DebugSession(nn.ReLU(), pauser=person)
    main = load(source, filename, lambda: session._stepping.pause_in(sys._getframe(1), "start"))
    with session:
        result = main(x)
    assert result.asnumpy().tobytes() == alone
    assert person.expected is None, f"did not stop at line {events[person.expected][0]}"
    assert session.faults == ()


def test_the_programs_are_not_trivial() -> None:
    sources = [program(random.Random(seed)) for seed in range(25)]
    assert sum(source.count("construct") for source in sources) > 20
    assert all(any(word in source for source in sources) for word in ("yield", "lambda", "with ", "finally", "for i"))
