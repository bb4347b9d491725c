"""Report of a session's findings, for readers without the session: as text for a terminal, and as data for a program.

The data format is ``docs/check.schema.json``.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from ...base.file_labels import file_label
from ..stop.stepping.user_code import is_user_code
from .causes import Cause, summary, summary_of
from .findings import Finding

if TYPE_CHECKING:
    from ..session import DebugSession

__all__ = ["report_data", "report_text"]

_WIDTH = 100  # columns of a screen
_VERSION = 1  # of the data; incremented if a name is removed or changes its meaning


def report_text(session: DebugSession) -> str:
    """Return each cause as a short block, then the symptoms without a cause, and a summary line."""
    causes = session.findings().causes()
    blocks = [_block(number, cause, session) for number, cause in enumerate(causes, start=1)]
    steps = _count(session.step, "step")
    if causes:
        return "\n\n".join([*blocks, f"{summary_of(causes)} in {steps}"])
    nothing = f"{steps}, {_count(session.captured, 'capture')}, {_count(len(session.conditions), 'condition')}"
    text = session.checks.coverage().text(len(session.muted)) or f"{nothing}: no network ran"
    return textwrap.fill(_printable(text), _WIDTH, break_on_hyphens=False, break_long_words=False)


def report_data(session: DebugSession) -> dict[str, Any]:
    """Return the report as numbers, texts, lists and dictionaries."""
    coverage = session.checks.coverage()
    return {
        "version": _VERSION,
        "steps": session.step,
        "captures": session.captured,
        "conditions": [condition.name for condition in session.conditions],
        "unjudged": list(coverage.unjudged),
        "unchecked": list(coverage.unchecked),
        "causes": [_cause_data(cause, session) for cause in session.findings().causes()],
    }


def _block(number: int, cause: Cause, session: DebugSession) -> str:
    finding, (filename, line, line_kind) = cause.finding, _line(cause.finding, session)
    location = finding.parameter or finding.where
    # A sentence about an operator contains its line.
    line_text = f" ({file_label(filename)}, line {line})" if line_kind == "cell" else ""
    lines = [
        f"{finding.condition} in {location}{line_text}: {finding.certainty}, {finding.evidence}",
        finding.message.removeprefix(f"{finding.condition} in "),
        finding.advice,
    ]
    folded = summary(cause.consequences)
    if folded:
        lines.append(f"so also: {folded}")
    label = f"{number}. "
    return "\n".join(
        textwrap.fill(
            _printable(text),
            _WIDTH,
            initial_indent=label if index == 0 else " " * len(label),
            subsequent_indent=" " * (len(label) + 2),
            break_on_hyphens=False,
            break_long_words=False,
        )
        for index, text in enumerate(lines)
    )


def _cause_data(cause: Cause, session: DebugSession) -> dict[str, Any]:
    filename, line, line_kind = _line(cause.finding, session)
    producer = cause.finding.producer
    return {
        **_finding_data(cause.finding),
        "advice": cause.advice,
        "file": filename or None,
        "line": line or None,
        "line_of": line_kind or None,
        "operator": None if producer is None else producer.operator,
        "consequences": [_finding_data(consequence) for consequence in cause.consequences],
    }


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {
        "condition": finding.condition,
        "place": finding.place,
        "path": finding.path,
        "where": finding.parameter or finding.where,
        "message": finding.message,
        "first_step": finding.first_step,
        "last_step": finding.last_step,
        "count": finding.count,
        "certainty": finding.certainty,
        "steps": finding.steps,
    }


def _line(finding: Finding, session: DebugSession) -> tuple[str, int, str]:
    """Return the user's line of a finding: the line of its operator, or the definition of the innermost user cell."""
    producer = finding.producer
    if producer is not None and producer.line:
        return producer.filename, producer.line, "operator"
    cells, path = dict(session.paths), finding.path
    while not finding.outside:
        code = getattr(getattr(cells.get(path), "construct", None), "__code__", None)
        if code is not None and is_user_code(code):
            return code.co_filename, code.co_firstlineno, "cell"
        if not path:
            break
        path = path.rpartition(".")[0]
    return "", 0, ""


def _printable(text: str) -> str:
    """Return text without a terminal's control characters: names and lines of code are foreign input."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
