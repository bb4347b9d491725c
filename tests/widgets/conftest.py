"""A comm that remembers what it was sent, a session of plain data, and a clock that stands still."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

sys.path.insert(0, str(Path(__file__).parent))

from plain_session import FakeClock, PlainSession


class RecordingComm(BaseComm):
    """Keeps every message instead of publishing it."""

    log: list[tuple[str, dict[str, Any], list[Any]]]

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        self.log.append((msg_type, data or {}, list(buffers or [])))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any], list[Any]]]:
    """The messages that went to the page, in order."""
    log: list[tuple[str, dict[str, Any], list[Any]]] = []

    def create(*args: Any, **keys: Any) -> RecordingComm:
        RecordingComm.log = log
        return RecordingComm(*args, **keys)

    monkeypatch.setattr(comm, "create_comm", create)
    return log


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def session() -> PlainSession:
    return PlainSession()
