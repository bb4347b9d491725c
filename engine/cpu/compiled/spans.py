"""Windows over images: which of them meet an image at one place of theirs, and where; for convolution and pooling.

Images lie in memory as (channels, depth, height, width, samples), what is computed of windows likewise. ``shape`` has
the image's depth, height and width (0 to 2), the distances of windows (3 to 5), how many windows there are along each
axis (6 to 8), and how many samples (9). A *tap* is a place in a window: how far it is from the first one along each
axis, less the padding.
"""

from __future__ import annotations

from typing import Any

from .loops import f32, floats, helper

__all__ = ["clear", "copy", "span"]


@helper
def span(tap: Any, shape: Any, at: int, end: int) -> Any:
    """Windows from ``at`` on, up to ``end`` or to the end of their row.

    Returns:
        How many they are; from which on, and up to which, the tap is inside the image; and which of a channel's pixels
        it is in the first of these.
    """
    wide, of_width, width = shape[8], shape[5], shape[2]
    row, first = at // wide, at % wide
    count = min(wide - first, end - at)
    z, y = row // shape[7] * shape[3] + tap[0], row % shape[7] * shape[4] + tap[1]
    x = first * of_width + tap[2]
    start, stop = count, count
    if 0 <= z < shape[0] and 0 <= y < shape[1] and x < width:
        start = 0 if x >= 0 else min(count, (of_width - 1 - x) // of_width)
        stop = max(start, min(count, (width - 1 - x) // of_width + 1))
    return count, start, stop, (z * shape[1] + y) * width + x + start * of_width


@helper
def copy(target: int, source: int, count: int) -> None:
    """So many numbers from one address to another."""
    to, of = floats(target, count), floats(source, count)
    for i in range(count):
        to[i] = of[i]


@helper
def clear(target: int, count: int) -> None:
    """So many zeros at an address."""
    to = floats(target, count)
    for i in range(count):
        to[i] = f32(0)
