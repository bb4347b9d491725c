"""Random programs that raise and catch, run again and again under a session, against a model without a debugger.

The model is a trace of the same program: an exception is shown once, when it leaves the first cell. Results, exceptions
and the lines of their tracebacks are those of Python, whatever is answered at the stops.
"""

from __future__ import annotations

import linecache
import os
import random
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from debug_networks import tensor

import hookscope.engine as ms
from hookscope.engine.debug import DebugSession

PROGRAMS = 2000 if os.environ.get("HOOKSCOPE_ALL_CASES") else 25
RUNS = 3
STEPS = ("over", "into", "out", "continue", "cell", "operator")
Outcome = tuple[object, ...]
Shown = tuple[str, int, str]  # the path of the cell, the line, the exception

SCOPE = """
from contextlib import suppress
from hookscope.engine import nn

class Clock:
    def __init__(self, hits):
        self.count, self.hits = 0, hits

    def strikes(self):
        self.count += 1
        return self.count in self.hits

"""


def program(rng: random.Random) -> str:
    """Return the source of a program: cells that call those before them; the last one is the network."""
    lines: list[str] = []
    count = rng.randint(2, 5)
    for index in range(count):
        members = [f"self.part{k}" for k in range(rng.randint(1, 2))] if index else []
        lines += [f"class Cell{index}(nn.Cell):", "    def __init__(self):", "        super().__init__()"]
        lines += [f"        {member} = Cell{rng.randrange(index)}()" for member in members]
        lines += ["", "    def construct(self, x):", *_indented(_body(rng, members), 2), "        return x", ""]
    hits = sorted(rng.sample(range(1, 40), rng.randint(2, 12)))
    return "\n".join([*lines, f"clock = Clock({hits})", f"net = Cell{count - 1}()", ""])


def _indented(lines: list[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def _body(rng: random.Random, members: list[str], depth: int = 0) -> list[str]:
    lines: list[str] = []
    for _ in range(rng.randint(1, 2 if depth else 3)):
        called = rng.choice(members) if members else "abs"
        kind = rng.randrange(10 if depth < 2 else 4)
        inner = _indented(_body(rng, members, depth + 1)) if kind > 3 else []
        lines += {
            0: ["x = x * 1.5"],
            1: [f"x = {called}(x)"],
            2: ["if clock.strikes():", f"    raise {rng.choice(('ValueError', 'KeyError'))}(f'at {{clock.count}}')"],
            3: [f"x = sum([{called}(x) for _ in range(2)])"],
            4: ["try:", *inner, "except ValueError:", "    x = x + 1"],
            5: [
                "try:",
                *inner,
                "except (KeyError, ValueError) as error:",
                "    raise RuntimeError('again') from error",
            ],
            6: ["try:", *inner, "finally:", "    x = x + 1"],
            7: ["with suppress(KeyError):", *inner],
            8: ["try:", *inner, "except ValueError:", "    if clock.strikes():", "        raise", "    x = x - 1"],
            9: ["for _ in range(2):", *inner],
        }[kind]
    return lines


def load(source: str, filename: str) -> dict[str, Any]:
    """Run a program's definitions as the user's code in a file; return its names."""
    text = SCOPE + source
    linecache.cache[filename] = len(text), None, text.splitlines(True), filename
    scope: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, filename, "exec"), scope)
    return scope


def outcome(run: Callable[[], Any], filename: str) -> Outcome:
    """Return the bytes of the result, or the exception, its causes and the lines of their tracebacks."""
    try:
        return ("result", run().asnumpy().tobytes())
    except Exception as error:
        parts: list[object] = []
        raised: BaseException | None = error
        while raised is not None:
            lines = [line for frame, line in traceback.walk_tb(raised.__traceback__) if _is_in(frame, filename)]
            parts.append((type(raised), str(raised), tuple(lines)))
            raised = raised.__cause__ or raised.__context__
        return tuple(parts)


def _is_in(frame: FrameType, filename: str) -> bool:
    return frame.f_code.co_filename == filename


def shown_by_the_model(run: Callable[[], Any], filename: str, paths: dict[int, str]) -> tuple[list[Shown], str]:
    """Return what leaves a cell, in order, each exception once; and the first cell left by what ends the run."""
    shown: list[Shown] = []
    leaving: dict[FrameType, tuple[BaseException, Any]] = {}
    seen: list[BaseException] = []  # alive, so that no id comes twice

    def traced(frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            leaving[frame] = argument[1], argument[2]
        elif event == "return" and argument is None and frame.f_code.co_name == "construct":  # a result is no None
            error, trace = leaving.pop(frame)
            if not any(error is other for other in seen):
                seen.append(error)
                *_, (_, line) = [item for item in traceback.walk_tb(trace) if _is_in(item[0], filename)]
                shown.append((paths[id(frame.f_locals["self"])], line, repr(error)))
        return traced

    before = sys.gettrace()
    sys.settrace(lambda frame, event, argument: traced if _is_in(frame, filename) else None)
    ended_by: Exception | None = None
    try:
        run()
    except Exception as error:
        ended_by = error
    finally:
        sys.settrace(before)
    return shown, next((item[0] for item, error in zip(shown, seen, strict=True) if error is ended_by), "")


class Person:
    """A pauser that answers with steps at random, or only goes on, and notes the exceptions that are shown."""

    def __init__(self, rng: random.Random, steps: bool) -> None:
        self.rng = rng
        self.steps = steps
        self.shown: list[Shown] = []
        self.session: DebugSession

    def unavailable(self) -> None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        point = self.session.paused
        assert point is not None
        if point.kind == "exception":
            self.shown.append((point.path, point.line, repr(point.exception)))
            assert point.frames[-1].line == point.line
        self.session.resume(self.rng.choice(STEPS) if self.steps else "continue")


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_what_raises_is_shown_once_and_the_run_is_pythons(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    source, filename, x = program(rng), str(tmp_path / "program.py"), tensor(0.5, -1.0)
    differentiated, steps = rng.random() < 0.5, rng.random() < 0.5

    def run(scope: dict[str, Any]) -> Any:
        return ms.grad(lambda x: scope["net"](x).sum())(x) if differentiated else scope["net"](x)

    alone, traced = load(source, filename), load(source, filename)
    expected = [outcome(lambda: run(alone), filename) for _ in range(RUNS)]
    paths = {id(cell): path for path, cell in traced["net"].cells_and_names()}
    model = [shown_by_the_model(lambda: run(traced), filename, paths) for _ in range(RUNS)]

    watched, person = load(source, filename), Person(rng, steps)
    session = person.session = DebugSession(watched["net"], breaks=["*:exception"], pauser=person)
    for number in range(RUNS):
        person.shown.clear()

        def in_session() -> Any:
            with session:
                return run(watched)

        assert outcome(in_session, filename) == expected[number]
        if not steps:
            assert person.shown == model[number][0]
        assert (session.failure is None) == (expected[number][0] == "result")
        if session.failure is not None:
            assert session.failure.path == model[number][1]
    assert session.faults == ()


def test_the_programs_are_not_trivial() -> None:
    sources = [program(random.Random(seed)) for seed in range(50)]
    assert all(
        any(word in source for source in sources) for word in ("finally", "suppress", "        raise\n", "from error")
    )
