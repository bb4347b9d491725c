"""Results of ``mindspore.numpy``: the element type and the shape for each call.

    python tests/engine/recorded_numpy.py        with MindSpore 2.10.0: writes the answers in recorded/numpy.txt again

A line of the file is a call and the answer; one that has the call alone gets its answer. A call is written so that
NumPy's own module can be asked it too, with arrays in the place of the tensors.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).parent / "recorded" / "numpy.txt"

_F = np.array([[0.1, 0.5, -0.7], [0.9, -0.3, 0.2]], np.float32)
_I = np.array([[1, -2, 3], [4, 0, -6]], np.int32)
INPUTS: dict[str, Any] = {
    "F": _F,
    "G": _F[::-1, ::-1] * 2 + 1,
    "P": _F + 1.5,
    "I": _I,
    "J": np.array([[2, 3, -4], [-4, 5, 6]], np.int32),
    "H": _F.astype(np.float16),
    "D": _F.astype(np.float64),
    "L": _I.astype(np.int64),
    "S": _I.astype(np.int8),
    "T": _I.astype(np.int16),
    "U": np.abs(_I).astype(np.uint8),
    "B": _I > 0,
    "V": np.array([0.5, 2.0, -1.0, 3.0], np.float32),
    "W": np.array([2, 0, 1, 2], np.int32),
    "C": np.arange(24, dtype=np.float32).reshape(2, 3, 4) / 8 - 1,
    "K": np.array([0.0, 1.0, 2.5, 4.0], np.float32),
    "O": np.array([3, 1, 2, 3, 7], np.int32),
    "N": np.array([[1.0, np.nan, 2.0], [np.nan, 3.0, 5.0]], np.float32),
    "Q": np.array([[2.0, 0.5, 1.0], [0.0, 1.0, 3.0], [1.5, 1.0, 0.25]], np.float32),
}


def names(module: Any, make: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the names for a call: the functions of the module, and the inputs as ``make`` makes them.

    Args:
        module: ``mindspore.numpy``, ours, or NumPy itself.
        made: makes of an array what the module takes.
    """
    return {**{name: getattr(module, name) for name in dir(module)}, **{key: make(x) for key, x in INPUTS.items()}}


def kind(answer: Any) -> str:
    """Return an answer as the table has it: element types and shapes, and the types of other values."""
    if isinstance(answer, tuple | list):
        brackets = "()" if isinstance(answer, tuple) else "[]"
        return brackets[0] + ", ".join(map(kind, answer)) + brackets[1]
    if hasattr(answer, "asnumpy"):
        return f"{answer.dtype}{list(answer.asnumpy().shape)}"
    if isinstance(answer, bool | int | float | str):
        return f"{type(answer).__name__} {answer}"
    return str(answer)


def recorded() -> dict[str, str]:
    """Return the answers, by the calls."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    return {call: answer for call, _, answer in (line.partition(" -> ") for line in lines)}


def _lines() -> Iterator[str]:
    mindspore = importlib.import_module("mindspore")
    reference = names(importlib.import_module("mindspore.numpy"), mindspore.Tensor)
    for call in recorded():
        try:
            answer = kind(eval(call, dict(reference)))
        except Exception as error:
            answer = type(error).__name__
        yield f"{call} -> {answer}\n"


if __name__ == "__main__":
    lines = "".join(_lines())
    FILE.write_text(lines, encoding="utf-8")
