"""Cases: the source of a function, and the arrays that it is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


@dataclass
class Case:
    """One program for both packages.

    Attributes:
        group: what it tries, such as "ops.softmax"; differences are counted by it.
        source: Python that defines ``run(ms, x0, x1, ...)``; ``ms`` is the package.
        inputs: the values of x0, x1, ...
        dtypes: their dtypes by MindSpore's names; "bfloat16" travels as float32.
        gradient: whether the gradients by all floating inputs are compared too.
        helpers: how many lines at the beginning of the source are the same in all cases of its kind.
        title: what is printed of the source; all from its first ``return`` on where there is none.
    """

    group: str
    source: str
    inputs: list[Array] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    gradient: bool = True
    helpers: int = 0
    title: str = ""

    def short(self) -> str:
        if self.helpers:
            return "\n      ".join(self.source.split("\n")[self.helpers :])
        shapes = ", ".join(f"{t}{list(x.shape)}" for x, t in zip(self.inputs, self.dtypes, strict=True))
        return f"{self.title or self.source.partition('return ')[2].strip()}  with {shapes}"

    def holds_special(self) -> bool:
        """Return whether an input holds NaN or infinity."""
        return any(not np.isfinite(x).all() for x in self.inputs if x.dtype.kind in "fc")


# Draws one case; the text is what its group must begin with.
Generator = Callable[[np.random.Generator, str], Case]
