"""Bands of diagonals: their numbers as recorded from MindSpore 2.10, and by the definition, element by element."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from function_cases import agrees

from hookscope.engine import Tensor, int32, ops

ROWS = Tensor(np.array([[8, 9, 0], [1, 2, 3], [0, 4, 5]], np.float32))
BAND = Tensor([-1, 1], int32)
ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def counting(*shape: int) -> Tensor:
    return Tensor(np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape))


RECORDED: dict[str, tuple[Any, list[Any]]] = {
    "diag RIGHT_LEFT": (
        lambda: ops.matrix_diag(ROWS, BAND, Tensor(3), Tensor(3), Tensor(11.0), "RIGHT_LEFT"),
        [[1, 9, 11], [0, 2, 0], [11, 4, 3]],
    ),
    "diag LEFT_RIGHT": (
        lambda: ops.matrix_diag(ROWS, BAND, 3, 3, 11, "LEFT_RIGHT"),
        [[1, 8, 11], [4, 2, 9], [11, 5, 3]],
    ),
    "diag LEFT_LEFT": (lambda: ops.matrix_diag(ROWS, BAND, 3, 3, 11, "LEFT_LEFT"), [[1, 8, 11], [0, 2, 9], [11, 4, 3]]),
    "diag RIGHT_RIGHT": (
        lambda: ops.matrix_diag(ROWS, BAND, 3, 3, 11, "RIGHT_RIGHT"),
        [[1, 9, 11], [4, 2, 0], [11, 5, 3]],
    ),
    "diag wide": (
        lambda: ops.matrix_diag(ROWS, BAND, 3, 5, 11),
        [[1, 8, 11, 11, 11], [0, 2, 9, 11, 11], [11, 4, 3, 0, 11]],
    ),
    "diag wide RIGHT_RIGHT": (
        lambda: ops.matrix_diag(ROWS, BAND, 3, 5, 11, "RIGHT_RIGHT"),
        [[1, 8, 11, 11, 11], [4, 2, 9, 11, 11], [11, 5, 3, 0, 11]],
    ),
    "diag above": (
        lambda: ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), 1),
        [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [0, 0, 0, 0]],
    ),
    "diag below": (
        lambda: ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), -1, 4, 3),
        [[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]],
    ),
    "diag rows": (lambda: ops.matrix_diag(Tensor([1.0, 2.0]), 0, 3), [[1, 0], [0, 2], [0, 0]]),
    "diag columns": (
        lambda: ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), 1, -1, 4),
        [[0, 1, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3]],
    ),
    "diag int": (lambda: ops.matrix_diag(Tensor([1, 2], int32), padding_value=Tensor(4, int32)), [[1, 4], [4, 2]]),
    "diag batch": (lambda: ops.matrix_diag(Tensor([[1.0, 2.0], [3.0, 4.0]])), [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]),
    "MatrixDiagV3": (
        lambda: ops.MatrixDiagV3("LEFT_RIGHT")(ROWS, BAND, Tensor(3), Tensor(3), Tensor(11.0)),
        [[1, 8, 11], [4, 2, 9], [11, 5, 3]],
    ),
    "part RIGHT_LEFT": (
        lambda: ops.matrix_diag_part(counting(3, 4), Tensor([-2, 2]), Tensor(0.0), "RIGHT_LEFT"),
        [[0, 3, 8], [2, 7, 12], [1, 6, 11], [5, 10, 0], [9, 0, 0]],
    ),
    "part LEFT_RIGHT": (
        lambda: ops.matrix_diag_part(counting(3, 4), Tensor([-2, 2]), Tensor(0.0), "LEFT_RIGHT"),
        [[3, 8, 0], [2, 7, 12], [1, 6, 11], [0, 5, 10], [0, 0, 9]],
    ),
    "part LEFT_LEFT": (
        lambda: ops.matrix_diag_part(counting(3, 4), Tensor([-2, 2]), Tensor(0.0), "LEFT_LEFT"),
        [[3, 8, 0], [2, 7, 12], [1, 6, 11], [5, 10, 0], [9, 0, 0]],
    ),
    "part RIGHT_RIGHT": (
        lambda: ops.matrix_diag_part(counting(3, 4), Tensor([-2, 2]), Tensor(0.0), "RIGHT_RIGHT"),
        [[0, 3, 8], [2, 7, 12], [1, 6, 11], [0, 5, 10], [0, 0, 9]],
    ),
    "part one": (lambda: ops.MatrixDiagPartV3()(counting(3, 4), Tensor(0), Tensor(0.0)), [1, 6, 11]),
    "part one of two": (lambda: ops.matrix_diag_part(counting(3, 4), Tensor([1, 1]), 0), [2, 7, 12]),
    "part batch": (
        lambda: ops.matrix_diag_part(counting(2, 3, 4), Tensor([0, 1]), 9),
        [[[2, 7, 12], [1, 6, 11]], [[14, 19, 24], [13, 18, 23]]],
    ),
    "set RIGHT_LEFT": (
        lambda: ops.matrix_set_diag(counting(3, 4), counting(3, 3) * 10, BAND, "RIGHT_LEFT"),
        [[40, 10, 3, 4], [70, 50, 20, 8], [9, 80, 60, 30]],
    ),
    "set LEFT_RIGHT": (
        lambda: ops.matrix_set_diag(counting(3, 4), counting(3, 3) * 10, BAND, "LEFT_RIGHT"),
        [[40, 10, 3, 4], [80, 50, 20, 8], [9, 90, 60, 30]],
    ),
    "set below": (
        lambda: ops.matrix_set_diag(counting(3, 4), Tensor([7.0, 7.0]), -1),
        [[1, 2, 3, 4], [7, 6, 7, 8], [9, 7, 11, 12]],
    ),
    "MatrixSetDiagV3": (
        lambda: ops.MatrixSetDiagV3()(counting(3, 4), Tensor([7.0, 7.0, 7.0]), Tensor(0)),
        [[7, 2, 3, 4], [5, 7, 7, 8], [9, 10, 7, 12]],
    ),
    "set batch": (
        lambda: ops.matrix_set_diag(counting(2, 2, 3), counting(2, 2) * 10),
        [[[10, 2, 3], [4, 20, 6]], [[30, 8, 9], [10, 40, 12]]],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_a_band_of_diagonals_is_where_mindspore_has_it(name: str) -> None:
    call, expected = RECORDED[name]
    assert call().tolist() == expected


@pytest.mark.parametrize("align", ALIGNMENTS)
@pytest.mark.parametrize(("low", "high"), [(-2, 2), (-1, 0), (1, 3), (-2, -1), (0, 1)])
def test_the_diagonals_of_a_matrix_are_those_of_numpy_and_go_back_where_they_were(
    low: int, high: int, align: str
) -> None:
    x = np.random.default_rng(3).standard_normal((2, 3, 5)).astype(np.float32)
    k = Tensor([low, high], int32)
    result = ops.matrix_diag_part(Tensor(x), k, -7.0, align).asnumpy()
    for row, offset in enumerate(range(high, low - 1, -1)):
        own = np.diagonal(x, offset, 1, 2)
        rest = result.shape[-1] - own.shape[-1]
        to_the_right = align.split("_")[0 if offset >= 0 else 1] == "RIGHT"
        filled = np.pad(own, ((0, 0), (rest, 0) if to_the_right else (0, rest)), constant_values=-7)
        np.testing.assert_array_equal(result[:, row], filled)
    assert ops.matrix_set_diag(Tensor(x * 0), Tensor(result), k, align).tolist() == (
        np.triu(np.tril(x, high), low).tolist()
    )
    back = ops.matrix_diag(Tensor(result), k, 3, 5, 0.0, align) if result.shape[-1] == 3 else None
    assert back is None or back.tolist() == np.triu(np.tril(x, high), low).tolist()


def test_the_gradients_of_bands_are_those_of_central_differences() -> None:
    rows, matrix = np.random.default_rng(4).standard_normal((2, 3, 3)), np.random.default_rng(5).standard_normal((3, 4))
    agrees(lambda x, p: ops.matrix_diag(x, BAND, 3, 5, p), rows, np.array(0.3))
    agrees(lambda x, p: ops.matrix_diag_part(x, BAND, p, "LEFT_RIGHT"), matrix, np.array(0.3))
    agrees(lambda x, d: ops.matrix_set_diag(x, d, BAND), matrix, rows[0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: ops.matrix_diag(ROWS, BAND, align="x"),
            ValueError,
            "For 'matrix_diag', 'align' must be 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT', but got 'x'",
        ),
        (
            lambda: ops.matrix_diag(ROWS, Tensor([1, -1])),
            ValueError,
            "For 'matrix_diag', 'k' must be one diagonal, or the lowest and the highest, but got (1, -1)",
        ),
        (
            lambda: ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), 0, 2, 2),
            ValueError,
            "For 'matrix_diag', diagonals 0 to 0 of length 3 do not fit 2 rows and 2 columns",
        ),
        (lambda: ops.matrix_diag(Tensor([1.0, 2.0, 3.0]), 1, 6, 7), ValueError, "do not fit 6 rows and 7 columns"),
        (lambda: ops.matrix_diag(Tensor(1.0)), ValueError, "'x' must have a row for each of 1 diagonals"),
        (lambda: ops.matrix_diag([1.0]), TypeError, "For 'matrix_diag', 'x' must be a Tensor, but got list"),
        (lambda: ops.matrix_diag_part(counting(3), 0, 0), ValueError, "'x' must have at least 2 axes"),
        (lambda: ops.matrix_diag_part(counting(3, 4), 4, 0), ValueError, "'k' must be in (-3, 4), but got 4"),
        (
            lambda: ops.matrix_set_diag(counting(3, 4), Tensor([7.0, 7.0])),
            ValueError,
            "For 'matrix_set_diag', 'diagonal' must have the shape (3,), but got (2,)",
        ),
        (
            lambda: ops.matrix_set_diag(counting(3, 4), Tensor([7.0]), 5),
            ValueError,
            "'k' must be in (-3, 4), but got 5",
        ),
    ],
)
def test_what_is_no_band_is_refused(call: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()
