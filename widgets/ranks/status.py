"""Status of the ranks, from the last report of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeGuard

from hookscope.engine.debug.compare.ranks import RankFinding
from hookscope.engine.debug.compare.ranks.findings import ranks_text
from hookscope.engine.distributed.waiting import RankState, missing
from hookscope.widgets.ranks.declaration import COMMANDS, ENDS, RankRow, RanksFinding, RanksStatus
from hookscope.widgets.ranks.tables import figure_text
from hookscope.widgets.texts import one_line

Status = Mapping[str, Any]

_STATES = ("runs", "idle", "paused", "held", "waits", "ended", "busy")
_AT_WORK = ("runs", "waits", "held", "paused", "busy")
_LONG = 300
_SLOTS = ("input", "output", "grad_input", "grad_output")


def is_status(value: object) -> TypeGuard[Status]:
    """Return whether a reply of a rank has the fields of a status in the types that this module reads."""
    if not isinstance(value, Mapping) or not isinstance(value.get("step"), int | None):
        return False
    try:
        figure_text(value.get("loss"))
    except ValueError:
        return False
    return "requests" not in value or "waits" in value


def rank_rows(statuses: Mapping[int, Status]) -> list[RankRow]:
    """Return a row for each rank's status report; an ended rank keeps its last step and loss."""
    furthest = max((_step(status) for status in statuses.values()), default=0)
    rows: list[RankRow] = []
    for rank, status in statuses.items():
        state, step = str(status.get("state", "busy")), _step(status)
        rows.append(
            {
                "rank": rank,
                "state": state if state in _STATES else "busy",  # type: ignore[typeddict-item]  # state is in _STATES
                "text": one_line(_text(status), _LONG),
                "step": step,
                "loss": "" if status.get("loss") is None else figure_text(status["loss"]),
                "share": step / furthest if furthest else 0.0,
                "behind": furthest - step,
            }
        )
    return rows


def _step(status: Status) -> int:
    return int(status.get("step") or 0)


def _text(status: Status) -> str:
    if status.get("state") == "paused":
        return ": ".join(part for part in (str(status.get("place", "")), str(status.get("reason", ""))) if part)
    waits = status.get("waits")
    if status.get("state") == "waits" and isinstance(waits, Mapping):
        ranks = f"for {ranks_text(status['missing'])}" if status.get("missing") else ""
        return ", ".join(part for part in (str(waits.get("what", "")), str(waits.get("line", "")), ranks) if part)
    return str(status.get("reason", ""))


def with_missing_ranks(statuses: Mapping[int, Status]) -> dict[int, Status]:
    """Add to each rank's status the ranks that it waits for, if all ranks have reported."""
    standings = {
        rank: RankState(waits=status["waits"], requests=status["requests"])
        for rank, status in statuses.items()
        if "requests" in status
    }
    if len(standings) < len(statuses):
        return dict(statuses)
    return {rank: {**status, "missing": missing(rank, standings)} for rank, status in statuses.items()}


def overall_status(rows: list[RankRow], error: str) -> RanksStatus:
    """Return the status of all ranks together, and the commands that are possible."""
    paused = [row for row in rows if row["state"] == "paused"]
    held = [row for row in rows if row["state"] == "held"]
    work = [row for row in rows if row["state"] in _AT_WORK]
    ended = [row for row in rows if row["state"] == "ended"]
    state: Literal["running", "paused", "idle", "ended"] = "idle"
    text = "idle"
    if paused:
        state, text = "paused", f"paused on {ranks_text(row['rank'] for row in paused)}"
        text += f" in {paused[0]['text']}" if paused[0]["text"] else ""
    elif held:
        state, text = "paused", f"{ranks_text(row['rank'] for row in held)} held: {held[0]['text']}"
    elif rows and len(ended) == len(rows):
        state, text = "ended", "ended"
    elif work:
        state, text = "running", "runs"
    if ended and state != "ended":
        text += f"; {ranks_text(row['rank'] for row in ended)} ended"
    rests = "all ranks have ended" if state == "ended" else "nothing runs"
    why_not = dict.fromkeys(COMMANDS, "" if paused else "no rank is paused")
    if held:
        why_not["continue"] = ""
    why_not |= dict.fromkeys(ENDS, "" if work else rests)
    return {"state": state, "text": text, "error": error, "why_not": why_not}


def finding_lines(findings: Iterable[RankFinding]) -> list[RanksFinding]:
    """Return a row for each finding across ranks; ``name`` identifies its value in the table."""
    lines: list[RanksFinding] = []
    for finding in findings:
        # A finding names either a parameter or the slot of a capture.
        of_parameter = bool(finding.name) and not finding.name.startswith(_SLOTS)
        located = bool(finding.name or finding.path)
        lines.append(
            {
                "condition": finding.condition,
                "step": finding.step,
                "ranks": [*finding.ranks],
                "name": (finding.name if of_parameter else f"{finding.where} {finding.name}".strip())
                if located
                else "",
                "text": one_line(finding.message, _LONG),
                "advice": one_line(finding.advice, _LONG),
                "view": ("parameters" if of_parameter else "captures") if located else "",
            }
        )
    return lines
