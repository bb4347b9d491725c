"""Facts of the real CuPy, as ``record`` recorded them."""

from __future__ import annotations

import functools
import inspect
import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

__all__ = [
    "ATTRIBUTES",
    "BFLOAT16",
    "INNER",
    "METHODS",
    "MODULES",
    "NUMBERS",
    "REDUCTIONS",
    "RESOLVED",
    "SCATTERED",
    "VERSION",
    "Loop",
    "dtype_of",
    "loops",
    "signature",
]

_facts = json.loads(Path(__file__).with_name("facts.json").read_text())
VERSION: str = _facts["version"]
MODULES: dict[str, dict[str, Any]] = _facts["modules"]
METHODS: dict[str, list[str] | None] = _facts["methods"]
ATTRIBUTES: frozenset[str] = frozenset(_facts["attributes"])
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def dtype_of(char: str) -> np.dtype[Any]:
    """Return the dtype of a character of CuPy's, which has "E" for bfloat16."""
    return BFLOAT16 if char == "E" else np.dtype(char)


Loop = tuple[tuple["np.dtype[Any]", ...], tuple["np.dtype[Any]", ...]]


@functools.cache
def loops(text: str) -> tuple[Loop, ...]:
    """Return the dtypes of the operands and of the results of each loop, in the order in which CuPy tries them."""
    outputs = []
    for loop in text.split():
        operands, _, results = loop.partition("->")
        outputs.append((tuple(map(dtype_of, operands)), tuple(map(dtype_of, results))))
    return tuple(outputs)


REDUCTIONS: dict[str, tuple[Loop, ...]] = {name: loops(text) for name, text in _facts["reductions"].items()}
SCATTERED: dict[str, frozenset[np.dtype[Any]]] = {
    name: frozenset(map(dtype_of, chars)) for name, chars in _facts["at"].items()
}


INNER: dict[str, dict[str, Any]] = _facts["inner"]
NUMBERS: list[str] = _facts["numbers"]
RESOLVED: dict[str, dict[str, str]] = _facts["resolved"]


def signature(texts: list[str]) -> inspect.Signature:
    """Return the parameters that ``record.parameters`` wrote."""
    results, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for text in texts:
        name = text.strip("*=")
        if text == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif text.startswith("**"):
            results.append(inspect.Parameter(name, inspect.Parameter.VAR_KEYWORD))
        elif text.startswith("*"):
            results.append(inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            default = None if text.endswith("=") else inspect.Parameter.empty
            results.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(results)
