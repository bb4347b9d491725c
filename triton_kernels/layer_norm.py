"""Layer normalization over the last axes and RMS normalization, with their gradients.

In the forward pass, a program reads complete rows once; a longer row is read a second time, after its moments. The
gradients of rows that fit into a program's registers take two launches: one pass over `g` and `x` gives dx, and for
each share of the rows the sums for gamma and beta; then the shares are added in a fixed order. Longer rows take three
launches.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels.launch.launcher import cdiv, next_power_of_2
from hookscope.triton_kernels.launch.plans import Input, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels.library import row_tiles
from hookscope.triton_kernels.library.row_tiles import row_tile, warps_for

# For longer rows: the tile in which the gradients of gamma and beta are summed. The maximum number of shares of the
# rows: two for each of a GPU's multiprocessors, which number 108 (A100) to 132 (H100).
_SUM_ROWS = 32
_SUM_COLUMNS = 64
_MAX_SHARES = 256
# Values in the tile of one program for gradients: 16 per thread, each with at least 4 registers.
_GRAD_TILE = 4096


@triton.jit
def layer_norm_kernel(
    x_ptr,
    gamma_ptr,
    beta_ptr,
    y_ptr,
    mean_ptr,
    rstd_ptr,
    rows,
    columns,
    epsilon,
    CENTERED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Process a tile of complete rows; if not CENTERED, by the mean square only, without `beta` and `mean`."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    mask = (row[:, None] < rows) & inside[None, :]
    at = row.to(tl.int64)[:, None] * columns + column[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    if CENTERED:
        mean = tl.sum(x, axis=1) / columns
        tl.store(mean_ptr + row, mean, mask=row < rows)
        x = tl.where(mask, x - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt_rn(tl.sum(x * x, axis=1) / columns + epsilon)
    tl.store(rstd_ptr + row, rstd, mask=row < rows)
    y = x * rstd[:, None] * tl.load(gamma_ptr + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    if CENTERED:
        y += tl.load(beta_ptr + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def long_layer_norm_kernel(
    x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, columns, epsilon, CENTERED: tl.constexpr, BLOCK: tl.constexpr
):
    """Process one row per program, in pieces.

    The squares are of the distance from the first piece's mean. By the variance between the pieces, their sum is at
    most as many times the sum of squares about the row's own mean as there are pieces, so few digits cancel.
    """
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * columns
    y_ptr += row.to(tl.int64) * columns
    column = tl.arange(0, BLOCK)
    shift = 0.0
    if CENTERED:
        shift = tl.sum(tl.load(x_ptr + column).to(tl.float32), axis=0) / BLOCK
        shift = tl.where(shift - shift == 0.0, shift, 0.0)  # otherwise an infinite mean would become NaN
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        apart = tl.where(mask, x - shift, 0.0)
        total += apart
        squares += apart * apart
    square = tl.sum(squares, axis=0) / columns
    mean = 0.0
    if CENTERED:
        further = tl.sum(total, axis=0) / columns
        mean = shift + further
        square -= further * further
        square = tl.where(square < 0.0, 0.0, square)
        tl.store(mean_ptr + row, mean)
    rstd = 1.0 / tl.sqrt_rn(square + epsilon)
    tl.store(rstd_ptr + row, rstd)
    for start in range(0, columns, BLOCK):
        mask = start + column < columns
        x = tl.load(x_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * tl.load(gamma_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        if CENTERED:
            y += tl.load(beta_ptr + start + column, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + start + column, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_grad_kernel(
    g_ptr,
    x_ptr,
    gamma_ptr,
    mean_ptr,
    rstd_ptr,
    dx_ptr,
    shares_ptr,
    rows,
    columns,
    share_rows,
    shares,
    CENTERED: tl.constexpr,
    ROWS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """Compute dx for a share of the rows, in tiles of complete rows, and sums for the gradients of gamma and beta."""
    share = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    gamma = tl.load(gamma_ptr + column, mask=inside, other=0.0).to(tl.float32)[None, :]
    dgamma = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    dbeta = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    first = share * share_rows
    last = tl.minimum(first + share_rows, rows)
    for start in tl.range(first, last, ROWS, num_stages=2):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < last) & inside[None, :]
        at = row.to(tl.int64)[:, None] * columns + column[None, :]
        g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row, mask=row < last, other=0.0)[:, None]
        if CENTERED:
            x -= tl.load(mean_ptr + row, mask=row < last, other=0.0)[:, None]
            dbeta += g
        normal = x * rstd
        dgamma += g * normal
        scaled = g * gamma
        dx = scaled - normal * (tl.sum(scaled * normal, axis=1)[:, None] / columns)
        if CENTERED:
            dx -= tl.sum(scaled, axis=1)[:, None] / columns
        tl.store(dx_ptr + at, (dx * rstd).to(dx_ptr.dtype.element_ty), mask=mask)
    tl.store(shares_ptr + share.to(tl.int64) * columns + column, tl.sum(dgamma, axis=0), mask=inside)
    if CENTERED:
        at = (shares + share).to(tl.int64) * columns + column
        tl.store(shares_ptr + at, tl.sum(dbeta, axis=0), mask=inside)


@triton.jit
def long_layer_norm_dx_kernel(
    g_ptr, x_ptr, gamma_ptr, mean_ptr, rstd_ptr, dx_ptr, columns, CENTERED: tl.constexpr, BLOCK: tl.constexpr
):
    """Process one row per program, in pieces; the second read is mostly from the cache."""
    row = tl.program_id(0)
    base = row.to(tl.int64) * columns
    mean = 0.0
    if CENTERED:
        mean = tl.load(mean_ptr + row)
    rstd = tl.load(rstd_ptr + row)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    product = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        gamma = tl.load(gamma_ptr + column, mask=mask, other=0.0).to(tl.float32)
        scaled = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32) * gamma
        x = tl.load(x_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        total += scaled
        product += scaled * (x - mean) * rstd
    of_normal = tl.sum(product, axis=0) / columns
    of_all = 0.0
    if CENTERED:
        of_all = tl.sum(total, axis=0) / columns
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        gamma = tl.load(gamma_ptr + column, mask=mask, other=0.0).to(tl.float32)
        scaled = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32) * gamma
        x = tl.load(x_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        dx = (scaled - of_all - (x - mean) * rstd * of_normal) * rstd
        tl.store(dx_ptr + base + column, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_share_kernel(
    g_ptr,
    x_ptr,
    mean_ptr,
    rstd_ptr,
    shares_ptr,
    rows,
    columns,
    share_rows,
    strips,
    shares,
    CENTERED: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Store in shares[0, share] and shares[1, share] the sums of g * normal and g over a share of the rows."""
    strip = tl.program_id(0) % strips
    share = tl.program_id(0) // strips
    column = strip * COLUMNS + tl.arange(0, COLUMNS)
    dgamma = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    dbeta = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    first = share * share_rows
    last = tl.minimum(first + share_rows, rows)
    for start in range(first, last, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < last) & (column[None, :] < columns)
        at = row.to(tl.int64)[:, None] * columns + column[None, :]
        g = tl.load(g_ptr + at, mask=mask, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        if CENTERED:
            x -= tl.load(mean_ptr + row, mask=row < last, other=0.0)[:, None]
            dbeta += g
        dgamma += g * x * tl.load(rstd_ptr + row, mask=row < last, other=0.0)[:, None]
    at = share.to(tl.int64) * columns + column
    tl.store(shares_ptr + at, tl.sum(dgamma, axis=0), mask=column < columns)
    if CENTERED:
        at = (shares + share).to(tl.int64) * columns + column
        tl.store(shares_ptr + at, tl.sum(dbeta, axis=0), mask=column < columns)


@triton.jit
def add_shares_kernel(
    shares_ptr,
    dgamma_ptr,
    dbeta_ptr,
    columns,
    shares,
    strips,
    CENTERED: tl.constexpr,
    SHARES: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """Compute dgamma[column] = sum of shares[0, :, column], and dbeta[column] of shares[1, :, column]."""
    which = tl.program_id(0) // strips
    column = (tl.program_id(0) % strips) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < columns
    total = tl.zeros((SHARES, COLUMNS), dtype=tl.float32)
    for start in range(0, shares, SHARES):
        share = start + tl.arange(0, SHARES)
        at = (which * shares + share).to(tl.int64)[:, None] * columns + column[None, :]
        total += tl.load(shares_ptr + at, mask=(share[:, None] < shares) & inside[None, :], other=0.0)
    column_sum = tl.sum(total, axis=0)
    if which == 0:
        tl.store(dgamma_ptr + column, column_sum.to(dgamma_ptr.dtype.element_ty), mask=inside)
    if CENTERED:  # noqa: SIM102  # compiled only if CENTERED, since there is no `dbeta_ptr` otherwise
        if which == 1:
            tl.store(dbeta_ptr + column, column_sum.to(dbeta_ptr.dtype.element_ty), mask=inside)


def _forward(
    call: Planner, x: Operand, gamma: Operand, beta: Operand | None, begin: int, epsilon: float
) -> tuple[Operand, Operand | None, Operand]:
    x, gamma, beta = call.contiguous(x), call.contiguous(gamma), beta and call.contiguous(beta)
    columns = gamma.size
    rows = x.size // columns
    y = call.empty(x.shape, x.dtype)
    saved = (*x.shape[:begin], *[1] * (x.ndim - begin))
    mean = None if beta is None else call.empty(saved, np.float32)
    rstd = call.empty(saved, np.float32)
    arrays = (x, gamma, beta, y, mean, rstd)
    tile_rows, block, warps = row_tile(columns, row_tiles.MAX_ROW)
    constants = {"CENTERED": beta is not None, "ROWS": tile_rows, "BLOCK": block}
    if block >= columns:
        scalars: tuple[int | float, ...] = (rows, columns, float(epsilon))
        call.launch(layer_norm_kernel, cdiv(rows, tile_rows), arrays, scalars, constants, num_warps=warps)
    else:
        del constants["ROWS"]
        call.launch(long_layer_norm_kernel, rows, arrays, (columns, float(epsilon)), constants, num_warps=warps)
    return y, mean, rstd


def _backward(
    call: Planner, g: Operand, x: Operand, gamma: Operand, mean: Operand | None, rstd: Operand
) -> tuple[Operand, Operand, Operand | None]:
    g, x, gamma, rstd = [call.contiguous(operand) for operand in (g, x, gamma, rstd)]
    mean = mean and call.contiguous(mean)
    columns = gamma.size
    rows = x.size // columns
    dx, dgamma = call.empty(x.shape, x.dtype), call.empty(gamma.shape, gamma.dtype)
    dbeta = None if mean is None else call.empty(gamma.shape, gamma.dtype)
    strips = cdiv(columns, _SUM_COLUMNS)
    if columns <= row_tiles.MAX_PAIR_ROW:
        block = next_power_of_2(columns)
        tile_rows = max(1, min(next_power_of_2(rows), _GRAD_TILE // block))
        warps = max(4, min(16, tile_rows * block // 512))
        constants = {"CENTERED": mean is not None, "ROWS": tile_rows, "BLOCK": block}
        share_rows = cdiv(cdiv(rows, tile_rows), _MAX_SHARES) * tile_rows
        shares = cdiv(rows, share_rows)
        partial = call.empty((2, shares, columns), np.float32)
        arrays = (g, x, gamma, mean, rstd, dx, partial)
        scalars: tuple[int, ...] = (rows, columns, share_rows, shares)
        call.launch(layer_norm_grad_kernel, shares, arrays, scalars, constants, num_warps=warps)
    else:
        constants = {"CENTERED": mean is not None, "BLOCK": row_tiles.PIECE}
        warps = warps_for(row_tiles.PIECE)
        call.launch(
            long_layer_norm_dx_kernel, rows, (g, x, gamma, mean, rstd, dx), (columns,), constants, num_warps=warps
        )
        share_rows = cdiv(cdiv(rows, _SUM_ROWS), cdiv(_MAX_SHARES, strips)) * _SUM_ROWS
        shares = cdiv(rows, share_rows)
        partial = call.empty((2, shares, columns), np.float32)
        constants = {"CENTERED": mean is not None, "ROWS": _SUM_ROWS, "COLUMNS": _SUM_COLUMNS}
        scalars = (rows, columns, share_rows, strips, shares)
        call.launch(layer_norm_share_kernel, strips * shares, (g, x, mean, rstd, partial), scalars, constants)
    added = min(next_power_of_2(shares), _SUM_ROWS)
    constants = {"CENTERED": mean is not None, "SHARES": added, "COLUMNS": _SUM_COLUMNS}
    programs = strips * (1 if mean is None else 2)
    call.launch(add_shares_kernel, programs, (partial, dgamma, dbeta), (columns, shares, strips), constants)
    return dx, dgamma, dbeta


def _layer_norm(
    call: Planner, x: Input, gamma: Input, beta: Input, begin_norm_axis: int, epsilon: float
) -> tuple[Operand, Operand | None, Operand] | None:
    if not is_float(x) or not is_float(gamma) or not is_float(beta) or beta.shape != gamma.shape:
        return None
    if not -x.ndim <= begin_norm_axis < x.ndim or gamma.shape != x.shape[begin_norm_axis:]:
        return None
    return _forward(call, x, gamma, beta, begin_norm_axis % x.ndim, epsilon)


def _layer_norm_grad(
    call: Planner, g: Input, x: Input, gamma: Input, mean: Input, rstd: Input, begin_norm_axis: int
) -> tuple[Operand, Operand, Operand | None] | None:
    if not is_float(g) or not is_float(x) or not is_float(gamma) or not is_float(mean) or not is_float(rstd):
        return None
    if not -x.ndim <= begin_norm_axis < x.ndim or gamma.shape != x.shape[begin_norm_axis:] or g.shape != x.shape:
        return None
    if not mean.dtype == rstd.dtype == np.float32 or not mean.size == rstd.size == x.size // gamma.size:
        return None
    return _backward(call, g, x, gamma, mean, rstd)


def _rms_norm(call: Planner, x: Input, gamma: Input, epsilon: float) -> tuple[Operand, Operand] | None:
    if not is_float(x) or not is_float(gamma) or not _ends(x, gamma):
        return None
    y, _, rstd = _forward(call, x, gamma, None, x.ndim - gamma.ndim, epsilon)
    return y, rstd


def _rms_norm_grad(
    call: Planner, g: Input, x: Input, gamma: Input, rstd: Input, epsilon: float
) -> tuple[Operand, Operand] | None:
    if not is_float(g) or not is_float(x) or not is_float(gamma) or not is_float(rstd):
        return None
    if not _ends(x, gamma) or g.shape != x.shape or rstd.dtype != np.float32 or rstd.size != x.size // gamma.size:
        return None
    dx, dgamma, _ = _backward(call, g, x, gamma, None, rstd)
    return dx, dgamma


def _ends(x: Operand, gamma: Operand) -> bool:
    return 0 < gamma.ndim <= x.ndim and gamma.shape == x.shape[x.ndim - gamma.ndim :]


KERNELS = {
    "layer_norm": Kernel(_layer_norm),
    "layer_norm_grad": Kernel(_layer_norm_grad),
    "rms_norm": Kernel(_rms_norm),
    "rms_norm_grad": Kernel(_rms_norm_grad),
}
