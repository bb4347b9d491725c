"""Layer normalisation over the trailing axes, and its gradients.

The mean and the variance take two passes over the values (the variance of the differences from the mean), so
that a large mean does not drown a small variance. The gradients of gamma and beta are sums over all rows:
each program sums a strip of columns over a share of the rows, and the shares are added up in a fixed order,
so that equal inputs give equal bits.
"""

# mypy: disable-error-code="import-untyped, no-untyped-def, no-untyped-call, untyped-decorator"
# Reason: Triton ships no types, and annotations on a kernel's parameters are instructions to its compiler.
# ruff: noqa: N803  # capital letters for compile-time constants are Triton's custom

from __future__ import annotations

import numpy as np
import triton
import triton.language as tl

from hookscope.triton_kernels import _rows
from hookscope.triton_kernels._launch import cdiv
from hookscope.triton_kernels._plans import Given, Kernel, Operand, Planner, is_float
from hookscope.triton_kernels._rows import row_tile

# The tile in which the gradients of gamma and beta are summed, and the most shares the rows are split into.
_SUM_ROWS = 32
_SUM_COLUMNS = 64
_MAX_SHARES = 32


@triton.jit
def layer_norm_kernel(
    x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, rows, columns, epsilon,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A tile of whole rows."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    inside = column < columns
    mask = (row[:, None] < rows) & inside[None, :]
    at = row.to(tl.int64)[:, None] * columns + column[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=1) / columns
    centred = tl.where(mask, x - mean[:, None], 0.0)
    rstd = 1.0 / tl.sqrt_rn(tl.sum(centred * centred, axis=1) / columns + epsilon)
    gamma = tl.load(gamma_ptr + column, mask=inside, other=0.0).to(tl.float32)
    beta = tl.load(beta_ptr + column, mask=inside, other=0.0).to(tl.float32)
    y = centred * rstd[:, None] * gamma[None, :] + beta[None, :]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)
    tl.store(mean_ptr + row, mean, mask=row < rows)
    tl.store(rstd_ptr + row, rstd, mask=row < rows)


@triton.jit
def long_layer_norm_kernel(
    x_ptr, gamma_ptr, beta_ptr, y_ptr, mean_ptr, rstd_ptr, columns, epsilon, BLOCK: tl.constexpr
):
    """A program for each row, in pieces."""
    row = tl.program_id(0)
    x_ptr += row.to(tl.int64) * columns
    y_ptr += row.to(tl.int64) * columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
        centred = tl.where(column < columns, x - mean, 0.0)
        total += centred * centred
    rstd = 1.0 / tl.sqrt_rn(tl.sum(total, axis=0) / columns + epsilon)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        mask = column < columns
        x = tl.load(x_ptr + column, mask=mask, other=0.0).to(tl.float32)
        gamma = tl.load(gamma_ptr + column, mask=mask, other=0.0).to(tl.float32)
        beta = tl.load(beta_ptr + column, mask=mask, other=0.0).to(tl.float32)
        tl.store(y_ptr + column, ((x - mean) * rstd * gamma + beta).to(y_ptr.dtype.element_ty), mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_dx_kernel(
    g_ptr, x_ptr, gamma_ptr, mean_ptr, rstd_ptr, dx_ptr, rows, columns,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """A tile of rows, in as many pieces as it takes; what is read a second time is mostly in the cache."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    base = row.to(tl.int64)[:, None] * columns
    mean = tl.load(mean_ptr + row, mask=row < rows, other=0.0)[:, None]
    rstd = tl.load(rstd_ptr + row, mask=row < rows, other=0.0)[:, None]
    total = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    product = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        mask = (row[:, None] < rows) & (column < columns)
        gamma = tl.load(gamma_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
        scaled = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32) * gamma
        x = tl.load(x_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        total += scaled
        product += scaled * (x - mean) * rstd
    mean_scaled = tl.sum(total, axis=1)[:, None] / columns
    mean_product = tl.sum(product, axis=1)[:, None] / columns
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)[None, :]
        mask = (row[:, None] < rows) & (column < columns)
        gamma = tl.load(gamma_ptr + column, mask=column < columns, other=0.0).to(tl.float32)
        scaled = tl.load(g_ptr + base + column, mask=mask, other=0.0).to(tl.float32) * gamma
        x = tl.load(x_ptr + base + column, mask=mask, other=0.0).to(tl.float32)
        dx = (scaled - mean_scaled - (x - mean) * rstd * mean_product) * rstd
        tl.store(dx_ptr + base + column, dx.to(dx_ptr.dtype.element_ty), mask=mask)


@triton.jit
def layer_norm_share_kernel(
    g_ptr, x_ptr, mean_ptr, rstd_ptr, shares_ptr, rows, columns, share_rows, strips, shares,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """shares[0, share] and shares[1, share]: g * normal and g, summed over a share of the rows."""
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
        mean = tl.load(mean_ptr + row, mask=row < last, other=0.0)[:, None]
        rstd = tl.load(rstd_ptr + row, mask=row < last, other=0.0)[:, None]
        dgamma += g * (x - mean) * rstd
        dbeta += g
    at = share.to(tl.int64) * columns + column
    tl.store(shares_ptr + at, tl.sum(dgamma, axis=0), mask=column < columns)
    at = (shares + share).to(tl.int64) * columns + column
    tl.store(shares_ptr + at, tl.sum(dbeta, axis=0), mask=column < columns)


@triton.jit
def add_shares_kernel(
    shares_ptr, dgamma_ptr, dbeta_ptr, columns, shares, strips, SHARES: tl.constexpr, COLUMNS: tl.constexpr
):
    """dgamma[column] = sum of shares[0, :, column], and dbeta[column] of shares[1, :, column]."""
    which = tl.program_id(0) // strips
    column = (tl.program_id(0) % strips) * COLUMNS + tl.arange(0, COLUMNS)
    share = tl.arange(0, SHARES)
    mask = (share[:, None] < shares) & (column[None, :] < columns)
    at = (which * shares + share).to(tl.int64)[:, None] * columns + column[None, :]
    total = tl.sum(tl.load(shares_ptr + at, mask=mask, other=0.0), axis=0)
    if which == 0:
        tl.store(dgamma_ptr + column, total.to(dgamma_ptr.dtype.element_ty), mask=column < columns)
    else:
        tl.store(dbeta_ptr + column, total.to(dbeta_ptr.dtype.element_ty), mask=column < columns)


def _layer_norm(
    call: Planner, x: Given, gamma: Given, beta: Given, begin_norm_axis: int, epsilon: float
) -> tuple[Operand, Operand, Operand] | None:
    if not is_float(x) or not is_float(gamma) or not is_float(beta) or beta.shape != gamma.shape:
        return None
    if not -x.ndim <= begin_norm_axis < x.ndim or gamma.shape != x.shape[begin_norm_axis:]:
        return None
    x, gamma, beta = call.contiguous(x), call.contiguous(gamma), call.contiguous(beta)
    columns = gamma.size
    rows = x.size // columns
    y = call.empty(x.shape, x.dtype)
    kept = x.shape[: begin_norm_axis % x.ndim]
    saved = kept + (1,) * (x.ndim - len(kept))
    mean, rstd = call.empty(saved, np.float32), call.empty(saved, np.float32)
    arrays = (x, gamma, beta, y, mean, rstd)
    tile_rows, block, warps = row_tile(columns, _rows.MAX_ROW)
    if block >= columns:
        constants = {"ROWS": tile_rows, "BLOCK": block}
        scalars = (rows, columns, float(epsilon))
        call.launch(layer_norm_kernel, cdiv(rows, tile_rows), arrays, scalars, constants, num_warps=warps)
    else:
        constants = {"BLOCK": block}
        call.launch(long_layer_norm_kernel, rows, arrays, (columns, float(epsilon)), constants, num_warps=warps)
    return y, mean, rstd


def _layer_norm_grad(
    call: Planner, g: Given, x: Given, gamma: Given, mean: Given, rstd: Given, begin_norm_axis: int
) -> tuple[Operand, Operand, Operand] | None:
    if not is_float(g) or not is_float(x) or not is_float(gamma) or not is_float(mean) or not is_float(rstd):
        return None
    if not -x.ndim <= begin_norm_axis < x.ndim or gamma.shape != x.shape[begin_norm_axis:] or g.shape != x.shape:
        return None
    if not mean.dtype == rstd.dtype == np.float32 or not mean.size == rstd.size == x.size // gamma.size:
        return None
    g, x, gamma, mean, rstd = [call.contiguous(one) for one in (g, x, gamma, mean, rstd)]
    columns = gamma.size
    rows = x.size // columns
    dx = call.empty(x.shape, x.dtype)
    tile_rows, block, warps = row_tile(columns, _rows.MAX_PAIR_ROW)
    constants = {"ROWS": tile_rows, "BLOCK": block}
    arrays = (g, x, gamma, mean, rstd, dx)
    call.launch(layer_norm_dx_kernel, cdiv(rows, tile_rows), arrays, (rows, columns), constants, num_warps=warps)
    strips = cdiv(columns, _SUM_COLUMNS)
    share_rows = cdiv(cdiv(rows, _SUM_ROWS), _MAX_SHARES) * _SUM_ROWS
    shares = cdiv(rows, share_rows)
    partial = call.empty((2, shares, columns), np.float32)
    dgamma, dbeta = call.empty(gamma.shape, gamma.dtype), call.empty(gamma.shape, gamma.dtype)
    scalars, constants = (rows, columns, share_rows, strips, shares), {"ROWS": _SUM_ROWS, "COLUMNS": _SUM_COLUMNS}
    call.launch(layer_norm_share_kernel, strips * shares, (g, x, mean, rstd, partial), scalars, constants)
    constants = {"SHARES": _MAX_SHARES, "COLUMNS": _SUM_COLUMNS}
    call.launch(add_shares_kernel, 2 * strips, (partial, dgamma, dbeta), (columns, shares, strips), constants)
    return dx, dgamma, dbeta


KERNELS = {"layer_norm": Kernel(_layer_norm), "layer_norm_grad": Kernel(_layer_norm_grad)}
