"""The pump's inbox: order, runs, and how seldom it wakes the main thread."""

from __future__ import annotations

import threading
from typing import Any

from hookscope.kernel.pauses.inbox import Inbox


def message(number: int) -> list[Any]:
    return [number]


def test_a_run_of_messages_wakes_the_main_thread_once() -> None:
    inbox = Inbox()
    assert [inbox.put(message(number)) for number in range(5000)] == [0] + [None] * 4999


def test_another_request_between_starts_a_new_run_with_its_own_wake_up() -> None:
    inbox = Inbox()
    assert inbox.put(message(1)) == 0
    inbox.end_run()
    assert inbox.put(message(2)) == 1


def test_a_run_is_taken_up_to_its_end_and_in_order() -> None:
    inbox = Inbox()
    for number in range(3):
        inbox.put(message(number))
    inbox.end_run()
    inbox.put(message(3))
    assert [inbox.take(0), inbox.take(0), inbox.take(0), inbox.take(0)] == [[0], [1], [2], None]
    assert inbox.last_run() == 1
    assert inbox.take() == [3], "a pause does not take every run"
    assert inbox.last_run() is None


def test_a_message_that_comes_after_its_runs_wake_up_was_answered_wakes_again() -> None:
    inbox = Inbox()
    inbox.put(message(1))
    inbox.answered(0)
    assert inbox.put(message(2)) == 0


def test_a_late_wake_up_of_an_older_run_is_no_answer_for_the_newer() -> None:
    inbox = Inbox()
    inbox.put(message(1))
    inbox.end_run()
    inbox.put(message(2))
    inbox.answered(0)
    assert inbox.put(message(3)) is None


def test_waiting_ends_when_something_is_put() -> None:
    inbox = Inbox()
    waiting = threading.Thread(target=inbox.wait, args=(60,))
    waiting.start()
    while waiting.is_alive():
        inbox.put(message(1))
        waiting.join(0.01)
    assert inbox.take() == [1]
