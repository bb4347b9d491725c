"""Windows over images, for convolution and pooling: those whose tap is inside the image, and computation with them.

Images lie in memory as (channels, depth, height, width, samples), and so do results for windows. ``shape`` has
the image's depth, height and width (0 to 2), the distances of windows (3 to 5), how many windows there are along each
axis (6 to 8), and how many samples (9). A *tap* is a place in a window: how far it is from the first one along each
axis, less the padding.
"""

from __future__ import annotations

from typing import Any

from .loops import f32, floats, helper

__all__ = ["DOT", "FILL", "PUT", "SPREAD", "SUM", "clear", "copy", "meet", "span"]

FILL, PUT, SUM, SPREAD, DOT = range(5)


@helper
def span(tap: Any, shape: Any, at: int, end: int) -> Any:
    """Return the windows from ``at`` on, up to ``end`` or to the end of their row.

    Returns:
        Their number; the first and the end of those whose tap is inside the image; and which of a channel's pixels
        the tap is in the first of these.
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
    """Copy ``count`` numbers from one address to another."""
    to, of = floats(target, count), floats(source, count)
    for i in range(count):
        to[i] = of[i]


@helper
def clear(target: int, count: int) -> None:
    """Write ``count`` zeros at an address."""
    to = floats(target, count)
    for i in range(count):
        to[i] = f32(0)


@helper
def _line(what: int, x: Any, y: Any, factor: Any) -> Any:
    """Do ``meet`` for adjacent numbers of an image, and as many of a line."""
    total = f32(0)
    if what == FILL:
        for i in range(y.size):
            y[i] = x[i]
    elif what == PUT:
        for i in range(y.size):
            x[i] += y[i]
    elif what == SUM:
        for i in range(y.size):
            y[i] += factor * x[i]
    elif what == SPREAD:
        for i in range(y.size):
            x[i] += factor * y[i]
    else:
        for i in range(y.size):
            total += x[i] * y[i]
    return total


@helper
def _distant(what: int, x: Any, y: Any, step: int, factor: Any) -> Any:
    """Do likewise where the numbers of the image are ``step`` apart: a loop of its own, since it has no vectors."""
    total = f32(0)
    for i in range(y.size):
        image_at = i * step
        if what == FILL:
            y[i] = x[image_at]
        elif what == PUT:
            x[image_at] += y[i]
        elif what == SUM:
            y[i] += factor * x[image_at]
        elif what == SPREAD:
            x[image_at] += factor * y[i]
        else:
            total += x[image_at] * y[i]
    return total


@helper
def meet(
    what: int, image: int, line: int, tap: Any, shape: Any, begin: int, end: int, sample: int, some: int, factor: Any
) -> Any:
    """Compute between one channel of an image and a line of windows, from ``begin`` to ``end``, by one tap.

    A line has ``some`` samples of each window, from ``sample`` on. FILL line = image, 0 in the padding; PUT image +=
    line; SUM line += factor * image; SPREAD image += factor * line; DOT their product, which is the result.
    """
    of_width, samples = shape[5], shape[9]
    total, at = f32(0), begin
    while at < end:
        count, start, stop, pixel = span(tap, shape, at, end)
        image_at, line_at = image + 4 * (pixel * samples + sample), line + 4 * start * some
        if what == FILL:
            clear(line, start * some)
            clear(line + 4 * stop * some, (count - stop) * some)
        runs, length = stop - start, some
        if some == samples and of_width == 1:
            runs, length = min(runs, 1), runs * some
        if length == 1 and runs > 1:
            step = of_width * samples
            total += _distant(what, floats(image_at, (runs - 1) * step + 1), floats(line_at, runs), step, factor)
            runs = 0
        for _ in range(runs):
            total += _line(what, floats(image_at, length), floats(line_at, length), factor)
            image_at += 4 * of_width * samples
            line_at += 4 * some
        line += 4 * count * some
        at += count
    return total
