"""Convolution with 3 x 3 kernels by Winograd's minimal filtering; called, and explained, by ``cpu.neural.winograd``.

Images lie in memory as (channels, height, width, samples). A *block* is a rectangle of tiles of some samples, a line of
``blocks``: first row and row behind, first column and column behind, first sample and sample behind. Transformed, it is
a matrix (channels, tiles) for each of the places of a tile, *planes*; ``most`` is the most tiles that a block has.

The transformations are sums of whole lines with constant factors. A row of pixels is cut into as many lines as a tile
is long, one for each place in a tile: so the neighbors of a tile's pixel lie in the same place of other lines, and all
lines are runs of memory, whether there is one sample or a hundred.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from ..library.blas import NO, YES, cached_product
from ..library.loops import f32, floats, give_back, helper, i64, kernel, read_array, take, written_array
from ..library.spans import clear, copy

__all__ = ["by_kernels", "by_tiles", "inputs", "kernels", "weight_gradient"]

_KERNEL = 3
_LANES = 16
_SIDE = 64
"""Kernels whose products are made at once."""


def matrices(points: tuple[float, ...]) -> tuple[Any, Any, Any]:
    """Return G, B' and A' for interpolation at some points and infinity."""
    size, count = len(points) + 1, len(points)
    out = size - _KERNEL + 1
    a, g, b = np.zeros((size, out)), np.zeros((size, _KERNEL)), np.zeros((size, size))
    for i, point in enumerate(points):
        others = [p for p in points if p != point]
        a[i] = point ** np.arange(out)
        g[i] = point ** np.arange(_KERNEL) / np.prod([point - p for p in others])
        b[i, :count] = np.poly(others)[::-1]
    # The last point is infinity: only the highest powers.
    a[-1, -1] = g[-1, -1] = 1
    b[-1] = np.poly(points)[::-1]
    return g, b, a.T


def _combination(matrix: Any, wrap: int) -> Any:
    """Compile ``target[i] = sum over j of matrix[i, j] * source[j]`` of lines of ``count`` numbers.

    Line j of the source begins ``step`` numbers behind line j - 1, and each ``wrap`` lines ``jump`` behind those before
    them; line i of the target ``apart`` behind line i - 1. A target may begin where its source does not, nowhere else.
    """

    def combine(_typing: Any, source: Any, step: Any, jump: Any, target: Any, apart: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            source, step, jump, target, apart, count = values
            long, number = ir.IntType(64), ir.FloatType()

            def times(value: Any, factor: int) -> Any:
                return builder.mul(value, ir.Constant(long, factor))

            def pointer_to(first: Any, distance: Any, kind: Any) -> Any:
                at = builder.add(first, times(distance, 4))
                return builder.inttoptr(at, kind.as_pointer())

            reads = [builder.add(times(step, j % wrap), times(jump, j // wrap)) for j in range(matrix.shape[1])]
            writes = [times(apart, i) for i in range(matrix.shape[0])]

            vector, mask = ir.VectorType(number, _LANES), ir.VectorType(ir.IntType(1), _LANES)
            pointer = vector.as_pointer()
            aligned = ir.Constant(ir.IntType(32), 4)

            def some(name: str, result: Any, *kinds: Any) -> Any:
                kind = ir.FunctionType(result, kinds)
                return cgutils.get_or_insert_function(builder.module, kind, f"llvm.masked.{name}.v{_LANES}f32.p0")

            def lanes(at: Any, on: Any = None) -> None:
                """Write the combinations of the numbers from ``at`` on: of a whole vector, or those that are ``on``."""

                def constant(value: float) -> Any:
                    return ir.Constant(vector, [value] * _LANES)

                pointers = [pointer_to(source, builder.add(at, read), vector) for read in reads]
                if on is None:
                    lines = [builder.load(here, align=4) for here in pointers]
                else:
                    load = some("load", vector, pointer, ir.IntType(32), mask, vector)
                    lines = [builder.call(load, [here, aligned, on, constant(0.0)]) for here in pointers]
                for row, write in zip(matrix, writes, strict=True):
                    total: Any = None
                    for factor, line in zip(row, lines, strict=True):
                        if factor == 0:
                            continue
                        size = abs(factor)
                        term = line if size == 1 else builder.fmul(constant(size), line, flags=("contract",))
                        if total is None:
                            total = term if factor > 0 else builder.fsub(constant(-0.0), term, flags=("contract",))
                        else:
                            total = (builder.fadd if factor > 0 else builder.fsub)(total, term, flags=("contract",))
                    here = pointer_to(target, builder.add(at, write), vector)
                    if on is None:
                        builder.store(total, here, align=4)
                    else:
                        store = some("store", ir.VoidType(), vector, pointer, ir.IntType(32), mask)
                        builder.call(store, [total, here, aligned, on])

            vectors_end = builder.and_(count, ir.Constant(long, -_LANES))
            zero = ir.Constant(long, 0)
            with cgutils.for_range_slice(builder, zero, vectors_end, ir.Constant(long, _LANES), long) as (at, _):
                lanes(at)
            with builder.if_then(builder.icmp_signed("<", vectors_end, count)):
                small = ir.IntType(32)
                left = builder.trunc(builder.sub(count, vectors_end), small)
                kind = ir.VectorType(small, _LANES)
                first = builder.insert_element(ir.Constant(kind, ir.Undefined), left, ir.Constant(small, 0))
                all_left = builder.shuffle_vector(first, first, ir.Constant(kind, [0] * _LANES))
                lanes(vectors_end, builder.icmp_signed("<", ir.Constant(kind, list(range(_LANES))), all_left))
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), generate

    inside = intrinsic(combine)

    @helper(once=True)
    def combined(source: int, step: int, jump: int, target: int, apart: int, count: int) -> None:
        inside(source, step, jump, target, apart, count)

    return combined


def _by_tile(four: Any, two: Any) -> Any:
    """Return the one of two combinations that a tile's size requires."""

    @helper
    def combined(tile: int, source: int, step: int, jump: int, target: int, apart: int, count: int) -> None:
        if tile == 4:
            four(source, step, jump, target, apart, count)
        else:
            two(source, step, jump, target, apart, count)

    return combined


_G4, _B4, _A4 = matrices((0.0, 1.0, -1.0, 0.5, -2.0))
_G2, _B2, _A2 = matrices((0.0, 1.0, -1.0))
_of_kernel = _by_tile(_combination(_G4, 3), _combination(_G2, 3))
_of_input = _by_tile(_combination(_B4, 4), _combination(_B2, 2))
_to_output = _by_tile(_combination(_A4, 6), _combination(_A2, 4))
_of_output = _by_tile(_combination(_A4.T, 4), _combination(_A2.T, 2))
_to_kernel = _by_tile(_combination(_G4.T, 6), _combination(_G2.T, 4))


@helper
def _squares(source: int, count: int) -> Any:
    x, total = floats(source, count), f32(0)
    for i in range(count):
        total += x[i] * x[i]
    return total


@helper
def _read(x: int, image: Any, y: int, left: int, first: int, count: int, tile: int, length: int, target: int) -> None:
    """Read a row of pixels from column ``left`` on as ``tile`` lines of ``length``; 0 where the image has none."""
    height, width, samples = image
    if y < 0 or y >= height:
        clear(target, tile * length * count)
        return
    row = x + 4 * (y * width * samples + first)
    for position in range(tile):
        for i in range(length):
            column = left + i * tile + position
            if 0 <= column < width:
                copy(target, row + 4 * column * samples, count)
            else:
                clear(target, count)
            target += 4 * count


@helper
def _input_tiles(
    x: int, image: Any, top: int, left: int, tile: int, block: Any, target: int, plane: int, rows: int, lines: int
) -> None:
    """Transform the tiles of one channel in a block; ``rows`` and ``lines`` hold intermediate results."""
    size, first, count = tile + 2, block[4], block[5] - block[4]
    columns = block[3] - block[2]
    line = (columns + 1) * count
    row = tile * line
    for at in range(block[0], block[1]):
        for i in range(size):
            y, column = at * tile + i - top, block[2] * tile - left
            _read(x, image, y, column, first, count, tile, columns + 1, rows + 4 * i * row)
        _of_input(tile, rows, row, tile * row, lines, row, row)
        for i in range(size):
            to = target + 4 * i * size * plane
            _of_input(tile, lines + 4 * i * row, line, count, to, plane, columns * count)
        target += 4 * columns * count


@helper
def _gradient_tiles(g: int, image: Any, tile: int, block: Any, target: int, plane: int, rows: int, lines: int) -> None:
    """Transform likewise the tiles of one channel of a gradient, each of ``tile`` by ``tile`` numbers."""
    size, first, count = tile + 2, block[4], block[5] - block[4]
    columns = block[3] - block[2]
    line = columns * count
    row = tile * line
    for at in range(block[0], block[1]):
        for i in range(tile):
            _read(g, image, at * tile + i, block[2] * tile, first, count, tile, columns, rows + 4 * i * row)
        _of_output(tile, rows, row, 0, lines, row, row)
        for i in range(size):
            _of_output(tile, lines + 4 * i * row, line, 0, target + 4 * i * size * plane, plane, line)
        target += 4 * line


@helper
def _output_tiles(source: int, plane: int, image: Any, tile: int, block: Any, y: int, rows: int, lines: int) -> Any:
    """Write the outputs of one channel in a block; return the sum of their squares."""
    height, width, samples = image
    size, first, count = tile + 2, block[4], block[5] - block[4]
    columns = block[3] - block[2]
    line = columns * count
    row = tile * line
    total = f32(0)
    for at in range(block[0], block[1]):
        for i in range(size):
            _to_output(tile, source + 4 * i * size * plane, plane, 0, lines + 4 * i * row, line, line)
        _to_output(tile, lines, row, 0, rows, row, row)
        total += _squares(rows, tile * row)
        for i in range(min(tile, height - at * tile)):
            target = y + 4 * ((at * tile + i) * width * samples + first)
            for j in range(tile):
                for column in range(columns):
                    there = (block[2] + column) * tile + j
                    if there < width:
                        copy(target + 4 * there * samples, rows + 4 * (i * row + j * line + column * count), count)
        source += 4 * line
    return total


@helper
def _kernel_tiles(
    weight: int, channels: int, rows: Any, columns: Any, turned: bool, tile: int, target: int, plane: int, buffer: int
) -> None:
    """Transform the kernels in the range ``rows`` over the channels in ``columns`` of weight (K, C, 3, 3) to planes of
    such lines.

    Turned kernels are read from their ends, as the gradient by the input needs them.
    """
    (start, stop), (left, right) = rows, columns
    size, count = tile + 2, right - left
    gathered, between = floats(buffer, 9 * count), buffer + 36 * count
    for k in range(start, stop):
        given_numbers = floats(weight + 36 * (k * channels + left), 9 * count)
        for position in range(9):
            here = 8 - position if turned else position
            for c in range(count):
                gathered[here * count + c] = given_numbers[9 * c + position]
        _of_kernel(tile, buffer, 3 * count, 0, between, 3 * count, 3 * count)
        for i in range(size):
            _of_kernel(tile, between + 12 * i * count, count, 0, target + 4 * i * size * plane, plane, count)
        target += 4 * count


@helper
def _room(tile: int, most: int) -> int:
    """Return the number of elements of a row of tiles in transformation; intermediate results have as many."""
    return (tile + 2) * 2 * tile * most


@helper
def _count(block: Any) -> int:
    return (block[1] - block[0]) * (block[3] - block[2]) * (block[5] - block[4])


@helper
def _outputs(
    u: int,
    of_u: int,
    turned: bool,
    kernels: int,
    channels: int,
    v: int,
    of_v: int,
    block: Any,
    tile: int,
    y: int,
    image: Any,
    buffer: int,
    room: int,
) -> Any:
    """Compute the products of transformed kernels and inputs, and from them the outputs of a block."""
    planes, count, total = (tile + 2) * (tile + 2), _count(block), f32(0)
    plane, lead = min(kernels, _SIDE) * count, kernels if turned else channels
    products = buffer + 8 * room
    for start in range(0, kernels, _SIDE):
        some = min(_SIDE, kernels - start)
        for position in range(planes):
            a = u + 4 * (position * of_u + (start if turned else start * lead))
            b, c = v + 4 * position * of_v, products + 4 * position * plane
            cached_product(turned, NO, some, count, channels, a, lead, b, count, f32(0), c, count)
        for k in range(some):
            channel = y + 4 * (start + k) * image[0] * image[1] * image[2]
            total += _output_tiles(
                products + 4 * k * count, plane, image, tile, block, channel, buffer, buffer + 4 * room
            )
    return total


@kernel(read_array(i64, 2), written_array(f32, 1), *[i64] * 15)
def by_tiles(
    first: int,
    stop: int,
    blocks: Any,
    sums: Any,
    x: int,
    channels: int,
    height: int,
    width: int,
    samples: int,
    top: int,
    left: int,
    u: int,
    turned: int,
    y: int,
    kernels: int,
    high: int,
    wide: int,
    tile: int,
    most: int,
) -> None:
    """Compute outputs (kernels, high, wide, samples) of x, some blocks a part; ``u`` has all kernels transformed.

    ``sums`` gets the sum of the squares of each part.
    """
    planes, room = (tile + 2) * (tile + 2), _room(tile, most)
    rows = take(4 * (planes * (channels + min(kernels, _SIDE)) * most + 2 * room))
    v = rows + 4 * (2 * room + planes * min(kernels, _SIDE) * most)
    for part in range(first, stop):
        total = f32(0)
        for number in range(part * len(blocks) // len(sums), (part + 1) * len(blocks) // len(sums)):
            block = blocks[number]
            count = _count(block)
            for c in range(channels):
                image, target = x + 4 * c * height * width * samples, v + 4 * c * count
                _input_tiles(
                    image,
                    (height, width, samples),
                    top,
                    left,
                    tile,
                    block,
                    target,
                    channels * count,
                    rows,
                    rows + 4 * room,
                )
            total += _outputs(
                u,
                kernels * channels,
                turned != 0,
                kernels,
                channels,
                v,
                channels * count,
                block,
                tile,
                y,
                (high, wide, samples),
                rows,
                room,
            )
        sums[part] = total
    give_back(rows)


@kernel(read_array(i64, 2), written_array(f32, 1), *[i64] * 12)
def by_kernels(
    first: int,
    stop: int,
    blocks: Any,
    sums: Any,
    side: int,
    weight: int,
    turned: int,
    v: int,
    channels: int,
    kernels: int,
    y: int,
    high: int,
    wide: int,
    samples: int,
    tile: int,
    most: int,
) -> None:
    """Compute outputs of transformed inputs ``v``, one block behind the other, for ``side`` kernels a part."""
    planes, room = (tile + 2) * (tile + 2), _room(tile, most)
    size = planes * (side * channels + min(side, _SIDE) * most) + 2 * room + (9 + 3 * (tile + 2)) * max(channels, side)
    rows = take(4 * size)
    u = rows + 4 * (2 * room + planes * min(side, _SIDE) * most)
    buffer = u + 4 * planes * side * channels
    for part in range(first, stop):
        start = part * side
        count, total = min(side, kernels - start), f32(0)
        some, every = (start, start + count), (0, channels)
        if turned != 0:
            _kernel_tiles(weight, kernels, every, some, True, tile, u, count * channels, buffer)
        else:
            _kernel_tiles(weight, channels, some, every, False, tile, u, count * channels, buffer)
        at, target = v, y + 4 * start * high * wide * samples
        for number in range(len(blocks)):
            block = blocks[number]
            of_v = channels * _count(block)
            total += _outputs(
                u,
                count * channels,
                turned != 0,
                count,
                channels,
                at,
                of_v,
                block,
                tile,
                target,
                (high, wide, samples),
                rows,
                room,
            )
            at += 4 * planes * of_v
        sums[part] = total
    give_back(rows)


@kernel(read_array(i64, 2), *[i64] * 11)
def inputs(
    first: int,
    stop: int,
    blocks: Any,
    each: int,
    x: int,
    channels: int,
    height: int,
    width: int,
    samples: int,
    top: int,
    left: int,
    v: int,
    tile: int,
    most: int,
) -> None:
    """Transform the blocks of x, one behind the other in ``v``, ``each`` channels a part."""
    room = _room(tile, most)
    rows = take(8 * room)
    for part in range(first, stop):
        at = v
        for number in range(len(blocks)):
            block = blocks[number]
            count = _count(block)
            for c in range(part * each, min(channels, (part + 1) * each)):
                image, target = x + 4 * c * height * width * samples, at + 4 * c * count
                _input_tiles(
                    image,
                    (height, width, samples),
                    top,
                    left,
                    tile,
                    block,
                    target,
                    channels * count,
                    rows,
                    rows + 4 * room,
                )
            at += 4 * (tile + 2) * (tile + 2) * channels * count
    give_back(rows)


@kernel(*[i64] * 7)
def kernels(
    first: int, stop: int, each: int, weight: int, kernels: int, channels: int, turned: int, u: int, tile: int
) -> None:
    """Transform weight (kernels, channels, 3, 3) to planes (kernels, channels), ``each`` kernels a part."""
    memory = take(4 * (9 + 3 * (tile + 2)) * channels)
    for part in range(first, stop):
        start, target = part * each, u + 4 * part * each * channels
        some = start, min(kernels, start + each)
        _kernel_tiles(weight, channels, some, (0, channels), turned != 0, tile, target, kernels * channels, memory)
    give_back(memory)


@kernel(read_array(i64, 2), *[i64] * 12)
def weight_gradient(
    first: int,
    stop: int,
    blocks: Any,
    side: int,
    g: int,
    v: int,
    channels: int,
    kernels: int,
    height: int,
    width: int,
    samples: int,
    result: int,
    more: int,
    tile: int,
    most: int,
) -> None:
    """Compute the gradient by the weights from g (kernels, height, width, samples) and transformed inputs ``v``.

    ``side`` kernels a part; added to ``result`` if ``more``.
    """
    size, room = tile + 2, _room(tile, most)
    planes = size * size
    rows = take(4 * (2 * room + planes * side * (most + channels) + (3 * size + 9) * channels))
    gradients = rows + 8 * room
    sums = gradients + 4 * planes * side * most
    between = sums + 4 * planes * side * channels
    made_lines = between + 12 * size * channels
    for part in range(first, stop):
        start = part * side
        some = min(side, kernels - start)
        at = v
        for number in range(len(blocks)):
            block = blocks[number]
            count = _count(block)
            for k in range(some):
                g_k, target = g + 4 * (start + k) * height * width * samples, gradients + 4 * k * count
                _gradient_tiles(g_k, (height, width, samples), tile, block, target, some * count, rows, rows + 4 * room)
            for position in range(planes):
                a, b = gradients + 4 * position * some * count, at + 4 * position * channels * count
                beta, c = f32(0 if number == 0 else 1), sums + 4 * position * some * channels
                cached_product(NO, YES, some, channels, count, a, count, b, count, beta, c, channels)
            at += 4 * planes * channels * count
        plane = some * channels
        for k in range(some):
            for i in range(size):
                of = sums + 4 * (i * size * plane + k * channels)
                _to_kernel(tile, of, plane, 0, between + 12 * i * channels, channels, channels)
            _to_kernel(tile, between, 3 * channels, 0, made_lines, 3 * channels, 3 * channels)
            lines = floats(made_lines, 9 * channels)
            target_k = floats(result + 36 * (start + k) * channels, 9 * channels)
            for c in range(channels):
                for position in range(9):
                    value = lines[position * channels + c]
                    target_k[9 * c + position] = target_k[9 * c + position] + value if more != 0 else value
    give_back(rows)
