"""A line for the terminal stops nothing: not where its reader is gone, and not where its reader has stopped."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO

import pytest

from hookscope.engine.cpu.notices import tell


class _Fails(io.StringIO):
    def write(self, text: str) -> int:
        raise RuntimeError(text)


def _closed() -> TextIO:
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, _closed(), _Fails()], ids=["none", "closed", "fails"])
def test_a_stream_that_is_gone_is_passed_over(stream: TextIO | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    tell("a line")


def test_nothing_goes_to_the_output_where_there_is_no_stream_for_errors(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    tell("a line")
    assert capsys.readouterr().out == ""


def test_a_pipe_without_a_reader_or_with_one_that_does_not_read_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads, writes = os.pipe()
    with open(writes, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        tell("first")
        assert os.read(reads, 100) == b"first\n"
        for _ in range(3000):  # more than a pipe holds
            tell("x" * 99)
        os.close(reads)
        tell("nobody")
        monkeypatch.undo()
        with pytest.raises(BrokenPipeError):
            stream.flush()
        os.dup2(os.open(os.devnull, os.O_WRONLY), writes)
