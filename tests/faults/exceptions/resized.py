"""Layers of healthy scripts that are made one number too large: is each explanation of the exception true?

python -m tests.faults.exceptions.resized            # every script, the first layers of each kind
python -m tests.faults.exceptions.resized NAME ...   # some, with the explanations
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

from hookscope.engine import nn
from tests.faults.scripts.judging import HEALTHY_SCRIPTS
from tests.faults.scripts.script import Script

from .judging import run_watched
from .witness import false_statements

__all__ = ["Resized", "explained"]

KINDS = ("Dense", "Conv2d", "Conv1d", "BatchNorm2d", "BatchNorm1d", "LayerNorm", "GRU", "LSTM", "GRUCell", "Embedding")
MOST = 3
"""As many layers of a kind are tried in each script."""


@dataclass(frozen=True)
class Resized:
    """A script in which one layer is made for another number of features.

    Args:
        script: the script.
        kind: the class of the layer.
        index: its number among the layers of this class, in the order in which they are made.
    """

    script: Script
    kind: str
    index: int

    @property
    def file(self) -> str:
        """The file of the script."""
        function: Any = self.script.function
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        code: CodeType = next((cell.__code__ for cell in cells if callable(cell)), function.__code__)
        return code.co_filename

    def function(self) -> None:
        """Run the first step of the script."""
        kind: Any = getattr(nn, self.kind)
        original: Callable[..., None] = kind.__init__
        made = 0

        def resized(cell: Any, first: Any, *args: Any, **kwargs: Any) -> None:
            nonlocal made
            if type(cell) is kind:
                made += 1
                if made == self.index + 1:
                    first = _resized(self.kind, first)
            original(cell, first, *args, **kwargs)

        kind.__init__ = resized
        try:
            self.script.run(1)
        finally:
            kind.__init__ = original


def _resized(kind: str, first: Any) -> Any:
    if kind == "Embedding":
        return 1
    return (*first[:-1], first[-1] + 1) if isinstance(first, tuple | list) else first + 1


def explained(resized: Resized) -> tuple[BaseException | None, str, list[str]]:
    """Return the exception of a script, its explanation, and the statements in it that are not true."""
    session, witness, error = run_watched(resized)
    if error is None:
        return None, "", []
    text = session.explanation or ""
    return error, text, false_statements(text, witness, error, session.paths) if text else []


def every(names: list[str]) -> Iterator[Resized]:
    """Yield each layer of each script."""
    for script in HEALTHY_SCRIPTS:
        if not names or script.name in names:
            yield from (Resized(script, kind, index) for kind in KINDS for index in range(MOST))


def main(names: list[str]) -> None:
    """Print the false statements, and a line on all together."""
    counts = Counter[str]()
    for resized in every(names):
        error, text, false = explained(resized)
        if error is None:
            continue
        counts["exceptions"] += 1
        counts["explained"] += bool(text)
        counts["false"] += bool(false)
        if names or false or not text:
            label = f"{resized.script.name}, {resized.kind} {resized.index}"
            print(f"== {label}: {type(error).__name__}: {error}", text, *(f"FALSE {part}" for part in false), sep="\n")
    print(", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
