"""Wire format of messages: a dict as JSON, followed by raw buffers. Nothing is ever unpickled or evaluated."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["MAX_BUFFERS", "MAX_BYTES", "MAX_TEXT", "WireError", "pack", "unpack"]

MAX_TEXT = 16 << 20
"""Limit of the bytes of a message's JSON."""
MAX_BYTES = 256 << 20
"""Limit of the bytes of a frame: ZeroMQ disconnects a peer that sends more."""
MAX_BUFFERS = 1024
"""Limit of the buffers of a message."""

Buffer = bytes | memoryview


class WireError(ValueError):
    """Raised if received frames are not a message."""


def pack(
    message: Mapping[str, Any], buffers: Sequence[Buffer] = (), default: Callable[[Any], Any] | None = None
) -> list[Buffer]:
    """Return the frames of a message.

    Args:
        message: data for JSON, with a ``type`` that is a str.
        buffers: raw bytes that go with it.
        default: converts other objects to data for JSON, as for ``json.dumps``.

    Raises:
        TypeError: an item cannot be represented in JSON.
        ValueError: it exceeds the limits of a message.
    """
    text = json.dumps(message, separators=(",", ":"), default=default).encode()
    if len(text) > MAX_TEXT:
        raise ValueError(f"a message may have {MAX_TEXT} bytes of text, this one has {len(text)}")
    if len(buffers) > MAX_BUFFERS:
        raise ValueError(f"a message may have {MAX_BUFFERS} buffers, this one has {len(buffers)}")
    return [text, *(memoryview(buffer).cast("B") for buffer in buffers)]


def unpack(frames: Sequence[Buffer]) -> tuple[dict[str, Any], list[memoryview]]:
    """Return the message of these frames, and its buffers.

    Raises:
        WireError: they are not a message.
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
