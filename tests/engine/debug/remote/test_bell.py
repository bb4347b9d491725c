"""A bell wakes the thread that polls it, and touches no descriptor once it is closed."""

from __future__ import annotations

import os
import select
import threading

import pytest

from hookscope.engine.debug.remote.bell import Bell


def rung(bell: Bell) -> bool:
    return bool(select.select([bell], [], [], 0)[0])


def test_ringing_is_heard_once_however_often_it_rang() -> None:
    bell = Bell()
    for _ in range(100_000):  # more than a pipe holds
        assert bell.ring()
    assert rung(bell)
    while rung(bell):
        bell.hear()
    bell.hear()
    bell.close()


def test_a_closed_bell_is_silent_though_its_numbers_are_those_of_other_files() -> None:
    bell = Bell()
    bell.close()
    reads, writes = os.pipe()
    try:
        assert not bell.ring()
        bell.close()
        assert not select.select([reads], [], [], 0)[0]
        os.write(writes, b"!")
        assert os.read(reads, 10) == b"!"
    finally:
        os.close(reads)
        os.close(writes)


def test_threads_that_ring_while_it_is_closed_write_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written after a close began: as if the number had been reused at once."""
    closed: set[int] = set()
    late: list[int] = []
    write, close = os.write, os.close

    def watched_write(descriptor: int, data: bytes) -> int:
        if descriptor in closed:
            late.append(descriptor)
        return write(descriptor, data)

    def watched_close(descriptor: int) -> None:
        closed.add(descriptor)
        close(descriptor)

    for _ in range(50):
        bell = Bell()
        closed.clear()
        ringing = threading.Barrier(4)

        def ring(bell: Bell = bell, ringing: threading.Barrier = ringing) -> None:
            ringing.wait()
            while bell.ring():
                pass

        threads = [threading.Thread(target=ring) for _ in range(3)]
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", watched_write)
            patch.setattr(os, "close", watched_close)
            for thread in threads:
                thread.start()
            ringing.wait()
            bell.close()
            for thread in threads:
                thread.join()
    assert not late
