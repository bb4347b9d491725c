"""Conditions and findings as rows; the session owns names, thresholds and expressions."""

from __future__ import annotations

import inspect
import linecache
import math
import shlex
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from hookscope.engine.base.file_labels import file_label
from hookscope.engine.debug import CONDITIONS
from hookscope.engine.debug.diagnose.causes import summary, summary_of
from hookscope.engine.debug.diagnose.producer import OUTSIDE
from hookscope.engine.debug.record.capture import cell_name
from hookscope.engine.debug.stop.stepping.user_code import is_user_code
from hookscope.widgets.views.findings.evidence import NOTHING, Evidence, EvidenceSource

if TYPE_CHECKING:
    from hookscope.engine.debug import Condition, DebugSession, Finding, Findings, Muted
    from hookscope.engine.debug.diagnose.cures import Cure


class ConditionRow(TypedDict):
    """A known condition or one of the user's own, with the session's settings for it; "" for no threshold."""

    name: str
    about: str
    is_custom: bool
    on: bool
    pause: bool
    threshold: str
    unit: str
    meaning: str
    advice: str


class FindingRow(TypedDict):
    """A finding, with the index of the oldest capture in the ring buffer that shows it, or -1."""

    condition: str
    path: str
    label: str
    in_cell: bool
    steps: str
    times: int
    message: str
    advice: str
    source: str
    capture: int
    certainty: str
    evidence_text: str


class CureRow(TypedDict):
    """A cure for a cause: its button's label, a preview of its change, and its outcome once it is applied."""

    name: str
    label: str
    preview: str
    done: bool
    outcome: str


class CauseRow(FindingRow):
    """A finding that no other explains, its meaning, a picture, and its consequences."""

    meaning: str
    evidence: Evidence
    cures: list[CureRow]
    folded: str
    consequences: list[FindingRow]


class MutedRow(TypedDict):
    """A condition that is muted for a cell, the reason, and the option of `%%cell` that mutes it in the next run."""

    condition: str
    path: str
    label: str
    reason: str
    option: str


class Conditions(TypedDict):
    """Everything that the view shows; `cells` holds for each cell its path, hits, and the worst condition's name."""

    rows: list[ConditionRow]
    causes: list[CauseRow]
    muted: list[MutedRow]
    cells: list[tuple[str, int, str]]
    no_pauses: str
    verdict: str
    limits: str
    summary: str


# Only this many causes have pictures and cures, since the first causes are to be fixed first.
_CURED = 20
# Maximum number of consequences listed per cause.
_FOLDED = 50


def conditions_view(session: DebugSession) -> Conditions:
    """Return everything that the view shows: conditions, findings, and the number of hits for each cell.

    A cell may be called "constructor", so names that users choose are not used as keys in messages to the page.
    """
    findings = session.findings()
    return {
        "rows": condition_rows(session),
        "causes": cause_rows(session, findings),
        "muted": [muted_row(mute) for mute in session.muted],
        "cells": [(path, *hits) for path, hits in cell_hits(findings).items()],
        "no_pauses": session.no_pauses or "",
        "verdict": "" if findings else verdict(session),
        "limits": "" if findings or not session.conditions else session.checks.coverage().limits(),
        "summary": summary_of(findings.causes()) if findings else "",
    }


def verdict(session: DebugSession) -> str:
    """Return a sentence for a run without findings: what was seen, and for how many conditions."""
    if not session.conditions:
        return f"No conditions are checked yet. Find faults checks {len(CONDITIONS)} conditions on all later runs."
    text = session.checks.coverage().verdict(len(session.muted))
    failure = session.failure
    if failure is not None:
        location = f" in {failure.where}" if failure.where else ""
        return f"The run failed{location}. Until then: {text or 'nothing was looked at.'}"
    if text:
        return text
    if session.attached:
        return "Nothing has run yet. Run the network: faults appear here, with advice."
    return "Nothing has run since these are looked for, and this panel no longer watches."


def condition_rows(session: DebugSession) -> list[ConditionRow]:
    """Return the known conditions, then the user's own, each with the session's settings."""
    enabled = {condition.name: condition for condition in session.conditions}
    pausing = session.checks.pausing
    user_conditions = [condition for name, condition in enabled.items() if name not in CONDITIONS]
    return [
        _row(enabled.get(condition.name, condition), condition.name in enabled, condition.name in pausing)
        for condition in (*CONDITIONS.values(), *user_conditions)
    ]


def _row(condition: Condition, on: bool, pause: bool) -> ConditionRow:
    return {
        "name": condition.name,
        "about": condition.group,
        "is_custom": condition.is_own,
        "on": on,
        "pause": pause,
        # As text: the user's input goes to the session unchanged, and JSON has no NaN.
        "threshold": "" if math.isnan(condition.threshold) else f"{condition.threshold:g}",
        "unit": condition.unit,
        "meaning": condition.meaning,
        "advice": condition.advice,
    }


def cause_rows(session: DebugSession, findings: Findings) -> list[CauseRow]:
    """Return the causes, worst and earliest first, each with its cures and consequences."""
    captures = captures_of(session)
    causes = findings.causes()
    drawable = EvidenceSource(session, captures) if causes else None
    return [
        {
            **finding_row(cause.finding, captures),
            "source": source_text(cause.finding) or written_at(session, cause.finding),
            "meaning": _sentence(cause.condition),
            "evidence": drawable.evidence(cause.finding) if drawable is not None and index < _CURED else NOTHING,
            "cures": [cure_row(cure) for cure in session.cures(cause.finding)] if index < _CURED else [],
            "folded": summary(cause.consequences),
            "consequences": [finding_row(consequence, captures) for consequence in cause.consequences[:_FOLDED]],
        }
        for index, cause in enumerate(causes)
    ]


def captures_of(session: DebugSession) -> dict[tuple[str, str], int]:
    """Return, by condition and subject, the index of the oldest capture in the ring buffer that shows it."""
    captures: dict[tuple[str, str], int] = {}
    for hit in session.hits:
        if hit.capture is not None:
            captures.setdefault((hit.condition.name, hit.subject), hit.capture.index)
    return captures


def finding_row(finding: Finding, captures: Mapping[tuple[str, str], int]) -> FindingRow:
    """Return one finding as a row, with the index of the capture that shows it, or -1."""
    return {
        "condition": finding.condition,
        "path": finding.path,
        "label": finding.where,
        "in_cell": finding.path != OUTSIDE and not finding.outside,
        "steps": steps_text(finding),
        "times": finding.count,
        "message": what_text(finding),
        "advice": finding.advice,
        "source": source_text(finding),
        "capture": captures.get((finding.condition, finding.subject), -1),
        "certainty": finding.certainty,
        "evidence_text": finding.evidence,
    }


def cure_row(cure: Cure) -> CureRow:
    """Return one cure as a row."""
    return {"name": cure.name, "label": cure.label, "preview": cure.preview, "done": cure.done, "outcome": cure.outcome}


def _sentence(condition: str) -> str:
    """Return a condition's meaning as a sentence; for a user's own condition, its name."""
    row = CONDITIONS.get(condition)
    return condition if row is None else f"{row.meaning[0].upper()}{row.meaning[1:]}"


def muted_row(mute: Muted) -> MutedRow:
    """Return a row for one condition that is muted for a cell."""
    condition, path, reason = mute
    option = f"--mute {shlex.quote(f'{condition}:{path or chr(46)}={reason}')}"
    return {"condition": condition, "path": path, "label": cell_name(path), "reason": reason, "option": option}


def muted_text(mute: Muted) -> str:
    """Return a muted condition with its cell and the reason."""
    return f"{mute.condition} in {cell_name(mute.path)}{f' ({mute.reason})' if mute.reason else ''}"


def steps_text(finding: Finding) -> str:
    """Format the steps of a finding as `2` or `2 to 7`."""
    first, last = finding.first_step, finding.last_step
    return str(first) if first == last else f"{first} to {last}"


def what_text(finding: Finding) -> str:
    """Return a finding's message without the condition's name, which is shown separately."""
    return finding.message.removeprefix(f"{finding.condition} in ")


def source_text(finding: Finding) -> str:
    """Return the line of the user's code that produced a NaN or an infinity, or "" if it is unknown."""
    producer = finding.producer
    if producer is None or not producer.line:
        return ""
    line = f"{file_label(producer.filename)}, line {producer.line}"
    return f"{line}: {producer.source}" if producer.source else line


def written_at(session: DebugSession, finding: Finding) -> str:
    """Return the source position of a finding's cell, of its `bprop` if it has one; "" for a library's cell."""
    try:
        kind = type(session.paths.cell(finding.path)) if not finding.outside else None
    except ValueError:
        kind = None
    method = getattr(kind, "bprop", None) or getattr(kind, "construct", None)
    code = getattr(inspect.unwrap(method), "__code__", None) if method is not None else None
    if code is None or not is_user_code(code):
        return ""
    line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return f"{file_label(code.co_filename)}, line {code.co_firstlineno}: {line}"


def cell_hits(findings: Findings) -> dict[str, tuple[int, str]]:
    """Return, for each cell with findings, the worst first, its number of hits and the worst condition's name.

    Causes are the worst, in their order; then follow conditions in the order of CONDITIONS, and the user's own come
    last.
    """
    condition_count = len(CONDITIONS)
    condition_ranks = {name: rank for rank, name in enumerate(CONDITIONS)}
    cause_ranks = {(cause.condition, cause.path): rank for rank, cause in enumerate(findings.causes())}

    def rank(path: str, name: str) -> int:
        return cause_ranks.get((name, path), len(cause_ranks) + condition_ranks.get(name, condition_count))

    cells: dict[str, tuple[int, str]] = {}
    for finding in findings:
        count, worst = cells.get(finding.path, (0, finding.condition))
        worst = min(worst, finding.condition, key=partial(rank, finding.path))
        cells[finding.path] = count + finding.count, worst
    return dict(sorted(cells.items(), key=lambda entry: rank(entry[0], entry[1][1])))
