"""A thread that waits for a wake-up with a timeout always returns, unlike ``SimpleQueue.get`` before Python 3.13."""

from __future__ import annotations

import re
import threading
from pathlib import Path

from hookscope.engine.base.wake_up import WakeUp

TINY = 1e-6  # s: over before the wait begins


def test_a_wait_behind_one_that_was_not_needed_returns_in_time() -> None:
    def waits() -> None:
        for _ in range(500):
            wake_up = WakeUp()
            wake_up.set()
            wake_up.set()
            results.append((wake_up.wait(TINY), wake_up.wait(TINY), wake_up.wait(0.0)))

    results: list[tuple[bool, bool, bool]] = []
    thread = threading.Thread(target=waits, daemon=True)
    thread.start()
    thread.join(60)
    assert results == [(True, False, False)] * 500


def test_setting_it_wakes_a_thread_that_waits_without_limit() -> None:
    wake_up, woken = WakeUp(), threading.Event()
    thread = threading.Thread(target=lambda: woken.set() if wake_up.wait() else None, daemon=True)
    thread.start()
    wake_up.set()
    assert woken.wait(60)


def test_nothing_waits_for_a_queue_with_a_timeout(repository: Path) -> None:
    for package in ("engine", "kernel", "widgets", "triton_kernels"):
        for path in (repository / package).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert "SimpleQueue" not in text or not re.search(r"\.get\([^)]*timeout", text.partition('"""\n')[2]), path
