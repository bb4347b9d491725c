"""Live updates: at most 25 a second, and never more than a twentieth of the user's time."""

from __future__ import annotations

from hookscope.widgets.throttle import Throttle


def test_cheap_updates_pass_at_most_25_times_a_second(clock) -> None:
    throttle = Throttle(clock)
    passed = 0
    for tick in range(10_000):
        clock.now = tick / 10_000
        if throttle.due():
            passed += 1
            with throttle.spend():
                pass
    assert passed == 25


def test_costly_updates_take_no_more_than_a_twentieth_of_the_time(clock) -> None:
    throttle = Throttle(clock)
    spent = 0.0
    while clock.now < 100.0:
        if throttle.due():
            with throttle.spend():
                clock.now += 0.5
            spent += 0.5
        clock.now += 0.01
    assert 0.04 < spent / clock.now <= 0.0505


def test_an_update_that_fails_still_counts(clock) -> None:
    throttle = Throttle(clock)
    try:
        with throttle.spend():
            clock.now += 1.0
            raise RuntimeError
    except RuntimeError:
        pass
    assert not throttle.due()


def test_what_is_told_to_wait_waits_and_no_shorter_for_it(clock) -> None:
    throttle = Throttle(clock)
    throttle.wait(1.0)
    throttle.wait(0.5)
    due = []
    for tick in range(15):
        clock.now = tick / 10
        due.append(throttle.due())
    assert due == [False] * 10 + [True] * 5


def test_what_an_update_costs_elsewhere_counts_as_its_cost(clock) -> None:
    throttle = Throttle(clock, share=0.02, page_seconds=0.005)
    passed = 0
    for tick in range(10_000):
        clock.now = tick / 1000
        if throttle.due():
            with throttle.spend():
                passed += 1
    assert 0.019 < (passed - 1) * 0.005 / clock.now <= 0.0205  # the first costs before the time begins
