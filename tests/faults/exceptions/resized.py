"""Layers of healthy scripts that are made one number too large: is each explanation of the exception true?

python -m tests.faults.exceptions.resized            # every script, the first layers of each kind
python -m tests.faults.exceptions.resized NAME ...   # some, with the explanations
"""

from __future__ import annotations

import contextlib
import sys
import traceback
import warnings
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

__all__ = ["Resized", "explained", "layers_of"]

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
        with _made_by(self.kind, self.index):
            self.script.run(1)


@contextlib.contextmanager
def _made_by(kind: str, index: int | None) -> Iterator[list[int]]:
    """Make the layer with this number larger; yield a list with an entry for each layer of the class."""
    layer: Any = getattr(nn, kind)
    original: Callable[..., None] = layer.__init__
    made: list[int] = []

    def resized(cell: Any, first: Any, *args: Any, **kwargs: Any) -> None:
        if type(cell) is layer:
            made.append(len(made))
            if made[-1] == index:
                first = _resized(kind, first)
        original(cell, first, *args, **kwargs)

    layer.__init__ = resized
    try:
        yield made
    finally:
        layer.__init__ = original


def _resized(kind: str, first: Any) -> Any:
    if kind == "Embedding":
        return 1
    return (*first[:-1], first[-1] + 1) if isinstance(first, tuple | list) else first + 1


def is_in_the_making(error: BaseException) -> bool:
    """Return whether an exception is that of a layer which cannot be made like this."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(frame.f_code.co_filename == __file__ and frame.f_code.co_name == "resized" for frame in frames)


def explained(resized: Resized) -> tuple[BaseException | None, str, list[str]]:
    """Return the exception of a script, its explanation, and the statements in it that are not true."""
    session, witness, error = run_watched(resized)
    if error is None:
        return None, "", []
    text = session.explanation or ""
    return error, text, false_statements(text, witness, error, session.paths) if text else []


def layers_of(script: Script) -> Iterator[Resized]:
    """Yield the first layers of each kind in a script."""
    with contextlib.ExitStack() as stack:
        made = {kind: stack.enter_context(_made_by(kind, None)) for kind in KINDS}
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script.run(1)
    yield from (Resized(script, kind, index) for kind in KINDS for index in made[kind][:MOST])


def main(names: list[str]) -> None:
    """Print the false statements, and a line on all together."""
    counts = Counter[str]()
    scripts = [script for script in HEALTHY_SCRIPTS if not names or script.name in names]
    for resized in (layer for script in scripts for layer in layers_of(script)):
        error, text, false = explained(resized)
        if error is None or is_in_the_making(error):
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
