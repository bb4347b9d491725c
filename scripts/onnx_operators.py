"""Operators that `mindspore.export` can write as ONNX.

    python scripts/onnx_operators.py

Prints a table in Markdown: the operators by subject, as in the files of `engine/formats/onnx`, and those without a
converter there.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from typing import Any

import hookscope.engine  # noqa: F401  # which fills the table of operators
from hookscope.engine.formats.onnx.draft import CONVERTERS
from hookscope.engine.formats.onnx.versions import IR_VERSION, OPSET
from hookscope.engine.formats.onnx.writing import model_of
from hookscope.engine.tensors.operator import OPERATORS


def subject(converter: Any) -> str:
    """Return the file that contains a converter."""
    function = converter.func if isinstance(converter, functools.partial) else converter
    return str(function.__module__.rpartition(".")[2])


def rows() -> dict[str, list[str]]:
    """Return the names of operators by subject, in alphabetical order."""
    assert model_of  # importing its module loads every converter
    names_by_subject: dict[str, list[str]] = defaultdict(list)
    for name in sorted(OPERATORS):
        names_by_subject[subject(CONVERTERS[name]) if name in CONVERTERS else "not written"].append(name)
    return names_by_subject


def main() -> None:
    """Print the table."""
    print(f"ONNX opset {OPSET}, IR version {IR_VERSION}: {len(CONVERTERS)} of {len(OPERATORS)} operators\n")
    print("| | operators |\n|---|---|")
    for kind, names in sorted(rows().items(), key=lambda row: row[0] == "not written"):
        print(f"| {kind} ({len(names)}) | {', '.join(f'`{name}`' for name in names)} |")


if __name__ == "__main__":
    main()
