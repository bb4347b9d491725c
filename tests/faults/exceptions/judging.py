"""Path, line and explanation of each script that ends with an exception, compared with what was planted."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hookscope.engine.debug import DebugSession
from hookscope.engine.debug.diagnose.shape_errors.stack import ErrorStack

from .case import OUTSIDE, Case
from .witness import Runnable, Witness, false_statements

__all__ = ["CASES", "Judgment", "false_of", "judged", "run_watched", "table"]

_OTHERS = ("case", "judging", "resized", "witness")
_FILES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("[a-z]*.py")
    if path.stem not in _OTHERS and not path.stem.startswith("test_")
)
CASES: tuple[Case, ...] = tuple(
    value
    for name in _FILES
    for value in vars(importlib.import_module(f".{name}", __package__)).values()
    if isinstance(value, Case)
)


@dataclass(frozen=True)
class Judgment:
    """Judgment of what the debugger said of a script.

    Attributes:
        error: the exception.
        path: the path of the innermost cell that failed.
        line: the user's line.
        text: the explanation; "" if there is none.
        missing: the facts that it does not state.
        false: the statements in it that are not true of the run.
    """

    error: BaseException | None
    path: str | None
    line: int
    text: str
    missing: tuple[str, ...]
    false: tuple[str, ...]

    def is_at(self, case: Case) -> bool:
        """Return whether exception, path and line are those of a script."""
        return (type(self.error), self.path, self.line) == (case.error, case.path, case.line)

    @property
    def is_right(self) -> bool:
        """True if the explanation states every fact and nothing that is false."""
        return bool(self.text) and not self.missing and not self.false


def run_watched(case: Runnable) -> tuple[DebugSession, Witness, BaseException | None]:
    """Run a script in a session that was given no network, beside a witness."""
    session, witness = DebugSession(None), Witness(case)
    error: BaseException | None = None
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(BaseException):
        warnings.simplefilter("ignore")
        with session:
            error = witness.run()
            if error is not None:
                raise error
    return session, witness, error


def false_of(case: Case, text: str) -> list[str]:
    """Return the statements of a text that are not true of a script's run."""
    session, witness, error = run_watched(case)
    assert error is not None
    return false_statements(text, witness, error, session.paths)


def judged(case: Case) -> Judgment:
    """Run a script and judge what the session says."""
    session, witness, error = run_watched(case)
    if error is None:
        return Judgment(None, OUTSIDE, 0, "", case.facts, ())
    stack = ErrorStack(error)
    path = session.paths.path_of(stack.cells[-1].cell) if stack.cells else OUTSIDE
    text = session.explanation or ""
    missing = tuple(fact for fact in case.facts if not _states(text, fact))
    false = tuple(false_statements(text, witness, error, session.paths)) if text else ()
    return Judgment(error, path, 0 if stack.user is None else stack.user.line, text, missing, false)


def _states(text: str, fact: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fact)}s?(?!\w)", text, re.IGNORECASE) is not None


def table(cases: Sequence[Case] = CASES) -> str:
    """Judge scripts; return a table, with a line on those that were held out and one on the others."""
    judgments = {case: judged(case) for case in cases}
    lines = ["| script | path and line | explanation |", "|---|---|---|"]
    for case, judgment in judgments.items():
        place = "right" if judgment.is_at(case) else "wrong"
        if judgment.is_right:
            explanation = "right"
        elif not judgment.text:
            explanation = "none"
        elif judgment.false:
            explanation = f"false: {'; '.join(judgment.false)}"
        else:
            explanation = f"lacks {', '.join(judgment.missing)}"
        lines.append(f"| {case.name} | {place} | {explanation} |")
    for is_held_out, kind in ((False, "scripts"), (True, "held-out scripts")):
        part = {case: judgment for case, judgment in judgments.items() if case.is_held_out == is_held_out}
        lines.append("\n" + _score(kind, part))
    return "\n".join(lines)


def _score(kind: str, judgments: Mapping[Case, Judgment]) -> str:
    paths = sum(judgment.path == case.path for case, judgment in judgments.items())
    lines = sum(judgment.line == case.line for case, judgment in judgments.items())
    right = sum(judgment.is_right for judgment in judgments.values())
    false = sum(bool(judgment.false) for judgment in judgments.values())
    return (
        f"Of {len(judgments)} {kind}, the path is right in {paths}, the line in {lines}, the explanation in {right}, "
        f"and {false} explanations say something that is false."
    )
