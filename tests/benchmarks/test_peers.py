"""The worker processes of the benchmarks: what they reply, and what they say where something is missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from benchmarks.peers import Peer, PeerError


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    worker = Peer("hookscope", sys.executable, 1, 60.0, {"HOOKSCOPE_NUMBA": "0"})
    yield worker
    worker.close()


def test_a_row_is_prepared_timed_and_its_memory_told(peer: Peer) -> None:
    losses = peer.prepare("lenet")
    assert len(losses) == 2
    assert losses[1] < losses[0]
    assert 0 < peer.run("lenet", 1) < 60
    shares = peer.time_by_file("lenet")
    assert sum(shares.values()) == pytest.approx(1)
    assert "cpu/neural/windows.py" in shares
    # Of the first ReLU alone, whose result the gradient needs: 64 x 6 x 28 x 28 numbers.
    assert (peer.peak("lenet") or 0) > 4 * 64 * 6 * 28 * 28
    assert peer.growth() is None or (peer.growth() or 0) > 0


def test_a_row_that_a_library_lacks_is_told(peer: Peer) -> None:
    with pytest.raises(PeerError, match="no such row"):
        peer.prepare("nothing of ours")


def test_the_machine_says_how_much_a_run_does() -> None:
    machine = Peer("machine", sys.executable, 1, 60.0)
    try:
        assert machine.prepare("sgemm") == [2.0 * 2048**3] * 2
        assert machine.run("sgemm", 1) > 0
    finally:
        machine.close()


def test_a_library_that_is_not_there_is_told() -> None:
    if find_spec("jax"):
        pytest.skip("JAX is installed here")
    with pytest.raises(PeerError, match="not installed: No module named 'jax'"):
        Peer("jax", sys.executable, 1, 60.0)


def test_rows_without_a_loss_have_none_to_compare(peer: Peer) -> None:
    assert peer.prepare("dense") == []
    assert len(peer.prepare("small_operators")) == 2
