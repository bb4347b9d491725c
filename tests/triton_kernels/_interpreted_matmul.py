"""Checks of matmul and linear in Triton's interpreter; run by test_interpreter.py in its own process."""

from __future__ import annotations

import ctypes
import json
import mmap
import sys
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _comparison import DTYPES, close, normal, planned, run, suits, wide

from hookscope.engine.cpu.arrays import matmul
from hookscope.triton_kernels import matmul as family
from hookscope.triton_kernels.launch import choice
from hookscope.triton_kernels.library import scalar_functions
from hookscope.triton_kernels.matmul import NARROW_TILES, TILES, Tile, tile_for
from tests import strict_device


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((33, 17), (17, 5)),
        ((70, 40), (40, 65)),
        ((64, 64), (64, 64)),
        ((1, 1), (1, 1)),
        ((9,), (9, 4)),
        ((4, 9), (9,)),
        ((9,), (9,)),
        ((3, 4, 5), (5, 6)),
        ((4, 5), (3, 5, 6)),
        ((2, 1, 4, 5), (3, 5, 6)),
    ],
    ids=str,
)
def test_matmul_follows_numpy(left: tuple[int, ...], right: tuple[int, ...], dtype: Any) -> None:
    a, b = normal(*left, dtype=dtype), normal(*right, dtype=dtype, seed=1)
    want = wide(a) @ wide(b)
    result = run("matmul", a, b, False, False)
    assert result.shape == want.shape
    close(result / dtype.type(8), want / 8, dtype)


@pytest.mark.parametrize(("transpose_a", "transpose_b"), [(True, False), (False, True), (True, True)])
def test_matmul_transposes_without_a_copy(transpose_a: bool, transpose_b: bool) -> None:
    a = normal(2, 7, 5) if transpose_a else normal(2, 5, 7)
    b = normal(2, 6, 7, seed=1) if transpose_b else normal(2, 7, 6, seed=1)
    want = matmul.matmul(*wide(a, b), transpose_a, transpose_b)
    close(run("matmul", a, b, transpose_a, transpose_b), want, np.float32)


def test_matmul_of_strided_operands() -> None:
    a, b = normal(9, 30)[::2, ::3], normal(8, 10).T[:, ::-2]
    close(run("matmul", a, b, False, False), wide(a) @ wide(b), np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("activation", scalar_functions.ACTIVATIONS)
def test_linear_with_every_activation(activation: str | None, dtype: Any) -> None:
    x, weight, bias = (
        normal(2, 5, 19, dtype=dtype),
        normal(7, 19, dtype=dtype, seed=1),
        normal(7, dtype=dtype, seed=2),
    )
    for value in (bias, None):
        want = matmul.linear(*wide(x, weight), None if value is None else wide(value), activation)
        close(run("linear", x, weight, value, activation) / dtype.type(8), want / 8, dtype)


def test_linear_on_one_sample_and_on_a_strided_batch() -> None:
    weight = normal(7, 19, seed=1)
    x = normal(19, 6).T[::2]
    for sample in (x, x[0]):
        close(
            run("linear", sample, weight, None, "relu"), matmul.linear(*wide(sample, weight), None, "relu"), np.float32
        )


def framed(rows: int, columns: int, dtype: Any, form: str, shift: int = 0, seed: int = 0) -> Any:
    """Return a matrix within one of NaN, with its rows or (form "T") its columns in one piece, or neither ("-")."""
    lengths = {"N": (rows, columns), "T": (columns, rows), "-": (rows, 2 * columns)}[form]
    matrix = np.full((lengths[0] + 2, -(-(lengths[1] + shift + 8) // 8) * 8), np.nan, dtype)
    part = matrix[1 : lengths[0] + 1, shift : shift + lengths[1]]
    part = {"N": part, "T": part.T, "-": part[:, ::2]}[form]
    part[...] = normal(rows, columns, dtype=dtype, seed=seed)
    return part


@pytest.mark.parametrize(("a_form", "b_form"), [*product("NT", repeat=2), ("-", "T")])
@pytest.mark.parametrize(
    ("m", "n", "k", "dtype"), [(24, 40, 72, DTYPES[2]), (19, 33, 50, DTYPES[0]), (8, 17, 40, DTYPES[1])], ids=str
)
def test_operands_that_lie_in_every_way_and_nothing_beside_them(
    a_form: str, b_form: str, m: int, n: int, k: int, dtype: Any
) -> None:
    for shift in (0, 3):
        a, b = framed(m, k, dtype, a_form, shift), framed(k, n, dtype, b_form, shift, seed=1)
        close(run("matmul", a, b, False, False) / dtype.type(8), wide(a) @ wide(b) / 8, dtype)


def at_the_end(x: Any) -> Any:
    """Return a copy whose last byte is the last that may be read: the next one is on a page that ends the process."""
    page = mmap.PAGESIZE
    length = -(-x.nbytes // page) * page
    memory = mmap.mmap(-1, length + page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + length), page, 0) == 0
    copy = np.ndarray(x.shape, x.dtype, memory, length - x.nbytes)
    copy[...] = x
    return copy


def test_nothing_behind_an_operand_is_read() -> None:
    for m, n, k in ((19, 33, 50), (17, 18, 16), (65, 16, 64)):
        a, b = at_the_end(normal(m, k)), at_the_end(normal(k, n, seed=1))
        close(run("matmul", a, b, False, False), wide(a) @ wide(b), np.float32)
        close(run("matmul", at_the_end(a.T.copy()), b, True, False), wide(a) @ wide(b), np.float32)
        weight, bias = at_the_end(b.T.copy()), at_the_end(normal(n))
        close(run("linear", a, weight, bias, None), wide(a) @ wide(b) + wide(bias), np.float32)


TINY = [Tile(16, 32, 16, 4, 2, 1), Tile(32, 16, 16, 4, 2, 1), Tile(16, 16, 32, 4, 2, 1)]


@pytest.mark.parametrize("tile", TINY, ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(145, 17, 47), (15, 66, 16)])
def test_tiles_of_a_grid_are_each_computed_once(
    monkeypatch: pytest.MonkeyPatch, tile: Tile, m: int, n: int, k: int
) -> None:
    monkeypatch.setattr(family, "TILES", {80: {4: [tile]}})
    a, b = normal(m, k), normal(k, n, seed=1)
    close(run("matmul", a, b, False, False) / np.float32(8), wide(a) @ wide(b) / 8, np.float32)


def test_places_in_64_bits_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "is_long", lambda farthest: True)
    for a, b in ((normal(3, 20, 9), normal(9, 21, seed=1)), (normal(20, 9).T[::-1], normal(20, 33, seed=1))):
        close(run("matmul", a, b, False, False), wide(a) @ wide(b), np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_batches_broadcast_through_their_strides(dtype: Any) -> None:
    a, b = normal(3, 1, 8, 24, dtype=dtype), normal(5, 24, 16, dtype=dtype, seed=1)
    close(run("matmul", a, b, False, False) / dtype.type(8), wide(a) @ wide(b) / 8, dtype)
    heads = normal(2, 9, 3, 16, dtype=dtype).transpose(0, 2, 1, 3)  # (batch, heads, places, width) of one array
    scores = run("matmul", heads, heads, False, True)
    close(scores / dtype.type(8), wide(heads) @ wide(heads).swapaxes(-1, -2) / 8, dtype)
    shared = heads[:, 0]  # whose rows lie at two distances
    close(run("matmul", shared, b[0, :16], False, False) / dtype.type(8), wide(shared) @ wide(b)[0, :16] / 8, dtype)
    close(run("matmul", heads[:, :, :1], b[0, :16], False, False), wide(heads)[:, :, :1] @ wide(b)[0, :16], dtype)


def test_a_stack_of_rows_is_one_matrix_and_no_copy() -> None:
    weight = normal(7, 19, seed=1)
    for x in (normal(3, 4, 19), normal(4, 8, 19)[:, ::2], normal(3, 4, 25)[:, :, 3:22]):
        plan, _, _ = planned("linear", x, weight, None, None)
        assert plan is not None and [step.kernel for step in plan.steps] == [family.matmul_kernel]
        close(run("linear", x, weight, None, None), wide(x) @ wide(weight).T, np.float32)
    apart = normal(6, 2, 19).transpose(1, 0, 2)[:, ::2]
    close(run("linear", apart, weight, None, None), wide(apart) @ wide(weight).T, np.float32)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_infinities_and_nan_go_where_numpy_has_them(dtype: Any) -> None:
    a, b = normal(20, 37, dtype=dtype), normal(37, 18, dtype=dtype, seed=1)
    a[3, 36], a[5, 2], b[36, 4], b[0, 7] = np.inf, np.nan, -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        want = wide(a) @ wide(b)
    result = np.asarray(run("matmul", a, b, False, False), np.float64)
    assert np.array_equal(np.isnan(result), np.isnan(want)) and np.array_equal(np.isinf(result), np.isinf(want))
    assert np.isnan(want).any() and np.isinf(want).any()
    for activation in ("gelu_tanh", "sigmoid", "tanh"):
        with np.errstate(all="ignore"):
            want = matmul.linear(*wide(a, b.T), wide(b[0]), activation)
        result = np.asarray(run("linear", a, b.T, b[0], activation), np.float64)
        assert np.array_equal(np.isnan(result), np.isnan(want)), activation


def test_sums_of_half_precision_are_in_single() -> None:
    for dtype in DTYPES[1:]:
        ones = np.ones((16, 4096), dtype)
        assert (run("matmul", ones, ones.T, False, False) == 4096).all()


def test_nan_passes_through_linear_and_relu() -> None:
    x, weight = normal(3, 4), normal(5, 4, seed=1)
    x[1, 2] = np.nan
    assert np.isnan(run("linear", x, weight, None, "relu")).all(axis=1).tolist() == [False, True, False]


def test_what_does_not_qualify() -> None:
    a = normal(4, 5)
    matmul, linear = partial(suits, "matmul"), partial(suits, "linear")
    assert not matmul(a, a, False, False), "inner sizes that differ"
    assert not matmul(a, a.astype(np.float16).T, False, False), "two dtypes"
    assert not matmul(a[0], a[0], True, False), "a vector to transpose"
    assert not matmul(normal(2, 4, 5), normal(3, 5, 4), False, False), "batches that do not broadcast"
    assert not matmul(a.astype(int), a.T.astype(int), False, False), "integers"
    assert not linear(a, normal(3, 4), None, None), "a weight of another size"
    assert not linear(a, normal(3, 5), normal(4), None), "a bias of another size"
    assert not linear(a, normal(3, 5), None, "swish"), "an unknown activation"


def test_every_product_has_a_tile_whose_programs_fit() -> None:
    shared = {80: 99 * 1024, 90: 227 * 1024}
    for capability, by_size in TILES.items():
        for itemsize, tiles in by_size.items():
            for tile in (*tiles, *NARROW_TILES):
                held = (tile.rows + tile.columns) * tile.depth * itemsize * tile.stages
                # Operands in registers need one stage less in memory.
                assert held * (tile.stages - 1) // tile.stages <= shared[capability]
    for m, n, batches in product((1, 16, 100, 512, 4096, 50257), (1, 16, 100, 512, 4096, 50257), (1, 64)):
        for itemsize, read, activation, capability in product((2, 4), (2, 4, 8, 16), (None, "gelu"), (80, 86, 90, 120)):
            tile = tile_for(m, n, batches, itemsize, read, activation, capability)
            assert tile.sums <= (32 if itemsize == 4 or read < 4 else 64 if activation or read < 16 else 128)


@pytest.mark.parametrize(
    ("m", "n", "capability", "tile"),
    [
        (8192, 8192, 90, (128, 256)),
        (8192, 8192, 86, (128, 256)),
        (1024, 512, 90, (64, 64)),  # 128 programs on 132 multiprocessors; of larger ones some would stand still
        (16, 4096, 90, (16, 32)),
        (4096, 10, 90, (32, 16)),
    ],
)
def test_a_tile_is_as_large_as_leaves_no_multiprocessor_idle(m: int, n: int, capability: int, tile: Any) -> None:
    assert tile_for(m, n, 1, 2, 16, None, capability)[:2] == tile


def test_large_plain_products_are_left_to_cublas_and_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = []

    def prefers(*arguments: Any) -> bool:
        requests.append(arguments)
        return bool(arguments[1])

    monkeypatch.setattr(choice, "prefers_cublas", prefers)
    # By other lengths than those of plans above, which are kept.
    a, b, bias = normal(11, 13), normal(13, 27), normal(11)
    assert not suits("matmul", a, b, False, False)
    assert not suits("matmul", normal(13, 11), normal(27, 13), True, True)
    assert not suits("linear", normal(5, 2, 13), a, None, None)
    assert requests == [("float32", "NN", 11, 27, 13), ("float32", "TT", 11, 27, 13), ("float32", "NT", 10, 11, 13)]
    assert suits("linear", normal(5, 13), a, bias, None), "a bias"
    assert suits("linear", normal(5, 13), a, None, "tanh"), "an activation"
    assert suits("matmul", a[:, :12], b[:12], False, False), "a part of a matrix, which CuPy copies"
    assert suits("matmul", normal(3, 11, 13), normal(3, 13, 27), False, False), "a batch"


def test_both_are_timed_on_the_users_device_and_the_table_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cupy = strict_device.make()["cupy"]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    clock = iter(range(1, 1000))
    checked = []

    def seconds(call: Any) -> float:
        checked.append(cupy.asnumpy(call()))
        return next(clock)

    path = choice.measure(cupy, seconds, [(16, 24, 33)])
    kept = json.loads(path.read_text())
    assert kept["device"] and path.is_relative_to(tmp_path)
    assert [row[:2] for row in kept["rows"]] == [
        [dtype, form] for dtype in ("float32", "float16", "bfloat16") for form in ("NN", "NT", "TN")
    ]
    assert [row[2:] for row in kept["rows"]] == [[16, 24, 33, at, at + 1] for at in range(1, 19, 2)]
    for own, cublas in zip(checked[::2], checked[1::2], strict=True):
        tolerance = 1e-5 if own.dtype == np.float32 else 2e-2
        np.testing.assert_allclose(own.astype(np.float64), cublas.astype(np.float64), tolerance, 8 * tolerance)
