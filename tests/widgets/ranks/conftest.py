"""Ranks without processes, and a panel that shows them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_fleet import FakeFleet

from hookscope.widgets.ranks import RanksPanel

Ask = Callable[..., None]


@pytest.fixture
def fleet() -> FakeFleet:
    return FakeFleet(3)


@pytest.fixture
def panel(fleet: FakeFleet, sent: list[Any]) -> Iterator[RanksPanel]:
    panel = RanksPanel(fleet, "net")
    yield panel
    panel.close()
    panel._thread.join()


@pytest.fixture
def ask(panel: RanksPanel) -> Ask:
    """Send a message as a page does."""

    def send(kind: str, **fields: Any) -> None:
        panel._received(panel, {"type": kind, **fields}, [])

    send("hello")
    return send
