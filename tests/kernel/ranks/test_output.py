"""Lines of ranks on a screen, without processes: the content of the screen's file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookscope.kernel.ranks.output import Screen, Stream, last_state


@pytest.fixture
def screen_file(tmp_path: Path) -> Path:
    return tmp_path / "shown"


def streams(file: Path, live: bool = False) -> tuple[int, Stream, Stream]:
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY)
    screen = Screen(lambda _: True)
    return (descriptor, Stream(screen, descriptor, b"[0] ", live=live), Stream(screen, descriptor, b"[1] "))


def test_a_line_is_shown_when_it_is_whole(screen_file: Path) -> None:
    descriptor, first, second = streams(screen_file)
    first.feed(b"one ")
    second.feed(b"two\nthree")
    assert screen_file.read_bytes() == b"[1] two\n"
    first.feed(b"line\n")
    second.close()
    second.close()
    first.close()
    assert screen_file.read_bytes() == b"[1] two\n[0] one line\n[1] three\n"
    os.close(descriptor)


@pytest.mark.parametrize(
    ("line", "state"),
    [
        (b"plain", b"plain"),
        (b"dos\r", b"dos"),
        (b"\r10%\r20%\r30%", b"30%"),
        (b"30%\r      \r", b"30%"),
        (b"\r\r", b""),
        (b"\xff", "\ufffd".encode()),
        ("ö".encode(), "ö".encode()),
    ],
)
def test_of_a_line_that_was_written_over_the_last_state_is_shown(line: bytes, state: bytes) -> None:
    assert last_state(line) == state


def test_text_whose_bytes_come_apart_is_whole(screen_file: Path) -> None:
    descriptor, first, _ = streams(screen_file)
    for byte in "größe\n".encode():
        first.feed(bytes([byte]))
    assert screen_file.read_text("utf-8") == "[0] größe\n"
    os.close(descriptor)


def test_a_line_without_end_is_cut_and_not_kept(screen_file: Path) -> None:
    descriptor, first, _ = streams(screen_file)
    for _ in range(17):
        first.feed(b"x" * (1 << 20))
    assert screen_file.stat().st_size > 16 << 20
    os.close(descriptor)


def test_on_a_terminal_an_incomplete_line_goes_on_where_it_was_and_no_other_follows_it(screen_file: Path) -> None:
    descriptor, first, second = streams(screen_file, live=True)
    first.feed(b"name? ")
    assert first.look(100.0) is None
    assert screen_file.read_bytes() == b"[0] name? "
    first.feed(b"yes")
    assert first.look(100.01) == pytest.approx(0.09)  # not with every byte
    first.feed(b"\n")
    assert screen_file.read_bytes() == b"[0] name? yes\n"
    first.feed(b"10%")
    first.look(101.0)
    second.feed(b"mine\n")
    first.feed(b"\r20%")
    first.look(102.0)
    first.feed(b"\r30%")
    first.look(103.0)
    first.feed(b"\n")
    assert screen_file.read_bytes().removeprefix(b"[0] name? yes\n") == (b"[0] 10%\n[1] mine\n[0] 20%\r\x1b[K[0] 30%\n")
    os.close(descriptor)


def test_without_a_reader_nothing_more_is_written() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    screen = Screen(lambda _: True)
    Stream(screen, theirs, b"").feed(b"text\n")
    assert screen.broken == {theirs}
    os.close(theirs)


def test_a_screen_that_was_closed_before_the_start_is_no_reason_to_end() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    os.close(theirs)
    screen = Screen(lambda _: True)
    Stream(screen, theirs, b"").feed(b"text\n")
    assert screen.broken == set()
