"""Matrix product, and the linear layer with a fused bias and activation.

Operands are read by their strides, so transposed ones need no copy. float16 and bfloat16 are multiplied on tensor cores
and accumulated in float32; float32 is split into three TF32 products, whose error is close to that of float32
arithmetic.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import triton
import triton.language as tl

from hookscope.triton_kernels.launch import choice
from hookscope.triton_kernels.launch.launcher import capability, cdiv, interpreting, is_long
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.launch.strides import broadcast_shape, merge_axes
from hookscope.triton_kernels.library import scalar_functions
from hookscope.triton_kernels.library.scalar_functions import ACTIVATIONS

# Rows of tiles that are processed together, so that their common part of `b` stays in the L2 cache.
_GROUP = 8
# Batch axes in the kernel, after merging adjacent axes with compatible strides in both operands.
_MAX_BATCH_AXES = 2


@triton.jit
def matmul_kernel(
    a_ptr,
    b_ptr,
    bias_ptr,
    out_ptr,
    m,
    n,
    k,
    inner_batches,
    a_outer,
    a_inner,
    a_row,
    a_column,
    b_outer,
    b_inner,
    b_row,
    b_column,
    A_ALONG: tl.constexpr,
    A_UNIT: tl.constexpr,
    B_ALONG: tl.constexpr,
    B_UNIT: tl.constexpr,
    M_UNIT: tl.constexpr,
    N_UNIT: tl.constexpr,
    K_UNIT: tl.constexpr,
    EVEN_K: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    ACTIVATION: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
    LONG: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    """Compute one tile of one matrix of the batch; `out` is contiguous.

    Lengths are passed divided by their UNIT and strides by their operand's, so that the compiler knows their divisors;
    an operand that is contiguous along "k" or along its "edge", its rows or columns, has a stride of 1 there.
    """
    m *= M_UNIT
    n *= N_UNIT
    k *= K_UNIT
    a_row = _stride(a_row, A_ALONG == "edge", A_UNIT, LONG)
    a_column = _stride(a_column, A_ALONG == "k", A_UNIT, LONG)
    b_row = _stride(b_row, B_ALONG == "k", B_UNIT, LONG)
    b_column = _stride(b_column, B_ALONG == "edge", B_UNIT, LONG)
    tiles_m = tl.cdiv(m, BLOCK_M)
    tiles_n = tl.cdiv(n, BLOCK_N)
    batch = tl.program_id(0) // (tiles_m * tiles_n)
    tile = tl.program_id(0) % (tiles_m * tiles_n)
    group = tile // (GROUP * tiles_n)
    group_rows = tl.minimum(tiles_m - group * GROUP, GROUP)
    first_row = (group * GROUP + tile % (GROUP * tiles_n) % group_rows) * BLOCK_M
    first_column = (tile % (GROUP * tiles_n) // group_rows) * BLOCK_N
    outer = (batch // inner_batches).to(tl.int64)
    inner = (batch % inner_batches).to(tl.int64)

    # Offsets within the tile take 32 bits if the tile's span does, which halves the registers.
    row, column, depth = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    a_ptr += (outer * a_outer + inner * a_inner) * A_UNIT + first_row.to(tl.int64) * a_row
    b_ptr += (outer * b_outer + inner * b_inner) * B_UNIT + first_column.to(tl.int64) * b_column
    a_at = _inside(row, m - first_row, M_UNIT)[:, None] * a_row + depth[None, :] * a_column
    b_at = _inside(column, n - first_column, N_UNIT)[None, :] * b_column + depth[:, None] * b_row
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, k, BLOCK_K):
        if EVEN_K:
            a = tl.load(a_ptr + a_at)
            b = tl.load(b_ptr + b_at)
        else:
            a = tl.load(a_ptr + a_at, mask=depth[None, :] < k - start, other=0.0)
            b = tl.load(b_ptr + b_at, mask=depth[:, None] < k - start, other=0.0)
        if WIDEN:
            a = a.to(tl.float32)
            b = b.to(tl.float32)
        total = tl.dot(a, b, total, input_precision=PRECISION)
        a_ptr += tl.cast(a_column, tl.int64) * BLOCK_K
        b_ptr += tl.cast(b_row, tl.int64) * BLOCK_K

    if HAS_BIAS:
        bias = tl.load(bias_ptr + first_column + column, mask=column < n - first_column, other=0.0)
        total += bias.to(tl.float32)[None, :]
    total = scalar_functions.activate(total, ACTIVATION)
    out_ptr += (batch.to(tl.int64) * m + first_row) * n + first_column
    out_at = row[:, None] * _stride(n, False, 1, LONG) + column[None, :]
    mask = (row[:, None] < m - first_row) & (column[None, :] < n - first_column)
    tl.store(out_ptr + out_at, total.to(out_ptr.dtype.element_ty), mask=mask)


@triton.jit
def _stride(stride, CONTIGUOUS: tl.constexpr, UNIT: tl.constexpr, LONG: tl.constexpr):
    if CONTIGUOUS:
        return tl.full((), 1, tl.int64 if LONG else tl.int32)
    return tl.cast(stride, tl.int64 if LONG else tl.int32) * UNIT


@triton.jit
def _inside(index, length, UNIT: tl.constexpr):
    """Return the index, or 0 past the edge: reading there saves a mask in the loop, and the result is not stored.

    `length` is divisible by UNIT, so that UNIT adjacent indices are either all inside and contiguous, or all outside.
    """
    return tl.max_contiguous(tl.multiple_of(tl.where(index < length, index, 0), UNIT), UNIT)


class Tile(NamedTuple):
    """The tile of a program, in steps of `depth`, with the intended number of programs per multiprocessor."""

    rows: int
    columns: int
    depth: int
    warps: int
    stages: int
    programs: int

    @property
    def sums(self) -> int:
        """The accumulator registers of a thread."""
        return self.rows * self.columns // (32 * self.warps)


# By compute capability and bytes per element. The stages take at most (rows + columns) * depth * itemsize * stages
# bytes of shared memory, and 8.6, which uses the tiles of 8.0, has 99 KiB per program.
TILES = {
    80: {
        2: [
            Tile(128, 256, 32, 8, 4, 1),
            Tile(256, 128, 32, 8, 4, 1),
            Tile(128, 128, 32, 4, 4, 2),
            Tile(128, 128, 32, 8, 4, 1),
            Tile(128, 64, 32, 4, 4, 3),
            Tile(64, 128, 32, 4, 4, 3),
            Tile(64, 64, 64, 4, 3, 3),
            Tile(32, 64, 64, 4, 4, 3),
            Tile(64, 32, 64, 4, 4, 3),
            Tile(32, 32, 32, 4, 4, 4),
            Tile(16, 64, 64, 4, 4, 4),
            Tile(64, 16, 64, 4, 4, 4),
            Tile(16, 32, 64, 4, 4, 4),
            Tile(32, 16, 64, 4, 4, 4),
            Tile(16, 16, 64, 4, 4, 6),
        ],
        4: [
            Tile(64, 64, 32, 4, 3, 3),
            Tile(32, 64, 32, 4, 3, 3),
            Tile(64, 32, 32, 4, 3, 3),
            Tile(32, 32, 32, 4, 3, 4),
            Tile(16, 64, 32, 4, 3, 4),
            Tile(64, 16, 32, 4, 3, 4),
            Tile(16, 16, 32, 4, 3, 6),
        ],
    },
    90: {
        2: [
            Tile(128, 256, 64, 8, 4, 1),
            Tile(256, 128, 64, 8, 4, 1),
            Tile(128, 128, 64, 8, 3, 2),
            Tile(128, 64, 64, 4, 4, 2),
            Tile(64, 128, 64, 4, 4, 2),
            Tile(64, 64, 64, 4, 4, 3),
            Tile(32, 64, 64, 4, 4, 4),
            Tile(64, 32, 64, 4, 4, 4),
            Tile(32, 32, 32, 4, 4, 4),
            Tile(16, 64, 64, 4, 4, 4),
            Tile(64, 16, 64, 4, 4, 4),
            Tile(16, 32, 64, 4, 4, 4),
            Tile(32, 16, 64, 4, 4, 4),
            Tile(16, 16, 64, 4, 4, 6),
        ],
        4: [
            Tile(64, 64, 32, 4, 3, 3),
            Tile(32, 64, 32, 4, 3, 3),
            Tile(64, 32, 32, 4, 3, 3),
            Tile(32, 32, 32, 4, 3, 4),
            Tile(16, 64, 32, 4, 3, 4),
            Tile(64, 16, 32, 4, 3, 4),
            Tile(16, 16, 32, 4, 3, 6),
        ],
    },
}
# An operand that is read in units below 4 bytes, the minimum for asynchronous copies to shared memory, is copied
# through registers.
NARROW_TILES = [
    Tile(128, 64, 32, 8, 4, 2),
    Tile(64, 64, 32, 4, 3, 3),
    Tile(32, 64, 32, 4, 3, 4),
    Tile(64, 32, 32, 4, 3, 4),
    Tile(16, 64, 32, 4, 3, 4),
    Tile(64, 16, 32, 4, 3, 4),
    Tile(16, 16, 32, 4, 3, 6),
]
# Maximum accumulators per thread that leave registers for more addresses, by bytes per element: three TF32 products
# hold both parts of each operand. Then the maximum that leaves registers for an activation, and programs to hide its
# latency.
_MOST_SUMS_BESIDE_NARROW = {2: 64, 4: 16}
_MOST_SUMS_ACTIVATED = 64
_MULTIPROCESSORS = {80: 108, 90: 132}
# A tile's time per step of depth is modeled as rows * columns for its products plus _EDGE * (rows + columns) for its
# reads, where fewer than _LEAST_EDGE, 64 contiguous bytes, take the same time.
_EDGE = 48
_LEAST_EDGE = 32


def tile_for(m: int, n: int, batches: int, itemsize: int, read: int, activation: str | None, capability: int) -> Tile:
    """Return the tile with the least total time by the formula at `_EDGE`; among equals, the first.

    Args:
        m: rows of one matrix of the batch.
        n: columns of one matrix.
        batches: the number of matrices.
        itemsize: bytes per element.
        read: bytes per read of the operand with the smaller reads.
        activation: the activation function of the sums.
        capability: the GPU's compute capability, 90 for 9.0.
    """
    table_key = 90 if 90 <= capability < 120 else 80  # from 12.0 on there is no more shared memory than on 8.6
    slots = _MULTIPROCESSORS[table_key]
    tiles = NARROW_TILES if read < 4 else TILES[table_key][itemsize]
    most = 128 if activation in (None, "relu") else _MOST_SUMS_ACTIVATED
    if read < 16:
        most = min(most, _MOST_SUMS_BESIDE_NARROW[itemsize])

    def time(tile: Tile) -> int:
        count = batches * cdiv(m, tile.rows) * cdiv(n, tile.columns)
        together = min(tile.programs, cdiv(count, slots))
        rounds = cdiv(count, slots * together)
        edges = max(tile.rows, _LEAST_EDGE) + max(tile.columns, _LEAST_EDGE)
        return rounds * together * (tile.rows * tile.columns + _EDGE * edges)

    return min([tile for tile in tiles if tile.sums <= most], key=time)


def multiply(
    call: Planner,
    a: Operand,
    b: Operand,
    bias: Operand | None,
    activation: str | None,
    out: Operand,
    batches: tuple[int, int],
    batch_strides: Sequence[int],
) -> None:
    """Plan out = activation(a @ b + bias) for `a` (..., M, K) and `b` (..., K, N).

    `batch_strides` are the outer and inner strides of `a`, then those of `b`.
    """
    a, b = _unmoved(a), _unmoved(b)
    (m, k), n = a.shape[-2:], b.shape[-1]
    vector = 16 // a.itemsize
    units = [math.gcd(length, vector) for length in (m, n, k)]
    a_along, a_unit, a_read = _lies(a, a.strides[-2], a.strides[-1], batch_strides[:2], units[0], units[2])
    b_along, b_unit, b_read = _lies(b, b.strides[-1], b.strides[-2], batch_strides[2:], units[1], units[2])
    read = min(a_read, b_read) * a.itemsize
    tile = tile_for(m, n, batches[0] * batches[1], a.itemsize, read, activation, capability())
    spans = [
        tile.rows * abs(a.strides[-2]) + tile.depth * abs(a.strides[-1]),
        tile.columns * abs(b.strides[-1]) + tile.depth * abs(b.strides[-2]),
        tile.rows * n,
    ]
    call.launch(
        matmul_kernel,
        batches[0] * batches[1] * cdiv(m, tile.rows) * cdiv(n, tile.columns),
        (a, b, bias, out),
        (
            *[length // unit for length, unit in zip((m, n, k), units, strict=True)],
            batches[1],
            *[stride // a_unit for stride in (*batch_strides[:2], *a.strides[-2:])],
            *[stride // b_unit for stride in (*batch_strides[2:], *b.strides[-2:])],
        ),
        {
            "A_ALONG": a_along,
            "A_UNIT": a_unit,
            "B_ALONG": b_along,
            "B_UNIT": b_unit,
            **dict(zip(("M_UNIT", "N_UNIT", "K_UNIT"), units, strict=True)),
            "EVEN_K": k % tile.depth == 0,
            "HAS_BIAS": bias is not None,
            "ACTIVATION": activation,
            "PRECISION": "tf32x3" if a.itemsize == 4 else "tf32",
            # The interpreter multiplies bfloat16 as the integers that represent it.
            "WIDEN": a.dtype.name == "bfloat16" and interpreting(),
            "LONG": is_long(max(spans)),
            "BLOCK_M": tile.rows,
            "BLOCK_N": tile.columns,
            "BLOCK_K": tile.depth,
            "GROUP": _GROUP,
        },
        num_warps=tile.warps,
        num_stages=tile.stages,
    )


def _unmoved(x: Operand) -> Operand:
    """Return the operand with strides of 0 along axes of length 1, where NumPy and CuPy allow any."""
    return replace(x, strides=tuple([stride * (size > 1) for size, stride in zip(x.shape, x.strides, strict=True)]))


def _lies(x: Operand, edge: int, k: int, batches: Sequence[int], edge_unit: int, k_unit: int) -> tuple[str, int, int]:
    """Return (axis, unit, read) of a matrix's layout.

    These are the axis along which it is contiguous, the common divisor of its other strides, up to 16 bytes, and the
    number of elements that are read at once.

    `edge` and `k` are its strides, and `edge_unit` and `k_unit` the divisors of its lengths.
    """
    vector = 16 // x.itemsize
    if k == 1:
        unit = math.gcd(edge, *batches, vector)
        return "k", unit, math.gcd(unit, k_unit) if x.is_aligned else 1
    if edge == 1:
        unit = math.gcd(k, *batches, vector)
        return "edge", unit, math.gcd(unit, edge_unit) if x.is_aligned else 1
    return "", math.gcd(edge, k, *batches, vector), 1


def _linear(call: Planner, x: Input, weight: Input, bias: Input, activation: str | None) -> Operand | None:
    if not is_float(x) or not is_float(weight) or x.dtype != weight.dtype or activation not in ACTIVATIONS:
        return None
    if x.ndim < 1 or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
        return None
    if bias is not None and (not is_float(bias) or bias.shape != weight.shape[:1]):
        return None
    transposed = weight.transposed((1, 0))
    if bias is None and activation is None and _left_to_cublas(x, transposed):
        return None
    out = call.empty((*x.shape[:-1], weight.shape[0]), x.dtype)
    row = None if bias is None else call.contiguous(bias)
    rows = _as_rows(x)
    if rows is None:
        rows = call.contiguous(x).reshaped(-1, x.shape[-1])
    multiply(call, rows, transposed, row, activation, out, (1, 1), (0, 0, 0, 0))
    return out


def _as_rows(x: Operand) -> Operand | None:
    """Return a stack of matrices as one matrix of all their rows, if the rows are evenly spaced; None otherwise."""
    sizes, (strides,) = merge_axes(x.shape[:-1], [x.strides[:-1]])
    return replace(x, shape=(sizes[0], x.shape[-1]), strides=(strides[0], x.strides[-1])) if len(sizes) == 1 else None


def product(call: Planner, a: Input, b: Input, transpose_a: bool, transpose_b: bool) -> Operand | None:
    """Plan the product by this file's kernel, of operands as for NumPy's `matmul`, optionally transposed first."""
    if not is_float(a) or not is_float(b) or a.dtype != b.dtype or a.ndim == 0 or b.ndim == 0:
        return None
    if (transpose_a and a.ndim < 2) or (transpose_b and b.ndim < 2):
        return None
    left, right = _as_matrix(a, True, transpose_a), _as_matrix(b, False, transpose_b)
    batch = broadcast_shape([left.shape[:-2], right.shape[:-2]])
    if left.shape[-1] != right.shape[-2] or batch is None:
        return None  # the caller's own implementation reports the error
    rows = () if a.ndim == 1 else (left.shape[-2],)
    columns = () if b.ndim == 1 else (right.shape[-1],)
    out = call.empty((*batch, *rows, *columns), a.dtype)
    if right.ndim == 2 and (stacked_rows := _as_rows(left)) is not None:
        multiply(call, stacked_rows, right, None, None, out, (1, 1), (0, 0, 0, 0))
        return out
    views = [x.broadcast((*batch, *x.shape[-2:])).strides[:-2] for x in (left, right)]
    sizes, (a_strides, b_strides) = merge_axes(batch, views)
    if len(sizes) > _MAX_BATCH_AXES:
        return None
    padding = [0] * (_MAX_BATCH_AXES - len(sizes))
    outer, inner = [*(1 for _ in padding), *sizes]
    strides = [*padding, *a_strides, *padding, *b_strides]
    multiply(call, left, right, None, None, out, (outer, inner), (strides[0], strides[1], strides[2], strides[3]))
    return out


def _as_matrix(x: Operand, is_first: bool, transposed: bool) -> Operand:
    """Return the operand as a matrix, or a stack of them; a vector is a row if it comes first, else a column."""
    if x.ndim == 1 and is_first:
        return replace(x, shape=(1, x.size), strides=(0, *x.strides))
    if x.ndim == 1:
        return replace(x, shape=(x.size, 1), strides=(*x.strides, 0))
    return x.transposed([*range(x.ndim - 2), x.ndim - 1, x.ndim - 2]) if transposed else x


def _matmul(call: Planner, a: Input, b: Input, transpose_a: bool, transpose_b: bool) -> Operand | None:
    if is_float(a) and is_float(b) and a.dtype == b.dtype and a.ndim >= 2 and b.ndim == 2:
        left, right = _as_matrix(a, True, transpose_a), _as_matrix(b, False, transpose_b)
        if left.shape[-1] == right.shape[0] and _left_to_cublas(left, right):
            return None
    return product(call, a, b, transpose_a, transpose_b)


def _left_to_cublas(a: Operand, b: Operand) -> bool:
    """Return whether CuPy's matrix product should be used for these, the first of which may be a stack."""
    rows = _as_rows(a)
    if rows is None:
        return False
    # CuPy copies operands of other layouts, including a matrix that is part of another.
    layouts = ["N" if x.is_contiguous else "T" if x.transposed((1, 0)).is_contiguous else "" for x in (rows, b)]
    form = "".join(layouts) if all(layouts) else ""
    return choice.prefers_cublas(a.dtype.name, form, rows.shape[0], b.shape[1], rows.shape[1])


KERNELS = {"linear": Kernel(_linear), "matmul": Kernel(_matmul)}
