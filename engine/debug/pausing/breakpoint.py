"""Breakpoints: ``PATH[:MOMENT] [if EXPRESSION]``, such as ``head:backward if norm > 10``.

PATH is a cell's dotted path or a pattern as for watching; MOMENT is one of ``MOMENTS``, "forward" unless given.
``ops.NAME[:forward|backward]`` stops after an operator of the engine's table, or after its gradient rule. For what
the expression sees, see ``expression``. An expression that fails while the network runs never disturbs the run: the
breakpoint keeps the error in ``error`` and does not stop.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import CodeType

from ..watch import ROOT, matches, suggestion
from .expression import NAMES, compile_expression, evaluate, names_in, value_scope

__all__ = ["MOMENTS", "Breakpoint"]

MOMENTS = ("forward_pre", "forward", "backward_pre", "backward", "bprop")
_OPERATORS = "ops."
_SYNTAX = re.compile(r"^(?P<path>[^\s:]+)(?::(?P<moment>\S*))?(?:\s+if\s+(?P<expression>.+))?$", re.DOTALL)


@functools.lru_cache(maxsize=256)
def _compiled(expression: str, moment: str) -> tuple[CodeType, frozenset[str]]:
    # A bprop's arguments have names of the user's choosing, so there nothing is unknown beforehand.
    code = compile_expression(expression, None if moment == "bprop" else NAMES)
    return code, frozenset(names_in(code))


@dataclass
class Breakpoint:
    """A place to pause. Two are equal if they stop at the same place on the same condition.

    Attributes:
        path: the cell's path or a pattern; "." (or "") is the root; or "ops." and an operator's name or pattern.
        moment: one of ``MOMENTS``.
        expression: pauses only if it is true, for one of the values that pass.
        passes: how often the run came to this place.
        hits: how often it paused (or wanted to, where nobody could answer).
        error: what went wrong when the expression ran last, one line.

    Raises:
        ValueError: an unknown moment or operator, a faulty expression.
    """

    path: str
    moment: str = "forward"
    expression: str | None = None
    passes: int = field(default=0, compare=False)
    hits: int = field(default=0, compare=False)
    error: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.moment not in MOMENTS:
            raise ValueError(
                f"breakpoint {self.path!r}: moment must be one of {', '.join(MOMENTS)}, got {self.moment!r}"
            )
        if self.operator:
            self._check_operator()
        if self.expression is not None:
            try:
                _compiled(self.expression, self.moment)
            except ValueError as error:
                raise ValueError(f"breakpoint {self.path!r}: {error}") from None

    @property
    def operator(self) -> str:
        """The operator's name or pattern; "" for a breakpoint at a cell."""
        return self.path.removeprefix(_OPERATORS) if self.path.startswith(_OPERATORS) else ""

    def _check_operator(self) -> None:
        from hookscope.engine.operator import OPERATORS

        if self.moment not in ("forward", "backward"):
            raise ValueError(
                f"breakpoint {self.path!r}: at an operator, moment must be forward or backward, got {self.moment!r}"
            )
        if not any(fnmatchcase(name, self.operator) for name in OPERATORS):
            nearest = suggestion(self.operator, OPERATORS)
            raise ValueError(f"breakpoint {self.path!r}: there is no operator {self.operator!r}{nearest}")

    @classmethod
    def parse(cls, text: str) -> Breakpoint:
        """Read ``PATH[:MOMENT] [if EXPRESSION]``.

        Raises:
            ValueError: the text has another form, an unknown moment or a faulty expression.
        """
        found = _SYNTAX.match(text.strip())
        if found is None:
            raise ValueError(f"breakpoint {text!r} must have the form PATH[:MOMENT] [if EXPRESSION]")
        path, moment, expression = found.group("path", "moment", "expression")
        return cls(path, "forward" if moment is None else moment, expression)

    def __str__(self) -> str:
        condition = "" if self.expression is None else f" if {self.expression}"
        return f"{self.path or ROOT}:{self.moment}{condition}"

    def applies(self, path: str, moment: str) -> bool:
        """Whether it stands at this moment of this cell."""
        return self.moment == moment and (matches(self.path, path) if self.path else path == "")

    def holds(self, values: Sequence[object], scope: Callable[[], dict[str, object]]) -> bool:
        """Whether to pause: no expression, or one that is true for one of the values.

        Args:
            values: the tensors that pass.
            scope: the other names that the expression may use, called only if there is an expression.
        """
        if self.expression is None:
            return True
        code, wanted = _compiled(self.expression, self.moment)
        try:
            names = {**scope(), "passes": self.passes}
            holds = any(evaluate(code, {**value_scope(value, wanted), **names}) for value in values or (None,))
        except Exception as error:  # the user's expression: its failure must not end the user's run
            self.error = f"{type(error).__name__}: {error}".splitlines()[0]
            return False
        self.error = None
        return holds
