"""Nothing on the device is added in no order: two runs give the same bits, also where indices name a place often.

That whole trainings do is in graph/test_on_gpu.py, which holds plans to the bits of eager runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hookscope.engine as ms
from hookscope.engine import Tensor, nn, ops
from hookscope.engine.cpu.arrays import segments
from tests import strict_device

ROWS, COLUMNS, NAMED = 7, 3, 400


def drawn(*shape: int) -> Any:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def indices() -> Any:
    return np.random.default_rng(4).integers(0, ROWS, NAMED)


def of_embedding() -> Any:
    table = nn.Embedding(ROWS, COLUMNS)
    table.embedding_table.set_data(Tensor(drawn(ROWS, COLUMNS)))
    weights = Tensor(drawn(NAMED, COLUMNS))
    step = ms.value_and_grad(
        lambda: (table(Tensor(indices(), ms.int32)) * weights).sum(), None, table.trainable_params()
    )
    return step()[1]


def by_x(shape: tuple[int, ...], picked: Callable[[Any], Any]) -> Any:
    """Return the gradient of numbers that are picked, each with a weight of its own."""
    return ms.grad(lambda x: (picked(x) * Tensor(drawn(*picked(x).shape))).sum())(Tensor(drawn(*shape)))


TABLE = (ROWS, COLUMNS)
GRADIENTS: dict[str, Callable[[], Any]] = {
    "rows": lambda: by_x(TABLE, lambda x: x[Tensor(indices())]),
    "elements": lambda: by_x(TABLE, lambda x: x[Tensor(indices()), Tensor(indices() % COLUMNS)]),
    "columns of slices": lambda: by_x(TABLE, lambda x: x[1:, Tensor(indices() % COLUMNS)]),
    "embedding": of_embedding,
    "gather": lambda: by_x(TABLE, lambda x: ops.gather(x, Tensor(indices()), 0)),
    "einsum": lambda: by_x((ROWS, ROWS), lambda x: ops.einsum("ii->i", x)),
    "segment sums": lambda: ops.unsorted_segment_sum(Tensor(drawn(NAMED, COLUMNS)), Tensor(indices()), ROWS),
    "products": lambda: ops.tensor_scatter_mul(Tensor(drawn(ROWS)), Tensor(indices()[:, None]), Tensor(drawn(NAMED))),
}


def bits(result: Any) -> list[bytes]:
    result = result if isinstance(result, tuple) else (result,)
    return [item.asnumpy().tobytes() for item in result]


@pytest.mark.parametrize("table", [0, segments._LARGEST_TABLE], ids=["sorted", "side by side"])
@pytest.mark.parametrize("name", GRADIENTS)
def test_what_goes_to_one_place_is_added_in_one_order(name: str, table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LARGEST_TABLE", table)
    on_cpu = GRADIENTS[name]()
    with strict_device.device():
        results = [GRADIENTS[name]() for _ in range(3)]
        assert len({tuple(bits(result)) for result in results}) == 1
        on_device = results[0]
        for first, second in zip(*(x if isinstance(x, tuple) else (x,) for x in (on_cpu, on_device)), strict=True):
            np.testing.assert_allclose(second.asnumpy(), first.asnumpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64", "complex64", "int8"])
@pytest.mark.parametrize("table", [0, segments._LARGEST_TABLE], ids=["sorted", "side by side"])
def test_sums_by_rows_are_numpys_in_every_dtype(dtype: str, table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LARGEST_TABLE", table)
    kind = getattr(ms, dtype).numpy
    values = (drawn(50, 2) * 4).astype(kind)
    rows = np.random.default_rng(5).integers(0, 9, 50)
    want = np.zeros((10, 2), np.complex128 if dtype == "complex64" else np.float64)
    np.add.at(want, rows, values.astype(want.dtype))
    with strict_device.device():
        cp = strict_device.CUPY
        result = segments.combined(cp.add, cp.asarray(values), cp.asarray(rows), 10, 0).get()
    assert result.dtype == kind
    np.testing.assert_allclose(result.astype(want.dtype), want, rtol=0.05 if "16" in dtype else 1e-6, atol=1e-1)


@pytest.mark.parametrize("table", [0, segments._LARGEST_TABLE], ids=["sorted", "side by side"])
def test_a_nan_is_in_the_sums_that_use_it_alone(table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LARGEST_TABLE", table)
    with strict_device.device():
        cp = strict_device.CUPY
        values = cp.asarray(np.float32([[1], [np.nan], [2], [np.inf], [3], [-np.inf]]))
        result = segments.combined(cp.add, values, cp.asarray([0, 1, 2, 3, 2, 4]), 6, 0).get()[:, 0]
    np.testing.assert_array_equal(result, [1, np.nan, 5, np.inf, -np.inf, 0])
