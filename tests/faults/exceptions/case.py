"""A script that raises an exception: a function, its failing cell and line, and the facts that explain it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hookscope.engine import Tensor

__all__ = ["MARK", "OUTSIDE", "Case", "floats", "integers", "raises"]

MARK = "# raised"
"""Comment at the user's innermost line on the traceback."""
OUTSIDE = None
"""Path of an exception outside every cell."""


@dataclass(frozen=True)
class Case:
    """A script with a planted exception.

    Args:
        name: its unique name.
        error: the class of the exception.
        kind: the kind of network, such as "GAN".
        fault: one sentence that says what is wrong.
        path: the path of the innermost cell that fails, in a session that was given no network.
        facts: words, numbers and shapes that a right explanation states.
        function: builds the network and runs it.
    """

    name: str
    error: type[BaseException]
    kind: str
    fault: str
    path: str | None
    facts: tuple[str, ...]
    function: Callable[[], None]

    @property
    def file(self) -> str:
        """The file of the script."""
        return self.function.__code__.co_filename

    @property
    def is_held_out(self) -> bool:
        """True if the script was written and judged before the rules were changed for it."""
        return Path(self.file).stem.startswith("held_out_")

    @property
    def line(self) -> int:
        """The number of the marked line in its file."""
        lines, first = inspect.getsourcelines(self.function)
        numbers = [first + index for index, line in enumerate(lines) if line.rstrip().endswith(MARK)]
        assert len(numbers) == 1, f"{self.name} has {len(numbers)} lines with '{MARK}'"
        return numbers[0]


def raises(
    error: type[BaseException], kind: str, fault: str, path: str | None, *facts: str
) -> Callable[[Callable[[], None]], Case]:
    """Make a Case of a function that raises."""

    def case(function: Callable[[], None]) -> Case:
        return Case(function.__name__, error, kind, fault, path, facts, function)

    return case


def floats(*shape: int) -> Tensor:
    """Return normal numbers, the same for a shape each time."""
    return Tensor(np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32))


def integers(high: int, *shape: int) -> Tensor:
    """Return whole numbers below ``high``, the largest among them."""
    values = np.random.default_rng(high).integers(0, high, shape).astype(np.int32)
    values.flat[-1] = high - 1
    return Tensor(values)
