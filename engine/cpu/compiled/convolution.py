"""Convolution over one to three axes: windows are written out as columns, some at a time, for a product of matrices.

Images, windows and ``taps`` are as in ``spans``; ``shape`` goes on with the channels and kernels of a group (10, 11)
and the groups (12). Windows are taken in *blocks*: ``pixels`` of the output one after the other with all samples, or,
where ``pixels`` is 1, ``some`` samples of one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .blas import cached_product
from .loops import f32, floats, given, helper, i64, kernel
from .spans import clear, span

__all__ = ["convolution", "directly", "input_gradient", "weight_gradient"]

_FILL, _PUT, _SUM, _SPREAD, _DOT = range(5)


@helper
def _line(what: int, x: Any, y: Any, factor: Any) -> Any:
    """Between numbers of an image and as many of a line of windows:

    _FILL line = image; _PUT image += line; _SUM line += factor * image; _SPREAD image += factor * line; _DOT their
    product, which is the result.
    """
    total = f32(0)
    if what == _FILL:
        for i in range(y.size):
            y[i] = x[i]
    elif what == _PUT:
        for i in range(y.size):
            x[i] += y[i]
    elif what == _SUM:
        for i in range(y.size):
            y[i] += factor * x[i]
    elif what == _SPREAD:
        for i in range(y.size):
            x[i] += factor * y[i]
    else:
        for i in range(y.size):
            total += x[i] * y[i]
    return total


@helper
def _apart(what: int, x: Any, y: Any, step: int, factor: Any) -> Any:
    """Likewise where the numbers of the image are ``step`` apart."""
    total = f32(0)
    for i in range(y.size):
        place = i * step
        if what == _FILL:
            y[i] = x[place]
        elif what == _PUT:
            x[place] += y[i]
        elif what == _SUM:
            y[i] += factor * x[place]
        elif what == _SPREAD:
            x[place] += factor * y[i]
        else:
            total += x[place] * y[i]
    return total


@helper
def _windows(
    what: int, image: int, line: int, tap: Any, shape: Any, begin: int, end: int, sample: int, some: int, factor: Any
) -> Any:
    """``_line`` of one channel and one tap in windows ``begin`` to ``end``; what lies in the padding is 0."""
    of_width, samples = shape[5], shape[9]
    total, at = f32(0), begin
    while at < end:
        count, start, stop, pixel = span(tap, shape, at, end)
        place, here = image + 4 * (pixel * samples + sample), line + 4 * start * some
        if what == _FILL:
            clear(line, start * some)
            clear(line + 4 * stop * some, (count - stop) * some)
        runs, length = stop - start, some
        if some == samples and of_width == 1:
            runs, length = min(runs, 1), runs * some
        if length == 1 and runs > 1:
            step = of_width * samples
            total += _apart(what, floats(place, (runs - 1) * step + 1), floats(here, runs), step, factor)
            runs = 0
        for _ in range(runs):
            total += _line(what, floats(place, length), floats(here, length), factor)
            place += 4 * of_width * samples
            here += 4 * some
        line += 4 * count * some
        at += count
    return total


@helper
def _forward(
    first: int, stop: int, parts: int, taps: Any, shape: Any, pixels: int, some: int, most: int, flat: bool, x: int,
    weight: int, y: int, buffer: Any,
) -> None:  # fmt: skip
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels, groups = shape[9], shape[10], shape[11], shape[12]
    depth, each, columns = channels * len(taps), max(1, most // len(taps)), buffer.ctypes.data
    down, beside = -(-outputs // pixels), -(-samples // some)
    for part in range(first, stop):
        for block in range(part * down * beside // parts, (part + 1) * down * beside // parts):
            begin, sample = block // beside * pixels, block % beside * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count = (end - begin) * width
            for group in range(groups):
                of_group = x + 4 * group * channels * image * samples
                a = weight + 4 * group * kernels * depth
                c = y + 4 * (group * kernels * outputs * samples + begin * samples + sample)
                if flat:
                    cached_product(False, False, kernels, count, depth, a, depth, of_group + 4 * (begin * samples + sample),
                             image * samples, f32(0), c, outputs * samples)  # fmt: skip
                    continue
                for channel in range(0, channels, each):
                    rows = min(each, channels - channel) * len(taps)
                    for row in range(rows):
                        _windows(
                            _FILL, of_group + 4 * (channel + row // len(taps)) * image * samples,
                            columns + 4 * row * count, taps[row % len(taps)], shape, begin, end, sample, width, f32(0),
                        )  # fmt: skip
                    cached_product(False, False, kernels, count, rows, a + 4 * channel * len(taps), depth, columns, count,
                             f32(0 if channel == 0 else 1), c, outputs * samples)  # fmt: skip


@kernel(i64, given(i64, 2), given(i64), *[i64] * 7)
def convolution(
    first: int, stop: int, parts: int, taps: Any, shape: Any, pixels: int, some: int, most: int, flat: int, x: int,
    weight: int, y: int,
) -> None:  # fmt: skip
    """Blocks of outputs; at most ``most`` rows of columns at a time. ``flat``: x is the matrix of its windows."""
    size = 1 if flat != 0 else max(most, len(taps)) * pixels * some
    _forward(first, stop, parts, taps, shape, pixels, some, most, flat != 0, x, weight, y, np.empty(size, np.float32))


@helper
def _back(
    first: int, stop: int, taps: Any, shape: Any, pixels: int, some: int, each: int, flat: bool, g: int, weight: int,
    x: int, buffer: Any,
) -> None:  # fmt: skip
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth, columns, pieces = channels * len(taps), buffer.ctypes.data, -(-channels // each)
    down, beside = -(-outputs // pixels), -(-samples // some)
    for part in range(first, stop):
        group, channel = part // pieces, part % pieces * each
        rows = min(each, channels - channel) * len(taps)
        target = x + 4 * (group * channels + channel) * image * samples
        a = weight + 4 * (group * kernels * depth + channel * len(taps))
        if not flat:
            clear(target, rows // len(taps) * image * samples)
        for block in range(down * beside):
            begin, sample = block // beside * pixels, block % beside * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count = (end - begin) * width
            b = g + 4 * (group * kernels * outputs * samples + begin * samples + sample)
            if flat:
                cached_product(True, False, rows, count, kernels, a, depth, b, outputs * samples, f32(0),
                         target + 4 * (begin * samples + sample), image * samples)  # fmt: skip
                continue
            cached_product(True, False, rows, count, kernels, a, depth, b, outputs * samples, f32(0), columns, count)
            for row in range(rows):
                _windows(
                    _PUT, target + 4 * (row // len(taps)) * image * samples, columns + 4 * row * count,
                    taps[row % len(taps)], shape, begin, end, sample, width, f32(0),
                )  # fmt: skip


@kernel(given(i64, 2), given(i64), *[i64] * 7)
def input_gradient(
    first: int, stop: int, taps: Any, shape: Any, pixels: int, some: int, each: int, flat: int, g: int, weight: int,
    x: int,
) -> None:  # fmt: skip
    """The gradient by the input, ``each`` channels of a group a part."""
    size = 1 if flat != 0 else each * len(taps) * pixels * some
    _back(first, stop, taps, shape, pixels, some, each, flat != 0, g, weight, x, np.empty(size, np.float32))


@helper
def _weights(
    first: int, stop: int, taps: Any, shape: Any, pixels: int, some: int, each: int, flat: bool, g: int, x: int,
    result: int, buffer: Any,
) -> None:  # fmt: skip
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth, columns = channels * len(taps), buffer.ctypes.data
    pieces, down, beside = -(-depth // each), -(-outputs // pixels), -(-samples // some)
    for part in range(first, stop):
        group, start = part // pieces, part % pieces * each
        rows = min(each, depth - start)
        of_group = x + 4 * group * channels * image * samples
        for block in range(down * beside):
            begin, sample = block // beside * pixels, block % beside * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count = (end - begin) * width
            place, distance = columns, count
            if flat:
                place = of_group + 4 * ((start * image + begin) * samples + sample)
                distance = image * samples
            else:
                for row in range(rows):
                    _windows(
                        _FILL, of_group + 4 * ((start + row) // len(taps)) * image * samples, columns + 4 * row * count,
                        taps[(start + row) % len(taps)], shape, begin, end, sample, width, f32(0),
                    )  # fmt: skip
            cached_product(
                False, True, kernels, rows, count,
                g + 4 * (group * kernels * outputs * samples + begin * samples + sample), outputs * samples, place,
                distance, f32(0 if block == 0 else 1), result + 4 * (group * kernels * depth + start), depth,
            )  # fmt: skip


@kernel(given(i64, 2), given(i64), *[i64] * 7)
def weight_gradient(
    first: int, stop: int, taps: Any, shape: Any, pixels: int, some: int, each: int, flat: int, g: int, x: int,
    result: int,
) -> None:  # fmt: skip
    """The gradient by the weights, ``each`` places of the kernels of a group a part."""
    size = 1 if flat != 0 else each * pixels * some
    _weights(first, stop, taps, shape, pixels, some, each, flat != 0, g, x, result, np.empty(size, np.float32))


@kernel(given(i64, 2), given(i64), *[i64] * 4)
def directly(
    first: int, stop: int, taps: Any, shape: Any, what: int, x: int, weight: int, y: int
) -> None:  # fmt: skip
    """Without columns, for groups of few channels, a group a part: outputs (``what`` 0), the gradient by the input (1)
    or by the weights (2)."""
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    wide, samples, channels, kernels = shape[8], shape[9], shape[10], shape[11]
    of_image, of_outputs = 4 * image * samples, 4 * outputs * samples
    for group in range(first, stop):
        numbers = floats(weight + 4 * group * kernels * channels * len(taps), kernels * channels * len(taps))
        if what == 0:
            clear(y + group * kernels * of_outputs, kernels * outputs * samples)
        elif what == 1:
            clear(x + group * channels * of_image, channels * image * samples)
        else:
            numbers[:] = f32(0)
        mode = _SUM if what == 0 else _SPREAD if what == 1 else _DOT
        for k in range(kernels):
            line = y + (group * kernels + k) * of_outputs
            for begin in range(0, outputs, wide):
                for channel in range(channels):
                    for tap in range(len(taps)):
                        place = (k * channels + channel) * len(taps) + tap
                        found = _windows(
                            mode, x + (group * channels + channel) * of_image, line + 4 * begin * samples, taps[tap],
                            shape, begin, begin + wide, 0, samples, numbers[place],
                        )  # fmt: skip
                        if what == 2:
                            numbers[place] += found
