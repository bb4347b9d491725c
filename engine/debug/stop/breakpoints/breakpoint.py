"""Breakpoints: ``PATH[:MOMENT] [if EXPRESSION] [log TEXT]``, such as ``head:backward if norm > 10``.

PATH is a cell's dotted path or a pattern as for watching. MOMENT is one of ``MOMENTS``, by default "forward".

A breakpoint at a line has another form. ``FILE:LINE`` is a line of the user's code, wherever it runs: ``train.py:30``.
``PATH:LINE`` is a line of the file that defines the cell's ``construct`` or ``bprop``, while the cell runs it, and
``PATH:FILE:LINE`` a line of another file meanwhile. ``ops.NAME[:forward|backward]`` stops after an operator of the
engine's table, or after its gradient rule. "exception" stops when an exception leaves the cell; alone it is
``.:exception``.

For the names in an expression, see ``expression``; ``passes`` counts, as in ``passes % 100 == 0``. With ``log TEXT`` it
is a logpoint, which prints the text in place of a pause: ``{EXPRESSION}`` in it is a value, with an optional format:
``head log norm {norm:.3g} in step {step}``. An expression that fails while the network runs never disturbs the run: the
breakpoint keeps the error in ``error`` and does not stop.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from types import CodeType

from ....base.file_labels import file_label
from ....base.nearest_name import suggestion
from ...watch.pattern import ROOT, ROOT_NAME, matches
from .expression import NAMES, compile_expression, evaluate, names_in, value_scope
from .logpoint import LogText

__all__ = ["MOMENTS", "Breakpoint"]

MOMENTS = ("forward_pre", "forward", "backward_pre", "backward", "bprop", "exception")
_OPERATORS = "ops."
_LINE = re.compile(r"(?:(?P<file>.+):)?(?P<line>[1-9]\d{0,6})", re.DOTALL)
_SYNTAX = re.compile(
    r"^(?P<path>[^\s:]+)(?::(?P<moment>\S*))?(?:\s+if\s+(?P<expression>.+?))?(?:\s+log\s+(?P<log>.+))?$", re.DOTALL
)
# A file in place of a cell: a module, a path, a notebook's cell, source that was typed.
_FILE = re.compile(r".*\.py|.*[/\\\\].*|In\[\d+\]|<.+>")


@functools.lru_cache(maxsize=256)
def _compiled(expression: str, moment: str) -> tuple[CodeType, frozenset[str]]:
    # A bprop's variables have names of the user's choosing, so unknown names cannot be detected in advance.
    in_bprop = moment == "bprop" or moment not in MOMENTS
    known = (*NAMES, "error") if moment == "exception" else NAMES
    code = compile_expression(expression, None if in_bprop else known)
    return code, frozenset(names_in(code))


@functools.lru_cache(maxsize=256)
def _log_text(log: str, moment: str) -> LogText:
    return LogText(log, NAMES if moment in MOMENTS and moment != "bprop" else None)


@dataclass
class Breakpoint:
    """A breakpoint. Two are equal if they stop at the same place on the same condition.

    Attributes:
        path: the cell's path or a pattern; "." (or "") is the root; or "ops." and an operator's name or pattern.
        moment: one of ``MOMENTS``, or a line: ``LINE`` or ``FILE:LINE``.
        expression: it pauses only if this is true, for one of the values that pass.
        log: the text of a logpoint, which prints it and does not pause.
        passes: the number of times that the run reached this place.
        hits: the number of pauses (including those skipped without a pauser).
        error: the error of the last evaluation of the expression, one line.
        is_temporary: whether it ends with the next pause: a line up to which the run goes on.

    Raises:
        ValueError: an unknown moment or operator, a faulty expression or text.
    """

    path: str
    moment: str = "forward"
    expression: str | None = None
    log: str | None = None
    passes: int = field(default=0, compare=False)
    hits: int = field(default=0, compare=False)
    error: str | None = field(default=None, compare=False)
    is_temporary: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if self.moment not in MOMENTS and not self.line:
            raise ValueError(
                f"breakpoint {self.path!r}: moment must be one of {', '.join(MOMENTS)}, got {self.moment!r}; "
                "or a line of the cell's code, by its number"
            )
        if self.operator:
            self._check_operator()
        if self.expression is not None:
            try:
                _compiled(self.expression, self.moment)
            except ValueError as error:
                raise ValueError(f"breakpoint {(self.path or self.moment)!r}: {error}") from None
        if self.log is not None:
            try:
                _log_text(self.log, self.moment)
            except ValueError as error:
                raise ValueError(f"breakpoint {(self.path or self.moment)!r}: {error}") from None

    @property
    def line(self) -> int:
        """The line of the breakpoint; 0 for a breakpoint at a moment or an operator."""
        match = None if self.moment in MOMENTS else _LINE.fullmatch(self.moment)
        return 0 if match is None else int(match["line"])

    @property
    def is_anywhere(self) -> bool:
        """True for a line of a file, in whichever cell it runs."""
        return bool(self.line and not self.path and self.filename)

    @property
    def filename(self) -> str:
        """The file of the line; "" for the file that defines the cell's function."""
        return "" if not self.line else self.moment.rpartition(":")[0]

    @property
    def operator(self) -> str:
        """The operator's name or pattern; "" for a breakpoint at a cell."""
        return self.path.removeprefix(_OPERATORS) if self.path.startswith(_OPERATORS) else ""

    def _check_operator(self) -> None:
        from hookscope.engine.tensors.operator import OPERATORS

        if self.moment not in ("forward", "backward"):
            raise ValueError(
                f"breakpoint {self.path!r}: at an operator, moment must be forward or backward, got {self.moment!r}"
            )
        if not any(fnmatchcase(name, self.operator) for name in OPERATORS):
            nearest = suggestion(self.operator, OPERATORS)
            raise ValueError(f"breakpoint {self.path!r}: there is no operator {self.operator!r}{nearest}")

    @classmethod
    def parse(cls, text: str) -> Breakpoint:
        """Parse ``PATH[:MOMENT] [if EXPRESSION] [log TEXT]``, or ``FILE:LINE ...``.

        Raises:
            ValueError: the text has the wrong form, an unknown moment or a faulty expression.
        """
        match = _SYNTAX.match(text.strip())
        if match is None:
            raise ValueError(
                f"breakpoint {text!r} must have the form PATH[:MOMENT] [if EXPRESSION] [log TEXT], or FILE:LINE"
            )
        path, moment, expression, log = match.group("path", "moment", "expression", "log")
        path = ROOT if path == ROOT_NAME else path
        if _FILE.fullmatch(path):
            if moment is None or not _LINE.fullmatch(moment):
                raise ValueError(f"breakpoint {text!r}: a file needs the number of a line, as in {path}:12")
            path, moment = "", f"{path}:{moment}"
        elif path == "exception" and moment is None:
            path, moment = ROOT, "exception"
        return cls(path, "forward" if moment is None else moment, expression, log)

    def __str__(self) -> str:
        condition = "" if self.expression is None else f" if {self.expression}"
        log = "" if self.log is None else f" log {self.log}"
        position = self.moment if self.is_anywhere else f"{self.path or ROOT}:{self.moment}"
        return f"{position}{condition}{log}"

    def applies(self, path: str, moment: str) -> bool:
        """Return whether it is at this moment of this cell; one at a line is at none."""
        return self.moment == moment and not self.line and self._is_of(path)

    def stands_in(self, path: str) -> bool:
        """Return whether it is at a line that this cell may run."""
        return bool(self.line) and (self.is_anywhere or self._is_of(path))

    def stands_at(self, line: int, filename: str, cell_filename: str) -> bool:
        """Return whether it is at this line of a file, in a cell whose function is defined in ``cell_filename``."""
        return self.line == line and (self.may_stand_in(filename) if self.filename else filename == cell_filename)

    def may_stand_in(self, filename: str) -> bool:
        """Return whether it may be at a line of this file; without a file, its cell decides."""
        label = file_label(filename).removeprefix("Cell ")  # of a notebook's cell: In[3]
        return not self.filename or self.filename in (filename, os.path.basename(filename), label)

    def stops_in(self, filename: str, cells: Sequence[tuple[str, str]]) -> bool:
        """Return whether it stops in this file while a thread runs these cells, each with the file of its function."""
        if self.is_anywhere:
            return self.may_stand_in(filename)
        return any(self._is_of(path) and self.stands_at(self.line, filename, file) for path, file in cells)

    def _is_of(self, path: str) -> bool:
        return matches(self.path, path) if self.path else path == ""

    def holds(self, values: Sequence[object], scope: Callable[[], dict[str, object]]) -> bool:
        """Return whether to pause: without an expression, or if it is true for one of the values.

        Args:
            values: the tensors that pass.
            scope: returns the other names that the expression may use; called only if there is an expression.
        """
        if self.expression is None:
            return True
        code, required = _compiled(self.expression, self.moment)
        try:
            names = {**scope(), "passes": self.passes}
            is_true = any(evaluate(code, {**value_scope(value, required), **names}) for value in values or (None,))
        except Exception as error:  # an error of the user's expression must not end the user's run
            self.error = f"{type(error).__name__}: {error}".splitlines()[0]
            return False
        self.error = None
        return is_true

    def log_text(self, values: Sequence[object], scope: Callable[[], dict[str, object]]) -> str | None:
        """Return the text of a logpoint for the first of the values that pass; None if one of its expressions fails."""
        assert self.log is not None
        try:
            text = _log_text(self.log, self.moment)
            return text.text_with(values[0] if values else None, {**scope(), "passes": self.passes})
        except Exception as error:  # an error of the user's expression must not end the user's run
            self.error = f"{type(error).__name__}: {error}".splitlines()[0]
            return None
