"""Work is shared out: every part is done once, whatever the number of threads, whoever else computes, after a fork."""

from __future__ import annotations

import multiprocessing
import os
import re
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hookscope.engine.cpu import threads
from hookscope.engine.cpu.compiled.library.loops import f64, i64, kernel, read_array, written_array

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")


@kernel(read_array(f64), written_array(f64), i64)
def _cumulated(first: int, stop: int, x: Any, result: Any, length: int) -> None:
    """Compute each part's own cumulative sums."""
    for part in range(first, stop):
        total = 0.0
        for i in range(part * length, min((part + 1) * length, x.size)):
            total += x[i]
            result[i] += total


X = np.random.default_rng(0).normal(size=10_007)


def cumulated(length: int, x: Any = X) -> Any:
    result = np.zeros_like(x)
    threads.share(_cumulated, -(-x.size // length), x, result, length)
    return result


def reference(length: int) -> Any:
    return np.concatenate([np.cumsum(X[i : i + length]) for i in range(0, X.size, length)])


@pytest.fixture(autouse=True)
def number() -> Iterator[None]:
    yield
    threads.set_number(None)


@pytest.mark.parametrize("length", [1, 100, 5_000, 10_007, 20_000])
@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_each_part_is_done_once(count: int, length: int) -> None:
    threads.set_number(count)
    for _ in range(20):
        np.testing.assert_allclose(cumulated(length), reference(length), rtol=1e-9, atol=1e-9)


def test_many_threads_share_out_work_at_once() -> None:
    threads.set_number(3)
    wrong = []

    def work(length: int) -> None:
        for _ in range(200):
            if not np.allclose(cumulated(length), reference(length)):
                wrong.append(length)

    together = [threading.Thread(target=work, args=(length,)) for length in (7, 50, 333, 4_000)]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    assert not wrong


def test_helpers_that_slept_are_woken() -> None:
    threads.set_number(2)
    expected = cumulated(1000)
    for _ in range(5):
        threading.Event().wait(0.02)
        np.testing.assert_array_equal(cumulated(1000), expected)


def _in_child(expected: Any, queue: Any) -> None:
    queue.put(all(np.array_equal(cumulated(100), expected) for _ in range(20)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_after_a_fork_both_processes_compute() -> None:
    threads.set_number(2)
    expected = cumulated(100)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(expected, queue))
    child.start()
    np.testing.assert_array_equal(cumulated(100), expected)
    assert queue.get(timeout=240)
    child.join()
    assert child.exitcode == 0


def test_dismissed_helpers_end() -> None:
    threads.set_number(4)
    cumulated(100)
    helpers = [thread for thread in threading.enumerate() if re.fullmatch(r"hookscope-\d+", thread.name)]
    assert len(helpers) >= 3
    threads.set_number(1)
    for thread in helpers:
        thread.join(120)
        assert not thread.is_alive()


@pytest.mark.parametrize("whose", ["numpy", "scipy"])
def test_blas_runs_on_one_thread_for_every_thread_that_asks(whose: str) -> None:
    counts = [get_count for get_count, _ in threads._blas_counts(whose)]
    for _, set_count in threads._blas_counts(whose):
        set_count(2)
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    records: list[set[int | None]] = []

    def first() -> None:
        with threads.single_threaded_blas(whose):
            first_is_in.set()
            second_is_in.wait(120)
        first_is_out.set()

    subject = threading.Thread(target=first)
    subject.start()
    first_is_in.wait(120)
    with threads.single_threaded_blas(whose):
        second_is_in.set()
        first_is_out.wait(120)
        records.append({get_count() for get_count in counts})
    subject.join()
    records.append({get_count() for get_count in counts})
    with threads.single_threaded_blas(whose):
        records.append({get_count() for get_count in counts})
    assert records == [{1}, {2}, {1}]
    for _, set_count in threads._blas_counts(whose):
        set_count(1)


@pytest.mark.parametrize("whose", ["numpy", "scipy"])
def test_blas_has_its_threads_back_after_the_block(whose: str) -> None:
    libraries = threads._blas_libraries(whose)
    before = [library.get_num_threads() for library in libraries]
    with threads.single_threaded_blas(whose), threads.single_threaded_blas(whose):
        assert {library.get_num_threads() for library in libraries} <= {1}
    assert [library.get_num_threads() for library in libraries] == before
