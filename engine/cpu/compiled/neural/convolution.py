"""Convolution over one to three axes: windows are written out as columns, some at a time, for a product of matrices.

Images, windows and ``taps`` are as in ``spans``; ``shape`` goes on with the channels and kernels of a group (10, 11)
and the groups (12). Windows are taken in *blocks*: ``pixels`` of the output one after the other with all samples, or,
where ``pixels`` is 1, ``some`` samples of one.
"""

from __future__ import annotations

from typing import Any

from ..library.blas import NO, YES, cached_product
from ..library.loops import f32, give_back, i64, kernel, read_array, take
from ..library.spans import FILL, PUT, clear, meet

__all__ = ["convolution", "input_gradient", "weight_gradient"]


@kernel(i64, read_array(i64, 2), read_array(i64), *[i64] * 7)
def convolution(
    first: int,
    stop: int,
    parts: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    most: int,
    flat: int,
    x: int,
    weight: int,
    y: int,
) -> None:
    """Compute blocks of outputs, at most ``most`` rows of columns at a time.

    ``flat``: x is the matrix of its windows.
    """
    columns = take(4 * (1 if flat != 0 else max(most, len(taps)) * pixels * some))
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels, groups = shape[9], shape[10], shape[11], shape[12]
    depth, each = channels * len(taps), max(1, most // len(taps))
    down, across = -(-outputs // pixels), -(-samples // some)
    lead_x, lead_y = image * samples, outputs * samples
    for part in range(first, stop):
        for block in range(part * down * across // parts, (part + 1) * down * across // parts):
            begin, sample = block // across * pixels, block % across * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count, at = (end - begin) * width, begin * samples + sample
            for group in range(groups):
                of_group, a = x + 4 * group * channels * lead_x, weight + 4 * group * kernels * depth
                c = y + 4 * (group * kernels * lead_y + at)
                if flat != 0:
                    b = of_group + 4 * at
                    cached_product(NO, NO, kernels, count, depth, a, depth, b, lead_x, f32(0), c, lead_y)
                    continue
                for channel in range(0, channels, each):
                    rows = min(each, channels - channel) * len(taps)
                    for row in range(rows):
                        plane, line = of_group + 4 * (channel + row // len(taps)) * lead_x, columns + 4 * row * count
                        meet(FILL, plane, line, taps[row % len(taps)], shape, begin, end, sample, width, f32(0))
                    of_rows, beta = a + 4 * channel * len(taps), f32(0 if channel == 0 else 1)
                    cached_product(NO, NO, kernels, count, rows, of_rows, depth, columns, count, beta, c, lead_y)
    give_back(columns)


@kernel(read_array(i64, 2), read_array(i64), *[i64] * 7)
def input_gradient(
    first: int,
    stop: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    each: int,
    flat: int,
    g: int,
    weight: int,
    x: int,
) -> None:
    """Compute the gradient by the input, ``each`` channels of a group a part."""
    columns = take(4 * (1 if flat != 0 else each * len(taps) * pixels * some))
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth, pieces = channels * len(taps), -(-channels // each)
    down, across = -(-outputs // pixels), -(-samples // some)
    lead_x, lead_y = image * samples, outputs * samples
    for part in range(first, stop):
        group, channel = part // pieces, part % pieces * each
        rows = min(each, channels - channel) * len(taps)
        target = x + 4 * (group * channels + channel) * lead_x
        a = weight + 4 * (group * kernels * depth + channel * len(taps))
        if flat == 0:
            clear(target, rows // len(taps) * lead_x)
        for block in range(down * across):
            begin, sample = block // across * pixels, block % across * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count, at = (end - begin) * width, begin * samples + sample
            b = g + 4 * (group * kernels * lead_y + at)
            if flat != 0:
                c = target + 4 * at
                cached_product(YES, NO, rows, count, kernels, a, depth, b, lead_y, f32(0), c, lead_x)
                continue
            cached_product(YES, NO, rows, count, kernels, a, depth, b, lead_y, f32(0), columns, count)
            for row in range(rows):
                plane, line = target + 4 * (row // len(taps)) * lead_x, columns + 4 * row * count
                meet(PUT, plane, line, taps[row % len(taps)], shape, begin, end, sample, width, f32(0))
    give_back(columns)


@kernel(read_array(i64, 2), read_array(i64), *[i64] * 7)
def weight_gradient(
    first: int,
    stop: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    each: int,
    flat: int,
    g: int,
    x: int,
    result: int,
) -> None:
    """Compute the gradient by the weights, ``each`` places of the kernels of a group a part."""
    columns = take(4 * (1 if flat != 0 else each * pixels * some))
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth = channels * len(taps)
    pieces, down, across = -(-depth // each), -(-outputs // pixels), -(-samples // some)
    lead_x, lead_y = image * samples, outputs * samples
    for part in range(first, stop):
        group, start = part // pieces, part % pieces * each
        rows = min(each, depth - start)
        of_group = x + 4 * group * channels * lead_x
        for block in range(down * across):
            begin, sample = block // across * pixels, block % across * some
            end, width = min(outputs, begin + pixels), min(some, samples - sample)
            count, at = (end - begin) * width, begin * samples + sample
            b, lead_b = columns, count
            if flat != 0:
                b, lead_b = of_group + 4 * (start * lead_x + at), lead_x
            else:
                for row in range(rows):
                    channel, tap = (start + row) // len(taps), taps[(start + row) % len(taps)]
                    plane, line = of_group + 4 * channel * lead_x, columns + 4 * row * count
                    meet(FILL, plane, line, tap, shape, begin, end, sample, width, f32(0))
            a, c = g + 4 * (group * kernels * lead_y + at), result + 4 * (group * kernels * depth + start)
            beta = f32(0 if block == 0 else 1)
            cached_product(NO, YES, kernels, rows, count, a, lead_y, b, lead_b, beta, c, depth)
    give_back(columns)
