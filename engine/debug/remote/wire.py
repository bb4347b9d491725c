"""What a message is on its way: a dict as JSON, and raw buffers behind it. Nothing is ever unpickled or evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["MAX_BUFFERS", "MAX_BYTES", "MAX_TEXT", "WireError", "pack", "unpack"]

MAX_TEXT = 16 << 20
"""Bytes of a message's JSON at most."""
MAX_BYTES = 256 << 20
"""Bytes of a frame at most: what sends more is cut off by ZeroMQ."""
MAX_BUFFERS = 1024
"""Buffers of a message at most."""

Buffer = bytes | memoryview


class WireError(ValueError):
    """What came is no message."""


def pack(
    message: Mapping[str, Any], buffers: Sequence[Buffer] = (), default: Callable[[Any], Any] | None = None
) -> list[Buffer]:
    """The frames of a message.

    Args:
        message: what JSON can hold, with a ``type`` that is a str.
        buffers: raw bytes that go with it.
        default: turns what JSON has no word for into something that it has, as for ``json.dumps``.

    Raises:
        TypeError: something in it is nothing for JSON.
        ValueError: it is larger than a message may be.
    """
    text = json.dumps(message, separators=(",", ":"), default=default).encode()
    if len(text) > MAX_TEXT:
        raise ValueError(f"a message may have {MAX_TEXT} bytes of text, this one has {len(text)}")
    if len(buffers) > MAX_BUFFERS:
        raise ValueError(f"a message may have {MAX_BUFFERS} buffers, this one has {len(buffers)}")
    return [text, *(memoryview(buffer).cast("B") for buffer in buffers)]


def unpack(frames: Sequence[Buffer]) -> tuple[dict[str, Any], list[memoryview]]:
    """The message that came in these frames, and its buffers.

    Raises:
        WireError: it is none.
    """
    if not frames:
        raise WireError("a message without frames")
    text, *buffers = frames
    if len(text) > MAX_TEXT:
        raise WireError(f"a text of {len(text)} bytes, more than {MAX_TEXT}")
    if len(buffers) > MAX_BUFFERS:
        raise WireError(f"{len(buffers)} buffers, more than {MAX_BUFFERS}")
    try:
        message = json.loads(bytes(text))
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {type(error).__name__}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("no object with a type that is a text")
    return message, [memoryview(buffer) for buffer in buffers]
