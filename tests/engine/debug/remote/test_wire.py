"""Messages: JSON and buffers, and nothing else."""

from __future__ import annotations

import pytest

from hookscope.engine.debug.remote.wire import MAX_BUFFERS, WireError, pack, unpack


def test_a_message_comes_out_as_it_went_in() -> None:
    message = {"type": "x", "n": 1.5, "text": "ä", "list": [1, None, True], "nan": "nan"}
    result, buffers = unpack(pack(message, [b"abc", memoryview(b"\0\1")]))
    assert result == message
    assert [bytes(buffer) for buffer in buffers] == [b"abc", b"\0\1"]


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b""],
        [b"{"],
        [b"\xff\xfe"],
        [b"[]"],
        [b"1"],
        [b'"x"'],
        [b"{}"],
        [b'{"type": 1}'],
        [b'{"type": null}'],
        [b"[" * 100_000],
        [b'{"a":' * 50_000],
        [b'{"type":"x"}', *[b""] * (MAX_BUFFERS + 1)],
        [b"\x80\x04\x95\x00"],
        [b"cos\nsystem\n(S'id'\ntR."],
    ],
)
def test_what_is_no_message_is_refused(frames: list[bytes]) -> None:
    with pytest.raises(WireError):
        unpack(frames)


def test_what_json_has_no_word_for_is_an_error_of_who_sends_it() -> None:
    with pytest.raises(TypeError):
        pack({"type": "x", "value": object()})
    with pytest.raises(ValueError, match="1024 buffers, this one has 1025"):
        pack({"type": "x"}, [b""] * (MAX_BUFFERS + 1))
