"""The signatures of MindSpore's public names: names, order and defaults of arguments, as Python writes them.

    python tests/engine/recorded_signatures.py        with MindSpore 2.10.0: writes recorded/signatures.txt again

A default other than a number, text, bool, None or a tuple of these is written as ``...``. Functions whose signature
Python cannot read (those in C++), or that take ``*args`` alone, are omitted.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "recorded" / "signatures.txt"
ROOMS = (
    "",
    "ops",
    "nn",
    "mint",
    "mint.nn",
    "mint.nn.functional",
    "mint.special",
    "mint.linalg",
    "mint.optim",
    "numpy",
    "amp",
    "train",
    "dataset",
    "dataset.config",
    "dataset.text",
    "dataset.transforms",
    "dataset.vision",
    "experimental.optim",
    "experimental.optim.lr_scheduler",
    "nn.probability.distribution",
    "nn.probability.bijector",
    "common.initializer",
    "communication",
    "hal",
    "runtime",
    "Tensor",
    "Parameter",
    "nn.Cell",
)
PLAIN = (bool, int, float, str)  # a subclass of these, such as np.float64, is written otherwise by each NumPy


class _Dots:
    def __repr__(self) -> str:
        return "..."


DOTS = _Dots()


@functools.cache
def recorded() -> dict[str, ast.arguments]:
    """Return the arguments of each, read as Python's grammar has them."""
    results = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, _, arguments = line.partition("(")
        (function,) = ast.parse(f"def f({arguments}: pass").body
        assert isinstance(function, ast.FunctionDef)
        results[name] = function.args
    return results


def _default(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(value) if all(_default(item) is not DOTS for item in value) else DOTS
    is_literal = value is None or (type(value) in PLAIN and not (type(value) is float and not math.isfinite(value)))
    return value if is_literal else DOTS


def _signature(item: Any) -> inspect.Signature | None:
    try:
        signature = inspect.signature(item.__init__ if inspect.isclass(item) else item)
    except (TypeError, ValueError):
        return None
    parameters = list(signature.parameters.values())[1 if inspect.isclass(item) else 0 :]
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    return inspect.Signature(
        [
            each.replace(
                annotation=each.empty, default=each.empty if each.default is each.empty else _default(each.default)
            )
            for each in parameters
        ]
    )


def _lines() -> Iterator[str]:
    mindspore = importlib.import_module("mindspore")
    for room in ROOMS:
        module: Any = mindspore
        for part in filter(None, room.split(".")):
            module = getattr(module, part, None) or importlib.import_module(f"{module.__name__}.{part}")
        for name in sorted(dir(module)):
            subject = getattr(module, name, None)
            if name.startswith("_") or not callable(subject):
                continue
            if not inspect.isclass(module) and not str(getattr(subject, "__module__", "")).startswith("mindspore"):
                continue
            signature = _signature(subject)
            if signature is not None:
                yield f"{room}{'.' if room else ''}{name}{signature}"


if __name__ == "__main__":
    FILE.write_text("\n".join(_lines()) + "\n", encoding="utf-8")
