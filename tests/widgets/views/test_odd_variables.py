"""Variables of classes that raise on any use, or run code: stepped over, shown and recorded without a fault."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hookscope.engine import Tensor, nn
from hookscope.engine.debug import DebugSession
from hookscope.widgets import DebuggerPanel

pytestmark = pytest.mark.usefixtures("sent")


class Settings(dict[str, Any]):
    """A dictionary with attribute access, as in many libraries: a name that it lacks is a KeyError."""

    __getattr__ = dict.__getitem__


class Lazy:
    """A proxy that cannot reach what it stands for."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError("working outside of a context")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("eq")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    __hash__ = object.__hash__


class Net(nn.Cell):
    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.dense = nn.Dense(3, 3)
        self.fails = fails

    def construct(self, x: Any) -> Any:
        settings, lazy, several = Settings(scale=2.0), Lazy(), [Lazy(), x, {"lazy": Lazy()}]
        hidden = self.dense(x) * settings.scale
        several[0] = hidden
        settings["more"] = lazy
        if self.fails:
            hidden = hidden + Tensor(np.ones((2, 5), np.float32))
        return hidden


class Steps:
    """A pauser that looks at the panel at each stop, also back in the past, and steps over."""

    def __init__(self) -> None:
        self.panel: DebuggerPanel
        self.shown: list[str] = []

    def unavailable(self) -> None:
        return None

    def wait(self, until: Callable[[], bool]) -> None:
        panel = self.panel
        if panel.session.paused is not None and panel.session.paused.history:
            for kind in ("step_back", "step_forward"):
                panel._received(panel, {"type": kind}, [])
                assert panel.status["error"] == "", kind
        panel.sync()
        assert panel.status["error"] == ""
        self.shown.append(repr(panel.stop))
        panel._received(panel, {"type": "resume", "command": "over" if self.shown[1:] else "into"}, [])
        assert until()


@pytest.mark.parametrize("fails", [False, True])
def test_odd_variables_are_stepped_over_and_shown(fails: bool) -> None:
    net, person = Net(fails), Steps()
    session = DebugSession(net, pauser=person)
    session.add_breakpoint(".:forward_pre")
    session.add_breakpoint(".:exception")
    person.panel = panel = DebuggerPanel(session)
    try:
        with session:
            net(Tensor(np.ones((2, 3), np.float32)))
    except ValueError:
        assert fails
    assert not session.faults
    assert len(person.shown) >= 6
    assert any("several" in text and "lazy" in text and "settings" in text for text in person.shown)
    assert bool(session.failure) == fails
    panel.sync()
    assert panel.status["error"] == ""
