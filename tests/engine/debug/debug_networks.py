"""Small networks and scripted answers, shared by the tests of the debugger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession, PausePoint


def tensor(*values: float) -> Tensor:
    return Tensor(np.array(values, np.float32))


class Square(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * x


class Twice(nn.Cell):
    """A network that calls one cell twice."""

    def __init__(self, inner: nn.Cell) -> None:
        super().__init__()
        self.inner = inner

    def construct(self, x: Any) -> Any:
        return self.inner(self.inner(x))


def helper(gradient: Any) -> Any:
    doubled = gradient * 2.0
    return doubled


class Scale(nn.Cell):
    """x * 3, whose bprop calls a helper to step into; its gradient is deliberately 6."""

    def construct(self, x: Any) -> Any:
        return x * 3.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        gradient = dout * 3.0
        scaled = helper(gradient)
        return (scaled,)


class SquareThenScale(nn.Cell):
    def __init__(self, scale: nn.Cell | None = None) -> None:
        super().__init__()
        self.square = Square()
        self.scale = scale or Scale()

    def construct(self, x: Any) -> Any:
        return self.scale(self.square(x))


class Script:
    """A pauser that answers from a list of commands, then "continue"; it notes each stop outside the test itself."""

    def __init__(self, commands: Iterable[str] = (), look: Callable[[DebugSession], None] | None = None) -> None:
        self.points: list[PausePoint] = []
        self._commands = iter(commands)
        self._look = look
        self.session: DebugSession | None = None

    def unavailable(self) -> str | None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        assert self.session is not None and self.session.paused is not None
        point = self.session.paused
        if point.kind == "line" and point.function.startswith("test_"):  # where a step leaves what is tested
            self.session.resume("continue")
            return
        self.points.append(point)
        if self._look is not None:
            self._look(self.session)
        if not until():
            self.session.resume(next(self._commands, "continue"))
        assert until()

    @property
    def positions(self) -> list[str]:
        """Return function and line of each stop, counted from the def line."""
        return [f"{point.function}+{point.line - point.first_line}" for point in self.points]


def scripted(
    net: nn.Cell | None,
    commands: Iterable[str] = (),
    look: Callable[[DebugSession], None] | None = None,
    **options: Any,
) -> tuple[DebugSession, Script]:
    script = Script(commands, look)
    session = DebugSession(net, pauser=script, **options)
    script.session = session
    return session, script
