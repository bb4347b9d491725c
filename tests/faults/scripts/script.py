"""A training script of the corpus: a function that builds its networks and trains them, and the planted fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import hookscope.engine as ms

__all__ = ["Script", "healthy", "planted"]


@dataclass(frozen=True)
class Script:
    """A training script.

    Args:
        name: its unique name.
        fault: one sentence that says what was planted; "" in a healthy script.
        kind: the program's kind in a few words, such as "GAN".
        places: where a right finding may be: names of attributes, parameters, classes or methods as the script spells
            them, or "data", "loss", "optimizer", "loop".
        function: builds and trains with the fault (True) or without (False), for a number of steps; returns a measure
            that shows learning, one number a step.
        steps: as many steps as a reader would run to see whether it learns.
    """

    name: str
    fault: str
    kind: str
    places: tuple[str, ...]
    function: Callable[[bool, int], list[float]]
    steps: int

    def run(self, steps: int | None = None) -> list[float]:
        """Build and train from a fixed seed; return the measure of each step."""
        ms.set_seed(0)
        return self.function(bool(self.fault), steps or self.steps)

    def run_mended(self, steps: int | None = None) -> list[float]:
        """Run without the fault."""
        ms.set_seed(0)
        return self.function(False, steps or self.steps)


def planted(
    kind: str, fault: str, *places: str, steps: int = 40
) -> Callable[[Callable[[bool, int], list[float]]], Script]:
    """Make a Script of a function that trains with the fault (True) or without."""

    def script(function: Callable[[bool, int], list[float]]) -> Script:
        return Script(function.__name__, fault, kind, places, function, steps)

    return script


def healthy(kind: str, *, steps: int = 40) -> Callable[[Callable[[int], list[float]]], Script]:
    """Make a healthy Script of a function of the number of steps."""

    def script(function: Callable[[int], list[float]]) -> Script:
        return Script(function.__name__, "", kind, (), lambda _fault, count: function(count), steps)

    return script
