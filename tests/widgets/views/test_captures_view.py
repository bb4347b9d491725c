"""The captures as rows and buffers for the page, and the selected one."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from plain_session import PlainSession

from hookscope.widgets.views.captures import feed as captures_view


def columns(buffer: bytes, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    table = np.frombuffer(buffer, "<f8").reshape(len(names), -1)
    return dict(zip(names, table, strict=True))


def test_captures_come_once_with_their_numbers_as_float64_columns(session: PlainSession) -> None:
    session.capture(hits=["nan"], origin="hook")
    session.capture("", call=3, step=2)
    feed = captures_view.CaptureFeed(session)
    content, buffer = feed.take(float("inf"))
    numbers = columns(buffer, captures_view.CAPTURE_NUMBERS)
    assert (content["reset"], content["count"]) == (True, 2)
    assert content["columns"]["cell"] == ["block", "(root)"]
    assert content["columns"]["hits"] == ["nan", ""]
    assert content["columns"]["origin"] == ["hook", "tap"]
    assert numbers["index"].tolist() == [0, 1]
    assert numbers["call"].tolist() == [0, 3]
    assert numbers["maximum"].tolist() == [5, 5]
    np.testing.assert_allclose(numbers["std"], np.arange(6.0).std())
    assert feed.take(float("inf")) is None
    session.capture()
    content, buffer = feed.take(float("inf"))
    assert content["reset"] is False
    assert columns(buffer, captures_view.CAPTURE_NUMBERS)["index"].tolist() == [2]


def test_without_a_budget_no_statistics_are_computed(session: PlainSession) -> None:
    capture = session.capture()
    _, buffer = captures_view.CaptureFeed(session).take(0.0)
    numbers = columns(buffer, captures_view.CAPTURE_NUMBERS)
    assert capture.computed == 0
    assert numbers["known"].tolist() == [0]
    assert np.isnan(numbers["mean"]).all()


def test_rows_of_evicted_captures_stay_with_their_figures_or_say_that_there_are_none(session: PlainSession) -> None:
    feed = captures_view.CaptureFeed(session)
    for _ in range(4):
        session.capture()
    feed.take(0.0)
    session.captures.give_up(1)
    session.captures.give_up(1, figures=False)
    content, _ = feed.take(0.0)
    assert (content["count"], content["oldest"], content["given_up"]) == (0, 0, 2)
    assert content["notes"] == ["The values of the 2 oldest were given up."]
    assert feed.take(0.0) is None  # the page has them already
    numbers = columns(feed.statistics([0, 1, 2]), captures_view.CAPTURE_NUMBERS)
    assert numbers["known"].tolist() == [1, -1, 1]
    assert numbers["maximum"][0] == 5 and np.isnan(numbers["maximum"][1])
    feed.restart()
    content, buffer = feed.take(0.0)
    assert columns(buffer, captures_view.CAPTURE_NUMBERS)["known"].tolist() == [1, -1, 0, 0]


def test_one_that_was_given_up_is_shown_with_its_figures_and_without_pictures(session: PlainSession) -> None:
    for _ in range(3):
        session.capture()
    session.captures.give_up(1)
    session.captures.give_up(1, figures=False)
    rows = session.captures.rows()
    content, histogram = captures_view.selection_view(rows[0], session.captures)
    assert (content["kept"], content["choices"], content["comparable"]) == (False, [], 0)
    assert content["value"] == "The value was given up to make room for newer ones; its figures stay."
    assert content["figures"]["maximum"] == "5.0" and len(histogram) == 8 * (64 + 65)
    content, histogram = captures_view.selection_view(rows[1], session.captures)
    assert content["figures"] == {} and histogram == b""
    assert content["value"].endswith("before its figures were requested.")
    assert captures_view.selection_view(rows[2], session.captures)[0]["kept"] is True


def test_captures_that_the_ring_dropped_are_skipped_and_told(session: PlainSession) -> None:
    feed = captures_view.CaptureFeed(session)
    for _ in range(5):
        session.capture()
    feed.take(0.0)
    for _ in range(5):
        session.capture()
    del session.captures[:8]
    session.captures.said = ["8 older dropped."]
    content, buffer = feed.take(0.0)
    assert (content["oldest"], content["notes"]) == (8, ["8 older dropped."])
    assert columns(buffer, captures_view.CAPTURE_NUMBERS)["index"].tolist() == [8, 9]
    assert feed.find([3, 9]) == [session.captures[1]]


def test_clearing_the_captures_clears_the_page(session: PlainSession) -> None:
    feed = captures_view.CaptureFeed(session)
    session.capture()
    session.capture()
    feed.take(0.0)
    session.captures.clear()
    content, _ = feed.take(0.0)
    assert (content["count"], content["oldest"]) == (0, 2)
    assert feed.take(0.0) is None


def test_nan_and_infinity_are_counted_apart(session: PlainSession) -> None:
    capture = session.capture()
    capture.value._array[0] = [np.nan, np.inf, -np.inf]
    row = dict(
        zip(captures_view.CAPTURE_NUMBERS, captures_view.capture_numbers(capture, capture.statistics()), strict=True)
    )
    assert (row["nan"], row["inf"], row["minimum"], row["maximum"]) == (1, 2, 3, 5)


def test_the_selected_capture_brings_its_64_bins_and_65_edges(session: PlainSession) -> None:
    content, buffer = captures_view.selection_view(session.capture(), session.captures)
    numbers = np.frombuffer(buffer, "<f8")
    counts, edges = np.histogram(np.arange(6.0), 64)
    np.testing.assert_array_equal(numbers[:64], counts)
    np.testing.assert_array_equal(numbers[64:], edges)
    assert content["figures"]["maximum"] == "5.0"
    json.dumps(content, allow_nan=False)


def test_figures_that_are_no_numbers_survive_json(session: PlainSession) -> None:
    capture = session.capture()
    figures = replace(capture.statistics(), minimum=float("nan"), norm=float("inf"))
    capture.statistics = lambda: figures
    content, _ = captures_view.selection_view(capture, session.captures)
    assert content["figures"]["minimum"] == "nan"
    assert content["figures"]["norm"] == "inf"
    json.dumps(content, allow_nan=False)


def test_after_an_edit_at_a_pause_the_captures_are_sent_again(session: PlainSession) -> None:
    session.capture()
    feed = captures_view.CaptureFeed(session)
    assert feed.take(0.0) is not None and feed.take(0.0) is None
    session.captures[0].origin = "edit"
    session.captures.replacements += 1
    again = feed.take(0.0)
    assert again is not None and again[0]["reset"] and again[0]["columns"]["origin"] == ["edit"]
    assert feed.take(0.0) is None
