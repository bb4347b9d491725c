"""How the ranks stand, from what each has last said of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hookscope.widgets.ranks.shown import COMMANDS, RankRow, RanksFinding, RanksStatus
from hookscope.widgets.ranks.tables import figure_text
from hookscope.widgets.texts import one_line

Told = Mapping[str, Any]

ENDS = ("abort", "interrupt")
_STATES = ("runs", "idle", "paused", "held", "waits", "ended", "busy")
_AT_WORK = ("runs", "waits", "held", "paused", "busy")
_LONG = 300


def in_words(ranks: Iterable[int]) -> str:
    """Ranks by their numbers: "rank 2", "ranks 0, 1 and 3"."""
    numbers = [str(rank) for rank in ranks]
    if len(numbers) == 1:
        return f"rank {numbers[0]}"
    return f"ranks {', '.join(numbers[:-1])} and {numbers[-1]}"


def rank_rows(told: Mapping[int, Told]) -> list[RankRow]:
    """Return a line for each rank, given what each said; an ended rank keeps its last step and loss."""
    furthest = max((_step(status) for status in told.values()), default=0)
    rows: list[RankRow] = []
    for rank, status in told.items():
        state, step = str(status.get("state", "busy")), _step(status)
        rows.append(
            {
                "rank": rank, "state": state if state in _STATES else "busy",  # type: ignore[typeddict-item]  # it is one
                "text": one_line(_text(status), _LONG), "step": step,
                "loss": "" if status.get("loss") is None else figure_text(status["loss"]),
                "share": step / furthest if furthest else 0.0, "behind": furthest - step,
            }
        )  # fmt: skip
    return rows


def _step(status: Told) -> int:
    return int(status.get("step") or 0)


def _text(status: Told) -> str:
    if status.get("state") == "paused":
        return ": ".join(part for part in (str(status.get("place", "")), str(status.get("reason", ""))) if part)
    waits = status.get("waits")
    if status.get("state") in ("waits", "runs") and isinstance(waits, Mapping):
        missing = waits.get("missing")
        who = f"for {in_words(missing)}" if missing else ""
        return ", ".join(part for part in (str(waits.get("what", "")), str(waits.get("line", "")), who) if part)
    return str(status.get("reason", ""))


def stand(status: Told) -> Told:
    """Take what a rank says: one that waits for others in a collective waits, whatever else it does."""
    return {**status, "state": "waits"} if status.get("waits") and status.get("state") == "runs" else status


def whole(rows: list[RankRow], error: str) -> RanksStatus:
    """Say how all of them stand, and what can be done about it."""
    paused = [row for row in rows if row["state"] == "paused"]
    work = [row for row in rows if row["state"] in _AT_WORK]
    ended = [row for row in rows if row["state"] == "ended"]
    state: Literal["running", "paused", "idle", "ended"] = "idle"
    text = "idle"
    if paused:
        state, text = "paused", f"paused on {in_words(row['rank'] for row in paused)}"
        text += f" in {paused[0]['text']}" if paused[0]["text"] else ""
    elif rows and len(ended) == len(rows):
        state, text = "ended", "ended"
    elif work:
        state, text = "running", "runs"
    if ended and state != "ended":
        text += f"; {in_words(row['rank'] for row in ended)} ended"
    rests = "all ranks have ended" if state == "ended" else "nothing runs"
    why_not = dict.fromkeys(COMMANDS, "" if paused else "no rank is paused")
    why_not |= dict.fromkeys(ENDS, "" if work else rests)
    return {"state": state, "text": text, "error": error, "why_not": why_not}


def finding_lines(findings: Iterable[Any]) -> list[RanksFinding]:
    """Return a line for each finding across ranks; one that is none is left out."""
    lines: list[RanksFinding] = []
    for found in findings:
        if not isinstance(found, Mapping):
            continue
        name = str(found.get("name") or found.get("path") or "")
        condition = str(found.get("condition", ""))
        lines.append(
            {
                "condition": condition, "step": int(found.get("step") or 0),
                "ranks": [int(rank) for rank in found.get("ranks") or ()], "name": name,
                "text": one_line(str(found.get("text") or found.get("message") or condition), _LONG),
                "advice": one_line(str(found.get("advice") or ""), _LONG),
                "view": ("parameters" if "parameter" in condition else "captures") if name else "",
            }
        )  # fmt: skip
    return lines
