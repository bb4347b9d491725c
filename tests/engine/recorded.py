"""MindSpore 2.10's results for the CASES of a test file, element by element, and inputs that need no file.

In an environment that has MindSpore, NumPy and pytest, this records them anew, into tests/engine/recorded/*.npz:

    python tests/engine/recorded.py tests/engine/nn/layers/test_layers_pooling.py ...
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

if __name__ == "__main__":  # MindSpore itself instead of the engine
    import mindspore

    mindspore.set_context(pynative_synchronize=True)  # so that an error is that of its own case
    sys.modules["hookscope"] = ModuleType("hookscope")
    sys.modules["hookscope.engine"] = mindspore
    sys.modules["hookscope.engine.experimental"] = mindspore.experimental
    sys.modules["recorded"] = sys.modules["__main__"]

import hookscope.engine as ms
from hookscope.engine import Tensor, nn

Array = np.ndarray[Any, Any]

FOLDER = Path(__file__).parent / "recorded"


def wave(*shape: int, k: float = 0.0) -> Tensor:
    """Return sin(k), sin(k + 0.37), ..."""
    return Tensor(np.sin(0.37 * np.arange(int(np.prod(shape))) + k).astype(np.float32).reshape(shape))


def filled(cell: Any, by: float = 0.6) -> Any:
    """Return the cell, its i-th parameter by * sin(i), by * sin(i + 0.7), ..."""
    for i, p in enumerate(cell.get_parameters()):
        values = by * np.sin(0.7 * np.arange(int(np.prod(p.shape))) + i)
        p.set_data(Tensor(values.astype(np.float32).reshape(p.shape)))
    return cell


def flat(result: Any) -> list[Any]:
    """Return the tensors of nested results."""
    if isinstance(result, tuple | list):
        return [x for part in result for x in flat(part)]
    return [] if result is None else [result]


def weighed(result: Any) -> Tensor:
    """Return the sum of all elements times cos(0), cos(1), ..."""
    total: Any = 0
    for item in flat(result):
        if item.dtype == ms.float32:
            total = total + (item * Tensor(np.cos(np.arange(item.size)).astype(np.float32).reshape(item.shape))).sum()
    return total


def gradients(cell: Any, *inputs: Tensor) -> list[Any]:
    """Return the gradients of the weighed sum by the first input and by each parameter."""
    weights = cell.trainable_params() if isinstance(cell, nn.Cell) else []
    if not weights:
        return [ms.grad(lambda *x: weighed(cell(*x)), 0)(*inputs)]
    return flat(ms.grad(lambda *x: weighed(cell(*x)), 0, weights)(*inputs))


def arrays(result: Any) -> list[Array]:
    return [np.asarray(item.asnumpy() if isinstance(item, Tensor) else item) for item in flat(result)]


def check(file: str, name: str, make: Callable[[], Any]) -> None:
    """Assert that the result equals the recorded one for this case of the file: shapes, dtypes and every element."""
    with np.load(FOLDER / f"{Path(file).stem}.npz", allow_pickle=False) as archive:
        want = [archive[f"{name} {i}"] for i in range(int(archive[f"{name} count"]))]
    result = arrays(make())
    assert [(item.shape, item.dtype) for item in result] == [(item.shape, item.dtype) for item in want]
    for first, second in zip(result, want, strict=True):
        np.testing.assert_allclose(first, second, rtol=2e-4, atol=3e-5)


def record(file: str) -> None:
    """Compute the cases of a test file and keep what comes of them."""
    cases: dict[str, Callable[[], Any]] = importlib.import_module(Path(file).stem).CASES
    results: dict[str, Array] = {}
    for name, make in cases.items():
        result = arrays(make())
        results |= {f"{name} count": np.array(len(result)), **{f"{name} {i}": item for i, item in enumerate(result)}}
    np.savez_compressed(FOLDER / f"{Path(file).stem}.npz", **results)


if __name__ == "__main__":
    for one in sys.argv[1:]:
        record(one)
