"""Convolution over one to three axes: windows are written out as columns, some at a time, for a product of matrices.

Images, windows and ``taps`` are as in ``spans``; ``shape`` goes on with the channels and kernels of a group (10, 11)
and the groups (12). Windows are taken in *blocks*: ``pixels`` of the output one after the other with all samples, or,
where ``pixels`` is 1, ``some`` samples of one.
"""

from __future__ import annotations

from typing import Any

from ..library.blas import NO, YES, cached_product
from ..library.loops import f32, give_back, given, helper, i64, kernel, take
from ..library.spans import FILL, PUT, clear, meet

__all__ = ["convolution", "input_gradient", "weight_gradient"]


@helper
def _forward(
    first: int,
    stop: int,
    parts: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    most: int,
    flat: bool,
    x: int,
    weight: int,
    y: int,
    buffer: int,
) -> None:
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels, groups = shape[9], shape[10], shape[11], shape[12]
    depth, each, columns = channels * len(taps), max(1, most // len(taps)), buffer
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
                    cached_product(
                        NO,
                        NO,
                        kernels,
                        count,
                        depth,
                        a,
                        depth,
                        of_group + 4 * (begin * samples + sample),
                        image * samples,
                        f32(0),
                        c,
                        outputs * samples,
                    )
                    continue
                for channel in range(0, channels, each):
                    rows = min(each, channels - channel) * len(taps)
                    for row in range(rows):
                        meet(
                            FILL,
                            of_group + 4 * (channel + row // len(taps)) * image * samples,
                            columns + 4 * row * count,
                            taps[row % len(taps)],
                            shape,
                            begin,
                            end,
                            sample,
                            width,
                            f32(0),
                        )
                    cached_product(
                        NO,
                        NO,
                        kernels,
                        count,
                        rows,
                        a + 4 * channel * len(taps),
                        depth,
                        columns,
                        count,
                        f32(0 if channel == 0 else 1),
                        c,
                        outputs * samples,
                    )


@kernel(i64, given(i64, 2), given(i64), *[i64] * 7)
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
    """Blocks of outputs; at most ``most`` rows of columns at a time. ``flat``: x is the matrix of its windows."""
    size = 1 if flat != 0 else max(most, len(taps)) * pixels * some
    memory = take(4 * size)
    _forward(first, stop, parts, taps, shape, pixels, some, most, flat != 0, x, weight, y, memory)
    give_back(memory)


@helper
def _back(
    first: int,
    stop: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    each: int,
    flat: bool,
    g: int,
    weight: int,
    x: int,
    buffer: int,
) -> None:
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth, columns, pieces = channels * len(taps), buffer, -(-channels // each)
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
                cached_product(
                    YES,
                    NO,
                    rows,
                    count,
                    kernels,
                    a,
                    depth,
                    b,
                    outputs * samples,
                    f32(0),
                    target + 4 * (begin * samples + sample),
                    image * samples,
                )
                continue
            cached_product(YES, NO, rows, count, kernels, a, depth, b, outputs * samples, f32(0), columns, count)
            for row in range(rows):
                meet(
                    PUT,
                    target + 4 * (row // len(taps)) * image * samples,
                    columns + 4 * row * count,
                    taps[row % len(taps)],
                    shape,
                    begin,
                    end,
                    sample,
                    width,
                    f32(0),
                )


@kernel(given(i64, 2), given(i64), *[i64] * 7)
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
    """The gradient by the input, ``each`` channels of a group a part."""
    size = 1 if flat != 0 else each * len(taps) * pixels * some
    memory = take(4 * size)
    _back(first, stop, taps, shape, pixels, some, each, flat != 0, g, weight, x, memory)
    give_back(memory)


@helper
def _weights(
    first: int,
    stop: int,
    taps: Any,
    shape: Any,
    pixels: int,
    some: int,
    each: int,
    flat: bool,
    g: int,
    x: int,
    result: int,
    buffer: int,
) -> None:
    image, outputs = shape[0] * shape[1] * shape[2], shape[6] * shape[7] * shape[8]
    samples, channels, kernels = shape[9], shape[10], shape[11]
    depth, columns = channels * len(taps), buffer
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
                    meet(
                        FILL,
                        of_group + 4 * ((start + row) // len(taps)) * image * samples,
                        columns + 4 * row * count,
                        taps[(start + row) % len(taps)],
                        shape,
                        begin,
                        end,
                        sample,
                        width,
                        f32(0),
                    )
            cached_product(
                NO,
                YES,
                kernels,
                rows,
                count,
                g + 4 * (group * kernels * outputs * samples + begin * samples + sample),
                outputs * samples,
                place,
                distance,
                f32(0 if block == 0 else 1),
                result + 4 * (group * kernels * depth + start),
                depth,
            )


@kernel(given(i64, 2), given(i64), *[i64] * 7)
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
    """The gradient by the weights, ``each`` places of the kernels of a group a part."""
    size = 1 if flat != 0 else each * pixels * some
    memory = take(4 * size)
    _weights(first, stop, taps, shape, pixels, some, each, flat != 0, g, x, result, memory)
    give_back(memory)
